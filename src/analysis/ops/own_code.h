/* own_code.h: code of torch's and of filmstrip's own, which is not the program's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OWN_CODE_H
#define FILMSTRIP_OWN_CODE_H

#include <filmstrip/reader.h>

bool
film_code_is_own(const film_code *code);

#endif
