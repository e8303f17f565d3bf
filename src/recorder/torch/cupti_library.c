/* cupti_library.c: see cupti_library.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/cupti_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 4096u
#define MOST_CALLS 4096u /* of the driver; 13.4 has fewer than 900 */

/* What is loaded already is taken, whatever its version: two of them in one process do
 * not work. Torch loads it with itself. */
static void *
find_library(const film_cupti_options *options)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
    static const char *const folders[] = {"nvidia/cu13/lib/libcupti.so.13",
                                          "nvidia/cuda_cupti/lib/libcupti.so.12"};
    char path[PATH_BYTES];
    void *library = NULL;

    if (options->library != NULL) {
        return dlopen(options->library, RTLD_NOW | RTLD_LOCAL);
    }
    for (size_t i = 0; i < 2 && library == NULL; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    }
    for (size_t i = 0; i < 2 && library == NULL && options->packages != NULL; i++) {
        int length =
            snprintf(path, sizeof(path), "%s/%s", options->packages, folders[i]);
        if (length > 0 && (size_t)length < sizeof(path)) {
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    return library;
}

/* CUPTI 13.2 crashes in its first call where there is no driver. */
static bool
has_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

    if (driver != NULL) {
        dlclose(driver);
    }
    return driver != NULL;
}

static bool
find_functions(void *library, film_cupti_functions *out)
{
    const struct {
        const char *name;
        void *to; /* a pointer to a function's pointer */
        bool needed;
    } wanted[] = {
        {"cuptiGetVersion", &out->version, true},
        {"cuptiGetResultString", &out->say, true},
        {"cuptiSubscribe", &out->subscribe, true},
        {"cuptiUnsubscribe", &out->unsubscribe, true},
        {"cuptiActivityRegisterCallbacks", &out->callbacks, true},
        {"cuptiActivityEnable", &out->enable, true},
        {"cuptiActivityDisable", &out->disable, true},
        {"cuptiActivityFlushAll", &out->flush, true},
        {"cuptiActivityGetNextRecord", &out->next, true},
        {"cuptiActivityGetNumDroppedRecords", &out->dropped, true},
        {"cuptiGetTimestamp", &out->now, true},
        {"cuptiActivityPushExternalCorrelationId", &out->push, true},
        {"cuptiActivityPopExternalCorrelationId", &out->pop, true},
        {"cuptiActivityEnableDriverApi", &out->enable_driver, false},
        {"cuptiActivityEnableRuntimeApi", &out->enable_runtime, false},
        {"cuptiGetCallbackName", &out->call_name, false},
        {"cuptiActivityFlushPeriod", &out->flush_period, false},
    };

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        void *found = dlsym(library, wanted[i].name);
        if (found == NULL && wanted[i].needed) {
            return false;
        }
        memcpy(wanted[i].to, &found, sizeof(found));
    }
    return true;
}

bool
film_cupti_load(const film_cupti_options *options, film_cupti_functions *out,
                char *sentence)
{
    uint32_t version = 0;
    void *library = find_library(options);

    if (library == NULL) {
        snprintf(sentence, FILM_CUPTI_SENTENCE,
                 "no CUPTI (libcupti.so.13 or .12) was found beside torch");
        return false;
    }
    if (options->library == NULL && !has_driver()) {
        snprintf(sentence, FILM_CUPTI_SENTENCE, "no CUDA driver is loaded");
        return false;
    }
    if (!find_functions(library, out)) {
        snprintf(sentence, FILM_CUPTI_SENTENCE, "this CUPTI lacks functions");
        return false;
    }
    if (out->version(&version) != FILM_CUPTI_OK ||
        !film_cupti_version_is_known(version)) {
        snprintf(sentence, FILM_CUPTI_SENTENCE,
                 "the records of CUPTI version %u are not known", (unsigned)version);
        return false;
    }
    if (!film_cupti_layout_holds(out->next)) {
        snprintf(sentence, FILM_CUPTI_SENTENCE,
                 "the records of CUPTI version %u are not as expected",
                 (unsigned)version);
        return false;
    }
    return true;
}

static void
ignore_call(void *data, uint32_t domain, uint32_t id, const void *call)
{
    (void)data, (void)domain, (void)id, (void)call;
}

/* torch.profiler and nsys subscribe to calls, and only one may; so whether one can tells
 * whether they are there. */
bool
film_cupti_is_free(const film_cupti_functions *cupti, int *result)
{
    void *handle = NULL;

    *result = cupti->subscribe(&handle, ignore_call, NULL);
    if (*result != FILM_CUPTI_OK) {
        return false;
    }
    (void)cupti->unsubscribe(handle);
    return true;
}

/* Not those that make nodes of a graph. */
static bool
starts_work(const char *name)
{
    return strstr(name, "Node") == NULL && strstr(name, "HostFunc") == NULL &&
           (strstr(name, "Launch") != NULL || strstr(name, "Memcpy") != NULL ||
            strstr(name, "Memset") != NULL);
}

/* Ids that were pushed come with calls of a kind that is watched as a whole. Seen on CUDA
 * 13.0: single calls that are switched on without their kind tell nothing. So those that
 * start no work are switched off again, where that can be. */
void
film_cupti_watch_calls(const film_cupti_functions *cupti, uint32_t domain, bool watch)
{
    bool driver = domain == FILM_CUPTI_DRIVER_CALLS;
    uint32_t kind = driver ? FILM_CUPTI_DRIVER : FILM_CUPTI_RUNTIME;
    int (*enable)(uint32_t, uint8_t) =
        driver ? cupti->enable_driver : cupti->enable_runtime;

    (void)(watch ? cupti->enable(kind) : cupti->disable(kind));
    for (uint32_t call = 1;
         watch && enable != NULL && cupti->call_name != NULL && call < MOST_CALLS;
         call++) {
        const char *name = NULL;
        if (cupti->call_name(domain, call, &name) == FILM_CUPTI_OK && name != NULL &&
            !starts_work(name)) {
            (void)enable(call, false);
        }
    }
}
