/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices that are scaled and added: what no CBLAS has. The loops are those of matrix_kernel.h, once for each type.
 * Transposed operands are read in tiles, so that both sides of a transposition stay in cache. */

#include "blas/host/cblas.h"

#define MATRIX_TILE 32

#define REAL float
#define COMPLEX 0
#define NAME(function) function##_s
#include "blas/host/matrix_kernel.h"
#define REAL double
#define COMPLEX 0
#define NAME(function) function##_d
#include "blas/host/matrix_kernel.h"
#define REAL float
#define COMPLEX 1
#define NAME(function) function##_c
#include "blas/host/matrix_kernel.h"
#define REAL double
#define COMPLEX 1
#define NAME(function) function##_z
#include "blas/host/matrix_kernel.h"

void ji_host_geam(void *block) {
    const ji_matmat_t *args = block;
#define CALL(t, value) geam_##t(args)
    HOST_BY_TYPE(args->head.type, CALL)
#undef CALL
}

void ji_host_scale_matrix(void *block) {
    const ji_matmat_t *args = block;
    jdatatype_t type = args->head.type;
    const bool clear = host_is_zero(type, &args->alpha);
    ji_vector_t column = {.head = args->head, .n = args->m, .alpha = args->alpha, .incx = 1};
    for (int64_t j = 0; j < args->n; j++) {
        column.x = ji_at(type, args->b, 0, j, args->ldb);
        if (clear)
            memset((void *)(uintptr_t)column.x, 0, (size_t)args->m * ji_sizeof(type));
        else
            ji_host_scal(&column);
    }
}
