/* event_values.c: the values that go with an event, and the names they have there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/render.h"

film_renderer
film_renderer_of(film_reader *reader, film_buffer *out, size_t limit)
{
    return (film_renderer){.reader = reader,
                           .out = out,
                           .limit = limit,
                           .bound = UINT64_MAX,
                           .renew = reader->renew,
                           .context = reader->renew_context};
}

void
film_reader_renew_by(film_reader *reader, film_record_renewer *renew, void *context)
{
    reader->renew = renew;
    reader->renew_context = context;
}

film_status
film_token_text(film_reader *reader, const film_token *token, size_t limit,
                film_text *out, bool *cut)
{
    film_renderer renderer = film_renderer_of(reader, &reader->rendered, limit);

    film_buffer_clear(&reader->rendered);
    film_buffer_clear(&reader->items);
    film_render_token(&renderer, token);
    film_buffer_put_byte(&reader->rendered, 0);
    if (reader->rendered.failed) {
        return FILM_NO_MEMORY;
    }
    out->data = (const char *)reader->rendered.data;
    out->length = reader->rendered.length - 1;
    *cut = renderer.cut;
    return FILM_OK;
}

film_status
film_reader_event_value(film_reader *reader, const film_event *event, uint32_t index,
                        size_t limit, film_value *out, film_error *error)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_value_record record;
    film_token token;
    bool cut;

    if (index >= event->token_count) {
        return film_fail(error, FILM_MISUSE, "the event has no value %u", index);
    }
    film_tokens_skip(&input, index);
    film_token_read(&input, &token);
    film_token_describe(reader, &token, out, &record);
    if (film_token_text(reader, &token, limit, &out->text, &cut) != FILM_OK) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    out->cut = out->cut || cut;
    return FILM_OK;
}

film_text
film_reader_event_name(const film_reader *reader, const film_event *event)
{
    const film_code *code;

    if (event->form != FILM_SET_LOCAL) {
        return film_reader_string(reader, event->name);
    }
    code = film_reader_code(reader, event->code);
    return film_reader_string(reader, code != NULL && event->slot < code->local_count
                                          ? code->locals[event->slot]
                                          : 0);
}

const char *
film_reader_event_scope(const film_reader *reader, const film_event *event)
{
    const film_code *code;

    switch ((film_set_form)event->form) {
    case FILM_SET_ATTRIBUTE:
    case FILM_SET_ATTRIBUTE_VIA:
        return "attribute";
    case FILM_SET_ITEM:
    case FILM_SET_ITEM_VIA:
        return "item";
    case FILM_SET_GLOBAL:
        return "global";
    case FILM_SET_CLASS:
        return "class";
    case FILM_SET_LOCAL:
    default:
        break;
    }
    /* CO_FAST_FREE: a cell that belongs to an outer function. */
    code = film_reader_code(reader, event->code);
    return code != NULL && event->slot < code->local_count &&
                   (code->local_kinds[event->slot] & 0x80) != 0
               ? "nonlocal"
               : "local";
}

film_text
film_reader_argument_name(const film_reader *reader, const film_event *event,
                          uint32_t index)
{
    const film_code *code = film_reader_code(reader, event->code);

    return film_reader_string(
        reader, code != NULL && index < code->local_count ? code->locals[index] : 0);
}
