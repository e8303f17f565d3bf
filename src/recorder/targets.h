/* targets.h: which code is recorded.
 * Decided once per code object, in C, from its file, its module's name and its own
 * qualified name. A target or an exclude is one of
 *   dir/file.py, dir     a file or folder
 *   *file.py             every file whose name ends so
 *   package.module       a module or package with all below it
 *   module:Class         the code of a class, its methods
 *   module:Class.attr    as a target the code of the class, where the attribute is
 *                        written; as an exclude no code (views leave it out)
 *   module:Class.Inner.  a class in a class: the dot tells it from an attribute
 *   module:Class.run()   a method, with what is defined in it
 *   module:run()         a function, the same
 *   module::NAME         as a target the code of that module; as an exclude no code
 *   <user code>          as a target: what is recorded where no target is given
 * User code,
 * the default, is what lies outside the standard library, site-packages and
 * dist-packages; `<string>` and notebook cells belong to it, `<frozen ...>` does not.
 * The functions of torch.distributed by which ranks communicate are always recorded,
 * unless they are excluded (format/collectives.h).
 * filmstrip's own Python files are never recorded.
 * Threads: the holder of the GIL. Ownership: film_targets owns copies of all it is
 * given.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TARGETS_H
#define FILMSTRIP_RECORDER_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#define FILM_TARGET_USER_CODE "<user code>"

/* A growing list of owned strings. Valid when zeroed. */
typedef struct film_string_list {
    char **items;
    size_t count;
} film_string_list;

/* Copies `text` to the end; false when memory is out. */
bool
film_string_list_add(film_string_list *list, const char *text);

void
film_string_list_reset(film_string_list *list);

typedef struct film_targets {
    bool all;
    film_string_list targets;     /* names as above */
    film_string_list excludes;    /* the same; they win */
    film_string_list stdlib_dirs; /* directories whose code is not user code */
    film_string_list site_dirs;
    char *own_dir; /* filmstrip's own package; may be NULL */
} film_targets;

/* Adds a target or an exclude as a person gave it; false when memory is out. */
bool
film_targets_add_name(film_string_list *list, const char *name);

void
film_targets_reset(film_targets *targets);

/* Where a code object comes from. All borrowed. */
typedef struct film_code_origin {
    const char *file;     /* co_filename */
    const char *real;     /* its resolved path, or the same where it has none */
    const char *module;   /* __name__ of its globals */
    const char *qualname; /* co_qualname */
    const char *within;   /* for `<string>` and the like: the resolved __file__ of its
                             globals, or NULL */
} film_code_origin;

bool
film_targets_accept(const film_targets *targets, const film_code_origin *origin);

#endif
