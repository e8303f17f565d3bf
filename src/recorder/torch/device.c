/* device.c: see device.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/device.h"

#include <string.h>

#include "recorder/attributes.h"
#include "recorder/session.h"
#include "recorder/text.h"

#define FOLDER_BYTES 4096

bool film_the_device_is_traced;
static bool asked; /* in this recording */

/* The folder that has the torch package, where its libraries' packages are too; false: not
 * known. */
static bool
find_packages(char *folder)
{
    PyObject *module = film_dict_find(PyImport_GetModuleDict(), "torch");
    PyObject *file = module == NULL || !PyModule_Check(module)
                         ? NULL
                         : film_dict_find(PyModule_GetDict(module), "__file__");
    char *slash;

    if (file == NULL || !PyUnicode_CheckExact(file)) {
        return false;
    }
    (void)film_text_copy(file, folder, FOLDER_BYTES - 1, NULL);
    for (int level = 0; level < 2; level++) { /* torch/__init__.py */
        slash = strrchr(folder, '/');
        if (slash == NULL) {
            return false;
        }
        *slash = '\0';
    }
    return true;
}

void
film_device_seen(void)
{
    char folder[FOLDER_BYTES] = "", sentence[FILM_CUPTI_SENTENCE] = "";
    film_cupti_options options = {0};

    if (FILM_LIKELY(asked) || !film_the_session.options.torch_gpu) {
        return;
    }
    asked = true;
    options.packages = find_packages(folder) ? folder : NULL;
    film_the_device_is_traced =
        film_gpu_begin(film_the_session.writer, &options, sentence);
    if (!film_the_device_is_traced) {
        film_session_lost_control(sentence, 0);
    }
}

void
film_device_end(void)
{
    if (film_the_device_is_traced) {
        film_the_device_is_traced = false;
        film_gpu_end();
    }
    asked = false;
}

void
film_device_forget(void)
{
    if (film_the_device_is_traced) {
        film_the_device_is_traced = false;
        film_gpu_forget();
    }
    asked = false;
}
