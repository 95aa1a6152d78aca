/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm of complex types by three real products, as a choice of operands and of what is written
 * (product.h): parts are taken, and added up, while they are packed, and a tile of real sums is
 * added to the complex C (Van Zee and Smith 2017). So the workspace is panels alone.
 *
 *     P0 = Re A Re B                      C += alpha (1 - i) P0
 *     P1 = Im A Im B                      C += alpha (-1 - i) P1
 *     P2 = (Re A + Im A)(Re B + Im B)     C += alpha i P2
 *
 * beta goes with the first. The bounds are those of algorithms/gemm3m.c, with
 * g = gamma(min(k, 256) + 3 p + 1), p the panels of k: sums of parts are rounded once each, and an
 * element is added to at most 3 p times. With a real alpha a sum that overflows in P2 reaches the
 * imaginary part alone. The order of all this depends on nothing, so neither do the bits.
 *
 * Strassen's seven products were made in the same way, to see: sums of blocks by packing, and tiles
 * added to several blocks of C (Huang, Smith, Henry and van de Geijn 2016). What they save, blocks
 * that are read and written more often cost again; docs/performance.rst has the figures. */

#include "blas/host/product.h"
#include "blas/host/scale.h"

void ji_host_gemm_by_3m(void *block) {
    const ji_matmat_t *args = block;
    if (ji_host_gemm_is_scaling(args))
        return;

    ji_product_t product = ji_gemm_product(args);
    product.type = ji_real_of(args->head.type);
    product.complex_c = true;

    const double re = product.scalars.alpha[0], im = product.scalars.alpha[1];
    const double factors[3][2] = {{re + im, im - re}, {im - re, -re - im}, {-im, re}};
    for (int part = JI_PART_REAL; part <= JI_PART_SUM; part++) {
        product.a.part = product.b.part = (ji_part_t)part;
        product.scalars.alpha[0] = factors[part][0], product.scalars.alpha[1] = factors[part][1];
        ji_product(&product);
        product.scalars.beta[0] = 1, product.scalars.beta[1] = 0;
    }
}
