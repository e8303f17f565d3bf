/* op_text.c: see op_text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/op_text.h"

#include <inttypes.h>
#include <math.h>

#include "export/names.h"

static void
write_range(film_output *output, const film_tensor_summary *summary)
{
    film_output_format(output, "%.6g to %.6g", summary->min, summary->max);
}

void
film_op_text_numbers(film_output *output, const film_tensor_summary *summary,
                     uint64_t elements, bool sampled)
{
    uint64_t nonfinite = summary->nonfinite;

    film_output_text(output, sampled ? "in a sample " : "");
    if (nonfinite == 0 && elements == 1) {
        film_output_format(output, "%.6g", summary->min);
    }
    else if (nonfinite == 0 && elements > 1) {
        write_range(output, summary);
        FILM_OUTPUT_LITERAL(output, ", all finite");
    }
    else if (nonfinite > 0 && elements == 1) {
        FILM_OUTPUT_LITERAL(output, "not finite");
    }
    else if (nonfinite >= elements && elements > 0) {
        film_output_format(output, "all %" PRIu64 " not finite", elements);
    }
    else if (nonfinite > 0) {
        film_output_format(output, "%" PRIu64, nonfinite);
        if (!sampled) {
            film_output_format(output, " of %" PRIu64, elements);
        }
        FILM_OUTPUT_LITERAL(output, " not finite");
        if (isfinite(summary->min)) {
            FILM_OUTPUT_LITERAL(output, ", the rest ");
            write_range(output, summary);
        }
    }
}

void
film_op_text_tensor(film_output *output, const film_op_tensor *tensor)
{
    film_output_format(output, "t%" PRIu64 ": ", tensor->serial);
    film_output_display(output, tensor->text);
    if (tensor->has_summary) {
        FILM_OUTPUT_LITERAL(output, "  ");
        film_op_text_numbers(output, &tensor->summary, tensor->elements,
                             tensor->sampled);
    }
}

void
film_op_text_value(film_output *output, const film_op_item *item, uint32_t index,
                   unsigned indent)
{
    const film_op_value *value = &item->values[index];

    if (value->keyword.length > 0) {
        film_output_display(output, value->keyword);
        film_output_byte(output, '=');
    }
    if (value->is_tensor) {
        film_op_text_tensor(output, &item->tensors[value->first_tensor]);
        return;
    }
    film_output_display(output, value->text);
    for (uint32_t i = 0; i < value->tensors; i++) {
        film_output_format(output, "\n%*s", (int)indent, "");
        film_op_text_tensor(output, &item->tensors[value->first_tensor + i]);
    }
}

void
film_op_text_place(film_output *output, film_reader *reader, uint32_t code,
                   uint32_t line)
{
    const film_code *known = film_reader_code(reader, code);

    if (known == NULL) {
        FILM_OUTPUT_LITERAL(output, "outside recorded code");
        return;
    }
    film_output_display(output, film_short_file(reader, known->file));
    if (line != 0) {
        film_output_format(output, ":%u", line);
    }
    FILM_OUTPUT_LITERAL(output, " in ");
    film_output_display(output, known->function);
}

void
film_op_text_moment(film_output *output, uint32_t thread, uint64_t event)
{
    film_output_format(output, "%u:%" PRIu64, thread, event);
}

void
film_op_json_place(film_output *output, film_reader *reader, uint32_t code,
                   uint32_t line)
{
    const film_code *known = film_reader_code(reader, code);

    if (known == NULL) {
        FILM_OUTPUT_LITERAL(output, "\"file\":null,\"line\":null,\"in\":null");
        return;
    }
    FILM_OUTPUT_LITERAL(output, "\"file\":");
    film_output_json(output, known->file);
    film_output_format(output, ",\"line\":%u,\"in\":", line);
    film_output_json(output, known->function);
}

void
film_op_json_number(film_output *output, double number)
{
    if (isfinite(number)) {
        film_output_format(output, "%.17g", number);
    }
    else {
        FILM_OUTPUT_LITERAL(output, "null");
    }
}

void
film_op_json_tensor(film_output *output, const film_op_tensor *tensor)
{
    film_output_format(output,
                       "{\"tensor\":\"t%" PRIu64 "\",\"text\":", tensor->serial);
    film_output_json(output, tensor->text);
    FILM_OUTPUT_LITERAL(output, ",\"dtype\":");
    film_output_json(output, tensor->dtype);
    FILM_OUTPUT_LITERAL(output, ",\"shape\":[");
    for (int i = 0; i < tensor->dimensions; i++) {
        film_output_format(output, "%s%" PRId64, i > 0 ? "," : "", tensor->sizes[i]);
    }
    FILM_OUTPUT_LITERAL(output, "],\"device\":");
    film_output_json(output, tensor->device);
    if (tensor->has_summary) {
        FILM_OUTPUT_LITERAL(output, ",\"min\":");
        film_op_json_number(output, tensor->summary.min);
        FILM_OUTPUT_LITERAL(output, ",\"max\":");
        film_op_json_number(output, tensor->summary.max);
        film_output_format(output,
                           ",\"nonfinite\":%" PRIu64
                           ",\"sampled\":%s,\"hash\":\"%016" PRIx64 "\"",
                           tensor->summary.nonfinite,
                           tensor->sampled ? "true" : "false", tensor->summary.hash);
    }
    film_output_byte(output, '}');
}

void
film_op_json_values(film_output *output, const film_op_item *item)
{
    film_output_byte(output, '[');
    for (uint32_t i = 0; i < item->value_count; i++) {
        const film_op_value *value = &item->values[i];

        film_output_text(output, i > 0 ? ",{" : "{");
        if (value->keyword.length > 0) {
            FILM_OUTPUT_LITERAL(output, "\"name\":");
            film_output_json(output, value->keyword);
            film_output_byte(output, ',');
        }
        FILM_OUTPUT_LITERAL(output, "\"value\":");
        film_output_json(output, value->text);
        FILM_OUTPUT_LITERAL(output, ",\"tensors\":[");
        for (uint32_t k = 0; k < value->tensors; k++) {
            film_output_text(output, k > 0 ? "," : "");
            film_op_json_tensor(output, &item->tensors[value->first_tensor + k]);
        }
        FILM_OUTPUT_LITERAL(output, "]}");
    }
    film_output_byte(output, ']');
}
