/* do_ops.c: which op of PyTorch made a tensor, and from what.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "step/handlers.h"
#include "step/paragraph.h"

#define DEPTH 3u
#define MOST_DEPTH 8u

/* t17: f32[64, 128] cpu (-2.1 to 2.3, 12 not finite) */
static void
put_tensor(film_step *step, const film_json *json, const film_json_node *tensor)
{
    film_output_format(&step->out, "t%" PRIu64 ": ",
                       film_step_number(json, tensor, "object"));
    film_output_display(&step->out, film_text_of(film_step_text(json, tensor, "text")));
    film_step_put_numbers(&step->out, json, tensor);
}

static void
put_made(film_step *step, const film_json *json, const film_json_node *made, int indent)
{
    const film_json_node *inputs = film_json_get(json, made, "inputs");
    const char *name = film_step_text(json, made, "name");

    if (name[0] == '\0') {
        film_output_format(&step->out, "%*s(%s)\n", indent, "",
                           film_step_text(json, made, "stopped"));
        return;
    }
    film_output_format(&step->out, "%*smade by ", indent, "");
    film_output_display(&step->out, film_text_of(name));
    film_output_text(&step->out, "  ");
    film_output_display(&step->out, film_text_of(film_step_short_file(
                                        film_step_text(json, made, "file"))));
    film_output_format(&step->out, ":%" PRIu64 "  op %s",
                       film_step_number(json, made, "line"),
                       film_step_text(json, made, "op"));
    if (film_step_text(json, made, "module")[0] != '\0') {
        film_output_text(&step->out, "  module ");
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, made, "module")));
    }
    film_output_byte(&step->out, '\n');
    for (const film_json_node *input = film_json_first(json, inputs); input != NULL;
         input = film_json_next(json, input)) {
        const film_json_node *deeper = film_json_get(json, input, "made");

        film_output_format(&step->out, "%*s", indent + 2, "");
        put_tensor(step, json, film_json_get(json, input, "tensor"));
        film_output_byte(&step->out, '\n');
        if (deeper != NULL) {
            put_made(step, json, deeper, indent + 4);
        }
    }
}

static bool
ask_made(film_step *step, const char *expression, size_t length, uint64_t depth)
{
    film_step_begin(step, "made");
    film_step_add_text(step, "expression", expression, length);
    film_step_add_number(step, "depth", depth < MOST_DEPTH ? depth : MOST_DEPTH);
    return film_step_ask(step);
}

static void
tell(film_step *step)
{
    const film_json *json = &step->reply;
    const film_json_node *root = film_json_root(json);

    put_tensor(step, json, film_json_get(json, root, "tensor"));
    film_output_byte(&step->out, '\n');
    put_made(step, json, film_json_get(json, root, "made"), 2);
}

void
film_step_tell_made(film_step *step, const char *expression, size_t length)
{
    if (ask_made(step, expression, length, DEPTH)) {
        tell(step);
    }
}

void
film_step_do_made(film_step *step, const film_word_info *word, const char *arguments)
{
    uint64_t depth;
    size_t length;

    (void)word;
    if (!film_step_split_number(step, arguments, &length, DEPTH, &depth)) {
        return;
    }
    if (ask_made(step, arguments, length, depth) && !step->json) {
        tell(step);
    }
}
