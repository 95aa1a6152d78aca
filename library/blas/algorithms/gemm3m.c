/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The product of complex matrices by three real products instead of four:
 *
 *     P0 = Re A Re B,   P1 = Im A Im B,   P2 = (Re A + Im A)(Re B + Im B)
 *     Re AB = P0 - P1,  Im AB = P2 - P0 - P1
 *
 * A quarter of the work is saved; splitting and merging take back some of it, so it pays for large
 * matrices only (Van Zee and Smith 2017 for the variants).
 *
 * Error (Higham 1992). The terms of P2 are sums of parts, so the imaginary part errs in proportion
 * to all of AB, not to Im AB: with g = gamma(k + p + 8), p the panels of k, and |.| of each
 * element's modulus
 *
 *     |Re error| <= g |A||B|
 *     |Im error| <= g ((|Re A| + |Im A|)(|Re B| + |Im B|) + |A||B|) <= 3 g |A||B|
 *
 * where the conventional way has |Re A||Im B| + |Im A||Re B| for the second. Re A + Im A overflows
 * before either does, and infinities turn into NaN more often. So it is for the accuracy normwise.
 *
 *          n panel
 *         +---+                For each panel of k: A's panel is split, whole. For each panel of n:
 *         | B | k panel        B's is split, three products go to workspace, and are merged into C.
 *     +---+---+
 *     | A | C |  m             Workspace: 3 (m kc + kc nc + m nc) reals, so it grows with m alone.
 *     +---+---+
 *
 * Narrower panels were measured to lose what three products gain, so there is one rung.
 *
 * jblas's own products on the host take parts while they pack (host/gemm_3m.c): then there is no
 * such workspace, only panels. */

#include "blas/algorithms/gemm.h"
#include "blas/primitives/split.h"

/* Panels of about the same width, so that none is a sliver. */
static int64_t gemm3m_width(int64_t size, int64_t most) {
    int64_t panels = size / most + (size % most != 0); /* most may be INT64_MAX */
    return (size + panels - 1) / panels;
}

bool ji_gemm3m_pays(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_is_complex(args->head.type) &&
           ji_gemm_smallest(args) >= ji_tuning(handle)->gemm3m_least;
}

/* Whether parts and sums are made while packing (host/gemm_3m.c), and need no workspace. */
static bool gemm3m_packs(const jhandle_t *handle) {
    return handle->device->kind == JDEVICE_HOST && ji_product_is_own(JI_GEMM);
}

/* The plain product's panels hold those of a real one of its sizes. */
static size_t gemm3m_panel_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_panel_bytes(handle, JI_GEMM, &args->head, args->m, args->n, args->k).packed;
}

void ji_gemm3m_add_rung(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args) {
    if (gemm3m_packs(handle)) {
        const size_t panels = gemm3m_panel_bytes(handle, args);
        jplan_add(plan, JI_GEMM_3M, JI_GEMM_BITS_3M, 0, panels > 0, &panels);
        return;
    }

    jdatatype_t real = ji_real_of(args->head.type);
    const ji_tuning_t *tuning = ji_tuning(handle);
    int64_t kc = ji_min(args->k, tuning->gemm3m_k_panel),
            nc = ji_min(args->n, tuning->gemm3m_n_panel);

    size_t bytes[3] = {jalloc_matrix_bytes(real, args->m, 3 * kc),
                       jalloc_matrix_bytes(real, kc, 3 * nc),
                       jalloc_matrix_bytes(real, args->m, 3 * nc)};
    jplan_add(plan, JI_GEMM_3M, JI_GEMM_BITS_3M,
              ji_gemm_callee_bytes(handle, real, args->m, nc, kc), 3, bytes);
}

/* parts = the split of the rows x columns of op(stored) that begin at (i, j), transposed if
 * `stored` is. */
static jstatus_t gemm3m_split(jhandle_t *handle, jdatatype_t type, jblas_operation_t operation,
                              const void *stored, int64_t ld, int64_t i, int64_t j, int64_t rows,
                              int64_t columns, void *parts) {
    bool flat = !ji_is_transposed(operation);

    ji_split_t block = {.type = type,
                        .conjugate = ji_is_conjugated(operation),
                        .m = flat ? rows : columns,
                        .n = flat ? columns : rows,
                        .a = flat ? ji_at(type, stored, i, j, ld) : ji_at(type, stored, j, i, ld),
                        .lda = ld,
                        .parts = parts};

    return ji_run(handle, JI_SPLIT, &block);
}

jstatus_t ji_gemm3m_run(jhandle_t *handle, const ji_matmat_t *matmat, const jborrow_t *ws) {
    ji_matmat_t args = *matmat;
    if (gemm3m_packs(handle)) {
        args.panels = ws->ptr[0];
        args.panel_bytes = ws->ptr[0] == NULL ? 0 : gemm3m_panel_bytes(handle, &args);
        return ji_run(handle, JI_GEMM_BY_3M, &args);
    }

    jdatatype_t type = args.head.type, real = ji_real_of(type);
    const ji_tuning_t *tuning = ji_tuning(handle);
    int64_t kc = gemm3m_width(args.k, tuning->gemm3m_k_panel),
            nc = gemm3m_width(args.n, tuning->gemm3m_n_panel);
    ji_scalar_t beta = args.beta;

    for (int64_t p = 0; p < args.k; p += kc) {
        int64_t depth = ji_min(kc, args.k - p);
        JTRY_RETURN(gemm3m_split(handle, type, args.transa, args.a, args.lda, 0, p, args.m, depth,
                                 ws->ptr[0]));

        for (int64_t j = 0; j < args.n; j += nc) {
            int64_t width = ji_min(nc, args.n - j);
            JTRY_RETURN(gemm3m_split(handle, type, args.transb, args.b, args.ldb, p, j, depth,
                                     width, ws->ptr[1]));

            for (int64_t part = 0; part < 3; part++) {
                ji_matmat_t product = {
                    .head = args.head,
                    .transa = ji_is_transposed(args.transa) ? JBLAS_TRANSPOSE : JBLAS_NO_TRANSPOSE,
                    .transb = ji_is_transposed(args.transb) ? JBLAS_TRANSPOSE : JBLAS_NO_TRANSPOSE,
                    .m = args.m,
                    .n = width,
                    .k = depth,
                    .alpha = ji_constant(real, 1),
                    .a = ji_at(real, ws->ptr[0], 0, part * args.m, depth),
                    .lda = ji_is_transposed(args.transa) ? depth : args.m,
                    .b = ji_at(real, ws->ptr[1], 0, part * depth, width),
                    .ldb = ji_is_transposed(args.transb) ? width : depth,
                    .beta = ji_constant(real, 0),
                    .c = ji_at(real, ws->ptr[2], 0, part * width, args.m),
                    .ldc = args.m};
                product.head.type = real;
                JTRY_RETURN(ji_run_product(handle, JI_GEMM, &product, args.m, width, depth));
            }

            ji_merge_t merge = {.type = type,
                                .m = args.m,
                                .n = width,
                                .alpha = args.alpha,
                                .beta = beta,
                                .products = ws->ptr[2],
                                .c = ji_at(type, args.c, 0, j, args.ldc),
                                .ldc = args.ldc};
            JTRY_RETURN(ji_run(handle, JI_MERGE, &merge));
        }

        beta = ji_constant(type, 1);
    }

    return JSTATUS_SUCCESS;
}
