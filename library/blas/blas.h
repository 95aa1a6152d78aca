/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_BLAS_H
#define JALLOC_BLAS_BLAS_H

/* How jblas is built. Each routine exists once; its element type is a value, not a copy of the code:
 *
 *   jblas_dtrsm(handle, side, ..., ldb)      the public name: puts the arguments into a block (ji_matmat_t)
 *        |                                   ji_enter(): handle check; logging if the handle asks for it
 *   trsm_call(handle, block)                 checks, size query, quick return, pointers: one small file per routine
 *        |                                   routines with a plan: ji_run_plan(), which borrows
 *   ji_trsm_plan / ji_trsm_run               an algorithm on workspace, written over primitives
 *        |
 *   ji_run(handle, JI_TRSM, block)           a primitive: what a device can do by itself, in stream order
 *        |
 *   ji_host_trsm(block)                      on the host: CBLAS, or a typed loop (host/)
 *
 * There is one argument block per BLAS level. It is what is logged (a routine's row names the members in the order of
 * BLAS), what the algorithms take, and what a primitive is launched with: a block is at most
 * JSTREAM_MAX_ARGUMENT_BYTES, so a created stream copies it and the call returns.
 *
 * Invariants: a primitive allocates nothing, checks nothing and cannot fail; what it reads through pointers is read when
 * it runs, in stream order. Sizes are not negative and leading dimensions are right when a block leaves the checks. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/borrow.h"
#include "jalloc/handle.h"
#include "jalloc/jblas.h"
#include "jalloc/log.h"

#define JI_LIKELY_(condition) __builtin_expect(!!(condition), 1)
#define JI_UNLIKELY_(condition) __builtin_expect(!!(condition), 0)

/* ---- Element types: the first four of jdatatype_t, in the order s d c z ---- */

static inline bool ji_is_complex(jdatatype_t type) { return type >= JDATATYPE_F32_C; }
/* s for s and c, d for d and z. */
static inline jdatatype_t ji_real_of(jdatatype_t type) { return (jdatatype_t)((int)type & 1); }
static inline size_t ji_sizeof(jdatatype_t type) { return (size_t)4 << (((int)type & 1) + ((int)type >> 1)); }
/* Element (i, j) of a column-major matrix; ji_at(type, x, 0, i, 1) is element i of a vector. */
static inline void *ji_at(jdatatype_t type, const void *a, int64_t i, int64_t j, int64_t lda) {
    return (char *)(uintptr_t)a + (i + j * lda) * (int64_t)ji_sizeof(type);
}

/* ---- Scalars ---- */

typedef union ji_value {
    float s;
    double d;
    float c[2];
    double z[2];
} ji_value_t;

/* A scalar argument: a value that is known, or the place it is read from when the primitive runs (device pointer mode). */
typedef struct ji_scalar {
    const void *pointer; /* NULL: value holds it */
    ji_value_t value;
} ji_scalar_t;

/* Where a primitive finds the scalar. */
static inline const void *ji_scalar_data(const ji_scalar_t *scalar) {
    return scalar->pointer ? scalar->pointer : (const void *)&scalar->value;
}
/* A constant of a type, for algorithms: 0, 1, -1. */
static inline ji_scalar_t ji_constant(jdatatype_t type, double real) {
    ji_scalar_t scalar = {NULL, {.z = {0, 0}}};
    if (ji_real_of(type) == JDATATYPE_F32)
        scalar.value.s = (float)real;
    else
        scalar.value.d = real;
    return scalar;
}
/* Whether the value is known and equals `real`. A scalar still on the device equals nothing. */
static inline bool ji_scalar_is(const ji_scalar_t *scalar, jdatatype_t type, double real) {
    if (scalar->pointer)
        return false;
    const ji_value_t *v = &scalar->value;
    switch (type) {
    case JDATATYPE_F32: return v->s == real;
    case JDATATYPE_F64: return v->d == real;
    case JDATATYPE_F32_C: return v->c[0] == real && v->c[1] == 0;
    default: return v->z[0] == real && v->z[1] == 0;
    }
}

/* ---- Argument blocks, one per BLAS level ---- */

/* First member of every block. */
typedef struct ji_head {
    jdatatype_t type; /* of the matrices and vectors */
    int rung;         /* set by ji_run_plan: the rung taken, for the log; 0 elsewhere */
} ji_head_t;

typedef struct ji_vector { /* level 1 */
    ji_head_t head;
    int64_t n;
    ji_scalar_t alpha; /* axpy, scal; of the real type for csscal and zdscal */
    const void *x;     /* scal and swap write it as well */
    int64_t incx;
    void *y;
    int64_t incy;
    void *result; /* dot, nrm2, asum: a scalar; iamax: int64_t */
} ji_vector_t;

typedef struct ji_matvec { /* level 2 */
    ji_head_t head;
    jblas_fill_t uplo;
    jblas_operation_t trans;
    jblas_diagonal_t diag;
    int64_t m, n;      /* square routines use n */
    ji_scalar_t alpha; /* her: of the real type */
    const void *a;     /* ger, syr, her write it */
    int64_t lda;
    const void *x; /* trmv, trsv write it */
    int64_t incx;
    ji_scalar_t beta;
    void *y; /* ger reads it */
    int64_t incy;
} ji_matvec_t;

typedef struct ji_matmat { /* level 3, extensions, solvers */
    ji_head_t head;
    jblas_side_t side;
    jblas_fill_t uplo;
    jblas_operation_t transa, transb; /* transa is also trsm's and syrk's trans */
    jblas_diagonal_t diag;
    int64_t m, n, k;   /* potrs: n and m = nrhs */
    ji_scalar_t alpha; /* herk: of the real type */
    const void *a;     /* trtri, potrf write it; batched: the array of pointers */
    int64_t lda;
    const void *b; /* trsm, trmm, potrs write it */
    int64_t ldb;
    ji_scalar_t beta; /* herk: of the real type */
    void *c;
    int64_t ldc;
    int64_t *info;                        /* trtri, potrf */
    int64_t stride_a, stride_b, stride_c; /* strided batched, elements */
    int64_t batch_count;
} ji_matmat_t;

_Static_assert(sizeof(ji_vector_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");
_Static_assert(sizeof(ji_matvec_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");
_Static_assert(sizeof(ji_matmat_t) <= JSTREAM_MAX_ARGUMENT_BYTES, "a stream copies a block");

/* ---- Primitives ---- */

/* X(ENUMERATOR, function): JI_<ENUMERATOR> is run on the host by `void ji_host_<function>(void *block)`. An algorithm that
 * needs a primitive of its own adds a line here and a file in host/; its block may be any struct of at most
 * JSTREAM_MAX_ARGUMENT_BYTES. */
#define JI_PRIMITIVE_LIST(X)                                                                                           \
    X(AXPY, axpy)     /* level 1: ji_vector_t */                                                                       \
    X(COPY, copy)                                                                                                      \
    X(SWAP, swap)                                                                                                      \
    X(SCAL, scal)                                                                                                      \
    X(RSCAL, rscal)   /* complex x, real alpha */                                                                      \
    X(DOT, dot)       /* as CBLAS does it: for at most JI_REDUCE_BLOCK elements one fixed order */                     \
    X(DOTC, dotc)                                                                                                      \
    X(NRM2, nrm2)                                                                                                      \
    X(ASUM, asum)                                                                                                      \
    X(IAMAX, iamax)                                                                                                    \
    X(GEMV, gemv)     /* level 2: ji_matvec_t */                                                                       \
    X(GER, ger)                                                                                                        \
    X(GERC, gerc)                                                                                                      \
    X(SYMV, symv)     /* hemv for complex types */                                                                     \
    X(SYR, syr)       /* her for complex types */                                                                      \
    X(TRMV, trmv)                                                                                                      \
    X(TRSV, trsv)                                                                                                      \
    X(GEMM, gemm)     /* level 3: ji_matmat_t */                                                                       \
    X(SYMM, symm)                                                                                                      \
    X(HEMM, hemm)                                                                                                      \
    X(SYRK, syrk)                                                                                                      \
    X(HERK, herk)                                                                                                      \
    X(TRMM, trmm)                                                                                                      \
    X(TRSM, trsm)     /* substitution */                                                                               \
    X(GEAM, geam)     /* C = alpha op(A) + beta op(B); C may be A or B where their op is N */                          \
    X(COPY_MATRIX, copy_matrix)   /* B = A, m x n, uses a lda b ldb */                                                 \
    X(SCALE_MATRIX, scale_matrix) /* B = alpha B, m x n, uses b ldb; alpha 0 writes zeros whatever B holds */          \
    X(GEMM_BATCHED, gemm_batched)                                                                                      \
    X(GEMM_STRIDED, gemm_strided)                                                                                      \
    X(SET_INFO, set_info) /* *info = n, in stream order */

typedef enum ji_primitive {
#define JI_PRIMITIVE_(enumerator, function) JI_##enumerator,
    JI_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_
        JI_PRIMITIVE_COUNT
} ji_primitive_t;

typedef void (*ji_host_function_t)(void *block);
extern const ji_host_function_t ji_host_primitives[JI_PRIMITIVE_COUNT];
#define JI_PRIMITIVE_(enumerator, function) void ji_host_##function(void *block);
JI_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_

/* Largest integer that the CBLAS takes: 2^k - 1. Tests lower it to see the splitting. */
extern int64_t ji_blas_int_max;

/* Runs a primitive in the handle's stream. */
jstatus_t ji_enqueue(jhandle_t *handle, ji_primitive_t primitive, void *block, size_t block_bytes);

/* ---- What a routine reads of its handle ---- */

static inline bool ji_is_query(const jhandle_t *handle) { return jhandle_is_size_query(handle); }
static inline jstream_t *ji_stream(jhandle_t *handle) {
    jstream_t *stream = NULL;
    (void)jhandle_get_stream(handle, &stream);
    return stream;
}
static inline bool ji_host_pointers(jhandle_t *handle) {
    jpointer_mode_t mode = JPOINTER_MODE_HOST;
    (void)jhandle_get_pointer_mode(handle, &mode);
    return mode == JPOINTER_MODE_HOST;
}
static inline bool ji_same_bits(jhandle_t *handle) {
    jresult_policy_t policy = JRESULT_POLICY_FAST;
    (void)jhandle_get_result_policy(handle, &policy);
    return policy == JRESULT_POLICY_SAME_BITS;
}

static inline jstatus_t ji_run_bytes(jhandle_t *handle, ji_primitive_t primitive, void *block, size_t block_bytes) {
    if (JI_LIKELY_(ji_stream(handle) == NULL)) {
        ji_host_primitives[primitive](block);
        return JSTATUS_SUCCESS;
    }
    return ji_enqueue(handle, primitive, block, block_bytes);
}
#define ji_run(handle, primitive, block) ji_run_bytes(handle, primitive, block, sizeof *(block))

/* ---- Plans ---- */

typedef void (*ji_plan_function_t)(jplan_t *plan, const jhandle_t *handle, const void *block);
typedef jstatus_t (*ji_run_function_t)(jhandle_t *handle, const void *block, const jborrow_t *ws);

/* Plans, borrows, runs, and answers success, perf degraded, or why not. Also for an algorithm that calls another while it
 * holds a borrow (callee_bytes of its plan is then jplan_bytes() of the other's). The block was checked. */
jstatus_t ji_run_plan(jhandle_t *handle, void *block, ji_plan_function_t plan, ji_run_function_t run);
/* Answers a size query: with the plan, or (NULL) that no workspace is wanted. */
jstatus_t ji_answer(jhandle_t *handle, const void *block, ji_plan_function_t plan);

/* The algorithms. Sizes are > 0, pointers are there, alpha is taken (ji_scalar_t) or on the device. Each `plan` uses
 * ji_routine_name(&ji_row_<routine>, type) as its routine, and bits_class so that the rungs with the same bits agree. */
void ji_trsm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_trsm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
/* trtri, potrf: *info is the caller's host variable in host pointer mode on a NULL stream; otherwise it is written in
 * stream order (the entry synchronizes afterwards in host mode). */
void ji_trtri_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_trtri_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
void ji_potrf_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_potrf_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
/* Complex gemm by three real products. Asked only for complex types, fast policy and alpha, beta known or not; where it does
 * not pay, gemm runs the primitive and plans nothing. */
bool ji_gemm3m_pays(int64_t m, int64_t n, int64_t k);
void ji_gemm3m_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_gemm3m_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
/* Sums in a fixed order. Asked only for n > JI_REDUCE_BLOCK; up to that the primitive is one block, in one order. */
#define JI_REDUCE_BLOCK 4096
void ji_dot_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_dot_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_dotc_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_dotc_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_nrm2_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_nrm2_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_asum_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_asum_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);

/* ---- Rows: what the log and the messages know of a routine ---- */

typedef struct ji_row {
    const char *name;     /* jblas-bench's -f */
    const char *names[4]; /* the public name by type; NULL: no such routine */
    const char *format;   /* the arguments in the order of BLAS, by the names that jblas-bench has for them */
    char level;           /* '1' '2' '3': which block */
} ji_row_t;

/* X(row, name, s, d, c, z, level, format). One line makes a routine loggable; its file makes it callable. */
#define JI_ROW_LIST(X)                                                                                                 \
    X(asum, "asum", "sasum", "dasum", "scasum", "dzasum", '1', "n x incx result")                                      \
    X(axpy, "axpy", "saxpy", "daxpy", "caxpy", "zaxpy", '1', "n alpha x incx y incy")                                  \
    X(copy, "copy", "scopy", "dcopy", "ccopy", "zcopy", '1', "n x incx y incy")                                        \
    X(dot, "dot", "sdot", "ddot", NULL, NULL, '1', "n x incx y incy result")                                           \
    X(dotu, "dotu", NULL, NULL, "cdotu", "zdotu", '1', "n x incx y incy result")                                       \
    X(dotc, "dotc", NULL, NULL, "cdotc", "zdotc", '1', "n x incx y incy result")                                       \
    X(iamax, "iamax", "isamax", "idamax", "icamax", "izamax", '1', "n x incx result")                                  \
    X(nrm2, "nrm2", "snrm2", "dnrm2", "scnrm2", "dznrm2", '1', "n x incx result")                                      \
    X(scal, "scal", "sscal", "dscal", "cscal", "zscal", '1', "n alpha x incx")                                         \
    X(csscal, "csscal", NULL, NULL, "csscal", NULL, '1', "n realalpha x incx")                                         \
    X(zdscal, "zdscal", NULL, NULL, NULL, "zdscal", '1', "n realalpha x incx")                                         \
    X(swap, "swap", "sswap", "dswap", "cswap", "zswap", '1', "n x incx y incy")                                        \
    X(gemv, "gemv", "sgemv", "dgemv", "cgemv", "zgemv", '2', "transA m n alpha A lda x incx beta y incy")              \
    X(ger, "ger", "sger", "dger", NULL, NULL, '2', "m n alpha x incx y incy A lda")                                    \
    X(geru, "geru", NULL, NULL, "cgeru", "zgeru", '2', "m n alpha x incx y incy A lda")                                \
    X(gerc, "gerc", NULL, NULL, "cgerc", "zgerc", '2', "m n alpha x incx y incy A lda")                                \
    X(symv, "symv", "ssymv", "dsymv", NULL, NULL, '2', "uplo n alpha A lda x incx beta y incy")                        \
    X(hemv, "hemv", NULL, NULL, "chemv", "zhemv", '2', "uplo n alpha A lda x incx beta y incy")                        \
    X(syr, "syr", "ssyr", "dsyr", NULL, NULL, '2', "uplo n alpha x incx A lda")                                        \
    X(her, "her", NULL, NULL, "cher", "zher", '2', "uplo n realalpha x incx A lda")                                    \
    X(trmv, "trmv", "strmv", "dtrmv", "ctrmv", "ztrmv", '2', "uplo transA diag n A lda x incx")                        \
    X(trsv, "trsv", "strsv", "dtrsv", "ctrsv", "ztrsv", '2', "uplo transA diag n A lda x incx")                        \
    X(gemm, "gemm", "sgemm", "dgemm", "cgemm", "zgemm", '3', "transA transB m n k alpha A lda B ldb beta C ldc")       \
    X(symm, "symm", "ssymm", "dsymm", "csymm", "zsymm", '3', "side uplo m n alpha A lda B ldb beta C ldc")             \
    X(hemm, "hemm", NULL, NULL, "chemm", "zhemm", '3', "side uplo m n alpha A lda B ldb beta C ldc")                   \
    X(syrk, "syrk", "ssyrk", "dsyrk", "csyrk", "zsyrk", '3', "uplo transA n k alpha A lda beta C ldc")                 \
    X(herk, "herk", NULL, NULL, "cherk", "zherk", '3', "uplo transA n k realalpha A lda realbeta C ldc")               \
    X(trmm, "trmm", "strmm", "dtrmm", "ctrmm", "ztrmm", '3', "side uplo transA diag m n alpha A lda B ldb")            \
    X(trsm, "trsm", "strsm", "dtrsm", "ctrsm", "ztrsm", '3', "side uplo transA diag m n alpha A lda B ldb")            \
    X(trtri, "trtri", "strtri", "dtrtri", "ctrtri", "ztrtri", '3', "uplo diag n A lda info")                           \
    X(geam, "geam", "sgeam", "dgeam", "cgeam", "zgeam", '3', "transA transB m n alpha A lda beta B ldb C ldc")         \
    X(gemm_batched, "gemm_batched", "sgemm_batched", "dgemm_batched", "cgemm_batched", "zgemm_batched", '3',           \
      "transA transB m n k alpha A lda B ldb beta C ldc batch_count")                                                  \
    X(gemm_strided_batched, "gemm_strided_batched", "sgemm_strided_batched", "dgemm_strided_batched",                  \
      "cgemm_strided_batched", "zgemm_strided_batched", '3',                                                           \
      "transA transB m n k alpha A lda stride_a B ldb stride_b beta C ldc stride_c batch_count")                       \
    X(potrf, "potrf", "spotrf", "dpotrf", "cpotrf", "zpotrf", '3', "uplo n A lda info")                                \
    X(potrs, "potrs", "spotrs", "dpotrs", "cpotrs", "zpotrs", '3', "uplo n nrhs A lda B ldb")

#define JI_ROW_(row, name, s, d, c, z, level, format) extern const ji_row_t ji_row_##row;
JI_ROW_LIST(JI_ROW_)
#undef JI_ROW_

/* Static text such as "jblas_dtrsm", for messages and plans. */
static inline const char *ji_routine_name(const ji_row_t *row, jdatatype_t type) { return row->names[type]; }

/* ---- Entering a routine, and the checks in it ---- */

typedef jstatus_t (*ji_call_function_t)(jhandle_t *handle, void *block);
jstatus_t ji_enter_cold(jhandle_t *handle, const ji_row_t *row, ji_call_function_t call, void *block);

/* Refuses a call: "jblas_dtrsm: lda = 3: must be at least max(1, 5)". */
jstatus_t ji_refuse(jhandle_t *handle, jstatus_t status, const ji_row_t *row, const void *block, const char *argument,
                    int64_t value, const char *rule, int64_t bound) __attribute__((cold));

#endif
