/* collapsed.c: folded stacks, "outer;inner;innermost 1234" a line, in nanoseconds.
 * The format knows neither semicolons nor line breaks in names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include "analysis/call_tree.h"
#include "base/alloc.h"

static void
put_name(film_output *output, film_text name)
{
    const char *from = name.data;
    const char *end = name.data + name.length;

    for (const char *at = from; at < end; at++) {
        if (*at == ';') {
            film_output_display(output, (film_text){from, (size_t)(at - from)});
            film_output_byte(output, ':');
            from = at + 1;
        }
    }
    film_output_display(output, (film_text){from, (size_t)(end - from)});
}

/* `path` has room for the deepest stack. */
static void
put_stack(film_output *output, const film_functions *functions,
          const film_call_node *nodes, uint32_t node, uint32_t *path)
{
    size_t depth = 0;

    for (uint32_t at = node; at != 0; at = nodes[at].parent) {
        path[depth++] = nodes[at].function;
    }
    while (depth > 0) {
        put_name(output, functions->items[path[--depth]].function);
        film_output_byte(output, depth > 0 ? ';' : ' ');
    }
    film_output_u64(output, nodes[node].own_ns);
    film_output_byte(output, '\n');
}

static film_status
put_tree(film_output *output, const film_functions *functions,
         const film_call_tree *tree, film_error *error)
{
    size_t count;
    const film_call_node *nodes = film_call_tree_nodes(tree, &count);
    uint32_t *path = film_alloc_array(count, sizeof(*path));

    if (path == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 1; i < count && output->status == FILM_OK; i++) {
        if (nodes[i].own_ns > 0) {
            put_stack(output, functions, nodes, (uint32_t)i, path);
        }
    }
    film_free(path);
    return FILM_OK;
}

static film_status
add_threads(const film_recordings *set, film_call_tree *tree, film_error *error)
{
    for (size_t i = 0; i < set->count; i++) {
        size_t threads = film_reader_thread_count(set->items[i].reader);
        for (size_t k = 0; k < threads; k++) {
            uint32_t id = film_reader_thread(set->items[i].reader, k)->id;
            FILM_TRY(film_call_tree_add_thread(tree, i, id, error));
        }
    }
    return FILM_OK;
}

film_status
film_export_collapsed(const film_recordings *set, film_output *output,
                      film_error *error)
{
    film_functions functions;
    film_call_tree *tree = NULL;
    film_status status = film_functions_init(&functions, set, error);

    if (status == FILM_OK) {
        status = film_call_tree_new(&functions, &tree, error);
    }
    if (status == FILM_OK) {
        status = add_threads(set, tree, error);
    }
    if (status == FILM_OK) {
        status = put_tree(output, &functions, tree, error);
    }
    film_call_tree_free(tree);
    film_functions_reset(&functions);
    return status;
}
