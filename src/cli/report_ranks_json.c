/* report_ranks_json.c: the report of several ranks for programs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_ranks.h"

#include "analysis/ending.h"
#include "analysis/flight.h"

static void
put_u64(film_output *output, const char *key, uint64_t number)
{
    film_output_text(output, key);
    film_output_u64(output, number);
}

static void
put_text(film_output *output, const char *key, const char *text)
{
    film_output_text(output, key);
    film_output_json(output, film_text_of(text));
}

static void
print_stack(film_reader *reader, const film_rank_end *end, film_output *output)
{
    FILM_OUTPUT_LITERAL(output, ",\"stack\":[");
    for (size_t i = 0; i < end->depth; i++) {
        const film_code *code = film_reader_code(reader, end->frames[i].code);

        film_output_text(output, i > 0 ? ",{" : "{");
        FILM_OUTPUT_LITERAL(output, "\"function\":");
        film_output_json(output, code == NULL ? film_text_of("?") : code->function);
        if (code != NULL) {
            FILM_OUTPUT_LITERAL(output, ",\"file\":");
            film_output_json(output, code->file);
        }
        put_u64(output, ",\"line\":", end->frames[i].line);
        film_output_byte(output, '}');
    }
    film_output_byte(output, ']');
}

/* Of how many the recording shows when they were over. */
static size_t
count_waits(const film_collectives *told)
{
    size_t count = 0;

    for (size_t i = 0; i < told->count; i++) {
        count += told->items[i].waits;
    }
    return count;
}

static void
print_rank(const film_ranks_report *report, size_t index, film_output *output)
{
    const film_rank *rank = &report->ranks.items[index];
    const film_recording *recording = &report->ranks.set->items[rank->recording];
    const film_rank_end *end = &report->ends.items[index];
    const film_collective *within = end->within;
    film_flight flight;
    char room[256];

    put_u64(output, "{\"rank\":", (uint64_t)rank->rank);
    put_text(output, ",\"path\":", recording->path);
    put_text(output, ",\"ending\":",
             film_ending_name(film_reader_info(recording->reader)->ending));
    put_text(output, ",\"how_ended\":", film_how_ended(recording->reader, room));
    put_u64(output, ",\"collectives\":", rank->collectives.count);
    put_u64(output, ",\"waited_in\":", count_waits(&rank->collectives));
    put_u64(output, ",\"last\":{\"time_ns\":", end->last_ns);
    put_u64(output, ",\"thread\":", end->thread);
    put_u64(output, ",\"event\":", end->event);
    put_text(output, ",\"kind\":", film_kind_name(end->kind));
    film_output_byte(output, '}');
    if (within != NULL) {
        put_text(output, ",\"within\":{\"function\":", within->function->name);
        if (within->group != FILM_NO_GROUP) {
            put_text(output,
                     ",\"group\":", rank->collectives.groups[within->group].key);
            put_u64(output, ",\"number\":", within->number);
        }
        put_u64(output, ",\"since_ns\":", within->enter_ns + recording->shift_ns);
        film_output_byte(output, '}');
    }
    print_stack(recording->reader, end, output);
    if (film_flight_read(recording->reader, &flight)) {
        put_u64(output, ",\"flight_recorder\":{\"entries\":", flight.entries);
        put_text(output, ",\"last\":", flight.name);
        put_text(output, ",\"group\":", flight.group);
        put_text(output, ",\"state\":", flight.state);
        film_output_format(output, ",\"number\":%lld}", (long long)flight.number);
    }
    if (report->steps.totals != NULL) {
        put_u64(output, ",\"slowest_in\":", report->steps.totals[index].slowest);
        put_u64(output, ",\"took_ns\":", report->steps.totals[index].busy_ns);
        put_u64(output, ",\"waited_ns\":", report->steps.totals[index].waited_ns);
    }
    film_output_byte(output, '}');
}

static void
print_step(const film_ranks_report *report, size_t index, film_output *output)
{
    const film_rank_step *step = &report->steps.items[index];
    size_t ranks = report->ranks.count;

    put_u64(output, "{\"number\":", step->number);
    if (step->until != NULL) {
        put_text(output, ",\"until\":", step->until);
    }
    put_u64(output, ",\"at_ns\":", step->at_ns);
    put_u64(output, ",\"slowest\":", (uint64_t)report->ranks.items[step->slowest].rank);
    put_u64(output, ",\"others_ns\":", step->others_ns);
    put_u64(output, ",\"waited_ns\":", step->waited_ns);
    FILM_OUTPUT_LITERAL(output, ",\"took_ns\":[");
    for (size_t i = 0; i < ranks; i++) {
        put_u64(output, i > 0 ? "," : "", report->steps.took[index * ranks + i]);
    }
    FILM_OUTPUT_LITERAL(output, "]}");
}

/* The ranks that came and did not leave, or that did not come. */
static void
print_some_ranks(const film_ranks *ranks, const film_unfinished *found, bool waiting,
                 film_output *output)
{
    bool any = false;

    film_output_text(output, waiting ? ",\"waiting\":[" : ",\"missing\":[");
    for (size_t i = 0; i < ranks->count; i++) {
        const film_collective *met =
            film_ranks_met(ranks, found->group, found->number, i);
        if (waiting ? met != NULL && met->leave_ns == FILM_NEVER_NS
                    : met == NULL &&
                          film_ranks_has_member(found->group, ranks->items[i].rank)) {
            put_u64(output, any ? "," : "", (uint64_t)ranks->items[i].rank);
            any = true;
        }
    }
    film_output_byte(output, ']');
}

static void
print_unfinished(const film_ranks_report *report, film_output *output)
{
    FILM_OUTPUT_LITERAL(output, "],\n\"unfinished\":[");
    for (size_t i = 0; i < report->ends.unfinished_count; i++) {
        const film_unfinished *found = &report->ends.unfinished[i];

        put_text(output, i > 0 ? ",\n{\"function\":" : "\n{\"function\":", found->name);
        put_text(output, ",\"group\":", found->group->key);
        put_u64(output, ",\"number\":", found->number);
        put_u64(output, ",\"since_ns\":", found->since_ns);
        print_some_ranks(&report->ranks, found, true, output);
        print_some_ranks(&report->ranks, found, false, output);
        film_output_byte(output, '}');
    }
}

static void
print_disagreements(const film_ranks *ranks, film_output *output)
{
    bool any = false;

    FILM_OUTPUT_LITERAL(output, "],\n\"disagree\":[");
    for (size_t i = 0; i < ranks->group_count; i++) {
        const film_rank_group *group = &ranks->groups[i];

        for (uint32_t k = 0; k < group->count; k++) {
            size_t pair[2];

            if (!film_ranks_disagree(ranks, group, k, &pair[0], &pair[1])) {
                continue;
            }
            put_text(output, any ? ",{\"group\":" : "{\"group\":", group->key);
            put_u64(output, ",\"number\":", k);
            FILM_OUTPUT_LITERAL(output, ",\"called\":{");
            for (size_t which = 0; which < 2; which++) {
                film_output_format(
                    output, "%s\"%lld\":\"%s\"", which > 0 ? "," : "",
                    (long long)ranks->items[pair[which]].rank,
                    film_ranks_met(ranks, group, k, pair[which])->function->name);
            }
            FILM_OUTPUT_LITERAL(output, "}}");
            any = true;
            break;
        }
    }
}

void
film_ranks_report_print_json(const film_ranks_report *report, film_output *output)
{
    film_output_format(output, "{\"world_size\":%lld,\"ranks\":[",
                       (long long)report->ranks.world_size);
    for (size_t i = 0; i < report->ranks.count; i++) {
        film_output_text(output, i > 0 ? ",\n" : "\n");
        print_rank(report, i, output);
    }
    FILM_OUTPUT_LITERAL(output, "],\n\"steps\":[");
    for (size_t i = 0; i < report->steps.count; i++) {
        film_output_text(output, i > 0 ? ",\n" : "\n");
        print_step(report, i, output);
    }
    print_unfinished(report, output);
    print_disagreements(&report->ranks, output);
    FILM_OUTPUT_LITERAL(output, "]}\n");
}
