/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Sizes that a 32-bit CBLAS cannot hold: split or refused, never truncated. The library's idea of
 * the largest integer is a variable; lowered to a few, ordinary cases cross it. Some tests cross
 * the real one, in memory that is reserved and hardly touched: jblas's own loops take it. */

#include "jblas_routines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blas/blas.h"

/* Right, or refused with nothing done. Tells which. */
static bool split(jhandle_t *handle, blas_case_t *c, int64_t limit) {
    const int64_t real_limit = ji_blas_int_max;
    ji_blas_int_max = limit;
    const jstatus_t status = blas_call(handle, c);
    ji_blas_int_max = real_limit;
    if (status == JSTATUS_SUCCESS) {
        blas_right(c);
        return true;
    }
    JEXPECT_TRUE(status == JSTATUS_INVALID_SIZE || status == JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), c->function->name);
    blas_unchanged(c);
    return false;
}

JTEST_EACH_FUNCTION(JblasLimits, SizesAboveTheCblasIntegerAreSplitOrRefused) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    int64_t answered = 0, cases = 0;
    for (int64_t i = jtest_iterations(30); i > 0 && !jtest_has_failure(); --i) {
        const int64_t limit = i == 1 ? 1000 : jtest_random_between(3, 40);
        BLAS_CASE(c, param, .low = i % 2 ? 0 : 1, .high = 50, .tight = i % 3 == 0,
                  .plain = i % 2 == 0);
        JSCOPED_TRACE("%s with integers up to %ld", blas_describe(c), (long)limit);
        ++cases;
        answered += split(handle, c, limit);
    }
    JEXPECT_GT(answered, 0);
    /* These are always split. */
    if (param->routine->level == 1 || strncmp(param->routine->name, "gemm", 4) == 0)
        JEXPECT_EQ(answered, cases);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Increments and leading dimensions beyond the CBLAS's integers do not matter where nothing is
 * touched. */
JTEST_EACH_FUNCTION(JblasLimits, NothingToDoFitsAnyInteger) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (const char *letter = "mnb"; *letter; ++letter) {
        BLAS_CASE(c, param, .low = 2, .high = 9, .plain = true);
        if (!blas_has(c, *letter))
            continue;
        *(*letter == 'm' ? &c->m : *letter == 'n' ? &c->n : &c->batch_count) = 0;
        const int64_t real_limit = ji_blas_int_max;
        ji_blas_int_max = 1;
        JSCOPED_TRACE("%s with %c = 0", param->name, *letter);
        JEXPECT_OK(blas_call(handle, c));
        ji_blas_int_max = real_limit;
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Reserved address space; only the pages that are touched become memory. */
static void *reserve(size_t bytes) {
    void *pointer = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pointer == MAP_FAILED ? NULL : pointer;
}

/* 2^32 + 1 truncated to 32 bits would be 1. */
#define FAR ((int64_t)1 << 32 | 1)

JTEST(JblasLimits, IncrementsBeyond32BitsReachTheirElements) {
    const size_t bytes = ((size_t)FAR + 1) * sizeof(float);
    float *x = reserve(bytes), y[2] = {10, 20}, result = 0;
    int64_t place = 0;
    if (!x)
        JSKIP("no address space of 16 GiB");
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    x[0] = 3;
    x[1] = 1000; /* where a truncated increment would look */
    x[FAR] = 4;
    JEXPECT_OK(jblas_snrm2(handle, 2, x, FAR, &result));
    JEXPECT_EQ(result, 5);
    JEXPECT_OK(jblas_sasum(handle, 2, x, FAR, &result));
    JEXPECT_EQ(result, 7);
    JEXPECT_OK(jblas_sdot(handle, 2, x, FAR, y, 1, &result));
    JEXPECT_EQ(result, 110);
    JEXPECT_OK(jblas_sdot(handle, 2, x, -FAR, y, 1, &result));
    JEXPECT_EQ(result, 100);
    JEXPECT_OK(jblas_isamax(handle, 2, x, FAR, &place));
    JEXPECT_EQ(place, 2);
    JEXPECT_OK(jblas_saxpy(handle, 2, &(float){1}, x, FAR, y, 1));
    JEXPECT_EQ(y[1], 24);
    JEXPECT_OK(jblas_sscal(handle, 2, &(float){2}, x, FAR));
    JEXPECT_EQ(x[FAR], 8);
    JEXPECT_OK(jblas_scopy(handle, 2, y, 1, x, FAR));
    JEXPECT_EQ(x[FAR], 24);
    JEXPECT_OK(jblas_sswap(handle, 2, y, -1, x, FAR));
    JEXPECT_EQ(x[FAR], 13);
    JEXPECT_EQ(x[1], 1000);
    JEXPECT_OK(jhandle_destroy(handle));
    munmap(x, bytes);
}

/* More elements than an int counts, read from pages that all are the zero page: 8 GiB of address
 * space, a second or two. */
JTEST_ONLY_WITH("JALLOC_TEST_HUGE", JblasLimits, MoreElementsThan32BitsCount) {
    const int64_t n = ((int64_t)1 << 31) + 5;
    const size_t bytes = (size_t)n * sizeof(float);
    float *x = reserve(bytes), result = 0;
    int64_t place = 0;
    if (!x)
        JSKIP("no address space of 8 GiB");
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    x[3] = 3;
    x[n - 1] = -4;
    JEXPECT_OK(jblas_sasum(handle, n, x, 1, &result));
    JEXPECT_EQ(result, 7);
    JEXPECT_OK(jblas_snrm2(handle, n, x, 1, &result));
    JEXPECT_EQ(result, 5);
    JEXPECT_OK(jblas_sdot(handle, n, x, 1, x, 1, &result));
    JEXPECT_EQ(result, 25);
    JEXPECT_OK(jblas_isamax(handle, n, x, 1, &place));
    JEXPECT_EQ(place, n);
    JEXPECT_OK(jhandle_destroy(handle));
    munmap(x, bytes);
}

/* Address space whose pages are all the same few. */
static char *reserve_repeated(size_t bytes) {
    const size_t piece = (size_t)32 << 20;
    const int file = memfd_create("repeated", 0);
    char *start = reserve(bytes);
    bool is_there = file >= 0 && start != NULL && ftruncate(file, (off_t)piece) == 0;
    for (size_t at = 0; at < bytes && is_there; at += piece)
        is_there = mmap(start + at, bytes - at < piece ? bytes - at : piece, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    if (file >= 0)
        close(file);
    if (is_there || start == NULL)
        return start;
    munmap(start, bytes);
    return NULL;
}

/* An A of order 2 or 4, which has a kernel of its own, by more numbers than an int counts. C's last
 * column lies in the same memory as others before it, and is written behind them. */
JTEST_ONLY_WITH("JALLOC_TEST_HUGE", JblasLimits, MoreRealsOfTheSmallestProductsThan32BitsCount) {
    static const jblas_operation_t N = JBLAS_NO_TRANSPOSE;
    const float a[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_threads(handle, 1));
    for (int64_t order = 2; order <= 4; order += 2) {
        const int64_t n = ((int64_t)1 << 31) / order + 1, last = (n - 1) * order;
        const size_t bytes = (size_t)(n * order) * sizeof(float);
        float *b = reserve(bytes), *c = (void *)reserve_repeated(bytes);
        if (!b || !c)
            JSKIP("no address space of 16 GiB");
        b[last] = 10, b[last + 1] = 1;
        c[last] = c[last + 1] = -1;
        JSCOPED_TRACE("order %ld", (long)order);
        JEXPECT_OK(jblas_sgemm(handle, N, N, order, n, order, &(float){1}, a, order, b, order,
                               &(float){0}, c, order));
        for (int64_t i = 0; i < order; i++)
            JEXPECT_EQ(c[last + i], 10 * a[i] + a[order + i]);
        munmap(b, bytes), munmap(c, bytes);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Far elements ---- */

/* Stands for the operand in memory whose increment, or leading dimension, is FAR. */
typedef struct far_operand {
    blas_operand_t near;
    size_t bytes;
} far_operand_t;

static void copy_elements(const blas_operand_t *to, const blas_operand_t *from) {
    const size_t size = wide_sizeof(from->element);
    for (int64_t j = 0; j < from->columns; j++)
        for (int64_t i = 0; i < from->rows; i++) {
            if (!blas_is_placed(from, i, j))
                continue;
            memcpy(to->data + (size_t)blas_index(to, 0, i, j) * size,
                   from->data + (size_t)blas_index(from, 0, i, j) * size, size);
        }
}

static bool go_far(far_operand_t *far, blas_case_t *c, int which) {
    blas_operand_t *o = &c->operand[which];
    far->near = *o;
    far->bytes = 0;
    if ((o->kind != BLAS_VECTOR && o->kind != BLAS_MATRIX) || o->ld == 0)
        return true;

    o->ld = o->ld < 0 ? -FAR : FAR;
    o->later.ld = FAR;
    const int64_t columns = o->columns > o->later.columns ? o->columns : o->later.columns,
                  lines = o->kind == BLAS_VECTOR ? o->rows : columns,
                  height = o->height > o->later.rows ? o->height : o->later.rows,
                  elements = (lines - 1) * FAR + (o->kind == BLAS_VECTOR ? 1 : height);
    far->bytes = (size_t)elements * wide_sizeof(o->element);
    o->data = reserve(far->bytes);
    if (o->data == NULL) {
        far->bytes = 0, *o = far->near;
        return false;
    }
    copy_elements(o, &far->near);
    c->pointer[which] = o->data;
    return true;
}

static void come_back(const far_operand_t *far, blas_case_t *c, int which) {
    blas_operand_t *o = &c->operand[which];
    if (far->bytes == 0)
        return;
    const blas_operand_t near = blas_after_the_call(&far->near), there = blas_after_the_call(o);
    copy_elements(&near, &there);
    munmap(o->data, far->bytes);
    *o = far->near;
    c->pointer[which] = o->data;
}

/* False: there is no such address space. */
static bool far_case_is_right(jhandle_t *handle, blas_case_t *c) {
    far_operand_t far[BLAS_OPERANDS];
    bool is_there = true;
    for (int which = 0; which < BLAS_OPERANDS; which++)
        is_there = go_far(&far[which], c, which) && is_there;

    const jstatus_t status = is_there ? blas_call(handle, c) : JSTATUS_SUCCESS;
    for (int which = 0; which < BLAS_OPERANDS; which++)
        come_back(&far[which], c, which);
    if (is_there && status == JSTATUS_SUCCESS) {
        blas_right(c);
    } else if (is_there) {
        JEXPECT_STATUS(status, JSTATUS_INVALID_SIZE); /* by a CBLAS of 32-bit integers alone */
        JEXPECT_EQ(jblas_cblas_int_bits(), 32);
        JEXPECT_FALSE(blas_is_own());
        blas_unchanged(c);
    }
    return is_there;
}

/* Increments and leading dimensions beyond 32 bits, in a call that is done in place and in one that
 * is packed. */
JTEST_EACH_FUNCTION(JblasLimits, FarElementsAreReached) {
    static const int64_t sizes[] = {2, 140};
    jhandle_t *handle = blas_make_handle(NULL);
    bool is_there = strchr(param->routine->signature, 'b') == NULL; /* many of the same */
    for (int i = 0; i < (param->routine->level == 3 ? 2 : 1) && is_there; i++) {
        BLAS_CASE(c, param, .low = sizes[i], .high = sizes[i] + 2, .plain = true);
        JSCOPED_TRACE("%s", blas_describe(c));
        is_there = far_case_is_right(handle, c);
        if (!is_there)
            jtest_skip(__FILE__, __LINE__, "not enough address space");
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* All that it has; a band stays thin, lest its array is another size. */
static void set_sizes(blas_case_t *c, int64_t n) {
    c->m = c->n = n;
    c->k = c->operand[0].is_band ? 2 : n;
}

/* Sizes whose bytes exceed size_t: the query says so, and nothing wraps round to a small number. */
JTEST_EACH_FUNCTION(JblasLimits, QueriesNearTheEndOfSizesDoNotWrap) {
    static const int64_t sizes[] = {INT64_MAX, INT64_MAX / 2, (int64_t)1 << 40,
                                    ((int64_t)1 << 32) + 1, (int64_t)1 << 31};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        BLAS_CASE(c, param, .low = 2, .high = 2, .plain = true, .hollow = true);
        const int64_t n = sizes[i];
        size_t small = 0, bytes = 0;
        set_sizes(c, 2000);
        for (int round = 0; round < 2; ++round) {
            for (int which = 0; which < BLAS_OPERANDS; ++which) {
                c->operand[which].ld = c->operand[which].kind == BLAS_VECTOR ? 1 : c->n;
                c->operand[which].later.ld = c->n;
                if (c->operand[which].kind != BLAS_RESULT)
                    c->operand[which].stride =
                        c->operand[which].written ? (c->n < 2001 ? c->n * c->n : INT64_MAX) : 0;
            }
            JEXPECT_OK(jhandle_start_size_query(handle));
            const jstatus_t status = blas_call(handle, c);
            JEXPECT_OK(jhandle_stop_size_query(handle, round ? &bytes : &small));
            JSCOPED_TRACE("%s: %s", blas_describe(c), jstatus_name(status));
            if (jstatus_is_error(status))
                JEXPECT_TRUE(round &&
                             (status == JSTATUS_INVALID_SIZE || status == JSTATUS_NOT_IMPLEMENTED));
            else
                JEXPECT_GE(bytes, round ? small : 0);
            set_sizes(c, n);
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- What can be addressed, held against a model ---- */

/* Any of the numbers around which a leading dimension or an increment changes from right to
 * wrong. */
static int64_t draw_far(int64_t rows) {
    const int64_t most = INT64_MAX / 16;
    const int64_t edges[] = {
        0,    1,        rows - 1,     rows,      rows + 1,      1 << 29,   (int64_t)1 << 40,
        most, most + 1, most / 2 + 1, -most - 1, INT64_MAX / 2, INT64_MAX, INT64_MIN};
    const int64_t drawn = edges[jtest_random_between(0, sizeof edges / sizeof *edges - 1)];
    return jtest_random_between(0, 3) == 0 && drawn != INT64_MIN ? -drawn : drawn;
}

/* Whether an array of 16-byte elements has no more than there are addresses. */
static bool addressable(int64_t stride, int64_t count) {
    const __int128 elements = (__int128)stride * count;
    return elements <= INT64_MAX / 16 && elements >= -(INT64_MAX / 16);
}

static bool operand_is_possible(const blas_case_t *c, const blas_operand_t *o) {
    const int64_t rows = o->rows > 0 ? o->rows : 0;
    if (o->kind == BLAS_MATRIX)
        return o->ld >= 1 && o->ld >= o->height && addressable(o->ld, o->columns);
    return o->kind != BLAS_VECTOR ||
           ((o->ld != 0 || blas_takes_any_increment(c)) && addressable(o->ld, rows));
}

/* One right call, or one with an operand that lies so that no memory holds it: what every entry
 * answers to a query and to a call, whose operands are all NULL, in either pointer mode. */
static void expect_as_modelled(jhandle_t *handle, const blas_function_t *function, int which,
                               int64_t size) {
    BLAS_CASE(c, function, .low = size, .high = size > 0 ? size : 1, .plain = true, .hollow = true,
              .tight = true);
    blas_operand_t *o = &c->operand[which];
    if ((o->kind != BLAS_VECTOR && o->kind != BLAS_MATRIX) || o->ld == 0)
        return;
    o->ld = draw_far(o->kind == BLAS_MATRIX ? o->height : o->rows);
    const bool near = o->ld > -(1 << 30) && o->ld < 1 << 30, vector = o->kind == BLAS_VECTOR;
    if (blas_has(c,
                 BLAS_STRIDES[which])) /* items lie one behind the other, or row by row in turn */
        o->stride = near     ? llabs(o->ld) * (vector ? o->rows : o->columns) + 1
                    : vector ? 1
                             : o->height;
    const bool possible = operand_is_possible(c, o), far = o->ld > INT32_MAX || o->ld < -INT32_MAX;
    JSCOPED_TRACE("%s, operand %d", blas_describe(c), which);
    size_t bytes;
    JEXPECT_OK(jhandle_start_size_query(handle));
    const jstatus_t answer = blas_call(handle, c);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    const jstatus_t status = blas_call(handle, c);
    if (!possible) {
        JEXPECT_STATUS(answer, JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(status, JSTATUS_INVALID_SIZE);
    } else if (!far || !jstatus_is_error(answer)) {
        JEXPECT_TRUE(answer == JSTATUS_SIZE_INCREASED || answer == JSTATUS_SIZE_UNCHANGED);
        JEXPECT_TRUE(status == JSTATUS_SUCCESS || status == JSTATUS_INVALID_POINTER);
    } else { /* memory would hold it, the CBLAS's integers do not */
        JEXPECT_STATUS(answer, JSTATUS_INVALID_SIZE);
        JEXPECT_STATUS(status, JSTATUS_INVALID_SIZE);
    }
    if (jstatus_is_error(status))
        JEXPECT_SUBSTR(jhandle_last_message(handle), function->name);
}

JTEST_EACH_FUNCTION(JblasLimits, OperandsThatNoMemoryHoldsAreRefused) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t i = jtest_iterations(400) + 150; i > 0 && !jtest_has_failure(); --i) {
        JEXPECT_OK(
            jhandle_set_pointer_mode(handle, i % 4 ? JPOINTER_MODE_HOST : JPOINTER_MODE_DEVICE));
        for (int which = 0; which < BLAS_OPERANDS; ++which)
            expect_as_modelled(handle, param, which, i % 5 ? i % 5 - 1 : 20);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A vector of small integers in memory that ends with its last element, in the direction in which
 * it is read. */
static void *flush_vector(jdatatype_t type, int64_t n, int64_t increment) {
    const int64_t stride = increment < 0 ? -increment : increment;
    const size_t bytes = (size_t)((n - 1) * stride + 1) * ji_sizeof(type);
    char *memory = increment < 0 ? jtest_guard_pages_before(bytes) : jtest_guard_pages(bytes);
    for (int64_t i = 0; i < n; ++i) {
        const double value[2] = {(double)(i % 7 - 3), (double)(i % 5 - 1)};
        const float single[2] = {(float)value[0], (float)value[1]};
        const int64_t at = increment < 0 ? n - 1 - i : i;
        memcpy(memory + at * stride * (int64_t)ji_sizeof(type),
               type == JDATATYPE_F32_C ? (const void *)single : (const void *)value,
               ji_sizeof(type));
    }
    return memory;
}

/* OpenBLAS's read a stride further. Sums of small integers are exact. */
JTEST(JblasLimits, ComplexDotsReadNoFurtherThanTheirVectors) {
    static const int64_t increments[] = {1, -1, 2, -3, 50}, lengths[] = {1, 2, 7, 16, 33, 70};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int ix = 0; ix < 5; ++ix)
        for (int iy = 0; iy < 5; ++iy)
            for (int l = 0; l < 6; ++l) {
                const int64_t n = lengths[l], incx = increments[ix], incy = increments[iy];
                /* Real parts of x y and conj(x) y, where x = y. */
                double unconjugated = 0, conjugated = 0;
                for (int64_t i = 0; i < n; ++i) {
                    const double re = (double)(i % 7 - 3), im = (double)(i % 5 - 1);
                    unconjugated += re * re - im * im;
                    conjugated += re * re + im * im;
                }
                const void *x = flush_vector(JDATATYPE_F32_C, n, incx),
                           *y = flush_vector(JDATATYPE_F32_C, n, incy);
                float c[2];
                JEXPECT_OK(jblas_cdotu(handle, n, x, incx, y, incy, (void *)c));
                JEXPECT_TRUE(c[0] == (float)unconjugated);
                JEXPECT_OK(jblas_cdotc(handle, n, x, incx, y, incy, (void *)c));
                JEXPECT_TRUE(c[0] == (float)conjugated && c[1] == 0);
                x = flush_vector(JDATATYPE_F64_C, n, incx),
                y = flush_vector(JDATATYPE_F64_C, n, incy);
                double z[2];
                JEXPECT_OK(jblas_zdotu(handle, n, x, incx, y, incy, (void *)z));
                JEXPECT_TRUE(z[0] == unconjugated);
                JEXPECT_OK(jblas_zdotc(handle, n, x, incx, y, incy, (void *)z));
                JEXPECT_TRUE(z[0] == conjugated && z[1] == 0);
            }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Kernels of OpenBLAS 0.3.21 load a column behind A, or a number behind x. */
JTEST(JblasLimits, ComplexGemvReadsNothingBehindItsOperands) {
    static const jcomplex_f32_t one_c = 1;
    static const jcomplex_f64_t one_z = 1;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t m = 1; m <= 40; m += 3)
        for (int64_t n = 1; n <= 12; n++) {
            const size_t each = sizeof(jcomplex_f64_t);
            void *a = jtest_guard_pages((size_t)(m * n) * each),
                 *x = jtest_guard_pages((size_t)n * each), *y = jtest_guard_pages((size_t)m * each);
            JEXPECT_OK(
                jblas_zgemv(handle, JBLAS_NO_TRANSPOSE, m, n, &one_z, a, m, x, 1, &one_z, y, 1));
            /* The last bytes of the same memory. */
            const int64_t half = (int64_t)sizeof(jcomplex_f32_t);
            JEXPECT_OK(jblas_cgemv(
                handle, JBLAS_NO_TRANSPOSE, m, n, &one_c, (void *)((char *)a + m * n * half), m,
                (void *)((char *)x + n * half), 1, &one_c, (void *)((char *)y + m * half), 1));
        }
    JEXPECT_OK(jhandle_destroy(handle));
}
