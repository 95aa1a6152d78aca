/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Columns that are factored in a room apart from A. */

#include "lapack/lapack.h"

int64_t ji_room_ld(jdatatype_t type, int64_t m) {
    const int64_t line = 64 / (int64_t)ji_sizeof(type);
    return ((m + line - 1) / line | 1) * line;
}

void ji_room_copy(jdatatype_t type, int64_t m, int64_t n, const void *from, int64_t ld_from,
                  void *to, int64_t ld_to) {
    for (int64_t j = 0; j < n; j++)
        ji_kernels->level1[type]->copy(m, ji_at(type, from, 0, j, ld_from), 1,
                                       ji_at(type, to, 0, j, ld_to), 1);
}
