/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The C++ face of borrowing, for borrow_test.c: the same macros, ended by a destructor. */

#include "jalloc/borrow.h"

#include <cstring>

extern "C" {
jstatus_t cxx_borrow_face(jhandle_t *handle, size_t *live_inside, void **second);
jstatus_t cxx_borrow_refused(jhandle_t *handle, bool *ok);
jstatus_t cxx_throw_through_a_borrow(jhandle_t *handle);
jstatus_t cxx_block_form(jhandle_t *handle, unsigned *rounds);
jstatus_t cxx_negative_size(jhandle_t *handle);
jstatus_t cxx_optimal_size(jhandle_t *handle);
}

static uint64_t live_borrows(jhandle_t *handle) {
    jhandle_stats_t stats;
    stats.struct_size = sizeof stats;
    return jhandle_get_stats(handle, &stats) == JSTATUS_SUCCESS ? stats.live_borrow_count : 0;
}

jstatus_t cxx_borrow_face(jhandle_t *handle, size_t *live_inside, void **second) {
    const int64_t second_bytes = 200; // sizes are whatever integer a program has
    JALLOC_BORROW(ws, handle, 100, second_bytes);
    if (!ws)
        return ws.status;
    memset(ws.ptr[0], 1, 100);
    memset(ws.ptr[1], 2, 200);
    jplan_t plan;
    const int64_t shape[] = {5};
    const size_t bytes[] = {300};
    jplan_init(&plan, handle, "cxx_borrow_face", "n", shape);
    jplan_add(&plan, "only", 0, 0, 1, bytes);
    JALLOC_BORROW_PLAN(planned, handle, &plan);
    if (!planned)
        return planned.status;
    *live_inside = live_borrows(handle);
    *second = ws.ptr[1];
    return ws.status;
}

jstatus_t cxx_borrow_refused(jhandle_t *handle, bool *ok) {
    JALLOC_BORROW(ws, handle, 1000000);
    *ok = ws.ok || static_cast<bool>(ws);
    return ws.status;
}

jstatus_t cxx_throw_through_a_borrow(jhandle_t *handle) {
    try {
        JALLOC_BORROW(ws, handle, 100);
        throw JSTATUS_IO_ERROR;
    } catch (jstatus_t thrown) {
        return thrown;
    }
}

jstatus_t cxx_block_form(jhandle_t *handle, unsigned *rounds) {
    JALLOC_WITH_BORROW(ws, handle, 100) {
        ++*rounds;
        if (!ws || live_borrows(handle) != 1)
            return JSTATUS_INTERNAL_ERROR;
    }
    return live_borrows(handle) == 0 ? JSTATUS_SUCCESS : JSTATUS_LEAKED;
}

jstatus_t cxx_negative_size(jhandle_t *handle) {
    const int64_t count = -1;
    JALLOC_BORROW(ws, handle, 8, count);
    return ws.status;
}

jstatus_t cxx_optimal_size(jhandle_t *handle) {
    const int64_t count = 100;
    return JALLOC_SET_OPTIMAL_SIZE(handle, count, 50);
}
