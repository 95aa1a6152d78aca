/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2: a matrix is read (or written) once and each element used once, so all that matters is
 * that neighbouring threads touch neighbouring elements of a column, with many columns on the way
 * at once.
 *
 *   gemv N          32 rows by 8 groups of columns a thread block; the groups' sums are added in
 *                   shared memory
 *   gemv T, C       a column for the whole thread block, or 8 columns for 32 threads each where
 *                   they are short
 *   symv, hemv      32 rows by 8 groups; a tile of the triangle that is not stored is read where it
 *                   is and turned over in shared memory
 *   ger, syr, her, syr2, her2   tiles of 32 x 32
 *
 * What is symmetric, Hermitian or skew-symmetric goes the same way: what a mirrored element is, and
 * what stands on the diagonal, is asked where one is read or written.
 *
 * Bands and packed triangles have the same kernels: where an element stands is the matrix's affair
 * (stored.h), and of a band the loops pass over what it has not.
 *
 * The items of a batch lie along the grid's y, and what they have of their own is read there.
 *
 * Every element of a result is one thread block's, which adds in one order: same bits each run.
 * trmv and trsv and their kin are in trmv.cu. */

#include "gpu/blas/blas.h"
#include "gpu/blas/group.h"
#include "gpu/blas/stored.h"
#include "gpu/blas/vector.h"

/* From here on a column feeds a whole thread block. */
#define LEVEL2_LONG_COLUMN 2048

template <typename T>
static matvecs_t<T> matvec_of(const ji_matvec_t *args, const stored_t<T> &a, int64_t elements_x,
                              int64_t elements_y) {
    matvecs_t<T> all = {};
    matvec_t<T> &v = all.each;
    v.m = args->m, v.n = args->n, v.a = a;
    v.incx = args->incx, v.incy = args->incy;
    v.alpha = args->alpha, v.beta = args->beta;

    const ji_head_t &head = args->head;
    all.a = many_of<T>(head, args->a, args->batch.stride_a);
    all.x = many_vectors<const T>(head, args->x, elements_x, args->incx, args->batch.stride_x);
    all.y = many_vectors<T>(head, args->y, elements_y, args->incy, args->batch.stride_y);
    all.count = many_count(head, args->batch);
    return all;
}

/* So many blocks for each item. */
static inline dim3 level2_grid(unsigned blocks, int64_t count) {
    return dim3(blocks, many_blocks(count));
}

/* y = alpha sum + beta y, where a zero beta does not read y and a zero alpha did not add
 * anything. */
template <typename T> static __device__ inline void update_element(T *y, T alpha, T sum, T beta) {
    T value = is_zero(alpha) ? make<T>(0) : alpha * sum;
    if (!is_zero(beta))
        value = value + beta * *y;
    *y = value;
}

static __device__ inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static __device__ inline int64_t not_negative(int64_t a) { return a < 0 ? 0 : a; }

/* ---- gemv, gbmv ---- */

template <typename T>
static __device__ inline void gemv_rows(const matvec_t<T> &v, bool conjugated) {
    __shared__ T sums[GROUP_THREADS];
    const T alpha = gpu_scalar<T>(v.alpha), beta = gpu_scalar<T>(v.beta);
    const int row = (int)threadIdx.x % GROUP_ACROSS, group = (int)threadIdx.x / GROUP_ACROSS;
    const int64_t columns = is_zero(alpha) ? 0 : v.n;

    for (int64_t first = blockIdx.x * (int64_t)GROUP_ACROSS; first < v.m;
         first += gridDim.x * (int64_t)GROUP_ACROSS) {
        const int64_t i = first + row, left = not_negative(first - v.a.below),
                      right = least(first + GROUP_ACROSS + v.a.above, columns);
        T sum = make<T>(0);
        if (i < v.m) {
            for (int64_t j = left + group; j < right; j += GROUP_DOWN)
                if (v.a.has(i, j))
                    sum =
                        multiply_add(conjugate_if(conjugated, *v.a.at(i, j)), v.x[j * v.incx], sum);
        }

        group_join<group_sum_t, GROUP_THREADS, GROUP_ACROSS>(sums, sum);
        if (group == 0 && i < v.m)
            update_element(v.y + i * v.incy, alpha, sums[row], beta);
    }
}

template <typename T> static __global__ void gemv_rows_kernel(matvecs_t<T> all, bool conjugated) {
    for (int64_t item = blockIdx.y; item < all.count; item += gridDim.y)
        gemv_rows(all.of(item), conjugated);
}

template <typename T, int COLUMNS>
static __device__ inline void gemv_columns(const matvec_t<T> &v, bool conjugated) {
    __shared__ T sums[GROUP_THREADS];
    const int lanes = GROUP_THREADS / COLUMNS;
    const T alpha = gpu_scalar<T>(v.alpha), beta = gpu_scalar<T>(v.beta);
    const int t = (int)threadIdx.x, lane = t % lanes;
    const int64_t rows = is_zero(alpha) ? 0 : v.m;

    for (int64_t first = blockIdx.x * (int64_t)COLUMNS; first < v.n;
         first += gridDim.x * (int64_t)COLUMNS) {
        const int64_t j = first + t / lanes;
        T sum = make<T>(0);
        if (j < v.n && rows > 0) { /* else A may be missing */
            const T *column = v.a.at(0, j);
            const int64_t end = least(j + v.a.below + 1, rows);
            for (int64_t i = not_negative(j - v.a.above) + lane; i < end; i += lanes)
                sum = multiply_add(conjugate_if(conjugated, column[i * v.a.row]), v.x[i * v.incx],
                                   sum);
        }

        group_join<group_sum_t, lanes>(sums, sum);
        if (lane == 0 && j < v.n)
            update_element(v.y + j * v.incy, alpha, sums[t], beta);
    }
}

template <typename T, int COLUMNS>
static __global__ void gemv_columns_kernel(matvecs_t<T> all, bool conjugated) {
    for (int64_t item = blockIdx.y; item < all.count; item += gridDim.y)
        gemv_columns<T, COLUMNS>(all.of(item), conjugated);
}

template <typename T>
jstatus_t gpu_gemv_stored(const gpu_call_t *call, const matvecs_t<T> &all,
                          jblas_operation_t operation) {
    const matvec_t<T> &v = all.each;
    const bool conjugated = ji_is_conjugated(operation);
    const int64_t diagonals = v.a.below + v.a.above + 1;

    if (!ji_is_transposed(operation))
        GPU_LAUNCH((gemv_rows_kernel<T>),
                   level2_grid(gpu_blocks(v.m, GROUP_ACROSS, GPU_GRID_MOST), all.count),
                   GROUP_THREADS, call->stream, all, conjugated);
    else if (v.m >= LEVEL2_LONG_COLUMN && diagonals >= LEVEL2_LONG_COLUMN)
        GPU_LAUNCH((gemv_columns_kernel<T, 1>),
                   level2_grid(gpu_blocks(v.n, 1, GPU_GRID_MOST), all.count), GROUP_THREADS,
                   call->stream, all, conjugated);
    else
        GPU_LAUNCH((gemv_columns_kernel<T, 8>),
                   level2_grid(gpu_blocks(v.n, 8, GPU_GRID_MOST), all.count), GROUP_THREADS,
                   call->stream, all, conjugated);

    return gpu_check_launch(call->device, "gemv");
}

template <typename T>
static jstatus_t gemv_launch(const gpu_call_t *call, const ji_matvec_t *args,
                             const stored_t<T> &a) {
    const bool plain = !ji_is_transposed(args->trans);
    const matvecs_t<T> v =
        matvec_of<T>(args, a, plain ? args->n : args->m, plain ? args->m : args->n);
    return gpu_gemv_stored(call, v, args->trans);
}

#define GEMV_INSTANTIATE(T)                                                                        \
    template jstatus_t gpu_gemv_stored(const gpu_call_t *, const matvecs_t<T> &, jblas_operation_t);
GEMV_INSTANTIATE(float)
GEMV_INSTANTIATE(double)
GEMV_INSTANTIATE(complex<float>)
GEMV_INSTANTIATE(complex<double>)

/* ---- symv, hemv, and of bands and packed triangles ---- */

template <typename T> static __device__ inline T mirrored(ji_symmetry_t symmetry, T value) {
    return symmetry == JI_SKEW_SYMMETRIC ? -value : conjugate_if(symmetry == JI_HERMITIAN, value);
}

/* The tile of the whole matrix whose first element is (i0, j0), as tile[column][row]; elements
 * outside are not set. Off the diagonal one of (i0, j0) and (j0, i0) is stored; the other one is
 * turned over, and its conjugate or its negative. */
template <typename T>
static __device__ inline void symmetric_tile(T (*tile)[GROUP_ACROSS + 1], const matvec_t<T> &v,
                                             bool lower, ji_symmetry_t symmetry, int64_t i0,
                                             int64_t j0, int row, int group) {
    const bool diagonal = i0 == j0, stored = diagonal || (i0 > j0) == lower;
    const int64_t top = stored ? i0 : j0, left = stored ? j0 : i0;

    for (int column = group; column < GROUP_ACROSS; column += GROUP_DOWN) {
        if (top + row >= v.n || left + column >= v.n || !v.a.has(top + row, left + column) ||
            (diagonal && row != column && (row > column) != lower))
            continue;

        if (diagonal && row == column && symmetry == JI_SKEW_SYMMETRIC) { /* it is not read */
            tile[column][row] = make<T>(0);
            continue;
        }

        const T value = *v.a.at(top + row, left + column);
        if (diagonal && row == column) {
            tile[column][row] = symmetry == JI_HERMITIAN ? make<T>(real_part(value)) : value;
            continue;
        }

        if (stored)
            tile[column][row] = value;
        if (!stored || diagonal)
            tile[row][column] = mirrored(symmetry, value);
    }
}

template <typename T>
static __device__ inline void symv(const matvec_t<T> &v, bool lower, ji_symmetry_t symmetry) {
    __shared__ T sums[GROUP_THREADS];
    /* A column more, so that turning over has no bank conflicts. */
    __shared__ T tile[GROUP_ACROSS][GROUP_ACROSS + 1];
    const T alpha = gpu_scalar<T>(v.alpha), beta = gpu_scalar<T>(v.beta);
    const int row = (int)threadIdx.x % GROUP_ACROSS, group = (int)threadIdx.x / GROUP_ACROSS;
    const int64_t columns = is_zero(alpha) ? 0 : v.n;
    const int64_t beside = lower ? v.a.below : v.a.above; /* diagonals on either side */

    for (int64_t i0 = blockIdx.x * (int64_t)GROUP_ACROSS; i0 < v.n;
         i0 += gridDim.x * (int64_t)GROUP_ACROSS) {
        const int64_t i = i0 + row, right = least(i0 + GROUP_ACROSS + beside, columns);
        T sum = make<T>(0);
        for (int64_t j0 = not_negative(i0 - beside) / GROUP_ACROSS * GROUP_ACROSS; j0 < right;
             j0 += GROUP_ACROSS) {
            symmetric_tile(tile, v, lower, symmetry, i0, j0, row, group);
            __syncthreads();
            for (int column = group; column < GROUP_ACROSS; column += GROUP_DOWN)
                if (i < v.n && j0 + column < v.n && i - (j0 + column) <= beside &&
                    j0 + column - i <= beside)
                    sum = multiply_add(tile[column][row], v.x[(j0 + column) * v.incx], sum);
            __syncthreads(); /* before the next tile */
        }

        group_join<group_sum_t, GROUP_THREADS, GROUP_ACROSS>(sums, sum);
        if (group == 0 && i < v.n)
            update_element(v.y + i * v.incy, alpha, sums[row], beta);
    }
}

template <typename T>
static __global__ void symv_kernel(matvecs_t<T> all, bool lower, ji_symmetry_t symmetry) {
    for (int64_t item = blockIdx.y; item < all.count; item += gridDim.y)
        symv(all.of(item), lower, symmetry);
}

template <typename T>
static jstatus_t symv_launch(const gpu_call_t *call, const ji_matvec_t *args, const stored_t<T> &a,
                             ji_symmetry_t symmetry) {
    const matvecs_t<T> v = matvec_of<T>(args, a, args->n, args->n);
    GPU_LAUNCH((symv_kernel<T>),
               level2_grid(gpu_blocks(args->n, GROUP_ACROSS, GPU_GRID_MOST), v.count),
               GROUP_THREADS, call->stream, v, args->uplo == JBLAS_LOWER, symmetry);
    return gpu_check_launch(call->device, "symv");
}

/* ---- ger, syr, her, syr2, her2, and those of packed triangles ---- */

/* Tiles of an m x n matrix, one after the other in a column of tiles. */
static inline int64_t tiles_of(int64_t n) { return (n + GROUP_ACROSS - 1) / GROUP_ACROSS; }

template <typename T>
static __device__ inline void ger(const matvec_t<T> &v, int64_t tiles_m, int64_t tiles,
                                  bool conjugated) {
    const T alpha = gpu_scalar<T>(v.alpha);
    if (is_zero(alpha))
        return;

    const int row = (int)threadIdx.x % GROUP_ACROSS, group = (int)threadIdx.x / GROUP_ACROSS;

    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int64_t i = tile % tiles_m * GROUP_ACROSS + row, j0 = tile / tiles_m * GROUP_ACROSS;
        if (i >= v.m)
            continue;

        const T x = v.x[i * v.incx];
        GPU_UNROLL
        for (int column = 0; column < GROUP_ACROSS; column += GROUP_DOWN) {
            const int64_t j = j0 + column + group;
            if (j < v.n) {
                T *element = v.a.at(i, j);
                *element =
                    multiply_add(x, alpha * conjugate_if(conjugated, v.y[j * v.incy]), *element);
            }
        }
    }
}

template <typename T>
static __global__ void ger_kernel(matvecs_t<T> all, int64_t tiles_m, int64_t tiles,
                                  bool conjugated) {
    for (int64_t item = blockIdx.y; item < all.count; item += gridDim.y)
        ger(all.of(item), tiles_m, tiles, conjugated);
}

template <typename T>
static jstatus_t ger_launch(const gpu_call_t *call, const ji_matvec_t *args, bool conjugated) {
    const matvecs_t<T> v = matvec_of<T>(args, stored_whole<T>(args), args->m, args->n);
    const int64_t tiles_m = tiles_of(args->m), tiles = tiles_m * tiles_of(args->n);
    GPU_LAUNCH((ger_kernel<T>), level2_grid(gpu_blocks(tiles, 1, GPU_GRID_MOST), v.count),
               GROUP_THREADS, call->stream, v, tiles_m, tiles, conjugated);
    return gpu_check_launch(call->device, "ger");
}

/* A = alpha x x^H + A with a real alpha, or alpha x y^H + conj(alpha) y x^H + A. The diagonal
 * becomes real, whatever it was. A symmetric A has no conjugates, and its alpha is A's; of a skew
 * one the first term has -alpha, and there is no diagonal. */
template <typename T, typename ALPHA, bool TWO>
static __device__ inline void syr(const matvec_t<T> &v, int64_t tiles_n, int64_t tiles, bool lower,
                                  ji_symmetry_t symmetry) {
    const ALPHA alpha = gpu_scalar<ALPHA>(v.alpha);
    if (is_zero(alpha))
        return;

    const bool hermitian = symmetry == JI_HERMITIAN, skew = symmetry == JI_SKEW_SYMMETRIC;
    const int row = (int)threadIdx.x % GROUP_ACROSS, group = (int)threadIdx.x / GROUP_ACROSS;

    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int64_t i = tile % tiles_n * GROUP_ACROSS + row, j0 = tile / tiles_n * GROUP_ACROSS;
        if (i >= v.n || (lower ? i < j0 : i >= j0 + GROUP_ACROSS))
            continue;

        const T x = v.x[i * v.incx];
        for (int column = group; column < GROUP_ACROSS; column += GROUP_DOWN) {
            const int64_t j = j0 + column;
            if (j >= v.n || (i == j ? skew : (i > j) != lower))
                continue;

            T *element = v.a.at(i, j);
            T sum = multiply_add(
                x,
                (skew ? -alpha : alpha) *
                    conjugate_if(hermitian, (TWO ? v.y : v.x)[j * (TWO ? v.incy : v.incx)]),
                *element);
            if (TWO)
                sum = multiply_add(v.y[i * v.incy],
                                   conjugate_if(hermitian, alpha * v.x[j * v.incx]), sum);
            *element = i == j && hermitian ? make<T>(real_part(sum)) : sum;
        }
    }
}

template <typename T, typename ALPHA, bool TWO>
static __global__ void syr_kernel(matvecs_t<T> all, int64_t tiles_n, int64_t tiles, bool lower,
                                  ji_symmetry_t symmetry) {
    for (int64_t item = blockIdx.y; item < all.count; item += gridDim.y)
        syr<T, ALPHA, TWO>(all.of(item), tiles_n, tiles, lower, symmetry);
}

template <typename T, typename ALPHA, bool TWO>
static jstatus_t syr_launch(const gpu_call_t *call, const ji_matvec_t *args, const stored_t<T> &a,
                            ji_symmetry_t symmetry) {
    const matvecs_t<T> v = matvec_of<T>(args, a, args->n, TWO ? args->n : 0);
    const int64_t tiles_n = tiles_of(args->n), tiles = tiles_n * tiles_n;
    GPU_LAUNCH((syr_kernel<T, ALPHA, TWO>),
               level2_grid(gpu_blocks(tiles, 1, GPU_GRID_MOST), v.count), GROUP_THREADS,
               call->stream, v, tiles_n, tiles, args->uplo == JBLAS_LOWER, symmetry);
    return gpu_check_launch(call->device, "syr");
}

/* ---- Primitives ---- */

#define LEVEL2_DEFINE(name, ...)                                                                   \
    jstatus_t gpu_##name(const gpu_call_t *call, const void *block) {                              \
        const ji_matvec_t *args = (const ji_matvec_t *)block;                                      \
        GPU_BY_TYPE(args->head.type, return __VA_ARGS__);                                          \
        return JSTATUS_INTERNAL_ERROR;                                                             \
    }
LEVEL2_DEFINE(gemv, gemv_launch<T>(call, args, stored_whole<T>(args)))
LEVEL2_DEFINE(gbmv, gemv_launch<T>(call, args, stored_band<T>(args, args->kl, args->ku)))
LEVEL2_DEFINE(symv, symv_launch<T>(call, args, stored_whole<T>(args), JI_HERMITIAN))
LEVEL2_DEFINE(symv_complex, symv_launch<T>(call, args, stored_whole<T>(args), JI_SYMMETRIC))
LEVEL2_DEFINE(skewsymv, symv_launch<T>(call, args, stored_whole<T>(args), JI_SKEW_SYMMETRIC))
LEVEL2_DEFINE(sbmv, symv_launch<T>(call, args, stored_triangle_band<T>(args), JI_HERMITIAN))
LEVEL2_DEFINE(spmv, symv_launch<T>(call, args, stored_packed<T>(args), JI_HERMITIAN))
LEVEL2_DEFINE(ger, ger_launch<T>(call, args, false))
LEVEL2_DEFINE(gerc, ger_launch<T>(call, args, true))
#define LEVEL2_SYR(name, ALPHA, two, stored, symmetry)                                             \
    LEVEL2_DEFINE(name, syr_launch<T, ALPHA, two>(call, args, stored<T>(args), symmetry))
LEVEL2_SYR(syr, real_of<T>, false, stored_whole, JI_HERMITIAN)
LEVEL2_SYR(syr_complex, T, false, stored_whole, JI_SYMMETRIC)
LEVEL2_SYR(syr2, T, true, stored_whole, JI_HERMITIAN)
LEVEL2_SYR(syr2_complex, T, true, stored_whole, JI_SYMMETRIC)
LEVEL2_SYR(skewsyr2, T, true, stored_whole, JI_SKEW_SYMMETRIC)
LEVEL2_SYR(spr, real_of<T>, false, stored_packed, JI_HERMITIAN)
LEVEL2_SYR(spr2, T, true, stored_packed, JI_HERMITIAN)
