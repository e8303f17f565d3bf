/* collectives.c: see collectives.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/collectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/spans.h"
#include "base/alloc.h"

/* Bytes of an argument: the ranks of a group, a list of tensors. */
#define ARGUMENT_BYTES 4096u

typedef struct reading {
    film_reader *reader;
    film_collectives *to;
    const film_collective_function **functions; /* owned; by code id */
    bool *wanted;                               /* owned; likewise */
    char *ranks;         /* owned; of the group that is being made; NULL: not known */
    bool several_groups; /* the program has made some */
} reading;

/* The value of an argument, borrowed until the next one; false: it was not recorded. */
static bool
argument(reading *from, const film_event *event, const char *name, film_value *value)
{
    for (uint32_t i = 0; i < event->token_count; i++) {
        film_text known = film_reader_argument_name(from->reader, event, i);

        if (known.length == strlen(name) &&
            memcmp(known.data, name, known.length) == 0) {
            return film_reader_event_value(from->reader, event, i, ARGUMENT_BYTES,
                                           value, NULL) == FILM_OK;
        }
    }
    return false;
}

static bool
argument_is(reading *from, const film_event *event, const char *name, const char *text)
{
    film_value value;

    return argument(from, event, name, &value) && strcmp(value.text.data, text) == 0;
}

/* Whether the caller of a function that returns has then been through it: on a device it
 * has only been enqueued. */
static bool
waits(reading *from, const film_event *event, const film_collective_function *function)
{
    static const char *const tensors[] = {"tensor", "tensors",       "input",
                                          "output", "output_tensor", "tensor_list"};
    film_value value;

    if (function->blocks) {
        return !argument_is(from, event, "async_op", "True");
    }
    if (!argument_is(from, event, "async_op", "False")) {
        return false;
    }
    for (size_t i = 0; i < sizeof(tensors) / sizeof(tensors[0]); i++) {
        if (argument(from, event, tensors[i], &value) &&
            strstr(value.text.data, "] cpu") != NULL) {
            return true;
        }
    }
    return false;
}

static int64_t
root_of(reading *from, const film_event *event, const char *name)
{
    film_value value;
    char *end;
    long rank;

    if (name == NULL || !argument(from, event, name, &value)) {
        return -1;
    }
    rank = strtol(value.text.data, &end, 10);
    return end != value.text.data && *end == '\0' && rank >= 0 ? rank : -1;
}

/* The group that a call names. */
static uint32_t
group_of(reading *from, const film_event *event)
{
    film_collectives *to = from->to;
    film_value value;

    if (event->token_count == 0) {
        to->groups_unknown |= from->several_groups;
        return from->several_groups ? FILM_NO_GROUP : 0;
    }
    if (!argument(from, event, "group", &value) ||
        strcmp(value.text.data, "None") == 0) {
        return 0;
    }
    if (!value.is_object) {
        return FILM_NO_GROUP; /* a rank that is not in the group */
    }
    for (uint32_t i = 1; i < to->group_count; i++) {
        if (to->groups[i].serial == value.object) {
            return i;
        }
    }
    return 0; /* nobody made it: torch.distributed.group.WORLD */
}

static bool
add_group(film_collectives *to, const char *ranks, uint64_t serial)
{
    size_t room = strlen(ranks) + 32, same = 1;
    film_collective_group *added;

    for (size_t i = 1; i < to->group_count; i++) {
        size_t length = strlen(ranks);
        const char *key = to->groups[i].key;
        same += strncmp(key, ranks, length) == 0 &&
                (key[length] == '\0' || key[length] == ' ');
    }
    if (to->group_count == to->group_capacity) {
        added = film_grow(to->groups, &to->group_capacity, to->group_count + 1,
                          sizeof(*added));
        if (added == NULL) {
            return false;
        }
        to->groups = added;
    }
    added = &to->groups[to->group_count];
    *added = (film_collective_group){.serial = serial, .key = film_alloc(room)};
    if (added->key == NULL) {
        return false;
    }
    (void)snprintf(added->key, room, same > 1 ? "%s (%zu)" : "%s", ranks, same);
    to->group_count++;
    return true;
}

static bool
keep_ranks(reading *from, const film_event *event)
{
    film_value value;

    film_free(from->ranks);
    from->ranks = NULL;
    if (!argument(from, event, "ranks", &value)) {
        return true;
    }
    if (strcmp(value.text.data, "None") == 0) {
        value.text = (film_text){"all ranks", 9};
    }
    from->ranks = film_alloc(value.text.length + 1);
    if (from->ranks == NULL) {
        return false;
    }
    memcpy(from->ranks, value.text.data, value.text.length + 1);
    return true;
}

static bool
begin(void *context, const film_event *event)
{
    reading *from = context;
    film_collectives *to = from->to;
    const film_collective_function *function = from->functions[event->code];
    film_collective *added;

    if (function->kind == FILM_COLLECTIVE_GROUP && !keep_ranks(from, event)) {
        return false;
    }
    if (to->count == to->capacity) {
        added = film_grow(to->items, &to->capacity, to->count + 1, sizeof(*added));
        if (added == NULL) {
            return false;
        }
        to->items = added;
    }
    added = &to->items[to->count++];
    *added = (film_collective){.function = function,
                               .event = event->number,
                               .frame = event->frame,
                               .enter_ns = event->time_ns,
                               .leave_ns = FILM_NEVER_NS,
                               .root = root_of(from, event, function->root),
                               .thread = event->thread,
                               .group = group_of(from, event),
                               .waits = waits(from, event, function)};
    return true;
}

static bool
end(void *context, uint32_t thread, const film_event *event)
{
    reading *from = context;
    film_collective *last = &from->to->items[from->to->count - 1];
    film_value value;

    (void)thread; /* threads are walked one after the other */
    last->leave_ns = event->time_ns;
    last->raised = event->kind == FILM_KIND_UNWIND;
    if (last->function->kind == FILM_COLLECTIVE_GROUP && !last->raised &&
        from->ranks != NULL && event->token_count > 0 &&
        film_reader_event_value(from->reader, event, 0, 64, &value, NULL) == FILM_OK &&
        value.is_object) {
        return add_group(from->to, from->ranks, value.object);
    }
    return true;
}

static int
compare_times(const void *left, const void *right)
{
    const film_collective *a = left, *b = right;

    if (a->enter_ns != b->enter_ns) {
        return a->enter_ns < b->enter_ns ? -1 : 1;
    }
    return a->thread != b->thread ? (a->thread < b->thread ? -1 : 1)
                                  : (a->event > b->event) - (a->event < b->event);
}

/* The functions that are meant, by code id. */
static bool
choose_codes(reading *from)
{
    size_t codes = film_reader_code_count(from->reader);

    from->functions = film_alloc_array(codes + 1, sizeof(*from->functions));
    from->wanted = film_alloc_array(codes + 1, sizeof(*from->wanted));
    if (from->functions == NULL || from->wanted == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < codes; i++) {
        const film_code *code = film_reader_code(from->reader, i);

        from->functions[i] =
            code == NULL ? NULL
                         : film_collective_find(code->module.data, code->qualname.data);
        from->wanted[i] = from->functions[i] != NULL;
        from->several_groups |=
            from->wanted[i] && from->functions[i]->kind == FILM_COLLECTIVE_GROUP;
    }
    return true;
}

static void
number_all(film_collectives *to)
{
    if (to->count > 0) {
        qsort(to->items, to->count, sizeof(*to->items), compare_times);
    }
    for (size_t i = 0; i < to->count; i++) {
        film_collective *item = &to->items[i];
        film_collective_kind kind = item->function->kind;

        if (kind == FILM_COLLECTIVE_ALL || kind == FILM_COLLECTIVE_FROM_ROOT ||
            kind == FILM_COLLECTIVE_TO_ROOT) {
            if (item->group != FILM_NO_GROUP) {
                item->number = to->groups[item->group].count++;
            }
        }
        else {
            item->group = FILM_NO_GROUP;
        }
    }
}

film_status
film_collectives_read(film_reader *reader, film_collectives *collectives,
                      film_error *error)
{
    reading from = {.reader = reader, .to = collectives};
    film_span_visitor visitor = {&from, begin, end};
    film_status status;
    size_t threads = film_reader_thread_count(reader);

    for (size_t i = 0; i < threads; i++) {
        collectives->cut |= film_reader_thread(reader, i)->first_event > 0;
    }
    if (!choose_codes(&from) || !add_group(collectives, "", 0)) {
        status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    else {
        status = film_spans_read(reader, from.wanted, &visitor, error);
    }
    number_all(collectives);
    film_free(from.functions);
    film_free(from.wanted);
    film_free(from.ranks);
    return status;
}

void
film_collectives_reset(film_collectives *collectives)
{
    for (size_t i = 0; i < collectives->group_count; i++) {
        film_free(collectives->groups[i].key);
    }
    film_free(collectives->groups);
    film_free(collectives->items);
    *collectives = (film_collectives){0};
}
