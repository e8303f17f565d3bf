/* target_match.c: see questions.h: which events write to a target.
 * A change in place of an object that code outside the recorded one made may have
 * written an item or an attribute of it: what it held before and then tells.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analysis/questions.h"
#include "analysis/search.h"
#include "format/value_record.h"
#include "reader/reader_state.h"

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
            film_text_is(told.text, text, strlen(text)));
}

/* What the item of a sequence or mapping with that key is, among its content. */
static bool
find_item(film_timeline *timeline, film_moment moment, const film_content *content,
          const char *key, film_datum *out)
{
    long long index = strtoll(key, NULL, 10);
    size_t count = content->count;

    if (content->form != FILM_OBJECT_MAPPING) {
        index = index < 0 ? index + content->length : index;
        if (index < 0 || (uint64_t)index >= count) {
            return false;
        }
        *out = content->items[index].value;
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        film_item item = timeline->items[i];
        film_value told;
        if (film_timeline_text(timeline, moment, &item.key, 512, &told, NULL) ==
                FILM_OK &&
            film_text_is(told.text, key, strlen(key))) {
            *out = item.value;
            return true;
        }
    }
    return false;
}

static bool
find_attribute(const film_content *content, film_text name, film_datum *out)
{
    for (size_t i = 0; i < content->count; i++) {
        if (film_text_is(content->items[i].name, name.data, name.length)) {
            *out = content->items[i].value;
            return true;
        }
    }
    return false;
}

bool
film_target_value(film_timeline *timeline, const film_target *target,
                  film_moment moment, film_datum *out)
{
    film_datum object = {.bytes = {FILM_TOKEN_CYCLE}};
    film_content content;
    uint8_t *end = film_varint_encode(object.bytes + 1, target->serial);

    object.length = (uint8_t)(film_varint_encode(end, 0) - object.bytes);
    if (film_timeline_content(timeline, moment, &object, &content, NULL) != FILM_OK) {
        return false;
    }
    return target->kind == FILM_TARGET_ATTRIBUTE
               ? find_attribute(&content,
                                film_reader_string(timeline->reader, target->name), out)
               : find_item(timeline, moment, &content, target->key_text, out);
}

/* Whether a change in place made another value of the target, an item or attribute of
 * what changed. */
static bool
changes_target(film_timeline *timeline, const film_scene *scene, uint32_t index,
               const film_target *target)
{
    film_moment after = film_moment_of(scene->thread, scene->first + index);
    film_moment before = after;
    film_datum now, then;
    bool is, was;

    if ((target->kind == FILM_TARGET_ITEM && target->key_text[0] == '\0') ||
        after.event == 0) {
        return true;
    }
    before.event--;
    is = film_target_value(timeline, target, after, &now);
    was = film_target_value(timeline, target, before, &then);
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
           film_text_is(left->module, right->module.data, right->module.length);
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
        if (event->kind == FILM_KIND_CHANGE) { /* it may be among what changed */
            return target->serial != 0 &&
                   serial_at(timeline, scene, index) == target->serial &&
                   changes_target(timeline, scene, index, target);
        }
        return is_write(event) &&
               (event->form == FILM_SET_ATTRIBUTE ||
                event->form == FILM_SET_ATTRIBUTE_VIA) &&
               event->number == target->name &&
               (target->serial == 0 ||
                serial_at(timeline, scene, index) == target->serial);
    case FILM_TARGET_ITEM:
        if (event->kind == FILM_KIND_CHANGE) {
            return serial_at(timeline, scene, index) == target->serial &&
                   changes_target(timeline, scene, index, target);
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
        if (target->serial != 0) {
            wanted[count++] = (film_wanted){.kind = FILM_WANTED_WRITE,
                                            .write = FILM_TOUCHED_CHANGE,
                                            .serial = target->serial};
        }
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
