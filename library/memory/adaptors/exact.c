/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A second set of books, to test the first: the exact size of every live block, compared with what
 * is freed and with what the allocator below says of the block when it comes, when it goes, and
 * when a check is asked for. After TensorFlow's TestableSizeTrackingAllocator. A disagreement is
 * corruption; a block that below disagrees about when it is freed stays live, since whatever were
 * freed would be the wrong thing. */

#include "jalloc/adaptor.h"
#include "memory/adaptors/live.h"

/* What below says of a block. */
static jstatus_t exact_compare(ji_live_t *exact, const ji_live_block_t *block) {
    jallocation_t known = JALLOCATION_INIT;
    const char *wrong = NULL;
    size_t usable = jallocator_usable_size(exact->below, block->pointer, block->size_bytes);

    if (jallocator_find(exact->below, block->pointer, &known) != JSTATUS_SUCCESS)
        wrong = "does not know it";
    else if (known.pointer != block->pointer)
        wrong = "has another block around it";
    else if (known.size_bytes != block->size_bytes)
        wrong = "knows another size";
    else if (known.usable_bytes < block->size_bytes || known.usable_bytes != usable)
        wrong = "knows another usable size";

    if (wrong == NULL)
        return JSTATUS_SUCCESS;
    return ji_fail(JSTATUS_CORRUPTED,
                   "allocator \"%s\": %zu bytes at %p (tag \"%s\"): \"%s\" %s (it has %zu bytes at "
                   "%p, usable %zu or %zu)",
                   exact->self->name, block->size_bytes, block->pointer, jtag_name(block->tag),
                   exact->below->name, wrong, known.size_bytes, known.pointer, known.usable_bytes,
                   usable);
}

static jstatus_t exact_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    ji_live_t *exact = context;
    void *memory;
    JTRY_RETURN(jallocator_allocate(exact->below, size_bytes, alignment, stream, &memory));

    ji_live_block_t block = {.pointer = memory, .size_bytes = size_bytes, .tag = ji_tag_current};
    jstatus_t status = exact_compare(exact, &block);
    if (status == JSTATUS_SUCCESS)
        status = ji_live_add(exact, &block);

    if (status == JSTATUS_SUCCESS)
        *pointer = memory;
    else
        ji_live_abandon(exact, stream, &block, memory, size_bytes);
    return status;
}

static jstatus_t exact_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    ji_live_t *exact = context;
    ji_live_block_t block;
    JTRY_RETURN(ji_live_take(exact, pointer, size_bytes, &block));

    jstatus_t status = exact_compare(exact, &block);
    if (status == JSTATUS_SUCCESS)
        status = jallocator_deallocate(exact->below, pointer, size_bytes, stream);

    if (status != JSTATUS_SUCCESS)
        ji_live_put_back(exact, &block);
    else
        ji_live_drop(exact, &block);

    return status;
}

static jstatus_t exact_check(void *context) {
    ji_live_t *exact = context;
    jstatus_t status = ji_live_examine(exact, exact_compare);

    return status == JSTATUS_SUCCESS ? jallocator_check(exact->below) : status;
}

static jstatus_t exact_create(const ji_request_t *request, jallocator_t **out) {
    static const jallocator_ops_t own = {
        .allocate = exact_allocate, .deallocate = exact_deallocate, .check = exact_check};
    ji_traits_t traits = {.name = request->name, .below = request->below, .kind = &ji_kind_exact};

    return ji_live_make(ji_metadata_zalloc(sizeof(ji_live_t)), &own, &traits, out);
}

const ji_kind_t ji_kind_exact = {
    .public = {"exact", JALLOCATOR_ADAPTOR,
               "remembers exact sizes and compares them with those of below; for tests",
               ji_no_keys},
    .create = exact_create,
};

jstatus_t jallocator_create_exact(jallocator_t *below, jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_exact, NULL, below, NULL, allocator);
}
