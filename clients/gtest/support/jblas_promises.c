/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Properties of every function that hold on the host and on GPUs alike: each is a body of tests of
 * both programs, which give the handle and the way to call. */

#include "jblas_routines.h"

#include <stdlib.h>

bool blas_call_is_right(jhandle_t *handle, blas_case_t *c, blas_caller_t *call) {
    const jstatus_t status = call(handle, c);
    if (status == JSTATUS_SUCCESS)
        return blas_right(c);
    JFAIL("%s: %s (%s)", blas_describe(c), jstatus_name(status), jhandle_last_message(handle));
    return false;
}

void blas_zero_scalars_read_nothing(jhandle_t *handle, const blas_function_t *function,
                                    blas_caller_t *call) {
    bool right = true;
    for (int64_t i = 0; i < 16 && right; ++i) {
        BLAS_CASE(c, function, .low = 1, .high = i % 8 < 6 ? 9 : 70, .alpha_zero = (i & 1) != 0,
                  .beta_zero = (i & 2) != 0, .beta_one = i >= 8);
        JEXPECT_OK(
            jhandle_set_pointer_mode(handle, i & 4 ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST));
        right = blas_call_is_right(handle, c, call);
    }
}

void blas_requirement_is_continuous(jhandle_t *handle, const blas_function_t *function,
                                    double growth) {
    static const int64_t centres[] = {16,  32,   64,   96,   128,  192,  256,
                                      512, 1024, 2048, 4096, 8192, 16384};
    for (int64_t draw = 0; draw < 6; ++draw)
        for (size_t i = 0; i < sizeof centres / sizeof *centres; ++i) {
            BLAS_CASE(c, function, .low = 2, .high = 2, .plain = true, .hollow = true);
            const double element_bytes = (double)jhandle_sizeof_datatype(c->compute_type);
            size_t before = 0;
            for (int64_t n = centres[i] - 2; n <= centres[i] + 2; ++n) {
                blas_resize(c, n, n, n);
                const size_t bytes = blas_query(handle, c);
                const double begins = before ? 0 : 6.0 * element_bytes * (double)(n * n);
                if (n > centres[i] - 2 &&
                    (double)bytes > growth * (double)before + begins + 65536) {
                    JFAIL("%s: %zu bytes at %ld, %zu at %ld", blas_describe(c), before, (long)n - 1,
                          bytes, (long)n);
                    break;
                }
                before = bytes;
            }
        }
}

void blas_same_bits_for_any_workspace(jhandle_t *handle, blas_case_t *c, blas_caller_t *call) {
    const size_t granule = jdevice_granule_bytes(jhandle_device(handle)),
                 fast_bytes = blas_query(handle, c);
    JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS));
    const size_t bytes = blas_query(handle, c);
    JEXPECT_LE(bytes, fast_bytes);
    JEXPECT_OK(call(handle, c));
    blas_right(c);
    unsigned char *answer = blas_snapshot(c);

    const size_t sizes[] = {granule, bytes / 2, bytes, fast_bytes, fast_bytes + 65536};
    for (int i = 0; i < 5; ++i) {
        if (sizes[i] < granule)
            continue;
        JSCOPED_TRACE("%s, %zu bytes of %zu (fast: %zu)", blas_describe(c), sizes[i], bytes,
                      fast_bytes);
        JEXPECT_OK(jhandle_set_workspace_size(handle, sizes[i]));
        blas_restore(c);
        const jstatus_t status = call(handle, c);
        if (status != JSTATUS_PERF_DEGRADED || sizes[i] >= bytes)
            JEXPECT_OK(status);
        JEXPECT_TRUE(blas_same_as(c, answer));
    }
    free(answer);
}
