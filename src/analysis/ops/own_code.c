/* own_code.c: which code is torch's, told by its module's name and where its file lies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/own_code.h"

#include <string.h>

/* Whether the module's file is where a module of that name lies in its package:
 * torch.nn.functional in .../torch/nn/functional.py. A torch.py of the user's is not
 * torch's, nor is torchvision. */
static bool
lies_in_package(const film_code *code)
{
    film_text file = code->file, module = code->module;
    static const char *const endings[] = {"/__init__.py", ".py"};

    for (size_t i = 0; i < 2; i++) {
        size_t ending = strlen(endings[i]), from;

        if (file.length <= ending + module.length ||
            memcmp(file.data + file.length - ending, endings[i], ending) != 0 ||
            (i == 1 && memchr(module.data, '.', module.length) == NULL)) {
            continue;
        }
        from = file.length - ending - module.length;
        for (size_t k = 0; k < module.length; k++) {
            char wanted = module.data[k] == '.' ? '/' : module.data[k];
            if (file.data[from + k] != wanted) {
                from = 0;
                break;
            }
        }
        if (from > 0 && file.data[from - 1] == '/') {
            return true;
        }
    }
    return false;
}

static bool
begins_with(film_text text, const char *word)
{
    size_t length = strlen(word);

    return text.length >= length && memcmp(text.data, word, length) == 0;
}

bool
film_code_is_own(const film_code *code)
{
    return (begins_with(code->function, "torch.") ||
            begins_with(code->function, "filmstrip.")) &&
           lies_in_package(code);
}
