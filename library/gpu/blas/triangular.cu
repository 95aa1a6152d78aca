/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trmm and trsm (by substitution), in place, without workspace.
 *
 * All cases of side, uplo and trans are one case (blas/algorithms/triangle.h): a lower triangle M
 * and unknowns x(0), x(1), ... which are views with strides of either sign. Right-hand sides do not
 * know of each other, so a block of threads owns a strip of 32 of them and walks along the triangle
 * by block rows:
 *
 *          M                     strip
 *        +----+                +------+
 *        | D  |                |      |   trsm, downwards:
 *        +----+----+           |above |       x(q) = D^-1 (alpha b(q) - before x(above))
 *        |    | D  |           |      |   trmm, upwards:
 *        +----+----+----+      +------+       x(q) = alpha (D b(q) + before b(above))
 *    q   | before  | D  |      |  q   |
 *        +---------+----+      +------+
 *
 * `before` by `above` is a product of tiles (product.h); what is above is solved already (trsm) or
 * not yet overwritten (trmm).
 *
 * The diagonal block D and the block row of the strip stand in shared memory. Substitution inside D
 * is the work of one thread for each right-hand side, so that no barrier stands between its
 * unknowns.
 *
 * Nothing above the diagonal is multiplied: a NaN in a right-hand side reaches the unknowns that
 * depend on it, and no others. With alpha 0 (perhaps known to the kernel alone) B becomes 0 and A
 * is not read.
 *
 * The strips of all items of a batch are counted through. */

#include "gpu/blas/blas.h"
#include "gpu/blas/product.h"
#include "gpu/blas/vector.h"

#define TRIANGULAR_SIDE 32
#define TRIANGULAR_STEP 8

template <typename T> struct triangular_product {
    int64_t order, count; /* of right-hand sides */
    product_operand<T> m; /* line: q, depth: p */
    int64_t m_start;      /* of its first element from the data */
    bool unit;
    many_t<T> x; /* x(0) of the first right-hand side */
    int64_t x_q, x_rhs;
    int64_t batch_count;
    ji_scalar_t alpha;
};

/* The i-th element of a square in shared memory: neighbouring threads take neighbours along the
 * lines, or along the depth, whichever are neighbours in the matrix. Element (line, depth) stands
 * as in a slice. */
template <typename TILE> struct triangular_position {
    int line, depth, at;

    __device__ inline triangular_position(int i, bool along_lines)
        : line(along_lines ? i % TILE::SIDE : i / TILE::SIDE),
          depth(along_lines ? i / TILE::SIDE : i % TILE::SIDE), at(depth * TILE::ROW + line) {}
};

/* D, whose first element is at `data`: zeros and a diagonal of ones where it is not read or beyond
 * the triangle. */
template <typename T, typename TILE>
static __device__ inline void
triangular_read_diagonal(T *square, const T *data, const triangular_product<T> &call, int order) {
    const bool along = product_is_one(call.m.line);
    GPU_NO_UNROLL
    for (int i = (int)threadIdx.x; i < TILE::SIDE * TILE::SIDE; i += TILE::THREADS) {
        const triangular_position<TILE> position(i, along);
        const bool diagonal = position.line == position.depth;
        T value = make<T>(diagonal ? 1 : 0);
        if (position.line < order && (position.line > position.depth || (diagonal && !call.unit)))
            value = conjugate_if(call.m.conjugate,
                                 data[position.line * call.m.line + position.depth * call.m.depth]);
        square[position.at] = value;
    }
}

/* The block row of the strip at `data`, right-hand sides as lines. */
template <typename T, typename TILE>
static __device__ inline void triangular_read_strip(T *strip, const T *data,
                                                    const triangular_product<T> &call, int order,
                                                    int count) {
    const bool along = product_is_one(call.x_rhs);

    GPU_NO_UNROLL
    for (int i = (int)threadIdx.x; i < TILE::SIDE * TILE::SIDE; i += TILE::THREADS) {
        const triangular_position<TILE> position(i, along);
        const bool within = position.line < count && position.depth < order;
        strip[position.at] =
            within ? data[position.line * call.x_rhs + position.depth * call.x_q] : make<T>(0);
    }
}

template <typename T, typename TILE>
static __device__ inline void triangular_write_strip(const T *strip, T *data,
                                                     const triangular_product<T> &call, int order,
                                                     int count) {
    const bool along = product_is_one(call.x_rhs);

    GPU_NO_UNROLL
    for (int i = (int)threadIdx.x; i < TILE::SIDE * TILE::SIDE; i += TILE::THREADS) {
        const triangular_position<TILE> position(i, along);
        if (position.line < count && position.depth < order)
            data[position.line * call.x_rhs + position.depth * call.x_q] = strip[position.at];
    }
}

/* D X = strip, in place; one thread for each right-hand side, TRIANGULAR_STEP unknowns in registers
 * at a time. */
template <typename T, typename TILE>
static __device__ inline void triangular_substitute(const T *square, T *strip, bool unit) {
    const int rhs = (int)threadIdx.x;
    if (rhs >= TILE::SIDE)
        return;

    GPU_NO_UNROLL
    for (int q = 0; q < TILE::SIDE; q += TRIANGULAR_STEP) {
        T x[TRIANGULAR_STEP];

        GPU_UNROLL
        for (int i = 0; i < TRIANGULAR_STEP; ++i)
            x[i] = strip[(q + i) * TILE::ROW + rhs];

        GPU_NO_UNROLL
        for (int p = 0; p < q; ++p) {
            const T known = -strip[p * TILE::ROW + rhs];
            GPU_UNROLL
            for (int i = 0; i < TRIANGULAR_STEP; ++i)
                x[i] = multiply_add(square[p * TILE::ROW + q + i], known, x[i]);
        }

        GPU_UNROLL
        for (int p = 0; p < TRIANGULAR_STEP; ++p) {
            const T *column = square + (q + p) * TILE::ROW + q;
            if (!unit)
                x[p] = divide(x[p], column[p]);
            GPU_UNROLL
            for (int i = p + 1; i < TRIANGULAR_STEP; ++i)
                x[i] = multiply_add(column[i], -x[p], x[i]);
        }

        GPU_UNROLL
        for (int i = 0; i < TRIANGULAR_STEP; ++i)
            strip[(q + i) * TILE::ROW + rhs] = x[i];
    }
}

/* sum += D strip. */
template <typename T, typename TILE>
static __device__ inline void triangular_multiply(const T *square, const T *strip, bool unit,
                                                  int across, int down,
                                                  T (&sum)[TILE::EACH][TILE::EACH]) {
    GPU_NO_UNROLL
    for (int p = 0; p < TILE::SIDE; ++p) {
        GPU_UNROLL
        for (int j = 0; j < TILE::EACH; ++j) {
            const T x = strip[p * TILE::ROW + TILE::line(down, j)];
            GPU_UNROLL
            for (int i = 0; i < TILE::EACH; ++i) {
                const int q = TILE::line(across, i);
                if (p == q && unit)
                    sum[j][i] = sum[j][i] + x;
                else if (p <= q)
                    sum[j][i] = multiply_add(square[p * TILE::ROW + q], x, sum[j][i]);
            }
        }
    }
}

template <typename T, bool SOLVE>
static __global__ void __launch_bounds__((product_tile<T, TRIANGULAR_SIDE, 4>::THREADS))
    triangular_kernel(triangular_product<T> call) {
    typedef product_tile<T, TRIANGULAR_SIDE, 4> TILE;
    static_assert(TILE::SIDE * TILE::ROW <= TILE::SHARED && TILE::SIDE <= TILE::THREADS,
                  "D lies where slices were");
    alignas(16) __shared__ T shared[TILE::SHARED];
    alignas(16) __shared__ T strip[TILE::SIDE * TILE::ROW];

    const T alpha = gpu_scalar<T>(call.alpha);
    const bool clear = is_zero(alpha);
    const int across = (int)threadIdx.x % TILE::ACROSS, down = (int)threadIdx.x / TILE::ACROSS;
    const int64_t rows = (call.order + TILE::SIDE - 1) / TILE::SIDE,
                  strips = (call.count + TILE::SIDE - 1) / TILE::SIDE;

    for (int64_t item = blockIdx.x; item < strips * call.batch_count; item += gridDim.x) {
        const int64_t matrix = item / strips, first = item % strips * TILE::SIDE;
        const int count = call.count - first < TILE::SIDE ? (int)(call.count - first) : TILE::SIDE;
        product_operand<T> m = call.m, above = {};
        if (!clear) { /* else it may be missing */
            m = call.m.of(matrix);
            m.data += call.m_start;
        }
        above.data = call.x.of(matrix);
        above.line = call.x_rhs, above.depth = call.x_q;
        T *const x = call.x.of(matrix) + first * call.x_rhs;

        for (int64_t step = 0; step < rows; ++step) {
            const int64_t q = (SOLVE ? step : rows - 1 - step) * TILE::SIDE;
            const int order = call.order - q < TILE::SIDE ? (int)(call.order - q) : TILE::SIDE;

            if (clear) {
                triangular_read_strip<T, TILE>(strip, nullptr, call, 0, 0);
                __syncthreads();
            } else {
                T sum[TILE::EACH][TILE::EACH];
                product_clear<T, TILE::EACH>(sum);

                triangular_read_strip<T, TILE>(strip, x + q * call.x_q, call, order, count);
                product_loader<T, TILE, false> a(m, q, call.order), b(above, first, call.count);
                product_accumulate<T, TILE>(shared, a, b, q, sum);
                triangular_read_diagonal<T, TILE>(shared, m.data + q * (m.line + m.depth), call,
                                                  order);
                __syncthreads();

                if (!SOLVE) {
                    triangular_multiply<T, TILE>(shared, strip, call.unit, across, down, sum);
                    __syncthreads();
                }

                GPU_UNROLL
                for (int j = 0; j < TILE::EACH; ++j) {
                    GPU_UNROLL
                    for (int i = 0; i < TILE::EACH; ++i) {
                        T *to = strip + TILE::line(across, i) * TILE::ROW + TILE::line(down, j);
                        *to = SOLVE ? alpha * *to - sum[j][i] : alpha * sum[j][i];
                    }
                }
                __syncthreads();

                if (SOLVE) {
                    triangular_substitute<T, TILE>(shared, strip, call.unit);
                    __syncthreads();
                }
            }

            triangular_write_strip<T, TILE>(strip, x + q * call.x_q, call, order, count);
            /* The next row reads what was written here, and overwrites what was read. */
            __syncthreads();
        }
    }
}

template <typename T> static triangular_product<T> triangular_of(const ji_matmat_t *args) {
    triangular_product<T> product = {};
    const bool left = args->side == JBLAS_LEFT;

    /* M is op(A) (left) or its transpose; transposed against A's storage. Reversed: from the last
     * unknown on. */
    const bool transposed = ji_is_transposed(args->transa) == left;
    const bool reversed = (args->uplo == JBLAS_UPPER) != transposed;
    const int64_t sign = reversed ? -1 : 1;

    product.order = left ? args->m : args->n;
    product.count = left ? args->n : args->m;
    const int64_t start = reversed ? product.order - 1 : 0;

    product.m = product_items<T>(&args->head, (const T *)args->a, args->batch.stride_a);
    product.m_start = start * (args->lda + 1);
    product.m.line = sign * (transposed ? args->lda : 1);
    product.m.depth = sign * (transposed ? 1 : args->lda);
    product.m.conjugate = ji_is_conjugated(args->transa);

    product.unit = args->diag == JBLAS_UNIT;
    product.x =
        many_of<T>(args->head, args->b, args->batch.stride_b).from(start * (left ? 1 : args->ldb));
    product.batch_count = many_count(args->head, args->batch);
    product.x_q = sign * (left ? 1 : args->ldb);
    product.x_rhs = left ? args->ldb : 1;

    product.alpha = args->alpha;
    return product;
}

template <typename T, bool SOLVE>
static jstatus_t triangular_run(const gpu_call_t *call, const ji_matmat_t *args) {
    if (args->m <= 0 || args->n <= 0)
        return JSTATUS_SUCCESS;

    const triangular_product<T> product = triangular_of<T>(args);
    const int64_t strips = (product.count + TRIANGULAR_SIDE - 1) / TRIANGULAR_SIDE;
    GPU_LAUNCH((triangular_kernel<T, SOLVE>),
               gpu_blocks(strips * product.batch_count, 1, GPU_GRID_MOST),
               (product_tile<T, TRIANGULAR_SIDE, 4>::THREADS), call->stream, product);
    return gpu_check_launch(call->device, SOLVE ? "trsm" : "trmm");
}

jstatus_t gpu_trmm(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return triangular_run<T, false>(call, args));
}

jstatus_t gpu_trsm(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return triangular_run<T, true>(call, args));
}
