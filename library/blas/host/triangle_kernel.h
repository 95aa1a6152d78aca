/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The body of triangle_kernels.c, included once for each element type and instruction set (no
 * include guard). triangle_kernels.c explains the layout.
 *
 *   KERNEL_REAL           float or double
 *   KERNEL_COMPLEX        0 or 1
 *   KERNEL_VECTOR_BYTES   width of a register
 *   KERNEL_ROWS           rows of accumulators, two vectors each, that the registers hold: 8 or 4
 *   KERNEL_TARGET         the instruction set, as a function attribute
 *   KERNEL_NAME(name)     gives the functions their own names */

#define REAL KERNEL_REAL
#define VECTOR KERNEL_NAME(vector)
#define OCTET KERNEL_NAME(octet)
#define QUARTET KERNEL_NAME(quartet)
#define SPREAD KERNEL_NAME(spread)
#define PARTS (1 + KERNEL_COMPLEX)                         /* reals in an element */
#define ROW (TRIANGLE_ROW_BYTES / (ptrdiff_t)sizeof(REAL)) /* reals in a row of the strip */
#define LANES (ROW / PARTS)                                /* right-hand sides in a strip */
#define VECTORS (TRIANGLE_ROW_BYTES / KERNEL_VECTOR_BYTES) /* vectors in a row */
#define HALF (VECTORS / 2)
#define BLOCK JI_TRIANGLE_BLOCK
/* Row 0, column 7: above the diagonal. */
#define BLOCK_MARK(block) ((block) + (BLOCK - 1) * BLOCK * PARTS)

typedef REAL VECTOR __attribute__((vector_size(KERNEL_VECTOR_BYTES), may_alias));
typedef REAL OCTET __attribute__((vector_size(8 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));
typedef REAL QUARTET
    __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

#if KERNEL_COMPLEX
/* 1 / a by Smith's algorithm. */
static inline KERNEL_TARGET void KERNEL_NAME(reciprocal)(const REAL *a, REAL *inverse) {
    REAL re = a[0], im = a[1];

    if (TRIANGLE_ABS(re) >= TRIANGLE_ABS(im)) {
        REAL ratio = im / re, scale = 1 / (re + im * ratio);
        inverse[0] = scale, inverse[1] = -ratio * scale;
    } else {
        REAL ratio = re / im, scale = 1 / (im + re * ratio);
        inverse[0] = ratio * scale, inverse[1] = -scale;
    }
}

/* x / a where 1 / a is no normal number: a is brought near 1 first, by a power of two that comes
 * out again. */
static inline KERNEL_TARGET void KERNEL_NAME(divide)(const REAL *a, REAL *re, REAL *im) {
    REAL largest = TRIANGLE_ABS(a[0]) > TRIANGLE_ABS(a[1]) ? a[0] : a[1], inverse[2];
    int exponent = isfinite(largest) && largest != 0 ? TRIANGLE_EXPONENT(largest) : 0;

    REAL near[2] = {TRIANGLE_SCALE(a[0], -exponent), TRIANGLE_SCALE(a[1], -exponent)};
    KERNEL_NAME(reciprocal)(near, inverse);

    REAL x = inverse[0] * *re - inverse[1] * *im;
    *im = TRIANGLE_SCALE(inverse[0] * *im + inverse[1] * *re, -exponent);
    *re = TRIANGLE_SCALE(x, -exponent);
}
#endif

/* Makes an 8 x 8 diagonal block, stored by columns, ready for solve(): reciprocals on its diagonal.
 * Multiplying by one is as accurate as dividing if it is a normal number. If one is not (of a zero,
 * a subnormal, a huge or an infinite pivot), the block is left as it is and marked, in the triangle
 * that is not used. */
static inline KERNEL_TARGET void KERNEL_NAME(prepare)(REAL *block, bool unit) {
    REAL inverse[BLOCK * PARTS];

    if (unit)
        return;

    for (int r = 0; r < BLOCK; r++) {
        const REAL *pivot = block + r * (BLOCK + 1) * PARTS;
        REAL *own = inverse + r * PARTS;
#if KERNEL_COMPLEX
        KERNEL_NAME(reciprocal)(pivot, own);
        REAL largest = TRIANGLE_ABS(own[0]) > TRIANGLE_ABS(own[1]) ? own[0] : own[1];
        bool sound = isnormal(largest); /* then the smaller part is neither NaN nor infinite */
#else
        own[0] = 1 / pivot[0];
        bool sound = isnormal(own[0]);
#endif

        if (!sound) {
            *BLOCK_MARK(block) = 1;
            return;
        }
    }

    for (int r = 0; r < BLOCK; r++)
        for (int part = 0; part < PARTS; part++)
            block[r * (BLOCK + 1) * PARTS + part] = inverse[r * PARTS + part];
}

/* Four vectors of four, `stride` reals apart, transposed and stored at to, to + one, to + two and
 * to + two + one. */
static inline KERNEL_TARGET void SPREAD(REAL *to, ptrdiff_t one, ptrdiff_t two, const REAL *from,
                                        ptrdiff_t stride) {
    QUARTET a = *(const QUARTET *)from, b = *(const QUARTET *)(from + stride);
    QUARTET c = *(const QUARTET *)(from + 2 * stride), d = *(const QUARTET *)(from + 3 * stride);

    QUARTET ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6),
            ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    QUARTET cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6),
            cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);

    *(QUARTET *)to = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
    *(QUARTET *)(to + one) = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
    *(QUARTET *)(to + two) = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
    *(QUARTET *)(to + two + one) = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
}

/* The reverse: four vectors of four at from, from + one, from + two and from + two + one, stored
 * `stride` reals apart. */
static inline KERNEL_TARGET void KERNEL_NAME(gather)(REAL *to, ptrdiff_t stride, const REAL *from,
                                                     ptrdiff_t one, ptrdiff_t two) {
    QUARTET rows[4] = {*(const QUARTET *)from, *(const QUARTET *)(from + one),
                       *(const QUARTET *)(from + two), *(const QUARTET *)(from + two + one)};
    SPREAD(to, stride, 2 * stride, (const REAL *)rows, 4);
}

/* Makes M ready: for each block of 8 rows, first what is left of the diagonal block, column
 * after column, then the diagonal block as solve() takes it. A last block with fewer rows is filled
 * up with rows of the unit matrix. */
static KERNEL_TARGET void KERNEL_NAME(pack)(const ji_triangle_t *call) {
    const REAL *a = call->a;
    REAL *out = call->packed;
    ptrdiff_t rs = call->a_q * PARTS, cs = call->a_p * PARTS;

    for (int64_t i = 0; i < call->order; i += BLOCK, a += BLOCK * rs) {
        int rows = call->order - i < BLOCK ? (int)(call->order - i) : BLOCK;
        REAL *start = out;

        if (!KERNEL_COMPLEX && rows == BLOCK && rs == 1) {
            for (int64_t p = 0; p < i; p++, out += BLOCK)
                *(OCTET *)out = *(const OCTET *)(a + p * cs);
        } else if (!KERNEL_COMPLEX && rows == BLOCK && (cs == 1 || cs == -1)) {
            /* Four columns at once; with cs = -1 the lowest address belongs to the last of them. */
            for (int64_t p = 0; p < i; p += 4, out += 4 * BLOCK)
                for (int r = 0; r < BLOCK; r += 4) {
                    SPREAD(out + r + (cs > 0 ? 0 : 3 * BLOCK), cs * BLOCK, cs * 2 * BLOCK,
                           a + r * rs + (cs > 0 ? p : -p - 3), rs);
                }
        } else {
            for (int64_t p = 0; p < i; p++, out += BLOCK * PARTS)
                for (int r = 0; r < BLOCK; r++)
                    for (int part = 0; part < PARTS; part++)
                        out[r * PARTS + part] = r < rows ? a[r * rs + p * cs + part] : 0;
        }

        for (int c = 0; c < BLOCK; c++)
            for (int r = 0; r < BLOCK; r++)
                for (int part = 0; part < PARTS; part++) {
                    bool stored = r < rows && (r > c || (r == c && !call->unit));
                    out[(c * BLOCK + r) * PARTS + part] =
                        stored ? a[r * rs + (i + c) * cs + part] : r == c && part == 0;
                }

        if (KERNEL_COMPLEX && call->conjugate)
            for (REAL *imaginary = start + 1; imaginary < out + BLOCK * BLOCK * 2; imaginary += 2)
                *imaginary = -*imaginary;

        KERNEL_NAME(prepare)(out, call->unit);
        out += BLOCK * BLOCK * PARTS;
    }
}

/* Substitution in a diagonal block whose pivots are divided by. Rare, so a lane at a time. */
static KERNEL_TARGET __attribute__((noinline, cold)) void
KERNEL_NAME(solve_by_division)(const REAL *block, REAL *rows) {
    for (int r = 0; r < BLOCK; r++)
        for (int lane = 0; lane < LANES; lane++) {
            const REAL *column = block + r * BLOCK * PARTS;
            REAL *x = rows + r * ROW + lane;
#if KERNEL_COMPLEX
            KERNEL_NAME(divide)(column + 2 * r, x, x + LANES);
            for (int i = r + 1; i < BLOCK; i++) {
                REAL *below = rows + i * ROW + lane;
                below[0] -= column[2 * i] * x[0] - column[2 * i + 1] * x[LANES];
                below[LANES] -= column[2 * i] * x[LANES] + column[2 * i + 1] * x[0];
            }
#else
            *x /= column[r];
            for (int i = r + 1; i < BLOCK; i++)
                rows[i * ROW + lane] -= column[i] * *x;
#endif
        }
}

/* Substitution in a diagonal block. The rows wait for each other, but the lanes do not, and what
 * the processor finds to do meanwhile are the sums of the next block. */
static inline KERNEL_TARGET void KERNEL_NAME(solve)(const REAL *restrict block,
                                                    VECTOR *restrict rows) {
    if (__builtin_expect(*BLOCK_MARK(block) != 0, 0)) {
        KERNEL_NAME(solve_by_division)(block, (REAL *)rows);
        return;
    }
#if KERNEL_COMPLEX
    for (int v = 0; v < HALF; v++) {
        VECTOR re[BLOCK], im[BLOCK];
        TRIANGLE_UNROLL
        for (int r = 0; r < BLOCK; r++)
            re[r] = rows[r * VECTORS + v], im[r] = rows[r * VECTORS + v + HALF];
        TRIANGLE_UNROLL
        for (int r = 0; r < BLOCK; r++) {
            const REAL *column = block + r * BLOCK * 2;
            VECTOR x_re = column[2 * r] * re[r] - column[2 * r + 1] * im[r];
            VECTOR x_im = column[2 * r] * im[r] + column[2 * r + 1] * re[r];
            rows[r * VECTORS + v] = x_re, rows[r * VECTORS + v + HALF] = x_im;
            TRIANGLE_UNROLL
            for (int i = r + 1; i < BLOCK; i++) {
                re[i] -= column[2 * i] * x_re;
                im[i] -= column[2 * i] * x_im;
                re[i] += column[2 * i + 1] * x_im;
                im[i] -= column[2 * i + 1] * x_re;
            }
        }
    }
#else
    for (int v = 0; v < VECTORS; v++) {
        VECTOR x[BLOCK];
        TRIANGLE_UNROLL
        for (int r = 0; r < BLOCK; r++)
            x[r] = rows[r * VECTORS + v];
        TRIANGLE_UNROLL
        for (int r = 0; r < BLOCK; r++) {
            const REAL *column = block + r * BLOCK;
            x[r] *= column[r];
            rows[r * VECTORS + v] = x[r];
            TRIANGLE_UNROLL
            for (int i = r + 1; i < BLOCK; i++)
                x[i] -= column[i] * x[r];
        }
    }
#endif
}

/* Solves for the right-hand sides in one strip. */
static KERNEL_TARGET void KERNEL_NAME(sweep)(int64_t blocks, const REAL *restrict packed,
                                             VECTOR *restrict strip) {
    for (int64_t block = 0; block < blocks; block++) {
        VECTOR *rows = strip + block * BLOCK * VECTORS;
        int64_t above = block * BLOCK;

        for (int r0 = 0; r0 < BLOCK; r0 += KERNEL_ROWS)
            for (int v = 0; v < HALF; v++) {
                /* Two vectors: of complex elements the real and the imaginary part, else two side
                 * by side. */
                int v0 = KERNEL_COMPLEX ? v : 2 * v, v1 = KERNEL_COMPLEX ? v + HALF : 2 * v + 1;

                VECTOR first[KERNEL_ROWS], second[KERNEL_ROWS];
                TRIANGLE_UNROLL
                for (int r = 0; r < KERNEL_ROWS; r++) {
                    first[r] = rows[(r0 + r) * VECTORS + v0];
                    second[r] = rows[(r0 + r) * VECTORS + v1];
                }

                const REAL *a = packed + r0 * PARTS;
                const VECTOR *x = strip;
                for (int64_t p = 0; p < above; p++, a += BLOCK * PARTS, x += VECTORS) {
                    VECTOR x0 = x[v0], x1 = x[v1];

                    TRIANGLE_UNROLL
                    for (int r = 0; r < KERNEL_ROWS; r++) {
                        first[r] -= a[r * PARTS] * x0;
                        second[r] -= a[r * PARTS] * x1;
#if KERNEL_COMPLEX
                        first[r] += a[2 * r + 1] * x1;
                        second[r] -= a[2 * r + 1] * x0;
#endif
                    }
                }

                TRIANGLE_UNROLL
                for (int r = 0; r < KERNEL_ROWS; r++) {
                    rows[(r0 + r) * VECTORS + v0] = first[r];
                    rows[(r0 + r) * VECTORS + v1] = second[r];
                }
            }

        const REAL *diagonal = packed + above * BLOCK * PARTS;
        KERNEL_NAME(solve)(diagonal, rows);
        packed = diagonal + BLOCK * BLOCK * PARTS;
    }
}

/* Moves right-hand sides [first, first + lanes) of B into the strip, or back. Unknown q is row q of
 * the strip; the lanes are the right-hand sides, for complex elements all real parts before all
 * imaginary ones. */
static inline KERNEL_TARGET void KERNEL_NAME(move)(const ji_triangle_t *call, int64_t first,
                                                   ptrdiff_t lanes, REAL *strip, bool load) {
    ptrdiff_t q_stride = call->b_q * PARTS, rhs_stride = call->b_rhs * PARTS, order = call->order,
              lane = 0;

    REAL *b = (REAL *)call->b + first * rhs_stride;
#if !KERNEL_COMPLEX
    if (rhs_stride == 1 && lanes == LANES) {
        for (ptrdiff_t q = 0; q < order; q++) {
            if (load)
                memcpy(strip + q * ROW, b + q * q_stride, TRIANGLE_ROW_BYTES);
            else
                memcpy(b + q * q_stride, strip + q * ROW, TRIANGLE_ROW_BYTES);
        }
        return;
    }
#endif

    /* Unknowns side by side: tiles of 4 lanes x 4 reals. Reversed, the lowest address holds the
     * last unknown. */
    if (q_stride == PARTS || q_stride == -PARTS) {
        ptrdiff_t step = q_stride > 0 ? ROW : -ROW, in_tile = 4 / PARTS;
        ptrdiff_t one = KERNEL_COMPLEX ? LANES : step, two = KERNEL_COMPLEX ? step : 2 * step;

        REAL *low = q_stride > 0 ? b : b + (order - 1) * q_stride;
        REAL *low_row = q_stride > 0 ? strip : strip + (order - 1) * ROW;

        for (; lane + 4 <= lanes; lane += 4) {
            REAL *column = low + lane * rhs_stride, *row = low_row + lane;

            ptrdiff_t q = 0;
            for (; q + in_tile <= order; q += in_tile, column += 4, row += in_tile * step) {
                if (load)
                    SPREAD(row, one, two, column, rhs_stride);
                else
                    KERNEL_NAME(gather)(column, rhs_stride, row, one, two);
            }

            for (; q < order; q++, column += PARTS, row += step)
                for (ptrdiff_t l = 0; l < 4; l++)
                    for (int part = 0; part < PARTS; part++) {
                        if (load)
                            row[l + part * LANES] = column[l * rhs_stride + part];
                        else
                            column[l * rhs_stride + part] = row[l + part * LANES];
                    }
        }
    }

    for (ptrdiff_t q = 0; q < order; q++)
        for (ptrdiff_t l = lane; l < lanes; l++)
            for (int part = 0; part < PARTS; part++) {
                REAL *element = b + q * q_stride + l * rhs_stride + part;
                REAL *in_strip = strip + q * ROW + l + part * LANES;
                if (load)
                    *in_strip = *element;
                else
                    *element = *in_strip;
            }
}

/* Right-hand sides from `first` on, as many as a strip holds: into the strip, scaled, solved, and
 * back. */
static KERNEL_TARGET void KERNEL_NAME(apply)(const ji_triangle_t *call, int64_t first) {
    _Alignas(64) REAL strip[JI_TRIANGLE_MAX_ORDER * ROW];
    const REAL *alpha = ji_scalar_data(&call->alpha);
    ptrdiff_t order = call->order, blocks = (order + BLOCK - 1) / BLOCK;
    ptrdiff_t lanes = call->count - first < LANES ? (ptrdiff_t)(call->count - first) : LANES;

    if (lanes < LANES)
        memset(strip, 0, (size_t)order * TRIANGLE_ROW_BYTES);
    memset(strip + order * ROW, 0, (size_t)(blocks * BLOCK - order) * TRIANGLE_ROW_BYTES);

    KERNEL_NAME(move)(call, first, lanes, strip, true);
#if KERNEL_COMPLEX
    if (alpha[0] != 1 || alpha[1] != 0)
        for (ptrdiff_t q = 0; q < order; q++)
            for (ptrdiff_t l = 0; l < LANES; l++) {
                REAL re = strip[q * ROW + l], im = strip[q * ROW + LANES + l];
                strip[q * ROW + l] = alpha[0] * re - alpha[1] * im;
                strip[q * ROW + LANES + l] = alpha[0] * im + alpha[1] * re;
            }
#else
    if (alpha[0] != 1)
        for (ptrdiff_t i = 0; i < order * ROW; i++)
            strip[i] *= alpha[0];
#endif

    KERNEL_NAME(sweep)(blocks, call->packed, (VECTOR *)strip);
    KERNEL_NAME(move)(call, first, lanes, strip, false);
}

#undef REAL
#undef VECTOR
#undef OCTET
#undef QUARTET
#undef SPREAD
#undef PARTS
#undef ROW
#undef LANES
#undef VECTORS
#undef HALF
#undef BLOCK
#undef BLOCK_MARK
#undef KERNEL_REAL
#undef KERNEL_COMPLEX
#undef KERNEL_NAME
