/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Reductions on a GPU: dot, nrm2, asum, iamax, iamin. Their bits depend on the elements and nothing
 * else: not on the workspace, the run, where the vectors lie or how far their elements are apart.
 * And they are right where a careless sum is not. */

#include "gpu_device.h"
#include "jblas_reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 4096 /* elements of a partial result */
#define RESULT_BYTES 16

typedef enum { DOT, DOTC, NRM2, ASUM, IAMAX, IAMIN } kind_t;
typedef struct reduction {
    const char *name;
    kind_t kind;
    jdatatype_t type;
    jstatus_t (*call)(jhandle_t *handle, int64_t n, const void *x, int64_t incx, const void *y,
                      int64_t incy, void *result);
} reduction_t;

#define FOR_ONE(X)                                                                                 \
    X(snrm2, NRM2, F32)                                                                            \
    X(dnrm2, NRM2, F64)                                                                            \
    X(scnrm2, NRM2, F32_C)                                                                         \
    X(dznrm2, NRM2, F64_C)                                                                         \
    X(sasum, ASUM, F32)                                                                            \
    X(dasum, ASUM, F64)                                                                            \
    X(scasum, ASUM, F32_C)                                                                         \
    X(dzasum, ASUM, F64_C)                                                                         \
    X(isamax, IAMAX, F32)                                                                          \
    X(idamax, IAMAX, F64)                                                                          \
    X(icamax, IAMAX, F32_C)                                                                        \
    X(izamax, IAMAX, F64_C)                                                                        \
    X(isamin, IAMIN, F32)                                                                          \
    X(idamin, IAMIN, F64)                                                                          \
    X(icamin, IAMIN, F32_C)                                                                        \
    X(izamin, IAMIN, F64_C)
#define FOR_TWO(X)                                                                                 \
    X(sdot, DOT, F32)                                                                              \
    X(ddot, DOT, F64)                                                                              \
    X(cdotu, DOT, F32_C)                                                                           \
    X(zdotu, DOT, F64_C)                                                                           \
    X(cdotc, DOTC, F32_C)                                                                          \
    X(zdotc, DOTC, F64_C)

#define CALL_ONE(name, kind, type)                                                                 \
    static jstatus_t call_##name(jhandle_t *handle, int64_t n, const void *x, int64_t incx,        \
                                 const void *y, int64_t incy, void *result) {                      \
        (void)y, (void)incy;                                                                       \
        return jblas_##name(handle, n, x, incx, result);                                           \
    }
#define CALL_TWO(name, kind, type)                                                                 \
    static jstatus_t call_##name(jhandle_t *handle, int64_t n, const void *x, int64_t incx,        \
                                 const void *y, int64_t incy, void *result) {                      \
        return jblas_##name(handle, n, x, incx, y, incy, result);                                  \
    }
#define ROW(name, kind, type) {#name, kind, JDATATYPE_##type, call_##name},
FOR_ONE(CALL_ONE)
FOR_TWO(CALL_TWO)
static const reduction_t reductions[] = {FOR_ONE(ROW) FOR_TWO(ROW)};

static void name_of(const void *reduction, char *name) {
    strcpy(name, ((const reduction_t *)reduction)->name);
}
#define EACH_REDUCTION(name) JTEST_P_NAMED(GpuReduce, name, reduction_t, reductions, name_of)

static int result_type(const reduction_t *r) {
    return r->kind <= DOTC ? (int)r->type : r->kind >= IAMAX ? WIDE_I64 : (int)r->type & 1;
}

/* ---- Vectors ---- */

/* Elements on the host, one after the other. */
static void *draw(jdatatype_t type, int64_t n) {
    void *x = malloc((size_t)n * wide_sizeof((int)type) + 1);
    for (int64_t i = 0; i < n; ++i) {
        wide_t value = jtest_random_double(-1, 1);
        if (wide_is_complex((int)type))
            __imag__ value = jtest_random_double(-1, 1);
        wide_put(x, (int)type, i, value);
    }
    return x;
}

/* The same on the device, `offset` elements from where memory is aligned, `inc` apart; NaN between
 * them. */
typedef struct vector {
    void *memory;
    size_t bytes;
    unsigned char *data;
    int64_t inc;
} vector_t;

static vector_t upload(jdatatype_t type, int64_t n, const void *x, int64_t offset, int64_t inc) {
    const size_t size = wide_sizeof((int)type);
    const int64_t apart = inc < 0 ? -inc : inc;
    vector_t v = {NULL, (size_t)(offset + (n > 0 ? (n - 1) * apart : 0) + 1) * size, NULL, inc};
    unsigned char *copy = malloc(v.bytes);
    memset(copy, 0xff, v.bytes);
    for (int64_t i = 0; i < n; ++i)
        memcpy(copy + (size_t)(offset + (inc > 0 ? i : n - 1 - i) * apart) * size,
               (const char *)x + (size_t)i * size, size);
    v.memory = gpu_take(v.bytes);
    v.data = (unsigned char *)v.memory + (size_t)offset * size;
    gpu_upload(v.memory, copy, v.bytes);
    free(copy);
    return v;
}

static void give(vector_t *v) { gpu_give(v->memory, v->bytes); }

/* ---- Calls ---- */

/* Bytes that a query asks for. */
static size_t wanted_bytes(jhandle_t *handle, const reduction_t *r, int64_t n) {
    size_t bytes = 1;
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_FALSE(jstatus_is_error(r->call(handle, n, NULL, 1, NULL, 1, NULL)));
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    return bytes;
}

/* On the best rung, or (serial) on the last. */
static void reduce(jhandle_t *handle, const reduction_t *r, int64_t n, const vector_t *x,
                   const vector_t *y, bool serial, unsigned char result[RESULT_BYTES]) {
    JEXPECT_OK(jhandle_set_budget(handle, serial ? 1 : JALLOC_UNLIMITED));
    JEXPECT_OK(jhandle_trim(handle, 0));
    memset(result, 0xff, RESULT_BYTES);
    const jstatus_t status = r->call(handle, n, x->data, x->inc, y->data, y->inc, result);
    JEXPECT_STATUS(status,
                   serial && n > BLOCK && x->inc > 0 ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
    JEXPECT_OK(jhandle_set_budget(handle, JALLOC_UNLIMITED));
}

static wide_t product(wide_t a, wide_t b) {
    wide_t c = __real__ a * __real__ b - __imag__ a * __imag__ b;
    __imag__ c = __real__ a * __imag__ b + __imag__ a * __real__ b;
    return c;
}

static bool is_right(const reduction_t *r, int64_t n, const void *x, const void *y,
                     const unsigned char *result) {
    const int element = (int)r->type;
    wide_t sum = 0;
    long double bound = 0, extreme = 0;
    for (int64_t i = 0; i < n; ++i) {
        wide_t a = wide_get(x, element, i);
        switch (r->kind) {
        case DOT:
        case DOTC:
            if (r->kind == DOTC)
                __imag__ a = -__imag__ a;
            sum += product(a, wide_get(y, element, i));
            bound += wide_abs(a) * wide_abs(wide_get(y, element, i));
            break;
        case NRM2: sum += __real__ a * __real__ a + __imag__ a * __imag__ a; break;
        case ASUM: sum += wide_abs(a); break;
        case IAMAX:
        case IAMIN: {
            const long double size =
                wide_epsilon(element) > 1e-10L ? (float)wide_abs(a) : (double)wide_abs(a);
            const bool is_first = r->kind == IAMAX ? size > extreme : size < extreme;
            if (is_first || i == 0)
                extreme = size, sum = (long double)(i + 1);
            break;
        }
        }
    }
    if (r->kind == NRM2)
        sum = sqrtl(__real__ sum);
    if (r->kind != DOT && r->kind != DOTC)
        bound = r->kind >= IAMAX ? 0 : wide_abs(sum);
    const wide_t got = wide_get(result, result_type(r), 0), apart = got - sum;
    /* Blocks and trees: far fewer roundings stand behind one another than there are elements. */
    if (wide_abs(apart) <= 64 * wide_epsilon(element) * bound)
        return true;
    JFAIL("%s of %ld elements: %.17Lg%+.17Lgi, should be %.17Lg%+.17Lgi", r->name, (long)n,
          __real__ got, __imag__ got, __real__ sum, __imag__ sum);
    return false;
}

/* ---- Bits ---- */

/* Around a block, a chunk of blocks, chunks of chunks; a real GPU's chunks are larger than the fake
 * one's. */
static int64_t draw_size(int64_t round) {
    const int64_t chunk = BLOCK * (int64_t)(gpu_fake() != NULL ? 8 : 1024);
    switch (round % 6) {
    case 0: return jtest_random_between(1, BLOCK);
    case 1: return BLOCK * jtest_random_between(1, 9) + jtest_random_between(-1, 1);
    case 2: return chunk + jtest_random_between(-1, 1);
    /* Several chunks, their number no power of two. */
    case 3: return jtest_random_between(chunk, 9 * chunk);
    case 4:
        return gpu_fake() != NULL
                   ? jtest_random_between(8, 9) * chunk + jtest_random_between(1, BLOCK)
                   : 3 * chunk;
    default: return jtest_random_between(BLOCK + 1, 20000);
    }
}

EACH_REDUCTION(SameBitsForEveryWorkspaceAndRun) {
    jhandle_t *handle = gpu_make_handle();
    for (int64_t round = jtest_iterations(6) - 1; round >= 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_size(round);
        void *x = draw(param->type, n), *y = draw(param->type, n);
        vector_t dx = upload(param->type, n, x, 0, 1), dy = upload(param->type, n, y, 0, 1);
        unsigned char first[RESULT_BYTES], again[RESULT_BYTES], serial[RESULT_BYTES];
        reduce(handle, param, n, &dx, &dy, false, first);
        reduce(handle, param, n, &dx, &dy, false, again);
        reduce(handle, param, n, &dx, &dy, true, serial);
        JSCOPED_TRACE("n %ld", (long)n);
        JEXPECT_EQ(memcmp(first, again, RESULT_BYTES), 0);
        JEXPECT_EQ(memcmp(first, serial, RESULT_BYTES), 0);
        is_right(param, n, x, y, first);
        give(&dx), give(&dy);
        free(x), free(y);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Aligned, one element off, apart; for products also from the other end. */
EACH_REDUCTION(SameBitsWhereverTheElementsLie) {
    static const int64_t layouts[][3] = {{0, 1, 1},  {1, 1, 1},  {0, 2, 1},  {3, 1, 5},
                                         {0, -1, 1}, {1, 3, -2}, {0, -7, -1}};
    jhandle_t *handle = gpu_make_handle();
    for (int64_t round = jtest_iterations(2) - 1; round >= 0 && !jtest_has_failure(); --round) {
        const int64_t n =
            round % 2 ? jtest_random_between(BLOCK + 1, 3 * BLOCK) : jtest_random_between(1, BLOCK);
        void *x = draw(param->type, n), *y = draw(param->type, n);
        unsigned char first[RESULT_BYTES], other[RESULT_BYTES];
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; ++i) {
            const int64_t *l = layouts[i];
            if (l[1] < 0 && param->kind > DOTC)
                continue;
            JSCOPED_TRACE("n %ld, offset %ld, increments %ld and %ld", (long)n, (long)l[0],
                          (long)l[1], (long)l[2]);
            vector_t dx = upload(param->type, n, x, l[0], l[1]),
                     dy = upload(param->type, n, y, l[0], l[2]);
            unsigned char *result = i == 0 ? first : other;
            memset(result, 0xff, RESULT_BYTES);
            JEXPECT_OK(param->call(handle, n, dx.data, dx.inc, dy.data, dy.inc, result));
            JEXPECT_EQ(memcmp(first, result, RESULT_BYTES), 0);
            is_right(param, n, x, y, result);
            give(&dx), give(&dy);
        }
        free(x), free(y);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A long way between elements: more than 32 bits of bytes would be needed for many of them, so few
 * have to do. */
EACH_REDUCTION(StridesCountInElements) {
    jhandle_t *handle = gpu_make_handle();
    const int64_t n = 70, inc = 60000;
    void *x = draw(param->type, n), *y = draw(param->type, n);
    vector_t dx = upload(param->type, n, x, 1, inc), dy = upload(param->type, n, y, 0, 1);
    unsigned char result[RESULT_BYTES];
    reduce(handle, param, n, &dx, &dy, false, result);
    is_right(param, n, x, y, result);
    give(&dx), give(&dy);
    free(x), free(y);
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_REDUCTION(NoElementsGiveZero) {
    jhandle_t *handle = gpu_make_handle();
    static const int64_t sizes[] = {0, -1, -BLOCK, 1, BLOCK, 2 * BLOCK + 1};
    void *x = draw(param->type, 3 * BLOCK);
    vector_t dx = upload(param->type, 3 * BLOCK, x, 0, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        if (sizes[i] > 0 && param->kind < ASUM)
            continue; /* for asum and iamax a negative increment is a vector without elements */
        vector_t v = dx;
        v.inc = sizes[i] > 0 ? -1 : 1;
        unsigned char result[RESULT_BYTES], zero[RESULT_BYTES];
        memset(zero, 0xff, RESULT_BYTES);
        memset(zero, 0, wide_sizeof(result_type(param)));
        reduce(handle, param, sizes[i], &v, &v, false, result);
        JEXPECT_EQ(memcmp(result, zero, RESULT_BYTES), 0);
    }
    give(&dx);
    free(x);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* One partial result a block: a sum, or two numbers for a norm (its scale), iamax and
 * iamin (its place). */
EACH_REDUCTION(WorkspaceIsAPartialResultForEachBlock) {
    jhandle_t *handle = gpu_make_handle();
    const size_t granule = jdevice_granule_bytes(gpu_device());
    const size_t partial =
        param->kind == NRM2 || param->kind >= IAMAX ? 16 : wide_sizeof(result_type(param));
    JEXPECT_EQ(wanted_bytes(handle, param, BLOCK), 0);
    JEXPECT_EQ(wanted_bytes(handle, param, BLOCK + 1), granule);
    JEXPECT_EQ(wanted_bytes(handle, param, 1000 * BLOCK),
               (1000 * partial + granule - 1) / granule * granule);
    JEXPECT_EQ(wanted_bytes(handle, param, 1000 * BLOCK + 1),
               (1001 * partial + granule - 1) / granule * granule);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Norms ---- */

static double norm_of(jhandle_t *handle, jdatatype_t type, int64_t n, const void *x, bool serial) {
    const reduction_t r = {"nrm2", NRM2, type,
                           type == JDATATYPE_F32     ? call_snrm2
                           : type == JDATATYPE_F64   ? call_dnrm2
                           : type == JDATATYPE_F32_C ? call_scnrm2
                                                     : call_dznrm2};
    unsigned char result[RESULT_BYTES];
    vector_t v = upload(type, n, x, 0, 1);
    reduce(handle, &r, n, &v, &v, serial, result);
    give(&v);
    return (double)__real__ wide_get(result, (int)type & 1, 0);
}

/* Blocks of very different size side by side, each of which a plain sum of squares may lose or may
 * not. */
JTEST(GpuReduce, NormNeitherOverflowsNorUnderflows) {
    static const double scales[2][8] = {{1e-45, 1e-38, 1e-30, 1e-15, 1, 1e15, 1e30, 1e35},
                                        {5e-324, 1e-308, 1e-290, 1e-160, 1, 1e153, 1e160, 1e300}};
    const int64_t most = 20 * BLOCK;
    jhandle_t *handle = gpu_make_handle();
    for (int64_t round = jtest_iterations(40); round > 0 && !jtest_has_failure(); --round) {
        const jdatatype_t type = (jdatatype_t)(round % 4);
        const int64_t blocks = round % 5 == 0 ? 20 : jtest_random_between(1, 5);
        const int64_t n = round % 3 == 0 ? jtest_random_between(1, BLOCK) : blocks * BLOCK;
        const bool wild = round % 2 != 0; /* else all blocks are of one size */
        const double *scale = scales[(int)type & 1];
        double common = scale[jtest_random_between(0, 7)];
        void *x = calloc((size_t)most, wide_sizeof((int)type));
        long double sum = 0;
        for (int64_t i = 0; i < n; ++i) {
            if (i % BLOCK == 0 && wild)
                common = jtest_random_between(0, 4) == 0 ? 0 : scale[jtest_random_between(0, 7)];
            wide_t value = common * jtest_random_double(1, 3) * (jtest_random_bool() ? 1 : -1);
            if (wide_is_complex((int)type))
                __imag__ value = common * jtest_random_double(-3, 3);
            wide_put(x, (int)type, i, value);
            value = wide_get(x, (int)type, i);
            sum += __real__ value * __real__ value + __imag__ value * __imag__ value;
        }
        const double want = (double)sqrtl(sum);
        /* Denormal results are rounded so. */
        const double least = wide_epsilon((int)type) > 1e-10 ? 1e-45 : 5e-324;
        const double allowed = want * 8 * (double)wide_epsilon((int)type) + least;
        JSCOPED_TRACE("%s, n %ld", wide_is_complex((int)type) ? "complex" : "real", (long)n);
        const double got = norm_of(handle, type, n, x, false),
                     serial = norm_of(handle, type, n, x, true);
        JEXPECT_LE(fabs(got - want), allowed);
        JEXPECT_TRUE(memcmp(&got, &serial, sizeof got) == 0);
        free(x);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* No block's sum of squares overflows, but together they do. */
JTEST(GpuReduce, NormDoesNotOverflowBetweenBlocks) {
    const int64_t n = 20 * BLOCK;
    double *x = malloc((size_t)n * sizeof *x);
    jhandle_t *handle = gpu_make_handle();
    for (int64_t i = 0; i < n; ++i)
        x[i] = i % 2 ? 1e152 : -1e152;
    for (int serial = 0; serial < 2; ++serial)
        JEXPECT_NEAR(norm_of(handle, JDATATYPE_F64, n, x, serial) / 1e152, sqrt((double)n), 1e-10);
    free(x);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* NaN before infinity, infinity before all; in one block or two. */
JTEST(GpuReduce, NormKnowsInfinityAndNaN) {
    const int64_t n = 10 * BLOCK;
    double *x = malloc((size_t)n * sizeof *x);
    jhandle_t *handle = gpu_make_handle();
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        for (int64_t i = 0; i < n; ++i)
            x[i] = i / BLOCK % 3 == 0 ? 1e-300 : i / BLOCK % 3 == 1 ? 1e300 : 1;
        x[jtest_random_between(0, n - 1)] = round % 2 ? INFINITY : -INFINITY;
        JEXPECT_TRUE(norm_of(handle, JDATATYPE_F64, n, x, round % 3 == 0) == (double)INFINITY);
        x[jtest_random_between(0, n - 1)] = NAN;
        JEXPECT_TRUE(isnan(norm_of(handle, JDATATYPE_F64, n, x, round % 3 == 0)));
        float *f = (float *)(void *)x;
        for (int64_t i = 0; i < n; ++i)
            f[i] = 1e30f;
        f[jtest_random_between(0, n - 1)] = INFINITY;
        JEXPECT_TRUE(isinf(norm_of(handle, JDATATYPE_F32, n, f, round % 3 == 0)));
        f[jtest_random_between(0, n - 1)] = NAN;
        JEXPECT_TRUE(isnan(norm_of(handle, JDATATYPE_F32, n, f, round % 3 == 0)));
    }
    free(x);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- iamax, iamin ---- */

/* Many elements are the largest or the smallest, or NaN: the first one counts, wherever its block
 * and its thread are. */
EACH_REDUCTION(TheFirstOfEqualElementsIsFound) {
    if (param->kind < IAMAX)
        return;
    jhandle_t *handle = gpu_make_handle();
    for (int64_t round = jtest_iterations(16); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n =
            round % 4 ? jtest_random_between(1, 12 * BLOCK) : jtest_random_between(1, 300);
        const int64_t first = jtest_random_between(0, n - 1),
                      nan = round % 2 ? n : jtest_random_between(0, n - 1);
        void *x = draw(param->type, n);
        const double extreme = param->kind == IAMAX ? 5 : 0;
        for (int64_t i = first; i < n;
             i += i == first || jtest_random_between(0, 3) ? jtest_random_between(1, 400) : 1)
            wide_put(x, (int)param->type, i, jtest_random_bool() ? extreme : -extreme);
        for (int64_t i = nan; i < n; i += jtest_random_between(1, 3000)) {
            wide_t value = jtest_random_double(-9, 9);
            if (wide_is_complex((int)param->type) && jtest_random_bool())
                __imag__ value = NAN;
            else
                __real__ value = NAN;
            wide_put(x, (int)param->type, i, value);
        }
        vector_t v = upload(param->type, n, x, round % 3, 1 + round % 2);
        for (int serial = 0; serial < 2; ++serial) {
            unsigned char result[RESULT_BYTES];
            reduce(handle, param, n, &v, &v, serial, result);
            JSCOPED_TRACE("n %ld, serial %d", (long)n, serial);
            JEXPECT_EQ((int64_t) __real__ wide_get(result, WIDE_I64, 0),
                       (nan < n ? nan : first) + 1);
        }
        give(&v);
        free(x);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Elements of no size: all are equal. */
EACH_REDUCTION(ZerosHaveAFirstElement) {
    if (param->kind < IAMAX)
        return;
    jhandle_t *handle = gpu_make_handle();
    void *x = calloc(3 * BLOCK, wide_sizeof((int)param->type));
    vector_t v = upload(param->type, 3 * BLOCK, x, 0, 1);
    for (int serial = 0; serial < 2; ++serial) {
        unsigned char result[RESULT_BYTES];
        reduce(handle, param, 3 * BLOCK, &v, &v, serial, result);
        JEXPECT_EQ((int64_t) __real__ wide_get(result, WIDE_I64, 0), 1);
    }
    give(&v);
    free(x);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Refusals ---- */

/* Every call of the runtime fails once: the caller hears of it, or nothing was wrong, and the next
 * call is right. */
EACH_REDUCTION(EveryFailureIsToldAndPassed) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("failures are those of the fake runtime");
    const int64_t n = 3 * BLOCK + 5;
    void *x = draw(param->type, n), *y = draw(param->type, n);
    vector_t dx = upload(param->type, n, x, 0, 1), dy = upload(param->type, n, y, 0, 1);
    jhandle_t *handle = gpu_make_handle();
    unsigned char result[RESULT_BYTES];
    bool failed = true;
    for (uint64_t i = 1; failed && i < 100 && !jtest_has_failure(); ++i) {
        JEXPECT_OK(jhandle_trim(handle, 0));
        fake->fail_after(i, i % 2 ? FAKE_GPU_OUT_OF_MEMORY : FAKE_GPU_UNKNOWN_ERROR);
        const jstatus_t status = param->call(handle, n, dx.data, 1, dy.data, 1, result);
        failed = fake->has_failed();
        fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
        JSCOPED_TRACE("call %d", (int)i);
        if (!jstatus_is_error(status))
            is_right(param, n, x, y, result);
        else
            JEXPECT_TRUE(failed);
        reduce(handle, param, n, &dx, &dy, false, result);
        is_right(param, n, x, y, result);
    }
    JEXPECT_FALSE(failed);
    JEXPECT_OK(jhandle_destroy(handle));
    give(&dx), give(&dy);
    free(x), free(y);
}
