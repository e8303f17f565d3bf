/* nonfinite.c: one walk over all threads in order of time, up to the first op whose
 * result is not finite.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/nonfinite.h"

#include <fnmatch.h>
#include <string.h>

#include "analysis/merge.h"
#include "analysis/open_ops.h"
#include "base/alloc.h"
#include "base/intern.h"

/* What is kept of an op until it ends (film_open_op.note). */
enum {
    MARK_IGNORED = 1, /* its results do not count */
    MARK_BLANK = 2,   /* it gives memory that nothing was written to */
    MARK_CARRIES = 4  /* what was not finite among its arguments is such memory */
};

/* Memory with numbers that nobody has written yet. */
typedef struct blank {
    uint64_t nonfinite; /* how many of them are not finite; 0: it counts again */
} blank;

typedef struct finder {
    const film_nonfinite_options *options;
    film_reader *reader;
    film_nonfinite *out;
    film_open_ops open;
    film_intern storages; /* to blanks */
    blank *blanks;        /* owned */
    size_t blank_count, blank_capacity;
    /* Of the event that is being looked at: */
    uint32_t mark;
    bool arguments_count; /* an argument that is not finite, and counts */
    bool arguments_blank; /* one that is not, and does not */
    bool is_nonfinite;
    bool failed;
} finder;

film_recordings
film_recordings_one(const film_recordings *set, size_t recording)
{
    return (film_recordings){
        .items = &set->items[recording], .count = 1, .progress = set->progress};
}

static blank *
find_blank(const finder *find, uint64_t storage)
{
    uint32_t id;

    return film_intern_find(&find->storages, storage, &id) ? &find->blanks[id] : NULL;
}

static void
note_blank(finder *find, uint64_t storage, uint64_t nonfinite)
{
    blank *known = find_blank(find, storage), *grown;

    if (known != NULL) {
        known->nonfinite = nonfinite;
        return;
    }
    grown = film_grow(find->blanks, &find->blank_capacity, find->blank_count + 1,
                      sizeof(*grown));
    if (grown == NULL) {
        find->failed = true;
        return;
    }
    find->blanks = grown;
    if (!film_intern_add(&find->storages, storage, (uint32_t)find->blank_count)) {
        find->failed = true;
        return;
    }
    grown[find->blank_count++].nonfinite = nonfinite;
}

/* What a name ends with: `empty` of `torch.empty`. */
static const char *
last_part(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot == NULL ? name : dot + 1;
}

bool
film_op_gives_blank(const char *function)
{
    static const char *const names[] = {"empty",          "empty_like",
                                        "new_empty",      "empty_strided",
                                        "empty_permuted", "new_empty_strided"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(last_part(function), names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_ignored(const finder *find, const film_event *event)
{
    const char *function = film_reader_string(find->reader, event->text).data;
    const char *api = film_reader_string(find->reader, event->api).data;

    for (size_t i = 0; i < find->options->ignored_count; i++) {
        const char *glob = find->options->ignored[i];

        if (fnmatch(glob, function, 0) == 0 ||
            fnmatch(glob, last_part(function), 0) == 0 ||
            (event->api != 0 &&
             (fnmatch(glob, api, 0) == 0 || fnmatch(glob, last_part(api), 0) == 0))) {
            return true;
        }
    }
    return false;
}

static bool
look_at_argument(void *context, const film_tensor *tensor, uint32_t index)
{
    finder *find = context;

    (void)index;
    if (tensor->has_summary && tensor->summary.nonfinite > 0) {
        const blank *known = find_blank(find, tensor->storage);

        if (known != NULL && known->nonfinite > 0) {
            find->arguments_blank = true;
        }
        else {
            find->arguments_count = true;
        }
    }
    return true;
}

static bool
look_at_result(void *context, const film_tensor *tensor, uint32_t index)
{
    finder *find = context;
    uint64_t nonfinite = tensor->summary.nonfinite;
    const blank *known;

    find->out->tensors++;
    if (!tensor->has_summary) {
        return true;
    }
    find->out->summaries++;
    known = find_blank(find, tensor->storage);
    if ((find->mark & MARK_BLANK) != 0 ||
        (known == NULL && index == 0 && (find->mark & MARK_CARRIES) != 0)) {
        if (nonfinite > 0) {
            note_blank(find, tensor->storage, nonfinite);
        }
    }
    else if (known != NULL && known->nonfinite >= nonfinite) {
        /* A part of it was written. */
        note_blank(find, tensor->storage, nonfinite);
    }
    else if (nonfinite > 0) {
        find->is_nonfinite = true;
        if (known != NULL) {
            note_blank(find, tensor->storage, 0);
        }
    }
    return true;
}

static film_status
begin_op(finder *find, const film_event *event, film_error *error)
{
    film_open_op *op = film_open_ops_begin(&find->open, 0, event);
    uint32_t mark = 0;

    if (op == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    find->arguments_blank = find->arguments_count = false;
    FILM_TRY(
        film_reader_event_tensors(find->reader, event, look_at_argument, find, error));
    if (event->number < find->options->from || is_ignored(find, event)) {
        mark |= MARK_IGNORED;
    }
    if (film_op_gives_blank(film_reader_string(find->reader, event->text).data)) {
        mark |= MARK_BLANK;
    }
    if (find->arguments_blank && !find->arguments_count) {
        mark |= MARK_CARRIES;
    }
    op->note = mark;
    return FILM_OK;
}

static film_status
end_op(finder *find, const film_event *event, film_error *error)
{
    film_nonfinite *out = find->out;
    film_open_op op;

    if (!film_open_ops_end(&find->open, 0, event, &op)) {
        return FILM_OK;
    }
    out->ops++;
    find->mark = op.note;
    find->is_nonfinite = false;
    FILM_TRY(
        film_reader_event_tensors(find->reader, event, look_at_result, find, error));
    if (!find->is_nonfinite) {
        return FILM_OK;
    }
    if ((op.note & MARK_IGNORED) != 0 ||
        (find->options->thread != 0 && find->options->thread != event->thread)) {
        out->left_out++;
        return FILM_OK;
    }
    out->found = true;
    out->thread = event->thread;
    out->op = op.number;
    out->end = event->number;
    out->time_ns = op.time_ns;
    return FILM_OK;
}

static film_status
look_at(finder *find, const film_event *event, film_error *error)
{
    if (event->kind == FILM_KIND_OP) {
        FILM_TRY(begin_op(find, event, error));
    }
    else if (event->kind == FILM_KIND_OP_END) {
        FILM_TRY(end_op(find, event, error));
    }
    return find->failed ? film_fail(error, FILM_NO_MEMORY, "memory ran out") : FILM_OK;
}

film_status
film_nonfinite_find(const film_recordings *set, size_t recording,
                    const film_nonfinite_options *options, film_nonfinite *out,
                    film_error *error)
{
    film_recordings one = film_recordings_one(set, recording);
    film_merge_range range = film_merge_everything();
    finder find = {.options = options, .reader = one.items->reader, .out = out};
    film_merge *merge;
    film_merged merged;
    film_status status;

    memset(out, 0, sizeof(*out));
    FILM_TRY(film_merge_open(&one, &range, &merge, error));
    while (!out->found &&
           (status = film_merge_next(merge, &merged, error)) == FILM_OK) {
        status = look_at(&find, merged.event, error);
        if (status != FILM_OK) {
            break;
        }
    }
    status = out->found || status == FILM_END ? FILM_OK : status;
    film_merge_close(merge);
    film_open_ops_reset(&find.open);
    film_free(find.blanks);
    film_intern_reset(&find.storages);
    return status;
}
