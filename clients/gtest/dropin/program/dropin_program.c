/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A program that is linked with BLAS and knows nothing of jalloc, for dropin_process_test.c: its
 * argument says what it goes through. It ends with 0 if all numbers were right. It has an xerbla_
 * and a cblas_xerbla of its own. With PROGRAM_SOLVES in its environment each product goes with a
 * solve, by the LAPACK that is preloaded; with PROGRAM_FAILS=N the N-th malloc() from main() on
 * gives nothing. */

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *);
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int,
                 double, double *, int);
void cblas_chemv(int, int, int, const void *, const void *, int, const void *, int, const void *,
                 void *, int);
#define SHOWN __attribute__((visibility("default"))) /* as a program is compiled by default */
SHOWN void xerbla_(const char *name, const int *info, size_t length);
SHOWN void LAPACKE_xerbla(const char *name, int info);
SHOWN void cblas_xerbla(int info, const char *name, const char *format, ...);

enum { ORDER = 150, LAYOUT_ROWS = 101, LAYOUT_COLUMNS = 102 };

typedef void (*dgemm_t)(const char *, const char *, const int *, const int *, const int *,
                        const double *, const double *, const int *, const double *, const int *,
                        const double *, double *, const int *);

/* A product of integers, whose sums are exact. */
static bool multiply_by(dgemm_t dgemm, int n) {
    static _Thread_local double a[ORDER * ORDER], b[ORDER * ORDER], c[ORDER * ORDER];
    const double one = 1, zero = 0;
    for (int i = 0; i < n * n; i++)
        a[i] = i % 7 - 3, b[i] = i % 5 - 2, c[i] = (double)NAN;
    dgemm("N", "T", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);

    for (int j = 0; j < n; j += 11)
        for (int i = 0; i < n; i += 7) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i + k * n] * b[j + k * n];
            if (c[i + j * n] != sum)
                return false;
        }
    return true;
}

typedef void (*dgesv_t)(const int *, const int *, double *, const int *, int *, double *,
                        const int *, int *);
static dgesv_t dgesv; /* NULL: nothing is solved */

/* A solution of small integers, of a matrix with ones on the antidiagonal and fours beside them:
 * rows are exchanged, and no quotient is rounded. */
static bool solve(int n) {
    static _Thread_local double a[ORDER * ORDER], b[ORDER];
    static _Thread_local int pivots[ORDER];
    const int one = 1;
    int info = 1;
    memset(a, 0, sizeof a);
    for (int i = 0; i < n; i++)
        a[n - 1 - i + i * n] = 1, b[i] = n - 1 - i; /* x = 0 1 2 ..., but for the fours */
    for (int i = 0; i + 1 < n; i++)
        a[n - 1 - i + (i + 1) * n] = 4, b[n - 1 - i] = i + 4 * (i + 1);
    b[0] = n - 1;
    dgesv(&n, &one, a, &n, pivots, b, &n, &info);
    for (int i = 0; i < n; i++)
        if (b[i] != i)
            return false;
    return info == 0;
}

static bool multiply(int n) { return multiply_by(dgemm_, n) && (dgesv == NULL || solve(n)); }

/* ---- Memory ---- */

static int until_failure; /* calls; 0: none fails, any more */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t size);
SHOWN void *malloc(size_t size) {
    if (until_failure > 0 && --until_failure == 0)
        return NULL;
    return __libc_malloc(size);
}
#endif

static bool succeeded(pid_t child) {
    int status;
    return waitpid(child, &status, 0) == child && status == 0;
}

/* ---- Threads and forks ---- */

static void *work(void *right) {
    *(bool *)right = multiply(ORDER) && multiply(3);
    return NULL;
}

static bool use_threads(int count) {
    pthread_t threads[8];
    bool right[8];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, &right[i]) != 0)
            return false;
    bool all = true;
    for (int i = 0; i < count; i++)
        all &= pthread_join(threads[i], NULL) == 0 && right[i];
    return all;
}

static void *work_until_told(void *stop) {
    while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
        if (!multiply(40))
            abort();
    return NULL;
}

static int child_works(void) {
    if (!multiply(ORDER) || !use_threads(3) || !multiply(2))
        return 1;
    const pid_t grandchild = fork();
    if (grandchild == 0)
        _exit(multiply(60) ? 0 : 1);
    return succeeded(grandchild) ? 0 : 1;
}

/* Forks while other threads are within a call. */
static bool fork_often(void) {
    bool stop = false, all = multiply(ORDER);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work_until_told, &stop) != 0)
            return false;
    for (int round = 0; round < 10; round++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(child_works());
        all &= succeeded(child) && multiply(30);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return all;
}

/* ---- After the end ---- */

static pthread_key_t late_key;

static void work_late(void *right) { *(bool *)right = multiply(ORDER); }
static void *leave_work(void *right) {
    (void)multiply(9);
    (void)pthread_setspecific(late_key, right);
    return NULL;
}

/* From a destructor of the thread, which may run after the library's. */
static bool use_in_thread_destructor(void) {
    bool right = false;
    pthread_t thread;
    if (!multiply(5) || pthread_key_create(&late_key, work_late) != 0 ||
        pthread_create(&thread, NULL, leave_work, &right) != 0)
        return false;
    pthread_join(thread, NULL);
    return right;
}

static bool ends_late;
static __attribute__((destructor)) void work_at_end(void) {
    if (ends_late && (!multiply(ORDER) || !multiply(4)))
        _exit(7);
}

/* ---- Wrong arguments ---- */

static char told[64];
static int told_number;

void xerbla_(const char *name, const int *info, size_t length) {
    snprintf(told, sizeof told, "%.*s", (int)length, name);
    told_number = *info;
}
void cblas_xerbla(int info, const char *name, const char *format, ...) {
    (void)format;
    snprintf(told, sizeof told, "%s", name);
    told_number = info;
}

void LAPACKE_xerbla(const char *name, int info) {
    snprintf(told, sizeof told, "%s", name);
    told_number = info;
}

static bool was_told(const char *name, int number) {
    const bool right = strcmp(told, name) == 0 && told_number == number;
    if (!right)
        fprintf(stderr, "told %s %d, not %s %d\n", told, told_number, name, number);
    told[0] = '\0', told_number = 0;
    return right;
}

static bool use_wrongly(void) {
    const int n = 2, small = 1, negative = -1;
    const double one = 1;
    double x[4] = {0};
    bool all = true;
    dgemm_("N", "?", &n, &n, &n, &one, x, &n, x, &n, &one, x, &n);
    all &= was_told("DGEMM ", 2);
    dgemm_("n", "t", &n, &n, &negative, &one, x, &n, x, &n, &one, x, &small);
    all &= was_told("DGEMM ", 5);
    dgemm_("N", "N", &n, &n, &n, &one, x, &n, x, &n, &one, x, &small);
    all &= was_told("DGEMM ", 13);
    cblas_dgemm(99, 111, 111, n, n, n, 1, x, n, x, n, 1, x, n);
    all &= was_told("cblas_dgemm", 1);
    cblas_dgemm(LAYOUT_ROWS, 111, 5, n, n, n, 1, x, n, x, n, 1, x, n);
    all &= was_told("cblas_dgemm", 3);
    /* From here Fortran's is told, by the routine that computes: with A and B in exchange. */
    cblas_dgemm(LAYOUT_ROWS, 111, 111, n, n, n, 1, x, small, x, n, 1, x, n);
    all &= was_told("DGEMM ", 10);
    cblas_dgemm(LAYOUT_COLUMNS, 111, 111, n, n, n, 1, x, small, x, n, 1, x, n);
    all &= was_told("DGEMM ", 8);
    return all && multiply(8);
}

typedef void (*dgecon_t)(const char *, const int *, const double *, const int *, const double *,
                         double *, double *, int *, int *);
typedef void (*dgels_t)(const char *, const int *, const int *, const int *, double *, const int *,
                        double *, const int *, double *, const int *, int *);

/* A norm below 0 is told behind what else is wrong. */
static bool estimate_wrongly(void) {
    const int n = 1, small = 0;
    const double a = 1, below = -1;
    double rcond = 5, work[4];
    int integer, info = 0;
    const dgecon_t dgecon = (dgecon_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgecon_");
    if (dgecon == NULL)
        return false;
    dgecon("1", &n, &a, &small, &below, &rcond, work, &integer, &info);
    bool all = was_told("DGECON", 4) && info == -4;
    dgecon("1", &n, &a, &n, &below, &rcond, work, &integer, &info);
    all &= was_told("DGECON", 5) && info == -5 && rcond == 5;
    return all;
}

/* What has no way without workspace, where there is little: by memory of the C library. A is
 * diag(1, ..., N). */
static bool solve_with_little(void) {
    enum { N = 40, WORK = 4 * N };
    typedef void (*dgeqp3_t)(const int *, const int *, double *, const int *, int *, double *,
                             double *, const int *, int *);
    typedef void (*dgerfs_t)(const char *, const int *, const int *, const double *, const int *,
                             const double *, const int *, const int *, const double *, const int *,
                             double *, const int *, double *, double *, double *, int *, int *);
    const dgecon_t dgecon = (dgecon_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgecon_");
    const dgels_t dgels = (dgels_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgels_");
    const dgeqp3_t dgeqp3 = (dgeqp3_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgeqp3_");
    const dgerfs_t dgerfs = (dgerfs_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgerfs_");
    static double a[N * N], b[N], x[N], tau[N], work[WORK];
    const int n = N, one = 1, most = WORK;
    const double norm = N;
    double rcond = 0, ferr, berr;
    int order[N] = {0}, integers[N], info[4] = {1, 1, 1, 1};
    if (dgecon == NULL || dgels == NULL || dgeqp3 == NULL || dgerfs == NULL)
        return false;
    for (int i = 0; i < N; i++)
        a[i + i * N] = i + 1, b[i] = (i + 1) * (i + 2), x[i] = i + 3, integers[i] = i + 1;

    dgecon("1", &n, a, &n, &norm, &rcond, work, order, &info[0]);
    dgerfs("N", &n, &one, a, &n, a, &n, integers, b, &n, x, &n, &ferr, &berr, work, order,
           &info[1]);
    bool all = fabs(rcond * N - 1) < 1e-12;
    for (int i = 0; i < N; i++)
        all &= fabs(x[i] - (i + 2)) < 1e-12, order[i] = 0;
    dgels("N", &n, &n, &one, a, &n, b, &n, work, &most, &info[2]);
    for (int i = 0; i < N; i++)
        all &= fabs(b[i] - (i + 2)) < 1e-10;
    for (int i = 0; i < N * N; i++)
        a[i] = i % (N + 1) == 0 ? i / (N + 1) + 1 : 0;
    dgeqp3(&n, &n, a, &n, order, tau, work, &most, &info[3]);
    for (int i = 0; i < N; i++)
        all &= order[i] == N - i;
    return all && info[0] == 0 && info[1] == 0 && info[2] == 0 && info[3] == 0;
}

/* Where the environment lets bits be others, by floats first: A keeps its elements, and iter says
 * in how many steps; or else A becomes its factor, and iter is -1. A is diagonal but for the order
 * of its columns, which is reversed: each pivot is another row. */
static bool solve_by_floats(bool by_floats) {
    enum { N = 400 }; /* smaller ones are not worth it */
    typedef void (*dsgesv_t)(const int *, const int *, double *, const int *, int *, const double *,
                             const int *, double *, const int *, double *, float *, int *, int *);
    const dsgesv_t dsgesv = (dsgesv_t)(intptr_t)dlsym(RTLD_DEFAULT, "dsgesv_");
    static double a[N * N], b[N], x[N], work[N];
    static float swork[N * (N + 1)];
    const int n = N, one = 1, small = 1;
    int pivots[N], iter = 77, info = 77;
    if (dsgesv == NULL)
        return false;
    for (int i = 0; i < N; i++) /* most of which are no floats */
        a[i + (N - 1 - i) * N] = 1.0 / (i + 1), b[i] = N - i;

    dsgesv(&n, &one, a, &n, pivots, b, &n, x, &n, work, swork, &iter, &info);
    bool all = info == 0 && (by_floats ? iter >= 0 : iter == -1);
    for (int i = 0; i < N; i++) {
        all &= fabs(x[N - 1 - i] / ((N - i) * (i + 1.0)) - 1) < 1e-14;
        all &= (a[i + (N - 1 - i) * N] == 1.0 / (i + 1)) == by_floats;
    }

    iter = 77;
    dsgesv(&n, &one, a, &n, pivots, b, &n, x, &small, work, swork, &iter, &info);
    return all && was_told("DSGESV", 9) && info == -9 && iter == 0;
}

/* Of LAPACK: its info is told, and returned. */
static bool solve_wrongly(void) {
    const int n = 2, small = 1, negative = -1;
    double x[4] = {0};
    int pivots[2], info = 0;
    dgesv(&negative, &n, x, &n, pivots, x, &n, &info);
    bool all = was_told("DGESV ", 1) && info == -1;
    dgesv(&n, &n, x, &small, pivots, x, &n, &info);
    all &= was_told("DGESV ", 4) && info == -4;
    dgesv(&n, &n, x, &n, NULL, x, &n, &info);
    all &= was_told("DGESV ", 5) && info == -5;

    typedef int (*lapacke_t)(int, int, int, double *, int, int *, double *, int);
    const lapacke_t lapacke = (lapacke_t)(intptr_t)dlsym(RTLD_DEFAULT, "LAPACKE_dgesv");
    all &= lapacke != NULL && lapacke(LAYOUT_COLUMNS, n, n, x, small, pivots, x, n) == -5;
    all &= was_told("DGESV ", 4);
    all &= lapacke(LAYOUT_ROWS, n, negative, x, n, pivots, x, n) == -3 && was_told("DGESV ", 2);
    x[3] = (double)NAN;
    all &= lapacke(LAYOUT_ROWS, n, n, x, n, pivots, x, n) == -4 && was_told("", 0);
    x[3] = 0;
    all &= lapacke(LAYOUT_ROWS, n, n, x, small, pivots, x, n) == -5;
    all &= was_told("LAPACKE_dgesv", -5);
    all &= lapacke(LAYOUT_ROWS, n, n, x, n, pivots, x, small) == -8;
    all &= was_told("LAPACKE_dgesv", -8);
    /* Rows without elements may be 0 apart, as in the reference; -1 of them is what is wrong. */
    all &= lapacke(LAYOUT_ROWS, 0, 0, x, 0, pivots, x, 0) == 0 && was_told("", 0);
    all &= lapacke(LAYOUT_ROWS, n, negative, x, n, pivots, x, 0) == -3 && was_told("DGESV ", 2);
    all &= lapacke(LAYOUT_COLUMNS, 0, 0, x, 0, pivots, x, 0) == -5 && was_told("DGESV ", 4);
    all &= lapacke(99, n, n, x, n, pivots, x, n) == -1 && was_told("LAPACKE_dgesv", -1);
    return all && estimate_wrongly() && multiply(8);
}

/* No memory for so many pivots, for transposed matrices, or for vectors that have no other place:
 * what info says then, and nothing is touched. Behind the limit there are no more mappings, and the
 * heap has not so much. */
static bool solve_without_memory(void) {
    enum { LARGE = 20000 };
    typedef void (*dgetrf_t)(const int *, const int *, double *, const int *, int *, int *);
    typedef void (*dgetrs_t)(const char *, const int *, const int *, const double *, const int *,
                             const int *, double *, const int *, int *);
    typedef int (*lapacke_t)(int, int, int, double *, int, int *);
    const dgels_t dgels = (dgels_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgels_");
    const dgecon_t dgecon = (dgecon_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgecon_");
    const dgetrf_t dgetrf = (dgetrf_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgetrf_");
    const dgetrs_t dgetrs = (dgetrs_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgetrs_");
    const lapacke_t lapacke = (lapacke_t)(intptr_t)dlsym(RTLD_DEFAULT, "LAPACKE_dgetrf_work");
    const size_t bytes = (size_t)LARGE * LARGE * sizeof(double);
    double *a = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    static int pivots[LARGE];
    const int n = LARGE, one = 1, small = 1, enough = 2 * LARGE;
    const double norm = 1;
    double work, rcond = -1;
    int factor_info = 0, solve_info = 0, wrong_info = 0, least_info = 0, norm_info = 0, rows_info;
    struct rlimit limit, none;
    if (a == MAP_FAILED || dgetrf == NULL || dgetrs == NULL || lapacke == NULL || dgels == NULL ||
        dgecon == NULL || !multiply(ORDER) || getrlimit(RLIMIT_AS, &limit) != 0)
        return false;
    none = limit, none.rlim_cur = 1;
    if (setrlimit(RLIMIT_AS, &none) != 0)
        return false;
    dgetrf(&n, &n, a, &n, pivots, &factor_info);
    dgetrs("N", &n, &one, a, &n, pivots, a, &n, &solve_info);
    dgetrf(&n, &n, a, &small, pivots, &wrong_info);
    dgels("N", &n, &n, &one, a, &n, a, &n, &work, &enough, &least_info);
    dgecon("1", &n, a, &n, &norm, &rcond, &work, pivots, &norm_info);
    rows_info = lapacke(LAYOUT_ROWS, n, n, a, n, pivots);
    (void)setrlimit(RLIMIT_AS, &limit);
    munmap(a, bytes);
    return factor_info == -1010 && solve_info == -1010 && wrong_info == -4 && rows_info == -1011 &&
           least_info == -1010 && norm_info == -1010 && rcond == -1 &&
           was_told("LAPACKE_dgetrf_work", -1011) && multiply(8);
}

/* ---- Loaded and closed, with others ---- */

static bool load_and_close(const char *path) {
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        dgemm_t dgemm = library != NULL ? (dgemm_t)(intptr_t)dlsym(library, "dgemm_") : NULL;
        if (dgemm == NULL || !multiply_by(dgemm, ORDER) || dlclose(library) != 0)
            return false;
    }
    return true;
}

static void *open_beside(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        fprintf(stderr, "%s\n", dlerror());
    return library;
}

/* jblas beside the drop-in, with handles of its own and perhaps a guest. */
static bool use_jblas(const char *path) {
    void *library = open_beside(path);
    if (library == NULL)
        return false;
    int (*create)(const void *, void **) =
        (int (*)(const void *, void **))(intptr_t)dlsym(library, "jhandle_create");
    int (*dot)(void *, int64_t, const double *, int64_t, const double *, int64_t, double *) =
        (int (*)(void *, int64_t, const double *, int64_t, const double *, int64_t, double *))(
            intptr_t)dlsym(library, "jblas_ddot");
    int (*destroy)(void *) = (int (*)(void *))(intptr_t)dlsym(library, "jhandle_destroy");
    void *handle;
    const double x[3] = {1, 2, 3};
    double result = 0;
    if (!multiply(20) || create == NULL || create(NULL, &handle) != 0 ||
        dot(handle, 3, x, 1, x, 1, &result) != 0 || destroy(handle) != 0)
        return false;
    return result == 14 && multiply(21);
}

/* What a LAPACK would call that looks in the program first. */
static bool blas_was_called;
SHOWN void dgemv_(void);
void dgemv_(void) { blas_was_called = true; }

/* jlapack beside the drop-in, whose guest computes by its own BLAS: the squares of singular values
 * are those of the elements. */
static bool use_jlapack(const char *path) {
    enum { VALUES = 60, NONE = 'N' };
    void *library = open_beside(path);
    if (library == NULL)
        return false;
    int (*create)(const void *, void **) =
        (int (*)(const void *, void **))(intptr_t)dlsym(library, "jhandle_create");
    int (*gesdd)(void *, int, int64_t, int64_t, double *, int64_t, double *, double *, int64_t,
                 double *, int64_t, int64_t *) =
        (int (*)(void *, int, int64_t, int64_t, double *, int64_t, double *, double *, int64_t,
                 double *, int64_t, int64_t *))(intptr_t)dlsym(library, "jlapack_dgesdd");
    int (*destroy)(void *) = (int (*)(void *))(intptr_t)dlsym(library, "jhandle_destroy");
    static double a[VALUES * VALUES], s[VALUES];
    double sum = 0;
    for (int i = 0; i < VALUES * VALUES; i++)
        a[i] = i * 7 % 11 - 5, sum -= a[i] * a[i];
    void *handle;
    int64_t info;
    if (!multiply(20) || create == NULL || create(NULL, &handle) != 0 ||
        gesdd(handle, NONE, VALUES, VALUES, a, VALUES, s, NULL, 1, NULL, 1, &info) != 0 ||
        destroy(handle) != 0)
        return false;
    for (int i = 0; i < VALUES; i++)
        sum += s[i] * s[i];
    return info == 0 && sum < 1e-6 && sum > -1e-6 && !blas_was_called && multiply(21);
}

/* A vector that has to be conjugated and does not fit the stack. */
static bool use_conjugates(void) {
    enum { LARGE = 700 };
    float *a = calloc(2 * LARGE * LARGE, sizeof *a), *x = calloc(2 * LARGE, sizeof *x),
          *y = calloc(2 * LARGE, sizeof *y);
    const float one[2] = {1, 0}, zero[2] = {0, 0};
    bool right = a != NULL && x != NULL && y != NULL;
    for (int i = 0; right && i < LARGE; i++) {
        x[2 * i + 1] = 1;
        a[2 * (i * LARGE + i)] = 3;
        if (i + 1 < LARGE)
            a[2 * (i * LARGE + i + 1) + 1] = 1; /* i above the diagonal */
    }
    if (right)
        cblas_chemv(LAYOUT_ROWS, 121, LARGE, one, a, LARGE, x, 1, zero, y, 1);
    for (int i = 0; right && i < LARGE; i++)
        right = y[2 * i + 1] == 3 && y[2 * i] == (float)((i > 0) - (i + 1 < LARGE));
    free(a), free(x), free(y);
    return right;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : NULL;
    bool right = false;
    if (getenv("PROGRAM_SOLVES") != NULL) {
        dgesv = (dgesv_t)(intptr_t)dlsym(RTLD_DEFAULT, "dgesv_");
        if (dgesv == NULL)
            return 2;
    }
    const char *fails = getenv("PROGRAM_FAILS");
    until_failure = fails != NULL ? atoi(fails) : 0;
    if (strcmp(what, "products") == 0)
        right = multiply(ORDER) && multiply(3);
    else if (strcmp(what, "threads") == 0)
        right = use_threads(8) && multiply(30) && use_threads(3);
    else if (strcmp(what, "fork") == 0)
        right = fork_often();
    else if (strcmp(what, "late") == 0)
        right = ends_late = use_in_thread_destructor();
    else if (strcmp(what, "wrong") == 0)
        right = use_wrongly();
    else if (strcmp(what, "solve-wrong") == 0)
        right = dgesv != NULL && solve_wrongly();
    else if (strcmp(what, "solve-little") == 0)
        right = dgesv != NULL && solve_with_little();
    else if (strcmp(what, "solve-floats") == 0)
        right = dgesv != NULL && solve_by_floats(getenv("JALLOC_RESULT_POLICY") != NULL);
    else if (strcmp(what, "solve-memory") == 0)
        right = dgesv != NULL && solve_without_memory();
    else if (strcmp(what, "close") == 0)
        right = load_and_close(path) && multiply(10);
    else if (strcmp(what, "jblas") == 0)
        right = use_jblas(path);
    else if (strcmp(what, "jlapack") == 0)
        right = use_jlapack(path);
    else if (strcmp(what, "conjugates") == 0)
        right = use_conjugates() && multiply(ORDER);
    return right ? 0 : 1;
}
