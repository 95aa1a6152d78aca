/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 3 of the host against its definition (docs/bits.rst, support/product_definition.h), bit for
 * bit: with each set of kernels that the processor has, on every rung, with one thread to eight,
 * whoever runs the parts, wherever operands lie. What a routine may not read is NaN in every case
 * (jblas_routines.h), and so is the workspace before every call. */

#include "handle_helper.h"
#include "jblas_routines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/algorithms/product.h"
#include "blas/kernels/kernels.h"

/* ---- The definition ---- */

/* Whether the set in use rounds a product and a sum once. */
static bool fused;

/* volatile: no compiler makes one of the two roundings. */
static float add_s(float a, float b, float c) {
    const volatile float product = a * b;
    return product + c;
}
static double add_d(double a, double b, double c) {
    const volatile double product = a * b;
    return product + c;
}
#define FMA_S(a, b, c) (fused ? fmaf(a, b, c) : add_s(a, b, c))
#define FMA_D(a, b, c) (fused ? fma(a, b, c) : add_d(a, b, c))

typedef enum form { GENERAL, SYMMETRIC, HERMITIAN, TRIANGULAR } form_t;

/* C = alpha A B + beta C, of whole matrices by columns. */
typedef struct product {
    int64_t m, n, k;
    void *a, *b; /* m x k, k x n */
    const void *alpha, *beta;
    char triangle; /* 'A' or 'B': has no elements outside of its triangle */
    bool lower;    /* that is, where its line, row or column, is not before the step */
    char written;  /* 'L', 'U': a triangle of C */
    void *c;
    int64_t ldc;
} product_t;

#define REAL float
#define PARTS 1
#define FMA FMA_S
#define NAME(f) f##_s
#include "product_definition.h"
#define REAL double
#define PARTS 1
#define FMA FMA_D
#define NAME(f) f##_d
#include "product_definition.h"
#define REAL float
#define PARTS 2
#define FMA FMA_S
#define NAME(f) f##_c
#include "product_definition.h"
#define REAL double
#define PARTS 2
#define FMA FMA_D
#define NAME(f) f##_z
#include "product_definition.h"

#define BY_TYPE(type, CALL)                                                                        \
    switch (type) {                                                                                \
    case JDATATYPE_F32: CALL(s); break;                                                            \
    case JDATATYPE_F64: CALL(d); break;                                                            \
    case JDATATYPE_F32_C: CALL(c); break;                                                          \
    default: CALL(z); break;                                                                       \
    }

static void *load(const blas_case_t *c, int which, jblas_operation_t op, form_t form) {
    void *whole = NULL;
#define CALL(t) whole = load_##t(&c->operand[which], op, form, c->diag == JBLAS_UNIT)
    BY_TYPE(c->function->type, CALL)
#undef CALL
    return whole;
}

/* What C is added to, p->c, becomes what it is by definition. */
static void define(const blas_case_t *c, product_t *p) {
#define CALL(t) define_##t(p)
    BY_TYPE(c->function->type, CALL)
#undef CALL
    free(p->a), free(p->b);
}

static void clear_diagonal(const blas_case_t *c, const product_t *p) {
#define CALL(t) clear_diagonal_##t(p)
    BY_TYPE(c->function->type, CALL)
#undef CALL
}

/* Products that read neither operand. */
static void define_scaling(const blas_case_t *c, product_t *p, bool is_hermitian) {
    if (is_hermitian && c->beta == 1)
        return;
    if (is_hermitian)
        clear_diagonal(c, p);
#define CALL(t) scale_##t(p, is_hermitian)
    BY_TYPE(c->function->type, CALL)
#undef CALL
    if (is_hermitian)
        clear_diagonal(c, p);
}

/* symm and hemm; trmm. */
static void define_sided(const blas_case_t *c, product_t *p, form_t form) {
    const bool left = c->side == JBLAS_LEFT;
    const jblas_operation_t op = form == TRIANGULAR ? c->transa : JBLAS_NO_TRANSPOSE;
    void *own = load(c, 0, op, form), *other = load(c, 1, JBLAS_NO_TRANSPOSE, GENERAL);

    p->k = left ? c->m : c->n;
    p->a = left ? own : other, p->b = left ? other : own;
    if (form == TRIANGULAR) {
        p->triangle = left ? 'A' : 'B';
        p->lower = ((c->uplo == JBLAS_LOWER) == !ji_is_transposed(op)) == left;
    }
    define(c, p);
}

/* A op(A), with two operands A op(B), and of two products then B op(A). */
static void define_rank(const blas_case_t *c, product_t *p, bool hermitian, bool has_two,
                        bool is_twice) {
    const bool plain = c->transa == JBLAS_NO_TRANSPOSE;
    const jblas_operation_t other = !plain      ? JBLAS_NO_TRANSPOSE
                                    : hermitian ? JBLAS_CONJUGATE_TRANSPOSE
                                                : JBLAS_TRANSPOSE;
    _Alignas(16) unsigned char conjugated[16], one[16];
    const int type = (int)c->function->type;
    wide_put(one, type, 0, 1);
    wide_t second = c->alpha;
    if (hermitian)
        __imag__ second = -__imag__ second;
    wide_put(conjugated, type, 0, second);

    p->a = load(c, 0, c->transa, GENERAL);
    p->b = load(c, has_two ? 1 : 0, other, GENERAL);
    define(c, p);
    if (!is_twice)
        return;
    p->alpha = conjugated, p->beta = one;
    p->a = load(c, 1, c->transa, GENERAL);
    p->b = load(c, 0, other, GENERAL);
    define(c, p);
}

static void define_gemm(const blas_case_t *c, product_t *p) {
    p->a = load(c, 0, c->transa, GENERAL);
    p->b = load(c, 1, c->transb, GENERAL);
    define(c, p);
}

/* 16-bit matrices are products of floats, whose sums are rounded once. */
static float *load_half(const blas_case_t *c, int which, jblas_operation_t op) {
    const blas_operand_t *o = &c->operand[which];
    const bool plain = !ji_is_transposed(op);
    const int64_t rows = plain ? o->rows : o->columns, columns = plain ? o->columns : o->rows;
    float *whole = calloc((size_t)(rows * columns) + 1, sizeof *whole);
    if (whole == NULL)
        abort();

    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            whole[i + j * rows] =
                (float)__real__ wide_get(o->before + (o->data - o->region), o->element,
                                         blas_index(o, 0, plain ? i : j, plain ? j : i));
    return whole;
}

static void define_half(const blas_case_t *c, void *answer) {
    const float alpha = (float)__real__ c->alpha, beta = (float)__real__ c->beta, one = 1, zero = 0;
    const blas_operand_t *o = &c->operand[2];
    const bool multiplies = alpha != 0 && c->k > 0;
    float *sums = calloc((size_t)(c->m * c->n) + 1, sizeof *sums);
    if (sums == NULL)
        abort();

    if (multiplies) {
        product_t p = {.m = c->m, .n = c->n, .k = c->k, .alpha = &one, .beta = &zero};
        p.a = load_half(c, 0, c->transa), p.b = load_half(c, 1, c->transb);
        p.c = sums, p.ldc = c->m;
        define_s(&p);
        free(p.a), free(p.b);
    }
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t i = 0; i < c->m; i++) {
            const int64_t at = blas_index(o, 0, i, j);
            volatile float result = multiplies ? alpha * sums[i + j * c->m] : 0;
            if (beta != 0) {
                const volatile float old = beta * (float)__real__ wide_get(answer, o->element, at);
                result = result + old;
            }
            if (c->function->type == JDATATYPE_F16)
                ((jfloat16_t *)answer)[at] = jalloc_f16_from_f32(result);
            else
                ((jbfloat16_t *)answer)[at] = jalloc_bf16_from_f32(result);
        }
    free(sums);
}

/* What the operand that is the answer, a copy, becomes. */
static void define_case(const blas_case_t *c, int which, void *answer) {
    const char *name = c->function->routine->name;
    const blas_operand_t *o = &c->operand[which];
    const bool hermitian = strncmp(name, "her", 3) == 0, is_triangular = strcmp(name, "trmm") == 0,
               is_rank = hermitian || strncmp(name, "syr", 3) == 0,
               is_gemm = strncmp(name, "gemm", 4) == 0;
    const int type = (int)c->function->type;
    _Alignas(16) unsigned char alpha[16], beta[16];
    if (wide_is_half(type)) {
        define_half(c, answer);
        return;
    }

    wide_put(alpha, type, 0, c->alpha);
    wide_put(beta, type, 0, is_triangular ? 0 : c->beta);
    product_t p = {.m = o->rows, .n = o->columns, .k = c->k, .alpha = alpha, .beta = beta};
    p.written = o->part == BLAS_ALL ? 0 : c->uplo == JBLAS_LOWER ? 'L' : 'U';
    p.c = answer, p.ldc = o->ld;

    if (c->alpha == 0 || ((is_rank || is_gemm) && c->k == 0)) {
        define_scaling(c, &p, hermitian);
    } else if (is_gemm) {
        define_gemm(c, &p);
    } else if (is_rank) {
        if (hermitian)
            clear_diagonal(c, &p);
        define_rank(c, &p, hermitian, which == 2, name[3] == '2');
        if (hermitian)
            clear_diagonal(c, &p);
    } else {
        define_sided(c, &p,
                     is_triangular               ? TRIANGULAR
                     : strcmp(name, "hemm") == 0 ? HERMITIAN
                                                 : SYMMETRIC);
    }
}

/* ---- Cases ---- */

static const int product_functions[] = {
#define FOUR_TYPES(name)                                                                           \
    BLAS_INDEX_s##name, BLAS_INDEX_d##name, BLAS_INDEX_c##name, BLAS_INDEX_z##name
    FOUR_TYPES(gemm),  FOUR_TYPES(symm),  BLAS_INDEX_chemm,  BLAS_INDEX_zhemm,  FOUR_TYPES(syrk),
    BLAS_INDEX_cherk,  BLAS_INDEX_zherk,  FOUR_TYPES(syr2k), BLAS_INDEX_cher2k, BLAS_INDEX_zher2k,
    FOUR_TYPES(gemmt), FOUR_TYPES(trmm),  BLAS_INDEX_hgemm,  BLAS_INDEX_bgemm,  FOUR_TYPES(gemmtr),
    FOUR_TYPES(syrkx), BLAS_INDEX_cherkx, BLAS_INDEX_zherkx,
#undef FOUR_TYPES
};

static void function_name(const void *function, char *name) {
    blas_function_name(&blas_functions[*(const int *)function], name);
}
#define EACH_PRODUCT(name) JTEST_P_NAMED(JblasBits, name, int, product_functions, function_name)

static int answer_of(const blas_case_t *c) {
    int which = 0;
    while (!c->operand[which].written)
        which++;
    return which;
}

/* Numbers that show what a sum is made of. */
static void put_specials(blas_case_t *c) {
    static const double specials[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40, 1e30, -1e30};
    for (int which = 0; which < BLAS_OPERANDS; which++) {
        blas_operand_t *o = &c->operand[which];
        if (o->kind == BLAS_NONE || o->unread || o->rows == 0 || o->columns == 0)
            continue;
        for (int64_t i = jtest_random_between(0, 2); i > 0; i--) {
            const int64_t row = jtest_random_between(0, o->rows - 1),
                          column = jtest_random_between(0, o->columns - 1);
            if (!blas_is_part(o, row, column))
                continue;
            wide_t value = specials[jtest_random_between(0, 7)];
            if (wide_is_complex(o->element))
                __imag__ value =
                    o->hermitian && row == column ? NAN : specials[jtest_random_between(0, 7)];
            wide_put(o->data, o->element, blas_index(o, 0, row, column), value);
        }
        memcpy(o->before, o->region, o->region_bytes);
    }
}

/* The same bits, but that a NaN is a NaN. */
static bool is_same(int element, const unsigned char *a, const unsigned char *b, size_t bytes,
                    size_t *at) {
    const size_t size = wide_is_half(element)                         ? 2
                        : wide_real_of(element) == (int)JDATATYPE_F32 ? 4
                                                                      : 8;
    const int real = wide_is_half(element) ? element : wide_real_of(element);
    if (memcmp(a, b, bytes) == 0)
        return true;
    for (*at = 0; *at < bytes; *at += size)
        if (memcmp(a + *at, b + *at, size) != 0 && !(isnan(__real__ wide_get(a + *at, real, 0)) &&
                                                     isnan(__real__ wide_get(b + *at, real, 0))))
            return false;
    return true;
}

/* ---- Ways to call ---- */

#define MOST_BYTES ((size_t)32 << 20)

typedef struct ways {
    jhandle_t *rich, *poor; /* poor: may hold nothing, so all is done in place */
    unsigned char *workspace, *workspace_end;
    int64_t packed, packed_small; /* calls so far */
} ways_t;

static int reversed_available(void *context) { return *(const int *)context; }

/* One part after another, the last one first. */
static void reversed_run(void *context, int count, void (*part)(void *argument, int index),
                         void *argument) {
    (void)context;
    while (count-- > 0)
        part(argument, count);
}

static int reversed_count;
static const jexecutor_t reversed = {sizeof reversed, &reversed_count, reversed_available,
                                     reversed_run};

/* The first call of a process chooses the set. */
static void choose_first(void) {
    jhandle_t *handle = blas_make_handle(NULL);
    BLAS_CASE(c, &blas_functions[BLAS_INDEX_dgemm], .low = 1, .high = 1);
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_OK(jhandle_destroy(handle));
}

static void ways_begin(ways_t *ways) {
    choose_first();
    *ways = (ways_t){.rich = blas_make_handle(NULL), .poor = blas_make_handle(NULL)};
    JEXPECT_OK(jhandle_set_budget(ways->poor, 1));
    ways->workspace = jtest_guard_pages(MOST_BYTES);
    ways->workspace_end = ways->workspace + MOST_BYTES;
}

static void ways_end(ways_t *ways) {
    JEXPECT_OK(jhandle_destroy(ways->rich));
    JEXPECT_OK(jhandle_destroy(ways->poor));
}

static void ways_set_threads(ways_t *ways) {
    reversed_count = (int)jtest_random_between(1, 8);
    jhandle_t *const handles[] = {ways->rich, ways->poor};
    const bool is_reversed = jtest_random_between(0, 3) == 0;
    for (int i = 0; i < 2; i++) {
        JEXPECT_OK(jhandle_set_executor(handles[i], is_reversed ? &reversed : NULL));
        JEXPECT_OK(jhandle_set_threads(handles[i], reversed_count));
    }
}

/* Exactly so many bytes, which are NaN, before an inaccessible page. */
static void ways_lend(ways_t *ways, size_t bytes) {
    JASSERT_LE(bytes, MOST_BYTES);
    memset(ways->workspace_end - bytes, 0xff, bytes);
    JEXPECT_OK(jhandle_set_workspace(ways->rich, ways->workspace_end - bytes, bytes));
}

/* What the call wants, at best and at least so as not to be done in place. */
static ji_panel_bytes_t ways_bytes(const ways_t *ways, blas_case_t *c) {
    const size_t bytes = blas_query(ways->rich, c);
    if (bytes == 0)
        return (ji_panel_bytes_t){0};

    const blas_operand_t *o = &c->operand[answer_of(c)];
    const char *name = c->function->routine->name;
    const bool is_sided =
        strcmp(name, "symm") == 0 || strcmp(name, "hemm") == 0 || strcmp(name, "trmm") == 0;
    const int64_t k = !is_sided ? c->k : c->side == JBLAS_LEFT ? o->rows : o->columns;
    return (ji_panel_bytes_t){
        .packed = bytes,
        .packed_small =
            ji_call_panel_bytes(ways->rich, JI_GEMM, c->function->type, o->rows, o->columns, k)
                .packed_small};
}

static bool is_as_defined(blas_case_t *c, jhandle_t *handle, jstatus_t expected,
                          const unsigned char *answer, size_t bytes) {
    const blas_operand_t *o = &c->operand[answer_of(c)];
    size_t at = 0;
    blas_restore(c);
    const jstatus_t status = blas_call(handle, c);
    JEXPECT_STATUS(status, expected);
    if (status == expected && is_same(o->element, o->region, answer, o->region_bytes, &at))
        return true;

    int threads = 0;
    (void)jhandle_get_threads(handle, &threads);
    JFAIL("%s: %s, %d threads, %zu bytes: byte %ld of the answer differs", blas_describe(c),
          ji_kernels->name, threads, bytes, (long)at - (long)(o->data - o->region));
    return false;
}

/* The answer by definition, as the whole of its operand; to be freed. */
static unsigned char *defined_answer(const blas_case_t *c) {
    const int which = answer_of(c);
    const blas_operand_t *o = &c->operand[which];
    unsigned char *answer = malloc(o->region_bytes);
    if (answer == NULL)
        abort();
    memcpy(answer, o->before, o->region_bytes);
    define_case(c, which, answer + (o->data - o->region));
    return answer;
}

/* With the set in use: on each rung, with a random number of threads. */
static bool set_is_as_defined(ways_t *ways, blas_case_t *c, const unsigned char *answer) {
    ways_set_threads(ways);
    const ji_panel_bytes_t bytes = ways_bytes(ways, c);
    const jstatus_t lower = bytes.packed > 0 ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS;

    if (bytes.packed > 0) {
        ways->packed++;
        ways_lend(ways, bytes.packed);
        if (!is_as_defined(c, ways->rich, JSTATUS_SUCCESS, answer, bytes.packed))
            return false;
    }
    if (bytes.packed_small < bytes.packed) {
        ways->packed_small++;
        ways_lend(ways, bytes.packed_small);
        if (!is_as_defined(c, ways->rich, lower, answer, bytes.packed_small))
            return false;
    }
    return is_as_defined(c, ways->poor, lower, answer, 0);
}

static bool case_is_as_defined(ways_t *ways, blas_case_t *c) {
    const ji_kernel_set_t *before = ji_kernels;
    unsigned char *answer = NULL;
    bool right = true;

    for (size_t i = 0; right && ji_kernel_set_at(i) != NULL; i++) {
        const ji_kernel_set_t *set = ji_kernel_set_at(i);
        if (!ji_kernel_set_is_here(set))
            continue;
        if (answer == NULL || fused != set->fused) {
            fused = set->fused;
            free(answer);
            answer = defined_answer(c);
        }
        ji_kernel_set_use(set);
        right = set_is_as_defined(ways, c, answer);
    }

    ji_kernel_set_use(before);
    free(answer);
    return right;
}

/* ---- Tests ---- */

static blas_wish_t wish_small(const blas_function_t *function) {
    (void)function;
    return (blas_wish_t){.low = 1, .high = 70};
}

/* Sizes about those at which the depth is cut. */
static int64_t draw_depth(void) {
    static const int64_t depths[] = {127, 128, 129, 255, 256, 257, 300, 384, 385, 511, 513, 600};
    return depths[jtest_random_between(0, 11)];
}

/* Depth is k, or of what has a square operand that one's order. */
static blas_wish_t wish_deep(const blas_function_t *function) {
    const bool has_rows = strchr(function->routine->signature, 'm') != NULL,
               wide = has_rows && jtest_random_bool();
    return (blas_wish_t){.low = 1,
                         .high = 1,
                         .m = wide ? jtest_random_between(33, 70) : draw_depth(),
                         .n = wide ? draw_depth() : jtest_random_between(33, 70),
                         .k = draw_depth()};
}

/* One or two sizes of gemm are tiny. The others' products have three sizes by two, so one is. */
static blas_wish_t wish_skinny(const blas_function_t *function) {
    blas_wish_t wish = {.low = 1, .high = 8};
    const bool is_gemm = strcmp(function->routine->name, "gemm") == 0;
    const int64_t kind =
        is_gemm ? jtest_random_between(1, 6) : INT64_C(1) << jtest_random_between(0, 2);
    if (kind & 1)
        wish.m = jtest_random_between(200, 600);
    if (kind & 2)
        wish.n = jtest_random_between(200, 600);
    if (kind & 4)
        wish.k = jtest_random_between(200, 600);
    return wish;
}

/* Columns of A are a page apart or more, C has many rows and few columns: in place, long columns
 * are multiplied a few at a time. */
static blas_wish_t wish_tall(const blas_function_t *function) {
    const int64_t page = 4096 / (int64_t)wide_sizeof((int)function->type);
    return (blas_wish_t){.low = 1,
                         .high = 60,
                         .m = jtest_random_between(1, 300),
                         .n = jtest_random_between(1, jtest_random_bool() ? 23 : 70),
                         .k = jtest_random_between(1, 290),
                         .apart = page + jtest_random_between(-2, 40)};
}

static bool check_case(ways_t *ways, const int *function, blas_wish_t wish) {
    wish.guard_before = jtest_random_bool();
    wish.plain = jtest_random_between(0, 2) == 0;
    blas_case_t *c = blas_case_create(&blas_functions[*function], &wish);
    if (jtest_random_between(0, 3) == 0)
        put_specials(c);
    const bool right = case_is_as_defined(ways, c);
    blas_case_free(c);
    return right;
}

static void check_cases(const int *function, int64_t count,
                        blas_wish_t (*draw)(const blas_function_t *function)) {
    ways_t ways;
    ways_begin(&ways);
    for (int64_t round = jtest_iterations(count); round > 0; round--)
        if (!check_case(&ways, function, draw(&blas_functions[*function])))
            break;
    ways_end(&ways);
}

EACH_PRODUCT(SmallOnesAreAsDefined) { check_cases(param, 25, wish_small); }
EACH_PRODUCT(DeepOnesAreAsDefined) { check_cases(param, 3, wish_deep); }
EACH_PRODUCT(SkinnyOnesAreAsDefined) { check_cases(param, 8, wish_skinny); }
EACH_PRODUCT(TallOnesAreAsDefined) { check_cases(param, 8, wish_tall); }

EACH_PRODUCT(EachRungIsAsDefined) {
    ways_t ways;
    ways_begin(&ways);
    (void)check_case(&ways, param, (blas_wish_t){.low = 130, .high = 150, .k = 300, .plain = true});
    JEXPECT_GT(ways.packed, 0);
    JEXPECT_GT(ways.packed_small, 0);
    ways_end(&ways);
}

/* More columns than B's panel has. */
JTEST(JblasBits, SeveralPanelsOfColumnsAreAsDefined) {
    static const int functions[] = {BLAS_INDEX_dgemm, BLAS_INDEX_zgemm, BLAS_INDEX_dtrmm};
    ways_t ways;
    ways_begin(&ways);
    for (int i = 0; i < 3; i++)
        (void)check_case(
            &ways, &functions[i],
            (blas_wish_t){.m = 25, .n = 3100, .k = 28, .low = 1, .high = 1, .left = true});
    ways_end(&ways);
}

/* No fused multiply-add, on whatever processor. */
JTEST(JblasBits, GeamRoundsEachOperation) {
    enum { M = 37, N = 41, LD = 44 };
    static double a[LD * LD], b[LD * LD], c[LD * LD];
    const double alpha = jtest_random_double(1, 2), beta = jtest_random_double(1, 2);
    jhandle_t *handle = blas_make_handle(NULL);
    for (int i = 0; i < LD * LD; i++)
        a[i] = jtest_random_double(-1, 1), b[i] = jtest_random_double(-1, 1);

    JEXPECT_OK(jblas_dgeam(handle, JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE, M, N, &alpha, a, LD, &beta,
                           b, LD, c, LD));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            const double want = add_d(beta, b[j + i * LD], add_d(alpha, a[i + j * LD], 0));
            JEXPECT_EQ(c[i + j * LD], want);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* In place, tiles begin where lines of C do, if those of A do then. */
enum { LINE_M = 263, LINE_N = 19, LINE_K = 24, LINE_LD = 272, LINE_FAR = 1040 };
enum { LINE_ELEMENTS = 64 + LINE_FAR * LINE_K };

/* C = -A B + C of columns that begin `at` bytes behind a line, by the kernels in use. */
static void multiply_from(jhandle_t *handle, jdatatype_t type, const void *numbers, size_t at,
                          int64_t ld, unsigned char *c) {
    static _Alignas(64) unsigned char a[LINE_ELEMENTS * 16], b[LINE_ELEMENTS * 16],
        whole[LINE_ELEMENTS * 16];
    _Alignas(16) unsigned char minus_one[16], one[16];
    const size_t size = wide_sizeof((int)type), bytes = sizeof a - at;
    wide_put(minus_one, (int)type, 0, -1);
    wide_put(one, (int)type, 0, 1);
    memcpy(a + at, numbers, bytes), memcpy(b, numbers, sizeof b), memcpy(whole + at, b, bytes);

    JEXPECT_OK(jblas_gemm_ex(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, LINE_M, LINE_N, LINE_K,
                             minus_one, a + at, type, ld, b, type, ld, one, whole + at, type, ld,
                             type));
    memcpy(c, whole + at, (size_t)(ld * LINE_N) * size);
}

/* Columns as near, or as far from each other, as `ld` has them. C aligns a complex number as its
 * parts, so columns may begin amid what would be one behind the line. */
static void columns_may_begin_anywhere(int64_t ld) {
    static unsigned char numbers[LINE_ELEMENTS * 16], first[LINE_ELEMENTS * 16],
        c[LINE_ELEMENTS * 16];
    choose_first();
    jhandle_t *handle = blas_make_handle(NULL);
    const ji_kernel_set_t *before = ji_kernels;
    for (int type = JDATATYPE_F32; type <= (int)JDATATYPE_F64_C; type++) {
        const size_t size = wide_sizeof(type),
                     step = size / (ji_is_complex((jdatatype_t)type) ? 2 : 1);
        for (int64_t i = 0; i < LINE_ELEMENTS; i++) {
            wide_t number = jtest_random_double(-1, 1);
            __imag__ number = jtest_random_double(-1, 1);
            wide_put(numbers, type, i, number);
        }
        for (size_t set = 0; ji_kernel_set_at(set) != NULL; set++) {
            if (!ji_kernel_set_is_here(ji_kernel_set_at(set)))
                continue;
            ji_kernel_set_use(ji_kernel_set_at(set));
            multiply_from(handle, type, numbers, 0, ld, first);
            for (size_t at = step; at < 64; at += step) {
                multiply_from(handle, type, numbers, at, ld, c);
                if (memcmp(c, first, (size_t)(ld * LINE_N) * size) != 0)
                    JFAIL("type %d, %s: other bits %zu bytes behind a line", type, ji_kernels->name,
                          at);
            }
        }
    }
    ji_kernel_set_use(before);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasBits, WhereColumnsBeginDoesNotMatter) { columns_may_begin_anywhere(LINE_LD); }
JTEST(JblasBits, WhereFarColumnsBeginDoesNotMatter) { columns_may_begin_anywhere(LINE_FAR); }

/* Without workspace columns of B are read by pieces, and an A whose columns are far is copied:
 * each column of C is what it is alone. */
enum { PIECE_M = 104, PIECE_N = 300, PIECE_K = 300 };
static void pieces_are_as_columns(jdatatype_t type, int64_t lda, size_t behind) {
    const size_t size = wide_sizeof((int)type), c_bytes = PIECE_M * PIECE_N * size;
    unsigned char *const a = calloc((size_t)lda * PIECE_K, size),
                         *const b = calloc(PIECE_K * PIECE_N, size),
                         *const whole = calloc(1, c_bytes + behind), column[PIECE_M * 16];
    unsigned char minus_one[16], one[16];
    wide_put(minus_one, (int)type, 0, -1), wide_put(one, (int)type, 0, 1);
    for (int64_t i = 0; i < lda * PIECE_K; i++)
        wide_put(a, (int)type, i, jtest_random_double(-1, 1));
    for (int64_t i = 0; i < PIECE_K * PIECE_N; i++)
        wide_put(b, (int)type, i, jtest_random_double(-1, 1));
    unsigned char *const c = whole + behind;

    jhandle_t *handle = blas_make_handle(NULL);
    JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 0));
    JEXPECT_FALSE(jstatus_is_error(jblas_gemm_ex(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE,
                                                 PIECE_M, PIECE_N, PIECE_K, minus_one, a, type, lda,
                                                 b, type, PIECE_K, one, c, type, PIECE_M, type)));
    for (int64_t j = 0; j < PIECE_N; j++) {
        memset(column, 0, sizeof column);
        JEXPECT_FALSE(jstatus_is_error(jblas_gemm_ex(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE,
                                                     PIECE_M, 1, PIECE_K, minus_one, a, type, lda,
                                                     b + (size_t)(j * PIECE_K) * size, type,
                                                     PIECE_K, one, column, type, PIECE_M, type)));
        if (memcmp(column, c + (size_t)(j * PIECE_M) * size, PIECE_M * size) != 0)
            JFAIL("type %d, lda %ld: column %ld has other bits", (int)type, (long)lda, (long)j);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    free(a), free(b), free(whole);
}
JTEST(JblasBits, PiecesOfColumnsAreAsEachColumn) {
    choose_first();
    const ji_kernel_set_t *before = ji_kernels;
    for (size_t set = 0; ji_kernel_set_at(set) != NULL; set++)
        for (int type = JDATATYPE_F32; type <= (int)JDATATYPE_F64_C; type++) {
            if (!ji_kernel_set_is_here(ji_kernel_set_at(set)))
                continue;
            ji_kernel_set_use(ji_kernel_set_at(set));
            pieces_are_as_columns((jdatatype_t)type, PIECE_M, 0);
            for (size_t behind = 0; behind < 64; behind += 20)
                pieces_are_as_columns((jdatatype_t)type, LINE_FAR, behind);
        }
    ji_kernel_set_use(before);
}

/* A row or a column of a product, computed alone, has the bits that it has in the whole. */
static const int gemm_functions[] = {BLAS_INDEX_sgemm, BLAS_INDEX_dgemm, BLAS_INDEX_cgemm,
                                     BLAS_INDEX_zgemm, BLAS_INDEX_hgemm, BLAS_INDEX_bgemm};
static void line_alone(jhandle_t *handle, blas_case_t *c, bool row, int64_t line) {
    blas_case_t one = *c;
    blas_operand_t *const c_one = &one.operand[2];
    const blas_operand_t *factor = &c->operand[row ? 0 : 1];
    const size_t size = wide_sizeof(c_one->element);
    const bool plain = !ji_is_transposed(row ? c->transa : c->transb);
    const int64_t step = plain == row ? line : line * factor->ld,
                  at = row ? line : line * c_one->ld;
    *(row ? &one.m : &one.n) = 1;
    one.pointer[row ? 0 : 1] = factor->data + (size_t)step * size;
    one.pointer[2] = c_one->data + (size_t)at * size;

    unsigned char *whole = malloc(c_one->region_bytes);
    if (whole == NULL)
        abort();
    memcpy(whole, c_one->region, c_one->region_bytes);
    for (int64_t i = 0; i < (row ? c->n : c->m); i++) { /* the line as it was */
        const size_t element = (size_t)(at + (row ? i * c_one->ld : i)) * size;
        memcpy(c_one->data + element, c_one->before + (c_one->data - c_one->region) + element,
               size);
    }
    JEXPECT_FALSE(jstatus_is_error(blas_call(handle, &one)));
    if (memcmp(whole, c_one->region, c_one->region_bytes) != 0)
        JFAIL("%s: %s %ld alone has other bits", blas_describe(c), row ? "row" : "column",
              (long)line);
    free(whole);
}

JTEST_P_NAMED(JblasBits, ALineAloneHasTheSameBits, int, gemm_functions, function_name) {
    jhandle_t *handle = blas_make_handle(NULL);
    for (int64_t round = jtest_iterations(6); round > 0 && !jtest_has_failure(); round--) {
        BLAS_CASE(c, &blas_functions[*param], .low = round % 2 ? 1 : 130, .high = 200,
                  .plain = true);
        JEXPECT_OK(blas_call(handle, c));
        for (int i = 0; i < 8; i++) {
            const bool row = i % 2;
            line_alone(handle, c, row, jtest_random_between(0, (row ? c->m : c->n) - 1));
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
