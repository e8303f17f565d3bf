/* targets.c: see targets.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorder/targets.h"

#include <stdlib.h>
#include <string.h>

#include "format/collectives.h"

bool
film_string_list_add(film_string_list *list, const char *text)
{
    char **items = realloc(list->items, (list->count + 1) * sizeof(*items));

    if (items == NULL) {
        return false;
    }
    list->items = items;
    items[list->count] = strdup(text);
    if (items[list->count] == NULL) {
        return false;
    }
    list->count++;
    return true;
}

bool
film_targets_add_name(film_string_list *list, const char *name)
{
    char *resolved;
    bool added;

    if (!film_string_list_add(list, name)) {
        return false;
    }
    /* Relative names mean the folder the recording was started in, whatever the
     * program makes its own later. */
    resolved = name[0] != '\0' && name[0] != '<' ? realpath(name, NULL) : NULL;
    if (resolved == NULL) {
        return true;
    }
    added = film_string_list_add(list, resolved);
    free(resolved);
    return added;
}

void
film_string_list_reset(film_string_list *list)
{
    for (size_t index = 0; index < list->count; index++) {
        free(list->items[index]);
    }
    free(list->items);
    *list = (film_string_list){0};
}

void
film_targets_reset(film_targets *targets)
{
    film_string_list_reset(&targets->targets);
    film_string_list_reset(&targets->excludes);
    film_string_list_reset(&targets->stdlib_dirs);
    film_string_list_reset(&targets->site_dirs);
    free(targets->own_dir);
    *targets = (film_targets){0};
}

/* True when `path` is `directory` or lies in it. */
static bool
is_within(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    while (length > 0 && directory[length - 1] == '/') {
        length--;
    }
    if (length == 0 || strncmp(path, directory, length) != 0) {
        return false;
    }
    return path[length] == '/' || path[length] == '\0';
}

static bool
is_within_any(const char *path, const film_string_list *directories)
{
    for (size_t index = 0; index < directories->count; index++) {
        if (is_within(path, directories->items[index])) {
            return true;
        }
    }
    return false;
}

static bool
is_module_or_submodule(const char *module, const char *name)
{
    size_t length = strlen(name);

    return strncmp(module, name, length) == 0 &&
           (module[length] == '\0' || module[length] == '.');
}

/* `tail` (a relative path) matches whole last parts of `path`. */
static bool
ends_with_parts(const char *path, const char *tail)
{
    size_t path_length = strlen(path), tail_length = strlen(tail);

    if (tail_length == 0 || tail_length > path_length ||
        strcmp(path + path_length - tail_length, tail) != 0) {
        return false;
    }
    return path_length == tail_length || path[path_length - tail_length - 1] == '/';
}

static bool
ends_with(const char *text, const char *tail)
{
    size_t text_length = strlen(text), tail_length = strlen(tail);

    return tail_length <= text_length &&
           memcmp(text + text_length - tail_length, tail, tail_length) == 0;
}

/* `qualname` is the first `length` bytes of `symbol`, or defined within that. */
static bool
lies_within(const char *qualname, const char *symbol, size_t length)
{
    return length > 0 && strncmp(qualname, symbol, length) == 0 &&
           (qualname[length] == '\0' || qualname[length] == '.');
}

/* `symbol` is what stands behind the colon of `name`. */
static bool
matches_symbol(const char *name, const char *symbol, bool excluding,
               const film_code_origin *origin)
{
    size_t module_length = (size_t)(symbol - 1 - name);
    size_t length = strlen(symbol);

    if (strncmp(origin->module, name, module_length) != 0 ||
        origin->module[module_length] != '\0') {
        return false;
    }
    if (symbol[0] == ':') {
        return !excluding && length > 1; /* a global: the module's code writes it */
    }
    if (length > 2 && strcmp(symbol + length - 2, "()") == 0) {
        return lies_within(origin->qualname, symbol, length - 2);
    }
    if (length > 1 && symbol[length - 1] == '.') {
        return lies_within(origin->qualname, symbol, length - 1);
    }
    if (lies_within(origin->qualname, symbol, length)) {
        return true;
    }
    if (!excluding) { /* an attribute: the code of its class writes it */
        const char *dot = strrchr(symbol, '.');
        return dot != NULL &&
               lies_within(origin->qualname, symbol, (size_t)(dot - symbol));
    }
    return false;
}

/* One name as a person gave it: see targets.h. */
static bool
matches_name(const char *name, bool excluding, const film_code_origin *origin)
{
    const char *colon = strchr(name, ':');

    if (name[0] == '\0') {
        return false;
    }
    if (colon != NULL && strchr(name, '/') == NULL && name[0] != '<') {
        return matches_symbol(name, colon + 1, excluding, origin);
    }
    if (name[0] == '*') {
        return name[1] != '\0' &&
               (ends_with(origin->file, name + 1) || ends_with(origin->real, name + 1));
    }
    if (strcmp(name, origin->file) == 0 ||
        is_module_or_submodule(origin->module, name)) {
        return true;
    }
    if (name[0] == '<') {
        return false;
    }
    if (is_within(origin->real, name)) {
        return true;
    }
    return name[0] != '/' && strstr(name, ".py") != NULL &&
           ends_with_parts(origin->real, name);
}

static bool
matches_any(const film_string_list *names, bool excluding,
            const film_code_origin *origin)
{
    for (size_t index = 0; index < names->count; index++) {
        if (matches_name(names->items[index], excluding, origin)) {
            return true;
        }
    }
    return false;
}

/* What torch writes by itself and runs: a name that begins so. Files are told by their
 * folder, text that was compiled by the name torch gives it. */
static const char *const generated_modules[] = {
    "_remote_module_",                        /* torch.distributed.nn */
    "torch._inductor.runtime.compile_tasks.", /* what inductor has generated */
};
static const char *const generated_texts[] = {
    "<eval_with_key>", /* the forward() of a torch.fx graph */
    "<torch_package_", /* out of an archive of torch.package */
    "<_remote_module_",
};
static const char *const generated_functions[] = {
    "___make_guard_fn", /* torch._dynamo's, of a text without a module */
};

static bool
begins_with_any(const char *text, const char *const *begins, size_t count)
{
    for (size_t index = 0; index < count; index++) {
        if (strncmp(text, begins[index], strlen(begins[index])) == 0) {
            return true;
        }
    }
    return false;
}

#define BEGINS_WITH_ANY(text, begins)                                                  \
    begins_with_any(text, begins, sizeof(begins) / sizeof((begins)[0]))

static bool
is_generated(const film_code_origin *origin)
{
    return BEGINS_WITH_ANY(origin->module, generated_modules) ||
           BEGINS_WITH_ANY(origin->file, generated_texts) ||
           (origin->file[0] == '<' &&
            BEGINS_WITH_ANY(origin->qualname, generated_functions));
}

static bool
is_user_file(const film_targets *targets, const char *path)
{
    return strstr(path, "/site-packages/") == NULL &&
           strstr(path, "/torchinductor_") == NULL && /* inductor's cache */
           strstr(path, "/dist-packages/") == NULL &&
           !is_within_any(path, &targets->stdlib_dirs) &&
           !is_within_any(path, &targets->site_dirs);
}

static bool
is_user_code(const film_targets *targets, const film_code_origin *origin)
{
    if (is_generated(origin)) {
        return false;
    }
    if (origin->file[0] != '<') {
        /* Both spellings: an environment may link its files from elsewhere. */
        return is_user_file(targets, origin->file) &&
               is_user_file(targets, origin->real);
    }
    /* Text that was compiled: as good as the module it runs in. */
    if (strncmp(origin->file, "<frozen ", 8) == 0 ||
        strncmp(origin->module, "namedtuple_", 11) == 0) {
        return false;
    }
    return origin->within == NULL || is_user_file(targets, origin->within);
}

static bool
names_user_code(const film_string_list *names)
{
    for (size_t index = 0; index < names->count; index++) {
        if (strcmp(names->items[index], FILM_TARGET_USER_CODE) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_own_code(const film_targets *targets, const film_code_origin *origin)
{
    const char *own = targets->own_dir;

    return own != NULL && own[0] != '\0' &&
           (is_within(origin->file, own) || is_within(origin->real, own) ||
            (origin->within != NULL && is_within(origin->within, own)));
}

bool
film_targets_accept(const film_targets *targets, const film_code_origin *origin)
{
    if (is_own_code(targets, origin) || matches_any(&targets->excludes, true, origin)) {
        return false;
    }
    if (targets->all || film_collective_find(origin->module, origin->qualname)) {
        return true;
    }
    if (targets->targets.count > 0 && matches_any(&targets->targets, false, origin)) {
        return true;
    }
    return (targets->targets.count == 0 || names_user_code(&targets->targets)) &&
           is_user_code(targets, origin);
}
