/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrix and vector by the vendor's library. */

#include "gpu/blas/vendor_blas.h"

#if GPU_HAS_BLAS

#include "gpu/blas/vendor_call.h"

#define VENDOR_MATVEC(args, block)                                                                 \
    const ji_matvec_t *args = (const ji_matvec_t *)block;                                          \
    const jdatatype_t type = args->head.type;                                                      \
    vendor_scalars scalars

jstatus_t vendor_gemv(const gpu_call_t *call, const void *block) {
    VENDOR_MATVEC(args, block);
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_gemv(call, block);

    return vendor_run(call, scalars.mode, gpu_gemv, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, gemv, turn.handle(), vendor_operation(type, args->trans), args->m,
                           args->n, any(scalars.alpha(turn)), any(args->a), args->lda, any(args->x),
                           args->incx, any(scalars.beta(turn)), any(args->y), args->incy);
    });
}

static jstatus_t vendor_ger_any(const gpu_call_t *call, const void *block, bool conjugate) {
    VENDOR_MATVEC(args, block);
    gpu_primitive_t ours = conjugate ? gpu_gerc : gpu_ger;
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, nullptr))
        return ours(call, block);

    return vendor_run(call, scalars.mode, ours, block, [&](const vendor_turn &turn) {
#define VENDOR_GER_ARGUMENTS                                                                       \
    turn.handle(), args->m, args->n, any(scalars.alpha(turn)), any(args->x), args->incx,           \
        any(args->y), args->incy, any(args->a), args->lda
        if (!ji_is_complex(type))
            return VENDOR_REAL_(type, ger, VENDOR_GER_ARGUMENTS);
        return conjugate ? VENDOR_COMPLEX_(type, gerc, VENDOR_GER_ARGUMENTS)
                         : VENDOR_COMPLEX_(type, geru, VENDOR_GER_ARGUMENTS);
#undef VENDOR_GER_ARGUMENTS
    });
}
jstatus_t vendor_ger(const gpu_call_t *call, const void *block) {
    return vendor_ger_any(call, block, false);
}
jstatus_t vendor_gerc(const gpu_call_t *call, const void *block) {
    return vendor_ger_any(call, block, true);
}

jstatus_t vendor_symv(const gpu_call_t *call, const void *block) {
    VENDOR_MATVEC(args, block);
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_symv(call, block);

    return vendor_run(call, scalars.mode, gpu_symv, block, [&](const vendor_turn &turn) {
#define VENDOR_SYMV_ARGUMENTS                                                                      \
    turn.handle(), vendor_uplo(args->uplo), args->n, any(scalars.alpha(turn)), any(args->a),       \
        args->lda, any(args->x), args->incx, any(scalars.beta(turn)), any(args->y), args->incy
        return ji_is_complex(type) ? VENDOR_COMPLEX_(type, hemv, VENDOR_SYMV_ARGUMENTS)
                                   : VENDOR_REAL_(type, symv, VENDOR_SYMV_ARGUMENTS);
#undef VENDOR_SYMV_ARGUMENTS
    });
}

jstatus_t vendor_syr(const gpu_call_t *call, const void *block) {
    VENDOR_MATVEC(args, block);
    const jdatatype_t scalar = ji_real_of(type); /* her's alpha is real */
    if (!vendor_fits(args) || !vendor_alpha_counts(scalar, &args->alpha) ||
        !scalars.take(scalar, &args->alpha, nullptr))
        return gpu_syr(call, block);

    return vendor_run(call, scalars.mode, gpu_syr, block, [&](const vendor_turn &turn) {
#define VENDOR_SYR_ARGUMENTS                                                                       \
    turn.handle(), vendor_uplo(args->uplo), args->n, any(scalars.alpha(turn)), any(args->x),       \
        args->incx, any(args->a), args->lda
        return ji_is_complex(type) ? VENDOR_COMPLEX_(type, her, VENDOR_SYR_ARGUMENTS)
                                   : VENDOR_REAL_(type, syr, VENDOR_SYR_ARGUMENTS);
#undef VENDOR_SYR_ARGUMENTS
    });
}

jstatus_t vendor_syr2(const gpu_call_t *call, const void *block) {
    VENDOR_MATVEC(args, block);
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, nullptr))
        return gpu_syr2(call, block);

    return vendor_run(call, scalars.mode, gpu_syr2, block, [&](const vendor_turn &turn) {
#define VENDOR_SYR2_ARGUMENTS                                                                      \
    turn.handle(), vendor_uplo(args->uplo), args->n, any(scalars.alpha(turn)), any(args->x),       \
        args->incx, any(args->y), args->incy, any(args->a), args->lda
        return ji_is_complex(type) ? VENDOR_COMPLEX_(type, her2, VENDOR_SYR2_ARGUMENTS)
                                   : VENDOR_REAL_(type, syr2, VENDOR_SYR2_ARGUMENTS);
#undef VENDOR_SYR2_ARGUMENTS
    });
}

#define VENDOR_TRIANGLE_VECTOR(name)                                                               \
    jstatus_t vendor_##name(const gpu_call_t *call, const void *block) {                           \
        const ji_matvec_t *args = (const ji_matvec_t *)block;                                      \
        const jdatatype_t type = args->head.type;                                                  \
        if (!vendor_fits(args))                                                                    \
            return gpu_##name(call, block);                                                        \
                                                                                                   \
        return vendor_run(call, GPU_BLAS_ENUM_(POINTER_MODE_HOST), gpu_##name, block,              \
                          [&](const vendor_turn &turn) {                                           \
                              return VENDOR_ALL_(                                                  \
                                  type, name, turn.handle(), vendor_uplo(args->uplo),              \
                                  vendor_operation(type, args->trans),                             \
                                  vendor_diagonal(args->diag), args->n, any(args->a), args->lda,   \
                                  any(args->x), args->incx);                                       \
                          });                                                                      \
    }
VENDOR_TRIANGLE_VECTOR(trmv)
VENDOR_TRIANGLE_VECTOR(trsv)

#endif
