/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 3 where the suites of all routines do not come: at the borders of the kernels' tiles, with
 * more products than a grid has blocks, with columns far apart, in place, and primitives that no
 * routine runs on small matrices.
 *
 * Most are held against the host's primitive on the same bytes. Elements are small integers, so
 * every order of additions gives the same numbers, and the two must be equal; what lies between
 * columns is compared too. */

#include "gpu_device.h"

#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"
#include "blas/host/host.h"
#include "blas/primitives/split.h"

static const ji_row_t any_row = {.name = "level3"};

static jstatus_t run_on_device(ji_primitive_t primitive, const void *block) {
    jdevice_t *device = gpu_device();
    const jstatus_t status = device->blas->run(device, NULL, primitive, block, NULL);
    JEXPECT_OK(jstream_synchronize(device, NULL));
    return status;
}

/* Memory on the host, of small integers, and the same on the device. */
typedef struct twin {
    jdatatype_t type;
    size_t count; /* of elements */
    unsigned char *host, *device;
} twin_t;

static size_t twin_bytes(const twin_t *t) { return t->count * ji_sizeof(t->type); }

static twin_t twin_take(jdatatype_t type, int64_t count) {
    twin_t t = {.type = type, .count = (size_t)count};
    const bool single = ji_real_of(type) == JDATATYPE_F32;
    t.host = malloc(twin_bytes(&t) + 1);
    t.device = gpu_take(twin_bytes(&t) + 1);
    for (size_t i = 0; i < t.count * (ji_is_complex(type) ? 2 : 1); ++i)
        if (single)
            ((float *)t.host)[i] = (float)jtest_random_between(-3, 3);
        else
            ((double *)t.host)[i] = (double)jtest_random_between(-3, 3);
    gpu_upload(t.device, t.host, twin_bytes(&t));
    return t;
}

static void twin_give(twin_t *t) {
    gpu_give(t->device, twin_bytes(t) + 1);
    free(t->host);
}

/* Whether both have the same numbers. */
static bool twin_equal(const twin_t *t, const char *what) {
    unsigned char *came = malloc(twin_bytes(t) + 1);
    const size_t reals = t->count * (ji_is_complex(t->type) ? 2 : 1);
    size_t at = 0;
    gpu_download(came, t->device, twin_bytes(t));
    if (ji_real_of(t->type) == JDATATYPE_F32)
        while (at < reals && ((float *)came)[at] == ((float *)t->host)[at])
            ++at;
    else
        while (at < reals && ((double *)came)[at] == ((double *)t->host)[at])
            ++at;
    if (at < reals)
        JFAIL("%s, type %d: number %zu of %zu differs", what, (int)t->type, at, reals);
    free(came);
    return at == reals;
}

/* The same, and gives them back. */
static bool twin_same(twin_t *t, const char *what) {
    const bool same = twin_equal(t, what);
    twin_give(t);
    return same;
}

static ji_scalar_t constant(jdatatype_t type, double real) { return ji_constant(type, real); }

/* Of a batch, which the host knows by its form. */
static void run_on_host(ji_primitive_t primitive, ji_matmat_t *block) {
    if (primitive != JI_GEMM_BATCHED && primitive != JI_GEMM_STRIDED) {
        ji_host_primitives[primitive](block);
        return;
    }
    ji_matmat_t batch = *block;
    batch.head.form = primitive == JI_GEMM_BATCHED ? JI_FORM_POINTERS : JI_FORM_STRIDED;
    batch.batch.level = 3, batch.batch.threads = 1, batch.batch.primitive = JI_GEMM;
    ji_host_batch(&batch);
}

/* Runs the block on both sides: pointers of the host's stand in it. */
static bool both_agree(ji_primitive_t primitive, ji_matmat_t block, twin_t *a, twin_t *b, twin_t *c,
                       const char *what) {
    ji_matmat_t there = block;
    block.a = a->host, there.a = a->device;
    block.b = b->host, there.b = b->device;
    block.c = c->host, there.c = c->device;
    run_on_host(primitive, &block);
    JEXPECT_OK(run_on_device(primitive, &there));
    const bool same_a = twin_same(a, what), same_b = twin_same(b, what),
               same_c = twin_same(c, what);
    return same_a && same_b && same_c;
}

/* Sizes one less than a multiple of a tile, that, and one more; for all kernels of level 3. */
JTEST(GpuLevel3, TilesEndWhereTheMatrixEnds) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.device = gpu_device();
    JASSERT_OK(jhandle_create(&options, &handle));
    JEXPECT_OK(jhandle_set_budget(handle, 1)); /* no workspace: the primitives themselves */
    static const int64_t sides[] = {32, 64, 128};
    for (int f = 0; f < BLAS_FUNCTION_COUNT; ++f) {
        if (blas_functions[f].routine->level != 3)
            continue;
        for (int i = 0; i < 3 && !jtest_has_failure(); ++i) {
            BLAS_CASE(c, &blas_functions[f], .low = sides[i] - 1, .high = sides[i] + 1,
                      .plain = true);
            const jstatus_t status = gpu_blas_call(handle, c);
            if (status != JSTATUS_PERF_DEGRADED)
                JEXPECT_OK(status);
            blas_right(c);
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The large tiles, whole and in part, of each type and with each view of the operands. */
JTEST(GpuLevel3, LargeTiles) {
    static const int64_t sizes[][3] = {{257, 260, 9}, {129, 512, 17}, {390, 131, 8}};
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C; ++type)
        for (int i = 0; i < 9 && !jtest_has_failure(); ++i) {
            const int64_t m = sizes[i % 3][0], n = sizes[i % 3][1], k = sizes[i % 3][2];
            ji_matmat_t block = {
                .head = {.type = (jdatatype_t)type, .row = &any_row}, .m = m, .n = n, .k = k};
            block.transa = (jblas_operation_t)(JBLAS_NO_TRANSPOSE + i % 3);
            block.transb = (jblas_operation_t)(JBLAS_NO_TRANSPOSE + i / 3);
            block.lda = block.transa == JBLAS_NO_TRANSPOSE ? m + 3 : k + 1;
            block.ldb = block.transb == JBLAS_NO_TRANSPOSE ? k + 2 : n;
            block.ldc = m + 5;
            block.alpha = constant(block.head.type, -2);
            block.beta = constant(block.head.type, 3);
            twin_t a = twin_take(block.head.type,
                                 block.lda * (block.transa == JBLAS_NO_TRANSPOSE ? k : m));
            twin_t b = twin_take(block.head.type,
                                 block.ldb * (block.transb == JBLAS_NO_TRANSPOSE ? n : k));
            twin_t c = twin_take(block.head.type, block.ldc * n);
            both_agree(JI_GEMM, block, &a, &b, &c, "gemm");
        }
}

/* One triangle of 300 rows: tiles within it, across its diagonal, and those that are not begun. */
JTEST(GpuLevel3, LargeTilesOfTriangles) {
    const int64_t n = 300;
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C; ++type)
        for (int i = 0; i < 8 && !jtest_has_failure(); ++i) {
            const bool hermitian = (i & 4) != 0;
            if (hermitian && !ji_is_complex((jdatatype_t)type))
                break;
            ji_matmat_t block = {
                .head = {.type = (jdatatype_t)type, .row = &any_row}, .m = n, .n = n, .k = 11};
            block.uplo = i & 1 ? JBLAS_UPPER : JBLAS_LOWER;
            block.transa = i & 2       ? JBLAS_NO_TRANSPOSE
                           : hermitian ? JBLAS_CONJUGATE_TRANSPOSE
                                       : JBLAS_TRANSPOSE;
            block.lda = n + 1, block.ldc = n + 2;
            /* And imaginary part 0. */
            block.alpha = block.beta = constant(ji_real_of(block.head.type), 2);
            twin_t a = twin_take(block.head.type, block.lda * n),
                   c = twin_take(block.head.type, block.ldc * n);
            twin_t none = twin_take(block.head.type, 0);
            both_agree(hermitian ? JI_HERK : JI_SYRK, block, &a, &none, &c,
                       hermitian ? "herk" : "syrk");

            block.side = i & 2 ? JBLAS_LEFT : JBLAS_RIGHT;
            block.ldb = n + 3;
            a = twin_take(block.head.type, block.lda * n),
            c = twin_take(block.head.type, block.ldc * n);
            twin_t b = twin_take(block.head.type, block.ldb * n);
            both_agree(hermitian ? JI_HEMM : JI_SYMM, block, &a, &b, &c,
                       hermitian ? "hemm" : "symm");

            a = twin_take(block.head.type, block.lda * n),
            c = twin_take(block.head.type, block.ldc * n);
            b = twin_take(block.head.type, block.ldb * n);
            block.alpha = constant(block.head.type, -2);
            both_agree(hermitian ? JI_HER2K : JI_SYR2K, block, &a, &b, &c,
                       hermitian ? "her2k" : "syr2k");
            a = twin_take(block.head.type, block.lda * n),
            c = twin_take(block.head.type, block.ldc * n);
            b = twin_take(block.head.type, block.ldb * n);
            block.beta = block.alpha;
            block.transb = i & 1 ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE;
            both_agree(JI_GEMMT, block, &a, &b, &c, "gemmt");
        }
}

/* More products than there are blocks in a grid. */
JTEST(GpuLevel3, MoreProductsThanBlocks) {
    const int64_t count = 66000;
    const jdatatype_t type = JDATATYPE_F32;
    ji_matmat_t block = {
        .head = {.type = type, .row = &any_row}, .m = 2, .n = 2, .k = 1, .batch.count = count};
    block.transa = block.transb = JBLAS_NO_TRANSPOSE;
    block.lda = 2, block.ldb = 1, block.ldc = 2;
    block.batch.stride_a = 2, block.batch.stride_b = 2, block.batch.stride_c = 4;
    block.alpha = constant(type, 2), block.beta = constant(type, -1);
    twin_t a = twin_take(type, 2 * count), b = twin_take(type, 2 * count),
           c = twin_take(type, 4 * count);
    /* By pointers, in the opposite order, onto the same C; a second time for the host as well. */
    const float **pointers = malloc((size_t)count * sizeof *pointers * 6);
    const float **here[3] = {pointers, pointers + count, pointers + 2 * count};
    const float **there[3] = {pointers + 3 * count, pointers + 4 * count, pointers + 5 * count};
    for (int64_t i = 0; i < count; ++i) {
        const int64_t o = count - 1 - i;
        here[0][i] = (float *)a.host + 2 * o, there[0][i] = (float *)a.device + 2 * o;
        here[1][i] = (float *)b.host + 2 * i, there[1][i] = (float *)b.device + 2 * i;
        here[2][i] = (float *)c.host + 4 * o, there[2][i] = (float *)c.device + 4 * o;
    }
    const size_t table_bytes = (size_t)count * sizeof *pointers * 3;
    unsigned char *table = gpu_take(table_bytes);
    gpu_upload(table, there[0], table_bytes);
    ji_matmat_t many = block;
    many.a = here[0], many.b = here[1], many.c = here[2];
    run_on_host(JI_GEMM_BATCHED, &many);
    many.a = table, many.b = table + table_bytes / 3, many.c = table + table_bytes / 3 * 2;
    JEXPECT_OK(run_on_device(JI_GEMM_BATCHED, &many));
    both_agree(JI_GEMM_STRIDED, block, &a, &b, &c, "batch");
    gpu_give(table, table_bytes);
    free(pointers);
}

/* Columns far apart, in every operand. */
JTEST(GpuLevel3, LeadingDimensionsMuchLargerThanRows) {
    const int64_t far = 50021;
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C && !jtest_has_failure(); ++type) {
        ji_matmat_t block = {.head = {.type = (jdatatype_t)type, .row = &any_row},
                             .m = 5,
                             .n = 7,
                             .k = 6,
                             .lda = far,
                             .ldb = far};
        block.ldc = far;
        block.side = JBLAS_RIGHT, block.uplo = JBLAS_LOWER, block.diag = JBLAS_NON_UNIT;
        block.transa = JBLAS_TRANSPOSE, block.transb = JBLAS_NO_TRANSPOSE;
        block.alpha = constant(block.head.type, 1), block.beta = constant(block.head.type, -1);
        static const ji_primitive_t primitives[] = {JI_GEMM, JI_SYMM, JI_TRMM, JI_GEAM};
        for (int i = 0; i < 4; ++i) {
            twin_t a = twin_take(block.head.type, far * 7), b = twin_take(block.head.type, far * 7);
            twin_t c = twin_take(block.head.type, far * 7);
            both_agree(primitives[i], block, &a, &b, &c, "far columns");
        }
    }
}

/* Triangles of several blocks, in place, with every view: what is solved is what was multiplied. */
JTEST(GpuLevel3, TriangularProductThenSolveGivesBack) {
    const int64_t order = 100, count = 170; /* more strips than the fake modules have blocks */
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C; ++type)
        for (int i = 0; i < 24 && !jtest_has_failure(); ++i) {
            ji_matmat_t block = {.head = {.type = (jdatatype_t)type, .row = &any_row},
                                 .lda = order + 2};
            block.side = i & 1 ? JBLAS_LEFT : JBLAS_RIGHT;
            block.uplo = i & 2 ? JBLAS_UPPER : JBLAS_LOWER;
            block.diag = i & 4 ? JBLAS_UNIT : JBLAS_NON_UNIT;
            block.transa = (jblas_operation_t)(JBLAS_NO_TRANSPOSE + i / 8);
            block.m = i & 1 ? order : count, block.n = i & 1 ? count : order;
            block.ldb = block.m + 1;
            block.alpha = constant(block.head.type, 1);
            twin_t a = twin_take(block.head.type, block.lda * order),
                   b = twin_take(block.head.type, block.ldb * block.n);
            /* Few numbers beside the diagonal, and a diagonal of powers of 2: then nothing is
             * rounded. */
            const size_t bytes = ji_sizeof(block.head.type);
            for (int64_t p = 0; p < order; ++p)
                for (int64_t q = 0; q < order; ++q) {
                    const ji_scalar_t two = constant(block.head.type, p % 3 == 0 ? 2 : -1),
                                      zero = constant(block.head.type, 0);
                    unsigned char *element = a.host + (size_t)(p + q * block.lda) * bytes;
                    if (p == q)
                        memcpy(element, &two.value, bytes);
                    else if ((7 * p + 3 * q) % 41 != 0)
                        memcpy(element, &zero.value, bytes);
                }
            gpu_upload(a.device, a.host, twin_bytes(&a));
            block.a = a.device, block.b = b.device;
            JEXPECT_OK(run_on_device(JI_TRMM, &block));
            ji_matmat_t here = block;
            here.a = a.host, here.b = b.host;
            unsigned char *before = malloc(twin_bytes(&b));
            memcpy(before, b.host, twin_bytes(&b));
            ji_host_primitives[JI_TRMM](&here);
            twin_equal(&b, "trmm");
            memcpy(b.host, before, twin_bytes(&b));
            free(before);
            JEXPECT_OK(run_on_device(JI_TRSM, &block));
            twin_same(&b, "trmm and trsm");
            twin_same(&a, "triangle");
        }
}

/* C is A, and then C is B. */
JTEST(GpuLevel3, GeamInPlace) {
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C; ++type)
        for (int i = 0; i < 4 && !jtest_has_failure(); ++i) {
            ji_matmat_t block = {.head = {.type = (jdatatype_t)type, .row = &any_row},
                                 .m = 70,
                                 .n = 70,
                                 .lda = 72,
                                 .ldb = 72,
                                 .ldc = 72};
            const bool into_a = i < 2;
            const jblas_operation_t other = i % 2 ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE;
            block.transa = into_a ? JBLAS_NO_TRANSPOSE : other,
            block.transb = into_a ? other : JBLAS_NO_TRANSPOSE;
            block.alpha = constant(block.head.type, 2), block.beta = constant(block.head.type, -3);
            twin_t a = twin_take(block.head.type, 72 * 70), b = twin_take(block.head.type, 72 * 70);
            ji_matmat_t there = block;
            block.a = a.host, block.b = b.host, block.c = into_a ? a.host : b.host;
            there.a = a.device, there.b = b.device, there.c = into_a ? a.device : b.device;
            ji_host_primitives[JI_GEAM](&block);
            JEXPECT_OK(run_on_device(JI_GEAM, &there));
            twin_same(&a, "geam, A");
            twin_same(&b, "geam, B");
        }
}

/* alpha on the device, 0 and not. */
JTEST(GpuLevel3, ScaleAndClear) {
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C; ++type)
        for (int i = 0; i < 4 && !jtest_has_failure(); ++i) {
            ji_matmat_t block = {
                .head = {.type = (jdatatype_t)type, .row = &any_row}, .m = 67, .n = 35, .ldb = 70};
            const ji_primitive_t primitive = i < 2 ? JI_SCALE_MATRIX : JI_TRIANGLE_CLEAR;
            const ji_scalar_t value = constant(block.head.type, i % 2 ? 0 : 2);
            twin_t b = twin_take(block.head.type, 70 * 35), alpha = twin_take(block.head.type, 1);
            memcpy(alpha.host, &value.value, ji_sizeof(block.head.type));
            gpu_upload(alpha.device, alpha.host, twin_bytes(&alpha));
            block.b = b.host, block.alpha.pointer = alpha.host;
            if (primitive == JI_SCALE_MATRIX || i % 2 != 0)
                ji_host_primitives[JI_SCALE_MATRIX](&block);
            block.b = b.device, block.alpha.pointer = alpha.device;
            JEXPECT_OK(run_on_device(primitive, &block));
            twin_same(&b, i < 2 ? "scale_matrix" : "triangle_clear");
            twin_same(&alpha, "alpha");
        }
}

/* A complex matrix in real parts, and a product from its three. */
JTEST(GpuLevel3, SplitAndMerge) {
    static const double factors[][2] = {{1, 1}, {2, -1}, {0, 3}, {2, 0}, {0, 0}, {1, 2}};
    const int64_t m = 45, n = 39, ld = 47;
    for (int type = JDATATYPE_F32_C; type <= JDATATYPE_F64_C; ++type)
        for (int i = 0; i < 6 && !jtest_has_failure(); ++i) {
            const jdatatype_t real = ji_real_of((jdatatype_t)type);
            twin_t a = twin_take((jdatatype_t)type, ld * n), parts = twin_take(real, 3 * m * n);
            ji_split_t split = {
                .type = (jdatatype_t)type, .conjugate = i % 2 == 1, .m = m, .n = n, .lda = ld};
            split.a = a.host, split.parts = parts.host;
            ji_host_primitives[JI_SPLIT](&split);
            split.a = a.device, split.parts = parts.device;
            JEXPECT_OK(run_on_device(JI_SPLIT, &split));
            twin_same(&parts, "split");
            twin_t products = twin_take(real, 3 * m * n);
            ji_merge_t merge = {.type = (jdatatype_t)type, .m = m, .n = n, .ldc = ld};
            merge.alpha = constant((jdatatype_t)type, factors[i][0]);
            merge.beta = constant((jdatatype_t)type, factors[i][1]);
            merge.products = products.host, merge.c = a.host;
            ji_host_primitives[JI_MERGE](&merge);
            merge.products = products.device, merge.c = a.device;
            JEXPECT_OK(run_on_device(JI_MERGE, &merge));
            twin_same(&products, "products");
            twin_same(&a, "merge");
        }
}
