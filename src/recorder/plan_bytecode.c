/* plan_bytecode.c: co_code and co_exceptiontable to instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_bytecode.h"

#include "recorder/compat_opcodes.h"
#include "recorder/exception_table.h"
#include "recorder/plan.h"

/* The most a stack effect can address: beyond it arguments are not a compiler's. */
#define ARG_LIMIT (1u << 24)

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

/* Where the argument is a name's index with a bit below it, and what it then is. */
static void
take_bit(film_instruction *instruction)
{
    instruction->bit = (instruction->arg & 1u) != 0;
    instruction->arg >>= 1;
    if (!instruction->bit) {
        return;
    }
    if (instruction->form == FILM_FORM_LOAD_GLOBAL) {
        instruction->is_called = true; /* it has pushed a NULL beside it */
    }
    else {
        instruction->form = FILM_FORM_LOAD_METHOD;
        instruction->traits |= FILM_OP_LEAVES;
    }
}

/* What else the argument says of instructions that store or load no variable. */
static void
settle_other(const film_bytecode *bytecode, film_instruction *instruction)
{
    uint32_t arg = instruction->arg;

    switch (instruction->form) {
    case FILM_FORM_BINARY:
        instruction->bit = FILM_BINARY_IS_IN_PLACE(arg);
        if (FILM_BINARY_IS_SUBSCRIPT(arg)) {
            instruction->form = FILM_FORM_SUBSCRIPT;
            instruction->traits = FILM_OP_CALLS | FILM_OP_LEAVES;
        }
        break;
    case FILM_FORM_CALL:
        instruction->above_callee = FILM_ITEMS_ABOVE_CALLEE(instruction->opcode, arg);
        instruction->bit = has_keywords(bytecode, instruction);
        break;
    case FILM_FORM_RESUME:
        instruction->is_start = FILM_RESUME_PLACE(arg) == 0;
        break;
    case FILM_FORM_OTHER:
        if (instruction->opcode == RAISE_VARARGS && arg == 0) {
            instruction->traits |= FILM_OP_RERAISES; /* `raise` in a handler */
        }
        if (FILM_IS_IMPORT_STAR(instruction->opcode, arg)) {
            instruction->form = FILM_FORM_STORE_STAR;
        }
        break;
    default:
        break;
    }
}

/* Names and slots in the argument, made the same for all versions; false: malformed. */
static bool
settle_argument(const film_bytecode *bytecode, film_instruction *instruction)
{
    const PyCodeObject *code = bytecode->code;
    uint32_t arg = instruction->arg, slots = (uint32_t)code->co_nlocalsplus;

    switch (instruction->form) {
    case FILM_FORM_LOAD_ATTRIBUTE:
    case FILM_FORM_LOAD_GLOBAL:
        if (FILM_ATTRIBUTE_HAS_BIT || instruction->form == FILM_FORM_LOAD_GLOBAL) {
            take_bit(instruction);
        }
        return instruction->arg < (uint32_t)PyTuple_GET_SIZE(code->co_names);
    case FILM_FORM_LOAD_NAME:
    case FILM_FORM_LOAD_METHOD:
    case FILM_FORM_STORE_GLOBAL:
    case FILM_FORM_STORE_NAME:
    case FILM_FORM_STORE_ATTRIBUTE:
    case FILM_FORM_DELETE_GLOBAL:
    case FILM_FORM_DELETE_NAME:
    case FILM_FORM_DELETE_ATTRIBUTE:
        return arg < (uint32_t)PyTuple_GET_SIZE(code->co_names);
    case FILM_FORM_LOAD_FAST:
    case FILM_FORM_LOAD_AND_CLEAR:
    case FILM_FORM_LOAD_CELL:
    case FILM_FORM_STORE_FAST:
    case FILM_FORM_STORE_CELL:
    case FILM_FORM_DELETE_FAST:
    case FILM_FORM_DELETE_CELL:
    case FILM_FORM_MAKE_CELL:
        return arg < slots;
    case FILM_FORM_LOAD_FAST_PAIR:
    case FILM_FORM_STORE_FAST_PAIR:
    case FILM_FORM_STORE_LOAD_FAST:
        return arg < 256 && arg >> 4 < slots && (arg & 15u) < slots;
    default:
        settle_other(bytecode, instruction);
        return arg < ARG_LIMIT;
    }
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
            bytecode->index_at[unit] = (uint16_t)(count - 1);
            continue;
        }
        *instruction = (film_instruction){
            .place = (uint16_t)unit,
            .traits = known->traits,
            .opcode = opcode,
            .form = known->form,
            .arg = extended << 8 | bytes[2 * unit + 1],
            .line = -1,
            .jump = FILM_NO_INDEX,
            .handler = FILM_NO_INDEX,
            .depth = -1,
            .owner = FILM_NONE,
        };
        extended = known->form == FILM_FORM_EXTENDED ? instruction->arg : 0;
        if (known->form == FILM_FORM_UNKNOWN
                ? !settle_unknown(bytecode, instruction)
                : !settle_argument(bytecode, instruction)) {
            return false;
        }
        bytecode->index_at[unit] = (uint16_t)count++;
    }
    bytecode->count = count;
    return count != 0 && extended == 0;
}

/* A function that is called has a NULL beside it on the stack: that at `index`. */
static void
mark_called(film_bytecode *bytecode, uint32_t index)
{
    film_instruction *all = bytecode->instructions;
    uint32_t next;

    if (!FILM_NULL_IS_BELOW) {
        if (index != 0) {
            all[index - 1].is_called = true;
        }
        return;
    }
    next = index + 1;
    while (next + 1 < bytecode->count && all[next].form == FILM_FORM_EXTENDED) {
        next++;
    }
    /* Unless it is `m` in `m.f(...)`. */
    if (next < bytecode->count && (next + 1 == bytecode->count ||
                                   all[next + 1].form != FILM_FORM_LOAD_ATTRIBUTE)) {
        all[next].is_called = true;
    }
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
link_jump(film_bytecode *bytecode, uint32_t index)
{
    film_instruction *instruction = &bytecode->instructions[index], *to;
    uint32_t end = film_bytecode_end(bytecode, index), target = end + instruction->arg;
    bool backward = (instruction->traits & FILM_OP_BACKWARD) != 0;
    uint32_t jump;

    if (backward) {
        target = instruction->arg <= end ? end - instruction->arg : FILM_NONE;
    }
    jump = index_of(bytecode, target);
    if (jump == FILM_NONE) {
        return false;
    }
    instruction->jump = (uint16_t)jump;
    to = &bytecode->instructions[jump];
    to->is_target = true;
    to->is_joined |= to->line == instruction->line;
    to->is_sent_to |= instruction->form == FILM_FORM_SEND;
    to->is_returned_to |= backward;
    /* The jump of FOR_ITER and SEND lands behind END_FOR and END_SEND. */
    if (to->form == FILM_FORM_END && jump + 1 < bytecode->count) {
        (to + 1)->is_target = true;
    }
    return true;
}

/* What instructions are to those that lie elsewhere. */
static bool
link_instructions(film_bytecode *bytecode)
{
    for (uint32_t index = 0; index < bytecode->count; index++) {
        const film_instruction *here = &bytecode->instructions[index];

        if (here->form == FILM_FORM_PUSH_NULL) {
            mark_called(bytecode, index);
        }
        if ((here->traits & (FILM_OP_FORWARD | FILM_OP_BACKWARD)) != 0 &&
            !link_jump(bytecode, index)) {
            return false;
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
                bytecode->instructions[index].handler = (uint16_t)handler;
                bytecode->instructions[index].handler_stack = (uint16_t)entry.depth;
                bytecode->instructions[index].handler_pushes =
                    entry.pushes_place ? 2 : 1;
            }
        }
    }
    return true;
}

/* Room for what is known of the stack, behind the instructions. */
static bool
make_room_for_items(film_bytecode *bytecode)
{
    film_scratch *scratch = &bytecode->scratch;

    film_scratch_trim(scratch, bytecode->count * sizeof(film_instruction));
    bytecode->work = film_scratch_grow(scratch, NULL, &bytecode->work_capacity, 1,
                                       sizeof(film_stack_pending));
    bytecode->items =
        film_scratch_grow(scratch, NULL, &bytecode->item_capacity,
                          bytecode->count / 3 + 8, sizeof(film_stack_item));
    return bytecode->work != NULL && bytecode->items != NULL;
}

/* Room for so many code units, and for what the planner makes of them. */
static bool
make_room(film_bytecode *bytecode, size_t units)
{
    if (!film_scratch_begin(&bytecode->scratch, units * FILM_SCRATCH_BYTES_EACH)) {
        return false;
    }
    bytecode->item_count = bytecode->item_capacity = bytecode->work_capacity = 0;
    bytecode->index_at = film_scratch_take(&bytecode->scratch, units, sizeof(uint16_t));
    bytecode->instructions =
        film_scratch_take(&bytecode->scratch, units, sizeof(film_instruction));
    return bytecode->index_at != NULL && bytecode->instructions != NULL;
}

bool
film_bytecode_read(film_bytecode *bytecode, PyCodeObject *code)
{
    PyObject *bytes = film_code_bytes(code);
    size_t units;
    bool done = false;

    bytecode->code = code;
    bytecode->unknown = false;
    bytecode->unit_count = bytecode->count = 0;
    if (bytes == NULL) {
        PyErr_Clear();
        return false;
    }
    units = (size_t)PyBytes_GET_SIZE(bytes) / 2;
    if (units != 0 && units <= FILM_PLAN_MAX_UNITS &&
        code->co_nlocalsplus + code->co_stacksize <= FILM_PLAN_MAX_SLOTS) {
        bytecode->unit_count = (uint32_t)units;
        done = make_room(bytecode, units) &&
               decode(bytecode, (const uint8_t *)PyBytes_AS_STRING(bytes)) &&
               make_room_for_items(bytecode) && film_bytecode_read_lines(bytecode) &&
               link_instructions(bytecode) && link_handlers(bytecode) &&
               film_bytecode_follow_stack(bytecode, FILM_ENTRY_DEPTH(code));
    }
    Py_DECREF(bytes);
    if (done) {
        film_bytecode_mark_lines(bytecode);
    }
    return done;
}

void
film_bytecode_reset(film_bytecode *bytecode)
{
    film_scratch_reset(&bytecode->scratch);
    *bytecode = (film_bytecode){0};
}

bool
film_bytecode_has_bit(const film_instruction *load)
{
    return load->opcode == LOAD_GLOBAL ||
           (load->opcode == LOAD_ATTR && FILM_ATTRIBUTE_HAS_BIT);
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
