/* known_secrets.c: see known_secrets.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/known_secrets.h"

#include <stdlib.h>
#include <string.h>

#include "recorder/compat_objects.h"
#include "recorder/text.h"

#define SECRETS 256u
/* Shorter ones would be found everywhere. Also what a secret is found by. */
#define SHORTEST_SECRET 4u
/* A code point takes at most 4 bytes. */
#define UTF8_BYTES 4u
#define HEADS_LOG2 12u

static struct {
    uint32_t next;                    /* the oldest, the next to go */
    uint16_t heads[1u << HEADS_LOG2]; /* by first bytes: place + 1; 0: none */
    uint16_t others[SECRETS];         /* the next one of the same head, as in heads */
    uint32_t firsts[SECRETS];         /* first bytes */
    uint32_t lengths[SECRETS];        /* 0: none there */
    char texts[SECRETS][FILM_SECRET_BYTES];
} *secrets; /* owned; made for the first one */
uint32_t film_the_secret_count;

static uint32_t
first_bytes(const char *text)
{
    uint32_t first;

    memcpy(&first, text, SHORTEST_SECRET);
    return first;
}

static uint16_t *
head_of(uint32_t first)
{
    return &secrets->heads[first * 0x9e3779b1u >> (32 - HEADS_LOG2)];
}

static void
take_out(uint32_t place)
{
    uint16_t *link = head_of(secrets->firsts[place]);

    while (*link != place + 1) {
        link = &secrets->others[*link - 1];
    }
    *link = secrets->others[place];
}

static void
put_in(uint32_t place, const char *text, size_t length)
{
    uint16_t *head = head_of(first_bytes(text));

    memcpy(secrets->texts[place], text, length);
    secrets->lengths[place] = (uint32_t)length;
    secrets->firsts[place] = first_bytes(text);
    secrets->others[place] = *head;
    *head = (uint16_t)(place + 1);
}

void
film_secret_remember_text(const char *text, size_t length)
{
    uint32_t place;

    if (length > FILM_SECRET_BYTES) {
        length = FILM_SECRET_BYTES;
    }
    if (length < SHORTEST_SECRET || film_secret_is_in(text, length)) {
        return;
    }
    if (secrets == NULL && (secrets = calloc(1, sizeof(*secrets))) == NULL) {
        return;
    }
    place = secrets->next++ % SECRETS;
    if (film_the_secret_count == SECRETS) {
        take_out(place);
    }
    else {
        film_the_secret_count++;
    }
    put_in(place, text, length);
}

static void
remember_scalar(PyObject *value)
{
    if (PyUnicode_Check(value)) {
        char text[FILM_SECRET_BYTES + UTF8_BYTES];

        film_secret_remember_text(text,
                                  film_text_copy(value, text, FILM_SECRET_BYTES, NULL));
    }
    else if (PyBytes_Check(value)) {
        film_secret_remember_text(PyBytes_AS_STRING(value),
                                  (size_t)PyBytes_GET_SIZE(value));
    }
}

void
film_secret_remember(PyObject *value)
{
    if (PyList_Check(value) || PyTuple_Check(value)) {
        PyObject **items = PyList_Check(value) ? ((PyListObject *)value)->ob_item
                                               : ((PyTupleObject *)value)->ob_item;

        for (Py_ssize_t index = 0; index < Py_SIZE(value) && index < 64; index++) {
            if (items[index] != NULL) {
                remember_scalar(items[index]);
            }
        }
    }
    else if (PyDict_Check(value)) {
        film_pairs pairs;

        film_pairs_of_dict(value, &pairs);
        for (Py_ssize_t index = 0; index < pairs.count && index < 64; index++) {
            PyObject *key, *item = film_pairs_get(&pairs, index, &key);

            if (item != NULL) {
                remember_scalar(item);
            }
        }
    }
    else {
        remember_scalar(value);
    }
}

/* True when one of those with these first bytes begins at `text`. */
static bool
begins_at(const char *text, size_t length, uint32_t first)
{
    for (uint32_t place = *head_of(first); place != 0;
         place = secrets->others[place - 1]) {
        size_t wanted = secrets->lengths[place - 1];

        if (secrets->firsts[place - 1] == first && wanted <= length &&
            memcmp(text, secrets->texts[place - 1], wanted) == 0) {
            return true;
        }
    }
    return false;
}

bool
film_secret_is_in(const char *text, size_t length)
{
    if (film_the_secret_count == 0) {
        return false;
    }
    for (size_t at = 0; at + SHORTEST_SECRET <= length; at++) {
        uint32_t first = first_bytes(text + at);

        if (*head_of(first) != 0 && begins_at(text + at, length - at, first)) {
            return true;
        }
    }
    return false;
}

void
film_known_secrets_end(void)
{
    free(secrets);
    secrets = NULL;
    film_the_secret_count = 0;
}
