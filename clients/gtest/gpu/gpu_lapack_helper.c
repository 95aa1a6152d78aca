/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "gpu_lapack_helper.h"

#include <dlfcn.h>

const char *const solver_names[SOLVERS] = {"getrf", "getrs", "gesv",  "geqrf", "orgqr",
                                           "ormqr", "gels",  "syevd", "gesvd"};

const fake_solver_control_t *fake_solver_there(void) {
    Dl_info info;
    if (gpu_fake() == NULL || dladdr(gpu_fake(), &info) == 0)
        return NULL;
    void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    const fake_solver_control_t *control =
        library != NULL ? dlsym(library, "fake_solver_control") : NULL;
    if (library != NULL)
        dlclose(library);
    return control;
}

bool solver_is_there(void) {
    jhandle_t *handle = gpu_make_handle();
    const jstatus_t status = jlapack_dgetrf(handle, 0, 0, NULL, 1, NULL, &(int64_t){0});
    JEXPECT_OK(jhandle_destroy(handle));
    return status != JSTATUS_NOT_IMPLEMENTED;
}

/* ---- Drawing ---- */

static void *to_device(const matrix_t *a) { return a->bytes > 0 ? gpu_take(a->bytes) : NULL; }

static int64_t columns_of(jlapack_job_t job, int64_t all, int64_t least) {
    return job == JLAPACK_ALL ? all : job == JLAPACK_SOME ? least : 0;
}

static void draw_svd_jobs(problem_t *p, int64_t round) {
    static const jlapack_job_t jobs[] = {JLAPACK_SOME, JLAPACK_ALL, JLAPACK_OVERWRITE,
                                         JLAPACK_NONE};
    p->job = jobs[round % 4];
    p->job2 = jobs[round / 4 % 4];
    if (p->job == JLAPACK_OVERWRITE && p->job2 == JLAPACK_OVERWRITE)
        p->job2 = JLAPACK_SOME;
}

static void draw_shapes(problem_t *p, int64_t most) {
    p->m = jtest_random_between(1, most), p->n = jtest_random_between(1, most);
    p->k = jtest_random_between(1, 7);
    if (p->solver == GETRS || p->solver == GESV || p->solver == SYEVD)
        p->m = p->n;
    if (p->solver == ORGQR && p->m < p->n) {
        const int64_t m = p->m;
        p->m = p->n, p->n = m;
    }
    if (p->solver == ORGQR)
        p->k = jtest_random_between(1, p->n);
    if (p->solver == ORMQR)
        p->k = jtest_random_between(1, p->side == JBLAS_LEFT ? p->m : p->n);
}

void problem_make(problem_t *p, solver_t solver, int type, int64_t round, int64_t most) {
    *p = (problem_t){.solver = solver, .type = type, .info = -99};
    static const jblas_operation_t operations[] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                   JBLAS_CONJUGATE_TRANSPOSE};
    p->side = jtest_random_bool() ? JBLAS_LEFT : JBLAS_RIGHT;
    p->uplo = draw_uplo();
    p->trans = solver == GETRS  ? operations[round % 3]
               : round % 2 == 0 ? JBLAS_NO_TRANSPOSE
                                : adjoint_of(type, round / 2);
    p->job = round % 2 == 0 ? JLAPACK_VECTORS : JLAPACK_NONE;
    if (solver == GESVD)
        draw_svd_jobs(p, round);
    draw_shapes(p, most);

    const int64_t m = p->m, n = p->n, least = smaller(m, n), rows = p->side == JBLAS_LEFT ? m : n;
    p->a = solver == ORMQR ? make_matrix(type, rows, p->k) : make_matrix(type, m, n);
    p->b = solver == GESVD   ? make_matrix(type, m, columns_of(p->job, m, least))
           : solver == GELS  ? make_matrix(type, larger(m, n), p->k)
           : solver == ORMQR ? make_matrix(type, m, n)
                             : make_matrix(type, n, p->k);
    p->c = make_matrix(type, columns_of(p->job2, n, least), solver == GESVD ? n : 0);
    p->values = solver >= SYEVD ? make_matrix(wide_real_of(type), least, 1)
                                : make_matrix(type, solver == ORMQR ? p->k : least, 1); /* tau */
    if (solver == SYEVD) {
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                if (!is_stored(p->uplo, i, j))
                    wide_put(p->a.data, type, i + j * p->a.ld, NAN);
                else if (i == j)
                    wide_put(p->a.data, type, i + j * p->a.ld, __real__ now_at(&p->a, i, j));
        keep(&p->a);
    }
    p->device_a = to_device(&p->a), p->device_b = to_device(&p->b);
    p->device_c = to_device(&p->c), p->device_values = to_device(&p->values);
    p->ipiv = gpu_take((size_t)least * sizeof *p->ipiv);
    p->device_info = gpu_take(sizeof *p->device_info);
    problem_upload(p);
}

void problem_free(problem_t *p) {
    matrix_t *const all[] = {&p->a, &p->b, &p->c, &p->values};
    void *const device[] = {p->device_a, p->device_b, p->device_c, p->device_values};
    for (int i = 0; i < 4; i++) {
        if (device[i] != NULL)
            gpu_give(device[i], all[i]->bytes);
        free_matrix(all[i]);
    }
    gpu_give(p->ipiv, (size_t)smaller(p->m, p->n) * sizeof *p->ipiv);
    gpu_give(p->device_info, sizeof *p->device_info);
}

/* ---- Calls ---- */

static void upload(void *device, const matrix_t *a) {
    if (a->bytes > 0)
        gpu_upload(device, a->before, a->bytes);
}

void problem_upload(problem_t *p) {
    const int64_t unwritten = -99;
    upload(p->device_a, &p->a), upload(p->device_b, &p->b);
    upload(p->device_c, &p->c), upload(p->device_values, &p->values);
    gpu_upload(p->device_info, &unwritten, sizeof unwritten);
    p->info = unwritten;
}

static jstatus_t call_one(jhandle_t *handle, problem_t *p, solver_t solver) {
    const bool query = jhandle_is_size_query(handle);
    jpointer_mode_t mode = JPOINTER_MODE_HOST;
    JEXPECT_OK(jhandle_get_pointer_mode(handle, &mode));
    int64_t *const info = query                        ? NULL
                          : mode == JPOINTER_MODE_HOST ? &p->info
                                                       : p->device_info,
                   *const ipiv = query ? NULL : p->ipiv;
    void *const a = query ? NULL : p->device_a, *const b = query ? NULL : p->device_b,
                *const c = query ? NULL : p->device_c, *const v = query ? NULL : p->device_values;
    const int64_t m = p->m, n = p->n, k = p->k, lda = p->a.ld, ldb = p->b.ld, ldc = p->c.ld,
                  rows = p->a.rows;
    const int type = p->type;
    switch (solver) {
    case GETRF: return JLAPACK_CALL(type, getrf, handle, m, n, a, lda, ipiv, info);
    case GETRS: return JLAPACK_CALL(type, getrs, handle, p->trans, n, k, a, lda, ipiv, b, ldb);
    case GESV: return JLAPACK_CALL(type, gesv, handle, n, k, a, lda, ipiv, b, ldb, info);
    case GEQRF: return JLAPACK_CALL(type, geqrf, handle, rows, p->a.columns, a, lda, v);
    case ORGQR: return JLAPACK_CALL_Q(type, orgqr, ungqr, handle, m, n, k, a, lda, v);
    case ORMQR:
        return JLAPACK_CALL_Q(type, ormqr, unmqr, handle, p->side, p->trans, m, n, k, a, lda, v, b,
                              ldb);
    case GELS: return JLAPACK_CALL(type, gels, handle, p->trans, m, n, k, a, lda, b, ldb, info);
    case SYEVD:
        return JLAPACK_BY_TYPE(type, jlapack_ssyevd, jlapack_dsyevd, jlapack_cheevd, jlapack_zheevd,
                               handle, p->job, p->uplo, n, a, lda, v, info);
    default:
        return JLAPACK_CALL(type, gesvd, handle, p->job, p->job2, m, n, a, lda, v, b, ldb, c, ldc,
                            info);
    }
}

jstatus_t problem_call(jhandle_t *handle, problem_t *p) {
    jstatus_t first = JSTATUS_SUCCESS;
    if (p->solver == GETRS)
        first = call_one(handle, p, GETRF);
    else if (p->solver == ORGQR || p->solver == ORMQR)
        first = call_one(handle, p, GEQRF);
    return jstatus_is_error(first) ? first : call_one(handle, p, p->solver);
}

static void download(matrix_t *a, const void *device) {
    if (a->bytes > 0)
        gpu_download(a->data, device, a->bytes);
}

void problem_download(jhandle_t *handle, problem_t *p) {
    jpointer_mode_t mode = JPOINTER_MODE_HOST;
    jstream_t *stream = NULL;
    JEXPECT_OK(jhandle_get_pointer_mode(handle, &mode));
    JEXPECT_OK(jhandle_get_stream(handle, &stream));
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    download(&p->a, p->device_a), download(&p->b, p->device_b);
    download(&p->c, p->device_c), download(&p->values, p->device_values);
    if (mode == JPOINTER_MODE_DEVICE)
        gpu_download(&p->info, p->device_info, sizeof p->info);
}

void problem_run(jhandle_t *handle, problem_t *p) {
    problem_upload(p);
    JASSERT_OK(problem_call(handle, p));
    problem_download(handle, p);
    problem_right(p);
}

size_t problem_query(jhandle_t *handle, problem_t *p, size_t *host_bytes) {
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_FALSE(jstatus_is_error(problem_call(handle, p)));
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_OK(jhandle_get_host_query_size(handle, host_bytes));
    return bytes;
}

/* ---- What must hold ---- */

/* A matrix of wide numbers, side by side. */
typedef struct dense {
    int64_t m, n;
    wide_t *at;
} dense_t;

static void free_wide(dense_t *a) { free(a->at); }
#define WIDE(name, ...) __attribute__((cleanup(free_wide))) dense_t name = make_wide(__VA_ARGS__)
#define AT(a, i, j) ((a)->at[(i) + (j) * (a)->m])

static dense_t make_wide(int64_t m, int64_t n) {
    return (dense_t){m, n, calloc((size_t)(m * n) + 1, sizeof(wide_t))};
}
static dense_t wide_of(const matrix_t *a, const void *data, int64_t m, int64_t n) {
    dense_t made = make_wide(m, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            AT(&made, i, j) = element(a, data, i, j);
    return made;
}
#define WIDE_OF(name, ...) __attribute__((cleanup(free_wide))) dense_t name = wide_of(__VA_ARGS__)

static long double norm_of(const dense_t *a) {
    long double sum = 0;
    for (int64_t i = 0; i < a->m * a->n; i++)
        sum += square_of(a->at[i]);
    return sqrtl(sum);
}

/* op(A) B; `op`: 'N', 'T', 'C'. */
static dense_t multiply(const dense_t *a, char op, const dense_t *b) {
    const int64_t m = op == 'N' ? a->m : a->n, depth = op == 'N' ? a->n : a->m;
    dense_t made = make_wide(m, b->n);
    for (int64_t j = 0; j < b->n; j++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t l = 0; l < depth; l++) {
                const wide_t x = op == 'N' ? AT(a, i, l) : AT(a, l, i);
                AT(&made, i, j) += (op == 'C' ? conjugate(x) : x) * AT(b, l, j);
            }
    return made;
}
#define PRODUCT(name, ...) __attribute__((cleanup(free_wide))) dense_t name = multiply(__VA_ARGS__)

static void subtract(dense_t *a, const dense_t *b) {
    for (int64_t i = 0; i < a->m * a->n; i++)
        a->at[i] -= b->at[i];
}

static char letter_of(jblas_operation_t trans) {
    return trans == JBLAS_NO_TRANSPOSE ? 'N' : trans == JBLAS_TRANSPOSE ? 'T' : 'C';
}

/* The difference is small beside `size`. */
static void expect_small(const problem_t *p, const dense_t *difference, long double size,
                         const char *what) {
    const long double bound = 60 * (long double)(p->m + p->n + p->k) * wide_epsilon(p->type) * size,
                      error = norm_of(difference);
    if (!(error <= bound))
        JFAIL("%s, type %d, %d x %d, k %d, trans %d, jobs %c %c: %s: %Lg and not below %Lg",
              solver_names[p->solver], p->type, (int)p->m, (int)p->n, (int)p->k, (int)p->trans,
              (char)p->job, (char)p->job2, what, error, bound);
}

/* A^H A = I, of its columns. */
static void expect_orthonormal(const problem_t *p, const dense_t *a, const char *what) {
    PRODUCT(square, a, 'C', a);
    for (int64_t i = 0; i < square.n; i++)
        AT(&square, i, i) -= 1;
    expect_small(p, &square, sqrtl((long double)a->n), what);
}

static void lu_right(problem_t *p) {
    const int64_t m = p->m, n = p->n, least = smaller(m, n);
    WIDE_OF(a, &p->a, p->a.before, m, n);
    WIDE(l, m, least);
    WIDE(u, least, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            if (i > j)
                AT(&l, i, j) = now_at(&p->a, i, j);
            else
                AT(&u, i, j) = now_at(&p->a, i, j);
    int64_t *pivots = malloc((size_t)least * sizeof *pivots);
    gpu_download(pivots, p->ipiv, (size_t)least * sizeof *pivots);
    for (int64_t i = 0; i < least; i++) {
        const int64_t other = pivots[i] - 1;
        AT(&l, i, i) = 1;
        JEXPECT_GE(other, i);
        JEXPECT_LT(other, m);
        for (int64_t j = 0; j < n && other < m && other >= i; j++) {
            const wide_t kept = AT(&a, i, j);
            AT(&a, i, j) = AT(&a, other, j), AT(&a, other, j) = kept;
        }
    }
    free(pivots);
    PRODUCT(product, &l, 'N', &u);
    subtract(&product, &a);
    expect_small(p, &product, norm_of(&l) * norm_of(&u), "P L U");
}

static void solve_right(problem_t *p, char op) {
    WIDE_OF(a, &p->a, p->a.before, p->n, p->n);
    WIDE_OF(b, &p->b, p->b.before, p->n, p->k);
    WIDE_OF(x, &p->b, p->b.data, p->n, p->k);
    PRODUCT(product, &a, op, &x);
    subtract(&product, &b);
    expect_small(p, &product, 8 * norm_of(&a) * norm_of(&x), "op(A) X = B");
}

/* C := op(Q) C by the reflectors that are in A and tau now. */
static void reflect(const problem_t *p, int64_t k, bool adjoint, dense_t *c) {
    for (int64_t step = 0; step < k; step++) {
        const int64_t i = adjoint ? step : k - 1 - step;
        const wide_t given = now_at(&p->values, i, 0), tau = adjoint ? conjugate(given) : given;
        for (int64_t j = 0; j < c->n; j++) {
            wide_t sum = AT(c, i, j);
            for (int64_t l = i + 1; l < c->m; l++)
                sum += conjugate(now_at(&p->a, l, i)) * AT(c, l, j);
            AT(c, i, j) -= tau * sum;
            for (int64_t l = i + 1; l < c->m; l++)
                AT(c, l, j) -= tau * now_at(&p->a, l, i) * sum;
        }
    }
}

static void qr_right(problem_t *p) {
    WIDE_OF(a, &p->a, p->a.before, p->m, p->n);
    WIDE(r, p->m, p->n);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i <= j && i < p->m; i++)
            AT(&r, i, j) = now_at(&p->a, i, j);
    reflect(p, smaller(p->m, p->n), false, &r);
    subtract(&r, &a);
    expect_small(p, &r, norm_of(&a), "Q R");
}

/* The first k columns of A are products of the first columns of Q. */
static void orgqr_right(problem_t *p) {
    WIDE_OF(a, &p->a, p->a.before, p->m, p->k);
    WIDE_OF(q, &p->a, p->a.data, p->m, p->n);
    expect_orthonormal(p, &q, "Q^H Q");
    PRODUCT(r, &q, 'C', &a);
    PRODUCT(product, &q, 'N', &r);
    subtract(&product, &a);
    expect_small(p, &product, norm_of(&a), "Q Q^H A");
}

static void ormqr_right(problem_t *p) {
    const bool left = p->side == JBLAS_LEFT, plain = p->trans == JBLAS_NO_TRANSPOSE;
    WIDE(want, left ? p->m : p->n, left ? p->n : p->m); /* C op(Q) is (op(Q)^H C^H)^H */
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++)
            if (left)
                AT(&want, i, j) = before_at(&p->b, i, j);
            else
                AT(&want, j, i) = conjugate(before_at(&p->b, i, j));
    const long double size = norm_of(&want);
    reflect(p, p->k, left != plain, &want);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++)
            if (left)
                AT(&want, i, j) -= now_at(&p->b, i, j);
            else
                AT(&want, j, i) -= conjugate(now_at(&p->b, i, j));
    expect_small(p, &want, size, "op(Q) C");
}

/* Of the triangle that is left of A, R^H R = A^H A, or L L^H = A A^H. */
static void gels_factor_right(problem_t *p) {
    const bool wide = p->m < p->n;
    const int64_t least = smaller(p->m, p->n);
    WIDE_OF(a, &p->a, p->a.before, p->m, p->n);
    WIDE(f, larger(p->m, p->n), least);
    WIDE(r, least, least);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++)
            if (wide)
                AT(&f, j, i) = conjugate(AT(&a, i, j));
            else
                AT(&f, i, j) = AT(&a, i, j);
    for (int64_t j = 0; j < least; j++)
        for (int64_t i = 0; i <= j; i++)
            AT(&r, i, j) = wide ? conjugate(now_at(&p->a, j, i)) : now_at(&p->a, i, j);
    PRODUCT(square, &f, 'C', &f);
    PRODUCT(product, &r, 'C', &r);
    subtract(&product, &square);
    expect_small(p, &product, norm_of(&a) * norm_of(&a), "the factorization");
}

static void gels_right(problem_t *p) {
    const char op = letter_of(p->trans);
    const bool plain = op == 'N', squares = plain == (p->m >= p->n);
    const int64_t given = plain ? p->m : p->n, found = plain ? p->n : p->m;
    WIDE_OF(a, &p->a, p->a.before, p->m, p->n);
    WIDE_OF(b, &p->b, p->b.before, given, p->k);
    WIDE_OF(x, &p->b, p->b.data, found, p->k);
    PRODUCT(residual, &a, op, &x);
    subtract(&residual, &b);
    const long double size = norm_of(&a) * norm_of(&x) + norm_of(&b);
    gels_factor_right(p);

    if (squares) { /* op(A)^H (op(A) X - B) = 0; what is behind X is as long as what is left */
        PRODUCT(normal, &a, plain ? 'C' : 'N', &residual);
        expect_small(p, &normal, 8 * norm_of(&a) * size, "the normal equations");
        for (int64_t j = 0; j < p->k; j++) {
            long double left = 0, behind = 0;
            for (int64_t i = 0; i < given; i++)
                left += square_of(AT(&residual, i, j));
            for (int64_t i = found; i < given; i++)
                behind += square_of(now_at(&p->b, i, j));
            JEXPECT_NEAR((double)sqrtl(behind), (double)sqrtl(left),
                         (double)(1000 * wide_epsilon(p->type) * size));
        }
        return;
    }
    expect_small(p, &residual, 8 * size, "op(A) X = B");
    if (given == found)
        return;
    /* No longer than the host's least one. */
    jhandle_t *host = NULL;
    MATRIX(a2, p->type, p->m, p->n);
    MATRIX(b2, p->type, larger(p->m, p->n), p->k);
    int64_t info = -1;
    JEXPECT_OK(jhandle_create(NULL, &host));
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++)
            wide_put(a2.data, p->type, i + j * a2.ld, AT(&a, i, j));
    for (int64_t j = 0; j < p->k; j++)
        for (int64_t i = 0; i < given; i++)
            wide_put(b2.data, p->type, i + j * b2.ld, AT(&b, i, j));
    JEXPECT_OK(JLAPACK_CALL(p->type, gels, host, p->trans, p->m, p->n, p->k, a2.data, a2.ld,
                            b2.data, b2.ld, &info));
    WIDE_OF(least, &b2, b2.data, found, p->k);
    JEXPECT_NEAR((double)norm_of(&x), (double)norm_of(&least),
                 (double)(100000 * wide_epsilon(p->type) * norm_of(&least)));
    JEXPECT_OK(jhandle_destroy(host));
}

static void syevd_right(problem_t *p) {
    const int64_t n = p->n;
    WIDE(a, n, n);
    long double trace = 0, sum = 0, squares = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            AT(&a, i, j) = is_stored(p->uplo, i, j) ? before_at(&p->a, i, j)
                                                    : conjugate(before_at(&p->a, j, i));
    for (int64_t i = 0; i < n; i++) {
        const long double w = __real__ now_at(&p->values, i, 0);
        trace += __real__ AT(&a, i, i), sum += w, squares += w * w;
        if (i > 0)
            JEXPECT_TRUE(w >= __real__ now_at(&p->values, i - 1, 0));
    }
    const double bound = (double)(100 * (long double)n * wide_epsilon(p->type) * (norm_of(&a) + 1));
    JEXPECT_NEAR((double)sum, (double)trace, bound);
    JEXPECT_NEAR((double)sqrtl(squares), (double)norm_of(&a), bound);
    if (p->job == JLAPACK_NONE)
        return;

    WIDE_OF(v, &p->a, p->a.data, n, n);
    expect_orthonormal(p, &v, "V^H V");
    PRODUCT(product, &a, 'N', &v);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            AT(&product, i, j) -= AT(&v, i, j) * now_at(&p->values, j, 0);
    expect_small(p, &product, norm_of(&a) + 1, "A V");
}

/* The vectors of one side turn A into rows, or columns, as long as the singular values. */
static void gesvd_side_right(problem_t *p, const dense_t *turned, bool rows) {
    const int64_t least = smaller(p->m, p->n);
    for (int64_t k = 0; k < least; k++) {
        long double sum = 0;
        for (int64_t l = 0; l < (rows ? turned->n : turned->m); l++)
            sum += square_of(rows ? AT(turned, k, l) : AT(turned, l, k));
        JEXPECT_NEAR((double)sqrtl(sum), (double)__real__ now_at(&p->values, k, 0),
                     (double)(2000 * wide_epsilon(p->type)));
    }
}

static void gesvd_right(problem_t *p) {
    const int64_t m = p->m, n = p->n, least = smaller(m, n);
    WIDE_OF(a, &p->a, p->a.before, m, n);
    long double squares = 0;
    for (int64_t i = 0; i < least; i++) {
        const long double s = __real__ now_at(&p->values, i, 0);
        squares += s * s;
        JEXPECT_TRUE(s >= 0 && (i == 0 || s <= __real__ now_at(&p->values, i - 1, 0)));
    }
    JEXPECT_NEAR((double)sqrtl(squares), (double)norm_of(&a),
                 (double)(200 * (long double)(m + n) * wide_epsilon(p->type) * norm_of(&a)));

    const bool has_u = p->job != JLAPACK_NONE, has_vt = p->job2 != JLAPACK_NONE;
    const matrix_t *of_u = p->job == JLAPACK_OVERWRITE ? &p->a : &p->b,
                   *of_vt = p->job2 == JLAPACK_OVERWRITE ? &p->a : &p->c;
    const int64_t columns = p->job == JLAPACK_ALL ? m : least,
                  rows = p->job2 == JLAPACK_ALL ? n : least;
    WIDE_OF(u, of_u, of_u->data, has_u ? m : 0, has_u ? columns : 0);
    WIDE(v, has_vt ? n : 0, has_vt ? rows : 0);
    for (int64_t j = 0; j < v.n; j++)
        for (int64_t i = 0; i < v.m; i++)
            AT(&v, i, j) = conjugate(element(of_vt, of_vt->data, j, i));
    if (has_u) {
        expect_orthonormal(p, &u, "U^H U");
        PRODUCT(turned, &u, 'C', &a);
        gesvd_side_right(p, &turned, true);
    }
    if (has_vt) {
        expect_orthonormal(p, &v, "V^H V");
        PRODUCT(turned, &a, 'N', &v);
        gesvd_side_right(p, &turned, false);
    }
    if (has_u && has_vt) {
        PRODUCT(turned, &u, 'C', &a);
        PRODUCT(diagonal, &turned, 'N', &v);
        for (int64_t i = 0; i < least; i++)
            AT(&diagonal, i, i) -= now_at(&p->values, i, 0);
        expect_small(p, &diagonal, norm_of(&a), "U^H A V");
    }
}

void problem_right(problem_t *p) {
    const matrix_t *const all[] = {&p->a, &p->b, &p->c, &p->values};
    if (p->solver != GEQRF && p->solver != ORGQR && p->solver != ORMQR)
        JEXPECT_EQ(p->info, 0);
    for (int i = 0; i < 4; i++)
        expect_padding(all[i]);
    switch (p->solver) {
    case GETRF: lu_right(p); break;
    case GETRS: lu_right(p), solve_right(p, letter_of(p->trans)); break;
    case GESV: lu_right(p), solve_right(p, 'N'); break;
    case GEQRF: qr_right(p); break;
    case ORGQR: orgqr_right(p); break;
    case ORMQR: ormqr_right(p); break;
    case GELS: gels_right(p); break;
    case SYEVD: syevd_right(p); break;
    default: gesvd_right(p); break;
    }
}
