/* trace_log.c: see trace_log.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/trace_log.h"

#include <time.h>

#include "base/hash.h"
#include "base/json_writer.h"
#include "base/md5.h"
#include "reader/text.h"

#define SECOND_NS 1000000000u

void
film_trace_log_begin(film_trace_log *log, film_output *output, uint64_t realtime_ns,
                     uint64_t pid, int64_t rank, uint32_t first_string)
{
    memset(log, 0, sizeof(*log));
    log->output = output;
    log->realtime_ns = realtime_ns;
    log->pid = pid;
    log->rank = rank;
    log->next_string = first_string;
    log->second = -1;
}

void
film_trace_log_reset(film_trace_log *log)
{
    film_intern_reset(&log->strings);
    film_buffer_reset(&log->text);
    memset(log, 0, sizeof(*log));
}

void
film_trace_put_text(film_buffer *out, film_text text)
{
    size_t repaired =
        film_text_repaired_length((const uint8_t *)text.data, text.length);
    film_buffer copy = {0};

    if (repaired == text.length) {
        film_json_put_text(out, text.data, text.length);
        return;
    }
    if (film_buffer_reserve(&copy, repaired + 1) == NULL) {
        out->failed = true;
        return;
    }
    film_text_repair((char *)copy.data, (const uint8_t *)text.data, text.length);
    film_json_put_text(out, (const char *)copy.data, repaired);
    film_buffer_reset(&copy);
}

/* V1115 08:26:25.675000 10923 filmstrip:1] */
static void
put_prefix(film_trace_log *log, uint64_t time_ns)
{
    uint64_t at = log->realtime_ns + time_ns;
    time_t second = (time_t)(at / SECOND_NS);
    struct tm local;

    if ((int64_t)second != log->second) {
        memset(&local, 0, sizeof(local));
        localtime_r(&second, &local);
        strftime(log->prefix, sizeof(log->prefix), "V%m%d %H:%M:%S", &local);
        log->second = (int64_t)second;
    }
    film_output_format(log->output, "%s.%06u %llu filmstrip:1] ", log->prefix,
                       (unsigned)(at % SECOND_NS / 1000), (unsigned long long)log->pid);
}

uint32_t
film_trace_log_string(film_trace_log *log, uint64_t time_ns, film_text text)
{
    uint64_t hash = film_hash(text.data, text.length);
    uint32_t id;

    if (film_intern_find(&log->strings, hash, &id)) {
        return id;
    }
    id = log->next_string++;
    if (!film_intern_add(&log->strings, hash, id)) {
        log->failed = true;
        return id;
    }
    film_buffer_clear(&log->text);
    film_trace_put_text(&log->text, text);
    if (log->text.failed) {
        log->failed = true;
        return id;
    }
    put_prefix(log, time_ns);
    FILM_OUTPUT_LITERAL(log->output, "{\"str\": [");
    film_output_write(log->output, log->text.data, log->text.length);
    film_output_format(log->output, ", %lu]}\n", (unsigned long)id);
    return id;
}

/* The payload with one kind of line end and nothing that is not UTF-8, in log->text. */
static void
make_fit(film_trace_log *log, film_text payload)
{
    const uint8_t *from = (const uint8_t *)payload.data;
    size_t length = film_text_repaired_length(from, payload.length), kept = 0;
    char *text;

    film_buffer_clear(&log->text);
    text = (char *)film_buffer_reserve(&log->text, length + 1);
    if (text == NULL) {
        log->failed = true;
        return;
    }
    film_text_repair(text, from, payload.length);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\r') {
            if (i + 1 < length && text[i + 1] == '\n') {
                continue;
            }
            text[kept++] = '\n';
            continue;
        }
        text[kept++] = text[i];
    }
    log->text.length = kept;
}

static void
put_payload(film_trace_log *log)
{
    const char *at = (const char *)log->text.data;
    size_t left = log->text.length;

    for (;;) {
        const char *end = left == 0 ? NULL : memchr(at, '\n', left);
        size_t length = end == NULL ? left : (size_t)(end - at);

        film_output_byte(log->output, '\t');
        if (length > 0) {
            film_output_write(log->output, at, length);
        }
        film_output_byte(log->output, '\n');
        if (end == NULL) {
            return;
        }
        at = end + 1;
        left -= length + 1;
    }
}

void
film_trace_log_write(film_trace_log *log, uint64_t time_ns, const char *key,
                     const film_buffer *json, const film_text *payload)
{
    film_output *output = log->output;
    char md5[FILM_MD5_TEXT];

    if (payload != NULL) {
        make_fit(log, *payload);
    }
    if (json->failed || log->failed) {
        log->failed = true;
        return;
    }
    put_prefix(log, time_ns);
    film_output_format(output, "{\"%s\": ", key);
    film_output_write(output, json->data, json->length);
    if (log->rank >= 0) {
        film_output_format(output, ", \"rank\": %lld", (long long)log->rank);
    }
    if (payload != NULL) {
        film_md5_text(log->text.data, log->text.length, md5);
        film_output_format(output, ", \"has_payload\": \"%s\"", md5);
    }
    FILM_OUTPUT_LITERAL(output, "}\n");
    if (payload != NULL) {
        put_payload(log);
    }
}
