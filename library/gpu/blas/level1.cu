/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 element by element: axpy, copy, swap, scal. What is done to one element is an operation,
 * a type with
 *
 *     reads_x reads_y writes_x writes_y    which operands there are, and how they are used
 *     prepare(alpha)                       reads the scalar; false: nothing is to be done
 *     apply(alpha, x, y)                   the work
 *
 * and two kernels carry operations to vectors: in packs, or element by element where an increment
 * or an address does not allow them. Each element is independent, so which kernel ran cannot be
 * told from the bits. Where an increment of 0 makes them dependent, as reference BLAS has it, a
 * third one goes through them in order.
 *
 * The last elements, too few for a pack, are the first block's. */

#include "gpu/blas/blas.h"
#include "gpu/blas/vector.h"

template <typename T> struct axpy_t {
    typedef T value_t;
    static const bool reads_x = true, reads_y = true, writes_x = false, writes_y = true;
    ji_scalar_t scalar;
    __device__ bool prepare(T &alpha) const {
        alpha = gpu_scalar<T>(scalar);
        return !is_zero(alpha); /* x may be NaN, or not there */
    }
    __device__ void apply(T alpha, T &x, T &y) const { y = multiply_add(alpha, x, y); }
};

/* The same number. A copy of a struct is one of memory, for which HIP's compilers leave
 * registers. */
template <typename T> static __device__ inline T by_parts(T a) {
    if constexpr (number<T>::is_complex)
        return T{a.re, a.im};
    else
        return a;
}

template <typename T> struct copy_t {
    typedef T value_t;
    static const bool reads_x = true, reads_y = false, writes_x = false, writes_y = true;
    ji_scalar_t scalar;
    __device__ bool prepare(T &) const { return true; }
    __device__ void apply(T, T &x, T &y) const { y = by_parts(x); }
};

template <typename T> struct swap_t {
    typedef T value_t;
    static const bool reads_x = true, reads_y = true, writes_x = true, writes_y = true;
    ji_scalar_t scalar;
    __device__ bool prepare(T &) const { return true; }
    __device__ void apply(T, T &x, T &y) const {
        const T before = by_parts(x);
        x = by_parts(y);
        y = before;
    }
};

/* A zero multiplies as any other: NaN stays. */
template <typename T> struct scal_t {
    typedef T value_t;
    static const bool reads_x = true, reads_y = false, writes_x = true, writes_y = false;
    ji_scalar_t scalar;
    __device__ bool prepare(T &alpha) const {
        alpha = gpu_scalar<T>(scalar);
        return true;
    }
    __device__ void apply(T alpha, T &x, T &) const { x = alpha * x; }
};

/* alpha is real. */
template <typename T> struct rscal_t {
    typedef T value_t;
    static const bool reads_x = true, reads_y = false, writes_x = true, writes_y = false;
    ji_scalar_t scalar;
    __device__ bool prepare(T &alpha) const {
        alpha = make<T>(gpu_scalar<real_of<T>>(scalar));
        return true;
    }
    __device__ void apply(T alpha, T &x, T &) const { x = real_part(alpha) * x; }
};

template <typename Op, typename T>
static __device__ inline void each_element(const Op &op, T alpha, T *x, T *y) {
    T a = make<T>(0), b = make<T>(0);
    if (Op::reads_x)
        a = *x;
    if (Op::reads_y)
        b = *y;

    op.apply(alpha, a, b);
    if (Op::writes_x)
        *x = a;
    if (Op::writes_y)
        *y = b;
}

template <typename Op>
static __global__ void each_strided_kernel(Op op, int64_t n, typename Op::value_t *x, int64_t incx,
                                           typename Op::value_t *y, int64_t incy) {
    typename Op::value_t alpha = make<typename Op::value_t>(0);
    if (!op.prepare(alpha))
        return;

    const int64_t all = (int64_t)gridDim.x * GPU_VECTOR_THREADS;
    for (int64_t i = (int64_t)blockIdx.x * GPU_VECTOR_THREADS + threadIdx.x; i < n; i += all)
        each_element(op, alpha, x + i * incx, y + i * incy);
}

/* One element after the other by one thread, where an increment of 0 makes all that is written
 * one element. */
template <typename Op>
static __global__ void each_in_turn_kernel(Op op, int64_t n, typename Op::value_t *x, int64_t incx,
                                           typename Op::value_t *y, int64_t incy) {
    typename Op::value_t alpha = make<typename Op::value_t>(0);
    if (!op.prepare(alpha))
        return;

    for (int64_t i = 0; i < n; ++i)
        each_element(op, alpha, x + i * incx, y + i * incy);
}

/* A thread's packs are a block's width apart, so that neighbours read neighbours. */
template <typename Op>
static __global__ void each_packed_kernel(Op op, int64_t n, typename Op::value_t *x,
                                          typename Op::value_t *y) {
    typedef typename Op::value_t T;
    typedef pack<T> pack_t;
    T alpha = make<T>(0);
    if (!op.prepare(alpha))
        return;

    const int64_t packs = n / pack_t::width, per_block = GPU_VECTOR_THREADS * GPU_PACK_LOADS;
    pack_t *px = (pack_t *)x, *py = (pack_t *)y;
    for (int64_t first = blockIdx.x * per_block; first < packs; first += gridDim.x * per_block) {
        pack_t a[GPU_PACK_LOADS], b[GPU_PACK_LOADS]; /* what is read of them was loaded */
        const int64_t mine = first + threadIdx.x;

        GPU_UNROLL
        for (int l = 0; l < GPU_PACK_LOADS; ++l) {
            const int64_t i = mine + l * GPU_VECTOR_THREADS;
            if (Op::reads_x && i < packs)
                a[l] = px[i];
            if (Op::reads_y && i < packs)
                b[l] = py[i];
        }

        GPU_UNROLL
        for (int l = 0; l < GPU_PACK_LOADS; ++l) {
            const int64_t i = mine + l * GPU_VECTOR_THREADS;
            if (i >= packs)
                break;
            GPU_UNROLL
            for (int e = 0; e < pack_t::width; ++e)
                op.apply(alpha, a[l].e[e], b[l].e[e]);

            if (Op::writes_x)
                px[i] = a[l];
            if (Op::writes_y)
                py[i] = b[l];
        }
    }

    const int64_t rest = packs * pack_t::width + threadIdx.x;
    if (blockIdx.x == 0 && rest < n)
        each_element(op, alpha, x + rest, y + rest);
}

template <typename Op>
static jstatus_t each_launch(const gpu_call_t *call, const ji_vector_t *v, const char *name) {
    typedef typename Op::value_t T;
    const bool has_y = Op::reads_y || Op::writes_y;
    const Op op = {v->alpha};
    int64_t n = v->n, incx = v->incx, incy = has_y ? v->incy : 0;
    if (incx < 0 && incy < 0) /* the same pairs from the other end */
        incx = -incx, incy = -incy;
    T *x = vector_start<T>(v->x, n, incx), *y = has_y ? vector_start<T>(v->y, n, incy) : nullptr;

    if ((Op::writes_x && incx == 0) || (Op::writes_y && incy == 0))
        GPU_LAUNCH((each_in_turn_kernel<Op>), 1, 1, call->stream, op, n, x, incx, y, incy);
    else if (vector_is_packed(x, incx) && (!has_y || vector_is_packed(y, incy)))
        GPU_LAUNCH((each_packed_kernel<Op>),
                   gpu_blocks(n, (int64_t)GPU_VECTOR_THREADS * GPU_PACK_LOADS * pack<T>::width,
                              GPU_GRID_MOST),
                   GPU_VECTOR_THREADS, call->stream, op, n, x, y);
    else
        GPU_LAUNCH((each_strided_kernel<Op>), gpu_blocks(n, GPU_VECTOR_THREADS, GPU_GRID_MOST),
                   GPU_VECTOR_THREADS, call->stream, op, n, x, incx, y, incy);

    return gpu_check_launch(call->device, name);
}

#define EACH_DEFINE(name, only_positive)                                                           \
    jstatus_t gpu_##name(const gpu_call_t *call, const void *block) {                              \
        const ji_vector_t *v = (const ji_vector_t *)block;                                         \
        if (v->n <= 0 || (only_positive && v->incx <= 0))                                          \
            return JSTATUS_SUCCESS;                                                                \
        GPU_BY_TYPE(v->head.type, return each_launch<name##_t<T>>(call, v, #name));                \
        return JSTATUS_INTERNAL_ERROR;                                                             \
    }
EACH_DEFINE(axpy, false)
EACH_DEFINE(copy, false)
EACH_DEFINE(swap, false)
EACH_DEFINE(scal, true)

jstatus_t gpu_rscal(const gpu_call_t *call, const void *block) {
    const ji_vector_t *v = (const ji_vector_t *)block;
    if (v->n <= 0 || v->incx <= 0)
        return JSTATUS_SUCCESS;
    if (v->head.type == JDATATYPE_F32_C)
        return each_launch<rscal_t<complex<float>>>(call, v, "rscal");
    return each_launch<rscal_t<complex<double>>>(call, v, "rscal");
}
