/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 on the host: what the kernels (blas/kernels/level1.h) do with a short vector, done with
 * any, by several threads where that pays.
 *
 * A long vector is cut into pieces, which are taken in turn by whoever is free. For sums that are
 * subtrees of one balanced tree, over blocks of JI_REDUCE_BLOCK elements:
 *
 *     block 0   block 1   block 2   block 3   block 4
 *        +---------+         |         +---------+
 *             |              +--------------+
 *             +------------------+
 *
 * Of `count` blocks the first count / 2 are the left half, at every node. So a sum's bits depend on
 * its length alone, whoever computed which piece, and the rounding error grows as the logarithm of
 * the length. What pieces gave stands in an array of fixed length on the caller's stack: no
 * workspace.
 *
 * What always holds, as in reference BLAS: scal multiplies by zero, too, so a NaN stays; axpy and
 * axpby with an alpha of zero read no x, axpby with a beta of zero reads no y; with an increment of
 * 0 each step sees what the one before it wrote; sums, norms and searches of no elements are 0. */

#include <math.h>

#include "blas/host/host.h"
#include "blas/host/squares.h"
#include "blas/kernels/level1.h"
#include "core/team.h"

/* Element i of a vector of the block. */
static inline void *vector_at(const ji_vector_t *v, const void *x, int64_t increment, int64_t i) {
    return ji_at(v->head.type, x, 0, increment < 0 ? i + 1 - v->n : i, increment);
}

static inline const ji_level1_t *vector_kernels(const ji_vector_t *v) {
    return ji_kernels->level1[v->head.type];
}

/* ---- Pieces ---- */

#define PIECES 64 /* a power of 2; as many threads at most */

/* What a piece of a sum or of a search gave. */
typedef union vector_partial {
    ji_value_t value;
    ji_squares_t squares;
    ji_found_t found;
} vector_partial_t;

typedef struct vector_work {
    const ji_vector_t *v;
    void (*piece)(struct vector_work *work, int64_t index);
    int64_t pieces;
    int64_t size; /* of a piece, where all but the last have the same */
    int threads;
    vector_partial_t partials[PIECES];
} vector_work_t;

/* Each thread has its own, the same at every call, which it may find in its cache. */
static void vector_do_pieces(void *argument, int index) {
    vector_work_t *work = argument;
    const int64_t end = work->pieces * (index + 1) / work->threads;

    for (int64_t piece = work->pieces * index / work->threads; piece < end; piece++)
        work->piece(work, piece);
}

static void vector_run_pieces(vector_work_t *work, int wanted) {
    ji_team_lease_t lease;
    ji_team_begin(&lease, &work->v->head.threads, ji_min(wanted, PIECES));
    work->threads = lease.count;
    ji_team_do(&lease, vector_do_pieces, work);
    ji_team_end(&lease);
}

/* Bytes that a thread should have to do, lest it costs more to call it than it saves. */
#define BYTES_A_THREAD 262144

/* How many threads the vectors keep busy. */
static int vector_threads(const ji_vector_t *v, int64_t vectors) {
    const int64_t most = INT64_MAX / (2 * sizeof(ji_value_t)), n = v->n < most ? v->n : most;
    const int64_t wanted = vectors * n * (int64_t)ji_sizeof(v->head.type) / BYTES_A_THREAD;
    return wanted < v->head.threads.count ? (int)wanted : v->head.threads.count;
}

/* Cuts the vector into pieces of one size, which is worth to be asked for. */
static void vector_cut(vector_work_t *work) {
    const int64_t n = work->v->n;
    work->size = ji_max((n / PIECES / 64 + 1) * 64, 4096);
    work->pieces = n / work->size + (n % work->size != 0);
}

static inline int64_t vector_piece_length(const vector_work_t *work, int64_t first) {
    return ji_min(work->size, work->v->n - first);
}

/* ---- Element by element ---- */

typedef void (*vector_range_t)(const ji_vector_t *v, int64_t first, int64_t count);

/* Where elements [first, first + count) of both vectors are. Vectors side by side that both run
 * backwards are the same elements forwards. */
typedef struct vector_pair {
    void *x, *y;
    int64_t incx, incy;
} vector_pair_t;

static inline vector_pair_t vector_pair(const ji_vector_t *v, int64_t first, int64_t count) {
    if (v->incx == -1 && v->incy == -1) {
        const int64_t lowest = v->n - first - count;
        return (vector_pair_t){ji_at(v->head.type, v->x, lowest, 0, 0),
                               ji_at(v->head.type, v->y, lowest, 0, 0), 1, 1};
    }
    return (vector_pair_t){vector_at(v, v->x, v->incx, first), vector_at(v, v->y, v->incy, first),
                           v->incx, v->incy};
}

static void vector_axpy(const ji_vector_t *v, int64_t first, int64_t count) {
    const vector_pair_t pair = vector_pair(v, first, count);
    vector_kernels(v)->axpy(count, ji_scalar_data(&v->alpha), pair.x, pair.incx, pair.y, pair.incy);
}

static void vector_copy(const ji_vector_t *v, int64_t first, int64_t count) {
    const vector_pair_t pair = vector_pair(v, first, count);
    vector_kernels(v)->copy(count, pair.x, pair.incx, pair.y, pair.incy);
}

static void vector_swap(const ji_vector_t *v, int64_t first, int64_t count) {
    const vector_pair_t pair = vector_pair(v, first, count);
    vector_kernels(v)->swap(count, pair.x, pair.incx, pair.y, pair.incy);
}

static void vector_scal(const ji_vector_t *v, int64_t first, int64_t count) {
    vector_kernels(v)->scal(count, ji_scalar_data(&v->alpha), vector_at(v, v->x, v->incx, first),
                            v->incx);
}

static void vector_rscal(const ji_vector_t *v, int64_t first, int64_t count) {
    vector_kernels(v)->rscal(count, ji_scalar_data(&v->alpha), vector_at(v, v->x, v->incx, first),
                             v->incx);
}

static void vector_axpby(const ji_vector_t *v, int64_t first, int64_t count) {
    const vector_pair_t pair = vector_pair(v, first, count);
    const ji_level1_t *kernels = vector_kernels(v);
    const jdatatype_t type = v->head.type;
    const void *alpha = ji_scalar_data(&v->alpha), *beta = ji_scalar_data(&v->beta);
    const bool reads_x = !host_is_zero(type, &v->alpha), reads_y = !host_is_zero(type, &v->beta);

    if (reads_x && host_is(type, &v->beta, 1))
        kernels->axpy(count, alpha, pair.x, pair.incx, pair.y, pair.incy);
    else if (reads_x)
        kernels->axpby(count, alpha, pair.x, pair.incx, reads_y ? beta : NULL, pair.y, pair.incy);
    else if (reads_y)
        kernels->scal(count, beta, pair.y, pair.incy);
    else /* alpha is a zero */
        kernels->copy(count, alpha, 0, pair.y, pair.incy);
}

static void vector_rot(const ji_vector_t *v, int64_t first, int64_t count) {
    const vector_pair_t pair = vector_pair(v, first, count);
    ji_rotate(vector_kernels(v), v->head.type, count, pair.x, pair.incx, pair.y, pair.incy,
              ji_scalar_data(&v->c), ji_scalar_data(&v->s));
}

static double vector_parameter(const ji_vector_t *v, int i) {
    return ji_real_at(v->head.type, ji_parameters_data(&v->param), i);
}

/* What the flag implies is not read. */
static void vector_rotm(const ji_vector_t *v, int64_t first, int64_t count) {
    const vector_pair_t pair = vector_pair(v, first, count);
    const double flag = vector_parameter(v, 0);
    const double h11 = flag == 0 ? 1 : vector_parameter(v, 1);
    const double h21 = flag > 0 ? -1 : vector_parameter(v, 2);
    const double h12 = flag > 0 ? 1 : vector_parameter(v, 3);
    const double h22 = flag == 0 ? 1 : vector_parameter(v, 4);

    const void *h = v->head.type == JDATATYPE_F32
                        ? (const void *)(float[]){(float)h11, (float)h12, (float)h21, (float)h22}
                        : (double[]){h11, h12, h21, h22};
    vector_kernels(v)->rotate(count, pair.x, pair.incx, pair.y, pair.incy, h);
}

#define PIECE_OF_RANGE(name)                                                                       \
    static void vector_##name##_piece(vector_work_t *work, int64_t index) {                        \
        const int64_t first = index * work->size;                                                  \
        vector_##name(work->v, first, vector_piece_length(work, first));                           \
    }
PIECE_OF_RANGE(axpy)
PIECE_OF_RANGE(copy)
PIECE_OF_RANGE(swap)
PIECE_OF_RANGE(scal)
PIECE_OF_RANGE(rscal)
PIECE_OF_RANGE(axpby)
PIECE_OF_RANGE(rot)
PIECE_OF_RANGE(rotm)

/* By threads, unless elements share a place. */
static __attribute__((noinline)) void vector_spread(const ji_vector_t *v, int64_t vectors,
                                                    vector_range_t range,
                                                    void (*piece)(vector_work_t *, int64_t)) {
    const int wanted = vector_threads(v, vectors);
    if (wanted < 2 || v->incx == 0 || (vectors == 2 && v->incy == 0)) {
        range(v, 0, v->n);
        return;
    }

    vector_work_t work = {.v = v, .piece = piece};
    vector_cut(&work);
    vector_run_pieces(&work, wanted);
}

/* A vector this short is one thread's, whatever its type; so no more is asked of it. */
#define SHORT (BYTES_A_THREAD / 2 / (int64_t)sizeof(ji_value_t))

void ji_host_axpy(void *block) {
    const ji_vector_t *v = block;
    if (host_is_zero(v->head.type, &v->alpha))
        return;
    if (JI_LIKELY(v->n <= SHORT))
        vector_axpy(v, 0, v->n);
    else
        vector_spread(v, 2, vector_axpy, vector_axpy_piece);
}

void ji_host_copy(void *block) {
    const ji_vector_t *v = block;
    if (JI_LIKELY(v->n <= SHORT))
        vector_copy(v, 0, v->n);
    else
        vector_spread(v, 2, vector_copy, vector_copy_piece);
}

void ji_host_swap(void *block) {
    const ji_vector_t *v = block;
    if (JI_LIKELY(v->n <= SHORT))
        vector_swap(v, 0, v->n);
    else
        vector_spread(v, 2, vector_swap, vector_swap_piece);
}

void ji_host_scal(void *block) {
    const ji_vector_t *v = block;
    if (v->incx <= 0)
        return;
    if (JI_LIKELY(v->n <= SHORT))
        vector_scal(v, 0, v->n);
    else
        vector_spread(v, 1, vector_scal, vector_scal_piece);
}

void ji_host_rscal(void *block) {
    const ji_vector_t *v = block;
    if (v->incx <= 0)
        return;
    if (JI_LIKELY(v->n <= SHORT))
        vector_rscal(v, 0, v->n);
    else
        vector_spread(v, 1, vector_rscal, vector_rscal_piece);
}

void ji_host_axpby(void *block) {
    const ji_vector_t *v = block;
    if (host_is_zero(v->head.type, &v->alpha) && host_is(v->head.type, &v->beta, 1))
        return;
    if (JI_LIKELY(v->n <= SHORT))
        vector_axpby(v, 0, v->n);
    else
        vector_spread(v, 2, vector_axpby, vector_axpby_piece);
}

void ji_host_rot(void *block) {
    const ji_vector_t *v = block;
    if (JI_LIKELY(v->n <= SHORT))
        vector_rot(v, 0, v->n);
    else
        vector_spread(v, 2, vector_rot, vector_rot_piece);
}

void ji_host_rotm(void *block) {
    const ji_vector_t *v = block;
    if (vector_parameter(v, 0) == -2) /* the identity */
        return;
    if (JI_LIKELY(v->n <= SHORT))
        vector_rotm(v, 0, v->n);
    else
        vector_spread(v, 2, vector_rotm, vector_rotm_piece);
}

/* ---- Sums ---- */

typedef enum vector_sum { SUM_DOT, SUM_DOTC, SUM_DSDOT, SUM_ASUM, SUM_SQUARES } vector_sum_t;

static void vector_sum_block(const ji_vector_t *v, vector_sum_t sum, int64_t block,
                             vector_partial_t *partial) {
    const int64_t first = block * JI_REDUCE_BLOCK, count = ji_min(JI_REDUCE_BLOCK, v->n - first);
    const ji_level1_t *kernels = vector_kernels(v);
    const void *x = vector_at(v, v->x, v->incx, first);

    switch (sum) {
    case SUM_ASUM: kernels->asum(count, x, v->incx, partial); return;
    case SUM_SQUARES: kernels->squares(count, x, v->incx, &partial->squares); return;
    case SUM_DOT:
        kernels->dot(count, x, v->incx, vector_at(v, v->y, v->incy, first), v->incy, partial);
        return;
    case SUM_DSDOT:
        kernels->dsdot(count, x, v->incx, vector_at(v, v->y, v->incy, first), v->incy, partial);
        return;
    case SUM_DOTC:
        kernels->dotc(count, x, v->incx, vector_at(v, v->y, v->incy, first), v->incy, partial);
    }
}

static void vector_join(const ji_vector_t *v, vector_sum_t sum, vector_partial_t *partial,
                        const vector_partial_t *more) {
    switch (sum) {
    case SUM_SQUARES: ji_join_squares(&partial->squares, &more->squares); return;
    case SUM_DSDOT: host_add(JDATATYPE_F64, &partial->value, &more->value); return;
    case SUM_ASUM: host_add(ji_real_of(v->head.type), &partial->value, &more->value); return;
    default: host_add(v->head.type, &partial->value, &more->value);
    }
}

/* The tree over `count` blocks. As deep as the number of blocks has bits. */
static void vector_sum_tree(const ji_vector_t *v, vector_sum_t sum, int64_t first, int64_t count,
                            vector_partial_t *partial) {
    if (count == 1) {
        vector_sum_block(v, sum, first, partial);
        return;
    }

    vector_partial_t right;
    vector_sum_tree(v, sum, first, count / 2, partial);
    vector_sum_tree(v, sum, first + count / 2, count - count / 2, &right);
    vector_join(v, sum, partial, &right);
}

/* Piece `index` is the node at which the bits of the index, from the highest on, arrive: left or
 * right at each. */
static void vector_sum_piece(vector_work_t *work, vector_sum_t sum, int64_t index) {
    int64_t first = 0, count = work->v->n / JI_REDUCE_BLOCK + (work->v->n % JI_REDUCE_BLOCK != 0);

    for (int64_t bit = work->pieces / 2; bit > 0; bit /= 2)
        if ((index & bit) == 0)
            count /= 2;
        else
            first += count / 2, count -= count / 2;

    vector_sum_tree(work->v, sum, first, count, &work->partials[index]);
}

#define PIECE_OF_SUM(name, sum)                                                                    \
    static void vector_##name##_piece(vector_work_t *work, int64_t index) {                        \
        vector_sum_piece(work, sum, index);                                                        \
    }
PIECE_OF_SUM(dot, SUM_DOT)
PIECE_OF_SUM(dotc, SUM_DOTC)
PIECE_OF_SUM(dsdot, SUM_DSDOT)
PIECE_OF_SUM(asum, SUM_ASUM)
PIECE_OF_SUM(squares, SUM_SQUARES)

/* Of more than one block. */
static __attribute__((noinline)) void vector_sum(const ji_vector_t *v, vector_sum_t sum,
                                                 void (*piece)(vector_work_t *, int64_t),
                                                 vector_partial_t *partial) {
    const int64_t blocks = v->n / JI_REDUCE_BLOCK + (v->n % JI_REDUCE_BLOCK != 0);
    const int wanted = vector_threads(v, sum <= SUM_DSDOT ? 2 : 1);
    if (wanted < 2) {
        vector_sum_tree(v, sum, 0, blocks, partial);
        return;
    }

    vector_work_t work = {.v = v, .piece = piece, .pieces = PIECES};
    while (work.pieces > blocks)
        work.pieces /= 2;
    vector_run_pieces(&work, wanted);

    for (int64_t nodes = work.pieces / 2; nodes > 0; nodes /= 2)
        for (int64_t i = 0; i < nodes; i++) {
            work.partials[i] = work.partials[2 * i];
            vector_join(v, sum, &work.partials[i], &work.partials[2 * i + 1]);
        }
    *partial = work.partials[0];
}

/* Whether the sum is that of one block, which a kernel may give at once. */
static inline bool vector_is_block(const ji_vector_t *v) {
    return JI_LIKELY((uint64_t)v->n - 1 < JI_REDUCE_BLOCK);
}

static void vector_long_sum(const ji_vector_t *v, vector_sum_t sum,
                            void (*piece)(vector_work_t *, int64_t), jdatatype_t type) {
    vector_partial_t total = {.value = {.z = {0, 0}}};
    if (v->n > 0)
        vector_sum(v, sum, piece, &total);
    memcpy(v->result, &total, ji_sizeof(type));
}

void ji_host_dot(void *block) {
    const ji_vector_t *v = block;
    if (vector_is_block(v))
        vector_kernels(v)->dot(v->n, vector_at(v, v->x, v->incx, 0), v->incx,
                               vector_at(v, v->y, v->incy, 0), v->incy, v->result);
    else
        vector_long_sum(v, SUM_DOT, vector_dot_piece, v->head.type);
}

void ji_host_dotc(void *block) {
    const ji_vector_t *v = block;
    if (vector_is_block(v))
        vector_kernels(v)->dotc(v->n, vector_at(v, v->x, v->incx, 0), v->incx,
                                vector_at(v, v->y, v->incy, 0), v->incy, v->result);
    else
        vector_long_sum(v, SUM_DOTC, vector_dotc_piece, v->head.type);
}

void ji_host_dsdot(void *block) {
    const ji_vector_t *v = block;
    if (vector_is_block(v))
        vector_kernels(v)->dsdot(v->n, vector_at(v, v->x, v->incx, 0), v->incx,
                                 vector_at(v, v->y, v->incy, 0), v->incy, v->result);
    else
        vector_long_sum(v, SUM_DSDOT, vector_dsdot_piece, JDATATYPE_F64);
}

void ji_host_sdsdot(void *block) {
    ji_vector_t dot = *(const ji_vector_t *)block;
    float *const result = dot.result;
    double sum;
    dot.result = &sum;
    ji_host_dsdot(&dot);
    *result = (float)(sum + (double)HOST_VALUE_S(ji_scalar_data(&dot.alpha)));
}

void ji_host_asum(void *block) {
    const ji_vector_t *v = block;
    const jdatatype_t real = ji_real_of(v->head.type);
    if (v->incx <= 0)
        memset(v->result, 0, ji_sizeof(real));
    else if (vector_is_block(v))
        vector_kernels(v)->asum(v->n, v->x, v->incx, v->result);
    else
        vector_long_sum(v, SUM_ASUM, vector_asum_piece, real);
}

/* Increments are not negative. */
void ji_host_nrm2(void *block) {
    const ji_vector_t *v = block;
    if (vector_is_block(v)) {
        vector_kernels(v)->nrm2(v->n, v->x, v->incx, v->result);
        return;
    }

    vector_partial_t total = {.squares = {0, 0}};
    if (v->n > 0)
        vector_sum(v, SUM_SQUARES, vector_squares_piece, &total);

    const double norm = ji_root_of(&total.squares);
    if (ji_real_of(v->head.type) == JDATATYPE_F32)
        *(float *)v->result = (float)norm;
    else
        *(double *)v->result = norm;
}

/* ---- The largest, and the smallest ---- */

static void vector_find(const ji_vector_t *v, bool smallest, int64_t first, int64_t count,
                        ji_found_t *found) {
    const void *x = vector_at(v, v->x, v->incx, first);
    *found = smallest ? JI_NOTHING_SMALL : JI_NOTHING_LARGE;

    if (smallest)
        vector_kernels(v)->iamin(count, x, v->incx, first, found);
    else
        vector_kernels(v)->iamax(count, x, v->incx, first, found);
}

static void vector_iamax_piece(vector_work_t *work, int64_t index) {
    const int64_t first = index * work->size;
    vector_find(work->v, false, first, vector_piece_length(work, first),
                &work->partials[index].found);
}

static void vector_iamin_piece(vector_work_t *work, int64_t index) {
    const int64_t first = index * work->size;
    vector_find(work->v, true, first, vector_piece_length(work, first),
                &work->partials[index].found);
}

/* The first NaN of all pieces, or the first of the largest. */
static __attribute__((noinline)) void vector_find_in_pieces(const ji_vector_t *v,
                                                            void (*piece)(vector_work_t *, int64_t),
                                                            int wanted, ji_found_t *found) {
    vector_work_t work = {.v = v, .piece = piece};
    vector_cut(&work);
    vector_run_pieces(&work, wanted);

    *found = work.partials[0].found;
    for (int64_t i = 1; i < work.pieces && !isnan(found->size); i++)
        if (!(work.partials[i].found.size <= found->size))
            *found = work.partials[i].found;
}

static inline void vector_iam(const ji_vector_t *v, bool smallest,
                              void (*piece)(vector_work_t *, int64_t)) {
    ji_found_t found = {-1, -1};

    if (v->incx > 0 && v->n > 0) {
        const int wanted = v->n <= SHORT ? 1 : vector_threads(v, 1);
        if (wanted < 2)
            vector_find(v, smallest, 0, v->n, &found);
        else
            vector_find_in_pieces(v, piece, wanted, &found);
    }
    *(int64_t *)v->result = found.place + 1;
}

void ji_host_iamax(void *block) { vector_iam(block, false, vector_iamax_piece); }
void ji_host_iamin(void *block) { vector_iam(block, true, vector_iamin_piece); }
