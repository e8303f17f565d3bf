/* names.c: rendering and keeping the bytes of names.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/names.h"

#include "base/alloc.h"

film_status
film_names_init(film_names *names, film_reader *reader, film_names_render render,
                film_error *error)
{
    memset(names, 0, sizeof(*names));
    names->reader = reader;
    names->render = render;
    FILM_TRY(film_output_init(&names->scratch, -1, error));
    names->scratch.memory = &names->bytes;
    return FILM_OK;
}

void
film_names_reset(film_names *names)
{
    for (size_t i = 0; i < names->capacity; i++) {
        film_free((void *)(uintptr_t)names->items[i].data);
    }
    film_free((void *)(uintptr_t)names->unknown.data);
    film_free(names->items);
    film_output_reset(&names->scratch);
    film_buffer_reset(&names->bytes);
    memset(names, 0, sizeof(*names));
}

/* The slot of a code id, or of all unknown ones; NULL when memory is out. */
static film_text *
slot_of(film_names *names, uint32_t code)
{
    /* Ids beyond the table come from damage and must not make the array grow. */
    if (code >= film_reader_code_count(names->reader)) {
        return &names->unknown;
    }
    if (code >= names->capacity) {
        size_t old = names->capacity;
        film_text *grown =
            film_grow(names->items, &names->capacity, code + 1u, sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        memset(grown + old, 0, (names->capacity - old) * sizeof(*grown));
        names->items = grown;
    }
    return &names->items[code];
}

film_text
film_names_make(film_names *names, uint32_t code)
{
    film_text empty = {"", 0};
    film_text *slot = slot_of(names, code);
    char *copy;

    if (slot == NULL) {
        return empty;
    }
    if (slot->data != NULL) {
        return *slot;
    }
    film_buffer_clear(&names->bytes);
    names->render(&names->scratch, names->reader,
                  film_reader_code(names->reader, code));
    if (film_output_flush(&names->scratch, NULL) != FILM_OK) {
        return empty;
    }
    copy = film_alloc(names->bytes.length + 1);
    if (copy == NULL) {
        return empty;
    }
    if (names->bytes.length > 0) {
        memcpy(copy, names->bytes.data, names->bytes.length);
    }
    slot->data = copy;
    slot->length = names->bytes.length;
    return *slot;
}

/* Installed packages: what their modules are called is enough. */
static film_text
without_folder(film_text file)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        const char *found =
            memmem(file.data, file.length, folders[i], strlen(folders[i]));

        if (found != NULL) {
            size_t cut = (size_t)(found - file.data) + strlen(folders[i]);

            file.data += cut;
            file.length -= cut;
            break;
        }
    }
    return file;
}

film_text
film_short_file(const film_reader *reader, film_text file)
{
    const char *folder = film_reader_meta(reader, "cwd");
    size_t length = folder == NULL ? 0 : strlen(folder);

    if (length > 1 && file.length > length + 1 && file.data[length] == '/' &&
        memcmp(file.data, folder, length) == 0) {
        file.data += length + 1;
        file.length -= length + 1;
    }
    return without_folder(file);
}
