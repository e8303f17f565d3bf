/* timeline_state.h: what the timeline's files share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TIMELINE_STATE_H
#define FILMSTRIP_TIMELINE_STATE_H

#include "analysis/block_writes.h"
#include "analysis/kinds.h"
#include "analysis/postings.h"
#include "analysis/scene.h"
#include "analysis/timeline.h"

/* Scenes used last that no fetch lets go of: so many may be looked at together. */
#define FILM_TIMELINE_HELD 6u
/* How many blocks back variables are looked for where keyframes do not tell them; fewer
 * than there are scenes, so that the one asked about stays. */
#define FILM_TIMELINE_PATIENCE 40u

/* A frame of the stack at a moment: its node, and its last event not later. */
typedef struct film_place {
    uint32_t node;  /* index in the scene */
    uint32_t at;    /* event index + 1; 0: none in this scene */
    uint32_t until; /* the moment's own event index + 1 */
} film_place;

typedef struct film_slot {
    film_datum value;
    uint64_t wrote;   /* event; UINT64_MAX: before what was looked at */
    uint32_t number;  /* slot, or name */
    uint32_t writer;  /* the thread that wrote it; 0: the moment's own */
    uint64_t told_ns; /* when a call told it; 0: no call did */
    bool is_name;
    bool known; /* a write or delete was met */
    bool changed;
} film_slot;

/* Globals of a module as they were when a block began. */
typedef struct film_globals {
    uint32_t thread; /* 0: free */
    uint32_t code;   /* of the module */
    uint64_t block;
    film_slot *slots; /* owned; by name of the module */
    size_t count;
    uint64_t used;
} film_globals;

/* A global that was written, and a code of its module. */
typedef struct film_global_name {
    uint32_t code, name;
} film_global_name;

/* How many hits a breakpoint has up to the end of each block. */
#define FILM_TIMELINE_COUNTS 8u

typedef struct film_hit_counts {
    uint64_t identity; /* of the breakpoint; 0: free */
    uint64_t *counts;  /* owned; of blocks 0 to count - 1 and all before them */
    size_t count, capacity;
    uint64_t last_event,
        last_count; /* the last answer, if has_last: the next is near */
    uint64_t used;
    uint32_t thread;
    bool has_last;
} film_hit_counts;

/* What searches for objects found before, so that a step does not search again: the
 * last block before `block` that can hold writes to an object, and its newest record in
 * chunks of values before `place`. */
#define FILM_TIMELINE_MEMOS 256u

typedef struct film_write_memo {
    uint64_t serial;      /* 0: free */
    uint64_t block, last; /* last: + 1; 0: none */
    uint32_t thread;
    bool attributes;
} film_write_memo;

typedef struct film_record_memo {
    uint64_t serial; /* 0: free */
    uint64_t least, id;
    size_t place;
    bool found;
} film_record_memo;

/* The first event of each thread behind a moment. */
typedef struct film_behind {
    film_moment at;
    uint64_t *events; /* owned; by thread; UINT64_MAX: not looked at */
    size_t count;     /* 0: nothing is known */
    uint64_t used;
} film_behind;

struct film_timeline {
    film_reader *reader; /* borrowed */
    film_scene *scenes;  /* owned; FILM_TIMELINE_SCENES of them */
    size_t scene_bytes;
    uint64_t clock;
    film_postings postings;
    struct film_forwards *forwards; /* owned; ops/forward.h; NULL: not asked for yet */
    film_writes_lists writes;
    film_event event;         /* what film_timeline_event gave */
    film_stack_frame *frames; /* owned; what _stack gave */
    size_t frame_capacity;
    film_place *places; /* owned; beside frames */
    size_t place_capacity, place_count;
    film_slot *slots; /* owned; scratch of _variables */
    size_t slot_capacity, slot_count;
    film_variable *variables; /* owned */
    size_t variable_capacity;
    film_globals globals[4];
    /* Of the moments asked about last: where the other threads stand, and how many
     * value ids were told. */
    film_behind behind[2];
    film_moment bound_at;
    bool bound_known;
    uint64_t bound;
    film_hit_counts hit_counts[FILM_TIMELINE_COUNTS];
    film_write_memo write_memos[FILM_TIMELINE_MEMOS];
    film_record_memo record_memos[FILM_TIMELINE_MEMOS];
    film_posting *value_ranges; /* owned; summaries of the chunks of values */
    size_t value_range_count;
    film_buffer value_range_bytes;
    film_slot *shared; /* owned; of the variables that are asked for */
    size_t shared_capacity;
    film_global_name *global_names; /* owned; timeline_global_names.c */
    size_t global_name_count, global_name_capacity;
    uint64_t *global_blocks; /* owned; by thread: those before it were looked at */
    size_t global_block_count;
    uint32_t *module_names; /* owned; of film_timeline_module_names */
    size_t module_name_count, module_name_capacity;
    film_item *items; /* owned; of _content */
    size_t item_capacity;
    film_buffer text, scratch, content;
};

/* timeline_ops.c: to an op, with `next` to one that this frame or a caller of it calls. */
FILM_NODISCARD film_status
film_move_op(film_timeline *timeline, film_moment from, bool back, bool next,
             const film_move_options *options, film_stop *out, film_error *error);

/* timeline_scenes.c */

void
film_timeline_forget_scenes(film_timeline *timeline);

/* The scene of a block; borrowed while it is one of the FILM_TIMELINE_HELD used last.
 */
FILM_NODISCARD film_status
film_timeline_scene(film_timeline *timeline, uint32_t thread, uint64_t block,
                    film_scene **out, film_error *error);

/* Whether it is one of those that are held. */
bool
film_timeline_has_scene(const film_timeline *timeline, uint32_t thread, uint64_t block);

/* The scene of a moment and the index of its event there. FILM_END: no such moment. */
FILM_NODISCARD film_status
film_timeline_locate(film_timeline *timeline, film_moment moment, film_scene **scene,
                     uint32_t *index, film_error *error);

/* The nearest block from `block` on (back: down from it) that has events; a damaged
 * file may have huge holes between its numbers. UINT64_MAX: there is none. */
uint64_t
film_timeline_block(const film_timeline *timeline, uint32_t thread, uint64_t block,
                    bool back);

/* The token of an event of a scene at `which`; length 0: it has none. */
film_datum
film_scene_token(const film_scene *scene, uint32_t index, uint32_t which);

/* timeline.c */

/* The number of the first event of `thread` that comes behind the moment (in order of
 * time, thread, event); its end_event if there is none. */
FILM_NODISCARD film_status
film_timeline_behind(film_timeline *timeline, film_moment moment, uint32_t thread,
                     uint64_t *event, film_error *error);

/* timeline_stack.c: fills timeline->places, outermost first. */
FILM_NODISCARD film_status
film_timeline_places(film_timeline *timeline, const film_scene *scene, uint32_t index,
                     film_error *error);

/* Where a frame stands. */
uint32_t
film_place_offset(const film_scene *scene, const film_place *place);

/* timeline_slots.c: the locals of a place into timeline->slots: only `slot` where
 * it is not UINT32_MAX. */
FILM_NODISCARD film_status
film_timeline_slots(film_timeline *timeline, film_scene *scene, film_place place,
                    uint32_t only, film_error *error);

/* timeline_cells.c: what a variable of an outer function holds, for frame `index` of
 * timeline->places, which has it at `slot`. FILM_END: not known. Uses timeline->slots.
 */
FILM_NODISCARD film_status
film_timeline_cell(film_timeline *timeline, film_scene *scene, size_t index,
                   uint32_t slot, film_slot *out, film_error *error);

/* The same where the film tells which cell the variable `slot` of `node` is at the
 * event `index` of the scene, also for the outer function itself. FILM_END: it does
 * not. Uses timeline->slots; may let go of scenes. */
FILM_NODISCARD film_status
film_timeline_shared(film_timeline *timeline, film_scene *scene, uint32_t index,
                     uint32_t node, uint32_t slot, film_slot *out, film_error *error);

/* The variable `slot` of frame `index` as another thread has written it after what its
 * own thread knows, *out. Leaves *out as it is where none has, or where that cannot be
 * found out in a moment. May let go of scenes. */
FILM_NODISCARD film_status
film_timeline_shared_elsewhere(film_timeline *timeline, film_moment moment,
                               size_t index, uint32_t slot, film_slot *out,
                               film_error *error);

/* Makes the scene's cells known (scene_cells.h). May let go of other scenes. */
FILM_NODISCARD film_status
film_timeline_find_cells(film_timeline *timeline, film_scene *scene, film_error *error);

/* timeline_global_names.c: the names of a module's globals, into
 * timeline->module_names: those its body names, then others written up to the moment.
 */
FILM_NODISCARD film_status
film_timeline_module_names(film_timeline *timeline, film_moment moment,
                           const film_code *of, film_error *error);

/* timeline_globals.c: the globals of a module, into timeline->slots. */
FILM_NODISCARD film_status
film_timeline_find_globals(film_timeline *timeline, film_moment moment,
                           const film_code *of, film_error *error);

/* The global `name` of `code`'s module at the moment. FILM_END: no write is known. */
FILM_NODISCARD film_status
film_timeline_global(film_timeline *timeline, film_moment moment, uint32_t code,
                     uint32_t name, film_datum *value, film_moment *wrote,
                     film_error *error);

static inline void
film_datum_set(film_datum *datum, const uint8_t *bytes, size_t length)
{
    datum->length = 0;
    if (length <= sizeof(datum->bytes)) {
        memcpy(datum->bytes, bytes, length);
        datum->length = (uint8_t)length;
    }
}

/* The next token; empty where there is none. */
static inline film_datum
film_datum_take(film_input *input)
{
    film_datum datum = {.length = 0};
    const uint8_t *from = input->at;

    film_tokens_skip(input, 1);
    if (!input->failed) {
        film_datum_set(&datum, from, (size_t)(input->at - from));
    }
    return datum;
}

static inline film_token
film_datum_token(const film_datum *datum)
{
    film_input input = film_input_of(datum->bytes, datum->length);

    return film_token_decode(&input);
}

#endif
