/* code_registry.h: what is known about a code object, one load away.
 *
 * co_extra of every code object seen holds a film_code. It is freed with the code
 * object; nothing here keeps a code object alive. `generation` says for which
 * recording the rest holds: another recording, or a forked child, decides anew.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CODE_REGISTRY_H
#define FILMSTRIP_RECORDER_CODE_REGISTRY_H

#include "recorder/compat.h"

#include "recorder/session.h"

struct film_catches;
struct film_plan;

typedef struct film_code {
    uint64_t generation;
    const _Py_CODEUNIT *first; /* start of its bytecode, valid while the code lives */
    uint32_t id;               /* the file's number for it */
    bool target;
    bool calls_only;              /* a target of which only calls are told (torch/
                                     api_calls.h) */
    uint8_t compile_role;         /* film_compile_role (torch/compiled.h) */
    bool is_caller;               /* no target, described because it calls one */
    bool suspends;                /* generator, coroutine or async generator */
    bool initialises;             /* named __init__ */
    bool has_namespace;           /* runs in a dict: a module or a class */
    bool is_special;              /* its calls need more than most (observe.c) */
    struct film_plan *plan;       /* owned; NULL: its writes are not recorded */
    struct film_catches *catches; /* owned; NULL: the interpreter catches nothing */
    uint64_t outdated;   /* the generation its plan was for, if it is to be made anew */
    uint32_t plan_count; /* how often that was done */
    bool strayed;        /* a frame went where the plan does not lead */
    uint32_t name;       /* string id of module.qualname; 0: not asked for yet */
    bool decorates;      /* asked for: its module is one that wraps others' functions */
    uint64_t watched;    /* its film_compat_instrumentation when it was last watched */
    PyCodeObject *code;  /* whose it is; not a reference: both die together */
    struct film_code *next_watched, *previous_watched; /* see film_codes_watched */
} film_code;

/* The codes whose instructions are watched (they have observation points), so that the
 * hooks can let go of them. */
extern film_code *film_codes_watched;

/* Describes a code object seen for the first time in this recording; `frame` (borrowed)
 * runs it. Never NULL: when memory is out, an entry that is no target. */
film_code *
film_code_register(PyCodeObject *code, const film_frame *frame);

/* The plan could not tell all that a frame did; `strayed`: not even where it was. The
 * next frame gets a better one: places marked FILM_PLACE_ON_STACK are read off the
 * stack, names too where they go to no dict. */
void
film_code_plan_again(film_code *known, bool strayed);

/* Other tools that change their events make CPython forget that the instructions of a
 * code object are watched: it is watched again. */
void
film_code_watch_again(film_code *known);

/* Describes code that is no target but calls one, where that is asked for; true when
 * its id may be used. */
bool
film_code_describe_caller(film_code *known, PyCodeObject *code,
                          const film_frame *frame);

/* module.qualname of the code that a frame runs, as a string id. */
uint32_t
film_code_name(const film_frame *frame);

/* Code of functools, contextlib and the like: what it calls is meant where it is called. */
bool
film_code_decorates(const film_frame *frame);

static inline film_code *
film_code_of(PyCodeObject *code, const film_frame *frame)
{
    film_code *known = film_compat_get_extra(code, film_the_session.extra_index);

    if (FILM_LIKELY(known != NULL &&
                    known->generation == film_the_session.generation)) {
        return known;
    }
    return film_code_register(code, frame);
}

/* Asks CPython for the co_extra slot, once per process. False with an exception. */
bool
film_code_registry_prepare(void);

/* Forgets what is cached about files. */
void
film_code_registry_reset(void);

#endif
