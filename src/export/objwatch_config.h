/* objwatch_config.h: what a watching was asked for.
 * filmstrip.watch keeps it in META (python/filmstrip/_watch.py): `objwatch` holds
 * `name=value` words, `objwatch.rules` one target a line:
 *
 *   file SUFFIX        module NAME           class MODULE CLASS
 *   method MODULE CLASS NAME   attr MODULE CLASS NAME
 *   func MODULE NAME           global MODULE NAME       an exclude begins with `-`
 *
 * A recording made otherwise shows everything it holds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OBJWATCH_CONFIG_H
#define FILMSTRIP_OBJWATCH_CONFIG_H

#include <filmstrip/reader.h>

/* The file of code that filmstrip.watch runs first, once for each module: it writes each
 * global what it holds, so that the recording has the first values. */
#define FILM_OBJWATCH_FIRST_VALUES "<globals before filmstrip.watch>"

typedef enum film_objwatch_wrapper {
    FILM_WRAPPER_NONE,
    FILM_WRAPPER_BASE,
    FILM_WRAPPER_SHAPE
} film_objwatch_wrapper;

typedef struct film_objwatch_rule {
    char kind; /* its first letter; func is 'u' */
    bool excludes;
    film_text module, owner, name; /* borrowed from the configuration's text */
} film_objwatch_rule;

typedef struct film_objwatch_config {
    bool is_watched; /* made by filmstrip.watch: there is a configuration */
    bool with_locals, with_globals, simple;
    bool with_modules; /* OLD: functions by their module */
    bool is_child;     /* forked: its lines go on where the parent's were, without a */
    uint64_t depth;    /* header, so deep */
    bool has_index;
    uint64_t index;
    uint64_t level; /* of Python's logging */
    film_objwatch_wrapper wrapper;
    char *text;  /* owned: META is gone when a live recording is read on */
    char *slots; /* owned; `TYPE NAME` a line: members of __slots__; NULL: none */
    film_objwatch_rule *rules; /* owned */
    size_t rule_count;
} film_objwatch_config;

/* A frame as the rules see it. */
typedef struct film_objwatch_place {
    const film_code *code;
    film_text owner;    /* class of `self`; data NULL: there is none */
    film_text home;     /* the module that class is defined in, where known */
    bool has_attribute; /* `self` has an attribute that a rule names */
} film_objwatch_place;

FILM_NODISCARD film_status
film_objwatch_config_load(film_objwatch_config *config, const film_reader *reader,
                          film_error *error);

void
film_objwatch_config_reset(film_objwatch_config *config);

/* Whether ObjWatch traces that frame. */
bool
film_objwatch_traces(const film_objwatch_config *config,
                     const film_objwatch_place *place);

/* Whether an attribute of a class, written in a frame of `code`, is shown. */
bool
film_objwatch_shows_attribute(const film_objwatch_config *config, const film_code *code,
                              film_text owner, film_text name);

bool
film_objwatch_shows_global(const film_objwatch_config *config, film_text module,
                           film_text name);

/* Whether a rule names this attribute of the class. */
bool
film_objwatch_names_attribute(const film_objwatch_config *config, film_text module,
                              film_text owner, film_text name);

/* The attribute is a member of __slots__ of a type that has a __dict__ too. */
bool
film_objwatch_is_slot(const film_objwatch_config *config, film_text type,
                      film_text name);

static inline bool
film_text_equals(film_text one, film_text other)
{
    return one.length == other.length &&
           (one.length == 0 || __builtin_memcmp(one.data, other.data, one.length) == 0);
}

#endif
