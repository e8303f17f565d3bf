/* filmstrip.h: the public C interface, all of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_FILMSTRIP_H
#define FILMSTRIP_FILMSTRIP_H

#include <filmstrip/event.h>
#include <filmstrip/reader.h>
#include <filmstrip/status.h>
#include <filmstrip/tensor.h>

/* The version of the format this library writes; it reads every earlier one and every
 * newer minor. */
#define FILM_FORMAT_MAJOR 1
#define FILM_FORMAT_MINOR 4

#endif
