/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_PRODUCT_H
#define JALLOC_GPU_BLAS_PRODUCT_H

/* A tile of a product of matrices, computed by one block of threads: what level 3 and the triangles
 * stand on.
 *
 *                      depth p -->   +---------+
 *                                    |    B    |  lines of B are columns of the product
 *                      DEPTH         +---------+
 *                     +--+--+--      +---------+
 *        lines of A   |  |  |        |  SIDE x |
 *        are rows of  |  |  |        |   SIDE  |
 *        the product  |  |  |        |         |
 *                     +--+--+--      +---------+
 *
 * Slices of DEPTH of both operands stand in shared memory, two of each: one is multiplied while the
 * next is on its way through registers. A thread has EACH x EACH sums in registers, so it does
 * EACH^2 products for 2 EACH numbers that it reads.
 *
 * An operand is a view, lines by depth: a first element, two strides of either sign, and whether it
 * is conjugated. So transposition, sides and reversed triangles are gone when a kernel begins.
 * Slices are read along whichever stride is 1 or -1, and lie in shared memory with their lines one
 * after the other, rows padded by 16 bytes: then neither writing along the depth nor reading CHUNKs
 * of 16 bytes along the lines makes two threads of a group want one bank.
 *
 * Operands may be of a narrower type than what is multiplied, or of one that is known when the
 * kernel runs (typed.h): they are widened on their way into shared memory.
 *
 * A symmetric, Hermitian or skew-symmetric operand is read from one triangle: an element of the
 * other is the mirrored one.
 *
 * What lies beyond the matrix counts as 0 in both operands at once, so that 0 meets no NaN. */

#include "gpu/blas/blas.h"
#include "gpu/blas/typed.h"

template <typename T, int SIDE_, int EACH_> struct product_tile {
    static constexpr int SIDE = SIDE_, EACH = EACH_, DEPTH = 8;
    static constexpr int ACROSS = SIDE / EACH, THREADS = ACROSS * ACROSS;
    /* Elements of a slice that a thread brings. */
    static constexpr int LOADS = SIDE * DEPTH / THREADS;
    static constexpr int CHUNK = 16 / (int)sizeof(T); /* elements that are read at once */
    static constexpr int ROW = SIDE + CHUNK, SLICE = DEPTH * ROW;
    static constexpr int SHARED = 4 * SLICE; /* elements: two slices of two operands */
    static_assert(EACH % CHUNK == 0 && THREADS % SIDE == 0 && THREADS % DEPTH == 0,
                  "whole chunks, whole rows");
    static_assert(SHARED * sizeof(T) <= 48 * 1024, "static shared memory is limited");

    static int64_t count(int64_t m, int64_t n, int64_t batch_count) {
        return ((m + SIDE - 1) / SIDE) * ((n + SIDE - 1) / SIDE) * batch_count;
    }
    /* Whether tiles as large as these are mostly full and keep every multiprocessor busy. Not
     * measured on a GPU yet. */
    static bool suits(jdevice_t *device, int64_t m, int64_t n, int64_t batch_count) {
        return 2 * m > SIDE && 2 * n > SIDE &&
               count(m, n, batch_count) >= gpu_device(device)->properties.multiprocessors;
    }
    /* Which line of the tile the i-th of a thread's is, for threads counted along one side. */
    static __device__ inline int line(int across, int i) {
        return i / CHUNK * (CHUNK * ACROSS) + across * CHUNK + i % CHUNK;
    }
};

template <typename T> struct product_operand {
    typedef typename stored_at<const T>::pointer pointer;
    pointer data;        /* of a batch: of item 0, and what follows; or by an array of pointers */
    int64_t line, depth; /* strides, elements */
    bool conjugate;
    /* The strides are those of elements with line >= depth; the others are mirrored ones. */
    bool symmetric;
    /* Also: mirrored ones are conjugated against the others, and the diagonal is real. */
    bool hermitian;
    /* Or: they are negated against the others, which `conjugate` then stands for, and the diagonal
     * is zeros, and not read. */
    bool skew;
    int64_t stride;
    const pointer *array; /* NULL: by the stride */

    /* As the operand of an item. */
    __device__ inline product_operand of(int64_t item) const {
        product_operand one = *this;
        one.data = array != nullptr ? array[item] : data + item * stride;
        return one;
    }
};

/* The operand of a batch, or of a plain call, that begins here. */
template <typename T>
static inline product_operand<T>
product_items(const ji_head_t *head, typename product_operand<T>::pointer data, int64_t stride) {
    product_operand<T> operand = {};
    operand.data = data;
    operand.stride = head->form == JI_FORM_STRIDED ? stride : 0;
    if (head->form == JI_FORM_POINTERS)
        operand.array = (const typename product_operand<T>::pointer *)data;
    return operand;
}

static __device__ inline bool product_is_one(int64_t stride) { return stride == 1 || stride == -1; }

/* A thread's part in bringing the slices of an operand, from its line `first_line` on. With
 * SYMMETRIC the operand may be symmetric. */
template <typename T, typename TILE, bool SYMMETRIC, typename STORED = T> struct product_loader {
    product_operand<STORED> from;
    /* This thread's first element of the next slice; unless SYMMETRIC. */
    typename stored_at<const STORED>::pointer data;
    int64_t first; /* line */
    int lines;     /* that there are, of the tile's */
    /* This thread's elements in a slice: line and depth of the first, and on. */
    int line, at, line_step, at_step;
    T next[TILE::LOADS];

    __device__ inline product_loader(const product_operand<STORED> &operand, int64_t first_line,
                                     int64_t line_count)
        : from(operand), first(first_line),
          lines(line_count - first_line < TILE::SIDE ? (int)(line_count - first_line)
                                                     : TILE::SIDE) {
        aim(product_is_one(operand.line));
        data = from.data + ((first + line) * from.line + at * from.depth);
    }

    /* Neighbouring threads bring neighbouring lines, or neighbouring depths. */
    __device__ inline void aim(bool along_lines) {
        const int thread = (int)threadIdx.x;
        line = along_lines ? thread % TILE::SIDE : thread / TILE::DEPTH;
        at = along_lines ? thread / TILE::SIDE : thread % TILE::DEPTH;
        line_step = along_lines ? 0 : TILE::THREADS / TILE::DEPTH;
        at_step = along_lines ? TILE::THREADS / TILE::SIDE : 0;
    }

    __device__ inline T mirrored(int64_t l, int64_t d) const {
        const bool mirror = from.symmetric && d > l;
        if (from.skew && l == d)
            return make<T>(0);
        const T value =
            widen(from.data[(mirror ? d : l) * from.line + (mirror ? l : d) * from.depth]);

        if (from.hermitian && l == d)
            return make<T>(real_part(value));
        const bool other = from.conjugate != ((from.hermitian || from.skew) && mirror);
        if (from.skew)
            return other ? -value : value;
        return conjugate_if(other, value);
    }

    /* The slice at depth p into registers, of which `left` lie within the operand. Slices come one
     * after the other. */
    __device__ inline void fetch(int64_t p, int64_t left) {
        if constexpr (SYMMETRIC) /* the stride of 1 is along the other side in the mirrored half */
            aim(product_is_one(from.line) != (from.symmetric && p > first));

        GPU_UNROLL
        for (int i = 0; i < TILE::LOADS; ++i) {
            const int l = line + i * line_step, d = at + i * at_step;
            if (l >= lines || d >= left)
                next[i] = make<T>(0);
            else if constexpr (SYMMETRIC)
                next[i] = mirrored(first + l, p + d);
            else
                next[i] =
                    conjugate_if(from.conjugate,
                                 widen(data[i * (line_step * from.line + at_step * from.depth)]));
        }
        data += TILE::DEPTH * from.depth;
    }

    /* From registers into shared memory; as the last fetch was aimed. */
    __device__ inline void put(T *slice) const {
        GPU_UNROLL
        for (int i = 0; i < TILE::LOADS; ++i)
            slice[(at + i * at_step) * TILE::ROW + line + i * line_step] = next[i];
    }
};

/* sum += A B over a depth. All threads of the block call it; on return `shared` (TILE::SHARED
 * elements, aligned to 16 bytes) may be used for something else. Before the call nothing that
 * others still read may stand there. */
template <typename T, typename TILE, typename A, typename B>
static __device__ inline void product_accumulate(T *shared, A &a, B &b, int64_t depth,
                                                 T (&sum)[TILE::EACH][TILE::EACH]) {
    const int across = (int)threadIdx.x % TILE::ACROSS, down = (int)threadIdx.x / TILE::ACROSS;
    if (depth <= 0)
        return;

    a.fetch(0, depth);
    b.fetch(0, depth);
    a.put(shared);
    b.put(shared + TILE::SLICE);
    __syncthreads();

    int now = 0;
    for (int64_t p = 0; p < depth; p += TILE::DEPTH) {
        const bool more = p + TILE::DEPTH < depth;
        if (more) {
            a.fetch(p + TILE::DEPTH, depth - p - TILE::DEPTH);
            b.fetch(p + TILE::DEPTH, depth - p - TILE::DEPTH);
        }

        const T *slice_a = shared + now * 2 * TILE::SLICE, *slice_b = slice_a + TILE::SLICE;

        GPU_NO_UNROLL
        for (int d = 0; d < TILE::DEPTH; ++d) {
            T row[TILE::EACH], column[TILE::EACH];
            GPU_UNROLL
            for (int i = 0; i < TILE::EACH; ++i) {
                row[i] = slice_a[d * TILE::ROW + TILE::line(across, i)];
                column[i] = slice_b[d * TILE::ROW + TILE::line(down, i)];
            }

            GPU_UNROLL
            for (int j = 0; j < TILE::EACH; ++j) {
                GPU_UNROLL
                for (int i = 0; i < TILE::EACH; ++i)
                    sum[j][i] = multiply_add(row[i], column[j], sum[j][i]);
            }
        }

        now ^= 1;
        if (more) { /* the slices of before the last barrier, which nobody reads any more */
            a.put(shared + now * 2 * TILE::SLICE);
            b.put(shared + now * 2 * TILE::SLICE + TILE::SLICE);
        }

        __syncthreads();
    }
}

template <typename T, int EACH> static __device__ inline void product_clear(T (&sum)[EACH][EACH]) {
    GPU_UNROLL
    for (int j = 0; j < EACH; ++j) {
        GPU_UNROLL
        for (int i = 0; i < EACH; ++i)
            sum[j][i] = make<T>(0);
    }
}

#endif
