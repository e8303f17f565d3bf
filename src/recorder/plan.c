/* plan.c: makes a plan of a draft: the tables of plan.h, in a block of their own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "recorder/plan_draft.h"

/* What is kept for each code unit, about, to begin with. */
#define KEPT_BYTES_EACH 24u

/* The slots of that kind. What the compiler keeps for itself there (__class__ for
 * super()) is nobody's variable. */
static uint16_t
list_slots(const PyCodeObject *code, int kind, uint16_t *to)
{
    const char *kinds = PyBytes_AS_STRING(code->co_localspluskinds);
    uint16_t count = 0;

    for (int slot = 0; slot < code->co_nlocalsplus && slot < UINT16_MAX; slot++) {
        PyObject *name = PyTuple_GET_ITEM(code->co_localsplusnames, slot);

        if ((kinds[slot] & kind) != 0 &&
            PyUnicode_CompareWithASCIIString(name, "__class__") != 0 &&
            PyUnicode_CompareWithASCIIString(name, "__classdict__") != 0) {
            to[count++] = (uint16_t)slot;
        }
    }
    return count;
}

/* Where the tables of a plan are kept while it is made. */
typedef struct plan_parts {
    uint32_t regions, touches, places, flags, quiet, arguments, free_slots;
    uint32_t entry; /* 0: none */
} plan_parts;

/* The plan in the making, which moves when something is kept. */
static film_plan *
plan_of(const film_draft *draft)
{
    return film_draft_kept(draft, 0);
}

/* Sets the pointers of a plan to its own block. */
static void
find_parts(film_plan *plan, const plan_parts *parts)
{
    unsigned char *block = (unsigned char *)plan;

    plan->regions = (film_region *)(void *)(block + parts->regions);
    plan->entry =
        parts->entry == 0 ? NULL : (film_region *)(void *)(block + parts->entry);
    plan->touches = (film_touch *)(void *)(block + parts->touches);
    plan->places = (film_places *)(void *)(block + parts->places);
    plan->flags = block + parts->flags;
    plan->quiet = (film_quiet *)(void *)(block + parts->quiet);
    plan->arguments = (uint16_t *)(void *)(block + parts->arguments);
    plan->free_slots = (uint16_t *)(void *)(block + parts->free_slots);
}

/* The variables of outer functions, and those that inner ones may have. */
static bool
keep_cell_slots(film_draft *draft, plan_parts *parts)
{
    const PyCodeObject *code = draft->bytecode.code;
    /* A slot may be both: list_slots finds it twice. */
    size_t most = (size_t)code->co_nfreevars + (size_t)code->co_ncellvars;
    film_plan *plan;
    uint16_t *slots;

    if (most == 0) {
        return true;
    }
    most = most < (size_t)code->co_nlocalsplus ? (size_t)code->co_nlocalsplus : most;
    parts->free_slots =
        film_draft_keep(draft, 2 * most * sizeof(uint16_t), _Alignof(uint16_t));
    if (parts->free_slots == 0) {
        return false;
    }
    plan = plan_of(draft);
    slots = film_draft_kept(draft, parts->free_slots);
    plan->free_count = list_slots(code, CO_FAST_FREE, slots);
    plan->shared_count = list_slots(code, CO_FAST_CELL, slots + plan->free_count);
    /* Nothing was kept behind them yet: the rest is given back. */
    draft->kept_bytes =
        parts->free_slots +
        ((size_t)plan->free_count + plan->shared_count) * sizeof(uint16_t);
    return true;
}

/* The slots of the arguments. */
static bool
keep_arguments(film_draft *draft, plan_parts *parts)
{
    const PyCodeObject *code = draft->bytecode.code;
    const char *kinds = PyBytes_AS_STRING(code->co_localspluskinds);
    int count = code->co_argcount + code->co_kwonlyargcount +
                ((code->co_flags & CO_VARARGS) != 0) +
                ((code->co_flags & CO_VARKEYWORDS) != 0);
    uint16_t *arguments;

    parts->arguments =
        film_draft_keep(draft, (size_t)count * sizeof(uint16_t), _Alignof(uint16_t));
    if (parts->arguments == 0 || count > code->co_nlocalsplus) {
        return false;
    }
    arguments = film_draft_kept(draft, parts->arguments);
    plan_of(draft)->argument_count = (uint16_t)count;
    for (int slot = 0; slot < count; slot++) {
        arguments[slot] = (uint16_t)slot;
        if ((kinds[slot] & CO_FAST_CELL) != 0) {
            arguments[slot] |= FILM_ARGUMENT_IN_CELL;
        }
    }
    return true;
}

static uint8_t
flags_of(const film_draft *draft, uint32_t index)
{
    const film_instruction *here = &draft->bytecode.instructions[index];
    uint8_t flags = 0;

    if ((here->traits & FILM_OP_SWALLOWS) != 0) {
        flags |= FILM_PLACE_SWALLOWS;
    }
    if (draft->points[index]) {
        flags |= FILM_PLACE_POINT;
    }
    if (here->form == FILM_FORM_RESUME) {
        flags |= here->is_start ? FILM_PLACE_START : FILM_PLACE_RESUME;
    }
    return flags;
}

/* The units behind `place`, up to `end`, belong to the instruction there. */
static void
mark_caches(uint8_t *flags, uint32_t place, uint32_t end)
{
    for (uint32_t unit = place + 1; unit < end; unit++) {
        uint32_t far = unit - place;

        far = far < FILM_CACHE_DISTANCE ? far : FILM_CACHE_DISTANCE;
        flags[unit] = (uint8_t)(FILM_PLACE_CACHE | far);
    }
}

/* The flags of all places, and where regions begin. */
static bool
keep_places(film_draft *draft, plan_parts *parts)
{
    const film_bytecode *bytecode = &draft->bytecode;
    uint32_t points = 0, regions = 0;
    film_places *places;
    uint8_t *flags;

    parts->places = film_draft_keep_zeroed(draft, bytecode->unit_count / 64 + 1,
                                           sizeof(film_places), _Alignof(film_places));
    parts->flags = film_draft_keep_zeroed(draft, bytecode->unit_count, 1, 1);
    if (parts->places == 0 || parts->flags == 0) {
        return false;
    }
    places = film_draft_kept(draft, parts->places);
    flags = film_draft_kept(draft, parts->flags);
    for (uint32_t index = 0; index < bytecode->count; index++) {
        uint32_t place = bytecode->instructions[index].place;
        uint32_t before = draft->made[index].before;

        flags[place] |= flags_of(draft, index);
        mark_caches(flags, place, film_bytecode_end(bytecode, index));
        points += draft->points[index];
        /* What was read off the stack once is to be read so by later plans, too. */
        if (before != FILM_NONE &&
            draft->writes[before].kind == FILM_WRITE_STACK_ATTRIBUTE) {
            flags[draft->writes[before].place] |= FILM_PLACE_ON_STACK;
        }
        if (draft->region_of[index] != FILM_NO_INDEX) {
            places[place / 64].begin |= (uint64_t)1 << place % 64;
            regions++;
        }
    }
    for (uint32_t at = 1; at <= bytecode->unit_count / 64; at++) {
        places[at].before = places[at - 1].before +
                            (uint32_t)__builtin_popcountll(places[at - 1].begin);
    }
    plan_of(draft)->unit_count = bytecode->unit_count;
    plan_of(draft)->point_count = points;
    plan_of(draft)->region_count = regions;
    return true;
}

static bool
keep_regions(film_draft *draft, plan_parts *parts)
{
    uint32_t at = film_draft_keep(
        draft, plan_of(draft)->region_count * sizeof(film_region), sizeof(film_region));

    parts->regions = at;
    for (uint32_t index = 0; at != 0 && index < draft->bytecode.count; index++) {
        if (draft->region_of[index] == FILM_NO_INDEX) {
            continue;
        }
        if (!film_draft_make_region(draft, &draft->regions[draft->region_of[index]],
                                    at)) {
            return false;
        }
        if (draft->bytecode.instructions[index].is_start && parts->entry == 0) {
            parts->entry = at;
        }
        at += (uint32_t)sizeof(film_region);
    }
    return at != 0;
}

/* True for a stop on the way to which variables are written and nothing else happens
 * that is to be told, at a line like any other. */
static bool
is_calm(const film_plan *plan, const film_region *region, const film_exit *exit)
{
    const film_region *next = film_exit_next(exit);
    const film_write *writes = film_exit_writes(exit);

    if (next == NULL || next->point || next->before != 0 || next->points_ahead ||
        exit->place == region->place ||
        (plan->flags[exit->place] & FILM_PLACE_QUIET) != 0) {
        return false;
    }
    for (uint32_t index = 0; index < exit->count; index++) {
        if (writes[index].kind != FILM_WRITE_FAST || writes[index].hidden) {
            return false;
        }
    }
    return true;
}

static film_near
distance(const film_near *field, const void *to)
{
    return to == NULL ? 0 : (film_near)((const char *)to - (const char *)field);
}

/* Where the stops lead to, now that all regions are made. */
static void
link_regions(film_plan *plan)
{
    for (uint32_t number = 0; number < plan->region_count; number++) {
        film_region *region = &plan->regions[number];
        film_exit *stops = film_region_stops(region);

        region->stop_place = FILM_PLAN_NO_PLACE;
        for (uint32_t stop = 0; stop < region->stop_count; stop++) {
            film_region *next = film_plan_region(plan, stops[stop].place);

            stops[stop].next = distance(&stops[stop].next, next);
            region->quiet_ahead =
                region->quiet_ahead ||
                (next != NULL && !next->point &&
                 (plan->flags[stops[stop].place] & FILM_PLACE_QUIET) != 0);
        }
        if (region->stop_count != 0) {
            region->stop_place = stops[0].place;
            region->stop_writes = stops[0].count;
            region->stop_next = distance(&region->stop_next, film_exit_next(stops));
        }
        region->change_mask = region->change_count > FILM_REGION_CHANGES
                                  ? UINT8_MAX
                                  : (uint8_t)((1u << region->change_count) - 1);
    }
}

/* What observe_quick.h may tell. */
static void
find_calm(film_plan *plan)
{
    for (uint32_t number = 0; number < plan->region_count; number++) {
        film_region *region = &plan->regions[number];
        film_exit *stops = film_region_stops(region);

        for (uint32_t stop = 0; stop < region->stop_count; stop++) {
            stops[stop].calm = is_calm(plan, region, &stops[stop]);
        }
    }
    plan->opens_calmly = plan->opening != FILM_PLAN_NO_PLACE && plan->entry != NULL &&
                         plan->entry->stop_place == plan->opening &&
                         film_region_stops(plan->entry)->calm &&
                         plan->entry->stop_writes == 0 && plan->entry->touch_count == 0;
}

/* The lines that are told with another event; the last thing that is kept. */
static bool
keep_told_lines(film_draft *draft, plan_parts *parts)
{
    size_t bytes;

    find_parts(plan_of(draft), parts);
    if (!film_draft_find_told_lines(draft, plan_of(draft))) {
        return false;
    }
    bytes = draft->quiet_count * sizeof(film_quiet);
    parts->quiet = film_draft_keep(draft, bytes, _Alignof(film_quiet));
    if (parts->quiet == 0) {
        return false;
    }
    if (bytes != 0) {
        memcpy(film_draft_kept(draft, parts->quiet), draft->quiet, bytes);
    }
    plan_of(draft)->quiet_count = (uint32_t)draft->quiet_count;
    return true;
}

/* What was kept, as the memory of the plan. Of short code a copy: the next plan is made
 * where this one was. */
static unsigned char *
take_kept(film_draft *draft, size_t bytes)
{
    unsigned char *memory;

    if (!film_draft_is_spare(draft)) {
        memory = film_realloc(draft->kept, bytes);
        if (memory != NULL) {
            draft->kept = NULL;
            draft->kept_capacity = 0;
        }
        return memory;
    }
    memory = film_realloc(NULL, bytes);
    if (memory != NULL) {
        memcpy(memory, draft->kept, draft->kept_bytes);
    }
    return memory;
}

/* The plan in a block of its own, where regions lie well. */
static film_plan *
finish_plan(film_draft *draft, const plan_parts *parts)
{
    size_t bytes = draft->kept_bytes + sizeof(film_region);
    unsigned char *memory = take_kept(draft, bytes);
    size_t ahead = -(uintptr_t)memory & (sizeof(film_region) - 1);
    film_plan *plan;

    if (memory == NULL) {
        return NULL;
    }
    if (ahead != 0) {
        memmove(memory + ahead, memory, draft->kept_bytes);
    }
    plan = (film_plan *)(void *)(memory + ahead);
    plan->memory = memory;
    plan->bytes = bytes;
    find_parts(plan, parts);
    return plan;
}

static film_plan *
make_plan(film_draft *draft)
{
    plan_parts parts = {0};
    film_plan *plan;
    unsigned char *kept;

    kept = film_grow(
        draft->kept, &draft->kept_capacity,
        sizeof(film_plan) + (size_t)draft->bytecode.unit_count * KEPT_BYTES_EACH, 1);
    if (kept == NULL) {
        return NULL;
    }
    draft->kept = kept;
    (void)film_draft_keep(draft, sizeof(film_plan), _Alignof(film_plan));
    *plan_of(draft) = (film_plan){0};
    if (!keep_places(draft, &parts) || !keep_arguments(draft, &parts) ||
        !keep_cell_slots(draft, &parts) || !keep_regions(draft, &parts) ||
        (parts.touches = film_draft_keep_touches(draft)) == 0 ||
        !keep_told_lines(draft, &parts)) {
        return NULL;
    }
    plan = finish_plan(draft, &parts);
    if (plan == NULL) {
        return NULL;
    }
    link_regions(plan);
    if (!draft->wishes->line_times) {
        find_calm(plan);
    }
    plan->names_on_stack = draft->wishes->names_on_stack;
    plan->every_place = film_draft_watches_all(draft);
    return plan;
}

film_plan *
film_plan_new(PyCodeObject *code, const film_plan_wishes *wishes)
{
    film_draft *draft = film_draft_take(code, wishes);
    film_plan *plan = NULL;

    if (draft == NULL) {
        return NULL;
    }
    if (film_draft_find_writes(draft)) {
        film_draft_find_rebound(draft);
        plan = film_draft_find_regions(draft) ? make_plan(draft) : NULL;
    }
    film_draft_give_back(draft);
    return plan;
}

void
film_plan_free(film_plan *plan)
{
    while (plan != NULL) {
        film_plan *older = plan->older;

        free(plan->secret_slots);
        film_free(plan->memory); /* the plan is in it */
        plan = older;
    }
}

uint32_t
film_plan_quiet_line(const film_plan *plan, uint32_t unit)
{
    uint32_t first = 0, end = plan->quiet_count;

    while (first < end) {
        uint32_t middle = (first + end) / 2;

        if (plan->quiet[middle].place < unit) {
            first = middle + 1;
        }
        else {
            end = middle;
        }
    }
    return first < plan->quiet_count && plan->quiet[first].place == unit
               ? plan->quiet[first].line + 1u
               : 0;
}
