/* event.h: one thing that happened, as readers see it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EVENT_H
#define FILMSTRIP_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum film_kind {
    FILM_KIND_NONE = 0,
#define FILM_EVENT(enumerator, name, number) FILM_KIND_##enumerator = number,
#include <filmstrip/events.def>
#undef FILM_EVENT
    FILM_KIND_COUNT,
    /* Adjustments: rows that are no events (see format.md). */
    FILM_KIND_ADOPT = 0x40,  /* a frame is seen whose call was not recorded */
    FILM_KIND_FOCUS = 0x41,  /* an open frame that is not the top becomes the top */
    FILM_KIND_DROP = 0x42,   /* an open frame ended unseen */
    FILM_KIND_VALUES = 0x43, /* values that belong to the next event */
    FILM_KIND_PAUSE = 0x44,  /* other threads have run; only its time counts */
    FILM_KIND_CELLS = 0x45,  /* which cells the frame has that begins or goes on next */
    FILM_KIND_RESTORED = 0x46 /* a comprehension gave a variable back what it held */
} film_kind;

#define FILM_NO_OFFSET UINT32_MAX /* the place in the code is not known */
#define FILM_NO_CODE UINT32_MAX   /* no recorded caller */

/* Frame serials are (thread - 1) << FILM_FRAME_SHIFT | n, n counted from 1. */
#define FILM_FRAME_SHIFT 40

/* Events per chunk are 1 << FILM_CHUNK_SHIFT, so chunk number = event >> shift. */
#define FILM_CHUNK_SHIFT 14
#define FILM_CHUNK_EVENTS (1u << FILM_CHUNK_SHIFT)

/* What a set or delete wrote to. */
typedef enum film_set_form {
    FILM_SET_LOCAL = 0,         /* a local variable: `slot` */
    FILM_SET_ATTRIBUTE = 1,     /* `name` of an owner */
    FILM_SET_ITEM = 2,          /* a key of an owner */
    FILM_SET_GLOBAL = 3,        /* `name` of a module */
    FILM_SET_CLASS = 4,         /* `name` in the body of a class */
    FILM_SET_ATTRIBUTE_VIA = 5, /* as ATTRIBUTE; a property or __setattr__ took it */
    FILM_SET_ITEM_VIA = 6       /* as ITEM; a __setitem__ of Python code took it */
} film_set_form;

/* What the store of an item did to the number of items its owner has. */
typedef enum film_item_effect {
    FILM_ITEM_UNSAID = 0,   /* not known; deletes */
    FILM_ITEM_REPLACED = 1, /* one with this key was there */
    FILM_ITEM_ADDED = 2
} film_item_effect;

/* What an op was run under, and what it is (film_event.form of an op). */
enum {
    FILM_OPERATION_GRAD = 1,      /* autograd records */
    FILM_OPERATION_INFERENCE = 2, /* inference mode */
    FILM_OPERATION_INNER = 4,     /* seen within torch's C++: it has no values */
    FILM_OPERATION_BACKWARD = 8,  /* a node of the backward pass, or an op within one */
    FILM_OPERATION_SYNC = 16,     /* it waits for the device: item, tolist, cpu ... */
    FILM_OPERATION_LAUNCH = 32, /* a tensor is on a device: its time is the launch's */
    FILM_OPERATION_COMPILED = 64, /* a region that torch.compile has compiled */
    FILM_OPERATION_MODE = 128,    /* told by a mode of filmstrip.torch */
    FILM_OPERATION_NODE = 128     /* the same bit of what is INNER: a node itself */
};
/* Of an op_end. */
enum {
    FILM_OPERATION_RAISED = 1, /* it ended by an exception: text, value */
    FILM_OPERATION_DEVICE = 2  /* on a track: a device ran it, and its clock timed it */
};

/* The values that may go with an event (film_event_value_index). */
typedef enum film_value_role {
    FILM_ROLE_VALUE, /* set, change, return, yield, resume, op_end: what it gave */
    FILM_ROLE_OWNER, /* set, delete: attributes and items */
    FILM_ROLE_KEY    /* set, delete: items */
} film_value_role;

typedef struct film_event {
    uint64_t number;       /* its place in its thread, from 0 */
    uint64_t time_ns;      /* since the start of the recording */
    uint64_t frame;        /* serial of the frame it happened in; 0: none */
    uint64_t count;        /* lost, lost_control: how many; thread_start: native id;
                              task: the task's id; op: autograd's sequence number + 1,
                              0: none */
    uint64_t value;        /* value id + 1 of an exception's message; 0: none */
    uint64_t op;           /* op, op_end: number of the op event */
    int64_t length_before; /* change: its length before; -1: it has none */
    uint32_t thread;       /* 1 = main, then in order of first event */
    uint32_t code;         /* code id of the frame; FILM_NO_CODE: none */
    uint32_t offset; /* place in the frame's code, in code units, or FILM_NO_OFFSET */
    uint32_t caller_code;   /* call, resume, throw: code of the recorded caller */
    uint32_t caller_offset; /* its place, in code units */
    uint32_t depth;         /* open recorded frames below this event's frame */
    uint32_t text;       /* string id: exception type, C function, thread or task name,
                            reason of a loss, function of an op */
    uint8_t kind;        /* film_kind; never an adjustment */
    const uint8_t *body; /* bytes of a kind this reader does not know, borrowed until
                            the cursor moves; else NULL */
    uint32_t body_length;
    /* Values that go with it, as docs/format.md writes them; borrowed until the cursor
     * moves. A call's arguments, the value of a return or yield, the owner, key and
     * value of a set: film_event_value_index says which is which. An op's arguments,
     * positional ones first; of an op_end what it gave, then each argument (or tensor
     * within one) that it has changed in place. */
    const uint8_t *tokens;
    uint32_t tokens_length;
    uint32_t token_count;
    uint32_t slot; /* set, delete of a local: its place in the code's locals; set of an
                      item: film_item_effect; op: how many of its values are positional */
    uint32_t
        name; /* set, delete of anything else but an item: a string id; op: names of
                      its keyword values, with commas between */
    uint32_t module; /* op: string id of the nn.Module's path, 0: in none */
    uint32_t api; /* op: string id of the Python function of torch's that the frame has
                        called, and that led to the op; 0: it called the op itself */
    /* call, resume, throw: which cells its frame shares with others (format/cells.h);
     * borrowed until the cursor moves. */
    const uint8_t *cells;
    uint32_t cells_length;
    /* Variables of the frame `restored_frame` that got back what they held before,
     * since the event before: slot, token each; borrowed likewise. */
    uint32_t restored_length;
    const uint8_t *restored;
    uint64_t restored_frame;
    uint8_t form; /* set, delete: film_set_form; op, op_end: FILM_OPERATION_ flags */
    bool cut;     /* change: it could not be compared in full; it may have changed */
} film_event;

/* The place among the event's values of the one with that role; -1: it has none. */
int
film_event_value_index(const film_event *event, film_value_role role);

/* The name of a kind as dump writes it; "unknown" for one this build lacks. */
const char *
film_kind_name(uint8_t kind);

#ifdef __cplusplus
}
#endif
#endif
