/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "contender.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ALLOCATOR_ID = 1 };

static bool said(const char *name, jstatus_t status) {
    if (status != JSTATUS_SUCCESS)
        fprintf(stderr, "bench_segment: %s: %s\n", name, jstatus_last_message());
    return status == JSTATUS_SUCCESS;
}

static bool in_segment(const contender_t *c) {
    return c->call.kind == CONTENDER_SEGMENT || c->call.kind == CONTENDER_ALLOCATOR;
}

bool contender_make(contender_t *c) {
    c->descriptor = -1;
    if (c->call.kind == CONTENDER_BOOST) {
        char name[64];
        snprintf(name, sizeof name, "jalloc-bench-%ld", (long)getpid());
        c->call.boost = boost_heap_create(name, CONTENDER_BYTES);
        if (!c->call.boost)
            fprintf(stderr, "bench_segment: %s: could not be made\n", c->name);
        return c->call.boost != NULL;
    }
    if (!in_segment(c))
        return true;
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    options.name = "bench";
    options.size_bytes = CONTENDER_BYTES;
    jshared_t *shared;
    if (said(c->name, jsegment_create(&options, &c->segment)) &&
        said(c->name, jshared_create(c->segment, ALLOCATOR_ID, NULL, &shared)) &&
        said(c->name, jsegment_export(c->segment, &c->descriptor)))
        return true;
    contender_unmake(c);
    return false;
}

void contender_unmake(contender_t *c) {
    boost_heap_destroy(c->call.boost);
    c->call.boost = NULL;
    if (c->segment)
        (void)said(c->name, jsegment_detach(c->segment));
    c->segment = NULL;
    if (c->descriptor >= 0)
        close(c->descriptor);
    c->descriptor = -1;
}

size_t contender_live_bytes(contender_t *c) {
    if (c->call.kind == CONTENDER_BOOST)
        return CONTENDER_BYTES - boost_heap_free_bytes(c->call.boost);
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    if (!in_segment(c) || !said(c->name, jsegment_get_stats(c->segment, &stats)))
        return SIZE_MAX;
    return stats.owned_bytes;
}

bool contender_is_sound(contender_t *c) {
    if (c->call.kind == CONTENDER_BOOST)
        return boost_heap_is_sound(c->call.boost);
    return !in_segment(c) || said(c->name, jsegment_verify(c->segment));
}

bool contender_join(contender_t *c) {
    if (!in_segment(c))
        return true;
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    options.descriptor = c->descriptor;
    options.threads = c->threads;
    if (!said(c->name, jsegment_attach(&options, &c->segment)) ||
        !said(c->name, jshared_open(c->segment, ALLOCATOR_ID, &c->call.shared)))
        return false;
    if (c->call.kind == CONTENDER_ALLOCATOR)
        return said(c->name, jallocator_create_shared(c->call.shared, &c->call.allocator));
    joffset_t first; /* where the segment is: a difference that no growth changes */
    if (!said(c->name, jshared_allocate(c->call.shared, 1, 0, &first)))
        return false;
    c->call.base = (char *)jsegment_pointer(c->segment, first, 1) - first;
    return said(c->name, jshared_deallocate(c->call.shared, first));
}

bool contender_leave(contender_t *c) {
    if (!in_segment(c))
        return true;
    return (!c->call.allocator || said(c->name, jallocator_destroy(c->call.allocator))) &&
           said(c->name, jsegment_detach(c->segment));
}
