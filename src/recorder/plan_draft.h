/* plan_draft.h: a plan in the making: what each instruction writes, the regions and
 * points found by walking the control-flow graph, the memory the plan will keep.
 *
 * One is used for plan after plan, so that its memory need not be asked for again and
 * again: film_draft_take, film_draft_give_back. The plan is what was kept, or a copy.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLAN_DRAFT_H
#define FILMSTRIP_RECORDER_PLAN_DRAFT_H

#include "recorder/plan.h"
#include "recorder/plan_bytecode.h"

#define FILM_SPARE_UNITS 2048u

/* A write, before it is laid out as film_write. */
typedef struct film_draft_write {
    uint8_t kind;
    bool hidden : 1, restores : 1, cell_owner : 1, constant : 1, unnamed : 1;
    uint8_t effect : 2;
    uint16_t slot, target, place, call_place;
    uint32_t name_index; /* in co_names */
    PyObject *name;      /* borrowed from there; NULL: none */
} film_draft_write;

/* A list of writes, made longer by one: shared tails, the last write first. Node 0 is
 * the empty list. */
typedef struct film_node {
    uint32_t before;   /* the list it continues */
    uint32_t write;    /* in film_draft.writes */
    uint32_t laid_out; /* where, in film_draft.kept; 0: not yet */
    uint16_t length;
    bool open : 1; /* a write in it that other code could overwrite before we read */
    bool uncertain : 1; /* another path makes the same write at another place */
    bool continued : 1; /* while a region is laid out: a longer list has it */
} film_node;

/* An instruction a region reaches, with the lists of writes before and behind it, by
 * their distance from film_flow_region.nodes (0: the empty list); as a stop: `index` is
 * the instruction (FILM_NO_INDEX: unwinding), and both lists are the same. */
typedef struct film_reach {
    uint16_t index;
    uint16_t node, after;
} film_reach;

typedef struct film_flow_region {
    uint32_t nodes;  /* the last node of those before it */
    uint32_t states; /* in film_draft.reaches; behind them its stops */
    uint16_t state_count, stop_count;
    uint16_t index; /* the instruction where it begins */
    bool planned;
} film_flow_region;

/* Of an instruction: the walk that reached it last, and where it is among the states and
 * the stops of that walk, or FILM_NO_INDEX. */
typedef struct film_passed {
    uint32_t walk;
    uint16_t state, stop;
} film_passed;

/* What an instruction writes: writes[first] up to `count` of them; `before` is the
 * write read off the stack at a point here, or FILM_NONE. */
typedef struct film_made {
    uint32_t before;
    uint32_t first : 30;
    uint32_t count : 2;
} film_made;

_Static_assert(sizeof(film_draft_write) == 24 && sizeof(film_node) == 16 &&
                   sizeof(film_reach) == 6 && sizeof(film_flow_region) == 16 &&
                   sizeof(film_passed) == 8 && sizeof(film_made) == 8,
               "drafts grow");

/* Something a region may change in place, before it is laid out as film_touch. */
typedef struct film_touched {
    uint8_t base, depth;
    uint16_t slot;
    bool method;               /* only loaded to be called */
    bool within;               /* it is something in what is loaded */
    uint16_t unused;           /* no padding: it is a key */
    PyObject *name, *steps[2]; /* borrowed */
} film_touched;

/* Things that are there once: each has a key of so many bytes, without padding. */
#define FILM_KEY_BYTES 32u

typedef struct film_set {
    unsigned char *keys; /* in the order they came */
    size_t count, capacity;
    uint32_t *kept_at; /* in that order: where it is in film_draft.kept */
    size_t kept_capacity;
    uint32_t *table; /* by hash: index + 1 */
    size_t table_size, table_capacity;
} film_set;

/* The key of a film_named: the name, and what it is an attribute of. */
typedef struct film_named_key {
    PyObject *name;     /* borrowed, as all of these */
    PyObject *variable; /* of a GLOBAL or NAME base */
    PyObject *step;     /* it is an attribute of that attribute */
    uint32_t owner;     /* film_named_owner(); 0: an expression */
    uint32_t place;     /* + 1, of a store whose owner is an expression */
} film_named_key;

typedef struct film_draft {
    film_bytecode bytecode;
    const film_plan_wishes *wishes; /* borrowed */
    film_draft_write *writes;
    size_t write_count, write_capacity;
    /* By instruction: */
    film_made *made;
    bool *points;
    bool *fresh;         /* a point made in this round of walks */
    uint16_t *region_of; /* the region that begins there, or FILM_NO_INDEX */
    film_passed *passed;
    film_flow_region *regions;
    size_t region_count, region_capacity;
    film_node *nodes;
    size_t node_count, node_capacity;
    film_reach *reaches;
    size_t reach_count, reach_capacity;
    film_reach *stops; /* of one walk at a time */
    size_t stop_capacity;
    uint32_t *work; /* the same: instructions to be visited */
    size_t work_capacity;
    film_touched *touched; /* of one region at a time */
    size_t touched_count, touched_capacity;
    film_change changes[FILM_REGION_CHANGES]; /* the same */
    film_quiet *quiet;
    size_t quiet_count, quiet_capacity;
    uint8_t *name_traits; /* by name of co_names: film_name_traits, 0 until asked for */
    uint32_t *name_kept;  /* the same: where its film_named as a variable is kept */
    /* What the plan will be a copy of: places in it are distances from its start, since
     * it moves when it grows. The plan itself comes first, so no other is 0. */
    unsigned char *kept;
    size_t kept_bytes, kept_capacity;
    film_set named;            /* film_named, by film_named_key */
    film_set lookups, touches; /* film_lookup and film_touch, by film_touched */
} film_draft;

/* film_grow of a table that is the draft's. */
static inline void *
film_draft_grow(film_draft *draft, void *table, size_t *capacity, size_t needed,
                size_t item_bytes)
{
    return film_scratch_grow(&draft->bytecode.scratch, table, capacity, needed,
                             item_bytes);
}

/* Every instruction is a point. */
static inline bool
film_draft_watches_all(const film_draft *draft)
{
    return draft->wishes->every_place || draft->bytecode.unknown;
}

/* plan_writes.c: fills `made`, and `points` where the stack must be read. */
bool
film_draft_find_writes(film_draft *draft);

/* plan_names.c: true for variables the compiler made up. */
bool
film_name_is_hidden(PyObject *name);

/* True for the dict that annotated names of a class or module go to. */
bool
film_name_is_annotations(PyObject *name);

/* The name in co_names, or of a slot. Borrowed. */
PyObject *
film_draft_name(const film_draft *draft, uint32_t index);

PyObject *
film_draft_slot_name(const film_draft *draft, uint32_t slot);

/* What functions and methods of a name in co_names do: film_name_traits. */
uint8_t
film_draft_name_traits(const film_draft *draft, uint32_t index);

/* The same of a method of containers. */
film_effect
film_draft_method_effect(const film_draft *draft, uint32_t index);

/* plan_rebound.c: more points, where a line binds anew what it has changed. */
void
film_draft_find_rebound(film_draft *draft);

/* plan_flow.c: finds regions and points. False when memory is out or the work would be
 * out of proportion. */
bool
film_draft_find_regions(film_draft *draft);

/* True for an instruction from which the interpreter may go straight into another
 * frame. Code entered by way of C (finalisers, setters) is told apart at run time. */
static inline bool
film_draft_may_enter(const film_instruction *instruction)
{
    if ((instruction->traits & FILM_OP_CALLS) != 0 ||
        instruction->form == FILM_FORM_LOAD_METHOD) {
        return true;
    }
    return (instruction->traits & (FILM_OP_QUIET | FILM_OP_LEAVES | FILM_OP_ENDS)) ==
               0 &&
           instruction->form != FILM_FORM_LOAD_FAST &&
           instruction->form != FILM_FORM_STORE_LOAD_FAST;
}

/* plan_touch.c: what the region loads and may change in place: draft->touched, if
 * touch_count is not 0, and draft->changes. `traits`: those that any of its instructions
 * has. */
bool
film_draft_find_touches(film_draft *draft, const film_flow_region *flow,
                        uint16_t traits, film_region *region);

/* True when a touch finds what comes from there: a variable, or an attribute of one. */
bool
film_draft_finds(const film_draft *draft, uint32_t origin);

/* The load of the function that the CALL at `index` calls, or NULL. */
const film_instruction *
film_draft_callee(const film_draft *draft, uint32_t index);

/* Where that function lies in localsplus, below the NULL that some versions have there;
 * FILM_PLAN_NO_PLACE: not known. */
uint16_t
film_draft_callee_slot(const film_draft *draft, const film_instruction *call);

/* plan_unnamed.c: true for an item store or delete whose owner no touch finds. */
bool
film_draft_is_unnamed(const film_draft *draft, uint32_t index);

/* plan_unnamed.c: the same for the container that a CALL changes, if it is one: then it
 * is read off the stack there. False when memory is out. */
bool
film_draft_find_unnamed_call(film_draft *draft, uint32_t index);

/* plan_writes.c: a write that is read off the stack where it happens; the same. */
bool
film_draft_add_stack_write(film_draft *draft, uint32_t index, film_draft_write write);

/* True for an instruction that may change an object in place, other than by a store
 * that is told. */
bool
film_draft_may_change(const film_draft *draft, uint32_t index);

/* plan_writes.c: the single local the instruction stores is to be read off the stack.
 */
bool
film_draft_read_on_stack(film_draft *draft, uint32_t index);

/* plan_regions.c: makes the region that is kept at `at`; what it leads to lies behind.
 * False when memory is out. */
bool
film_draft_make_region(film_draft *draft, const film_flow_region *flow, uint32_t at);

/* plan_told_lines.c; all regions are made, and not linked: sets film_plan.opening,
 * flags and draft->quiet. False when memory is out. */
bool
film_draft_find_told_lines(film_draft *draft, film_plan *plan);

/* plan_memory.c: makes draft->kept so long; false when memory is out. */
bool
film_draft_grow_kept(film_draft *draft, size_t end);

/* Room for so many bytes in draft->kept, where a multiple of `bytes_apart`, a power of 2,
 * begins: to be filled in by the caller. 0 when memory is out. */
static inline uint32_t
film_draft_keep(film_draft *draft, size_t bytes, size_t bytes_apart)
{
    size_t at = (draft->kept_bytes + bytes_apart - 1) & ~(bytes_apart - 1);
    size_t end = at + bytes;

    if (end > draft->kept_capacity && !film_draft_grow_kept(draft, end)) {
        return 0;
    }
    draft->kept_bytes = end;
    return (uint32_t)at;
}

/* The same for `count` things of `bytes` each, zeroed. */
uint32_t
film_draft_keep_zeroed(film_draft *draft, size_t count, size_t bytes,
                       size_t bytes_apart);

static inline void *
film_draft_kept(const film_draft *draft, uint32_t at)
{
    return draft->kept + at;
}

/* Sets the film_near that is kept at `field`; `to` 0: none. */
static inline void
film_draft_link(film_draft *draft, uint32_t field, uint32_t to)
{
    film_near *near = film_draft_kept(draft, field);

    *near = to == 0 ? 0 : (film_near)((int64_t)to - (int64_t)field);
}

/* Where the film_named of a variable is kept, by its place in co_names, once; 0 when
 * memory is out. */
uint32_t
film_draft_keep_variable(film_draft *draft, uint32_t name_index);

/* The same of an attribute, by its key. */
uint32_t
film_draft_keep_named(film_draft *draft, const film_named_key *key);

/* The number of a touch in film_plan.touches; FILM_NONE when memory is out. */
uint32_t
film_draft_number_touch(film_draft *draft, const film_touched *touched);

/* Keeps all that were numbered and returns where; 0 when memory is out. */
uint32_t
film_draft_keep_touches(film_draft *draft);

/* The owner of a film_named_key: a variable. */
static inline uint32_t
film_named_owner(uint8_t base, uint32_t slot)
{
    return 1u << 31 | (uint32_t)base << 16 | slot;
}

/* A draft for a plan of `code`, its bytecode read and all else empty. NULL when memory
 * is out or the code is too long or malformed. */
film_draft *
film_draft_take(PyCodeObject *code, const film_plan_wishes *wishes);

/* True when its memory will be that of the next plan: longer code's is freed at once, of
 * which it takes some 100 bytes a code unit. */
static inline bool
film_draft_is_spare(const film_draft *draft)
{
    return draft->bytecode.unit_count <= FILM_SPARE_UNITS;
}

void
film_draft_give_back(film_draft *draft);

#endif
