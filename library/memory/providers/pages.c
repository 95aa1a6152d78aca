/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Pages of the host's memory whose addresses are kept while the system has their memory back, and
 * what a provider holds without them. Private anonymous memory alone is decommitted so, whoever
 * mapped it: the C library's blocks consist of it as well. Where the kernel refuses (pages that are
 * locked, huge pages of the reserve before Linux 5.18) the memory stays. */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/providers/provider.h"

atomic_int ji_pages_refusal;

size_t ji_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void ji_held_rise(ji_held_t *held, size_t bytes) {
    size_t now = atomic_fetch_add_explicit(&held->bytes, bytes, memory_order_relaxed) + bytes;
    size_t peak = atomic_load_explicit(&held->peak_bytes, memory_order_relaxed);
    while (peak < now &&
           !atomic_compare_exchange_weak_explicit(&held->peak_bytes, &peak, now,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void ji_held_fall(ji_held_t *held, size_t bytes) {
    atomic_fetch_sub_explicit(&held->bytes, bytes, memory_order_relaxed);
}

void ji_held_report(ji_held_t *held, jallocator_stats_t *stats) {
    stats->reserved_bytes = atomic_load_explicit(&held->bytes, memory_order_relaxed);
    stats->peak_reserved_bytes = atomic_load_explicit(&held->peak_bytes, memory_order_relaxed);
}

void ji_held_clear(ji_held_t *held) {
    atomic_store_explicit(&held->peak_bytes,
                          atomic_load_explicit(&held->bytes, memory_order_relaxed),
                          memory_order_relaxed);
}

jstatus_t ji_held_set_pages(ji_held_t *held, void *pointer, size_t size_bytes,
                            jallocator_pages_t to) {
    if (to == JALLOCATOR_PAGES_COMMIT)
        ji_held_rise(held, size_bytes);
    else if (to == JALLOCATOR_PAGES_LEAVE) /* no peak: nothing of it will be used */
        atomic_fetch_add_explicit(&held->bytes, size_bytes, memory_order_relaxed);
    if (to != JALLOCATOR_PAGES_DECOMMIT)
        return JSTATUS_SUCCESS;

    int refusal = atomic_load_explicit(&ji_pages_refusal, memory_order_relaxed);
    if (refusal != 0 || madvise(pointer, size_bytes, MADV_DONTNEED) != 0)
        return ji_fail(JSTATUS_DEVICE_ERROR, "madvise of %zu bytes at %p: %s", size_bytes, pointer,
                       strerror(refusal != 0 ? refusal : errno));
    ji_held_fall(held, size_bytes);
    return JSTATUS_SUCCESS;
}
