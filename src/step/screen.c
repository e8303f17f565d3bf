/* screen.c: placeholder until the screen is written. SPDX-License-Identifier:
 * Apache-2.0 */
#include "step/screen.h"
bool
film_step_has_screen(void)
{
    return false;
}
bool
film_step_screen(film_step *step, bool color, const char **why)
{
    (void)step;
    (void)color;
    *why = "this build has no full screen";
    return false;
}
