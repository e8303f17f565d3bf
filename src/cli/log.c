/* log.c: the run as a log.
 * SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "analysis/duration_filter.h"
#include "analysis/merge.h"
#include "analysis/selection.h"
#include "base/alloc.h"
#include "cli/nothing.h"
#include "cli/options.h"
#include "cli/reading.h"
#include "export/alignment.h"
#include "export/log.h"
#include "export/objwatch.h"

/* Events that are looked at before the first that is shown, so that names and values
 * before are as in the whole log: about a second. */
#define RUN_UP_EVENTS 2000000u

/* How often --follow looks for new events: often enough to seem at once. */
#define FOLLOW_EVERY_NS 100000000

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_XML };

enum { OBJWATCH_NOT, OBJWATCH_NEW, OBJWATCH_STRICT, OBJWATCH_OLD };

typedef struct log_options {
    film_option_list functions, variables;
    film_option_range events;
    film_option_time from, to, at_least;
    uint64_t thread, depth;
    size_t format, color, objwatch;
    bool follow, lines, ops;
} log_options;

typedef struct log_walk {
    film_reading *reading;
    film_merge_range range; /* what is shown of it */
    film_selection selection;
    film_duration_filter *filter; /* NULL: every call is long enough */
    film_log_text *text;          /* one of the two, by format */
    film_log_json *json;
    film_objwatch_text *objwatch; /* instead of both */
    film_status status;           /* what it said */
} log_walk;

/* Ctrl-C ends following, not the line that is being written. */
static volatile sig_atomic_t interrupted;

static void
note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void
catch_interrupts(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = note_interrupt; /* no SA_RESTART: the pause ends at once */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

static void
write_merged(void *context, const film_merged *merged)
{
    log_walk *walk = context;

    if (walk->objwatch != NULL) {
        film_status status =
            film_objwatch_text_write(walk->objwatch, merged, &walk->reading->error);
        walk->status = walk->status == FILM_OK ? status : walk->status;
        return;
    }
    if (film_selection_takes(&walk->selection, merged->recording, merged->event)) {
        if (walk->text != NULL) {
            film_log_text_write(walk->text, &walk->reading->output, merged);
        }
        else {
            film_log_json_write(walk->json, &walk->reading->output, merged);
        }
    }
    film_selection_note(&walk->selection, merged->recording, merged->event);
}

static film_status
write_available(log_walk *walk, film_merge *merge)
{
    film_reading *reading = walk->reading;
    film_merged merged;
    film_status status = FILM_END;

    while (!interrupted &&
           (status = film_merge_next(merge, &merged, &reading->error)) == FILM_OK) {
        if (!film_merge_range_takes(&walk->range, &merged)) {
            film_selection_pass(&walk->selection, merged.recording, merged.event);
        }
        else if (walk->filter == NULL) {
            write_merged(walk, &merged);
        }
        else {
            FILM_TRY(film_duration_filter_add(walk->filter, &merged, write_merged, walk,
                                              &reading->error));
        }
        if (reading->output.status != FILM_OK) {
            return film_output_flush(&reading->output, &reading->error);
        }
        FILM_TRY(walk->status);
    }
    return status == FILM_END ? FILM_OK : status;
}

static bool
any_is_live(const film_recordings *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (film_reader_info(set->items[i].reader)->ending == FILM_ENDING_LIVE) {
            return true;
        }
    }
    return false;
}

static void
flush_text(log_walk *walk)
{
    if (walk->text != NULL) {
        film_log_text_flush(walk->text, &walk->reading->output);
    }
}

/* Shows what comes until every program has ended. */
static film_status
follow(log_walk *walk, film_merge *merge)
{
    film_reading *reading = walk->reading;
    bool live = true;

    while (live && !interrupted) {
        struct timespec pause = {0, FOLLOW_EVERY_NS};

        flush_text(walk);
        FILM_TRY(film_output_flush(&reading->output, &reading->error));
        live = any_is_live(&reading->set); /* before looking: the end is then whole */
        if (live) {
            nanosleep(&pause, NULL);
        }
        FILM_TRY(film_merge_refresh(merge, &reading->error));
        FILM_TRY(write_available(walk, merge));
    }
    return FILM_OK;
}

static film_status
write_lines(log_walk *walk, const log_options *wanted, const film_merge_range *walked)
{
    film_reading *reading = walk->reading;
    film_merge *merge;
    film_status status;

    if (wanted->follow) {
        catch_interrupts();
    }
    FILM_TRY(film_merge_open(&reading->set, walked, &merge, &reading->error));
    status = write_available(walk, merge);
    if (status == FILM_OK && wanted->follow) {
        status = follow(walk, merge);
    }
    if (status == FILM_OK && walk->filter != NULL) {
        film_duration_filter_finish(walk->filter, film_recordings_end_ns(&reading->set),
                                    write_merged, walk);
    }
    flush_text(walk);
    film_merge_close(merge);
    return status;
}

/* What to show. */
static film_merge_range
range_of(const log_options *wanted, uint64_t end_ns)
{
    film_merge_range range = film_merge_everything();

    range.first_event = wanted->events.first;
    range.end_event = wanted->events.end;
    range.thread = (uint32_t)wanted->thread;
    range.follow = wanted->follow;
    if (wanted->from.is_given) {
        range.from_ns = film_option_time_ns(&wanted->from, end_ns);
    }
    if (wanted->to.is_given) {
        range.to_ns = film_option_last_ns(&wanted->to, end_ns);
    }
    return range;
}

/* Values are followed from before the first event that is shown: *walked. */
static film_status
follow_values(log_walk *walk, film_merge_range *walked)
{
    film_reading *reading = walk->reading;
    bool whole;

    FILM_TRY(film_merge_run_up(&reading->set, &walk->range, RUN_UP_EVENTS, walked,
                               &whole, &reading->error));
    return film_selection_follow_values(&walk->selection, whole, &reading->error);
}

/* *nothing: functions, variables or a thread were asked for, and there was nothing. */
static film_status
write_log(film_reading *reading, const log_options *wanted, bool *nothing)
{
    uint64_t end_ns = film_recordings_end_ns(&reading->set);
    log_walk walk = {.reading = reading, .range = range_of(wanted, end_ns)};
    film_merge_range walked = walk.range;
    film_error *error = &reading->error;
    film_status status = film_selection_init(&walk.selection, &reading->set, error);

    walk.selection.patterns = wanted->functions.items;
    walk.selection.pattern_count = wanted->functions.count;
    walk.selection.variables = wanted->variables.items;
    walk.selection.variable_count = wanted->variables.count;
    walk.selection.without_lines = !wanted->lines && wanted->format != FORMAT_JSON;
    walk.selection.without_ops = !wanted->ops && wanted->format != FORMAT_JSON;
    walk.selection.depth = wanted->depth < UINT32_MAX ? (uint32_t)wanted->depth : 0;
    if (status == FILM_OK && wanted->at_least.is_given) {
        status = film_duration_filter_new(
            &reading->set, film_option_time_ns(&wanted->at_least, end_ns), &walk.filter,
            error);
    }
    if (status == FILM_OK && wanted->objwatch != OBJWATCH_NOT) {
        static const film_objwatch_mode modes[] = {
            [OBJWATCH_NEW] = FILM_OBJWATCH_FULL,
            [OBJWATCH_STRICT] = FILM_OBJWATCH_STRICT,
            [OBJWATCH_OLD] = FILM_OBJWATCH_OLD,
        };
        status = film_objwatch_text_new(&reading->set, modes[wanted->objwatch],
                                        &reading->output, &walk.objwatch, error);
    }
    else if (status == FILM_OK && wanted->format == FORMAT_TEXT) {
        bool coloured = film_reading_wants_color(wanted->color);
        status = film_log_text_new(&reading->set, coloured, &walk.text, error);
        if (status == FILM_OK && wanted->ops) {
            status = film_log_text_show_ops(walk.text, error);
        }
    }
    if (status == FILM_OK && (walk.text != NULL || wanted->variables.count > 0) &&
        film_recordings_have_values(&reading->set)) {
        status = follow_values(&walk, &walked);
    }
    if (status == FILM_OK && walk.text != NULL) {
        film_log_text_use(walk.text, &walk.selection);
        film_alignment_print(&reading->set, "# ", &reading->output);
    }
    if (status == FILM_OK && walk.objwatch == NULL && wanted->format == FORMAT_JSON) {
        status = film_log_json_new(&reading->set, &walk.json, error);
    }
    if (status == FILM_OK) {
        status = wanted->format == FORMAT_XML
                     ? film_log_xml_write(&reading->set, &walk.range, &walk.selection,
                                          &reading->output, error)
                     : write_lines(&walk, wanted, &walked);
    }
    if (status == FILM_OK && walk.objwatch != NULL) {
        film_objwatch_text_finish(walk.objwatch);
    }
    *nothing = status == FILM_OK && walk.objwatch == NULL && !interrupted &&
               film_nothing_of_selection(reading, &walk.selection, wanted->thread);
    film_objwatch_text_free(walk.objwatch);
    film_log_text_free(walk.text);
    film_log_json_free(walk.json);
    film_duration_filter_free(walk.filter);
    film_selection_reset(&walk.selection);
    return status;
}

/* ObjWatch's lines are made from all that came before them. */
static bool
has_filters(const log_options *wanted)
{
    return wanted->format != FORMAT_TEXT || wanted->functions.count > 0 ||
           wanted->variables.count > 0 || wanted->lines || wanted->ops ||
           wanted->depth != 0 || wanted->at_least.is_given;
}

/* --objwatch needs no value: it is completed before the options are read. */
static void
complete_objwatch(int argc, char **argv)
{
    static char complete[] = "--objwatch=0.5";

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--objwatch") == 0) {
            argv[i] = complete;
        }
    }
}

static int
run(const film_command *command, int argc, char **argv)
{
    static const char *const objwatch_forms[] = {"no", "0.5", "strict", "0.3", NULL};
    static const char *const formats[] = {"text", "json", "xml", NULL};
    log_options wanted = {.events = {0, UINT64_MAX}};
    const film_option options[] = {
        {"format", 0, FILM_OPTION_CHOICE, "FORMAT",
         "text (the default), json (dump's objects in order of time) or xml (calls "
         "nested in their callers, thread after thread).",
         &wanted.format, formats},
        {"function", 'f', FILM_OPTION_LIST, "GLOB",
         "Only functions whose name matches, like 'shop.*' or main, and operations "
         "like "
         "'torch.add'; may be repeated.",
         &wanted.functions, NULL},
        {"variable", 'v', FILM_OPTION_LIST, "GLOB",
         "Only writes and changes of variables, attributes or globals whose name "
         "matches, like loss, 'self.*' or '*count'; may be repeated.",
         &wanted.variables, NULL},
        {"lines", 0, FILM_OPTION_FLAG, NULL,
         "Show line events too (json always has them).", &wanted.lines, NULL},
        {"ops", 0, FILM_OPTION_FLAG, NULL,
         "Show PyTorch's operations too (json always has them).", &wanted.ops, NULL},
        {"thread", 't', FILM_OPTION_NUMBER, "N",
         "Only this thread (1 is the main one).", &wanted.thread, NULL},
        {"from", 0, FILM_OPTION_TIME, "TIME",
         "Begin here: 1.5s, 20ms, 300us after the start, or 50% of the run.",
         &wanted.from, NULL},
        {"to", 0, FILM_OPTION_TIME, "TIME", "End here.", &wanted.to, NULL},
        {"depth", 'd', FILM_OPTION_NUMBER, "N", "Only the outermost N levels of calls.",
         &wanted.depth, NULL},
        {"events", 'e', FILM_OPTION_RANGE, "A:B",
         "Only events A up to, not including, B of each thread.", &wanted.events, NULL},
        {"min-duration", 0, FILM_OPTION_TIME, "TIME",
         "Leave out calls and operations shorter than this. A call is printed once it "
         "has lasted long "
         "enough, so with several threads lines may stand a little late.",
         &wanted.at_least, NULL},
        {"follow", 'F', FILM_OPTION_FLAG, NULL,
         "Go on with a recording that is still being written, until its program ends.",
         &wanted.follow, NULL},
        {"objwatch", 0, FILM_OPTION_CHOICE, "[=FORM]",
         "ObjWatch's header and lines: 0.5 (the default), strict (without what "
         "ObjWatch "
         "would have missed) or 0.3 (the older form).",
         &wanted.objwatch, objwatch_forms},
        {"color", 0, FILM_OPTION_CHOICE, "WHEN", "auto, always or never.",
         &wanted.color, film_color_choices},
        {0},
    };
    film_reading reading;
    size_t count;
    bool nothing = false;
    int code = FILM_EXIT_WRONG;

    complete_objwatch(argc, argv);
    if (film_options_parse(command, options, argc, argv, &count, &code)) {
        code = FILM_EXIT_WRONG;
        if (wanted.format == FORMAT_XML &&
            (wanted.follow || wanted.at_least.is_given)) {
            film_command_fail(command, "--format xml does not go with %s",
                              wanted.follow ? "--follow" : "--min-duration");
        }
        else if (wanted.objwatch != OBJWATCH_NOT && has_filters(&wanted)) {
            film_command_fail(command,
                              "--objwatch does not go with --format, --function, "
                              "--variable, --lines, --ops, --depth and --min-duration");
        }
        else if (film_reading_open(&reading, command, argv + 1, count)) {
            code = film_reading_close(&reading, write_log(&reading, &wanted, &nothing));
            code = code == FILM_EXIT_DONE && nothing ? FILM_EXIT_NO : code;
        }
    }
    film_free(wanted.functions.items);
    film_free(wanted.variables.items);
    return code;
}

const film_command film_command_log = {
    "log",
    "the run as an indented log of calls and values",
    "[options] FILE...",
    "Prints the run as a log, one line an event, indented by depth:\n"
    "\n"
    "     0.000134     12  run shop.cart.total  shop/cart.py:8\n"
    "     0.000141      9    run shop.cart.price  shop/cart.py:20\n"
    "     0.000150     22    end shop.cart.price  9.10us\n"
    "\n"
    "The columns are the time since the start in seconds, the thread in brackets where "
    "there are several, and a line number: for run and resume the line of the caller, "
    "else the line in the function itself. run and end are a call and its return; "
    "yield, resume and throw belong to generators and coroutines; raise, handled and "
    "unwind follow an exception.\n"
    "\n"
    "At level values run has the arguments and end the value; upd is a write with the "
    "value before and now, apd and pop a container that grew or shrank in place, del a "
    "deletion.\n"
    "\n"
    "With --ops operations of PyTorch stand below the lines that called them, tensors "
    "as t17: f32[64, 128] cuda:0.\n"
    "\n"
    "Several recordings (a program and its child processes) are merged by time, each "
    "line marked with [process:thread], of the ranks of a distributed program with "
    "[r3:thread]; then the first lines tell how well their clocks agree. What could "
    "steer a terminal is shown as an "
    "escape (\\x1b).",
    "filmstrip log train.film | less\n"
    "filmstrip log train.film --function 'model.*' --depth 4\n"
    "filmstrip log train.film --from 50% --min-duration 1ms\n"
    "filmstrip log train.film --variable loss --variable 'self.*'\n"
    "filmstrip log train.film --ops --min-duration 100us\n"
    "filmstrip log train.film train.*.film --format json\n"
    "filmstrip log --follow server.film",
    run,
};
