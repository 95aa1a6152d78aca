/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Intel's Unified Memory Framework, its disjoint pool, as a peer.
 *
 * A UMF pool stands on a memory provider, a table of functions: ours takes its memory from the
 * benchmark. The pool is safe to use from several threads, by a lock for each size class.
 *
 * - umf-disjoint: its defaults; what is larger than 2 MiB is not pooled but goes to the provider
 *   each time.
 * - umf-disjoint-large: pools requests of any size, and keeps 4096 free slabs of each size instead
 *   of 4. */

#include <stdint.h>
#include <stdlib.h>

#include <umf/memory_pool.h>
#include <umf/memory_provider.h>
#include <umf/memory_provider_ops.h>
#include <umf/pools/pool_disjoint.h>

#include "../peer.h"

enum { PAGE_BYTES = 4096, LARGE_CAPACITY = 4096 };

static umf_result_t provider_initialize(const void *params, void **provider) {
    *provider = (void *)(uintptr_t)params; /* the upstream is all it needs */
    return UMF_RESULT_SUCCESS;
}

static umf_result_t provider_finalize(void *provider) {
    (void)provider;
    return UMF_RESULT_SUCCESS;
}

static umf_result_t provider_alloc(void *provider, size_t bytes, size_t alignment, void **pointer) {
    const bench_upstream_t *upstream = provider;
    (void)alignment; /* a pool's own need, at most that of a page */
    *pointer = upstream->allocate(upstream->context, bytes, PAGE_BYTES);
    return *pointer ? UMF_RESULT_SUCCESS : UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static umf_result_t provider_free(void *provider, void *pointer, size_t bytes) {
    const bench_upstream_t *upstream = provider;
    upstream->deallocate(upstream->context, pointer, bytes, PAGE_BYTES);
    return UMF_RESULT_SUCCESS;
}

static umf_result_t provider_get_last_native_error(void *provider, const char **message,
                                                   int32_t *error) {
    (void)provider;
    *message = "";
    *error = 0;
    return UMF_RESULT_SUCCESS;
}

static umf_result_t provider_get_recommended_page_size(void *provider, size_t bytes,
                                                       size_t *page_bytes) {
    (void)provider, (void)bytes;
    *page_bytes = PAGE_BYTES;
    return UMF_RESULT_SUCCESS;
}

static umf_result_t provider_get_min_page_size(void *provider, const void *pointer,
                                               size_t *page_bytes) {
    (void)pointer;
    return provider_get_recommended_page_size(provider, 0, page_bytes);
}

static umf_result_t provider_get_name(void *provider, const char **name) {
    (void)provider;
    *name = "bench-upstream";
    return UMF_RESULT_SUCCESS;
}

static const umf_memory_provider_ops_t provider_ops = {
    .version = UMF_PROVIDER_OPS_VERSION_CURRENT,
    .initialize = provider_initialize,
    .finalize = provider_finalize,
    .alloc = provider_alloc,
    .free = provider_free,
    .get_last_native_error = provider_get_last_native_error,
    .get_recommended_page_size = provider_get_recommended_page_size,
    .get_min_page_size = provider_get_min_page_size,
    .get_name = provider_get_name,
};

static umf_result_t large_set(umf_disjoint_pool_params_handle_t params, size_t poolable_bytes) {
    umf_result_t result = umfDisjointPoolParamsSetMaxPoolableSize(params, poolable_bytes);
    return result == UMF_RESULT_SUCCESS ? umfDisjointPoolParamsSetCapacity(params, LARGE_CAPACITY)
                                        : result;
}

/* poolable_bytes: the largest request that is pooled; 0: the pool's defaults, of everything */
static umf_memory_pool_handle_t pool_create(const bench_upstream_t *upstream,
                                            size_t poolable_bytes) {
    umf_memory_provider_handle_t provider = NULL;
    umf_disjoint_pool_params_handle_t params = NULL;
    umf_memory_pool_handle_t pool = NULL;
    if (umfMemoryProviderCreate(&provider_ops, upstream, &provider) != UMF_RESULT_SUCCESS)
        return NULL;
    if (umfDisjointPoolParamsCreate(&params) == UMF_RESULT_SUCCESS &&
        (poolable_bytes == 0 || large_set(params, poolable_bytes) == UMF_RESULT_SUCCESS))
        (void)umfPoolCreate(umfDisjointPoolOps(), provider, params,
                            UMF_POOL_CREATE_FLAG_OWN_PROVIDER, &pool);
    if (params)
        (void)umfDisjointPoolParamsDestroy(params);
    if (!pool)
        (void)umfMemoryProviderDestroy(provider);
    return pool;
}

static void *default_create(const bench_upstream_t *upstream, size_t limit_bytes) {
    (void)limit_bytes;
    return pool_create(upstream, 0);
}

static void *large_create(const bench_upstream_t *upstream, size_t limit_bytes) {
    return pool_create(upstream, limit_bytes);
}

static void *pool_allocate(void *state, size_t bytes) { return umfPoolMalloc(state, bytes); }

static void pool_deallocate(void *state, void *pointer, size_t bytes) {
    (void)bytes;
    (void)umfPoolFree(state, pointer);
}

static void pool_destroy(void *state) { (void)umfPoolDestroy(state); }

static const bench_peer_t peers[] = {
    {"umf-disjoint", 1, default_create, pool_allocate, pool_deallocate, pool_destroy},
    {"umf-disjoint-large", 1, large_create, pool_allocate, pool_deallocate, pool_destroy},
};

const bench_peer_t *bench_peer_get(size_t index) {
    return index < sizeof peers / sizeof *peers ? &peers[index] : NULL;
}
