/* info_text.c: info for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/info.h"

#include <time.h>

#include "analysis/ending.h"
#include "export/log.h"

static void
print_key(film_output *output, const char *key)
{
    film_output_format(output, "%-10s ", key);
}

static void
print_row(film_output *output, const char *key, const char *value)
{
    if (value != NULL && value[0] != '\0') {
        print_key(output, key);
        film_output_display(output, film_text_of(value));
        film_output_byte(output, '\n');
    }
}

static void
print_python(film_reader *reader, film_output *output)
{
    const char *version = film_reader_meta(reader, "python");
    const char *implementation = film_reader_meta(reader, "implementation");
    const char *platform = film_reader_meta(reader, "platform");
    uint32_t hex = film_reader_info(reader)->python_version;

    print_key(output, "python");
    if (version != NULL) {
        film_output_display(output, film_text_of(version));
    }
    else {
        film_output_format(output, "%u.%u.%u", hex >> 24, hex >> 16 & 0xff,
                           hex >> 8 & 0xff);
    }
    if (implementation != NULL) {
        film_output_byte(output, ' ');
        film_output_display(output, film_text_of(implementation));
    }
    if (platform != NULL) {
        FILM_OUTPUT_LITERAL(output, " on ");
        film_output_display(output, film_text_of(platform));
    }
    film_output_byte(output, '\n');
}

/* rank       3 of 8, local 1 (torchrun) */
static void
print_rank(const film_reader *reader, film_output *output)
{
    static const char *const before[] = {"", " of ", ", local ", " ("};
    static const char *const keys[] = {"rank", "world_size", "local_rank",
                                       "rank_source"};

    if (film_reader_meta(reader, "rank") == NULL) {
        return;
    }
    print_key(output, "rank");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = film_reader_meta(reader, keys[i]);

        if (value != NULL) {
            film_output_text(output, before[i]);
            film_output_display(output, film_text_of(value));
            film_output_text(output, i == 3 ? ")" : "");
        }
    }
    film_output_byte(output, '\n');
}

static void
print_started(const film_info *info, film_output *output)
{
    time_t started = (time_t)(info->start_realtime_ns / 1000000000u);
    struct tm parts;
    char text[64];

    if (localtime_r(&started, &parts) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &parts) > 0) {
        print_row(output, "started", text);
    }
}

static void
print_bytes(film_output *output, uint64_t bytes)
{
    film_output_grouped_u64(output, bytes);
    FILM_OUTPUT_LITERAL(output, " bytes");
}

static void
print_size(const film_info *info, film_output *output)
{
    print_key(output, "size");
    print_bytes(output, info->file_bytes);
    /* An open recording holds windows that are not filled yet: the ratio says nothing.
     */
    if (info->events > 0 && info->ending == FILM_ENDING_CLOSED) {
        film_output_format(output, ", %.2f an event",
                           (double)info->file_bytes / (double)info->events);
    }
    if (info->disk_bytes > info->file_bytes + 4096 ||
        info->disk_bytes < info->file_bytes) {
        FILM_OUTPUT_LITERAL(output, "; ");
        print_bytes(output, info->disk_bytes);
        FILM_OUTPUT_LITERAL(output, " on disk");
    }
    if (info->ring_bytes > 0) {
        FILM_OUTPUT_LITERAL(output, "; ring of ");
        print_bytes(output, info->ring_bytes);
    }
    film_output_byte(output, '\n');
}

static void
print_losses(film_reader *reader, film_output *output)
{
    const film_info *info = film_reader_info(reader);
    film_losses losses;

    film_info_losses(reader, &losses);
    print_key(output, "lost");
    if (losses.count == 0) {
        FILM_OUTPUT_LITERAL(output, "nothing\n");
    }
    for (size_t i = 0; i < losses.count; i++) {
        const film_loss *loss = &losses.items[i];
        if (i > 0) {
            print_key(output, "");
        }
        film_output_count(output, loss->count, loss->is_control ? "time" : "event");
        film_output_text(output, loss->is_control ? " the hook: " : ": ");
        film_output_display(output, loss->reason);
        film_output_byte(output, '\n');
    }
    if (info->overwritten > 0) {
        print_key(output, "given up");
        film_output_count(output, info->overwritten, "older event");
        FILM_OUTPUT_LITERAL(output, ", by the ring\n");
    }
    if (info->stopped_early) {
        print_row(output, "stopped",
                  "early: the recording could not be written further");
    }
}

/* call 8, return 7, ... */
static void
print_kinds(film_reader *reader, film_output *output)
{
    uint64_t counts[FILM_KIND_COUNT];
    bool any = false;

    if (film_reader_kind_counts(reader, counts, NULL) != FILM_OK) {
        return;
    }
    for (unsigned kind = 1; kind < FILM_KIND_COUNT; kind++) {
        if (counts[kind] > 0) {
            if (!any) {
                print_key(output, "kinds");
            }
            film_output_text(output, any ? ", " : "");
            film_output_text(output, film_kind_name((uint8_t)kind));
            film_output_byte(output, ' ');
            film_output_grouped_u64(output, counts[kind]);
            any = true;
        }
    }
    film_output_text(output, any ? "\n" : "");
}

/* What level values could not record as it should; told where it is not 0. */
static void
print_counters(film_reader *reader, film_output *output)
{
    for (size_t i = 0; i < FILM_INFO_COUNTERS; i++) {
        const char *value = film_reader_meta(reader, film_info_counters[i].key);
        if (value != NULL && strcmp(value, "0") != 0) {
            print_key(output, film_info_counters[i].word);
            film_output_display(output, film_text_of(value));
            film_output_byte(output, ' ');
            film_output_text(output, film_info_counters[i].noun);
            film_output_text(output, strcmp(value, "1") == 0 ? ", " : "s, ");
            film_output_text(output, film_info_counters[i].meaning);
            film_output_byte(output, '\n');
        }
    }
}

static void
print_damage(film_reader *reader, film_output *output)
{
    size_t count = film_reader_damage_count(reader);

    if (count > 0) {
        print_key(output, "damage");
        film_output_format(output, "%zu chunk%s (filmstrip check shows all)\n", count,
                           count == 1 ? "" : "s");
    }
}

static void
print_thread(film_reader *reader, const film_thread_info *thread, film_output *output)
{
    film_last_place place = film_info_last_place(reader, thread);

    film_output_format(output, "  %-4u ", thread->id);
    film_output_display(output, thread->name);
    FILM_OUTPUT_LITERAL(output, ": ");
    film_output_count(output, thread->end_event - thread->first_event, "event");
    FILM_OUTPUT_LITERAL(output, ", ");
    film_output_duration(output, thread->last_ns - thread->first_ns);
    if (thread->lost > 0) {
        FILM_OUTPUT_LITERAL(output, ", ");
        film_output_grouped_u64(output, thread->lost);
        FILM_OUTPUT_LITERAL(output, " lost");
    }
    if (place.code != NULL) {
        film_output_text(output, place.running ? "; last in " : "; last left ");
        film_output_display(output, place.code->function);
        FILM_OUTPUT_LITERAL(output, "  ");
        film_output_display(output, place.code->file);
        if (place.line != 0) {
            film_output_byte(output, ':');
            film_output_u64(output, place.line);
        }
    }
    film_output_byte(output, '\n');
}

static const char *
level_name(uint32_t level)
{
    static const char *const names[] = {"calls", "lines", "values"};

    return level < 3 ? names[level] : "of a later version";
}

void
film_info_print(film_reader *reader, const char *path, film_output *output)
{
    const film_info *info = film_reader_info(reader);
    size_t threads = film_reader_thread_count(reader);
    char room[256];

    print_row(output, "recording", path);
    print_row(output, "program", film_reader_meta(reader, "program"));
    print_row(output, "arguments", film_reader_meta(reader, "argv"));
    print_python(reader, output);
    print_started(info, output);
    print_key(output, "process");
    film_output_u64(output, info->pid);
    if (film_reader_meta(reader, "parent_pid") != NULL) {
        FILM_OUTPUT_LITERAL(output, ", child of ");
        film_output_display(output,
                            film_text_of(film_reader_meta(reader, "parent_pid")));
    }
    film_output_byte(output, '\n');
    print_rank(reader, output);
    print_row(output, "ended", film_how_ended(reader, room));
    print_row(output, "level", level_name(info->level));
    print_row(output, "values", film_reader_meta(reader, "values"));
    print_row(output, "redact", film_reader_meta(reader, "redact"));
    print_row(output, "targets", film_reader_meta(reader, "targets"));
    print_row(output, "excludes", film_reader_meta(reader, "excludes"));
    print_key(output, "events");
    film_output_grouped_u64(output, info->events);
    FILM_OUTPUT_LITERAL(output, " in ");
    film_output_duration(output, info->duration_ns);
    film_output_format(output, ", ticks of %u ns\n", info->tick_ns);
    print_kinds(reader, output);
    print_size(info, output);
    print_losses(reader, output);
    print_counters(reader, output);
    print_damage(reader, output);
    print_key(output, "threads");
    film_output_u64(output, threads);
    film_output_byte(output, '\n');
    for (size_t i = 0; i < threads; i++) {
        print_thread(reader, film_reader_thread(reader, i), output);
    }
}
