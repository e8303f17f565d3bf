/* questions.h: where values were written, what they were, where they came from.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_QUESTIONS_H
#define FILMSTRIP_QUESTIONS_H

#include "analysis/expression.h"
#include "analysis/timeline.h"

struct film_scene;

/* What a write writes to. */
typedef enum film_target_kind {
    FILM_TARGET_LOCAL,     /* `slot` of `code`, in `frame` (0: in any) */
    FILM_TARGET_ATTRIBUTE, /* `name` of the object `serial` (0: of any) */
    FILM_TARGET_ITEM,      /* `key` of the object `serial`; without key: any item */
    FILM_TARGET_GLOBAL,    /* `name` of the module of `code` */
    FILM_TARGET_CLASS,     /* `name` in the class body `frame` */
    FILM_TARGET_OBJECT     /* anything recorded that changes the object `serial` */
} film_target_kind;

/* A variable of an outer function and those of inner ones that are the same. */
#define FILM_TARGET_KIN 12u

typedef struct film_kin {
    uint32_t code, slot;
} film_kin;

typedef struct film_target film_target;
struct film_target {
    film_target_kind kind;
    uint64_t frame, serial;
    uint32_t code, slot;
    uint32_t name;      /* string id */
    char key_text[200]; /* ITEM: the key as Python writes it; empty: any */
    uint64_t least;     /* LOCAL: its frame was called at this event; 0: not known */
    bool argument;      /* LOCAL: it is one of the function's arguments */
    uint64_t cell;      /* LOCAL of a frame: the cell that it is; 0: none, or unknown */
    film_kin kin[FILM_TARGET_KIN]; /* LOCAL: in other functions, by their names */
    uint32_t kin_count;
};

/* Finds the kin of a LOCAL target by the nesting of functions. */
void
film_target_find_kin(const film_timeline *timeline, film_target *target);

/* Finds the cell of a LOCAL target that is a variable of frame `index`. */
FILM_NODISCARD film_status
film_target_find_cell(film_timeline *timeline, film_moment moment, size_t index,
                      film_target *target, film_error *error);

/* Whether a set or delete of a local is of one that is the target's, though it is
 * another function's. */
bool
film_target_is_kin(film_timeline *timeline, const film_target *target,
                   const struct film_scene *scene, uint32_t index);

/* What a text names at a moment: `x` (a local of frame `index`, else a global of its
 * module), `self.x`, `a.b.c`, `d["k"]`, `l[3]`, `module:NAME`, `function:x` (that local
 * in every call). FILM_MISUSE: it names nothing, error says why. */
FILM_NODISCARD film_status
film_target_parse(film_timeline *timeline, film_moment moment, size_t index,
                  const char *text, film_target *out, film_error *error);

/* The id of a name among the recording's strings; 0: it has none. */
uint32_t
film_timeline_string_id(const film_timeline *timeline, const char *name, size_t length);

typedef struct film_written {
    film_moment moment; /* the set, delete, change or call (an argument) */
    uint32_t code, line;
    film_datum value; /* length 0: deleted */
    bool deleted;
    bool argument;
} film_written;

/* The last write at or before `from` (back), or the next one behind it.
 * FILM_STOP_ARRIVED and *out; AT_START or AT_END: there is none. Across threads where
 * the target is an object or a global, in the frame's thread where it is a local. */
FILM_NODISCARD film_status
film_find_write(film_timeline *timeline, const film_target *target, film_moment from,
                bool back, const film_budget *budget, film_written *out,
                film_stop *stop, film_error *error);

/* What was written at a moment that film_find_write gave. */
FILM_NODISCARD film_status
film_written_at(film_timeline *timeline, const film_target *target, film_moment moment,
                film_written *out, film_error *error);

/* Writes one after the other, each from behind the one before; see film_find_write. A
 * history is this from the start on with frame 0. */

/* --- origin --- */

typedef enum film_read_kind {
    FILM_READ_LOCAL,
    FILM_READ_GLOBAL,
    FILM_READ_ATTRIBUTE,
    FILM_READ_ITEM,
    FILM_READ_CONSTANT,
    FILM_READ_RETURN /* the value that a recorded call of the line returned */
} film_read_kind;

typedef struct film_read {
    film_read_kind kind;
    char name[120];    /* as the source names it; of a call: the function */
    film_datum value;  /* when the line read it */
    film_moment wrote; /* the write that made it, for asking again; thread 0: unknown */
} film_read;

#define FILM_ORIGIN_READS 32u

/* What the line of a write read: from the bytecode and line table of its code, and the
 * values at that moment. For an argument: the caller's line. */
typedef struct film_origin {
    film_written written;
    film_read reads[FILM_ORIGIN_READS];
    size_t read_count;
    const char *stopped; /* why it goes no further; NULL: it does */
} film_origin;

FILM_NODISCARD film_status
film_find_origin(film_timeline *timeline, const film_written *written,
                 const film_budget *budget, film_origin *out, film_error *error);

/* --- hits and conditions --- */

typedef struct film_condition {
    film_expression *tree; /* borrowed */
    uint32_t code;         /* looked at in frames of this function; FILM_NO_CODE: any */
    uint32_t line;         /* and at every hit of this line only; 0: at all of them */
    bool back;
    struct film_tally *tally; /* borrowed; what was met on the way; NULL: not wanted */
    bool monotone; /* forward: once true it stays true, in the thread where one stands:
                      found by halving, in some twenty looks */
} film_condition;

/* The first (or last: back) moment from `from` on where the condition is true, looked
 * at where lines begin and where frames end. */
FILM_NODISCARD film_status
film_find_condition(film_timeline *timeline, const film_condition *condition,
                    film_moment from, const film_budget *budget, film_stop *out,
                    film_error *error);

#endif
