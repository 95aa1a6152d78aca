/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small triangles of a batch that are done a lane each (host/woven.h) against one after the other,
 * bit for bit, with each set of kernels that the processor has. What is not looked at is NaN. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/jalloc.h"
#include "jtest.h"

#include "blas/host/woven.h"

enum { MOST_LANES = 64, MOST_WORK = 8192 };

typedef struct woven_case {
    ji_primitive_t primitive;
    ji_matmat_t item;
    int64_t info;
    size_t a_bytes, b_bytes; /* of an item */
    char *a, *b;             /* of all of them */
} woven_case_t;

static void put(jdatatype_t type, char *matrix, int64_t index, double re, double im) {
    const bool complex = ji_is_complex(type);
    float *const s = (float *)matrix + index * (complex ? 2 : 1);
    double *const d = (double *)matrix + index * (complex ? 2 : 1);

    if (ji_real_of(type) == JDATATYPE_F32)
        s[0] = (float)re, s[complex] = (float)(complex ? im : re);
    else
        d[0] = re, d[complex] = complex ? im : re;
}

static double any(void) { return jtest_random_double(-1, 1); }

/* A triangle that is well conditioned and, of potrf, definite. */
static void fill_triangle(const woven_case_t *c, char *a, int64_t n) {
    const ji_matmat_t *item = &c->item;
    const bool is_factor = c->primitive == JI_POTRF, unit = !is_factor && item->diag == JBLAS_UNIT;

    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < item->lda; i++) {
            const bool stored = i < n && (item->uplo == JBLAS_UPPER ? i <= j : i >= j);
            const double pivot = is_factor ? 2 * (double)n + any() : 2 + any();
            if (!stored || (i == j && unit))
                put(item->head.type, a, i + j * item->lda, NAN, NAN);
            else
                put(item->head.type, a, i + j * item->lda, i == j ? pivot : any(),
                    i == j && is_factor ? NAN : any());
        }
}

static woven_case_t make_case(ji_primitive_t primitive) {
    static const jdatatype_t types[] = {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32_C,
                                        JDATATYPE_F64_C};
    static const jblas_operation_t operations[] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                   JBLAS_CONJUGATE_TRANSPOSE};
    const int64_t n = jtest_random_between(1, jtest_random_bool() ? 8 : JI_WOVEN_ORDER),
                  sides =
                      jtest_random_between(1, n * n > MOST_WORK / 20 ? MOST_WORK / (n * n) : 20);
    const bool solves = primitive == JI_TRSM, left = jtest_random_bool();
    const jdatatype_t type = types[jtest_random_between(0, 3)];
    woven_case_t c = {.primitive = primitive};
    ji_matmat_t *item = &c.item;

    item->head.type = type;
    item->head.threads.count = 1;
    item->side = left ? JBLAS_LEFT : JBLAS_RIGHT;
    item->uplo = jtest_random_bool() ? JBLAS_UPPER : JBLAS_LOWER;
    item->transa = operations[jtest_random_between(0, 2)];
    item->diag = jtest_random_bool() ? JBLAS_UNIT : JBLAS_NON_UNIT;
    item->m = solves && !left ? sides : n, item->n = solves && left ? sides : n;
    item->alpha = ji_constant(type, jtest_random_bool() ? 1 : -0.75);
    const bool has_gaps = jtest_random_bool();
    item->lda = n + (has_gaps ? jtest_random_between(0, 3) : 0);
    item->ldb = item->m + (has_gaps ? jtest_random_between(0, 3) : 0);

    c.a_bytes = (size_t)(item->lda * n) * ji_sizeof(type);
    c.b_bytes = (size_t)(item->ldb * item->n) * ji_sizeof(type);
    c.a = malloc(MOST_LANES * c.a_bytes), c.b = malloc(MOST_LANES * c.b_bytes);
    for (size_t lane = 0; c.a != NULL && c.b != NULL && lane < MOST_LANES; lane++) {
        fill_triangle(&c, c.a + lane * c.a_bytes, n);
        for (int64_t i = 0; i < item->ldb * item->n; i++)
            put(type, c.b + lane * c.b_bytes, i, any(), any());
    }
    return c;
}

static void pointers_of(const woven_case_t *c, char *a, char *b, void **as, void **bs) {
    for (size_t lane = 0; lane < MOST_LANES; lane++)
        as[lane] = a + lane * c->a_bytes, bs[lane] = b + lane * c->b_bytes;
}

/* One item after the other, as a plain call does it. */
static void do_plainly(woven_case_t *c, int count, void *const *as, void *const *bs) {
    for (int i = 0; i < count; i++) {
        ji_matmat_t one = c->item;
        one.a = as[i], one.b = bs[i], one.info = &c->info;
        ji_host_primitives[c->primitive](&one);
        JEXPECT_EQ(c->info, 0);
    }
}

static void compare(ji_primitive_t primitive, bool spoils) {
    woven_case_t c = make_case(primitive);
    char *const a = malloc(MOST_LANES * c.a_bytes), *const b = malloc(MOST_LANES * c.b_bytes);
    void *as[MOST_LANES], *bs[MOST_LANES], *own_as[MOST_LANES], *own_bs[MOST_LANES];
    const int lanes = ji_host_woven_lanes(c.item.head.type),
              count = lanes * (int)jtest_random_between(1, MOST_LANES / lanes),
              spoilt = (int)jtest_random_between(0, count - 1);
    JASSERT_TRUE(a != NULL && b != NULL && c.a != NULL && c.b != NULL);
    JSCOPED_TRACE("type %d, %s: %d of %ld x %ld, side %d uplo %d trans %d diag %d",
                  (int)c.item.head.type, primitive == JI_TRSM ? "trsm" : "potrf", count,
                  (long)c.item.m, (long)c.item.n, (int)c.item.side, (int)c.item.uplo,
                  (int)c.item.transa, (int)c.item.diag);

    pointers_of(&c, c.a, c.b, as, bs);
    pointers_of(&c, a, b, own_as, own_bs);
    if (spoils) /* a pivot of one of them */
        put(c.item.head.type, as[spoilt], 0, 0, 0);
    memcpy(a, c.a, MOST_LANES * c.a_bytes), memcpy(b, c.b, MOST_LANES * c.b_bytes);

    JEXPECT_TRUE(ji_host_is_woven(primitive, &c.item));
    const bool stops = spoils && (primitive == JI_POTRF || c.item.diag != JBLAS_UNIT);
    const int64_t done = ji_host_do_woven(primitive, &c.item, count, own_as, own_bs);
    JEXPECT_TRUE(stops ? done <= spoilt && done > spoilt - MOST_LANES / 2 : done == count);
    do_plainly(&c, (int)done, as, bs);
    JEXPECT_EQ(memcmp(a, c.a, MOST_LANES * c.a_bytes), 0);
    JEXPECT_EQ(memcmp(b, c.b, MOST_LANES * c.b_bytes), 0);
    free(a), free(b), free(c.a), free(c.b);
}

/* Many rounds with each set of kernels that the processor has, where jblas's own compute. */
static void with_each_set(void (*round)(int number)) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle)); /* fills the table of primitives */
    const ji_kernel_set_t *before = ji_kernels;
    const bool is_own = ji_host_primitives[JI_TRSM] == ji_host_trsm &&
                        ji_host_primitives[JI_POTRF] == ji_host_potrf;

    for (size_t i = 0; is_own && ji_kernel_set_at(i) != NULL; i++) {
        if (!ji_kernel_set_is_here(ji_kernel_set_at(i)))
            continue;
        ji_kernel_set_use(ji_kernel_set_at(i));
        for (int number = 0; number < 400 && !jtest_has_failure(); number++)
            round(number);
    }
    ji_kernel_set_use(before);
    JEXPECT_OK(jhandle_destroy(handle));
}

static void compare_both(int number) {
    compare(JI_TRSM, number % 8 == 0);
    compare(JI_POTRF, number % 8 == 0);
}

/* With a pivot that is none nothing of its group is written, and whoever asked is told. */
JTEST(JblasWoven, ItemsHaveTheBitsOfOneAfterTheOther) { with_each_set(compare_both); }

/* ---- Batches ---- */

/* As ji_host_batch() takes them, one thread. */
static void do_batch(const woven_case_t *c, int64_t count, void *a, void *b, int64_t *info) {
    ji_any_block_t block = {.matmat = c->item};
    const int64_t element = (int64_t)ji_sizeof(c->item.head.type);

    block.matmat.head.form = JI_FORM_STRIDED;
    block.matmat.batch = (ji_batch_t){.count = count,
                                      .stride_a = (int64_t)c->a_bytes / element,
                                      .stride_b = (int64_t)c->b_bytes / element,
                                      .primitive = (uint8_t)c->primitive,
                                      .threads = 1,
                                      .level = 3,
                                      .result_bytes = sizeof *info,
                                      .element_bytes = {(uint8_t)element, (uint8_t)element}};
    block.matmat.a = a;
    block.matmat.b = c->primitive == JI_TRSM ? b : NULL;
    block.matmat.info = c->primitive == JI_POTRF ? info : NULL;
    ji_host_batch(&block);
}

/* The same bytes where a page that is not there begins behind them, or ends before them. */
static char *beside_nothing(const char *bytes, size_t count) {
    char *const copy =
        jtest_random_bool() ? jtest_guard_pages(count) : jtest_guard_pages_before(count);
    if (copy != NULL)
        memcpy(copy, bytes, count);
    return copy;
}

/* So many items, of which the last ends with its last element and one may have no pivot. */
static void compare_batch(ji_primitive_t primitive) {
    woven_case_t c = make_case(primitive);
    const ji_matmat_t *item = &c.item;
    const int64_t count = jtest_random_between(1, MOST_LANES),
                  order = item->side == JBLAS_LEFT && primitive == JI_TRSM ? item->m : item->n;
    const size_t element = ji_sizeof(item->head.type), last = (size_t)count - 1,
                 a_bytes = (last + 1) * c.a_bytes - (size_t)(item->lda - order) * element,
                 b_bytes = (last + 1) * c.b_bytes - (size_t)(item->ldb - item->m) * element;
    int64_t info[MOST_LANES], expected[MOST_LANES];
    JASSERT_TRUE(c.a != NULL && c.b != NULL);
    JSCOPED_TRACE("type %d, %s: %ld of %ld x %ld, lda %ld, ldb %ld, side %d uplo %d trans %d",
                  (int)item->head.type, primitive == JI_TRSM ? "trsm" : "potrf", (long)count,
                  (long)item->m, (long)item->n, (long)item->lda, (long)item->ldb, (int)item->side,
                  (int)item->uplo, (int)item->transa);

    if (jtest_random_between(0, 7) == 0)
        put(item->head.type, c.a + (size_t)jtest_random_between(0, count - 1) * c.a_bytes,
            (order - 1) * (item->lda + 1), 0, 0);
    char *const a = beside_nothing(c.a, a_bytes), *const b = beside_nothing(c.b, b_bytes);
    JASSERT_TRUE(a != NULL && b != NULL);

    do_batch(&c, count, a, b, info);
    for (int64_t i = 0; i < count; i++) {
        ji_matmat_t one = *item;
        one.a = c.a + (size_t)i * c.a_bytes, one.b = c.b + (size_t)i * c.b_bytes;
        one.info = &expected[i];
        ji_host_primitives[primitive](&one);
        if (primitive == JI_POTRF)
            JEXPECT_EQ(info[i], expected[i]);
    }
    JEXPECT_EQ(memcmp(a, c.a, a_bytes), 0);
    JEXPECT_EQ(memcmp(b, c.b, b_bytes), 0);
    free(c.a), free(c.b);
}

static void compare_both_batches(int number) {
    (void)number;
    compare_batch(JI_TRSM);
    compare_batch(JI_POTRF);
}

/* Each kind of remainder, and pages that are not there beside the operands. */
JTEST(JblasWoven, AnyNumberOfItemsHasTheBitsOfOneAfterTheOther) {
    with_each_set(compare_both_batches);
}

/* Groups of lanes, what is left over, and a group of which one matrix is not definite. */
JTEST(JblasWoven, ABatchSaysOfEachItemWhatAPlainCallSays) {
    enum { ORDER = 7, ITEMS = 43, ELEMENTS = ORDER * ORDER };
    static double plain[ITEMS * ELEMENTS], batched[ITEMS * ELEMENTS];
    int64_t info[ITEMS], expected;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));

    for (int i = 0; i < ITEMS * ELEMENTS; i++)
        plain[i] = i % ELEMENTS % (ORDER + 1) == 0 ? ORDER : any();
    plain[20 * ELEMENTS + 3 * (ORDER + 1)] = -1;
    memcpy(batched, plain, sizeof plain);

    JEXPECT_OK(jlapack_dpotrf_strided_batched(handle, JBLAS_LOWER, ORDER, batched, ORDER, ELEMENTS,
                                              info, ITEMS));
    for (int i = 0; i < ITEMS; i++) {
        JEXPECT_OK(
            jlapack_dpotrf(handle, JBLAS_LOWER, ORDER, plain + i * ELEMENTS, ORDER, &expected));
        JEXPECT_EQ(info[i], expected);
        JEXPECT_EQ(info[i], i == 20 ? 4 : 0);
    }
    JEXPECT_EQ(memcmp(plain, batched, sizeof plain), 0);
    JEXPECT_OK(jhandle_destroy(handle));
}
