/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Substitution for one right-hand side, of one element type and instruction set: a part of
 * triangle_kernel.h, which includes it and says what the names mean. No include guard.
 *
 * A strip would have one lane in use, and rows would be packed to be read once. So the triangle is
 * read where it is, and the right-hand side is laid as the triangle's columns lie, its last unknown
 * first where they begin with it. Blocks of 8 unknowns are solved by single elements. What they
 * take from the others is taken
 *
 *   where a column's elements lie side by side   from all unknowns behind the block, by vectors
 *   where a row's do                             from the next block, before it is solved: eight
 *                                                chains of single elements, which do not wait for
 *                                                each other
 *
 * In both each unknown is the chain that it is in a strip, with the same bits. */

/* A triangle as it is read: element (q, p) is at a + q * row + p * column, the right-hand side's
 * unknown q at x + q * step. Strides are in reals. */
typedef struct NAME(line) {
    const REAL *a;
    ptrdiff_t row, column, step;
    REAL *x;
    REAL sign; /* of imaginary parts */
    bool unit;
} NAME(line_t);

/* An unknown that was found, and what the imaginary parts of its column are multiplied with. */
typedef struct NAME(found) {
    REAL y[PARTS], by_imaginary[PARTS];
} NAME(found_t);

VECTOR_INLINE NAME(found_t) NAME(found)(const REAL *y, REAL sign) {
#if COMPLEX
    return (NAME(found_t)){{y[0], y[1]}, {-sign * y[1], sign * y[0]}};
#else
    return (NAME(found_t)){{y[0]}, {sign}};
#endif
}

/* sum -= element y. Real parts are held, or GCC makes pairs of two floats, which takes longer. */
VECTOR_INLINE void NAME(subtract_one)(REAL *sum, const REAL *element, NAME(found_t) found) {
    REAL re = V(fma_one)(-element[0], found.y[0], sum[0]);
#if COMPLEX
    VECTOR_HOLD(re);
    re = V(fma_one)(-element[1], found.by_imaginary[0], re);
    sum[1] = V(fma_one)(-element[0], found.y[1], sum[1]);
    sum[1] = V(fma_one)(-element[1], found.by_imaginary[1], sum[1]);
#endif
    sum[0] = re;
}

/* What `rows` unknowns from q on lose by those before them. */
VECTOR_INLINE void NAME(subtract_before)(const NAME(line_t) * line, int rows, int64_t q) {
    REAL *const own = line->x + q * line->step, sums[BLOCK * PARTS];
    const REAL *a = line->a + q * line->row, *y = line->x;

    for (int r = 0; r < rows; r++)
        memcpy(sums + r * PARTS, own + r * line->step, PARTS * sizeof(REAL));
    for (int64_t p = 0; p < q; p++, a += line->column, y += line->step) {
        const NAME(found_t) found = NAME(found)(y, line->sign);
        VECTOR_UNROLL
        for (int r = 0; r < rows; r++)
            NAME(subtract_one)(sums + r * PARTS, a + r * line->row, found);
    }
    for (int r = 0; r < rows; r++)
        memcpy(own + r * line->step, sums + r * PARTS, PARTS * sizeof(REAL));
}

/* What all `count` unknowns behind the eight from q on lose by these. */
VECTOR_INLINE void NAME(subtract_behind)(const NAME(line_t) * line, int64_t q, int64_t count) {
    const int64_t lowest = line->row > 0 ? q + BLOCK : q + BLOCK + count - 1;
    const REAL *const a = line->a + lowest * line->row + q * line->column;
    REAL *const x = line->x + lowest * line->step;
    VECTOR found[BLOCK];
#if COMPLEX
    VECTOR turned[BLOCK];
#endif
    VECTOR_UNROLL
    for (int c = 0; c < BLOCK; c++) {
        const REAL *y = line->x + (q + c) * line->step;
#if COMPLEX
        found[c] = V(splat_pair)(y);
        turned[c] = V(splat)(line->sign) * V(turn)(found[c]);
#else
        found[c] = V(splat)(y[0]);
#endif
    }

    for (int64_t i = 0; i < count * PARTS; i += LANES) {
        const int64_t left = count * PARTS - i;
        const PART part = V(first)(left < LANES ? (int)left : LANES);
        VECTOR sum = left < LANES ? V(load_piece)(x + i, part) : V(load)(x + i);
        VECTOR_UNROLL
        for (int c = 0; c < BLOCK; c++) {
            const REAL *from = a + c * line->column + i;
            const VECTOR own = left < LANES ? V(load_part)(from, part) : V(load)(from);
#if COMPLEX
            sum = V(fnma)(V(even)(own), found[c], sum);
            sum = V(fnma)(V(odd)(own), turned[c], sum);
#else
            sum = V(fnma)(own, found[c], sum);
#endif
        }
        if (left < LANES)
            V(store_piece)(x + i, sum, part);
        else
            V(store)(x + i, sum);
    }
}

/* The `rows` unknowns from q on, of which nothing is left but their own triangle. */
VECTOR_INLINE void NAME(solve_own)(const NAME(line_t) * line, int rows, int64_t q) {
    REAL *const own = line->x + q * line->step, x[BLOCK * PARTS], inverse[BLOCK * PARTS];
    const REAL *a = line->a + q * (line->row + line->column);
    bool sound = true;

    VECTOR_UNROLL
    for (int r = 0; r < rows; r++) {
        const REAL *pivot = a + r * (line->row + line->column);
        memcpy(x + r * PARTS, own + r * line->step, PARTS * sizeof(REAL));
        inverse[r * PARTS + COMPLEX] = line->sign * 0, inverse[r * PARTS] = 1;
        if (!line->unit) {
            const REAL used[2] = {pivot[0], line->sign * pivot[COMPLEX]};
            sound = NAME(invert)(used, inverse + r * PARTS) && sound;
        }
    }
    if (__builtin_expect(!sound, 0)) {
        NAME(solve_by_division)(rows, a, line->row, line->column, line->sign, own, line->step, 1);
        return;
    }

    VECTOR_UNROLL
    for (int r = 0; r < rows; r++) {
        REAL *own_x = x + r * PARTS;
        const REAL *by = inverse + r * PARTS;
#if COMPLEX
        const REAL re = own_x[0], im = own_x[1];
        own_x[0] = V(fma_one)(-by[1], im, by[0] * re);
        own_x[1] = V(fma_one)(by[1], re, by[0] * im);
#else
        own_x[0] *= by[0];
#endif
        memcpy(own + r * line->step, own_x, PARTS * sizeof(REAL));

        const NAME(found_t) found = NAME(found)(own_x, line->sign);
        VECTOR_UNROLL
        for (int i = r + 1; i < rows; i++)
            NAME(subtract_one)(x + i * PARTS, a + i * line->row + r * line->column, found);
    }
}

/* The last unknowns, of which there are less than eight. */
static __attribute__((noinline)) void NAME(solve_rest)(const NAME(line_t) * line, int rows,
                                                       int64_t q, bool flat) {
    switch (rows) {
#define REST(count)                                                                                \
    case count:                                                                                    \
        if (!flat)                                                                                 \
            NAME(subtract_before)(line, count, q);                                                 \
        NAME(solve_own)(line, count, q);                                                           \
        break;
        REST(1)
        REST(2)
        REST(3)
        REST(4)
        REST(5)
        REST(6)
        REST(7)
#undef REST
    default: break;
    }
}

static void NAME(solve_one)(const ji_triangle_t *call, int64_t index) {
    REAL room[JI_TRIANGLE_MAX_ORDER * PARTS];
    const bool flat = call->a_q == 1 || call->a_q == -1;
    const int64_t order = call->order;
    const ptrdiff_t step = call->a_q == -1 ? -PARTS : PARTS;
    const NAME(line_t) line = {
        .a = call->a,
        .row = call->a_q * PARTS,
        .column = call->a_p * PARTS,
        .step = step,
        .x = step > 0 ? room : room + (order - 1) * PARTS,
        .sign = call->conjugate ? -1 : 1,
        .unit = call->unit,
    };
    REAL *b = (REAL *)call->b + index * call->b_rhs * PARTS;
    const REAL re = (REAL)call->alpha[0], im = (REAL)call->alpha[1];
    const bool scales = re != 1 || im != 0;

    for (int64_t q = 0; q < order; q++) {
        const REAL *from = b + q * call->b_q * PARTS;
        REAL *x = line.x + q * step;
        memcpy(x, from, PARTS * sizeof(REAL));
        if (scales)
            NAME(scale_one)(re, im, &x[0], &x[PARTS - 1]);
    }

    int64_t q = 0;
    for (; order - q >= BLOCK; q += BLOCK) {
        if (!flat)
            NAME(subtract_before)(&line, BLOCK, q);
        NAME(solve_own)(&line, BLOCK, q);
        if (flat)
            NAME(subtract_behind)(&line, q, order - q - BLOCK);
    }
    NAME(solve_rest)(&line, (int)(order - q), q, flat);

    for (q = 0; q < order; q++)
        memcpy(b + q * call->b_q * PARTS, line.x + q * step, PARTS * sizeof(REAL));
}
