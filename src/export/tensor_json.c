/* tensor_json.c: see tensor_json.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/tensor_json.h"

#include <inttypes.h>
#include <math.h>

#include "reader/literal.h"

static void
write_numbers(film_output *output, const int64_t *numbers, int count)
{
    film_output_byte(output, '[');
    for (int i = 0; i < count; i++) {
        if (i > 0) {
            film_output_byte(output, ',');
        }
        film_output_u64(output, (uint64_t)numbers[i]);
    }
    film_output_byte(output, ']');
}

/* null for what JSON has no number for: there was no finite number. */
static void
write_double(film_output *output, const char *key, double number, film_buffer *scratch)
{
    film_output_text(output, key);
    film_buffer_clear(scratch);
    if (isfinite(number)) {
        film_literal_float(scratch, number);
    }
    if (scratch->length == 0 || scratch->failed) {
        FILM_OUTPUT_LITERAL(output, "null");
        return;
    }
    film_output_write(output, scratch->data, scratch->length);
}

static void
write_summary(film_output *output, const film_tensor_summary *summary,
              film_buffer *scratch)
{
    write_double(output, ",\"summary\":{\"min\":", summary->min, scratch);
    write_double(output, ",\"max\":", summary->max, scratch);
    write_double(output, ",\"mean\":", summary->mean, scratch);
    write_double(output, ",\"std\":", summary->std, scratch);
    film_output_format(output,
                       ",\"zeros\":%" PRIu64 ",\"nonfinite\":%" PRIu64
                       ",\"hash\":\"%016" PRIx64 "\"}",
                       summary->zeros, summary->nonfinite, summary->hash);
}

void
film_tensor_json_write(film_output *output, const film_tensor *tensor,
                       film_buffer *scratch)
{
    bool is_strided =
        tensor->layout.length == 7 && memcmp(tensor->layout.data, "strided", 7) == 0;

    FILM_OUTPUT_LITERAL(output, ",\"shape\":");
    write_numbers(output, tensor->sizes, tensor->dimensions);
    FILM_OUTPUT_LITERAL(output, ",\"dtype\":");
    film_output_json(output, tensor->dtype);
    if (is_strided) { /* others have none */
        FILM_OUTPUT_LITERAL(output, ",\"strides\":");
        write_numbers(output, tensor->strides, tensor->dimensions);
    }
    FILM_OUTPUT_LITERAL(output, ",\"device\":");
    film_output_json(output, tensor->device);
    FILM_OUTPUT_LITERAL(output, ",\"layout\":");
    film_output_json(output, tensor->layout);
    film_output_text(output, tensor->requires_grad ? ",\"requires_grad\":true"
                                                   : ",\"requires_grad\":false");
    if (tensor->version >= 0) {
        film_output_format(output, ",\"version\":%" PRId64, tensor->version);
    }
    else {
        FILM_OUTPUT_LITERAL(output, ",\"version\":null");
    }
    film_output_format(output, ",\"storage\":%" PRIu64 ",\"offset\":%" PRId64,
                       tensor->storage, tensor->offset);
    if (tensor->has_summary) {
        write_summary(output, &tensor->summary, scratch);
    }
}
