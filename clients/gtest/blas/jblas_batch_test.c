/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Batches: which strides keep what is written apart, whose threads change no bit, pointers that are
 * missing; and products of small matrices, which have the bits of plain ones with each set of
 * kernels. That items are right is tested with all other functions. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/jalloc.h"
#include "jblas_routines.h"

#include "blas/kernels/batch.h"
#include "blas/kernels/kernels.h"

#define PLACES 256

/* Whether two matrices of a batch have an element in common, by marking them all. */
static bool share(int64_t m, int64_t n, int64_t ld, int64_t stride, int64_t count) {
    bool taken[PLACES] = {false};
    for (int64_t item = 0; item < count; item++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                bool *place = &taken[item * stride + j * ld + i];
                if (*place)
                    return true;
                *place = true;
            }
    return false;
}

/* Every small shape, leading dimension, stride of either sign and count: refused where elements are
 * shared, and right otherwise. */
JTEST(JblasBatch, MatricesMayInterleaveButNotOverlap) {
    const double one = 1, two = 2, a[5] = {1, 2, 3, 4, 5};
    int64_t interleaved = 0;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t m = 0; m < 5; m++)
        for (int64_t n = 0; n < 4; n++)
            for (int64_t ld = m > 0 ? m : 1; ld < 14; ld++)
                for (int64_t stride = 0; stride < 30; stride++)
                    for (int64_t count = 1; count < 6 && !jtest_has_failure(); count++) {
                        double c[PLACES] = {0};
                        const int64_t sign = (m + ld + stride) % 2 ? 1 : -1;
                        JSCOPED_TRACE("m %ld n %ld ldc %ld stride_c %ld count %ld", (long)m,
                                      (long)n, (long)ld, (long)(sign * stride), (long)count);
                        const jstatus_t status = jblas_dgemm_strided_batched(
                            handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, m, n, 1, &one, a, 5, 0,
                            a, 1, 0, &two, c + (sign < 0 ? (count - 1) * stride : 0), ld,
                            sign * stride, count);
                        if (share(m, n, ld, stride, count)) {
                            JEXPECT_STATUS(status, JSTATUS_INVALID_SIZE);
                            JEXPECT_SUBSTR(jhandle_last_message(handle), "overlap");
                            continue;
                        }
                        JEXPECT_OK(status);
                        interleaved += m > 0 && count > 1 && stride < ld * (n - 1) + m;
                        for (int64_t item = 0; item < count; item++)
                            for (int64_t j = 0; j < n; j++)
                                for (int64_t i = 0; i < m; i++) {
                                    JEXPECT_EQ(c[item * stride + j * ld + i], a[i] * a[j]);
                                    c[item * stride + j * ld + i] = 0;
                                }
                        for (int64_t place = 0; place < PLACES; place++)
                            JEXPECT_EQ(c[place], 0);
                    }
    JEXPECT_GT(interleaved, 1000);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Large numbers. 2^40 + 1 is 257 times `part`; 2^24 strides of 2^16 end one element before it. */
JTEST(JblasBatch, OverlapIsToldForLargeStrides) {
    const int64_t far = ((int64_t)1 << 40) + 1, part = far / 257, power = 1 << 16, times = 1 << 24;
    const struct {
        int64_t m, n, ldc, stride, count;
        bool overlaps;
    } cases[] = {
        {1, 2, far, part, 257, false},
        {1, 2, far, part, 258, true},
        {1, power, far, power, times, false},
        {2, 2, far, power, times, false},
        {2, 2, far, power, times + 1, true},
        {2, 4, far, far * 2 + 1, 2, true},
        {2, 4, far, far * 2 + 2, 2, false},
        {2, 4, far, far * 2 - 1, 2, true},
        {2, 4, far, far * 2 - 2, 2, false},
        {2, power, 6, 2, 3, false},
        {2, power, 6, 2, 4, true},
        {2, power, 6, -2, 3, false},
    };
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jhandle_start_size_query(handle)); /* checks alone */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        JSCOPED_TRACE("case %zu", i);
        const jstatus_t status = jblas_sgemm_strided_batched(
            handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, cases[i].m, cases[i].n, 1, NULL, NULL,
            2, 0, NULL, 1, 0, NULL, NULL, cases[i].ldc, cases[i].stride, cases[i].count);
        JEXPECT_STATUS(status, cases[i].overlaps ? JSTATUS_INVALID_SIZE : JSTATUS_SIZE_UNCHANGED);
    }
    size_t bytes;
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Each stride alone: two matrices so far apart are in no memory. */
JTEST(JblasBatch, StridesBeyondMemoryAreRefused) {
    static const char *const said[3] = {"stride_a = ", "stride_b = ", "stride_c = "};
    const double one = 1, a = 2;
    double c = 3;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int which = 0; which < 3; which++) {
        int64_t strides[3] = {0, 0, 1};
        strides[which] = INT64_MAX;
        JEXPECT_STATUS(jblas_dgemm_strided_batched(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE,
                                                   1, 1, 1, &one, &a, 1, strides[0], &a, 1,
                                                   strides[1], &one, &c, 1, strides[2], 2),
                       JSTATUS_INVALID_SIZE);
        JEXPECT_SUBSTR(jhandle_last_message(handle), said[which]);
    }
    JEXPECT_EQ(c, 3);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Bits ---- */

typedef struct batch_case {
    jblas_operation_t transa, transb;
    int64_t m, n, k, lda, ldb, ldc, count;
    int64_t stride[3]; /* of A, B, C */
} batch_case_t;

/* The same items by a loop, by pointers in another order, and at constant strides; of each type. */
#define BATCH_OF_TYPE(t, T)                                                                        \
    static jstatus_t plain_##t(jhandle_t *handle, const batch_case_t *c, const void *scalars,      \
                               const void *a, const void *b, void *to) {                           \
        const T *alpha = scalars, *beta = alpha + 1;                                               \
        jstatus_t status = JSTATUS_SUCCESS;                                                        \
        for (int64_t i = 0; i < c->count && status == JSTATUS_SUCCESS; i++)                        \
            status = jblas_##t##gemm(handle, c->transa, c->transb, c->m, c->n, c->k, alpha,        \
                                     (const T *)a + i * c->stride[0], c->lda,                      \
                                     (const T *)b + i * c->stride[1], c->ldb, beta,                \
                                     (T *)to + i * c->stride[2], c->ldc);                          \
        return status;                                                                             \
    }                                                                                              \
    static jstatus_t strided_##t(jhandle_t *handle, const batch_case_t *c, const void *scalars,    \
                                 const void *a, const void *b, void *to) {                         \
        const T *alpha = scalars, *beta = alpha + 1;                                               \
        return jblas_##t##gemm_strided_batched(                                                    \
            handle, c->transa, c->transb, c->m, c->n, c->k, alpha, a, c->lda, c->stride[0], b,     \
            c->ldb, c->stride[1], beta, to, c->ldc, c->stride[2], c->count);                       \
    }                                                                                              \
    static jstatus_t pointers_##t(jhandle_t *handle, const batch_case_t *c, const void *scalars,   \
                                  const void *a, const void *b, void *to) {                        \
        static const T *as[MOST_ITEMS], *bs[MOST_ITEMS];                                           \
        static T *cs[MOST_ITEMS];                                                                  \
        const T *alpha = scalars, *beta = alpha + 1;                                               \
        for (int64_t i = 0; i < c->count; i++) {                                                   \
            const int64_t item = c->count - 1 - i;                                                 \
            as[i] = (const T *)a + item * c->stride[0];                                            \
            bs[i] = (const T *)b + item * c->stride[1];                                            \
            cs[i] = (T *)to + item * c->stride[2];                                                 \
        }                                                                                          \
        return jblas_##t##gemm_batched(handle, c->transa, c->transb, c->m, c->n, c->k, alpha, as,  \
                                       c->lda, bs, c->ldb, beta, cs, c->ldc, c->count);            \
    }
enum { MOST_ITEMS = 300 };
BATCH_OF_TYPE(s, float)
BATCH_OF_TYPE(d, double)
BATCH_OF_TYPE(c, jcomplex_f32_t)
BATCH_OF_TYPE(z, jcomplex_f64_t)

static const struct batch_type {
    int parts;
    bool is_single;
    jstatus_t (*way[3])(jhandle_t *handle, const batch_case_t *c, const void *scalars,
                        const void *a, const void *b, void *to);
} batch_types[] = {{1, true, {plain_s, strided_s, pointers_s}},
                   {1, false, {plain_d, strided_d, pointers_d}},
                   {2, true, {plain_c, strided_c, pointers_c}},
                   {2, false, {plain_z, strided_z, pointers_z}}};

static void batch_store(const struct batch_type *type, void *to, int64_t index, double value) {
    if (type->is_single)
        ((float *)to)[index] = (float)value;
    else
        ((double *)to)[index] = value;
}

/* Numbers, and now and then what is none. */
static void *batch_numbers(const struct batch_type *type, int64_t elements) {
    const int64_t reals = elements * type->parts;
    void *data = malloc((size_t)reals * sizeof(double) + 1);
    for (int64_t i = 0; data != NULL && i < reals; i++) {
        const bool odd = jtest_random_between(0, 999) == 0;
        batch_store(type, data, i, odd ? INFINITY : jtest_random_double(-1, 1));
    }
    return data;
}

/* Small shapes often, and some whose items are done otherwise. */
static batch_case_t batch_case(void) {
    static const jblas_operation_t operations[] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                   JBLAS_CONJUGATE_TRANSPOSE};
    const int64_t most = jtest_random_between(0, 9) > 0 ? 20 : 70;
    batch_case_t c = {.transa = operations[jtest_random_between(0, 2)],
                      .transb = operations[jtest_random_between(0, 2)],
                      .m = jtest_random_between(1, most),
                      .n = jtest_random_between(1, most),
                      .k = jtest_random_between(0, jtest_random_bool() ? most : 300),
                      .count = jtest_random_between(0, most > 20 ? 9 : MOST_ITEMS)};
    const bool ta = c.transa != JBLAS_NO_TRANSPOSE, tb = c.transb != JBLAS_NO_TRANSPOSE;
    c.lda = (ta ? c.k : c.m) + jtest_random_between(0, 3) + (c.k == 0);
    c.ldb = (tb ? c.n : c.k) + jtest_random_between(0, 3) + (c.k == 0);
    c.ldc = c.m + jtest_random_between(0, 3);
    c.stride[0] = c.lda * (ta ? c.m : c.k) + jtest_random_between(0, 5);
    c.stride[1] = jtest_random_between(0, 4) == 0 ? 0 : c.ldb * (tb ? c.k : c.n);
    c.stride[2] = c.ldc * c.n + jtest_random_between(0, 5);
    return c;
}

/* NaN are alike whatever their payload. */
static bool batch_same(const struct batch_type *type, const void *x, const void *y, int64_t reals) {
    const size_t bytes = type->is_single ? sizeof(float) : sizeof(double);
    for (int64_t i = 0; i < reals; i++) {
        const double u = type->is_single ? (double)((const float *)x)[i] : ((const double *)x)[i],
                     v = type->is_single ? (double)((const float *)y)[i] : ((const double *)y)[i];
        const size_t at = (size_t)i * bytes;
        if (memcmp((const char *)x + at, (const char *)y + at, bytes) != 0 &&
            !(isnan(u) && isnan(v)))
            return false;
    }
    return true;
}

/* Each way gives what the first does; what is beside the items stays. */
static void compare_ways(jhandle_t *handle, const struct batch_type *type, const batch_case_t *c,
                         const double *scalars) {
    const int64_t reals = (c->stride[2] * c->count + 1) * type->parts;
    const size_t bytes = (size_t)reals * sizeof(double);
    void *a = batch_numbers(type, c->stride[0] * (c->count + 1)),
         *b = batch_numbers(type, c->stride[1] * c->count + c->ldb * (c->k + c->n + 1)),
         *before = batch_numbers(type, reals), *expected = malloc(bytes), *result = malloc(bytes);
    JASSERT_TRUE(a != NULL && b != NULL && before != NULL && expected != NULL && result != NULL);

    JSCOPED_TRACE("%d parts, %s: %d %d, %ld x %ld x %ld, %ld items, ld %ld %ld %ld", type->parts,
                  type->is_single ? "single" : "double", (int)c->transa, (int)c->transb, (long)c->m,
                  (long)c->n, (long)c->k, (long)c->count, (long)c->lda, (long)c->ldb, (long)c->ldc);
    for (int way = 0; way < 3; way++) {
        void *const to = way == 0 ? expected : result;
        memcpy(to, before, bytes / (type->is_single ? 2 : 1));
        JEXPECT_OK(type->way[way](handle, c, scalars, a, b, to));
        JEXPECT_TRUE(batch_same(type, to, expected, reals));
    }
    free(a), free(b), free(before), free(expected), free(result);
}

static void compare_batch(const struct batch_type *type) {
    static const double values[] = {1, 0, -0.75, 1, 0, 2};
    const batch_case_t c = batch_case();
    double scalars[4] = {0};
    for (int i = 0; i < 2 * type->parts; i++)
        batch_store(type, scalars, i, values[jtest_random_between(0, 5)]);

    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.threads = (int)jtest_random_between(1, 4);
    JASSERT_OK(jhandle_create(&options, &handle));
    compare_ways(handle, type, &c, scalars);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Every number of rows and columns of the tiles of small products, by which they are not looked at
 * item by item where alpha is 1 and beta 0, and are where they are given by pointers. */
static void compare_shapes(const struct batch_type *type) {
    double scalars[4] = {0};
    batch_store(type, scalars, 0, 1);
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t m = 1; m <= 33; m++)
        for (int64_t n = 1; n <= 31 && !jtest_has_failure(); n++) {
            const int64_t gap = jtest_random_between(0, 2);
            batch_case_t c = {.m = m, .n = n, .k = jtest_random_between(1, 20), .count = 3};
            c.transa = c.transb = JBLAS_NO_TRANSPOSE;
            c.lda = c.ldc = m + gap, c.ldb = c.k + gap;
            c.stride[0] = c.lda * c.k, c.stride[1] = c.ldb * n, c.stride[2] = c.ldc * n + gap;
            compare_ways(handle, type, &c, scalars);
        }

    /* Square items without gaps, as they are most often, and with one number that is another. */
    for (int64_t order = 1; order <= 33; order++)
        for (int other = 0; other < 14 && !jtest_has_failure(); other++) {
            batch_case_t c = {.m = order + (other % 7 == 1),
                              .n = order + (other % 7 == 2),
                              .k = order - (other % 7 == 3 && order > 1),
                              .count = 3};
            batch_store(type, scalars, type->parts, other < 7 ? 0 : 1);
            c.transa = c.transb = JBLAS_NO_TRANSPOSE;
            c.lda = c.m + (other % 7 == 4), c.ldb = order + (other % 7 == 5);
            c.ldc = c.m + (other % 7 == 6);
            c.stride[0] = c.lda * c.k, c.stride[1] = c.ldb * c.n, c.stride[2] = c.ldc * c.n + 1;
            compare_ways(handle, type, &c, scalars);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Items so large that each is a batch of its own, in place, and added to: where a line begins says
 * the item, not the array of pointers. */
static void compare_large(const struct batch_type *type) {
    double scalars[4] = {0};
    batch_store(type, scalars, 0, -1), batch_store(type, scalars, type->parts, 1);
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t m = 96; m <= 128 && !jtest_has_failure(); m += 16) {
        batch_case_t c = {.m = m, .n = 48, .k = 64, .lda = m, .ldb = 64, .ldc = m, .count = 7};
        c.transa = c.transb = JBLAS_NO_TRANSPOSE;
        c.stride[0] = c.lda * c.k, c.stride[1] = c.ldb * c.n, c.stride[2] = c.ldc * c.n;
        compare_ways(handle, type, &c, scalars);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* More square items than a second cache holds. */
static void compare_many(const struct batch_type *type) {
    double scalars[4] = {0};
    batch_store(type, scalars, 0, 1);
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t order = 20; order <= 32 && !jtest_has_failure(); order++) {
        const int64_t square = order * order;
        batch_store(type, scalars, type->parts, jtest_random_bool() ? 1 : 0);
        batch_case_t c = {.m = order, .n = order, .k = order, .count = MOST_ITEMS};
        c.transa = c.transb = JBLAS_NO_TRANSPOSE;
        c.lda = c.ldb = c.ldc = order;
        c.stride[0] = c.stride[2] = square, c.stride[1] = jtest_random_bool() ? square : 0;
        compare_ways(handle, type, &c, scalars);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Square items without gaps, set and added to, of which nothing is read behind the last one. */
static void compare_at_the_end(const struct batch_type *type) {
    enum { LARGEST = 32, ITEMS = 19 };
    const int64_t real = (int64_t)(type->is_single ? sizeof(float) : sizeof(double)),
                  most = ITEMS * LARGEST * LARGEST * type->parts * real;
    char *ends[3];
    double scalars[4] = {0};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    batch_store(type, scalars, 0, 1);
    for (int i = 0; i < 3; i++)
        ends[i] = (char *)jtest_guard_pages((size_t)most) + most;

    for (int64_t order = 1; order <= LARGEST; order++)
        for (int beta = 0; beta < 2 && !jtest_has_failure(); beta++) {
            const int64_t square = order * order, reals = ITEMS * square * type->parts;
            batch_case_t c = {.m = order, .n = order, .k = order, .count = ITEMS};
            c.transa = c.transb = JBLAS_NO_TRANSPOSE;
            c.lda = c.ldb = c.ldc = order;
            c.stride[0] = c.stride[1] = c.stride[2] = square;
            batch_store(type, scalars, type->parts, beta);

            JSCOPED_TRACE("order %ld beta %d", (long)order, beta);
            void *before = batch_numbers(type, ITEMS * square),
                 *expected = malloc((size_t)(reals * real));
            char *at[3];
            JASSERT_TRUE(before != NULL && expected != NULL);
            for (int i = 0; i < 3; i++)
                at[i] = ends[i] - reals * real;
            for (int i = 0; i < 2; i++)
                for (int64_t r = 0; r < reals; r++)
                    batch_store(type, at[i], r, jtest_random_double(-1, 1));
            for (int way = 0; way < 3; way++) {
                memcpy(at[2], before, (size_t)(reals * real));
                JEXPECT_OK(type->way[way](handle, &c, scalars, at[0], at[1], at[2]));
                if (way == 0)
                    memcpy(expected, at[2], (size_t)(reals * real));
                JEXPECT_TRUE(batch_same(type, at[2], expected, reals));
            }
            free(before), free(expected);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Neither how many items are done at once, nor by how many threads, shows in the bits, nor is
 * anything beside the items touched. */
JTEST(JblasBatch, ItemsHaveTheBitsOfPlainProducts) {
    const ji_kernel_set_t *before = ji_kernels;
    for (size_t i = 0; ji_kernel_set_at(i) != NULL; i++) {
        if (!ji_kernel_set_is_here(ji_kernel_set_at(i)))
            continue;
        ji_kernel_set_use(ji_kernel_set_at(i));
        for (size_t type = 0; type < sizeof batch_types / sizeof *batch_types; type++) {
            for (int round = 0; round < 12 && !jtest_has_failure(); round++)
                compare_batch(&batch_types[type]);
            compare_shapes(&batch_types[type]);
            compare_large(&batch_types[type]);
            compare_many(&batch_types[type]);
            compare_at_the_end(&batch_types[type]);
        }
    }
    ji_kernel_set_use(before);
}

/* Algorithms may ask for products of which nothing is left. */
JTEST(JblasBatch, ProductsOfNoColumnsAreNone) {
    for (size_t i = 0; ji_kernel_set_at(i) != NULL; i++)
        for (size_t type = 0; type < 4 && ji_kernel_set_is_here(ji_kernel_set_at(i)); type++) {
            double a[2 * 8 * 8] = {0}, c[2 * 8] = {1};
            const ji_product_direct_t call = {.m = 8,
                                              .depth = 8,
                                              .a = {.at = (char *)a},
                                              .a_step = 8,
                                              .b = {.at = (char *)a},
                                              .b_row_step = 1,
                                              .b_column_step = 8,
                                              .c = {.at = (char *)c},
                                              .ldc = 8,
                                              .count = 1,
                                              .scalars = {.alpha = {1}}};
            ji_kernel_set_at(i)->batch[type]->product(&call);
            JEXPECT_EQ(c[0], 1);
        }
}

/* The same of vectors: elements in turn, by increments of either sign. */
JTEST(JblasBatch, VectorsMayInterleaveButNotOverlap) {
    const double one = 1, x = 1;
    int64_t interleaved = 0;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t n = 0; n < 5; n++)
        for (int64_t inc = 1; inc < 9; inc++)
            for (int64_t stride = 0; stride < 20; stride++)
                for (int64_t count = 1; count < 6 && !jtest_has_failure(); count++) {
                    double y[PLACES] = {0};
                    const int64_t sign = (inc + stride) % 2 ? 1 : -1;
                    JSCOPED_TRACE("n %ld incy %ld stride_y %ld count %ld", (long)n,
                                  (long)(-sign * inc), (long)(sign * stride), (long)count);
                    const jstatus_t status = jblas_daxpy_strided_batched(
                        handle, n, &one, &x, 0, 0, y + (sign < 0 ? (count - 1) * stride : 0),
                        -sign * inc, sign * stride, count);
                    if (share(1, n, inc, stride, count)) {
                        JEXPECT_STATUS(status, JSTATUS_INVALID_SIZE);
                        JEXPECT_SUBSTR(jhandle_last_message(handle), "stride_y");
                        continue;
                    }
                    JEXPECT_OK(status);
                    interleaved += n > 1 && count > 1 && stride < inc * (n - 1) + 1;
                    double sum = 0;
                    for (int64_t place = 0; place < PLACES; place++)
                        sum += y[place] * y[place];
                    JEXPECT_EQ(sum, (double)(n * count)); /* each element once */
                }
    JEXPECT_GT(interleaved, 100);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* As many items as threads are divided among them, fewer are done by all. */
/* Matrices that are transposed in place take other elements before the call than after it: what is
 * accepted keeps all of an item's from all of another's, and is right; items one behind the other
 * are. */
JTEST(JblasBatch, MatricesInPlaceOverlapNeitherBeforeNorAfter) {
    const double two = 2;
    int64_t accepted = 0, refused = 0;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t m = 0; m < 5; m++)
        for (int64_t n = 0; n < 5; n++)
            for (int64_t lda = m > 0 ? m : 1; lda < 7; lda++)
                for (int64_t ldb = n > 0 ? n : 1; ldb < 7; ldb++)
                    for (int64_t stride = 0; stride < 31 && !jtest_has_failure(); stride++) {
                        enum { COUNT = 3 };
                        int owner[PLACES] = {0};
                        double a[PLACES] = {0};
                        bool shares = false;
                        JSCOPED_TRACE("m %ld n %ld lda %ld ldb %ld stride_a %ld", (long)m, (long)n,
                                      (long)lda, (long)ldb, (long)stride);
                        for (int item = 1; item <= COUNT; item++)
                            for (int64_t j = 0; j < n; j++)
                                for (int64_t i = 0; i < m; i++)
                                    for (int after = 0; after < 2; after++) {
                                        const int64_t at = (item - 1) * stride +
                                                           (after ? j + i * ldb : i + j * lda);
                                        shares |= owner[at] != 0 && owner[at] != item;
                                        owner[at] = item;
                                        if (!after)
                                            a[at] = (double)(100 * item + 10 * j + i);
                                    }

                        const jstatus_t status = jblas_dimatcopy_strided_batched(
                            handle, JBLAS_TRANSPOSE, m, n, &two, a, lda, stride, ldb, COUNT);
                        if (status == JSTATUS_INVALID_SIZE) {
                            const int64_t most = m > n ? m : n;
                            JEXPECT_TRUE(stride < lda * (n - 1) + m || stride < ldb * (m - 1) + n ||
                                         (lda == ldb && stride < lda * (most - 1) + most));
                            refused++;
                            continue;
                        }
                        JEXPECT_OK(status);
                        JEXPECT_FALSE(shares);
                        accepted++;
                        for (int item = 1; item <= COUNT; item++)
                            for (int64_t j = 0; j < n; j++)
                                for (int64_t i = 0; i < m; i++)
                                    JEXPECT_EQ(a[(item - 1) * stride + j + i * ldb],
                                               2 * (double)(100 * item + 10 * j + i));
                    }
    JEXPECT_GT(accepted, 1000);
    JEXPECT_GT(refused, 1000);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST_EACH_FUNCTION(JblasBatch, ThreadsChangeNoBit) {
    static const int64_t low[] = {0, 16000, 180, 70}, high[] = {0, 20000, 220, 80}; /* by level */
    const int level = param->routine->level;
    for (int round = 0; round < 2 && !jtest_has_failure(); round++) {
        BLAS_CASE(c, param, .low = round > 0 ? low[level] : 0, .high = round > 0 ? high[level] : 0);
        if (!blas_has(c, 'b'))
            return;
        unsigned char *answer = NULL;
        for (int threads = 1; threads < 9; threads = threads < 3 ? threads + 1 : threads + 5) {
            JSCOPED_TRACE("%s, %d threads", blas_describe(c), threads);
            jhandle_t *handle = blas_make_handle(NULL);
            JEXPECT_OK(jhandle_set_threads(handle, threads));
            blas_restore(c);
            JEXPECT_OK(blas_call(handle, c));
            if (answer == NULL) {
                blas_right(c);
                answer = blas_snapshot(c);
            }
            JEXPECT_TRUE(blas_same_as(c, answer));
            JEXPECT_OK(jhandle_destroy(handle));
        }
        free(answer);
    }
}

/* One pointer of an array: which it is is said, and nothing is touched. */
JTEST_EACH_FUNCTION(JblasBatch, AMissingItemIsNamed) {
    jhandle_t *handle = blas_make_handle(NULL);
    for (int which = 0; which < BLAS_OPERANDS; which++) {
        BLAS_CASE(c, param, .low = 2, .high = 9, .plain = true, .tight = true);
        blas_operand_t *o = &c->operand[which];
        if (c->pointer[which] != (void *)o->pointers)
            continue;
        char item[16];
        const int64_t missing = jtest_random_between(0, c->batch_count - 1);
        snprintf(item, sizeof item, "[%ld] is NULL", (long)missing);
        o->pointers[missing] = NULL;
        JSCOPED_TRACE("%s, operand %d", blas_describe(c), which);
        JEXPECT_STATUS(blas_call(handle, c), JSTATUS_INVALID_POINTER);
        JEXPECT_SUBSTR(jhandle_last_message(handle), item);
        blas_unchanged(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
