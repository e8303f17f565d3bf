/* recording.c: the recording a session is about, and the moment it stands at.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "dap/session.h"

static char *
copy_text(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = film_alloc(length);

    if (copy != NULL) {
        memcpy(copy, text, length);
    }
    return copy;
}

/* The files of the recording; a live one may have more than before. Those that are
 * known keep their place. */
static bool
take_files(film_dap *dap, const film_dap_answer *answer)
{
    const film_json_node *files = film_json_get(&answer->json, answer->root, "files");

    for (const film_json_node *file = film_json_first(&answer->json, files);
         file != NULL; file = film_json_next(&answer->json, file)) {
        const char *name = film_dap_text(answer, file, "file");
        film_dap_source *list;
        if (name == NULL || film_dap_source_of(dap, name) != SIZE_MAX) {
            continue;
        }
        list = film_grow(dap->sources, &dap->source_capacity, dap->source_count + 1,
                         sizeof(*list));
        if (list == NULL) {
            return film_dap_refuse(dap, "memory ran out");
        }
        dap->sources = list;
        memset(&list[dap->source_count], 0, sizeof(*list));
        list[dap->source_count].file = copy_text(name);
        if (list[dap->source_count].file == NULL) {
            return film_dap_refuse(dap, "memory ran out");
        }
        list[dap->source_count++].told = film_dap_is(answer, file, "source");
    }
    return true;
}

/* What there is to know about it, in the editor's console. */
static void
tell_recording(film_dap *dap, const film_dap_answer *answer, const char *path)
{
    const film_info *info = film_reader_info(dap->reader);
    const char *program = film_dap_text(answer, answer->root, "program");
    const char *python = film_dap_text(answer, answer->root, "python");
    const char *level = film_dap_text(answer, answer->root, "level");
    const char *ended = film_dap_text(answer, answer->root, "how_ended");
    size_t damaged = film_reader_damage_count(dap->reader);
    const char *name = strrchr(path, '/');
    const char *script = program == NULL ? NULL : strrchr(program, '/');
    char text[640];

    snprintf(text, sizeof(text),
             "%.120s: %.120s, Python %.20s, %llu event%s, %.3f s; %s%s",
             name == NULL ? path : name + 1,
             program == NULL  ? "?"
             : script != NULL ? script + 1
                              : program,
             python == NULL ? "?" : python, (unsigned long long)info->events,
             info->events == 1 ? "" : "s", (double)info->duration_ns / 1e9,
             info->ending == FILM_ENDING_LIVE ? "" : "ended: ",
             info->ending == FILM_ENDING_LIVE ? "still being written"
             : ended == NULL                  ? "?"
                                              : ended);
    film_dap_say(dap, "console", text);
    if (level != NULL && strcmp(level, "values") != 0) {
        snprintf(text, sizeof(text),
                 "It was recorded at level '%s': there are no variables to look at "
                 "(filmstrip run --level values).",
                 level);
        film_dap_say(dap, "console", text);
    }
    if (damaged > 0) {
        snprintf(text, sizeof(text), "%zu place%s of it %s damaged; the first: %s",
                 damaged, damaged == 1 ? "" : "s", damaged == 1 ? "is" : "are",
                 film_reader_damage(dap->reader, 0)->message);
        film_dap_say(dap, "important", text);
    }
    if (info->lost > 0) {
        snprintf(text, sizeof(text), "%llu event%s lost while it was recorded.",
                 (unsigned long long)info->lost, info->lost == 1 ? " was" : "s were");
        film_dap_say(dap, "console", text);
    }
}

bool
film_dap_open_film(film_dap *dap, const char *path)
{
    film_error error = {FILM_OK, 0, ""};
    film_dap_answer answer = {0};
    const char *start;
    bool fine;

    if (film_reader_open(path, &dap->reader, &error) != FILM_OK ||
        film_timeline_open(dap->reader, &dap->timeline, &error) != FILM_OK) {
        film_dap_close_film(dap);
        return film_dap_refuse(dap, "%s", error.message);
    }
    film_dap_question(dap, "open");
    fine = film_dap_ask(dap, &answer) && take_files(dap, &answer);
    start = fine ? film_dap_text(&answer, answer.root, "start") : NULL;
    if (fine && start == NULL) {
        fine = film_dap_refuse(dap, "the recording has no events");
    }
    if (fine && start != NULL) {
        film_dap_copy_moment(dap->first, start);
        film_dap_copy_moment(dap->moment, start);
        dap->thread = (uint32_t)strtoul(start, NULL, 10);
        tell_recording(dap, &answer, path);
    }
    else {
        film_dap_close_film(dap);
    }
    film_dap_answer_reset(&answer);
    return fine;
}

void
film_dap_close_film(film_dap *dap)
{
    film_dap_forget_handles(dap);
    film_free(dap->handles.list);
    dap->handles.list = NULL;
    dap->handles.capacity = 0;
    for (size_t i = 0; i < dap->source_count; i++) {
        film_free(dap->sources[i].file);
        film_free(dap->sources[i].path);
    }
    film_free(dap->sources);
    dap->sources = NULL;
    dap->source_count = dap->source_capacity = 0;
    for (size_t i = 0; i < dap->root_count; i++) {
        film_free(dap->roots[i]);
    }
    film_free(dap->roots);
    dap->roots = NULL;
    dap->root_count = 0;
    film_dap_close_step(dap);
    film_timeline_close(dap->timeline);
    film_reader_close(dap->reader);
    dap->timeline = NULL;
    dap->reader = NULL;
}

bool
film_dap_refresh(film_dap *dap)
{
    film_error error = {FILM_OK, 0, ""};
    film_dap_answer answer = {0};
    bool fine;

    if (film_reader_info(dap->reader)->ending != FILM_ENDING_LIVE) {
        return true;
    }
    if (film_reader_refresh(dap->reader, &error) != FILM_OK ||
        film_timeline_refresh(dap->timeline, &error) != FILM_OK) {
        return film_dap_refuse(dap, "%s", error.message);
    }
    film_dap_question(dap, "open");
    fine = film_dap_ask(dap, &answer) && take_files(dap, &answer);
    film_dap_answer_reset(&answer);
    return fine;
}

void
film_dap_copy_moment(char *to, const char *from)
{
    size_t length = strlen(from);

    length = length < FILM_DAP_MOMENT ? length : FILM_DAP_MOMENT - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

bool
film_dap_thread_moment(film_dap *dap, int64_t thread, char *moment)
{
    film_dap_answer answer = {0};
    film_json_writer *question;
    bool fine;

    if (thread == 0 || thread == (int64_t)dap->thread) {
        film_dap_copy_moment(moment, dap->moment);
        return true;
    }
    question = film_dap_question(dap, "threads");
    film_json_add_text(question, "m", dap->moment);
    film_json_add_integer(question, "frames", 0);
    fine = film_dap_ask(dap, &answer);
    if (fine) {
        const film_json_node *list =
            film_json_get(&answer.json, answer.root, "threads");
        const film_json_node *one = film_json_first(&answer.json, list);
        const char *m;
        while (one != NULL && film_dap_integer(&answer, one, "id", 0) != thread) {
            one = film_json_next(&answer.json, one);
        }
        m = one == NULL ? NULL : film_dap_text(&answer, one, "m");
        if (m == NULL) {
            fine = film_dap_refuse(dap, one == NULL ? "there is no such thread"
                                                    : "this thread has not begun yet");
        }
        else {
            film_dap_copy_moment(moment, m);
        }
    }
    film_dap_answer_reset(&answer);
    return fine;
}

void
film_dap_stand_at(film_dap *dap, const char *moment)
{
    film_dap_forget_handles(dap);
    film_dap_copy_moment(dap->moment, moment);
    dap->thread = (uint32_t)strtoul(moment, NULL, 10);
}

void
film_dap_stand(film_dap *dap, const film_dap_answer *answer)
{
    const char *moment = film_dap_text(answer, answer->root, "m");

    if (moment != NULL) {
        film_dap_stand_at(dap, moment);
    }
}
