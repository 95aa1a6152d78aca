/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The routines: one table, a row each. Operands and calls come from the library's own rows
 * (blas/rows.h); what a routine counts, what its result should be and how the CBLAS is called is
 * said here.
 *
 * Element types are dispatched at run time: operands are void pointers, which C converts to
 * whatever the routine of that type wants, and scalars are pointers too. The CBLAS takes real
 * scalars by value; ARGS lists below therefore take VALUE, which reads a scalar for s and d and
 * passes the pointer for c and z. */

#include <stdio.h>
#include <string.h>

#include "blas/guest/guest.h"
#include "blas/routine/rows.h"
#include "problem.h"

/* ---- Operands ---- */

static int64_t at_least_1(int64_t n) { return n > 1 ? n : 1; }
static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

static operand_t *matrix(problem_t *p, int which, int64_t rows, int64_t columns, fill_t fill,
                         bool written) {
    const options_t *o = p->options;
    const int64_t ld[OPERANDS] = {o->lda, o->ldb, o->ldc, o->ldaf, UNSET, o->ldu, o->ldvt};
    operand_t *operand = &p->operand[which];
    operand->rows = max_of(rows, 0);
    operand->columns = max_of(columns, 0);
    operand->height = operand->rows;
    operand->ld = ld[which] == UNSET ? at_least_1(rows) : ld[which];
    operand->fill = fill;
    operand->written = written;
    operand->batch = 1;
    operand->present = true;
    return operand;
}

static void vector(problem_t *p, int which, int64_t length, int64_t increment, bool written) {
    operand_t *operand = matrix(p, which, length, 1, FILL_GENERAL, written);
    operand->vector = true;
    operand->ld = increment;
}

/* Makes what was said of one item that of a batch: items one behind the other, or so far apart. */
static void batch(problem_t *p, int which, int64_t said) {
    operand_t *operand = &p->operand[which];
    operand->batch = max_of(p->options->batch_count, 0);
    operand->stride = said;
    if (said != UNSET)
        return;

    if (operand->layout == LAYOUT_UPPER || operand->layout == LAYOUT_LOWER) {
        operand->stride = (int64_t)((double)operand->rows * ((double)operand->rows + 1) / 2);
        return;
    }
    const int64_t step = operand->ld < 0 ? -operand->ld : operand->ld;
    int64_t after = 0;
    if (operand->vector && step > 0)
        operand->stride = operand->rows > 0 ? (operand->rows - 1) * step + 1 : 1;
    else if (__builtin_mul_overflow(step, at_least_1(operand->columns), &operand->stride) ||
             __builtin_mul_overflow(operand->later.ld, operand->later.columns, &after))
        operand->stride = 0; /* such a leading dimension is refused */
    operand->stride = max_of(operand->stride, after);
}

/* What matrix() has made of the array becomes the band that it holds. */
static void band(operand_t *operand, int64_t rows, int64_t below, int64_t above) {
    operand->layout = LAYOUT_BAND;
    operand->rows = max_of(rows, 0);
    operand->below = below, operand->above = above;
}

/* Where matrix() lies after the call. */
static void later(operand_t *operand, int64_t ld, int64_t rows, int64_t columns) {
    operand->later.rows = max_of(rows, 0);
    operand->later.columns = max_of(columns, 0);
    operand->later.ld = ld == UNSET ? at_least_1(rows) : ld;
}

static void packed(problem_t *p, int which, int64_t order, fill_t fill, bool written) {
    operand_t *operand = matrix(p, which, order, order, fill, written);
    operand->layout = p->options->uplo == JBLAS_UPPER ? LAYOUT_UPPER : LAYOUT_LOWER;
}

static void batch_results(problem_t *p, size_t bytes) { p->result_bytes = bytes; }

/* Of a problem's operands, and its pointers to what the next call works on. */
#define SLOT_a 0
#define SLOT_ap 0
#define SLOT_b 1
#define SLOT_tau 1
#define SLOT_ipiv 2
#define SLOT_bp 1
#define SLOT_c 2
#define SLOT_d1 0
#define SLOT_d2 1
#define SLOT_x1 2
#define SLOT_s 3
#define SLOT_y1 3
#define SLOT_param 4
#define SLOT_af 3
#define SLOT_ferr 4
#define SLOT_berr 5
#define SLOT_dl 0
#define SLOT_w 2
#define SLOT_wr 2
#define SLOT_alpha 2
#define SLOT_alphar 2
#define SLOT_d 2
#define SLOT_wi 3
#define SLOT_alphai 3
#define SLOT_du 3
#define SLOT_beta 4
#define SLOT_x 1
#define SLOT_y 2
/* X is a matrix of its own where B is another. */
#define MATRIX_SLOT(name) MATRIX_SLOT_##name
#define MATRIX_SLOT_a SLOT_a
#define MATRIX_SLOT_b SLOT_b
#define MATRIX_SLOT_c SLOT_c
#define MATRIX_SLOT_af SLOT_af
#define MATRIX_SLOT_x 2
#define MATRIX_SLOT_ab 0
#define MATRIX_SLOT_u 5
#define MATRIX_SLOT_vl 5
#define MATRIX_SLOT_vs 5
#define MATRIX_SLOT_z 5
#define MATRIX_SLOT_vt 6
#define MATRIX_SLOT_vr 6
#define MATRIX_OPERAND_a(operand) operand
#define MATRIX_OPERAND_b(operand) operand
#define MATRIX_OPERAND_c(operand) operand
#define MATRIX_OPERAND_af(operand) operand
#define MATRIX_OPERAND_x(operand) p->c
#define MATRIX_OPERAND_ab(operand) p->a
#define MATRIX_OPERAND_u(operand) p->e
#define MATRIX_OPERAND_vl(operand) p->e
#define MATRIX_OPERAND_vs(operand) p->e
#define MATRIX_OPERAND_z(operand) p->e
#define MATRIX_OPERAND_vt(operand) p->v
#define MATRIX_OPERAND_vr(operand) p->v
#define FILL_SYMMETRIC FILL_GENERAL
#define FILL_SKEW FILL_GENERAL
#define FILL_INVERTED FILL_TRIANGULAR
#define FILL_FACTOR FILL_TRIANGULAR
#define FILL_DEFINITE FILL_POSITIVE
#define FILL_REGULAR FILL_POSITIVE
#define FILL_SYMMETRIC_REGULAR FILL_POSITIVE
#define FILL_HERMITIAN_REGULAR FILL_POSITIVE
#define FILL_DIAGONALIZED FILL_TRIANGULAR
#define FILL_PIVOTED FILL_POSITIVE
#define FILL_FACTORED FILL_LU
#define FILL_FACTORED_TRIANGLE FILL_CHOLESKY
#define FILL_REFLECTORS FILL_GENERAL
#define FILL_FULL FILL_POSITIVE
#define IS_READ false
#define IS_WRITTEN true
#define IS_OUTPUT true

#define SETUP(context, kind, ...) SETUP_##kind(__VA_ARGS__)
#define SETUP_ENUM(name, which)
#define SETUP_LENGTH(name)
#define SETUP_SIZE(name)
#define SETUP_SCALAR(name, of)
#define SETUP_RESULT(name, of)
#define SETUP_NUMBER(name, of, access, read)                                                       \
    vector(p, SLOT_##name, NUMBERS_##of, 1, IS_##access);                                          \
    p->operand[SLOT_##name].real = SCALAR_IS_##of;                                                 \
    p->operand[SLOT_##name].null = IS_NULL(args, name);
/* Whether it is real, whatever the type of the elements. */
#define SCALAR_IS_ELEMENT false
#define SCALAR_IS_SUM false
#define SCALAR_IS_REAL true
#define SCALAR_IS_REALS true
#define SCALAR_IS_PARAMETERS false
#define SCALAR_IS_CS false
#define NUMBERS_ELEMENT 1
#define NUMBERS_REAL 1
#define NUMBERS_REALS max_of(args->nrhs, 0)
#define NUMBERS_PARAMETERS 5
#define SETUP_VECTOR(name, inc, access, count, read)                                               \
    vector(p, SLOT_##name, JI_COUNT_##count, args->inc, IS_##access);                              \
    p->operand[SLOT_##name].null = IS_NULL(args, name);
#define SETUP_MATRIX(name, ld, access, structure, shape, read)                                     \
    {                                                                                              \
        operand_t *made = matrix(p, MATRIX_SLOT(name), JI_ROWS_##shape, JI_COLUMNS_##shape,        \
                                 FILL_##structure, IS_##access);                                   \
        made->null = IS_NULL(args, name);                                                          \
        AS_##shape;                                                                                \
    }
#define SETUP_PACKED(name, access, structure, order, read)                                         \
    packed(p, SLOT_##name, args->order, FILL_##structure, IS_##access);                            \
    p->operand[SLOT_##name].null = IS_NULL(args, name);
#define AS_PLAIN(rows, columns)
#define AS_OPERATED(trans, m, n)
#define AS_SIDED(m, n)
#define AS_SIDED_BY(k)
#define AS_SIDED_ACROSS(k)
#define AS_LARGER(m, n, nrhs)
#define AS_WANTED(job, m, n)
#define AS_U(routine)
#define AS_VT(routine)
#define AS_BAND(m, n, kl, ku) band(made, args->m, args->kl, args->ku)
#define AS_TRIANGLE_BAND(n, k)                                                                     \
    band(made, args->n, args->uplo == JBLAS_UPPER ? 0 : args->k,                                   \
         args->uplo == JBLAS_UPPER ? args->k : 0)
#define AS_BAND_OF(kd, n)                                                                          \
    band(made, args->n, args->uplo == JBLAS_UPPER ? 0 : args->kd,                                  \
         args->uplo == JBLAS_UPPER ? args->kd : 0)
#define SETUP_LEADING(ld, name, shape)                                                             \
    later(&p->operand[SLOT_##name], args->ld, JI_ROWS_##shape, JI_COLUMNS_##shape);
#define SETUP_INDICES(name, access, count)                                                         \
    p->pivot_count = p->pivots_each = max_of(JI_COUNT_##count, 0);                                 \
    p->pivots_are_order = IS_##access##_ORDER;                                                     \
    p->has_pivots = true;
#define IS_READ_ORDER false
#define IS_WRITTEN_ORDER false
#define IS_UPDATED_ORDER true
#define SETUP_FACTORS(name, access, count)                                                         \
    vector(p, SLOT_##name, max_of(JI_COUNT_##count, 0), 1, IS_##access);                           \
    p->operand[SLOT_##name].null = IS_NULL(args, name);
#define SETUP_REALS(name, access, count)                                                           \
    SETUP_FACTORS(name, access, count)                                                             \
    p->operand[SLOT_##name].real = true;
#define SETUP_TYPED_VECTOR(name, type, inc, ...) SETUP_VECTOR(name, inc, __VA_ARGS__)
#define SETUP_TYPED_MATRIX(name, type, ld, ...) SETUP_MATRIX(name, ld, __VA_ARGS__)

/* Pivots have their stride where operand 2 has its own. */
static void batch_pivots(problem_t *p, int64_t said) {
    int64_t all = 0; /* of a stride that is refused */
    p->operand[SLOT_ipiv].stride = said == UNSET ? p->pivots_each : said;
    if (p->options->batch_count < 1 ||
        __builtin_mul_overflow(p->options->batch_count - 1, p->operand[SLOT_ipiv].stride, &all))
        return;
    p->pivot_count = (all < 0 ? -all : all) + p->pivots_each;
    p->pivot_origin = all < 0 ? -all : 0;
}

/* Of batched forms, behind the same of one item. */
#define BATCH(context, kind, ...) BATCH_##kind(__VA_ARGS__)
#define BATCH_ENUM(name, which)
#define BATCH_LENGTH(name)
#define BATCH_SIZE(name)
#define BATCH_SCALAR(name, of)
#define BATCH_RESULT(name, of) batch_results(p, RESULT_##of(p->type));
#define BATCH_NUMBER(name, ...) batch(p, SLOT_##name, STRIDE_##name);
#define BATCH_VECTOR(name, ...) batch(p, SLOT_##name, args->stride_##name);
#define BATCH_MATRIX(name, ...) batch(p, SLOT_##name, args->stride_##name);
#define BATCH_PACKED(name, ...) batch(p, SLOT_##name, STRIDE_##name);
#define BATCH_LEADING(ld, name, shape)
#define BATCH_INDICES(name, access, count) batch_pivots(p, args->stride_c);
#define BATCH_FACTORS(name, access, count) batch(p, SLOT_##name, args->stride_b);
#define BATCH_TYPED_VECTOR(name, ...) BATCH_VECTOR(name, )
#define BATCH_TYPED_MATRIX(name, ...) BATCH_MATRIX(name, )
#define STRIDE_a args->stride_a
#define STRIDE_b args->stride_b
#define STRIDE_c args->stride_c
#define STRIDE_s args->stride_s
#define STRIDE_d1 STRIDE_a
#define STRIDE_d2 STRIDE_b
#define STRIDE_x1 STRIDE_c
#define STRIDE_y1 STRIDE_s
#define STRIDE_param args->stride_param
#define STRIDE_ap args->stride_a
#define STRIDE_bp args->stride_b
#define RESULT_ELEMENT(type) type_bytes(type)
#define RESULT_REAL(type) (type_is_single(type) ? sizeof(float) : sizeof(double))
#define RESULT_INDEX(type) sizeof(int64_t)
#define RESULT_WIDE(type) sizeof(double)

#define SETUP_PLAIN(routine, level)                                                                \
    static void setup_##routine(problem_t *p) {                                                    \
        const options_t *args = p->options;                                                        \
        (void)args;                                                                                \
        JI_ARGUMENTS_##routine(SETUP, )                                                            \
    }
JI_ROUTINE_LIST(SETUP_PLAIN)
#define SETUP_BATCHED(routine, level)                                                              \
    static void setup_##routine##_batched(problem_t *p) {                                          \
        const options_t *args = p->options;                                                        \
        setup_##routine(p);                                                                        \
        JI_ARGUMENTS_##routine(BATCH, )(void) args;                                                \
    }
JI_ROUTINE_LIST(SETUP_BATCHED)

/* ---- Work ---- */

static int64_t order_of_a(const options_t *args) { return JI_ROWS_SIDED(m, n); }

/* The longest sum behind an element of the result. */
static int64_t terms_none(const options_t *args) { return 0 * args->n; }
static int64_t terms_n(const options_t *args) { return args->n; }
static int64_t terms_m(const options_t *args) { return args->m; }
static int64_t terms_k(const options_t *args) { return args->k; }
static int64_t terms_order(const options_t *args) { return order_of_a(args); }
static int64_t terms_taken(const options_t *args) { return JI_COUNT_TAKEN(trans, m, n); }
static int64_t terms_band(const options_t *args) { return args->kl + args->ku + 1; }
static int64_t terms_triangle_band(const options_t *args) { return 2 * args->k + 1; }

static int64_t terms_larger(const options_t *o) { return o->m > o->n ? o->m : o->n; }

/* ---- Calls ---- */

#define VALUE_s(scalar) (scalar).s[0]
#define VALUE_d(scalar) (scalar).d[0]
#define VALUE_c(scalar) &(scalar)
#define VALUE_z(scalar) &(scalar)
#define DIRECT_SD(name, ARGS)                                                                      \
    switch (p->type) {                                                                             \
    case JDATATYPE_F32: ji_guest.s##name(ARGS(VALUE_s)); break;                                    \
    default: ji_guest.d##name(ARGS(VALUE_d)); break;                                               \
    }
#define DIRECT_CZ(name, ARGS)                                                                      \
    switch (p->type) {                                                                             \
    case JDATATYPE_F32_C: ji_guest.c##name(ARGS(VALUE_c)); break;                                  \
    default: ji_guest.z##name(ARGS(VALUE_z)); break;                                               \
    }
#define DIRECT_SDCZ(name, ARGS)                                                                    \
    switch (p->type) {                                                                             \
    case JDATATYPE_F32:                                                                            \
    case JDATATYPE_F64: DIRECT_SD(name, ARGS) break;                                               \
    default: DIRECT_CZ(name, ARGS) break;                                                          \
    }

#define O (p->options)
#define LDA (p->operand[0].ld)
#define LDB (p->operand[1].ld)
#define LDC (p->operand[2].ld)
#define OUT(member) ((void *)(uintptr_t)&p->member)
#define RESULT (p->results != NULL ? (void *)p->results : OUT(result)) /* of a batch; one */
#define RESULT_result (IS_NULL(O, result) ? NULL : RESULT)
#define RESULT_info (IS_NULL(O, info) ? NULL : RESULT)
#define RESULT_rcond (IS_NULL(O, rcond) ? NULL : RESULT)
#define RESULT_iter (IS_NULL(O, iter) ? NULL : OUT(count))
#define RESULT_count (IS_NULL(O, count) ? NULL : OUT(count))
#define RESULT_rank (IS_NULL(O, rank) ? NULL : OUT(count))
#define SCALAR_alpha (O->alpha.null ? NULL : (const void *)&p->alpha)
#define SCALAR_anorm SCALAR_alpha
#define SCALAR_beta (O->beta.null ? NULL : (const void *)&p->beta)
#define SCALAR_above (O->above.null ? NULL : (const void *)&p->above)
#define SCALAR_up_to (O->up_to.null ? NULL : (const void *)&p->up_to)
#define SCALAR_abstol (O->abstol.null ? NULL : (const void *)&p->abstol)
#define SCALAR_rcond (O->rcond.null ? NULL : (const void *)&p->rcond)
#define SCALAR_c SCALAR_alpha
#define SCALAR_s SCALAR_beta
#define SCALAR_param (O->null_param ? NULL : (const void *)&p->param)
#define POINTER_a p->a
#define POINTER_ap p->a
#define POINTER_b p->b
#define POINTER_bp p->b
#define POINTER_c p->c
#define POINTER_d1 p->a
#define POINTER_d2 p->b
#define POINTER_x1 p->c
#define POINTER_s p->s
#define POINTER_y1 p->s
#define POINTER_param p->h
#define POINTER_x p->b
#define POINTER_y p->c
#define POINTER_tau p->b
#define POINTER_af p->s
#define POINTER_ferr p->h
#define POINTER_berr p->e
#define POINTER_dl p->a
#define POINTER_w p->c
#define POINTER_wr p->c
#define POINTER_alpha p->c
#define POINTER_alphar p->c
#define POINTER_d p->c
#define POINTER_wi p->s
#define POINTER_alphai p->s
#define POINTER_du p->s
#define POINTER_beta p->h
#define PIVOTS (p->pivots + p->pivot_origin)
#define POINTER_ipiv (IS_NULL(O, ipiv) ? NULL : PIVOTS)
#define POINTER_jpvt (IS_NULL(O, jpvt) ? NULL : PIVOTS)
#define POINTER_isuppz (IS_NULL(O, isuppz) ? NULL : PIVOTS)
#define POINTERS_a (void *)p->pa
#define POINTERS_ap (void *)p->pa
#define POINTERS_b (void *)p->pb
#define POINTERS_bp (void *)p->pb
#define POINTERS_c (void *)p->pc
#define POINTERS_d1 (void *)p->pa
#define POINTERS_d2 (void *)p->pb
#define POINTERS_x1 (void *)p->pc
#define POINTERS_s (void *)p->ps
#define POINTERS_y1 (void *)p->ps
#define POINTERS_param (void *)p->ph
#define POINTERS_x (void *)p->pb
#define POINTERS_y (void *)p->pc

#define PASS(form, kind, ...) PASS_##kind(form, __VA_ARGS__)
#define PASS_ENUM(form, name, which) , O->name
#define PASS_LENGTH(form, name) , O->name
#define PASS_SIZE(form, name) , O->name
#define PASS_SCALAR(form, name, of) , SCALAR_##name
#define PASS_RESULT(form, name, of) , RESULT_##name
#define PASS_NUMBER(form, name, ...) , OPERAND_##form(name)
#define PASS_NUMBER_STRIDE(form, name) PASS_STRIDE(form, name)
#define PASS_VECTOR(form, name, inc, ...) , OPERAND_##form(name), O->inc
#define PASS_MATRIX(form, name, leading, ...)                                                      \
    , MATRIX_OPERAND_##name(OPERAND_##form(name)), p->operand[MATRIX_SLOT(name)].ld
#define PASS_PACKED(form, name, ...) , OPERAND_##form(name)
#define PASS_LEADING(form, leading, name, shape) , p->operand[SLOT_##name].later.ld
#define PASS_INDICES(form, name, ...) , POINTER_##name
#define PASS_FACTORS(form, name, ...) , POINTER_##name
#define PASS_REALS(form, name, ...) , POINTER_##name
#define PASS_STRIDE(form, name) , p->operand[SLOT_##name].stride
#define PASS_COUNT(form, name) , O->name
#define OPERAND_PLAIN(name) POINTER_##name
#define OPERAND_POINTERS(name) POINTERS_##name
#define OPERAND_STRIDED(name) POINTER_##name
#define PASS_TYPED_VECTOR(form, name, type, inc, ...)                                              \
    , OPERAND_##form(name), (jdatatype_t)O->type, O->inc
#define PASS_TYPED_MATRIX(form, name, type, leading, ...)                                          \
    , OPERAND_##form(name), (jdatatype_t)O->type, p->operand[SLOT_##name].ld

/* The place of the function among the routine's names. */
static jdatatype_t name_of_type(const problem_t *p) {
    return routine_has_types(p->routine) ? JI_TYPE_x : p->type;
}

#define CALL_OF_TYPE(form, routine, t, name)                                                       \
    case JI_TYPE_##t:                                                                              \
        return JI_PUBLIC(form, name)(handle JI_ARGUMENTS_OF(form, routine, PASS, form));
#define CALL_OF(form, routine)                                                                     \
    static jstatus_t JI_NAME_OF(form, call_##routine)(jhandle_t * handle, const problem_t *p) {    \
        switch (name_of_type(p)) {                                                                 \
            JI_FUNCTIONS_##routine(CALL_OF_TYPE, form) default : return JSTATUS_NOT_IMPLEMENTED;   \
        }                                                                                          \
    }
#define CALL(routine, level)                                                                       \
    CALL_OF(PLAIN, routine) CALL_OF(POINTERS, routine) CALL_OF(STRIDED, routine)
JI_ROUTINE_LIST(CALL)

/* jlapack's, which have its prefix. */
#include "lapack/rows_guest.h"
JI_LAPACK_ROUTINE_LIST(SETUP_PLAIN)
JI_LAPACK_GUEST_ROUTINE_LIST(SETUP_PLAIN)
JI_LAPACK_BATCHED_LIST(SETUP_BATCHED)
#define CALL_PLAIN(routine, level) CALL_OF(PLAIN, routine)
JI_LAPACK_PLAIN_LIST(CALL_PLAIN)
JI_LAPACK_GUEST_ROUTINE_LIST(CALL_PLAIN)
JI_LAPACK_BATCHED_LIST(CALL)

#define COLUMNS GUEST_COLUMN_MAJOR

/* The same of the CBLAS, where it has one: a guest of this program, as it is jblas's. */
bool routine_has_cblas(const routine_t *routine, jdatatype_t type) {
    static enum { UNKNOWN, ABSENT, PRESENT } known;
    if (known == UNKNOWN)
        known = ji_guest_load() == JSTATUS_SUCCESS ? PRESENT : ABSENT;
    return known == PRESENT &&
           (routine->extra == NULL || ji_guest_symbol(routine->extra[type]) != NULL);
}
#define DIRECT(name) static void direct_##name(const problem_t *p)

/* A routine a line. */
/* clang-format off */

/* Level 1. x is operand 1, y operand 2. */
DIRECT(asum) {
    scalar_t *r = RESULT;
    switch (p->type) {
    case JDATATYPE_F32: r->s[0] = ji_guest.sasum(O->n, p->b, O->incx); break;
    case JDATATYPE_F64: r->d[0] = ji_guest.dasum(O->n, p->b, O->incx); break;
    case JDATATYPE_F32_C: r->s[0] = ji_guest.scasum(O->n, p->b, O->incx); break;
    default: r->d[0] = ji_guest.dzasum(O->n, p->b, O->incx); break;
    }
}
/* Functions that jblas does not call: their names by type, and calls of what has such a name. */
static const char *const extra_nrm2[] = {"cblas_snrm2", "cblas_dnrm2", "cblas_scnrm2",
                                         "cblas_dznrm2"};
static const char *const extra_iamin[] = {"cblas_isamin", "cblas_idamin", "cblas_icamin",
                                          "cblas_izamin"};
static const char *const extra_axpby[] = {"cblas_saxpby", "cblas_daxpby", "cblas_caxpby",
                                          "cblas_zaxpby"};
static const char *const extra_omatcopy[] = {"cblas_somatcopy", "cblas_domatcopy",
                                             "cblas_comatcopy", "cblas_zomatcopy"};
static const char *const extra_imatcopy[] = {"cblas_simatcopy", "cblas_dimatcopy",
                                             "cblas_cimatcopy", "cblas_zimatcopy"};
static const char *const extra_dsdot[] = {"cblas_dsdot"}, *const extra_sdsdot[] = {"cblas_sdsdot"};
static const char *const extra_rotg[] = {"cblas_srotg", "cblas_drotg", "cblas_crotg",
                                         "cblas_zrotg"};
static const char *const extra_rotmg[] = {"cblas_srotmg", "cblas_drotmg"};
static const char *const extra_rot[] = {"cblas_srot", "cblas_drot", "cblas_csrot", "cblas_zdrot"};
static const char *const extra_rotm[] = {"cblas_srotm", "cblas_drotm", NULL, NULL};
#define EXTRA(result, R, TAKES, ...)                                                               \
    {                                                                                              \
        const void *symbol = ji_guest_symbol(p->routine->extra[p->type]);                          \
        R(*call) TAKES;                                                                            \
        memcpy(&call, &symbol, sizeof symbol);                                                     \
        result call(__VA_ARGS__);                                                                  \
    }
#define PAIR_IN JI_GUEST_IN_, JI_GUEST_IN_
#define PAIR_OUT JI_GUEST_OUT_, JI_GUEST_OUT_
#define PAIR p->b, O->incx, p->c, O->incy
DIRECT(nrm2) {
    scalar_t *r = RESULT;
    if (type_is_single(p->type))
        EXTRA(r->s[0] =, float, JI_GUEST_ONE, O->n, p->b, O->incx)
    else
        EXTRA(r->d[0] =, double, JI_GUEST_ONE, O->n, p->b, O->incx)
}
DIRECT(iamin) {
    scalar_t *r = RESULT;
    EXTRA(r->index = (int64_t), int, JI_GUEST_ONE, O->n, p->b, O->incx)
}
#define ARGS(VALUE) O->n, VALUE(p->alpha), p->b, O->incx, VALUE(p->beta), p->c, O->incy
#define TAKES(S) (guest_int_t, S, JI_GUEST_IN_, S, JI_GUEST_OUT_)
DIRECT(axpby) {
    switch (p->type) {
    case JDATATYPE_F32: EXTRA(, void, TAKES(float), ARGS(VALUE_s)) break;
    case JDATATYPE_F64: EXTRA(, void, TAKES(double), ARGS(VALUE_d)) break;
    default: EXTRA(, void, TAKES(const void *), ARGS(VALUE_c)) break;
    }
}
#undef ARGS
#undef TAKES
DIRECT(rot) {
    if (type_is_single(p->type))
        EXTRA(, void, (guest_int_t, PAIR_OUT, float, float), O->n, PAIR, p->alpha.s[0],
              p->beta.s[0])
    else
        EXTRA(, void, (guest_int_t, PAIR_OUT, double, double), O->n, PAIR, p->alpha.d[0],
              p->beta.d[0])
}
DIRECT(dsdot) {
    scalar_t *r = RESULT;
    EXTRA(r->d[0] =, double, JI_GUEST_DOT, O->n, PAIR)
}
DIRECT(sdsdot) {
    scalar_t *r = RESULT;
    EXTRA(r->s[0] =, float, (guest_int_t, float, PAIR_IN), O->n, p->alpha.s[0], PAIR)
}
DIRECT(rotg) {
    EXTRA(, void, (void *, void *, void *, void *), p->a, p->b, p->c, p->s)
}
DIRECT(rotmg) {
    if (type_is_single(p->type))
        EXTRA(, void, (void *, void *, void *, float, void *), p->a, p->b, p->c, *(float *)p->s,
              p->h)
    else
        EXTRA(, void, (void *, void *, void *, double, void *), p->a, p->b, p->c, *(double *)p->s,
              p->h)
}
DIRECT(rotm) {
    EXTRA(, void, (guest_int_t, PAIR_OUT, const void *), O->n, PAIR, &p->param)
}
DIRECT(iamax) {
    scalar_t *r = RESULT;
    switch (p->type) {
    case JDATATYPE_F32: r->index = (int64_t)ji_guest.isamax(O->n, p->b, O->incx); break;
    case JDATATYPE_F64: r->index = (int64_t)ji_guest.idamax(O->n, p->b, O->incx); break;
    case JDATATYPE_F32_C: r->index = (int64_t)ji_guest.icamax(O->n, p->b, O->incx); break;
    default: r->index = (int64_t)ji_guest.izamax(O->n, p->b, O->incx); break;
    }
}
DIRECT(dot) {
    scalar_t *r = RESULT;
    if (p->type == JDATATYPE_F32)
        r->s[0] = ji_guest.sdot(O->n, p->b, O->incx, p->c, O->incy);
    else
        r->d[0] = ji_guest.ddot(O->n, p->b, O->incx, p->c, O->incy);
}
#define ARGS(VALUE) O->n, p->b, O->incx, p->c, O->incy, RESULT
DIRECT(dotu) { DIRECT_CZ(dotu_sub, ARGS) }
DIRECT(dotc) { DIRECT_CZ(dotc_sub, ARGS) }
#undef ARGS
#define ARGS(VALUE) O->n, VALUE(p->alpha), p->b, O->incx, p->c, O->incy
DIRECT(axpy) { DIRECT_SDCZ(axpy, ARGS) }
#undef ARGS
#define ARGS(VALUE) O->n, p->b, O->incx, p->c, O->incy
DIRECT(copy) { DIRECT_SDCZ(copy, ARGS) }
DIRECT(swap) { DIRECT_SDCZ(swap, ARGS) }
#undef ARGS
#define ARGS(VALUE) O->n, VALUE(p->alpha), p->b, O->incx
DIRECT(scal) { DIRECT_SDCZ(scal, ARGS) }
#undef ARGS
DIRECT(csscal) { ji_guest.csscal(O->n, p->alpha.s[0], p->b, O->incx); }
DIRECT(zdscal) { ji_guest.zdscal(O->n, p->alpha.d[0], p->b, O->incx); }

/* Level 2. A is operand 0. */
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->transa, O->m, O->n, VALUE(p->alpha), p->a, LDA, p->b, O->incx,               \
        VALUE(p->beta), p->c, O->incy
DIRECT(gemv) { DIRECT_SDCZ(gemv, ARGS) }
#undef ARGS
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->m, O->n, VALUE(p->alpha), p->b, O->incx, p->c, O->incy, p->a, LDA
DIRECT(ger) { DIRECT_SD(ger, ARGS) }
DIRECT(geru) { DIRECT_CZ(geru, ARGS) }
DIRECT(gerc) { DIRECT_CZ(gerc, ARGS) }
#undef ARGS
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->uplo, O->n, VALUE(p->alpha), p->a, LDA, p->b, O->incx, VALUE(p->beta),       \
        p->c, O->incy
DIRECT(symv) { DIRECT_SD(symv, ARGS) }
DIRECT(hemv) { DIRECT_CZ(hemv, ARGS) }
#undef ARGS
#define ARGS(VALUE) COLUMNS, O->uplo, O->n, VALUE(p->alpha), p->b, O->incx, p->a, LDA
DIRECT(syr) { DIRECT_SD(syr, ARGS) }
#undef ARGS
DIRECT(her) {
    if (p->type == JDATATYPE_F32_C)
        ji_guest.cher(COLUMNS, O->uplo, O->n, p->alpha.s[0], p->b, O->incx, p->a, LDA);
    else
        ji_guest.zher(COLUMNS, O->uplo, O->n, p->alpha.d[0], p->b, O->incx, p->a, LDA);
}
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->uplo, O->n, VALUE(p->alpha), p->b, O->incx, p->c, O->incy, p->a, LDA
DIRECT(syr2) { DIRECT_SD(syr2, ARGS) }
DIRECT(her2) { DIRECT_CZ(her2, ARGS) }
#undef ARGS
#define ARGS(VALUE) COLUMNS, O->uplo, O->transa, O->diag, O->n, p->a, LDA, p->b, O->incx
DIRECT(trmv) { DIRECT_SDCZ(trmv, ARGS) }
DIRECT(trsv) { DIRECT_SDCZ(trsv, ARGS) }
#undef ARGS

/* Level 3, extensions, solvers. */
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->transa, O->transb, O->m, O->n, O->k, VALUE(p->alpha), p->a, LDA, p->b, LDB,  \
        VALUE(p->beta), p->c, LDC
DIRECT(gemm) { DIRECT_SDCZ(gemm, ARGS) }
#undef ARGS
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->side, O->uplo, O->m, O->n, VALUE(p->alpha), p->a, LDA, p->b, LDB,            \
        VALUE(p->beta), p->c, LDC
DIRECT(symm) { DIRECT_SDCZ(symm, ARGS) }
DIRECT(hemm) { DIRECT_CZ(hemm, ARGS) }
#undef ARGS
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->uplo, O->transa, O->n, O->k, VALUE(p->alpha), p->a, LDA, VALUE(p->beta),     \
        p->c, LDC
DIRECT(syrk) { DIRECT_SDCZ(syrk, ARGS) }
#undef ARGS
DIRECT(herk) {
    if (p->type == JDATATYPE_F32_C)
        ji_guest.cherk(COLUMNS, O->uplo, O->transa, O->n, O->k, p->alpha.s[0], p->a, LDA,
                    p->beta.s[0], p->c, LDC);
    else
        ji_guest.zherk(COLUMNS, O->uplo, O->transa, O->n, O->k, p->alpha.d[0], p->a, LDA,
                    p->beta.d[0], p->c, LDC);
}
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->uplo, O->transa, O->n, O->k, VALUE(p->alpha), p->a, LDA, p->b, LDB,          \
        VALUE(p->beta), p->c, LDC
DIRECT(syr2k) { DIRECT_SDCZ(syr2k, ARGS) }
#undef ARGS
#define ARGS(beta)                                                                                 \
    COLUMNS, O->uplo, O->transa, O->n, O->k, &p->alpha, p->a, LDA, p->b, LDB, beta, p->c, LDC
DIRECT(her2k) {
    if (p->type == JDATATYPE_F32_C)
        ji_guest.cher2k(ARGS(p->beta.s[0]));
    else
        ji_guest.zher2k(ARGS(p->beta.d[0]));
}
#undef ARGS
#define ARGS(VALUE)                                                                                \
    COLUMNS, O->side, O->uplo, O->transa, O->diag, O->m, O->n, VALUE(p->alpha), p->a, LDA,   \
        p->b, LDB
DIRECT(trmm) { DIRECT_SDCZ(trmm, ARGS) }
DIRECT(trsm) { DIRECT_SDCZ(trsm, ARGS) }
#undef ARGS

#define ARGS(VALUE) (int)COLUMNS, O->transa, O->m, O->n, VALUE(p->alpha), p->a, LDA, p->b, LDB
#define TAKES(S)                                                                                   \
    (int, int, guest_int_t, guest_int_t, S, JI_GUEST_IN_, void *, guest_int_t)
DIRECT(omatcopy) {
    switch (p->type) {
    case JDATATYPE_F32: EXTRA(, void, TAKES(float), ARGS(VALUE_s)) break;
    case JDATATYPE_F64: EXTRA(, void, TAKES(double), ARGS(VALUE_d)) break;
    default: EXTRA(, void, TAKES(const void *), ARGS(VALUE_c)) break;
    }
}
#undef ARGS
#undef TAKES

#define LATER (p->operand[0].later.ld)
#define ARGS(VALUE) (int)COLUMNS, O->transa, O->m, O->n, VALUE(p->alpha), p->a, LDA, LATER
#define TAKES(S) (int, int, guest_int_t, guest_int_t, S, void *, guest_int_t, guest_int_t)
DIRECT(imatcopy) {
    switch (p->type) {
    case JDATATYPE_F32: EXTRA(, void, TAKES(float), ARGS(VALUE_s)) break;
    case JDATATYPE_F64: EXTRA(, void, TAKES(double), ARGS(VALUE_d)) break;
    default: EXTRA(, void, TAKES(const void *), ARGS(VALUE_c)) break;
    }
}
#undef ARGS
#undef TAKES

DIRECT(axpy_ex) { direct_converted(p, direct_axpy); }
DIRECT(dot_ex) { direct_converted(p, direct_dot); }
DIRECT(asum_ex) { direct_converted(p, direct_asum); }
DIRECT(scal_ex) { direct_converted(p, direct_scal); }
DIRECT(gemm_ex) { direct_converted(p, direct_gemm); }
DIRECT(trsm_ex) { direct_converted(p, direct_trsm); }

/* ---- The table ---- */

#define LETTER(context, kind, ...) LETTER_##kind(__VA_ARGS__)
#define LETTER_ENUM(name, which) LETTER_##name
#define LETTER_LENGTH(name) LETTER_##name
#define LETTER_SIZE(name) LETTER_##name
#define LETTER_SCALAR(name, of)
#define LETTER_RESULT(name, of)
#define LETTER_NUMBER(name, ...)
#define LETTER_NUMBER_STRIDE(name)
#define LETTER_VECTOR(name, ...)
#define LETTER_MATRIX(name, ...)
#define LETTER_PACKED(name, ...)
#define LETTER_LEADING(name, ...)
#define LETTER_INDICES(name, ...)
#define LETTER_FACTORS(name, ...)
#define LETTER_REALS(name, ...)
#define LETTER_TYPED_VECTOR(name, ...)
#define LETTER_TYPED_MATRIX(name, ...)
#define LETTER_cs_type "t"
#define LETTER_compute_type
#define LETTER_side "S"
#define LETTER_uplo "U"
#define LETTER_trans "A"
#define LETTER_transa "A"
#define LETTER_transb "B"
#define LETTER_diag "D"
#define LETTER_norm "N"
#define LETTER_m "m"
#define LETTER_n "n"
#define LETTER_k "k"
#define LETTER_kl "e"
#define LETTER_ku "u"
#define LETTER_nrhs "r"
#define LETTER_jobz "J"
#define LETTER_jobu "O"
#define LETTER_jobvt "T"
#define LETTER_jobvl "L"
#define LETTER_jobvr "R"
#define LETTER_jobvs "V"
#define LETTER_range "G"
#define LETTER_itype "I"
#define LETTER_il "p"
#define LETTER_iu "q"
#define LETTER_kd "d"
#define LETTER_STRIDE(name)
#define LETTER_COUNT(name) "b"

#define IS_REAL(scalar, kind, ...) IS_REAL_##kind(scalar, __VA_ARGS__)
#define IS_REAL_ENUM(scalar, name, which)
#define IS_REAL_LENGTH(scalar, name)
#define IS_REAL_SIZE(scalar, name)
#define IS_REAL_SCALAR(scalar, name, of) || (IS_##scalar##_##name && SCALAR_IS_##of)
#define IS_REAL_RESULT(scalar, name, of)
#define IS_REAL_NUMBER(scalar, name, ...)
#define IS_REAL_VECTOR(scalar, name, ...)
#define IS_REAL_MATRIX(scalar, name, ...)
#define IS_REAL_PACKED(scalar, name, ...)
#define IS_REAL_LEADING(scalar, name, ...)
#define IS_REAL_INDICES(scalar, name, ...)
#define IS_REAL_FACTORS(scalar, name, ...)
#define IS_REAL_REALS(scalar, name, ...)
#define IS_alpha_anorm true
#define IS_beta_anorm false
#define IS_alpha_above false /* real whatever is said of alpha */
#define IS_alpha_up_to false
#define IS_alpha_abstol false
#define IS_alpha_rcond false
#define IS_beta_above false
#define IS_beta_up_to false
#define IS_beta_abstol false
#define IS_beta_rcond false
#define IS_alpha_c true /* the same member */
#define IS_alpha_s false
#define IS_alpha_param false
#define IS_beta_c false
#define IS_beta_s true
#define IS_beta_param false
#define IS_REAL_TYPED_VECTOR(scalar, name, ...)
#define IS_REAL_TYPED_MATRIX(scalar, name, ...)
#define IS_alpha_alpha true
#define IS_alpha_beta false
#define IS_beta_alpha false
#define IS_beta_beta true

#define TYPE_LETTER(context, routine, t, name) #t
#define ROW_WITH(routine, direct, terms, reference)                                         \
    ROW_OF_ALL(routine, direct, NULL, terms, reference)
#define ROW_EXTRA(routine, terms, reference) /* by a function that jblas does not call */   \
    ROW_OF_ALL(routine, direct_##routine, extra_##routine, terms, reference)
#define ROW_PLAIN(routine, direct, extra, terms, reference)                                 \
    ROW_OF(PLAIN, routine, setup_##routine, direct, extra, terms, reference)
#define ROW_OF_ALL(routine, direct, extra, terms, reference)                                \
    ROW_PLAIN(routine, direct, extra, terms, reference),                                    \
    ROW_BATCHED(routine, direct, extra, terms, reference)
#define ROW_BATCHED(routine, direct, extra, terms, reference)                               \
    ROW_OF(POINTERS, routine, setup_##routine##_batched, direct, extra, terms, reference),  \
    ROW_OF(STRIDED, routine, setup_##routine##_batched, direct, extra, terms, reference)
#define ROW_OF(form, routine, setup, direct, extra, terms, reference)                       \
    ROW_CHECKED(form, routine, setup, direct, extra, terms, naive_##reference, NULL)
#define ROW_CHECKED(form, routine, setup, direct, extra, terms, reference, residual)        \
    {TEXT(JI_NAME_OF(form, routine)), JI_FUNCTIONS_##routine(TYPE_LETTER, ),                       \
     "" JI_ARGUMENTS_OF(form, routine, LETTER, ), setup, JI_NAME_OF(form, call_##routine), direct, \
     extra, terms_##terms, reference, residual,                                     \
     false JI_ARGUMENTS_##routine(IS_REAL, alpha), false JI_ARGUMENTS_##routine(IS_REAL, beta)}
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name
#define ROW(routine, terms, reference)                                                      \
    ROW_WITH(routine, direct_##routine, terms, reference)
#define ROW_ALONE(routine, terms, reference) /* the CBLAS has no such call */               \
    ROW_WITH(routine, NULL, terms, reference)
#define ROW_RESIDUAL(routine, terms, residual) /* nor is there one right answer */          \
    ROW_CHECKED(PLAIN, routine, setup_##routine, NULL, NULL, terms, NULL,                   \
                residual_##residual)
#define ROW_TYPED(routine, direct, terms, reference) /* nor one for items of some types */  \
    ROW_PLAIN(routine, direct, NULL, terms, reference),                                     \
    ROW_BATCHED(routine, NULL, NULL, terms, reference)
/* clang-format on */

const routine_t routines[] = {
    ROW(asum, n, asum),
    ROW(axpy, none, axpy),
    ROW(copy, none, copy),
    ROW(dot, n, dot),
    ROW(dotu, n, dot),
    ROW(dotc, n, dotc),
    ROW(iamax, n, iamax),
    ROW_EXTRA(nrm2, n, nrm2),
    ROW_EXTRA(axpby, none, axpby),
    ROW_EXTRA(rot, none, rot),
    ROW_EXTRA(rotm, none, rotm),
    ROW_EXTRA(rotg, none, rotg),
    ROW_EXTRA(rotmg, none, rotmg),
    ROW_EXTRA(iamin, n, iamin),
    ROW_EXTRA(dsdot, n, dsdot),
    ROW_EXTRA(sdsdot, n, sdsdot),
    ROW(scal, none, scal),
    ROW(csscal, none, scal),
    ROW(zdscal, none, scal),
    ROW(swap, none, swap),
    ROW(gemv, taken, gemv),
    ROW(ger, none, ger),
    ROW(geru, none, ger),
    ROW(gerc, none, gerc),
    ROW(symv, n, symv),
    ROW(hemv, n, hemv),
    ROW(syr, none, syr),
    ROW(her, none, her),
    ROW(syr2, none, syr2),
    ROW(her2, none, her2),
    ROW(trmv, n, trmv),
    ROW(trsv, n, trsv),
    ROW_ALONE(gbmv, band, gemv),
    ROW_ALONE(sbmv, triangle_band, symv),
    ROW_ALONE(hbmv, triangle_band, hemv),
    ROW_ALONE(spmv, n, symv),
    ROW_ALONE(hpmv, n, hemv),
    ROW_ALONE(spr, none, syr),
    ROW_ALONE(hpr, none, her),
    ROW_ALONE(spr2, none, syr2),
    ROW_ALONE(hpr2, none, her2),
    ROW_ALONE(tbmv, triangle_band, trmv),
    ROW_ALONE(tbsv, triangle_band, trsv),
    ROW_ALONE(tpmv, n, trmv),
    ROW_ALONE(tpsv, n, trsv),
    ROW(gemm, k, gemm),
    ROW(symm, order, symm),
    ROW(hemm, order, hemm),
    ROW(syrk, k, syrk),
    ROW(herk, k, herk),
    ROW(syr2k, k, syr2k),
    ROW(her2k, k, her2k),
    ROW_ALONE(gemmt, k, gemmt),
    ROW_ALONE(gemm3m, k, gemm),
    ROW_ALONE(gemmtr, k, gemmt),
    ROW_ALONE(symv_complex, n, symv),
    ROW_ALONE(syr_complex, none, syr),
    ROW_ALONE(syr2_complex, none, syr2),
    ROW_ALONE(skewsymv, n, skewsymv),
    ROW_ALONE(skewsyr2, none, skewsyr2),
    ROW_ALONE(skewsymm, order, skewsymm),
    ROW_ALONE(skewsyr2k, k, skewsyr2k),
    ROW_ALONE(syrkx, k, syrkx),
    ROW_ALONE(herkx, k, herkx),
    ROW(trmm, order, trmm),
    ROW(trsm, order, trsm),
    ROW_ALONE(geam, none, geam),
    ROW_ALONE(dgmm, none, dgmm),
    ROW_EXTRA(omatcopy, none, omatcopy),
    ROW_EXTRA(imatcopy, none, imatcopy),
    ROW_ALONE(trttp, none, trttp),
    ROW_ALONE(tpttr, none, tpttr),
    ROW_TYPED(axpy_ex, direct_axpy_ex, none, axpy),
    ROW_TYPED(dot_ex, direct_dot_ex, n, dot),
    ROW_TYPED(dotc_ex, NULL, n, dotc),
    ROW_TYPED(nrm2_ex, NULL, n, nrm2),
    ROW_TYPED(asum_ex, direct_asum_ex, n, asum),
    ROW_TYPED(scal_ex, direct_scal_ex, none, scal),
    ROW_TYPED(rot_ex, NULL, none, rot),
    ROW_TYPED(gemm_ex, direct_gemm_ex, k, gemm),
    ROW_TYPED(trsm_ex, direct_trsm_ex, order, trsm),
    ROW_ALONE(trtri, n, trtri),
    ROW_ALONE(potrf, n, potrf),
    ROW_ALONE(potrs, n, potrs),
    ROW_ALONE(getrf, n, getrf),
    ROW_ALONE(getrs, n, getrs),
    ROW_ALONE(gesv, n, gesv),
    ROW_ALONE(getri, n, getri),
    ROW_PLAIN(trtrs, NULL, NULL, n, trtrs),
    ROW_PLAIN(posv, NULL, NULL, n, posv),
    ROW_PLAIN(lauum, NULL, NULL, n, lauum),
    ROW_PLAIN(potri, NULL, NULL, n, potri),
    ROW_PLAIN(sytrf, NULL, NULL, n, sytrf),
    ROW_PLAIN(hetrf, NULL, NULL, n, hetrf),
    ROW_PLAIN(sytrs, NULL, NULL, n, sytrs),
    ROW_PLAIN(hetrs, NULL, NULL, n, hetrs),
    ROW_PLAIN(sysv, NULL, NULL, n, sysv),
    ROW_PLAIN(hesv, NULL, NULL, n, hesv),
    ROW_ALONE(geqrf, m, geqrf),
    ROW_PLAIN(orgqr, NULL, NULL, m, orgqr),
    ROW_PLAIN(ormqr, NULL, NULL, order, ormqr),
    ROW_PLAIN(gelqf, NULL, NULL, n, gelqf),
    ROW_PLAIN(orglq, NULL, NULL, n, orglq),
    ROW_PLAIN(ormlq, NULL, NULL, order, ormlq),
    ROW_PLAIN(gels, NULL, NULL, larger, gels),
    ROW_PLAIN(geqp3, NULL, NULL, m, geqp3),
    ROW_PLAIN(gecon, NULL, NULL, n, gecon),
    ROW_PLAIN(pocon, NULL, NULL, n, pocon),
    ROW_PLAIN(trcon, NULL, NULL, n, trcon),
    ROW_PLAIN(gerfs, NULL, NULL, n, gerfs),
    ROW_PLAIN(porfs, NULL, NULL, n, porfs),
    ROW_PLAIN(dsgesv, NULL, NULL, n, dsgesv),
    ROW_PLAIN(dsposv, NULL, NULL, n, dsposv),
    ROW_RESIDUAL(syev, n, symmetric),
    ROW_RESIDUAL(syevd, n, symmetric),
    ROW_RESIDUAL(syevr, n, symmetric),
    ROW_RESIDUAL(sygvd, n, definite_pair),
    ROW_RESIDUAL(gesvd, larger, singular),
    ROW_RESIDUAL(gesdd, larger, singular),
    ROW_RESIDUAL(geev, n, general),
    ROW_RESIDUAL(geev_complex, n, general),
    ROW_RESIDUAL(gees, n, schur),
    ROW_RESIDUAL(gees_complex, n, schur),
    ROW_RESIDUAL(ggev, n, pair),
    ROW_RESIDUAL(ggev_complex, n, pair),
    ROW_RESIDUAL(gelsd, larger, least_squares),
    ROW_RESIDUAL(gtsv, n, tridiagonal),
    ROW_PLAIN(pbtrf, NULL, NULL, n, potrf),
    ROW_PLAIN(pbtrs, NULL, NULL, n, potrs),
    {0},
};

static const routine_t *routine_find(const char *name) {
    for (const routine_t *routine = routines; routine->name; routine++)
        if (strcmp(routine->name, name) == 0)
            return routine;
    return NULL;
}

const routine_t *routine_of(const options_t *o, char reason[OPTIONS_REASON_BYTES]) {
    const routine_t *routine = routine_find(o->function);
    const char type = "sdczhb"[o->type];
    if (o->function[0] == '\0')
        snprintf(reason, OPTIONS_REASON_BYTES, "no routine: -f NAME");
    else if (!routine)
        snprintf(reason, OPTIONS_REASON_BYTES, "unknown routine '%s'; --list shows them",
                 o->function);
    else if (!routine_has_types(routine) && !strchr(routine->types, type))
        snprintf(reason, OPTIONS_REASON_BYTES, "%s exists for the types %s, not for %c",
                 routine->name, routine->types, type);
    else
        return routine;
    return NULL;
}
