/* info.h: what info found out about a recording, for the functions that print it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_INFO_H
#define FILMSTRIP_INFO_H

#include <filmstrip/reader.h>

#include "analysis/recordings.h"
#include "export/output.h"

/* Where a thread was when its recording ended. */
typedef struct film_last_place {
    const film_code *code; /* borrowed from the reader; NULL: nowhere */
    uint32_t line;         /* 0: not known */
    bool running;          /* a frame was still open */
} film_last_place;

/* Losses of one reason. */
typedef struct film_loss {
    film_text reason; /* borrowed from the reader */
    uint64_t count;   /* events; for lost hooks how often */
    bool is_control;  /* a hook was lost, not events */
} film_loss;

#define FILM_LOSS_LIMIT 16

typedef struct film_losses {
    film_loss items[FILM_LOSS_LIMIT];
    size_t count;
} film_losses;

/* Counters of the recorder, kept as facts about the recording. */
#define FILM_INFO_COUNTERS 4u

typedef struct film_info_counter {
    const char *key, *word, *noun, *meaning;
} film_info_counter;

extern const film_info_counter film_info_counters[FILM_INFO_COUNTERS];

film_last_place
film_info_last_place(film_reader *reader, const film_thread_info *thread);

/* Reads only chunks that say they hold losses. */
void
film_info_losses(film_reader *reader, film_losses *losses);

void
film_info_print(film_reader *reader, const char *path, film_output *output);

void
film_info_print_json(const film_recordings *set, size_t index, film_output *output);

#endif
