/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JBLAS_BENCH_OPTIONS_H
#define JBLAS_BENCH_OPTIONS_H

/* What one line of jblas-bench asks for, from the command line or from a file of lines. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/jblas.h"
#include "jalloc/jlapack.h"

#define MODE_UNSET (-1)
#define UNSET INT64_MIN /* a size that was not given: the smallest that is right is taken */

typedef enum workspace_kind { WORKSPACE_DEFAULT, WORKSPACE_QUERY, WORKSPACE_SIZE } workspace_kind_t;

/* A scalar argument. One of a log line whose value was not known is 1. */
typedef struct scalar_option {
    double parts[2]; /* real, imaginary */
    bool null;       /* NULL is passed */
} scalar_option_t;

/* Pointers that are passed as NULL, besides scalars: a bit of `null_pointers` for each of a
 * problem's operands, and one for the result. */
enum {
    NULL_A = 1,
    NULL_B_OR_X = 2,
    NULL_C_OR_Y = 4,
    NULL_RESULT = 8,
    NULL_PARAM = 16,
    NULL_BERR = 32
};

typedef struct options {
    char function[32]; /* "trsm", "gemm", ... */
    jdatatype_t type;  /* one of the first four */
    int64_t m, n, k, kl, ku, nrhs, batch_count;
    int64_t lda, ldb, ldc, ldaf; /* perhaps UNSET */
    int64_t stride_a, stride_b, stride_c, stride_s, stride_param, stride_x, stride_y; /* likewise */
    int64_t incx, incy;
    /* Numbers of the jblas enums, which are the CBLAS's, or of none. */
    int side, uplo, transb, diag, norm;
    union {
        int transa, trans;
    };
    union {
        scalar_option_t alpha, c;
    };
    union {
        scalar_option_t beta, s;
    };
    double param[5]; /* rotm's */
    bool null_param; /* NULL is passed */
    /* Of routines whose types are arguments: jdatatype_t, or any number. */
    int a_type, cs_type, compute_type;
    union {
        int b_type, x_type; /* of one operand, by the name that the routine has for it */
    };
    union {
        int c_type, y_type;
    };
    int null_pointers;

    int64_t iterations, warmups; /* timed calls; calls before them */
    workspace_kind_t workspace;
    size_t workspace_bytes; /* of WORKSPACE_SIZE */
    /* jhandle_mode_t, or MODE_UNSET: what `workspace` and the environment say */
    int mode;
    size_t borrowed_bytes; /* borrowed around each call */
    size_t budget_bytes;
    bool sealed;
    int policy;       /* jresult_policy_t */
    int accuracy;     /* jaccuracy_t */
    int pointer_mode; /* jpointer_mode_t */
    char device[32];
    bool verify, json, list;
    char file[512]; /* "": none; "-": standard input */
} options_t;

/* What is taken where nothing is said. */
extern const options_t options_default;

/* Reads arguments onto `options`; argv[0] is skipped. Returns -1 to go on, or the exit status: 0
 * after --help, 2 after a message about what was not understood, which names `place` (a file's
 * line; NULL: the command line). */
int options_parse(options_t *options, int argc, char **argv, const char *place);

/* The same for a line: words apart by blanks, perhaps beginning with the program's name. Changes
 * the line. */
int options_parse_line(options_t *options, char *line, const char *place);

#endif
