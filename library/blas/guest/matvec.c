/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 on the host: the CBLAS's own, unless alpha is 0 (scale.h). The entries have refused what
 * its integers do not hold.
 *
 * symv and hemv are not asked of it: those of OpenBLAS 0.3.21 load what is behind their operands,
 * which may not be there, and its ssymv multiplies by zero what was left in its buffer, a NaN of an
 * earlier call, too. */

#include "blas/guest/cblas.h"
#include "blas/host/scale.h"

/* The arguments as the CBLAS takes them. */
#define UNPACK(block)                                                                              \
    const ji_matvec_t *args = block;                                                               \
    jdatatype_t type = args->head.type;                                                            \
    const guest_int_t m = (guest_int_t)args->m, n = (guest_int_t)args->n,                          \
                      lda = (guest_int_t)args->lda;                                                \
    const guest_int_t incx = (guest_int_t)args->incx, incy = (guest_int_t)args->incy;              \
    const void *alpha = ji_scalar_data(&args->alpha), *beta = ji_scalar_data(&args->beta);         \
    const int uplo = (int)args->uplo;                                                              \
    const int trans = guest_operation(type, args->trans);                                          \
    const int diag = (int)args->diag;                                                              \
    (void)m, (void)n, (void)lda, (void)incx, (void)incy, (void)alpha, (void)beta;                  \
    (void)uplo, (void)trans, (void)diag

/* y = beta y, of a product that reads neither A nor x. */
static void matvec_scale(const ji_matvec_t *args, int64_t rows) {
    ji_host_scale_vector(&args->head, args->head.type, &args->beta, rows, args->y, args->incy);
}

/* Whether kernels of OpenBLAS 0.3.21 (cgemv, zgemv, which its trmv and trsv call) load a column
 * behind the matrix, which may not be there. */
static bool matvec_reads_behind(const ji_matvec_t *args) {
    return ji_is_complex(args->head.type) && !ji_is_transposed(args->trans);
}

void ji_guest_gemv(void *block) {
    UNPACK(block);
    if (!guest_has(type, args->trans) || matvec_reads_behind(args)) {
        ji_host_gemv(block);
        return;
    }
    if (host_is_zero(type, &args->alpha)) {
        matvec_scale(args, ji_is_transposed(args->trans) ? args->n : args->m);
        return;
    }
#define CALL(t, value)                                                                             \
    ji_guest.t##gemv(GUEST_COLUMN_MAJOR, trans, m, n, value(alpha), args->a, lda, args->x, incx,   \
                     value(beta), args->y, incy)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_guest_ger(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha))
        return;

    void *a = ji_unconst(args->a);

    switch (type) {
    case JDATATYPE_F32:
        ji_guest.sger(GUEST_COLUMN_MAJOR, m, n, HOST_VALUE_S(alpha), args->x, incx, args->y, incy,
                      a, lda);
        break;
    case JDATATYPE_F64:
        ji_guest.dger(GUEST_COLUMN_MAJOR, m, n, HOST_VALUE_D(alpha), args->x, incx, args->y, incy,
                      a, lda);
        break;
    case JDATATYPE_F32_C:
        ji_guest.cgeru(GUEST_COLUMN_MAJOR, m, n, alpha, args->x, incx, args->y, incy, a, lda);
        break;
    default: ji_guest.zgeru(GUEST_COLUMN_MAJOR, m, n, alpha, args->x, incx, args->y, incy, a, lda);
    }
}

void ji_guest_gerc(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha))
        return;

    void *a = ji_unconst(args->a);

    if (type == JDATATYPE_F32_C)
        ji_guest.cgerc(GUEST_COLUMN_MAJOR, m, n, alpha, args->x, incx, args->y, incy, a, lda);
    else
        ji_guest.zgerc(GUEST_COLUMN_MAJOR, m, n, alpha, args->x, incx, args->y, incy, a, lda);
}

void ji_guest_syr(void *block) {
    UNPACK(block);
    if (host_is_zero(ji_real_of(type), &args->alpha)) /* her's alpha is real */
        return;

    void *a = ji_unconst(args->a);

    switch (type) {
    case JDATATYPE_F32:
        ji_guest.ssyr(GUEST_COLUMN_MAJOR, uplo, n, HOST_VALUE_S(alpha), args->x, incx, a, lda);
        break;
    case JDATATYPE_F64:
        ji_guest.dsyr(GUEST_COLUMN_MAJOR, uplo, n, HOST_VALUE_D(alpha), args->x, incx, a, lda);
        break;
    case JDATATYPE_F32_C:
        ji_guest.cher(GUEST_COLUMN_MAJOR, uplo, n, HOST_VALUE_S(alpha), args->x, incx, a, lda);
        break;
    default: ji_guest.zher(GUEST_COLUMN_MAJOR, uplo, n, HOST_VALUE_D(alpha), args->x, incx, a, lda);
    }
}

void ji_guest_syr2(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha))
        return;

    void *a = ji_unconst(args->a);

    switch (type) {
    case JDATATYPE_F32:
        ji_guest.ssyr2(GUEST_COLUMN_MAJOR, uplo, n, HOST_VALUE_S(alpha), args->x, incx, args->y,
                       incy, a, lda);
        break;
    case JDATATYPE_F64:
        ji_guest.dsyr2(GUEST_COLUMN_MAJOR, uplo, n, HOST_VALUE_D(alpha), args->x, incx, args->y,
                       incy, a, lda);
        break;
    case JDATATYPE_F32_C:
        ji_guest.cher2(GUEST_COLUMN_MAJOR, uplo, n, alpha, args->x, incx, args->y, incy, a, lda);
        break;
    default:
        ji_guest.zher2(GUEST_COLUMN_MAJOR, uplo, n, alpha, args->x, incx, args->y, incy, a, lda);
    }
}

void ji_guest_trmv(void *block) {
    UNPACK(block);
    if (!guest_has(type, args->trans) || matvec_reads_behind(args)) {
        ji_host_trmv(block);
        return;
    }
    void *x = ji_unconst(args->x);
#define CALL(t, value)                                                                             \
    ji_guest.t##trmv(GUEST_COLUMN_MAJOR, uplo, trans, diag, n, args->a, lda, x, incx)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_guest_trsv(void *block) {
    UNPACK(block);
    if (!guest_has(type, args->trans) || matvec_reads_behind(args)) {
        ji_host_trsv(block);
        return;
    }
    void *x = ji_unconst(args->x);
#define CALL(t, value)                                                                             \
    ji_guest.t##trsv(GUEST_COLUMN_MAJOR, uplo, trans, diag, n, args->a, lda, x, incx)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}
