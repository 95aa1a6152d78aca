/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MPI_PBLAS_H
#define JALLOC_MPI_PBLAS_H

/* The routines of the PBLAS and of ScaLAPACK that operations.c calls, for the element types s d c
 * z. Fortran's calling convention: everything by pointer; the lengths of one-letter texts are not
 * passed, as C callers of these libraries do. Elements and scalars are `void` here, so that one
 * table holds all types. */

/* Behind a matrix's pointer: first row, first column, descriptor. */
#define PBLAS_MATRIX const int *, const int *, const int *

#define PBLAS_DECLARE(t)                                                                           \
    void p##t##geadd_(const char *trans, const int *m, const int *n, const void *alpha,            \
                      const void *a, PBLAS_MATRIX, const void *beta, void *c, PBLAS_MATRIX);       \
    void p##t##tradd_(const char *uplo, const char *trans, const int *m, const int *n,             \
                      const void *alpha, const void *a, PBLAS_MATRIX, const void *beta, void *c,   \
                      PBLAS_MATRIX);                                                               \
    void p##t##gemm_(const char *transa, const char *transb, const int *m, const int *n,           \
                     const int *k, const void *alpha, const void *a, PBLAS_MATRIX, const void *b,  \
                     PBLAS_MATRIX, const void *beta, void *c, PBLAS_MATRIX);                       \
    void p##t##symm_(const char *side, const char *uplo, const int *m, const int *n,               \
                     const void *alpha, const void *a, PBLAS_MATRIX, const void *b, PBLAS_MATRIX,  \
                     const void *beta, void *c, PBLAS_MATRIX);                                     \
    void p##t##trsm_(const char *side, const char *uplo, const char *trans, const char *diag,      \
                     const int *m, const int *n, const void *alpha, const void *a, PBLAS_MATRIX,   \
                     void *b, PBLAS_MATRIX);                                                       \
    void p##t##potrf_(const char *uplo, const int *n, void *a, PBLAS_MATRIX, int *info);           \
    void p##t##gesv_(const int *n, const int *nrhs, void *a, PBLAS_MATRIX, int *ipiv, void *b,     \
                     PBLAS_MATRIX, int *info);
PBLAS_DECLARE(s)
PBLAS_DECLARE(d)
PBLAS_DECLARE(c)
PBLAS_DECLARE(z)
#undef PBLAS_DECLARE

#define PBLAS_DECLARE_HEMM(t)                                                                      \
    void p##t##hemm_(const char *side, const char *uplo, const int *m, const int *n,               \
                     const void *alpha, const void *a, PBLAS_MATRIX, const void *b, PBLAS_MATRIX,  \
                     const void *beta, void *c, PBLAS_MATRIX);
PBLAS_DECLARE_HEMM(c)
PBLAS_DECLARE_HEMM(z)
#undef PBLAS_DECLARE_HEMM

/* ScaLAPACK's routines by element type. */
typedef struct pblas_table {
    __typeof__(&pdgeadd_) geadd;
    __typeof__(&pdtradd_) tradd;
    __typeof__(&pdgemm_) gemm;
    __typeof__(&pdsymm_) symm, hemm;
    __typeof__(&pdtrsm_) trsm;
    __typeof__(&pdpotrf_) potrf;
    __typeof__(&pdgesv_) gesv;
} pblas_table_t;

#endif
