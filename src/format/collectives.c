/* collectives.c: the public functions of torch.distributed.distributed_c10d (2.13).
 * new_subgroups and their like call new_group, which is enough.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/collectives.h"

#include <string.h>

static const film_collective_function functions[] = {
    {"all_gather", FILM_COLLECTIVE_ALL, false, NULL},
    {"all_gather_coalesced", FILM_COLLECTIVE_ALL, false, NULL},
    {"all_gather_into_tensor", FILM_COLLECTIVE_ALL, false, NULL},
    {"all_gather_object", FILM_COLLECTIVE_ALL, true, NULL},
    {"all_gather_single", FILM_COLLECTIVE_ALL, false, NULL},
    {"all_reduce", FILM_COLLECTIVE_ALL, false, NULL},
    {"all_reduce_coalesced", FILM_COLLECTIVE_ALL, false, NULL},
    {"all_to_all", FILM_COLLECTIVE_ALL, false, NULL},
    {"all_to_all_single", FILM_COLLECTIVE_ALL, false, NULL},
    {"barrier", FILM_COLLECTIVE_ALL, true, NULL},
    {"batch_isend_irecv", FILM_COLLECTIVE_PAIR, false, NULL},
    {"broadcast", FILM_COLLECTIVE_FROM_ROOT, false, "src"},
    {"broadcast_object_list", FILM_COLLECTIVE_FROM_ROOT, true, "src"},
    {"gather", FILM_COLLECTIVE_TO_ROOT, false, "dst"},
    {"gather_object", FILM_COLLECTIVE_TO_ROOT, true, "dst"},
    {"init_process_group", FILM_COLLECTIVE_BEGIN, true, NULL},
    {"irecv", FILM_COLLECTIVE_PAIR, false, NULL},
    {"isend", FILM_COLLECTIVE_PAIR, false, NULL},
    {"monitored_barrier", FILM_COLLECTIVE_ALL, true, NULL},
    {"new_group", FILM_COLLECTIVE_GROUP, true, NULL},
    {"recv", FILM_COLLECTIVE_PAIR, false, NULL},
    {"recv_object_list", FILM_COLLECTIVE_PAIR, true, NULL},
    {"reduce", FILM_COLLECTIVE_TO_ROOT, false, "dst"},
    {"reduce_scatter", FILM_COLLECTIVE_ALL, false, NULL},
    {"reduce_scatter_single", FILM_COLLECTIVE_ALL, false, NULL},
    {"reduce_scatter_tensor", FILM_COLLECTIVE_ALL, false, NULL},
    {"scatter", FILM_COLLECTIVE_FROM_ROOT, false, "src"},
    {"scatter_object_list", FILM_COLLECTIVE_FROM_ROOT, true, "src"},
    {"send", FILM_COLLECTIVE_PAIR, false, NULL},
    {"send_object_list", FILM_COLLECTIVE_PAIR, true, NULL},
    {"split_group", FILM_COLLECTIVE_GROUP, true, NULL},
};

const film_collective_function *
film_collective_find(const char *module, const char *qualname)
{
    if (strcmp(module, FILM_COLLECTIVES_MODULE) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, qualname) == 0) {
            return &functions[i];
        }
    }
    return NULL;
}
