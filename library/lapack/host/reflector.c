/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One reflector. Numbers whose reciprocals might overflow are scaled first. */

#include <math.h>

#include "lapack/host/reflector.h"

double ji_reflector_norm(const ji_head_t *head, int64_t n, const void *x, int64_t incx) {
    ji_value_t norm = {0};
    ji_vector_t call = {.head = *head, .n = n, .x = x, .incx = incx, .result = &norm};
    ji_host_primitives[JI_NRM2](&call);
    return ji_real_at(head->type, &norm, 0);
}

void ji_reflector_scale(jdatatype_t type, int64_t n, double re, double im, void *x, int64_t incx) {
    ji_value_t by;
    ji_number_store(type, &by, re, im);
    ji_kernels->level1[type]->scal(n, &by, x, incx);
}

double ji_reflector_beta(ji_number_t alpha, double norm) {
    const double size = alpha.im == 0 ? alpha.re : hypot(alpha.re, alpha.im);
    return -copysign(hypot(size, norm), alpha.re);
}

ji_reflection_t ji_reflection_of(ji_number_t alpha, double beta) {
    const double re = alpha.re - beta, im = alpha.im;
    ji_reflection_t by = {.tau = {-re / beta, -im / beta}};
    if (fabs(re) >= fabs(im)) {
        const double ratio = im / re, divisor = re + im * ratio;
        by.factor = (ji_number_t){1 / divisor, -ratio / divisor};
    } else {
        const double ratio = re / im, divisor = im + re * ratio;
        by.factor = (ji_number_t){ratio / divisor, -1 / divisor};
    }
    return by;
}

void ji_reflect(const ji_head_t *head, bool conjugated, int64_t n, void *alpha, int64_t incx,
                void *tau) {
    const jdatatype_t type = head->type;
    void *const x = ji_at(type, alpha, incx, 0, 0);
    const bool is_float = ji_real_of(type) == JDATATYPE_F32;
    const double least = is_float ? 0x1p-102 : 0x1p-969, enlarge = is_float ? 0x1p+102 : 0x1p+969;
    double norm = ji_reflector_norm(head, n, x, incx);
    ji_number_t first = ji_number_load(type, alpha);
    first.im = conjugated ? -first.im : first.im;
    if (norm == 0 && first.im == 0) {
        ji_number_store(type, tau, 0, 0);
        return;
    }

    double beta = ji_reflector_beta(first, norm);
    int scaled = 0;
    for (; fabs(beta) < least; scaled++) {
        ji_reflector_scale(type, n, enlarge, 0, x, incx);
        norm = ji_reflector_norm(head, n, x, incx);
        first.re *= enlarge, first.im *= enlarge;
        beta = ji_reflector_beta(first, norm);
    }

    const ji_reflection_t by = ji_reflection_of(first, beta);
    ji_number_store(type, tau, by.tau.re, by.tau.im);
    ji_reflector_scale(type, n, by.factor.re, conjugated ? -by.factor.im : by.factor.im, x, incx);
    for (; scaled > 0; scaled--)
        beta *= least;
    ji_number_store(type, alpha, beta, 0);
}
