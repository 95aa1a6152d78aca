/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MPI_PBLAS_H
#define JALLOC_MPI_PBLAS_H

/* The routines of the PBLAS and of ScaLAPACK that the backend calls, for the element types s d c
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
                     PBLAS_MATRIX, int *info);                                                     \
    void p##t##getrf_(const int *m, const int *n, void *a, PBLAS_MATRIX, int *ipiv, int *info);    \
    void p##t##getrs_(const char *trans, const int *n, const int *nrhs, const void *a,             \
                      PBLAS_MATRIX, const int *ipiv, void *b, PBLAS_MATRIX, int *info);            \
    void p##t##geqrf_(const int *m, const int *n, void *a, PBLAS_MATRIX, void *tau, void *work,    \
                      const int *lwork, int *info);                                                \
    void p##t##gels_(const char *trans, const int *m, const int *n, const int *nrhs, void *a,      \
                     PBLAS_MATRIX, void *b, PBLAS_MATRIX, void *work, const int *lwork,            \
                     int *info);
PBLAS_DECLARE(s)
PBLAS_DECLARE(d)
PBLAS_DECLARE(c)
PBLAS_DECLARE(z)
#undef PBLAS_DECLARE

#define PBLAS_DECLARE_ORGQR(t, name)                                                               \
    void p##t##name##_(const int *m, const int *n, const int *k, void *a, PBLAS_MATRIX,            \
                       const void *tau, void *work, const int *lwork, int *info);

/* Of real types alone. */
#define PBLAS_DECLARE(t)                                                                           \
    PBLAS_DECLARE_ORGQR(t, orgqr)                                                                  \
    void p##t##syevd_(const char *jobz, const char *uplo, const int *n, void *a, PBLAS_MATRIX,     \
                      void *w, void *z, PBLAS_MATRIX, void *work, const int *lwork, int *iwork,    \
                      const int *liwork, int *info);                                               \
    void p##t##gesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, void *a,    \
                      PBLAS_MATRIX, void *s, void *u, PBLAS_MATRIX, void *vt, PBLAS_MATRIX,        \
                      void *work, const int *lwork, int *info);
PBLAS_DECLARE(s)
PBLAS_DECLARE(d)
#undef PBLAS_DECLARE

/* And of complex ones. */
#define PBLAS_DECLARE(t)                                                                           \
    PBLAS_DECLARE_ORGQR(t, ungqr)                                                                  \
    void p##t##hemm_(const char *side, const char *uplo, const int *m, const int *n,               \
                     const void *alpha, const void *a, PBLAS_MATRIX, const void *b, PBLAS_MATRIX,  \
                     const void *beta, void *c, PBLAS_MATRIX);                                     \
    void p##t##heevd_(const char *jobz, const char *uplo, const int *n, void *a, PBLAS_MATRIX,     \
                      void *w, void *z, PBLAS_MATRIX, void *work, const int *lwork, void *rwork,   \
                      const int *lrwork, int *iwork, const int *liwork, int *info);                \
    void p##t##gesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, void *a,    \
                      PBLAS_MATRIX, void *s, void *u, PBLAS_MATRIX, void *vt, PBLAS_MATRIX,        \
                      void *work, const int *lwork, void *rwork, int *info);
PBLAS_DECLARE(c)
PBLAS_DECLARE(z)
#undef PBLAS_DECLARE
#undef PBLAS_DECLARE_ORGQR

/* How messages go, by operation and scope: a letter. */
void pb_topget_(const int *context, const char *operation, const char *scope, char *topology);
void pb_topset_(const int *context, const char *operation, const char *scope, const char *topology);

/* ScaLAPACK's routines by element type. */
typedef struct pblas_table {
    __typeof__(&pdgeadd_) geadd;
    __typeof__(&pdtradd_) tradd;
    __typeof__(&pdgemm_) gemm;
    __typeof__(&pdsymm_) symm, hemm;
    __typeof__(&pdtrsm_) trsm;
    __typeof__(&pdpotrf_) potrf;
    __typeof__(&pdgesv_) gesv;
    __typeof__(&pdgetrf_) getrf;
    __typeof__(&pdgetrs_) getrs;
    __typeof__(&pdgeqrf_) geqrf;
    __typeof__(&pdorgqr_) orgqr;
    __typeof__(&pdgels_) gels;
    /* Complex types have arguments of their own. */
    __typeof__(&pdsyevd_) syevd;
    __typeof__(&pzheevd_) heevd;
    __typeof__(&pdgesvd_) gesvd;
    __typeof__(&pzgesvd_) gesvd_complex;
} pblas_table_t;

#endif
