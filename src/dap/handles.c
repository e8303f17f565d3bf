/* handles.c: what frame ids and variablesReferences stand for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "dap/session.h"

/* More than an editor shows; one that asks for more loses nothing but the rest. */
#define MOST_HANDLES 200000u

int64_t
film_dap_add_handle(film_dap *dap, film_dap_handle_kind kind, const char *moment,
                    uint64_t frame, uint64_t object, const char *expression)
{
    film_dap_handles *handles = &dap->handles;
    film_dap_handle *list, *made;

    if (handles->count >= MOST_HANDLES) {
        return 0;
    }
    list =
        film_grow(handles->list, &handles->capacity, handles->count + 1, sizeof(*list));
    if (list == NULL) {
        return 0;
    }
    handles->list = list;
    made = &list[handles->count];
    memset(made, 0, sizeof(*made));
    made->kind = kind;
    made->frame = frame;
    made->object = object;
    film_dap_copy_moment(made->moment, moment);
    if (expression != NULL) {
        size_t length = strlen(expression) + 1;
        made->expression = film_alloc(length);
        if (made->expression != NULL) {
            memcpy(made->expression, expression, length);
        }
    }
    return handles->first + (int64_t)handles->count++;
}

const film_dap_handle *
film_dap_find_handle(film_dap *dap, int64_t id)
{
    const film_dap_handles *handles = &dap->handles;

    if (id < handles->first || id - handles->first >= (int64_t)handles->count) {
        (void)film_dap_refuse(dap, id > 0 && id < handles->first
                                       ? "this is of a moment that was left"
                                       : "there is nothing with this number");
        return NULL;
    }
    return &handles->list[id - handles->first];
}

void
film_dap_forget_handles(film_dap *dap)
{
    film_dap_handles *handles = &dap->handles;

    for (size_t i = 0; i < handles->count; i++) {
        film_free(handles->list[i].expression);
    }
    handles->first += (int64_t)handles->count;
    handles->count = 0;
    /* Ids are 32 bits wide in the protocol. */
    if (handles->first > INT32_MAX / 2) {
        handles->first = 1;
    }
}
