/* fuzz_timeline.c: any bytes as a recording, asked everything film_query answers. No
 * crash, no hang, no unbounded memory; every answer is JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "film_bytes.h"

#include "analysis/query.h"
#include "base/json.h"

/* @: thread:event. */
static const char *const the_questions[] = {
    "{\"q\": \"moment\", \"m\": \"@\", \"with\": [\"locals\"]}",
    "{\"q\": \"threads\", \"m\": \"@\"}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"next\", \"with\": [\"locals\"]}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"back-next\"}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"out\"}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"back-out\"}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"line\", \"across\": true}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"back\", \"across\": true}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"call\"}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"return\"}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"back-raise\"}",
    "{\"q\": \"move\", \"m\": \"@\", \"how\": \"raise\", \"passing\": true}",
    "{\"q\": \"exception\", \"m\": \"@\"}",
    ("{\"q\": \"breakpoints\", \"breakpoints\": [{\"kind\": \"raised\"}, {\"kind\": "
     "\"line\", \"file\": \"m.py\", \"line\": 3, \"condition\": \"z > 1\"}, {\"kind\": "
     "\"function\", \"function\": \"f\", \"hit\": \"9\"}]}"),
    ("{\"q\": \"hits\", \"function\": \"f\", \"where\": \"z > 1\", \"next\": "
     "\"@/3/2/1\"}"),
    ("{\"q\": \"move\", \"m\": \"@\", \"how\": \"reverse-continue\", \"breakpoints\": "
     "[{\"kind\": \"uncaught\"}, {\"kind\": \"raised\", \"condition\": \"a > 1\"}, "
     "{\"kind\": \"line\", \"file\": \"m.py\", \"line\": 1, \"log\": \"{x} {y.z}\"}, "
     "{\"kind\": \"object\", \"object\": 1}]}"),
    "{\"q\": \"writes\", \"m\": \"@\", \"variable\": \"a\", \"back\": true}",
    "{\"q\": \"writes\", \"m\": \"@\", \"variable\": \"self.x\", \"back\": true}",
    "{\"q\": \"history\", \"m\": \"@\", \"variable\": \"x\", \"limit\": 20}",
    "{\"q\": \"origin\", \"m\": \"@\", \"variable\": \"x\", \"depth\": 3}",
    "{\"q\": \"value\", \"m\": \"@\", \"object\": 2}",
    "{\"q\": \"evaluate\", \"m\": \"@\", \"expression\": \"[x, a.b, l[0], len(d)]\"}",
    "{\"q\": \"first\", \"m\": \"@\", \"condition\": \"x == 3\"}",
    ("{\"q\": \"hits\", \"file\": \"m.py\", \"line\": 12, \"expressions\": [\"x\"], "
     "\"m\": \"@\"}"),
    "{\"q\": \"lines\", \"file\": \"m.py\"}",
    "{\"q\": \"open\"}",
};

static void
ask(film_timeline *timeline, const char *request, film_buffer *answer, film_json *json)
{
    if (film_query(timeline, request, strlen(request), answer) == FILM_OK &&
        film_json_read(json, (const char *)answer->data, answer->length, NULL) ==
            FILM_MISUSE) {
        abort(); /* what is given is always JSON */
    }
}

static void
put_request(char *to, size_t room, const char *question, uint32_t thread,
            uint64_t event)
{
    const char *at = strchr(question, '@');

    if (at == NULL) {
        snprintf(to, room, "%s", question);
        return;
    }
    snprintf(to, room, "%.*s%u:%llu%s", (int)(at - question), question, thread,
             (unsigned long long)event, at + 1);
}

static void
interrogate(film_reader *reader)
{
    film_timeline *timeline;
    film_buffer answer = {0};
    film_json json = {0};
    char request[512];

    if (film_timeline_open(reader, &timeline, NULL) != FILM_OK) {
        return;
    }
    for (size_t i = 0; i < film_reader_thread_count(reader) && i < 3; i++) {
        const film_thread_info *thread = film_reader_thread(reader, i);
        uint64_t span = thread->end_event - thread->first_event;
        for (uint64_t part = 0; part < 5 && span > 0; part++) {
            uint64_t event = thread->first_event + part * (span - 1) / 4;
            for (size_t k = 0; k < sizeof(the_questions) / sizeof(the_questions[0]);
                 k++) {
                put_request(request, sizeof(request), the_questions[k], thread->id,
                            event);
                ask(timeline, request, &answer, &json);
            }
        }
    }
    film_json_reset(&json);
    film_buffer_reset(&answer);
    film_timeline_close(timeline);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_bytes(data, size, interrogate);
    return 0;
}
