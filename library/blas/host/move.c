/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices that are moved: scaled on their way, transposed, multiplied by a diagonal. What the
 * kernels (blas/kernels/move.h) do with one block is done with all of a grid, by several threads
 * where that pays.
 *
 * In place there are three ways of transposing. A square that stays where it is exchanges its
 * blocks in pairs. Anything else goes to workspace and back; or without any, element by element
 * along the chains in which one takes the place of the next (primitives/chain.h).
 *
 * What always holds: an element is computed as the kernels say, once, whoever moves it; so its bits
 * do not depend on threads or on workspace. With an alpha of 0 A is not read. What is not an
 * element of the result keeps its bytes. */

#include <math.h>

#include "blas/host/host.h"
#include "blas/kernels/move.h"
#include "blas/primitives/chain.h"
#include "core/team.h"

/* B = alpha op(A), A m x n. */
typedef struct move {
    jdatatype_t type;
    const ji_move_kernels_t *kernels;
    const void *alpha; /* NULL: 1 */
    bool transpose, conjugate;
    int64_t m, n;
    const void *a;
    int64_t lda;
    void *b;
    int64_t ldb;
} move_t;

static move_t move_of(const ji_matmat_t *args) {
    const jdatatype_t type = args->head.type;
    return (move_t){.type = type,
                    .kernels = ji_kernels->move[type],
                    .alpha = host_is(type, &args->alpha, 1) ? NULL : ji_scalar_data(&args->alpha),
                    .transpose = ji_is_transposed(args->trans),
                    .conjugate = ji_is_complex(type) && ji_is_conjugated(args->trans),
                    .m = args->m,
                    .n = args->n,
                    .a = args->a,
                    .lda = args->lda,
                    .b = ji_unconst(args->b),
                    .ldb = args->ldb};
}

/* ---- Pieces, by threads ---- */

#define BYTES_A_THREAD 262144 /* lest it costs more to call a thread than it saves */

typedef struct move_work move_work_t;
struct move_work {
    const void *of; /* what the pieces are of */
    void (*piece)(const move_work_t *work, int64_t index);
    int64_t pieces;
    int threads;
    /* Of a grid: the matrix and its blocks. */
    int64_t m, n, rows, columns;
};

static void move_part(void *argument, int index) {
    const move_work_t *work = argument;
    const int64_t each = work->pieces / work->threads, more = work->pieces % work->threads;
    const int64_t first = each * index + ji_min(index, more);
    const int64_t end = first + each + (index < more);

    for (int64_t piece = first; piece < end; piece++)
        work->piece(work, piece);
}

/* bytes: what there is to read and to write. */
static void move_by_pieces(move_work_t *work, const ji_threads_t *threads, double bytes) {
    const double most = ji_min(threads->count, work->pieces), wanted = bytes / BYTES_A_THREAD;
    ji_team_lease_t lease;

    ji_team_begin(&lease, threads, (int)(wanted < most ? wanted : most));
    work->threads = lease.count;
    ji_team_do(&lease, move_part, work);
    ji_team_end(&lease);
}

static bool move_is_one_block(const move_work_t *work) {
    return work->m <= work->rows && work->n <= work->columns;
}

static void move_by_grid(move_work_t *work, const ji_head_t *head) {
    if (move_is_one_block(work)) {
        work->piece(work, 0);
        return;
    }

    const int64_t high = (work->m - 1) / work->rows + 1, wide = (work->n - 1) / work->columns + 1;
    const double elements = (double)work->m * (double)work->n;

    work->pieces = high * wide;
    move_by_pieces(work, &head->threads, 2 * elements * (double)ji_sizeof(head->type));
}

/* A block of a grid: its corner and its size. */
typedef struct move_block {
    int64_t i, j, m, n;
} move_block_t;

static move_block_t move_block(const move_work_t *work, int64_t index) {
    if (move_is_one_block(work)) /* divisions take longer than a small one */
        return (move_block_t){0, 0, work->m, work->n};

    const int64_t high = (work->m - 1) / work->rows + 1;
    const int64_t i = index % high * work->rows, j = index / high * work->columns;
    return (move_block_t){i, j, ji_min(work->rows, work->m - i),
                          ji_min(work->columns, work->n - j)};
}

/* ---- Out of place ---- */

#define COLUMN_ROWS 4096   /* of a block, where columns are moved as they are */
#define COLUMNS_OF_FEW 64  /* of a block, with as few rows */
#define TRANSPOSED_ROWS 64 /* where they are transposed: few pages on either side */
#define TRANSPOSED_COLUMNS 256

/* As many as have about as many elements as one column may have. */
static int64_t columns_of_block(int64_t rows) {
    return rows <= COLUMNS_OF_FEW ? COLUMNS_OF_FEW : ji_max(COLUMN_ROWS / rows, 1);
}

static void move_columns_piece(const move_work_t *work, int64_t index) {
    const move_t *move = work->of;
    const move_block_t block = move_block(work, index);

    for (int64_t j = block.j; j < block.j + block.n; j++)
        move->kernels->scale(block.m, move->alpha, move->conjugate,
                             ji_at(move->type, move->a, block.i, j, move->lda),
                             ji_at(move->type, move->b, block.i, j, move->ldb));
}

static void move_transposed_piece(const move_work_t *work, int64_t index) {
    const move_t *move = work->of;
    const move_block_t block = move_block(work, index);

    move->kernels->transpose(block.m, block.n, move->alpha, move->conjugate,
                             ji_at(move->type, move->a, block.i, block.j, move->lda), move->lda,
                             ji_at(move->type, move->b, block.j, block.i, move->ldb), move->ldb);
}

/* A and B may be the same where nothing is transposed. */
static void move_all(const move_t *move, const ji_head_t *head) {
    move_work_t work = {.of = move, .m = move->m, .n = move->n};
    if (move->transpose) {
        work.piece = move_transposed_piece;
        work.rows = TRANSPOSED_ROWS, work.columns = TRANSPOSED_COLUMNS;
    } else {
        work.piece = move_columns_piece;
        work.rows = COLUMN_ROWS, work.columns = columns_of_block(move->m);
    }
    move_by_grid(&work, head);
}

static void move_zeros(const move_t *move) {
    const int64_t rows = move->transpose ? move->n : move->m;
    const int64_t columns = move->transpose ? move->m : move->n;

    for (int64_t j = 0; j < columns; j++)
        memset(ji_at(move->type, move->b, 0, j, move->ldb), 0,
               (size_t)rows * ji_sizeof(move->type));
}

void ji_host_omatcopy(void *block) {
    const ji_matmat_t *args = block;
    const move_t move = move_of(args);

    if (host_is_zero(move.type, &args->alpha))
        move_zeros(&move);
    else
        move_all(&move, &args->head);
}

/* ---- By a diagonal ---- */

#define GATHERED 512 /* elements of x that are not side by side, a block */

static const void *dgmm_element(const ji_matmat_t *args, int64_t count, int64_t i) {
    return ji_at(args->head.type, args->x, 0, args->incx < 0 ? i + 1 - count : i, args->incx);
}

static void dgmm_left_piece(const move_work_t *work, int64_t index) {
    const ji_matmat_t *args = work->of;
    const jdatatype_t type = args->head.type;
    const move_block_t block = move_block(work, index);
    const size_t bytes = ji_sizeof(type);
    _Alignas(64) char gathered[GATHERED * sizeof(ji_value_t)];
    const void *x = gathered;

    if (args->incx == 1)
        x = dgmm_element(args, args->m, block.i);
    else
        for (int64_t i = 0; i < block.m; i++)
            memcpy(gathered + (size_t)i * bytes, dgmm_element(args, args->m, block.i + i), bytes);

    for (int64_t j = block.j; j < block.j + block.n; j++)
        ji_kernels->move[type]->multiply(block.m, x, ji_at(type, args->a, block.i, j, args->lda),
                                         ji_at(type, args->c, block.i, j, args->ldc));
}

static void dgmm_right_piece(const move_work_t *work, int64_t index) {
    const ji_matmat_t *args = work->of;
    const jdatatype_t type = args->head.type;
    const move_block_t block = move_block(work, index);

    for (int64_t j = block.j; j < block.j + block.n; j++)
        ji_kernels->move[type]->scale(block.m, dgmm_element(args, args->n, j), false,
                                      ji_at(type, args->a, block.i, j, args->lda),
                                      ji_at(type, args->c, block.i, j, args->ldc));
}

void ji_host_dgmm(void *block) {
    const ji_matmat_t *args = block;
    const bool left = args->side == JBLAS_LEFT;
    const int64_t rows = left ? GATHERED : COLUMN_ROWS;
    move_work_t work = {.of = args,
                        .piece = left ? dgmm_left_piece : dgmm_right_piece,
                        .m = args->m,
                        .n = args->n,
                        .rows = rows,
                        .columns = left ? GATHERED : columns_of_block(args->m)};
    move_by_grid(&work, &args->head);
}

/* ---- In place ---- */

#define EXCHANGED 64 /* rows and columns of blocks that change places */

/* Piece number `index` of the lower triangle of blocks, row by row. */
static void exchange_place(int64_t index, int64_t *row, int64_t *column) {
    *row = (int64_t)((sqrt(8 * (double)index + 1) - 1) / 2);
    while (*row * (*row + 1) / 2 > index)
        --*row;
    while ((*row + 1) * (*row + 2) / 2 <= index)
        ++*row;
    *column = index - *row * (*row + 1) / 2;
}

static void exchange_piece(const move_work_t *work, int64_t index) {
    const move_t *move = work->of;
    int64_t row, column;
    exchange_place(index, &row, &column);

    const int64_t i = row * EXCHANGED, j = column * EXCHANGED;
    move->kernels->exchange(ji_min(EXCHANGED, move->m - i), ji_min(EXCHANGED, move->m - j),
                            move->alpha, move->conjugate,
                            ji_at(move->type, move->b, i, j, move->lda),
                            ji_at(move->type, move->b, j, i, move->lda), move->lda);
}

static void exchange_all(const move_t *move, const ji_head_t *head) {
    if (move->m <= EXCHANGED) {
        move->kernels->exchange(move->m, move->m, move->alpha, move->conjugate, move->b, move->b,
                                move->lda);
        return;
    }

    const int64_t blocks = (move->m - 1) / EXCHANGED + 1;
    const double elements = (double)move->m * (double)move->m;
    move_work_t work = {.of = move, .piece = exchange_piece, .pieces = blocks * (blocks + 1) / 2};

    move_by_pieces(&work, &head->threads, 2 * elements * (double)ji_sizeof(move->type));
}

/* Columns that come to lie closer, or farther apart: in the order in which none lands on one that
 * is still to be moved. */
static void shift_columns(const move_t *move) {
    const size_t bytes = (size_t)move->m * ji_sizeof(move->type);

    for (int64_t step = 0; step < move->n; step++) {
        const int64_t j = move->ldb < move->lda ? step : move->n - 1 - step;
        void *to = ji_at(move->type, move->b, 0, j, move->ldb);

        memmove(to, ji_at(move->type, move->a, 0, j, move->lda), bytes);
        if (move->alpha != NULL || move->conjugate)
            move->kernels->scale(move->m, move->alpha, move->conjugate, to, to);
    }
}

static void transpose_by_workspace(const move_t *move, const ji_head_t *head, void *workspace) {
    move_t there = *move, back = *move;
    there.b = workspace;
    there.ldb = move->n;

    back.transpose = back.conjugate = false;
    back.alpha = NULL;
    back.m = move->n, back.n = move->m;
    back.a = workspace, back.lda = move->n;

    move_all(&there, head);
    move_all(&back, head);
}

/* ---- In place, along chains ---- */

/* Each element takes the place of the next, scaled, until the end, or the beginning. */
static void chain_follow(const move_t *move, const ji_chains_t *chains, int64_t first) {
    const size_t bytes = ji_sizeof(move->type);
    ji_value_t moved, displaced;
    int64_t place = first;
    memcpy(&moved, ji_at(move->type, move->b, first, 0, 0), bytes);

    do {
        place = ji_chain_next(chains, place);
        void *there = ji_at(move->type, move->b, place, 0, 0);
        memcpy(&displaced, there, bytes);
        move->kernels->scale(1, move->alpha, move->conjugate, &moved, there);
        memcpy(&moved, &displaced, bytes);
    } while (place != first && ji_chain_leaves(chains, place));
}

static void transpose_by_chains(const move_t *move) {
    const ji_chains_t chains = {.m = move->m,
                                .n = move->n,
                                .lda = move->lda,
                                .ldb = move->ldb,
                                .transposed = move->transpose};

    for (int64_t j = 0; j < move->n; j++)
        for (int64_t i = 0; i < move->m; i++) {
            const int64_t place = i + j * move->lda;
            if (ji_chain_begins(&chains, place))
                chain_follow(move, &chains, place);
        }
}

void ji_host_imatcopy(void *block) {
    const ji_matmat_t *args = block;
    move_t move = move_of(args);
    move.b = ji_unconst(args->a);

    if (host_is_zero(move.type, &args->alpha))
        move_zeros(&move);
    else if (!move.transpose && move.lda != move.ldb)
        shift_columns(&move);
    else if (!move.transpose) {
        if (move.alpha != NULL || move.conjugate)
            move_all(&move, &args->head);
    } else if (move.m == move.n && move.lda == move.ldb)
        exchange_all(&move, &args->head);
    else if (args->panels != NULL)
        transpose_by_workspace(&move, &args->head, args->panels);
    else
        transpose_by_chains(&move);
}

/* ---- Packed triangles ---- */

/* Columns of a packed triangle, to or from those of a matrix: column j has its elements from
 * `first` on. */
static void move_triangle(const ji_matmat_t *args, bool pack) {
    const jdatatype_t type = args->head.type;
    const bool upper = args->uplo == JBLAS_UPPER;

    for (int64_t j = 0; j < args->n; j++) {
        const int64_t first = upper ? 0 : j, count = upper ? j + 1 : args->n - j;
        const size_t bytes = (size_t)count * ji_sizeof(type);
        void *packed = ji_at(type, args->bp, ji_packed_start(upper, args->n, j) + first, 0, 0);
        void *full = ji_at(type, args->a, first, j, args->lda);

        if (pack)
            memcpy(packed, full, bytes);
        else
            memcpy(full, packed, bytes);
    }
}

void ji_host_trttp(void *block) { move_triangle(block, true); }
void ji_host_tpttr(void *block) { move_triangle(block, false); }
