/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Cholesky factors beside cuSOLVER's, which is loaded when it is there. The matrix that is timed
 * has 1 on the diagonal and nearly 0 beside it: it is nearly its own factor, so that it can be
 * factored again and again in its place. Whether the answer is right is asked of another. */

#include <dlfcn.h>
#include <math.h>

#include "bench_gpu.h"

/* What is used of cuSOLVER: its header is not needed to build, nor its library to run. 0 is success
 * everywhere, and cublasFillMode_t is its type for the triangle. */
typedef struct solver {
    void *library, *handle;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
    int (*d_size)(void *handle, cublasFillMode_t uplo, int n, double *a, int lda, int *elements);
    int (*s_size)(void *handle, cublasFillMode_t uplo, int n, float *a, int lda, int *elements);
    int (*d_run)(void *handle, cublasFillMode_t uplo, int n, double *a, int lda, double *work,
                 int elements, int *info);
    int (*s_run)(void *handle, cublasFillMode_t uplo, int n, float *a, int lda, float *work,
                 int elements, int *info);
} solver_t;

typedef struct factor {
    gpu_bench_t *bench;
    const solver_t *solver;
    bool is_double;
    int n, elements;
    void *ours, *peers, *work;
    int *info;
} factor_t;

/* NULL, or why there is none. What the program has already is taken first: bench_gpu_rehearsal has
 * a stand-in. */
static const char *solver_open(solver_t *s, cudaStream_t stream) {
    static const char *const names[] = {NULL, "libcusolver.so.12", "libcusolver.so.11",
                                        "libcusolver.so"};
    const struct {
        void *function;
        const char *name;
    } functions[] = {{&s->create, "cusolverDnCreate"},
                     {&s->destroy, "cusolverDnDestroy"},
                     {&s->set_stream, "cusolverDnSetStream"},
                     {&s->d_size, "cusolverDnDpotrf_bufferSize"},
                     {&s->s_size, "cusolverDnSpotrf_bufferSize"},
                     {&s->d_run, "cusolverDnDpotrf"},
                     {&s->s_run, "cusolverDnSpotrf"}};
    for (size_t i = 0; i < sizeof names / sizeof *names && s->library == NULL; i++) {
        s->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (s->library != NULL && dlsym(s->library, functions[0].name) == NULL) {
            dlclose(s->library);
            s->library = NULL;
        }
    }
    if (s->library == NULL)
        return "libcusolver is not found";
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if ((*(void **)functions[i].function = dlsym(s->library, functions[i].name)) == NULL)
            return functions[i].name;
    if (s->create(&s->handle) != 0) {
        s->handle = NULL;
        return "cusolverDnCreate failed";
    }
    return s->set_stream(s->handle, stream) == 0 ? NULL : "cusolverDnSetStream failed";
}

static void solver_close(solver_t *s) {
    if (s->handle != NULL)
        s->destroy(s->handle);
    if (s->library != NULL)
        dlclose(s->library);
}

static void factor_ours(void *context) {
    factor_t *f = context;
    jhandle_t *h = f->bench->handle;
    int64_t *info = (int64_t *)f->info; /* on the device */
    gpu_expect(f->bench,
               f->is_double ? jlapack_dpotrf(h, JBLAS_LOWER, f->n, f->ours, f->n, info)
                            : jlapack_spotrf(h, JBLAS_LOWER, f->n, f->ours, f->n, info),
               "jblas potrf");
}

static void factor_peer(void *context) {
    factor_t *f = context;
    const solver_t *s = f->solver;
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
    const int error =
        f->is_double
            ? s->d_run(s->handle, lower, f->n, f->peers, f->n, f->work, f->elements, f->info + 2)
            : s->s_run(s->handle, lower, f->n, f->peers, f->n, f->work, f->elements, f->info + 2);
    if (error != 0)
        gpu_expect_cublas(f->bench, CUBLAS_STATUS_EXECUTION_FAILED, "cusolver potrf");
}

static bool factor_begin(factor_t *f, double diagonal, double beside) {
    gpu_bench_t *bench = f->bench;
    const solver_t *s = f->solver;
    f->ours = gpu_matrix(bench, f->n, f->is_double, diagonal, beside);
    f->peers = gpu_matrix(bench, f->n, f->is_double, diagonal, beside);
    f->info = gpu_random(bench, 2, true, 1); /* ours, and behind it the peer's, each in 8 bytes */
    if (bench->good &&
        (f->is_double
             ? s->d_size(s->handle, CUBLAS_FILL_MODE_LOWER, f->n, f->peers, f->n, &f->elements)
             : s->s_size(s->handle, CUBLAS_FILL_MODE_LOWER, f->n, f->peers, f->n, &f->elements)) !=
            0)
        gpu_expect_cublas(bench, CUBLAS_STATUS_NOT_INITIALIZED, "cusolver potrf's buffer size");
    if (bench->good)
        f->work = gpu_random(bench, (size_t)f->elements + 1, f->is_double, 3);
    return bench->good;
}

static void factor_end(factor_t *f) {
    gpu_release(f->ours), gpu_release(f->peers), gpu_release(f->work), gpu_release(f->info);
    f->ours = f->peers = f->work = NULL;
    f->info = NULL;
}

static void compare(gpu_bench_t *bench, const solver_t *solver, bool is_double, int n) {
    factor_t f = {.bench = bench, .solver = solver, .is_double = is_double, .n = n};
    double apart = NAN, largest = 0;
    if (factor_begin(&f, n, 1)) {
        factor_ours(&f);
        factor_peer(&f);
        apart = gpu_difference(bench, f.ours, f.peers, (size_t)n * (size_t)n, is_double, &largest);
    }
    factor_end(&f);
    if (bench->good && !(apart <= (is_double ? 1e-12 : 1e-3) * largest)) {
        fprintf(stderr, "bench_gpu: %cpotrf of %d is wrong: %.2e of %.2e\n", is_double ? 'd' : 's',
                n, apart, largest);
        bench->good = false;
    }
    gpu_expect(bench, jhandle_clear_stats(bench->handle), "jhandle_clear_stats");
    if (bench->good && factor_begin(&f, 1, 1e-6)) {
        bench_result_t r = gpu_compare(bench, factor_ours, factor_peer, &f);
        if (bench->good) {
            char what[72];
            printf("%cpotrf %6d %5d %10.3f %10.3f %6.2f  difference %.2e of %.2e\n",
                   is_double ? 'd' : 's', n, gpu_rung(bench), r.ours * 1e3, r.peer * 1e3, r.ratio,
                   apart, largest);
            snprintf(what, sizeof what, "%cpotrf at %d over cuSOLVER", is_double ? 'd' : 's', n);
            if (n >= 2048)
                gpu_aim(what, r.ratio, 1.0, false);
        }
    }
    factor_end(&f);
    gpu_expect(bench, jhandle_trim(bench->handle, 0), "jhandle_trim");
}

void bench_gpu_factors(gpu_bench_t *bench) {
    static const gpu_size_table_t orders = {
        {100}, {2048, 8192}, {512, 1024, 2048, 4096, 8192, 16384}};
    solver_t solver = {0};
    const char *why = solver_open(&solver, bench->native);
    if (why != NULL) {
        printf("\npotrf beside cuSOLVER: skipped: %s\n", why);
    } else {
        printf("\nCholesky factors; times in milliseconds\n%6s %6s %5s %10s %10s %6s\n", "",
               "order", "rung", "ours", "cuSOLVER", "ratio");
        gpu_expect(bench, jhandle_set_pointer_mode(bench->handle, JPOINTER_MODE_DEVICE),
                   "jhandle_set_pointer_mode");
        for (int type = 0; type < 2; type++)
            for (const int *n = orders[bench->sizes]; *n > 0 && bench->good; n++)
                compare(bench, &solver, type == 0, *n);
        gpu_expect(bench, jhandle_set_pointer_mode(bench->handle, JPOINTER_MODE_HOST),
                   "jhandle_set_pointer_mode");
    }
    solver_close(&solver);
}
