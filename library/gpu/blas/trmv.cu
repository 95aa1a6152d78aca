/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trmv and trsv, of bands and packed triangles, too, in place and without workspace.
 *
 * Turned round where needed, op(A) is always a lower triangle L and the vector is walked from its
 * beginning: an upper one is read from the last element backwards (stored.h). It is cut
 * into diagonal blocks of TRMV_BLOCK. What is on the diagonal one thread block does, with x in
 * shared memory; what is below is a gemv over many thread blocks. The kernels of a stream run one
 * after the other, which is all the order that is needed:
 *
 *     A = N, columns of L lie together             A = T, rows of L lie together
 *
 *     | D           solve D x0 = x0                | D           x1 -= C x0, one gemv T each
 *     | C D         below -= C x0, all of it       | C D         solve D x1 = x1
 *     | C C D       by one gemv N                  | C C D
 *
 * trmv goes the other way, from the last block to the first, so that a block of x is read by all
 * who need its old value before it gets its new one. Each launch is for all items of a batch. Of a
 * band only the next rows of C are there,
 * or the last columns. */

#include "gpu/blas/blas.h"
#include "gpu/blas/stored.h"

#define TRMV_BLOCK 256 /* also the threads: one for each row */
#define TRMV_TILE 32

/* A lower triangle of order n <= TRMV_BLOCK, which is op(A) of what is stored. */
template <typename T> struct triangle_t {
    stored_t<T> a;
    T *x;
    int64_t incx, beside; /* diagonals below the main one */
    int n;
    bool transposed, conjugated, unit;
    __device__ T at(int i, int j) const {
        return conjugate_if(conjugated, transposed ? *a.at(j, i) : *a.at(i, j));
    }
    /* The first of the row that has a place. */
    __device__ int first(int i) const { return i > beside ? i - (int)beside : 0; }
};

/* Those of all items of a batch. */
template <typename T> struct triangles_t {
    triangle_t<T> each; /* but for the pointers */
    many_t<T> a, x;
    int64_t count;

    __device__ triangle_t<T> of(int64_t item) const {
        triangle_t<T> l = each;
        l.a.a = a.of(item), l.x = x.of(item);
        return l;
    }
};

template <typename T>
static __device__ inline void trmv(const triangle_t<T> &l, T (&x)[TRMV_BLOCK]) {
    const int i = (int)threadIdx.x;

    if (i < l.n)
        x[i] = l.x[i * l.incx];
    __syncthreads();

    if (i >= l.n)
        return;

    T sum = l.unit ? x[i] : l.at(i, i) * x[i];
    for (int j = l.first(i); j < i; ++j)
        sum = multiply_add(l.at(i, j), x[j], sum);
    l.x[i * l.incx] = sum;
}

template <typename T> static __global__ void trmv_kernel(triangles_t<T> all) {
    __shared__ T x[TRMV_BLOCK];
    for (int64_t item = blockIdx.x; item < all.count; item += gridDim.x) {
        trmv(all.of(item), x);
        __syncthreads(); /* before the next one's x */
    }
}

/* By columns within a tile of the diagonal, whose elements come to shared memory first; then by
 * rows below it. x[i] is the right side until it is divided by its diagonal element, which happens
 * after the last use as a right side: in each step all threads divide for themselves, and only what
 * is behind changes. So one barrier a step is enough. */
template <typename T>
static __device__ inline void trsv(const triangle_t<T> &l, T (&x)[TRMV_BLOCK],
                                   T (&tile)[TRMV_TILE][TRMV_TILE + 1]) { /* [column][row] */
    const int t = (int)threadIdx.x;

    if (t < l.n)
        x[t] = l.x[t * l.incx];

    for (int first = 0; first < l.n; first += TRMV_TILE) {
        const int width = l.n - first < TRMV_TILE ? l.n - first : TRMV_TILE;

        for (int k = t; k < TRMV_TILE * TRMV_TILE; k += TRMV_BLOCK) {
            const int i = k % TRMV_TILE, j = k / TRMV_TILE;
            if (i < width && j >= l.first(i) && (l.unit ? j < i : j <= i))
                tile[j][i] = l.at(first + i, first + j);
        }
        __syncthreads();

        for (int j = 0; j < width - 1; ++j) {
            if (t > j && t < width && j >= l.first(t)) {
                const T solved = l.unit ? x[first + j] : divide(x[first + j], tile[j][j]);
                x[first + t] = x[first + t] - tile[j][t] * solved;
            }
            __syncthreads();
        }

        if (t < width && !l.unit)
            x[first + t] = divide(x[first + t], tile[t][t]);
        __syncthreads();

        for (int i = first + width + t; i < l.n; i += TRMV_BLOCK) {
            T sum = make<T>(0);
            for (int j = first > l.first(i) ? first : l.first(i); j < first + width; ++j)
                sum = multiply_add(l.at(i, j), x[j], sum);
            x[i] = x[i] - sum;
        }
        __syncthreads();
    }

    if (t < l.n)
        l.x[t * l.incx] = x[t];
}

template <typename T> static __global__ void trsv_kernel(triangles_t<T> all) {
    __shared__ T x[TRMV_BLOCK], tile[TRMV_TILE][TRMV_TILE + 1];
    for (int64_t item = blockIdx.x; item < all.count; item += gridDim.x)
        trsv(all.of(item), x, tile); /* at the end a thread reads its own element of x alone */
}

/* The whole triangle, turned round. */
template <typename T> struct triangular_t {
    const gpu_call_t *call;
    stored_t<T> a;
    many_t<T> all_a, x;
    int64_t count; /* of items */
    int64_t incx, n;
    int64_t beside; /* diagonals of L below the main one */
    jblas_operation_t trans;
    bool unit;
};

template <typename T>
static triangular_t<T> triangular_of(const gpu_call_t *call, const ji_matvec_t *args,
                                     const stored_t<T> &a) {
    const bool lower = args->uplo == JBLAS_LOWER, plain = !ji_is_transposed(args->trans);
    triangular_t<T> l = {};
    l.call = call, l.n = args->n, l.trans = args->trans, l.unit = args->diag == JBLAS_UNIT;

    l.a = a, l.beside = lower ? a.below : a.above;
    l.all_a = many_of<T>(args->head, args->a, args->batch.stride_a);
    l.x = many_vectors<T>(args->head, args->x, args->n, args->incx, args->batch.stride_x);
    l.incx = args->incx, l.count = many_count(args->head, args->batch);

    if (lower != plain) { /* op(A) is upper */
        l.a = a.backwards(l.n);
        l.x = l.x.from((l.n - 1) * l.incx), l.incx = -l.incx;
    }

    return l;
}

/* x[to ...] += sign L(to ..., from ...) x[from ...]: `rows` elements from `columns` elements. */
template <typename T>
static jstatus_t triangular_update(const triangular_t<T> &l, int64_t to, int64_t rows, int64_t from,
                                   int64_t columns, double sign, jdatatype_t type) {
    if (rows <= 0 || columns <= 0)
        return JSTATUS_SUCCESS;

    const bool plain = !ji_is_transposed(l.trans);
    matvecs_t<T> all = {};
    matvec_t<T> &v = all.each;
    v.m = plain ? rows : columns, v.n = plain ? columns : rows;
    v.a = plain ? l.a.from(to, from) : l.a.from(from, to);
    v.alpha = ji_constant(type, sign), v.beta = ji_constant(type, 1);
    v.incx = v.incy = l.incx;
    all.a = l.all_a, all.count = l.count;
    all.y = l.x.from(to * l.incx);
    const many_t<T> x = l.x.from(from * l.incx);
    all.x = many_t<const T>{x.first, x.array, x.stride, x.offset};
    return gpu_gemv_stored(l.call, all, l.trans);
}

/* The diagonal block that begins at `first`. */
template <typename T>
static jstatus_t triangular_block(const triangular_t<T> &l, int64_t first, int64_t n, bool solve) {
    triangles_t<T> all = {};
    triangle_t<T> &block = all.each;
    all.a = l.all_a, all.x = l.x.from(first * l.incx), all.count = l.count;
    block.a = l.a.from(first, first), block.incx = l.incx;
    block.beside = l.beside, block.n = (int)n, block.unit = l.unit;
    block.transposed = ji_is_transposed(l.trans), block.conjugated = ji_is_conjugated(l.trans);

    if (solve)
        GPU_LAUNCH((trsv_kernel<T>), gpu_blocks(l.count, 1, GPU_GRID_MOST), TRMV_BLOCK,
                   l.call->stream, all);
    else
        GPU_LAUNCH((trmv_kernel<T>), gpu_blocks(l.count, 1, GPU_GRID_MOST), TRMV_BLOCK,
                   l.call->stream, all);
    return gpu_check_launch(l.call->device, solve ? "trsv" : "trmv");
}

/* Block `first` by the pattern above. Either way it is the block first and then what depends on it,
 * or the other way round. */
template <typename T>
static jstatus_t triangular_step(const triangular_t<T> &l, int64_t first, bool solve,
                                 jdatatype_t type) {
    const int64_t rest = l.n - first, width = rest < TRMV_BLOCK ? rest : TRMV_BLOCK;
    const int64_t below = rest - width < l.beside ? rest - width : l.beside,
                  before = first < l.beside ? first : l.beside;
    const bool plain = !ji_is_transposed(l.trans);
    const double sign = solve ? -1 : 1;

    jstatus_t status = JSTATUS_SUCCESS;
    for (int part = 0; part < 2 && status == JSTATUS_SUCCESS; ++part) {
        if (part == (plain == solve ? 0 : 1))
            status = triangular_block(l, first, width, solve);
        else if (plain)
            status = triangular_update(l, first + width, below, first, width, sign, type);
        else
            status = triangular_update(l, first, width, first - before, before, sign, type);
    }
    return status;
}

template <typename T>
static jstatus_t triangular_run(const gpu_call_t *call, const ji_matvec_t *args,
                                const stored_t<T> &a, bool solve) {
    const triangular_t<T> l = triangular_of<T>(call, args, a);
    const int64_t blocks = (l.n + TRMV_BLOCK - 1) / TRMV_BLOCK;

    jstatus_t status = JSTATUS_SUCCESS;
    for (int64_t i = 0; i < blocks && status == JSTATUS_SUCCESS; ++i)
        status =
            triangular_step(l, (solve ? i : blocks - 1 - i) * TRMV_BLOCK, solve, args->head.type);
    return status;
}

#define TRIANGULAR_DEFINE(name, stored, solve)                                                     \
    jstatus_t gpu_##name(const gpu_call_t *call, const void *block) {                              \
        const ji_matvec_t *args = (const ji_matvec_t *)block;                                      \
        GPU_BY_TYPE(args->head.type, return triangular_run(call, args, stored<T>(args), solve));   \
        return JSTATUS_INTERNAL_ERROR;                                                             \
    }
TRIANGULAR_DEFINE(trmv, stored_whole, false)
TRIANGULAR_DEFINE(trsv, stored_whole, true)
TRIANGULAR_DEFINE(tbmv, stored_triangle_band, false)
TRIANGULAR_DEFINE(tbsv, stored_triangle_band, true)
TRIANGULAR_DEFINE(tpmv, stored_packed, false)
TRIANGULAR_DEFINE(tpsv, stored_packed, true)
