/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Mappings of huge pages: one entry of the processor's address cache for megabytes.
 *
 * The system keeps a reserve of them, which an administrator fills (MAP_HUGETLB); where it has none
 * left, or none of this size, a mapping aligned to the page size takes its place, with the advice
 * to back it by huge pages as they can be had (MADV_HUGEPAGE). The reserve is tried again for every
 * allocation. Either way a size is rounded up to whole huge pages, so that freeing needs to know no
 * more than the size. */

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/providers/mapping.h"

#define HUGE_USUAL_PAGE_BYTES ((size_t)2 << 20) /* where the system does not say */
#define HUGE_SIZE_SHIFT 26 /* of the page size's logarithm among the flags: MAP_HUGE_SHIFT */

typedef struct huge_provider {
    ji_mapper_t mapper;
    int flags; /* of a mapping from the reserve */
    bool require;
    atomic_bool has_said; /* that it falls back */
} huge_provider_t;

/* The system's default huge page. */
static size_t huge_default_page_bytes(void) {
    size_t kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");

    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "Hugepagesize: %zu kB", &kib);

    if (file != NULL)
        (void)fclose(file);
    return ji_is_power_of_two(kib) ? kib << 10 : HUGE_USUAL_PAGE_BYTES;
}

static jstatus_t huge_fall_back(huge_provider_t *provider, size_t size_bytes, size_t alignment,
                                void **pointer) {
    size_t page = provider->mapper.page_bytes;
    char why[128];
    snprintf(why, sizeof why, "%s", jstatus_last_message());

    JTRY_RETURN(ji_mapper_map(&provider->mapper, size_bytes, alignment > page ? alignment : page, 0,
                              ji_page_bytes(), pointer));

    bool advised = madvise(*pointer, ji_mapper_usable_size(&provider->mapper, NULL, size_bytes),
                           MADV_HUGEPAGE) == 0;
    if (!atomic_exchange_explicit(&provider->has_said, true, memory_order_relaxed))
        jlog_write(JLOG_INFO, NULL,
                   "allocator \"%s\": no huge pages of %zu bytes in the system's reserve (%s): "
                   "falls back to %s",
                   jallocator_name(provider->mapper.self), page, why,
                   advised ? "transparent huge pages"
                           : "ordinary pages, for there are no transparent huge pages");

    return JSTATUS_SUCCESS;
}

static jstatus_t huge_allocate(void *context, size_t size_bytes, size_t alignment,
                               jstream_t *stream, void **pointer) {
    huge_provider_t *provider = context;
    (void)stream;

    jstatus_t status = ji_mapper_map(&provider->mapper, size_bytes, alignment, provider->flags,
                                     provider->mapper.page_bytes, pointer);
    if (status == JSTATUS_MEMORY_ERROR && !provider->require)
        status = huge_fall_back(provider, size_bytes, alignment, pointer);

    if (status == JSTATUS_SUCCESS)
        ji_mapper_count(&provider->mapper, size_bytes);
    return status;
}

static jstatus_t huge_create(const ji_request_t *request, jallocator_t **out) {
    jallocator_ops_t ops = ji_mapper_ops;
    ops.allocate = huge_allocate;

    const jhuge_options_t *options = request->options;
    size_t page = options->page_bytes != 0 ? options->page_bytes : huge_default_page_bytes();
    if (!ji_is_power_of_two(page) || page < ji_page_bytes())
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "huge: page_bytes is %zu, must be a power of two from %zu up", page,
                       ji_page_bytes());

    jstatus_t status = JSTATUS_SUCCESS;
    ji_traits_t traits = {
        .name = request->name, .threads = JALLOCATOR_THREADS_SAFE, .kind = &ji_kind_huge};

    huge_provider_t *provider;
    JTRY_ALLOC(provider = ji_metadata_zalloc(sizeof *provider));
    provider->mapper.page_bytes = page;
    /* Unsigned: the number of a page from 4 GiB up reaches the sign. */
    provider->flags = MAP_HUGETLB | (int)((unsigned)__builtin_ctzl(page) << HUGE_SIZE_SHIFT);
    provider->require = options->require;

    JTRY(ji_allocator_make(&ops, provider, &traits, out));
    provider->mapper.self = *out;
    provider = NULL;

done:
    ji_metadata_free(provider);
    return status;
}

static const jhuge_options_t huge_defaults = JHUGE_OPTIONS_INIT;
static const jallocator_key_t huge_keys[] = {
    {"page", "SIZE", "0", "size of a huge page; 0: the system's default"},
    {"require", "BOOL", "false", "fails rather than fall back where the system's reserve has none"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t huge_members[] = {
    {JI_KEY_SIZE, offsetof(jhuge_options_t, page_bytes), 0},
    {JI_KEY_BOOL, offsetof(jhuge_options_t, require), 0},
};

const ji_kind_t ji_kind_huge = {
    .public = {"huge", JALLOCATOR_PROVIDER, "mappings of huge pages", huge_keys},
    .members = huge_members,
    .options_type = "jhuge_options_t",
    .options_bytes = sizeof(jhuge_options_t),
    .defaults = &huge_defaults,
    .create = huge_create,
};

jstatus_t jallocator_create_huge(const jhuge_options_t *options, jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_huge, NULL, NULL, options, allocator);
}
