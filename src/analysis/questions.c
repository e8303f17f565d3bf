/* questions.c: what a text names, and who wrote to it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/expression_tree.h"
#include "analysis/search.h"
#include "format/value_record.h"
#include "reader/reader_state.h"

#define GENERATOR_FLAGS 0x2a0u
#define CO_VARARGS 4u
#define CO_VARKEYWORDS 8u

uint32_t
film_timeline_string_id(const film_timeline *timeline, const char *name, size_t length)
{
    /* Names of tasks and threads may have several ids, and a name that is written to
     * may be among them: its own is the last. */
    for (size_t i = film_reader_string_count(timeline->reader); i > 1; i--) {
        if (film_text_is(film_reader_string(timeline->reader, (uint32_t)(i - 1)), name,
                         length)) {
            return (uint32_t)(i - 1);
        }
    }
    return 0;
}

static uint32_t
slot_of(const film_timeline *timeline, const film_code *code, const char *name,
        size_t length)
{
    for (uint32_t i = 0; i < code->local_count; i++) {
        if (film_text_is(film_reader_string(timeline->reader, code->locals[i]), name,
                         length)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static bool
is_argument(const film_code *code, uint32_t slot)
{
    return slot < code->argument_count + code->keyword_only_count +
                      ((code->flags & CO_VARARGS) != 0) +
                      ((code->flags & CO_VARKEYWORDS) != 0);
}

/* `where:name`: a global of a module, or a local of every call of a function. */
static film_status
parse_far(film_timeline *timeline, const char *where, size_t where_length,
          const char *name, film_target *out, film_error *error)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < film_reader_code_count(timeline->reader); i++) {
        const film_code *code = film_reader_code(timeline->reader, (uint32_t)i);
        uint32_t slot;
        if (code == NULL || !(film_text_is(code->function, where, where_length) ||
                              film_text_is(code->qualname, where, where_length) ||
                              film_text_is(code->name, where, where_length))) {
            continue;
        }
        slot = slot_of(timeline, code, name, length);
        if (slot != UINT32_MAX) {
            out->kind = FILM_TARGET_LOCAL;
            out->code = code->id;
            out->slot = slot;
            out->argument = is_argument(code, slot);
            film_target_find_kin(timeline, out);
            return FILM_OK;
        }
    }
    for (size_t i = 0; i < film_reader_code_count(timeline->reader); i++) {
        const film_code *code = film_reader_code(timeline->reader, (uint32_t)i);
        if (code != NULL && film_text_is(code->module, where, where_length)) {
            out->kind = FILM_TARGET_GLOBAL;
            out->code = code->id;
            out->name = film_timeline_string_id(timeline, name, length);
            if (out->name != 0) {
                return FILM_OK;
            }
        }
    }
    return film_fail(error, FILM_MISUSE, "'%.*s' has no variable '%.60s'",
                     (int)(where_length < 60 ? where_length : 60), where, name);
}

/* A plain name of a frame. */
static film_status
parse_name(film_timeline *timeline, const film_stack_frame *frame, const char *name,
           film_target *out, film_error *error)
{
    const film_code *code = film_reader_code(timeline->reader, frame->code);
    uint32_t slot =
        code == NULL ? UINT32_MAX : slot_of(timeline, code, name, strlen(name));

    out->code = frame->code;
    if (slot != UINT32_MAX) {
        out->kind = FILM_TARGET_LOCAL;
        out->frame = frame->serial;
        out->slot = slot;
        out->argument = is_argument(code, slot);
        out->least = (code->flags & GENERATOR_FLAGS) == 0 ? frame->entered : 0;
        return FILM_OK;
    }
    out->name = film_timeline_string_id(timeline, name, strlen(name));
    if (code == NULL || out->name == 0) {
        return film_fail(error, FILM_MISUSE, "'%.60s' names nothing here", name);
    }
    /* A class body's own names are told with its frame, others are the module's. */
    out->kind = FILM_TARGET_GLOBAL;
    if ((code->flags & 3) != 3 && !film_text_is(code->name, "<module>", 8)) {
        out->kind = FILM_TARGET_CLASS;
        out->frame = frame->serial;
    }
    return FILM_OK;
}

/* The owner of a.b or a[b]: its serial. */
static film_status
owner_of(film_timeline *timeline, film_moment moment, size_t index,
         film_expression *tree, uint32_t node, const char *text, film_target *out,
         film_error *error)
{
    film_evaluated owner;
    uint32_t root = tree->root;

    tree->root = node;
    FILM_TRY(film_expression_evaluate(tree, timeline, moment, index, &owner, error));
    tree->root = root;
    if (owner.outcome != FILM_EVAL_VALUE || !owner.value.is_object) {
        return film_fail(error, FILM_MISUSE, "'%.60s' names nothing here: %s", text,
                         owner.outcome != FILM_EVAL_VALUE ? owner.why
                                                          : "its owner is no object");
    }
    out->serial = owner.value.object;
    return FILM_OK;
}

static film_status
parse_path(film_timeline *timeline, film_moment moment, size_t index,
           film_expression *tree, const char *text, film_target *out, film_error *error)
{
    const film_tree_node *root = &tree->nodes[tree->root];
    const char *name = (const char *)tree->texts.data + root->text;
    const film_stack_frame *frames;
    film_stack_frame frame;
    film_evaluated key;
    size_t depth;
    uint32_t old;

    if (root->op == FILM_OP_NAME) {
        FILM_TRY(film_timeline_stack(timeline, moment, &frames, &depth, error));
        if (index >= depth) {
            return film_fail(error, FILM_MISUSE, "no frame is open at this moment");
        }
        frame = frames[index];
        return parse_name(timeline, &frame, name, out, error);
    }
    if (root->op == FILM_OP_ATTRIBUTE) {
        out->kind = FILM_TARGET_ATTRIBUTE;
        out->name = film_timeline_string_id(timeline, name, root->length);
        if (out->name == 0) {
            return film_fail(error, FILM_MISUSE, "no attribute '%.60s' was recorded",
                             name);
        }
        return owner_of(timeline, moment, index, tree, root->first, text, out, error);
    }
    if (root->op != FILM_OP_ITEM) {
        return film_fail(error, FILM_MISUSE,
                         "'%.60s' is no variable, attribute or item", text);
    }
    out->kind = FILM_TARGET_ITEM;
    FILM_TRY(owner_of(timeline, moment, index, tree, root->first, text, out, error));
    old = tree->root;
    tree->root = tree->nodes[root->first].next;
    FILM_TRY(film_expression_evaluate(tree, timeline, moment, index, &key, error));
    tree->root = old;
    if (key.outcome != FILM_EVAL_VALUE ||
        key.value.text.length >= sizeof(out->key_text)) {
        return film_fail(error, FILM_MISUSE, "the key of '%.60s' is not known", text);
    }
    memcpy(out->key_text, key.value.text.data, key.value.text.length);
    return FILM_OK;
}

film_status
film_target_parse(film_timeline *timeline, film_moment moment, size_t index,
                  const char *text, film_target *out, film_error *error)
{
    const char *colon = strchr(text, ':');
    film_expression *tree;
    film_status status;

    memset(out, 0, sizeof(*out));
    if (colon != NULL && strpbrk(text, "[\"'") == NULL) {
        return parse_far(timeline, text, (size_t)(colon - text), colon + 1, out, error);
    }
    FILM_TRY(film_expression_parse(text, strlen(text), &tree, error));
    status = parse_path(timeline, moment, index, tree, text, out, error);
    film_expression_free(tree);
    if (status == FILM_OK && out->kind == FILM_TARGET_LOCAL) {
        status = film_target_find_cell(timeline, moment, index, out, error);
    }
    return status;
}

/* --- writes --- */

static bool
match_target(void *context, film_timeline *timeline, const film_scene *scene,
             uint32_t index)
{
    return film_target_matches(timeline, context, scene, index);
}

film_status
film_written_at(film_timeline *timeline, const film_target *target, film_moment moment,
                film_written *out, film_error *error)
{
    film_scene *scene;
    film_event event;
    uint32_t index;

    memset(out, 0, sizeof(*out));
    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
    film_scene_event_of(scene, index, &event);
    out->moment = moment;
    out->code = event.code;
    out->argument = event.kind == FILM_KIND_CALL;
    out->deleted = event.kind == FILM_KIND_DELETE;
    if (out->argument) {
        out->value = film_scene_token(scene, index, target->slot);
    }
    else if (event.kind == FILM_KIND_CHANGE &&
             (target->kind == FILM_TARGET_ITEM ||
              target->kind == FILM_TARGET_ATTRIBUTE)) {
        out->deleted = !film_target_value(timeline, target, moment, &out->value);
    }
    else if (!out->deleted) {
        int at = film_event_value_index(&event, FILM_ROLE_VALUE);
        if (at >= 0) {
            out->value = film_scene_token(scene, index, (uint32_t)at);
        }
    }
    out->line = film_reader_event_line(timeline->reader, &event);
    return FILM_OK;
}

film_status
film_find_write(film_timeline *timeline, const film_target *target, film_moment from,
                bool back, const film_budget *budget, film_written *out,
                film_stop *stop, film_error *error)
{
    film_wanted wanted[FILM_TARGET_WANTED];
    film_filter filter = {.wanted = wanted,
                          .count = film_target_wanted(target, wanted)};
    film_target copy = *target;
    bool framed =
        target->kind == FILM_TARGET_LOCAL && target->frame != 0 && target->least != 0;
    film_search search = {.from = from,
                          .back = back,
                          .across = !framed && target->kind != FILM_TARGET_CLASS,
                          .slow = target->kind == FILM_TARGET_ITEM ||
                                  target->kind == FILM_TARGET_ATTRIBUTE,
                          .filter = &filter,
                          .match = match_target,
                          .context = &copy,
                          .budget = budget};

    memset(out, 0, sizeof(*out));
    if (back) {
        search.inclusive = true;
        search.least = framed ? target->least : 0;
    }
    FILM_TRY(film_search_run(timeline, &search, stop, error));
    if (stop->reason == FILM_STOP_UNFINISHED && back && stop->moment.event > 0) {
        stop->moment.event--; /* so that the same call goes on there */
    }
    if (back && framed && target->argument && stop->reason == FILM_STOP_AT_START) {
        stop->reason = FILM_STOP_ARRIVED; /* not written since its call: an argument */
        stop->moment = film_moment_of(from.thread, target->least);
    }
    if (stop->reason != FILM_STOP_ARRIVED) {
        return FILM_OK;
    }
    return film_written_at(timeline, target, stop->moment, out, error);
}
