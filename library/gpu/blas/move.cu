/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices that are moved: scaled on their way, transposed, multiplied by a diagonal, packed and
 * unpacked. Of tiles (matrix.h); what is transposed is turned in shared memory.
 *
 * In place there are four ways:
 *
 *     stays       nothing is transposed, lda = ldb: each element by one thread
 *     exchanged   a square, transposed, lda = ldb: a tile and its mirror image at once
 *     panels      anything else, where the block lends room: there, as it will lie, and back
 *     chains      without room: an element takes the place of the next (primitives/chain.h). A
 *                 thread looks at every so-manieth place of A, and follows the chains that begin
 *                 there; which are whose needs no look at the elements. Chains share no place, so
 *                 no two threads meet. Nothing is read side by side: much slower
 *
 * A copy (alpha 1) is one, whatever the elements are. With an alpha of 0 A is not read. The
 * vendor's geam does not promise the first, and would not be faster: all this is bound by
 * memory. */

#include "blas/primitives/chain.h"
#include "gpu/blas/matrix.h"
#include "gpu/blas/stored.h"

/* B = alpha op(A), A m x n; or A itself where it stays, or is exchanged. */
template <typename T> struct move_t {
    int64_t m, n;
    bool turned, conjugated;
    ji_scalar_t scalar;
    const T *a;
    int64_t lda;
    T *b;
    int64_t ldb;
};

/* What happens to an element on its way. */
template <typename T> struct move_factor {
    T alpha;
    bool conjugated, clears, copies;

    __device__ inline move_factor(const move_t<T> &move)
        : alpha(gpu_scalar<T>(move.scalar)), conjugated(move.conjugated), clears(is_zero(alpha)),
          copies(alpha == make<T>(1)) {}
    __device__ inline T applied(T element) const {
        const T value = conjugate_if(conjugated, element);
        return copies ? value : alpha * value;
    }
    /* Of data[place], which is not read where it does not count. */
    __device__ inline T taken(const T *data, int64_t place) const {
        return clears ? make<T>(0) : applied(data[place]);
    }
};

template <typename T> static move_t<T> move_of(const ji_matmat_t *args, void *b) {
    move_t<T> move = {};
    move.m = args->m, move.n = args->n;
    move.turned = ji_is_transposed(args->trans);
    move.conjugated = ji_is_conjugated(args->trans);
    move.scalar = args->alpha;
    move.a = (const T *)args->a;
    move.lda = args->lda;
    move.b = (T *)b;
    move.ldb = args->ldb;
    return move;
}

/* ---- Out of place ---- */

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS) move_kernel(move_t<T> move) {
    __shared__ T tile[GROUP_ACROSS][GROUP_ACROSS + 1];
    const move_factor<T> factor(move);
    const int across = (int)threadIdx.x % GROUP_ACROSS, down = (int)threadIdx.x / GROUP_ACROSS;
    const int64_t high = matrix_tiles(move.m), wide = matrix_tiles(move.n);

    for (int64_t index = blockIdx.x; index < high * wide; index += gridDim.x) {
        const int64_t top = index % high * GROUP_ACROSS, left = index / high * GROUP_ACROSS;

        for (int column = down; column < GROUP_ACROSS; column += GROUP_DOWN) {
            const int64_t i = top + across, j = left + column;
            if (i >= move.m || j >= move.n)
                continue;
            const T value = factor.taken(move.a, i + j * move.lda);
            if (move.turned)
                tile[across][column] = value;
            else
                move.b[i + j * move.ldb] = value;
        }
        if (!move.turned)
            continue;

        __syncthreads();
        for (int row = down; row < GROUP_ACROSS; row += GROUP_DOWN) {
            const int64_t i = top + row, j = left + across;
            if (i < move.m && j < move.n)
                move.b[j + i * move.ldb] = tile[row][across];
        }
        __syncthreads(); /* before the next tile */
    }
}

template <typename T> static jstatus_t move_launch(const gpu_call_t *call, const move_t<T> &move) {
    GPU_LAUNCH((move_kernel<T>), matrix_blocks(move.m, move.n), GROUP_THREADS, call->stream, move);
    return gpu_check_launch(call->device, "move_kernel");
}

template <typename T>
static jstatus_t move_omatcopy(const gpu_call_t *call, const ji_matmat_t *args) {
    return move_launch(call, move_of<T>(args, const_cast<void *>(args->b)));
}

/* ---- In place ---- */

/* Pairs of tiles: those on the diagonal, and those below it with those above it. */
template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS) move_exchange_kernel(move_t<T> move) {
    __shared__ T lower[GROUP_ACROSS][GROUP_ACROSS + 1], upper[GROUP_ACROSS][GROUP_ACROSS + 1];
    const move_factor<T> factor(move);
    const int across = (int)threadIdx.x % GROUP_ACROSS, down = (int)threadIdx.x / GROUP_ACROSS;
    const int64_t tiles = matrix_tiles(move.n);

    for (int64_t index = blockIdx.x; index < tiles * tiles; index += gridDim.x) {
        const int64_t top = index % tiles * GROUP_ACROSS, left = index / tiles * GROUP_ACROSS;
        if (top < left)
            continue;

        for (int column = down; column < GROUP_ACROSS; column += GROUP_DOWN) {
            const int64_t i = top + across, j = left + column, k = left + across, l = top + column;
            if (i < move.n && j < move.n)
                lower[column][across] = factor.taken(move.b, i + j * move.ldb);
            if (k < move.n && l < move.n)
                upper[column][across] = factor.taken(move.b, k + l * move.ldb);
        }
        __syncthreads();

        for (int column = down; column < GROUP_ACROSS; column += GROUP_DOWN) {
            const int64_t i = top + across, j = left + column, k = left + across, l = top + column;
            if (i < move.n && j < move.n)
                move.b[i + j * move.ldb] = upper[across][column];
            if (top != left && k < move.n && l < move.n)
                move.b[k + l * move.ldb] = lower[across][column];
        }
        __syncthreads();
    }
}

template <typename T>
static __device__ inline void chain_follow(const move_t<T> &move, const ji_chains_t &chains,
                                           const move_factor<T> &factor, int64_t first) {
    T moved = move.b[first];
    int64_t place = first;

    do {
        place = ji_chain_next(&chains, place);
        const T displaced = move.b[place];
        move.b[place] = factor.applied(moved);
        moved = displaced;
    } while (place != first && ji_chain_leaves(&chains, place));
}

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS) move_chains_kernel(move_t<T> move) {
    const move_factor<T> factor(move);
    const ji_chains_t chains = {move.m, move.n, move.lda, move.ldb, move.turned};
    const int64_t all = (int64_t)gridDim.x * GROUP_THREADS, rows = ji_chains_rows(&chains);

    for (int64_t index = (int64_t)blockIdx.x * GROUP_THREADS + threadIdx.x; index < move.m * move.n;
         index += all) {
        if (factor.clears) {
            move.b[index % rows + index / rows * move.ldb] = make<T>(0);
            continue;
        }
        const int64_t place = index % move.m + index / move.m * move.lda;
        if (ji_chain_begins(&chains, place))
            chain_follow(move, chains, factor, place);
    }
}

template <typename T>
static jstatus_t move_by_panels(const gpu_call_t *call, const ji_matmat_t *args,
                                const move_t<T> &move) {
    const int64_t rows = move.turned ? move.n : move.m, columns = move.turned ? move.m : move.n;
    move_t<T> there = move, back = {};
    there.b = (T *)args->panels, there.ldb = rows;
    back.m = rows, back.n = columns;
    back.scalar = ji_constant(args->head.type, 1);
    back.a = there.b, back.lda = rows;
    back.b = move.b, back.ldb = move.ldb;

    JTRY_RETURN(move_launch(call, there));
    return move_launch(call, back);
}

template <typename T>
static jstatus_t move_imatcopy(const gpu_call_t *call, const ji_matmat_t *args) {
    const move_t<T> move = move_of<T>(args, const_cast<void *>(args->a));
    const bool same_ld = move.lda == move.ldb;

    if (same_ld && !move.turned)
        return move_launch(call, move);
    if (same_ld && move.m == move.n) {
        GPU_LAUNCH((move_exchange_kernel<T>), matrix_blocks(move.n, move.n), GROUP_THREADS,
                   call->stream, move);
        return gpu_check_launch(call->device, "move_exchange_kernel");
    }
    if (args->panels != nullptr)
        return move_by_panels(call, args, move);

    GPU_LAUNCH((move_chains_kernel<T>), gpu_blocks(move.m * move.n, GROUP_THREADS, GPU_GRID_MOST),
               GROUP_THREADS, call->stream, move);
    return gpu_check_launch(call->device, "move_chains_kernel");
}

/* ---- By a diagonal ---- */

template <typename T> struct move_diagonal {
    bool left;
    const T *a, *x;
    T *c;
    int64_t lda, incx, ldc;

    __device__ inline bool start() const { return true; }
    __device__ inline void at(int64_t i, int64_t j) const {
        c[i + j * ldc] = x[(left ? i : j) * incx] * a[i + j * lda];
    }
};

template <typename T> static jstatus_t move_dgmm(const gpu_call_t *call, const ji_matmat_t *args) {
    move_diagonal<T> action = {};
    action.left = args->side == JBLAS_LEFT;
    action.a = (const T *)args->a, action.lda = args->lda;
    action.x = vector_start<T>(args->x, action.left ? args->m : args->n, args->incx);
    action.incx = args->incx;
    action.c = (T *)args->c, action.ldc = args->ldc;
    return matrix_each(call, action, args->m, args->n, "move_diagonal");
}

/* ---- Packed triangles ---- */

template <typename T> struct move_triangle {
    bool lower, packs;
    stored_t<T> packed;
    T *a;
    int64_t lda;

    __device__ inline bool start() const { return true; }
    __device__ inline void at(int64_t i, int64_t j) const {
        if (lower ? i < j : i > j)
            return;
        T *whole = a + i + j * lda, *part = packed.at(i, j);
        *(packs ? part : whole) = *(packs ? whole : part);
    }
};

template <typename T>
static jstatus_t move_packed(const gpu_call_t *call, const ji_matmat_t *args, bool packs) {
    move_triangle<T> action = {};
    action.lower = args->uplo == JBLAS_LOWER, action.packs = packs;
    action.packed = stored_packed<T>(args->bp, args->uplo, args->n);
    action.a = (T *)const_cast<void *>(args->a), action.lda = args->lda;
    return matrix_each(call, action, args->n, args->n, "move_triangle");
}

/* ---- Primitives ---- */

#define MOVE(function, ...)                                                                        \
    jstatus_t gpu_##function(const gpu_call_t *call, const void *block) {                          \
        const ji_matmat_t *args = (const ji_matmat_t *)block;                                      \
        GPU_BY_TYPE(args->head.type, return __VA_ARGS__);                                          \
        return JSTATUS_INTERNAL_ERROR;                                                             \
    }
MOVE(omatcopy, move_omatcopy<T>(call, args))
MOVE(imatcopy, move_imatcopy<T>(call, args))
MOVE(dgmm, move_dgmm<T>(call, args))
MOVE(trttp, move_packed<T>(call, args, true))
MOVE(tpttr, move_packed<T>(call, args, false))
