/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 element by element: axpy, axpby, copy, swap, scal, rot, rotm. What is done to one element
 * is an operation, a type with
 *
 *     writes_x writes_y        which operands there are, and which of them change
 *     scalars_t, prepare()     reads the scalars; false: nothing is to be done
 *     reads_x() reads_y()      what is read, when the scalars are known
 *     apply(scalars, x, y)     the work
 *
 * and two kernels carry operations to vectors: in packs, or element by element where an increment
 * or an address does not allow them. Each element is independent, so which kernel ran cannot be
 * told from the bits. Where an increment of 0 makes them dependent, as reference BLAS has it, a
 * third one goes through them in order. Elements whose type is an argument (typed.h) are never in
 * packs. The items of a batch lie along the grid's y.
 *
 * The last elements, too few for a pack, are the first block's. */

#include "gpu/blas/blas.h"
#include "gpu/blas/typed.h"
#include "gpu/blas/vector.h"

/* What most operations say of themselves. */
template <typename T, bool READS_X, bool READS_Y> struct each_t {
    typedef T value_t;
    typedef T scalars_t;
    ji_scalar_t scalar;

    explicit each_t(const ji_vector_t *v) : scalar(v->alpha) {}
    static __device__ bool reads_x(const T &) { return READS_X; }
    static __device__ bool reads_y(const T &) { return READS_Y; }
};

template <typename T> struct axpy_t : each_t<T, true, true> {
    static const bool writes_x = false, writes_y = true;
    using each_t<T, true, true>::each_t;
    __device__ bool prepare(T &alpha) const {
        alpha = gpu_scalar<T>(this->scalar);
        return !is_zero(alpha); /* x may be NaN, or not there */
    }
    static __device__ void apply(T alpha, T &x, T &y) { y = multiply_add(alpha, x, y); }
};

template <typename T> struct axpby_scalars_t {
    T alpha, beta;
    bool reads_x, reads_y, scales_y;
};

template <typename T> struct axpby_t {
    typedef T value_t;
    typedef axpby_scalars_t<T> scalars_t;
    static const bool writes_x = false, writes_y = true;
    ji_scalar_t by_x, by_y;

    explicit axpby_t(const ji_vector_t *v) : by_x(v->alpha), by_y(v->beta) {}
    __device__ bool prepare(scalars_t &s) const {
        s.alpha = gpu_scalar<T>(by_x), s.beta = gpu_scalar<T>(by_y);
        s.reads_x = !is_zero(s.alpha), s.reads_y = !is_zero(s.beta);
        s.scales_y = s.reads_y && !(s.beta == make<T>(1));
        return s.reads_x || s.scales_y || !s.reads_y;
    }
    static __device__ bool reads_x(const scalars_t &s) { return s.reads_x; }
    static __device__ bool reads_y(const scalars_t &s) { return s.reads_y; }
    static __device__ void apply(const scalars_t &s, T &x, T &y) {
        if (!s.reads_y)
            y = s.reads_x ? s.alpha * x : make<T>(0);
        else {
            const T scaled = s.scales_y ? s.beta * y : y;
            y = s.reads_x ? multiply_add(s.alpha, x, scaled) : scaled;
        }
    }
};

/* The same number. A copy of a struct is one of memory, for which HIP's compilers leave
 * registers. */
template <typename T> static __device__ inline T by_parts(T a) {
    if constexpr (number<T>::is_complex)
        return T{a.re, a.im};
    else
        return a;
}

template <typename T> struct copy_t : each_t<T, true, false> {
    static const bool writes_x = false, writes_y = true;
    using each_t<T, true, false>::each_t;
    __device__ bool prepare(T &) const { return true; }
    static __device__ void apply(T, T &x, T &y) { y = by_parts(x); }
};

template <typename T> struct swap_t : each_t<T, true, true> {
    static const bool writes_x = true, writes_y = true;
    using each_t<T, true, true>::each_t;
    __device__ bool prepare(T &) const { return true; }
    static __device__ void apply(T, T &x, T &y) {
        const T before = by_parts(x);
        x = by_parts(y);
        y = before;
    }
};

/* A zero multiplies as any other: NaN stays. */
template <typename T> struct scal_t : each_t<T, true, false> {
    static const bool writes_x = true, writes_y = false;
    using each_t<T, true, false>::each_t;
    __device__ bool prepare(T &alpha) const {
        alpha = gpu_scalar<T>(this->scalar);
        return true;
    }
    static __device__ void apply(T alpha, T &x, T &) { x = alpha * x; }
};

/* alpha is real. */
template <typename T> struct rscal_t : each_t<T, true, false> {
    static const bool writes_x = true, writes_y = false;
    using each_t<T, true, false>::each_t;
    __device__ bool prepare(T &alpha) const {
        alpha = make<T>(gpu_scalar<real_of<T>>(this->scalar));
        return true;
    }
    static __device__ void apply(T alpha, T &x, T &) { x = real_part(alpha) * x; }
};

/* (x, y) = H (x, y), of what both were, both parts of complex ones alike. */
template <typename R> struct rotation_t {
    R h11, h12, h21, h22;
    __device__ void rotate(R &x, R &y) const {
        const R before = x;
        x = multiply_add(h12, y, h11 * before);
        y = multiply_add(h21, before, h22 * y);
    }
};

/* A scalar whose type is an argument: converted here where it is known, and by the kernel where it
 * is not. (An address within what a kernel is given would put all of that into memory.) */
template <typename T> struct typed_scalar_t {
    typed_pointer<T> at;
    T value; /* where it has no address */

    typed_scalar_t(const ji_scalar_t &scalar, jdatatype_t type)
        : at(typed_at<T>(scalar.pointer, type)), value(typed_known<T>(scalar.value, type)) {}
    __device__ inline T get() const { return at.data != nullptr ? *at : value; }
};

template <typename T> struct rotate_t {
    typedef T value_t;
    typedef rotation_t<real_of<T>> scalars_t;
    static const bool writes_x = true, writes_y = true;
    static __device__ bool reads_x(const scalars_t &) { return true; }
    static __device__ bool reads_y(const scalars_t &) { return true; }
    static __device__ void apply(const scalars_t &h, T &x, T &y) {
        if constexpr (number<T>::is_complex) {
            h.rotate(x.re, y.re);
            h.rotate(x.im, y.im);
        } else {
            h.rotate(x, y);
        }
    }
};

template <typename T> struct rot_t : rotate_t<T> {
    ji_scalar_t c, s;
    explicit rot_t(const ji_vector_t *v) : c(v->c), s(v->s) {}
    __device__ bool prepare(rotation_t<real_of<T>> &h) const {
        h.h11 = h.h22 = gpu_scalar<real_of<T>>(c);
        h.h12 = gpu_scalar<real_of<T>>(s), h.h21 = -h.h12;
        return true;
    }
};

/* The same of a cosine and a sine of a real type that is an argument; and of complex ones, c real
 * all the same: x = c x + s y, y = c y - conj(s) x. */
template <typename T> struct rot_ex_t : rotate_t<T> {
    typed_scalar_t<real_of<T>> c, s;
    explicit rot_ex_t(const ji_vector_t *v) : c(v->c, v->cs_type), s(v->s, v->cs_type) {}
    __device__ bool prepare(rotation_t<real_of<T>> &h) const {
        h.h11 = h.h22 = c.get();
        h.h12 = s.get(), h.h21 = -h.h12;
        return true;
    }
};

template <typename T> struct turn_t {
    real_of<T> c;
    T s;
};
template <typename T> struct turn_ex_t {
    typedef T value_t;
    typedef turn_t<T> scalars_t;
    static const bool writes_x = true, writes_y = true;
    typed_scalar_t<T> c, s;

    explicit turn_ex_t(const ji_vector_t *v) : c(v->c, v->cs_type), s(v->s, v->cs_type) {}
    __device__ bool prepare(turn_t<T> &turn) const {
        turn.c = real_part(c.get());
        turn.s = s.get();
        return true;
    }
    static __device__ bool reads_x(const turn_t<T> &) { return true; }
    static __device__ bool reads_y(const turn_t<T> &) { return true; }
    static __device__ void apply(const turn_t<T> &turn, T &x, T &y) {
        const T before = by_parts(x);
        x = turn.c * before + turn.s * y;
        y = turn.c * y - conjugate(turn.s) * before;
    }
};

/* What the flag implies is not looked at. */
template <typename T> struct rotm_t : rotate_t<T> {
    ji_parameters_t param;
    explicit rotm_t(const ji_vector_t *v) : param(v->param) {}
    __device__ bool prepare(rotation_t<T> &h) const {
        T p[5];
        memcpy(p, param.pointer != nullptr ? param.pointer : &param.value, sizeof p);
        h.h11 = p[0] == 0 ? 1 : p[1], h.h22 = p[0] == 0 ? 1 : p[4];
        h.h21 = p[0] > 0 ? -1 : p[2], h.h12 = p[0] > 0 ? 1 : p[3];
        return p[0] != -2;
    }
};

/* What the operation does not read or write may be NULL: nothing is added to it. P is a pointer, or
 * a typed one. */
template <typename Op, typename P>
static __device__ inline void each_element(const typename Op::scalars_t &scalars, int64_t i, P x,
                                           int64_t incx, P y, int64_t incy) {
    typedef typename Op::value_t T;
    T a = make<T>(0), b = make<T>(0);
    if (Op::reads_x(scalars))
        a = x[i * incx];
    if (Op::reads_y(scalars))
        b = y[i * incy];

    Op::apply(scalars, a, b);
    if (Op::writes_x)
        narrow(a, x + i * incx);
    if (Op::writes_y)
        narrow(b, y + i * incy);
}

/* A vector whose type is an argument, as a batch of one. */
template <typename T> struct typed_one_t {
    typed_pointer<T> only;
    __device__ inline typed_pointer<T> of(int64_t) const { return only; }
};

/* M is many_t or typed_one_t. */
template <typename Op, typename M>
static __global__ void each_strided_kernel(Op op, int64_t n, M xs, int64_t incx, M ys, int64_t incy,
                                           int64_t count) {
    typename Op::scalars_t scalars;
    if (!op.prepare(scalars))
        return;

    const int64_t all = (int64_t)gridDim.x * GPU_VECTOR_THREADS;
    for (int64_t item = blockIdx.y; item < count; item += gridDim.y) {
        const auto x = xs.of(item), y = ys.of(item);
        for (int64_t i = (int64_t)blockIdx.x * GPU_VECTOR_THREADS + threadIdx.x; i < n; i += all)
            each_element<Op>(scalars, i, x, incx, y, incy);
    }
}

/* One element after the other by one thread, where an increment of 0 makes all that is written
 * one element. */
template <typename Op, typename M>
static __global__ void each_in_turn_kernel(Op op, int64_t n, M xs, int64_t incx, M ys, int64_t incy,
                                           int64_t count) {
    typename Op::scalars_t scalars;
    if (!op.prepare(scalars))
        return;

    for (int64_t item = blockIdx.y; item < count; item += gridDim.y) {
        const auto x = xs.of(item), y = ys.of(item);
        for (int64_t i = 0; i < n; ++i)
            each_element<Op>(scalars, i, x, incx, y, incy);
    }
}

/* A thread's packs are a block's width apart, so that neighbours read neighbours. */
template <typename Op>
static __device__ inline void each_packed(const typename Op::scalars_t &scalars, int64_t n,
                                          typename Op::value_t *x, typename Op::value_t *y) {
    typedef pack<typename Op::value_t> pack_t;
    const int64_t packs = n / pack_t::width, per_block = GPU_VECTOR_THREADS * GPU_PACK_LOADS;
    pack_t *px = (pack_t *)x, *py = (pack_t *)y;
    for (int64_t first = blockIdx.x * per_block; first < packs; first += gridDim.x * per_block) {
        pack_t a[GPU_PACK_LOADS], b[GPU_PACK_LOADS]; /* what is read of them was loaded */
        const int64_t mine = first + threadIdx.x;

        GPU_UNROLL
        for (int l = 0; l < GPU_PACK_LOADS; ++l) {
            const int64_t i = mine + l * GPU_VECTOR_THREADS;
            if (Op::reads_x(scalars) && i < packs)
                a[l] = px[i];
            if (Op::reads_y(scalars) && i < packs)
                b[l] = py[i];
        }

        GPU_UNROLL
        for (int l = 0; l < GPU_PACK_LOADS; ++l) {
            const int64_t i = mine + l * GPU_VECTOR_THREADS;
            if (i >= packs)
                break;
            GPU_UNROLL
            for (int e = 0; e < pack_t::width; ++e)
                Op::apply(scalars, a[l].e[e], b[l].e[e]);

            if (Op::writes_x)
                px[i] = a[l];
            if (Op::writes_y)
                py[i] = b[l];
        }
    }

    const int64_t rest = packs * pack_t::width + threadIdx.x;
    if (blockIdx.x == 0 && rest < n)
        each_element<Op>(scalars, rest, x, 1, y, 1);
}

template <typename Op>
static __global__ void each_packed_kernel(Op op, int64_t n, many_t<typename Op::value_t> xs,
                                          many_t<typename Op::value_t> ys, int64_t count) {
    typename Op::scalars_t scalars;
    if (!op.prepare(scalars))
        return;

    for (int64_t item = blockIdx.y; item < count; item += gridDim.y)
        each_packed<Op>(scalars, n, xs.of(item), ys.of(item));
}

/* Whether all items may be read in packs: behind an array of pointers nobody can look. */
template <typename T> static bool each_is_packed(const many_t<T> &x, int64_t inc) {
    return x.array == nullptr && vector_is_packed(x.first, inc) &&
           x.stride * (int64_t)sizeof(T) % GPU_PACK_BYTES == 0;
}

template <typename Op>
static jstatus_t each_launch(const gpu_call_t *call, const ji_vector_t *v, const char *name) {
    typedef typename Op::value_t T;
    const bool has_y = Op::writes_y;
    const Op op(v);
    int64_t n = v->n, incx = v->incx, incy = has_y ? v->incy : 0;
    if (incx < 0 && incy < 0) /* the same pairs from the other end */
        incx = -incx, incy = -incy;
    const many_t<T> x = many_vectors<T>(v->head, v->x, n, incx, v->batch.stride_x),
                    y = has_y ? many_vectors<T>(v->head, v->y, n, incy, v->batch.stride_y)
                              : many_t<T>{};
    const int64_t count = many_count(v->head, v->batch);
    const unsigned items = many_blocks(count);

    if ((Op::writes_x && incx == 0) || (Op::writes_y && incy == 0))
        GPU_LAUNCH((each_in_turn_kernel<Op, many_t<T>>), dim3(1, items), 1, call->stream, op, n, x,
                   incx, y, incy, count);
    else if (each_is_packed(x, incx) && (!has_y || each_is_packed(y, incy)))
        GPU_LAUNCH((each_packed_kernel<Op>),
                   dim3(gpu_blocks(n, (int64_t)GPU_VECTOR_THREADS * GPU_PACK_LOADS * pack<T>::width,
                                   GPU_GRID_MOST),
                        items),
                   GPU_VECTOR_THREADS, call->stream, op, n, x, y, count);
    else
        GPU_LAUNCH((each_strided_kernel<Op, many_t<T>>),
                   dim3(gpu_blocks(n, GPU_VECTOR_THREADS, GPU_GRID_MOST), items),
                   GPU_VECTOR_THREADS, call->stream, op, n, x, incx, y, incy, count);

    return gpu_check_launch(call->device, name);
}

template <typename Op>
static jstatus_t each_launch_typed(const gpu_call_t *call, const ji_vector_t *v, const char *name) {
    typedef typename Op::value_t T;
    typedef typed_one_t<T> one_t;
    const bool has_y = Op::writes_y;
    const Op op(v);
    const one_t x = {typed_start<T>(v->x, v->x_type, v->n, v->incx)},
                y = {has_y ? typed_start<T>(v->y, v->y_type, v->n, v->incy) : x.only};

    if ((Op::writes_x && v->incx == 0) || (Op::writes_y && v->incy == 0))
        GPU_LAUNCH((each_in_turn_kernel<Op, one_t>), 1, 1, call->stream, op, v->n, x, v->incx, y,
                   v->incy, 1);
    else
        GPU_LAUNCH((each_strided_kernel<Op, one_t>),
                   gpu_blocks(v->n, GPU_VECTOR_THREADS, GPU_GRID_MOST), GPU_VECTOR_THREADS,
                   call->stream, op, v->n, x, v->incx, y, v->incy, 1);

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
EACH_DEFINE(axpby, false)
EACH_DEFINE(rot, false)
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

jstatus_t gpu_rotm(const gpu_call_t *call, const void *block) {
    const ji_vector_t *v = (const ji_vector_t *)block;
    if (v->n <= 0)
        return JSTATUS_SUCCESS;
    if (v->head.type == JDATATYPE_F32)
        return each_launch<rotm_t<float>>(call, v, "rotm");
    return each_launch<rotm_t<double>>(call, v, "rotm");
}

/* ---- Types as arguments ---- */

#define EACH_DEFINE_TYPED(name, only_positive)                                                     \
    jstatus_t gpu_##name##_ex(const gpu_call_t *call, const void *block) {                         \
        const ji_vector_t *v = (const ji_vector_t *)block;                                         \
        if (v->n <= 0 || (only_positive && v->incx <= 0))                                          \
            return JSTATUS_SUCCESS;                                                                \
        GPU_BY_TYPE(v->head.type, return each_launch_typed<name##_t<T>>(call, v, #name "_ex"));    \
        return JSTATUS_INTERNAL_ERROR;                                                             \
    }
EACH_DEFINE_TYPED(axpy, false)
EACH_DEFINE_TYPED(scal, true)

jstatus_t gpu_rot_ex(const gpu_call_t *call, const void *block) {
    const ji_vector_t *v = (const ji_vector_t *)block;
    if (v->n <= 0)
        return JSTATUS_SUCCESS;
    if (!ji_is_complex(v->cs_type)) {
        GPU_BY_TYPE(v->head.type, return each_launch_typed<rot_ex_t<T>>(call, v, "rot_ex"));
    } else if (v->head.type == JDATATYPE_F32_C)
        return each_launch_typed<turn_ex_t<complex<float>>>(call, v, "rot_ex");
    return each_launch_typed<turn_ex_t<complex<double>>>(call, v, "rot_ex");
}
