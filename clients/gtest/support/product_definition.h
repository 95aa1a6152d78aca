/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What level 3 of the host computes, bit for bit, as scalar loops: docs/bits.rst, word for word.
 * Included once for each element type, without an include guard.
 *
 *   REAL, PARTS   float or double; 1, or 2 for complex numbers
 *   FMA(a, b, c)  a b + c, rounded once if the set in use is fused, else twice
 *   NAME(f)       gives the functions their own names */

/* sum += a b. */
static void NAME(add_product)(REAL *sum, const REAL *a, const REAL *b) {
    sum[0] = FMA(a[0], b[0], sum[0]);
#if PARTS == 2
    sum[1] = FMA(a[1], b[0], sum[1]);
    sum[0] = FMA(-a[1], b[1], sum[0]);
    sum[1] = FMA(a[0], b[1], sum[1]);
#endif
}

/* y += scalar x; y = scalar x where y is not read. An imaginary part of 0 is left out. */
static void NAME(add_scaled)(const REAL *scalar, const REAL *x, bool reads, REAL *y) {
    for (int part = 0; part < PARTS; part++)
        y[part] = reads ? FMA(scalar[0], x[part], y[part]) : scalar[0] * x[part];
#if PARTS == 2
    if (scalar[1] != 0) {
        y[0] = FMA(-scalar[1], x[1], y[0]);
        y[1] = FMA(scalar[1], x[0], y[1]);
    }
#endif
}

static bool NAME(is_zero)(const REAL *scalar) { return scalar[0] == 0 && scalar[PARTS - 1] == 0; }

/* c = alpha sum + beta c. */
static void NAME(update)(const REAL *alpha, const REAL *sum, const REAL *beta, REAL *c) {
    REAL result[PARTS] = {0};
    const bool reads = !NAME(is_zero)(beta);

    if (reads)
        NAME(add_scaled)(beta, c, false, result);
    NAME(add_scaled)(alpha, sum, reads, result);
    memcpy(c, result, sizeof result);
}

/* Panels in order; those of a triangle from the diagonal on, away from it. */
static void NAME(define)(const product_t *p) {
    enum { DEPTH = 256 / PARTS };
    const REAL one[2] = {1, 0};
    const int64_t panels = (p->k + DEPTH - 1) / DEPTH;

    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = p->written == 'L' ? j : 0; i < (p->written == 'U' ? j + 1 : p->m); i++) {
            const int64_t line = p->triangle == 'B' ? j : i;
            const int64_t first = p->triangle ? line / DEPTH : 0;
            const int64_t way = p->triangle && p->lower ? -1 : 1;
            REAL *c = (REAL *)p->c + (i + j * p->ldc) * PARTS;

            for (int64_t panel = first; panel >= 0 && panel < panels; panel += way) {
                const int64_t step = panel * DEPTH, end = step + DEPTH < p->k ? step + DEPTH : p->k;
                REAL sum[PARTS] = {0};
                for (int64_t s = step; s < end; s++)
                    if (!p->triangle || (p->lower ? s <= line : s >= line))
                        NAME(add_product)
                (sum, (const REAL *)p->a + (i + s * p->m) * PARTS,
                 (const REAL *)p->b + (s + j * p->k) * PARTS);
                NAME(update)(p->alpha, sum, panel == first ? p->beta : one, c);
            }
        }
}

/* op(A) as a whole matrix, by columns; to be freed. Outside of a triangle: 0, which nobody reads.
 */
static void *NAME(load)(const blas_operand_t *o, jblas_operation_t op, form_t form, bool unit) {
    const bool plain = !ji_is_transposed(op);
    const int64_t rows = plain ? o->rows : o->columns, columns = plain ? o->columns : o->rows;
    const REAL *data = (const REAL *)(const void *)(o->before + (o->data - o->region));
    REAL *whole = calloc((size_t)(rows * columns) + 1, PARTS * sizeof *whole), *to = whole;
    if (whole == NULL)
        abort();

    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++, to += PARTS) {
            int64_t row = plain ? i : j, column = plain ? j : i;
            const bool stored = blas_is_part(o, row, column);
            if (form == TRIANGULAR && !stored) {
                to[0] = unit && i == j;
                continue;
            }
            if (!stored) {
                const int64_t swap = row;
                row = column, column = swap;
            }
            memcpy(to, data + blas_index(o, 0, row, column) * PARTS, PARTS * sizeof *to);
#if PARTS == 2
            if (ji_is_conjugated(op) != (form == HERMITIAN && !stored))
                to[1] = -to[1];
            if (form == HERMITIAN && i == j)
                to[1] = 0;
#endif
        }
    return whole;
}

/* C = beta C, as scal has it; real beta: as rscal. */
static void NAME(scale)(const product_t *p, bool is_real) {
    const REAL *beta = p->beta;
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = p->written == 'L' ? j : 0; i < (p->written == 'U' ? j + 1 : p->m); i++) {
            REAL *c = (REAL *)p->c + (i + j * p->ldc) * PARTS;
            const REAL old[2] = {c[0], c[PARTS - 1]};
            if (NAME(is_zero)(beta))
                memset(c, 0, PARTS * sizeof *c);
            if (NAME(is_zero)(beta) || (beta[0] == 1 && (PARTS == 1 || beta[PARTS - 1] == 0)))
                continue;
            for (int part = 0; part < PARTS; part++)
                c[part] = beta[0] * old[part];
#if PARTS == 2
            if (!is_real) {
                c[0] = FMA(-beta[1], old[1], c[0]);
                c[1] = FMA(beta[1], old[0], c[1]);
            }
#endif
        }
    (void)is_real;
}

static void NAME(clear_diagonal)(const product_t *p) {
    for (int64_t j = 0; j < p->n && PARTS == 2; j++)
        ((REAL *)p->c)[(j + j * p->ldc) * PARTS + PARTS - 1] = 0;
}

#undef REAL
#undef PARTS
#undef FMA
#undef NAME
