/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm of complex types by three real products whose operands are made while they are packed
 * (library/blas/host/gemm_3m.c). On each set of kernels, with one thread to four, in exactly the
 * bytes that were asked for and beside an inaccessible page: within the bound that the file states,
 * against long double, and with bits that nothing of this changes. */

#include "handle_helper.h"
#include "jblas_routines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/algorithms/gemm.h"
#include "blas/kernels/kernels.h"

static const int complex_functions[] = {BLAS_INDEX_cgemm, BLAS_INDEX_zgemm};
static void function_name(const void *function, char *name) {
    blas_function_name(&blas_functions[*(const int *)function], name);
}
#define EACH_FUNCTION(name) JTEST_P_NAMED(JblasGemm3m, name, int, complex_functions, function_name)

/* ---- What runs ---- */

typedef struct world {
    jhandle_t *handle;
    const blas_function_t *function;
    ji_tuning_t tuning;
    const ji_kernel_set_t *kernels;
} world_t;

/* Products of every size are done so. False where jblas's kernels do not compute. */
static bool world_begin(world_t *world, int function) {
    const char *isa;
    JEXPECT_OK(jblas_get_host_isa(&isa)); /* the first call chooses the kernels */
    *world =
        (world_t){blas_make_handle(NULL), &blas_functions[function], ji_host_tuning, ji_kernels};
    JEXPECT_OK(jhandle_set_accuracy(world->handle, JACCURACY_NORMWISE));
    ji_host_tuning.gemm3m_least = 1;
    ji_tuning_complete(&ji_host_tuning);
    return blas_is_own();
}

static void world_end(world_t *world) {
    ji_kernel_set_use(world->kernels);
    ji_host_tuning = world->tuning;
    JEXPECT_OK(jhandle_destroy(world->handle));
}

/* The call on rung 0, in its bytes. */
static void run(jhandle_t *handle, blas_case_t *c, int threads) {
    JEXPECT_OK(jhandle_set_threads(handle, threads));
    const size_t bytes = blas_query(handle, c);
    void *workspace = bytes == 0 ? NULL : jtest_guard_pages(bytes);
    if (bytes > 0)
        memset(workspace, 0xff, bytes); /* NaN */
    JEXPECT_OK(jhandle_set_workspace(handle, workspace, bytes));
    JEXPECT_OK(jhandle_clear_stats(handle));

    blas_restore(c);
    JEXPECT_STATUS(blas_call(handle, c), JSTATUS_SUCCESS);
    const jhandle_stats_t stats = stats_of(handle);
    JEXPECT_EQ(stats.rung_count[0], 1);
    JEXPECT_LE(stats.high_watermark_bytes, bytes);
    JEXPECT_EQ(stats.allocation_count, 0);
    JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
}

/* As the file states it, of elements whose moduli are bounded, with twice the alpha that was
 * rounded and multiplied by parts, and what beta adds. */
static long double bound_of(const blas_case_t *c) {
    const int64_t panels = (c->k + 255) / 256, in_panel = c->k < 256 ? c->k : 256;
    const long double unit = wide_epsilon(c->operand[2].element) / 2,
                      product = wide_abs(c->alpha) * blas_largest(c, 0) * blas_largest(c, 1),
                      before = wide_abs(c->beta) * blas_largest(c, 2);
    return unit * (6 * (long double)(c->k * (in_panel + 3 * panels + 8)) * product +
                   (long double)(3 * panels + 4) * before);
}

/* ---- Tests ---- */

/* All operations; alpha and beta of all kinds, read by the call or on its way. */
static void check_each_set(world_t *world, blas_case_t *c) {
    unsigned char *answer = NULL;
    bool fused = false;

    for (size_t set = 0; ji_kernel_set_at(set) != NULL; set++) {
        if (!ji_kernel_set_is_here(ji_kernel_set_at(set)))
            continue;
        ji_kernel_set_use(ji_kernel_set_at(set));
        if (answer != NULL && fused != ji_kernels->fused)
            free(answer), answer = NULL;
        fused = ji_kernels->fused;

        for (int threads = 1; threads <= 4; threads += (int)jtest_random_between(2, 3)) {
            JSCOPED_TRACE("%s, %s, %d threads", blas_describe(c), ji_kernels->name, threads);
            run(world->handle, c, threads);
            if (answer == NULL)
                answer = blas_snapshot(c);
            JASSERT_TRUE(blas_same_as(c, answer));
        }
    }
    free(answer);
    blas_within(c, bound_of(c));
}

EACH_FUNCTION(WithinItsBoundWithTheSameBits) {
    world_t world;
    for (int64_t round = world_begin(&world, *param) ? jtest_iterations(60) : 0;
         round > 0 && !jtest_has_failure(); round--) {
        BLAS_CASE(c, world.function, .low = 1, .high = round % 10 == 0 ? 300 : 70,
                  .guard_before = round % 2 == 0, .plain = round % 3 == 0,
                  .beta_zero = round % 5 == 0);
        if (c->alpha == 0)
            continue;
        JEXPECT_OK(jhandle_set_pointer_mode(world.handle, round % 4 < 2 ? JPOINTER_MODE_HOST
                                                                        : JPOINTER_MODE_DEVICE));
        check_each_set(&world, c);
    }
    world_end(&world);
}

/* Several panels of the depth, blocks of rows and of columns, in what is lent for all of it. */
EACH_FUNCTION(LargeOnesAreRight) {
    world_t world;
    if (world_begin(&world, *param)) {
        BLAS_CASE(deep, world.function, .m = 101, .n = 50, .k = 700, .plain = true);
        check_each_set(&world, deep);
        BLAS_CASE(tall, world.function, .m = 1100, .n = 33, .k = 67, .plain = true);
        check_each_set(&world, tall);
        BLAS_CASE(wide, world.function, .m = 35, .n = 3300, .k = 66, .plain = true);
        check_each_set(&world, wide);
    }
    world_end(&world);
}

static void copy_operands(const blas_case_t *from, blas_case_t *to) {
    for (int which = 0; which < BLAS_OPERANDS; which++) {
        const blas_operand_t *x = &from->operand[which];
        blas_operand_t *y = &to->operand[which];
        if (x->kind == BLAS_NONE)
            continue;
        for (int64_t j = 0; j < x->columns && !x->unread; j++)
            for (int64_t i = 0; i < x->rows; i++)
                wide_put(y->data, y->element, blas_index(y, 0, i, j),
                         wide_get(x->data, x->element, blas_index(x, 0, i, j)));
        memcpy(y->before, y->region, y->region_bytes);
    }
    memcpy(to->scalar, from->scalar, sizeof to->scalar);
    to->transa = from->transa, to->transb = from->transb;
}

EACH_FUNCTION(LeadingDimensionsChangeNoBit) {
    world_t world;
    for (int64_t round = world_begin(&world, *param) ? jtest_iterations(10) : 0; round > 0;
         round--) {
        const int64_t n = jtest_random_between(8, 60); /* square: whatever is transposed */
        BLAS_CASE(loose, world.function, .m = n, .n = n, .k = n, .plain = true);
        BLAS_CASE(tight, world.function, .m = n, .n = n, .k = n, .plain = true, .tight = true);
        copy_operands(loose, tight);
        run(world.handle, loose, 1);
        run(world.handle, tight, 2);

        const blas_operand_t *x = &loose->operand[2], *y = &tight->operand[2];
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                JASSERT_TRUE(wide_get(x->data, x->element, blas_index(x, 0, i, j)) ==
                             wide_get(y->data, y->element, blas_index(y, 0, i, j)));
    }
    world_end(&world);
}

/* Not the plain product under another name: it has bits of its own. Where less is lent, and where
 * bits must not change, it is the plain one. */
EACH_FUNCTION(HasBitsOfItsOwn) {
    world_t world;
    if (world_begin(&world, *param)) {
        BLAS_CASE(c, world.function, .m = 150, .n = 150, .k = 150, .plain = true);
        run(world.handle, c, 1);
        unsigned char *const answer = blas_snapshot(c);

        const size_t bytes = blas_query(world.handle, c);
        JEXPECT_OK(jhandle_set_workspace_size(world.handle, bytes - 4096));
        for (int same_bits = 0; same_bits < 2; same_bits++) {
            JEXPECT_OK(jhandle_set_result_policy(world.handle, same_bits ? JRESULT_POLICY_SAME_BITS
                                                                         : JRESULT_POLICY_FAST));
            blas_restore(c);
            JEXPECT_FALSE(jstatus_is_error(blas_call(world.handle, c)));
            JEXPECT_FALSE(blas_same_as(c, answer));
            blas_right(c);
        }
        free(answer);
    }
    world_end(&world);
}

/* gemm3m does it by name: the same bits, whatever is lent, componentwise or not. */
EACH_FUNCTION(IsWhatTheNameStandsFor) {
    const blas_function_t *named =
        &blas_functions[*param == BLAS_INDEX_cgemm ? BLAS_INDEX_cgemm3m : BLAS_INDEX_zgemm3m];
    world_t world;
    for (int64_t round = world_begin(&world, *param) ? jtest_iterations(12) : 0; round > 0;
         round--) {
        const int64_t n = jtest_random_between(1, 250); /* square: whatever is transposed */
        BLAS_CASE(way, world.function, .m = n, .n = n, .k = n, .plain = true);
        BLAS_CASE(name, named, .m = n, .n = n, .k = n, .plain = true);
        copy_operands(way, name);
        run(world.handle, way, 1);

        JEXPECT_OK(jhandle_set_accuracy(world.handle, JACCURACY_COMPONENTWISE));
        JEXPECT_OK(jhandle_set_workspace_size(world.handle, (size_t)(round % 3) << 18));
        JEXPECT_FALSE(jstatus_is_error(blas_call(world.handle, name)));
        JEXPECT_OK(jhandle_set_accuracy(world.handle, JACCURACY_NORMWISE));

        const blas_operand_t *x = &way->operand[2], *y = &name->operand[2];
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                JASSERT_TRUE(wide_get(x->data, x->element, blas_index(x, 0, i, j)) ==
                             wide_get(y->data, y->element, blas_index(y, 0, i, j)));
    }
    world_end(&world);
}

/* No more than the plain product's panels, which hold a real one's, and never less for more, also
 * where the way begins to pay. */
static void check_bytes(world_t *world, blas_case_t *c, const int64_t *size) {
    jhandle_t *const handle = world->handle;
    const jdatatype_t type = world->function->type;
    const int threads = (int)jtest_random_between(1, 8);
    blas_resize(c, size[0], size[1], size[2]);
    JEXPECT_OK(jhandle_set_threads(handle, threads));
    JSCOPED_TRACE("%s, %s, %d threads", ji_kernels->name, blas_describe(c), threads);

    const size_t bytes = blas_query(handle, c),
                 panels =
                     ji_call_panel_bytes(handle, JI_GEMM, type, size[0], size[1], size[2]).packed;
    JEXPECT_LE(bytes, panels);
    JEXPECT_LE(panels, ((size_t)12 + (size_t)threads) << 20);
    JEXPECT_LE(
        ji_call_panel_bytes(handle, JI_GEMM, ji_real_of(type), size[0], size[1], size[2]).packed,
        panels);

    for (int i = 0; i < 3; i++) {
        const int64_t more = jtest_random_between(1, 1000);
        blas_resize(c, size[0] + (i == 0) * more, size[1] + (i == 1) * more,
                    size[2] + (i == 2) * more);
        JEXPECT_GE(blas_query(handle, c), bytes);
    }
    blas_resize(c, size[0], size[1], size[2]);
    JEXPECT_OK(jhandle_set_threads(handle, threads + 1));
    JEXPECT_GE(blas_query(handle, c), bytes);
}

EACH_FUNCTION(AsksForPanelsAlone) {
    world_t world;
    for (int64_t round = world_begin(&world, *param) ? jtest_iterations(60) : 0; round > 0;
         round--) {
        BLAS_CASE(c, world.function, .low = 2, .high = 2, .plain = true, .hollow = true);
        const int64_t most = round % 2 ? 5000 : 300;
        int64_t size[3];
        for (int i = 0; i < 3; i++)
            size[i] = jtest_random_between(1, most);
        ji_host_tuning.gemm3m_least = jtest_random_between(1, most);
        ji_tuning_complete(&ji_host_tuning);

        for (size_t set = 0; ji_kernel_set_at(set) != NULL; set++)
            if (ji_kernel_set_is_here(ji_kernel_set_at(set))) {
                ji_kernel_set_use(ji_kernel_set_at(set));
                check_bytes(&world, c, size);
            }
    }
    world_end(&world);
}
