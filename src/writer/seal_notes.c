/* seal_notes.c: what is noted of the rows of a chunk for its summary and its header:
 * variables and objects they write to, the least and the greatest value id they tell.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/writer_state.h"

/* The object of a token; 0: not known. */
static uint64_t
serial_of(film_writer *writer, const film_token *token)
{
    if (token->kind == FILM_TOKEN_CYCLE) {
        return token->value;
    }
    return token->kind == FILM_TOKEN_VALUE || token->kind == FILM_TOKEN_OBJECT
               ? film_serials_of(&writer->serials, token->value)
               : 0;
}

void
film_seal_note_write(film_writer *writer, uint32_t code, uint64_t head,
                     film_input tokens)
{
    uint32_t number = (uint32_t)(head >> FILM_SET_SHIFT);
    film_token owner;

    switch (head & 7) {
    case FILM_SET_LOCAL:
        film_touched_slot(&writer->touched, code, number);
        break;
    case FILM_SET_GLOBAL:
        film_touched_note_write(&writer->touched, FILM_TOUCHED_GLOBAL, number, 0);
        break;
    case FILM_SET_ATTRIBUTE:
    case FILM_SET_ATTRIBUTE_VIA:
        owner = film_token_decode(&tokens);
        film_touched_note_write(&writer->touched, FILM_TOUCHED_ATTRIBUTE, number,
                                serial_of(writer, &owner));
        break;
    case FILM_SET_ITEM:
    case FILM_SET_ITEM_VIA:
        owner = film_token_decode(&tokens);
        film_touched_note_write(&writer->touched, FILM_TOUCHED_ITEM, 0,
                                serial_of(writer, &owner));
        break;
    default:
        break;
    }
}

void
film_seal_note_touched(film_writer *writer, const film_event *event)
{
    film_input tokens = film_input_of(event->tokens, event->tokens_length);
    film_token token;

    if (event->kind == FILM_KIND_LINE && event->code != FILM_NO_CODE) {
        film_touched_line(&writer->touched, event->code, event->offset);
    }
    else if (event->kind == FILM_KIND_DELETE && event->code != FILM_NO_CODE) {
        uint32_t number = film_set_is_named(event->form) ? event->name : event->slot;
        film_seal_note_write(writer, event->code,
                             (uint64_t)number << FILM_SET_SHIFT | event->form, tokens);
    }
    else if (event->kind == FILM_KIND_CHANGE) {
        token = film_token_decode(&tokens);
        film_touched_note_write(&writer->touched, FILM_TOUCHED_CHANGE, 0,
                                serial_of(writer, &token));
    }
}

void
film_seal_note_greatest(const film_event *event, film_gathering *chunk)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    if (event->kind != FILM_KIND_DELETE && event->kind != FILM_KIND_CHANGE) {
        return;
    }
    for (uint32_t i = 0; i < event->token_count; i++) {
        film_token token = film_token_decode(&input);
        if ((token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) &&
            token.value >= chunk->next_value) {
            chunk->next_value = token.value + 1;
        }
    }
}

/* The id of a value that the body of a row tells. */
static void
note_id(film_input input, film_gathering *chunk)
{
    film_token token = film_token_decode(&input);

    if (token.kind != FILM_TOKEN_VALUE && token.kind != FILM_TOKEN_OBJECT) {
        return;
    }
    if (token.value >= chunk->next_value) {
        chunk->next_value = token.value + 1;
    }
    if (token.value < chunk->first_value) {
        chunk->first_value = token.value;
    }
}

void
film_seal_note_cells(const film_row *row, film_gathering *chunk)
{
    film_input body = film_input_of(row->body, row->body_length);
    film_cell_told told;

    while (film_cells_next(&body, &told)) {
        if ((told.flags & FILM_CELL_VALUE) != 0) {
            note_id(film_input_of(told.token, told.token_length), chunk);
        }
    }
}

void
film_seal_note_restored(const film_row *row, film_gathering *chunk)
{
    film_input body = film_input_of(row->body, row->body_length);

    (void)film_input_varint(&body);
    note_id(body, chunk);
}
