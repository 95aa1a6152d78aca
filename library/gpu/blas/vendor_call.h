/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_VENDOR_CALL_H
#define JALLOC_GPU_BLAS_VENDOR_CALL_H

/* How a primitive becomes a call of the vendor's library: what may be given to it, the arguments in
 * its words, and the call by type in a turn. Only where there is a library: GPU_HAS_BLAS.
 *
 * The vendor's way is taken where its manual promises what jblas.h does, and jalloc's kernels
 * otherwise:
 *
 *   - alpha 0, and k 0: the manual does not say that A and B are not read, and 0 NaN would show.
 *     Known zeros never get here; an alpha on the device may be one. trsm and trmm only write B,
 *     which is cleared afterwards if alpha was 0; geam's manual promises it; everything else with
 *     an alpha on the device is done by jalloc's kernels.
 *   - Scalars of one call are on one side. Where the algorithms put a constant of theirs beside a
 *     scalar on the device, the constant is read from a table on the device.
 *   - Complex numbers are read whole: addresses must be multiples of their size, and nobody can
 *     look at those in an array of pointers, so complex batches are ours. So are negative
 *     increments and strides, of which nothing is said.
 *   - JBLAS_CONJUGATE: it has no such operation.
 *   - hemm: nothing is said of imaginary parts on the diagonal, so it is ours. hemv, her, herk say
 *     it.
 *   - Sums are added in an order that does not depend on the run: no atomics, and floats are
 *     multiplied as floats. */

#include "gpu/blas/vendor_turn.h"

/* The primitives that have a vendor's way, jstatus_t vendor_<name>(call, block): vendor_level2.cu,
 * vendor_level3.cu. */
#define VENDOR_PRIMITIVE_LIST(X)                                                                   \
    X(GEMV, gemv)                                                                                  \
    X(GER, ger)                                                                                    \
    X(GERC, gerc)                                                                                  \
    X(SYMV, symv)                                                                                  \
    X(SYR, syr)                                                                                    \
    X(SYR2, syr2)                                                                                  \
    X(TRMV, trmv)                                                                                  \
    X(TRSV, trsv)                                                                                  \
    X(GEMM, gemm)                                                                                  \
    X(GEMM_BATCHED, gemm_batched)                                                                  \
    X(GEMM_STRIDED, gemm_strided)                                                                  \
    X(SYMM, symm)                                                                                  \
    X(SYRK, syrk)                                                                                  \
    X(HERK, herk)                                                                                  \
    X(SYR2K, syr2k)                                                                                \
    X(HER2K, her2k)                                                                                \
    X(TRMM, trmm)                                                                                  \
    X(TRSM, trsm)                                                                                  \
    X(GEAM, geam)

#define X(enumerator, name) jstatus_t vendor_##name(const gpu_call_t *call, const void *block);
VENDOR_PRIMITIVE_LIST(X)
#undef X

/* ---- Scalars ---- */

/* The scalars of a call, on one side. On the host they are copied: the vendor's complex types want
 * their alignment. */
class vendor_scalars {
  public:
    gpublasPointerMode_t mode = GPU_BLAS_ENUM_(POINTER_MODE_HOST);

    /* beta may be NULL: there is none. False: cannot be had on one side. */
    bool take(jdatatype_t type, const ji_scalar_t *alpha_scalar, const ji_scalar_t *beta_scalar) {
        const ji_scalar_t *each[2] = {alpha_scalar, beta_scalar};

        for (int i = 0; i < 2; ++i)
            if (each[i] != nullptr && each[i]->pointer != nullptr)
                mode = GPU_BLAS_ENUM_(POINTER_MODE_DEVICE);

        for (int i = 0; i < 2; ++i) {
            if (each[i] == nullptr)
                continue;

            if (mode == GPU_BLAS_ENUM_(POINTER_MODE_HOST))
                memcpy(values[i].bytes, &each[i]->value, sizeof each[i]->value);
            else if (each[i]->pointer != nullptr)
                pointers[i] = each[i]->pointer;
            else if (!take_constant(type, each[i], i))
                return false;

            if ((uintptr_t)pointers[i] % ji_sizeof(type) != 0)
                return false;
        }

        return true;
    }
    const void *alpha(const vendor_turn &turn) const { return get(turn, 0); }
    const void *beta(const vendor_turn &turn) const { return get(turn, 1); }

  private:
    struct {
        alignas(16) unsigned char bytes[sizeof(ji_value_t)];
    } values[2];
    const void *pointers[2] = {nullptr, nullptr}; /* on the device */
    size_t offsets[2] = {0, 0};                   /* of a constant in the table */

    bool take_constant(jdatatype_t type, const ji_scalar_t *scalar, int i) {
        const bool wide = ji_real_of(type) == JDATATYPE_F64;

        for (int number = 0; number < 3; ++number)
            if (ji_scalar_is(scalar, type, number - 1)) {
                offsets[i] =
                    wide ? offsetof(vendor_constants_t, doubles) + number * sizeof(double[2])
                         : offsetof(vendor_constants_t, floats) + number * sizeof(float[4]);
                return true;
            }

        return false;
    }
    const void *get(const vendor_turn &turn, int i) const {
        if (mode == GPU_BLAS_ENUM_(POINTER_MODE_HOST))
            return values[i].bytes;
        return pointers[i] != nullptr ? pointers[i] : turn.constants() + offsets[i];
    }
};

/* ---- Arguments ---- */

/* A pointer as whatever the vendor's function has there. */
struct vendor_any {
    const void *pointer;
    template <typename T> operator T *() const { return (T *)const_cast<void *>(pointer); }
};
static inline vendor_any any(const void *pointer) { return vendor_any{pointer}; }

static inline gpublasOperation_t vendor_operation(jdatatype_t type, jblas_operation_t operation) {
    if (operation == JBLAS_NO_TRANSPOSE)
        return GPU_BLAS_ENUM_(OP_N);
    return operation == JBLAS_CONJUGATE_TRANSPOSE && ji_is_complex(type) ? GPU_BLAS_ENUM_(OP_C)
                                                                         : GPU_BLAS_ENUM_(OP_T);
}
static inline gpublasFillMode_t vendor_uplo(jblas_uplo_t uplo) {
    return uplo == JBLAS_UPPER ? GPU_BLAS_ENUM_(FILL_MODE_UPPER) : GPU_BLAS_ENUM_(FILL_MODE_LOWER);
}
static inline gpublasSideMode_t vendor_side(jblas_side_t side) {
    return side == JBLAS_LEFT ? GPU_BLAS_ENUM_(SIDE_LEFT) : GPU_BLAS_ENUM_(SIDE_RIGHT);
}
static inline gpublasDiagType_t vendor_diagonal(jblas_diagonal_t diagonal) {
    return diagonal == JBLAS_UNIT ? GPU_BLAS_ENUM_(DIAG_UNIT) : GPU_BLAS_ENUM_(DIAG_NON_UNIT);
}

static inline bool vendor_aligned(jdatatype_t type, const void *pointer) {
    return (uintptr_t)pointer % ji_sizeof(type) == 0;
}
/* Whether the vendor's kernels can be given the vectors and matrices, and know the operations. */
static inline bool vendor_fits(const ji_matvec_t *args) {
    const jdatatype_t type = args->head.type;
    return vendor_aligned(type, args->a) && vendor_aligned(type, args->x) &&
           vendor_aligned(type, args->y) && args->incx >= 0 && args->incy >= 0 &&
           args->trans != JBLAS_CONJUGATE;
}
static inline bool vendor_fits(const ji_matmat_t *args) {
    const jdatatype_t type = args->head.type;
    return vendor_aligned(type, args->a) && vendor_aligned(type, args->b) &&
           vendor_aligned(type, args->c) && args->transa != JBLAS_CONJUGATE &&
           args->transb != JBLAS_CONJUGATE;
}

/* Whether alpha is known not to be 0. Only then is what the vendor reads and multiplies what
 * jblas.h says. */
static inline bool vendor_alpha_counts(jdatatype_t type, const ji_scalar_t *alpha) {
    return alpha->pointer == nullptr && !ji_scalar_is(alpha, type, 0);
}

struct vendor_outcome {
    gpublasStatus_t status;
    const char *function;
};

/* Of a call by type: the status, and the name for messages. */
#define VENDOR_CALL_(name, ...)                                                                    \
    (vendor_outcome{vendor_api.name(__VA_ARGS__), GPU_BLAS_STRING(GPU_BLAS_64(name))})
#define VENDOR_REAL_(type, name, ...)                                                              \
    ((type) == JDATATYPE_F32 ? VENDOR_CALL_(S##name, __VA_ARGS__)                                  \
                             : VENDOR_CALL_(D##name, __VA_ARGS__))
#define VENDOR_COMPLEX_(type, name, ...)                                                           \
    ((type) == JDATATYPE_F32_C ? VENDOR_CALL_(C##name, __VA_ARGS__)                                \
                               : VENDOR_CALL_(Z##name, __VA_ARGS__))
#define VENDOR_ALL_(type, name, ...)                                                               \
    (ji_is_complex(type) ? VENDOR_COMPLEX_(type, name, __VA_ARGS__)                                \
                         : VENDOR_REAL_(type, name, __VA_ARGS__))

/* Takes a turn and calls; `ours` where the vendor cannot do it. invoke(turn) -> vendor_outcome. */
template <typename INVOKE>
static jstatus_t vendor_run(const gpu_call_t *call, gpublasPointerMode_t mode, gpu_primitive_t ours,
                            const void *block, INVOKE invoke) {
    {
        vendor_turn turn(call, mode);
        if (turn.status == JSTATUS_SUCCESS) {
            const vendor_outcome outcome = invoke(turn);
            turn.status = turn.check(outcome.status, outcome.function);
        }
        if (turn.status != JSTATUS_NOT_IMPLEMENTED)
            return turn.status;
    }
    return ours != nullptr ? ours(call, block) : JSTATUS_NOT_IMPLEMENTED;
}

#endif
