/* thread_context.h: what the recorder keeps about the running thread.
 *
 * Its stream (film_thread) and the shadow stack: the recorded frames that are open, as
 * the reader of the file will see them.
 *
 * Threads: each thread its own, with the GIL; the destructor at thread death runs
 * without it and calls no Python.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_THREAD_CONTEXT_H
#define FILMSTRIP_RECORDER_THREAD_CONTEXT_H

#include "recorder/compat.h"

#include "recorder/frame_key.h"
#include "recorder/session.h"
#include "writer/append.h"

#define FILM_TOLD_SLOTS 14u

/* How far a call looks for its recorded caller: code that is no target may lie between
 * (a callback from the standard library, a test runner), but a deep recursion there
 * must not make every call walk it. */
#define FILM_FAR_FRAMES 256u

/* Whether a frame can suspend; and then, whether a task's step began with it. */
enum film_suspends { FILM_SUSPENDS_NOT, FILM_SUSPENDS, FILM_SUSPENDS_TASK };

#define FILM_MODULE_UNKNOWN UINT32_MAX

typedef struct film_stack_entry {
    film_frame_key frame;
    const PyObject *code;      /* identity only */
    const _Py_CODEUNIT *first; /* for subtraction only */
    uint64_t serial;
    /* Level values (observe.h); plan NULL: none of it holds. */
    struct film_plan *plan;     /* borrowed from the code's film_code */
    struct film_region *region; /* NULL: not known where the frame is */
    /* Of the region; set to zero together when another one begins. */
    uint8_t covered; /* by change of the region: a recorded function was called there */
    bool fresh;      /* a point's event follows for a line that was handled already */
    bool dead;       /* 3.11: an exception leaves the frame: its writes are told */
    bool unwinding;  /* the frame has raised and told: it leaves the region */
    uint16_t done;   /* writes of the region told so far */
    uint16_t told_early; /* changes at places before this one were told to a callee */
    uint16_t raised;     /* 3.11: place + 1 of the raise that led into the region */
    /* Of the frame; set together when it begins. */
    uint8_t suspends; /* film_suspends */
    bool initialises; /* an __init__: it gives `self` to its caller */
    bool pending;     /* the newest of the context's pendings is this frame's */
    bool opcodes;     /* 3.11: we asked for the frame's opcode events */
    uint32_t
        module; /* string id of the nn.Module path it lies within (torch/place.c) */
    bool calls_only; /* only its calls are told: film_code.calls_only */
    bool outer;      /* no target: told because it calls one, and not looked into */
    uint32_t code_id;
    uint32_t site; /* the caller's place + 1 */
    /* What each variable was last told to hold, as a check word (objects.c); slots that
     * share a place here only lose evidence. */
    uint32_t told[FILM_TOLD_SLOTS];
} film_stack_entry;

typedef struct film_pending film_pending;

typedef struct film_context {
    uint64_t token;         /* may append while it equals the session's */
    film_stack_entry *top;  /* in `entries`; entries[0] is a floor matching nothing */
    film_thread *thread;    /* owned by the writer; NULL: could not begin */
    film_stack_entry *last; /* last entry there is room for */
    film_stack_entry *entries; /* owned */
    uint64_t generation;       /* of the recording `thread` belongs to */
    const void *returned;   /* identity only: what the last frame that ended gave to its
                               caller; NULL once that caller went on */
    uint32_t returned_unit; /* where that caller stands */
    uint32_t pending_count, pending_room;
    film_pending *pendings;              /* owned */
    struct film_held_tasks *tasks;       /* owned; tasks.h; NULL: none was met */
    struct film_inner_operations *inner; /* owned; torch/observer.c; NULL: none yet */
    struct film_raises *raises; /* owned; 3.11: hooks_trace.c; NULL: none yet */
    struct film_compiled_calls *compiled; /* owned; torch/compiled.c; NULL: none yet */
    uint64_t compiling; /* the token it had when it began to compile; 0: it does not */
    uint32_t compiling_events; /* that were not recorded since */
    uint64_t stack_token;      /* the token `stack_id` was drawn for */
    uint32_t stack_id;         /* names this stack in objects.c; 0: none yet */
    bool entangled; /* entries may not be callers of one another: several greenlets run
                       in the thread, or a call came from too far to see from where */
} film_context;

/* initial-exec: one load, no call. The struct is small, so that it fits the room glibc
 * keeps for libraries loaded late. */
extern __thread film_context film_this_thread
    __attribute__((tls_model("initial-exec")));

/* Makes the calling thread able to append: begins its stream, or mends its stack after
 * a pause or fork. `frame` is the event's own frame, or NULL. False: do not record. */
bool
film_context_refresh(film_context *context, const film_frame *frame);

/* The context, ready to append; NULL when this event is not to be recorded. */
static inline film_context *
film_context_ready(const film_frame *frame)
{
    film_context *context = &film_this_thread;

    /* A session that is off has a token no thread carries. */
    if (FILM_LIKELY(context->token == film_the_session.token)) {
        return context;
    }
    return film_context_refresh(context, frame) ? context : NULL;
}

/* The context, ready to append, in a thread that need not have the GIL, as long as the
 * session's `lifecycle` is held; NULL: this event is not to be recorded. A thread that is
 * met for the first time gets its stream. */
film_context *
film_context_of_any_thread(void);

/* film_entry_frame where entries may not be callers of one another: looks for the frame
 * among those that run. */
const film_frame *
film_entry_frame_by_walk(const film_stack_entry *entry);

/* The frame of an entry of this thread's stack, to be looked into; NULL: it may have
 * ended unseen, or is none to look into. Borrowed until the program goes on. */
static inline const film_frame *
film_entry_frame(const film_context *context, const film_stack_entry *entry)
{
    if (FILM_UNLIKELY((entry->frame.word & 1) != 0)) {
        return NULL;
    }
    if (FILM_UNLIKELY(context->entangled)) {
        return film_entry_frame_by_walk(entry);
    }
    /* Entries are callers of one another, and the top was found among the callers of
     * the frame that runs, or is it. */
    return (const film_frame *)entry->frame.word;
}

/* Doubles the shadow stack; false when memory is out. */
bool
film_context_grow(film_context *context);

/* Once per process: the key whose destructor sees threads die. */
bool
film_context_prepare(void);

/* The thread's name as threading knows it, without running Python code: written to
 * `name` (capacity bytes with the NUL). `frame` may be NULL. */
void
film_thread_name(const film_frame *frame, char *name, size_t capacity);

#endif
