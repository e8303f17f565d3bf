/* question.c: asks film_query and reads its answers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dap/session.h"

void
film_dap_answer_reset(film_dap_answer *answer)
{
    film_buffer_reset(&answer->bytes);
    film_json_reset(&answer->json);
    answer->root = NULL;
}

film_json_writer *
film_dap_question(film_dap *dap, const char *name)
{
    film_json_writer_clear(&dap->question);
    film_json_open(&dap->question, NULL, '{');
    film_json_add_text(&dap->question, "q", name);
    return &dap->question;
}

bool
film_dap_ask(film_dap *dap, film_dap_answer *answer)
{
    const film_buffer *question = &dap->question.out;
    const film_json_node *error;
    const char *message;

    answer->root = NULL;
    film_json_close(&dap->question, '}');
    if (question->failed ||
        film_query(dap->timeline, (const char *)question->data, question->length,
                   &answer->bytes) != FILM_OK ||
        film_json_read(&answer->json, (const char *)answer->bytes.data,
                       answer->bytes.length, NULL) != FILM_OK) {
        if (question->failed) {
            film_json_writer_reset(&dap->question);
        }
        return film_dap_refuse(dap, "memory ran out");
    }
    answer->root = film_json_root(&answer->json);
    error = film_json_get(&answer->json, answer->root, "error");
    if (error == NULL) {
        return true;
    }
    message = film_dap_text(answer, error, "message");
    return film_dap_refuse(dap, "%s", message == NULL ? "it failed" : message);
}

const char *
film_dap_text(const film_dap_answer *answer, const film_json_node *of, const char *key)
{
    return film_json_text(&answer->json, film_json_get(&answer->json, of, key));
}

int64_t
film_dap_integer(const film_dap_answer *answer, const film_json_node *of,
                 const char *key, int64_t fallback)
{
    const film_json_node *value = film_json_get(&answer->json, of, key);

    return film_json_is(value, FILM_JSON_INTEGER) ? value->integer : fallback;
}

bool
film_dap_is(const film_dap_answer *answer, const film_json_node *of, const char *key)
{
    return film_json_is(film_json_get(&answer->json, of, key), FILM_JSON_TRUE);
}
