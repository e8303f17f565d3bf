/* expression.h: Python expressions over what was recorded. No code is ever run.
 *
 * Names, attributes (a.b), items (a[i]), slices (a[i:j:k]), literals (numbers, strings,
 * None, True, False, lists, tuples, dicts, sets), comparisons and chains of them,
 * arithmetic (+ - * / // % **), and/or/not, in, not in, is, is not, len(x), type(x)
 * (its name, to compare with a string or a name), abs, min, max, sum, and conditional
 * expressions (a if c else b). Calls of anything else, assignments, lambdas,
 * comprehensions are refused when the expression is read.
 *
 * A value that was not recorded, or only in part, makes the result FILM_EVAL_UNKNOWN,
 * with a sentence that says what is missing; what Python would raise makes it
 * FILM_EVAL_ERROR.
 *
 * Limits: FILM_EXPRESSION_LENGTH bytes, FILM_EXPRESSION_DEPTH levels of nesting,
 * results of FILM_EXPRESSION_ITEMS items and FILM_EXPRESSION_TEXT bytes; ints beyond 64
 * bits are compared and printed, not computed with.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EXPRESSION_H
#define FILMSTRIP_EXPRESSION_H

#include "analysis/timeline.h"

#define FILM_EXPRESSION_LENGTH 4096u
#define FILM_EXPRESSION_DEPTH 64u
#define FILM_EXPRESSION_ITEMS 10000u
#define FILM_EXPRESSION_TEXT ((size_t)64 << 10)

typedef struct film_expression film_expression;

/* Reads an expression; the caller owns *out. FILM_MISUSE with a sentence and the column
 * (error->offset, in bytes) where it is none. */
FILM_NODISCARD film_status
film_expression_parse(const char *text, size_t length, film_expression **out,
                      film_error *error);

void
film_expression_free(film_expression *expression);

typedef enum film_eval_outcome {
    FILM_EVAL_VALUE,
    FILM_EVAL_UNKNOWN, /* not recorded; `why` says what */
    FILM_EVAL_ERROR    /* what Python would raise; `why` says it */
} film_eval_outcome;

typedef struct film_evaluated {
    film_eval_outcome outcome;
    film_value value; /* VALUE: text, type, serial, length; borrowed from the expression
                         until it is evaluated again */
    film_datum datum; /* VALUE: the recorded value itself, where it is one (a variable,
                         an attribute, an item); length 0: computed */
    bool truth;       /* VALUE: what bool() gives */
    bool truth_known; /* an instance's truth may be its class's to say */
    double number;    /* VALUE: where is_number */
    bool is_number;   /* int, float or bool */
    char why[160];
} film_evaluated;

/* Its value at a moment, in frame `index` of film_timeline_stack. Fails only for what
 * concerns the recording (memory, input and output). */
FILM_NODISCARD film_status
film_expression_evaluate(film_expression *expression, film_timeline *timeline,
                         film_moment moment, size_t index, film_evaluated *out,
                         film_error *error);

#endif
