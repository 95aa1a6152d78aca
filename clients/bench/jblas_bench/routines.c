/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The routines: one table, a row each. Element types are dispatched at run time: operands are void pointers, which C
 * converts to whatever the routine of that type wants, and scalars are pointers too. The CBLAS takes real scalars by
 * value; ARGS lists below therefore take VALUE, which reads a scalar for s and d and passes the pointer for c and z. */

#include <cblas.h>
#include <string.h>

#include "problem.h"

/* ---- Operands ---- */

static int64_t at_least_1(int64_t n) { return n > 1 ? n : 1; }
static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

static operand_t *matrix(problem_t *p, int which, int64_t rows, int64_t columns, fill_t fill, bool written) {
    const options_t *o = p->options;
    const int64_t ld[OPERANDS] = {o->lda, o->ldb, o->ldc};
    operand_t *operand = &p->operand[which];
    operand->rows = max_of(rows, 0);
    operand->columns = max_of(columns, 0);
    operand->ld = ld[which] == UNSET ? at_least_1(rows) : ld[which];
    operand->fill = fill;
    operand->written = written;
    operand->batch = 1;
    operand->present = true;
    return operand;
}

static void vector(problem_t *p, int which, int64_t length, int64_t increment, bool written) {
    operand_t *operand = matrix(p, which, length, 1, FILL_GENERAL, written);
    operand->vector = true;
    operand->ld = increment;
}

static int64_t order_of_a(const options_t *o) { return o->side == JBLAS_LEFT ? o->m : o->n; }
static bool plain(int trans) { return trans == JBLAS_NO_TRANSPOSE; }

static void setup_x_in(problem_t *p) {
    vector(p, 1, p->options->n, p->options->incx, false);
    p->terms = p->options->n;
}
static void setup_x_out(problem_t *p) { vector(p, 1, p->options->n, p->options->incx, true); }
static void setup_xy_in(problem_t *p) {
    setup_x_in(p);
    vector(p, 2, p->options->n, p->options->incy, false);
}
static void setup_xy(problem_t *p) {
    vector(p, 1, p->options->n, p->options->incx, false);
    vector(p, 2, p->options->n, p->options->incy, true);
}
static void setup_swap(problem_t *p) {
    vector(p, 1, p->options->n, p->options->incx, true);
    vector(p, 2, p->options->n, p->options->incy, true);
}
static void setup_gemv(problem_t *p) {
    const options_t *o = p->options;
    matrix(p, 0, o->m, o->n, FILL_GENERAL, false);
    p->terms = plain(o->transa) ? o->n : o->m;
    vector(p, 1, p->terms, o->incx, false);
    vector(p, 2, plain(o->transa) ? o->m : o->n, o->incy, true);
}
static void setup_ger(problem_t *p) {
    matrix(p, 0, p->options->m, p->options->n, FILL_GENERAL, true);
    vector(p, 1, p->options->m, p->options->incx, false);
    vector(p, 2, p->options->n, p->options->incy, false);
}
static void setup_symv(problem_t *p) {
    setup_xy(p);
    matrix(p, 0, p->options->n, p->options->n, FILL_GENERAL, false);
    p->terms = p->options->n;
}
static void setup_hemv(problem_t *p) {
    setup_symv(p);
    p->operand[0].fill = FILL_HERMITIAN;
}
static void setup_syr(problem_t *p) {
    matrix(p, 0, p->options->n, p->options->n, FILL_GENERAL, true);
    vector(p, 1, p->options->n, p->options->incx, false);
}
static void setup_trmv(problem_t *p) {
    matrix(p, 0, p->options->n, p->options->n, FILL_TRIANGULAR, false);
    vector(p, 1, p->options->n, p->options->incx, true);
    p->terms = p->options->n;
}
static void setup_gemm(problem_t *p) {
    const options_t *o = p->options;
    matrix(p, 0, plain(o->transa) ? o->m : o->k, plain(o->transa) ? o->k : o->m, FILL_GENERAL, false);
    matrix(p, 1, plain(o->transb) ? o->k : o->n, plain(o->transb) ? o->n : o->k, FILL_GENERAL, false);
    matrix(p, 2, o->m, o->n, FILL_GENERAL, true);
    p->terms = o->k;
}
static void setup_gemm_batched(problem_t *p) {
    const options_t *o = p->options;
    const int64_t stride[OPERANDS] = {o->stride_a, o->stride_b, o->stride_c};
    setup_gemm(p);
    for (int i = 0; i < OPERANDS; i++) {
        p->operand[i].batch = max_of(o->batch_count, 0);
        p->operand[i].stride = stride[i];
        if (stride[i] == UNSET &&
            __builtin_mul_overflow(p->operand[i].ld, at_least_1(p->operand[i].columns), &p->operand[i].stride))
            p->operand[i].stride = 0; /* such a leading dimension is refused */
    }
}
static void setup_symm(problem_t *p) {
    const options_t *o = p->options;
    matrix(p, 0, order_of_a(o), order_of_a(o), FILL_GENERAL, false);
    matrix(p, 1, o->m, o->n, FILL_GENERAL, false);
    matrix(p, 2, o->m, o->n, FILL_GENERAL, true);
    p->terms = order_of_a(o);
}
static void setup_hemm(problem_t *p) {
    setup_symm(p);
    p->operand[0].fill = FILL_HERMITIAN;
}
static void setup_syrk(problem_t *p) {
    const options_t *o = p->options;
    matrix(p, 0, plain(o->transa) ? o->n : o->k, plain(o->transa) ? o->k : o->n, FILL_GENERAL, false);
    matrix(p, 2, o->n, o->n, FILL_GENERAL, true);
    p->terms = o->k;
}
static void setup_trsm(problem_t *p) {
    const options_t *o = p->options;
    matrix(p, 0, order_of_a(o), order_of_a(o), FILL_TRIANGULAR, false);
    matrix(p, 1, o->m, o->n, FILL_GENERAL, true);
    p->terms = order_of_a(o);
}
static void setup_trtri(problem_t *p) {
    p->terms = p->options->n;
    matrix(p, 0, p->options->n, p->options->n, FILL_TRIANGULAR, true);
}
static void setup_geam(problem_t *p) {
    const options_t *o = p->options;
    matrix(p, 0, plain(o->transa) ? o->m : o->n, plain(o->transa) ? o->n : o->m, FILL_GENERAL, false);
    matrix(p, 1, plain(o->transb) ? o->m : o->n, plain(o->transb) ? o->n : o->m, FILL_GENERAL, false);
    matrix(p, 2, o->m, o->n, FILL_GENERAL, true);
}
static void setup_potrf(problem_t *p) {
    p->terms = p->options->n;
    matrix(p, 0, p->options->n, p->options->n, FILL_POSITIVE, true);
}
static void setup_potrs(problem_t *p) {
    p->terms = p->options->n;
    matrix(p, 0, p->options->n, p->options->n, FILL_TRIANGULAR, false);
    matrix(p, 1, p->options->n, p->options->nrhs, FILL_GENERAL, true);
}

/* ---- Work ---- */

static double flops_none(const options_t *o) { return 0 * (double)o->n; }
static double flops_n(const options_t *o) { return (double)o->n; }
static double flops_2n(const options_t *o) { return 2.0 * (double)o->n; }
static double flops_nn(const options_t *o) { return (double)o->n * (double)o->n; }
static double flops_2nn(const options_t *o) { return 2 * flops_nn(o); }
static double flops_2mn(const options_t *o) { return 2.0 * (double)o->m * (double)o->n; }
static double flops_2mnk(const options_t *o) { return flops_2mn(o) * (double)o->k; }
static double flops_batched(const options_t *o) { return flops_2mnk(o) * (double)o->batch_count; }
static double flops_symm(const options_t *o) { return flops_2mn(o) * (double)order_of_a(o); }
static double flops_syrk(const options_t *o) { return flops_nn(o) * (double)o->k; }
static double flops_trsm(const options_t *o) { return 0.5 * flops_symm(o); }
static double flops_cube(const options_t *o) { return flops_nn(o) * (double)o->n / 3; }
static double flops_geam(const options_t *o) { return 3.0 * (double)o->m * (double)o->n; }
static double flops_potrs(const options_t *o) { return flops_2nn(o) * (double)o->nrhs; }

/* ---- Calls ---- */

#define OUT_OF_TYPES return JSTATUS_NOT_IMPLEMENTED
#define CALL_AS(s, d, c, z, ...)                                                                                       \
    switch (p->type) {                                                                                                 \
    case JDATATYPE_F32: return jblas_##s(__VA_ARGS__);                                                                 \
    case JDATATYPE_F64: return jblas_##d(__VA_ARGS__);                                                                 \
    case JDATATYPE_F32_C: return jblas_##c(__VA_ARGS__);                                                               \
    case JDATATYPE_F64_C: return jblas_##z(__VA_ARGS__);                                                               \
    default: OUT_OF_TYPES;                                                                                             \
    }
#define CALL_SD(name, ...)                                                                                             \
    switch (p->type) {                                                                                                 \
    case JDATATYPE_F32: return jblas_s##name(__VA_ARGS__);                                                             \
    case JDATATYPE_F64: return jblas_d##name(__VA_ARGS__);                                                             \
    default: OUT_OF_TYPES;                                                                                             \
    }
#define CALL_CZ(name, ...)                                                                                             \
    switch (p->type) {                                                                                                 \
    case JDATATYPE_F32_C: return jblas_c##name(__VA_ARGS__);                                                           \
    case JDATATYPE_F64_C: return jblas_z##name(__VA_ARGS__);                                                           \
    default: OUT_OF_TYPES;                                                                                             \
    }
#define CALL_SDCZ(name, ...) CALL_AS(s##name, d##name, c##name, z##name, __VA_ARGS__)

#define VALUE_s(scalar) (scalar).s[0]
#define VALUE_d(scalar) (scalar).d[0]
#define VALUE_c(scalar) &(scalar)
#define VALUE_z(scalar) &(scalar)
#define DIRECT_SD(name, ARGS)                                                                                          \
    switch (p->type) {                                                                                                 \
    case JDATATYPE_F32: cblas_s##name(ARGS(VALUE_s)); break;                                                           \
    default: cblas_d##name(ARGS(VALUE_d)); break;                                                                      \
    }
#define DIRECT_CZ(name, ARGS)                                                                                          \
    switch (p->type) {                                                                                                 \
    case JDATATYPE_F32_C: cblas_c##name(ARGS(VALUE_c)); break;                                                         \
    default: cblas_z##name(ARGS(VALUE_z)); break;                                                                      \
    }
#define DIRECT_SDCZ(name, ARGS)                                                                                        \
    switch (p->type) {                                                                                                 \
    case JDATATYPE_F32:                                                                                                \
    case JDATATYPE_F64: DIRECT_SD(name, ARGS) break;                                                                   \
    default: DIRECT_CZ(name, ARGS) break;                                                                              \
    }

/* Each routine is named by its call and, where there is one, its direct call: `h` is the handle, `p` the problem. */
#define CALL(name) static jstatus_t call_##name(jhandle_t *h, const problem_t *p)
#define DIRECT(name) static void direct_##name(const problem_t *p)
#define O (p->options)
#define LDA (p->operand[0].ld)
#define LDB (p->operand[1].ld)
#define LDC (p->operand[2].ld)
#define RESULT ((void *)(uintptr_t)&p->result)
#define RESULT_OR_NULL (O->null_pointers & NULL_RESULT ? NULL : RESULT)
#define ALPHA (O->alpha.null ? NULL : (const void *)&p->alpha)
#define BETA (O->beta.null ? NULL : (const void *)&p->beta)

/* A routine a line. */
/* clang-format off */

/* Level 1. x is operand 1, y operand 2. */
CALL(asum) { CALL_AS(sasum, dasum, scasum, dzasum, h, O->n, p->b, O->incx, RESULT_OR_NULL) }
CALL(nrm2) { CALL_AS(snrm2, dnrm2, scnrm2, dznrm2, h, O->n, p->b, O->incx, RESULT_OR_NULL) }
CALL(iamax) { CALL_AS(isamax, idamax, icamax, izamax, h, O->n, p->b, O->incx, RESULT_OR_NULL) }
DIRECT(asum) {
    scalar_t *r = RESULT;
    switch (p->type) {
    case JDATATYPE_F32: r->s[0] = cblas_sasum(O->n, p->b, O->incx); break;
    case JDATATYPE_F64: r->d[0] = cblas_dasum(O->n, p->b, O->incx); break;
    case JDATATYPE_F32_C: r->s[0] = cblas_scasum(O->n, p->b, O->incx); break;
    default: r->d[0] = cblas_dzasum(O->n, p->b, O->incx); break;
    }
}
DIRECT(nrm2) {
    scalar_t *r = RESULT;
    switch (p->type) {
    case JDATATYPE_F32: r->s[0] = cblas_snrm2(O->n, p->b, O->incx); break;
    case JDATATYPE_F64: r->d[0] = cblas_dnrm2(O->n, p->b, O->incx); break;
    case JDATATYPE_F32_C: r->s[0] = cblas_scnrm2(O->n, p->b, O->incx); break;
    default: r->d[0] = cblas_dznrm2(O->n, p->b, O->incx); break;
    }
}
DIRECT(iamax) {
    scalar_t *r = RESULT;
    switch (p->type) {
    case JDATATYPE_F32: r->index = (int64_t)cblas_isamax(O->n, p->b, O->incx); break;
    case JDATATYPE_F64: r->index = (int64_t)cblas_idamax(O->n, p->b, O->incx); break;
    case JDATATYPE_F32_C: r->index = (int64_t)cblas_icamax(O->n, p->b, O->incx); break;
    default: r->index = (int64_t)cblas_izamax(O->n, p->b, O->incx); break;
    }
}
CALL(dot) { CALL_SD(dot, h, O->n, p->b, O->incx, p->c, O->incy, RESULT_OR_NULL) }
CALL(dotu) { CALL_CZ(dotu, h, O->n, p->b, O->incx, p->c, O->incy, RESULT_OR_NULL) }
CALL(dotc) { CALL_CZ(dotc, h, O->n, p->b, O->incx, p->c, O->incy, RESULT_OR_NULL) }
DIRECT(dot) {
    scalar_t *r = RESULT;
    if (p->type == JDATATYPE_F32)
        r->s[0] = cblas_sdot(O->n, p->b, O->incx, p->c, O->incy);
    else
        r->d[0] = cblas_ddot(O->n, p->b, O->incx, p->c, O->incy);
}
#define ARGS(VALUE) O->n, p->b, O->incx, p->c, O->incy, RESULT
DIRECT(dotu) { DIRECT_CZ(dotu_sub, ARGS) }
DIRECT(dotc) { DIRECT_CZ(dotc_sub, ARGS) }
#undef ARGS
CALL(axpy) { CALL_SDCZ(axpy, h, O->n, ALPHA, p->b, O->incx, p->c, O->incy) }
#define ARGS(VALUE) O->n, VALUE(p->alpha), p->b, O->incx, p->c, O->incy
DIRECT(axpy) { DIRECT_SDCZ(axpy, ARGS) }
#undef ARGS
CALL(copy) { CALL_SDCZ(copy, h, O->n, p->b, O->incx, p->c, O->incy) }
CALL(swap) { CALL_SDCZ(swap, h, O->n, p->b, O->incx, p->c, O->incy) }
#define ARGS(VALUE) O->n, p->b, O->incx, p->c, O->incy
DIRECT(copy) { DIRECT_SDCZ(copy, ARGS) }
DIRECT(swap) { DIRECT_SDCZ(swap, ARGS) }
#undef ARGS
CALL(scal) { CALL_SDCZ(scal, h, O->n, ALPHA, p->b, O->incx) }
#define ARGS(VALUE) O->n, VALUE(p->alpha), p->b, O->incx
DIRECT(scal) { DIRECT_SDCZ(scal, ARGS) }
#undef ARGS
CALL(csscal) { return jblas_csscal(h, O->n, ALPHA, p->b, O->incx); }
CALL(zdscal) { return jblas_zdscal(h, O->n, ALPHA, p->b, O->incx); }
DIRECT(csscal) { cblas_csscal(O->n, p->alpha.s[0], p->b, O->incx); }
DIRECT(zdscal) { cblas_zdscal(O->n, p->alpha.d[0], p->b, O->incx); }

/* Level 2. A is operand 0. */
CALL(gemv) { CALL_SDCZ(gemv, h, O->transa, O->m, O->n, ALPHA, p->a, LDA, p->b, O->incx, BETA, p->c, O->incy) }
#define ARGS(VALUE)                                                                                                    \
    CblasColMajor, O->transa, O->m, O->n, VALUE(p->alpha), p->a, LDA, p->b, O->incx, VALUE(p->beta), p->c, O->incy
DIRECT(gemv) { DIRECT_SDCZ(gemv, ARGS) }
#undef ARGS
CALL(ger) { CALL_SD(ger, h, O->m, O->n, ALPHA, p->b, O->incx, p->c, O->incy, p->a, LDA) }
CALL(geru) { CALL_CZ(geru, h, O->m, O->n, ALPHA, p->b, O->incx, p->c, O->incy, p->a, LDA) }
CALL(gerc) { CALL_CZ(gerc, h, O->m, O->n, ALPHA, p->b, O->incx, p->c, O->incy, p->a, LDA) }
#define ARGS(VALUE) CblasColMajor, O->m, O->n, VALUE(p->alpha), p->b, O->incx, p->c, O->incy, p->a, LDA
DIRECT(ger) { DIRECT_SD(ger, ARGS) }
DIRECT(geru) { DIRECT_CZ(geru, ARGS) }
DIRECT(gerc) { DIRECT_CZ(gerc, ARGS) }
#undef ARGS
CALL(symv) { CALL_SD(symv, h, O->uplo, O->n, ALPHA, p->a, LDA, p->b, O->incx, BETA, p->c, O->incy) }
CALL(hemv) { CALL_CZ(hemv, h, O->uplo, O->n, ALPHA, p->a, LDA, p->b, O->incx, BETA, p->c, O->incy) }
#define ARGS(VALUE)                                                                                                    \
    CblasColMajor, O->uplo, O->n, VALUE(p->alpha), p->a, LDA, p->b, O->incx, VALUE(p->beta), p->c, O->incy
DIRECT(symv) { DIRECT_SD(symv, ARGS) }
DIRECT(hemv) { DIRECT_CZ(hemv, ARGS) }
#undef ARGS
CALL(syr) { CALL_SD(syr, h, O->uplo, O->n, ALPHA, p->b, O->incx, p->a, LDA) }
CALL(her) { CALL_CZ(her, h, O->uplo, O->n, ALPHA, p->b, O->incx, p->a, LDA) }
#define ARGS(VALUE) CblasColMajor, O->uplo, O->n, VALUE(p->alpha), p->b, O->incx, p->a, LDA
DIRECT(syr) { DIRECT_SD(syr, ARGS) }
#undef ARGS
DIRECT(her) {
    if (p->type == JDATATYPE_F32_C)
        cblas_cher(CblasColMajor, O->uplo, O->n, p->alpha.s[0], p->b, O->incx, p->a, LDA);
    else
        cblas_zher(CblasColMajor, O->uplo, O->n, p->alpha.d[0], p->b, O->incx, p->a, LDA);
}
CALL(trmv) { CALL_SDCZ(trmv, h, O->uplo, O->transa, O->diag, O->n, p->a, LDA, p->b, O->incx) }
CALL(trsv) { CALL_SDCZ(trsv, h, O->uplo, O->transa, O->diag, O->n, p->a, LDA, p->b, O->incx) }
#define ARGS(VALUE) CblasColMajor, O->uplo, O->transa, O->diag, O->n, p->a, LDA, p->b, O->incx
DIRECT(trmv) { DIRECT_SDCZ(trmv, ARGS) }
DIRECT(trsv) { DIRECT_SDCZ(trsv, ARGS) }
#undef ARGS

/* Level 3, extensions, solvers. */
CALL(gemm) {
    if (p->type == JDATATYPE_F16)
        return jblas_hgemm(h, O->transa, O->transb, O->m, O->n, O->k, ALPHA, p->a, LDA, p->b, LDB, BETA, p->c, LDC);
    if (p->type == JDATATYPE_BF16)
        return jblas_bgemm(h, O->transa, O->transb, O->m, O->n, O->k, ALPHA, p->a, LDA, p->b, LDB, BETA, p->c, LDC);
    CALL_SDCZ(gemm, h, O->transa, O->transb, O->m, O->n, O->k, ALPHA, p->a, LDA, p->b, LDB, BETA, p->c, LDC)
}
#define ARGS(VALUE)                                                                                                    \
    CblasColMajor, O->transa, O->transb, O->m, O->n, O->k, VALUE(p->alpha), p->a, LDA, p->b, LDB, VALUE(p->beta),      \
        p->c, LDC
DIRECT(gemm) { DIRECT_SDCZ(gemm, ARGS) }
#undef ARGS
CALL(gemm_batched) {
    CALL_SDCZ(gemm_batched, h, O->transa, O->transb, O->m, O->n, O->k, ALPHA, (void *)p->pa, LDA, (void *)p->pb, LDB,
              BETA, (void *)p->pc, LDC, O->batch_count)
}
CALL(gemm_strided_batched) {
    CALL_SDCZ(gemm_strided_batched, h, O->transa, O->transb, O->m, O->n, O->k, ALPHA, p->a, LDA, p->operand[0].stride,
              p->b, LDB, p->operand[1].stride, BETA, p->c, LDC, p->operand[2].stride, O->batch_count)
}
#define ARGS(VALUE)                                                                                                    \
    CblasColMajor, O->transa, O->transb, O->m, O->n, O->k, VALUE(p->alpha), p->pa[i], LDA, p->pb[i], LDB,              \
        VALUE(p->beta), p->pc[i], LDC
DIRECT(gemm_batched) {
    for (int64_t i = 0; i < O->batch_count; i++)
        DIRECT_SDCZ(gemm, ARGS)
}
#undef ARGS
CALL(symm) { CALL_SDCZ(symm, h, O->side, O->uplo, O->m, O->n, ALPHA, p->a, LDA, p->b, LDB, BETA, p->c, LDC) }
CALL(hemm) { CALL_CZ(hemm, h, O->side, O->uplo, O->m, O->n, ALPHA, p->a, LDA, p->b, LDB, BETA, p->c, LDC) }
#define ARGS(VALUE)                                                                                                    \
    CblasColMajor, O->side, O->uplo, O->m, O->n, VALUE(p->alpha), p->a, LDA, p->b, LDB, VALUE(p->beta), p->c, LDC
DIRECT(symm) { DIRECT_SDCZ(symm, ARGS) }
DIRECT(hemm) { DIRECT_CZ(hemm, ARGS) }
#undef ARGS
CALL(syrk) { CALL_SDCZ(syrk, h, O->uplo, O->transa, O->n, O->k, ALPHA, p->a, LDA, BETA, p->c, LDC) }
CALL(herk) { CALL_CZ(herk, h, O->uplo, O->transa, O->n, O->k, ALPHA, p->a, LDA, BETA, p->c, LDC) }
#define ARGS(VALUE)                                                                                                    \
    CblasColMajor, O->uplo, O->transa, O->n, O->k, VALUE(p->alpha), p->a, LDA, VALUE(p->beta), p->c, LDC
DIRECT(syrk) { DIRECT_SDCZ(syrk, ARGS) }
#undef ARGS
DIRECT(herk) {
    if (p->type == JDATATYPE_F32_C)
        cblas_cherk(CblasColMajor, O->uplo, O->transa, O->n, O->k, p->alpha.s[0], p->a, LDA, p->beta.s[0], p->c, LDC);
    else
        cblas_zherk(CblasColMajor, O->uplo, O->transa, O->n, O->k, p->alpha.d[0], p->a, LDA, p->beta.d[0], p->c, LDC);
}
CALL(trmm) { CALL_SDCZ(trmm, h, O->side, O->uplo, O->transa, O->diag, O->m, O->n, ALPHA, p->a, LDA, p->b, LDB) }
CALL(trsm) { CALL_SDCZ(trsm, h, O->side, O->uplo, O->transa, O->diag, O->m, O->n, ALPHA, p->a, LDA, p->b, LDB) }
#define ARGS(VALUE)                                                                                                    \
    CblasColMajor, O->side, O->uplo, O->transa, O->diag, O->m, O->n, VALUE(p->alpha), p->a, LDA, p->b, LDB
DIRECT(trmm) { DIRECT_SDCZ(trmm, ARGS) }
DIRECT(trsm) { DIRECT_SDCZ(trsm, ARGS) }
#undef ARGS
CALL(trtri) { CALL_SDCZ(trtri, h, O->uplo, O->diag, O->n, p->a, LDA, RESULT_OR_NULL) }
CALL(geam) { CALL_SDCZ(geam, h, O->transa, O->transb, O->m, O->n, ALPHA, p->a, LDA, BETA, p->b, LDB, p->c, LDC) }
CALL(potrf) { CALL_SDCZ(potrf, h, O->uplo, O->n, p->a, LDA, RESULT_OR_NULL) }
CALL(potrs) { CALL_SDCZ(potrs, h, O->uplo, O->n, O->nrhs, p->a, LDA, p->b, LDB) }

/* ---- The table ---- */

#define ROW(name, types, shape, setup, flops, reference)                                                               \
    {#name, types, shape, setup_##setup, call_##name, direct_##name, flops_##flops, naive_##reference, false, false}
#define ROW_REAL(name, types, shape, setup, flops, reference) /* real scalars */                                       \
    {#name, types, shape, setup_##setup, call_##name, direct_##name, flops_##flops, naive_##reference, true, true}
#define ROW_ALONE(name, types, shape, setup, flops, reference) /* the CBLAS has no such call */                        \
    {#name, types, shape, setup_##setup, call_##name, NULL, flops_##flops, naive_##reference, false, false}
/* clang-format on */

const routine_t routines[] = {
    ROW(asum, "sdcz", "n", x_in, n, asum),
    ROW(axpy, "sdcz", "n", xy, 2n, axpy),
    ROW(copy, "sdcz", "n", xy, none, copy),
    ROW(dot, "sd", "n", xy_in, 2n, dot),
    ROW(dotu, "cz", "n", xy_in, 2n, dot),
    ROW(dotc, "cz", "n", xy_in, 2n, dotc),
    ROW(iamax, "sdcz", "n", x_in, none, iamax),
    ROW(nrm2, "sdcz", "n", x_in, 2n, nrm2),
    ROW(scal, "sdcz", "n", x_out, n, scal),
    ROW_REAL(csscal, "c", "n", x_out, n, scal),
    ROW_REAL(zdscal, "z", "n", x_out, n, scal),
    ROW(swap, "sdcz", "n", swap, none, swap),
    ROW(gemv, "sdcz", "Amn", gemv, 2mn, gemv),
    ROW(ger, "sd", "mn", ger, 2mn, ger),
    ROW(geru, "cz", "mn", ger, 2mn, ger),
    ROW(gerc, "cz", "mn", ger, 2mn, gerc),
    ROW(symv, "sd", "Un", symv, 2nn, symv),
    ROW(hemv, "cz", "Un", hemv, 2nn, hemv),
    ROW(syr, "sd", "Un", syr, nn, syr),
    ROW_REAL(her, "cz", "Un", syr, nn, her),
    ROW(trmv, "sdcz", "UADn", trmv, nn, trmv),
    ROW(trsv, "sdcz", "UADn", trmv, nn, trsv),
    ROW(gemm, "sdczhb", "ABmnk", gemm, 2mnk, gemm),
    ROW(symm, "sdcz", "SUmn", symm, symm, symm),
    ROW(hemm, "cz", "SUmn", hemm, symm, hemm),
    ROW(syrk, "sdcz", "UAnk", syrk, syrk, syrk),
    ROW_REAL(herk, "cz", "UAnk", syrk, syrk, herk),
    ROW(trmm, "sdcz", "SUADmn", trsm, trsm, trmm),
    ROW(trsm, "sdcz", "SUADmn", trsm, trsm, trsm),
    ROW_ALONE(trtri, "sdcz", "UDn", trtri, cube, trtri),
    ROW_ALONE(geam, "sdcz", "ABmn", geam, geam, geam),
    ROW(gemm_batched, "sdcz", "ABmnkb", gemm_batched, batched, gemm),
    {"gemm_strided_batched", "sdcz", "ABmnkb", setup_gemm_batched, call_gemm_strided_batched, direct_gemm_batched,
     flops_batched, naive_gemm, false, false},
    ROW_ALONE(potrf, "sdcz", "Un", potrf, cube, potrf),
    ROW_ALONE(potrs, "sdcz", "Unr", potrs, potrs, potrs),
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, false},
};

const routine_t *routine_find(const char *name) {
    for (const routine_t *routine = routines; routine->name; routine++)
        if (strcmp(routine->name, name) == 0)
            return routine;
    return NULL;
}
