/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* dot, dsdot, nrm2, asum, iamax and iamin: reductions in a fixed order.
 *
 * A vector is cut into blocks of JI_REDUCE_BLOCK elements. One thread block reduces one of them:
 * thread t takes the packs t, t + 256, t + 512, ... in this order, wherever the vector lies and
 * however far its elements are apart, and the threads' results are joined as a tree in shared
 * memory. The blocks' results are joined pairwise, neighbours first:
 *
 *     0   1   2   3   4   5   6        what has no neighbour waits for the next level
 *     +---+   +---+   +---+   |
 *       +-------+       +-----+
 *           +-------------+
 *
 * Of this tree, the part over REDUCE_CHUNK results that begin at a multiple of REDUCE_CHUNK is done
 * by one thread block, wherever the results come from:
 *
 *   partials in workspace    many thread blocks compute them (JI_REDUCE_BLOCKS); then one kernel
 *                            joins each chunk into its first element, the next one chunks of
 *                            chunks, until one is left (JI_REDUCE_COMBINE)
 *   no workspace             one thread block computes a chunk of results, joins it, and keeps it
 *                            with other finished subtrees, of which the last two are joined while
 *                            they are equally large
 *
 * So the bits depend on the number of elements alone. To this end nothing is left to the compiler
 * that it could do in one way here and in another there: where a product is added, the fused
 * operation is written out.
 *
 * A reduction is a type with
 *     partial_t                  what is known of some elements; none(), join(left, right)
 *     two                        whether it reads y
 *     block(v, first, count)     of the elements [first, first + count) of a vector, be its type an
 *                                argument or not, known to all threads
 *     finish(vector, whole, i)   writes the vector's result, of a batch that of item i
 *
 * nrm2 must not overflow or underflow where its result does not. It adds squares in double. Should
 * a block's sum leave the range in which nothing was lost, its elements are scaled by a power of
 * two and added again, and the exponent stays with the sum, as in Blue's accumulators (1978).
 * Squares of floats are always in that range. */

#include <math.h>

#include "blas/primitives/reduce.h"
#include "gpu/blas/blas.h"
#include "gpu/blas/group.h"
#include "gpu/blas/typed.h"
#include "gpu/blas/vector.h"

/* The tests' modules have small ones, so that trees are high. */
#ifndef GPU_REDUCE_CHUNK
#define GPU_REDUCE_CHUNK 1024
#endif
#define REDUCE_CHUNK GPU_REDUCE_CHUNK
/* Subtrees that are kept, each of twice as many chunks as the next: 2^51 blocks are all that
 * int64_t elements can be. */
#define REDUCE_SUBTREES 52

static_assert(JI_REDUCE_BLOCK %
                      (GROUP_THREADS * GPU_PACK_LOADS * (GPU_PACK_BYTES / sizeof(float))) ==
                  0,
              "whole packs");

/* ---- Parts ---- */

static __device__ inline float fused(float a, float b, float c) { return fmaf(a, b, c); }
static __device__ inline double fused(double a, double b, double c) { return fma(a, b, c); }
template <typename R>
static __device__ inline complex<R> fused(complex<R> a, complex<R> b, complex<R> c) {
    return complex<R>{fused(-a.im, b.im, fused(a.re, b.re, c.re)),
                      fused(a.im, b.re, fused(a.re, b.im, c.im))};
}

/* |x| as BLAS measures it. */
template <typename T> static __device__ inline real_of<T> magnitude(T x) {
    if constexpr (number<T>::is_complex)
        return (x.re < 0 ? -x.re : x.re) + (x.im < 0 ? -x.im : x.im);
    else
        return x < 0 ? -x : x;
}
template <typename R> static __device__ inline bool is_nan(R x) { return x != x; }

/* Operands: the addresses of elements 0. */
template <typename T> struct vectors_t {
    typedef T value_t;
    static const bool may_be_packed = true;
    const T *x, *y;
    int64_t incx, incy;
    bool packed;

    /* Of an item of a batch. */
    __device__ inline vectors_t(const ji_vector_t &v, bool two, int64_t item)
        : x(many_vectors<T>(v.head, v.x, v.n, v.incx, v.batch.stride_x).of(item)), y(nullptr),
          incx(v.incx), incy(0), packed(vector_is_packed(x, v.incx)) {
        if (two) {
            y = many_vectors<T>(v.head, v.y, v.n, v.incy, v.batch.stride_y).of(item);
            incy = v.incy;
            packed = packed && vector_is_packed(y, v.incy);
        }
    }
};

/* The same, of types that are arguments. */
template <typename T> struct typed_vectors_t {
    typedef T value_t;
    static const bool may_be_packed = false;
    typed_pointer<T> x, y;
    int64_t incx, incy;

    __device__ inline typed_vectors_t(const ji_vector_t &v, bool two, int64_t)
        : x(typed_start<T>(v.x, v.x_type, v.n, v.incx)), y(x), incx(v.incx), incy(0) {
        if (two)
            y = typed_start<T>(v.y, v.y_type, v.n, v.incy), incy = v.incy;
    }
};

/* This thread's part of a whole block of packed vectors. */
template <typename A, typename T>
static __device__ inline void reduce_packs(const A &a, const vectors_t<T> &v, int64_t first,
                                           typename A::partial_t &sum) {
    typedef pack<T> pack_t;
    const int packs = JI_REDUCE_BLOCK / pack_t::width;
    const pack_t *x = (const pack_t *)(v.x + first),
                 *y = A::two ? (const pack_t *)(v.y + first) : x;

    for (int begin = (int)threadIdx.x; begin < packs; begin += GROUP_THREADS * GPU_PACK_LOADS) {
        pack_t px[GPU_PACK_LOADS], py[GPU_PACK_LOADS];
        GPU_UNROLL
        for (int l = 0; l < GPU_PACK_LOADS; ++l) {
            px[l] = x[begin + l * GROUP_THREADS];
            if (A::two)
                py[l] = y[begin + l * GROUP_THREADS];
        }

        GPU_UNROLL
        for (int l = 0; l < GPU_PACK_LOADS; ++l) {
            const int64_t position = first + (begin + l * GROUP_THREADS) * pack_t::width;
            GPU_UNROLL
            for (int e = 0; e < pack_t::width; ++e)
                a.take(sum, px[l].e[e], A::two ? py[l].e[e] : px[l].e[e], position + e);
        }
    }
}

/* What one thread block knows of the elements [first, first + count), count <= JI_REDUCE_BLOCK;
 * known to all threads. How an element is taken is A: partial_t, two, none(), take(sum, x, y,
 * position), join(a, b). V is vectors_t or typed_vectors_t. */
template <typename A, typename V>
static __device__ typename A::partial_t reduce_elements(const A &a, const V &v, int64_t first,
                                                        int64_t count) {
    typedef typename A::partial_t partial_t;
    typedef typename V::value_t T;
    __shared__ partial_t sums[GROUP_THREADS];
    const int width = pack<T>::width, packs = JI_REDUCE_BLOCK / width;
    partial_t sum = A::none();

    bool packed = false;
    if constexpr (V::may_be_packed) {
        packed = v.packed && count == JI_REDUCE_BLOCK;
        if (packed)
            reduce_packs(a, v, first, sum);
    }
    if (!packed)
        for (int i = (int)threadIdx.x; i < packs; i += GROUP_THREADS)
            for (int e = 0; e < width; ++e) {
                const int64_t position = first + i * width + e;
                if (position - first < count) {
                    const T x = v.x[position * v.incx];
                    a.take(sum, x, A::two ? v.y[position * v.incy] : x, position);
                }
            }

    return group_join_all<A>(sums, sum);
}

/* ---- Reductions ---- */

template <typename T, bool conjugated> struct products_t {
    typedef T value_t;
    typedef T partial_t;
    static const bool two = true;
    static __device__ partial_t none() { return make<T>(0); }
    static __device__ partial_t join(partial_t a, partial_t b) { return a + b; }
    __device__ void take(partial_t &sum, T x, T y, int64_t) const {
        sum = fused(conjugated ? conjugate(x) : x, y, sum);
    }
    template <typename V>
    static __device__ partial_t block(const V &v, int64_t first, int64_t count) {
        return reduce_elements(products_t(), v, first, count);
    }
    static __device__ void finish(const ji_vector_t &v, partial_t whole, int64_t item) {
        ((T *)v.result)[item] = whole;
    }
};

/* Products and sums in double; sdsdot adds alpha, then rounds. */
template <bool ROUNDED> struct wide_products_t {
    typedef float value_t;
    typedef double partial_t;
    static const bool two = true;
    static __device__ double none() { return 0; }
    static __device__ double join(double a, double b) { return a + b; }
    __device__ void take(double &sum, float x, float y, int64_t) const {
        sum = fused((double)x, (double)y, sum);
    }
    template <typename V> static __device__ double block(const V &v, int64_t first, int64_t count) {
        return reduce_elements(wide_products_t(), v, first, count);
    }
    static __device__ void finish(const ji_vector_t &v, double whole, int64_t item) {
        if (ROUNDED)
            ((float *)v.result)[item] = (float)(whole + (double)gpu_scalar<float>(v.alpha));
        else
            ((double *)v.result)[item] = whole;
    }
};

template <typename T> struct magnitudes_t {
    typedef T value_t;
    typedef real_of<T> partial_t;
    static const bool two = false;
    static __device__ partial_t none() { return 0; }
    static __device__ partial_t join(partial_t a, partial_t b) { return a + b; }
    __device__ void take(partial_t &sum, T x, T, int64_t) const { sum += magnitude(x); }
    template <typename V>
    static __device__ partial_t block(const V &v, int64_t first, int64_t count) {
        return reduce_elements(magnitudes_t(), v, first, count);
    }
    static __device__ void finish(const ji_vector_t &v, partial_t whole, int64_t item) {
        ((partial_t *)v.result)[item] = whole;
    }
};

/* The largest element or the smallest and its position; the first of several. NaN comes before all.
 * Nothing has the last of all positions, and one more is 0. */
template <typename R> struct found_t {
    R size; /* negated where the smallest is looked for */
    uint64_t position;
};

template <typename T, bool SMALLEST> struct extreme_t {
    typedef T value_t;
    typedef found_t<real_of<T>> partial_t;
    static const bool two = false;
    static __device__ partial_t none() { return partial_t{-(real_of<T>)INFINITY, UINT64_MAX}; }
    static __device__ partial_t join(partial_t a, partial_t b) {
        const bool same = is_nan(a.size) ? is_nan(b.size) : a.size == b.size;
        const bool left = same ? a.position <= b.position : is_nan(a.size) || a.size > b.size;

        /* Word by word: of one of two structs HIP's compilers take the address, and keep both in
         * memory. */
        return partial_t{left ? a.size : b.size, left ? a.position : b.position};
    }
    __device__ void take(partial_t &best, T x, T, int64_t position) const {
        best = join(best, partial_t{SMALLEST ? -magnitude(x) : magnitude(x), (uint64_t)position});
    }
    template <typename V>
    static __device__ partial_t block(const V &v, int64_t first, int64_t count) {
        return reduce_elements(extreme_t(), v, first, count);
    }
    static __device__ void finish(const ji_vector_t &v, partial_t whole, int64_t item) {
        ((int64_t *)v.result)[item] = (int64_t)(whole.position + 1);
    }
};

/* Sum of squares, each times 4^-exponent. */
struct scaled_sum_t {
    double sum;
    int64_t exponent;
};

template <typename T> struct squares_t {
    typedef double partial_t;
    static const bool two = false;
    static __device__ double none() { return 0; }
    static __device__ double join(double a, double b) { return a + b; }
    __device__ void take(double &sum, T x, T, int64_t) const {
        if constexpr (number<T>::is_complex)
            sum = fused((double)x.im, (double)x.im, fused((double)x.re, (double)x.re, sum));
        else
            sum = fused((double)x, (double)x, sum);
    }
};

template <typename T> struct scaled_squares_t : squares_t<T> {
    int exponent;
    __device__ void take(double &sum, T x, T, int64_t) const {
        double part = ldexp((double)real_part(x), -exponent);
        sum = fused(part, part, sum);

        if constexpr (number<T>::is_complex) {
            part = ldexp((double)x.im, -exponent);
            sum = fused(part, part, sum);
        }
    }
};

/* The largest real or imaginary part; there is no NaN. */
template <typename T> struct largest_part_t {
    typedef double partial_t;
    static const bool two = false;
    static __device__ double none() { return 0; }
    static __device__ double join(double a, double b) { return a < b ? b : a; }
    __device__ void take(double &largest, T x, T, int64_t) const {
        largest = join(largest, magnitude((double)real_part(x)));
        if constexpr (number<T>::is_complex)
            largest = join(largest, magnitude((double)x.im));
    }
};

template <typename T> struct norm_t {
    typedef T value_t;
    typedef scaled_sum_t partial_t;
    static const bool two = false;
    /* A scale that never counts. */
    static __device__ partial_t none() { return partial_t{0, -100000}; }
    static __device__ partial_t join(partial_t a, partial_t b) {
        if (a.exponent < b.exponent)
            return partial_t{ldexp(a.sum, (int)(2 * (a.exponent - b.exponent))) + b.sum,
                             b.exponent};
        return partial_t{a.sum + ldexp(b.sum, (int)(2 * (b.exponent - a.exponent))), a.exponent};
    }
    template <typename V>
    static __device__ partial_t block(const V &v, int64_t first, int64_t count) {
        const double sum = reduce_elements(squares_t<T>(), v, first, count);
        /* Where no square has lost anything that matters, and 2^51 such sums do not overflow. NaN
         * has no better sum. */
        if ((sum >= 0x1p-918 && sum <= 0x1p+960) || is_nan(sum))
            return partial_t{sum, 0};

        const double largest = reduce_elements(largest_part_t<T>(), v, first, count);
        if (largest == 0)
            return none();
        if (largest > 0x1.fffffffffffffp+1023)
            return partial_t{largest, 0};

        scaled_squares_t<T> scaled;
        scaled.exponent = ilogb(largest);
        return partial_t{reduce_elements(scaled, v, first, count), scaled.exponent};
    }
    static __device__ void finish(const ji_vector_t &v, partial_t whole, int64_t item) {
        ((real_of<T> *)v.result)[item] = (real_of<T>)ldexp(sqrt(whole.sum), (int)whole.exponent);
    }
};

/* ---- Kernels ---- */

template <typename S, typename V>
static __device__ inline typename S::partial_t reduce_block(const V &v, int64_t n, int64_t block) {
    const int64_t first = block * JI_REDUCE_BLOCK, rest = n - first;
    return S::block(v, first, rest < JI_REDUCE_BLOCK ? rest : JI_REDUCE_BLOCK);
}

template <typename S, typename V> static __global__ void reduce_blocks_kernel(ji_reduce_t call) {
    const V v(call.vector, S::two, 0);

    for (int64_t i = blockIdx.x; i < call.blocks; i += gridDim.x) {
        const typename S::partial_t partial = reduce_block<S>(v, call.vector.n, i);
        if (threadIdx.x == 0)
            ((typename S::partial_t *)call.partials)[i] = partial;
    }
}

/* Joins the first `count` <= REDUCE_CHUNK of `leaves`, in shared memory, into the first, which
 * thread 0 may read. All but the first may be written at once, as no thread reads them any more;
 * the first is for thread 0 to write. */
template <typename S>
static __device__ inline void reduce_chunk(typename S::partial_t *leaves, int count) {
    __syncthreads(); /* all are there */
    for (int step = 1; step < count; step *= 2) {
        for (int i = (int)threadIdx.x * 2 * step; i + step < count; i += GROUP_THREADS * 2 * step)
            leaves[i] = S::join(leaves[i], leaves[i + step]);
        __syncthreads();
    }
}

/* One level of chunks over the partials that stand `stride` apart. Each chunk's result goes to its
 * first one, the last one's to the caller. */
template <typename S>
static __global__ void reduce_partials_kernel(ji_reduce_t call, int64_t count, int64_t stride) {
    typedef typename S::partial_t partial_t;
    __shared__ partial_t leaves[REDUCE_CHUNK];
    partial_t *partials = (partial_t *)call.partials;

    for (int64_t first = blockIdx.x * (int64_t)REDUCE_CHUNK; first < count;
         first += gridDim.x * (int64_t)REDUCE_CHUNK) {
        const int here = (int)(count - first < REDUCE_CHUNK ? count - first : REDUCE_CHUNK);

        for (int i = (int)threadIdx.x; i < here; i += GROUP_THREADS)
            leaves[i] = partials[(first + i) * stride];

        reduce_chunk<S>(leaves, here);

        if (threadIdx.x == 0 && count <= REDUCE_CHUNK)
            S::finish(call.vector, leaves[0], 0);
        else if (threadIdx.x == 0)
            partials[first * stride] = leaves[0];
    }
}

/* The same by one thread block that computes each partial when it comes to it; a block for each
 * item of a batch. */
template <typename S, typename V>
static __device__ inline void reduce_serial(const ji_reduce_t &call, int64_t item,
                                            typename S::partial_t *leaves,
                                            typename S::partial_t *subtrees) {
    typedef typename S::partial_t partial_t;
    const V v(call.vector, S::two, item);

    int64_t chunks = 0;
    for (int64_t first = 0; first < call.blocks; first += REDUCE_CHUNK, ++chunks) {
        const int here =
            (int)(call.blocks - first < REDUCE_CHUNK ? call.blocks - first : REDUCE_CHUNK);

        for (int i = 0; i < here; ++i) {
            const partial_t partial = reduce_block<S>(v, call.vector.n, first + i);
            if (threadIdx.x == 0)
                leaves[i] = partial;
        }

        reduce_chunk<S>(leaves, here);

        if (threadIdx.x == 0) {
            partial_t tree = leaves[0];
            int level = 0;
            for (; chunks >> level & 1; ++level)
                tree = S::join(subtrees[level], tree);
            subtrees[level] = tree;
        }
    }

    if (threadIdx.x != 0)
        return;

    partial_t whole = S::none();
    bool some = false;
    for (int level = 0; chunks >> level != 0; ++level)
        if (chunks >> level & 1) {
            whole = some ? S::join(subtrees[level], whole) : subtrees[level];
            some = true;
        }

    S::finish(call.vector, whole, item);
}

/* Between items no barrier is needed: what thread 0 reads last it alone writes, but in
 * reduce_chunk() behind a barrier. */
template <typename S, typename V>
static __global__ void reduce_serial_kernel(ji_reduce_t call, int64_t count) {
    typedef typename S::partial_t partial_t;
    __shared__ partial_t leaves[REDUCE_CHUNK];
    /* subtrees[l] is of 2^l chunks, and there if bit l of the number of chunks is set. */
    __shared__ partial_t subtrees[REDUCE_SUBTREES];

    for (int64_t item = blockIdx.x; item < count; item += gridDim.x)
        reduce_serial<S, V>(call, item, leaves, subtrees);
}

/* ---- Primitives ---- */

template <typename S, typename V>
static jstatus_t reduce_blocks_launch(const gpu_call_t *call, const ji_reduce_t *reduce) {
    static_assert(sizeof(typename S::partial_t) <= 2 * sizeof(int64_t),
                  "ji_reduce_partial_bytes()");
    GPU_LAUNCH((reduce_blocks_kernel<S, V>), gpu_blocks(reduce->blocks, 1, GPU_GRID_MOST),
               GROUP_THREADS, call->stream, *reduce);
    return gpu_check_launch(call->device, "reduce_blocks");
}

template <typename S, typename V>
static jstatus_t reduce_combine_launch(const gpu_call_t *call, const ji_reduce_t *reduce) {
    if (reduce->partials == nullptr) {
        const int64_t count = many_count(reduce->vector.head, reduce->vector.batch);
        GPU_LAUNCH((reduce_serial_kernel<S, V>), gpu_blocks(count, 1, GPU_GRID_MOST), GROUP_THREADS,
                   call->stream, *reduce, count);
        return gpu_check_launch(call->device, "reduce_serial");
    }

    jstatus_t status = JSTATUS_SUCCESS;
    int64_t count = reduce->blocks, stride = 1;
    for (bool last = false; !last && status == JSTATUS_SUCCESS; stride *= REDUCE_CHUNK) {
        last = count <= REDUCE_CHUNK;
        GPU_LAUNCH((reduce_partials_kernel<S>), gpu_blocks(count, REDUCE_CHUNK, GPU_GRID_MOST),
                   GROUP_THREADS, call->stream, *reduce, count, stride);
        status = gpu_check_launch(call->device, "reduce_partials");

        count = (count + REDUCE_CHUNK - 1) / REDUCE_CHUNK;
    }
    return status;
}

template <typename S, typename V = vectors_t<typename S::value_t>>
static jstatus_t reduce_launch(const gpu_call_t *call, const ji_reduce_t *reduce,
                               bool to_partials) {
    return to_partials ? reduce_blocks_launch<S, V>(call, reduce)
                       : reduce_combine_launch<S, V>(call, reduce);
}

/* What there is of types that are arguments, too. */
template <typename T, typename V>
static jstatus_t reduce_sums(const gpu_call_t *call, const ji_reduce_t *reduce, bool to_partials) {
    typedef products_t<T, false> plain_t;
    typedef products_t<T, number<T>::is_complex> conjugated_t;

    switch (reduce->reduction) {
    case JI_REDUCE_DOT: return reduce_launch<plain_t, V>(call, reduce, to_partials);
    case JI_REDUCE_DOTC: return reduce_launch<conjugated_t, V>(call, reduce, to_partials);
    case JI_REDUCE_NRM2: return reduce_launch<norm_t<T>, V>(call, reduce, to_partials);
    default: return reduce_launch<magnitudes_t<T>, V>(call, reduce, to_partials);
    }
}

template <typename T>
static jstatus_t reduce_of_type(const gpu_call_t *call, const ji_reduce_t *reduce,
                                bool to_partials) {
    if (reduce->reduction == JI_REDUCE_IAMAX)
        return reduce_launch<extreme_t<T, false>>(call, reduce, to_partials);
    if (reduce->reduction == JI_REDUCE_IAMIN)
        return reduce_launch<extreme_t<T, true>>(call, reduce, to_partials);
    return reduce->typed ? reduce_sums<T, typed_vectors_t<T>>(call, reduce, to_partials)
                         : reduce_sums<T, vectors_t<T>>(call, reduce, to_partials);
}

static jstatus_t reduce_any(const gpu_call_t *call, const ji_reduce_t *reduce, bool to_partials) {
    if (reduce->reduction == JI_REDUCE_DSDOT)
        return reduce_launch<wide_products_t<false>>(call, reduce, to_partials);
    if (reduce->reduction == JI_REDUCE_SDSDOT)
        return reduce_launch<wide_products_t<true>>(call, reduce, to_partials);

    GPU_BY_TYPE(reduce->vector.head.type, return reduce_of_type<T>(call, reduce, to_partials));
    return JSTATUS_INTERNAL_ERROR;
}

jstatus_t gpu_reduce_blocks(const gpu_call_t *call, const void *block) {
    return reduce_any(call, (const ji_reduce_t *)block, true);
}
jstatus_t gpu_reduce_combine(const gpu_call_t *call, const void *block) {
    return reduce_any(call, (const ji_reduce_t *)block, false);
}

/* A reduction by itself: the serial way, which up to JI_REDUCE_BLOCK elements is one block's. A
 * vector without elements has no block. */
static jstatus_t reduce_alone(const gpu_call_t *call, const void *block, ji_reduction_t reduction,
                              bool only_positive, bool typed = false) {
    ji_reduce_t reduce = {};
    reduce.vector = *(const ji_vector_t *)block;
    reduce.reduction = reduction;
    reduce.typed = typed;

    int64_t *n = &reduce.vector.n;
    if (*n < 0 || (only_positive && reduce.vector.incx <= 0))
        *n = 0;
    reduce.blocks = *n / JI_REDUCE_BLOCK + (*n % JI_REDUCE_BLOCK != 0);

    return reduce_any(call, &reduce, false);
}

jstatus_t gpu_dot(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_DOT, false);
}
jstatus_t gpu_dotc(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_DOTC, false);
}
jstatus_t gpu_dsdot(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_DSDOT, false);
}
jstatus_t gpu_sdsdot(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_SDSDOT, false);
}
jstatus_t gpu_nrm2(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_NRM2, false);
}
jstatus_t gpu_asum(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_ASUM, true);
}
jstatus_t gpu_iamax(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_IAMAX, true);
}
jstatus_t gpu_iamin(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_IAMIN, true);
}

/* Of types that are arguments. */
jstatus_t gpu_dot_ex(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_DOT, false, true);
}
jstatus_t gpu_dotc_ex(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_DOTC, false, true);
}
jstatus_t gpu_nrm2_ex(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_NRM2, false, true);
}
jstatus_t gpu_asum_ex(const gpu_call_t *call, const void *block) {
    return reduce_alone(call, block, JI_REDUCE_ASUM, true, true);
}
