/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 2 on the host: the CBLAS's own, unless alpha is 0 (scale.h). The entries have refused what
 * its integers do not hold. */

#include "blas/guest/cblas.h"
#include "blas/host/scale.h"

/* The arguments as the CBLAS takes them. */
#define UNPACK(block)                                                                              \
    const ji_matvec_t *args = block;                                                               \
    jdatatype_t type = args->head.type;                                                            \
    const host_int_t m = (host_int_t)args->m, n = (host_int_t)args->n,                             \
                     lda = (host_int_t)args->lda;                                                  \
    const host_int_t incx = (host_int_t)args->incx, incy = (host_int_t)args->incy;                 \
    const void *alpha = ji_scalar_data(&args->alpha), *beta = ji_scalar_data(&args->beta);         \
    const enum CBLAS_UPLO uplo = (enum CBLAS_UPLO)args->uplo;                                      \
    const enum CBLAS_TRANSPOSE trans = host_operation(type, args->trans);                          \
    const enum CBLAS_DIAG diag = (enum CBLAS_DIAG)args->diag;                                      \
    (void)m, (void)n, (void)lda, (void)incx, (void)incy, (void)alpha, (void)beta;                  \
    (void)uplo, (void)trans, (void)diag

/* y = beta y, of a product that reads neither A nor x. */
static void matvec_scale(const ji_matvec_t *args, int64_t rows) {
    ji_host_scale_vector(&args->head, args->head.type, &args->beta, rows, args->y, args->incy);
}

void ji_guest_gemv(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha)) {
        matvec_scale(args, args->trans == JBLAS_NO_TRANSPOSE ? args->m : args->n);
        return;
    }
#define CALL(t, value)                                                                             \
    cblas_##t##gemv(CblasColMajor, trans, m, n, value(alpha), args->a, lda, args->x, incx,         \
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
        cblas_sger(CblasColMajor, m, n, HOST_VALUE_S(alpha), args->x, incx, args->y, incy, a, lda);
        break;
    case JDATATYPE_F64:
        cblas_dger(CblasColMajor, m, n, HOST_VALUE_D(alpha), args->x, incx, args->y, incy, a, lda);
        break;
    case JDATATYPE_F32_C:
        cblas_cgeru(CblasColMajor, m, n, alpha, args->x, incx, args->y, incy, a, lda);
        break;
    default: cblas_zgeru(CblasColMajor, m, n, alpha, args->x, incx, args->y, incy, a, lda);
    }
}

void ji_guest_gerc(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha))
        return;

    void *a = ji_unconst(args->a);

    if (type == JDATATYPE_F32_C)
        cblas_cgerc(CblasColMajor, m, n, alpha, args->x, incx, args->y, incy, a, lda);
    else
        cblas_zgerc(CblasColMajor, m, n, alpha, args->x, incx, args->y, incy, a, lda);
}

void ji_guest_symv(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha)) {
        matvec_scale(args, args->n);
        return;
    }

    switch (type) {
    case JDATATYPE_F32:
        cblas_ssymv(CblasColMajor, uplo, n, HOST_VALUE_S(alpha), args->a, lda, args->x, incx,
                    HOST_VALUE_S(beta), args->y, incy);
        break;
    case JDATATYPE_F64:
        cblas_dsymv(CblasColMajor, uplo, n, HOST_VALUE_D(alpha), args->a, lda, args->x, incx,
                    HOST_VALUE_D(beta), args->y, incy);
        break;
    case JDATATYPE_F32_C:
        cblas_chemv(CblasColMajor, uplo, n, alpha, args->a, lda, args->x, incx, beta, args->y,
                    incy);
        break;
    default:
        cblas_zhemv(CblasColMajor, uplo, n, alpha, args->a, lda, args->x, incx, beta, args->y,
                    incy);
    }
}

void ji_guest_syr(void *block) {
    UNPACK(block);
    if (host_is_zero(ji_real_of(type), &args->alpha)) /* her's alpha is real */
        return;

    void *a = ji_unconst(args->a);

    switch (type) {
    case JDATATYPE_F32:
        cblas_ssyr(CblasColMajor, uplo, n, HOST_VALUE_S(alpha), args->x, incx, a, lda);
        break;
    case JDATATYPE_F64:
        cblas_dsyr(CblasColMajor, uplo, n, HOST_VALUE_D(alpha), args->x, incx, a, lda);
        break;
    case JDATATYPE_F32_C:
        cblas_cher(CblasColMajor, uplo, n, HOST_VALUE_S(alpha), args->x, incx, a, lda);
        break;
    default: cblas_zher(CblasColMajor, uplo, n, HOST_VALUE_D(alpha), args->x, incx, a, lda);
    }
}

void ji_guest_syr2(void *block) {
    UNPACK(block);
    if (host_is_zero(type, &args->alpha))
        return;

    void *a = ji_unconst(args->a);

    switch (type) {
    case JDATATYPE_F32:
        cblas_ssyr2(CblasColMajor, uplo, n, HOST_VALUE_S(alpha), args->x, incx, args->y, incy, a,
                    lda);
        break;
    case JDATATYPE_F64:
        cblas_dsyr2(CblasColMajor, uplo, n, HOST_VALUE_D(alpha), args->x, incx, args->y, incy, a,
                    lda);
        break;
    case JDATATYPE_F32_C:
        cblas_cher2(CblasColMajor, uplo, n, alpha, args->x, incx, args->y, incy, a, lda);
        break;
    default: cblas_zher2(CblasColMajor, uplo, n, alpha, args->x, incx, args->y, incy, a, lda);
    }
}

void ji_guest_trmv(void *block) {
    UNPACK(block);
    void *x = ji_unconst(args->x);
#define CALL(t, value) cblas_##t##trmv(CblasColMajor, uplo, trans, diag, n, args->a, lda, x, incx)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}

void ji_guest_trsv(void *block) {
    UNPACK(block);
    void *x = ji_unconst(args->x);
#define CALL(t, value) cblas_##t##trsv(CblasColMajor, uplo, trans, diag, n, args->a, lda, x, incx)
    HOST_BY_TYPE(type, CALL)
#undef CALL
}
