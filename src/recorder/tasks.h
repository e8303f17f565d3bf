/* tasks.h: which asyncio task a coroutine runs in.
 *
 * A `task` row is told before the first recorded coroutine of a task's step begins or
 * goes on, and another one (the task before it, or none) when that frame leaves. The
 * task is read from where _asyncio keeps the one that runs, its name from its object:
 * no code of the program runs, no reference is kept. Only frames that can suspend come
 * here. Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TASKS_H
#define FILMSTRIP_RECORDER_TASKS_H

#include "recorder/compat.h"

#include "recorder/thread_context.h"

/* `frame`, the top of the stack now, begins (its first event) or goes on: tells the
 * task it runs in, if that is another one than before. Its own row is still to come. */
void
film_task_enter(film_context *context, const film_frame *frame, bool begins);

/* The top, which holds a task (entry->suspends is FILM_SUSPENDS_TASK), has left the
 * stack's top for now (`ended`: for good): its row is written. */
void
film_task_leave(film_context *context, bool ended);

/* Another recording: ids and names of the last one mean nothing. */
void
film_tasks_reset(void);

#endif
