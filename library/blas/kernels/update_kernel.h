/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What C becomes, of one element type and instruction set: product_kernel.h and batch_kernel.h
 * include it within their texts (each_type.h). No include guard. PARTS is theirs. */

typedef struct NAME(scalars) {
    VECTOR alpha, alpha_i, beta, beta_i;
    bool turns_alpha, turns_beta, reads;
} NAME(scalars_t);

VECTOR_INLINE NAME(scalars_t) NAME(spread)(const ji_product_scalars_t *scalars) {
    const double *alpha = scalars->alpha, *beta = scalars->beta;
    return (NAME(scalars_t)){V(splat)((REAL)alpha[0]),
                             V(splat)((REAL)alpha[1]),
                             V(splat)((REAL)beta[0]),
                             V(splat)((REAL)beta[1]),
                             COMPLEX && alpha[1] != 0,
                             COMPLEX && beta[1] != 0,
                             beta[0] != 0 || (COMPLEX && beta[1] != 0)};
}

/* What C becomes where it held `old`, which is 0 where C is not read. */
VECTOR_INLINE VECTOR NAME(added)(const NAME(scalars_t) * by, VECTOR sum, VECTOR old) {
    VECTOR result;

    if (by->reads) {
        result = by->beta * old;
        if (by->turns_beta)
            result = V(fma)(by->beta_i, V(turn)(old), result);
        result = V(fma)(by->alpha, sum, result);
    } else {
        result = by->alpha * sum;
    }

    return by->turns_alpha ? V(fma)(by->alpha_i, V(turn)(sum), result) : result;
}

VECTOR_INLINE void NAME(update_column)(int64_t reals, const REAL *sums, const NAME(scalars_t) * by,
                                       REAL *c) {
    for (; reals >= LANES; reals -= LANES, sums += LANES, c += LANES)
        V(store)(c, NAME(added)(by, V(load)(sums), by->reads ? V(load)(c) : V(splat)(0)));

    if (reals > 0) {
        const PART part = V(first)((int)reals);
        const VECTOR old = by->reads ? V(load_part)(c, part) : V(splat)(0);
        V(store_part)(c, NAME(added)(by, V(load_part)(sums, part), old), part);
    }
}
