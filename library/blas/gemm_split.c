/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* sgemm by split precision: products of floats on units that multiply narrower numbers many times faster.
 *
 * A float has 24 bits of significand. It is the sum of three bfloat16 (8 bits each, exact), or of two TF32 (11 bits
 * each, but for the last bit or two), so a product of floats is a sum of products of parts. Those of the smallest parts
 * do not reach the 24th bit and are left out:
 *
 *     bf16x6    a2 b0 + a1 b1 + a0 b2 + a1 b0 + a0 b1 + a0 b0       6 of 9 products
 *     tf32x3    a1 b0 + a0 b1 + a0 b0                               3 of 4
 *
 * An H200 has 67 TFLOP/s of float, 495 of TF32 and 990 of bfloat16 (data sheet, dense): a third of 495 and a sixth of
 * 990 are both 165. The parts take the same memory too (12 bytes an element). bfloat16 is the default, because of what
 * a tensor core does when it adds: it aligns the terms to the largest and truncates (Fasi, Higham, Mikaitis, Pranesh
 * 2021), so errors do not cancel but grow with the length of the sum (Ootomo and Yokota 2022 measure it, and add
 * outside of the tensor cores). A product of two bfloat16 has 16 bits: 256 of like size are added before the 24 bits of
 * the sum are full and anything is cut off at all. A product of TF32 has 22: there it begins with the fourth. What is
 * done against the truncation that remains:
 *
 *   - k is cut into panels; the tensor cores add within one, and panels are added to C as floats, to the nearest
 *     (on models of an A100 and an H100 panels of 256 at k = 2048 and of 512 at 4096 keep bf16x6 at 0.4 to 1.6 times
 *     the error of float, whether numbers are of both signs, positive, or of all sizes, and tf32x3 at 1.2 to 7 times:
 *     clients/bench/bench_split_error.c);
 *   - within a panel the small products come first: one product of matrices whose depth is all the parts one after the
 *     other (precision.h). So C is read and written once a panel, not once a product.
 *
 *     for each slab of panels:    split A, split B          (kernels; the slab's parts are all the workspace)
 *         for each panel:         C = alpha' A' B' + beta C (the vendor's; beta = 1 after the first)
 *
 * A power of two for each matrix keeps its largest element near 1 where it is very far from it, so that the low parts
 * of a tiny matrix do not underflow; alpha' takes it out again. Within one matrix elements below 2^-100 of the largest
 * lose low parts.
 *
 * Error, with u = 2^-24, panels of depth d, and every addition of a tensor core counted as truncated:
 *
 *     |C - C'| <= (2 s d + k / d + 16) u |A||B| + k 2^-100 max|A| max|B|       s: the form's products, 6 or 3
 *
 * which is the second term away from a bound element by element: so it is for the accuracy normwise.
 *
 * Infinity and NaN: an infinity has no low parts (they are 0), so it may meet 0 and become NaN where float would have
 * kept it. A NaN stays one, and elements that depend on neither are as ever. */

#include "blas/gemm.h"
#include "blas/precision.h"

/* Panels of about the same depth, so that none is a sliver; whole runs of the tensor cores. A sum of floats errs in
 * proportion to the root of k, one that truncates to the depth of a panel: short panels for short sums. */
static int64_t split_panel(int64_t k, const ji_tuning_t *tuning) {
    int64_t most = gemm_min(tuning->split_k_panel, ji_max(k / 8, 256));
    int64_t panels = (k + most - 1) / most, depth = (k + panels - 1) / panels;
    return (depth + 31) / 32 * 32;
}

bool ji_gemm_split_pays(const jhandle_t *handle, const ji_matmat_t *args) {
    const ji_tuning_t *tuning = ji_tuning(handle);
    if (args->head.type != JDATATYPE_F32 || ji_gemm_smallest(args) < tuning->split_least)
        return false;
    return tuning->split_by_kernels ||
           (handle->device->blas != NULL && handle->device->blas->has_mixed(handle->device));
}

void ji_gemm_split_add_rung(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args) {
    const ji_tuning_t *tuning = ji_tuning(handle);
    const ji_split_form_t *form = ji_split_form(tuning->split_way);
    int64_t panel = split_panel(args->k, tuning), panels = (args->k + panel - 1) / panel;
    int64_t depth = gemm_min(panels, tuning->split_panels) * panel * form->products;
    size_t bytes[3] = {jalloc_matrix_bytes(form->type, depth, args->m), jalloc_matrix_bytes(form->type, depth, args->n),
                       sizeof(ji_split_scratch_t)};
    jplan_add(plan, form->type == JDATATYPE_F32 ? "split-tf32" : "split-bf16", JI_GEMM_BITS_SPLIT, 0, 3, bytes);
}

/* The parts of op(A) or op(B) from depth `at` on. */
static jstatus_t split_operand(jhandle_t *handle, const ji_matmat_t *args, int operand, int64_t at, int64_t depth,
                               int64_t panel, void *parts, ji_split_scratch_t *scratch) {
    const bool b = operand == 1;
    const bool flat = (b ? args->transb : args->transa) == JBLAS_NO_TRANSPOSE;
    const int64_t ld = b ? args->ldb : args->lda;
    const bool along = flat == b; /* the depth runs down the columns */
    ji_split_precision_t block = {.way = ji_tuning(handle)->split_way,
                                  .operand = operand,
                                  .lines = b ? args->n : args->m,
                                  .depth = depth,
                                  .line_step = along ? ld : 1,
                                  .at_step = along ? 1 : ld,
                                  .panel = panel,
                                  .parts = parts,
                                  .alpha = args->alpha,
                                  .beta = args->beta,
                                  .scratch = scratch};
    block.matrix = ji_at(JDATATYPE_F32, b ? args->b : args->a, along ? at : 0, along ? 0 : at, ld);
    return ji_run(handle, JI_SPLIT_PRECISION, &block);
}

jstatus_t ji_gemm_split_run(jhandle_t *handle, const ji_matmat_t *args, const jborrow_t *ws) {
    const ji_tuning_t *tuning = ji_tuning(handle);
    const ji_split_form_t *form = ji_split_form(tuning->split_way);
    const bool flat_a = args->transa == JBLAS_NO_TRANSPOSE, flat_b = args->transb == JBLAS_NO_TRANSPOSE;
    const int64_t panel = split_panel(args->k, tuning), slab = panel * tuning->split_panels;
    const int64_t depth = panel * form->products; /* of a panel's product */
    ji_split_scratch_t *scratch = ws->ptr[2];
    ji_split_scale_t scale = {.rows = {flat_a ? args->m : args->k, flat_b ? args->k : args->n},
                              .columns = {flat_a ? args->k : args->m, flat_b ? args->n : args->k},
                              .ld = {args->lda, args->ldb},
                              .matrix = {args->a, args->b},
                              .alpha = args->alpha,
                              .scratch = scratch};
    JI_RETURN_UNLESS_SUCCESS(ji_run(handle, JI_SPLIT_SCALE, &scale));
    for (int64_t p = 0; p < args->k; p += slab) {
        const int64_t deep = gemm_min(slab, args->k - p);
        JI_RETURN_UNLESS_SUCCESS(split_operand(handle, args, 0, p, deep, panel, ws->ptr[0], scratch));
        JI_RETURN_UNLESS_SUCCESS(split_operand(handle, args, 1, p, deep, panel, ws->ptr[1], scratch));
        for (int64_t q = 0; q < deep; q += panel) {
            const size_t before = (size_t)(q / panel * depth) * jhandle_sizeof_datatype(form->type);
            ji_matmat_t product = {.head = args->head,
                                   .transa = JBLAS_TRANSPOSE,
                                   .transb = JBLAS_NO_TRANSPOSE,
                                   .m = args->m,
                                   .n = args->n,
                                   .k = depth,
                                   .alpha = {.pointer = &scratch->alpha},
                                   .a = (const char *)ws->ptr[0] + before * (size_t)args->m,
                                   .lda = depth,
                                   .b = (const char *)ws->ptr[1] + before * (size_t)args->n,
                                   .ldb = depth,
                                   .beta = {.pointer = p + q == 0 ? &scratch->beta : &scratch->one},
                                   .c = args->c,
                                   .ldc = args->ldc};
            product.head.type = form->type;
            JI_RETURN_UNLESS_SUCCESS(ji_run(handle, JI_GEMM_MIXED, &product));
        }
    }
    return JSTATUS_SUCCESS;
}
