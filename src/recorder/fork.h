/* fork.h: a recorded process may fork at any time, from Python or from C.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FORK_H
#define FILMSTRIP_RECORDER_FORK_H

#include <stdbool.h>

/* Registers the handlers, once per process; they do nothing while nothing is recorded.
 * False when memory is out. */
bool
film_fork_prepare(void);

#endif
