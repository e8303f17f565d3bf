/* timeline_content.c: objects at a moment, as the timeline gives them: their items, and
 * their text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/content.h"
#include "reader/reader_state.h"
#include "reader/render.h"

uint64_t
film_timeline_serial(film_timeline *timeline, const film_datum *value)
{
    film_token token = film_datum_token(value);

    if (token.kind == FILM_TOKEN_CYCLE) {
        return token.value;
    }
    return token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT
               ? film_reader_serial(timeline->reader, token.value)
               : 0;
}

/* The record that a token refers to; for an object known by its serial alone the newest
 * not later. FILM_END: none. */
static film_status
record_of(film_timeline *timeline, film_moment moment, const film_token *token,
          uint64_t *id, film_value_record *record, film_error *error)
{
    uint64_t bound;
    film_status status;

    if (token->kind == FILM_TOKEN_CYCLE) {
        FILM_TRY(film_content_bound(timeline, moment, &bound, error));
        FILM_TRY(film_content_newest(timeline, token->value, 0, bound, id, error));
    }
    else if (token->kind == FILM_TOKEN_VALUE || token->kind == FILM_TOKEN_OBJECT) {
        *id = token->value;
    }
    else {
        return FILM_END;
    }
    status = film_reader_record(timeline->reader, *id, record, error);
    return status == FILM_OK || status == FILM_NO_MEMORY ? status : FILM_END;
}

/* The fields of a namedtuple have names. */
static void
name_fields(film_timeline *timeline, const film_value_record *record, size_t count)
{
    film_text names = film_tables_string(&timeline->reader->tables, record->note.names);

    if (record->form != FILM_OBJECT_SEQUENCE || record->note.count > 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!film_note_names(&names, &timeline->items[i].name)) {
            return;
        }
    }
}

film_status
film_timeline_content(film_timeline *timeline, film_moment moment,
                      const film_datum *value, film_content *out, film_error *error)
{
    film_token token = film_datum_token(value);
    film_value_record record;
    uint64_t id;

    memset(out, 0, sizeof(*out));
    out->length = -1;
    FILM_TRY(record_of(timeline, moment, &token, &id, &record, error));
    if (record.form == 0) {
        return FILM_END;
    }
    FILM_TRY(film_content_at(timeline, moment, id, &record, &timeline->content,
                             &out->doubtful, error));
    out->type = film_reader_string(timeline->reader, record.type);
    out->serial = record.serial;
    out->length = record.length;
    out->form = record.form;
    out->cut = (record.flags & FILM_VALUE_CUT) != 0;
    if (film_content_can_change(record.form) || record.form == FILM_OBJECT_EXCEPTION) {
        FILM_TRY(film_content_give(timeline, &record, out, error));
        if ((record.flags & FILM_VALUE_NOTED) != 0) {
            name_fields(timeline, &record, out->count);
        }
    }
    return FILM_OK;
}

/* What rendering at a moment needs. */
typedef struct renewal {
    film_timeline *timeline;
    film_moment moment;
    film_status status;
    bool doubtful;
    bool begun; /* the outermost object is renewed */
    bool cut;   /* it was: there is more of it than is told */
    int64_t length;
} renewal;

static bool
is_container(const film_value_record *record)
{
    return record->form == FILM_OBJECT_SEQUENCE ||
           record->form == FILM_OBJECT_MAPPING || record->form == FILM_OBJECT_BYTES;
}

static void
renew(void *context, uint64_t id, film_value_record *record, bool held)
{
    renewal *with = context;
    film_value_record now = *record;
    film_status status = FILM_OK;

    (void)held;
    if (is_container(record) ||
        film_note_needs_attributes(with->timeline->reader, record)) {
        status = film_content_at(with->timeline, with->moment, id, &now,
                                 &with->timeline->content, &with->doubtful, NULL);
    }
    if (status == FILM_OK) {
        *record = now;
    }
    else {
        with->status = status;
    }
    if (!with->begun) {
        with->begun = true;
        with->length = record->length;
        with->cut = (record->flags & FILM_VALUE_CUT) != 0;
    }
}

static void
renew_lent(void *context, uint64_t id, film_value_record *record, bool held)
{
    film_timeline_at *at = context;
    film_reader *reader = at->timeline->reader;
    film_value_record now = *record;
    bool doubtful = false;

    if (!film_note_needs_attributes(reader, record) &&
        !(held && is_container(record))) {
        return;
    }
    /* What it looks for on the way needs no texts of this kind. */
    film_reader_renew_by(reader, NULL, NULL);
    if (film_content_at(at->timeline, at->moment, id, &now, &at->timeline->content,
                        &doubtful, NULL) == FILM_OK ||
        film_reader_record(reader, id, &now, NULL) == FILM_OK) {
        *record = now;
    }
    film_reader_renew_by(reader, renew_lent, at);
}

void
film_timeline_lend(film_timeline *timeline, film_timeline_at *at)
{
    film_reader_renew_by(timeline->reader, at == NULL ? NULL : renew_lent, at);
}

film_status
film_timeline_text(film_timeline *timeline, film_moment moment, const film_datum *value,
                   size_t limit, film_value *out, film_error *error)
{
    film_token token = film_datum_token(value);
    renewal with = {.timeline = timeline, .moment = moment};
    film_buffer *text = &timeline->text;
    film_renderer renderer = {.reader = timeline->reader,
                              .out = text,
                              .limit = limit,
                              .bound = UINT64_MAX,
                              .renew = renew,
                              .context = &with};
    film_value_record record;

    if (value->length == 0) {
        token.kind = FILM_TOKEN_UNBOUND;
    }
    film_buffer_clear(text);
    film_buffer_clear(&timeline->reader->items);
    film_render_token(&renderer, &token);
    film_buffer_put_byte(text, 0);
    if (text->failed || with.status == FILM_NO_MEMORY) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    film_token_describe(timeline->reader, &token, out, &record);
    if (with.begun) {
        out->length = with.length;
        out->cut = with.cut || with.doubtful;
    }
    out->text.data = (const char *)text->data;
    out->text.length = text->length - 1;
    out->cut = out->cut || renderer.cut;
    return FILM_OK;
}
