/* scene_build.c: see scene_build.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/scene_build.h"

#include <string.h>

#include "analysis/kinds.h"
#include "base/alloc.h"
#include "format/cells.h"
#include "format/token.h"

static film_node *
add_node(film_scene *scene, uint32_t parent)
{
    film_node *nodes = film_grow(scene->nodes, &scene->node_capacity,
                                 scene->node_count + 1, sizeof(*nodes));
    film_node *node;

    if (nodes == NULL) {
        return NULL;
    }
    scene->nodes = nodes;
    node = &nodes[scene->node_count++];
    memset(node, 0, sizeof(*node));
    node->parent = parent;
    node->entered = FILM_NO_EVENT;
    node->offset = FILM_NO_OFFSET;
    if (parent != 0) {
        node->depth = nodes[parent - 1].depth + 1;
        node->parent_last = nodes[parent - 1].last;
    }
    return node;
}

/* While a scene is made: which node a frame that yielded in it last had. */
typedef struct builder {
    film_scene *scene;
    struct {
        uint64_t serial; /* 0: free */
        uint32_t node;
    } *yielded; /* owned; a hash table */
    size_t size, count;
    uint32_t top;  /* node + 1 on top */
    uint64_t mark; /* value ids told so far */
} builder;

static size_t
place_of(const builder *build, uint64_t serial)
{
    size_t at = (size_t)(serial * 0x9E3779B97F4A7C15u >> 32) & (build->size - 1);

    while (build->yielded[at].serial != 0 && build->yielded[at].serial != serial) {
        at = (at + 1) & (build->size - 1);
    }
    return at;
}

static bool
note_yielded(builder *build, uint64_t serial, uint32_t node)
{
    builder old = *build;
    size_t at;

    if ((build->count + 1) * 2 > build->size) {
        build->size = old.size == 0 ? 64 : old.size * 2;
        build->yielded = film_alloc_array(build->size, sizeof(*build->yielded));
        if (build->yielded == NULL) {
            *build = old;
            return false;
        }
        for (size_t i = 0; i < old.size; i++) {
            if (old.yielded[i].serial != 0) {
                build->yielded[place_of(build, old.yielded[i].serial)] = old.yielded[i];
            }
        }
        film_free(old.yielded);
    }
    at = place_of(build, serial);
    build->count += build->yielded[at].serial == 0;
    build->yielded[at].serial = serial;
    build->yielded[at].node = node;
    return true;
}

static uint32_t
yielded_node(const builder *build, uint64_t serial)
{
    return build->size == 0 ? 0 : build->yielded[place_of(build, serial)].node;
}

/* Rarely asked for. */
static uint32_t
last_node_of(const film_scene *scene, uint64_t serial)
{
    for (size_t i = scene->node_count; i > 0; i--) {
        if (scene->nodes[i - 1].serial == serial) {
            return (uint32_t)i;
        }
    }
    return 0;
}

static bool
add_open_frame(film_scene *scene, const film_frame *frame, uint32_t *top)
{
    film_node *node = add_node(scene, *top);

    if (node == NULL) {
        return false;
    }
    node->serial = frame->serial;
    node->code = frame->code;
    node->site = frame->site;
    node->offset = frame->offset;
    node->home_chunk = frame->home_chunk;
    node->home_index = frame->home_index;
    node->call_event = frame->call_event;
    node->adopted = frame->adopted;
    *top = (uint32_t)scene->node_count;
    return true;
}

/* The frames that are open when it begins. */
static bool
add_start(film_scene *scene, const film_cursor *cursor)
{
    size_t depth;
    const film_frame *frames = film_cursor_stack(cursor, &depth);

    for (size_t i = 0; i < depth; i++) {
        if (!add_open_frame(scene, &frames[i], &scene->start_top)) {
            return false;
        }
        scene->nodes[scene->node_count - 1].opened = true;
    }
    return true;
}

/* The stack was adjusted: nodes for what is different from the tree. */
static bool
follow_stack(film_scene *scene, const film_frame *frames, size_t depth, uint32_t *top)
{
    uint32_t at = *top, reach = 0;
    size_t same = 0;

    while (at != 0 && scene->nodes[at - 1].depth >= depth) {
        at = scene->nodes[at - 1].parent;
    }
    /* From the deepest of the nodes down to the root, the last difference counts. */
    reach = at;
    same = at == 0 ? 0 : scene->nodes[at - 1].depth + (size_t)1;
    for (uint32_t node = at; node != 0; node = scene->nodes[node - 1].parent) {
        if (scene->nodes[node - 1].serial !=
            frames[scene->nodes[node - 1].depth].serial) {
            reach = scene->nodes[node - 1].parent;
            same = scene->nodes[node - 1].depth;
        }
    }
    *top = reach;
    for (size_t i = same; i < depth; i++) {
        uint32_t before = last_node_of(scene, frames[i].serial);
        if (!add_open_frame(scene, &frames[i], top)) {
            return false;
        }
        scene->nodes[*top - 1].before = before;
    }
    return true;
}

static void
note_mark(const uint8_t *tokens, size_t length, uint32_t count, uint64_t *mark)
{
    film_input input = film_input_of(tokens, length);

    for (uint32_t i = 0; i < count && !input.failed; i++) {
        film_token token = film_token_decode(&input);
        if ((token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) &&
            token.value >= *mark) {
            *mark = token.value + 1;
        }
    }
}

/* What a call tells of the variables its frame shares. */
static bool
keep_cells(film_scene *scene, const film_event *from, uint32_t index, uint64_t *mark)
{
    film_input body = film_input_of(from->cells, from->cells_length);
    film_scene_call *calls = film_grow(scene->calls, &scene->call_capacity,
                                       scene->call_count + 1, sizeof(*calls));
    film_cell_told told;

    if (calls == NULL) {
        return false;
    }
    scene->calls = calls;
    calls[scene->call_count++] =
        (film_scene_call){.event = index,
                          .cells = (uint32_t)scene->tokens.length,
                          .length = from->cells_length};
    film_buffer_append(&scene->tokens, from->cells, from->cells_length);
    while (film_cells_next(&body, &told)) {
        note_mark(told.token, told.token_length, told.token_length != 0, mark);
    }
    return true;
}

static bool
is_common(uint8_t kind)
{
    return kind == FILM_KIND_CALL || kind == FILM_KIND_RETURN ||
           kind == FILM_KIND_YIELD || kind == FILM_KIND_RESUME ||
           kind == FILM_KIND_LINE || kind == FILM_KIND_SET || kind == FILM_KIND_DELETE;
}

static bool
keep_extra(film_scene *scene, const film_event *from, film_scene_event *event)
{
    film_scene_extra *extras = film_grow(scene->extras, &scene->extra_capacity,
                                         scene->extra_count + 1, sizeof(*extras));

    if (extras == NULL) {
        return false;
    }
    scene->extras = extras;
    extras[scene->extra_count] =
        (film_scene_extra){.count = from->count,
                           .value = from->value,
                           .length_before = from->length_before,
                           .op = from->op,
                           .text = from->text,
                           .name = from->name,
                           .module = from->module,
                           .api = from->api,
                           .positional = from->slot,
                           .cut = from->cut,
                           .frameless = from->frame == 0};
    event->extra = (uint32_t)++scene->extra_count;
    return true;
}

/* The new frame of a call or resume. */
static bool
enter_node(builder *build, const film_event *from, const film_frame *frame,
           uint32_t index)
{
    film_scene *scene = build->scene;
    uint32_t before =
        from->kind == FILM_KIND_CALL ? 0 : yielded_node(build, from->frame);
    film_node *node = add_node(scene, build->top);

    if (node == NULL) {
        return false;
    }
    node->serial = from->frame;
    node->code = from->code;
    node->site = frame->site;
    node->before = before;
    node->entered = index;
    node->call_event = from->number;
    build->top = (uint32_t)scene->node_count;
    return true;
}

/* Brings the tree to the stack as it was before the event itself, behind adjustments.
 */
static bool
catch_up(builder *build, const film_cursor *cursor, const film_event *from)
{
    film_scene *scene = build->scene;
    size_t depth, expected;
    const film_frame *frames = film_cursor_stack(cursor, &depth);
    size_t before =
        film_kind_enters(from->kind) ? depth - 1 : depth + film_kind_leaves(from->kind);
    const film_node *top = build->top == 0 ? NULL : &scene->nodes[build->top - 1];
    const film_frame *closed = film_cursor_closed(cursor);
    uint32_t earlier;

    expected = top == NULL ? 0 : top->depth + (size_t)1;
    if (film_kind_leaves(from->kind)) {
        if (expected == before && top != NULL && top->serial == from->frame) {
            return true;
        }
        if (!follow_stack(scene, frames, depth, &build->top)) {
            return false;
        }
        if (closed == NULL) {
            return true;
        }
        earlier = last_node_of(scene, closed->serial);
        if (!add_open_frame(scene, closed, &build->top)) {
            return false;
        }
        scene->nodes[build->top - 1].before = earlier;
        return true;
    }
    if (expected == before &&
        (top == NULL || top->serial == frames[before - 1].serial)) {
        return true;
    }
    return follow_stack(scene, frames, before, &build->top);
}

/* The variables that a comprehension has given back. */
static bool
keep_restored(builder *build, const film_event *from, uint32_t index)
{
    film_scene *scene = build->scene;
    film_input body = film_input_of(from->restored, from->restored_length);
    uint32_t node = build->top;

    while (node != 0 && scene->nodes[node - 1].serial != from->restored_frame) {
        node = scene->nodes[node - 1].parent;
    }
    while (node != 0 && !body.failed && film_input_left(&body) > 0) {
        film_scene_restored *restored =
            film_grow(scene->restored, &scene->restored_capacity,
                      scene->restored_count + 1, sizeof(*restored));
        uint32_t slot = film_input_varint32(&body);
        const uint8_t *token = body.at;
        size_t length;
        uint64_t cell;
        if (restored == NULL) {
            return false;
        }
        scene->restored = restored;
        film_tokens_skip(&body, 1);
        length = body.failed || token[0] == FILM_TOKEN_UNBOUND
                     ? 0
                     : (size_t)(body.at - token);
        cell = film_input_varint(&body);
        restored[scene->restored_count++] =
            (film_scene_restored){.event = index,
                                  .node = node - 1,
                                  .slot = slot,
                                  .token = (uint32_t)scene->tokens.length,
                                  .token_length = (uint32_t)length,
                                  .cell = cell};
        film_buffer_append(&scene->tokens, token, length);
        note_mark(token, length, length != 0, &build->mark);
    }
    return true;
}

/* Keeps an event; build->top is the node on top before it, and then behind it. */
static bool
keep(builder *build, const film_cursor *cursor, const film_event *from)
{
    film_scene *scene = build->scene;
    uint32_t index = (uint32_t)(from->number - scene->first);
    film_scene_event *event = &scene->events[index];
    size_t depth;
    const film_frame *frames = film_cursor_stack(cursor, &depth);

    if (!catch_up(build, cursor, from) ||
        (film_kind_enters(from->kind) &&
         !enter_node(build, from, &frames[depth - 1], index))) {
        return false;
    }
    event->time_ns = from->time_ns;
    event->kind = from->kind;
    event->form = from->form;
    event->offset = from->offset;
    event->number = film_set_is_named(from->form) ? from->name : from->slot;
    event->node = build->top;
    event->tokens = (uint32_t)scene->tokens.length;
    if (from->tokens_length <= UINT16_MAX && from->token_count <= UINT16_MAX) {
        event->tokens_length = (uint16_t)from->tokens_length;
        event->token_count = (uint16_t)from->token_count;
        film_buffer_append(&scene->tokens, from->tokens, from->tokens_length);
        note_mark(from->tokens, from->tokens_length, from->token_count, &build->mark);
    }
    if ((from->cells_length != 0 && !keep_cells(scene, from, index, &build->mark)) ||
        (from->restored_length != 0 && !keep_restored(build, from, index))) {
        return false;
    }
    event->mark = (uint32_t)(build->mark - scene->watermark);
    if (!is_common(from->kind) && !keep_extra(scene, from, event)) {
        return false;
    }
    if (build->top != 0) {
        film_node *node = &scene->nodes[build->top - 1];
        uint32_t number = build->top;
        event->previous = (uint16_t)node->last;
        node->last = index + 1;
        if (film_kind_leaves(from->kind)) {
            build->top = node->parent;
        }
        if (from->kind == FILM_KIND_YIELD) {
            return note_yielded(build, node->serial, number);
        }
    }
    return true;
}

/* Reads the events of the block; those that are lost stay of no kind. */
static film_status
read_events(film_scene *scene, film_cursor *cursor, uint64_t end, film_error *error)
{
    const film_event *event;
    builder build = {.scene = scene, .top = scene->start_top, .mark = scene->watermark};
    uint64_t last_time = 0;
    film_status status = FILM_OK;

    while (status == FILM_OK) {
        status = film_cursor_next(cursor, &event, error);
        if (status != FILM_OK || event->number >= end) {
            break;
        }
        if (event->number < scene->first) { /* damage that began before the block */
            continue;
        }
        if (!keep(&build, cursor, event) || scene->tokens.failed) {
            film_free(build.yielded);
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
        scene->count = (uint32_t)(event->number - scene->first) + 1;
    }
    film_free(build.yielded);
    if (status != FILM_OK && status != FILM_END) {
        return status;
    }
    for (uint32_t i = 0; i < scene->count; i++) {
        film_scene_event *kept = &scene->events[i];
        if (kept->kind == FILM_KIND_NONE) {
            kept->time_ns = last_time;
        }
        last_time = kept->time_ns;
    }
    scene->end_top = build.top;
    return scene->count == 0 ? FILM_END : FILM_OK;
}

film_status
film_scene_build(film_scene *scene, film_cursor *cursor, uint64_t end,
                 film_error *error)
{
    if (!add_start(scene, cursor)) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    return read_events(scene, cursor, end, error);
}
