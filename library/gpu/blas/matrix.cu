/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices without products: geam, scale_matrix, triangle_clear, split and merge for gemm3m,
 * set_info. All are bound by memory.
 *
 * By tiles (matrix.h). A transposed operand of geam is read along its own columns and turned in
 * shared memory; what is not transposed is read by the thread that writes the same element of C, so
 * C may be that operand. */

#include "blas/primitives/split.h"
#include "gpu/blas/matrix.h"

/* B = alpha B, zeros for alpha 0 whatever B holds; or nothing but the latter. */
template <typename T> struct matrix_scale {
    ji_scalar_t alpha;
    T *b;
    int64_t ldb;
    bool clears_only;
    T factor;

    __device__ inline bool start() {
        factor = gpu_scalar<T>(alpha);
        return !clears_only || is_zero(factor);
    }
    __device__ inline void at(int64_t i, int64_t j) const {
        T *to = b + i + j * ldb;
        *to = is_zero(factor) ? make<T>(0) : factor * *to;
    }
};

template <typename T>
static jstatus_t matrix_run_scale(const gpu_call_t *call, const ji_matmat_t *args,
                                  bool clears_only) {
    matrix_scale<T> action = {};
    action.alpha = args->alpha;
    action.b = (T *)const_cast<void *>(args->b);
    action.ldb = args->ldb;
    action.clears_only = clears_only;
    return matrix_each(call, action, args->m, args->n, "matrix_scale");
}

static jstatus_t matrix_scale_any(const gpu_call_t *call, const void *block, bool clears_only) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    jstatus_t status;
    GPU_BY_TYPE(args->head.type, status = matrix_run_scale<T>(call, args, clears_only))
    return status;
}

jstatus_t gpu_scale_matrix(const gpu_call_t *call, const void *block) {
    return matrix_scale_any(call, block, false);
}
jstatus_t gpu_triangle_clear(const gpu_call_t *call, const void *block) {
    return matrix_scale_any(call, block, true);
}

/* ---- Complex and real: split.h ---- */

template <typename R> struct matrix_split {
    int64_t m;
    bool conjugated;
    const complex<R> *a;
    int64_t lda;
    R *re, *im, *sum;

    __device__ inline bool start() const { return true; }
    __device__ inline void at(int64_t i, int64_t j) const {
        const complex<R> value = conjugate_if(conjugated, a[i + j * lda]);
        const int64_t to = i + j * m;
        re[to] = value.re;
        im[to] = value.im;
        sum[to] = value.re + value.im;
    }
};

template <typename R>
static jstatus_t matrix_run_split(const gpu_call_t *call, const ji_split_t *args) {
    matrix_split<R> action = {};
    const int64_t size = args->m * args->n;
    action.m = args->m;
    action.conjugated = args->conjugate;
    action.a = (const complex<R> *)args->a;
    action.lda = args->lda;
    action.re = (R *)args->parts;
    action.im = action.re + size;
    action.sum = action.im + size;
    return matrix_each(call, action, args->m, args->n, "matrix_split");
}

jstatus_t gpu_split(const gpu_call_t *call, const void *block) {
    const ji_split_t *args = (const ji_split_t *)block;
    return args->type == JDATATYPE_F32_C ? matrix_run_split<float>(call, args)
                                         : matrix_run_split<double>(call, args);
}

template <typename R> struct matrix_merge {
    int64_t m;
    ji_scalar_t alpha, beta;
    const R *p0, *p1, *p2;
    complex<R> *c;
    int64_t ldc;
    complex<R> by_alpha, by_beta;
    bool product, read, added; /* added: alpha and beta are 1 */

    __device__ inline bool start() {
        const complex<R> one = make<complex<R>>(1);
        by_alpha = gpu_scalar<complex<R>>(alpha);
        by_beta = gpu_scalar<complex<R>>(beta);

        product = !is_zero(by_alpha);
        read = !is_zero(by_beta);
        added = by_alpha == one && by_beta == one;
        return true;
    }
    __device__ inline void at(int64_t i, int64_t j) const {
        const int64_t from = i + j * m;
        complex<R> *to = c + i + j * ldc;

        complex<R> value = {0, 0};
        if (product) {
            const R re = p0[from], im = p1[from];
            value = complex<R>{re - im, p2[from] - re - im};
        }

        if (added) {
            *to = *to + value;
            return;
        }

        value = by_alpha * value;
        *to = read ? value + by_beta * *to : value;
    }
};

template <typename R>
static jstatus_t matrix_run_merge(const gpu_call_t *call, const ji_merge_t *args) {
    matrix_merge<R> action = {};
    const int64_t size = args->m * args->n;

    action.m = args->m;
    action.alpha = args->alpha;
    action.beta = args->beta;
    action.p0 = (const R *)args->products;
    action.p1 = action.p0 + size;
    action.p2 = action.p1 + size;
    action.c = (complex<R> *)args->c;
    action.ldc = args->ldc;
    return matrix_each(call, action, args->m, args->n, "matrix_merge");
}

jstatus_t gpu_merge(const gpu_call_t *call, const void *block) {
    const ji_merge_t *args = (const ji_merge_t *)block;
    return args->type == JDATATYPE_F32_C ? matrix_run_merge<float>(call, args)
                                         : matrix_run_merge<double>(call, args);
}

/* ---- C = alpha op(A) + beta op(B) ---- */

template <typename T> struct matrix_operand {
    const T *data;
    int64_t ld;
    bool turned, conjugated;
    ji_scalar_t scalar;

    /* Element (i, j) of the transposed or of the plain matrix, scaled. */
    __device__ inline T term(T factor, int64_t i, int64_t j) const {
        return factor * conjugate_if(conjugated, data[turned ? j + i * ld : i + j * ld]);
    }
};

template <typename T> struct matrix_sum {
    int64_t m, n;
    matrix_operand<T> a, b;
    T *c;
    int64_t ldc;
};

template <typename T>
static __global__ void __launch_bounds__(GROUP_THREADS) matrix_geam_kernel(matrix_sum<T> call) {
    __shared__ T turned[GROUP_ACROSS * (GROUP_ACROSS + 1)];
    const T alpha = gpu_scalar<T>(call.a.scalar), beta = gpu_scalar<T>(call.b.scalar);
    const bool with_a = !is_zero(alpha), with_b = !is_zero(beta);
    const bool turn_a = with_a && call.a.turned, turn_b = with_b && call.b.turned;
    const int across = (int)threadIdx.x % GROUP_ACROSS, down = (int)threadIdx.x / GROUP_ACROSS;
    const int64_t high = matrix_tiles(call.m), wide = matrix_tiles(call.n);

    for (int64_t tile = blockIdx.x; tile < high * wide; tile += gridDim.x) {
        const int64_t top = tile % high * GROUP_ACROSS, left = tile / high * GROUP_ACROSS;

        if (turn_a || turn_b) {
            /* Neighbouring threads: neighbouring columns of C, rows of A and B. */
            for (int row = down; row < GROUP_ACROSS; row += GROUP_DOWN) {
                const int64_t i = top + row, j = left + across;
                T sum = make<T>(0);
                if (i < call.m && j < call.n) {
                    if (turn_a)
                        sum = sum + call.a.term(alpha, i, j);
                    if (turn_b)
                        sum = sum + call.b.term(beta, i, j);
                }
                turned[across * (GROUP_ACROSS + 1) + row] = sum;
            }
            __syncthreads();
        }

        for (int column = down; column < GROUP_ACROSS; column += GROUP_DOWN) {
            const int64_t i = top + across, j = left + column;
            if (i >= call.m || j >= call.n)
                continue;
            T sum = turn_a || turn_b ? turned[column * (GROUP_ACROSS + 1) + across] : make<T>(0);
            if (with_a && !turn_a)
                sum = sum + call.a.term(alpha, i, j);
            if (with_b && !turn_b)
                sum = sum + call.b.term(beta, i, j);
            call.c[i + j * call.ldc] = sum;
        }

        if (turn_a || turn_b)
            __syncthreads();
    }
}

template <typename T>
static matrix_operand<T> matrix_operand_of(const void *data, int64_t ld,
                                           jblas_operation_t operation, const ji_scalar_t *scalar) {
    matrix_operand<T> operand = {};
    operand.data = (const T *)data;
    operand.ld = ld;
    operand.turned = ji_is_transposed(operation);
    operand.conjugated = ji_is_conjugated(operation);
    operand.scalar = *scalar;
    return operand;
}

template <typename T>
static jstatus_t matrix_run_geam(const gpu_call_t *call, const ji_matmat_t *args) {
    if (args->m <= 0 || args->n <= 0)
        return JSTATUS_SUCCESS;

    matrix_sum<T> sum = {};
    sum.m = args->m, sum.n = args->n;
    sum.a = matrix_operand_of<T>(args->a, args->lda, args->transa, &args->alpha);
    sum.b = matrix_operand_of<T>(args->b, args->ldb, args->transb, &args->beta);
    sum.c = (T *)args->c;
    sum.ldc = args->ldc;

    GPU_LAUNCH((matrix_geam_kernel<T>), matrix_blocks(sum.m, sum.n), GROUP_THREADS, call->stream,
               sum);
    return gpu_check_launch(call->device, "matrix_geam_kernel");
}

jstatus_t gpu_geam(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    jstatus_t status;
    GPU_BY_TYPE(args->head.type, status = matrix_run_geam<T>(call, args))
    return status;
}

/* ---- *info = n ---- */

static __global__ void matrix_set_info_kernel(int64_t *info, int64_t value) { *info = value; }

jstatus_t gpu_set_info(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_LAUNCH((matrix_set_info_kernel), 1, 1, call->stream, args->info, args->n);
    return gpu_check_launch(call->device, "matrix_set_info_kernel");
}
