/* plan_bytecode.c: co_code and co_exceptiontable to instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_bytecode.h"

#include "base/alloc.h"
#include "recorder/compat_opcodes.h"
#include "recorder/exception_table.h"
#include "recorder/plan.h"

/* The most a stack effect can address: beyond it arguments are not a compiler's. */
#define ARG_LIMIT (1u << 24)

static bool
takes_name(film_form form)
{
    return form == FILM_FORM_LOAD_GLOBAL || form == FILM_FORM_LOAD_NAME ||
           form == FILM_FORM_LOAD_ATTRIBUTE || form == FILM_FORM_LOAD_METHOD ||
           form == FILM_FORM_STORE_GLOBAL || form == FILM_FORM_STORE_NAME ||
           form == FILM_FORM_STORE_ATTRIBUTE || form == FILM_FORM_DELETE_GLOBAL ||
           form == FILM_FORM_DELETE_NAME || form == FILM_FORM_DELETE_ATTRIBUTE;
}

static bool
takes_slot(film_form form)
{
    return form == FILM_FORM_LOAD_FAST || form == FILM_FORM_LOAD_AND_CLEAR ||
           form == FILM_FORM_LOAD_CELL || form == FILM_FORM_STORE_FAST ||
           form == FILM_FORM_STORE_CELL || form == FILM_FORM_DELETE_FAST ||
           form == FILM_FORM_DELETE_CELL || form == FILM_FORM_MAKE_CELL;
}

static bool
takes_slot_pair(film_form form)
{
    return form == FILM_FORM_LOAD_FAST_PAIR || form == FILM_FORM_STORE_FAST_PAIR ||
           form == FILM_FORM_STORE_LOAD_FAST;
}

static bool
has_keywords(const film_bytecode *bytecode, const film_instruction *call)
{
    const film_instruction *before = call;

    if (before > bytecode->instructions && before[-1].form == FILM_FORM_PRECALL) {
        before--;
    }
    return FILM_CALL_HAS_KEYWORDS(
        call->opcode, before > bytecode->instructions ? before[-1].opcode : 0);
}

/* Names and slots in the argument, made the same for all versions; false: malformed. */
static bool
settle_argument(const film_bytecode *bytecode, film_instruction *instruction)
{
    const PyCodeObject *code = bytecode->code;
    film_form form = (film_form)instruction->form;
    uint32_t arg = instruction->arg, slots = (uint32_t)code->co_nlocalsplus;

    if (form == FILM_FORM_LOAD_GLOBAL ||
        (form == FILM_FORM_LOAD_ATTRIBUTE && FILM_ATTRIBUTE_HAS_BIT)) {
        instruction->bit = (arg & 1u) != 0;
        instruction->arg = arg >> 1;
    }
    if (form == FILM_FORM_LOAD_ATTRIBUTE && instruction->bit) {
        instruction->form = FILM_FORM_LOAD_METHOD;
        instruction->traits |= FILM_OP_LEAVES;
    }
    if (form == FILM_FORM_BINARY && FILM_BINARY_IS_SUBSCRIPT(arg)) {
        instruction->form = FILM_FORM_SUBSCRIPT;
        instruction->traits = FILM_OP_CALLS | FILM_OP_LEAVES;
    }
    if (instruction->opcode == RAISE_VARARGS && arg == 0) {
        instruction->traits |= FILM_OP_RERAISES; /* `raise` in a handler */
    }
    if (FILM_IS_IMPORT_STAR(instruction->opcode, arg)) {
        instruction->form = FILM_FORM_STORE_STAR;
    }
    if (form == FILM_FORM_BINARY) {
        instruction->bit = FILM_BINARY_IS_IN_PLACE(arg);
    }
    if (form == FILM_FORM_CALL) {
        instruction->above_callee = FILM_ITEMS_ABOVE_CALLEE(instruction->opcode, arg);
        instruction->bit = has_keywords(bytecode, instruction);
    }
    if (form == FILM_FORM_RESUME) {
        instruction->is_start = FILM_RESUME_PLACE(arg) == 0;
    }
    if (takes_name(form)) {
        return instruction->arg < (uint32_t)PyTuple_GET_SIZE(code->co_names);
    }
    if (takes_slot(form)) {
        return arg < slots;
    }
    if (takes_slot_pair(form)) {
        return arg < 256 && arg >> 4 < slots && (arg & 15u) < slots;
    }
    return arg < ARG_LIMIT;
}

static int forgotten = -1; /* by a test */

static const film_opcode *
look_up(uint8_t opcode)
{
    static const film_opcode unknown = {FILM_FORM_UNKNOWN, 0};

    return opcode == forgotten ? &unknown : &film_opcodes[opcode];
}

void
film_bytecode_opcodes(int forget, bool known[256])
{
    forgotten = forget;
    for (int opcode = 0; opcode < 256; opcode++) {
        known[opcode] = look_up((uint8_t)opcode)->form != FILM_FORM_UNKNOWN;
    }
}

/* It may do anything but what only known ones do; how deep the stack is behind it must be
 * known. */
static bool
settle_unknown(film_bytecode *bytecode, film_instruction *instruction)
{
    bytecode->unknown = true;
    instruction->form = FILM_FORM_OTHER;
    instruction->traits = FILM_OP_CALLS | FILM_OP_CHANGES;
    return instruction->arg < ARG_LIMIT &&
           PyCompile_OpcodeStackEffect(instruction->opcode, (int)instruction->arg) !=
               PY_INVALID_STACK_EFFECT;
}

/* One pass over the units: instructions, and which unit belongs to which. Jumps are
 * places still, because those forward are not known yet. */
static bool
decode(film_bytecode *bytecode, const uint8_t *bytes)
{
    uint32_t extended = 0, count = 0;

    for (uint32_t unit = 0; unit < bytecode->unit_count; unit++) {
        uint8_t opcode = bytes[2 * unit];
        const film_opcode *known = look_up(opcode);
        film_instruction *instruction = &bytecode->instructions[count];

        if (known->form == FILM_FORM_CACHE) {
            if (count == 0) {
                return false;
            }
            bytecode->index_at[unit] = count - 1;
            continue;
        }
        *instruction = (film_instruction){
            .place = (uint16_t)unit,
            .traits = known->traits,
            .opcode = opcode,
            .form = known->form,
            .arg = extended << 8 | bytes[2 * unit + 1],
            .raw_arg = extended << 8 | bytes[2 * unit + 1],
            .line = -1,
            .jump = FILM_NONE,
            .handler = FILM_NONE,
            .depth = -1,
            .owner = FILM_NONE,
        };
        extended = known->form == FILM_FORM_EXTENDED ? instruction->arg : 0;
        if (known->form == FILM_FORM_UNKNOWN
                ? !settle_unknown(bytecode, instruction)
                : !settle_argument(bytecode, instruction)) {
            return false;
        }
        bytecode->index_at[unit] = count++;
    }
    bytecode->count = count;
    return count != 0 && extended == 0;
}

/* A function that is called has a NULL beside it on the stack. */
static void
mark_called(film_bytecode *bytecode)
{
    for (uint32_t index = 0; index + 1 < bytecode->count; index++) {
        film_instruction *here = &bytecode->instructions[index];
        uint32_t next = index + 1;

        while (next + 1 < bytecode->count &&
               bytecode->instructions[next].form == FILM_FORM_EXTENDED) {
            next++;
        }
        if (here->form == FILM_FORM_LOAD_GLOBAL && here->bit) {
            here->is_called = true;
        }
        if (!FILM_NULL_IS_BELOW) {
            here->is_called |= (here + 1)->form == FILM_FORM_PUSH_NULL;
        }
        else if (here->form == FILM_FORM_PUSH_NULL) {
            /* Unless it is `m` in `m.f(...)`. */
            bytecode->instructions[next].is_called =
                next + 1 == bytecode->count ||
                bytecode->instructions[next + 1].form != FILM_FORM_LOAD_ATTRIBUTE;
        }
    }
}

/* Where the units of an instruction end: jumps count from there. */
static uint32_t
end_of(const film_bytecode *bytecode, uint32_t index)
{
    return index + 1 < bytecode->count ? bytecode->instructions[index + 1].place
                                       : bytecode->unit_count;
}

/* The instruction that begins at `place`, or FILM_NONE. */
static uint32_t
index_of(const film_bytecode *bytecode, uint32_t place)
{
    uint32_t index;

    if (place >= bytecode->unit_count) {
        return FILM_NONE;
    }
    index = bytecode->index_at[place];
    return bytecode->instructions[index].place == place ? index : FILM_NONE;
}

static bool
link_jumps(film_bytecode *bytecode)
{
    for (uint32_t index = 0; index < bytecode->count; index++) {
        film_instruction *instruction = &bytecode->instructions[index];
        uint32_t end = end_of(bytecode, index), target;
        film_instruction *to;

        if ((instruction->traits & (FILM_OP_FORWARD | FILM_OP_BACKWARD)) == 0) {
            continue;
        }
        if ((instruction->traits & FILM_OP_BACKWARD) != 0) {
            target = instruction->arg <= end ? end - instruction->arg : FILM_NONE;
        }
        else {
            target = end + instruction->arg;
        }
        instruction->jump = index_of(bytecode, target);
        if (instruction->jump == FILM_NONE) {
            return false;
        }
        to = &bytecode->instructions[instruction->jump];
        to->is_target = true;
        to->is_sent_to |= instruction->form == FILM_FORM_SEND;
        to->is_returned_to |= (instruction->traits & FILM_OP_BACKWARD) != 0;
        /* The jump of FOR_ITER and SEND lands behind END_FOR and END_SEND. */
        if (to->form == FILM_FORM_END && instruction->jump + 1 < bytecode->count) {
            (to + 1)->is_target = true;
        }
    }
    return true;
}

static bool
link_handlers(film_bytecode *bytecode)
{
    film_exception_entry entry;
    film_exception_cursor cursor;

    film_exception_table_open(&cursor, bytecode->code);
    while (film_exception_table_next(&cursor, &entry)) {
        uint32_t handler = index_of(bytecode, entry.handler);

        if (handler == FILM_NONE || entry.end > bytecode->unit_count ||
            entry.depth >= UINT16_MAX / 2) {
            return false;
        }
        bytecode->instructions[handler].is_handler = true;
        for (uint32_t unit = entry.start; unit < entry.end; unit++) {
            uint32_t index = bytecode->index_at[unit];

            if (bytecode->instructions[index].place == unit) {
                bytecode->instructions[index].handler = handler;
                bytecode->instructions[index].handler_stack = (uint16_t)entry.depth;
                bytecode->instructions[index].handler_pushes =
                    entry.pushes_place ? 2 : 1;
            }
        }
    }
    return true;
}

uint32_t
film_bytecode_next(const film_bytecode *bytecode, uint32_t index, uint32_t next[3])
{
    const film_instruction *instruction = &bytecode->instructions[index];
    uint32_t count = 0;

    if ((instruction->traits & FILM_OP_ENDS) == 0 && index + 1 < bytecode->count) {
        next[count++] = index + 1;
    }
    if (instruction->jump != FILM_NONE) {
        next[count++] = instruction->jump;
    }
    if (!FILM_HAS_MONITORING && (instruction->traits & FILM_OP_RERAISES) != 0 &&
        instruction->handler != FILM_NONE) {
        next[count++] = instruction->handler;
    }
    return count;
}

uint32_t
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

uint32_t
film_bytecode_prefix(const film_bytecode *bytecode, uint32_t index)
{
    while (index != 0 && bytecode->instructions[index - 1].form == FILM_FORM_EXTENDED) {
        index--;
    }
    return index;
}

bool
film_bytecode_init(film_bytecode *bytecode, PyCodeObject *code)
{
    PyObject *bytes;
    size_t units;
    bool done = false;

    *bytecode = (film_bytecode){.code = code};
    bytes = PyCode_GetCode(code);
    if (bytes == NULL) {
        PyErr_Clear();
        return false;
    }
    units = (size_t)PyBytes_GET_SIZE(bytes) / 2;
    if (units != 0 && units <= FILM_PLAN_MAX_UNITS &&
        code->co_nlocalsplus + code->co_stacksize <= FILM_PLAN_MAX_SLOTS) {
        bytecode->unit_count = (uint32_t)units;
        bytecode->instructions = film_alloc_array(units, sizeof(film_instruction));
        bytecode->index_at = film_alloc_array(units, sizeof(uint32_t));
        done = bytecode->instructions != NULL && bytecode->index_at != NULL &&
               decode(bytecode, (const uint8_t *)PyBytes_AS_STRING(bytes)) &&
               link_jumps(bytecode) && link_handlers(bytecode) &&
               film_bytecode_read_lines(bytecode) &&
               film_bytecode_follow_stack(bytecode, FILM_ENTRY_DEPTH(code));
    }
    Py_DECREF(bytes);
    if (!done) {
        film_bytecode_reset(bytecode);
        return false;
    }
    mark_called(bytecode);
    film_bytecode_mark_lines(bytecode);
    return true;
}

void
film_bytecode_reset(film_bytecode *bytecode)
{
    film_free(bytecode->instructions);
    film_free(bytecode->index_at);
    film_free(bytecode->items);
    *bytecode = (film_bytecode){0};
}

uint32_t
film_instruction_pushes(const film_instruction *load)
{
    switch (load->form) {
    case FILM_FORM_LOAD_CONST:
    case FILM_FORM_LOAD_FAST:
    case FILM_FORM_LOAD_CELL:
    case FILM_FORM_LOAD_NAME:
        return 1;
    case FILM_FORM_LOAD_GLOBAL:
        return load->bit ? 0 : 1;
    case FILM_FORM_LOAD_FAST_PAIR:
        return 2;
    default:
        return 0;
    }
}

uint32_t
film_instruction_loads(const film_instruction *load)
{
    switch (load->form) {
    case FILM_FORM_LOAD_FAST:
        return load->arg;
    case FILM_FORM_LOAD_FAST_PAIR:
    case FILM_FORM_STORE_LOAD_FAST:
        return load->arg & 15u;
    default:
        return FILM_NONE;
    }
}
