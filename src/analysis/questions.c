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

static bool
is_text(film_text text, const char *other, size_t length)
{
    return text.length == length && memcmp(text.data, other, length) == 0;
}

uint32_t
film_timeline_string_id(const film_timeline *timeline, const char *name, size_t length)
{
    for (size_t i = 1; i < film_reader_string_count(timeline->reader); i++) {
        if (is_text(film_reader_string(timeline->reader, (uint32_t)i), name, length)) {
            return (uint32_t)i;
        }
    }
    return 0;
}

static uint32_t
slot_of(const film_timeline *timeline, const film_code *code, const char *name,
        size_t length)
{
    for (uint32_t i = 0; i < code->local_count; i++) {
        if (is_text(film_reader_string(timeline->reader, code->locals[i]), name,
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
        if (code == NULL || !(is_text(code->function, where, where_length) ||
                              is_text(code->qualname, where, where_length) ||
                              is_text(code->name, where, where_length))) {
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
        if (code != NULL && is_text(code->module, where, where_length)) {
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
    if ((code->flags & 3) != 3 && !is_text(code->name, "<module>", 8)) {
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

/* --- matching --- */

static bool
is_write(const film_scene_event *event)
{
    return event->kind == FILM_KIND_SET || event->kind == FILM_KIND_DELETE;
}

static uint64_t
serial_at(film_timeline *timeline, const film_scene *scene, uint32_t index)
{
    film_datum owner = film_scene_token(scene, index, 0);

    return film_timeline_serial(timeline, &owner);
}

static bool
is_key(film_timeline *timeline, const film_scene *scene, uint32_t index,
       const char *text)
{
    film_datum key = film_scene_token(scene, index, 1);
    film_moment moment = film_moment_of(scene->thread, scene->first + index);
    film_value told;

    return text[0] == '\0' ||
           (film_timeline_text(timeline, moment, &key, 512, &told, NULL) == FILM_OK &&
            is_text(told.text, text, strlen(text)));
}

/* The item of an object with that key at a moment; false: it has none. */
static bool
find_item(film_timeline *timeline, film_moment moment, uint64_t serial, const char *key,
          film_datum *out)
{
    film_datum object = {.bytes = {FILM_TOKEN_CYCLE}};
    film_content content;
    uint8_t *end = film_varint_encode(object.bytes + 1, serial);
    long long index = strtoll(key, NULL, 10);
    size_t count;

    object.length = (uint8_t)(film_varint_encode(end, 0) - object.bytes);
    if (film_timeline_content(timeline, moment, &object, &content, NULL) != FILM_OK) {
        return false;
    }
    if (content.form != FILM_OBJECT_MAPPING) {
        index = index < 0 ? index + content.length : index;
        if (index < 0 || (uint64_t)index >= content.count) {
            return false;
        }
        *out = content.items[index].value;
        return true;
    }
    count = content.count;
    for (size_t i = 0; i < count; i++) {
        film_item item = timeline->items[i];
        film_value told;
        if (film_timeline_text(timeline, moment, &item.key, 512, &told, NULL) ==
                FILM_OK &&
            is_text(told.text, key, strlen(key))) {
            *out = item.value;
            return true;
        }
    }
    return false;
}

/* Whether a change in place made another item of it. */
static bool
changes_item(film_timeline *timeline, const film_scene *scene, uint32_t index,
             const film_target *target)
{
    film_moment after = film_moment_of(scene->thread, scene->first + index);
    film_moment before = after;
    film_datum now, then;
    bool is, was;

    if (target->key_text[0] == '\0' || after.event == 0) {
        return true;
    }
    before.event--;
    is = find_item(timeline, after, target->serial, target->key_text, &now);
    was = find_item(timeline, before, target->serial, target->key_text, &then);
    if (!is || !was) {
        return is != was;
    }
    return now.length != then.length || memcmp(now.bytes, then.bytes, now.length) != 0;
}

static bool
is_module(const film_timeline *timeline, uint32_t one, uint32_t other)
{
    const film_code *left = film_reader_code(timeline->reader, one);
    const film_code *right = film_reader_code(timeline->reader, other);

    return left != NULL && right != NULL &&
           is_text(left->module, right->module.data, right->module.length);
}

static bool
matches_local(film_timeline *timeline, const film_target *target,
              const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    const film_node *node = &scene->nodes[event->node - 1];

    if (target->kin_count != 0 && is_write(event) && event->form == FILM_SET_LOCAL &&
        film_target_is_kin(timeline, target, scene, index)) {
        return true;
    }
    if (node->code != target->code ||
        (target->frame != 0 && node->serial != target->frame)) {
        return false;
    }
    if (event->kind == FILM_KIND_CALL) {
        return target->argument && target->slot < event->token_count;
    }
    return is_write(event) && event->form == FILM_SET_LOCAL &&
           event->number == target->slot;
}

static bool
matches_object(film_timeline *timeline, const film_target *target,
               const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    bool owned =
        is_write(event) &&
        (event->form == FILM_SET_ATTRIBUTE || event->form == FILM_SET_ITEM ||
         event->form == FILM_SET_ATTRIBUTE_VIA || event->form == FILM_SET_ITEM_VIA);

    return (owned || event->kind == FILM_KIND_CHANGE) &&
           serial_at(timeline, scene, index) == target->serial;
}

bool
film_target_matches(film_timeline *timeline, const film_target *target,
                    const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    const film_node *node;

    if (event->node == 0 || (!is_write(event) && event->kind != FILM_KIND_CHANGE &&
                             event->kind != FILM_KIND_CALL)) {
        return false;
    }
    node = &scene->nodes[event->node - 1];
    switch (target->kind) {
    case FILM_TARGET_LOCAL:
        return matches_local(timeline, target, scene, index);
    case FILM_TARGET_ATTRIBUTE:
        return is_write(event) &&
               (event->form == FILM_SET_ATTRIBUTE ||
                event->form == FILM_SET_ATTRIBUTE_VIA) &&
               event->number == target->name &&
               (target->serial == 0 ||
                serial_at(timeline, scene, index) == target->serial);
    case FILM_TARGET_ITEM:
        if (event->kind == FILM_KIND_CHANGE) { /* the item may be among what changed */
            return serial_at(timeline, scene, index) == target->serial &&
                   changes_item(timeline, scene, index, target);
        }
        return is_write(event) &&
               (event->form == FILM_SET_ITEM || event->form == FILM_SET_ITEM_VIA) &&
               serial_at(timeline, scene, index) == target->serial &&
               is_key(timeline, scene, index, target->key_text);
    case FILM_TARGET_GLOBAL:
        return is_write(event) && event->form == FILM_SET_GLOBAL &&
               event->number == target->name &&
               is_module(timeline, node->code, target->code);
    case FILM_TARGET_CLASS:
        return is_write(event) && event->form == FILM_SET_CLASS &&
               event->number == target->name && node->serial == target->frame;
    case FILM_TARGET_OBJECT:
    default:
        return matches_object(timeline, target, scene, index);
    }
}

size_t
film_target_wanted(const film_target *target, film_wanted *wanted)
{
    size_t count = 0;

    memset(wanted, 0, FILM_TARGET_WANTED * sizeof(*wanted));
    switch (target->kind) {
    case FILM_TARGET_LOCAL:
        wanted[count++] = (film_wanted){
            .kind = FILM_WANTED_SLOT, .code = target->code, .number = target->slot};
        if (target->argument && (target->frame == 0 || target->least == 0)) {
            wanted[count++] =
                (film_wanted){.kind = FILM_WANTED_CALL, .code = target->code};
        }
        for (uint32_t i = 0; i < target->kin_count; i++) {
            wanted[count++] = (film_wanted){.kind = FILM_WANTED_SLOT,
                                            .code = target->kin[i].code,
                                            .number = target->kin[i].slot};
        }
        break;
    case FILM_TARGET_ATTRIBUTE:
        wanted[count++] = (film_wanted){.kind = FILM_WANTED_WRITE,
                                        .number = target->name,
                                        .write = FILM_TOUCHED_ATTRIBUTE,
                                        .serial = target->serial};
        break;
    case FILM_TARGET_GLOBAL:
        wanted[count++] = (film_wanted){.kind = FILM_WANTED_WRITE,
                                        .number = target->name,
                                        .write = FILM_TOUCHED_GLOBAL};
        break;
    case FILM_TARGET_CLASS:
        wanted[count++] = (film_wanted){.kind = FILM_WANTED_CODE, .code = target->code};
        break;
    case FILM_TARGET_OBJECT:
        wanted[count++] = (film_wanted){.kind = FILM_WANTED_WRITE,
                                        .number = FILM_ANY_NAME,
                                        .write = FILM_TOUCHED_ATTRIBUTE,
                                        .serial = target->serial};
        __attribute__((fallthrough));
    case FILM_TARGET_ITEM:
    default:
        wanted[count++] = (film_wanted){.kind = FILM_WANTED_WRITE,
                                        .write = FILM_TOUCHED_ITEM,
                                        .serial = target->serial};
        wanted[count++] = (film_wanted){.kind = FILM_WANTED_WRITE,
                                        .write = FILM_TOUCHED_CHANGE,
                                        .serial = target->serial};
        break;
    }
    return count;
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
    else if (event.kind == FILM_KIND_CHANGE && target->kind == FILM_TARGET_ITEM) {
        out->deleted =
            !find_item(timeline, moment, target->serial, target->key_text, &out->value);
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
                          .slow = target->kind == FILM_TARGET_ITEM,
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
