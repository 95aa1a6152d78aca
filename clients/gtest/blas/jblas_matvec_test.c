/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 of the host against its definition (matvec_definition.h), bit for bit: with each set of
 * kernels that the processor has, any increments, and one thread to eight. That the definition is
 * right the other tests say, which compare with sums in higher precision. */

#include "jtest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"
#include "blas/host/host.h"
#include "blas/kernels/kernels.h"
#include "blas/kernels/matvec.h"
#include "core/team.h"

/* Whether the set in use rounds a product and a sum once. */
static bool fused;

/* volatile: no compiler makes one of the two roundings. */
static float fma_s(float a, float b, float c) {
    const volatile float product = a * b;
    return fused ? fmaf(a, b, c) : product + c;
}
static double fma_d(double a, double b, double c) {
    const volatile double product = a * b;
    return fused ? fma(a, b, c) : product + c;
}

#define REAL float
#define PARTS 1
#define FMA fma_s
#define NAME(f) f##_s
#include "matvec_definition.h"
#define REAL double
#define PARTS 1
#define FMA fma_d
#define NAME(f) f##_d
#include "matvec_definition.h"
#define REAL float
#define PARTS 2
#define FMA fma_s
#define NAME(f) f##_c
#include "matvec_definition.h"
#define REAL double
#define PARTS 2
#define FMA fma_d
#define NAME(f) f##_z
#include "matvec_definition.h"

static const struct {
    ji_primitive_t primitive;
    ji_host_function_t function;
    const char *name;
    bool is_square, writes_x, writes_a, has_y;
    enum { ALL_TYPES, REAL_TYPES, COMPLEX_TYPES } types;
} routines[] = {
    {JI_GEMV, ji_host_gemv, "gemv", false, false, false, true, ALL_TYPES},
    {JI_GER, ji_host_ger, "ger", false, false, true, true, ALL_TYPES},
    {JI_GERC, ji_host_gerc, "gerc", false, false, true, true, ALL_TYPES},
    {JI_SYMV, ji_host_symv, "symv", true, false, false, true, ALL_TYPES},
    {JI_SYR, ji_host_syr, "syr", true, false, true, false, ALL_TYPES},
    {JI_SYR2, ji_host_syr2, "syr2", true, false, true, true, ALL_TYPES},
    {JI_TRMV, ji_host_trmv, "trmv", true, true, false, false, ALL_TYPES},
    {JI_TRSV, ji_host_trsv, "trsv", true, true, false, false, ALL_TYPES},
    {JI_SYMV_COMPLEX, ji_host_symv_complex, "symv", true, false, false, true, COMPLEX_TYPES},
    {JI_SYR_COMPLEX, ji_host_syr_complex, "syr", true, false, true, false, COMPLEX_TYPES},
    {JI_SYR2_COMPLEX, ji_host_syr2_complex, "syr2", true, false, true, true, COMPLEX_TYPES},
    {JI_SKEWSYMV, ji_host_skewsymv, "skewsymv", true, false, false, true, REAL_TYPES},
    {JI_SKEWSYR2, ji_host_skewsyr2, "skewsyr2", true, false, true, true, REAL_TYPES},
};
enum { ROUTINES = sizeof routines / sizeof routines[0] };

/* ---- Operands ---- */

/* An operand, which a call may write: as it was, as it is defined to become, and as it became. */
typedef struct operand {
    char *before, *defined, *computed;
    size_t bytes;
} operand_t;

static void operand_make(operand_t *operand, jdatatype_t type, int64_t elements, double scale) {
    operand->bytes = (size_t)elements * ji_sizeof(type);
    operand->before = malloc(operand->bytes + 1);
    operand->defined = malloc(operand->bytes + 1);
    operand->computed = malloc(operand->bytes + 1);
    JASSERT_TRUE(operand->before && operand->defined && operand->computed);

    for (int64_t i = 0; i < elements * (ji_is_complex(type) ? 2 : 1); i++)
        if (ji_real_of(type) == JDATATYPE_F32)
            ((float *)(void *)operand->before)[i] = (float)jtest_random_double(-scale, scale);
        else
            ((double *)(void *)operand->before)[i] = jtest_random_double(-scale, scale);
    memcpy(operand->defined, operand->before, operand->bytes);
}

static void operand_free(operand_t *operand) {
    free(operand->before), free(operand->defined), free(operand->computed);
}

/* Elements of a vector of n, from where BLAS has it to a contiguous copy, or back. */
static void move_vector(jdatatype_t type, int64_t n, char *x, int64_t incx, char *copy, bool back) {
    const size_t bytes = ji_sizeof(type);
    for (int64_t i = 0; i < n; i++) {
        char *own = x + (size_t)(incx < 0 ? (i - n + 1) * incx : i * incx) * bytes;
        memcpy(back ? own : copy + (size_t)i * bytes, back ? copy + (size_t)i * bytes : own, bytes);
    }
}

static int64_t random_increment(void) {
    return jtest_random_bool() ? 1 : (jtest_random_bool() ? 1 : -1) * jtest_random_between(1, 4);
}

static ji_scalar_t random_scalar(jdatatype_t type) {
    const double re = jtest_random_between(0, 2) == 0 ? (double)jtest_random_between(-1, 1)
                                                      : jtest_random_double(-2, 2);
    const double im = jtest_random_bool() ? 0 : jtest_random_double(-2, 2);
    ji_scalar_t scalar = {.pointer = NULL};
    switch (type) {
    case JDATATYPE_F32: scalar.value.s = (float)re; break;
    case JDATATYPE_F64: scalar.value.d = re; break;
    case JDATATYPE_F32_C: scalar.value.c[0] = (float)re, scalar.value.c[1] = (float)im; break;
    default: scalar.value.z[0] = re, scalar.value.z[1] = im;
    }
    return scalar;
}

/* ---- Cases ---- */

typedef struct matvec_case {
    int routine;
    ji_matvec_t block;
    int64_t taken, given; /* elements of x and y */
    operand_t a, x, y;
} matvec_case_t;

static void case_make(matvec_case_t *c, int routine, jdatatype_t type, int64_t m, int64_t n) {
    static const jblas_operation_t operations[] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                   JBLAS_CONJUGATE_TRANSPOSE, JBLAS_CONJUGATE};
    memset(c, 0, sizeof *c);
    c->routine = routine;
    c->block = (ji_matvec_t){
        .head.type = type,
        .uplo = jtest_random_bool() ? JBLAS_UPPER : JBLAS_LOWER,
        .trans = operations[jtest_random_between(0, 3)],
        .diag = jtest_random_bool() ? JBLAS_UNIT : JBLAS_NON_UNIT,
        .m = routines[routine].is_square ? n : m,
        .n = n,
        .alpha = random_scalar(type),
        .incx = random_increment(),
        .beta = random_scalar(type),
        .incy = random_increment(),
    };
    const bool flat = routines[routine].primitive != JI_GEMV || !ji_is_transposed(c->block.trans);
    c->taken = flat ? n : c->block.m, c->given = flat ? c->block.m : n;
    if (routines[routine].primitive == JI_GER || routines[routine].primitive == JI_GERC)
        c->taken = m, c->given = n;
    c->block.lda = c->block.m + jtest_random_between(0, 5);

    /* Solutions that do not grow. */
    const bool is_triangle = routines[routine].writes_x;
    operand_make(&c->a, type, c->block.lda * n, is_triangle ? 1.0 / (double)(n + 1) : 1);
    operand_make(&c->x, type, 1 + (c->taken - 1) * ji_abs(c->block.incx), 1);
    operand_make(&c->y, type, 1 + (c->given - 1) * ji_abs(c->block.incy), 1);
    for (int64_t i = 0; is_triangle && i < n; i++) {
        const ji_scalar_t one = ji_constant(type, 1);
        memcpy(ji_at(type, c->a.before, i, i, c->block.lda), &one.value, ji_sizeof(type));
    }
    memcpy(c->a.defined, c->a.before, c->a.bytes);
}

static void case_free(matvec_case_t *c) {
    operand_free(&c->a), operand_free(&c->x), operand_free(&c->y);
}

static void case_define(matvec_case_t *c) {
    const jdatatype_t type = c->block.head.type;
    const ji_primitive_t primitive = routines[c->routine].primitive;
    const bool in_tiles =
        primitive == JI_SYMV || primitive == JI_SYMV_COMPLEX || primitive == JI_SKEWSYMV;
    const int64_t panel = in_tiles ? JI_MATVEC_SYMMETRIC_PANEL : JI_MATVEC_PANEL(type);
    ji_matvec_t block = c->block;
    char *x = malloc((size_t)c->taken * ji_sizeof(type)),
         *y = malloc((size_t)c->given * ji_sizeof(type));
    JASSERT_TRUE(x && y);

    memcpy(c->a.defined, c->a.before, c->a.bytes);
    memcpy(c->x.defined, c->x.before, c->x.bytes);
    memcpy(c->y.defined, c->y.before, c->y.bytes);
    move_vector(type, c->taken, c->x.defined, block.incx, x, false);
    move_vector(type, c->given, c->y.defined, block.incy, y, false);
    block.a = c->a.defined;
#define DEFINE(t) matvec_defined_##t(primitive, &block, x, y, panel)
    switch (type) {
    case JDATATYPE_F32: DEFINE(s); break;
    case JDATATYPE_F64: DEFINE(d); break;
    case JDATATYPE_F32_C: DEFINE(c); break;
    default: DEFINE(z);
    }
#undef DEFINE
    move_vector(type, c->taken, c->x.defined, block.incx, x, true);
    move_vector(type, c->given, c->y.defined, block.incy, y, true);
    free(x), free(y);
}

static bool operand_is_right(const matvec_case_t *c, const operand_t *operand, const char *name) {
    const bool is_right = memcmp(operand->defined, operand->computed, operand->bytes) == 0;
    const ji_matvec_t *b = &c->block;
    if (!is_right)
        JFAIL(
            "%s of type %d: %s differs with %s: m %lld n %lld lda %lld incx %lld incy %lld uplo %d "
            "trans %d diag %d threads %d",
            routines[c->routine].name, (int)b->head.type, name, ji_kernels->name, (long long)b->m,
            (long long)b->n, (long long)b->lda, (long long)b->incx, (long long)b->incy,
            (int)b->uplo, (int)b->trans, (int)b->diag, b->head.threads.count);
    return is_right;
}

/* Whether the kernel that a call of a few rows and columns runs at once did it. */
static bool runs_at_once(ji_primitive_t primitive, const ji_matvec_t *v) {
    const ji_matvec_kernels_t *kernels = ji_kernels->matvec[v->head.type];
    const void *alpha = ji_scalar_data(&v->alpha), *beta = ji_scalar_data(&v->beta);
    if (ji_max(v->m, v->n) > JI_MATVEC_BLOCK || v->incx != 1 || v->incy != 1 ||
        host_is_zero(v->head.type, &v->alpha) || v->trans == JBLAS_CONJUGATE)
        return false;

    if (primitive == JI_GEMV)
        kernels->small(v->m, v->n, v->trans, alpha, v->a, v->lda, v->x, beta, v->y);
    else if (primitive == JI_SYMV)
        kernels->symmetric(v->n, JI_HERMITIAN, v->uplo == JBLAS_UPPER, alpha, v->a, v->lda, v->x,
                           beta, v->y);
    else
        return false;
    return true;
}

static bool case_is_right(matvec_case_t *c, bool at_once) {
    ji_matvec_t block = c->block;
    memcpy(c->a.computed, c->a.before, c->a.bytes);
    memcpy(c->x.computed, c->x.before, c->x.bytes);
    memcpy(c->y.computed, c->y.before, c->y.bytes);
    block.a = c->a.computed, block.x = c->x.computed;
    block.y = routines[c->routine].has_y ? c->y.computed : NULL;
    if (!at_once)
        routines[c->routine].function(&block);
    else if (!runs_at_once(routines[c->routine].primitive, &block))
        return true;
    return operand_is_right(c, &c->a, "A") && operand_is_right(c, &c->x, "x") &&
           operand_is_right(c, &c->y, "y");
}

/* With every set and number of threads. */
static bool case_is_right_everywhere(matvec_case_t *c, int threads) {
    const ji_kernel_set_t *before = ji_kernels;
    bool is_right = true, is_defined = false;

    for (size_t i = 0; is_right && ji_kernel_set_at(i) != NULL; i++) {
        if (!ji_kernel_set_is_here(ji_kernel_set_at(i)))
            continue;
        ji_kernel_set_use(ji_kernel_set_at(i));
        if (!is_defined || fused != ji_kernels->fused) {
            fused = ji_kernels->fused, is_defined = true;
            case_define(c);
        }
        is_right = case_is_right(c, true);
        for (int count = 1; is_right && count <= threads; count += count < 3 ? 1 : 5) {
            c->block.head.threads.count = count;
            is_right = case_is_right(c, false);
        }
    }
    ji_kernel_set_use(before);
    return is_right;
}

/* All types one by one, or where random cases are to be few, as many random ones. */
static int type_count(void) { return (int)ji_min(4, jtest_iterations(4)); }
/* Of a routine that not all types have, one that it has. */
static jdatatype_t draw_type(int routine, int number) {
    const jdatatype_t type =
        (jdatatype_t)(type_count() == 4 ? number : (int)jtest_random_between(0, 3));
    return routines[routine].types == REAL_TYPES      ? ji_real_of(type)
           : routines[routine].types == COMPLEX_TYPES ? (jdatatype_t)((int)type | 2)
                                                      : type;
}

static void check_random_cases(int64_t count, int64_t low, int64_t high, int threads) {
    bool is_right = true;
    for (int64_t i = 0; i < jtest_iterations(count) && is_right; i++)
        for (int routine = 0; routine < ROUTINES && is_right; routine++)
            for (int type = 0; type < type_count() && is_right; type++) {
                matvec_case_t c;
                case_make(&c, routine, draw_type(routine, type), jtest_random_between(low, high),
                          jtest_random_between(low, high));
                is_right = case_is_right_everywhere(&c, threads);
                case_free(&c);
            }
}

JTEST(JblasMatvec, SmallOnesHaveTheBitsOfTheirDefinition) { check_random_cases(150, 1, 70, 1); }
JTEST(JblasMatvec, LargeOnesHaveTheBitsOfTheirDefinition) { check_random_cases(4, 60, 700, 1); }

/* Threads divide what is large, so here it is, now and then. */
JTEST(JblasMatvec, ThreadsLeaveTheBits) {
    ji_team_make(8);
    check_random_cases(1, 600, 1200, 8);
}

/* From some order on in tiles. */
JTEST(JblasMatvec, ThreadsLeaveTheBitsOfLargeSymmetricOnes) {
    const int symv = 3;
    bool is_right = true;
    ji_team_make(8);
    for (int type = 0; type < type_count() && is_right; type++) {
        const int64_t n = jtest_random_between(1537, 2100);
        matvec_case_t c;
        JEXPECT_EQ(routines[symv].primitive, JI_SYMV);
        case_make(&c, symv, draw_type(symv, type), n, n);
        is_right = case_is_right_everywhere(&c, 8);
        case_free(&c);
    }
}

JTEST(JblasMatvec, ThreadsLeaveTheBitsOfWideAndOfTallOnes) {
    bool is_right = true;
    ji_team_make(3);
    for (int routine = 0; routine < ROUTINES && is_right; routine++)
        for (int type = 0; type < type_count() && is_right; type++)
            for (int is_tall = 0; is_tall < 2 && is_right && !routines[routine].is_square;
                 is_tall++) {
                const int64_t large = jtest_random_between(10000, 20000),
                              small = jtest_random_between(1, 120);
                matvec_case_t c;
                case_make(&c, routine, draw_type(routine, type), is_tall ? large : small,
                          is_tall ? small : large);
                is_right = case_is_right_everywhere(&c, 3);
                case_free(&c);
            }
}
