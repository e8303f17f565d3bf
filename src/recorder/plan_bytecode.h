/* plan_bytecode.h: a code object's instructions, decoded for the planner: where control
 * goes from each, its line, its handler, the depth of the evaluation stack, and where
 * line events can come from. The same shape for every CPython.
 *
 * Reads the plain bytecode (co_code), never the live one: that is specialised and
 * instrumented. A bytecode is temporary: it is gone when the plan is made. It borrows
 * its code object. Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLAN_BYTECODE_H
#define FILMSTRIP_RECORDER_PLAN_BYTECODE_H

#include "recorder/compat.h"

#include "base/scratch.h"

#define FILM_NONE UINT32_MAX
/* The same in the tables by instruction, where indexes have 16 bits as places have. */
#define FILM_NO_INDEX UINT16_MAX
/* What the planner's tables take for each code unit, about. */
#define FILM_SCRATCH_BYTES_EACH 128u
/* With an origin: the first of the two variables the instruction loads. */
#define FILM_ORIGIN_FIRST (1u << 31)
/* With an origin: not what it loaded, but something within that (`a[i]`). */
#define FILM_ORIGIN_WITHIN (1u << 30)
#define FILM_ORIGIN_INDEX(origin) ((origin) & ~(FILM_ORIGIN_FIRST | FILM_ORIGIN_WITHIN))

/* What an instruction is to the planner. */
typedef enum film_form {
    FILM_FORM_UNKNOWN, /* no entry in compat_opcodes.h; no instruction has it */
    FILM_FORM_OTHER,
    FILM_FORM_CACHE,
    FILM_FORM_EXTENDED,
    FILM_FORM_RESUME,
    FILM_FORM_RETURN, /* or YIELD: an event of its own */
    FILM_FORM_END,    /* END_FOR, END_SEND: passed over by the jump to it */
    FILM_FORM_SEND,
    FILM_FORM_CALL,
    FILM_FORM_PRECALL, /* 3.11: may do the work of the CALL behind it */
    FILM_FORM_BINARY,
    FILM_FORM_SUBSCRIPT,
    FILM_FORM_COPY,
    FILM_FORM_SWAP,
    FILM_FORM_PUSH_NULL,
    FILM_FORM_MAKE_CELL,
    FILM_FORM_MAKE_FUNCTION,
    FILM_FORM_FINISH_FUNCTION, /* SET_FUNCTION_ATTRIBUTE */
    FILM_FORM_LOAD_CONST,
    FILM_FORM_LOAD_FAST,
    FILM_FORM_LOAD_FAST_PAIR,
    FILM_FORM_LOAD_AND_CLEAR,
    FILM_FORM_LOAD_CELL,
    FILM_FORM_LOAD_GLOBAL,
    FILM_FORM_LOAD_NAME,
    FILM_FORM_LOAD_ATTRIBUTE,
    FILM_FORM_LOAD_METHOD,
    FILM_FORM_LOAD_SUPER, /* super().name */
    FILM_FORM_STORE_FAST,
    FILM_FORM_STORE_FAST_PAIR,
    FILM_FORM_STORE_LOAD_FAST,
    FILM_FORM_STORE_CELL,
    FILM_FORM_STORE_GLOBAL,
    FILM_FORM_STORE_NAME,
    FILM_FORM_STORE_ATTRIBUTE,
    FILM_FORM_STORE_ITEM,
    FILM_FORM_STORE_SLICE,
    FILM_FORM_STORE_STAR, /* from m import * */
    FILM_FORM_DELETE_FAST,
    FILM_FORM_DELETE_CELL,
    FILM_FORM_DELETE_GLOBAL,
    FILM_FORM_DELETE_NAME,
    FILM_FORM_DELETE_ATTRIBUTE,
    FILM_FORM_DELETE_ITEM
} film_form;

enum film_op_traits {
    FILM_OP_ENDS = 1,       /* control never goes on to the next instruction */
    FILM_OP_FORWARD = 2,    /* may jump forward */
    FILM_OP_BACKWARD = 4,   /* may jump backward */
    FILM_OP_QUIET = 8,      /* runs no code, frees nothing, cannot raise */
    FILM_OP_CALLS = 16,     /* runs code of the program as its purpose */
    FILM_OP_CHANGES = 32,   /* may change an object in place */
    FILM_OP_RERAISES = 64,  /* raises without an event on 3.11 */
    FILM_OP_SWALLOWS = 128, /* a StopIteration raised here ends a loop */
    FILM_OP_UNMARKED = 256, /* never starts a line (3.12+) */
    FILM_OP_LEAVES = 512    /* what stays on the stack is what was there before */
};

/* Code has many of them, and every pass of the planner goes through them all: they are
 * kept small. */
typedef struct film_instruction {
    uint16_t place;
    uint16_t traits;
    uint8_t opcode;
    uint8_t form;
    bool bit : 1; /* LOAD_GLOBAL: pushes NULL too; LOAD_ATTR: of a method; BINARY_OP: in
                     place; CALL: with keywords */
    bool is_called : 1; /* loads `f` in `f(...)`, as far as a NULL beside it shows */
    bool is_start : 1;  /* RESUME at the start of a call */
    bool is_target : 1; /* a jump leads here (or past an END_FOR to here) */
    bool is_joined : 1; /* a jump leads here itself, from its own line */
    bool is_returned_to : 1; /* a backward jump leads here itself */
    bool is_sent_to : 1;     /* SEND goes on here when its generator has returned */
    bool is_handler : 1;
    bool is_queued : 1;   /* plan_stack.c: a handler that will be visited */
    bool marked : 1;      /* a line event can come from here */
    bool sure : 1;        /* 3.12+: it does whenever the line before was another */
    uint8_t restores : 2; /* bit 0, 1: the first, second variable stored gets back what
                             LOAD_FAST_AND_CLEAR put aside */
    uint8_t handler_pushes : 2; /* the exception; the place of the raise, too */
    uint16_t handler_stack; /* what stays on the stack when it goes to its handler */
    int16_t depth;          /* of the stack before it; -1: never reached */
    uint16_t jump;          /* index of the instruction, or FILM_NO_INDEX */
    uint16_t handler;       /* the same */
    uint32_t arg;           /* for names: their index in co_names */
    int32_t line;           /* -1: none */
    uint32_t items;         /* what is known of the stack before it (plan_stack.c) */
    union {
        uint32_t owner;       /* LOAD_ATTR: origin of what it is an attribute of */
        int32_t above_callee; /* CALL: items above the function and its NULL or `self`;
                                 -1: not known */
    };
} film_instruction;

_Static_assert(sizeof(film_instruction) == 32, "instructions grow");

/* One item of the evaluation stack whose origin is known; a list with the highest
 * position first. Index 0 ends it. */
typedef struct film_stack_item {
    uint32_t next;
    int32_t position;
    uint32_t origin; /* the instruction that loaded it (| FILM_ORIGIN_FIRST, _WITHIN) */
} film_stack_item;

/* The stack before an instruction that is still to be visited (plan_stack.c). */
typedef struct film_stack_pending {
    uint32_t index;
    int32_t depth;
    uint32_t items;
} film_stack_pending;

typedef struct film_bytecode {
    PyCodeObject *code;   /* borrowed */
    film_scratch scratch; /* of all these tables, and of the draft's */
    uint32_t unit_count, count;
    film_instruction *instructions;
    uint16_t *index_at; /* by place: the instruction it belongs to */
    film_stack_item *items;
    size_t item_count, item_capacity;
    film_stack_pending *work;
    size_t work_capacity;
    bool unknown; /* an opcode we do not know is in it: no guess is made */
} film_bytecode;

/* Reads a code object, in the memory of the one before; zeroed for the first. False
 * when memory is out or the code is too long or malformed. Reset in any case. */
bool
film_bytecode_read(film_bytecode *bytecode, PyCodeObject *code);

void
film_bytecode_reset(film_bytecode *bytecode);

/* For tests: which opcodes have an entry, and one that shall have none (-1: none). */
void
film_bytecode_opcodes(int forget, bool known[256]);

/* Where the units of an instruction end: jumps count from there. */
static inline uint32_t
film_bytecode_end(const film_bytecode *bytecode, uint32_t index)
{
    return index + 1 < bytecode->count ? bytecode->instructions[index + 1].place
                                       : bytecode->unit_count;
}

/* Where control can go from instruction `index` without an event: fills up to three
 * indexes and returns how many. */
static inline uint32_t
film_bytecode_next(const film_bytecode *bytecode, uint32_t index, uint32_t next[3])
{
    const film_instruction *instruction = &bytecode->instructions[index];
    uint32_t count = 0;

    if ((instruction->traits & FILM_OP_ENDS) == 0 && index + 1 < bytecode->count) {
        next[count++] = index + 1;
    }
    if (instruction->jump != FILM_NO_INDEX) {
        next[count++] = instruction->jump;
    }
    if (!FILM_HAS_MONITORING && (instruction->traits & FILM_OP_RERAISES) != 0 &&
        instruction->handler != FILM_NO_INDEX) {
        next[count++] = instruction->handler;
    }
    return count;
}

/* The instruction before `index` in the code, EXTENDED_ARG left out; FILM_NONE when it
 * is the first or when control can come to `index` from elsewhere. */
static inline uint32_t
film_bytecode_before(const film_bytecode *bytecode, uint32_t index)
{
    do {
        if (index == 0 || bytecode->instructions[index].is_target ||
            bytecode->instructions[index].is_handler) {
            return FILM_NONE;
        }
        index--;
    } while (bytecode->instructions[index].form == FILM_FORM_EXTENDED);
    return (bytecode->instructions[index].traits & FILM_OP_ENDS) == 0 ? index
                                                                      : FILM_NONE;
}

/* Where an event for the instruction can come from: its first EXTENDED_ARG, if it has
 * any. 3.11 has no opcode event for what follows an EXTENDED_ARG. */
static inline uint32_t
film_bytecode_prefix(const film_bytecode *bytecode, uint32_t index)
{
    while (index != 0 && bytecode->instructions[index - 1].form == FILM_FORM_EXTENDED) {
        index--;
    }
    return index;
}

/* True when the lowest bit of its argument is no part of a name's index, but `bit`. */
bool
film_bytecode_has_bit(const film_instruction *load);

/* How many items a plain load pushes, 0 for anything else. */
uint32_t
film_instruction_pushes(const film_instruction *load);

/* The slot of the variable it loads last, or FILM_NONE. */
uint32_t
film_instruction_loads(const film_instruction *load);

/* plan_lines.c: sets `line`, then `marked` and `sure`. */
bool
film_bytecode_read_lines(film_bytecode *bytecode);

void
film_bytecode_mark_lines(film_bytecode *bytecode);

/* True when going from one instruction to the other fires a line event. */
static inline bool
film_bytecode_fires(const film_bytecode *bytecode, uint32_t from, uint32_t to)
{
    const film_instruction *target = &bytecode->instructions[to];

    if (FILM_HAS_MONITORING) {
        return target->sure && bytecode->instructions[from].line != target->line;
    }
    return target->line >= 0 && target->form != FILM_FORM_RESUME &&
           (target->line != bytecode->instructions[from].line ||
            (to < from && target->form != FILM_FORM_SEND));
}

/* Where the item at a position of the stack comes from, or FILM_NONE; `items` as an
 * instruction has them. */
uint32_t
film_bytecode_origin(const film_bytecode *bytecode, uint32_t items, int32_t position);

/* plan_stack.c: sets `depth`, `items`, `owner` and `restores`. */
bool
film_bytecode_follow_stack(film_bytecode *bytecode, int entry_depth);

#endif
