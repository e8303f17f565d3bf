/* log_text.h: what the files of the log for people share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LOG_TEXT_H
#define FILMSTRIP_LOG_TEXT_H

#include "export/log.h"
#include "export/log_ops.h"
#include "export/names.h"

typedef enum film_log_colour {
    PLAIN,
    DIM,
    GREEN,
    BLUE,
    RED,
    YELLOW,
    CYAN,
    MAGENTA
} film_log_colour;

typedef struct film_log_recorded {
    film_names places;                  /* where it is, for run, and the line's end */
    film_names functions;               /* function alone */
    char process[FILM_LABEL_BYTES + 1]; /* the marker's first half, where there are
                                           several */
    size_t process_length;
} film_log_recorded;

struct film_log_text {
    const film_recordings *set; /* borrowed */
    film_log_recorded *items;   /* owned, one a recording */
    film_selection *selection;  /* borrowed; NULL: values before are not known */
    film_log_ops *ops;          /* owned; NULL: they are not shown */
    film_buffer name;           /* of the variable being written about */
    bool colour;
};

/* The time, thread, line and indentation that each line begins with. */
void
film_log_head(film_log_text *log, film_output *output, const film_merged *merged,
              bool at_caller);

void
film_log_word(const film_log_text *log, film_output *output, const char *word,
              film_log_colour wanted);

/* The event's value at `index`, if it has one. */
void
film_log_value(film_output *output, film_reader *reader, const film_event *event,
               uint32_t index);

/* Type and message of the event's exception. */
void
film_log_exception(film_output *output, film_reader *reader, const film_event *event);

#endif
