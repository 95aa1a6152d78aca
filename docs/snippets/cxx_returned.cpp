/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#define JALLOC_EXCEPTIONS 0

#include "snippet.h"

#include <jalloc.hpp>

static jalloc::outcome solve(jhandle_t *handle, double *A) {
    int64_t info = 0;
    return jalloc::lapack::potrf(handle, JBLAS_LOWER, 2, A, 2, &info);
}

static jstatus_t program(double *A) {
    /* snippet */
}

int main() {
    double A[] = {1, 0, 0, 1};
    EXPECT(program(A) == JSTATUS_SUCCESS);
    EXPECT(program(nullptr) == JSTATUS_INVALID_POINTER);
    return 0;
}
