/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_BATCHED_H
#define JALLOC_JBLAS_BATCHED_H

/** @file
 * BLAS on a handle, batches: a routine for many matrices or vectors of one shape, by one call.
 *
 * Each routine has two batched forms. They take what the plain one takes, in its order, and
 * batch_count last:
 * - **jblas_<name>_batched**: where the plain form has an operand, an array of batch_count pointers
 *   to operands.
 * - **jblas_<name>_strided_batched**: behind the leading dimension or the increment of each operand
 *   a stride: the operand of item i stands at operand + i * stride, in elements. Strides may be
 *   negative; that of an operand which is only read may be 0, which is one operand for all items.
 *
 * What holds for all of them, beside what holds for the plain form (jblas.h):
 * - **Items.** Sizes, enums and scalars are those of all items. A result (of dot, nrm2, asum,
 *   iamax; info) is an array of batch_count values, which follow each other; the numbers of rotg
 *   and rotmg are operands. On the host an item has the bits that the plain call gives it, with the
 *   accuracy componentwise; gemm's other ways are not for batches.
 * - **Overlap.** Items of an output must not overlap each other. By strides they may interleave (m
 *   = 2, ldc = 6, stride_c = 2: rows 0 1, 2 3 and 4 5 of one matrix) but not share an element,
 *   which is an invalid size; of a triangle the whole square counts. Arrays of pointers are not
 *   compared.
 * - **Arrays of pointers** are read in stream order: they must stay valid until the stream has
 *   passed, as the operands do. On the host, in a call that runs at once, a NULL among pointers
 *   that are needed is an invalid pointer, and the message has its index; a call in a created
 *   stream does not look. On a GPU the arrays are in memory of the device, where kernels read them,
 *   and nobody looks for a NULL; but those of rotg and rotmg are where their numbers are, by
 *   pointer mode. Where items are enqueued one after the other the call brings the arrays to the
 *   host, 256 items at a time, for which it waits: it cannot be captured. There a NULL ends the
 *   call, an invalid pointer, with the items before it enqueued.
 * - **Order of checks.** batch_count and strides come behind the other sizes. With a batch_count of
 *   0 there is no work: success, and no pointer is looked at. One with which arrays of pointers, or
 *   results, are more than memory can hold is an invalid size.
 * - **Threads.** On the host the items are divided evenly among the handle's threads, each done by
 *   one of them, where there are as many; fewer are done one after the other, each by all.
 * - **Workspace.** That of the plain form; for items that are divided among T threads T times that
 *   of one item and one thread, under the same names. The last rung needs none.
 * - **GPUs.** One launch, or as many as a plain call has, for all items; results in host pointer
 *   mode come as many at a time as 256 bytes hold. One after the other are enqueued the items of
 *   gemm3m and of the extensions that move matrices (geam, dgmm, omatcopy, imatcopy, trttp, tpttr),
 *   of libjlapack's trtri, potrf and potrs, of operands of several types, of solves that borrow
 *   workspace, and of sums and iamax of more than 4096 elements.
 *
 * As the plain forms they may be called from any thread, on a handle that no other thread uses. */

#include "jalloc/jblas_batched_ex.h"
#include "jalloc/jblas_batched_extensions.h"
#include "jalloc/jblas_batched_level1.h"
#include "jalloc/jblas_batched_level2.h"
#include "jalloc/jblas_batched_level3.h"

#endif
