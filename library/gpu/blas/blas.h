/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_BLAS_H
#define JALLOC_GPU_BLAS_BLAS_H

/* The primitives of blas/primitives/primitive.h on a GPU. Each is
 *
 *     jstatus_t gpu_<function>(const gpu_call_t *call, const void *block);
 *
 * in the file of its level, and enqueues kernels: it allocates nothing, waits for nothing, reads no
 * memory of the device. The device is current, and what it does is not held against captures
 * elsewhere (gpu_relaxed). What it could not enqueue it says by a status. Scalars known to the host
 * come in the block; others are read by the kernel through their pointer (gpu_scalar). A result
 * (block->result, block->info) is memory that kernels can write: blas.cu has put a slot of the
 * device there where the caller's is on the host.
 *
 * To read: blas.cu first, which has the table of primitives and what becomes of results; then a
 * level that you know.
 *
 *   number.h vector.h group.h      numbers, vectors, and what the threads of one block do together
 *   level1.cu reduce.cu            element by element; sums
 *   rotation.cu                    the rotation of two numbers
 *   stored.h level2.cu trmv.cu     a matrix, a band or a packed triangle and a vector
 *   product.h level3.h level3.cu   a tile of a product, the one kernel of all products, its users
 *   narrow.h half.cu precision.cu  products of narrow numbers, and float by several of them
 *   typed.h                        elements whose type is an argument
 *   tile.h triangle.cu factor.cu   triangles by tiles: inverses, Cholesky's base
 *   triangular.cu                  trmm and trsm by substitution
 *   matrix.h matrix.cu move.cu     matrices without products
 *   vendor_*                       the vendor's library: vendor_blas.h
 *   vendor_solver.h vendor_solver.cu   and its LAPACK
 *
 * What always holds. Sums are added in an order that the sizes decide, without atomics, so each run
 * has the same bits. What is multiplied by an alpha or beta of 0 is not read, so NaN in it stays
 * out; scal alone multiplies. Kernels use no warp intrinsics (gpu/device/vendor.h). Nothing here
 * has been measured on a GPU. */

#include "blas/primitives/primitive.h"
#include "gpu/device/gpu.h"

typedef struct gpu_call_t {
    jdevice_t *device;
    gpuStream_t stream;
    jstream_t *jstream;
    struct gpu_blas_t *blas;
    mutable bool capture_known;
    mutable uint64_t capture; /* where it is known */
} gpu_call_t;

/* The capture that the stream is in; 0: in none. As gpu_capture(), but the runtime is asked once a
 * call. */
jstatus_t gpu_call_capture(const gpu_call_t *call, uint64_t *capture);

typedef jstatus_t (*gpu_primitive_t)(const gpu_call_t *call, const void *block);

#define JI_PRIMITIVE_(enumerator, function)                                                        \
    jstatus_t gpu_##function(const gpu_call_t *call, const void *block);
JI_GPU_ALL_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_

/* The vendor's way of a primitive, or NULL: it has none, or its library is not there. */
gpu_primitive_t gpu_vendor_primitive(gpu_device_t *device, ji_primitive_t primitive);
/* Such as "cuBLAS 13.0"; NULL where the library is not there. Loads it. */
const char *gpu_vendor_blas_name(gpu_device_t *device);

/* Split precision on this GPU, whether its products run on tensor cores, and whether the vendor's
 * library does it all; precision.cu. */
void gpu_split_tuning(jdevice_t *device, ji_tuning_t *tuning);
bool gpu_has_mixed(jdevice_t *device);
bool gpu_has_emulated(jdevice_t *device);
void gpu_triangle_tuning(ji_tuning_t *tuning); /* triangle.cu */

/* Of the vendor's LAPACK: ji_blas_ops_t; vendor_solver.cu. */
jstatus_t gpu_solver_find(jdevice_t *device, int routine);
jstatus_t gpu_solver_bytes(jdevice_t *device, jstream_t *stream, const struct ji_solver *call,
                           struct ji_solver_bytes *bytes);

/* Grids have at most 2^31 - 1 blocks in x and 65535 in y and z; kernels loop where that may not be
 * enough. */
/* Along x no more than these are asked for. The tests build the fake modules with few, so that the
 * loops do run. */
#ifndef GPU_GRID_MOST
#define GPU_GRID_MOST 65536
#endif
static inline unsigned gpu_blocks(int64_t items, int64_t per_block, int64_t most) {
    int64_t blocks = (items + per_block - 1) / per_block;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

#endif
