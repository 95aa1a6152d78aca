/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves of doubles by a factorization in floats, which takes half of the time, and refinement in
 * doubles (Wilkinson 1963; Langou and others 2006, whose routines are LAPACK's).
 *
 *     X = 0, R = B
 *     X += inv(A) R by the float factor, R = B - A X     until |R| <= c |A||X| + c |B|, everywhere
 *
 * The criterion is componentwise, so that X is as good as that of a factorization in doubles, and
 * better than the norms of LAPACK's. What it costs: |b| + |A||x| is computed once, at the first X.
 * Afterwards it is off by no more than the sums of A's rows times what X has moved, which is taken
 * off; only where that decides it is computed again.
 *
 * R is brought near 1 by a power of two before it becomes floats, each column by its own. Where A
 * has elements that no float is, the floats' factor fails, or R does not halve in a step, the
 * problem is solved in doubles after all; A is as it was until then. */

#include "lapack/refine.h"

#include <float.h>
#include <math.h>

#define MIXED_STEPS 30
#define MIXED_COLUMNS 8 /* from so many on residuals, and sizes, are products */
#define MIXED_STRIP 32

typedef struct mixed {
    const ji_refine_t *call;
    jdatatype_t type, real, low;
    bool definite;
    ji_matmat_t floats; /* a: the factor; b: right-hand sides, then solutions */
    void *r;            /* n x nrhs */
    double *w, *rows;   /* n x nrhs: |b| + |A||x|; n: sums of A's rows */
    double *moved;      /* nrhs: how much of X, by its largest element, since w was computed */
    double *strip;      /* MIXED_STRIP columns of |A|, and as many rows of |X| */
} mixed_t;

enum { MIXED_CONVERGED = 1, MIXED_NO_FLOATS = -2, MIXED_NO_FACTOR = -3, MIXED_TOO_SLOW = -31 };

/* ---- Room ---- */

/* Where all of it is, in panels; gives the bytes before those of the floats' own panels. */
static size_t mixed_lay_out(const ji_refine_t *call, mixed_t *m) {
    const int64_t n = call->n, nrhs = call->nrhs, ld = ji_room_ld(call->head.type - 1, n);
    const jdatatype_t type = call->head.type, low = (jdatatype_t)(type - 1);
    const int64_t strip = nrhs < MIXED_COLUMNS ? 0 : MIXED_STRIP, reals = n + nrhs;
    const size_t low_bytes = ji_sizeof(low), element = ji_sizeof(type);
    const size_t sizes[] = {
        (size_t)(ld * n) * low_bytes,   (size_t)(ld * nrhs) * low_bytes,
        (size_t)(n * nrhs) * element,   (size_t)(n * nrhs) * sizeof(double),
        (size_t)reals * sizeof(double), (size_t)(strip * reals) * sizeof(double)};
    size_t at[7] = {0};
    for (int i = 0; i < 6; i++)
        at[i + 1] = at[i] + ji_whole_lines(sizes[i]);
    if (m == NULL)
        return at[6];

    char *const room = call->panels;
    *m = (mixed_t){.call = call,
                   .type = type,
                   .real = ji_real_of(type),
                   .low = low,
                   .definite = call->uplo != 0,
                   .floats = {.head = call->head,
                              .uplo = call->uplo,
                              .trans = JBLAS_NO_TRANSPOSE,
                              .m = n,
                              .n = n,
                              .nrhs = nrhs,
                              .a = room,
                              .lda = ld,
                              .b = room + at[1],
                              .ldb = ld,
                              .ipiv = call->ipiv,
                              .panels = room + at[6],
                              .panel_bytes = call->panel_bytes - at[6]},
                   .r = room + at[2],
                   .w = (void *)(room + at[3]),
                   .rows = (void *)(room + at[4]),
                   .moved = (double *)(void *)(room + at[4]) + n,
                   .strip = (void *)(room + at[5])};
    m->floats.head.type = low;
    if (m->floats.panel_bytes == 0)
        m->floats.panels = NULL;
    return at[6];
}

/* ---- Doubles and floats, by their parts ---- */

/* Whether all are floats, finite ones. Two loops, each of which compilers make vectors of. */
static bool mixed_to_floats(int64_t parts, const double *from, double scale, float *to) {
    int32_t outside = 0;
    for (int64_t i = 0; i < parts; i++)
        to[i] = (float)(from[i] * scale);
    for (int64_t i = 0; i < parts; i++)
        outside |= !(fabsf(to[i]) <= FLT_MAX);
    return outside == 0;
}

static int64_t mixed_parts(const mixed_t *m, int64_t elements) {
    return ji_is_complex(m->type) ? 2 * elements : elements;
}

static double mixed_size(const mixed_t *m, const double *x, int64_t i) {
    return ji_is_complex(m->type) ? fabs(x[2 * i]) + fabs(x[2 * i + 1]) : fabs(x[i]);
}

/* rows[i] += |a[i]|, |Re| + |Im|. */
static void mixed_add_sizes(const mixed_t *m, int64_t count, const double *a, double *rows) {
    if (ji_is_complex(m->type))
        for (int64_t i = 0; i < count; i++)
            rows[i] += fabs(a[2 * i]) + fabs(a[2 * i + 1]);
    else
        for (int64_t i = 0; i < count; i++)
            rows[i] += fabs(a[i]);
}

static bool mixed_copy_a(const mixed_t *m) {
    const ji_refine_t *call = m->call;
    bool fits = true;
    memset(m->rows, 0, (size_t)call->n * sizeof *m->rows);
    for (int64_t j = 0; j < call->n && fits; j++) {
        const int64_t first = m->definite && call->uplo == JBLAS_LOWER ? j : 0,
                      end = m->definite && call->uplo == JBLAS_UPPER ? j + 1 : call->n;
        const double *const column = ji_at(m->type, call->a, first, j, call->lda);
        fits = mixed_to_floats(mixed_parts(m, end - first), column, 1,
                               ji_at(m->low, m->floats.a, first, j, m->floats.lda));
        mixed_add_sizes(m, end - first, column, m->rows + first);
        for (int64_t i = first; i < end && m->definite; i++) /* and the diagonal once more */
            m->rows[j] += mixed_size(m, column, i - first);
    }
    return fits;
}

/* ---- Steps ---- */

static bool mixed_factor(mixed_t *m) {
    int64_t info = 0;
    m->floats.info = &info;
    if (m->definite)
        ji_host_primitives[JI_POTRF](&m->floats);
    else
        ji_host_getrf(&m->floats);
    m->floats.info = NULL;
    return info == 0;
}

static void mixed_solve(const mixed_t *m) {
    if (!m->definite) {
        ji_host_getrs((void *)(uintptr_t)&m->floats);
        return;
    }
    for (int second = 0; second < 2; second++) {
        const bool plain = (m->call->uplo == JBLAS_LOWER) != second;
        ji_lapack_solve(&m->floats, m->call->uplo,
                        plain ? JBLAS_NO_TRANSPOSE : JBLAS_CONJUGATE_TRANSPOSE, JBLAS_NON_UNIT,
                        m->call->n);
    }
}

/* The exponent of a column's largest part. */
static int mixed_exponent(const mixed_t *m, const double *r) {
    double largest = 0;
    for (int64_t i = 0; i < mixed_parts(m, m->call->n); i++)
        largest = fmax(largest, fabs(r[i]));
    int exponent = 0;
    (void)frexp(largest, &exponent);
    return exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
}

/* X += inv(A) R */
static void mixed_correct(const mixed_t *m) {
    const ji_refine_t *call = m->call;
    const int64_t parts = mixed_parts(m, call->n);
    for (int64_t j = 0; j < call->nrhs; j++) {
        const double *const r = ji_at(m->type, m->r, 0, j, call->n);
        (void)mixed_to_floats(parts, r, ldexp(1, -mixed_exponent(m, r)),
                              ji_at(m->low, m->floats.b, 0, j, m->floats.ldb));
    }
    mixed_solve(m);
    for (int64_t j = 0; j < call->nrhs; j++) {
        const double scale = ldexp(1, mixed_exponent(m, ji_at(m->type, m->r, 0, j, call->n)));
        const float *const by = ji_at(m->low, m->floats.b, 0, j, m->floats.ldb);
        double *const x = ji_at(m->type, call->x, 0, j, call->ldx), most = 0;
        for (int64_t i = 0; i < parts; i++) {
            const double step = scale * (double)by[i];
            most = fmax(most, fabs(step));
            x[i] += step;
        }
        m->moved[j] += (ji_is_complex(m->type) ? 2 : 1) * most;
    }
}

/* R = B - A X by columns; the first one also W = |B| + |A||X|. */
static void mixed_residual_by_columns(const mixed_t *m, bool is_first) {
    const ji_refine_t *call = m->call;
    for (int64_t j = 0; j < call->nrhs; j++) {
        const void *const b = ji_at(m->type, call->b, 0, j, call->ldb), *const x =
                                                                            ji_at(m->type, call->x,
                                                                                  0, j, call->ldx);
        void *const r = ji_at(m->type, m->r, 0, j, call->n);
        if (!is_first) {
            ji_refine_residual(call, b, x, r);
            continue;
        }
        ji_refine_residual_and_sizes(call, b, x, r, m->w + j * call->n);
        m->moved[j] = 0;
    }
}

/* R = B - A X */
static void mixed_residual(const mixed_t *m) {
    const ji_refine_t *call = m->call;
    ji_room_copy(m->type, call->n, call->nrhs, call->b, call->ldb, m->r, call->n);
    ji_matmat_t product = {.head = call->head,
                           .side = JBLAS_LEFT,
                           .uplo = call->uplo,
                           .transa = JBLAS_NO_TRANSPOSE,
                           .transb = JBLAS_NO_TRANSPOSE,
                           .m = call->n,
                           .n = call->nrhs,
                           .k = call->n,
                           .alpha = ji_constant(m->type, -1),
                           .a = call->a,
                           .lda = call->lda,
                           .b = call->x,
                           .ldb = call->ldx,
                           .beta = ji_constant(m->type, 1),
                           .c = m->r,
                           .ldc = call->n,
                           .panels = m->floats.panels,
                           .panel_bytes = m->floats.panel_bytes};
    ji_host_primitives[!m->definite             ? JI_GEMM
                       : ji_is_complex(m->type) ? JI_HEMM
                                                : JI_SYMM](&product);
}

/* Column j of |A|, and row j of |X|, in the strip, whose column `place` it is. */
static void mixed_fill_strip(const mixed_t *m, int64_t j, int64_t place) {
    const ji_refine_t *call = m->call;
    const int64_t n = call->n;
    double *const column = m->strip + place * n, *const row = m->strip + MIXED_STRIP * n + place;
    const bool upper = call->uplo == JBLAS_UPPER;
    const int64_t first = m->definite && !upper ? j : 0, end = m->definite && upper ? j + 1 : n;
    memset(column, 0, (size_t)n * sizeof *column);
    mixed_add_sizes(m, end - first, ji_at(m->type, call->a, first, j, call->lda), column + first);
    for (int64_t i = upper ? j + 1 : 0; m->definite && i < (upper ? n : j); i++)
        column[i] = mixed_size(m, ji_at(m->type, call->a, j, i, call->lda), 0);
    if (m->definite)
        column[j] = fabs(*(const double *)ji_at(m->type, call->a, j, j, call->lda));
    for (int64_t k = 0; k < call->nrhs; k++)
        row[k * MIXED_STRIP] = mixed_size(m, ji_at(m->type, call->x, j, k, call->ldx), 0);
}

/* W = |B| + |A||X| by products of strips. */
static void mixed_weigh_all(const mixed_t *m) {
    const ji_refine_t *call = m->call;
    ji_matmat_t real = m->floats;
    real.head.type = JDATATYPE_F64;
    memset(m->w, 0, (size_t)(call->n * call->nrhs) * sizeof *m->w);
    for (int64_t k = 0; k < call->nrhs; k++) {
        mixed_add_sizes(m, call->n, ji_at(m->type, call->b, 0, k, call->ldb), m->w + k * call->n);
        m->moved[k] = 0;
    }
    for (int64_t j = 0; j < call->n; j += MIXED_STRIP) {
        const int64_t count = ji_min(MIXED_STRIP, call->n - j);
        for (int64_t place = 0; place < count; place++)
            mixed_fill_strip(m, j + place, place);
        ji_factor_product(&real, call->n, call->nrhs, count, 1, m->strip, call->n,
                          m->strip + MIXED_STRIP * call->n, MIXED_STRIP, 1, m->w, call->n);
    }
}

static void mixed_weigh(const mixed_t *m, int64_t j) {
    const ji_refine_t *call = m->call;
    ji_refine_sizes(call, ji_at(m->type, call->b, 0, j, call->ldb),
                    ji_at(m->type, call->x, 0, j, call->ldx), m->w + j * call->n);
    m->moved[j] = 0;
}

/* The largest |r| / (|b| + |A||x|), or what it is at most; infinite where that is not known. */
static double mixed_error(const mixed_t *m, int64_t j, double moved) {
    const double *const r = ji_at(m->type, m->r, 0, j, m->call->n), *const w =
                                                                        m->w + j * m->call->n;
    double most = 0;
    for (int64_t i = 0; i < m->call->n; i++) {
        const double size = mixed_size(m, r, i),
                     of = ji_refine_weight(m->real, size, w[i]) - moved * m->rows[i],
                     error = size == 0 ? 0
                             : of > 0  ? size / of
                                       : (double)INFINITY;
        if (!(error <= most))
            most = error;
    }
    return most;
}

static double mixed_worst(const mixed_t *m) {
    double worst = 0;
    for (int64_t j = 0; j < m->call->nrhs; j++) {
        const double error = mixed_error(m, j, 0);
        if (!(error <= worst))
            worst = error;
    }
    return worst;
}

/* Whether all columns are solved; *worst is how near the last of them is. */
static bool mixed_is_solved(const mixed_t *m, double *worst) {
    const double bound = (sqrt((double)m->call->n) + 3) * DBL_EPSILON / 2;
    bool known = true;
    *worst = mixed_worst(m);
    for (int64_t j = 0; j < m->call->nrhs && *worst <= bound; j++) {
        if (mixed_error(m, j, m->moved[j]) <= bound)
            continue;
        known = false;
        if (m->call->nrhs < MIXED_COLUMNS)
            mixed_weigh(m, j);
    }
    if (known)
        return *worst <= bound;
    if (m->call->nrhs >= MIXED_COLUMNS)
        mixed_weigh_all(m);
    *worst = mixed_worst(m);
    return *worst <= bound;
}

static void mixed_begin(const mixed_t *m) {
    const ji_refine_t *call = m->call;
    ji_room_copy(m->type, call->n, call->nrhs, call->b, call->ldb, m->r, call->n);
    for (int64_t j = 0; j < call->nrhs; j++) {
        memset(ji_at(m->type, call->x, 0, j, call->ldx), 0, (size_t)call->n * ji_sizeof(m->type));
        m->moved[j] = 0;
    }
}

/* How many steps it took beside the first; or below 0 why not. */
static int mixed_refine(mixed_t *m) {
    if (!mixed_copy_a(m))
        return MIXED_NO_FLOATS;
    if (!mixed_factor(m))
        return MIXED_NO_FACTOR;

    mixed_begin(m);
    double last = (double)INFINITY;
    for (int step = 0; step <= MIXED_STEPS; step++) {
        mixed_correct(m);
        if (m->call->nrhs < MIXED_COLUMNS) {
            mixed_residual_by_columns(m, step == 0);
        } else {
            mixed_residual(m);
            if (step == 0)
                mixed_weigh_all(m);
        }

        double worst;
        if (mixed_is_solved(m, &worst))
            return step;
        if (!(worst <= last / 2))
            break;
        last = worst;
    }
    return MIXED_TOO_SLOW;
}

/* ---- Calls ---- */

static void mixed_call(const ji_refine_t *given) {
    ji_refine_t own = *given;
    const ji_refine_t *const call = &own;
    own.trans = JBLAS_NO_TRANSPOSE;
    int found = call->n == 0 ? 0 : -1;
    *call->info = 0;
    if (call->n > 0 && call->mixed) {
        mixed_t mixed;
        (void)mixed_lay_out(call, &mixed);
        found = mixed_refine(&mixed);
    }
    *call->iter = found;
    if (found >= 0)
        return;

    ji_matmat_t full = {.head = call->head,
                        .uplo = call->uplo,
                        .n = call->n,
                        .nrhs = call->nrhs,
                        .a = call->a,
                        .lda = call->lda,
                        .ipiv = call->ipiv,
                        .b = call->x,
                        .ldb = call->ldx,
                        .info = call->info,
                        .panels = call->panels,
                        .panel_bytes = call->panel_bytes};
    ji_room_copy(call->head.type, call->n, call->nrhs, call->b, call->ldb, call->x, call->ldx);
    (call->uplo != 0 ? ji_host_posv : ji_host_gesv)(&full);
}

void ji_host_dsgesv(void *mixed) { mixed_call(mixed); }
void ji_host_dsposv(void *mixed) { mixed_call(mixed); }

/* ---- Plans ---- */

static ji_matmat_t mixed_shape(const ji_refine_t *args) {
    return (ji_matmat_t){
        .head = args->head, .uplo = args->uplo, .m = args->n, .n = args->n, .nrhs = args->nrhs};
}

ji_panel_bytes_t ji_dsgesv_bytes(const jhandle_t *handle, const ji_refine_t *args) {
    const ji_matmat_t shape = mixed_shape(args);
    return ji_gesv_bytes(handle, &shape);
}
ji_panel_bytes_t ji_dsposv_bytes(const jhandle_t *handle, const ji_refine_t *args) {
    const ji_matmat_t shape = mixed_shape(args);
    return ji_posv_bytes(handle, &shape);
}

/* `full`: of doubles, which may have to follow in the same room. */
static size_t mixed_bytes(const jhandle_t *handle, const ji_refine_t *args, ji_panel_bytes_t full) {
    ji_matmat_t floats = mixed_shape(args);
    const ji_panel_bytes_t residual =
        ji_panel_bytes(handle, JI_GEMM, &args->head, args->n, args->nrhs, args->n);
    floats.head.type = (jdatatype_t)(args->head.type - 1);
    const ji_panel_bytes_t panels = ji_panels_for_both(
        residual, (args->uplo != 0 ? ji_posv_bytes : ji_gesv_bytes)(handle, &floats));
    const size_t bytes = mixed_lay_out(args, NULL) + panels.packed;
    return bytes > full.packed ? bytes : full.packed;
}

/* Whether it takes less time: each right-hand side brings a few products with A. */
static bool mixed_pays(const ji_refine_t *args) {
    const bool definite = args->uplo != 0;
    const int64_t bytes = args->n * args->n * (int64_t)ji_sizeof(args->head.type),
                  least = ji_host_tuning.mixed_least[definite];
    return least == 0 || (bytes >= least && args->nrhs <= args->n / (definite ? 128 : 64));
}

void ji_mixed_plan(jplan_t *plan, const jhandle_t *handle, const ji_mixed_t *args,
                   ji_panel_bytes_t full) {
    const ji_matmat_t shape = mixed_shape(args);
    const size_t bytes = mixed_bytes(handle, args, full);
    jplan_init(plan, handle, ji_routine_name(&args->head), "n", (const int64_t[]){args->n});
    if (mixed_pays(args))
        jplan_add(plan, JI_MIXED, 1, 0, 1, &bytes);
    ji_panel_add_rungs(plan, &shape, full, 0);
}

jstatus_t ji_mixed_run(jhandle_t *handle, const ji_items_way_t *way, const ji_mixed_t *args,
                       ji_panel_bytes_t full, const jborrow_t *ws) {
    ji_mixed_t call = *args;
    if (!ji_is_way(ws, JI_MIXED))
        return ji_refine_run(handle, way, args, full, ws);
    call.mixed = true;
    call.panels = ws->ptr[0], call.panel_bytes = mixed_bytes(handle, args, full);
    return ji_enqueue_host(handle, way->each, &call, sizeof call);
}
