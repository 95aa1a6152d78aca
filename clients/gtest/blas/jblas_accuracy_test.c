/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The promises of a handle's accuracy for products: componentwise each part of each element within
 * gamma_k |A||B|, and overflow only where the conventional way has it; normwise within the
 * documented bounds. Random and adversarial operands, through jblas and through buffers, against
 * long double. */

#include "jblas_routines.h"
#include "operation_helper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N JBLAS_NO_TRANSPOSE

/* Products of order n, of which `rows` rows and columns that are drawn are judged. */
typedef struct product {
    jdatatype_t type;
    int64_t n;
    void *a, *b, *c;
} product_t;

static product_t product_make(jdatatype_t type, int64_t n) {
    const size_t bytes = (size_t)(n * n) * jhandle_sizeof_datatype(type);
    product_t p = {type, n, malloc(bytes), malloc(bytes), malloc(bytes)};
    JEXPECT_TRUE(p.a != NULL && p.b != NULL && p.c != NULL);
    return p;
}

static void product_free(product_t *p) { free(p->a), free(p->b), free(p->c); }

static wide_t random_wide(long double real, long double imaginary) {
    wide_t value = real * jtest_random_double(-1, 1);
    __imag__ value = imaginary * jtest_random_double(-1, 1);
    return value;
}

/* Sizes of numbers: those of one scale, imaginary parts far below the real ones, and of all
 * scales. */
typedef enum { ONE_SCALE, SMALL_IMAGINARY, ALL_SCALES, CANCELLING, KINDS } numbers_t;
static const char *const numbers_names[] = {"one scale", "small imaginary parts", "all scales",
                                            "cancelling"};

static void product_fill(product_t *p, numbers_t numbers) {
    const long double tiny = p->type == JDATATYPE_F32_C ? 1e-6L : 1e-12L;
    for (int64_t i = 0; i < p->n * p->n; ++i) {
        long double scale[2] = {1, 1};
        for (int which = 0; which < 2 && numbers == ALL_SCALES; ++which)
            scale[which] = powl(10, jtest_random_double(-6, 6));
        const long double part = numbers == SMALL_IMAGINARY ? tiny : 1;
        wide_t a = random_wide(scale[0], part * scale[0]),
               b = random_wide(scale[1], part * scale[1]);
        /* A's columns in pairs that B's rows of one sign cancel */
        if (numbers == CANCELLING && i / p->n % 2 == 1)
            a = -wide_get(p->a, (int)p->type, i - p->n);
        if (numbers == CANCELLING)
            b = 1 + random_wide(1e-3L, 1e-3L);
        wide_put(p->a, (int)p->type, i, a);
        wide_put(p->b, (int)p->type, i, b);
    }
}

static void product_run(jhandle_t *handle, product_t *p) {
    const int64_t n = p->n;
    const jcomplex_f32_t one_c = 1, zero_c = 0;
    const jcomplex_f64_t one_z = 1, zero_z = 0;
    JEXPECT_OK(
        p->type == JDATATYPE_F32_C
            ? jblas_cgemm(handle, N, N, n, n, n, &one_c, p->a, n, p->b, n, &zero_c, p->c, n)
            : jblas_zgemm(handle, N, N, n, n, n, &one_z, p->a, n, p->b, n, &zero_z, p->c, n));
}

/* The largest error of some elements: of their parts over |Re A||Re B| + |Im A||Im B| and |Re A||Im
 * B| + |Im A||Re B|, and of the elements over |A||B|, in units of k u. */
typedef struct errors {
    double parts, moduli;
} errors_t;

static long double modulus(wide_t x) { return hypotl(__real__ x, __imag__ x); }

static errors_t product_errors(const product_t *p, int count) {
    const long double unit = wide_epsilon((int)p->type) / 2 * (long double)p->n;
    errors_t worst = {0, 0};
    for (; count > 0; --count) {
        const int64_t i = jtest_random_between(0, p->n - 1), j = jtest_random_between(0, p->n - 1);
        wide_t sum = 0;
        long double real = 0, imaginary = 0, whole = 0;
        for (int64_t l = 0; l < p->n; ++l) {
            const wide_t a = wide_get(p->a, (int)p->type, i + l * p->n),
                         b = wide_get(p->b, (int)p->type, l + j * p->n);
            sum += a * b;
            real += fabsl(__real__ a * __real__ b) + fabsl(__imag__ a * __imag__ b);
            imaginary += fabsl(__real__ a * __imag__ b) + fabsl(__imag__ a * __real__ b);
            whole += modulus(a) * modulus(b);
        }
        const wide_t apart = wide_get(p->c, (int)p->type, i + j * p->n) - sum;
        worst.parts = fmax(worst.parts, (double)(fabsl(__real__ apart) / (real * unit)));
        worst.parts = fmax(worst.parts, (double)(fabsl(__imag__ apart) / (imaginary * unit)));
        worst.moduli = fmax(worst.moduli, (double)(modulus(apart) / (whole * unit)));
    }
    return worst;
}

/* gamma_2k bounds each part: 2 k u and a little. The normwise way is seen to be within 3 g, and
 * outside of the other bound where imaginary parts are small: these numbers can tell the two
 * apart. */
static const jdatatype_t complex_types[] = {JDATATYPE_F32_C, JDATATYPE_F64_C};
JTEST_P(JblasAccuracy, ProductsOfComplexNumbers, jdatatype_t, complex_types) {
    static const int64_t orders[] = {512, 600}; /* the second one by a sanitizer no more */
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t o = 0; o < 2 && o < jtest_iterations(2); ++o) {
        product_t p = product_make(*param, orders[o]);
        for (int numbers = 0; numbers < KINDS; ++numbers) {
            JSCOPED_TRACE("order %d, %s", (int)p.n, numbers_names[numbers]);
            product_fill(&p, (numbers_t)numbers);
            JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_COMPONENTWISE));
            product_run(handle, &p);
            JEXPECT_LE(product_errors(&p, 200).parts, 2.1);
            JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
            product_run(handle, &p);
            const errors_t errors = product_errors(&p, 200);
            JEXPECT_LE(errors.moduli, 3.2);
            if (numbers == SMALL_IMAGINARY)
                JEXPECT_GT(errors.parts, 100);
        }
        product_free(&p);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Re A + Im A overflows though no product does. */
JTEST_P(JblasAccuracy, ProductsOverflowOnlyWhereTheConventionalWayDoes, jdatatype_t,
        complex_types) {
    const long double large = *param == JDATATYPE_F32_C ? 2.4e38L : 1.2e308L;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    product_t p = product_make(*param, 512);
    for (int64_t i = 0; i < p.n * p.n; ++i)
        wide_put(p.a, (int)p.type, i, 0), wide_put(p.b, (int)p.type, i, 0);
    wide_t both = large;
    __imag__ both = large;
    wide_put(p.a, (int)p.type, 0, both);
    wide_put(p.b, (int)p.type, 0, 0.5L);
    for (int normwise = 0; normwise < 2; ++normwise) {
        JEXPECT_OK(
            jhandle_set_accuracy(handle, normwise ? JACCURACY_NORMWISE : JACCURACY_COMPONENTWISE));
        product_run(handle, &p);
        for (int64_t i = 0; i < p.n * p.n && !normwise; ++i) {
            const wide_t got = wide_get(p.c, (int)p.type, i);
            JASSERT_TRUE(isfinite((double)__real__ got) && isfinite((double)__imag__ got));
        }
        const wide_t first = wide_get(p.c, (int)p.type, 0);
        /* These numbers tell the two apart. */
        JEXPECT_EQ(isfinite((double)__imag__ first) != 0, normwise == 0);
        if (blas_is_own()) /* and of the sum nothing comes here */
            JEXPECT_TRUE(isfinite((double)__real__ first));
    }
    product_free(&p);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Operations on buffers have the accuracy of their handle. */
JTEST_P(JblasAccuracy, ProductsOfBuffers, jdatatype_t, complex_types) {
    operation_world_t world;
    operation_begin(&world, *param);
    const scalar_t one = scalar_of(*param, 1, 0), zero = scalar_of(*param, 0, 0);
    product_t p = product_make(*param, 512);
    operand_t a, b, c;
    operand_make(&a, world.allocator, p.n, p.n, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&b, world.allocator, p.n, p.n, STORED_COLUMN, JSTRUCTURE_GENERAL);
    operand_make(&c, world.allocator, p.n, p.n, STORED_COLUMN, JSTRUCTURE_GENERAL);
    const size_t bytes = (size_t)(p.n * p.n) * jhandle_sizeof_datatype(*param);
    product_fill(&p, SMALL_IMAGINARY);
    memcpy(operand_at(&a, 0, 0), p.a, bytes);
    memcpy(operand_at(&b, 0, 0), p.b, bytes);
    for (int normwise = 0; normwise < 2; ++normwise) {
        JEXPECT_OK(jhandle_set_accuracy(world.handle,
                                        normwise ? JACCURACY_NORMWISE : JACCURACY_COMPONENTWISE));
        JEXPECT_OK(jbuffer_product(world.handle, N, N, &one, a.view, b.view, &zero, &c.view));
        memcpy(p.c, operand_at(&c, 0, 0), bytes);
        const errors_t errors = product_errors(&p, 200);
        if (normwise)
            JEXPECT_GT(errors.parts, 100);
        else
            JEXPECT_LE(errors.parts, 2.1);
    }
    operand_free(&a);
    operand_free(&b);
    operand_free(&c);
    product_free(&p);
    operation_end(&world);
}
