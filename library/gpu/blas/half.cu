/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm of 16-bit numbers, summed in float: the vendor's on its matrix units, jalloc's kernels where
 * it has none.
 *
 * An alpha on the device may be 0, and then NaN in A and B must not reach C, which the vendor does
 * not promise: so that is ours as well, as for the other types. */

#include "blas/primitives/precision.h"
#include "gpu/blas/level3.h"
#include "gpu/blas/vendor_blas.h"

static bool half_is_known(const ji_matmat_t *args) {
    return args->k > 0 && args->alpha.pointer == nullptr && args->alpha.value.s != 0;
}

jstatus_t gpu_gemm_half(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    const bool f16 = args->head.type == JDATATYPE_F16;
    if (half_is_known(args)) {
        const jstatus_t status =
            gpu_vendor_gemm_ex(call, args, f16 ? GPU_NARROW_F16 : GPU_NARROW_BF16, true);
        if (status != JSTATUS_NOT_IMPLEMENTED)
            return status;
    }
    return f16 ? level3_gemm<float, jfloat16_t, jfloat16_t>(call, args, LEVEL3_ONE)
               : level3_gemm<float, jbfloat16_t, jbfloat16_t>(call, args, LEVEL3_ONE);
}
