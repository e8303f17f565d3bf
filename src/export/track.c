/* track.c: numbers and names of tracks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/track.h"

#include <stdio.h>

/* Above every process id Linux gives out (PID_MAX_LIMIT is 2 to the 22nd). */
#define OWN_NUMBERS (1u << 23)

uint64_t
film_track_process(const film_recordings *set, size_t recording)
{
    uint64_t pid = film_reader_info(set->items[recording].reader)->pid;

    for (size_t i = 0; i < recording; i++) {
        if (film_reader_info(set->items[i].reader)->pid == pid) {
            return OWN_NUMBERS + recording;
        }
    }
    return pid;
}

uint64_t
film_track_thread(const film_reader *reader, size_t thread_index)
{
    const film_thread_info *thread = film_reader_thread(reader, thread_index);

    if (thread->native_id == 0) {
        return OWN_NUMBERS + thread->id;
    }
    for (size_t i = 0; i < thread_index; i++) {
        if (film_reader_thread(reader, i)->native_id == thread->native_id) {
            return OWN_NUMBERS + thread->id;
        }
    }
    return thread->native_id;
}

film_text
film_track_process_name(const film_recording *recording, char room[FILM_TRACK_BYTES])
{
    const char *program = film_reader_meta(recording->reader, "program");
    const char *slash = strrchr(recording->path, '/');

    if (program == NULL || program[0] == '\0') {
        program = slash == NULL ? recording->path : slash + 1;
    }
    if (recording->rank < 0) {
        return film_text_of(program);
    }
    snprintf(room, FILM_TRACK_BYTES, "rank %lld%s: %s", (long long)recording->rank,
             recording->is_helper ? ", helper" : "", program);
    return film_text_of(room);
}

film_text
film_track_thread_name(const film_thread_info *thread, char room[32])
{
    if (thread->name.length > 0) {
        return thread->name;
    }
    snprintf(room, 32, "thread %u", thread->id);
    return film_text_of(room);
}

void
film_track_put_slice_name(film_output *output, const film_function *function)
{
    const char *slash = memrchr(function->file.data, '/', function->file.length);
    film_text file = function->file;

    film_output_display(output, function->function);
    if (function->is_c || file.length == 0) {
        return;
    }
    if (slash != NULL) {
        file.data = slash + 1;
        file.length -= (size_t)(slash + 1 - function->file.data);
    }
    FILM_OUTPUT_LITERAL(output, " (");
    film_output_display(output, file);
    film_output_byte(output, ':');
    film_output_u64(output, function->first_line);
    film_output_byte(output, ')');
}
