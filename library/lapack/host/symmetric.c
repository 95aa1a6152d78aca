/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Symmetric and Hermitian indefinite matrices on the host: A = L D L^T or L D L^H with
 * interchanges, D of blocks of one or two rows (Bunch and Kaufman 1977, partial pivoting), as
 * LAPACK stores it. symmetric.h says why an upper triangle is a lower one here.
 *
 *     +-----+-----------+      L's columns from the panel's first on are done
 *     |  D  |           |      column k, when its turn comes:      A(:, k) -= L (D L(k, :)^H)
 *     |  ---+---        |      and the one where it is largest, if k's diagonal is too small
 *     |  #  | k|        |      A22 -= L (L D)^H, when the panel is done: products
 *     |  #  |  |  A22   |
 *
 * What a column loses is found from L and D alone, so nothing but the column itself is needed
 * beside A. Each element is one sum in the order of the panel's columns, so a column may be
 * computed in parts, and again when it is known that it is the one: there is room for two columns
 * in the workspace or, where they are short, on the stack; without it a strip after the other is
 * looked at, and the column is made in A after the interchange. Where there is more room L's
 * columns are made apart from A, where they lie well in the caches, whatever A's leading dimension.
 * The bits are the same.
 *
 * The panels' width and the blocks of A22 are constants, so are the bits' too. */

#include <complex.h>
#include <math.h>

#include "blas/kernels/level1.h"
#include "blas/kernels/matvec.h"
#include "lapack/host/symmetric.h"

#define LDL_ALPHA 0.6403882032022076 /* (1 + sqrt(17)) / 8: L's growth is least */

/* D of a panel, as a matrix with three diagonals, whose elements lie as L's columns do: `above`
 * (q, q + 1), `below` (q + 1, q), both 0 between blocks. */
typedef struct ldl_diagonal {
    ji_number_t own[SYMMETRIC_BLOCK], above[SYMMETRIC_BLOCK + 1], below[SYMMETRIC_BLOCK + 1];
} ldl_diagonal_t;

typedef struct ldl {
    symmetric_t s;
    int64_t from; /* the panel's first column */
    /* Where the panel's columns lie while they are made: in A, or in a room of their own, n rows of
     * SYMMETRIC_BLOCK columns. */
    void *room;
    int64_t ld;
    void *columns[2]; /* k and the other one, of n elements as they lie; NULL: there is no room */
    ldl_diagonal_t d;
    _Alignas(64) char stack[2 * SYMMETRIC_VECTOR_BYTES], strip[SYMMETRIC_STRIP_BYTES];
} ldl_t;

/* ---- The blocks of D ---- */

/* Where in the panel's columns, as they lie, column j is: those [from, k) begin at this of k - 1 or
 * of `from`. */
static int ldl_slot(const ldl_t *l, int64_t j) {
    return (int)(l->s.lower ? j - l->from : SYMMETRIC_BLOCK - 1 - (j - l->from));
}
static int ldl_first_slot(const ldl_t *l, int64_t k) {
    return l->s.lower ? 0 : SYMMETRIC_BLOCK - (int)(k - l->from);
}

/* Rows [row, row_end) of the panel's columns [column, column_end). */
static void *ldl_part(const ldl_t *l, int64_t row, int64_t row_end, int64_t column,
                      int64_t column_end) {
    const symmetric_t *s = &l->s;
    if (l->room == NULL)
        return symmetric_part(s, row, row_end, column, column_end);
    return ji_at(s->type, l->room, symmetric_begin(s, row, row_end),
                 ldl_slot(l, s->lower ? column : column_end - 1), l->ld);
}
static void *ldl_at(const ldl_t *l, int64_t i, int64_t j) {
    return ldl_part(l, i, i + 1, j, j + 1);
}

static void ldl_keep_diagonal(ldl_t *l, int64_t k, int64_t count) {
    const symmetric_t *s = &l->s;
    for (int64_t j = k; j < k + count; j++)
        l->d.own[ldl_slot(l, j)] = ji_number_load(s->type, ldl_at(l, j, j));
    if (count == 1)
        return;

    /* Pairs lie the other way round in an upper triangle. */
    const ji_number_t below = ji_number_load(s->type, ldl_at(l, k + 1, k));
    ji_number_t above = below;
    if (s->hermitian)
        above.im = -above.im;
    const int slot = s->lower ? ldl_slot(l, k) : ldl_slot(l, k + 1);
    l->d.below[slot + 1] = s->lower ? below : above;
    l->d.above[slot + 1] = s->lower ? above : below;
}

/* Clang has no CMPLX with the C library's header. */
static double complex symmetric_complex(double re, double im) {
    double complex z;
    __real__ z = re, __imag__ z = im;
    return z;
}

symmetric_inverse_t ji_symmetric_invert(jdatatype_t type, bool hermitian, const void *own,
                                        const void *beside, const void *other) {
    const bool is_pair = other != NULL;
    symmetric_inverse_t inverse = {.is_pair = is_pair};
    if (!is_pair) {
        ji_number_t only = ji_number_load(type, own);
        only.im = hermitian ? 0 : only.im;
        const ji_value_t pivot = symmetric_value(type, only);
        inverse.divide = !ji_invert(type, &pivot, &inverse.own[0]);
        if (inverse.divide)
            inverse.own[0] = pivot;
        return inverse;
    }

    /* By the element beside the diagonal, which is the largest: nothing overflows. */
    const ji_number_t a = ji_number_load(type, own), b = ji_number_load(type, other),
                      c = ji_number_load(type, beside);
    const double complex x = symmetric_complex(a.re, hermitian ? 0 : a.im),
                         y = symmetric_complex(b.re, hermitian ? 0 : b.im),
                         z = symmetric_complex(c.re, c.im);
    if (hermitian) {
        const double size = cabs(z), p = creal(x) / size, q = creal(y) / size,
                     t = 1 / (p * q - 1) / size;
        const double complex turn = z / size;
        inverse.own[0] = symmetric_value(type, (ji_number_t){t * q, 0});
        inverse.own[1] = symmetric_value(type, (ji_number_t){t * p, 0});
        inverse.beside[0] =
            symmetric_value(type, (ji_number_t){-t * creal(turn), -t * cimag(turn)});
        inverse.beside[1] = symmetric_value(type, (ji_number_t){-t * creal(turn), t * cimag(turn)});
    } else if (ji_is_complex(type)) {
        const double complex p = x / z, q = y / z, t = 1 / (p * q - 1) / z, first = t * q,
                             second = t * p;
        inverse.own[0] = symmetric_value(type, (ji_number_t){creal(first), cimag(first)});
        inverse.own[1] = symmetric_value(type, (ji_number_t){creal(second), cimag(second)});
        inverse.beside[0] = symmetric_value(type, (ji_number_t){-creal(t), -cimag(t)});
        inverse.beside[1] = inverse.beside[0];
    } else {
        const double p = a.re / c.re, q = b.re / c.re, t = 1 / (p * q - 1) / c.re;
        inverse.own[0] = symmetric_value(type, (ji_number_t){t * q, 0});
        inverse.own[1] = symmetric_value(type, (ji_number_t){t * p, 0});
        inverse.beside[0] = symmetric_value(type, (ji_number_t){-t, 0});
        inverse.beside[1] = inverse.beside[0];
    }
    return inverse;
}

void ji_symmetric_divide(jdatatype_t type, const symmetric_inverse_t *inverse, bool left,
                         int64_t count, void *x, void *y, int64_t increment) {
    const ji_level1_t *const level1 = ji_kernels->level1[type];
    if (!inverse->is_pair) {
        if (inverse->divide)
            ji_divide_each(type, count, &inverse->own[0], x, increment);
        else
            level1->scal(count, &inverse->own[0], x, increment);
        return;
    }

    _Alignas(64) char before[SYMMETRIC_VECTOR_BYTES];
    const int64_t most = SYMMETRIC_VECTOR_BYTES / (int64_t)ji_sizeof(type);
    const ji_value_t *const to_x = &inverse->beside[left], *const to_y = &inverse->beside[!left];
    for (int64_t i = 0; i < count; i += most) {
        const int64_t some = ji_min(most, count - i);
        void *const own = ji_at(type, x, i * increment, 0, 0), *const other = ji_at(
                                                                   type, y, i * increment, 0, 0);
        level1->copy(some, own, increment, before, 1);
        level1->axpby(some, to_x, other, increment, &inverse->own[0], own, increment);
        level1->axpby(some, to_y, before, 1, &inverse->own[1], other, increment);
    }
}

/* ---- A column, when its turn comes ---- */

/* What is found of one. */
typedef struct ldl_look {
    double largest; /* |Re| + |Im| beside the diagonal; 0: there is nothing, or a NaN */
    int64_t row;
    double diagonal;
} ldl_look_t;

/* The vector -D L(row, [from, k))^H, as columns lie, of a type that is known where it is called. */
static inline __attribute__((always_inline)) void
ldl_weights_of(const ldl_t *l, jdatatype_t type, int64_t row, int64_t k, void *weights) {
    const symmetric_t *s = &l->s;
    const int count = (int)(k - l->from), first = ldl_first_slot(l, k);
    ji_number_t of_row[SYMMETRIC_BLOCK + 2];
    const char *const from = ldl_part(l, row, row + 1, l->from, k);

    of_row[0] = of_row[count + 1] = (ji_number_t){0, 0};
    for (int q = 0; q < count; q++) {
        of_row[q + 1] = ji_number_load(type, ji_at(type, from, 0, q, l->ld));
        if (s->hermitian)
            of_row[q + 1].im = -of_row[q + 1].im;
    }

    for (int q = 0; q < count; q++) {
        const ji_number_t x = of_row[q], y = of_row[q + 1], z = of_row[q + 2],
                          below = l->d.below[first + q], own = l->d.own[first + q],
                          above = l->d.above[first + q + 1];
        ji_number_t sum = {own.re * y.re + (below.re * x.re + above.re * z.re), 0};
        if (ji_is_complex(type)) {
            sum.re -= own.im * y.im + (below.im * x.im + above.im * z.im);
            sum.im = own.re * y.im + own.im * y.re +
                     (below.re * x.im + below.im * x.re + (above.re * z.im + above.im * z.re));
        }
        const ji_value_t weight = symmetric_value(type, (ji_number_t){-sum.re, -sum.im});
        memcpy(ji_at(type, weights, q, 0, 0), &weight, ji_sizeof(type));
    }
}

static void ldl_weights(const ldl_t *l, int64_t row, int64_t k, void *weights) {
    switch (l->s.type) {
    case JDATATYPE_F32: ldl_weights_of(l, JDATATYPE_F32, row, k, weights); break;
    case JDATATYPE_F64: ldl_weights_of(l, JDATATYPE_F64, row, k, weights); break;
    case JDATATYPE_F32_C: ldl_weights_of(l, JDATATYPE_F32_C, row, k, weights); break;
    default: ldl_weights_of(l, JDATATYPE_F64_C, row, k, weights);
    }
}

/* Conjugates where it is a Hermitian matrix's, whose row stands for a column. */
static void ldl_conjugate(const symmetric_t *s, int64_t count, void *x) {
    if (!s->hermitian)
        return;
    for (int64_t i = 0; i < count; i++) {
        if (s->type == JDATATYPE_F32_C)
            ((float *)x)[2 * i + 1] = -((float *)x)[2 * i + 1];
        else
            ((double *)x)[2 * i + 1] = -((double *)x)[2 * i + 1];
    }
}

static void ldl_clear_imaginary(const symmetric_t *s, void *element) {
    if (s->hermitian && s->type == JDATATYPE_F32_C)
        ((float *)element)[1] = 0;
    else if (s->hermitian)
        ((double *)element)[1] = 0;
}

/* Rows [row, end) of column c, as A has them: of those above the diagonal there is a row. */
static void ldl_gather(const symmetric_t *s, int64_t c, int64_t row, int64_t end, void *to) {
    const ji_level1_t *const level1 = ji_kernels->level1[s->type];
    const int64_t begin = symmetric_begin(s, row, end), middle = ji_min(ji_max(c, row), end);
    if (row < middle) {
        void *const part = ji_at(s->type, to, symmetric_begin(s, row, middle) - begin, 0, 0);
        level1->copy(middle - row, symmetric_part(s, c, c + 1, row, middle), s->call.lda, part, 1);
        ldl_conjugate(s, middle - row, part);
    }
    if (middle < end)
        level1->copy(end - middle, symmetric_part(s, middle, end, c, c + 1), 1,
                     ji_at(s->type, to, symmetric_begin(s, middle, end) - begin, 0, 0), 1);
}

/* Rows [row, end) of column c, which are at x, lose what the panel's columns before k take. */
static void ldl_lose(const ldl_t *l, int64_t c, int64_t k, int64_t row, int64_t end,
                     const void *weights, void *x) {
    const symmetric_t *s = &l->s;
    ji_kernels->matvec[s->type]->columns(end - row, k - l->from, ldl_part(l, row, end, l->from, k),
                                         l->ld, weights, x);
    if (row <= c && c < end)
        ldl_clear_imaginary(
            s, ji_at(s->type, x, symmetric_place(s, c) - symmetric_begin(s, row, end), 0, 0));
}

/* The largest of rows [row, end), which are at x: replaces what was found. */
static void ldl_search(const symmetric_t *s, int64_t row, int64_t end, const void *x,
                       ji_found_t *found) {
    if (row < end)
        ji_kernels->level1[s->type]->iamax(end - row, x, 1, symmetric_begin(s, row, end), found);
}

/* What column c would be at the turn of column k, into columns[which] where there is room. */
static ldl_look_t ldl_look(ldl_t *l, int64_t c, int64_t k, int which) {
    const symmetric_t *s = &l->s;
    const jdatatype_t type = s->type;
    const int64_t strip = SYMMETRIC_VECTOR_BYTES / (int64_t)ji_sizeof(type);
    ji_value_t weights[SYMMETRIC_BLOCK];
    ji_found_t found = JI_NOTHING_LARGE;
    ldl_look_t look = {0};
    ldl_weights(l, c, k, weights);

    for (int64_t row = k; row < s->n; row += strip) {
        const int64_t end = ji_min(row + strip, s->n), begin = symmetric_begin(s, row, end);
        char *const x = l->columns[which] != NULL ? ji_at(type, l->columns[which], begin, 0, 0)
                                                  : (void *)l->stack;
        ldl_gather(s, c, row, end, x);
        ldl_lose(l, c, k, row, end, weights, x);

        const int64_t above = ji_max(row, ji_min(c, end)), below = ji_max(row, ji_min(c + 1, end));
        ldl_search(s, row, above, ji_at(type, x, symmetric_begin(s, row, above) - begin, 0, 0),
                   &found);
        ldl_search(s, below, end, ji_at(type, x, symmetric_begin(s, below, end) - begin, 0, 0),
                   &found);
        if (above < below) {
            const ji_number_t diagonal =
                ji_number_load(type, ji_at(type, x, symmetric_place(s, c) - begin, 0, 0));
            look.diagonal = fabs(diagonal.re) + (s->hermitian ? 0 : fabs(diagonal.im));
        }
    }

    if (found.place >= 0) {
        look.largest = found.size;
        look.row = symmetric_place(s, found.place);
    }
    return look;
}

/* Column c of A becomes what was looked at as such, rows from c on: from columns[which], or made
 * again. */
static void ldl_make(ldl_t *l, int64_t c, int64_t k, int which) {
    const symmetric_t *s = &l->s;
    void *const own = ldl_part(l, c, s->n, c, c + 1);
    if (l->columns[which] != NULL) {
        const void *const made =
            ji_at(s->type, l->columns[which], symmetric_begin(s, c, s->n), 0, 0);
        memcpy(own, made, (size_t)(s->n - c) * ji_sizeof(s->type));
        return;
    }

    ji_value_t weights[SYMMETRIC_BLOCK];
    ldl_weights(l, c, k, weights);
    ldl_lose(l, c, k, c, s->n, weights, own);
}

/* ---- Interchanges ---- */

static void ldl_swap(const symmetric_t *s, int64_t count, void *x, int64_t incx, void *y,
                     int64_t incy) {
    if (count > 0)
        ji_kernels->level1[s->type]->swap(count, x, incx, y, incy);
}

/* Rows one < other of the panel's columns [from, end). */
static void ldl_swap_rows(const ldl_t *l, int64_t one, int64_t other, int64_t end) {
    ldl_swap(&l->s, end - l->from, ldl_part(l, one, one + 1, l->from, end), l->ld,
             ldl_part(l, other, other + 1, l->from, end), l->ld);
}

/* Rows and columns one < other of what is left, and of the panel. */
static void ldl_exchange(ldl_t *l, int64_t one, int64_t other) {
    const symmetric_t *s = &l->s;
    const int64_t lda = s->call.lda;
    ldl_swap_rows(l, one, other, one);

    void *const column = symmetric_part(s, one + 1, other, one, one + 1);
    void *const row = symmetric_part(s, other, other + 1, one + 1, other);
    ldl_swap(s, 1, symmetric_at(s, one, one), 1, symmetric_at(s, other, other), 1);
    ldl_swap(s, other - one - 1, column, 1, row, lda);
    ldl_swap(s, s->n - other - 1, symmetric_part(s, other + 1, s->n, one, one + 1), 1,
             symmetric_part(s, other + 1, s->n, other, other + 1), 1);
    if (s->hermitian) {
        ldl_conjugate(s, other - one - 1, column);
        for (int64_t j = one + 1; j < other; j++)
            ldl_conjugate(s, 1, symmetric_at(s, other, j));
        ldl_conjugate(s, 1, symmetric_at(s, other, one));
    }

    for (int which = 0; which < 2 && l->columns[0] != NULL; which++)
        ldl_swap(s, 1, ji_at(s->type, l->columns[which], symmetric_place(s, one), 0, 0), 1,
                 ji_at(s->type, l->columns[which], symmetric_place(s, other), 0, 0), 1);
}

/* The panel's columns [from, end) lose the interchanges that came after theirs, as LAPACK has
 * them. */
static void ldl_undo(const ldl_t *l, int64_t end) {
    const symmetric_t *s = &l->s;
    for (int64_t last = end - 1; last >= l->from; last--) {
        const int64_t first = last - symmetric_is_pair(s, last), other = symmetric_partner(s, last);
        if (other != last)
            ldl_swap_rows(l, last, other, first);
        last = first;
    }
}

/* ---- A panel ---- */

/* Bunch and Kaufman's choice: how many columns, what the last of them is exchanged with, and which
 * of those that were looked at is the first. */
typedef struct ldl_choice {
    int count, which;
    int64_t other;
    bool is_zero;
} ldl_choice_t;

static ldl_choice_t ldl_choose(ldl_t *l, int64_t k) {
    ldl_choice_t choice = {.count = 1, .other = k};
    const ldl_look_t own = ldl_look(l, k, k, 0);
    choice.is_zero = own.diagonal == 0 && own.largest == 0;
    if (choice.is_zero || isnan(own.diagonal) || isnan(own.largest) ||
        own.diagonal >= LDL_ALPHA * own.largest)
        return choice;

    /* It has column k's largest element, too, but rounded in its own way: where nothing but
     * rounding is left it may be 0 there, and so would be a pivot of one. */
    ldl_look_t far = ldl_look(l, own.row, k, 1);
    if (far.largest < own.largest)
        far.largest = own.largest;
    if (own.diagonal > 0 && own.diagonal >= LDL_ALPHA * own.largest * (own.largest / far.largest))
        return choice;

    choice.other = own.row;
    if (far.diagonal >= LDL_ALPHA * far.largest)
        choice.which = 1;
    else
        choice.count = 2;
    return choice;
}

static void ldl_step(ldl_t *l, int64_t k, const ldl_choice_t *choice) {
    const symmetric_t *s = &l->s;
    const int64_t last = k + choice->count - 1, next = last + 1;
    if (choice->other != last)
        ldl_exchange(l, last, choice->other);
    ldl_make(l, k, k, choice->which);
    if (choice->count == 2)
        ldl_make(l, last, k, 1);

    const int64_t pivot = symmetric_place(s, choice->other) + 1;
    for (int64_t j = k; j < next; j++)
        s->call.ipiv[symmetric_place(s, j)] = choice->count == 2 ? -pivot : pivot;
    ldl_keep_diagonal(l, k, choice->count);

    if (choice->is_zero) {
        if (*s->call.info == 0)
            *s->call.info = symmetric_place(s, k) + 1;
        return;
    }
    const bool is_pair = choice->count == 2;
    const symmetric_inverse_t inverse =
        ji_symmetric_invert(s->type, s->hermitian, ldl_at(l, k, k), ldl_at(l, last, k),
                            is_pair ? ldl_at(l, last, last) : NULL);
    if (next < s->n)
        ji_symmetric_divide(s->type, &inverse, false, s->n - next,
                            ldl_part(l, next, s->n, k, k + 1), ldl_part(l, next, s->n, last, next),
                            1);
}

/* Gives the column that the next one begins with. Of a panel that is not the last one column is
 * left for a block of two. */
static int64_t ldl_panel(ldl_t *l) {
    const int64_t n = l->s.n, most = ji_min(n, l->from + SYMMETRIC_BLOCK);
    memset(&l->d, 0, sizeof l->d);

    int64_t k = l->from;
    while (k < (most == n ? n : most - 1)) {
        const ldl_choice_t choice = ldl_choose(l, k);
        ldl_step(l, k, &choice);
        k += choice.count;
    }
    return k;
}

/* ---- What is left ---- */

/* Rows [row, end) of L D, columns [from, k), side by side. */
static void ldl_multiply(ldl_t *l, int64_t row, int64_t end, int64_t k) {
    const symmetric_t *s = &l->s;
    const ji_level1_t *const level1 = ji_kernels->level1[s->type];
    const int64_t rows = end - row;
    const int count = (int)(k - l->from), first = ldl_first_slot(l, k);
    const char *const from = ldl_part(l, row, end, l->from, k);

    for (int q = 0; q < count; q++) {
        const ji_value_t own = symmetric_value(s->type, l->d.own[first + q]);
        level1->axpby(rows, &own, ji_at(s->type, from, 0, q, l->ld), 1, NULL,
                      ji_at(s->type, l->strip, 0, q, rows), 1);
    }
    for (int q = 0; q + 1 < count; q++) {
        const ji_number_t both[2] = {l->d.below[first + q + 1], l->d.above[first + q + 1]};
        for (int to = 0; to < 2 && (both[to].re != 0 || both[to].im != 0); to++) {
            const ji_value_t beside = symmetric_value(s->type, both[to]);
            level1->axpy(rows, &beside, ji_at(s->type, from, 0, q + 1 - to, l->ld), 1,
                         ji_at(s->type, l->strip, 0, q + to, rows), 1);
        }
    }
}

/* A block on the diagonal, and what is below it, lose L (L D)^H. */
static void ldl_update(ldl_t *l, int64_t row, int64_t end, int64_t k) {
    const symmetric_t *s = &l->s;
    const jdatatype_t type = s->type;
    const int64_t columns = end - row;
    ldl_multiply(l, row, end, k);

    ji_matmat_t product = {.head = s->call.head,
                           .uplo = s->call.uplo,
                           .transa = JBLAS_NO_TRANSPOSE,
                           .transb = symmetric_operation(s),
                           .n = columns,
                           .k = k - l->from,
                           .alpha = ji_constant(type, -1),
                           .a = ldl_part(l, row, end, l->from, k),
                           .lda = l->ld,
                           .b = l->strip,
                           .ldb = columns,
                           .beta = ji_constant(s->hermitian ? ji_real_of(type) : type, 1),
                           .c = symmetric_part(s, row, end, row, end),
                           .ldc = s->call.lda,
                           .panels = s->call.panels,
                           .panel_bytes = s->call.panel_bytes};
    ji_host_primitives[s->hermitian ? JI_HERKX : JI_GEMMT](&product);
    if (end == s->n)
        return;

    product.m = s->n - end;
    product.a = ldl_part(l, end, s->n, l->from, k);
    product.beta = ji_constant(type, 1);
    product.c = symmetric_part(s, end, s->n, row, end);
    ji_host_primitives[JI_GEMM](&product);
}

/* Columns of A22 that are updated at once: what L D of these has room for. */
static int64_t ldl_columns(jdatatype_t type) {
    return SYMMETRIC_STRIP_BYTES / SYMMETRIC_BLOCK / (int64_t)ji_sizeof(type);
}

/* ---- Calls ---- */

/* Of the two columns; 0: they are on the stack. */
static size_t ldl_columns_bytes(jdatatype_t type, int64_t n) {
    const size_t bytes = ji_whole_lines((size_t)n * ji_sizeof(type));
    return bytes <= SYMMETRIC_VECTOR_BYTES ? 0 : 2 * bytes;
}
static size_t ldl_room_bytes(jdatatype_t type, int64_t n) {
    return (size_t)(ji_room_ld(type, n) * SYMMETRIC_BLOCK) * ji_sizeof(type);
}

static void *ldl_take(ji_matmat_t *call, size_t bytes) {
    void *const taken = call->panels;
    call->panel_bytes -= bytes;
    call->panels = call->panel_bytes > 0 ? (char *)call->panels + bytes : NULL;
    return taken;
}

static void ldl_begin(ldl_t *l, const ji_matmat_t *call, bool hermitian) {
    const jdatatype_t type = call->head.type;
    const size_t columns = ldl_columns_bytes(type, call->n), room = ldl_room_bytes(type, call->n);
    l->s = symmetric_of(call, hermitian);
    l->room = NULL, l->ld = call->lda;
    l->columns[0] = columns == 0 ? l->stack : NULL;

    if (columns > 0 && call->panel_bytes >= columns)
        l->columns[0] = ldl_take(&l->s.call, columns);
    l->columns[1] = l->columns[0] == NULL ? NULL
                    : columns == 0        ? l->stack + SYMMETRIC_VECTOR_BYTES
                                          : (char *)l->columns[0] + columns / 2;
    if (l->columns[0] != NULL && l->s.call.panel_bytes >= room + JI_PACKED_SMALL_BYTES) {
        l->room = ldl_take(&l->s.call, room);
        l->ld = ji_room_ld(type, call->n);
    }
}

/* The panel's columns [from, k), from the diagonal on, to where they belong. */
static void ldl_return(const ldl_t *l, int64_t k) {
    const symmetric_t *s = &l->s;
    for (int64_t j = l->from; j < k && l->room != NULL; j++)
        memcpy(symmetric_part(s, j, s->n, j, j + 1), ldl_part(l, j, s->n, j, j + 1),
               (size_t)(s->n - j) * ji_sizeof(s->type));
}

void ji_symmetric_factor(const ji_matmat_t *call, bool hermitian) {
    ldl_t l;
    const int64_t n = call->n, columns = ldl_columns(call->head.type);
    ldl_begin(&l, call, hermitian);
    *call->info = 0;

    for (l.from = 0; l.from < n;) {
        const int64_t k = ldl_panel(&l);
        for (int64_t row = k; row < n; row += columns)
            ldl_update(&l, row, ji_min(row + columns, n), k);
        ldl_undo(&l, k);
        ldl_return(&l, k);
        l.from = k;
    }
}

void ji_host_sytrf(void *matmat) {
    const ji_matmat_t call = ji_factor_call(matmat);
    ji_symmetric_factor(&call, false);
}
void ji_host_hetrf(void *matmat) {
    const ji_matmat_t call = ji_factor_call(matmat);
    ji_symmetric_factor(&call, true);
}

/* ---- Panels ---- */

ji_panel_bytes_t ji_sytrf_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const jdatatype_t type = args->head.type;
    const int64_t columns = ji_min(args->n, ldl_columns(type));
    const size_t beside = ldl_columns_bytes(type, args->n);
    ji_panel_bytes_t bytes = ji_panels_for_both(
        ji_panel_bytes(handle, JI_GEMM, &args->head, args->n, columns, SYMMETRIC_BLOCK),
        ji_panel_bytes(handle, JI_GEMMT, &args->head, columns, columns, SYMMETRIC_BLOCK));
    if (!ji_room_pays(type, args->n, args->n, args->lda))
        bytes = (ji_panel_bytes_t){0};
    if (bytes.packed > 0) {
        if (bytes.packed < JI_PACKED_SMALL_BYTES)
            bytes.packed = JI_PACKED_SMALL_BYTES;
        bytes.packed += ldl_room_bytes(type, args->n);
    }
    bytes.packed += beside;
    bytes.packed_small += beside;
    return bytes;
}
ji_panel_bytes_t ji_hetrf_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_sytrf_bytes(handle, args);
}
