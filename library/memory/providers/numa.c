/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Mappings placed on NUMA nodes, by the system call mbind on each before its first page is touched.
 *
 * Which nodes there are is read from the system's directory of them once, when the provider is
 * made. Without that directory, as on a kernel without NUMA, there is one node, 0, and nothing is
 * placed. A kernel that knows no mbind, or does not allow it, as in many containers, gives ordinary
 * pages. Both are said once by each provider. */

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/providers/mapping.h"

const char *ji_numa_directory = "/sys/devices/system/node";
int ji_numa_refusal;

typedef struct numa_provider {
    ji_mapper_t mapper;
    int mode;              /* of mbind */
    ji_numa_nodes_t nodes; /* that pages may or should be on */
    atomic_bool unplaced;  /* the system does not place pages */
} numa_provider_t;

static void numa_add_node(ji_numa_nodes_t *nodes, size_t node) {
    nodes->words[node / JI_NUMA_WORD_BITS] |= 1UL << node % JI_NUMA_WORD_BITS;
}

static bool numa_has_directory(void) { return access(ji_numa_directory, F_OK) == 0; }

static bool numa_has_node(int node) {
    char path[256];
    if (!numa_has_directory())
        return node == 0;

    snprintf(path, sizeof path, "%s/node%d", ji_numa_directory, node);
    return node < JI_NUMA_MAX_NODES && access(path, F_OK) == 0;
}

bool ji_numa_parse_nodes(const char *text, ji_numa_nodes_t *nodes) {
    bool any = false;
    memset(nodes, 0, sizeof *nodes);

    for (char *end; *text >= '0' && *text <= '9'; text = *end == ',' ? end + 1 : end) {
        unsigned long first = strtoul(text, &end, 10),
                      last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (unsigned long node = first; node <= last && node < JI_NUMA_MAX_NODES;
             ++node, any = true)
            numa_add_node(nodes, node);
    }

    return any;
}

/* The nodes that a file of the directory lists. False where there is no such file, or nothing in
 * it. */
static bool numa_read_nodes(const char *name, ji_numa_nodes_t *nodes) {
    char path[256], text[1024] = "";
    snprintf(path, sizeof path, "%s/%s", ji_numa_directory, name);

    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;

    bool read = fgets(text, sizeof text, file) != NULL;
    (void)fclose(file);
    return read && ji_numa_parse_nodes(text, nodes);
}

static int numa_current_node(void) {
    unsigned node = 0;
    return syscall(SYS_getcpu, NULL, &node, NULL) == 0 ? (int)node : 0;
}

static void numa_stay_unplaced(numa_provider_t *provider, const char *why) {
    if (!atomic_exchange_explicit(&provider->unplaced, true, memory_order_relaxed))
        jlog_write(JLOG_INFO, NULL, "allocator \"%s\": memory is not placed on NUMA nodes: %s",
                   jallocator_name(provider->mapper.self), why);
}

static jstatus_t numa_place(numa_provider_t *provider, void *memory, size_t size_bytes) {
    if (atomic_load_explicit(&provider->unplaced, memory_order_relaxed))
        return JSTATUS_SUCCESS;

    size_t size = ji_mapper_usable_size(&provider->mapper, memory, size_bytes);
    int error = ji_numa_refusal;
    /* The kernel takes the number of bits to be one more than it is. */
    if (error == 0 && syscall(SYS_mbind, memory, size, provider->mode, provider->nodes.words,
                              JI_NUMA_MAX_NODES + 1UL, 0U) != 0)
        error = errno;

    if (error == ENOSYS || error == EPERM)
        numa_stay_unplaced(provider, strerror(error));
    else if (error != 0)
        return ji_fail(JSTATUS_MEMORY_ERROR, "mbind: %s", strerror(error));
    return JSTATUS_SUCCESS;
}

static jstatus_t numa_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    numa_provider_t *provider = context;
    ji_mapper_t *mapper = &provider->mapper;
    (void)stream;

    void *memory;
    JTRY_RETURN(ji_mapper_map(mapper, size_bytes, alignment, 0, mapper->page_bytes, &memory));

    jstatus_t status = numa_place(provider, memory, size_bytes);
    if (status != JSTATUS_SUCCESS) {
        ji_mapper_unmap(mapper, memory, size_bytes);
        return status;
    }

    ji_mapper_count(mapper, size_bytes);
    *pointer = memory;
    return JSTATUS_SUCCESS;
}

/* Finds out mode and nodes. */
static jstatus_t numa_choose(numa_provider_t *provider, const jnuma_options_t *options) {
    static const int modes[] = {[JNUMA_BIND] = MPOL_BIND,
                                [JNUMA_PREFER] = MPOL_PREFERRED,
                                [JNUMA_INTERLEAVE] = MPOL_INTERLEAVE};

    if ((unsigned)options->policy > JNUMA_INTERLEAVE || options->node < -1)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "numa: policy is %d and node %d, must be of jnuma_policy_t and from -1 up",
                       (int)options->policy, options->node);

    provider->mode = modes[options->policy];

    if (options->policy == JNUMA_INTERLEAVE) {
        if (!numa_read_nodes("has_memory", &provider->nodes) &&
            !numa_read_nodes("online", &provider->nodes))
            numa_add_node(&provider->nodes, 0);
        return JSTATUS_SUCCESS;
    }

    int node = options->node;
    if (node == -1)
        node = numa_has_directory() ? numa_current_node() : 0;

    if (!numa_has_node(node))
        return ji_fail(JSTATUS_NOT_FOUND, "numa: there is no node %d in \"%s\"", node,
                       ji_numa_directory);

    numa_add_node(&provider->nodes, (size_t)node);
    return JSTATUS_SUCCESS;
}

static jstatus_t numa_create(const ji_request_t *request, jallocator_t **out) {
    jallocator_ops_t ops = ji_mapper_ops;
    ops.allocate = numa_allocate;

    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {
        .name = request->name, .threads = JALLOCATOR_THREADS_SAFE, .kind = &ji_kind_numa};

    numa_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    provider->mapper.page_bytes = ji_page_bytes();
    JTRY(numa_choose(provider, request->options));
    JTRY(ji_allocator_make(&ops, provider, &traits, out));

    provider->mapper.self = *out;

    if (!numa_has_directory())
        numa_stay_unplaced(provider, "the system has none");
    provider = NULL;

done:
    ji_metadata_free(provider);
    return status;
}

static const jnuma_options_t numa_defaults = JNUMA_OPTIONS_INIT;
static const jallocator_key_t numa_keys[] = {
    {"node", "NUMBER", "-1", "of bind and prefer; -1: the node of the calling thread"},
    {"policy", "prefer|bind|interleave", "prefer",
     "on the node while it has memory, on it alone, or over all nodes"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t numa_members[] = {
    {JI_KEY_INT, offsetof(jnuma_options_t, node), 0},
    {JI_KEY_CHOICE, offsetof(jnuma_options_t, policy), JNUMA_PREFER},
};

const ji_kind_t ji_kind_numa = {
    .public = {"numa", JALLOCATOR_PROVIDER, "mappings placed on a NUMA node, or over all of them",
               numa_keys},
    .members = numa_members,
    .options_type = "jnuma_options_t",
    .options_bytes = sizeof(jnuma_options_t),
    .defaults = &numa_defaults,
    .create = numa_create,
};

jstatus_t jallocator_create_numa(const jnuma_options_t *options, jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_numa, NULL, NULL, options, allocator);
}
