/* plan.h: what the instructions of a code object write, worked out once from its
 * bytecode, so that at run time only a few table lookups are left.
 *
 * A region begins wherever an event leaves us: a line start, a RESUME, an exception
 * handler, an observation point. For each place where the next event of the frame can
 * come from it knows the one list of writes that lies between:
 *   stops   the next line or point: all writes on the way
 *   inner   a call, raise, return or yield at an instruction: the writes before it
 * Where two paths to a place differ in their writes, or a variable would be written
 * twice before the next event, the planner puts an observation point AT the store in
 * doubt (an INSTRUCTION event on 3.12+, an opcode event on 3.11) and plans again.
 *
 * A write whose owner, key or value cannot be read back from variables afterwards is
 * read off the evaluation stack at a point of its own (`before` of the region that
 * begins there). It counts once the instruction has been passed without a raise.
 *
 * A plan is one block of memory, of which large programs have tens of thousands: its
 * parts find one another by their distance (film_near), what several regions read is
 * there once (film_named, film_lookup, film_touch), and nothing but a byte of flags is
 * kept for each code unit.
 *
 * Places are in code units. Plans hold no reference but to their own code object's
 * names, which live as long as it does. Threads: built with the GIL, then constant
 * but for the caches in film_named and film_lookup.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLAN_H
#define FILMSTRIP_RECORDER_PLAN_H

#include "recorder/compat.h"

#define FILM_PLAN_NO_PLACE UINT16_MAX
/* The longest code that gets a plan, in code units: places are 16 bits. Longer code is
 * recorded at level lines, and told by info. */
#define FILM_PLAN_MAX_UNITS 65000u
/* The most variables and stack of a frame: FILM_ARGUMENT_IN_CELL is a bit above them.
 */
#define FILM_PLAN_MAX_SLOTS 0x7fff
/* With an argument's slot: by the time of RESUME the value is in a cell in that slot.
 */
#define FILM_ARGUMENT_IN_CELL 0x8000u

/* With a film_write's target: an index in co_consts below 0x7e00; from there on the
 * number of a LOAD_SMALL_INT. */
#define FILM_TARGET_CONSTANT 0x8000u
#define FILM_TARGET_SMALL_INT 0xfe00u

typedef enum film_write_kind {
    FILM_WRITE_FAST,      /* local `slot` */
    FILM_WRITE_CELL,      /* what the cell in `slot` holds */
    FILM_WRITE_GLOBAL,    /* `name` in the frame's globals */
    FILM_WRITE_NAME,      /* `name` in the frame's locals mapping (class, module) */
    FILM_WRITE_ATTRIBUTE, /* `name` of the object in local `slot` */
    FILM_DELETE_FAST,
    FILM_DELETE_CELL,
    FILM_DELETE_GLOBAL,
    FILM_DELETE_NAME,
    FILM_DELETE_ATTRIBUTE, /* owner in local `slot` */
    /* Only in `before`: read off the stack. `slot` is then the index in localsplus just
     * above the top of the stack (the top item is localsplus[slot - 1]). */
    FILM_WRITE_STACK_FAST,       /* top: value; `target` the local: told at once, since
                                    nothing can keep it from happening */
    FILM_WRITE_STACK_STAR,       /* top: the module of `import *`; told at once */
    FILM_WRITE_STACK_NAME,       /* top: value; `name` (a namespace that is no dict) */
    FILM_WRITE_STACK_ATTRIBUTE,  /* top: owner, then value */
    FILM_WRITE_STACK_ITEM,       /* top: key, then owner, then value */
    FILM_WRITE_STACK_SLICE,      /* top: stop, start, owner, value (STORE_SLICE) */
    FILM_DELETE_STACK_ATTRIBUTE, /* top: owner */
    FILM_DELETE_STACK_ITEM,      /* top: key, then owner */
    FILM_CALL_ON_STACK /* no store: a call of `name`, which changes a container, if it
                          is one: of a method its object (`target` is as
                          film_change.callee), else (`unnamed`) that at `target` */
} film_write_kind;

/* Which stores level values tells (option --values). */
typedef enum film_values_scope {
    FILM_VALUES_ALL,        /* items and changes in place too, and contents */
    FILM_VALUES_ATTRIBUTES, /* variables and attributes; objects as type and serial */
    FILM_VALUES_LOCALS      /* variables: locals, cells, names of modules and classes */
} film_values_scope;

typedef enum film_secrecy {
    FILM_SECRECY_UNKNOWN = 0,
    FILM_SECRECY_NONE = 1,
    FILM_SECRECY_SECRET = 2 /* on the deny list */
} film_secrecy;

/* How far another part of the plan lies from this field, in bytes; 0: there is none. */
typedef int32_t film_near;

static inline void *
film_near_part(const film_near *field)
{
    return *field == 0 ? NULL
                       : (void *)((uintptr_t)field + (uintptr_t)(intptr_t)*field);
}

/* The same where there is one. */
static inline void *
film_near_there(const film_near *field)
{
    return (void *)((uintptr_t)field + (uintptr_t)(intptr_t)*field);
}

/* A name that is written or read, and where it was found last. All that the plan does
 * with this attribute of this variable shares one. */
typedef struct film_named {
    PyObject *name;   /* borrowed from co_names, interned */
    uint32_t name_id; /* string id in the recording, 0 until asked for */
    uint8_t secrecy;  /* film_secrecy */
    /* Attribute cache, filled by attributes.c. */
    uint16_t word_place; /* of a member of __slots__ among the object's words; of the
                            first attribute in line */
    PyTypeObject *type;  /* identity only */
    uint32_t type_version;
    int32_t value_index, value_offset;
} film_named;

/* A name as it is before it was looked for. */
static inline film_named
film_named_new(PyObject *name)
{
    return (film_named){.name = name, .value_index = -1, .value_offset = -1};
}

/* One write, in the order the instructions make them. */
typedef struct film_write {
    uint8_t kind;        /* film_write_kind */
    bool hidden : 1;     /* the compiler's own: gives a comprehension's variable back
                            what it held, or a name made up (plan_writes.c): no event */
    bool restores : 1;   /* the first of these */
    bool cell_owner : 1; /* ATTRIBUTE: the owner is in the cell in `slot` */
    bool constant : 1;   /* what it stores cannot be changed */
    bool unnamed : 1;    /* ITEM, SLICE: no touch of the region finds the owner; see
                            also CALL_ON_STACK */
    uint8_t effect : 2;  /* CALL_ON_STACK: film_effect */
    uint16_t slot;
    uint16_t target; /* STACK_FAST: the local. WRITE_ATTRIBUTE: where the value comes
                        from, for a property or __setattr__ that keeps it elsewhere: a
                        slot, FILM_TARGET_CONSTANT | index, or FILM_PLAN_NO_PLACE */
    uint16_t place;  /* the storing instruction */
    uint16_t call_place; /* the CALL whose result is stored at once, else NO_PLACE */
    film_near named;     /* film_named; 0: it has no name */
} film_write;

/* Of a write that has a name. */
static inline film_named *
film_write_named(const film_write *write)
{
    return film_near_there(&write->named);
}

/* The writes up to the next line or point. */
typedef struct film_exit {
    uint16_t place;
    uint8_t count;    /* writes before it */
    bool calm;        /* observe_quick.h may tell it */
    film_near writes; /* film_write */
    film_near next;   /* the film_region that begins there */
} film_exit;

/* The writes up to an instruction that an event can come from. */
typedef struct film_inner {
    uint16_t place;
    uint8_t count;
    uint8_t count_entered; /* with the store itself, for code entered from within it: a
                              finaliser runs after the slot was written. Not with
                              attributes and NAMEs: there a setter may run before */
    film_near writes;
} film_inner;

static inline film_write *
film_exit_writes(const film_exit *exit)
{
    return film_near_there(&exit->writes);
}

static inline film_write *
film_inner_writes(const film_inner *inner)
{
    return film_near_there(&inner->writes);
}

static inline struct film_region *
film_exit_next(const film_exit *exit)
{
    return film_near_part(&exit->next);
}

/* A variable of a namespace, and where it was found in its dict last time, or that it
 * was not there, so that most lines need no search (variables.c's own). */
typedef struct film_lookup {
    PyObject *name;
    const void *keys;      /* identity only: of the dict that had no such name */
    Py_ssize_t keys_count; /* how many they were */
    int32_t position;
} film_lookup;

/* Something a region loads and may change in place: a variable, or up to two attributes
 * of it. */
typedef struct film_touch {
    uint8_t base;  /* FILM_WRITE_FAST, _CELL, _GLOBAL or _NAME */
    uint8_t depth; /* 0: the variable itself; 1, 2: attributes */
    uint16_t slot;
    bool method; /* the last attribute is only called: what its class, a module or a
                    function has under that name is of no interest */
    film_near lookup;  /* film_lookup: of GLOBAL and NAME bases */
    film_near step[2]; /* film_named, of each attribute */
} film_touch;

static inline film_lookup *
film_touch_lookup(const film_touch *touch)
{
    return film_near_part(&touch->lookup);
}

static inline film_named *
film_touch_step(const film_touch *touch, uint32_t index)
{
    return film_near_there(&touch->step[index]);
}

/* What a method of a builtin container does to it. */
typedef enum film_effect {
    FILM_EFFECT_ANY,
    FILM_EFFECT_APPENDS, /* one item more, at the end */
    FILM_EFFECT_REMOVES  /* takes items away, nothing else */
} film_effect;

/* An instruction of a region that may change objects in place. Where a recorded
 * function was called by it, that function's own lines tell what changed. */
typedef struct film_change {
    uint16_t place;
    uint16_t receiver; /* index + 1 among the region's touches of what a method is
                          called on: where that is a builtin container, the method
                          changes nothing else; 0: may change anything it loads */
    uint16_t callee;   /* where the function lies in localsplus while it is called, or
                          one above; of a SEND what is sent to; FILM_PLAN_NO_PLACE: not
                          known */
    /* A call: the function, or with `method` the object it is a method of. Where that
     * turns out to be a coroutine's or generator's, calling it runs nothing. */
    uint16_t maker;       /* index + 1 in film_plan.touches; 0: not known */
    uint32_t method : 28; /* index + 1 in co_names; 0: it is none */
    uint32_t effect : 2;  /* film_effect, of a method */
    bool reads : 1;       /* a method that changes no builtin container */
    bool spreads : 1;     /* o.__dict__[k] = v: what is stored to is a part of `o` */
} film_change;

#define FILM_REGION_CHANGES 6u

/* Half a cache line, and never in two of them: all that most line events look at. */
typedef struct film_region {
    uint16_t place;      /* where it begins */
    uint16_t stop_place; /* of the first of its stops; NO_PLACE: there is none */
    uint16_t stop_count, inner_count, touch_count;
    uint8_t stop_writes; /* of the first stop: its count */
    /* What may change the touches; more than FILM_REGION_CHANGES or within a loop:
     * change_count is UINT8_MAX and all touches are looked at. */
    uint8_t change_count;
    uint8_t change_mask;   /* all of them, as `covered` of the frame's entry; a number
                              that never is where there are too many */
    bool early : 1;        /* writes lie before an instruction that may run code */
    bool early_change : 1; /* the same of an instruction that may change an object */
    bool point : 1;        /* it begins at an observation point */
    bool sent : 1;         /* 3.11: a throw() that the generator delegated to may end
                              here, without an event */
    bool points_ahead : 1; /* one of its stops is a point */
    bool forward : 1;      /* changes happen in the order of their places */
    bool reraises : 1;     /* 3.11: it may raise again without an event, and the frame
                              then shows where that was raised before */
    bool quiet_ahead : 1;  /* one of its stops is QUIET and no point */
    film_near stops;       /* film_exit, most likely first; behind them its film_inner,
                              returns and yields first */
    film_near stop_next;   /* of the first of the stops */
    film_near changes;     /* film_change; behind them the numbers of its touches */
    film_near before; /* the film_write read off the stack where it begins, 0: none. Its
                         `place` is the store: an EXTENDED_ARG may lie before it */
} film_region;

_Static_assert(sizeof(film_region) == 32, "a region outgrows half a cache line");
_Static_assert(sizeof(film_write) == 16 && sizeof(film_change) == 12 &&
                   sizeof(film_exit) == 12 && sizeof(film_inner) == 8,
               "plans grow");

static inline film_exit *
film_region_stops(const film_region *region)
{
    return film_near_there(&region->stops);
}

static inline film_region *
film_region_next(const film_region *region)
{
    return film_near_part(&region->stop_next);
}

static inline film_inner *
film_region_inner(const film_region *region)
{
    return (film_inner *)(void *)(film_region_stops(region) + region->stop_count);
}

static inline film_change *
film_region_changes(const film_region *region)
{
    return film_near_there(&region->changes);
}

static inline film_write *
film_region_before(const film_region *region)
{
    return film_near_part(&region->before);
}

/* The numbers of what it touches in film_plan.touches. */
static inline const uint16_t *
film_region_touches(const film_region *region)
{
    uint32_t changes =
        region->change_count > FILM_REGION_CHANGES ? 0 : region->change_count;

    return (const uint16_t *)(const void *)(film_region_changes(region) + changes);
}

enum film_place_flags {
    FILM_PLACE_SWALLOWS = 1,  /* FOR_ITER, SEND: a StopIteration raised here goes on */
    FILM_PLACE_POINT = 2,     /* an observation point */
    FILM_PLACE_START = 4,     /* RESUME of a call */
    FILM_PLACE_RESUME = 8,    /* any other RESUME */
    FILM_PLACE_ON_STACK = 16, /* an attribute store whose value could not be read back:
                                 set at run time, a wish for the next plan */
    FILM_PLACE_QUIET = 32,    /* a line begins here that does nothing but return: it is
                                 told with the return, and its event is turned off */
    FILM_PLACE_CACHE = 64     /* no instruction, but a cache entry: its lowest bits are
                                 no flags but how far its instruction lies before it,
                                 or a part of that */
};

#define FILM_CACHE_DISTANCE 15u

/* Which of 64 places regions begin at, and how many begin before them. */
typedef struct film_places {
    uint64_t begin;
    uint32_t before;
} film_places;

/* A return, and where its QUIET line begins. */
typedef struct film_quiet {
    uint16_t place, line;
} film_quiet;

typedef struct film_plan {
    uint32_t unit_count;
    uint32_t region_count, point_count;
    film_region *regions; /* in the order of their places */
    film_region *entry;   /* of RESUME 0; NULL: none */
    film_touch *touches;
    film_places *places; /* of the regions */
    uint8_t *flags;      /* by place: film_place_flags; see film_plan_flags() */
    film_quiet *quiet;   /* in the order of their places */
    uint32_t quiet_count;
    uint16_t *arguments; /* slots of the arguments, in order; some | IN_CELL */
    uint16_t argument_count;
    uint16_t free_count, shared_count;
    uint16_t *free_slots; /* slots of the variables of outer functions; behind them
                             those of its own that inner ones may share */
    uint16_t opening;     /* the place of the line that follows every start at once and
                             is reached in no other way: told with the call, and its
                             event is turned off; NO_PLACE: there is none */
    bool opens_calmly;    /* the same, with nothing to be told before it */
    bool names_on_stack;  /* STORE_NAMEs are read off the stack */
    bool every_place;     /* every instruction is a point */
    struct film_plan *older; /* the plan it replaced, which frames may still follow;
                                owned */
    uint8_t *secret_slots; /* variables.c's: by slot, 1 on the deny list; NULL: none */
    void *memory; /* the block that it lies in, with all but these two; owned */
    size_t bytes; /* of the block */
} film_plan;

/* The region that begins at a place; NULL: none. */
static inline film_region *
film_plan_region(const film_plan *plan, uint32_t unit)
{
    const film_places *places = &plan->places[unit / 64];
    uint64_t bit = (uint64_t)1 << unit % 64;

    if (unit >= plan->unit_count || (places->begin & bit) == 0) {
        return NULL;
    }
    return &plan->regions[places->before +
                          (uint32_t)__builtin_popcountll(places->begin & (bit - 1))];
}

/* The instruction a place belongs to: cache entries belong to theirs. */
static inline uint32_t
film_plan_instruction(const film_plan *plan, uint32_t unit)
{
    if (unit >= plan->unit_count) {
        return FILM_PLAN_NO_PLACE;
    }
    while ((plan->flags[unit] & FILM_PLACE_CACHE) != 0) {
        unit -= plan->flags[unit] & FILM_CACHE_DISTANCE;
    }
    return unit;
}

/* The flags of the instruction at a place of the code; 0: none begins there. */
static inline uint8_t
film_plan_flags(const film_plan *plan, uint32_t unit)
{
    uint8_t flags = plan->flags[unit];

    return (flags & FILM_PLACE_CACHE) != 0 ? 0 : flags;
}

/* Where the QUIET line of the return at a place begins + 1; 0: it is in none. */
uint32_t
film_plan_quiet_line(const film_plan *plan, uint32_t unit);

/* What is known of the frames that run the code, and what an earlier plan could not
 * see. */
typedef struct film_plan_wishes {
    PyObject *globals; /* borrowed for the call; NULL: not known, then no global is
                          taken for the builtin of its name */
    const film_frame *frame; /* borrowed; one that begins to run the code, or NULL */
    film_values_scope scope;
    bool names_on_stack;      /* its names go to a mapping that is no dict */
    bool every_place;         /* it was seen to go where no plan leads */
    bool line_times;          /* every line has a time of its own */
    const film_plan *earlier; /* its places marked ON_STACK; NULL: none */
} film_plan_wishes;

/* Plans `code`. NULL when memory is out, the code is too long or malformed: then its
 * writes are not recorded, which the caller counts. No exception is set. */
film_plan *
film_plan_new(PyCodeObject *code, const film_plan_wishes *wishes);

/* Frees the memory that is kept from one plan for the next; there is a bound to it. */
void
film_plan_forget_drafts(void);

/* Frees it and the plans it replaced. */
void
film_plan_free(film_plan *plan);

/* The stop at `place`, or NULL. */
static inline film_exit *
film_region_stop_at(const film_region *region, uint32_t place)
{
    film_exit *stops = film_region_stops(region);

    for (uint32_t index = 0; index < region->stop_count; index++) {
        if (stops[index].place == place) {
            return &stops[index];
        }
    }
    return NULL;
}

/* The exit at an instruction within the region, or NULL. */
static inline film_inner *
film_region_inner_at(const film_region *region, uint32_t place)
{
    film_inner *inner = film_region_inner(region);

    for (uint32_t index = 0; index < region->inner_count; index++) {
        if (inner[index].place == place) {
            return &inner[index];
        }
    }
    return NULL;
}

/* The exit for an unwinding by RERAISE without an event (3.11), as a stop's place. */
#define FILM_PLAN_UNWINDS (UINT16_MAX - 1)

#endif
