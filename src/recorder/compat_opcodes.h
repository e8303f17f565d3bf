/* compat_opcodes.h: what each instruction of CPython 3.11 to 3.14 does, as far as the
 * planner cares. Included by plan_bytecode.c and catches.c only.
 *
 * An opcode's name is a macro where it exists; pseudo instructions of the compiler have
 * numbers above 255 and never reach a code object. So the versions differ here by
 * #ifdef, and nothing above this file knows them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_COMPAT_OPCODES_H
#define FILMSTRIP_RECORDER_COMPAT_OPCODES_H

#include "recorder/plan_bytecode.h"

#include <opcode.h>

/* From 3.12 on LOAD_ATTR says in its lowest bit whether it loads a method; 3.11 has
 * an instruction of its own. */
#if defined(LOAD_METHOD) && LOAD_METHOD < 256
#define FILM_ATTRIBUTE_HAS_BIT 0
#else
#define FILM_ATTRIBUTE_HAS_BIT 1
#endif

/* 3.11 has LOAD_FAST look whether the variable is bound. */
#if defined(LOAD_FAST_CHECK)
#define FILM_LOAD_FAST_TRAITS FILM_OP_QUIET
#else
#define FILM_LOAD_FAST_TRAITS 0
#endif

/* 3.14 subscripts by BINARY_OP, which then changes nothing (as BINARY_SUBSCR). */
#if defined(NB_SUBSCR)
#define FILM_BINARY_IS_SUBSCRIPT(arg) ((arg) == NB_SUBSCR)
#else
#define FILM_BINARY_IS_SUBSCRIPT(arg) ((void)(arg), false)
#endif

/* `from m import *` is an intrinsic from 3.12 on, INTRINSIC_IMPORT_STAR. */
#if defined(CALL_INTRINSIC_1)
#define FILM_IS_IMPORT_STAR(opcode, arg) ((opcode) == CALL_INTRINSIC_1 && (arg) == 2)
#else
#define FILM_IS_IMPORT_STAR(opcode, arg) ((void)(arg), (opcode) == IMPORT_STAR)
#endif

/* The handler of an await or `yield from` that something is thrown into (from 3.12 on:
 * before, the interpreter did without). */
#if defined(CLEANUP_THROW)
#define FILM_IS_CLEANUP_THROW(opcode) ((opcode) == CLEANUP_THROW)
#else
#define FILM_IS_CLEANUP_THROW(opcode) ((void)(opcode), false)
#endif

/* The yield that a suspended frame stands at; from 3.13 on it stands at the RESUME that
 * follows. */
#if PY_VERSION_HEX >= 0x030d0000
#define FILM_YIELD_UNIT(suspended) ((suspended) == 0 ? 0 : (suspended) - 1)
#else
#define FILM_YIELD_UNIT(suspended) (suspended)
#endif

/* The handler that makes a RuntimeError of a StopIteration that leaves a generator;
 * INTRINSIC_STOPITERATION_ERROR, from 3.12 on. */
#if defined(CALL_INTRINSIC_1)
#define FILM_IS_STOP_ITERATION_ERROR(opcode, arg)                                      \
    ((opcode) == CALL_INTRINSIC_1 && (arg) == 3)
#else
#define FILM_IS_STOP_ITERATION_ERROR(opcode, arg) ((void)(opcode), (void)(arg), false)
#endif

/* x += y, which may change what x holds. */
#define FILM_BINARY_IS_IN_PLACE(arg)                                                   \
    ((arg) >= NB_INPLACE_ADD && (arg) <= NB_INPLACE_XOR)

/* Where the NULL beside a function that is called goes: below it up to 3.12. */
#if defined(CALL_KW)
#define FILM_NULL_IS_BELOW 0
#else
#define FILM_NULL_IS_BELOW 1
#endif

/* Where RESUME stands: 0 at the start of a call. 3.13 has more bits above. */
#define FILM_RESUME_PLACE(arg) ((arg) & 3u)

/* Up to 3.12 what RETURN_GENERATOR leaves for POP_TOP is not in its stack effect. */
#define FILM_ENTRY_DEPTH(code)                                                         \
    (((code)->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0 &&   \
     PyCompile_OpcodeStackEffect(RETURN_GENERATOR, 0) == 0)

/* How many items lie above the function and its NULL or `self` when it is called; -1:
 * not known from the instruction. */
/* Of a call and the instruction before it. */
#if defined(CALL_KW)
#define FILM_CALL_HAS_KEYWORDS(opcode, before) ((void)(before), (opcode) == CALL_KW)
#else
#define FILM_CALL_HAS_KEYWORDS(opcode, before) ((void)(opcode), (before) == KW_NAMES)
#endif

#if defined(CALL_KW)
#define FILM_ITEMS_ABOVE_CALLEE(opcode, arg)                                           \
    ((opcode) == CALL ? (int32_t)(arg) : (opcode) == CALL_KW ? (int32_t)(arg) + 1 : -1)
#elif defined(PRECALL)
/* The stack effects have it that PRECALL takes the arguments. */
#define FILM_ITEMS_ABOVE_CALLEE(opcode, arg)                                           \
    ((opcode) == CALL ? (int32_t)((arg) & 0u) : -1)
#else
#define FILM_ITEMS_ABOVE_CALLEE(opcode, arg) ((opcode) == CALL ? (int32_t)(arg) : -1)
#endif

typedef struct film_opcode {
    uint8_t form;    /* film_form */
    uint16_t traits; /* film_op_traits */
} film_opcode;

#define FILM_OP_CALL_TRAITS (FILM_OP_CALLS | FILM_OP_CHANGES)
#define FILM_OP_STORE_TRAITS FILM_OP_LEAVES

/* Without an entry (FILM_FORM_UNKNOWN): its code is watched instruction by instruction. */
static const film_opcode film_opcodes[256] = {
    [CACHE] = {FILM_FORM_CACHE, FILM_OP_QUIET},
    [EXTENDED_ARG] = {FILM_FORM_EXTENDED, FILM_OP_QUIET | FILM_OP_LEAVES},
    [NOP] = {FILM_FORM_OTHER, FILM_OP_QUIET | FILM_OP_LEAVES},
    [RESUME] = {FILM_FORM_RESUME, FILM_OP_UNMARKED | FILM_OP_LEAVES},
    [POP_TOP] = {FILM_FORM_OTHER, FILM_OP_LEAVES},
    [POP_EXCEPT] = {FILM_FORM_OTHER, FILM_OP_LEAVES},
    [PUSH_NULL] = {FILM_FORM_PUSH_NULL, FILM_OP_QUIET | FILM_OP_LEAVES},
    [PUSH_EXC_INFO] = {FILM_FORM_OTHER, FILM_OP_QUIET},
    [COPY] = {FILM_FORM_COPY, FILM_OP_QUIET},
    [SWAP] = {FILM_FORM_SWAP, FILM_OP_QUIET},

    [LOAD_CONST] = {FILM_FORM_LOAD_CONST, FILM_OP_QUIET},
    [LOAD_FAST] = {FILM_FORM_LOAD_FAST, FILM_LOAD_FAST_TRAITS},
    [LOAD_DEREF] = {FILM_FORM_LOAD_CELL, 0},
    [LOAD_GLOBAL] = {FILM_FORM_LOAD_GLOBAL, 0},
    [LOAD_NAME] = {FILM_FORM_LOAD_NAME, 0},
    [LOAD_ATTR] = {FILM_FORM_LOAD_ATTRIBUTE, 0},

    [STORE_FAST] = {FILM_FORM_STORE_FAST, FILM_OP_STORE_TRAITS},
    [STORE_DEREF] = {FILM_FORM_STORE_CELL, FILM_OP_STORE_TRAITS},
    [STORE_GLOBAL] = {FILM_FORM_STORE_GLOBAL, FILM_OP_STORE_TRAITS},
    [STORE_NAME] = {FILM_FORM_STORE_NAME, FILM_OP_STORE_TRAITS},
    [STORE_ATTR] = {FILM_FORM_STORE_ATTRIBUTE, FILM_OP_STORE_TRAITS},
    [STORE_SUBSCR] = {FILM_FORM_STORE_ITEM, FILM_OP_STORE_TRAITS | FILM_OP_CHANGES},
    [DELETE_FAST] = {FILM_FORM_DELETE_FAST, FILM_OP_STORE_TRAITS},
    [DELETE_DEREF] = {FILM_FORM_DELETE_CELL, FILM_OP_STORE_TRAITS},
    [DELETE_GLOBAL] = {FILM_FORM_DELETE_GLOBAL, FILM_OP_STORE_TRAITS},
    [DELETE_NAME] = {FILM_FORM_DELETE_NAME, FILM_OP_STORE_TRAITS},
    [DELETE_ATTR] = {FILM_FORM_DELETE_ATTRIBUTE, FILM_OP_STORE_TRAITS},
    [DELETE_SUBSCR] = {FILM_FORM_DELETE_ITEM, FILM_OP_STORE_TRAITS | FILM_OP_CHANGES},
    [MAKE_CELL] = {FILM_FORM_MAKE_CELL, FILM_OP_LEAVES},
    [COPY_FREE_VARS] = {FILM_FORM_OTHER, FILM_OP_QUIET | FILM_OP_LEAVES},

    [MAKE_FUNCTION] = {FILM_FORM_MAKE_FUNCTION, 0},

    [CALL] = {FILM_FORM_CALL, FILM_OP_CALL_TRAITS},
    [CALL_FUNCTION_EX] = {FILM_FORM_CALL, FILM_OP_CALL_TRAITS},
    /* Changes in place what is stored at once: the store tells. */
    [BINARY_OP] = {FILM_FORM_BINARY, FILM_OP_CALLS},
    [IMPORT_NAME] = {FILM_FORM_OTHER, FILM_OP_CALLS},
    [WITH_EXCEPT_START] = {FILM_FORM_OTHER, FILM_OP_CALL_TRAITS},
    [FOR_ITER] = {FILM_FORM_OTHER,
                  FILM_OP_FORWARD | FILM_OP_CALLS | FILM_OP_SWALLOWS | FILM_OP_LEAVES},
    [SEND] = {FILM_FORM_SEND, FILM_OP_FORWARD | FILM_OP_CALL_TRAITS | FILM_OP_SWALLOWS},

    [RETURN_VALUE] = {FILM_FORM_RETURN, FILM_OP_ENDS},
    [YIELD_VALUE] = {FILM_FORM_RETURN, 0},
    [RAISE_VARARGS] = {FILM_FORM_OTHER, FILM_OP_ENDS},
    [RERAISE] = {FILM_FORM_OTHER, FILM_OP_ENDS | FILM_OP_RERAISES},
    /* Among dis.hasjrel on 3.14; it is no jump. */
    [END_ASYNC_FOR] = {FILM_FORM_OTHER, FILM_OP_RERAISES | FILM_OP_UNMARKED},
    [JUMP_FORWARD] = {FILM_FORM_OTHER,
                      FILM_OP_ENDS | FILM_OP_FORWARD | FILM_OP_QUIET | FILM_OP_LEAVES},
    /* Not quiet: signal handlers and the collector run at backward jumps. */
    [JUMP_BACKWARD] = {FILM_FORM_OTHER,
                       FILM_OP_ENDS | FILM_OP_BACKWARD | FILM_OP_LEAVES},
    [JUMP_BACKWARD_NO_INTERRUPT] = {FILM_FORM_OTHER, FILM_OP_ENDS | FILM_OP_BACKWARD |
                                                         FILM_OP_QUIET |
                                                         FILM_OP_LEAVES},

/* 3.11 only. */
#if defined(PRECALL)
    [PRECALL] = {FILM_FORM_PRECALL, FILM_OP_CALLS | FILM_OP_LEAVES},
    [LOAD_CLASSDEREF] = {FILM_FORM_LOAD_CELL, 0},
#endif
#if defined(POP_JUMP_FORWARD_IF_FALSE)
#define FILM_OP_FORWARD_JUMP {FILM_FORM_OTHER, FILM_OP_FORWARD | FILM_OP_LEAVES}
#define FILM_OP_BACKWARD_JUMP {FILM_FORM_OTHER, FILM_OP_BACKWARD | FILM_OP_LEAVES}
    [JUMP_IF_FALSE_OR_POP] = FILM_OP_FORWARD_JUMP,
    [JUMP_IF_TRUE_OR_POP] = FILM_OP_FORWARD_JUMP,
    [POP_JUMP_FORWARD_IF_FALSE] = FILM_OP_FORWARD_JUMP,
    [POP_JUMP_FORWARD_IF_TRUE] = FILM_OP_FORWARD_JUMP,
    [POP_JUMP_FORWARD_IF_NONE] = FILM_OP_FORWARD_JUMP,
    [POP_JUMP_FORWARD_IF_NOT_NONE] = FILM_OP_FORWARD_JUMP,
    [POP_JUMP_BACKWARD_IF_FALSE] = FILM_OP_BACKWARD_JUMP,
    [POP_JUMP_BACKWARD_IF_TRUE] = FILM_OP_BACKWARD_JUMP,
    [POP_JUMP_BACKWARD_IF_NONE] = FILM_OP_BACKWARD_JUMP,
    [POP_JUMP_BACKWARD_IF_NOT_NONE] = FILM_OP_BACKWARD_JUMP,
#else
#define FILM_OP_FORWARD_JUMP {FILM_FORM_OTHER, FILM_OP_FORWARD | FILM_OP_LEAVES}
    [POP_JUMP_IF_FALSE] = FILM_OP_FORWARD_JUMP,
    [POP_JUMP_IF_TRUE] = FILM_OP_FORWARD_JUMP,
    [POP_JUMP_IF_NONE] = FILM_OP_FORWARD_JUMP,
    [POP_JUMP_IF_NOT_NONE] = FILM_OP_FORWARD_JUMP,
#endif
#if defined(LOAD_METHOD) && LOAD_METHOD < 256
    [LOAD_METHOD] = {FILM_FORM_LOAD_METHOD, FILM_OP_LEAVES},
#endif

/* Up to 3.12. */
#if defined(LOAD_CLOSURE) && LOAD_CLOSURE < 256
    [LOAD_CLOSURE] = {FILM_FORM_OTHER, FILM_OP_QUIET},
#endif
#if defined(KW_NAMES)
    [KW_NAMES] = {FILM_FORM_OTHER, FILM_OP_QUIET | FILM_OP_LEAVES},
#endif

/* Up to 3.13. */
#if defined(BINARY_SUBSCR)
    [BINARY_SUBSCR] = {FILM_FORM_SUBSCRIPT, FILM_OP_CALLS | FILM_OP_LEAVES},
#endif
#if defined(BEFORE_WITH)
    [BEFORE_WITH] = {FILM_FORM_OTHER, FILM_OP_CALL_TRAITS},
    [BEFORE_ASYNC_WITH] = {FILM_FORM_OTHER, FILM_OP_CALL_TRAITS},
#endif
#if defined(LOAD_ASSERTION_ERROR)
    [LOAD_ASSERTION_ERROR] = {FILM_FORM_OTHER, FILM_OP_QUIET},
#endif

/* From 3.12 on. */
#if defined(STORE_SLICE)
    [STORE_SLICE] = {FILM_FORM_STORE_SLICE, FILM_OP_STORE_TRAITS | FILM_OP_CHANGES},
#endif
#if defined(LOAD_FAST_CHECK)
    [LOAD_FAST_CHECK] = {FILM_FORM_LOAD_FAST, 0},
    [LOAD_FAST_AND_CLEAR] = {FILM_FORM_LOAD_AND_CLEAR, FILM_OP_QUIET},
#endif
#if defined(LOAD_SUPER_ATTR) && LOAD_SUPER_ATTR < 256
    [LOAD_SUPER_ATTR] = {FILM_FORM_LOAD_SUPER, 0},
#endif
#if defined(END_FOR)
    [END_FOR] = {FILM_FORM_END, FILM_OP_UNMARKED | FILM_OP_LEAVES},
    [END_SEND] = {FILM_FORM_END, FILM_OP_UNMARKED},
    [CLEANUP_THROW] = {FILM_FORM_OTHER, FILM_OP_RERAISES},
    [INTERPRETER_EXIT] = {FILM_FORM_OTHER, FILM_OP_ENDS},
#endif
#if defined(RETURN_CONST)
    [RETURN_CONST] = {FILM_FORM_RETURN, FILM_OP_ENDS},
#endif

/* From 3.13 on. */
#if defined(STORE_FAST_STORE_FAST)
    [STORE_FAST_STORE_FAST] = {FILM_FORM_STORE_FAST_PAIR, FILM_OP_STORE_TRAITS},
    [STORE_FAST_LOAD_FAST] = {FILM_FORM_STORE_LOAD_FAST, 0},
    [LOAD_FAST_LOAD_FAST] = {FILM_FORM_LOAD_FAST_PAIR, FILM_OP_QUIET},
#endif
#if defined(SET_FUNCTION_ATTRIBUTE)
    [SET_FUNCTION_ATTRIBUTE] = {FILM_FORM_FINISH_FUNCTION, 0},
#endif
#if defined(CALL_KW)
    [CALL_KW] = {FILM_FORM_CALL, FILM_OP_CALL_TRAITS},
#endif

/* From 3.14 on. */
#if defined(LOAD_FAST_BORROW)
    [LOAD_FAST_BORROW] = {FILM_FORM_LOAD_FAST, FILM_OP_QUIET},
    [LOAD_FAST_BORROW_LOAD_FAST_BORROW] = {FILM_FORM_LOAD_FAST_PAIR, FILM_OP_QUIET},
#endif
#if defined(LOAD_SMALL_INT)
    [LOAD_SMALL_INT] = {FILM_FORM_LOAD_CONST, FILM_OP_QUIET},
    [LOAD_COMMON_CONSTANT] = {FILM_FORM_LOAD_CONST, FILM_OP_QUIET},
#endif
#if defined(LOAD_SPECIAL)
    [LOAD_SPECIAL] = {FILM_FORM_OTHER, FILM_OP_CALL_TRAITS},
#endif
#if defined(NOT_TAKEN)
    [NOT_TAKEN] = {FILM_FORM_OTHER, FILM_OP_QUIET | FILM_OP_LEAVES},
#endif
#if defined(POP_ITER)
    [POP_ITER] = {FILM_FORM_OTHER, FILM_OP_UNMARKED | FILM_OP_LEAVES},
#endif

/* What is nothing to the planner but an instruction: it may run code and raise, puts its
 * result on the stack, stores nowhere and does not jump. Named all the same: an opcode
 * without an entry is one that we do not know. */
#define FILM_OP_PLAIN {FILM_FORM_OTHER, 0}
    [BUILD_LIST] = FILM_OP_PLAIN,
    [BUILD_MAP] = FILM_OP_PLAIN,
    [BUILD_SET] = FILM_OP_PLAIN,
    [BUILD_SLICE] = FILM_OP_PLAIN,
    [BUILD_STRING] = FILM_OP_PLAIN,
    [BUILD_TUPLE] = FILM_OP_PLAIN,
    [CHECK_EG_MATCH] = FILM_OP_PLAIN,
    [CHECK_EXC_MATCH] = FILM_OP_PLAIN,
    [COMPARE_OP] = FILM_OP_PLAIN,
    [CONTAINS_OP] = FILM_OP_PLAIN,
    [DICT_MERGE] = FILM_OP_PLAIN,
    [DICT_UPDATE] = FILM_OP_PLAIN,
    [GET_AITER] = FILM_OP_PLAIN,
    [GET_ANEXT] = FILM_OP_PLAIN,
    [GET_AWAITABLE] = FILM_OP_PLAIN,
    [GET_ITER] = FILM_OP_PLAIN,
    [GET_LEN] = FILM_OP_PLAIN,
    [GET_YIELD_FROM_ITER] = FILM_OP_PLAIN,
    [IMPORT_FROM] = FILM_OP_PLAIN,
    [IS_OP] = FILM_OP_PLAIN,
    [LIST_APPEND] = FILM_OP_PLAIN,
    [LIST_EXTEND] = FILM_OP_PLAIN,
    [LOAD_BUILD_CLASS] = FILM_OP_PLAIN,
    [MAP_ADD] = FILM_OP_PLAIN,
    [MATCH_CLASS] = FILM_OP_PLAIN,
    [MATCH_KEYS] = FILM_OP_PLAIN,
    [MATCH_MAPPING] = FILM_OP_PLAIN,
    [MATCH_SEQUENCE] = FILM_OP_PLAIN,
    [RETURN_GENERATOR] = FILM_OP_PLAIN,
    [SETUP_ANNOTATIONS] = FILM_OP_PLAIN,
    [SET_ADD] = FILM_OP_PLAIN,
    [SET_UPDATE] = FILM_OP_PLAIN,
    [UNARY_INVERT] = FILM_OP_PLAIN,
    [UNARY_NEGATIVE] = FILM_OP_PLAIN,
    [UNARY_NOT] = FILM_OP_PLAIN,
    [UNPACK_EX] = FILM_OP_PLAIN,
    [UNPACK_SEQUENCE] = FILM_OP_PLAIN,
#if defined(ASYNC_GEN_WRAP) /* 3.11 only */
    [ASYNC_GEN_WRAP] = FILM_OP_PLAIN,
    [IMPORT_STAR] = FILM_OP_PLAIN,
    [LIST_TO_TUPLE] = FILM_OP_PLAIN,
    [PREP_RERAISE_STAR] = FILM_OP_PLAIN,
    [PRINT_EXPR] = FILM_OP_PLAIN,
    [UNARY_POSITIVE] = FILM_OP_PLAIN,
#endif
#if defined(BUILD_CONST_KEY_MAP) /* up to 3.13 */
    [BUILD_CONST_KEY_MAP] = FILM_OP_PLAIN,
#endif
#if defined(FORMAT_VALUE) /* up to 3.12 */
    [FORMAT_VALUE] = FILM_OP_PLAIN,
#endif
#if defined(CALL_INTRINSIC_1) /* from 3.12 on */
    [BINARY_SLICE] = FILM_OP_PLAIN,
    [CALL_INTRINSIC_1] = FILM_OP_PLAIN,
    [CALL_INTRINSIC_2] = FILM_OP_PLAIN,
    [LOAD_FROM_DICT_OR_DEREF] = FILM_OP_PLAIN,
    [LOAD_FROM_DICT_OR_GLOBALS] = FILM_OP_PLAIN,
    [LOAD_LOCALS] = FILM_OP_PLAIN,
#endif
#if defined(FORMAT_SIMPLE) /* from 3.13 on */
    [CONVERT_VALUE] = FILM_OP_PLAIN,
    [FORMAT_SIMPLE] = FILM_OP_PLAIN,
    [FORMAT_WITH_SPEC] = FILM_OP_PLAIN,
    [TO_BOOL] = FILM_OP_PLAIN,
#endif
#if defined(BUILD_TEMPLATE) /* from 3.14 on */
    [BUILD_INTERPOLATION] = FILM_OP_PLAIN,
    [BUILD_TEMPLATE] = FILM_OP_PLAIN,
#endif
};

#endif
