/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jlapack beside a LAPACK, Debian's OpenBLAS or the library that BENCH_LAPACK names, in turn, with
 * one thread and with two: the peer's time over ours. OPENBLAS_CORETYPE chooses its kernels.
 *
 *     bench_lapack [OPTION...] [SECONDS per comparison [TYPES [ORDER...]]]
 *                                                            such as 0.3 d 64 128 2000x32
 *     --only NAMES   routines of these names alone, such as geqrf,getri
 *     --threads N    with 1 alone, or with 2
 *     --rungs        compares with no other library: with one thread, what less workspace costs,
 *                    as the time in a part of what a size query answers over the time in all of it
 *
 * A library whose functions have a prefix (scipy_dgetrf_, as PyPI's scipy-openblas32 has) is taken
 * with BENCH_LAPACK_PREFIX. A drop-in of jalloc's is a library, too: one that was built before a
 * change says what the change gained.
 *
 * Solves by floats (dsgesv, zcgesv, of one right-hand side) stand beside gesv of ours.
 *
 * An order may be a shape, of which what is square is left out. Each call factors, or inverts by, a
 * fresh copy of the same matrix; copying is not timed. Of two threads neither library's are in the
 * other's way (quiet.h). */

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "jalloc/jalloc.h"
#include "quiet.h"

/* The peer's functions, by type. */
typedef void (*factor_t)(const int *m, const int *n, void *a, const int *lda, int *ipiv, int *info);
typedef void (*solve_t)(const int *n, const int *nrhs, void *a, const int *lda, int *ipiv, void *b,
                        const int *ldb, int *info);
typedef void (*qr_t)(const int *m, const int *n, void *a, const int *lda, void *tau, void *work,
                     const int *lwork, int *info);
typedef void (*pivoted_t)(const int *m, const int *n, void *a, const int *lda, int *jpvt, void *tau,
                          void *work, const int *lwork, int *info);
typedef void (*complex_pivoted_t)(const int *m, const int *n, void *a, const int *lda, int *jpvt,
                                  void *tau, void *work, const int *lwork, void *rwork, int *info);
typedef void (*least_t)(const char *trans, const int *m, const int *n, const int *nrhs, void *a,
                        const int *lda, void *b, const int *ldb, void *work, const int *lwork,
                        int *info, size_t length);
typedef void (*invert_t)(const int *n, void *a, const int *lda, const int *ipiv, void *work,
                         const int *lwork, int *info);
typedef void (*invert_definite_t)(const char *uplo, const int *n, void *a, const int *lda,
                                  int *info, size_t length);
typedef void (*symmetric_t)(const char *uplo, const int *n, void *a, const int *lda, int *ipiv,
                            void *work, const int *lwork, int *info, size_t length);
typedef void (*symmetric_solve_t)(const char *uplo, const int *n, const int *nrhs, const void *a,
                                  const int *lda, const int *ipiv, void *b, const int *ldb,
                                  int *info, size_t length);
typedef struct peer {
    factor_t factor;
    solve_t solve;
    qr_t qr;
    pivoted_t pivoted;
    complex_pivoted_t complex_pivoted;
    least_t least;
    invert_t invert;
    invert_definite_t invert_definite;
    symmetric_t symmetric;
    symmetric_solve_t symmetric_solve;
    void (*set_threads)(int threads);
    char *(*core_name)(void);
    void *library;
} peer_t;

/* The function of that name, such as "dgesv_", or NULL. */
static void *find(const peer_t *peer, const char *name) {
    const char *const prefix = getenv("BENCH_LAPACK_PREFIX");
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix != NULL ? prefix : "", name);
    return dlsym(peer->library, full);
}

static bool load(peer_t *peer) {
    const char *const file = getenv("BENCH_LAPACK") ? getenv("BENCH_LAPACK") : "libopenblas.so.0";
    peer->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (peer->library == NULL)
        return false;
    peer->set_threads = (void (*)(int))find(peer, "openblas_set_num_threads");
    peer->core_name = (char *(*)(void))find(peer, "openblas_get_corename");
    return find(peer, "dgesv_") != NULL;
}

static void *find_typed(const peer_t *peer, char type, const char *routine) {
    char name[16];
    snprintf(name, sizeof name, "%c%s_", type, routine);
    return find(peer, name);
}

static void choose(peer_t *peer, char type) {
    peer->factor = (factor_t)find_typed(peer, type, "getrf");
    peer->solve = (solve_t)find_typed(peer, type, "gesv");
    peer->qr = (qr_t)find_typed(peer, type, "geqrf");
    peer->pivoted = (pivoted_t)find_typed(peer, type, "geqp3");
    peer->complex_pivoted = (complex_pivoted_t)find_typed(peer, type, "geqp3");
    peer->least = (least_t)find_typed(peer, type, "gels");
    peer->invert = (invert_t)find_typed(peer, type, "getri");
    peer->invert_definite = (invert_definite_t)find_typed(peer, type, "potri");
    peer->symmetric = (symmetric_t)find_typed(peer, type, "sytrf");
    peer->symmetric_solve = (symmetric_solve_t)find_typed(peer, type, "sytrs");
}

typedef enum routine {
    GETRF,
    GESV,
    GETRI,
    POTRI,
    SYTRF,
    SYTRS,
    GEQRF,
    GEQP3,
    GELS,
    MIXED
} routine_t;
static const char *const routine_names[] = {"getrf", "gesv",  "getri", "potri", "sytrf",
                                            "sytrs", "geqrf", "geqp3", "gels",  "sgesv"};

typedef struct run {
    const peer_t *peer;
    jhandle_t *handle;
    char type;
    routine_t routine;
    int m, n, nrhs, ldb;
    size_t bytes, right_bytes;
    void *a, *b, *factor, *solution, *tau, *work, *rwork;
    const void *from; /* what the factor is restored to: a, or a factor that is inverted by */
    void *dominant;   /* one: a with a large diagonal */
    int work_size;
    int64_t *ipiv, *jpvt; /* jpvt: the peer's, too */
    int *peer_ipiv;
    jstatus_t status;
} run_t;

/* By pieces: larger copies are "rep movsb" in the C library, which takes ten times as long on a
 * Zen 3 where both begin at the same place of a page, and may go past the caches. */
static void copy(void *to, const void *from, size_t bytes) {
    enum { PIECE = 1024 };
    for (size_t at = 0; at < bytes; at += PIECE)
        memcpy((char *)to + at, (const char *)from + at, bytes - at < PIECE ? bytes - at : PIECE);
}

static void restore(void *context) {
    const run_t *r = context;
    copy(r->factor, r->from, r->bytes);
    copy(r->solution, r->b, r->right_bytes);
    if (r->routine == GEQP3)
        memset(r->jpvt, 0, (size_t)r->n * sizeof *r->jpvt);
}

#define BY_TYPE(type, CALL)                                                                        \
    switch (type) {                                                                                \
    case 's': CALL(s); break;                                                                      \
    case 'd': CALL(d); break;                                                                      \
    case 'c': CALL(c); break;                                                                      \
    default: CALL(z);                                                                              \
    }

#define FACTOR_OURS(t)                                                                             \
    r->status = jlapack_##t##getrf(r->handle, r->n, r->n, r->factor, r->n, r->ipiv, &info)
#define SOLVE_OURS(t)                                                                              \
    r->status = jlapack_##t##gesv(r->handle, r->n, r->nrhs, r->factor, r->n, r->ipiv, r->solution, \
                                  r->n, &info)

#define QR_OURS(t) r->status = jlapack_##t##geqrf(r->handle, r->m, r->n, r->factor, r->m, r->tau)
#define PIVOTED_OURS(t)                                                                            \
    r->status = jlapack_##t##geqp3(r->handle, r->m, r->n, r->factor, r->m, r->jpvt, r->tau)
#define LEAST_OURS(t)                                                                              \
    r->status = jlapack_##t##gels(r->handle, JBLAS_NO_TRANSPOSE, r->m, r->n, r->nrhs, r->factor,   \
                                  r->m, r->solution, r->ldb, &info)

#define INVERT_OURS(t)                                                                             \
    r->status = jlapack_##t##getri(r->handle, r->n, r->factor, r->n, r->ipiv, &info)
#define INVERT_DEFINITE_OURS(t)                                                                    \
    r->status = jlapack_##t##potri(r->handle, JBLAS_LOWER, r->n, r->factor, r->n, &info)

/* Both solve by the same pivots, such as their own factors of a dominant matrix have. */
#define SYMMETRIC_OURS(t)                                                                          \
    r->status = jlapack_##t##sytrf(r->handle, JBLAS_LOWER, r->n, r->factor, r->n, r->ipiv, &info)
#define SYMMETRIC_SOLVE_OURS(t)                                                                    \
    r->status = jlapack_##t##sytrs(r->handle, JBLAS_LOWER, r->n, r->nrhs, r->factor, r->n,         \
                                   r->ipiv, r->solution, r->n)

/* Of doubles alone; the peer is gesv. */
static void solve_mixed(run_t *r) {
    int64_t iter, info;
    r->status = r->type == 'd' ? jlapack_dsgesv(r->handle, r->n, 1, r->factor, r->n, r->ipiv, r->b,
                                                r->n, r->solution, r->n, &iter, &info)
                               : jlapack_zcgesv(r->handle, r->n, 1, r->factor, r->n, r->ipiv, r->b,
                                                r->n, r->solution, r->n, &iter, &info);
}
static void solve_in_full(run_t *r) {
    int64_t info;
    const int nrhs = r->nrhs;
    r->nrhs = 1;
    BY_TYPE(r->type, SOLVE_OURS)
    r->nrhs = nrhs;
}

static void run_ours(void *context) {
    run_t *r = context;
    int64_t info;
    switch (r->routine) {
    case GETRF: BY_TYPE(r->type, FACTOR_OURS) break;
    case GESV: BY_TYPE(r->type, SOLVE_OURS) break;
    case GETRI: BY_TYPE(r->type, INVERT_OURS) break;
    case POTRI: BY_TYPE(r->type, INVERT_DEFINITE_OURS) break;
    case SYTRF: BY_TYPE(r->type, SYMMETRIC_OURS) break;
    case SYTRS: BY_TYPE(r->type, SYMMETRIC_SOLVE_OURS) break;
    case GEQRF: BY_TYPE(r->type, QR_OURS) break;
    case GEQP3: BY_TYPE(r->type, PIVOTED_OURS) break;
    case MIXED: solve_mixed(r); break;
    default: BY_TYPE(r->type, LEAST_OURS)
    }
}

static void run_peer(void *context) {
    run_t *r = context;
    const peer_t *peer = r->peer;
    int info;
    switch (r->routine) {
    case GETRF: peer->factor(&r->m, &r->n, r->factor, &r->m, r->peer_ipiv, &info); break;
    case GESV:
        peer->solve(&r->n, &r->nrhs, r->factor, &r->n, r->peer_ipiv, r->solution, &r->n, &info);
        break;
    case GETRI:
        peer->invert(&r->n, r->factor, &r->n, r->peer_ipiv, r->work, &r->work_size, &info);
        break;
    case POTRI: peer->invert_definite("L", &r->n, r->factor, &r->n, &info, 1); break;
    case SYTRF:
        peer->symmetric("L", &r->n, r->factor, &r->n, r->peer_ipiv, r->work, &r->work_size, &info,
                        1);
        break;
    case MIXED: solve_in_full(r); break;
    case SYTRS:
        peer->symmetric_solve("L", &r->n, &r->nrhs, r->factor, &r->n, r->peer_ipiv, r->solution,
                              &r->n, &info, 1);
        break;
    case GEQRF:
        peer->qr(&r->m, &r->n, r->factor, &r->m, r->tau, r->work, &r->work_size, &info);
        break;
    case GEQP3:
        if (r->type == 'c' || r->type == 'z')
            peer->complex_pivoted(&r->m, &r->n, r->factor, &r->m, (int *)r->jpvt, r->tau, r->work,
                                  &r->work_size, r->rwork, &info);
        else
            peer->pivoted(&r->m, &r->n, r->factor, &r->m, (int *)r->jpvt, r->tau, r->work,
                          &r->work_size, &info);
        break;
    default:
        peer->least("N", &r->m, &r->n, &r->nrhs, r->factor, &r->m, r->solution, &r->ldb, r->work,
                    &r->work_size, &info, 1);
    }
}

/* Adds n to each element of the diagonal. */
static void enlarge_diagonal(char type, int n, void *a) {
    const size_t parts = type == 'c' || type == 'z' ? 2 : 1;
    for (size_t i = 0; i < (size_t)n; i++) {
        const size_t at = i * ((size_t)n + 1) * parts;
        if (type == 's' || type == 'c')
            ((float *)a)[at] += (float)n;
        else
            ((double *)a)[at] += n;
    }
}

/* So many random numbers of the type. */
static void *make(char type, size_t bytes) {
    void *numbers = malloc(bytes);
    if (numbers == NULL) {
        fprintf(stderr, "bench_lapack: no memory\n");
        exit(1);
    }
    static uint64_t seed = 1; /* a right-hand side is no column of the matrix */
    const bool single = type == 's' || type == 'c';
    for (size_t i = 0; i < bytes / (single ? sizeof(float) : sizeof(double)); i++) {
        const double value = bench_random(&seed) - 0.5;
        if (single)
            ((float *)numbers)[i] = (float)value;
        else
            ((double *)numbers)[i] = value;
    }
    return numbers;
}

static const char *choose_routine(run_t *r, routine_t routine) {
    r->routine = routine;
    r->from = routine == GETRI || routine == POTRI || routine == SYTRS ? r->dominant : r->a;
    return routine == MIXED && r->type == 'z' ? "cgesv" : routine_names[routine];
}

static bool compare(run_t *r, routine_t routine, int threads, double flops, double seconds) {
    const char *const name = choose_routine(r, routine);
    const bool is_complex = r->type == 'c' || r->type == 'z';
    const bench_result_t result = bench_compare(run_ours, r, run_peer, r, seconds);
    char shape[32];
    snprintf(shape, sizeof shape, r->m == r->n ? "%d" : "%dx%d", r->m, r->n);
    printf("%c%-6s %7d %9s %11.4f %11.4f %8.1f %6.2f  %s\n", r->type, name, threads, shape,
           result.ours * 1e3, result.peer * 1e3, flops * (is_complex ? 4 : 1) / result.ours * 1e-9,
           result.ratio, jstatus_name(r->status));
    char series[32];
    snprintf(series, sizeof series, threads > 1 ? "%c%s, %d threads" : "%c%s", r->type, name,
             threads);
    bench_note(series, shape, "", r->peer->core_name ? r->peer->core_name() : "", result.ours,
               result.peer);
    return r->status == JSTATUS_SUCCESS;
}

/* Times in parts of what a query answers, over that in all of it. */
static bool compare_rungs(run_t *r, routine_t routine, double seconds) {
    static const size_t parts[] = {2, 4, 8, 32, 0}; /* 0: nothing */
    size_t bytes = 0;
    const char *const name = choose_routine(r, routine);
    (void)jhandle_start_size_query(r->handle);
    run_ours(r);
    (void)jhandle_stop_size_query(r->handle, &bytes);

    run_t all = *r, some = *r;
    jhandle_t *handles[2] = {NULL, NULL};
    bool good = true;
    for (int i = 0; i < 2; i++)
        good &= jhandle_create(NULL, &handles[i]) == JSTATUS_SUCCESS &&
                jhandle_set_threads(handles[i], 1) == JSTATUS_SUCCESS;
    good = good && jhandle_set_fixed_workspace_size(handles[0], bytes) == JSTATUS_SUCCESS;
    all.handle = handles[0], some.handle = handles[1];
    printf("%c%-6s %6dx%-6d %11zu", r->type, name, r->m, r->n, bytes);
    for (size_t i = 0; good && i < sizeof parts / sizeof parts[0]; i++) {
        good = jhandle_set_fixed_workspace_size(
                   some.handle, parts[i] > 0 ? bytes / parts[i] / 64 * 64 : 0) == JSTATUS_SUCCESS;
        some.status = JSTATUS_SUCCESS;
        restore(&some);
        run_ours(&some);
        if (some.status == JSTATUS_MEMORY_ERROR)
            printf("%8s", "-");
        else
            printf("%8.2f", bench_compare(run_ours, &all, run_ours, &some, seconds).ratio);
        good &= all.status == JSTATUS_SUCCESS &&
                (!jstatus_is_error(some.status) || some.status == JSTATUS_MEMORY_ERROR);
    }
    printf("\n");
    for (int i = 0; i < 2; i++)
        jhandle_destroy(handles[i]);
    return good;
}

typedef struct kind {
    int threads;
    double seconds;
    bool rungs;
    const char *only; /* names between commas; NULL: all */
} kind_t;

static bool is_chosen(const char *only, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = only; at != NULL && (at = strstr(at, name)) != NULL; at += length)
        if ((at == only || at[-1] == ',') && (at[length] == 0 || at[length] == ','))
            return true;
    return only == NULL;
}

/* Both ways once, for the pivots that what comes next takes. */
static void find_pivots(run_t *r, const kind_t *kind, routine_t routine) {
    (void)choose_routine(r, routine);
    restore(r);
    run_ours(r);
    restore(r);
    if (!kind->rungs)
        run_peer(r);
}

static bool take(run_t *r, const kind_t *kind, routine_t routine, double flops) {
    if (!is_chosen(kind->only, routine_names[routine]))
        return true;
    return kind->rungs ? compare_rungs(r, routine, kind->seconds)
                       : compare(r, routine, kind->threads, flops, kind->seconds);
}

static bool measure(jhandle_t *handle, const peer_t *peer, char type, int m, int n,
                    const kind_t *kind) {
    const bool is_complex = type == 'c' || type == 'z';
    const int least = m < n ? m : n, most = m < n ? n : m;
    const size_t element =
        (type == 's' || type == 'c' ? sizeof(float) : sizeof(double)) * (is_complex ? 2 : 1);
    run_t r = {.peer = peer, .handle = handle, .type = type, .m = m, .n = n, .nrhs = 8};
    r.bytes = (size_t)m * (size_t)n * element;
    r.ldb = most;
    r.right_bytes = (size_t)r.ldb * (size_t)r.nrhs * element;
    r.a = make(type, r.bytes), r.factor = make(type, r.bytes);
    r.b = make(type, r.right_bytes), r.solution = make(type, r.right_bytes);
    r.tau = make(type, (size_t)least * element);
    r.work_size = least + 64 * most; /* as much as its blocks may want */
    r.work = make(type, (size_t)r.work_size * element);
    r.rwork = make('d', 2 * (size_t)n * sizeof(double));
    r.jpvt = make('d', (size_t)n * sizeof *r.jpvt);
    r.ipiv = make('d', (size_t)least * sizeof *r.ipiv);
    r.peer_ipiv = make('d', (size_t)least * sizeof(double));

    const double lu = (double)least * least * (most - least / 3.0),
                 solve = 2 * (double)m * n * r.nrhs;
    bool good = true;
    if (m == n) {
        good &= take(&r, kind, GETRF, lu);
        good &= take(&r, kind, GESV, lu + solve);
        if (type == 'd' || type == 'z')
            good &= take(&r, kind, MIXED, lu + solve / r.nrhs);
        r.dominant = make(type, r.bytes);
        enlarge_diagonal(type, n, r.dominant);
        find_pivots(&r, kind, GETRF);
        good &= take(&r, kind, GETRI, 2 * lu);
        good &= take(&r, kind, POTRI, lu);
        good &= take(&r, kind, SYTRF, lu / 2);
        find_pivots(&r, kind, SYTRF);
        good &= take(&r, kind, SYTRS, solve);
    }
    good &= take(&r, kind, GEQRF, 2 * lu);
    good &= take(&r, kind, GEQP3, 2 * lu);
    good &= take(&r, kind, GELS, 2 * lu + 2 * solve);

    free(r.a), free(r.b), free(r.factor), free(r.solution), free(r.tau), free(r.work);
    free(r.rwork), free(r.jpvt), free(r.ipiv), free(r.peer_ipiv), free(r.dominant);
    return good;
}

/* "64", or "2000x32". */
static bool measure_shape(jhandle_t *handle, const peer_t *peer, char type, const char *shape,
                          const kind_t *kind) {
    const char *const columns = strchr(shape, 'x');
    const int m = atoi(shape), n = columns ? atoi(columns + 1) : m;
    return m <= 0 || n <= 0 || measure(handle, peer, type, m, n, kind);
}

int main(int argc, char **argv) {
    static const int usual[] = {32, 64, 128, 256, 512, 1024, 2048};
    kind_t kind = {.threads = 0};
    bench_shorten_spinning(argv);
    for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
        if (strcmp(argv[1], "--rungs") == 0) {
            kind.rungs = true;
            continue;
        }
        if (argc > 2 && strcmp(argv[1], "--only") == 0)
            kind.only = argv[2];
        else if (argc > 2 && strcmp(argv[1], "--threads") == 0)
            kind.threads = atoi(argv[2]);
        else
            return fprintf(stderr, "bench_lapack: option %s is none, or has no value\n", argv[1]),
                   2;
        argc--, argv++;
    }
    const bool rungs = kind.rungs;
    const int first = kind.threads > 0 ? kind.threads : 1, last = kind.threads > 0 ? kind.threads
                                                                  : rungs          ? 1
                                                                                   : 2;
    const double seconds = kind.seconds = argc > 1 ? atof(argv[1]) : 0.3;
    const char *types = argc > 2 ? argv[2] : "dscz";
    const int largest = seconds < 0.05 ? 128 : INT_MAX; /* a look that it runs */
    if (types[strspn(types, "sdcz")] != 0) {
        fprintf(stderr, "bench_lapack: types are of s, d, c and z, and \"%s\" is not\n", types);
        return 2;
    }

    jhandle_t *handle;
    peer_t peer = {.library = NULL};
    if (!rungs && !load(&peer)) {
        printf("bench_lapack: no LAPACK to compare with\n");
        return 0;
    }
    if (jhandle_create(NULL, &handle) != JSTATUS_SUCCESS) {
        fprintf(stderr, "bench_lapack: %s\n", jstatus_last_message());
        return 1;
    }

    bool good = true;
    bench_renew = restore;
    if (rungs)
        printf("routine         shape       bytes     1/2     1/4     1/8    1/32    none\n");
    else
        printf("the peer's kernels: %s\n"
               "routine threads     order     ours ms     peer ms     GF/s  ratio  status\n",
               peer.core_name ? peer.core_name() : "unknown");
    for (int threads = first; threads <= last; threads++) {
        kind.threads = threads;
        bench_prepare = threads > 1 ? bench_begin_quietly : NULL;
        if (peer.set_threads)
            peer.set_threads(threads);
        (void)jhandle_set_threads(handle, threads);
        for (const char *type = types; *type; type++) {
            if (!rungs)
                choose(&peer, *type);
            for (int i = 3; i < argc; i++)
                good &= measure_shape(handle, &peer, *type, argv[i], &kind);
            for (size_t i = 0; argc <= 3 && i < sizeof usual / sizeof usual[0]; i++)
                if (usual[i] <= largest)
                    good &= measure(handle, &peer, *type, usual[i], usual[i], &kind);
        }
    }
    jhandle_destroy(handle);
    return good ? 0 : 1;
}
