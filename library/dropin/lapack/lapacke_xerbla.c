/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LAPACKE_xerbla, which is told of what LAPACKE finds itself; a file of its own for the reason of
 * xerbla.c. */

#include <stdio.h>

#include "dropin/lapack/lapack.h"

JI_EXPORTED void JI_LAPACKE(xerbla)(const char *name, blas_int_t info);
void JI_LAPACKE(xerbla)(const char *name, blas_int_t info) {
    if (info == JI_NO_WORK || info == JI_NO_TRANSPOSE)
        fprintf(stderr, "%s had no memory\n", name);
    else if (info < 0)
        fprintf(stderr, "Parameter %lld to routine %s was incorrect\n", -(long long)info, name);
}
