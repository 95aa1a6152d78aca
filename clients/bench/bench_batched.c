/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Batches of small square matrices, their products (gemm), solves with triangles (trsm), Cholesky
 * factors (potrf) and LU with pivots (getrf): the batched forms, a loop over the plain one, a loop
 * over the CBLAS's (of factors its LAPACK's), and for products, where CMake found LIBXSMM, a loop
 * over the kernel that it makes for the shape.
 *
 *     bench_batched [SECONDS per line [TYPES of sdcz [BETA 0 or 1 [THREADS [LARGEST order
 *                   [ROUTINES of gtpl: l is getrf [ITEMS of a batch]]]]]]]
 *
 * A round measures all of them in turn, each when it has run for a while, and what is printed are
 * medians: nanoseconds of an item by jblas_?<routine>_strided_batched, and of each other way how
 * many times as long it took. With more THREADS than one the same with one thread is a way, too,
 * and the last column says how many times as fast the threads are; a CBLAS has one. A batch is,
 * unless ITEMS says otherwise, as many items as fit into a second cache with their operands, as
 * they do where one step of a program fills them and the next takes them. What is solved with
 * and factored by Cholesky in place is the identity, which stays what it is; no way looks at that.
 * LU is of random matrices, which are copied before each call; that is not timed. Of OpenBLAS the
 * variable OPENBLAS_CORETYPE chooses the kernels, which is worth trying: bench_product --best says
 * which are fastest. */

#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench.h"
#include "jalloc/jalloc.h"

#ifdef BENCH_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

enum {
    BATCH_BYTES = 393216,
    FITTING_ITEMS = 4096, /* at most that fit, and */
    MOST_ITEMS = 65536,   /* that are asked for */
    WAYS = 5,
    ROUNDS = 101,
    LEAST_ROUNDS = 5
};

#define WARM_SECONDS 200e-6

/* OpenBLAS's, or absent. */
void openblas_set_num_threads(int threads) __attribute__((weak));
char *openblas_get_corename(void) __attribute__((weak));
#define LAPACK_POTRF(t)                                                                            \
    void t##potrf_(const char *uplo, const int *n, void *a, const int *lda, int *info,             \
                   size_t uplo_length) __attribute__((weak));
#define LAPACK_GETRF(t)                                                                            \
    void t##getrf_(const int *m, const int *n, void *a, const int *lda, int *ipiv, int *info)      \
        __attribute__((weak));
LAPACK_POTRF(s)
LAPACK_POTRF(d)
LAPACK_POTRF(c)
LAPACK_POTRF(z)
LAPACK_GETRF(s)
LAPACK_GETRF(d)
LAPACK_GETRF(c)
LAPACK_GETRF(z)

typedef void (*kernel_t)(const void *a, const void *b, void *c);

typedef union scalar {
    float s;
    double d;
    jcomplex_f32_t c;
    jcomplex_f64_t z;
} scalar_t;

typedef struct batch {
    jhandle_t *handle, *single; /* with the threads that are asked for, and with one */
    jstatus_t status;
    int n, count;
    size_t item_bytes;
    char *a, *b, *c;
    void *pointers[3][MOST_ITEMS];
    int64_t info[MOST_ITEMS], *ipiv;
    scalar_t alpha, beta;
    bench_function_t strided;
    kernel_t kernel; /* LIBXSMM's */
} batch_t;

static batch_t batch;

/* ---- Ways ---- */

#define BY_VALUE(x) (x)
#define BY_ADDRESS(x) (&(x))

/* Of one type: what all ways do with the batch. */
#define GEMM_WAYS(t, T, SCALAR)                                                                    \
    static void strided_##t(void *context) {                                                       \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        x->status = jblas_##t##gemm_strided_batched(                                               \
            x->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, &x->alpha.t,               \
            (const T *)x->a, n, n * n, (const T *)x->b, n, n * n, &x->beta.t, (T *)x->c, n, n * n, \
            x->count);                                                                             \
    }                                                                                              \
    static void pointers_##t(void *context) {                                                      \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        x->status = jblas_##t##gemm_batched(x->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n,  \
                                            n, n, &x->alpha.t, (const T *const *)x->pointers[0],   \
                                            n, (const T *const *)x->pointers[1], n, &x->beta.t,    \
                                            (T *const *)x->pointers[2], n, x->count);              \
    }                                                                                              \
    static void loop_##t(void *context) {                                                          \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        for (int i = 0; i < x->count; i++)                                                         \
            x->status = jblas_##t##gemm(x->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n,   \
                                        n, &x->alpha.t, x->pointers[0][i], n, x->pointers[1][i],   \
                                        n, &x->beta.t, x->pointers[2][i], n);                      \
    }                                                                                              \
    static void cblas_##t(void *context) {                                                         \
        const batch_t *x = context;                                                                \
        const int n = x->n;                                                                        \
        for (int i = 0; i < x->count; i++)                                                         \
            cblas_##t##gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n,                    \
                            SCALAR(x->alpha.t), x->pointers[0][i], n, x->pointers[1][i], n,        \
                            SCALAR(x->beta.t), x->pointers[2][i], n);                              \
    }
GEMM_WAYS(s, float, BY_VALUE)
GEMM_WAYS(d, double, BY_VALUE)
GEMM_WAYS(c, jcomplex_f32_t, BY_ADDRESS)
GEMM_WAYS(z, jcomplex_f64_t, BY_ADDRESS)

/* B, the second operand, is solved for. */
#define TRSM_WAYS(t, T, SCALAR)                                                                    \
    static void solve_strided_##t(void *context) {                                                 \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        x->status = jblas_##t##trsm_strided_batched(                                               \
            x->handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, n, n,          \
            &x->alpha.t, (const T *)x->a, n, n * n, (T *)x->c, n, n * n, x->count);                \
    }                                                                                              \
    static void solve_pointers_##t(void *context) {                                                \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        x->status = jblas_##t##trsm_batched(x->handle, JBLAS_LEFT, JBLAS_LOWER,                    \
                                            JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, n, n, &x->alpha.t, \
                                            (const T *const *)x->pointers[0], n,                   \
                                            (T *const *)x->pointers[2], n, x->count);              \
    }                                                                                              \
    static void solve_loop_##t(void *context) {                                                    \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        for (int i = 0; i < x->count; i++)                                                         \
            x->status = jblas_##t##trsm(x->handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE,    \
                                        JBLAS_NON_UNIT, n, n, &x->alpha.t, x->pointers[0][i], n,   \
                                        x->pointers[2][i], n);                                     \
    }                                                                                              \
    static void solve_cblas_##t(void *context) {                                                   \
        const batch_t *x = context;                                                                \
        const int n = x->n;                                                                        \
        for (int i = 0; i < x->count; i++)                                                         \
            cblas_##t##trsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n,   \
                            n, SCALAR(x->alpha.t), x->pointers[0][i], n, x->pointers[2][i], n);    \
    }
TRSM_WAYS(s, float, BY_VALUE)
TRSM_WAYS(d, double, BY_VALUE)
TRSM_WAYS(c, jcomplex_f32_t, BY_ADDRESS)
TRSM_WAYS(z, jcomplex_f64_t, BY_ADDRESS)

#define POTRF_WAYS(t, T)                                                                           \
    static void factor_strided_##t(void *context) {                                                \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        x->status = jlapack_##t##potrf_strided_batched(x->handle, JBLAS_LOWER, n, (T *)x->c, n,    \
                                                       n * n, x->info, x->count);                  \
    }                                                                                              \
    static void factor_pointers_##t(void *context) {                                               \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        x->status = jlapack_##t##potrf_batched(x->handle, JBLAS_LOWER, n,                          \
                                               (T *const *)x->pointers[2], n, x->info, x->count);  \
    }                                                                                              \
    static void factor_loop_##t(void *context) {                                                   \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        for (int i = 0; i < x->count; i++)                                                         \
            x->status =                                                                            \
                jlapack_##t##potrf(x->handle, JBLAS_LOWER, n, x->pointers[2][i], n, &x->info[i]);  \
    }                                                                                              \
    static void factor_lapack_##t(void *context) {                                                 \
        const batch_t *x = context;                                                                \
        int info;                                                                                  \
        for (int i = 0; i < x->count; i++)                                                         \
            t##potrf_("L", &x->n, x->pointers[2][i], &x->n, &info, 1);                             \
    }
POTRF_WAYS(s, float)
POTRF_WAYS(d, double)
POTRF_WAYS(c, jcomplex_f32_t)
POTRF_WAYS(z, jcomplex_f64_t)

/* C becomes A, and then its factor. */
static void copy_items(void *context) {
    const batch_t *x = context;
    memcpy(x->c, x->a, (size_t)x->count * x->item_bytes);
}
#define GETRF_WAYS(t, T)                                                                           \
    static void lu_strided_##t(void *context) {                                                    \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        x->status = jlapack_##t##getrf_strided_batched(x->handle, n, n, (T *)x->c, n, n * n,       \
                                                       x->ipiv, n, x->info, x->count);             \
    }                                                                                              \
    static void lu_pointers_##t(void *context) {                                                   \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        x->status = jlapack_##t##getrf_batched(x->handle, n, n, (T *const *)x->pointers[2], n,     \
                                               x->ipiv, n, x->info, x->count);                     \
    }                                                                                              \
    static void lu_loop_##t(void *context) {                                                       \
        batch_t *x = context;                                                                      \
        const int64_t n = x->n;                                                                    \
        for (int i = 0; i < x->count; i++)                                                         \
            x->status =                                                                            \
                jlapack_##t##getrf(x->handle, n, n, x->pointers[2][i], n, x->ipiv, &x->info[i]);   \
    }                                                                                              \
    static void lu_lapack_##t(void *context) {                                                     \
        const batch_t *x = context;                                                                \
        int info, ipiv[64];                                                                        \
        for (int i = 0; i < x->count; i++)                                                         \
            t##getrf_(&x->n, &x->n, x->pointers[2][i], &x->n, ipiv, &info);                        \
    }
GETRF_WAYS(s, float)
GETRF_WAYS(d, double)
GETRF_WAYS(c, jcomplex_f32_t)
GETRF_WAYS(z, jcomplex_f64_t)

static void kernel_loop(void *context) {
    const batch_t *x = context;
    for (int i = 0; i < x->count; i++)
        x->kernel(x->pointers[0][i], x->pointers[1][i], x->pointers[2][i]);
}

static void strided_on_one(void *context) {
    batch_t *x = context;
    jhandle_t *const handle = x->handle;
    x->handle = x->single;
    x->strided(x);
    x->handle = handle;
}

typedef enum routine { GEMM, TRSM, POTRF, GETRF, ROUTINES } routine_t;
static const char *const routine_names[ROUTINES] = {"gemm", "trsm", "potrf", "getrf"};
static const char routine_letters[] = "gtpl";

#define WAYS_OF(t)                                                                                 \
    {                                                                                              \
        {strided_##t, pointers_##t, loop_##t, cblas_##t, kernel_loop},                             \
            {solve_strided_##t, solve_pointers_##t, solve_loop_##t, solve_cblas_##t, NULL},        \
            {factor_strided_##t, factor_pointers_##t, factor_loop_##t, factor_lapack_##t, NULL}, { \
            lu_strided_##t, lu_pointers_##t, lu_loop_##t, lu_lapack_##t, NULL                      \
        }                                                                                          \
    }
static const struct type {
    char letter;
    size_t bytes;
    bench_function_t ways[ROUTINES][WAYS];
} types[] = {
    {'s', sizeof(float), WAYS_OF(s)},
    {'d', sizeof(double), WAYS_OF(d)},
    {'c', 2 * sizeof(float), WAYS_OF(c)},
    {'z', 2 * sizeof(double), WAYS_OF(z)},
};

static bool is_single(char letter) { return letter == 's' || letter == 'c'; }

/* ---- LIBXSMM ---- */

/* The kernel that it makes for n x n matrices of the type; NULL: none, or it is not here. */
static kernel_t make_kernel(char letter, int n, const scalar_t *alpha, const scalar_t *beta) {
#ifdef BENCH_HAVE_LIBXSMM
    if (letter == 's')
        return (kernel_t)(uintptr_t)libxsmm_smmdispatch(n, n, n, &n, &n, &n, &alpha->s, &beta->s,
                                                        NULL, NULL);
    if (letter == 'd')
        return (kernel_t)(uintptr_t)libxsmm_dmmdispatch(n, n, n, &n, &n, &n, &alpha->d, &beta->d,
                                                        NULL, NULL);
#endif
    (void)letter, (void)n, (void)alpha, (void)beta;
    return NULL;
}

/* ---- A line ---- */

static scalar_t scalar_of(char letter, double value) {
    switch (letter) {
    case 's': return (scalar_t){.s = (float)value};
    case 'd': return (scalar_t){.d = value};
    case 'c': return (scalar_t){.c = (float)value};
    default: return (scalar_t){.z = value};
    }
}

static void fill(const struct type *type, char *data, size_t bytes) {
    static uint64_t seed = 1;
    for (size_t i = 0; i < bytes; i += is_single(type->letter) ? sizeof(float) : sizeof(double)) {
        const double value = bench_random(&seed);
        const float narrow = (float)value;
        if (is_single(type->letter))
            memcpy(data + i, &narrow, sizeof narrow);
        else
            memcpy(data + i, &value, sizeof value);
    }
}

/* Identities, or what is drawn. */
static void fill_operands(const struct type *type, routine_t routine, size_t bytes) {
    fill(type, batch.a, bytes), fill(type, batch.b, bytes), fill(type, batch.c, bytes);
    if (routine == GEMM || routine == GETRF)
        return;

    const scalar_t one = scalar_of(type->letter, 1);
    char *const matrices = routine == TRSM ? batch.a : batch.c;
    memset(matrices, 0, bytes);
    for (int i = 0; i < batch.count; i++)
        for (int j = 0; j < batch.n; j++)
            memcpy(matrices + (size_t)i * batch.item_bytes +
                       (size_t)(j * batch.n + j) * type->bytes,
                   &one, type->bytes);
}

/* items: how many; 0: that fit. */
static bool make_batch(const struct type *type, routine_t routine, int n, int items) {
    batch.n = n;
    batch.item_bytes = (size_t)n * (size_t)n * type->bytes;
    const int fitting = (int)(BATCH_BYTES / 3 / batch.item_bytes);
    if (items > 0)
        batch.count = items < MOST_ITEMS ? items : MOST_ITEMS;
    else
        batch.count = fitting < FITTING_ITEMS ? fitting : FITTING_ITEMS;

    const size_t bytes = (size_t)batch.count * batch.item_bytes;
    batch.a = aligned_alloc(64, (bytes + 63) / 64 * 64);
    batch.b = aligned_alloc(64, (bytes + 63) / 64 * 64);
    batch.c = aligned_alloc(64, (bytes + 63) / 64 * 64);
    batch.ipiv = malloc((size_t)batch.count * (size_t)n * sizeof *batch.ipiv);
    if (batch.a == NULL || batch.b == NULL || batch.c == NULL || batch.ipiv == NULL)
        return false;

    fill_operands(type, routine, bytes);
    for (int i = 0; i < batch.count; i++) {
        batch.pointers[0][i] = batch.a + (size_t)i * batch.item_bytes;
        batch.pointers[1][i] = batch.b + (size_t)i * batch.item_bytes;
        batch.pointers[2][i] = batch.c + (size_t)i * batch.item_bytes;
    }
    return true;
}

static void free_batch(void) { free(batch.a), free(batch.b), free(batch.c), free(batch.ipiv); }

/* Of the ways, as they follow each other; the first is what they are compared with. */
static const char *const way_names[WAYS] = {"by strides", "by pointers", "a loop",
                                            "a loop over the peer", "LIBXSMM"};

static int ways_of(routine_t routine) {
    return routine == GEMM && batch.kernel != NULL ? WAYS : WAYS - 1;
}

/* Whether a way leaves in C what the CBLAS did, to what rounding explains. */
static bool agrees(const struct type *type, bench_function_t way, double unit, const char *before,
                   const char *expected) {
    const size_t bytes = (size_t)batch.count * batch.item_bytes;
    const double tolerance = unit * batch.n;
    bool good = true;
    memcpy(batch.c, before, bytes);
    way(&batch);

    if (is_single(type->letter))
        for (size_t i = 0; i < bytes / sizeof(float); i++)
            good &= fabsf(((const float *)batch.c)[i] - ((const float *)expected)[i]) <=
                    (float)tolerance;
    else
        for (size_t i = 0; i < bytes / sizeof(double); i++)
            good &= fabs(((const double *)batch.c)[i] - ((const double *)expected)[i]) <= tolerance;
    return good;
}

static bool all_agree(const struct type *type, routine_t routine) {
    const size_t bytes = (size_t)batch.count * batch.item_bytes;
    char *const before = malloc(2 * bytes), *const expected = before + bytes;
    if (before == NULL)
        return false;

    /* Random matrices are as well conditioned as they are. */
    const double unit =
        (is_single(type->letter) ? 0x1p-20 : 0x1p-48) * (routine == GETRF ? 1e4 : 1);
    bool good = true;
    memcpy(before, batch.c, bytes);
    type->ways[routine][WAYS - 2](&batch);
    memcpy(expected, batch.c, bytes);
    for (int i = 0; good && i < ways_of(routine); i++) {
        good = agrees(type, type->ways[routine][i], unit, before, expected);
        if (!good)
            fprintf(stderr, "bench_batched: %c%s of order %d: way %d has another result\n",
                    type->letter, routine_names[routine], batch.n, i);
    }
    free(before);
    return good;
}

/* One way, after it has run for a while: a processor that meets wider vectors than before, or no
 * more of them, changes its clock, and halts for 10 microseconds and more, some samples later. */
static double warm_sample(bench_function_t way, size_t repeat) {
    for (const double end = bench_now() + WARM_SECONDS; bench_now() < end;) {
        bench_renew_(&batch);
        way(&batch);
    }
    return bench_sample_(way, &batch, repeat);
}

/* All ways in turn. With a beta of 1 C grows by the same product again and again, and stays finite.
 */
static void measure(const struct type *type, routine_t routine, double seconds, int threads) {
    static double samples[WAYS + 1][ROUNDS], ratios[ROUNDS];
    size_t repeat[WAYS + 1], rounds = 0;
    bench_function_t ways[WAYS + 1];
    const int others = ways_of(routine), count = others + (threads > 1);
    memcpy(ways, type->ways[routine], sizeof type->ways[routine]);
    ways[others] = strided_on_one;
    batch.strided = ways[0];
    for (int i = 0; i < count; i++)
        repeat[i] = bench_calibrate_(ways[i], &batch);

    const double deadline = bench_now() + seconds;
    for (; rounds < ROUNDS && (rounds < LEAST_ROUNDS || bench_now() < deadline); rounds++)
        for (int i = 0; i < count; i++)
            samples[i][rounds] = warm_sample(ways[i], repeat[i]);

    printf("%c%-5s %3d %6d %2d", type->letter, routine_names[routine], batch.n, batch.count,
           threads);
    for (size_t r = 0; r < rounds; r++)
        ratios[r] = samples[0][r];
    const double ours = bench_median(ratios, rounds) / batch.count;
    printf(" %10.1f", ours * 1e9);
    for (int i = 1; i < count; i++) {
        for (size_t r = 0; r < rounds; r++)
            ratios[r] = samples[i][r] / samples[0][r];
        const double ratio = bench_median(ratios, rounds);
        printf(" %*.2f", i == others && others < WAYS ? 19 : 9, ratio);
        char series[16], order[16];
        snprintf(series, sizeof series, "%c%s", type->letter, routine_names[routine]);
        snprintf(order, sizeof order, "%d", batch.n);
        bench_note(series, order, i == others ? "one thread" : way_names[i],
                   openblas_get_corename ? openblas_get_corename() : "", ours, ours * ratio);
    }
    puts("");
    fflush(stdout);
}

static bool run_line(const struct type *type, routine_t routine, int n, double beta, double seconds,
                     int threads, int items) {
    bool good = make_batch(type, routine, n, items);
    batch.alpha = scalar_of(type->letter, 1), batch.beta = scalar_of(type->letter, beta);
    batch.kernel = make_kernel(type->letter, n, &batch.alpha, &batch.beta);
    if (good && all_agree(type, routine))
        measure(type, routine, seconds, threads);
    else
        good = false;
    free_batch();
    return good && !jstatus_is_error(batch.status);
}

int main(int argc, char **argv) {
    static const int orders[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64};
    const double seconds = argc > 1 ? atof(argv[1]) : 0.2;
    const char *const letters = argc > 2 ? argv[2] : "sdcz";
    const double beta = argc > 3 ? atof(argv[3]) : 0;
    const int threads = argc > 4 ? atoi(argv[4]) : 1, largest = argc > 5 ? atoi(argv[5]) : 64;
    const char *const routines = argc > 6 ? argv[6] : routine_letters;
    const int items = argc > 7 ? atoi(argv[7]) : 0;

    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.threads = threads;
    jhandle_options_t alone = JHANDLE_OPTIONS_INIT;
    alone.threads = 1;
    if (jstatus_is_error(jhandle_create(&options, &batch.handle)) ||
        jstatus_is_error(jhandle_create(&alone, &batch.single))) {
        fprintf(stderr, "bench_batched: %s\n", jstatus_last_message());
        return 1;
    }
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);

    printf("CBLAS kernels: %s\n%-10s %6s %2s %10s %9s %9s %9s %9s%s   times as long as strided\n",
           openblas_get_corename ? openblas_get_corename() : "unknown", "routine", "items", "th",
           "strided ns", "pointers", "loop", "CBLAS", "LIBXSMM", threads > 1 ? "  1 thread" : "");
    bool good = true;
    for (routine_t routine = GEMM; routine < ROUTINES; routine++) {
        if (strchr(routines, routine_letters[routine]) == NULL || (routine == POTRF && !dpotrf_) ||
            (routine == GETRF && !dgetrf_))
            continue;
        bench_renew = routine == GETRF ? copy_items : NULL;
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            if (strchr(letters, types[t].letter) == NULL)
                continue;
            for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
                if (orders[i] <= largest)
                    good &= run_line(&types[t], routine, orders[i], beta, seconds, threads, items);
        }
    }
    jhandle_destroy(batch.single);
    jhandle_destroy(batch.handle);
    return good ? 0 : 1;
}
