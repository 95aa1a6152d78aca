/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trmv and trsv, in place and without workspace.
 *
 * Turned round where needed, op(A) is always a lower triangle L and the vector is walked from its
 * beginning: an upper one is read from the last element backwards, by negative strides. It is cut
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
 * who need its old value before it gets its new one. */

#include "gpu/blas/blas.h"
#include "gpu/blas/vector.h"

#define TRMV_BLOCK 256 /* also the threads: one for each row */
#define TRMV_TILE 32

/* A lower triangle of order n <= TRMV_BLOCK: element (i, j) is at a[i * row + j * column]. */
template <typename T> struct triangle_t {
    const T *a;
    int64_t row, column;
    T *x;
    int64_t incx;
    int n;
    bool conjugated, unit;
    __device__ T at(int i, int j) const {
        return conjugate_if(conjugated, a[i * row + j * column]);
    }
};

template <typename T> static __global__ void trmv_kernel(triangle_t<T> l) {
    __shared__ T x[TRMV_BLOCK];
    const int i = (int)threadIdx.x;

    if (i < l.n)
        x[i] = l.x[i * l.incx];
    __syncthreads();

    if (i >= l.n)
        return;

    T sum = l.unit ? x[i] : l.at(i, i) * x[i];
    for (int j = 0; j < i; ++j)
        sum = multiply_add(l.at(i, j), x[j], sum);
    l.x[i * l.incx] = sum;
}

/* By columns within a tile of the diagonal, whose elements come to shared memory first; then by
 * rows below it. x[i] is the right side until it is divided by its diagonal element, which happens
 * after the last use as a right side: in each step all threads divide for themselves, and only what
 * is behind changes. So one barrier a step is enough. */
template <typename T> static __global__ void trsv_kernel(triangle_t<T> l) {
    __shared__ T x[TRMV_BLOCK], tile[TRMV_TILE][TRMV_TILE + 1]; /* tile[column][row] */
    const int t = (int)threadIdx.x;

    if (t < l.n)
        x[t] = l.x[t * l.incx];

    for (int first = 0; first < l.n; first += TRMV_TILE) {
        const int width = l.n - first < TRMV_TILE ? l.n - first : TRMV_TILE;

        for (int k = t; k < TRMV_TILE * TRMV_TILE; k += TRMV_BLOCK) {
            const int i = k % TRMV_TILE, j = k / TRMV_TILE;
            if (i < width && (l.unit ? j < i : j <= i))
                tile[j][i] = l.at(first + i, first + j);
        }
        __syncthreads();

        for (int j = 0; j < width - 1; ++j) {
            if (t > j && t < width) {
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
            for (int j = 0; j < width; ++j)
                sum = multiply_add(l.at(i, first + j), x[first + j], sum);
            x[i] = x[i] - sum;
        }
        __syncthreads();
    }

    if (t < l.n)
        l.x[t * l.incx] = x[t];
}

/* The whole triangle, turned round. */
template <typename T> struct triangular_t {
    const gpu_call_t *call;
    const T *a;
    int64_t row, column;
    T *x;
    int64_t incx, n;
    jblas_operation_t trans;
    bool unit;
};

template <typename T>
static triangular_t<T> triangular_of(const gpu_call_t *call, const ji_matvec_t *args) {
    const bool plain = args->trans == JBLAS_NO_TRANSPOSE;
    triangular_t<T> l = {};
    l.call = call, l.n = args->n, l.trans = args->trans, l.unit = args->diag == JBLAS_UNIT;

    l.a = (const T *)args->a;
    l.row = plain ? 1 : args->lda, l.column = plain ? args->lda : 1;
    l.x = vector_start<T>(args->x, args->n, args->incx), l.incx = args->incx;

    if ((args->uplo == JBLAS_LOWER) != plain) { /* op(A) is upper */
        l.a += (l.n - 1) * (l.row + l.column), l.row = -l.row, l.column = -l.column;
        l.x += (l.n - 1) * l.incx, l.incx = -l.incx;
    }

    return l;
}

/* The lowest address of n elements, as BLAS wants a vector, of which `first` is element 0. */
template <typename T> static T *lowest(T *first, int64_t n, int64_t inc) {
    return inc < 0 ? first + (n - 1) * inc : first;
}

/* x[to ...] += sign L(to ..., from ...) x[from ...]: `rows` elements from `columns` elements. */
template <typename T>
static jstatus_t triangular_update(const triangular_t<T> &l, int64_t to, int64_t rows, int64_t from,
                                   int64_t columns, double sign, jdatatype_t type) {
    if (rows <= 0 || columns <= 0)
        return JSTATUS_SUCCESS;

    const bool plain = l.trans == JBLAS_NO_TRANSPOSE;
    const T *a = l.a + to * l.row + from * l.column;
    T *x = l.x + from * l.incx, *y = l.x + to * l.incx;

    int64_t row = l.row, column = l.column, incx = l.incx;
    if (row < 0) { /* turned back: gemv knows matrices from their first element */
        a += (rows - 1) * row + (columns - 1) * column, row = -row, column = -column;
        x += (columns - 1) * incx, y += (rows - 1) * incx, incx = -incx;
    }

    ji_matvec_t gemv = {};
    gemv.head.type = type;
    gemv.trans = l.trans;
    gemv.m = plain ? rows : columns, gemv.n = plain ? columns : rows;
    gemv.a = a, gemv.lda = plain ? column : row;
    gemv.alpha = ji_constant(type, sign), gemv.beta = ji_constant(type, 1);
    gemv.x = lowest(x, columns, incx), gemv.incx = incx;
    gemv.y = lowest(y, rows, incx), gemv.incy = incx;

    return gpu_gemv(l.call, &gemv);
}

/* The diagonal block that begins at `first`. */
template <typename T>
static jstatus_t triangular_block(const triangular_t<T> &l, int64_t first, int64_t n, bool solve) {
    triangle_t<T> block;
    block.a = l.a + first * (l.row + l.column), block.row = l.row, block.column = l.column;
    block.x = l.x + first * l.incx, block.incx = l.incx;
    block.n = (int)n, block.conjugated = l.trans == JBLAS_CONJUGATE_TRANSPOSE, block.unit = l.unit;

    if (solve)
        GPU_LAUNCH((trsv_kernel<T>), 1, TRMV_BLOCK, l.call->stream, block);
    else
        GPU_LAUNCH((trmv_kernel<T>), 1, TRMV_BLOCK, l.call->stream, block);
    return gpu_check_launch(l.call->device, solve ? "trsv" : "trmv");
}

/* Block `first` by the pattern above. Either way it is the block first and then what depends on it,
 * or the other way round. */
template <typename T>
static jstatus_t triangular_step(const triangular_t<T> &l, int64_t first, bool solve,
                                 jdatatype_t type) {
    const int64_t rest = l.n - first, width = rest < TRMV_BLOCK ? rest : TRMV_BLOCK;
    const bool plain = l.trans == JBLAS_NO_TRANSPOSE;
    const double sign = solve ? -1 : 1;

    jstatus_t status = JSTATUS_SUCCESS;
    for (int part = 0; part < 2 && status == JSTATUS_SUCCESS; ++part) {
        if (part == (plain == solve ? 0 : 1))
            status = triangular_block(l, first, width, solve);
        else if (plain)
            status = triangular_update(l, first + width, rest - width, first, width, sign, type);
        else
            status = triangular_update(l, first, width, 0, first, sign, type);
    }
    return status;
}

template <typename T>
static jstatus_t triangular_run(const gpu_call_t *call, const ji_matvec_t *args, bool solve) {
    const triangular_t<T> l = triangular_of<T>(call, args);
    const int64_t blocks = (l.n + TRMV_BLOCK - 1) / TRMV_BLOCK;

    jstatus_t status = JSTATUS_SUCCESS;
    for (int64_t i = 0; i < blocks && status == JSTATUS_SUCCESS; ++i)
        status =
            triangular_step(l, (solve ? i : blocks - 1 - i) * TRMV_BLOCK, solve, args->head.type);
    return status;
}

jstatus_t gpu_trmv(const gpu_call_t *call, const void *block) {
    const ji_matvec_t *args = (const ji_matvec_t *)block;
    GPU_BY_TYPE(args->head.type, return triangular_run<T>(call, args, false));
    return JSTATUS_INTERNAL_ERROR;
}

jstatus_t gpu_trsv(const gpu_call_t *call, const void *block) {
    const ji_matvec_t *args = (const ji_matvec_t *)block;
    GPU_BY_TYPE(args->head.type, return triangular_run<T>(call, args, true));
    return JSTATUS_INTERNAL_ERROR;
}
