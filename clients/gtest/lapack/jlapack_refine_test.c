/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Iterative refinement, gerfs and porfs: its backward error by the definition, and its bound held
 * against the error, which is that of X beside a solution in long double. */

#include <float.h>
#include <math.h>

#include "jlapack_helper.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackRefine, name)

/* ---- Problems ---- */

/* A and its factor, of a general matrix or of a definite one. */
typedef struct problem {
    bool definite;
    jblas_operation_t trans;
    jblas_uplo_t uplo;
    int64_t n, nrhs;
    matrix_t *a, *af, *b, *x;
    int64_t *ipiv;
} problem_t;

static wide_t operated(const problem_t *p, int64_t i, int64_t j) {
    if (p->definite) {
        const wide_t value =
            is_stored(p->uplo, i, j) ? before_at(p->a, i, j) : conjugate(before_at(p->a, j, i));
        return i == j ? (wide_t) __real__ value : value;
    }
    const bool plain = p->trans == JBLAS_NO_TRANSPOSE;
    const wide_t value = before_at(p->a, plain ? i : j, plain ? j : i);
    return p->trans == JBLAS_CONJUGATE_TRANSPOSE ? conjugate(value) : value;
}

static long double size_1(wide_t value) { return fabsl(__real__ value) + fabsl(__imag__ value); }

/* What is not read of a definite matrix is NaN. */
static void make_problem(jhandle_t *handle, problem_t *p, int type) {
    if (p->definite) {
        make_definite(p->a);
        for (int64_t j = 0; j < p->n; j++)
            for (int64_t i = 0; i < p->n; i++)
                if (!is_stored(p->uplo, i, j))
                    wide_put(p->a->data, type, i + j * p->a->ld, NAN);
        keep(p->a);
    }
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->n; i++)
            wide_put(p->af->data, type, i + j * p->af->ld, before_at(p->a, i, j));

    int64_t info = 0;
    if (p->definite)
        JEXPECT_OK(JLAPACK_BY_TYPE(type, jlapack_spotrf, jlapack_dpotrf, jlapack_cpotrf,
                                   jlapack_zpotrf, handle, p->uplo, p->n, p->af->data, p->af->ld,
                                   &info));
    else
        JEXPECT_OK(
            JLAPACK_CALL(type, getrf, handle, p->n, p->n, p->af->data, p->af->ld, p->ipiv, &info));
    JEXPECT_EQ(info, 0);
    keep(p->af);
}

static jstatus_t refine(jhandle_t *handle, const problem_t *p, void *ferr, void *berr) {
    if (p->definite)
        return JLAPACK_CALL(p->a->type, porfs, handle, p->uplo, p->n, p->nrhs, p->a->data, p->a->ld,
                            p->af->data, p->af->ld, p->b->data, p->b->ld, p->x->data, p->x->ld,
                            ferr, berr);
    return JLAPACK_CALL(p->a->type, gerfs, handle, p->trans, p->n, p->nrhs, p->a->data, p->a->ld,
                        p->af->data, p->af->ld, p->ipiv, p->b->data, p->b->ld, p->x->data, p->x->ld,
                        ferr, berr);
}

static problem_t draw_problem(int64_t most) {
    return (problem_t){.definite = jtest_random_between(0, 1),
                       .trans = (jblas_operation_t)jtest_random_between(JBLAS_NO_TRANSPOSE,
                                                                        JBLAS_CONJUGATE_TRANSPOSE),
                       .uplo = draw_uplo(),
                       .n = jtest_random_between(1, most),
                       .nrhs = jtest_random_between(1, 3)};
}
/* Declares its matrices, which end at pages that nobody may touch. */
#define PROBLEM(p, type)                                                                           \
    MATRIX(a_of_p, type, p.n, p.n);                                                                \
    MATRIX(af_of_p, type, p.n, p.n);                                                               \
    MATRIX(b_of_p, type, p.n, p.nrhs);                                                             \
    MATRIX(x_of_p, type, p.n, p.nrhs);                                                             \
    p.a = &a_of_p, p.af = &af_of_p, p.b = &b_of_p, p.x = &x_of_p;                                  \
    p.ipiv = jtest_guard_pages((size_t)p.n * sizeof *p.ipiv)

/* ---- In long double ---- */

/* x = inv(m) x, n x sides, by elimination; m is used up. */
static void eliminate(int64_t n, wide_t *m, int64_t sides, wide_t *x) {
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k; i < n; i++)
            if (wide_abs(m[i + k * n]) > wide_abs(m[pivot + k * n]))
                pivot = i;
        for (int64_t j = 0; j < n + sides; j++) {
            wide_t *const column = j < n ? m + j * n : x + (j - n) * n;
            const wide_t here = column[k];
            column[k] = column[pivot], column[pivot] = here;
        }
        for (int64_t i = 0; i < n; i++) {
            const wide_t factor = m[i + k * n] / m[k + k * n];
            for (int64_t j = 0; i != k && j < n + sides; j++) {
                wide_t *const column = j < n ? m + j * n : x + (j - n) * n;
                column[i] -= factor * column[k];
            }
        }
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = 0; j < sides; j++)
            x[k + j * n] /= m[k + k * n];
}

/* inv(op(A)), dense. */
static wide_t *inverse_of(const problem_t *p) {
    const int64_t n = p->n;
    wide_t *m = calloc((size_t)(n * n), sizeof *m), *x = calloc((size_t)(n * n), sizeof *x);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            m[i + j * n] = operated(p, i, j), x[i + j * n] = i == j;
    eliminate(n, m, n, x);
    free(m);
    return x;
}

/* B so large that the largest of X and of |op(A)||x| is nine tenths of the largest number. */
static void enlarge(const problem_t *p, const wide_t *inverse) {
    const int64_t n = p->n;
    wide_t *const x = calloc((size_t)n, sizeof *x);
    long double most = 0;
    for (int64_t j = 0; j < p->nrhs; j++) {
        for (int64_t i = 0; i < n; i++) {
            x[i] = 0;
            for (int64_t k = 0; k < n; k++)
                x[i] += inverse[i + k * n] * before_at(p->b, k, j);
        }
        for (int64_t i = 0; i < n; i++) {
            long double size = 0;
            for (int64_t k = 0; k < n; k++)
                size += size_1(operated(p, i, k)) * size_1(x[k]);
            most = fmaxl(most, fmaxl(size, size_1(x[i])));
        }
    }
    free(x);

    const long double largest = p->a->type % 2 == JDATATYPE_F32 ? FLT_MAX : DBL_MAX;
    for (int64_t j = 0; j < p->nrhs; j++)
        for (int64_t i = 0; i < n; i++)
            wide_put(p->b->data, p->b->type, i + j * p->b->ld,
                     before_at(p->b, i, j) * (0.9L * largest / most));
    keep(p->b);
}

/* ---- Refined ---- */

/* Of column j: the backward error is what it is said to be, and small; the bound is one. */
static void expect_refined(const problem_t *p, const wide_t *inverse, int64_t j, long double ferr,
                           long double berr) {
    const int64_t n = p->n;
    const long double unit = wide_epsilon(p->a->type),
                      gamma = (long double)(n + 4) * (wide_is_complex(p->a->type) ? 4 : 1) * unit;
    long double largest = 0, backward = 0, error = 0, bound = 0;
    long double *const weight = calloc((size_t)n, sizeof *weight);
    for (int64_t i = 0; i < n; i++) {
        wide_t r = before_at(p->b, i, j);
        long double size = size_1(r);
        for (int64_t k = 0; k < n; k++) {
            r -= operated(p, i, k) * now_at(p->x, k, j);
            size += size_1(operated(p, i, k)) * size_1(now_at(p->x, k, j));
        }
        backward = fmaxl(backward, size_1(r) / size);
        weight[i] = size_1(r) + (long double)(n + 1) * unit * size;
        largest = fmaxl(largest, size_1(now_at(p->x, i, j)));
    }
    for (int64_t i = 0; i < n; i++) {
        wide_t exact = 0;
        long double sum = 0;
        for (int64_t k = 0; k < n; k++) {
            exact += inverse[i + k * n] * before_at(p->b, k, j);
            sum += wide_abs(inverse[i + k * n]) * weight[k];
        }
        error = fmaxl(error, size_1(exact - now_at(p->x, i, j)));
        bound = fmaxl(bound, sum);
    }
    free(weight);
    JSCOPED_TRACE("berr %Lg, exactly %Lg; ferr %Lg, exactly %Lg; error %Lg", berr, backward, ferr,
                  bound / largest, error / largest);
    JASSERT_TRUE(fabsl(berr - backward) <= gamma);
    JASSERT_TRUE(berr <= gamma);
    JASSERT_TRUE(error <= ferr * largest);
    JASSERT_TRUE(ferr >= bound / largest / 10); /* an estimate */
    JASSERT_TRUE(ferr <= bound / largest * 2);
}

/* X is a solution that is off by a thousandth. Of a third of the problems |op(A)||x| may come near
 * the largest number, and |b| + |op(A)||x| beyond. */
EACH_TYPE(FindsTheSolutionAndItsErrors) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(40); round > 0 && !jtest_has_failure(); --round) {
        problem_t p = draw_problem(round % 4 == 0 ? 60 : 12);
        JSCOPED_TRACE("definite %d, trans %d, uplo %d, n %ld", p.definite, (int)p.trans,
                      (int)p.uplo, (long)p.n);
        PROBLEM(p, *param);
        if (!p.definite) /* of modest condition */
            for (int64_t i = 0; i < p.n; i++)
                wide_put(p.a->data, *param, (i + 1) % p.n + i * p.a->ld, 4);
        for (int64_t i = 0; i < p.n && !p.definite; i++) /* but for its rows, of any size */
            for (int64_t j = 0; j < p.n; j++)
                wide_put(p.a->data, *param, i + j * p.a->ld,
                         now_at(p.a, i, j) * ldexpl(1, (int)(i * 7 % 13) - 6));
        keep(p.a);
        make_problem(handle, &p, *param);
        wide_t *const inverse = inverse_of(&p);
        if (round % 3 == 0)
            enlarge(&p, inverse);
        for (int64_t j = 0; j < p.nrhs; j++)
            for (int64_t i = 0; i < p.n; i++) {
                wide_t x = 0;
                for (int64_t k = 0; k < p.n; k++)
                    x += inverse[i + k * p.n] * before_at(p.b, k, j);
                wide_put(p.x->data, *param, i + j * p.x->ld, x * (1 + 1e-3L * (i % 3 - 1)));
            }
        keep(p.x);

        const size_t bytes = (size_t)p.nrhs * (*param % 2 == JDATATYPE_F32 ? 4 : 8);
        void *const ferr = jtest_guard_pages(bytes), *const berr = jtest_guard_pages(bytes);
        JEXPECT_OK(refine(handle, &p, ferr, berr));
        for (int64_t j = 0; j < p.nrhs; j++)
            expect_refined(&p, inverse, j, __real__ wide_get(ferr, *param % 2, j),
                           __real__ wide_get(berr, *param % 2, j));
        JEXPECT_EQ(memcmp(p.a->data, p.a->before, p.a->bytes), 0);
        JEXPECT_EQ(memcmp(p.af->data, p.af->before, p.af->bytes), 0);
        JEXPECT_EQ(memcmp(p.b->data, p.b->before, p.b->bytes), 0);
        expect_padding(p.x);
        free(inverse);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* With a factor of something else nothing converges: it ends, and berr says so. NaN and infinity
 * end, too, and a singular factor is no bound. */
EACH_TYPE(EndsWhateverItIsGiven) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(16); round > 0 && !jtest_has_failure(); --round) {
        problem_t p = draw_problem(40);
        PROBLEM(p, *param);
        make_problem(handle, &p, *param);
        double errors[2][4] = {{-7, -7, -7, -7}, {-7, -7, -7, -7}};
        const int64_t place = jtest_random_between(0, p.n - 1) * (p.af->ld + 1);
        wide_put(p.af->data, *param, place, round % 4 == 0 ? 0 : round % 4 == 1 ? NAN : 1e4L);
        if (round % 4 == 2)
            wide_put(p.b->data, *param, 0, round % 8 == 2 ? NAN : INFINITY);
        JEXPECT_OK(refine(handle, &p, errors[0], errors[1]));
        const long double ferr = __real__ wide_get(errors[0], *param % 2, 0),
                          berr = __real__ wide_get(errors[1], *param % 2, 0);
        JSCOPED_TRACE("round %d: ferr %Lg, berr %Lg", (int)(round % 4), ferr, berr);
        if (round % 4 == 0 || round % 4 == 1)
            JEXPECT_FALSE(isfinite(ferr));
        if (round % 4 == 2)
            JEXPECT_TRUE(isnan(ferr) && isnan(berr));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, modes, failures ---- */

EACH_TYPE(NeedsExactlyItsVectors) {
    for (int definite = 0; definite < 2; definite++) {
        problem_t p = {.definite = definite, .trans = JBLAS_TRANSPOSE, .uplo = JBLAS_UPPER};
        p.n = 50, p.nrhs = 2;
        PROBLEM(p, *param);
        jhandle_t *handle = make_handle(0);
        make_problem(handle, &p, *param);
        double wanted[2][2], errors[2][2] = {{-7, -7}, {-7, -7}};
        JEXPECT_OK(refine(handle, &p, wanted[0], wanted[1]));
        char *const solution = malloc(p.x->bytes);
        memcpy(solution, p.x->data, p.x->bytes);

        size_t bytes = 0;
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_FALSE(jstatus_is_error(refine(handle, &p, NULL, NULL)));
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        const size_t size = jdatatype_bytes((jdatatype_t)*param),
                     real = *param % 2 == JDATATYPE_F32 ? 4 : 8;
        JEXPECT_EQ(bytes, 4 * ((50 * size + 63) / 64 * 64) + (50 * real + 63) / 64 * 64);

        memcpy(p.x->data, p.x->before, p.x->bytes);
        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes - 64), bytes - 64));
        JEXPECT_STATUS(refine(handle, &p, errors[0], errors[1]), JSTATUS_MEMORY_ERROR);
        JEXPECT_EQ(errors[0][0], -7);
        JEXPECT_EQ(memcmp(p.x->data, p.x->before, p.x->bytes), 0);

        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes), bytes));
        jstream_t *stream = NULL;
        JASSERT_OK(jstream_create(jdevice_host(), &stream));
        for (int k = 0; k < 3; k++) { /* threads; and on a created stream errors are there, too */
            JEXPECT_OK(jhandle_set_threads(handle, 1 + (k == 1)));
            if (k == 2)
                JEXPECT_OK(jhandle_set_stream(handle, stream));
            memcpy(p.x->data, p.x->before, p.x->bytes);
            errors[0][0] = -7;
            JEXPECT_OK(refine(handle, &p, errors[0], errors[1]));
            JEXPECT_EQ(memcmp(errors[0], wanted[0], 2 * real), 0);
            JEXPECT_EQ(memcmp(errors[1], wanted[1], 2 * real), 0);
            JEXPECT_EQ(memcmp(p.x->data, solution, p.x->bytes), 0);
        }
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_destroy(stream));

        for (uint64_t n = 1, failed = 1; failed != 0 && !jtest_has_failure(); n++) {
            handle = make_handle(0);
            memcpy(p.x->data, p.x->before, p.x->bytes);
            const uint64_t before = jtest_allocation_count();
            jtest_fail_allocation_after(n);
            const jstatus_t status = refine(handle, &p, errors[0], errors[1]);
            failed = jtest_allocation_count() - before >= n;
            jtest_fail_allocation_after(0);
            if (jstatus_is_error(status))
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_EQ(
                memcmp(p.x->data, jstatus_is_error(status) ? p.x->before : solution, p.x->bytes),
                0);
            JEXPECT_OK(jhandle_destroy(handle));
        }
        free(solution);
    }
}

JTEST(JlapackRefine, RefusesWhatIsWrongByName) {
    double a[4] = {4, 1, 1, 4}, b[2] = {1, 2}, x[2] = {0, 0}, ferr[1] = {-7}, berr[1] = {-7};
    int64_t ipiv[2] = {1, 2};
    jhandle_t *h = make_handle(0);
    const jblas_operation_t plain = JBLAS_NO_TRANSPOSE;
    const jblas_uplo_t up = JBLAS_UPPER;

    JLAPACK_REFUSED(
        h, jlapack_dgerfs(h, (jblas_operation_t)7, 2, 1, a, 2, a, 2, ipiv, b, 2, x, 2, ferr, berr),
        JSTATUS_INVALID_VALUE, "dgerfs: trans = 7");
    JLAPACK_REFUSED(h, jlapack_dgerfs(h, plain, 2, -1, a, 2, a, 2, ipiv, b, 2, x, 2, ferr, berr),
                    JSTATUS_INVALID_SIZE, "nrhs = -1");
    JLAPACK_REFUSED(h, jlapack_dgerfs(h, plain, 2, 1, a, 2, a, 1, ipiv, b, 2, x, 2, ferr, berr),
                    JSTATUS_INVALID_SIZE, "ldaf = 1");
    JLAPACK_REFUSED(h, jlapack_dgerfs(h, plain, 2, 1, a, 2, a, 2, ipiv, b, 2, x, 1, ferr, berr),
                    JSTATUS_INVALID_SIZE, "ldx = 1");
    JLAPACK_REFUSED(h, jlapack_dgerfs(h, plain, 2, 1, a, 2, NULL, 2, ipiv, b, 2, x, 2, ferr, berr),
                    JSTATUS_INVALID_POINTER, "af is NULL");
    JLAPACK_REFUSED(h, jlapack_dgerfs(h, plain, 2, 1, a, 2, a, 2, NULL, b, 2, x, 2, ferr, berr),
                    JSTATUS_INVALID_POINTER, "ipiv is NULL");
    JLAPACK_REFUSED(h, jlapack_dgerfs(h, plain, 2, 1, a, 2, a, 2, ipiv, b, 2, x, 2, ferr, NULL),
                    JSTATUS_INVALID_POINTER, "berr is NULL");
    JLAPACK_REFUSED(h, jlapack_dporfs(h, (jblas_uplo_t)7, 2, 1, a, 2, a, 2, b, 2, x, 2, ferr, berr),
                    JSTATUS_INVALID_VALUE, "uplo = 7");
    JLAPACK_REFUSED(h, jlapack_dporfs(h, up, 2, 1, a, 2, a, 2, b, 2, NULL, 2, ferr, berr),
                    JSTATUS_INVALID_POINTER, "x is NULL");
    JEXPECT_EQ(ferr[0], -7);

    JEXPECT_OK(
        jlapack_dgerfs(h, plain, 0, 1, NULL, 1, NULL, 1, NULL, NULL, 1, NULL, 1, ferr, berr));
    JEXPECT_TRUE(ferr[0] == 0 && berr[0] == 0);
    JEXPECT_OK(jlapack_dporfs(h, up, 2, 0, a, 2, a, 2, NULL, 2, NULL, 2, NULL, NULL));
    JEXPECT_OK(jhandle_destroy(h));
}
