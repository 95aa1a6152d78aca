/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* At most so many bytes live. They are reserved before below is asked and come back after below has
 * a block back, so the limit holds at every moment and from any thread. */

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"

typedef struct limit_adaptor {
    ji_adaptor_t adaptor;
    size_t limit_bytes;
    atomic_size_t taken_bytes; /* live, or reserved for a moment; never above the limit */
} limit_adaptor_t;

static jstatus_t limit_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    limit_adaptor_t *limit = context;
    size_t taken = atomic_load_explicit(&limit->taken_bytes, memory_order_relaxed);

    do {
        if (size_bytes > limit->limit_bytes - taken)
            return ji_fail(JSTATUS_MEMORY_ERROR,
                           "the limit is %zu bytes, %zu are live and %zu are asked for",
                           limit->limit_bytes, taken, size_bytes);
    } while (!atomic_compare_exchange_weak_explicit(&limit->taken_bytes, &taken, taken + size_bytes,
                                                    memory_order_relaxed, memory_order_relaxed));

    jstatus_t status =
        jallocator_allocate(limit->adaptor.below, size_bytes, alignment, stream, pointer);
    if (status != JSTATUS_SUCCESS)
        atomic_fetch_sub_explicit(&limit->taken_bytes, size_bytes, memory_order_relaxed);
    return status;
}

/* The object has seen that no more comes back than is live. */
static jstatus_t limit_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    limit_adaptor_t *limit = context;
    jstatus_t status = jallocator_deallocate(limit->adaptor.below, pointer, size_bytes, stream);
    if (status == JSTATUS_SUCCESS)
        atomic_fetch_sub_explicit(&limit->taken_bytes, size_bytes, memory_order_relaxed);
    return status;
}

static void limit_get_stats(void *context, jallocator_stats_t *stats) {
    limit_adaptor_t *limit = context;
    ji_adaptor_ops.get_stats(&limit->adaptor, stats);
    stats->limit_bytes = limit->limit_bytes;
}

static jstatus_t limit_create(const ji_request_t *request, jallocator_t **out) {
    const jlimit_options_t *options = request->options;

    if (options->limit_bytes == 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "limit: limit_bytes must be given");

    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = limit_allocate;
    ops.deallocate = limit_deallocate;
    ops.get_stats = limit_get_stats;

    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_limit};

    jstatus_t status = JSTATUS_SUCCESS;
    limit_adaptor_t *limit;
    JTRY_ALLOC(limit = ji_metadata_zalloc(sizeof *limit));
    limit->adaptor.below = request->below;
    limit->limit_bytes = options->limit_bytes;

    JTRY(ji_allocator_make(&ops, limit, &traits, out));
    limit = NULL;

done:
    ji_metadata_free(limit);
    return status;
}

static const jlimit_options_t limit_defaults = JLIMIT_OPTIONS_INIT;
static const jallocator_key_t limit_keys[] = {
    {"limit", "SIZE", "", "most bytes that may be live; required"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t limit_members[] = {
    {JI_KEY_SIZE, offsetof(jlimit_options_t, limit_bytes), 0}};

const ji_kind_t ji_kind_limit = {
    .public = {"limit", JALLOCATOR_ADAPTOR,
               "refuses what would make more bytes live than its limit", limit_keys},
    .members = limit_members,
    .options_type = "jlimit_options_t",
    .options_bytes = sizeof(jlimit_options_t),
    .defaults = &limit_defaults,
    .create = limit_create,
};

jstatus_t jallocator_create_limit(jallocator_t *below, const jlimit_options_t *options,
                                  jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_limit, NULL, below, options, allocator);
}
