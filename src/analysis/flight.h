/* flight.h: what torch's own flight recorder held when a rank's recording stopped (meta
 * key flight_recorder): also the collectives that torch's C++ called, as DDP does.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ANALYSIS_FLIGHT_H
#define FILMSTRIP_ANALYSIS_FLIGHT_H

#include <filmstrip/reader.h>

typedef struct film_flight {
    uint64_t entries;
    /* Of the last one; texts are cut where they are longer. */
    char name[64];  /* gloo:all_reduce */
    char group[64]; /* default_pg */
    char state[32]; /* scheduled, started, completed */
    int64_t
        number; /* of a collective in its group, from 1; of what is between two ranks
                       likewise */
} film_flight;

/* False: the recording has no such dump, or one that cannot be read. */
bool
film_flight_read(const film_reader *reader, film_flight *flight);

#endif
