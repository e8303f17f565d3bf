/* objwatch_walk.c: ObjWatch's lines of a whole recording, thread after thread.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch.h"

static film_status
walk_thread(film_objwatch *view, film_reader *reader, uint32_t thread,
            const film_objwatch_tree *tree, film_error *error)
{
    film_cursor *cursor;
    const film_event *event;
    film_status status;

    FILM_TRY(film_cursor_open(reader, thread, 0, &cursor, error));
    while ((status = film_cursor_next(cursor, &event, error)) == FILM_OK) {
        status = film_objwatch_event(view, event, error);
        if (status == FILM_OK && *tree->failed) {
            status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
        }
        if (status == FILM_OK && tree->output->status != FILM_OK) {
            status = film_output_flush(tree->output, error);
        }
        if (status != FILM_OK) {
            break;
        }
    }
    film_cursor_close(cursor);
    tree->end_thread(tree->context);
    return status == FILM_END ? FILM_OK : status;
}

film_status
film_objwatch_walk(film_reader *reader, film_objwatch_mode mode,
                   const film_objwatch_tree *tree, film_error *error)
{
    film_objwatch *view;
    film_status status =
        film_objwatch_new(reader, mode, tree->line, tree->context, &view, error);

    for (size_t i = 0; status == FILM_OK && i < film_reader_thread_count(reader); i++) {
        status =
            walk_thread(view, reader, film_reader_thread(reader, i)->id, tree, error);
    }
    film_objwatch_free(view);
    return status;
}
