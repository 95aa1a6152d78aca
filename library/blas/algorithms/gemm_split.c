/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* sgemm by split precision: products of floats on units that multiply narrower numbers many times
 * faster.
 *
 * A float has 24 bits of significand. It is the sum of three bfloat16 (8 bits each, exact), or of
 * two binary16 (11 bits each, but for the last bit), so a product of floats is a sum of products of
 * parts. Those of the smallest parts do not reach the 24th bit and are left out:
 *
 *     split-bf16    a2 b0 + a1 b1 + a0 b2,  a1 b0 + a0 b1,  a0 b0       6 of 9 products
 *     split-fp16    a1 b0 + a0 b1,  a0 b0                               3 of 4
 *
 *     the shifts of A's rows and B's columns        powers of two that bring each line to where
 *                                                   its parts need it
 *     for each slab of the depth:
 *         split A, split B                          into workspace, each part once (precision.h)
 *         P += the small products, all of the slab  one product of the vendor's for each column of
 *                                                   the table above
 *         for each panel of the slab: P += a0 b0    the vendor's; float P in workspace
 *     C = alpha 2^-shifts P + beta C                rounded once; nothing overflows on the way that
 *                                                   is not infinite in C
 *
 * What a tensor core does when it adds decides the rest: it aligns the terms to the largest and
 * truncates (Fasi, Higham, Mikaitis, Pranesh 2021), so errors do not cancel but grow with the
 * length of the sum (Ootomo and Yokota 2022 measure it, and add outside of the tensor cores). Here
 * sums of a0 b0, which decide, are as long as a panel, and panels are added as floats, to the
 * nearest. The small products are 2^-7 of these and less, so they are added over a slab at once,
 * first.
 *
 * Panels, on models of what cores add (clients/bench/bench_split_error.c): as deep as an eighth of
 * k, from 256 to 1024 on an H100 and to 512 on an A100, split-bf16 errs 0.3 to 1.8 times as much as
 * float whatever the numbers. split-fp16 errs 0.5 to 1.8 times as much, but 2 to 5 times (to 7 on
 * an A100) where all terms are of one sign: its products of 22 bits are cut from the fourth
 * addition on, those of 16 bits after some hundreds.
 *
 * What it costs, counted for n x n matrices of order 8192 on an H100 (700 TFLOP/s of bfloat16
 * reached, 50 of float; 3 TB/s): cublasSgemm 22 ms. Six products 9.4 ms, P read and written 12
 * times 2.1 ms (twice for each of two slabs, 8 panels), A and B read twice and their parts written
 * 0.6 ms, the result 0.2 ms: 12.4 ms, 1.8 times as fast, up to 2.1 where the vendor's kernels hide
 * P's traffic behind the products. Three products: 7.3 ms (4.7, 1.8, 0.5, 0.2), 3 times. The other
 * way is to store parts as often as they are multiplied, six times in all, so that one product a
 * panel does everything: P is passed 8 times, not 12, but 0.3 ms more of parts are written,
 * a slab of as many bytes is half as deep, and a core adds six times as many terms. By this count
 * it is 0.4 ms faster; its bound is six times as large. So parts are stored once.
 *
 * Error, with u = 2^-24, panels of depth d, slabs of depth K, every addition of a tensor core
 * counted as one that truncates (2u), alpha 1 and beta 0, and r, c the largest elements of the row
 * of op(A) and the column of op(B):
 *
 *     split-bf16    |C - C'| <= (2.1 d + K / 30  + k / d + 2 k / K + 16) u |A||B| + k 2^-100 r c
 *     split-fp16    |C - C'| <= (2.1 d + K / 240 + k / d +   k / K + 16) u |A||B| + k 2^-46 r c
 *
 *   - d: |a0||b0| <= 1.01 |a||b|, d additions.
 *   - K: 2 K additions of |a1 b0| and |a0 b1|, each <= 2^-8 |a||b| (bfloat16) or 2^-11 |a||b|
 *     (binary16), and 3 K of terms that are 2^-15 |a||b| together.
 *   - k / d, k / K: the additions to P.
 *   - 16: what is left out, u (bfloat16) or 4u (binary16); what two binary16 leave of a and of b,
 *     2u each; C's rounding.
 *   - r c: parts that underflow. bfloat16 has float's exponents. With a line's largest element at
 *     2^14, a0 of binary16 is exact to 2^-25 and a1, stored 2^11 times as large, to 2^-36, which is
 *     2^-50 r: elements below 2^-27 r begin to lose digits. Four such terms, of a, of b and of the
 *     a1 b1 left out, are less than 2^-46 r c.
 *
 * So both are bounded in the norm, and the second less where large elements of a line meet small
 * ones of the other.
 *
 * Infinity and NaN: the low parts of an infinity are NaN, so both make NaN of what depends on them.
 * What does not is as ever. */

#include <math.h>

#include "blas/algorithms/gemm.h"
#include "blas/primitives/precision.h"

typedef struct split_depths {
    int64_t panel, slab; /* multiples of JI_SPLIT_MULTIPLE, a slab of panels */
} split_depths_t;

static int64_t split_count(int64_t size, int64_t each) { return (size + each - 1) / each; }
static int64_t split_round(int64_t size) {
    return split_count(size, JI_SPLIT_MULTIPLE) * JI_SPLIT_MULTIPLE;
}

/* Panels of about the same depth, so that none is a sliver, and slabs of about as many panels. A
 * sum of floats errs in proportion to the root of k, one that truncates to the depth of a panel:
 * short panels for short sums. */
static split_depths_t split_depths(int64_t k, const ji_tuning_t *tuning) {
    const int64_t most = ji_min(tuning->split_k_panel, ji_max(k / 8, 256)),
                  panels = split_count(k, most);
    const int64_t panel = split_round(split_count(k, panels));

    const int64_t slabs = split_count(panels, ji_max(tuning->split_slab / panel, 1));
    return (split_depths_t){panel, split_count(panels, slabs) * panel};
}

bool ji_gemm_split_pays(const jhandle_t *handle, const ji_matmat_t *args) {
    const ji_tuning_t *tuning = ji_tuning(handle);
    if (args->head.type != JDATATYPE_F32 || ji_gemm_smallest(args) < tuning->split_least)
        return false;

    return tuning->split_by_kernels ||
           (handle->device->blas != NULL && handle->device->blas->has_mixed(handle->device));
}

/* Buffers: the parts of A, of B, P, the shifts of A's rows and of B's columns. */
void ji_gemm_split_add_rungs(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args) {
    const ji_tuning_t *tuning = ji_tuning(handle);

    for (int way = (int)tuning->split_way; way < JI_SPLIT_WAYS; way++) {
        const ji_split_form_t *form = ji_split_form((ji_split_way_t)way);
        const int64_t depth = split_depths(args->k, tuning).slab * form->parts;

        const size_t bytes[] = {jalloc_matrix_bytes(form->type, depth, args->m),
                                jalloc_matrix_bytes(form->type, depth, args->n),
                                jalloc_matrix_bytes(JDATATYPE_F32, split_round(args->m), args->n),
                                jalloc_mul(args->m, sizeof(int32_t)),
                                jalloc_mul(args->n, sizeof(int32_t))};

        jplan_add(plan, form->name, JI_GEMM_BITS_SPLIT + (uint32_t)way, 0,
                  sizeof bytes / sizeof *bytes, bytes);
    }
}

/* op(A) or op(B), all of the depth. */
static ji_split_operand_t split_operand(const ji_matmat_t *args, ji_split_way_t way, bool is_b,
                                        void *parts, int32_t *shifts) {
    const bool plain = !ji_is_transposed(is_b ? args->transb : args->transa);
    const bool along = plain == is_b; /* the depth runs down the columns */
    const int64_t ld = is_b ? args->ldb : args->lda;

    return (ji_split_operand_t){.way = way,
                                .is_b = is_b,
                                .lines = is_b ? args->n : args->m,
                                .depth = args->k,
                                .matrix = is_b ? args->b : args->a,
                                .line_step = along ? ld : 1,
                                .at_step = along ? 1 : ld,
                                .alpha = args->alpha,
                                .shifts = shifts,
                                .parts = parts};
}

/* P += the products of a slab, or P = where it is the first. */
static jstatus_t split_products(jhandle_t *handle, const ji_split_operand_t operands[2],
                                int64_t panel, float *product, bool first) {
    const ji_split_form_t *form = ji_split_form(operands[0].way);
    const size_t part_bytes = jhandle_sizeof_datatype(form->type);
    const int64_t slab = operands[0].slab;

    for (int order = form->parts - 1; order >= 0; order--) {
        const int64_t depth = (order + 1) * slab, step = order > 0 ? depth : panel;
        const int64_t a_first = (form->parts - 1 - order) * slab;

        for (int64_t p = 0; p < depth; p += step) {
            ji_matmat_t block = {.head = {.type = form->type},
                                 .transa = JBLAS_TRANSPOSE,
                                 .transb = JBLAS_NO_TRANSPOSE,
                                 .m = operands[0].lines,
                                 .n = operands[1].lines,
                                 .k = ji_min(step, depth - p),
                                 .alpha = {.value = {.s = ldexpf(1, -order * form->gap)}},
                                 .a = (const char *)operands[0].parts +
                                      (size_t)(a_first + p) * part_bytes,
                                 .lda = form->parts * slab,
                                 .b = (const char *)operands[1].parts + (size_t)p * part_bytes,
                                 .ldb = form->parts * slab,
                                 .beta = {.value = {.s = first ? 0 : 1}},
                                 .c = product,
                                 .ldc = split_round(operands[0].lines)};

            JTRY_RETURN(ji_run(handle, JI_GEMM_MIXED, &block));
            first = false;
        }
    }

    return JSTATUS_SUCCESS;
}

jstatus_t ji_gemm_split_run(jhandle_t *handle, const ji_matmat_t *args, ji_split_way_t way,
                            const jborrow_t *ws) {
    const ji_tuning_t *tuning = ji_tuning(handle);
    const split_depths_t depths = split_depths(args->k, tuning);
    const ji_split_operand_t whole[2] = {split_operand(args, way, false, ws->ptr[0], ws->ptr[3]),
                                         split_operand(args, way, true, ws->ptr[1], ws->ptr[4])};

    for (int i = 0; i < 2; i++) {
        ji_split_operand_t block = whole[i];
        JTRY_RETURN(ji_run(handle, JI_SPLIT_SCALE, &block));
    }

    for (int64_t p = 0; p < args->k; p += depths.slab) {
        ji_split_operand_t slab[2] = {whole[0], whole[1]};
        for (int i = 0; i < 2; i++) {
            slab[i].matrix = (const float *)whole[i].matrix + p * whole[i].at_step;
            slab[i].depth = ji_min(depths.slab, args->k - p);
            slab[i].slab = split_round(slab[i].depth);
            JTRY_RETURN(ji_run(handle, JI_SPLIT_PRECISION, &slab[i]));
        }

        JTRY_RETURN(split_products(handle, slab, depths.panel, ws->ptr[2], p == 0));
    }

    ji_split_result_t result = {.m = args->m,
                                .n = args->n,
                                .alpha = args->alpha,
                                .beta = args->beta,
                                .product = ws->ptr[2],
                                .ld = split_round(args->m),
                                .row_shifts = whole[0].shifts,
                                .column_shifts = whole[1].shifts,
                                .c = args->c,
                                .ldc = args->ldc};

    return ji_run(handle, JI_SPLIT_RESULT, &result);
}
