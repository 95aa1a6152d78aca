/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrix and matrix by the vendor's library, and its product of narrow numbers. */

#include "gpu/blas/vendor_blas.h"

#if GPU_HAS_BLAS

#include "gpu/blas/vendor_call.h"

#define VENDOR_MATMAT(args, block)                                                                 \
    const ji_matmat_t *args = (const ji_matmat_t *)block;                                          \
    const jdatatype_t type = args->head.type;                                                      \
    vendor_scalars scalars

jstatus_t vendor_gemm(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_gemm(call, block);

    return vendor_run(call, scalars.mode, gpu_gemm, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, gemm, turn.handle(), vendor_operation(type, args->transa),
                           vendor_operation(type, args->transb), args->m, args->n, args->k,
                           any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b),
                           args->ldb, any(scalars.beta(turn)), any(args->c), args->ldc);
    });
}

jstatus_t vendor_gemm_batched(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (ji_is_complex(type) || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_gemm_batched(call, block);

    return vendor_run(call, scalars.mode, gpu_gemm_batched, block, [&](const vendor_turn &turn) {
        return VENDOR_REAL_(type, gemmBatched, turn.handle(), vendor_operation(type, args->transa),
                            vendor_operation(type, args->transb), args->m, args->n, args->k,
                            any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b),
                            args->ldb, any(scalars.beta(turn)), any(args->c), args->ldc,
                            args->batch.count);
    });
}

jstatus_t vendor_gemm_strided(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || args->batch.stride_a < 0 || args->batch.stride_b < 0 ||
        args->batch.stride_c < 0 || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_gemm_strided(call, block);

    return vendor_run(call, scalars.mode, gpu_gemm_strided, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, gemmStridedBatched, turn.handle(),
                           vendor_operation(type, args->transa),
                           vendor_operation(type, args->transb), args->m, args->n, args->k,
                           any(scalars.alpha(turn)), any(args->a), args->lda, args->batch.stride_a,
                           any(args->b), args->ldb, args->batch.stride_b, any(scalars.beta(turn)),
                           any(args->c), args->ldc, args->batch.stride_c, args->batch.count);
    });
}

jstatus_t vendor_symm(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_symm(call, block);

    return vendor_run(call, scalars.mode, gpu_symm, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, symm, turn.handle(), vendor_side(args->side),
                           vendor_uplo(args->uplo), args->m, args->n, any(scalars.alpha(turn)),
                           any(args->a), args->lda, any(args->b), args->ldb,
                           any(scalars.beta(turn)), any(args->c), args->ldc);
    });
}

jstatus_t vendor_syrk(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_syrk(call, block);

    return vendor_run(call, scalars.mode, gpu_syrk, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, syrk, turn.handle(), vendor_uplo(args->uplo),
                           vendor_operation(type, args->transa), args->n, args->k,
                           any(scalars.alpha(turn)), any(args->a), args->lda,
                           any(scalars.beta(turn)), any(args->c), args->ldc);
    });
}

jstatus_t vendor_herk(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    const jdatatype_t scalar = ji_real_of(type);
    if (!vendor_fits(args) || args->k == 0 || !vendor_alpha_counts(scalar, &args->alpha) ||
        !scalars.take(scalar, &args->alpha, &args->beta))
        return gpu_herk(call, block);

    return vendor_run(call, scalars.mode, gpu_herk, block, [&](const vendor_turn &turn) {
        return VENDOR_COMPLEX_(type, herk, turn.handle(), vendor_uplo(args->uplo),
                               vendor_operation(type, args->transa), args->n, args->k,
                               any(scalars.alpha(turn)), any(args->a), args->lda,
                               any(scalars.beta(turn)), any(args->c), args->ldc);
    });
}

/* alpha counts, so it is on the host, and beta with it: two types need no table of constants. */
static jstatus_t vendor_syr2k_any(const gpu_call_t *call, const void *block, bool hermitian) {
    VENDOR_MATMAT(args, block);
    gpu_primitive_t ours = hermitian ? gpu_her2k : gpu_syr2k;
    if (!vendor_fits(args) || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return ours(call, block);

    return vendor_run(call, scalars.mode, ours, block, [&](const vendor_turn &turn) {
#define VENDOR_SYR2K_ARGUMENTS                                                                     \
    turn.handle(), vendor_uplo(args->uplo), vendor_operation(type, args->trans), args->n, args->k, \
        any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b), args->ldb,                \
        any(scalars.beta(turn)), any(args->c), args->ldc
        return hermitian ? VENDOR_COMPLEX_(type, her2k, VENDOR_SYR2K_ARGUMENTS)
                         : VENDOR_ALL_(type, syr2k, VENDOR_SYR2K_ARGUMENTS);
#undef VENDOR_SYR2K_ARGUMENTS
    });
}
jstatus_t vendor_syr2k(const gpu_call_t *call, const void *block) {
    return vendor_syr2k_any(call, block, false);
}
jstatus_t vendor_her2k(const gpu_call_t *call, const void *block) {
    return vendor_syr2k_any(call, block, true);
}

/* trmm and trsm write B alone, so a zero that alpha on the device turns out to be is put right
 * afterwards. */
static jstatus_t vendor_clear(const gpu_call_t *call, const ji_matmat_t *args, jstatus_t status) {
    return status == JSTATUS_SUCCESS && args->alpha.pointer != nullptr
               ? gpu_triangle_clear(call, args)
               : status;
}

jstatus_t vendor_trmm(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || ji_scalar_is(&args->alpha, type, 0) ||
        !scalars.take(type, &args->alpha, nullptr))
        return gpu_trmm(call, block);

    const jstatus_t status =
        vendor_run(call, scalars.mode, gpu_trmm, block, [&](const vendor_turn &turn) {
            return VENDOR_ALL_(type, trmm, turn.handle(), vendor_side(args->side),
                               vendor_uplo(args->uplo), vendor_operation(type, args->transa),
                               vendor_diagonal(args->diag), args->m, args->n,
                               any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b),
                               args->ldb, any(args->b), args->ldb);
        });

    return vendor_clear(call, args, status);
}

jstatus_t vendor_trsm(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || ji_scalar_is(&args->alpha, type, 0) ||
        !scalars.take(type, &args->alpha, nullptr))
        return gpu_trsm(call, block);

    const jstatus_t status =
        vendor_run(call, scalars.mode, gpu_trsm, block, [&](const vendor_turn &turn) {
            return VENDOR_ALL_(
                type, trsm, turn.handle(), vendor_side(args->side), vendor_uplo(args->uplo),
                vendor_operation(type, args->transa), vendor_diagonal(args->diag), args->m, args->n,
                any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b), args->ldb);
        });

    return vendor_clear(call, args, status);
}

jstatus_t vendor_geam(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || ji_scalar_is(&args->alpha, type, 0) ||
        ji_scalar_is(&args->beta, type, 0) || !scalars.take(type, &args->alpha, &args->beta))
        return gpu_geam(call, block);

    return vendor_run(call, scalars.mode, gpu_geam, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, geam, turn.handle(), vendor_operation(type, args->transa),
                           vendor_operation(type, args->transb), args->m, args->n,
                           any(scalars.alpha(turn)), any(args->a), args->lda,
                           any(scalars.beta(turn)), any(args->b), args->ldb, any(args->c),
                           args->ldc);
    });
}

/* ---- Narrow numbers ---- */

jstatus_t gpu_vendor_gemm_ex(const gpu_call_t *call, const ji_matmat_t *args, gpu_narrow_t narrow,
                             bool narrow_result) {
    vendor_scalars scalars;
    if (gpu_vendor_blas_name(gpu_device(call->device)) == nullptr ||
        !scalars.take(JDATATYPE_F32, &args->alpha, &args->beta))
        return JSTATUS_NOT_IMPLEMENTED;

    auto inputs = narrow == GPU_NARROW_F16 ? GPU_BLAS_TYPE_(R_16F) : GPU_BLAS_TYPE_(R_16BF);
    auto compute = GPU_BLAS_ENUM_(COMPUTE_32F);

    if (narrow == GPU_NARROW_BF16X9) {
#if defined(GPU_BLAS_BF16X9_SINCE)
        inputs = GPU_BLAS_TYPE_(R_32F);
        compute = GPU_BLAS_ENUM_(COMPUTE_32F_EMULATED_16BFX9);
#endif
        if (!gpu_vendor_has_bf16x9(gpu_device(call->device)) || !vendor_fits(args))
            return JSTATUS_NOT_IMPLEMENTED;
    }

    const auto result = narrow_result ? inputs : GPU_BLAS_TYPE_(R_32F);
    return vendor_run(call, scalars.mode, nullptr, nullptr, [&](const vendor_turn &turn) {
        return VENDOR_CALL_(GemmEx, turn.handle(), vendor_operation(JDATATYPE_F32, args->transa),
                            vendor_operation(JDATATYPE_F32, args->transb), args->m, args->n,
                            args->k, scalars.alpha(turn), args->a, inputs, args->lda, args->b,
                            inputs, args->ldb, scalars.beta(turn), args->c, result, args->ldc,
                            compute, GPU_BLAS_DEFAULT_ALGORITHM);
    });
}

#endif
