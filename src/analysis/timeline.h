/* timeline.h: stands at any moment of a recording and moves both ways.
 *
 * A moment is a thread and an event number; the state at a moment includes its event.
 * Every answer is a function of the moment alone: it does not matter which way it was
 * reached. Movement gives moments, nothing is "current"; a debugger keeps the moment
 * (and the frame it looks at) itself.
 *
 * How: the chunk of the moment is decoded once into a scene (scene.h), where every
 * event knows its frame and the event before it in that frame; what was there before
 * the chunk comes from its keyframe. Searches read the chunks' summaries (postings.h)
 * and decode only chunks that can hold what is looked for.
 *
 * Memory: at most FILM_TIMELINE_SCENES scenes (about 1 MiB each) and
 * FILM_TIMELINE_BYTES of them, lists of writes (block_writes.h: 48 MiB), the reader's
 * own caches (66 MiB) and some 500 bytes a chunk of summaries.
 *
 * Time: functions that take a film_budget stop when it is spent and say where they are
 * (FILM_STOP_UNFINISHED, or `next` in a page): the same call from there goes on.
 *
 * Threads: a timeline and its reader belong to one thread at a time. Texts and arrays
 * that functions give are borrowed until the next call of the same function, unless
 * said otherwise.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TIMELINE_H
#define FILMSTRIP_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/reader.h>

#include "format/token.h"

#define FILM_TIMELINE_SCENES 48u
#define FILM_TIMELINE_BYTES ((size_t)96 << 20)

typedef struct film_timeline film_timeline;

typedef struct film_moment {
    uint64_t event;
    uint32_t thread; /* 0: no moment */
} film_moment;

static inline film_moment
film_moment_of(uint32_t thread, uint64_t event)
{
    return (film_moment){.event = event, .thread = thread};
}

static inline bool
film_moment_is(film_moment one, film_moment other)
{
    return one.thread == other.thread && one.event == other.event;
}

/* A value as a variable holds it: the bytes of its token (format/token.h). What an
 * object contains is asked for at a moment: film_timeline_content, _text. */
typedef struct film_datum {
    uint8_t bytes[FILM_TOKEN_MAX];
    uint8_t length; /* 0: not known */
} film_datum;

/* When to stop working: CLOCK_MONOTONIC ns; 0: never. */
typedef struct film_budget {
    uint64_t deadline_ns;
} film_budget;

/* A budget that ends `milliseconds` from now. */
film_budget
film_budget_of(unsigned milliseconds);

bool
film_budget_spent(const film_budget *budget);

/* The caller owns *out, which borrows the reader. */
FILM_NODISCARD film_status
film_timeline_open(film_reader *reader, film_timeline **out, film_error *error);

void
film_timeline_close(film_timeline *timeline);

/* After film_reader_refresh of a live recording. */
FILM_NODISCARD film_status
film_timeline_refresh(film_timeline *timeline, film_error *error);

film_reader *
film_timeline_reader(const film_timeline *timeline);

/* --- moments --- */

/* First and last moment of a thread. FILM_END: it has no events. */
FILM_NODISCARD film_status
film_timeline_ends(film_timeline *timeline, uint32_t thread, film_moment *first,
                   film_moment *last, film_error *error);

/* The event of a moment, borrowed until the next call of any function of the timeline.
 * FILM_END: there is none. For an event within damage: the `lost` event that stands for
 * it. */
FILM_NODISCARD film_status
film_timeline_event(film_timeline *timeline, film_moment moment,
                    const film_event **event, film_error *error);

/* The line of a moment's event in its frame; 0: none. */
FILM_NODISCARD film_status
film_timeline_line(film_timeline *timeline, film_moment moment, uint32_t *line,
                   film_error *error);

/* The last event of `thread` not later than `time_ns` (its first one if all are later).
 */
FILM_NODISCARD film_status
film_timeline_at_time(film_timeline *timeline, uint32_t thread, uint64_t time_ns,
                      film_moment *out, film_error *error);

/* Where another thread stands at this moment: its last event not later in time. A
 * thread that has not begun yet: FILM_END. The moment's own thread: itself. */
FILM_NODISCARD film_status
film_timeline_other_thread(film_timeline *timeline, film_moment moment, uint32_t thread,
                           film_moment *out, film_error *error);

/* --- state --- */

typedef struct film_stack_frame {
    uint64_t serial;
    uint32_t code;    /* FILM_NO_CODE: lost with a damaged chunk */
    uint32_t offset;  /* place in its code, FILM_NO_OFFSET: unknown */
    uint32_t line;    /* 0: unknown */
    uint64_t entered; /* event of its call, or resume, in the moment's thread */
    bool adopted;     /* it was open before the recording saw it */
} film_stack_frame;

/* The open frames, outermost first. At a return, yield or unwind the frame that the
 * event closes is still on top: one sees what it held. */
FILM_NODISCARD film_status
film_timeline_stack(film_timeline *timeline, film_moment moment,
                    const film_stack_frame **frames, size_t *depth, film_error *error);

typedef enum film_scope {
    FILM_SCOPE_LOCAL,
    FILM_SCOPE_NONLOCAL, /* a cell of an outer function */
    FILM_SCOPE_CLASS,    /* a name in the body of a class */
    FILM_SCOPE_GLOBAL
} film_scope;

typedef struct film_variable {
    film_text name;
    film_datum value;  /* kind UNBOUND or length 0: it could not be recorded */
    film_moment wrote; /* the event that wrote it; thread 0: before this chunk (ask
                          film_timeline_last_write), or not known */
    uint32_t slot;     /* locals; UINT32_MAX: other scopes */
    film_scope scope;
    bool changed; /* written by the line the frame stands behind: since its last line */
    bool shared;  /* a cell: inner functions may have written it since (nonlocal) */
} film_variable;

/* The variables of frame `index` of film_timeline_stack (outermost 0) that have a
 * value: its locals in the order of its code; for the body of a class or module their
 * names. Hidden ones of the compiler (.0) are left out. */
FILM_NODISCARD film_status
film_timeline_variables(film_timeline *timeline, film_moment moment, size_t index,
                        const film_variable **variables, size_t *count,
                        film_error *error);

/* The globals of the module of that frame's function that have a recorded value: those
 * that the module's body names, or where it was not recorded the function itself. */
FILM_NODISCARD film_status
film_timeline_globals(film_timeline *timeline, film_moment moment, size_t index,
                      const film_variable **variables, size_t *count,
                      film_error *error);

/* One of them by name; in a function also a global of its module. FILM_END: the film
 * tells no value. */
FILM_NODISCARD film_status
film_timeline_variable(film_timeline *timeline, film_moment moment, size_t index,
                       const char *name, film_variable *out, film_error *error);

/* --- objects --- */

typedef struct film_item {
    film_text name; /* attributes and fields; else empty */
    film_datum key; /* mappings; else length 0 */
    film_datum value;
} film_item;

typedef struct film_content {
    film_text type;
    uint64_t serial;
    int64_t length; /* as Python's len; -1: none */
    uint8_t form;   /* film_object_form; 0: no object, or not recorded */
    bool cut;       /* there are more items than are told */
    bool doubtful;  /* a write could not be followed: items may differ */
    const film_item *items;
    size_t count;
} film_content;

/* What the object of `value` contains at this moment, one level deep, whichever thread
 * changed it: its newest snapshot not later, and the writes to its attributes or items
 * since. FILM_END: it is no object. The items are the caller's to read until the next
 * call. */
FILM_NODISCARD film_status
film_timeline_content(film_timeline *timeline, film_moment moment,
                      const film_datum *value, film_content *out, film_error *error);

/* The object's serial; 0: it is none. */
uint64_t
film_timeline_serial(film_timeline *timeline, const film_datum *value);

/* For texts that are made while events are read one by one: from now on those of the
 * reader (film_reader_event_value and the like) show what attributes held at `at->moment`
 * where an object's text shows them. `at` is borrowed; NULL: no more. */
typedef struct film_timeline_at {
    film_timeline *timeline;
    film_moment moment;
} film_timeline_at;

void
film_timeline_lend(film_timeline *timeline, film_timeline_at *at);

/* Its text at this moment, as film_reader_event_value writes it. */
FILM_NODISCARD film_status
film_timeline_text(film_timeline *timeline, film_moment moment, const film_datum *value,
                   size_t limit, film_value *out, film_error *error);

/* --- movement --- */

typedef enum film_move {
    FILM_MOVE_STEP, /* one event on */
    FILM_MOVE_BACK, /* one event back; the inverse of STEP */
    FILM_MOVE_LINE, /* to the next line, also within a callee */
    FILM_MOVE_BACK_LINE,
    FILM_MOVE_NEXT, /* to the next line of this frame, or of a caller when it ends; over
                       an await or yield to the frame's own next line */
    FILM_MOVE_BACK_NEXT, /* to the line before, of this frame or of its caller */
    FILM_MOVE_OUT,       /* to the caller's next line */
    FILM_MOVE_BACK_OUT,  /* to the caller's line that called */
    FILM_MOVE_CALL,      /* to the event that called the frame */
    FILM_MOVE_RETURN,    /* to the event that ended it (return or unwind) */
    FILM_MOVE_RAISE,     /* to the next raise: where an exception is raised */
    FILM_MOVE_BACK_RAISE,
    FILM_MOVE_OP, /* to the next op of PyTorch's, in whichever frame */
    FILM_MOVE_BACK_OP,
    FILM_MOVE_NEXT_OP, /* to the next op that this frame calls, by itself or by torch's own
                          Python code, or a caller of it; over ops within ops */
    FILM_MOVE_BACK_NEXT_OP,
    FILM_MOVE_START, /* of the thread */
    FILM_MOVE_END
} film_move;

typedef enum film_stop_reason {
    FILM_STOP_ARRIVED,
    FILM_STOP_BREAKPOINT, /* breakpoints.h */
    FILM_STOP_AT_START,   /* there is nothing before: the thread's first moment */
    FILM_STOP_AT_END,     /* nothing behind: the last one */
    FILM_STOP_UNFINISHED  /* the budget is spent: go on from `moment` */
} film_stop_reason;

typedef struct film_stop {
    film_moment moment;
    film_stop_reason reason;
    size_t breakpoint; /* which */
    double progress;   /* of the whole recording, 0 to 1, for UNFINISHED */
    uint64_t frame;    /* UNFINISHED: to be given with the next call */
} film_stop;

/* How a move is made. Zeroed: the innermost frame, in its thread, no bound. */
typedef struct film_move_options {
    uint64_t frame; /* serial of the frame that next, out, call, return are about;
                       0: the innermost */
    bool across;    /* step, line, raise: by time through all threads */
    bool passing;   /* raise: also where an exception merely passes by */
    film_budget budget;
} film_move_options;

/* In a recording without lines (level calls) the moves by lines stop at calls, returns
 * and the like instead. */
FILM_NODISCARD film_status
film_timeline_move(film_timeline *timeline, film_moment from, film_move move,
                   const film_move_options *options, film_stop *out, film_error *error);

/* Whether the recording has ops. */
bool
film_timeline_has_ops(film_timeline *timeline);

/* The moment at a fraction (0 to 1) of the recording's time, in this thread. */
FILM_NODISCARD film_status
film_timeline_at_fraction(film_timeline *timeline, uint32_t thread, double fraction,
                          film_moment *out, film_error *error);

struct film_breakpoint;

/* The n-th hit (from 1; negative: from the end) of a line or function, all threads by
 * time. */
FILM_NODISCARD film_status
film_timeline_hit(film_timeline *timeline, const struct film_breakpoint *place,
                  int64_t n, const film_budget *budget, film_stop *out,
                  film_error *error);

#endif
