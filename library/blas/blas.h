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
 *   ji_host_trsm(block)                      on the host: CBLAS, or a typed loop (host/); on a GPU the device's
 *                                            table (block.h), which its module fills
 *
 * There is one argument block per BLAS level. It is what is logged (a routine's row names the members in the order of
 * BLAS), what the algorithms take, and what a primitive is launched with: a block is at most
 * JSTREAM_MAX_ARGUMENT_BYTES, so a created stream copies it and the call returns.
 *
 * Invariants: a primitive allocates nothing, checks nothing and cannot fail; what it reads through pointers is read
 * when it runs, in stream order. Sizes are not negative and leading dimensions are right when a block leaves the
 * checks. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "blas/block.h"
#include "handle/handle.h" /* its fields and inline functions: ji_* functions do not cross the libraries */
#include "jalloc/borrow.h"
#include "jalloc/jblas.h"
#include "jalloc/log.h"

/* ---- The host's primitives ---- */

typedef void (*ji_host_function_t)(void *block);
extern const ji_host_function_t ji_host_primitives[JI_PRIMITIVE_COUNT];
#define JI_PRIMITIVE_(enumerator, function) void ji_host_##function(void *block);
JI_HOST_ALL_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_

/* Largest integer that the CBLAS takes: 2^k - 1. Tests lower it to see the splitting. */
extern int64_t ji_blas_int_max;

/* What the handle's device says of its BLAS. */
extern ji_tuning_t ji_host_tuning; /* tests change it, as they do ji_blas_int_max */
static inline const ji_tuning_t *ji_tuning(const jhandle_t *handle) {
    const ji_blas_ops_t *blas = handle->device->blas;
    return blas == NULL ? &ji_host_tuning : &blas->tuning;
}

static inline int64_t ji_integer_max(const jhandle_t *handle) {
    return handle->device->blas == NULL ? ji_blas_int_max : handle->device->blas->tuning.integer_max;
}

/* Runs a primitive in the handle's stream. */
jstatus_t ji_enqueue(jhandle_t *handle, ji_primitive_t primitive, void *block, size_t block_bytes);

/* ---- What a routine reads of its handle ---- */

static inline bool ji_is_query(const jhandle_t *handle) { return handle->state == JI_HANDLE_QUERYING; }
static inline bool ji_host_pointers(const jhandle_t *handle) { return handle->pointer_mode == JPOINTER_MODE_HOST; }

static inline jstatus_t ji_run_bytes(jhandle_t *handle, ji_primitive_t primitive, void *block, size_t block_bytes) {
    if (JI_LIKELY(handle->runs_inline)) {
        ji_host_primitives[primitive](block);
        return JSTATUS_SUCCESS;
    }
    return ji_enqueue(handle, primitive, block, block_bytes);
}
#define ji_run(handle, primitive, block) ji_run_bytes(handle, primitive, block, sizeof *(block))

/* Takes a scalar: copied now in host pointer mode, left where it is in device mode. */
static inline void ji_take(const jhandle_t *handle, ji_scalar_t *scalar, jdatatype_t type) {
    if (!ji_host_pointers(handle))
        return;
    switch (type) { /* sizes known to the compiler: no call */
    case JDATATYPE_F32: memcpy(&scalar->value, scalar->pointer, sizeof scalar->value.s); break;
    case JDATATYPE_F64: memcpy(&scalar->value, scalar->pointer, sizeof scalar->value.d); break;
    case JDATATYPE_F32_C: memcpy(&scalar->value, scalar->pointer, sizeof scalar->value.c); break;
    default: memcpy(&scalar->value, scalar->pointer, sizeof scalar->value.z); break;
    }
    scalar->pointer = NULL;
}
/* Ends a call that has a result: in host pointer mode it must be there on return. */
jstatus_t ji_wait_for_result(jhandle_t *handle, jstatus_t status);
static inline jstatus_t ji_return_result(jhandle_t *handle, jstatus_t status) {
    if (JI_LIKELY(handle->runs_inline) || !ji_host_pointers(handle))
        return status;
    return ji_wait_for_result(handle, status);
}

/* ---- Plans ---- */

typedef void (*ji_plan_function_t)(jplan_t *plan, const jhandle_t *handle, const void *block);
typedef jstatus_t (*ji_run_function_t)(jhandle_t *handle, const void *block, const jborrow_t *ws);

/* Plans, borrows, runs, and answers success, perf degraded, or why not. Also for an algorithm that calls another while
 * it holds a borrow (callee_bytes of its plan is then jplan_bytes() of the other's). The block was checked. */
jstatus_t ji_run_plan(jhandle_t *handle, void *block, ji_plan_function_t plan, ji_run_function_t run);
/* A borrow of nothing, for a way that needs nothing. */
extern const jborrow_t ji_nothing_borrowed;
/* Answers a size query: with the plan, or (NULL) that no workspace is wanted. */
jstatus_t ji_answer(jhandle_t *handle, const void *block, ji_plan_function_t plan);

/* The algorithms. Sizes are > 0, pointers are there, alpha is taken (ji_scalar_t) or on the device. Each `plan` uses
 * ji_routine_name(&block->head) as its routine, and bits_class so that the rungs with the same bits agree. */
void ji_trsm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_trsm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
/* trtri, potrf: *info is the caller's host variable in host pointer mode on a NULL stream; otherwise it is written in
 * stream order (the entry synchronizes afterwards in host mode). */
void ji_trtri_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_trtri_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
void ji_potrf_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_potrf_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
/* gemm. Asked only where ji_gemm_is_planned(); below, gemm is the primitive and plans nothing. */
void ji_gemm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat);
jstatus_t ji_gemm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws);
/* Sums in a fixed order. Asked only for n > JI_REDUCE_BLOCK; up to that the primitive is one block, in one order. */
void ji_dot_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_dot_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_dotc_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_dotc_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_nrm2_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_nrm2_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
void ji_asum_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_asum_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);
/* The largest element by the same machinery, where ji_reduce_pays() says so. */
void ji_iamax_plan(jplan_t *plan, const jhandle_t *handle, const void *vector);
jstatus_t ji_iamax_run(jhandle_t *handle, const void *vector, const jborrow_t *ws);

/* ---- Rows: what the log and the messages know of a routine ---- */

struct ji_row {
    const char *name;     /* jblas-bench's -f */
    const char *names[6]; /* the public name by type; NULL: no such routine */
    const char *format;   /* the arguments in the order of BLAS, by the names that jblas-bench has for them */
    char level;           /* '1' '2' '3': which block */
};

/* X(name, s, d, c, z, level, format). One line makes a routine loggable; its file makes it callable. */
#define JI_ROW_LIST(X)                                                                                                 \
    X(asum, "jblas_sasum", "jblas_dasum", "jblas_scasum", "jblas_dzasum", '1', "n x incx result")                      \
    X(axpy, "jblas_saxpy", "jblas_daxpy", "jblas_caxpy", "jblas_zaxpy", '1', "n alpha x incx y incy")                  \
    X(copy, "jblas_scopy", "jblas_dcopy", "jblas_ccopy", "jblas_zcopy", '1', "n x incx y incy")                        \
    X(dot, "jblas_sdot", "jblas_ddot", NULL, NULL, '1', "n x incx y incy result")                                      \
    X(dotu, NULL, NULL, "jblas_cdotu", "jblas_zdotu", '1', "n x incx y incy result")                                   \
    X(dotc, NULL, NULL, "jblas_cdotc", "jblas_zdotc", '1', "n x incx y incy result")                                   \
    X(iamax, "jblas_isamax", "jblas_idamax", "jblas_icamax", "jblas_izamax", '1', "n x incx result")                   \
    X(nrm2, "jblas_snrm2", "jblas_dnrm2", "jblas_scnrm2", "jblas_dznrm2", '1', "n x incx result")                      \
    X(scal, "jblas_sscal", "jblas_dscal", "jblas_cscal", "jblas_zscal", '1', "n alpha x incx")                         \
    X(csscal, NULL, NULL, "jblas_csscal", NULL, '1', "n realalpha x incx")                                             \
    X(zdscal, NULL, NULL, NULL, "jblas_zdscal", '1', "n realalpha x incx")                                             \
    X(swap, "jblas_sswap", "jblas_dswap", "jblas_cswap", "jblas_zswap", '1', "n x incx y incy")                        \
    X(gemv, "jblas_sgemv", "jblas_dgemv", "jblas_cgemv", "jblas_zgemv", '2',                                           \
      "transA m n alpha A lda x incx beta y incy")                                                                     \
    X(ger, "jblas_sger", "jblas_dger", NULL, NULL, '2', "m n alpha x incx y incy A lda")                               \
    X(geru, NULL, NULL, "jblas_cgeru", "jblas_zgeru", '2', "m n alpha x incx y incy A lda")                            \
    X(gerc, NULL, NULL, "jblas_cgerc", "jblas_zgerc", '2', "m n alpha x incx y incy A lda")                            \
    X(symv, "jblas_ssymv", "jblas_dsymv", NULL, NULL, '2', "uplo n alpha A lda x incx beta y incy")                    \
    X(hemv, NULL, NULL, "jblas_chemv", "jblas_zhemv", '2', "uplo n alpha A lda x incx beta y incy")                    \
    X(syr, "jblas_ssyr", "jblas_dsyr", NULL, NULL, '2', "uplo n alpha x incx A lda")                                   \
    X(her, NULL, NULL, "jblas_cher", "jblas_zher", '2', "uplo n realalpha x incx A lda")                               \
    X(trmv, "jblas_strmv", "jblas_dtrmv", "jblas_ctrmv", "jblas_ztrmv", '2', "uplo transA diag n A lda x incx")        \
    X(trsv, "jblas_strsv", "jblas_dtrsv", "jblas_ctrsv", "jblas_ztrsv", '2', "uplo transA diag n A lda x incx")        \
    X(gemm, "jblas_sgemm", "jblas_dgemm", "jblas_cgemm", "jblas_zgemm", '3',                                           \
      "transA transB m n k alpha A lda B ldb beta C ldc")                                                              \
    X(symm, "jblas_ssymm", "jblas_dsymm", "jblas_csymm", "jblas_zsymm", '3',                                           \
      "side uplo m n alpha A lda B ldb beta C ldc")                                                                    \
    X(hemm, NULL, NULL, "jblas_chemm", "jblas_zhemm", '3', "side uplo m n alpha A lda B ldb beta C ldc")               \
    X(syrk, "jblas_ssyrk", "jblas_dsyrk", "jblas_csyrk", "jblas_zsyrk", '3', "uplo transA n k alpha A lda beta C ldc") \
    X(herk, NULL, NULL, "jblas_cherk", "jblas_zherk", '3', "uplo transA n k realalpha A lda realbeta C ldc")           \
    X(trmm, "jblas_strmm", "jblas_dtrmm", "jblas_ctrmm", "jblas_ztrmm", '3',                                           \
      "side uplo transA diag m n alpha A lda B ldb")                                                                   \
    X(trsm, "jblas_strsm", "jblas_dtrsm", "jblas_ctrsm", "jblas_ztrsm", '3',                                           \
      "side uplo transA diag m n alpha A lda B ldb")                                                                   \
    X(trtri, "jblas_strtri", "jblas_dtrtri", "jblas_ctrtri", "jblas_ztrtri", '3', "uplo diag n A lda info")            \
    X(geam, "jblas_sgeam", "jblas_dgeam", "jblas_cgeam", "jblas_zgeam", '3',                                           \
      "transA transB m n alpha A lda beta B ldb C ldc")                                                                \
    X(gemm_batched, "jblas_sgemm_batched", "jblas_dgemm_batched", "jblas_cgemm_batched", "jblas_zgemm_batched", '3',   \
      "transA transB m n k alpha A lda B ldb beta C ldc batch_count")                                                  \
    X(gemm_strided_batched, "jblas_sgemm_strided_batched", "jblas_dgemm_strided_batched",                              \
      "jblas_cgemm_strided_batched", "jblas_zgemm_strided_batched", '3',                                               \
      "transA transB m n k alpha A lda stride_a B ldb stride_b beta C ldc stride_c batch_count")                       \
    X(potrf, "jblas_spotrf", "jblas_dpotrf", "jblas_cpotrf", "jblas_zpotrf", '3', "uplo n A lda info")                 \
    X(potrs, "jblas_spotrs", "jblas_dpotrs", "jblas_cpotrs", "jblas_zpotrs", '3', "uplo n nrhs A lda B ldb")

#define JI_ROW_(name, s, d, c, z, level, format) extern const ji_row_t ji_row_##name;
JI_ROW_LIST(JI_ROW_)
#undef JI_ROW_
extern const ji_row_t ji_row_gemm_half; /* gemm of the 16-bit types, whose scalars are float */

/* Static text such as "jblas_dtrsm", for messages and plans. */
static inline const char *ji_routine_name(const ji_head_t *head) { return head->row->names[head->type]; }

/* ---- Entering a routine, and the checks in it ---- */

typedef jstatus_t (*ji_call_function_t)(jhandle_t *handle, void *block);

/* False until the CBLAS was looked at, found to take integers of the width this library was built for, and self-checked
 * (host/selfcheck.c). Who reads true sees what the check has mended. */
extern _Atomic(bool) ji_cblas_ready;
/* What is not the plain case: an invalid handle, the first call, a size query, logging. */
jstatus_t ji_enter_cold(jhandle_t *handle, ji_call_function_t call, void *block) __attribute__((cold));

/* The plain case. The call function is inlined there, into each typed name: with its type and the handle's state known,
 * what is left of a small call's way are the checks. Everything else runs the one copy that the cold function calls. */
#define ji_enter(handle, call, block)                                                                                  \
    (JI_LIKELY(ji_is_plain(handle)) ? call(handle, block) : ji_enter_cold(handle, call, block))
static inline bool ji_is_plain(const jhandle_t *handle) {
    return handle != NULL && handle->state == JI_HANDLE_READY && handle->calls_are_plain;
}
#ifdef __OPTIMIZE__
#define JI_CALL static inline __attribute__((always_inline)) jstatus_t
#else /* nothing is seen through: a debugger and coverage have one copy of each call, not one for each typed name */
#define JI_CALL static inline jstatus_t
#endif

/* Refuse a call, keeping a message: "jblas_dtrsm: lda = 3: must be at least 5". `rule` has one %lld for the bound. */
jstatus_t ji_refuse(jhandle_t *handle, const ji_head_t *head, jstatus_t status, const char *argument, int64_t value,
                    const char *rule, int64_t bound) __attribute__((cold));
jstatus_t ji_refuse_pointer(jhandle_t *handle, const ji_head_t *head, const char *argument) __attribute__((cold));

/* The checks of a call function, whose parameters are `handle` and the typed block `args`. The status is returned as
 * the constant that it is: where a check is inlined, the compiler then sees that the call ends there. */
#define JI_CHECK_(condition, status, argument, value, rule, bound)                                                     \
    do {                                                                                                               \
        if (JI_UNLIKELY(!(condition)))                                                                                 \
            return (void)ji_refuse(handle, &args->head, status, argument, value, rule, bound), status;                 \
    } while (0)
#define JI_CHECK_ENUM_(argument, member, first, last, rule)                                                            \
    JI_CHECK_((unsigned)args->member - first <= last - first, JSTATUS_INVALID_VALUE, argument, (int64_t)args->member,  \
              rule, 0)
#define JI_MUST_BE_SIDE "must be JBLAS_LEFT (141) or JBLAS_RIGHT (142)"
#define JI_MUST_BE_FILL "must be JBLAS_UPPER (121) or JBLAS_LOWER (122)"
#define JI_MUST_BE_DIAGONAL "must be JBLAS_NON_UNIT (131) or JBLAS_UNIT (132)"
#define JI_MUST_BE_OPERATION                                                                                           \
    "must be JBLAS_NO_TRANSPOSE (111), JBLAS_TRANSPOSE (112) or JBLAS_CONJUGATE_TRANSPOSE (113)"
#define JI_CHECK_SIDE() JI_CHECK_ENUM_("side", side, 141u, 142u, JI_MUST_BE_SIDE)
#define JI_CHECK_UPLO() JI_CHECK_ENUM_("uplo", uplo, 121u, 122u, JI_MUST_BE_FILL)
#define JI_CHECK_DIAG() JI_CHECK_ENUM_("diag", diag, 131u, 132u, JI_MUST_BE_DIAGONAL)
#define JI_CHECK_OPERATION(argument, member) JI_CHECK_ENUM_(argument, member, 111u, 113u, JI_MUST_BE_OPERATION)
#define JI_CHECK_SIZE(argument, member)                                                                                \
    JI_CHECK_(args->member >= 0, JSTATUS_INVALID_SIZE, argument, args->member, "must be at least %lld", 0)
/* A leading dimension: at least max(1, rows), and the matrix must fit the address space. */
#define JI_CHECK_LD(member, rows, columns)                                                                             \
    do {                                                                                                               \
        JI_CHECK_(args->member >= (rows) && args->member >= 1, JSTATUS_INVALID_SIZE, #member, args->member,            \
                  "must be at least %lld", (rows) > 1 ? (rows) : 1);                                                   \
        JI_CHECK_(ji_addressable(args->member, columns), JSTATUS_INVALID_SIZE, #member, args->member,                  \
                  "with %lld columns is more than memory can hold", columns);                                          \
    } while (0)
#define JI_CHECK_INCREMENT(member, count)                                                                              \
    JI_CHECK_(ji_addressable(args->member, count), JSTATUS_INVALID_SIZE, #member, args->member,                        \
              "with %lld elements is more than memory can hold", count)
/* Of level 2, where BLAS takes no 0. */
#define JI_CHECK_INCREMENT_NOT_0(member, count)                                                                        \
    do {                                                                                                               \
        JI_CHECK_(args->member != 0, JSTATUS_INVALID_SIZE, #member, args->member, "must not be %lld", 0);              \
        JI_CHECK_INCREMENT(member, count);                                                                             \
    } while (0)
/* A stride between the matrices of a batch. */
#define JI_CHECK_STRIDE(member)                                                                                        \
    JI_CHECK_(ji_addressable(args->member, args->batch_count), JSTATUS_INVALID_SIZE, #member, args->member,            \
              "with %lld matrices is more than memory can hold", args->batch_count)
/* For routines that are not split: five numbers, not negative. What a BLAS takes is 2^k - 1, so the bitwise or of them
 * is above it exactly if one of them is. A call with nothing to do reaches no BLAS. */
#define JI_CHECK_WIDTH(something, a, b, c, d, e)                                                                       \
    JI_CHECK_(((a) | (b) | (c) | (d) | (e)) <= ji_integer_max(handle) || !(something), JSTATUS_INVALID_SIZE,           \
              "the largest size", ji_max5(a, b, c, d, e), "the BLAS in use takes at most %lld",                        \
              ji_integer_max(handle))
#define JI_CHECK_POINTER(argument, pointer)                                                                            \
    do {                                                                                                               \
        if (JI_UNLIKELY((pointer) == NULL))                                                                            \
            return (void)ji_refuse_pointer(handle, &args->head, argument), JSTATUS_INVALID_POINTER;                    \
    } while (0)

/* Checks alpha and beta, of this type, and takes them. */
#define JI_TAKE_ALPHA_BETA(type)                                                                                       \
    do {                                                                                                               \
        JI_CHECK_POINTER("alpha", args->alpha.pointer);                                                                \
        JI_CHECK_POINTER("beta", args->beta.pointer);                                                                  \
        ji_take(handle, &args->alpha, type);                                                                           \
        ji_take(handle, &args->beta, type);                                                                            \
    } while (0)
#define JI_RETURN_UNLESS_SUCCESS(expression)                                                                           \
    do {                                                                                                               \
        jstatus_t status_ = (expression);                                                                              \
        if (JI_UNLIKELY(status_ != JSTATUS_SUCCESS))                                                                   \
            return status_;                                                                                            \
    } while (0)

/* Whether stride * count elements of any type can be addressed. Two numbers below 2^29 always can: 2^58 elements of 16
 * bytes. */
#define JI_SMALL_SIZE (UINT64_C(1) << 29)
static inline bool ji_addressable(int64_t stride, int64_t count) {
    int64_t elements;
    if (JI_LIKELY((uint64_t)(stride | count) < JI_SMALL_SIZE))
        return true;
    return !__builtin_mul_overflow(stride, count, &elements) && elements <= INT64_MAX / 16 &&
           elements >= -(INT64_MAX / 16);
}
static inline int64_t ji_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ji_max5(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
    return ji_max(ji_max(ji_max(a, b), ji_max(c, d)), e);
}
/* A block has one pointer where one routine reads and another writes. */
static inline void *ji_unconst(const void *pointer) { return (void *)(uintptr_t)pointer; }
static inline int64_t ji_abs(int64_t a) { return a >= 0 ? a : a == INT64_MIN ? INT64_MAX : -a; }

/* The typed public names are made by one line per routine: M(letter, element, real, type). */
#define JI_FOR_SD(M)                                                                                                   \
    M(s, float, float, JDATATYPE_F32)                                                                                  \
    M(d, double, double, JDATATYPE_F64)
#define JI_FOR_CZ(M)                                                                                                   \
    M(c, jcomplex_f32_t, float, JDATATYPE_F32_C)                                                                       \
    M(z, jcomplex_f64_t, double, JDATATYPE_F64_C)
#define JI_FOR_SDCZ(M) JI_FOR_SD(M) JI_FOR_CZ(M)

#endif
