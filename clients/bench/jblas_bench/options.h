/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JBLAS_BENCH_OPTIONS_H
#define JBLAS_BENCH_OPTIONS_H

/* What one line of jblas-bench asks for, from the command line or from a file of lines. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/jblas.h"

#define UNSET INT64_MIN /* a size that was not given: the smallest that is right is taken */

typedef enum workspace_kind { WORKSPACE_DEFAULT, WORKSPACE_QUERY, WORKSPACE_SIZE } workspace_kind_t;

typedef struct options {
    char function[32]; /* "trsm", "gemm", ... */
    jdatatype_t type;  /* one of the first four */
    int64_t m, n, k, nrhs, batch_count;
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c; /* perhaps UNSET */
    int64_t incx, incy;
    int side, uplo, transa, transb, diag; /* numbers of the jblas enums, which are the CBLAS's */
    double alpha[2], beta[2];             /* real, imaginary */

    int64_t iterations, warmups; /* timed calls; calls before them */
    workspace_kind_t workspace;
    size_t workspace_bytes; /* of WORKSPACE_SIZE */
    int policy;             /* jresult_policy_t */
    int accuracy;           /* jaccuracy_t */
    int pointer_mode;       /* jpointer_mode_t */
    char device[32];
    bool verify, json, list;
    char file[512]; /* "": none; "-": standard input */
} options_t;

/* What is taken where nothing is said. */
extern const options_t options_default;

/* Reads arguments onto `options`; argv[0] is skipped. Returns -1 to go on, or the exit status: 0 after --help, 2 after
 * a message about what was not understood, which names `place` (a file's line; NULL: the command line). */
int options_parse(options_t *options, int argc, char **argv, const char *place);

/* The same for a line: words apart by blanks, perhaps beginning with the program's name. Changes the line. */
int options_parse_line(options_t *options, char *line, const char *place);

#endif
