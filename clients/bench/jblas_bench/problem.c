/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operands: their sizes, memory and numbers. What a routine must not read (the other triangle, the
 * diagonal of a unit triangular matrix) is large, so that reading it shows in the error; what it
 * must not write (gaps below the leading dimension, between the elements of a vector) holds numbers
 * too, and is compared afterwards. */

#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"

size_t type_bytes(jdatatype_t type) { return jhandle_sizeof_datatype(type); }

value_t value_load(jdatatype_t type, const void *array, size_t index) {
    switch (type) {
    case JDATATYPE_F32: return ((const float *)array)[index];
    case JDATATYPE_F64: return ((const double *)array)[index];
    case JDATATYPE_F32_C: return ((const jcomplex_f32_t *)array)[index];
    case JDATATYPE_I8: return ((const int8_t *)array)[index];
    case JDATATYPE_I32: return ((const int32_t *)array)[index];
    case JDATATYPE_F16: return jalloc_f32_from_f16(((const jfloat16_t *)array)[index]);
    case JDATATYPE_BF16: return jalloc_f32_from_bf16(((const jbfloat16_t *)array)[index]);
    default: return ((const jcomplex_f64_t *)array)[index];
    }
}

void value_store(jdatatype_t type, void *array, size_t index, value_t value) {
    switch (type) {
    case JDATATYPE_F32: ((float *)array)[index] = (float)creall(value); break;
    case JDATATYPE_F64: ((double *)array)[index] = (double)creall(value); break;
    case JDATATYPE_F32_C: ((jcomplex_f32_t *)array)[index] = (jcomplex_f32_t)value; break;
    case JDATATYPE_I8: ((int8_t *)array)[index] = (int8_t)creall(value); break;
    case JDATATYPE_I32: ((int32_t *)array)[index] = (int32_t)creall(value); break;
    case JDATATYPE_F16:
        ((jfloat16_t *)array)[index] = jalloc_f16_from_f32((float)creall(value));
        break;
    case JDATATYPE_BF16:
        ((jbfloat16_t *)array)[index] = jalloc_bf16_from_f32((float)creall(value));
        break;
    default: ((jcomplex_f64_t *)array)[index] = (jcomplex_f64_t)value; break;
    }
}

/* Numbers of operands are doubles: by the long doubles of value_t they took three times as long, a
 * quarter of what jalloc-tune did. */
static jcomplex_f64_t random_number(uint64_t *state) {
    const double real = bench_random(state);
    return real + bench_random(state) * I;
}

static void number_store(jdatatype_t type, void *array, size_t index, jcomplex_f64_t number) {
    switch (type) {
    case JDATATYPE_F32: ((float *)array)[index] = (float)creal(number); break;
    case JDATATYPE_F64: ((double *)array)[index] = creal(number); break;
    case JDATATYPE_F32_C: ((jcomplex_f32_t *)array)[index] = (jcomplex_f32_t)number; break;
    case JDATATYPE_F64_C: ((jcomplex_f64_t *)array)[index] = number; break;
    default: value_store(type, array, index, number); break;
    }
}

/* The numbers of a matrix with a structure; general ones are there already. */
static void fill_structured(const problem_t *p, operand_t *x, int64_t batch, uint64_t *state) {
    bool lower = p->options->uplo == JBLAS_LOWER;
    bool unit = p->options->diag == JBLAS_UNIT && strchr(p->routine->shape, 'D');
    for (int64_t j = 0; j < x->columns; j++)
        for (int64_t i = 0; i < x->rows; i++) {
            bool stored = lower ? i >= j : i <= j;
            jcomplex_f64_t number = random_number(state);
            if (x->fill == FILL_POSITIVE && i == j)
                number = (double)(x->rows + 1);
            if (x->fill == FILL_TRIANGULAR) {
                if (!stored || (i == j && unit))
                    number *= 100;
                else if (i == j)
                    number = 1 + fabs(creal(number)) + cimag(number) / 8 * I;
                else
                    number /= (double)x->rows;
            }
            if (operand_has(x, i, j))
                number_store(x->type, x->data, operand_index(x, i, j, batch), number);
        }
}

static bool times(size_t a, int64_t b, size_t *product) {
    return !__builtin_mul_overflow(a, (size_t)b, product);
}

/* Where a matrix lies elsewhere after the call, there is room for that, too, behind the `others` of
 * its batch. */
static bool enlarge_for_later(operand_t *x, size_t others) {
    size_t elements;
    const int64_t step = x->later.ld > x->later.rows ? x->later.ld : x->later.rows;
    if (!times((size_t)step, x->later.columns, &elements) || elements > SIZE_MAX / 64)
        return false;
    if (elements + others > x->elements)
        x->elements = elements + others;
    return true;
}

/* Elements of one slot. A leading dimension that is too small is refused by jblas; here it must
 * only do no harm. What is empty is not touched, however far its columns would be apart. */
static bool operand_size(operand_t *x) {
    const bool packed = x->layout == LAYOUT_UPPER || x->layout == LAYOUT_LOWER;
    const int64_t step = x->vector           ? (x->ld < 0 ? -x->ld : x->ld)
                         : x->ld > x->height ? x->ld
                                             : x->height;
    const int64_t steps = x->vector ? x->rows : x->columns, last = x->vector ? 1 : x->height;
    size_t one = 0, all = 0;
    if (packed && !times((size_t)x->rows, x->rows / 2 + 1, &one))
        return false;
    if (!packed && x->rows > 0 && x->columns > 0 && !times((size_t)(steps - 1), step, &one))
        return false;
    if (!times((size_t)(x->batch > 1 ? x->batch - 1 : 0), x->stride < 0 ? -x->stride : x->stride,
               &all) ||
        one > SIZE_MAX / 64 || all > SIZE_MAX / 64)
        return false;
    x->elements = one + (size_t)(last > 0 && !packed ? last : 1) + all;
    if (!enlarge_for_later(x, all))
        return false;
    x->origin = x->stride < 0 ? all : 0;
    return true;
}

/* Memory for one operand, and random numbers in all of it. */
static bool operand_make(problem_t *p, operand_t *x, uint64_t *state) {
    size_t element = type_bytes(x->type), slots = x->written ? p->slots : 1, bytes;
    if (!operand_size(x) || __builtin_mul_overflow(x->elements, element * slots, &bytes) ||
        bytes > (size_t)1 << 46)
        return false;
    /* Kernels of OpenBLAS 0.3.21 (cgemv) read a column beyond those that a LAPACK gives them. */
    const size_t room = p->routine->residual != NULL ? (size_t)x->height * element : 0;
    size_t matrices = slots * (size_t)(x->batch > 0 ? x->batch : 1);
    x->data = aligned_alloc(64, (bytes + room + 63) / 64 * 64);
    x->pointers = calloc(matrices, sizeof *x->pointers);
    x->pristine = x->written ? malloc(x->elements * element) : NULL;
    if (!x->data || !x->pointers || (x->written && !x->pristine))
        return false;
    const bool integers = x->type == JDATATYPE_I8 || x->type == JDATATYPE_I32;
    for (size_t i = 0; i < x->elements; i++)
        number_store(x->type, x->data, i, random_number(state) * (integers ? INT8_MAX : 1));
    for (int64_t batch = 0;
         batch < x->batch && (x->fill == FILL_TRIANGULAR || x->fill == FILL_POSITIVE); batch++)
        fill_structured(p, x, batch, state);
    if (x->written)
        memcpy(x->pristine, x->data, x->elements * element);
    for (size_t slot = 0; slot < slots; slot++)
        for (int64_t batch = 0; batch < x->batch; batch++)
            x->pointers[slot * (size_t)x->batch + (size_t)batch] =
                x->data + (slot * x->elements + x->origin + (size_t)(batch * x->stride)) * element;
    return true;
}

/* The types of the operands; those that are none are refused. */
static jdatatype_t type_or_any(int type) {
    return type_bytes((jdatatype_t)type) > 0 ? (jdatatype_t)type : JDATATYPE_F64_C;
}

jdatatype_t problem_scalar_type(const problem_t *p, bool real) {
    if (strchr(p->routine->shape, 't'))
        return type_or_any(p->options->cs_type);
    if (p->type == JDATATYPE_I32 || (type_is_complex(p->type) && !real))
        return p->type;
    return type_is_single(p->type) ? JDATATYPE_F32 : JDATATYPE_F64;
}

static void scalar_set(const problem_t *p, scalar_t *scalar, const double *value, bool real) {
    value_t both;
    __real__ both = value[0], __imag__ both = value[1]; /* be they infinite */
    value_store(problem_scalar_type(p, real), scalar, 0, both);
}

static void set_types(problem_t *p) {
    const options_t *o = p->options;
    const int types[OPERANDS] = {o->a_type, o->b_type, o->c_type};
    for (int i = 0; i < OPERANDS; i++)
        p->operand[i].type = p->operand[i].real              ? problem_scalar_type(p, true)
                             : routine_has_types(p->routine) ? type_or_any(types[i])
                                                             : p->type;
}

void problem_describe(problem_t *p, const routine_t *routine, const options_t *options) {
    *p = (problem_t){.routine = routine, .options = options, .type = options->type};
    if (routine_has_types(routine))
        p->type = type_or_any(options->compute_type);
    scalar_set(p, &p->alpha, options->alpha.parts, routine->real_alpha);
    scalar_set(p, &p->beta, options->beta.parts, routine->real_beta);
    scalar_set(p, &p->above, options->above.parts, true);
    scalar_set(p, &p->up_to, options->up_to.parts, true);
    scalar_set(p, &p->abstol, options->abstol.parts, true);
    scalar_set(p, &p->rcond, options->rcond.parts, true);
    for (int i = 0; i < 5; i++)
        if (type_is_single(p->type))
            p->param.s[i] = (float)options->param[i];
        else
            p->param.d[i] = options->param[i];
    routine->setup(p);
    set_types(p);
    p->terms = routine->terms(options);
    p->items = strchr(routine->shape, 'b') == NULL ? 1
               : options->batch_count > 0          ? options->batch_count
                                                   : 0;
}

bool problem_init(problem_t *p, const routine_t *routine, const options_t *options, size_t slots) {
    problem_describe(p, routine, options);
    p->slots = slots;
    uint64_t state = 1;
    for (int i = 0; i < OPERANDS; i++)
        if (p->operand[i].present && !operand_make(p, &p->operand[i], &state)) {
            tool_warn("%s: no memory for the operands", routine->name);
            problem_fini(p);
            return false;
        }
    if (p->operand[3].present &&
        (p->operand[3].fill == FILL_LU || p->operand[3].fill == FILL_CHOLESKY))
        naive_factor(p);
    if (p->result_bytes > 0)
        p->results = calloc((size_t)p->items + 1, p->result_bytes);
    if (p->has_pivots) /* not NULL where there are none, either */
        p->pivots = calloc((size_t)p->pivot_count + 1, sizeof *p->pivots);
    if ((p->result_bytes > 0 && p->results == NULL) || (p->has_pivots && p->pivots == NULL))
        abort();
    problem_restore(p);
    return true;
}

void problem_fini(problem_t *p) {
    for (int i = 0; i < OPERANDS; i++) {
        free(p->operand[i].data);
        free(p->operand[i].pristine);
        free(p->operand[i].pointers);
        p->operand[i] = (operand_t){0};
    }
    free(p->results);
    free(p->pivots);
    p->results = NULL;
    p->pivots = NULL;
}

void problem_restore(problem_t *p) {
    memset(&p->result, 0, sizeof p->result);
    if (p->results != NULL)
        memset(p->results, 0, (size_t)p->items * p->result_bytes);
    const int64_t stride = p->operand[2].stride, items = p->pivots != NULL ? p->items : 0;
    for (int64_t item = 0; item < items; item++)
        for (int64_t i = 0; i < p->pivots_each; i++)
            p->pivots[p->pivot_origin + item * stride + i] = p->pivots_are_order ? 0 : i + 1;
    for (int i = 0; i < OPERANDS; i++) {
        operand_t *x = &p->operand[i];
        size_t bytes = x->elements * type_bytes(x->type);
        for (size_t slot = 0; x->written && slot < p->slots; slot++)
            memcpy(x->data + slot * bytes, x->pristine, bytes);
    }
}

void problem_select(problem_t *p, size_t slot) {
    void **place[OPERANDS] = {&p->a, &p->b, &p->c, &p->s, &p->h, &p->e, &p->v},
         ***pointers[OPERANDS] = {&p->pa, &p->pb, &p->pc, &p->ps, &p->ph, &p->pe, &p->pv};
    for (int i = 0; i < OPERANDS; i++) {
        operand_t *x = &p->operand[i];
        size_t own = x->written ? slot : 0;
        *place[i] = x->data && !x->null
                        ? x->data + (own * x->elements + x->origin) * type_bytes(x->type)
                        : NULL;
        *pointers[i] = x->pointers && !x->null ? x->pointers + own * (size_t)x->batch : NULL;
    }
}

void problem_call_direct(problem_t *p) {
    void **const place[OPERANDS] = {&p->a, &p->b, &p->c, &p->s, &p->h, &p->e, &p->v},
                 **const pointers[OPERANDS] = {p->pa, p->pb, p->pc, p->ps, p->ph, p->pe, p->pv};
    void *const first[OPERANDS] = {p->a, p->b, p->c, p->s, p->h, p->e, p->v};
    for (int64_t item = 0; item < p->items; item++) {
        for (int i = 0; i < OPERANDS; i++)
            if (p->operand[i].present)
                *place[i] = pointers[i][item];
        p->routine->direct(p);
    }
    for (int i = 0; i < OPERANDS; i++)
        *place[i] = first[i];
}
