/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_OPERATION_H
#define JALLOC_OPERATION_H

/** @file
 * Operations on buffers through a handle: libjbuffer. Local and replicated buffers are computed on
 * with jblas, distributed ones with ScaLAPACK and PBLAS (libjalloc_mpi), and temporary memory is
 * the handle's workspace in either case. A call is for the handle's one thread (handle.h).
 *
 * What holds for all of them:
 * - **Operands** may be slices, permuted views, column- or row-major, with any strides; what BLAS
 *   cannot take as it lies is packed into workspace. A structure (layout.h) is respected: a
 *   symmetric operand is read from its stored triangle; the diagonal of a Hermitian one must be
 *   real, and that of a Hermitian result is, where all numbers are finite (fill, and copy from what
 *   is not Hermitian, write what they are given). All must have one element type; f32, f64, f32_c,
 *   f64_c, but for copy and fill, which take all. Scalars are of that type, in host memory whatever
 *   the pointer mode, and have been read when a call returns.
 * - **Results** that are given as a pointer to a buffer: where it points to NULL, a new buffer is
 *   made with the allocator that jbuffer_propagate() gives for the operands, and NULL stays on
 *   failure. Otherwise the result is written there. Where a function says that one need not be
 *   wanted, the pointer itself may be NULL, on all processes or on none.
 * - **Size queries.** Where a result is new a query gives a placeholder (buffer.h), without asking
 *   any other process: all of the buffer but its memory, which is no part of the answer. It may be
 *   an operand of what is asked next, and so may its views, so that one function asks for a whole
 *   chain and then runs, with the same variables. The placeholder is the caller's to release,
 *   whether it is run or not.
 * - **Placeholders.** Outside of a query one that is written all over takes its memory (with all of
 *   its buffer's where it is a view), as a new result would; on failure it stays a placeholder. One
 *   that would be read is invalid value.
 * - **Overlap.** A result may share elements with operands in any way: it is made of what they were
 *   before the call. An operand that overlaps the result is copied into workspace, which a query
 *   counts; but for copy and add where it is the result itself, element for element and of the same
 *   structure. Blocks of one matrix that share no element do not overlap. What is refused (invalid
 *   value) is memory that was wrapped twice, once as the part of a distributed buffer.
 * - **Kinds.** Mixed operands are brought to the kind and grid of the computation, which follows
 *   the rules of jbuffer_propagate() over all operands, a given result too; the copies lie in
 *   workspace. A local operand beside a distributed one counts on rank 0. Where the result is of a
 *   lower kind it is computed in workspace and copied.
 * - **Device.** That of the handle must be the operands' (invalid value), but for copy: there it is
 *   that of either. The operands of distributed computation must be on the host (not implemented on
 *   others: redistribute to the host first). What the host itself needs on a handle of a GPU
 *   (norms, pieces of copies that do not lie alike on both sides) cannot be in the handle's
 *   workspace: it comes from the process's allocator of host memory, and is no part of a query's
 *   answer.
 * - **Collective** (buffer.h) if any operand is distributed, or replicated and shared on nodes, or
 *   a copy is made between kinds, or a new result (or a placeholder that takes its memory) that is
 *   not local: all processes call, each with its own handle, and an error on one is the same status
 *   on all. Other operations on replicated buffers are done by each process for itself. A size
 *   query never communicates; each process asks its own, or does not: a placeholder and NULL go
 *   together.
 * - **Stream.** Every operation is ordered by the handle's stream. Local work is done in it;
 *   operands must stay valid until it has passed. It is waited for before and after what is not all
 *   done in it: results in host memory (norm, info), collective work, anything with a distributed
 *   operand (on one process, too), operands of several kinds, copies by another device than the
 *   handle's.
 * - **Statuses.** Success; perf degraded (too little workspace for the best way, which a query
 *   would have told); size increased, size unchanged (querying); invalid handle; busy, forked,
 *   capturing (as jborrow_begin()); invalid pointer; not found (a freed buffer); invalid value
 *   (kinds, types, structure, enums, a placeholder that would be read); invalid size (shapes that
 *   do not fit; the message names both); not implemented; memory error; sealed; device error. On
 *   any error but a device error operands are unchanged. */

#include "jalloc/buffer.h"
#include "jalloc/jblas.h"

#ifdef __cplusplus
extern "C" {
#endif

/** destination = source, of one shape and type; any kinds, grids and devices. Where the
 * destination's structure is general it gets the whole matrix (mirrored, or with zeros); where it
 * is not, its stored triangle. Redistribution is point to point between the processes that hold a
 * piece and those that need it. Workspace: local, none, or where a device's elements are not
 * contiguous a packed copy; between processes rung 0 "exchange" packed pieces to send and to
 * receive, all at once; rung 1 "rounds" 1 MiB, one round after the other. */
JALLOC_API jstatus_t jbuffer_copy(jhandle_t *handle, jbuffer_t *destination,
                                  const jbuffer_t *source);

/** Every stored element becomes *value; NULL: 0. Workspace: none. */
JALLOC_API jstatus_t jbuffer_fill(jhandle_t *handle, jbuffer_t *x, const void *value);

/** x = alpha x, the stored elements. Multiplies by zero, too. A Hermitian x stays one where alpha
 * is real. Workspace: none. */
JALLOC_API jstatus_t jbuffer_scale(jhandle_t *handle, const void *alpha, jbuffer_t *x);

/** C = alpha A + beta B, of one shape. alpha = 0: A is not read; beta likewise. C takes the
 * structure that both have in common, where it is new (of Hermitian ones with real scalars); a C
 * with a structure must have that one, in either triangle. Workspace: none for kinds and grids that
 * are alike, and of distributed ones structures; else copies of those that differ. */
JALLOC_API jstatus_t jbuffer_add(jhandle_t *handle, const void *alpha, const jbuffer_t *a,
                                 const void *beta, const jbuffer_t *b, jbuffer_t **c);

/** Norms of a buffer of any rank (max, Frobenius) or of a matrix. */
typedef enum jnorm_t {
    JNORM_MAX = 0,      /**< the largest |a_ij|, which is no consistent norm */
    JNORM_ONE = 1,      /**< the largest sum of a column's absolute values; of a vector the sum */
    JNORM_INFINITY = 2, /**< the largest sum of a row's; of a vector the largest */
    JNORM_FROBENIUS = 3 /**< the root of the sum of squares, scaled where squares would overflow */
} jnorm_t;

/** *result = a norm of x as the structure has it; 0 without elements; NaN where there is one. |z|
 * of complex numbers is their modulus, infinite where one of the parts is. Waits. Workspace: of a
 * matrix one and infinity a number for each column or row. */
JALLOC_API jstatus_t jbuffer_norm(jhandle_t *handle, jnorm_t norm, const jbuffer_t *x,
                                  double *result);

/** B = A^T or A^H (A is copied for "N"); A: m x n, B: n x m, with the structure of that where it is
 * new, or one that op(A) has, too. Workspace: as jbuffer_add(). */
JALLOC_API jstatus_t jbuffer_transpose(jhandle_t *handle, jblas_operation_t operation,
                                       const jbuffer_t *a, jbuffer_t **b);

/** C = alpha op(A) op(B) + beta C. Matrices, or a vector as one of one column; a new C is a vector
 * where B is one. beta = 0: C is not read, and may be made here; else it must be given (invalid
 * value). C has no structure. Of a symmetric or Hermitian A or B only the stored triangle is read.
 * Workspace: as jblas_dgemm, beside copies of operands that cannot be taken as they lie. */
JALLOC_API jstatus_t jbuffer_product(jhandle_t *handle, jblas_operation_t operation_a,
                                     jblas_operation_t operation_b, const void *alpha,
                                     const jbuffer_t *a, const jbuffer_t *b, const void *beta,
                                     jbuffer_t **c);

/** Solves op(A) X = alpha B (left) or X op(A) = alpha B (right); X overwrites B. A has a triangular
 * structure (jbuffer_with_structure()). Workspace: as jblas_dtrsm, beside copies. */
JALLOC_API jstatus_t jbuffer_solve_triangular(jhandle_t *handle, jblas_side_t side,
                                              jblas_operation_t operation,
                                              jblas_diagonal_t diagonal, const void *alpha,
                                              const jbuffer_t *a, jbuffer_t *b);

/** Solves A X = B by LU with partial pivoting; X overwrites B, and A, square and of any structure,
 * is as it was: the factor is made in workspace. *info (host, waited for): 0, or i > 0 where U has
 * a zero on its diagonal at i, so that A is singular; the status is success all the same, B is as
 * it was, and *info is the same on all processes. On the host alone (not implemented on others).
 * Workspace: as jlapack_dgesv, beside the copy of A, pivots, and copies of a B that is not
 * column-major; of distributed ones of a B whose blocks of rows are not A's. */
JALLOC_API jstatus_t jbuffer_solve(jhandle_t *handle, const jbuffer_t *a, jbuffer_t *b,
                                   int64_t *info);

/** LU factorization of a general A with partial pivoting, A = P L U in place: below the diagonal L,
 * whose diagonal of ones is not stored, on it and above U. pivots: min(m, n) numbers in host
 * memory, the same on all processes: row i was exchanged with row pivots[i - 1] >= i, from 1 on, in
 * that order, as jlapack_dgetrf() has them, rows being A's whatever it is a view of. *info (host,
 * waited for): 0, or i > 0 where U(i, i) is 0, the first such; the status is success and the
 * factorization complete all the same. On the host alone. Workspace: as jlapack_dgetrf, the pivots,
 * and a copy of an A that is not column-major; of a distributed one whose blocks are not square,
 * and of a slice that does not begin with one. */
JALLOC_API jstatus_t jbuffer_lu(jhandle_t *handle, jbuffer_t *a, int64_t *pivots, int64_t *info);

/** Solves op(A) X = B by the factor and the pivots that jbuffer_lu() made of a square A; X
 * overwrites B, and the factor is as it was. pivots: host memory, the same on all processes; looked
 * at before anything is done (invalid value where row i is exchanged with none of i to n), and
 * waited for. Of a singular A X has infinities or NaN. The factor may be of another kind than B.
 * On the host alone. Workspace: as jlapack_dgetrs, beside copies of a factor or B that is not
 * column-major; of distributed ones of a factor that does not begin with a square block, and of a B
 * whose blocks of rows are not its, with the pivots once more. */
JALLOC_API jstatus_t jbuffer_lu_solve(jhandle_t *handle, jblas_operation_t operation,
                                      const jbuffer_t *a, const int64_t *pivots, jbuffer_t *b);

/** QR factorization, A = Q R; A (m x n, of any structure) is as it was. Q: m x min(m, n), its
 * columns orthonormal; R: min(m, n) x n, zero below its diagonal, which is real with signs as
 * jlapack_dgeqrf() has them. A new R is upper triangular by its structure where it is square, so
 * that jbuffer_solve_triangular() takes it; a given one may be, or general. q or r may be NULL,
 * where it is not wanted, not both (invalid pointer); no element may be of both (invalid value). On
 * the host alone. Workspace: as jlapack_dgeqrf and jlapack_dorgqr, beside a copy of A and min(m, n)
 * elements. */
JALLOC_API jstatus_t jbuffer_qr(jhandle_t *handle, const jbuffer_t *a, jbuffer_t **q,
                                jbuffer_t **r);

/** The X of the least |B - A X|, column by column, where A (m x n, of any structure) has as many
 * rows as columns or more; elsewhere the least X with A X = B. A has full rank; it and B (m x nrhs,
 * or a vector of m elements) are as they were. X: n x nrhs, a new one a vector where B is one.
 * *info (host, waited for): 0, or i > 0 where the triangle of A's factorization has a zero on its
 * diagonal at i, the first such: A has not full rank, and X holds no solution; the status is
 * success all the same. A is not looked at for small ones that are not 0. Where all of A is 0 X
 * becomes 0 and *info 0, as LAPACK has it. A NaN or an infinity in A or B is invalid value. On the
 * host alone. Workspace: as jlapack_dgels, beside a copy of A and max(m, n) x nrhs elements. */
JALLOC_API jstatus_t jbuffer_least_squares(jhandle_t *handle, const jbuffer_t *a,
                                           const jbuffer_t *b, jbuffer_t **x, int64_t *info);

/** Eigenvalues of a symmetric or, of complex types, Hermitian A, of which the stored triangle is
 * read and kept: A V = V diag(values). values: n numbers in host memory, ascending, the same on all
 * processes. vectors: n x n, its columns orthonormal; NULL: they are not wanted. *info (host,
 * waited for): 0, or i > 0 where the algorithm did not converge, as LAPACK says it: then the values
 * are not right, and there are no vectors; the status is success all the same. A NaN or an infinity
 * in A is invalid value. On the host alone, and local and replicated ones with a LAPACK alone, as
 * jlapack_dsyevd(). Workspace: as that, beside a copy of A; of distributed ones as pdsyevd, beside
 * that and the vectors, wanted or not. */
JALLOC_API jstatus_t jbuffer_eigen_symmetric(jhandle_t *handle, const jbuffer_t *a, double *values,
                                             jbuffer_t **vectors, int64_t *info);

/** Singular values, A = U diag(values) V^H; A (m x n, of any structure) is as it was. values:
 * min(m, n) numbers in host memory, descending, the same on all processes. U: m x min(m, n), its
 * columns orthonormal; vt: V^H, min(m, n) x n, its rows orthonormal. Either or both may be NULL,
 * where they are not wanted, and no element may be of both (invalid value). *info, numbers that are
 * not finite and where it is offered: as jbuffer_eigen_symmetric(). Workspace: as jlapack_dgesdd,
 * beside copies of A and of the smaller one of U and V^H; of distributed ones as pdgesvd, beside A,
 * U and V^H. */
JALLOC_API jstatus_t jbuffer_svd(jhandle_t *handle, const jbuffer_t *a, double *values,
                                 jbuffer_t **u, jbuffer_t **vt, int64_t *info);

/** Cholesky factorization of a symmetric or Hermitian A in place: its stored triangle becomes U
 * with A = U^H U, or L with A = L L^H. *info (host, waited for): 0, or i > 0 where the leading
 * minor of order i is not positive definite; the status is success all the same, and the same *info
 * on all processes. View A as triangular afterwards to solve with it. Workspace: as jlapack_dpotrf;
 * of a distributed matrix whose blocks are not square, and of a slice that does not begin with one,
 * a copy. */
JALLOC_API jstatus_t jbuffer_cholesky(jhandle_t *handle, jbuffer_t *a, int64_t *info);

#ifdef __cplusplus
}
#endif
#endif
