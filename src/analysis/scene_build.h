/* scene_build.h: the tree of frames of a scene, grown event by event.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCENE_BUILD_H
#define FILMSTRIP_SCENE_BUILD_H

#include "analysis/scene.h"

/* Reads the events before `end` from the cursor, which stands at the scene's first,
 * into scene->events, which has room for them. FILM_END: there is none. */
FILM_NODISCARD film_status
film_scene_build(film_scene *scene, film_cursor *cursor, uint64_t end,
                 film_error *error);

#endif
