/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm's ways on workspace on a GPU, at thresholds that tests reach: each rung in exactly its bytes
 * between guards, in both pointer modes, against the table's reference; split precision beside
 * plain float, both against long double. */

#include "gpu_device.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/primitives/primitive.h"

static ji_tuning_t saved;

static void lower_strassen(int64_t least) {
    saved = *gpu_tuning();
    gpu_tuning()->split_least = INT64_MAX;
    gpu_tuning()->strassen_least[0] = gpu_tuning()->strassen_least[1] = least;
    ji_tuning_complete(gpu_tuning());
}
/* `way` and those behind it. */
static void lower_split(ji_split_way_t way, int64_t k_panel, int64_t slab) {
    saved = *gpu_tuning();
    gpu_tuning()->strassen_least[0] = INT64_MAX;
    gpu_tuning()->split_least = 1;
    gpu_tuning()->split_way = way;
    gpu_tuning()->split_k_panel = k_panel;
    gpu_tuning()->split_slab = slab;
    gpu_tuning()->split_by_kernels = true;
    ji_tuning_complete(gpu_tuning());
}
static void put_back(void) { *gpu_tuning() = saved; }

#define GUARD_BYTES 4096

/* The call in a workspace of so many bytes between guards; the rung must be this one. */
static bool call_in(jhandle_t *handle, blas_case_t *c, size_t given, int rung) {
    const unsigned char value = 0xA5;
    unsigned char *memory = gpu_take(given + 2 * GUARD_BYTES), guard[GUARD_BYTES];
    JEXPECT_OK(jdevice_fill(gpu_device(), NULL, memory, &value, 1, given + 2 * GUARD_BYTES));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    JEXPECT_OK(jhandle_set_workspace(handle, memory + GUARD_BYTES, given));
    JEXPECT_OK(jhandle_clear_stats(handle));
    const jstatus_t status = gpu_blas_call(handle, c);
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    JEXPECT_STATUS(status, rung ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
    JEXPECT_EQ(stats.rung_count[rung], 1);
    JEXPECT_EQ(stats.allocation_count, 0);
    JEXPECT_EQ(stats.synchronization_count, 0);
    JEXPECT_LE(stats.high_watermark_bytes, given);
    JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    bool good = true;
    for (int side = 0; side < 2; ++side) {
        gpu_download(guard, memory + (side ? GUARD_BYTES + given : 0), sizeof guard);
        for (int i = 0; i < GUARD_BYTES; ++i)
            good &= guard[i] == value;
    }
    gpu_give(memory, given + 2 * GUARD_BYTES);
    if (!good)
        JFAIL("%s: written outside of the workspace", blas_describe(c));
    return good;
}

/* All elements of C against long double: the largest error, and what plain sums of this depth could
 * make. */
static void errors_of(blas_case_t *c, long double *largest, long double *square) {
    const blas_operand_t *o = &c->operand[2];
    *largest = *square = 0;
    for (int64_t j = 0; j < o->columns; ++j)
        for (int64_t i = 0; i < o->rows; ++i) {
            const wide_t got = wide_get(o->data, o->element, blas_index(o, 0, i, j)),
                         want = *wide_at(o->want[0], i, j);
            const long double bound = *wide_bound_at(o->want[0], i, j),
                              apart = wide_abs(got - want);
            const long double relative = bound > 0 ? apart / bound : apart;
            *largest = fmaxl(*largest, relative);
            *square += relative * relative;
        }
}

static const char *const split_names[] = {"split-bf16", "split-fp16"};

/* What gemm_split.c states, over the sum of absolute products and over the largest elements of the
 * lines. */
static double split_bound(int way, double k, double panel, double slab) {
    return (2.1 * panel + slab / (way == JI_SPLIT_BF16 ? 30 : 240) + k / panel + 2 * k / slab +
            16) *
           0x1p-24;
}
static double split_loss(int way) { return way == JI_SPLIT_BF16 ? 0x1p-100 : 0x1p-46; }

/* Shapes whose k is more than a panel and a slab, and not a multiple of either; all operations;
 * alpha and beta of all kinds on both sides of the pointer mode; each rung in its bytes and not one
 * granule more. */
JTEST(GpuGemm, SplitPrecisionByEachRung) {
    jhandle_t *handle = gpu_make_normwise_handle();
    bool right = true;
    for (int64_t round = jtest_iterations(12); round > 0 && right; --round) {
        const int64_t panel = round % 2 ? 32 : 64, slab = round % 3 ? 64 : 96;
        BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = 1, .high = round % 4 ? 70 : 150,
                  .plain = round % 3 == 0, .beta_zero = round % 5 == 0,
                  .guard_before = round % 4 == 0);
        JEXPECT_OK(jhandle_set_pointer_mode(handle,
                                            round % 2 ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST));
        lower_split(JI_SPLIT_FP16, panel, slab);
        const size_t fp16_bytes = blas_query(handle, c);
        put_back();
        lower_split(JI_SPLIT_BF16, panel, slab);
        const size_t bytes = blas_query(handle, c),
                     given[] = {bytes, bytes - 256, fp16_bytes - 256};
        JEXPECT_GT(bytes, fp16_bytes);
        for (int rung = 0; rung < 3 && right; ++rung) {
            JSCOPED_TRACE("%s", rung < JI_SPLIT_WAYS ? split_names[rung] : "plain");
            blas_restore(c);
            right = call_in(handle, c, given[rung], rung);
            if (rung != JI_SPLIT_FP16) {
                right = right && blas_right(c); /* the bound of plain float */
            } else if (right) {
                long double largest, square;
                c->function->routine->reference(c);
                errors_of(c, &largest, &square);
                JEXPECT_LE((double)largest, split_bound(rung, (double)c->k, 64, 96));
            }
        }
        put_back();
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The part that tests can see of "hardly more than the error of float": the same data by both
 * rungs. One product left out, or one part that is not stored as exactly as it can be, is more than
 * this. */
JTEST(GpuGemm, SplitPrecisionErrsLittleMoreThanFloat) {
    static const double most[] = {2, 4};
    jhandle_t *handle = gpu_make_normwise_handle();
    for (int way = 0; way < JI_SPLIT_WAYS; ++way) {
        lower_split((ji_split_way_t)way, 64, 64);
        BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = 48, .high = 48, .plain = true,
                  .beta_zero = true);
        long double split, split_square, plain, plain_square;
        JEXPECT_OK(gpu_blas_call(handle, c));
        blas_right(c);
        errors_of(c, &split, &split_square);
        blas_restore(c);
        JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS));
        JEXPECT_OK(gpu_blas_call(handle, c));
        JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_FAST));
        errors_of(c, &plain, &plain_square);
        JSCOPED_TRACE("%s", split_names[way]);
        JEXPECT_LE((double)sqrtl(split_square), most[way] * (double)sqrtl(plain_square));
        JEXPECT_LE((double)split, most[way] * (double)plain);
        put_back();
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Operands of all sizes ---- */

enum { MOST = 100, ROOM = (MOST + 8) * MOST + 1 };
typedef struct wild {
    /* first: where a matrix begins in its memory; 1 is no multiple of 16 bytes. */
    int m, n, k, ld[3], first[3];
    jblas_operation_t trans[2];
    float alpha, beta;
    float memory[3][ROOM], before[ROOM];
} wild_t;

static int64_t wild_index(const wild_t *w, int which, int i, int j) {
    const bool turned = which < 2 && w->trans[which] != JBLAS_NO_TRANSPOSE;
    return w->first[which] +
           (turned ? (int64_t)j + (int64_t)i * w->ld[which] : i + (int64_t)j * w->ld[which]);
}
static float wild_at(const wild_t *w, int which, int i, int j) {
    return w->memory[which][wild_index(w, which, i, j)];
}

typedef enum {
    WILD_PLAIN,
    WILD_TINY_BY_HUGE,
    WILD_BY_LINES,
    WILD_ALL_SIZES,
    WILD_LARGE_MEET_ZEROS,
    WILD_KINDS
} wild_kind_t;

static float wild_number(void) {
    return (float)jtest_random_double(0.5, 0.999) * (jtest_random_bool() ? 1.0f : -1.0f);
}

static void wild_draw(wild_t *w, wild_kind_t kind) {
    static const float scalars[] = {0, 1, -1};
    w->m = (int)jtest_random_between(1, MOST), w->n = (int)jtest_random_between(1, MOST),
    w->k = (int)jtest_random_between(1, MOST);
    const int rows[3] = {w->m, w->k, w->m}, columns[3] = {w->k, w->n, w->n};
    for (int which = 0; which < 3; ++which) {
        if (which < 2)
            w->trans[which] = (jblas_operation_t)jtest_random_between(JBLAS_NO_TRANSPOSE,
                                                                      JBLAS_CONJUGATE_TRANSPOSE);
        const bool turned = which < 2 && w->trans[which] != JBLAS_NO_TRANSPOSE;
        w->ld[which] = (turned ? columns[which] : rows[which]) + (int)jtest_random_between(0, 8);
        if (jtest_random_bool())
            w->ld[which] = (w->ld[which] + 3) / 4 * 4;
        w->first[which] = jtest_random_bool();
        for (int i = 0; i < ROOM; ++i)
            w->memory[which][i] = NAN; /* what lies between is nobody's */
        for (int i = 0; i < rows[which]; ++i)
            for (int j = 0; j < columns[which]; ++j) {
                const int line = which == 1 ? j : i, at = which == 1 ? i : j;
                float x = wild_number();
                if (kind == WILD_TINY_BY_HUGE)
                    x *= which == 0 ? 1e-30f : which == 1 ? 1e30f : 1;
                else if (kind == WILD_BY_LINES && which < 2)
                    /* 2^-144 to 2^120, in both: some elements of C overflow */
                    x = ldexpf(x, line % 7 * 44 - 144);
                else if (kind == WILD_ALL_SIZES && which < 2)
                    x = ldexpf(x, (int)jtest_random_between(-60, 0));
                else if (kind == WILD_LARGE_MEET_ZEROS && which < 2) /* they are worth nothing */
                    x = at % 2 == 0 ? ldexpf(x, -30) : (at / 2 + which) % 2 == 0 ? 0 : x;
                w->memory[which][wild_index(w, which, i, j)] = x;
            }
    }
    w->alpha = jtest_random_bool() ? scalars[jtest_random_between(0, 2)] : wild_number();
    w->beta = jtest_random_bool() ? scalars[jtest_random_between(0, 2)] : wild_number();
    memcpy(w->before, w->memory[2], sizeof w->before);
}

/* Runs it, with scalars on the side of the pointer mode; C comes back. */
static void wild_run(jhandle_t *handle, wild_t *w, bool device_scalars) {
    float *device[3], *scalars = gpu_take(2 * sizeof(float)), values[2] = {w->alpha, w->beta};
    for (int which = 0; which < 3; ++which) {
        device[which] = gpu_take(sizeof w->memory[which]);
        gpu_upload(device[which], which == 2 ? w->before : w->memory[which],
                   sizeof w->memory[which]);
    }
    gpu_upload(scalars, values, sizeof values);
    JEXPECT_OK(jhandle_set_pointer_mode(handle, device_scalars ? JPOINTER_MODE_DEVICE
                                                               : JPOINTER_MODE_HOST));
    JEXPECT_OK(jblas_sgemm(
        handle, w->trans[0], w->trans[1], w->m, w->n, w->k, device_scalars ? scalars : values,
        device[0] + w->first[0], w->ld[0], device[1] + w->first[1], w->ld[1],
        device_scalars ? scalars + 1 : values + 1, device[2] + w->first[2], w->ld[2]));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    gpu_download(w->memory[2], device[2], sizeof w->memory[2]);
    for (int which = 0; which < 3; ++which)
        gpu_give(device[which], sizeof w->memory[which]);
    gpu_give(scalars, 2 * sizeof(float));
}

/* C against a sum in long double: each element within the bound, what is too large infinite,
 * nothing else touched. */
static bool wild_right(const wild_t *w, int way, double panel, double slab) {
    const double share = split_bound(way, w->k, panel, slab);
    float untouched[ROOM];
    memcpy(untouched, w->memory[2], sizeof untouched);
    for (int j = 0; j < w->n; ++j)
        for (int i = 0; i < w->m; ++i) {
            const float got = wild_at(w, 2, i, j), old = w->before[wild_index(w, 2, i, j)];
            long double sum = 0, size = 0, row = 0, column = 0;
            for (int l = 0; l < w->k; ++l) {
                const long double a = wild_at(w, 0, i, l), b = wild_at(w, 1, l, j);
                sum += a * b, size += fabsl(a * b);
                row = fmaxl(row, fabsl(a)), column = fmaxl(column, fabsl(b));
            }
            const long double kept = w->beta == 0 ? 0 : (long double)w->beta * old,
                              want = w->alpha * sum + kept;
            const long double bound =
                fabsl(w->alpha) * (share * size + w->k * split_loss(way) * row * column) +
                0x1p-23L * fabsl(kept) + 0x1p-148L;
            if (fabsl(want) + bound < FLT_MAX ? !(fabsl(got - want) <= bound)
                                              : fabsl(want) - bound > FLT_MAX && !isinf(got)) {
                JFAIL("%s, %d x %d x %d, alpha %g, beta %g: C(%d, %d) = %g, %Lg expected, apart by "
                      "%Lg, bound %Lg",
                      split_names[way], w->m, w->n, w->k, (double)w->alpha, (double)w->beta, i, j,
                      (double)got, want, fabsl(got - want), bound);
                return false;
            }
            untouched[wild_index(w, 2, i, j)] = old;
        }
    JEXPECT_EQ(memcmp(untouched, w->before, sizeof untouched), 0);
    return true;
}

/* Aligned and not, tiny, huge, of one size by lines and of all sizes; and the same bits again. */
JTEST(GpuGemm, SplitPrecisionKeepsItsBound) {
    static wild_t w;
    static float first[ROOM];
    jhandle_t *handle = gpu_make_normwise_handle();
    bool right = true;
    for (int64_t round = jtest_iterations(5 * WILD_KINDS * JI_SPLIT_WAYS); round > 0 && right;
         --round) {
        const int way = (int)(round % JI_SPLIT_WAYS);
        lower_split((ji_split_way_t)way, 32, round % 3 ? 64 : 32);
        wild_draw(&w, (wild_kind_t)(round / JI_SPLIT_WAYS % WILD_KINDS));
        wild_run(handle, &w, round % 4 < 2);
        right = wild_right(&w, way, 32, 64);
        memcpy(first, w.memory[2], sizeof first);
        wild_run(handle, &w, round % 4 < 2);
        JEXPECT_EQ(memcmp(first, w.memory[2], sizeof first), 0);
        put_back();
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What is not finite makes NaN of what depends on it, and of nothing else. */
JTEST(GpuGemm, SplitPrecisionKeepsNanInItsRowAndColumn) {
    static wild_t w;
    jhandle_t *handle = gpu_make_normwise_handle();
    for (int kind = 0; kind < 2 * JI_SPLIT_WAYS; ++kind) {
        lower_split((ji_split_way_t)(kind / 2), 32, 64);
        do
            wild_draw(&w, WILD_PLAIN);
        while (w.alpha == 0);
        const int i = (int)jtest_random_between(0, w.m - 1),
                  j = (int)jtest_random_between(0, w.n - 1);
        w.memory[0][wild_index(&w, 0, i, (int)jtest_random_between(0, w.k - 1))] =
            kind % 2 ? INFINITY : NAN;
        w.memory[1][wild_index(&w, 1, (int)jtest_random_between(0, w.k - 1), j)] =
            kind % 2 ? -INFINITY : NAN;
        wild_run(handle, &w, kind % 2 == 0);
        for (int column = 0; column < w.n; ++column)
            for (int row = 0; row < w.m; ++row) {
                const float got = wild_at(&w, 2, row, column);
                JASSERT_TRUE(row == i || column == j ? isnan(got) != 0 : isfinite(got) != 0);
            }
        put_back();
    }
    /* alpha on the device that turns out to be 0: A and B count for nothing */
    for (int way = 0; way < JI_SPLIT_WAYS; ++way) {
        lower_split((ji_split_way_t)way, 32, 64);
        BLAS_CASE(nothing, &blas_functions[BLAS_INDEX_sgemm], .low = 20, .high = 40,
                  .alpha_zero = true);
        JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
        JEXPECT_OK(gpu_blas_call(handle, nothing));
        blas_right(nothing);
        put_back();
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* As on the host: blas_right() would not do, as the norms bound the error. Below the rungs of split
 * precision, too. */
JTEST(GpuGemm, StrassenByEachRung) {
    static const int functions[] = {BLAS_INDEX_sgemm, BLAS_INDEX_dgemm};
    jhandle_t *handle = gpu_make_normwise_handle();
    bool right = true;
    lower_strassen(8);
    for (int64_t round = jtest_iterations(4); round > 0 && right; --round)
        for (size_t f = 0; f < 2 && right; ++f) {
            BLAS_CASE(c, &blas_functions[functions[f]], .low = 16, .high = 45,
                      .plain = round % 2 == 0, .beta_zero = round % 3 == 0);
            if (c->alpha == 0)
                continue;
            JEXPECT_OK(jhandle_set_pointer_mode(handle, round % 2 ? JPOINTER_MODE_DEVICE
                                                                  : JPOINTER_MODE_HOST));
            const size_t bytes = blas_query(handle, c);
            const size_t given[] = {bytes, bytes - 256, 256};
            const bool below_split = f == 0 && round % 2 == 0;
            if (below_split)
                gpu_tuning()->split_least = 1, gpu_tuning()->split_by_kernels = true;
            for (int rung = 0; rung < 3 && right; ++rung) {
                blas_restore(c);
                right = call_in(handle, c, given[rung], below_split ? JI_SPLIT_WAYS + rung : rung);
                c->function->routine->reference(c);
                long double largest, square;
                errors_of(c, &largest, &square);
                const int levels = 2 - rung;
                JEXPECT_LE((double)largest,
                           (double)(4 * powl(10, levels) * (long double)(c->k + 8) *
                                    wide_epsilon(c->operand[2].element)));
            }
            gpu_tuning()->split_least = INT64_MAX;
        }
    put_back();
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Where the product of parts is not the vendor's, nothing is offered; where it is, it is what
 * runs. */
JTEST(GpuGemm, SplitPrecisionIsOfferedOnlyBesideTensorCores) {
    jhandle_t *handle = gpu_make_normwise_handle();
    saved = *gpu_tuning();
    gpu_tuning()->split_least = 32;
    gpu_tuning()->strassen_least[0] = INT64_MAX;
    ji_tuning_complete(gpu_tuning());
    BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = 32, .high = 32, .plain = true,
              .hollow = true);
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        c->operand[which].ld = 32;
    /* Then that is offered, and needs nothing. */
    const bool emulated = gpu_device()->blas->has_emulated(gpu_device());
    JEXPECT_EQ(blas_query(handle, c) > 0, gpu_device()->blas->has_mixed(gpu_device()) && !emulated);
    /* The flavour that plays CUDA has a vendor's BLAS, and plays an architecture with the units. */
    if (gpu_fake() != NULL || gpu_vendor_blas_is_off())
        JEXPECT_EQ(gpu_device()->blas->has_mixed(gpu_device()),
                   !gpu_vendor_blas_is_off() && strncmp(gpu_device_name(), "cuda", 4) == 0);
    JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS));
    JEXPECT_EQ(blas_query(handle, c), 0);
    JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_FAST));
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_COMPONENTWISE));
    JEXPECT_EQ(blas_query(handle, c), 0);
    put_back();
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The n-th failure of the runtime inside a split rung is a status, and the next call is as ever;
 * out of memory also while the workspace grows, where a lower rung may do. */
JTEST(GpuGemm, SplitPrecisionSurvivesEachFailure) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("needs the fake runtime");
    jhandle_t *handle = gpu_make_normwise_handle();
    for (int way = 0; way < JI_SPLIT_WAYS; ++way)
        for (int kind = 0; kind < 2; ++kind) {
            lower_split((ji_split_way_t)way, 32, 32);
            BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = 40, .high = 40, .plain = true);
            /* 0: grows */
            JEXPECT_OK(jhandle_set_workspace_size(handle, kind ? 0 : blas_query(handle, c)));
            bool failed = true;
            int failures = 0;
            for (uint64_t n = 1; failed && n < 100; ++n) {
                const fake_gpu_error_t error =
                    kind ? FAKE_GPU_OUT_OF_MEMORY : FAKE_GPU_UNKNOWN_ERROR;
                gpu_case_t g;
                blas_restore(c);
                gpu_case_begin(&g, handle, c);
                JEXPECT_OK(jhandle_trim(handle, 0));
                fake->fail_after(n, error);
                const jstatus_t status = blas_call(handle, c);
                failed = fake->has_failed();
                fake->fail_after(0, error);
                JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
                gpu_case_end(&g, true);
                failures += jstatus_is_error(status);
                if (!jstatus_is_error(status))
                    blas_right(c);
            }
            JEXPECT_GE(failures, 7 + 2 * (way == JI_SPLIT_BF16 ? 3 : 2)); /* two slabs */
            JEXPECT_FALSE(failed);
            put_back();
        }
    JEXPECT_OK(jhandle_destroy(handle));
}
