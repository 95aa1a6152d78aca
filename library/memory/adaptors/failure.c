/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Asks a function of the caller's what to do when below has failed. It runs without a lock and may
 * call whatever it likes, this allocator too; a number of tries that it cannot want keeps one that
 * always says yes from going on for ever. */

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"

#define FAILURE_MAX_CALLS 100

typedef struct failure_adaptor {
    ji_adaptor_t adaptor;
    jallocator_t *self; /* what the function is told */
    jfailure_callback_t callback;
    void *callback_context;
} failure_adaptor_t;

static jstatus_t failure_allocate(void *context, size_t size_bytes, size_t alignment,
                                  jstream_t *stream, void **pointer) {
    failure_adaptor_t *failure = context;
    for (unsigned calls = 0;; ++calls) {
        jstatus_t status =
            jallocator_allocate(failure->adaptor.below, size_bytes, alignment, stream, pointer);
        if (JI_LIKELY(status == JSTATUS_SUCCESS) || calls == FAILURE_MAX_CALLS ||
            !failure->callback(failure->callback_context, failure->self, size_bytes, status))
            return status;
    }
}

/* The arguments of the create function in the form of options; a composition cannot name a
 * function. */
typedef struct failure_options {
    size_t struct_size;
    const char *name;
    jfailure_callback_t callback;
    void *callback_context;
} failure_options_t;

static jstatus_t failure_create(const ji_request_t *request, jallocator_t **out) {
    const failure_options_t *options = request->options;

    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = failure_allocate;
    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_failure};

    jstatus_t status = JSTATUS_SUCCESS;
    failure_adaptor_t *failure;
    JTRY_ALLOC(failure = ji_metadata_zalloc(sizeof *failure));
    failure->adaptor.below = request->below;
    failure->callback = options->callback;
    failure->callback_context = options->callback_context;

    JTRY(ji_allocator_make(&ops, failure, &traits, out));
    failure->self = *out;
    failure = NULL;

done:
    ji_metadata_free(failure);
    return status;
}

static const failure_options_t failure_defaults = {sizeof failure_defaults, NULL, NULL, NULL};

const ji_kind_t ji_kind_failure = {
    .public = {"failure", JALLOCATOR_ADAPTOR,
               "calls a function when an allocation fails, and tries again", ji_no_keys},
    .options_type = "failure_options_t",
    .options_bytes = sizeof(failure_options_t),
    .defaults = &failure_defaults,
    .create = failure_create,
};

jstatus_t jallocator_create_failure(jallocator_t *below, jfailure_callback_t callback,
                                    void *context, jallocator_t **allocator) {
    JREQUIRE(callback != NULL, JSTATUS_INVALID_POINTER);

    const failure_options_t options = {sizeof options, NULL, callback, context};
    return ji_kind_make(&ji_kind_failure, NULL, below, &options, allocator);
}
