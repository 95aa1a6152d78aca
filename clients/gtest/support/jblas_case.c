/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Cases: random arguments for a function, and the judgement of what the call did.
 *
 * Each operand has a mapping of its own; its last byte lies right before an inaccessible page (or
 * its first byte right behind one):
 *
 *     | inaccessible | ... canary, data, slack | inaccessible |
 *                          ^ region
 *
 * The slack is empty, unless at level 3 the CBLAS's products read behind their operands
 * (jblas_bounds.c): there is room for that then; it is NaN and must not reach the answer.
 *
 * Everything is NaN (all bits set) before the elements that may be read get numbers. After the call
 * the elements that may be written are held against the reference, and all other bytes of the
 * region against what they were. */

#include "jblas_routines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CANARY_BYTES 256

bool blas_has(const blas_case_t *c, char letter) {
    return strchr(c->function->routine->signature, letter) != NULL;
}

bool blas_takes_any_increment(const blas_case_t *c) {
    return c->function->routine->level == 1 || strncmp(c->function->routine->name, "dgmm", 4) == 0;
}

static bool is_upper(const blas_operand_t *o) {
    return o->part == BLAS_UPPER || o->part == BLAS_STRICTLY_UPPER;
}

int64_t blas_origin(const blas_operand_t *o) {
    return o->stride < 0 && o->count > 0 ? (1 - o->count) * o->stride : 0;
}

int64_t blas_index(const blas_operand_t *o, int64_t batch, int64_t i, int64_t j) {
    const int64_t first = blas_origin(o) + batch * o->stride;
    if (o->kind == BLAS_MATRIX)
        return first + (o->is_band ? o->above + i - j : i) + j * o->ld;
    if (o->kind == BLAS_PACKED)
        return first + i + (is_upper(o) ? j * (j + 1) / 2 : j * (2 * o->rows - j - 1) / 2);
    /* A negative increment begins at the other end. */
    return first + (o->ld >= 0 ? i * o->ld : (i - o->rows + 1) * o->ld);
}

bool blas_is_placed(const blas_operand_t *o, int64_t i, int64_t j) {
    if (o->kind == BLAS_PACKED)
        return is_upper(o) ? i <= j : i >= j;
    return !o->is_band || (i - j <= o->below && j - i <= o->above);
}

bool blas_is_part(const blas_operand_t *o, int64_t i, int64_t j) {
    if (!blas_is_placed(o, i, j))
        return false;
    switch (o->part) {
    case BLAS_UPPER: return i <= j;
    case BLAS_LOWER: return i >= j;
    case BLAS_STRICTLY_UPPER: return i < j;
    case BLAS_STRICTLY_LOWER: return i > j;
    default: return true;
    }
}

/* ---- Drawing ---- */

static int64_t draw_size(const blas_case_t *c, const blas_wish_t *wish) {
    static const int64_t edges[] = {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    static const int64_t usual[] = {0, 200, 60, 24}, rare[] = {0, 20000, 300, 140}, /* by level */
        of_batch[] = {0, 60, 24, 16};
    const int level = c->function->routine->level;
    if (wish->high > 0)
        return jtest_random_between(wish->low, wish->high);
    const int64_t kind = jtest_random_between(0, 99);
    if (kind < 5)
        return 0;
    if (kind < 30)
        return jtest_random_between(1, 8);
    if (kind < 36)
        return edges[jtest_random_between(0, 11)];
    return jtest_random_between(1, blas_has(c, 'b') ? of_batch[level]
                                   : kind < 40      ? rare[level]
                                                    : usual[level]);
}

/* A number well away from zero, so that a product with NaN is NaN and a lost term is seen. */
static double draw_number(void) {
    const double size = jtest_random_double(0.1, 1.0);
    return jtest_random_bool() ? size : -size;
}

static wide_t draw_element(int element) {
    if (element == JDATATYPE_I8)
        return jtest_random_between(INT8_MIN, INT8_MAX);
    if (element == JDATATYPE_I32)
        return jtest_random_between(INT32_MIN, INT32_MAX);
    wide_t value = draw_number();
    if (wide_is_complex(element))
        __imag__ value = draw_number();
    return value;
}

/* The function's type, or some that go together. */
static void draw_types(blas_case_t *c) {
    static const jdatatype_t by_width[] = {JDATATYPE_F16, JDATATYPE_BF16, JDATATYPE_F32,
                                           JDATATYPE_F64};
    c->compute_type = c->cs_type = c->function->type;
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        c->types[which] = c->function->type;
    if (c->function->type != JI_TYPE_x)
        return;

    const int64_t kind = jtest_random_between(0, 9);
    const bool integers = blas_has(c, 'k') && kind < 2;
    c->compute_type = integers   ? JDATATYPE_I32
                      : kind < 5 ? JDATATYPE_F32
                      : kind < 7 ? JDATATYPE_F64
                      : kind < 8 ? JDATATYPE_F32_C
                                 : JDATATYPE_F64_C;
    const bool one = blas_has(c, 'S'); /* trsm_ex */
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        switch (one ? JDATATYPE_F32_C : c->compute_type) {
        case JDATATYPE_I32: c->types[which] = which < 2 ? JDATATYPE_I8 : JDATATYPE_I32; break;
        case JDATATYPE_F32: c->types[which] = by_width[jtest_random_between(0, 2)]; break;
        case JDATATYPE_F64: c->types[which] = by_width[jtest_random_between(0, 3)]; break;
        case JDATATYPE_F64_C:
            c->types[which] = jtest_random_bool() ? JDATATYPE_F32_C : JDATATYPE_F64_C;
            break;
        default: c->types[which] = c->compute_type;
        }

    /* Some that is computed in, or that its parts could be. */
    const int widest = wide_real_of((int)c->compute_type) == JDATATYPE_F64 ? 3 : 2;
    c->cs_type = jtest_random_bool() ? c->types[0] : by_width[jtest_random_between(0, widest)];
}

static void draw_scalar(blas_case_t *c, int which, char typed, char real, bool plain, bool zero,
                        bool one) {
    const int type = (int)(blas_has(c, 'R') ? c->cs_type : c->compute_type);
    const bool sums = wide_is_half(type) && !blas_has(c, 'R');
    const int element = blas_has(c, real) || sums ? wide_real_of(type) : type;
    const int64_t kind = plain ? 9 : jtest_random_between(0, 6);
    wide_t value = zero || kind == 0          ? 0
                   : one || kind == 1         ? 1
                   : kind == 2                ? -1
                   : element == JDATATYPE_I32 ? draw_element(element)
                                              : 1.5L * draw_element(element);
    if (!blas_has(c, typed) && !blas_has(c, real))
        value = 1;
    wide_put(c->scalar[which], element, 0, value);
    *(which ? &c->beta : &c->alpha) = wide_get(c->scalar[which], element, 0);
    c->pointer[which ? BLAS_BETA : BLAS_ALPHA] = c->scalar[which];
}

/* What the flag implies is NaN. */
static void draw_parameters(blas_case_t *c, bool plain) {
    const int type = (int)c->function->type;
    const int flag = plain ? -1 : (int)jtest_random_between(-2, 1);
    memset(c->scalar, 0xff, sizeof c->scalar);

    wide_put(c->scalar, type, 0, flag);
    if (flag == -1 || flag == 1)
        wide_put(c->scalar, type, 1, draw_number()), wide_put(c->scalar, type, 4, draw_number());
    if (flag == -1 || flag == 0)
        wide_put(c->scalar, type, 2, draw_number()), wide_put(c->scalar, type, 3, draw_number());
    c->pointer[BLAS_ALPHA] = c->scalar;
}

/* Elements from the first to the last of an item. */
static int64_t length_of(const blas_operand_t *o) {
    if (o->rows <= 0 || o->columns <= 0)
        return 0;
    if (o->kind == BLAS_PACKED)
        return o->rows * (o->rows + 1) / 2;
    return o->kind == BLAS_VECTOR ? (o->rows - 1) * llabs(o->ld) + 1
                                  : (o->columns - 1) * o->ld + o->height;
}

/* Items one behind the other. */
static int64_t whole_stride(const blas_operand_t *o) {
    const int64_t before = o->kind == BLAS_MATRIX ? o->ld * o->columns : length_of(o),
                  after = o->later.ld * o->later.columns;
    return before > after ? before : after;
}

/* Inputs may be one for the batch; items are one behind the other, in either direction, or take
 * turns: rows of one matrix, elements of one vector. */
static void draw_stride(blas_case_t *c, int which, const blas_wish_t *wish) {
    blas_operand_t *o = &c->operand[which];
    const bool strided = blas_has(c, BLAS_STRIDES[which]) && !wish->tight;
    o->stride = whole_stride(o);
    if (!strided)
        return;
    if (!o->written && jtest_random_bool()) {
        o->stride = 0;
        return;
    }
    o->stride += jtest_random_between(0, 5);
    const bool may_interleave = o->kind == BLAS_VECTOR || o->kind == BLAS_MATRIX;
    if (jtest_random_bool() && o->ld != 0 && may_interleave && !o->later.moves) {
        const int64_t rows = o->kind == BLAS_VECTOR ? 1 : o->height, sign = o->ld < 0 ? -1 : 1;
        o->stride = rows + jtest_random_between(0, 2);
        o->ld = sign * (o->stride * o->count + jtest_random_between(rows + 1, rows + 3));
    }
    if (jtest_random_bool())
        o->stride = -o->stride;
}

/* As often as not the leading dimension stays, if it can. */
static void draw_later(blas_operand_t *o, const blas_wish_t *wish) {
    const int64_t least = o->later.rows > 1 ? o->later.rows : 1;
    o->later.ld = least + (wish->tight ? 0 : jtest_random_between(0, 3));
    if (o->ld >= least && !wish->tight && jtest_random_bool())
        o->later.ld = o->ld;
}

/* Elements of an item, before and after the call. */
static int64_t room_of(const blas_operand_t *o) {
    const int64_t before = o->kind == BLAS_RESULT ? o->rows : length_of(o),
                  after = (o->later.columns - 1) * o->later.ld + o->later.rows;
    return o->later.moves && before > 0 && after > before ? after : before;
}

static void draw_layout(blas_case_t *c, int which, const blas_wish_t *wish) {
    blas_operand_t *o = &c->operand[which];
    static const int64_t increments[] = {1, 1, 2, 3, -1, -1, -2, -5, 0}; /* 0 where it may be */
    if (o->kind == BLAS_VECTOR) {
        /* A long recurrence in one element may leave the range of its type, which may be f16. */
        const int64_t longest = blas_has(c, 'R') ? 6 : 40;
        const bool recurs =
            o->rows > longest && (blas_has(c, 'c') || blas_has(c, 'C') || blas_has(c, 'P'));
        const bool any = blas_takes_any_increment(c) && !recurs;
        o->ld = wish->tight ? 1 : increments[jtest_random_between(0, any ? 8 : 7)];
    } else if (o->kind == BLAS_MATRIX) {
        const int64_t high = o->height > 1 ? o->height : 1,
                      least = high > wish->apart ? high : wish->apart;
        o->ld = least + (wish->tight ? 0 : jtest_random_between(0, 3));
    }
    if (o->later.moves)
        draw_later(o, wish);
    if (o->kind != BLAS_RESULT)
        draw_stride(c, which, wish);
    const int64_t room = room_of(o);
    o->bytes = room > 0 && o->count > 0 ? (size_t)((o->count - 1) * llabs(o->stride) + room) : 0;
    o->bytes *= wide_sizeof(o->element);
}

static bool map_operand(blas_operand_t *o, int level, bool guard_before) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t slack = blas_is_by_mode(o->kind) || level < 3 ? 0 : blas_room_bytes(o->element);
    o->region_bytes = CANARY_BYTES + o->bytes + slack;
    const size_t inside = (o->region_bytes + page - 1) / page * page;
    o->mapping_bytes = inside + 2 * page;
    unsigned char *base =
        mmap(NULL, o->mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return false;
    o->mapping = base;
    o->region = guard_before ? base + page : base + page + inside - o->region_bytes;
    o->data = o->region + (guard_before ? slack : CANARY_BYTES);
    o->before = malloc(o->region_bytes);
    return mprotect(base, page, PROT_NONE) == 0 &&
           mprotect(base + page + inside, page, PROT_NONE) == 0 && o->before;
}

static void fill_operand(blas_operand_t *o) {
    memset(o->region, 0xff, o->region_bytes);
    if (o->unread)
        return;
    for (int64_t item = 0; item < (o->stride == 0 && o->count > 0 ? 1 : o->count); ++item)
        for (int64_t j = 0; j < o->columns; ++j)
            for (int64_t i = 0; i < o->rows; ++i) {
                if (!blas_is_part(o, i, j))
                    continue;
                wide_t value = draw_element(o->element);
                if (o->dominance != BLAS_PLAIN && i != j)
                    value /= (long double)o->rows;
                else if (o->dominance == BLAS_SOLVABLE)
                    value *= 1.5L / wide_abs(value);
                else if (o->dominance == BLAS_POSITIVE_DEFINITE)
                    value = 2.5L + jtest_random_double(0, 1);
                if (o->hermitian && i == j)
                    __imag__ value = NAN;
                wide_put(o->data, o->element, blas_index(o, item, i, j), value);
            }
}

static jblas_operation_t draw_operation(const blas_function_t *function) {
    const blas_operations_t operations = function->routine->operations;
    const bool complex = wide_is_complex((int)function->type);
    const bool any = operations == BLAS_ANY_OPERATION;
    const jblas_operation_t drawn = (jblas_operation_t)jtest_random_between(
        JBLAS_NO_TRANSPOSE, any ? JBLAS_CONJUGATE : JBLAS_CONJUGATE_TRANSPOSE);

    if (!complex || !ji_is_transposed(drawn))
        return drawn;
    return operations == BLAS_SYMMETRIC_OPERATION   ? JBLAS_TRANSPOSE
           : operations == BLAS_HERMITIAN_OPERATION ? JBLAS_CONJUGATE_TRANSPOSE
                                                    : drawn;
}

blas_case_t *blas_case_create(const blas_function_t *function, const blas_wish_t *wish) {
    blas_case_t *c = calloc(1, sizeof *c);
    if (!c)
        abort(); /* a test machine without memory */
    c->function = function;
    draw_types(c);
    c->side = jtest_random_bool() ? JBLAS_LEFT : JBLAS_RIGHT;
    if (wish->left)
        c->side = JBLAS_LEFT;
    c->uplo = jtest_random_bool() ? JBLAS_UPPER : JBLAS_LOWER;
    c->diag = jtest_random_bool() ? JBLAS_UNIT : JBLAS_NON_UNIT;
    c->transa = draw_operation(function);
    c->transb = draw_operation(function);
    c->m = wish->m ? wish->m : draw_size(c, wish);
    c->n = wish->n ? wish->n : draw_size(c, wish);
    c->k = wish->no_depth ? 0 : wish->k ? wish->k : draw_size(c, wish);
    c->ku = draw_size(c, wish);
    c->batch_count = !blas_has(c, 'b') ? 1
                     : wish->low > 0   ? 2
                                       : jtest_random_between(0, BLAS_MAX_BATCH);
    draw_scalar(c, 0, 'a', 'A', wish->plain, wish->alpha_zero, false);
    draw_scalar(c, 1, 'c', 'C', wish->plain, wish->beta_zero, wish->beta_one);
    if (blas_has(c, 'P'))
        draw_parameters(c, wish->plain);
    function->routine->shape(c);
    for (int which = 0; which < BLAS_OPERANDS; ++which) {
        blas_operand_t *o = &c->operand[which];
        if (o->kind == BLAS_NONE)
            continue;
        draw_layout(c, which, wish);
        if (wish->hollow)
            continue;
        if (!map_operand(o, function->routine->level, wish->guard_before))
            abort();
        fill_operand(o);
        memcpy(o->before, o->region, o->region_bytes);
        const bool has_pointers = blas_has(c, 'b') && !blas_has(c, 'p') && o->kind != BLAS_RESULT;
        for (int64_t item = 0; item < o->count; ++item)
            o->pointers[item] = o->data + (size_t)(item * o->stride) * wide_sizeof(o->element);
        c->pointer[which] = has_pointers
                                ? (void *)o->pointers
                                : o->data + (size_t)blas_origin(o) * wide_sizeof(o->element);
    }
    return c;
}

void blas_resize(blas_case_t *c, int64_t m, int64_t n, int64_t k) {
    c->m = m, c->n = n, c->k = k;
    c->function->routine->shape(c);
    for (int which = 0; which < BLAS_OPERANDS; ++which) {
        blas_operand_t *o = &c->operand[which];
        o->ld = o->kind == BLAS_MATRIX && o->height > 1 ? o->height : 1;
        o->later.ld = o->later.rows > 1 ? o->later.rows : 1;
        if (o->kind != BLAS_RESULT)
            o->stride = whole_stride(o);
    }
}

void blas_case_free(blas_case_t *c) {
    for (int which = 0; which < BLAS_OPERANDS; ++which) {
        if (c->operand[which].mapping)
            munmap(c->operand[which].mapping, c->operand[which].mapping_bytes);
        free(c->operand[which].before);
    }
    wide_arena_free(&c->arena);
    free(c);
}

/* ---- Judging ---- */

const char *blas_describe(blas_case_t *c) {
    int at = snprintf(c->text, sizeof c->text, "%s", c->function->name);
#define SAY(...)                                                                                   \
    (at += at < (int)sizeof c->text                                                                \
               ? snprintf(c->text + at, sizeof c->text - (size_t)at, __VA_ARGS__)                  \
               : 0)
    for (const char *letter = c->function->routine->signature; *letter; ++letter)
        switch (*letter) {
        case 'S': SAY(" side=%c", c->side == JBLAS_LEFT ? 'L' : 'R'); break;
        case 'T': SAY(" transa=%c", "NTCR"[c->transa - JBLAS_NO_TRANSPOSE]); break;
        case 'V': SAY(" transb=%c", "NTCR"[c->transb - JBLAS_NO_TRANSPOSE]); break;
        case 'U': SAY(" uplo=%c", c->uplo == JBLAS_UPPER ? 'U' : 'L'); break;
        case 'D': SAY(" diag=%c", c->diag == JBLAS_UNIT ? 'U' : 'N'); break;
        case 'E':
            for (int which = 0; which < BLAS_OPERANDS; ++which)
                SAY(" %s", jdatatype_name(c->types[which]));
            SAY(" in %s", jdatatype_name(c->compute_type));
            break;
        case 'm': SAY(" m=%ld", (long)c->m); break;
        case 'n': SAY(" n=%ld", (long)c->n); break;
        case 'k': SAY(" k=%ld", (long)c->k); break;
        case 'l': SAY(" ku=%ld", (long)c->ku); break;
        case 'b': SAY(" batch=%ld", (long)c->batch_count); break;
        case 'a':
        case 'A': SAY(" alpha=%Lg%+Lgi", __real__ c->alpha, __imag__ c->alpha); break;
        case 'c':
        case 'C': SAY(" beta=%Lg%+Lgi", __real__ c->beta, __imag__ c->beta); break;
        case 'Y': SAY(" ld afterwards=%ld", (long)c->operand[0].later.ld); break;
        case 'x':
        case 'y':
        case 'z': SAY(" ld%d=%ld", *letter - 'x', (long)c->operand[*letter - 'x'].ld); break;
        default: break;
        }
#undef SAY
    return c->text;
}

size_t blas_query(jhandle_t *handle, blas_case_t *c) {
    void *pointers[BLAS_POINTERS];
    size_t bytes = 1;
    memcpy(pointers, c->pointer, sizeof pointers);
    memset(c->pointer, 0, sizeof pointers);
    JEXPECT_OK(jhandle_start_size_query(handle));
    const jstatus_t status = blas_call(handle, c);
    JEXPECT_STATUS(blas_call(handle, c), JSTATUS_SIZE_UNCHANGED); /* no more than the call before */
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_STATUS(status, bytes > 0 ? JSTATUS_SIZE_INCREASED : JSTATUS_SIZE_UNCHANGED);
    JEXPECT_EQ(bytes % jdevice_granule_bytes(jhandle_device(handle)), 0);
    memcpy(c->pointer, pointers, sizeof pointers);
    return bytes;
}

void blas_restore(blas_case_t *c) {
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        if (c->operand[which].kind)
            memcpy(c->operand[which].region, c->operand[which].before,
                   c->operand[which].region_bytes);
}

static bool bytes_as(blas_case_t *c, const blas_operand_t *o, const unsigned char *expected,
                     const char *what) {
    if (memcmp(o->region, expected, o->region_bytes) == 0)
        return true;
    size_t at = 0;
    while (o->region[at] == expected[at])
        ++at;
    JFAIL("%s: operand %d, %s: byte %ld (element %ld) has changed", blas_describe(c),
          (int)(o - c->operand), what, (long)at - (long)(o->data - o->region),
          ((long)at - (long)(o->data - o->region)) / (long)wide_sizeof(o->element));
    return false;
}

bool blas_unchanged(blas_case_t *c) {
    bool same = true;
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        if (c->operand[which].kind)
            same &= bytes_as(c, &c->operand[which], c->operand[which].before, "must be untouched");
    return same;
}

static bool element_right(const blas_case_t *c, wide_t got, wide_t want, long double bound,
                          int element) {
    const int computed = wide_is_half((int)c->compute_type) ? JDATATYPE_F32 : (int)c->compute_type;
    long double allowed = 4 * wide_epsilon(computed) * (long double)(c->depth + 8) * bound;
    /* Summed in what it is computed in, rounded once; the smallest of half are 2^-24 apart. */
    if (wide_epsilon(element) > wide_epsilon(computed))
        allowed += 0.501L * wide_epsilon(element) * wide_abs(want) +
                   (wide_is_half(element) ? 0x1p-25L : 0);
    if (element == JDATATYPE_I32)
        return got == (wide_t)(int32_t)(uint32_t)(int64_t) __real__ want;
    const wide_t apart = got - want;
    if (element == WIDE_I64 || bound == 0)
        return got == want;
    return wide_abs(apart) <= allowed; /* false for NaN */
}

blas_operand_t blas_after_the_call(const blas_operand_t *o) {
    blas_operand_t after = *o;
    if (o->later.moves)
        after.rows = o->later.rows, after.columns = o->later.columns, after.ld = o->later.ld;
    return after;
}

/* What each item should be: item 0 comes last, since each is given in its place. It is also the one
 * of which a test may ask the routine's reference itself. */
static void find_reference(blas_case_t *c) {
    if (c->has_reference)
        return;

    for (c->item = c->batch_count - 1; c->item >= 0; --c->item) {
        c->function->routine->reference(c);
        for (int which = 0; which < BLAS_OPERANDS; ++which)
            c->operand[which].want[c->item] = c->operand[which].want[0];
    }
    c->item = 0;
    c->has_reference = true;
}

bool blas_right(blas_case_t *c) {
    find_reference(c);
    bool right = true;
    for (int which = 0; which < BLAS_OPERANDS && right; ++which) {
        blas_operand_t *o = &c->operand[which];
        if (o->kind == BLAS_NONE)
            continue;
        unsigned char *expected = malloc(o->region_bytes);
        if (!expected)
            abort();
        memcpy(expected, o->before, o->region_bytes);
        const size_t size = wide_sizeof(o->element), lead = (size_t)(o->data - o->region);
        const bool written = o->written && !c->quick;
        const blas_operand_t after = blas_after_the_call(o);
        for (int64_t item = 0; written && item < o->count && right; ++item)
            for (int64_t j = 0; j < after.columns && right; ++j)
                for (int64_t i = 0; i < after.rows && right; ++i) {
                    if (!blas_is_part(&after, i, j))
                        continue;
                    const int64_t index = blas_index(&after, item, i, j);
                    const wide_t got = wide_get(o->data, o->element, index);
                    const wide_t want = *wide_at(o->want[item], i, j);
                    if (!element_right(c, got, want, *wide_bound_at(o->want[item], i, j),
                                       o->element)) {
                        JFAIL("%s: operand %d, item %ld, element (%ld, %ld) is %.17Lg%+.17Lgi, "
                              "should be %.17Lg%+.17Lgi",
                              blas_describe(c), which, (long)item, (long)i, (long)j, __real__ got,
                              __imag__ got, __real__ want, __imag__ want);
                        right = false;
                    }
                    memcpy(expected + lead + (size_t)index * size, o->data + (size_t)index * size,
                           size);
                }
        right = right && bytes_as(c, o, expected, written ? "outside of the answer" : "read only");
        free(expected);
    }
    return right;
}

unsigned char *blas_snapshot(const blas_case_t *c) {
    size_t bytes = 1, at = 0;
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        bytes += c->operand[which].region_bytes;
    unsigned char *copy = malloc(bytes);
    if (!copy)
        abort();
    for (int which = 0; which < BLAS_OPERANDS; at += c->operand[which++].region_bytes)
        if (c->operand[which].kind)
            memcpy(copy + at, c->operand[which].region, c->operand[which].region_bytes);
    return copy;
}

bool blas_same_as(const blas_case_t *c, const unsigned char *snapshot) {
    bool same = true;
    for (int which = 0; which < BLAS_OPERANDS; snapshot += c->operand[which++].region_bytes)
        if (c->operand[which].kind)
            same &= memcmp(snapshot, c->operand[which].region, c->operand[which].region_bytes) == 0;
    return same;
}

long double blas_largest(const blas_case_t *c, int which) {
    const blas_operand_t *o = &c->operand[which];
    const unsigned char *data = o->before + (o->data - o->region);
    long double largest = 0;
    for (int64_t j = 0; j < o->columns && !o->unread; ++j)
        for (int64_t i = 0; i < o->rows; ++i)
            if (blas_is_placed(o, i, j))
                largest =
                    fmaxl(largest, wide_abs(wide_get(data, o->element, blas_index(o, 0, i, j))));
    return largest;
}

bool blas_within(blas_case_t *c, long double bound) {
    blas_operand_t *o = &c->operand[2];
    unsigned char *before = o->before + (o->data - o->region);
    find_reference(c);
    for (int64_t j = 0; j < o->columns; ++j)
        for (int64_t i = 0; i < o->rows; ++i) {
            const int64_t at = blas_index(o, 0, i, j);
            const wide_t got = wide_get(o->data, o->element, at), want = *wide_at(o->want[0], i, j);
            if (!(wide_abs(got - want) <= bound)) {
                JFAIL("%s: element (%ld, %ld) is %.17Lg%+.17Lgi, should be %.17Lg%+.17Lgi within "
                      "%Lg",
                      blas_describe(c), (long)i, (long)j, __real__ got, __imag__ got, __real__ want,
                      __imag__ want, bound);
                return false;
            }
            wide_put(o->data, o->element, at, 0);
            wide_put(before, o->element, at, 0);
        }
    return blas_unchanged(c); /* all that is not an element of C */
}
