/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JBLAS_BENCH_PROBLEM_H
#define JBLAS_BENCH_PROBLEM_H

/* One call made concrete: operands with numbers in them, scalars in the routine's type, and the
 * routine's row, which knows how to make the operands, call jblas, call the CBLAS, count the work
 * and compute the answer the slow way.
 *
 * A timed sample makes several calls when one is short. Each of them must meet fresh operands (a
 * triangular solve repeated in place ends among denormal numbers), so what a call writes exists
 * `slots` times, one after the other, beside one pristine copy from which all are restored between
 * samples:
 *
 *   operand->data       | slot 0: batch 0, batch 1, ... | slot 1 | ... | slot slots-1 |
 *   operand->pristine   | one slot | */

#include <complex.h>
#include <string.h>

#include "options.h"

/* How the reference computes: one type for all four. */
__extension__ typedef long double _Complex value_t;

typedef enum fill {
    FILL_GENERAL,    /* random in [-1, 1) */
    FILL_TRIANGULAR, /* well conditioned; what must not be read is large */
    /* As general; the diagonal's imaginary part, which must not be read, is there. */
    FILL_HERMITIAN,
    FILL_POSITIVE, /* positive definite, the other triangle is arbitrary; of a whole matrix, its
                     diagonal dominates */
    FILL_LU,       /* the factor of operand 0, whose diagonal dominates; no rows are exchanged */
    FILL_CHOLESKY  /* the same of a positive definite one */
} fill_t;

/* Where element (i, j) of a matrix is. */
typedef enum layout { LAYOUT_PLAIN, LAYOUT_BAND, LAYOUT_UPPER, LAYOUT_LOWER } layout_t;

typedef struct operand {
    bool present; /* the routine has it */
    bool vector;  /* then ld is the increment, rows the length, columns 1 */
    bool written; /* by the call */
    bool real;    /* whatever the type of the others */
    bool null;    /* NULL is passed */
    jdatatype_t type;
    fill_t fill;
    int64_t rows, columns; /* of one matrix */
    layout_t layout;       /* a band, or one packed triangle */
    int64_t height;        /* of the array: rows, or a band's diagonals */
    int64_t below, above;  /* diagonals of a band */
    int64_t ld;
    struct {
        int64_t rows, columns, ld;
    } later;               /* after the call, where it lies elsewhere; or 0 */
    int64_t stride, batch; /* elements from one matrix of a batch to the next; how many */
    int64_t item;          /* what the reference takes for item 0 */
    size_t elements;       /* of one slot, gaps included */
    /* Where in its slot the first matrix of a batch begins: not at 0 when the stride is
     * negative. */
    size_t origin;
    char *data;
    char *pristine;  /* of what is written */
    void **pointers; /* to each matrix of each slot, for pointer batches */
} operand_t;

/* A, B or x, C or y, or X, and two numbers of rotg and rotmg, or AF and errors; of eigenvalues and
 * singular values A, B, values in three parts, and two matrices of vectors. A routine leaves out
 * what it has not. */
enum { OPERANDS = 7 };

typedef union scalar {
    float s[2];
    double d[2];
    int64_t index;
    int32_t i;
} scalar_t;

typedef struct problem problem_t;
typedef struct scratch scratch_t; /* matrices of a residual (reference.h) */

/* A routine. */
typedef struct routine {
    const char *name;
    const char *types; /* of "sdczhb" those that exist; "x": they are arguments */
    const char *
        /* What it depends on: S side, U uplo, A transA, B transB, D diag, N norm, m n k e(kl) u(ku)
         * r(nrhs) b(batch_count) t(cs_type); J jobz, O jobu, T jobvt, L jobvl, R jobvr, V jobvs,
         * G range, I itype, p il, q iu, d kd. */
        shape;
    void (*setup)(problem_t *problem);
    jstatus_t (*call)(jhandle_t *handle, const problem_t *problem);
    void (*direct)(const problem_t *problem); /* NULL: the CBLAS has no such call; of an item */
    const char *const *extra; /* names of that call by type, where it is looked up */
    int64_t (*terms)(const options_t *options); /* longest sum behind an element of the result */
    /* The slow way: changes want[w], which holds operand w as it was before the call, to what it
     * should be afterwards; want[OPERANDS] is the scalar result. Sets problem->magnitude where the
     * result is no measure for its own error. */
    void (*reference)(problem_t *problem, value_t **want);
    /* Or how far what the call gave is from what defines it, relative by norms; a reference is NULL
     * then. */
    long double (*residual)(const problem_t *problem, scratch_t *scratch);
    bool real_alpha, real_beta; /* whatever the operands' type */
} routine_t;

struct problem {
    const routine_t *routine;
    const options_t *options;
    jdatatype_t type; /* of the operands, or what is computed in */
    operand_t operand[OPERANDS];
    scalar_t alpha, beta, above, up_to, abstol, rcond;
    union {
        float s[5];
        double d[5];
    } param;         /* rotm's */
    scalar_t result; /* of dot, nrm2, ...; info of factorizations and inverses */
    char *results;   /* the same of a batch, result_bytes each; NULL: of no batch */
    size_t result_bytes;
    int64_t count;   /* what else it says: steps of refinement, values found, the rank */
    int64_t *pivots; /* of LU; before a call, no row is exchanged */
    /* So many of each item, of which the first's begin there; all of them. Of a batch operand[2]
     * has their stride. */
    int64_t pivots_each, pivot_origin, pivot_count;
    bool has_pivots;
    bool pivots_are_order; /* of QR; before a call, no column is fixed */
    size_t slots;
    /* What the next call works on; NULL in a size query. */
    void *a, *b, *c, *s, *h, *e, *v; /* s: y1, AF; h: rotmg's param, ferr; e: berr, U; v: VT */
    void **pa, **pb, **pc, **ps, **ph, **pe, **pv;
    int64_t items;         /* of a batch; 1 of others */
    int64_t terms;         /* what an error bound grows with */
    long double magnitude; /* see reference */
};

/* Whether types are arguments. */
static inline bool routine_has_types(const routine_t *routine) { return routine->types[0] == 'x'; }

/* The routines, ended by a NULL name. */
extern const routine_t routines[];
/* The routine of a line; NULL: it names none, or one that does not exist for its type, and the
 * reason says so. */
const routine_t *routine_of(const options_t *options, char reason[OPTIONS_REASON_BYTES]);

/* Knows sizes and scalars, has no operands: enough for a size query. Nothing is to be ended. */
void problem_describe(problem_t *problem, const routine_t *routine, const options_t *options);
/* Makes the operands, too. False after a message when there is no memory for them. */
bool problem_init(problem_t *problem, const routine_t *routine, const options_t *options,
                  size_t slots);
void problem_fini(problem_t *problem);
/* What was written is as it was. */
void problem_restore(problem_t *problem);
/* Points a, b, c at a slot. */
void problem_select(problem_t *problem, size_t slot);
/* Makes the direct call of what is selected, for each item. */
void problem_call_direct(problem_t *problem);

/* Element of an array of any of the types. */
value_t value_load(jdatatype_t type, const void *array, size_t index);
void value_store(jdatatype_t type, void *array, size_t index, value_t value);
size_t type_bytes(jdatatype_t type);
static inline bool type_is_complex(jdatatype_t type) {
    return type == JDATATYPE_F32_C || type == JDATATYPE_F64_C;
}
/* Whether sums and scalars are float. */
static inline bool type_is_single(jdatatype_t type) {
    return type != JDATATYPE_F64 && type != JDATATYPE_F64_C;
}
static inline bool type_is_half(jdatatype_t type) {
    return type == JDATATYPE_F16 || type == JDATATYPE_BF16;
}
/* The type of a scalar, of what is computed in or of its parts; but of rot_ex's, --cs_type. */
jdatatype_t problem_scalar_type(const problem_t *problem, bool real);
bool routine_has_cblas(const routine_t *routine, jdatatype_t type); /* whether there is one */
/* The same call made directly; the CBLAS has none for 16 bits, knows no NULL, and reads a
 * stride beyond the vectors of a complex dot with gaps (OpenBLAS 0.3.21). */
static inline bool problem_has_direct(const problem_t *p) {
    const options_t *o = p->options;
    const bool gaps = type_is_complex(p->type) && strncmp(p->routine->name, "dot", 3) == 0 &&
                      (o->incx != 1 || o->incy != 1);
    /* By converting real ones: the CBLAS's names for complex ones are others. */
    const bool unlike = routine_has_types(p->routine) && type_is_complex(p->type);
    /* Nor has OpenBLAS 0.3.21 room for a wide matrix that is not transposed in place. */
    const operand_t *x = &p->operand[0];
    const bool wide = x->later.ld != 0 && x->columns > x->ld && x->columns > x->later.ld;
    return p->routine->direct && !unlike && !type_is_half(p->type) && o->null_pointers == 0 &&
           !o->alpha.null && !o->beta.null && !o->null_param && !gaps && !wide &&
           routine_has_cblas(p->routine, p->type);
}
/* Place of element (i, j) of batch number p in its slot; vectors with a negative increment begin at
 * the end. */
static inline size_t operand_index(const operand_t *operand, int64_t i, int64_t j, int64_t p) {
    const int64_t first = (operand->item + p) * operand->stride;
    if (operand->layout == LAYOUT_UPPER)
        return operand->origin + (size_t)(first + i + j * (j + 1) / 2);
    if (operand->layout == LAYOUT_LOWER)
        return operand->origin + (size_t)(first + i + j * (2 * operand->rows - j - 1) / 2);
    if (operand->layout == LAYOUT_BAND)
        i += operand->above - j;
    int64_t place = !operand->vector   ? i + j * operand->ld
                    : operand->ld >= 0 ? i * operand->ld
                                       : (i - operand->rows + 1) * operand->ld;
    return operand->origin + (size_t)(first + place);
}

/* As it lies after the call. */
static inline operand_t operand_later(const operand_t *operand) {
    operand_t after = *operand;
    if (operand->later.ld != 0)
        after.rows = operand->later.rows, after.columns = operand->later.columns,
        after.ld = operand->later.ld;
    return after;
}

/* Whether there is such an element. */
static inline bool operand_has(const operand_t *operand, int64_t i, int64_t j) {
    switch (operand->layout) {
    case LAYOUT_BAND: return i - j <= operand->below && j - i <= operand->above;
    case LAYOUT_UPPER: return i <= j;
    case LAYOUT_LOWER: return i >= j;
    default: return true;
    }
}

/* The CBLAS's call of the routine without _ex, with operands that are converted for it and back. */
void direct_converted(const problem_t *problem, void (*direct)(const problem_t *problem));

/* The slow ways, in reference.c and reference_lapack.c; a routine's row names one. */
void naive_asum(problem_t *problem, value_t **want);
void naive_nrm2(problem_t *problem, value_t **want);
void naive_iamax(problem_t *problem, value_t **want);
void naive_dot(problem_t *problem, value_t **want);
void naive_dotc(problem_t *problem, value_t **want);
void naive_iamin(problem_t *problem, value_t **want);
void naive_dsdot(problem_t *problem, value_t **want);
void naive_sdsdot(problem_t *problem, value_t **want);
void naive_rotg(problem_t *problem, value_t **want);
void naive_rotmg(problem_t *problem, value_t **want);
void naive_axpy(problem_t *problem, value_t **want);
void naive_axpby(problem_t *problem, value_t **want);
void naive_rot(problem_t *problem, value_t **want);
void naive_rotm(problem_t *problem, value_t **want);
void naive_copy(problem_t *problem, value_t **want);
void naive_swap(problem_t *problem, value_t **want);
void naive_scal(problem_t *problem, value_t **want);
void naive_gemv(problem_t *problem, value_t **want);
void naive_ger(problem_t *problem, value_t **want);
void naive_gerc(problem_t *problem, value_t **want);
void naive_symv(problem_t *problem, value_t **want);
void naive_skewsymv(problem_t *problem, value_t **want);
void naive_hemv(problem_t *problem, value_t **want);
void naive_syr(problem_t *problem, value_t **want);
void naive_her(problem_t *problem, value_t **want);
void naive_syr2(problem_t *problem, value_t **want);
void naive_skewsyr2(problem_t *problem, value_t **want);
void naive_her2(problem_t *problem, value_t **want);
void naive_trmv(problem_t *problem, value_t **want);
void naive_trsv(problem_t *problem, value_t **want);
void naive_gemm(problem_t *problem, value_t **want);
void naive_symm(problem_t *problem, value_t **want);
void naive_skewsymm(problem_t *problem, value_t **want);
void naive_hemm(problem_t *problem, value_t **want);
void naive_syrk(problem_t *problem, value_t **want);
void naive_herk(problem_t *problem, value_t **want);
void naive_syr2k(problem_t *problem, value_t **want);
void naive_skewsyr2k(problem_t *problem, value_t **want);
void naive_her2k(problem_t *problem, value_t **want);
void naive_syrkx(problem_t *problem, value_t **want);
void naive_herkx(problem_t *problem, value_t **want);
void naive_gemmt(problem_t *problem, value_t **want);
void naive_trmm(problem_t *problem, value_t **want);
void naive_trsm(problem_t *problem, value_t **want);
void naive_trtri(problem_t *problem, value_t **want);
void naive_geam(problem_t *problem, value_t **want);
void naive_dgmm(problem_t *problem, value_t **want);
void naive_omatcopy(problem_t *problem, value_t **want);
void naive_imatcopy(problem_t *problem, value_t **want);
void naive_trttp(problem_t *problem, value_t **want);
void naive_tpttr(problem_t *problem, value_t **want);
void naive_potrf(problem_t *problem, value_t **want);
void naive_potrs(problem_t *problem, value_t **want);
void naive_getrf(problem_t *problem, value_t **want);
void naive_getrs(problem_t *problem, value_t **want);
void naive_gesv(problem_t *problem, value_t **want);
void naive_getri(problem_t *problem, value_t **want);
void naive_trtrs(problem_t *problem, value_t **want);
void naive_posv(problem_t *problem, value_t **want);
void naive_lauum(problem_t *problem, value_t **want);
void naive_potri(problem_t *problem, value_t **want);
void naive_sytrf(problem_t *problem, value_t **want);
void naive_hetrf(problem_t *problem, value_t **want);
void naive_sytrs(problem_t *problem, value_t **want);
void naive_hetrs(problem_t *problem, value_t **want);
void naive_sysv(problem_t *problem, value_t **want);
void naive_hesv(problem_t *problem, value_t **want);
void naive_geqrf(problem_t *problem, value_t **want);
void naive_orgqr(problem_t *problem, value_t **want);
void naive_ormqr(problem_t *problem, value_t **want);
void naive_gelqf(problem_t *problem, value_t **want);
void naive_orglq(problem_t *problem, value_t **want);
void naive_ormlq(problem_t *problem, value_t **want);
void naive_gels(problem_t *problem, value_t **want);
void naive_geqp3(problem_t *problem, value_t **want);
void naive_gecon(problem_t *problem, value_t **want);
void naive_pocon(problem_t *problem, value_t **want);
void naive_trcon(problem_t *problem, value_t **want);
/* Operand 3 becomes the factor of operand 0. */
void naive_factor(problem_t *problem);
void naive_gerfs(problem_t *problem, value_t **want);
void naive_porfs(problem_t *problem, value_t **want);
void naive_dsgesv(problem_t *problem, value_t **want);
void naive_dsposv(problem_t *problem, value_t **want);

/* Residuals, in reference_drivers.c; a routine's row names one. */
long double residual_symmetric(const problem_t *problem, scratch_t *scratch);
long double residual_definite_pair(const problem_t *problem, scratch_t *scratch);
long double residual_singular(const problem_t *problem, scratch_t *scratch);
long double residual_general(const problem_t *problem, scratch_t *scratch);
long double residual_schur(const problem_t *problem, scratch_t *scratch);
long double residual_pair(const problem_t *problem, scratch_t *scratch);
long double residual_least_squares(const problem_t *problem, scratch_t *scratch);
long double residual_tridiagonal(const problem_t *problem, scratch_t *scratch);

/* Makes the call once, in slot 0, and compares. Gives the error, relative by norm; *bound is what
 * it may be. */
long double problem_verify(problem_t *problem, jhandle_t *handle, long double *bound);

#endif
