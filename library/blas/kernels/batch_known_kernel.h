/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Part of batch_kernel.h: products of square items without gaps, of the orders that batches have
 * most, alpha 1 and beta 0 or 1: distances and counts are numbers in the instructions. A tile has
 * all rows, the last vector of them by a mask, and the tiles of an item follow each other. Without
 * masks orders are whole vectors, and with 16 registers a tile has the rows of a strip. What C
 * holds is added where a tile is done. With AVX-512, of a batch that is more than the second cache
 * holds, what comes next is asked for: the processor foresees B and C, not in time, and the next A
 * not at all. */

#define KNOWN_MOST 32
#define KNOWN_VECTORS(order) (((order) + LANES - 1) / LANES)
/* Sums, a column of A and an element of B are registers. */
#define KNOWN_COLUMNS(vectors)                                                                     \
    ((vectors) == 1                    ? (VECTOR_REGISTERS - 1) / 2 + 1                            \
     : (vectors) == 4 && !VECTOR_MASKS ? 3                                                         \
                                       : ((VECTOR_REGISTERS - 1) / (vectors)) - 1)
/* Vectors of a strip of rows. Without masks four are better than two by two up to order 16 (Zen 3:
 * dgemm of 16 1.09), not above (of 28 and 32 0.97 to 1). */
#define KNOWN_TALLEST(order) (VECTOR_MASKS || (order) <= 16 ? 4 : 3)
/* Order: below it asking for lines takes as long as waiting; without masks, nobody asks. */
#define KNOWN_LEAST_FAR (VECTOR_MASKS ? 20 : KNOWN_MOST + 1)
#define KNOWN_LINE 64 /* bytes of the first cache */
/* Steps in a row: all of a small order, and of a larger one, where there is one, a divisor. */
#define KNOWN_STEPS(order)                                                                         \
    ((order) <= 16       ? (order)                                                                 \
     : (order) % 10 == 0 ? 10                                                                      \
     : (order) % 9 == 0  ? 9                                                                       \
     : (order) % 8 == 0  ? 8                                                                       \
     : (order) % 7 == 0  ? 7                                                                       \
     : (order) % 13 == 0 ? 13                                                                      \
     : (order) % 11 == 0 ? 11                                                                      \
     : (order) % 5 == 0  ? 5                                                                       \
                         : 4)
/* Whether a sum of products loads its element of B itself: one instruction less for each column,
 * and loads more, of which a processor does as many as products. */
#define KNOWN_LOADS(vectors, j)                                                                    \
    (VECTOR_MASKS && ((vectors) == 1 || (j) % ((vectors) == 2 ? 2 : 4) == 1))

/* A sum's next product, in the sum's own register; by an element that is a part of the instruction,
 * which compilers would load once for several. */
#if !VECTOR_MASKS
#define GAIN(sum, a, b) V(gain)(&(sum), a, b)
#define GAIN_BY(sum, a, p) V(gain)(&(sum), a, V(splat)(*(p)))
#elif SINGLE
#define GAIN(sum, a, b) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define GAIN_BY(sum, a, p)                                                                         \
    __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(a), "m"(*(p)))
#define ADD "vaddps"
#else
#define GAIN(sum, a, b) __asm__("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define GAIN_BY(sum, a, p) __asm__("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(sum) : "v"(a), "m"(*(p)))
#define ADD "vaddpd"
#endif

/* One step of a tile that has fewer columns than vectors: a vector of A after the other. */
VECTOR_INLINE void NAME(known_tall_step)(int order, int vectors, int columns, const char *a,
                                         const char *b, VECTOR *acc) {
    VECTOR factor[KNOWN_VECTORS(KNOWN_MOST)];
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++)
        factor[j] = V(splat)(*(const REAL *)(b + j * order * ELEMENT));

    VECTOR_UNROLL
    for (int v = 0; v < vectors; v++) {
        const VECTOR column = V(load)((const REAL *)(a + v * VECTOR_BYTES));
        VECTOR_UNROLL
        for (int j = 0; j < columns; j++)
            GAIN(acc[j * vectors + v], column, factor[j]);
    }
}

/* One step, of so many rows. */
VECTOR_INLINE void NAME(known_step)(int order, int rows, int columns, PART part, const char *a,
                                    const char *b, VECTOR *acc) {
    const int vectors = KNOWN_VECTORS(rows);
    if (!VECTOR_MASKS && columns < vectors) {
        NAME(known_tall_step)(order, vectors, columns, a, b, acc);
        return;
    }

    VECTOR column[KNOWN_VECTORS(KNOWN_MOST)];
    VECTOR_UNROLL
    for (int v = 0; v < vectors; v++) {
        const REAL *const from = (const REAL *)(a + v * VECTOR_BYTES);
        column[v] = (v + 1) * LANES <= rows ? V(load)(from) : V(load_part)(from, part);
    }

    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        const REAL *const element = (const REAL *)(b + j * order * ELEMENT);
        const VECTOR factor = V(splat)(*element);
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            if (KNOWN_LOADS(vectors, j))
                GAIN_BY(acc[j * vectors + v], column[v], element);
            else
                GAIN(acc[j * vectors + v], column[v], factor);
    }
}

/* A line of the next item's A, at the `step`-th of some steps one, and for each column of the tile
 * one of it in C and of the next tile in B. */
VECTOR_INLINE void NAME(known_ask)(int step, int columns, int64_t next, const char *ahead,
                                   const char *b, const char *c) {
    __builtin_prefetch(ahead + step * KNOWN_LINE);
    if (step < columns) {
        __builtin_prefetch(b + (columns + step) * next);
        __builtin_prefetch(c + step * next, 1);
    }
}

/* So many steps. `ahead`: where the next item's A is asked for; NULL: nothing is. */
VECTOR_INLINE void NAME(known_steps)(int order, int rows, int columns, int steps, PART part,
                                     const char **a, const char **b, const char *c,
                                     const char **ahead, VECTOR *acc) {
    const int64_t next = order * ELEMENT;
    VECTOR_UNROLL
    for (int step = 0; step < steps; step++) {
        if (ahead != NULL)
            NAME(known_ask)(step, columns, next, *ahead, *b, c);
        NAME(known_step)(order, rows, columns, part, *a + step * next, *b + step * ELEMENT, acc);
    }
    if (ahead != NULL) {
        *ahead += steps * KNOWN_LINE;
        VECTOR_PLAIN(*ahead);
    }
    *a += steps * next, *b += steps * ELEMENT;
    VECTOR_PLAIN(*a);
    VECTOR_PLAIN(*b);
}

/* A vector at any address. */
typedef VECTOR NAME(anywhere_t) __attribute__((aligned(sizeof(REAL)), may_alias));

/* To each sum what C holds. */
VECTOR_INLINE void NAME(known_add)(int order, int rows, int columns, PART part, const char *c,
                                   VECTOR *acc) {
    const int vectors = KNOWN_VECTORS(rows);
    VECTOR_PLAIN(c);
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++) {
            VECTOR *const sum = &acc[j * vectors + v];
            const NAME(anywhere_t) *const old =
                (const NAME(anywhere_t) *)(c + j * order * ELEMENT + v * VECTOR_BYTES);
#if VECTOR_MASKS
            if ((v + 1) * LANES <= rows)
                __asm__(ADD " %1, %0, %0" : "+v"(*sum) : "m"(*old));
            else /* of others nothing is read */
                __asm__(ADD " %1, %0, %0%{%2%}" : "+v"(*sum) : "m"(*old), "Yk"(part));
#else
            (void)part;
            *sum += *old;
#endif
        }
    }
}

VECTOR_INLINE void NAME(known_tile)(int order, int rows, int columns, bool adds, PART part,
                                    const char *a, const char *b, char *c, const char **ahead) {
    const int vectors = KNOWN_VECTORS(rows), steps = KNOWN_STEPS(order);
    const int64_t next = order * ELEMENT;
    VECTOR acc[PLAIN_SUMS];
    VECTOR_UNROLL
    for (int s = 0; s < vectors * columns; s++) {
        acc[s] = V(splat)(0);
        CLEAR(acc[s]);
    }

    const char *ask = c;
    for (int some = order / steps; some > 0; some--, ask += steps * ELEMENT)
        NAME(known_steps)(order, rows, columns, steps, part, &a, &b, ask, ahead, acc);
    NAME(known_steps)(order, rows, columns, order % steps, part, &a, &b, ask, ahead, acc);

    VECTOR_PLAIN(adds); /* else GCC makes two loops over all items, of more registers than it has */
    if (adds)
        NAME(known_add)(order, rows, columns, part, c, acc);

    VECTOR_PLAIN(c); /* not an address for each vector, kept for both */
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++) {
            REAL *const to = (REAL *)(c + j * next + v * VECTOR_BYTES);
            if ((v + 1) * LANES <= rows)
                V(store)(to, acc[j * vectors + v]);
            else
                V(store_part)(to, acc[j * vectors + v], part);
        }
    }
}

/* `count` tiles side by side. */
VECTOR_INLINE void NAME(known_tiles)(int order, int rows, int columns, int count, bool adds,
                                     PART part, const char *a, const char **b, char **c,
                                     const char **ahead) {
    for (; count > 0; count--) {
        NAME(known_tile)(order, rows, columns, adds, part, a, *b, *c, ahead);
        *b += columns * order * ELEMENT, *c += columns * order * ELEMENT;
        VECTOR_PLAIN(*b);
        VECTOR_PLAIN(*c);
    }
}

/* Rows of an item by all columns: some tiles of `wide` columns, and some of one less. */
VECTOR_INLINE void NAME(known_rows)(int order, int rows, bool adds, PART part, const char *a,
                                    const char *b, char *c, const char **ahead) {
    const int most = KNOWN_COLUMNS(KNOWN_VECTORS(rows)), tiles = (order + most - 1) / most,
              wide = (order + tiles - 1) / tiles, narrow = tiles * wide - order;
    NAME(known_tiles)(order, rows, wide, tiles - narrow, adds, part, a, &b, &c, ahead);
    NAME(known_tiles)(order, rows, wide - 1, narrow, adds, part, a, &b, &c, ahead);
}

/* `count` strips of rows, one below the other. */
VECTOR_INLINE void NAME(known_strips)(int order, int rows, int count, bool adds, PART part,
                                      const char **a, const char *b, char **c, const char **ahead) {
    for (; count > 0; count--) {
        NAME(known_rows)(order, rows, adds, part, *a, b, *c, ahead);
        *a += rows * ELEMENT, *c += rows * ELEMENT;
    }
}

/* All items: some strips of `tall` vectors, and some of one less; or one of all rows. */
VECTOR_INLINE void NAME(known)(const ji_product_direct_t *call, int order, bool is_far) {
    const int vectors = KNOWN_VECTORS(order),
              strips = (vectors + KNOWN_TALLEST(order) - 1) / KNOWN_TALLEST(order),
              tall = (vectors + strips - 1) / strips, low = strips * tall - vectors,
              rows = strips == 1 ? order : tall * LANES;
    const int64_t a_stride = call->a.stride, b_stride = call->b.stride, c_stride = call->c.stride;
    const PART part = V(first)(order % LANES);
    const bool adds = call->scalars.beta[0] != 0;
    const char *a = call->a.at, *b = call->b.at;
    char *c = call->c.at;

    for (int64_t left = call->count; left > 0; left--) {
        const char *from = a, *next = a + a_stride, **const ahead = is_far ? &next : NULL;
        char *to = c;
        NAME(known_strips)(order, rows, strips - low, adds, part, &from, b, &to, ahead);
        NAME(known_strips)(order, rows - LANES, low, adds, part, &from, b, &to, ahead);
        a += a_stride, b += b_stride, c += c_stride;
        VECTOR_PLAIN(a); /* not the address of the next item, less its distance */
    }
}

#define KNOWN_NAME(order) NAME(known_##order)
#define KNOWN(order)                                                                               \
    static __attribute__((noinline)) void KNOWN_NAME(order)(const ji_product_direct_t *call) {     \
        if ((order) >= KNOWN_LEAST_FAR && call->is_far)                                            \
            NAME(known)(call, order, true);                                                        \
        else                                                                                       \
            NAME(known)(call, order, false);                                                       \
    }
#if !VECTOR_MASKS && SINGLE
#define KNOWN_ORDERS(X) X(8) X(16) X(24) X(32)
#elif !VECTOR_MASKS
#define KNOWN_ORDERS(X) X(8) X(12) X(16) X(20) X(24) X(28) X(32)
#else
#define KNOWN_SMALL(X)                                                                             \
    X(1) X(2) X(3) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
#define KNOWN_LARGE(X)                                                                             \
    X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)
#if SINGLE /* columns of four floats are done four at once, elsewhere */
#define KNOWN_ORDERS(X) KNOWN_SMALL(X) KNOWN_LARGE(X)
#else
#define KNOWN_ORDERS(X) KNOWN_SMALL(X) X(4) KNOWN_LARGE(X)
#endif
#endif

KNOWN_ORDERS(KNOWN)

#define KNOWN_ENTRY(order) [order] = KNOWN_NAME(order),
static void (*const NAME(known_orders)[KNOWN_MOST + 1])(const ji_product_direct_t *) = {
    KNOWN_ORDERS(KNOWN_ENTRY)};

static bool NAME(product_known)(const ji_product_direct_t *call) {
    const int64_t order = call->m;
    const double *const alpha = call->scalars.alpha, *const beta = call->scalars.beta;
    if (order > KNOWN_MOST || NAME(known_orders)[order] == NULL || call->n != order ||
        call->depth != order || call->a_step != order || call->b_column_step != order ||
        call->ldc != order || call->b_row_step != 1 || call->by_pointers || *alpha != 1 ||
        (*beta != 0 && *beta != 1))
        return false;

    NAME(known_orders)[order](call);
    return true;
}

#undef KNOWN_MOST
#undef KNOWN_VECTORS
#undef KNOWN_COLUMNS
#undef KNOWN_TALLEST
#undef KNOWN_LEAST_FAR
#undef KNOWN_LINE
#undef KNOWN_STEPS
#undef KNOWN_LOADS
#undef GAIN
#undef GAIN_BY
#undef ADD
#undef KNOWN_NAME
#undef KNOWN
#undef KNOWN_SMALL
#undef KNOWN_LARGE
#undef KNOWN_ORDERS
#undef KNOWN_ENTRY
