/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A lock around what is for one thread at a time. It is the object's own: an adaptor of threads
 * "lock" that passes everything on. */

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"

static jstatus_t lock_create(const ji_request_t *request, jallocator_t **out) {
    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_LOCK,
                          .kind = &ji_kind_lock};

    jstatus_t status = JSTATUS_SUCCESS;
    ji_adaptor_t *adaptor;
    JTRY_ALLOC(adaptor = ji_metadata_zalloc(sizeof *adaptor));
    adaptor->below = request->below;
    JTRY(ji_allocator_make(&ji_adaptor_ops, adaptor, &traits, out));
    adaptor = NULL;

done:
    ji_metadata_free(adaptor);
    return status;
}

const ji_kind_t ji_kind_lock = {
    .public = {"lock", JALLOCATOR_ADAPTOR,
               "one lock around each call: makes what is below safe from any thread", ji_no_keys},
    .create = lock_create,
};

jstatus_t jallocator_create_lock(jallocator_t *below, jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_lock, NULL, below, NULL, allocator);
}
