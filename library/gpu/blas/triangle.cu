/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Triangular inverses: what the products of blas/algorithms/inverses.c begin with, and trtri.
 *
 * triangle_inverses   one block of threads for each tile of a diagonal block. A tile on the
 *                     diagonal is inverted in shared memory, one beside it copied or cleared. An
 *                     upper tile is read turned: the inverse of a transpose is the transpose of the
 *                     inverse.
 * trtri               without workspace: one block of threads for the whole triangle, in place.
 *                     From the last block column back, with M seen as lower:
 *
 *                         +----------+
 *                         | D        |     part := (inverse below) part
 *                         | p | \    |     D    := D^-1
 *                         | a |inv-  |     part := -part D^-1
 *                         | r |erse \|
 *                         | t |      |
 *                         +----------+
 *
 *                     The part below D is taken by rows of tiles from the last one up, which then
 *                     still find those above as they were. Slow: for those who allow no workspace.
 *
 * check and store     the zero on the diagonal, and the way back to A for those who have none. */

#include "gpu/blas/tile.h"

void gpu_triangle_tuning(ji_tuning_t *tuning) {
    /* Not measured on a GPU yet; trsm.c counts for the leaves. Cholesky's wide blocks: products of
     * this depth run at full speed, and what is done inside of them is about 512 / order of the
     * work. */
    tuning->triangle_products = true;
    tuning->triangle_leaf = 128;
    tuning->triangle_largest_leaf = 512;
    tuning->triangle_small_leaf = 64;
    tuning->triangle_least_order = 64;
    tuning->triangle_least_rhs = 8;
    tuning->factor_base = 128;
    tuning->factor_wide = 512;
    tuning->factor_strip = 1024;
}

static int64_t triangle_tiles(int64_t size) { return size / TILE + (size % TILE != 0); }

/* ---- Diagonal blocks ---- */

/* The tile of A's lower triangle at (0, 0) of `data`, or of its transpose, with `size` rows: a tile
 * of the unit matrix beyond, ones on the diagonal where it is not read. */
template <typename T>
static __device__ inline void triangle_load(T (*tile)[TILE + 1], const T *data, int64_t ld,
                                            int size, bool turned, bool unit) {
    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;

    for (int j = down; j < TILE; j += GROUP_DOWN) {
        /* Across: along A's columns. */
        const int row = turned ? j : across, column = turned ? across : j;
        if (row > column ? row < size : row == column && !unit && row < size)
            tile[row][column] = data[across + j * ld];
        else
            tile[row][column] = make<T>(row == column ? 1 : 0);
    }
}

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS)
    triangle_inverses_kernel(ji_inverses_t args) {
    __shared__ T tile[TILE][TILE + 1];
    __shared__ T row[2][TILE];

    const T *a = (const T *)args.a;
    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;
    /* Of the largest block. */
    const int64_t side = args.block < args.order ? args.block : args.order;
    const int64_t high = (side + TILE - 1) / TILE, wide = (args.order + TILE - 1) / TILE;

    for (int64_t t = blockIdx.x; t < high * wide; t += gridDim.x) {
        const int64_t left = t / high * TILE, block = left / args.block, start = block * args.block;
        const int64_t top = start + t % high * TILE;
        if (top >= args.order)
            continue;

        const int64_t rows = args.order - top < TILE ? args.order - top : TILE;
        const int64_t columns = args.order - left < TILE ? args.order - left : TILE;
        T *to = (T *)args.inverses + JI_INVERSE_OFFSET(args.block, block) + (top - start) +
                (left - start) * args.block;

        if (top != left) { /* the same for all threads */
            const bool stored = (top > left) != args.upper;
            for (int64_t j = down; j < columns; j += GROUP_DOWN)
                if (across < rows)
                    to[across + j * args.block] =
                        stored ? a[top + across + (left + j) * args.lda] : make<T>(0);
            continue;
        }

        T element[TILE_EACH];
        triangle_load(tile, a + top + left * args.lda, args.lda, (int)rows, args.upper, args.unit);
        __syncthreads();
        tile_invert(tile, row, element);
        __syncthreads();

        GPU_UNROLL
        for (int k = 0; k < TILE_EACH; ++k)
            tile[down + k * GROUP_DOWN][across] = element[k];
        __syncthreads();

        for (int64_t j = down; j < columns; j += GROUP_DOWN)
            if (across < rows)
                to[across + j * args.block] = args.upper ? tile[j][across] : tile[across][j];
        __syncthreads(); /* before the next tile is loaded */
    }
}

template <typename T>
static jstatus_t triangle_run_inverses(const gpu_call_t *call, const ji_inverses_t *args) {
    const int64_t side = args->block < args->order ? args->block : args->order;
    const unsigned grid =
        gpu_blocks(triangle_tiles(side) * triangle_tiles(args->order), 1, GPU_GRID_MOST);
    GPU_LAUNCH((triangle_inverses_kernel<T>), grid, GROUP_THREADS, call->stream, *args);
    return gpu_check_launch(call->device, "triangle_inverses");
}

jstatus_t gpu_triangle_inverses(const gpu_call_t *call, const void *block) {
    const ji_inverses_t *args = (const ji_inverses_t *)block;
    GPU_BY_TYPE(args->type, return triangle_run_inverses<T>(call, args));
}

/* ---- A zero on the diagonal ---- */

/* For all threads of the block; `shared` has an element for each. */
template <typename T>
static __device__ inline int64_t triangle_find_zero(const T *a, int64_t lda, int64_t n,
                                                    int64_t *shared) {
    return group_find_on_diagonal(a, lda, n, shared, [](T element) { return is_zero(element); });
}

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS)
    triangle_check_kernel(const T *a, int64_t lda, int64_t n, bool unit, int64_t *position) {
    __shared__ int64_t shared[GROUP_THREADS];
    const int64_t zero = unit ? 0 : triangle_find_zero(a, lda, n, shared);
    if (threadIdx.x == 0)
        *position = zero;
}

template <typename T>
static jstatus_t triangle_run_check(const gpu_call_t *call, const ji_matmat_t *args) {
    GPU_LAUNCH((triangle_check_kernel<T>), 1, GROUP_THREADS, call->stream, (const T *)args->a,
               args->lda, args->n, args->diag == JBLAS_UNIT, (int64_t *)args->c);
    return gpu_check_launch(call->device, "triangle_check");
}

jstatus_t gpu_triangle_check(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return triangle_run_check<T>(call, args));
}

/* ---- Back to A ---- */

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS)
    triangle_store_kernel(T *a, int64_t lda, const T *b, int64_t ldb, int64_t n, bool upper,
                          bool unit, const int64_t *position, int64_t *info) {
    const int64_t zero = *position;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *info = zero;
    if (zero != 0)
        return;

    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;
    const int64_t side = (n + TILE - 1) / TILE;

    for (int64_t t = blockIdx.x; t < side * side; t += gridDim.x) {
        const int64_t i = t % side * TILE + across, left = t / side * TILE;
        const int64_t right = left + TILE < n ? left + TILE : n;

        for (int64_t j = left + down; j < right; j += GROUP_DOWN)
            if (i < n && (i == j ? !unit : (i < j) == upper))
                a[i + j * lda] = b[i + j * ldb];
    }
}

template <typename T>
static jstatus_t triangle_run_store(const gpu_call_t *call, const ji_matmat_t *args) {
    const int64_t side = triangle_tiles(args->n);
    GPU_LAUNCH((triangle_store_kernel<T>), gpu_blocks(side * side, 1, GPU_GRID_MOST), GROUP_THREADS,
               call->stream, (T *)const_cast<void *>(args->a), args->lda, (const T *)args->b,
               args->ldb, args->n, args->uplo == JBLAS_UPPER, args->diag == JBLAS_UNIT,
               (const int64_t *)args->c, args->info);
    return gpu_check_launch(call->device, "triangle_store");
}

jstatus_t gpu_triangle_store(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return triangle_run_store<T>(call, args));
}

/* ---- trtri in place ---- */

/* The tile of M at (i, j): zeros beyond it and, on the diagonal, above; ones there where it is not
 * read. */
template <typename T>
static __device__ inline void triangle_load_part(T (*tile)[TILE + 1], tile_view<T> m, int64_t n,
                                                 int64_t i, int64_t j, bool unit) {
    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;
    for (int column = down; column < TILE; column += GROUP_DOWN) {
        const int64_t row = i + across;
        const bool stored =
            row < n && j + column < n && (row > j + column || (row == j + column && !unit));
        tile[across][column] = stored ? *m.at(row, j + column) : make<T>(row == j + column ? 1 : 0);
    }
}

/* Thread's elements of the tile at (i, j), row threadIdx.x mod 32. */
template <typename T>
static __device__ inline void triangle_put(tile_view<T> m, int64_t n, int64_t i, int64_t j,
                                           const T *element) {
    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;
    GPU_UNROLL
    for (int k = 0; k < TILE_EACH; ++k)
        if (i + across < n && j + down + k * GROUP_DOWN < n)
            *m.at(i + across, j + down + k * GROUP_DOWN) = element[k];
}

/* sum += left right, of tiles in shared memory; the same elements as triangle_put(). */
template <typename T>
static __device__ inline void triangle_multiply(T (*left)[TILE + 1], T (*right)[TILE + 1], T *sum) {
    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;

    for (int p = 0; p < TILE; ++p) {
        GPU_UNROLL
        for (int k = 0; k < TILE_EACH; ++k)
            sum[k] = multiply_add(left[across][p], right[p][down + k * GROUP_DOWN], sum[k]);
    }
}

/* part := (inverse below) part, of block column j; from the last row of tiles up. */
template <typename T>
static __device__ inline void trtri_multiply_left(T (*x)[TILE + 1], T (*y)[TILE + 1],
                                                  tile_view<T> m, int64_t n, int64_t j, bool unit) {
    T element[TILE_EACH];
    for (int64_t i = (n - 1) / TILE * TILE; i > j; i -= TILE) {
        GPU_UNROLL
        for (int k = 0; k < TILE_EACH; ++k)
            element[k] = make<T>(0);
        for (int64_t p = j + TILE; p <= i; p += TILE) {
            triangle_load_part(x, m, n, i, p, unit);
            triangle_load_part(y, m, n, p, j, unit);
            __syncthreads();
            triangle_multiply(x, y, element);
            __syncthreads();
        }

        triangle_put(m, n, i, j, element);
        __syncthreads();
    }
}

/* D := D^-1, which is left in x; y is scratch. */
template <typename T>
static __device__ inline void trtri_invert(T (*x)[TILE + 1], T (*y)[TILE + 1], tile_view<T> m,
                                           int64_t n, int64_t j, bool unit) {
    const int across = (int)threadIdx.x % TILE, down = (int)threadIdx.x / TILE;
    T element[TILE_EACH];

    triangle_load_part(x, m, n, j, j, unit);
    __syncthreads();
    tile_invert(x, (T(*)[TILE])y, element);
    __syncthreads();

    GPU_UNROLL
    for (int k = 0; k < TILE_EACH; ++k)
        x[down + k * GROUP_DOWN][across] = element[k];
    __syncthreads();

    for (int column = down; column < TILE; column += GROUP_DOWN)
        if (j + across < n && (unit ? column < across : column <= across))
            *m.at(j + across, j + column) = x[across][column];
}

/* part := -part D^-1, where D^-1 is in x. */
template <typename T>
static __device__ inline void trtri_multiply_right(T (*x)[TILE + 1], T (*y)[TILE + 1],
                                                   tile_view<T> m, int64_t n, int64_t j,
                                                   bool unit) {
    T element[TILE_EACH];
    for (int64_t i = j + TILE; i < n; i += TILE) {
        triangle_load_part(y, m, n, i, j, unit);
        __syncthreads();

        GPU_UNROLL
        for (int k = 0; k < TILE_EACH; ++k)
            element[k] = make<T>(0);
        triangle_multiply(y, x, element);
        GPU_UNROLL
        for (int k = 0; k < TILE_EACH; ++k)
            element[k] = -element[k];

        triangle_put(m, n, i, j, element);
        __syncthreads();
    }
}

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS)
    trtri_kernel(tile_view<T> m, const T *a, int64_t lda, int64_t n, bool unit, int64_t *info) {
    __shared__ T x[TILE][TILE + 1];
    __shared__ T y[TILE][TILE + 1];
    __shared__ int64_t shared[GROUP_THREADS];

    const int64_t zero = unit ? 0 : triangle_find_zero(a, lda, n, shared);
    if (threadIdx.x == 0)
        *info = zero;
    if (zero != 0) /* the same for all threads */
        return;

    for (int64_t j = (n - 1) / TILE * TILE; j >= 0; j -= TILE) {
        trtri_multiply_left(x, y, m, n, j, unit);
        trtri_invert(x, y, m, n, j, unit);
        trtri_multiply_right(x, y, m, n, j, unit);
        __syncthreads();
    }
}

template <typename T>
static jstatus_t triangle_run_trtri(const gpu_call_t *call, const ji_matmat_t *args) {
    GPU_LAUNCH((trtri_kernel<T>), 1, GROUP_THREADS, call->stream, tile_lower<T>(args),
               (const T *)args->a, args->lda, args->n, args->diag == JBLAS_UNIT, args->info);
    return gpu_check_launch(call->device, "trtri");
}

jstatus_t gpu_trtri(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return triangle_run_trtri<T>(call, args));
}
