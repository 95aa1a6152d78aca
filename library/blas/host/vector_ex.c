/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 with operands of several types: a piece after the other is converted into a buffer on the
 * stack (convert.h), unless it has the type that is computed in, and then it is what the kernels
 * make of it. So y and x are as the routine without _ex would give them for converted operands,
 * rounded once; and sums are, too, by the same tree over blocks of JI_REDUCE_BLOCK elements, but of
 * f64_c half as many, lest the buffers take more than 64 KiB. In the calling thread.
 *
 * With an increment of 0 a step sees what the one before it has written, rounded. */

#include <math.h>

#include "blas/host/convert.h"
#include "blas/host/squares.h"

#define EX_PIECE 512
#define EX_BLOCK_BYTES 32768

/* One operand: as it lies, or converted. */
typedef struct ex_operand {
    const void *data;
    int64_t n, increment;
    jdatatype_t type, computed;
} ex_operand_t;

static ex_operand_t ex_x(const ji_vector_t *v) {
    return (ex_operand_t){v->x, v->n, v->incx, v->x_type, v->head.type};
}

static ex_operand_t ex_y(const ji_vector_t *v) {
    return (ex_operand_t){v->y, v->n, v->incy, v->y_type, v->head.type};
}

static char *ex_at(const ex_operand_t *operand, int64_t i) {
    const int64_t place = operand->increment < 0 ? i + 1 - operand->n : i;
    return (char *)ji_unconst(operand->data) +
           place * operand->increment * (int64_t)jdatatype_bytes(operand->type);
}

/* Elements [first, first + count), `*increment` apart: in the buffer where they are converted. */
static void *ex_load(const ex_operand_t *operand, int64_t first, int64_t count, void *buffer,
                     int64_t *increment) {
    void *const at = ex_at(operand, first);
    *increment = operand->increment;
    if (operand->type == operand->computed)
        return at;

    ji_conversion(operand->computed, operand->type)(buffer, 1, at, operand->increment, count);
    *increment = 1;
    return buffer;
}

static void ex_store(const ex_operand_t *operand, int64_t first, int64_t count,
                     const void *buffer) {
    if (operand->type != operand->computed)
        ji_conversion(operand->type, operand->computed)(ex_at(operand, first), operand->increment,
                                                        buffer, 1, count);
}

/* ---- Element by element ---- */

void ji_host_axpy_ex(void *block) {
    const ji_vector_t *v = block;
    const ex_operand_t x = ex_x(v), y = ex_y(v);
    _Alignas(64) char x_buffer[EX_PIECE * sizeof(ji_value_t)],
        y_buffer[EX_PIECE * sizeof(ji_value_t)];
    if (host_is_zero(v->head.type, &v->alpha))
        return;

    const int64_t most = v->incy == 0 ? 1 : EX_PIECE;
    for (int64_t i = 0, count; i < v->n; i += count) {
        int64_t incx, incy;
        count = ji_min(most, v->n - i);
        const void *from = ex_load(&x, i, count, x_buffer, &incx);
        void *to = ex_load(&y, i, count, y_buffer, &incy);
        ji_kernels->level1[v->head.type]->axpy(count, ji_scalar_data(&v->alpha), from, incx, to,
                                               incy);
        ex_store(&y, i, count, to);
    }
}

void ji_host_scal_ex(void *block) {
    const ji_vector_t *v = block;
    const ex_operand_t x = ex_x(v);
    _Alignas(64) char buffer[EX_PIECE * sizeof(ji_value_t)];
    if (v->incx <= 0)
        return;

    for (int64_t i = 0, count; i < v->n; i += count) {
        int64_t incx;
        count = ji_min(EX_PIECE, v->n - i);
        void *at = ex_load(&x, i, count, buffer, &incx);
        ji_kernels->level1[v->head.type]->scal(count, ji_scalar_data(&v->alpha), at, incx);
        ex_store(&x, i, count, at);
    }
}

/* By a complex sine: x = c x + s y, y = c y - conj(s) x. */
#define EX_ROTATE(t, T)                                                                            \
    static void ex_rotate_##t(int64_t n, T *x, int64_t incx, T *y, int64_t incy, T c,              \
                              const T *s) {                                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T *const a = x + 2 * incx * i, *const b = y + 2 * incy * i;                            \
            const T re = a[0], im = a[1];                                                          \
            a[0] = c * re + (s[0] * b[0] - s[1] * b[1]);                                           \
            a[1] = c * im + (s[0] * b[1] + s[1] * b[0]);                                           \
            b[0] = c * b[0] - (s[0] * re + s[1] * im);                                             \
            b[1] = c * b[1] - (s[0] * im - s[1] * re);                                             \
        }                                                                                          \
    }
EX_ROTATE(c, float)
EX_ROTATE(z, double)

/* The cosine and the sine of what is computed in: real, unless theirs is a complex type. */
typedef struct ex_rotation {
    jdatatype_t type;
    ji_value_t c, s;
} ex_rotation_t;

static ex_rotation_t ex_rotation(const ji_vector_t *v) {
    const jdatatype_t from = v->cs_type;
    ex_rotation_t r = {.type = ji_is_complex(from) ? v->head.type : ji_real_of(v->head.type)};
    const void *c = ji_scalar_data(&v->c), *s = ji_scalar_data(&v->s);
    if (from == r.type) {
        memcpy(&r.c, c, ji_sizeof(from));
        memcpy(&r.s, s, ji_sizeof(from));
    } else {
        ji_conversion(r.type, from)(&r.c, 1, c, 1, 1);
        ji_conversion(r.type, from)(&r.s, 1, s, 1, 1);
    }
    return r;
}

static void ex_rotate(const ex_rotation_t *r, jdatatype_t computed, int64_t n, void *x,
                      int64_t incx, void *y, int64_t incy) {
    switch (r->type) {
    case JDATATYPE_F32_C: ex_rotate_c(n, x, incx, y, incy, r->c.c[0], r->s.c); return;
    case JDATATYPE_F64_C: ex_rotate_z(n, x, incx, y, incy, r->c.z[0], r->s.z); return;
    default: ji_rotate(ji_kernels->level1[computed], computed, n, x, incx, y, incy, &r->c, &r->s);
    }
}

void ji_host_rot_ex(void *block) {
    const ji_vector_t *v = block;
    const ex_operand_t x = ex_x(v), y = ex_y(v);
    const ex_rotation_t rotation = ex_rotation(v);
    _Alignas(64) char x_buffer[EX_PIECE * sizeof(ji_value_t)],
        y_buffer[EX_PIECE * sizeof(ji_value_t)];

    const int64_t most = v->incx == 0 || v->incy == 0 ? 1 : EX_PIECE;
    for (int64_t i = 0, count; i < v->n; i += count) {
        int64_t incx, incy;
        count = ji_min(most, v->n - i);
        void *a = ex_load(&x, i, count, x_buffer, &incx),
             *b = ex_load(&y, i, count, y_buffer, &incy);
        ex_rotate(&rotation, v->head.type, count, a, incx, b, incy);
        ex_store(&x, i, count, a);
        ex_store(&y, i, count, b);
    }
}

/* ---- Sums ---- */

typedef enum ex_sum { EX_DOT, EX_DOTC, EX_ASUM, EX_SQUARES } ex_sum_t;

typedef union ex_partial {
    ji_value_t value;
    ji_squares_t squares;
} ex_partial_t;

static void ex_sum_block(const ji_vector_t *v, ex_sum_t sum, int64_t first, int64_t count,
                         ex_partial_t *partial) {
    const ji_level1_t *kernels = ji_kernels->level1[v->head.type];
    const ex_operand_t of_x = ex_x(v), of_y = ex_y(v);
    _Alignas(64) char x_buffer[EX_BLOCK_BYTES], y_buffer[EX_BLOCK_BYTES];
    int64_t incx, incy = 0;
    const void *x = ex_load(&of_x, first, count, x_buffer, &incx), *y = NULL;
    if (sum <= EX_DOTC)
        y = ex_load(&of_y, first, count, y_buffer, &incy);

    switch (sum) {
    case EX_DOT: kernels->dot(count, x, incx, y, incy, partial); return;
    case EX_DOTC: kernels->dotc(count, x, incx, y, incy, partial); return;
    case EX_ASUM: kernels->asum(count, x, incx, partial); return;
    case EX_SQUARES: kernels->squares(count, x, incx, &partial->squares); return;
    }
}

/* Elements [first, first + count), count > 0, by halves of blocks. */
static void ex_sum(const ji_vector_t *v, ex_sum_t sum, int64_t first, int64_t count,
                   ex_partial_t *partial) {
    const int64_t size = ji_min(JI_REDUCE_BLOCK, EX_BLOCK_BYTES / (int64_t)ji_sizeof(v->head.type));
    if (count <= size) {
        ex_sum_block(v, sum, first, count, partial);
        return;
    }

    const int64_t left = ((count - 1) / size + 1) / 2 * size;
    ex_partial_t right;
    ex_sum(v, sum, first, left, partial);
    ex_sum(v, sum, first + left, count - left, &right);
    if (sum == EX_SQUARES)
        ji_join_squares(&partial->squares, &right.squares);
    else
        host_add(sum == EX_ASUM ? ji_real_of(v->head.type) : v->head.type, &partial->value,
                 &right.value);
}

static void ex_give_sum(const ji_vector_t *v, ex_sum_t sum, jdatatype_t type) {
    ex_partial_t total = {.value = {.z = {0, 0}}};
    if (v->n > 0)
        ex_sum(v, sum, 0, v->n, &total);
    memcpy(v->result, &total, ji_sizeof(type));
}

void ji_host_dot_ex(void *block) {
    const ji_vector_t *v = block;
    ex_give_sum(v, EX_DOT, v->head.type);
}

void ji_host_dotc_ex(void *block) {
    const ji_vector_t *v = block;
    ex_give_sum(v, EX_DOTC, v->head.type);
}

void ji_host_asum_ex(void *block) {
    const ji_vector_t *v = block;
    const jdatatype_t real = ji_real_of(v->head.type);
    if (v->incx <= 0)
        memset(v->result, 0, ji_sizeof(real));
    else
        ex_give_sum(v, EX_ASUM, real);
}

/* Increments are not negative. */
void ji_host_nrm2_ex(void *block) {
    const ji_vector_t *v = block;
    ex_partial_t total = {.squares = {0, 0}};
    if (v->n > 0)
        ex_sum(v, EX_SQUARES, 0, v->n, &total);

    const double norm = ji_root_of(&total.squares);
    if (ji_real_of(v->head.type) == JDATATYPE_F32)
        *(float *)v->result = (float)norm;
    else
        *(double *)v->result = norm;
}
