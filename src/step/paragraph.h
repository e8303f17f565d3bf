/* paragraph.h: what replies say, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_PARAGRAPH_H
#define FILMSTRIP_PARAGRAPH_H

#include "step/session.h"

/* The last part of a path; two where one says little: pkg/__init__.py. */
const char *
film_step_short_file(const char *file);

/* A value as its text; "deleted" for null. */
void
film_step_put_value(film_step *step, const film_json *json, const film_json_node *of);

/* "0.014506 s" */
void
film_step_put_time(film_step *step, uint64_t time_ns);

/* Where one is: place, event, the source line, what the line before wrote. From
 * film_step.moment. */
/* " (-2.1 to 2.3, 12 not finite)" of a tensor whose numbers are recorded. */
void
film_step_put_numbers(film_output *to, const film_json *json,
                      const film_json_node *tensor);

void
film_step_put_here(film_step *step);

/* One line of where: number, function, place. */
void
film_step_put_frame(film_step *step, const film_json *json, const film_json_node *frame,
                    size_t number, bool marked);

/* What happens at the moment beside running a line: "returns 5", "raises KeyError";
 * into `to`, empty where it is nothing of note. */
void
film_step_describe(const film_json *json, film_output *to);

/* A write: moment, place, name and value. */
void
film_step_put_write(film_step *step, const film_json *json,
                    const film_json_node *write);

#endif
