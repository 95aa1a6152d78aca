/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JBLAS_H
#define JALLOC_JBLAS_H

/** @file
 * BLAS on a handle: libjblas.
 *
 * A routine has the name of BLAS behind "jblas_", a handle first, and the arguments of BLAS in
 * their order; matrices are column-major. Sizes, increments and leading dimensions are int64_t and
 * count elements. A leading dimension must be at least max(1, rows as stored). Increments may be
 * negative, as in BLAS: the vector then starts at its last address. 0 is refused at level 2; at
 * level 1 it is what reference BLAS makes of it: all n elements are one, taken in turn (axpy adds
 * them up in y, copy leaves the last), and a vector without elements for asum, iamax and scal.
 *
 * What holds for all routines:
 * - **Scalars and results.** Scalars come by pointer. In host pointer mode they are read before the
 *   call returns and results are there on return, for which the call waits for the handle's stream
 *   (NULL on the host: no wait). In device mode both are accessed in stream order and nothing
 *   waits.
 * - **Stream.** Runs in the handle's stream and does not wait for it, but for results in host
 *   pointer mode and growth
 * of the workspace in default mode. Operands must stay valid until the stream has passed.
 * - **Order of checks.** Handle; enums; sizes, leading dimensions, increments; the size query is
 *   answered; a call without work returns; pointers; the workspace is borrowed; it runs. Operands
 *   that BLAS does not read (A and B where alpha is a known 0 or k is 0) may be NULL, and are not
 *   handed to the CBLAS. On any error but a device error operands are unchanged.
 * - **Statuses.** Success; perf degraded (routines with a plan, done on a lower rung); invalid
 *   handle; invalid value, invalid size, invalid pointer (jhandle_last_message() names the argument
 *   and its value); memory error and sealed (routines with a plan); during a size query: size
 *   increased or size unchanged; forked, busy, capturing and device error (as jborrow_begin()); not
 *   implemented (the device has no BLAS). Below only what is special is said.
 * - **Size query.** A routine without a plan answers size unchanged. Operands are not looked at.
 * - **Zeros, NaN, infinity.** beta = 0: the output is not read. alpha = 0: A, B, x are not read;
 *   with alpha in device memory their contents do not matter. Other products are formed as they
 *   stand, so 0 * NaN is NaN; scal multiplies by a zero alpha too, as reference BLAS does.
 * - **Overlap.** An output must not overlap an input, unless said otherwise.
 * - **Sizes beyond the CBLAS.** Where a CBLAS computes that takes 32-bit integers, level 1, gemm
 *   and gemm batched split what is larger into several calls; other routines refuse a size,
 *   increment or leading dimension above 2^31 - 1 with invalid size, unless there is no work. The
 *   host's own kernels take any.
 * - **The first call** of a process on the host reads JALLOC_HOST_BLAS, JALLOC_HOST_ISA and
 *   JALLOC_CBLAS, and loads the CBLAS where it is wanted. It is invalid configuration where the
 *   processor lacks the kernels, not found where there is no CBLAS, and so is the next call until
 *   that is mended. The CBLAS's settings (threads) are left as they are. */

#include <stddef.h>
#include <stdint.h>

#include "jalloc/export.h"
#include "jalloc/jblas_batched.h"
#include "jalloc/jblas_ex.h"
#include "jalloc/jblas_extensions.h"
#include "jalloc/jblas_level1.h"
#include "jalloc/jblas_level2.h"
#include "jalloc/jblas_level3.h"
#include "jalloc/jblas_types.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What computes on the host, as JALLOC_HOST_BLAS says: "own", jblas's own kernels, or "cblas". The
 * first call on the host decides it for the process and makes what it needs; so does this, if no
 * call has.
 * @param name static
 * @return success; invalid pointer; invalid configuration; not found (the CBLAS is not to be
 * had). */
JALLOC_API jstatus_t jblas_get_host_blas(const char **name);
/** The kernels of jblas's own that run on the host, "avx512", "avx2" or "generic": the best that
 * the processor has, or those that JALLOC_HOST_ISA names. Everything else as
 * jblas_get_host_blas(). */
JALLOC_API jstatus_t jblas_get_host_isa(const char **name);

/** The CBLAS that is there for JALLOC_HOST_BLAS=cblas, such as "OpenBLAS 0.3.21 DYNAMIC_ARCH", or
 * its file where it does not say; "no CBLAS" where none is found. Static. It is loaded, as by the
 * next two functions, if no call has. */
JALLOC_API const char *jblas_cblas_name(void);
/** Bits of an integer of that CBLAS: 32 or 64; 0 where none is found. */
JALLOC_API int jblas_cblas_int_bits(void);

/** A kernel of the CBLAS that was compared with its definition. Frozen. */
typedef struct jblas_cblas_kernel_t {
    const char *name; /**< such as "cblas_scasum" */
    /** 0: it is right; otherwise the first of the lengths tried at which it is wrong */
    int64_t wrong_length;
    /** what jblas takes instead of a wrong one, in words; NULL for one that is right */
    const char *instead;
} jblas_cblas_kernel_t;

/** What the self-check found. Some kernels of some versions are wrong on some processors, without a
 * sign of it; so before the CBLAS computes those that are known to be weak are compared with plain
 * sums of small integers, once, in microseconds. One that is wrong is not called again, which is
 * logged as a warning. Makes the check if no call has.
 * @return the kernel of that index, static; NULL beyond the last, and for all where no CBLAS is
 * found. */
JALLOC_API const jblas_cblas_kernel_t *jblas_cblas_kernel_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
