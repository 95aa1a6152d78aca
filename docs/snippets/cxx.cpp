/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc.hpp>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <vector>

static void errors(jalloc::handle &handle, int n, double *A, int64_t &info) {
    /* snippet errors */
}

static void borrow(jalloc::handle &handle, int64_t m, int n) {
    /* snippet borrow */
    EXPECT(x.size() == 6 && pivots.size() == 2 && u.size() == 3 && v.size() == 2);
}

static void pmr() {
    /* snippet pmr */
    EXPECT(x.size() == y.size());
}

static void segment(int n) {
    /* snippet segment */
    EXPECT(x.size() == 100 && !mesh);
}

int main() {
    double A[] = {1, 2, 2, 1};
    int64_t info = 0;
    jalloc::handle handle;
    errors(handle, 2, A, info);
    EXPECT(info == 2);
    errors(handle, 2, nullptr, info); // is caught
    borrow(handle, 3, 2);
    pmr();
    segment(100);
    return 0;
}
