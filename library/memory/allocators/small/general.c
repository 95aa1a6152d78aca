/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The general-purpose default: small blocks over best fit with coalescing, as one allocator.
 *
 *     general    small blocks, cached by thread
 *       bfc      large ones, and the slabs of the small ones; owned, and shown as a part of it
 *         below */

#include "memory/allocators/small/small.h"

/* Least of a region; from 12.8 MiB on they grow by percent. */
#define GENERAL_REGION_BYTES ((size_t)256 << 10)
#define GENERAL_GROWTH_PERCENT 2
/* What is larger costs less memory in best fit: a few blocks of each class would leave most of its
 * slabs unused. */
#define GENERAL_LARGEST_BYTES ((size_t)4 << 10)
/* A thread that frees a thousand blocks of all these sizes and takes as many again has them in its
 * cache, whatever of it its other sizes had before. */
#define GENERAL_CACHE_BYTES ((size_t)4 << 20)

static jstatus_t general_create(const ji_request_t *request, jallocator_t **out) {
    const jgeneral_options_t *options = request->options;

    jbfc_options_t bfc_options = JBFC_OPTIONS_INIT;
    bfc_options.limit_bytes = options->limit_bytes;
    bfc_options.split_tightly = true;
    bfc_options.region_bytes = GENERAL_REGION_BYTES;
    bfc_options.growth_percent = GENERAL_GROWTH_PERCENT;
    ji_request_t bfc_request = {request->device, request->below, &bfc_options, "bfc"};
    jallocator_t *bfc;
    JTRY_RETURN(ji_kind_bfc.create(&bfc_request, &bfc));

    jsmall_options_t small_options = JSMALL_OPTIONS_INIT;
    small_options.largest_bytes =
        options->largest_bytes != 0 ? options->largest_bytes : GENERAL_LARGEST_BYTES;
    small_options.cache_bytes = GENERAL_CACHE_BYTES;
    ji_request_t small_request = {request->device, bfc, &small_options, request->name};
    jstatus_t status = ji_small_make(&small_request, &ji_kind_general, &small_options, true, out);

    if (status != JSTATUS_SUCCESS)
        (void)jallocator_destroy(bfc);
    return status;
}

static const jallocator_key_t general_keys[] = {
    {"limit", "SIZE|none|unlimited", "unlimited", "most that is taken from below"},
    {"largest", "SIZE", "4KiB", "largest small block"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t general_members[] = {
    {JI_KEY_SIZE, offsetof(jgeneral_options_t, limit_bytes), 0},
    {JI_KEY_SIZE, offsetof(jgeneral_options_t, largest_bytes), 0},
};
static const jgeneral_options_t general_defaults = JGENERAL_OPTIONS_INIT;

const ji_kind_t ji_kind_general = {
    .public = {"general", JALLOCATOR_POLICY,
               "small blocks over best fit with coalescing, \"bfc+small\" as one", general_keys},
    .members = general_members,
    .options_type = "jgeneral_options_t",
    .options_bytes = sizeof general_defaults,
    .defaults = &general_defaults,
    .create = general_create,
};

jstatus_t jallocator_create_general(jallocator_t *below, const jgeneral_options_t *options,
                                    jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_general, NULL, below, options, allocator);
}
