/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JBLAS_BENCH_OPTIONS_H
#define JBLAS_BENCH_OPTIONS_H

/* What one line of jblas-bench asks for, from the command line or from a file of lines. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../tools/common/tool.h"
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

/* X(name, word): the pointers that may be passed as NULL, besides scalars, by their names in the
 * rows and in the log. Each has a bit of `null_pointers`. */
#define NULL_POINTERS(X)                                                                           \
    X(a, "A")                                                                                      \
    X(ap, "AP")                                                                                    \
    X(ab, "AB")                                                                                    \
    X(af, "AF")                                                                                    \
    X(b, "B")                                                                                      \
    X(bp, "bp")                                                                                    \
    X(c, "C")                                                                                      \
    X(x, "x")                                                                                      \
    X(y, "y")                                                                                      \
    X(d1, "d1")                                                                                    \
    X(d2, "d2")                                                                                    \
    X(x1, "x1")                                                                                    \
    X(y1, "y1")                                                                                    \
    X(s, "s")                                                                                      \
    X(param, "param")                                                                              \
    X(ipiv, "ipiv")                                                                                \
    X(jpvt, "jpvt")                                                                                \
    X(isuppz, "isuppz")                                                                            \
    X(tau, "tau")                                                                                  \
    X(ferr, "ferr")                                                                                \
    X(berr, "berr")                                                                                \
    X(w, "w")                                                                                      \
    X(wr, "wr")                                                                                    \
    X(wi, "wi")                                                                                    \
    X(alpha, "alpha")                                                                              \
    X(alphar, "alphar")                                                                            \
    X(alphai, "alphai")                                                                            \
    X(beta, "beta")                                                                                \
    X(u, "U")                                                                                      \
    X(vt, "VT")                                                                                    \
    X(vl, "VL")                                                                                    \
    X(vr, "VR")                                                                                    \
    X(vs, "VS")                                                                                    \
    X(z, "Z")                                                                                      \
    X(dl, "dl")                                                                                    \
    X(d, "d")                                                                                      \
    X(du, "du")                                                                                    \
    X(result, "result")                                                                            \
    X(rcond, "rcond")                                                                              \
    X(iter, "iter")                                                                                \
    X(count, "count")                                                                              \
    X(rank, "rank")                                                                                \
    X(info, "info")
#define NULL_POINTER(name, word) NULL_##name,
enum { NULL_POINTERS(NULL_POINTER) NULL_COUNT };
#undef NULL_POINTER
#define IS_NULL(options, name) (((options)->null_pointers >> NULL_##name & 1) != 0)

typedef struct options {
    char function[32]; /* "trsm", "gemm", ... */
    jdatatype_t type;  /* one of the first four */
    int64_t m, n, k, kl, ku, kd, nrhs, batch_count;
    int64_t itype, il, iu;       /* of eigenvalues: which problem, and which of them */
    int64_t lda, ldb, ldc, ldaf; /* perhaps UNSET, and what follows */
    union {
        int64_t ldu, ldvl, ldvs, ldz;
    };
    union {
        int64_t ldvt, ldvr;
    };
    int64_t stride_a, stride_b, stride_c, stride_s, stride_param, stride_x, stride_y;
    int64_t incx, incy;
    /* Numbers of the jblas enums, which are the CBLAS's, or of none. */
    int side, uplo, transb, diag, norm;
    union {
        int transa, trans;
    };
    /* jlapack_job_t and jlapack_range_t, or of none. */
    union {
        int jobz, jobu, jobvl, jobvs;
    };
    union {
        int jobvt, jobvr;
    };
    int range;
    union {
        scalar_option_t alpha, c;
    };
    union {
        scalar_option_t beta, s;
    };
    scalar_option_t above, up_to, abstol, rcond;
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
    uint64_t null_pointers;

    int64_t handle; /* number of the handle that a logged call was made with; 0: not said */
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
    bool verify, json, list, help, version;
    char file[512]; /* "": none; "-": standard input */
} options_t;

/* What is taken where nothing is said. */
extern const options_t options_default;

enum { OPTIONS_REASON_BYTES = 512 };

/* Reads arguments onto `options`; argv[0] is skipped. False where one is not understood: the reason
 * is a text without the program's name. */
bool options_parse(options_t *options, int argc, char **argv, char reason[OPTIONS_REASON_BYTES]);

/* The same for a line: words apart by blanks, perhaps beginning with the program's name. Changes
 * the line. */
bool options_parse_line(options_t *options, char *line, char reason[OPTIONS_REASON_BYTES]);

const tool_option_t *options_described(void);

#endif
