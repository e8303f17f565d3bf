/* fuzz_objwatch.c: any bytes as a recording, shown as ObjWatch shows it, as its trees,
 * and written again without secrets. No crash, no hang, no unbounded memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "film_bytes.h"

#include "export/objwatch.h"
#include "export/scrub.h"

#define MOST_EVENTS 20000u

static void
show(const film_recordings *set, film_objwatch_mode mode)
{
    film_merge_range range = film_merge_everything();
    film_buffer text = {0};
    film_output output = {0};
    film_objwatch_text *lines = NULL;
    film_merge *merge = NULL;
    film_merged merged;
    film_error error;

    if (film_output_init(&output, -1, NULL) != FILM_OK) {
        return;
    }
    output.memory = &text;
    if (film_objwatch_text_new(set, mode, &output, &lines, &error) == FILM_OK &&
        film_merge_open(set, &range, &merge, &error) == FILM_OK) {
        for (uint32_t i = 0; i < MOST_EVENTS; i++) {
            if (film_merge_next(merge, &merged, &error) != FILM_OK ||
                film_objwatch_text_write(lines, &merged, &error) != FILM_OK) {
                break;
            }
            film_output_drain(&output);
            film_buffer_clear(&text);
        }
        film_objwatch_text_finish(lines);
    }
    film_merge_close(merge);
    film_objwatch_text_free(lines);
    film_output_reset(&output);
    film_buffer_reset(&text);
}

static void
scrub(film_reader *reader)
{
    static char name[] = "*a*", pattern[] = "[0-9]+";
    char *names[] = {name}, *patterns[] = {pattern};
    film_scrub_options options = {names, 1, patterns, 1};
    film_scrub_counts counts;
    film_error error = {0};
    int memory = memfd_create("clean", MFD_CLOEXEC);

    if (memory >= 0) {
        (void)!film_scrub(reader, &options, memory, &counts, &error);
        close(memory);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    char *paths[] = {path};
    film_recordings set;
    int memory = open_bytes(data, size, path);

    if (memory < 0) {
        return 0;
    }
    if (film_recordings_open(&set, paths, 1, NULL) == FILM_OK) {
        if (film_reader_info(set.items[0].reader)->events < MOST_EVENTS) {
            show(&set, FILM_OBJWATCH_FULL);
            show(&set, FILM_OBJWATCH_STRICT);
            show(&set, FILM_OBJWATCH_OLD);
            scrub(set.items[0].reader);
        }
        film_recordings_close(&set);
    }
    close(memory);
    return 0;
}
