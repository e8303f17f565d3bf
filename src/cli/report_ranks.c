/* report_ranks.c: the report of several ranks for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_ranks.h"

#include <stdlib.h>

#include "analysis/ending.h"
#include "analysis/flight.h"
#include "base/alloc.h"
#include "export/alignment.h"
#include "export/names.h"

bool
film_ranks_disagree(const film_ranks *ranks, const film_rank_group *group,
                    uint32_t number, size_t *one, size_t *other)
{
    const film_collective *first = NULL;

    for (size_t i = 0; i < ranks->count; i++) {
        const film_collective *met = film_ranks_met(ranks, group, number, i);

        if (met != NULL && first == NULL) {
            first = met;
            *one = i;
        }
        else if (met != NULL && met->function != first->function) {
            *other = i;
            return true;
        }
    }
    return false;
}

static void
put_group(film_output *output, const film_rank_group *group)
{
    if (group->key[0] == '\0') {
        FILM_OUTPUT_LITERAL(output, "the default group");
        return;
    }
    FILM_OUTPUT_LITERAL(output, "group ");
    film_output_display(output, film_text_of(group->key));
}

/* A duration in a field of `width`. */
static void
put_duration(film_output *output, uint64_t ns, unsigned width)
{
    size_t before = output->used;
    char text[32];
    size_t length;

    film_output_duration(output, ns);
    length = output->used - before;
    memcpy(text, output->data + before, length);
    output->used = before;
    for (; width > length; width--) {
        film_output_byte(output, ' ');
    }
    film_output_write(output, text, length);
}

/* What the others lost by the slowest. */
static uint64_t
lost_ns(const film_rank_step *step)
{
    return step->slowest_ns - step->others_ns;
}

static int
compare_losses(const void *left, const void *right)
{
    uint64_t a = lost_ns(*(const film_rank_step *const *)left);
    uint64_t b = lost_ns(*(const film_rank_step *const *)right);

    return (a < b) - (a > b);
}

static void
print_step(const film_ranks_report *report, const film_rank_step *step,
           film_output *output)
{
    uint64_t micros = step->at_ns / 1000;

    film_output_padded_u64(output, step->number, 7);
    film_output_format(output, "  %5llu.%06llu  rank %-6lld",
                       (unsigned long long)(micros / 1000000),
                       (unsigned long long)(micros % 1000000),
                       (long long)report->ranks.items[step->slowest].rank);
    put_duration(output, step->slowest_ns, 10);
    put_duration(output, step->others_ns, 10);
    put_duration(output, step->waited_ns, 10);
    if (step->until != NULL) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_output_text(output, step->until);
    }
    film_output_byte(output, '\n');
}

/* The steps in which most was lost. */
static void
print_steps(const film_ranks_report *report, film_output *output)
{
    const film_rank_steps *steps = &report->steps;
    const film_rank_step **order = film_alloc_array(steps->count, sizeof(*order));
    size_t shown = report->limit > 0 && report->limit < steps->count
                       ? (size_t)report->limit
                       : steps->count;

    if (order == NULL) {
        return;
    }
    for (size_t i = 0; i < steps->count; i++) {
        order[i] = &steps->items[i];
    }
    qsort(order, steps->count, sizeof(*order), compare_losses);
    FILM_OUTPUT_LITERAL(output,
                        "\n   step            at  slowest          took    others  "
                        "they waited\n");
    for (size_t i = 0; i < shown; i++) {
        print_step(report, order[i], output);
    }
    if (shown < steps->count) {
        film_output_format(output, "        (%zu steps more, in which less was lost)\n",
                           steps->count - shown);
    }
    film_free(order);
}

static void
print_totals(const film_ranks_report *report, film_output *output)
{
    const film_rank_total *totals = report->steps.totals;

    FILM_OUTPUT_LITERAL(output, "\n   rank  slowest in       took    waited\n");
    for (size_t i = 0; i < report->ranks.count; i++) {
        film_output_padded_u64(output, (uint64_t)report->ranks.items[i].rank, 7);
        film_output_padded_u64(output, totals[i].slowest, 12);
        FILM_OUTPUT_LITERAL(output, " ");
        put_duration(output, totals[i].busy_ns, 10);
        put_duration(output, totals[i].waited_ns, 10);
        film_output_byte(output, '\n');
    }
}

static void
print_all_steps(const film_ranks_report *report, film_output *output)
{
    film_output_byte(output, '\n');
    if (report->steps.count == 0) {
        film_output_text(output, "no step that all ranks have: ");
        film_output_text(output,
                         report->function == NULL
                             ? "no collective of the default group was recorded that "
                               "all came to (--step FUNCTION takes calls as steps)\n"
                             : "not all have calls of that function\n");
        return;
    }
    film_output_count(output, report->steps.count, "step");
    film_output_text(output,
                     report->function == NULL
                         ? "; a step ends where a rank comes to the next collective of "
                           "the default group\n"
                         : "; a step is a call, less its time in collectives\n");
    print_totals(report, output);
    print_steps(report, output);
}

/* The ranks that came, or did not. */
static void
put_some_ranks(const film_ranks_report *report, const film_unfinished *found,
               bool waiting, film_output *output)
{
    const film_ranks *ranks = &report->ranks;
    int64_t *some = film_alloc_array(ranks->count, sizeof(*some));
    size_t count = 0;

    for (size_t i = 0; some != NULL && i < ranks->count; i++) {
        const film_collective *met =
            film_ranks_met(ranks, found->group, found->number, i);
        if (waiting ? met != NULL && met->leave_ns == FILM_NEVER_NS
                    : met == NULL &&
                          film_ranks_has_member(found->group, ranks->items[i].rank)) {
            some[count++] = ranks->items[i].rank;
        }
    }
    film_output_text(output, count == 1 ? "rank " : "ranks ");
    if (some != NULL) {
        film_alignment_put_ranks(some, count, output);
    }
    film_free(some);
}

static void
print_unfinished(const film_ranks_report *report, film_output *output)
{
    const film_rank_ends *ends = &report->ends;
    const film_ranks *ranks = &report->ranks;

    for (size_t i = 0; i < ends->unfinished_count; i++) {
        const film_unfinished *found = &ends->unfinished[i];

        film_output_format(output, "\nnot finished: %s %u of ", found->name,
                           found->number);
        put_group(output, found->group);
        FILM_OUTPUT_LITERAL(output, "\n  in it:        ");
        put_some_ranks(report, found, true, output);
        if (ends->end_ns > found->since_ns) {
            film_output_text(output,
                             report->ends.is_now ? ", for " : ", for at least ");
            film_output_duration(output, ends->end_ns - found->since_ns);
        }
        if (found->missing > 0) {
            FILM_OUTPUT_LITERAL(output, "\n  did not come: ");
            put_some_ranks(report, found, false, output);
        }
        if (found->group->key[0] == '\0' && ranks->world_size > (int64_t)ranks->count) {
            film_output_format(output,
                               "\n  not known:    %lld of %lld ranks have no recording "
                               "here",
                               (long long)(ranks->world_size - (int64_t)ranks->count),
                               (long long)ranks->world_size);
        }
        film_output_byte(output, '\n');
    }
}

static void
print_disagreement(const film_ranks_report *report, film_output *output)
{
    const film_ranks *ranks = &report->ranks;

    for (size_t i = 0; i < ranks->group_count; i++) {
        const film_rank_group *group = &ranks->groups[i];

        for (uint32_t k = 0; k < group->count; k++) {
            size_t one = 0, other = 0;

            if (film_ranks_disagree(ranks, group, k, &one, &other)) {
                film_output_format(
                    output,
                    "\nranks differ: rank %lld called %s, rank %lld %s as %u of ",
                    (long long)ranks->items[one].rank,
                    film_ranks_met(ranks, group, k, one)->function->name,
                    (long long)ranks->items[other].rank,
                    film_ranks_met(ranks, group, k, other)->function->name, k);
                put_group(output, group);
                film_output_byte(output, '\n');
                break; /* what follows differs because of it */
            }
        }
    }
}

static void
print_frames(film_reader *reader, const film_rank_end *end, film_output *output)
{
    for (size_t i = 0; i < end->depth; i++) {
        const film_code *code = film_reader_code(reader, end->frames[i].code);

        if (code == NULL) {
            continue;
        }
        FILM_OUTPUT_LITERAL(output, "    ");
        film_output_display(output, code->function);
        FILM_OUTPUT_LITERAL(output, "  ");
        film_output_display(output, film_short_file(reader, code->file));
        if (end->frames[i].line != 0) {
            film_output_byte(output, ':');
            film_output_u64(output, end->frames[i].line);
        }
        film_output_byte(output, '\n');
    }
}

static void
print_flight(const film_reader *reader, film_output *output)
{
    film_flight flight;

    if (!film_flight_read(reader, &flight)) {
        return;
    }
    FILM_OUTPUT_LITERAL(output, "    torch's flight recorder: ");
    film_output_count(output, flight.entries, "entry");
    FILM_OUTPUT_LITERAL(output, ", the last ");
    film_output_display(output, film_text_of(flight.name));
    film_output_format(output, " %lld of ", (long long)flight.number);
    film_output_display(output, film_text_of(flight.group));
    FILM_OUTPUT_LITERAL(output, ", ");
    film_output_display(output, film_text_of(flight.state));
    film_output_byte(output, '\n');
}

static void
print_end(const film_ranks_report *report, size_t index, film_output *output)
{
    const film_rank *rank = &report->ranks.items[index];
    const film_rank_end *end = &report->ends.items[index];
    film_reader *reader = report->ranks.set->items[rank->recording].reader;
    uint64_t micros = end->last_ns / 1000;
    char room[256];

    film_output_format(output, "\nrank %lld: ", (long long)rank->rank);
    film_output_display(output, film_text_of(film_how_ended(reader, room)));
    film_output_format(
        output, "; its last event, a %s, at %llu.%06llu", film_kind_name(end->kind),
        (unsigned long long)(micros / 1000000), (unsigned long long)(micros % 1000000));
    if (report->ends.end_ns > end->last_ns) {
        FILM_OUTPUT_LITERAL(output, ", ");
        film_output_duration(output, report->ends.end_ns - end->last_ns);
        film_output_text(output,
                         report->ends.is_now ? " ago" : " before the last of all");
    }
    film_output_byte(output, '\n');
    print_frames(reader, end, output);
    print_flight(reader, output);
}

/* Where ranks are is of interest when one did not end as it should. */
static bool
all_ended_well(const film_ranks_report *report)
{
    for (size_t i = 0; i < report->ranks.count; i++) {
        size_t recording = report->ranks.items[i].recording;
        const film_info *info =
            film_reader_info(report->ranks.set->items[recording].reader);

        if (info->ending != FILM_ENDING_CLOSED || info->exit_status > 0) {
            return false;
        }
    }
    return report->ends.unfinished_count == 0;
}

/* Why collectives could not be matched, where they could not. */
static void
print_unmatched(const film_ranks_report *report, film_output *output)
{
    bool cut = false, unknown = false;

    for (size_t i = 0; i < report->ranks.count; i++) {
        cut |= report->ranks.items[i].collectives.cut;
        unknown |= report->ranks.items[i].collectives.groups_unknown;
    }
    if (cut) {
        FILM_OUTPUT_LITERAL(output,
                            "\nthe beginning of a recording was given up (ring): "
                            "which collectives belong together is not known\n");
    }
    if (unknown) {
        FILM_OUTPUT_LITERAL(output, "\nno arguments were recorded (level calls): which "
                                    "group a collective was of is not known\n");
    }
}

void
film_ranks_report_print(const film_ranks_report *report, film_output *output)
{
    film_alignment_print(report->ranks.set, "", output);
    print_unmatched(report, output);
    print_unfinished(report, output);
    print_disagreement(report, output);
    for (size_t i = 0; !all_ended_well(report) && i < report->ranks.count; i++) {
        print_end(report, i, output);
    }
    print_all_steps(report, output);
}

static film_status
read_report(film_reading *reading, film_ranks_report *report)
{
    film_error *error = &reading->error;

    FILM_TRY(film_ranks_read(&reading->set, &report->ranks, error));
    if (report->ranks.count == 0) {
        return film_fail(error, FILM_MISUSE,
                         "none of these recordings is of a rank: filmstrip info shows "
                         "what they are");
    }
    FILM_TRY(
        film_rank_steps_read(&report->ranks, report->function, &report->steps, error));
    return film_rank_ends_read(&report->ranks, &report->ends, error);
}

film_status
film_report_ranks(film_reading *reading, const char *function, uint64_t limit,
                  bool json)
{
    film_ranks_report report = {.function = function, .limit = limit};
    film_status status = read_report(reading, &report);

    if (status == FILM_OK) {
        film_reading_clear_progress(reading);
        if (json) {
            film_ranks_report_print_json(&report, &reading->output);
        }
        else {
            film_ranks_report_print(&report, &reading->output);
        }
    }
    film_rank_ends_reset(&report.ends);
    film_rank_steps_reset(&report.steps);
    film_ranks_reset(&report.ranks);
    return status;
}
