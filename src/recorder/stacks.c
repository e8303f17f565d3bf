/* stacks.c: see stacks.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/stacks.h"

#include <pthread.h>

#include "recorder/compat_objects.h"

#define STACKS 64u /* threads that are known at a time */
#define FRAMES_WALKED 256

typedef struct known_stack {
    film_context *context; /* NULL: free */
    const PyThreadState *state;
    uint64_t state_id; /* unlike its address, never used again */
    uint32_t stack_id;
} known_stack;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known_stack known[STACKS];
static unsigned next_stack;

void
film_stacks_begin(void)
{
    /* In a forked child another thread may have held it, and none of them is left. */
    (void)pthread_mutex_init(&lock, NULL);
    for (unsigned index = 0; index < STACKS; index++) {
        known[index].context = NULL;
    }
}

void
film_stacks_add(film_context *context)
{
    const PyThreadState *state = film_compat_thread_state();
    unsigned free_index = next_stack % STACKS;

    pthread_mutex_lock(&lock);
    for (unsigned index = 0; index < STACKS; index++) {
        if (known[index].context == context) {
            free_index = index;
            break;
        }
        if (known[index].context == NULL) {
            free_index = index;
        }
    }
    next_stack++;
    known[free_index] = (known_stack){
        .context = context,
        .state = state,
        .state_id = state->id,
        .stack_id = context->stack_id,
    };
    pthread_mutex_unlock(&lock);
}

void
film_stacks_forget(const film_context *context)
{
    if (context->stack_id == 0) {
        return; /* never here: it must not wait for a lock of before a fork */
    }
    pthread_mutex_lock(&lock);
    for (unsigned index = 0; index < STACKS; index++) {
        if (known[index].context == context) {
            known[index].context = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}

static bool
state_is_alive(const known_stack *stack)
{
    PyThreadState *state = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    for (; state != NULL; state = PyThreadState_Next(state)) {
        if (state == stack->state) {
            return state->id == stack->state_id;
        }
    }
    return false;
}

/* The entry's frame, if the thread is still in it; else NULL. */
static const film_frame *
live_frame(const known_stack *stack, const film_stack_entry *entry)
{
    const film_frame *frame = film_thread_frame(stack->state);

    for (int count = 0; frame != NULL && count < FRAMES_WALKED; count++) {
        if (film_frame_has_key(frame, entry->frame)) {
            return film_frame_code(frame) == entry->code ? frame : NULL;
        }
        frame = film_frame_caller(frame);
    }
    return NULL;
}

const film_stack_entry *
film_stacks_find(const film_slot_place *place, const film_frame **frame)
{
    static film_stack_entry found;
    bool is_there = false;

    pthread_mutex_lock(&lock);
    for (unsigned index = 0; index < STACKS; index++) {
        const film_context *context = known[index].context;
        const film_stack_entry *entry;

        if (context == NULL || known[index].stack_id != place->stack) {
            continue;
        }
        if (context->stack_id != place->stack ||
            context->token != film_the_session.token ||
            place->index > (size_t)(context->top - context->entries)) {
            break;
        }
        entry = context->entries + place->index;
        if (entry->serial == place->frame && state_is_alive(&known[index]) &&
            (*frame = live_frame(&known[index], entry)) != NULL) {
            found = *entry;
            is_there = true;
        }
        break;
    }
    pthread_mutex_unlock(&lock);
    return is_there ? &found : NULL;
}
