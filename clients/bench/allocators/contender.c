/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "contender.h"

#include <stdio.h>

static jstatus_t below_allocate(void *context, size_t bytes, size_t alignment, jstream_t *stream,
                                void **pointer) {
    (void)stream;
    bench_upstream_t *upstream = context;
    *pointer = upstream->allocate(upstream->context, bytes, alignment);
    return *pointer ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR;
}

static jstatus_t below_deallocate(void *context, void *pointer, size_t bytes, jstream_t *stream) {
    (void)stream;
    bench_upstream_t *upstream = context;
    upstream->deallocate(upstream->context, pointer, bytes, 1);
    return JSTATUS_SUCCESS;
}

static size_t below_page_bytes(void *context) {
    (void)context;
    return UPSTREAM_PAGE_BYTES;
}

static jstatus_t below_set_pages(void *context, void *pointer, size_t bytes,
                                 jallocator_pages_t to) {
    bench_upstream_t *upstream = context;
    (void)pointer;
    upstream_count_pages(upstream->context, bytes, to != JALLOCATOR_PAGES_DECOMMIT,
                         to == JALLOCATOR_PAGES_COMMIT);
    return JSTATUS_SUCCESS;
}

static jstatus_t make_jalloc(contender_t *contender) {
    const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                  .allocate = below_allocate,
                                  .deallocate = below_deallocate,
                                  .page_bytes = below_page_bytes,
                                  .set_pages = below_set_pages};
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    options.name = "bench-upstream";
    jstatus_t status =
        jallocator_create(&ops, &contender->upstream.face, &options, &contender->below);
    if (status == JSTATUS_SUCCESS) {
        status =
            jallocator_compose_over(contender->below, contender->name, &contender->call.allocator);
        if (status != JSTATUS_SUCCESS)
            (void)jallocator_destroy(contender->below);
    }
    return status;
}

bool contender_make(contender_t *contender, jstatus_t *status) {
    *status = JSTATUS_SUCCESS;
    if (contender->call.kind == CONTENDER_MALLOC)
        return true;
    if (!upstream_init(&contender->upstream)) {
        fprintf(stderr, "bench_allocators: no addresses for %s\n", contender->name);
        return false;
    }
    if (contender_is_ours(contender))
        *status = make_jalloc(contender);
    else
        contender->call.state =
            contender->call.peer->create(&contender->upstream.face, UPSTREAM_LIMIT);
    if (*status == JSTATUS_SUCCESS && (contender_is_ours(contender) || contender->call.state))
        return true;
    upstream_fini(&contender->upstream);
    if (*status != JSTATUS_INVALID_CONFIGURATION)
        fprintf(stderr, "bench_allocators: %s could not be made%s%s\n", contender->name,
                contender_is_ours(contender) ? ": " : "",
                contender_is_ours(contender) ? jstatus_last_message() : "");
    return false;
}

bool contender_unmake(contender_t *contender) {
    jstatus_t status = JSTATUS_SUCCESS;
    if (contender->call.kind == CONTENDER_MALLOC)
        return true;
    if (contender->call.kind == CONTENDER_PEER) {
        contender->call.peer->destroy(contender->call.state);
    } else {
        status = jallocator_destroy(contender->call.allocator);
        if (status == JSTATUS_SUCCESS)
            status = jallocator_destroy(contender->below);
        if (status != JSTATUS_SUCCESS)
            fprintf(stderr, "bench_allocators: %s\n", jstatus_last_message());
    }
    upstream_fini(&contender->upstream);
    return status == JSTATUS_SUCCESS;
}
