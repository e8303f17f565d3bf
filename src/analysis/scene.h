/* scene.h: one chunk of a thread, decoded so that any of its moments can be looked at:
 * every event knows its frame, and the event before it in that frame.
 *
 * Frames are nodes of a tree: a node's parent is its caller, so the stack at an event
 * is the way from the event's node to the root. A generator that is resumed gets a node
 * for each time it runs, linked to the one before.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCENE_H
#define FILMSTRIP_SCENE_H

#include <filmstrip/reader.h>

#include "base/buffer.h"

#define FILM_NO_EVENT UINT32_MAX

typedef struct film_scene_event {
    uint64_t time_ns;
    uint32_t node;   /* where it happened + 1; 0: outside any frame */
    uint32_t offset; /* FILM_NO_OFFSET: unknown */
    uint32_t tokens; /* where its values begin in film_scene.tokens */
    uint32_t number; /* slot or name of a set or delete; string id of others */
    uint32_t extra;  /* index in film_scene.extras + 1; 0: it has none */
    uint16_t tokens_length, token_count;
    uint16_t previous; /* index + 1 of the event before it in its node; 0: none */
    uint8_t kind;      /* FILM_KIND_NONE: within damage, the lost event is before it */
    uint8_t form;
    uint32_t mark; /* value ids told so far, since film_scene.watermark */
} film_scene_event;

/* What only a few events have. */
typedef struct film_scene_extra {
    uint64_t count, value;
    int64_t length_before;
    uint64_t op;
    uint32_t text;
    uint32_t name, module, api, positional; /* of an op */
    bool cut, frameless;
} film_scene_extra;

typedef struct film_node {
    uint64_t serial;
    uint32_t code, site;
    uint32_t offset;  /* at the scene's start */
    uint32_t parent;  /* node + 1; 0: outermost */
    uint32_t before;  /* node + 1: the same frame when it ran before, in this scene */
    uint32_t depth;   /* 0: outermost */
    uint32_t entered; /* index of its call or resume; FILM_NO_EVENT: before */
    uint32_t last;    /* index + 1 of its last event in the scene; 0: none */
    uint32_t parent_last; /* the parent's last event + 1 when it was entered */
    uint32_t home_chunk, home_index; /* keyframe that tells what it held */
    uint64_t call_event;             /* of its call or resume */
    bool adopted;
    bool opened; /* it was open when the scene began */
} film_node;

/* A call whose frame shares variables with others. */
typedef struct film_scene_call {
    uint32_t event;
    uint32_t cells, length; /* what was told of them: in film_scene.tokens */
} film_scene_call;

/* Just before an event, a variable of a frame got back what it held before a
 * comprehension. */
typedef struct film_scene_restored {
    uint32_t event, node, slot;
    uint32_t token, token_length; /* in film_scene.tokens; 0: it has no value */
    uint64_t cell;                /* that it is again; 0: none that is known */
} film_scene_restored;

typedef struct film_scene {
    uint32_t thread;
    uint64_t block; /* events >> FILM_CHUNK_SHIFT */
    uint64_t first; /* number of events[0] */
    uint32_t count;
    film_scene_event *events; /* owned */
    film_node *nodes;         /* owned */
    size_t node_count, node_capacity;
    film_scene_extra *extras; /* owned */
    size_t extra_count, extra_capacity;
    film_scene_call *calls; /* owned */
    size_t call_count, call_capacity;
    film_scene_restored *restored; /* owned; in order */
    size_t restored_count, restored_capacity;
    struct film_scene_cells *cells; /* owned; scene_cells.h; NULL: not asked for yet */
    uint32_t start_top;             /* node + 1 on top before the first event */
    uint32_t end_top;               /* and behind the last */
    film_buffer tokens;
    film_buffer keyframe;    /* its chunk's, raw; empty: none */
    bool has_locals;         /* the keyframe tells variables */
    uint32_t *local_offsets; /* owned; where each frame's begin, NULL: not looked */
    size_t local_offset_count;
    uint64_t task; /* asyncio task when it begins; 0: none */
    uint32_t task_name;
    uint64_t watermark; /* value ids told before it */
    bool has_watermark;
    size_t bytes;  /* of memory */
    uint64_t used; /* when, for the cache */
} film_scene;

/* Decodes a block of a thread. FILM_END: it has no events. */
FILM_NODISCARD film_status
film_scene_read(film_reader *reader, uint32_t thread, uint64_t block, film_scene *scene,
                film_error *error);

void
film_scene_reset(film_scene *scene);

/* The event of that index as readers know it; borrows from the scene. */
void
film_scene_event_of(const film_scene *scene, uint32_t index, film_event *event);

/* The asyncio task that runs at an event; 0: none. *name: string id. */
uint64_t
film_scene_task(const film_scene *scene, uint32_t index, uint32_t *name);

/* The tokens of a frame told in a keyframe (film_locals_reader). FILM_END: not told. */
FILM_NODISCARD film_status
film_scene_told_locals(film_scene *scene, uint32_t index, film_input *out);

/* The same for a frame that was resumed in the scene and suspended before it. */
FILM_NODISCARD film_status
film_scene_resumed_locals(const film_scene *scene, uint64_t serial, film_input *out);

#endif
