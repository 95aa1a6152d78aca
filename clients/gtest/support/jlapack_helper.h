/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_JLAPACK_HELPER_H
#define JALLOC_CLIENTS_GTEST_JLAPACK_HELPER_H

/* What the tests of jlapack share: tests of each element type, matrices whose elements are looked
 * at in long double, and what holds of every call: the same bits in any workspace, nothing lost
 * when memory is short, refusals by name. */

#include <math.h>
#include <stdlib.h>

#include "blas/blas.h"
#include "handle_helper.h"
#include "jblas_reference.h"
#include "pretend_gpu.h"

#include "jalloc/jlapack.h"

static const int jlapack_types[] = {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32_C, JDATATYPE_F64_C};
static inline void jlapack_type_name(const void *type, char *name) {
    name[0] = "sdcz"[*(const int *)type], name[1] = 0;
}
/* JLAPACK_EACH_TYPE(JlapackLu, FactorsAnyShape) { ... *param ... } */
#define JLAPACK_EACH_TYPE(suite, name)                                                             \
    JTEST_P_NAMED(suite, name, int, jlapack_types, jlapack_type_name)

/* jlapack_?getrf(...) by a type that is a value: JLAPACK_CALL(*param, getrf, handle, m, ...); and
 * where complex ones have another name: JLAPACK_CALL_Q(*param, orgqr, ungqr, handle, m, ...). */
#define JLAPACK_BY_TYPE(type, s, d, c, z, ...)                                                     \
    ((type) == JDATATYPE_F32     ? s(__VA_ARGS__)                                                  \
     : (type) == JDATATYPE_F64   ? d(__VA_ARGS__)                                                  \
     : (type) == JDATATYPE_F32_C ? c(__VA_ARGS__)                                                  \
                                 : z(__VA_ARGS__))
#define JLAPACK_CALL_Q(type, real, complex, ...)                                                   \
    JLAPACK_BY_TYPE(type, jlapack_s##real, jlapack_d##real, jlapack_c##complex,                    \
                    jlapack_z##complex, __VA_ARGS__)
#define JLAPACK_CALL(type, routine, ...) JLAPACK_CALL_Q(type, routine, routine, __VA_ARGS__)

/* ---- Values ---- */

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a < b ? b : a; }

static inline wide_t conjugate(wide_t x) {
    __imag__ x = -__imag__ x;
    return x;
}
static inline long double square_of(wide_t x) {
    return __real__ x * __real__ x + __imag__ x * __imag__ x;
}

/* What sums of `depth` terms are off by, relative to norms. */
static inline long double bound_of(int type, int64_t depth) {
    return 4 * (sqrtl((long double)depth) + 8) * (wide_is_complex(type) ? 2 : 1) *
           wide_epsilon(type);
}

/* Small orders mostly, up to `most` each fourth round. */
static inline int64_t draw_size(int64_t round, int64_t most) {
    return jtest_random_between(0, round % 4 == 0 ? most : round % 2 == 0 ? 40 : 9);
}
static inline jblas_uplo_t draw_uplo(void) {
    return jtest_random_between(0, 1) ? JBLAS_UPPER : JBLAS_LOWER;
}
/* Of those that LAPACK takes beside a Q or least squares: A, or its adjoint by either name. */
static inline jblas_operation_t adjoint_of(int type, int64_t round) {
    return wide_is_complex(type) || round % 2 == 0 ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
}
static inline bool is_stored(jblas_uplo_t uplo, int64_t i, int64_t j) {
    return uplo == JBLAS_UPPER ? i <= j : i >= j;
}

/* ---- Matrices ---- */

/* A column-major matrix that ends at a page that nobody may touch, and what it was. */
typedef struct matrix {
    int type;
    int64_t rows, columns, ld;
    size_t bytes;
    void *data, *before;
} matrix_t;

static inline wide_t element(const matrix_t *a, const void *data, int64_t i, int64_t j) {
    return wide_get(data, a->type, i + j * a->ld);
}
static inline wide_t now_at(const matrix_t *a, int64_t i, int64_t j) {
    return element(a, a->data, i, j);
}
static inline wide_t before_at(const matrix_t *a, int64_t i, int64_t j) {
    return element(a, a->before, i, j);
}

static inline void keep(matrix_t *a) { memcpy(a->before, a->data, a->bytes); }

static inline matrix_t make_matrix(int type, int64_t rows, int64_t columns) {
    matrix_t a = {.type = type, .rows = rows, .columns = columns};
    const int64_t padding = jtest_random_between(0, 3);
    a.ld = (rows > 0 ? rows : 1) + padding;
    const int64_t count = columns > 0 ? a.ld * columns - padding : 0;
    a.bytes = (size_t)count * jdatatype_bytes((jdatatype_t)type);
    a.data = jtest_guard_pages(a.bytes);
    a.before = malloc(a.bytes + 1);
    for (int64_t k = 0; k < count; k++) {
        wide_t value = jtest_random_double(-1, 1);
        if (wide_is_complex(type))
            __imag__ value = jtest_random_double(-1, 1);
        wide_put(a.data, type, k, value);
    }
    keep(&a);
    return a;
}

static inline void free_matrix(matrix_t *a) { free(a->before); }
#define MATRIX(name, ...)                                                                          \
    __attribute__((cleanup(free_matrix))) matrix_t name = make_matrix(__VA_ARGS__)

/* What stands between the columns is as it was. */
static inline void expect_padding(const matrix_t *a) {
    for (int64_t j = 0; j + 1 < a->columns; j++)
        for (int64_t i = a->rows; i < a->ld; i++)
            JASSERT_TRUE(now_at(a, i, j) == before_at(a, i, j));
}

/* The triangle that is not `uplo` is as it was. */
static inline void expect_other_triangle(const matrix_t *a, jblas_uplo_t uplo) {
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            if (!is_stored(uplo, i, j))
                JASSERT_TRUE(now_at(a, i, j) == before_at(a, i, j));
}

/* Positive definite, and no worse conditioned than its order. */
static inline void make_definite(matrix_t *a) {
    for (int64_t i = 0; i < a->rows; i++)
        wide_put(a->data, a->type, i * (a->ld + 1),
                 (long double)a->rows + fabsl(__real__ now_at(a, i, i)));
    keep(a);
}

/* |C - op(Q) C| or |C - C op(Q)|, against the columns or rows; of k reflectors. */
static inline void expect_product(const matrix_t *c, const wide_t *q, bool left, bool plain,
                                  int64_t k) {
    const int64_t order = left ? c->rows : c->columns;
    const long double bound =
        bound_of(c->type, k) * 2 * sqrtl((long double)(order + 1)); /* elements of C are below 2 */
    for (int64_t j = 0; j < c->columns; j++)
        for (int64_t i = 0; i < c->rows; i++) {
            const int64_t own = left ? i : j;
            wide_t sum = -now_at(c, i, j);
            for (int64_t l = 0; l < order; l++) {
                const wide_t e = left == plain ? q[own + l * order] : q[l + own * order];
                sum +=
                    (plain ? e : conjugate(e)) * (left ? before_at(c, l, j) : before_at(c, i, l));
            }
            JASSERT_TRUE(wide_abs(sum) <= bound);
        }
}

/* ---- What holds of every call ---- */

/* A call that is made over again: `call` takes the operands, whose contents are as keep() kept
 * them, and ipiv, and sets info if it has one. In a size query their data are NULL. */
typedef struct jlapack_case jlapack_case_t;
struct jlapack_case {
    const char *name;
    jstatus_t (*call)(jhandle_t *handle, jlapack_case_t *self);
    matrix_t *operand[4];
    int64_t *ipiv, info;
    size_t least; /* bytes of workspace without which it is a memory error */
};
#define JLAPACK_CASE_OPERANDS 4
/* jlapack_case_t x = JLAPACK_CASE(gesv, &a, &b); with do_gesv() as its call. */
#define JLAPACK_CASE(routine, ...)                                                                 \
    {                                                                                              \
        .name = #routine, .call = do_##routine, .operand = { __VA_ARGS__ }                         \
    }

static inline jstatus_t case_run(jhandle_t *handle, jlapack_case_t *self) {
    for (int i = 0; i < JLAPACK_CASE_OPERANDS && self->operand[i] != NULL; i++)
        memcpy(self->operand[i]->data, self->operand[i]->before, self->operand[i]->bytes);
    self->info = 0;
    const jstatus_t status = self->call(handle, self);
    JEXPECT_EQ(self->info, 0);
    return status;
}

/* Operands are as they were before the call, or as they were in another run: `wanted`, one after
 * the other. */
static inline void case_expect(const jlapack_case_t *self, const char *wanted) {
    for (int i = 0; i < JLAPACK_CASE_OPERANDS && self->operand[i] != NULL; i++) {
        const matrix_t *const a = self->operand[i];
        JSCOPED_TRACE("operand %d", i);
        JEXPECT_EQ(memcmp(a->data, wanted != NULL ? wanted : a->before, a->bytes), 0);
        wanted = wanted != NULL ? wanted + a->bytes : NULL;
    }
}

/* The operands as they are now; free() it. */
static inline char *case_results(const jlapack_case_t *self) {
    size_t bytes = 0;
    for (int i = 0; i < JLAPACK_CASE_OPERANDS && self->operand[i] != NULL; i++)
        bytes += self->operand[i]->bytes;
    char *const results = malloc(bytes + 1), *at = results;
    for (int i = 0; i < JLAPACK_CASE_OPERANDS && self->operand[i] != NULL; i++) {
        memcpy(at, self->operand[i]->data, self->operand[i]->bytes);
        at += self->operand[i]->bytes;
    }
    return results;
}

static inline size_t case_query(jhandle_t *handle, const jlapack_case_t *self) {
    matrix_t without[JLAPACK_CASE_OPERANDS];
    jlapack_case_t query = *self;
    size_t bytes = 0;
    for (int i = 0; i < JLAPACK_CASE_OPERANDS && self->operand[i] != NULL; i++) {
        without[i] = *self->operand[i];
        without[i].data = NULL;
        query.operand[i] = &without[i];
    }
    query.ipiv = NULL;

    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_FALSE(jstatus_is_error(query.call(handle, &query)));
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    return bytes;
}

/* What a query asks for is what the first rung takes; less gives the same bits, down to the least;
 * below that the call says so, and writes nothing. */
static inline void expect_same_bits(jlapack_case_t *self) {
    const int64_t room_least = ji_host_tuning.room_least;
    jhandle_t *handle = make_handle(0);
    ji_host_tuning.room_least = 0; /* whatever the size */
    JEXPECT_OK(jhandle_set_threads(handle, 1));
    const size_t bytes = case_query(handle, self);
    JASSERT_GE(bytes, self->least);

    char *wanted = NULL;
    const size_t sizes[] = {bytes, bytes - (bytes < 64 ? bytes : 64), bytes / 2, bytes / 8, 64, 0};
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof sizes[0]; k++) {
        const size_t size = (size_t)larger((int64_t)sizes[k / 2], (int64_t)self->least) / 64 * 64;
        JSCOPED_TRACE("%s: %zu of %zu bytes, %d threads", self->name, size, bytes,
                      (int)(k % 2 + 1));
        JEXPECT_OK(jhandle_set_threads(handle, (int)(k % 2 + 1)));
        if (size > 0)
            JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(size), size));
        else
            JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 0));
        const jstatus_t status = case_run(handle, self);
        JEXPECT_FALSE(jstatus_is_error(status));
        if (k % 2 == 0) /* more threads want more */
            JEXPECT_STATUS(status, size >= bytes ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
        if (k == 0)
            wanted = case_results(self);
        case_expect(self, wanted);
    }
    if (self->least > 0) {
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, self->least - 64));
        JEXPECT_STATUS(case_run(handle, self), JSTATUS_MEMORY_ERROR);
        case_expect(self, NULL);
    }
    free(wanted);
    JEXPECT_OK(jhandle_destroy(handle));
    ji_host_tuning.room_least = room_least;
}

/* The n-th allocation fails, for each n: the call says so and has written nothing, and the next one
 * has all; or has done it all the same in less. */
static inline void expect_each_allocation_may_fail(jlapack_case_t *self) {
    jhandle_t *calm = make_handle(0);
    JEXPECT_OK(case_run(calm, self));
    char *const wanted = case_results(self);
    JEXPECT_OK(jhandle_destroy(calm));

    for (uint64_t n = 1, failed = 1; failed != 0 && !jtest_has_failure(); n++) {
        JSCOPED_TRACE("%s: allocation %d", self->name, (int)n);
        jhandle_t *handle = make_handle(0);
        const uint64_t before = jtest_allocation_count();
        jtest_fail_allocation_after(n);
        jstatus_t status = case_run(handle, self);
        failed = jtest_allocation_count() - before >= n;
        jtest_fail_allocation_after(0);
        if (jstatus_is_error(status)) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            case_expect(self, NULL);
            JEXPECT_OK(case_run(handle, self));
        }
        case_expect(self, wanted);
        JEXPECT_OK(jhandle_destroy(handle));
    }
    free(wanted);
}

/* A call is refused with that status, and these words in its message. */
#define JLAPACK_REFUSED(handle, call, status, words)                                               \
    JEXPECT_STATUS(call, status);                                                                  \
    JEXPECT_SUBSTR(jhandle_last_message(handle), words)

#endif
