/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The bits of trsm, trtri and potrf on the host: the same with one thread and with eight, on every
 * rung, and by every set of kernels that rounds alike; of a right-hand side whatever is beside
 * it. */

#include "jtest.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "blas/algorithms/product.h"
#include "blas/algorithms/triangle.h"
#include "blas/kernels/kernels.h"
#include "blas/routine/entry.h"
#include "blas/routine/setup.h"
#include "lapack/lapack.h"

static const jdatatype_t types[] = {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32_C, JDATATYPE_F64_C};

typedef enum solver { SOLVER_TRSM, SOLVER_TRTRI, SOLVER_POTRF, SOLVERS } solver_t;

static const struct {
    const ji_row_t *row;
    ji_plan_function_t plan;
    ji_run_function_t run;
} solvers[SOLVERS] = {{&ji_row_trsm, ji_trsm_plan, ji_trsm_run},
                      {&ji_row_trtri, ji_trtri_plan, ji_trtri_run},
                      {&ji_row_potrf, ji_potrf_plan, ji_potrf_run}};

/* A problem; what it overwrites is `result`, a copy of `before`. */
typedef struct problem {
    solver_t solver;
    ji_matmat_t block;
    void *a, *before, *result;
    size_t result_bytes;
    int64_t info;
} problem_t;

static void fill(jdatatype_t type, void *matrix, int64_t n, double largest) {
    const int64_t reals = n * (ji_is_complex(type) ? 2 : 1);
    for (int64_t i = 0; i < reals; ++i) {
        const double value = jtest_random_double(-largest, largest);
        if (ji_real_of(type) == JDATATYPE_F32)
            ((float *)matrix)[i] = (float)value;
        else
            ((double *)matrix)[i] = value;
    }
}

static jblas_operation_t random_operation(void) {
    return (jblas_operation_t)jtest_random_between(JBLAS_NO_TRANSPOSE, JBLAS_CONJUGATE_TRANSPOSE);
}

/* The diagonal outweighs the rest, a unit one too, so each of the three has an answer: a solution
 * that grows beyond all numbers ends in NaNs, whose signs depend on the kernels. */
static problem_t problem_make(jdatatype_t type, solver_t solver) {
    const int64_t order = jtest_random_between(1, 4) == 1 ? jtest_random_between(1, 90)
                                                          : jtest_random_between(200, 620),
                  most =
                      jtest_random_between(1, 3) == 1 ? 4 : 260, /* a few are a way of their own */
        rhs = solver == SOLVER_TRSM ? jtest_random_between(1, most) : order,
                  ld = order + jtest_random_between(0, 3);
    const bool left = jtest_random_bool(), unit = solver == SOLVER_TRSM && jtest_random_bool();
    problem_t p = {.solver = solver};

    p.a = malloc((size_t)(ld * order) * ji_sizeof(type));
    fill(type, p.a, ld * order, unit ? 1.0 / (double)order : 1);
    for (int64_t i = 0; i < order; ++i) {
        void *diagonal = ji_at(type, p.a, i, i, ld);
        const ji_scalar_t value = ji_constant(type, (double)(2 * order + i));
        memcpy(diagonal, &value.value, ji_sizeof(type));
    }

    p.block = (ji_matmat_t){.head = {.type = type, .row = solvers[solver].row},
                            .side = left ? JBLAS_LEFT : JBLAS_RIGHT,
                            .uplo = jtest_random_bool() ? JBLAS_UPPER : JBLAS_LOWER,
                            .transa = random_operation(),
                            .diag = unit ? JBLAS_UNIT : JBLAS_NON_UNIT,
                            .m = left ? order : rhs,
                            .n = left ? rhs : order,
                            .alpha = ji_constant(type, 0.75),
                            .lda = ld,
                            .ldb = left ? ld : rhs};
    if (solver != SOLVER_TRSM)
        p.block.n = order;
    p.result_bytes = (size_t)(solver != SOLVER_TRSM ? ld * order
                              : left                ? ld * rhs
                                                    : rhs * order) *
                     ji_sizeof(type);
    p.before = malloc(p.result_bytes);
    p.result = malloc(p.result_bytes);
    if (solver == SOLVER_TRSM)
        fill(type, p.before, (int64_t)(p.result_bytes / ji_sizeof(type)), 1);
    else
        memcpy(p.before, p.a, p.result_bytes);
    return p;
}

static void problem_free(problem_t *p) {
    free(p->a);
    free(p->before);
    free(p->result);
}

/* With so much workspace, 0: what it asks for. */
static void problem_run(problem_t *p, int threads, size_t workspace_bytes) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_threads(handle, threads));
    JEXPECT_OK(jhandle_set_workspace_size(handle, workspace_bytes));

    memcpy(p->result, p->before, p->result_bytes);
    ji_matmat_t block = p->block;
    (void)ji_take_threads(handle, &block);
    block.a = p->solver == SOLVER_TRSM ? p->a : p->result;
    block.b = p->solver == SOLVER_TRSM ? p->result : NULL;
    block.info = &p->info;
    const jstatus_t status =
        ji_run_plan(handle, &block, solvers[p->solver].plan, solvers[p->solver].run);
    JEXPECT_FALSE(jstatus_is_error(status));
    JEXPECT_EQ(p->info, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

static const ji_kernel_set_t *chosen;
static bool guest_was_chosen;

/* jblas's own primitives with the best kernels, whatever the process has chosen. */
static void begin(void) {
    jhandle_t *handle = NULL;
    double x = 1;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jblas_dscal(handle, 1, &x, &x, 1)); /* now it has */
    JEXPECT_OK(jhandle_destroy(handle));

    chosen = ji_kernels;
    guest_was_chosen = ji_host_primitives[JI_TRSM] != ji_host_trsm;
    ji_host_choose(false);
    ji_kernel_set_use(ji_kernel_set_best());
}

static void end(void) {
    ji_kernel_set_use(chosen);
    ji_host_choose(guest_was_chosen);
}

/* One of the triangle's pivots has no normal number as its reciprocal. */
static void problem_make_unsound(problem_t *p) {
    const int64_t order = p->block.side == JBLAS_LEFT ? p->block.m : p->block.n,
                  pivot = jtest_random_between(0, order - 1);
    const bool is_single = ji_real_of(p->block.head.type) == JDATATYPE_F32;
    const ji_scalar_t value = ji_constant(p->block.head.type, is_single ? FLT_MAX : DBL_MAX);
    memcpy(ji_at(p->block.head.type, p->a, pivot, pivot, p->block.lda), &value.value,
           ji_sizeof(p->block.head.type));
}

/* Right-hand sides alone, and beside others. */
JTEST_P(JblasTriangle, RightHandSidesDoNotMeet, jdatatype_t, types) {
    begin();

    for (int64_t round = jtest_iterations(20); round > 0 && !jtest_has_failure(); --round) {
        problem_t p = problem_make(*param, SOLVER_TRSM);
        if (round % 3 == 0)
            problem_make_unsound(&p);
        problem_run(&p, 2, 0);
        unsigned char *want = malloc(p.result_bytes);
        memcpy(want, p.result, p.result_bytes);

        const bool left = p.block.side == JBLAS_LEFT;
        int64_t *const count = left ? &p.block.n : &p.block.m;
        const int64_t all = *count, order = left ? p.block.m : p.block.n;
        *count = jtest_random_between(1, round % 2 == 0 ? ji_min(all, 4) : all);
        problem_run(&p, 1, 64);
        for (int64_t q = 0; q < order; ++q)
            for (int64_t rhs = 0; rhs < *count; ++rhs) {
                const size_t at = (size_t)((left ? q + rhs * p.block.ldb : rhs + q * p.block.ldb) *
                                           (int64_t)ji_sizeof(*param));
                JASSERT_EQ(memcmp(want + at, (unsigned char *)p.result + at, ji_sizeof(*param)), 0);
            }
        free(want);
        problem_free(&p);
    }
    end();
}

/* Threads, rungs and kernels against one thread, the best rung and the best kernels. */
JTEST_P(JblasTriangle, BitsDependOnNothingElse, jdatatype_t, types) {
    static const size_t workspaces[] = {0, 64, 100000, JI_PACKED_SMALL_BYTES, 600000};
    const ji_kernel_set_t *const best = ji_kernel_set_best();
    begin();

    for (int64_t round = jtest_iterations(30); round > 0 && !jtest_has_failure(); --round) {
        problem_t p = problem_make(*param, (solver_t)(round % SOLVERS));
        ji_kernel_set_use(best);
        problem_run(&p, 1, 0);
        void *want = malloc(p.result_bytes);
        memcpy(want, p.result, p.result_bytes);

        for (size_t i = 0; ji_kernel_set_at(i) != NULL; ++i) {
            if (!ji_kernel_set_is_here(ji_kernel_set_at(i)))
                continue;
            ji_kernel_set_use(ji_kernel_set_at(i));
            if (ji_kernels->fused != best->fused) {
                problem_run(&p, 1, 0);
                memcpy(want, p.result, p.result_bytes);
            }
            for (int turn = 0; turn < 5; ++turn) {
                const int threads = (int)jtest_random_between(1, 8);
                JSCOPED_TRACE("%s, m %d, n %d, %s, %d threads, %zu bytes", p.block.head.row->name,
                              (int)p.block.m, (int)p.block.n, ji_kernels->name, threads,
                              workspaces[turn]);
                problem_run(&p, threads, workspaces[turn]);
                JEXPECT_EQ(memcmp(want, p.result, p.result_bytes), 0);
            }
        }
        free(want);
        problem_free(&p);
    }
    end();
}
