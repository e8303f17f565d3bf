/* monitoring.h: the events of sys.monitoring that are recorded, and what is done at
 * each (hooks_monitoring.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_MONITORING_H
#define FILMSTRIP_RECORDER_MONITORING_H

#include "recorder/compat.h"

typedef struct film_event_hook {
    const char *name; /* in sys.monitoring.events */
    vectorcallfunc call;
    bool exceptions; /* left out with exceptions=False */
    bool c_calls;    /* only with c_calls=True */
    uint32_t level;  /* only from this level on */
    bool local;      /* asked for code by code: film_hooks_watch */
} film_event_hook;

extern const film_event_hook film_event_hooks[];
extern const size_t film_event_hook_count;

#endif
