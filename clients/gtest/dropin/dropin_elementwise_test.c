/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Row-major calls element by element, which the drop-in makes where no memory is to be had: beside
 * jblas with conjugated copies, for each kind of call and each way of storing a matrix. */

#include <complex.h>
#include <math.h>
#include <string.h>

#include "dropin/row_major.h"
#include "jtest.h"

enum { MOST = 12, LEADING = 15, NUMBERS = LEADING * (MOST + 1) };

typedef double _Complex number_t;

typedef struct elementwise_case {
    jdatatype_t type;
    ji_matvec_t args;
    ji_turned_t turned;
    ji_storage_t storage;
    double a[2 * NUMBERS], x[8 * MOST], y[8 * MOST], alpha[2];
} elementwise_case_t;

static void put_number(jdatatype_t type, void *array, int64_t at, double value) {
    if (type == JDATATYPE_F32_C)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}
static double get_number(jdatatype_t type, const void *array, int64_t at) {
    return type == JDATATYPE_F32_C ? (double)((const float *)array)[at]
                                   : ((const double *)array)[at];
}
static void draw_numbers(jdatatype_t type, void *array, int count) {
    for (int i = 0; i < count; i++)
        put_number(type, array, i, jtest_random_double(-1, 1));
}

static void draw(elementwise_case_t *c, ji_elementwise_t what, ji_storage_t storage) {
    memset(c, 0, sizeof *c);
    c->type = jtest_random_bool() ? JDATATYPE_F32_C : JDATATYPE_F64_C;
    c->storage = storage;
    c->turned.elementwise = what;
    c->args.uplo = jtest_random_bool() ? JBLAS_UPPER : JBLAS_LOWER;
    c->args.trans = JBLAS_NO_TRANSPOSE;
    c->args.m = jtest_random_between(1, MOST), c->args.n = jtest_random_between(1, MOST);
    c->args.k = jtest_random_between(0, 3);
    c->args.lda = LEADING;
    c->args.incx = jtest_random_bool() ? 1 : -2, c->args.incy = jtest_random_bool() ? 3 : -1;
    draw_numbers(c->type, c->a, 2 * NUMBERS);
    draw_numbers(c->type, c->x, 8 * MOST), draw_numbers(c->type, c->y, 8 * MOST);
    draw_numbers(c->type, c->alpha, 2);
    c->args.a = c->a, c->args.x = c->x, c->args.y = c->y;
    c->args.alpha.pointer = c->alpha;
}

/* ---- What jblas gives, for conjugated vectors ---- */

static void conjugate_numbers(jdatatype_t type, void *array, int count) {
    for (int i = 1; i < count; i += 2)
        put_number(type, array, i, -get_number(type, array, i));
}

#define CALL(function, ...)                                                                        \
    (c->type == JDATATYPE_F32_C ? JEXPECT_OK(jblas_c##function(handle, __VA_ARGS__))               \
                                : JEXPECT_OK(jblas_z##function(handle, __VA_ARGS__)))
#define ONE                                                                                        \
    (c->type == JDATATYPE_F32_C ? (const void *)(const float[]){1, 0}                              \
                                : (const void *)(const double[]){1, 0})

static void call_jblas(elementwise_case_t *c, jhandle_t *handle) {
    const ji_matvec_t *args = &c->args;
    const ji_storage_t storage = c->storage;
    void *a = c->a, *alpha = c->alpha, *x = c->x, *y = c->y;
    conjugate_numbers(c->type, c->x, 8 * MOST);
    if (c->turned.elementwise == JI_ELEMENTWISE_RANK2)
        conjugate_numbers(c->type, c->y, 8 * MOST);

    switch (c->turned.elementwise) {
    case JI_ELEMENTWISE_HERMITIAN:
        if (storage == JI_STORED_BAND)
            CALL(hbmv, args->uplo, args->n, args->k, alpha, a, args->lda, x, args->incx, ONE, y,
                 args->incy);
        else if (storage == JI_STORED_PACKED)
            CALL(hpmv, args->uplo, args->n, alpha, a, x, args->incx, ONE, y, args->incy);
        else
            CALL(hemv, args->uplo, args->n, alpha, a, args->lda, x, args->incx, ONE, y, args->incy);
        break;
    case JI_ELEMENTWISE_OUTER:
        CALL(geru, args->m, args->n, alpha, x, args->incx, y, args->incy, a, args->lda);
        break;
    case JI_ELEMENTWISE_RANK1:
        if (storage == JI_STORED_PACKED)
            CALL(hpr, args->uplo, args->n, alpha, x, args->incx, a);
        else
            CALL(her, args->uplo, args->n, alpha, x, args->incx, a, args->lda);
        break;
    default:
        if (storage == JI_STORED_PACKED)
            CALL(hpr2, args->uplo, args->n, alpha, x, args->incx, y, args->incy, a);
        else
            CALL(her2, args->uplo, args->n, alpha, x, args->incx, y, args->incy, a, args->lda);
        break;
    }
    conjugate_numbers(c->type, c->x, 8 * MOST);
    if (c->turned.elementwise == JI_ELEMENTWISE_RANK2)
        conjugate_numbers(c->type, c->y, 8 * MOST);
}

static bool are_near(jdatatype_t type, const void *a, const void *b, int count) {
    const double eps = type == JDATATYPE_F32_C ? 0x1p-23 : 0x1p-52;
    for (int i = 0; i < count; i++)
        if (!(fabs(get_number(type, a, i) - get_number(type, b, i)) <= 100 * eps))
            return false;
    return true;
}

JTEST(DropinElementwise, IsTheCallWithConjugates) {
    static const struct {
        ji_elementwise_t what;
        ji_storage_t storage;
    } kinds[] = {
        {JI_ELEMENTWISE_HERMITIAN, JI_STORED_FULL},   {JI_ELEMENTWISE_HERMITIAN, JI_STORED_BAND},
        {JI_ELEMENTWISE_HERMITIAN, JI_STORED_PACKED}, {JI_ELEMENTWISE_OUTER, JI_STORED_FULL},
        {JI_ELEMENTWISE_RANK1, JI_STORED_FULL},       {JI_ELEMENTWISE_RANK1, JI_STORED_PACKED},
        {JI_ELEMENTWISE_RANK2, JI_STORED_FULL},       {JI_ELEMENTWISE_RANK2, JI_STORED_PACKED},
    };
    jhandle_t *handle;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t round = jtest_iterations(400); round > 0; round--) {
        const size_t kind = (size_t)jtest_random_between(0, sizeof kinds / sizeof *kinds - 1);
        static elementwise_case_t c, d;
        draw(&c, kinds[kind].what, kinds[kind].storage);
        memcpy(&d, &c, sizeof c);
        d.args.a = d.a, d.args.x = d.x, d.args.y = d.y;

        call_jblas(&c, handle);
        ji_dropin_elementwise(d.type, &d.args, &d.turned, d.alpha, d.storage);
        JSCOPED_TRACE("kind %zu m=%ld n=%ld k=%ld uplo=%d", kind, (long)c.args.m, (long)c.args.n,
                      (long)c.args.k, (int)c.args.uplo);
        JEXPECT_TRUE(are_near(c.type, c.a, d.a, 2 * NUMBERS));
        JEXPECT_TRUE(are_near(c.type, c.y, d.y, 8 * MOST));
        JEXPECT_TRUE(are_near(c.type, c.x, d.x, 8 * MOST));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
