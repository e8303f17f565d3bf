/* info_json.c: info for programs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/info.h"

#include <stdlib.h>

#include "analysis/ending.h"
#include "export/alignment.h"

static void
put_number(film_output *output, const char *key, uint64_t number)
{
    film_output_text(output, key);
    film_output_u64(output, number);
}

static void
put_text(film_output *output, const char *key, film_text text)
{
    film_output_text(output, key);
    film_output_json(output, text);
}

/* What the recorder noted about the program, under the names of format.md. */
static void
put_meta(film_reader *reader, film_output *output)
{
    static const char *const keys[] = {
        "program",   "argv",    "python",     "implementation", "platform",
        "host_hash", "cwd",     "command",    "targets",        "excludes",
        "options",   "started", "ended",      "exit_exception", "parent_pid",
        "values",    "redact",  "local_rank", "world_size",     "rank_source",
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = film_reader_meta(reader, keys[i]);
        if (value != NULL) {
            FILM_OUTPUT_LITERAL(output, ",\"");
            film_output_text(output, keys[i]);
            put_text(output, "\":", film_text_of(value));
        }
    }
}

static void
put_numbers(const film_info *info, film_output *output)
{
    static const char *const levels[] = {"calls", "lines", "values"};

    film_output_format(output, ",\"version\":\"%u.%u\"", info->version_major,
                       info->version_minor);
    FILM_OUTPUT_LITERAL(output, ",\"uuid\":\"");
    for (size_t i = 0; i < sizeof(info->uuid); i++) {
        film_output_format(output, "%02x", info->uuid[i]);
    }
    put_number(output, "\",\"pid\":", info->pid);
    put_number(output, ",\"start_realtime_ns\":", info->start_realtime_ns);
    put_number(output, ",\"duration_ns\":", info->duration_ns);
    put_number(output, ",\"events\":", info->events);
    put_number(output, ",\"lost_events\":", info->lost);
    put_number(output, ",\"overwritten\":", info->overwritten);
    put_number(output, ",\"file_bytes\":", info->file_bytes);
    put_number(output, ",\"disk_bytes\":", info->disk_bytes);
    put_number(output, ",\"ring_bytes\":", info->ring_bytes);
    put_number(output, ",\"tick_ns\":", info->tick_ns);
    film_output_format(output, ",\"level\":\"%s\",\"ending\":\"%s\"",
                       info->level < 3 ? levels[info->level] : "unknown",
                       film_ending_name(info->ending));
    film_output_format(output, ",\"stopped_early\":%s,\"write_fallback\":%s",
                       info->stopped_early ? "true" : "false",
                       info->write_fallback ? "true" : "false");
    if (info->events > 0) {
        film_output_format(output, ",\"bytes_per_event\":%.4f",
                           (double)info->file_bytes / (double)info->events);
    }
}

static void
put_kinds(film_reader *reader, film_output *output)
{
    uint64_t counts[FILM_KIND_COUNT];
    bool any = false;

    if (film_reader_kind_counts(reader, counts, NULL) != FILM_OK) {
        return;
    }
    FILM_OUTPUT_LITERAL(output, ",\"kinds\":{");
    for (unsigned kind = 1; kind < FILM_KIND_COUNT; kind++) {
        if (counts[kind] > 0) {
            film_output_text(output, any ? ",\"" : "\"");
            film_output_text(output, film_kind_name((uint8_t)kind));
            put_number(output, "\":", counts[kind]);
            any = true;
        }
    }
    film_output_byte(output, '}');
    for (size_t i = 0; i < FILM_INFO_COUNTERS; i++) {
        const char *value = film_reader_meta(reader, film_info_counters[i].key);
        if (value != NULL) {
            FILM_OUTPUT_LITERAL(output, ",\"");
            film_output_text(output, film_info_counters[i].key);
            put_number(output, "\":", strtoull(value, NULL, 10));
        }
    }
}

static void
put_losses(film_reader *reader, film_output *output)
{
    film_losses losses;

    film_info_losses(reader, &losses);
    FILM_OUTPUT_LITERAL(output, ",\"lost\":[");
    for (size_t i = 0; i < losses.count; i++) {
        const film_loss *loss = &losses.items[i];
        film_output_text(output, i > 0 ? ",{" : "{");
        film_output_text(output, loss->is_control ? "\"kind\":\"lost_control\""
                                                  : "\"kind\":\"lost\"");
        put_number(output, ",\"count\":", loss->count);
        put_text(output, ",\"reason\":", loss->reason);
        film_output_byte(output, '}');
    }
    film_output_byte(output, ']');
}

static void
put_damage(film_reader *reader, film_output *output)
{
    size_t count = film_reader_damage_count(reader);

    FILM_OUTPUT_LITERAL(output, ",\"damage\":[");
    for (size_t i = 0; i < count; i++) {
        const film_damage *damage = film_reader_damage(reader, i);
        film_output_text(output, i > 0 ? ",{" : "{");
        put_number(output, "\"chunk\":", damage->number);
        put_number(output, ",\"offset\":", damage->offset);
        put_text(output, ",\"message\":", film_text_of(damage->message));
        film_output_byte(output, '}');
    }
    film_output_byte(output, ']');
}

static void
put_thread(film_reader *reader, const film_thread_info *thread, film_output *output)
{
    film_last_place place = film_info_last_place(reader, thread);

    put_number(output, "{\"id\":", thread->id);
    put_text(output, ",\"name\":", thread->name);
    put_number(output, ",\"native_id\":", thread->native_id);
    put_number(output, ",\"first_event\":", thread->first_event);
    put_number(output, ",\"events\":", thread->end_event - thread->first_event);
    put_number(output, ",\"first_ns\":", thread->first_ns);
    put_number(output, ",\"last_ns\":", thread->last_ns);
    put_number(output, ",\"lost\":", thread->lost);
    if (place.code != NULL) {
        put_text(output, ",\"last\":{\"function\":", place.code->function);
        put_text(output, ",\"file\":", place.code->file);
        if (place.line != 0) {
            put_number(output, ",\"line\":", place.line);
        }
        film_output_text(output,
                         place.running ? ",\"running\":true}" : ",\"running\":false}");
    }
    film_output_byte(output, '}');
}

void
film_info_print_json(const film_recordings *set, size_t index, film_output *output)
{
    film_reader *reader = set->items[index].reader;
    size_t threads = film_reader_thread_count(reader);
    char room[256];

    put_text(output, "{\"path\":", film_text_of(set->items[index].path));
    put_meta(reader, output);
    film_alignment_print_json(set, index, output);
    put_numbers(film_reader_info(reader), output);
    put_text(output, ",\"how_ended\":", film_text_of(film_how_ended(reader, room)));
    if (film_reader_info(reader)->exit_status >= 0) {
        put_number(output, ",\"exit_status\":",
                   (uint64_t)film_reader_info(reader)->exit_status);
    }
    put_kinds(reader, output);
    put_losses(reader, output);
    FILM_OUTPUT_LITERAL(output, ",\"threads\":[");
    for (size_t i = 0; i < threads; i++) {
        film_output_text(output, i > 0 ? "," : "");
        put_thread(reader, film_reader_thread(reader, i), output);
    }
    film_output_byte(output, ']');
    put_damage(reader, output);
    FILM_OUTPUT_LITERAL(output, "}\n");
}
