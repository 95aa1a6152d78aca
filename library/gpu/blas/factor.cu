/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Cholesky's base, and its info.
 *
 * potrf_panel   copies a part of a block column, of an upper triangle the adjoint, to where a
 *               product may write.
 * potrf_base    one block of threads factors a diagonal block A = L L^H of at most 128 and, where
 *               there is memory for it, writes X = inv(L)^H there. An upper triangle is its
 *               conjugate transpose: U^H is L. Two threads have a row, 16 columns each. A block
 *               column of 32 after the other:
 *
 *                   X X X X    rows from tile D on:  x := A - L L^H of the columns left of D
 *                   L D . .    D:                    is factored in shared memory
 *                   L L . .    rows below D:         x := x inv(D)^H, by substitution
 *                   L L . .    rows to D's last:     the same for X, whose A is the unit matrix
 *
 *               So the rows of X begin where those of A end: all 128 are at work in each block
 *               column, and rows of both are found by one substitution. While it is at work X's
 *               memory also holds L, as drawn, so that rows are always read along a column;
 *               without it A's own triangle has to do.
 *
 *               In D all columns behind column j lose column j * conj(l(k,j)) / pivot(j), and only
 *               in the end all are divided by sqrt(pivot): one barrier a column. A pivot that is
 *               not positive stays as it is on the diagonal. What is computed with it stands to the
 *               right of it and below.
 * pivot_info    looks for it: the first diagonal element of the whole that is not positive. */

#include "gpu/blas/blas.h"
#include "gpu/blas/tile.h"

#define FACTOR_ORDER 128 /* ji_tuning_t.factor_base of GPUs */
#define FACTOR_AHEAD 8   /* elements of a row on the way at once */
/* Columns of a thread in a block column. */
#define FACTOR_WIDTH (TILE * FACTOR_ORDER / GROUP_THREADS)

static_assert(FACTOR_WIDTH * 2 == TILE, "two threads a row");

/* The conjugate of an upper triangle's transpose is a lower one. */
template <typename T> struct factor_view {
    T *first;
    int64_t down, right; /* strides */
    bool conjugated;

    __device__ inline T get(int64_t i, int64_t j) const {
        return conjugate_if(conjugated, first[i * down + j * right]);
    }
    __device__ inline void put(int64_t i, int64_t j, T value) const {
        first[i * down + j * right] = conjugate_if(conjugated, value);
    }
};

template <typename T> static factor_view<T> factor_lower(const ji_matmat_t *args) {
    const bool upper = args->uplo == JBLAS_UPPER;
    return factor_view<T>{(T *)const_cast<void *>(args->a), upper ? args->lda : 1,
                          upper ? 1 : args->lda, upper};
}

/* ---- Panel ---- */

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS)
    potrf_panel_kernel(factor_view<T> from, int64_t above, int64_t m, int64_t n, T *panel,
                       int64_t ld) {
    __shared__ T tile[TILE][TILE + 1];
    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;
    const int64_t high = (m + TILE - 1) / TILE, wide = (n + TILE - 1) / TILE;

    for (int64_t t = blockIdx.x; t < high * wide; t += gridDim.x) {
        const int64_t top = t % high * TILE, left = t / high * TILE;

        for (int k = down; k < TILE; k += GROUP_DOWN) {
            const int row = from.down == 1 ? across : k, column = from.down == 1 ? k : across;
            const int64_t i = top + row, j = left + column;
            T value = make<T>(0);
            if (i < m && j < n && i + above >= j)
                value = from.get(i, j);
            tile[column][row] = i + above == j ? make<T>(real_part(value)) : value;
        }
        __syncthreads();

        for (int k = down; k < TILE; k += GROUP_DOWN)
            if (top + across < m && left + k < n)
                panel[top + across + (left + k) * ld] = tile[k][across];
        __syncthreads();
    }
}

template <typename T>
static jstatus_t factor_run_panel(const gpu_call_t *call, const ji_matmat_t *args) {
    const int64_t tiles = (args->m + TILE - 1) / TILE * ((args->n + TILE - 1) / TILE);
    GPU_LAUNCH((potrf_panel_kernel<T>), gpu_blocks(tiles, 1, GPU_GRID_MOST), GROUP_THREADS,
               call->stream, factor_lower<T>(args), args->k, args->m, args->n, (T *)args->c,
               args->ldc);
    return gpu_check_launch(call->device, "potrf_panel");
}

jstatus_t gpu_potrf_panel(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return factor_run_panel<T>(call, args));
}

/* ---- Base ---- */

template <typename T> struct factor_call {
    int n;
    factor_view<T> from, to; /* the triangle as it is read, and where L goes */
    factor_view<T> rows;     /* where rows of L and of X are kept: X's memory, or `to` */
    bool inverts;
};

/* L's rows from `top` on and columns from `left` on; as in all tiles here, tile[column][row].
 * Columns stand a multiple of 16 bytes apart, so that neighbours come by one load. */
template <typename T> using factor_tile = T[TILE + 4];

template <typename T>
static __device__ inline void factor_read(factor_tile<T> *tile, const factor_call<T> &call, int top,
                                          int left) {
    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;
    const bool turned = call.rows.down != 1; /* neighbouring threads: neighbours in memory */

    GPU_UNROLL
    for (int k = 0; k < TILE_EACH; ++k) {
        const int other = down + k * GROUP_DOWN, i = turned ? other : across,
                  j = turned ? across : other;
        tile[j][i] = top + i < call.n ? call.rows.get(top + i, left + j) : make<T>(0);
    }
}

/* a / b, of which nothing overflows that need not: a product with 1 / b would. */
template <typename T> static __device__ inline T factor_over(T a, real_of<T> b) {
    if constexpr (number<T>::is_complex)
        return T{a.re / b, a.im / b};
    else
        return a / b;
}
static __device__ inline float factor_sqrt(float x) { return sqrtf(x); }
static __device__ inline double factor_sqrt(double x) { return sqrt(x); }

/* Factors the lower triangle in a tile, which the factor replaces. Begins and ends with a barrier.
 * A thread has four elements of a row; a column comes to the tile when it is the next one. */
template <typename T> static __device__ inline void factor_diagonal(factor_tile<T> *tile) {
    typedef real_of<T> R;
    const int row = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;
    T element[TILE_EACH];

    __syncthreads();
    GPU_UNROLL
    for (int k = 0; k < TILE_EACH; ++k)
        element[k] = tile[down + k * GROUP_DOWN][row];

    int done = 0; /* the same for all threads */
    GPU_NO_UNROLL
    for (; done < TILE; ++done) {
        const R pivot = real_part(tile[done][done]);
        if (!(pivot > 0)) /* also NaN */
            break;

        const T factor = -factor_over(tile[done][row], pivot);
        GPU_UNROLL
        for (int k = 0; k < TILE_EACH; ++k) {
            const int column = down + k * GROUP_DOWN;
            if (row < column || column <= done)
                continue;
            element[k] = multiply_add(factor, conjugate(tile[done][column]), element[k]);
            if (column == done + 1)
                tile[column][row] = element[k];
        }
        __syncthreads();
    }

    GPU_UNROLL
    for (int k = 0; k < TILE_EACH; ++k) {
        const int column = down + k * GROUP_DOWN;
        if (row == column)
            element[k] = make<T>(real_part(element[k]));
        if (row >= column && column < done) {
            const R root = factor_sqrt(real_part(tile[column][column]));
            element[k] = row == column ? make<T>(root) : factor_over(element[k], root);
        }
    }
    __syncthreads();

    GPU_UNROLL
    for (int k = 0; k < TILE_EACH; ++k)
        tile[down + k * GROUP_DOWN][row] = element[k];
    __syncthreads();
}

/* x -= the row's DEPTH elements from `left` on, times the tile's rows from `first` on, adjoint. */
template <int DEPTH, typename T>
static __device__ inline void factor_take_out(T *x, const factor_tile<T> *tile, int first,
                                              const factor_view<T> &rows, int row, int left) {
    GPU_NO_UNROLL
    for (int p = 0; p < DEPTH; p += FACTOR_AHEAD) {
        T known[FACTOR_AHEAD];
        GPU_UNROLL
        for (int q = 0; q < FACTOR_AHEAD; ++q)
            known[q] = -rows.get(row, left + p + q);

        GPU_UNROLL
        for (int q = 0; q < FACTOR_AHEAD; ++q) {
            GPU_UNROLL
            for (int k = 0; k < FACTOR_WIDTH; ++k)
                x[k] = multiply_add(known[q], conjugate(tile[p + q][first + k]), x[k]);
        }
    }
}

/* x := x inv(L)^H, where L is what stands from (first, first) on. */
template <typename T>
static __device__ inline void factor_substitute(T *x, const factor_tile<T> *tile, int first) {
    GPU_UNROLL
    for (int p = 0; p < FACTOR_WIDTH; ++p) {
        const T *column = tile[first + p] + first;
        x[p] = factor_over(x[p], real_part(column[p]));
        GPU_UNROLL
        for (int k = p + 1; k < FACTOR_WIDTH; ++k)
            x[k] = multiply_add(-x[p], conjugate(column[k]), x[k]);
    }
}

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS) potrf_base_kernel(factor_call<T> call) {
    alignas(16) __shared__ factor_tile<T> tile[TILE];
    /* Of the row's tiles. */
    const int row = (int)threadIdx.x % FACTOR_ORDER, top = row / TILE * TILE;
    const int half = (int)threadIdx.x / FACTOR_ORDER, first = half * FACTOR_WIDTH;

    for (int left = 0; left < call.n; left += TILE) {
        T x[FACTOR_WIDTH];
        GPU_UNROLL
        for (int k = 0; k < FACTOR_WIDTH; ++k) {
            const int column = left + first + k;
            x[k] = make<T>(row == column ? 1 : 0); /* also beyond the last row */
            if (row < call.n && row >= column && top >= left)
                x[k] = call.from.get(row, column);
        }

        for (int p = 0; p < left; p += TILE) {
            factor_read(tile, call, left, p);
            __syncthreads();
            if (row < call.n && (top >= left || (call.inverts && top <= p)))
                factor_take_out<TILE>(x, tile, first, call.rows, row, p);
            __syncthreads();
        }

        if (top == left) {
            GPU_UNROLL
            for (int k = 0; k < FACTOR_WIDTH; ++k)
                tile[first + k][row - left] = x[k];
        }
        factor_diagonal(tile);
        if (top == left) { /* a row of L is done, one of X begins */
            GPU_UNROLL
            for (int k = 0; k < FACTOR_WIDTH; ++k) {
                const int column = left + first + k;
                if (row < call.n && row >= column)
                    call.to.put(row, column, tile[first + k][row - left]);
                x[k] = make<T>(row == column ? 1 : 0);
            }
        }

        for (int solved = 0; solved < 2; ++solved) {
            if (half == solved && row < call.n && (top > left || call.inverts)) {
                if (solved == 1)
                    factor_take_out<FACTOR_WIDTH>(x, tile, first, call.rows, row, left);
                factor_substitute(x, tile, first);
                GPU_UNROLL
                for (int k = 0; k < FACTOR_WIDTH; ++k) {
                    if (top > left)
                        call.to.put(row, left + first + k, x[k]);
                    if (call.inverts)
                        call.rows.put(row, left + first + k, x[k]);
                }
            }
            __syncthreads();
        }
    }

    if (call.inverts)
        for (int column = half; column < top; column += 2) /* X alone is left */
            call.rows.put(row, column, make<T>(0));
}

template <typename T>
static jstatus_t factor_run_base(const gpu_call_t *call, const ji_matmat_t *args) {
    if (args->n > FACTOR_ORDER || (args->c != nullptr && args->n < FACTOR_ORDER))
        return gpu_services->fail(JSTATUS_INTERNAL_ERROR, "%s: a base of order %lld",
                                  call->device->name, (long long)args->n);

    factor_call<T> factor = {};
    factor.n = (int)args->n;
    factor.from = factor.to = factor.rows = factor_lower<T>(args);
    factor.inverts = args->c != nullptr;

    if (args->b != nullptr)
        factor.from = factor_view<T>{(T *)const_cast<void *>(args->b), 1, args->ldb, false};
    if (factor.inverts)
        factor.rows = factor_view<T>{(T *)args->c, 1, args->ldc, false};

    GPU_LAUNCH((potrf_base_kernel<T>), 1, GROUP_THREADS, call->stream, factor);
    return gpu_check_launch(call->device, "potrf_base");
}

jstatus_t gpu_potrf_base(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return factor_run_base<T>(call, args));
}

/* ---- Info ---- */

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS)
    pivot_info_kernel(const T *a, int64_t lda, int64_t n, int64_t *info) {
    __shared__ int64_t shared[GROUP_THREADS];
    const int64_t position =
        group_find_on_diagonal(a, lda, n, shared, [](T pivot) { return !(real_part(pivot) > 0); });
    if (threadIdx.x == 0)
        *info = position;
}

template <typename T>
static jstatus_t factor_run_info(const gpu_call_t *call, const ji_matmat_t *args) {
    GPU_LAUNCH((pivot_info_kernel<T>), 1, GROUP_THREADS, call->stream, (const T *)args->a,
               args->lda, args->n, args->info);
    return gpu_check_launch(call->device, "pivot_info");
}

jstatus_t gpu_pivot_info(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return factor_run_info<T>(call, args));
}
