/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm by Strassen's algorithm in Winograd's form: 7 products of half the order, not 8, and 15
 * additions.
 *
 *     S1 = A21 + A22   S2 = S1 - A11    S3 = A11 - A21   S4 = A12 - S2
 *     T1 = B12 - B11   T2 = B22 - T1    T3 = B22 - B12   T4 = B21 - T2
 *     U = A11 B11 + S2 T2               V = U + S3 T3
 *
 *     C11 = A11 B11 + A12 B21           C12 = U + S1 T1 + S4 B22
 *     C21 = V + A22 T4                  C22 = V + S1 T1
 *
 * A seventh of the products is saved for additions that memory limits, so it pays for large orders
 * only, and once more for halves of halves. The schedule is the one with three temporaries that
 * adds to C (Huss-Lederman et al. 1996, "STRASSEN2"; Boyer, Dumas, Pernet and Zhou 2009 for what
 * there is beside it): X for the sums of A, Y for those of B, Z for what two quarters of C share. C
 * takes beta with the first thing that is added to it, so alpha and beta may be on the device.
 *
 *     | X: mk/4 | Y: kn/4 | Z: mn/4 |    a halving; a second one is behind it, a quarter as large
 *
 * An odd row, column or depth is peeled off and done by thin products (Huss-Lederman et al.), so
 * nothing is copied or padded. X and Y are stored as A and B are, transposed or not: additions run
 * down columns always.
 *
 * Error. The bound of a classical product holds element by element; here only the norms bound it,
 * and each halving multiplies the constant: |C - C'| <= (18^l (k'^2 + 6 k') - 6 k) u max|A| max|B|
 * for l halvings down to depth k' (Higham 2002, section 23.2.2). Small elements of C beside large
 * ones lose digits, and a sum of quarters may overflow. So it is for the accuracy normwise. */

#include "blas/algorithms/gemm.h"

int ji_strassen_levels(const jhandle_t *handle, const ji_matmat_t *args) {
    if (ji_is_complex(args->head.type))
        return 0;

    const int64_t least = ji_tuning(handle)->strassen_least[args->head.type],
                  smallest = ji_gemm_smallest(args);

    return smallest < 2 || smallest < least ? 0 : smallest / 2 < ji_max(least, 2) ? 1 : 2;
}

/* A matrix as it is stored, seen through its operation. */
typedef struct view {
    jdatatype_t type;
    const void *data;
    int64_t ld;
    bool flat; /* not transposed */
} view_t;

static view_t view_at(const view_t *view, int64_t i, int64_t j) {
    view_t part = *view;
    part.data = view->flat ? ji_at(view->type, view->data, i, j, view->ld)
                           : ji_at(view->type, view->data, j, i, view->ld);

    return part;
}

/* to = x A + y B for rows x columns of what the views show; `to` is stored as they are. */
static jstatus_t strassen_add(jhandle_t *handle, const ji_head_t *head, const view_t *to,
                              int64_t rows, int64_t columns, double x, const view_t *a, double y,
                              const view_t *b) {
    ji_matmat_t sum = {.head = *head,
                       .transa = JBLAS_NO_TRANSPOSE,
                       .transb = JBLAS_NO_TRANSPOSE,
                       .m = to->flat ? rows : columns,
                       .n = to->flat ? columns : rows,
                       .alpha = ji_constant(head->type, x),
                       .a = a->data,
                       .lda = a->ld,
                       .b = b->data,
                       .ldb = b->ld,
                       .beta = ji_constant(head->type, y),
                       .c = ji_unconst(to->data),
                       .ldc = to->ld};

    return ji_run(handle, JI_GEAM, &sum);
}

/* C = Z + beta C. */
static jstatus_t strassen_give(jhandle_t *handle, const ji_head_t *head, const view_t *c,
                               int64_t rows, int64_t columns, const view_t *z,
                               const ji_scalar_t *beta) {
    ji_matmat_t sum = {.head = *head,
                       .transa = JBLAS_NO_TRANSPOSE,
                       .transb = JBLAS_NO_TRANSPOSE,
                       .m = rows,
                       .n = columns,
                       .alpha = ji_constant(head->type, 1),
                       .a = z->data,
                       .lda = z->ld,
                       .b = c->data,
                       .ldb = c->ld,
                       .beta = *beta,
                       .c = ji_unconst(c->data),
                       .ldc = c->ld};

    return ji_run(handle, JI_GEAM, &sum);
}

/* Each of X, Y, Z begins at a multiple of this, as vectors and matrix units like it. */
#define STRASSEN_ALIGNMENT 256

static size_t strassen_part_bytes(jdatatype_t type, int64_t rows, int64_t columns) {
    size_t bytes = jalloc_matrix_bytes(type, rows, columns);
    return bytes > JALLOC_SIZE_OVERFLOW - STRASSEN_ALIGNMENT
               ? JALLOC_SIZE_OVERFLOW
               : (bytes + STRASSEN_ALIGNMENT - 1) / STRASSEN_ALIGNMENT * STRASSEN_ALIGNMENT;
}

static size_t strassen_bytes(jdatatype_t type, int64_t m, int64_t n, int64_t k, int levels) {
    size_t total = 0;
    for (int level = 0; level < levels; ++level) {
        m /= 2, n /= 2, k /= 2;
        const size_t parts[3] = {strassen_part_bytes(type, m, k), strassen_part_bytes(type, k, n),
                                 strassen_part_bytes(type, m, n)};

        for (int i = 0; i < 3; ++i)
            if (__builtin_add_overflow(total, parts[i], &total))
                return JALLOC_SIZE_OVERFLOW;
    }
    return total;
}

const char *ji_strassen_name(int levels) { return levels == 1 ? "strassen-1" : "strassen-2"; }

void ji_strassen_add_rungs(jplan_t *plan, const ji_matmat_t *args, int levels) {
    size_t bytes[2];
    for (int level = 1; level <= levels; ++level)
        bytes[level - 1] = strassen_bytes(args->head.type, args->m, args->n, args->k, level);

    if (levels >= 2)
        jplan_add(plan, ji_strassen_name(2), JI_GEMM_BITS_STRASSEN_2, 0, 1, &bytes[1]);
    if (levels >= 1)
        jplan_add(plan, ji_strassen_name(1), JI_GEMM_BITS_STRASSEN_1, 0, 1, &bytes[0]);
}

/* One product: how it is asked for at every level. */
typedef struct strassen {
    jhandle_t *handle;
    const ji_matmat_t *args; /* head and operations */
} strassen_t;

static jstatus_t strassen_product(const strassen_t *call, int64_t m, int64_t n, int64_t k,
                                  const ji_scalar_t *alpha, const view_t *a, const view_t *b,
                                  const ji_scalar_t *beta, const view_t *c) {
    ji_matmat_t product = {.head = call->args->head,
                           .transa = call->args->transa,
                           .transb = call->args->transb,
                           .m = m,
                           .n = n,
                           .k = k,
                           .alpha = *alpha,
                           .a = a->data,
                           .lda = a->ld,
                           .b = b->data,
                           .ldb = b->ld,
                           .beta = *beta,
                           .c = ji_unconst(c->data),
                           .ldc = c->ld};

    return ji_run(call->handle, JI_GEMM, &product);
}

/* What no halves have, of sizes that are odd: the last of k adds to what is done; the last column
 * and the last row are whole. */
static jstatus_t strassen_peel(const strassen_t *call, int64_t m, int64_t n, int64_t k,
                               const ji_scalar_t *alpha, const view_t *a, const view_t *b,
                               const ji_scalar_t *beta, const view_t *c) {
    const int64_t hm = m / 2, hn = n / 2, hk = k / 2;
    const ji_scalar_t one = ji_constant(call->args->head.type, 1);
    const view_t a_deep = view_at(a, 0, 2 * hk), b_deep = view_at(b, 2 * hk, 0);
    const view_t b_right = view_at(b, 0, 2 * hn), c_right = view_at(c, 0, 2 * hn);
    const view_t a_down = view_at(a, 2 * hm, 0), c_down = view_at(c, 2 * hm, 0);

    if (2 * hk < k)
        JTRY_RETURN(strassen_product(call, 2 * hm, 2 * hn, 1, alpha, &a_deep, &b_deep, &one, c));
    if (2 * hn < n)
        JTRY_RETURN(strassen_product(call, m, 1, k, alpha, a, &b_right, beta, &c_right));
    if (2 * hm < m)
        JTRY_RETURN(strassen_product(call, 1, 2 * hn, k, alpha, &a_down, b, beta, &c_down));

    return JSTATUS_SUCCESS;
}

/* One halving, or the product where there is none left. The steps are those of the schedule. */
static jstatus_t strassen_halve(const strassen_t *call, int levels, void *workspace, int64_t m,
                                int64_t n, int64_t k, const ji_scalar_t *alpha, const view_t *a,
                                const view_t *b, const ji_scalar_t *beta, const view_t *c) {
    if (levels == 0)
        return strassen_product(call, m, n, k, alpha, a, b, beta, c);

    jhandle_t *handle = call->handle;
    const ji_head_t *head = &call->args->head;
    const jdatatype_t type = head->type;
    const int64_t hm = m / 2, hn = n / 2, hk = k / 2;

    const ji_scalar_t one = ji_constant(type, 1), zero = ji_constant(type, 0);
    const view_t a11 = *a, a12 = view_at(a, 0, hk), a21 = view_at(a, hm, 0),
                 a22 = view_at(a, hm, hk);
    const view_t b11 = *b, b12 = view_at(b, 0, hn), b21 = view_at(b, hk, 0),
                 b22 = view_at(b, hk, hn);
    const view_t c11 = *c, c12 = view_at(c, 0, hn), c21 = view_at(c, hm, 0),
                 c22 = view_at(c, hm, hn);

    char *rest = workspace;
    const view_t x = {type, rest, a->flat ? hm : hk, a->flat};
    rest += strassen_part_bytes(type, hm, hk);
    const view_t y = {type, rest, b->flat ? hk : hn, b->flat};
    rest += strassen_part_bytes(type, hk, hn);
    const view_t z = {type, rest, hm, true};
    rest += strassen_part_bytes(type, hm, hn);

#define SUM_A(p, left, q, right)                                                                   \
    JTRY_RETURN(strassen_add(handle, head, &x, hm, hk, p, &(left), q, &(right)))
#define SUM_B(p, left, q, right)                                                                   \
    JTRY_RETURN(strassen_add(handle, head, &y, hk, hn, p, &(left), q, &(right)))
#define GIVE(to, keep) JTRY_RETURN(strassen_give(handle, head, &(to), hm, hn, &z, &(keep)))
#define PRODUCT(left, right, keep, to)                                                             \
    JTRY_RETURN(strassen_halve(call, levels - 1, rest, hm, hn, hk, alpha, &(left), &(right),       \
                               &(keep), &(to)))

    SUM_A(1, a21, 1, a22);       /* S1 */
    SUM_B(1, b12, -1, b11);      /* T1 */
    PRODUCT(x, y, zero, z);      /* S1 T1 */
    GIVE(c22, *beta);            /* in C22 */
    GIVE(c12, *beta);            /* in C12 */
    SUM_A(1, x, -1, a11);        /* S2 */
    SUM_B(-1, y, 1, b22);        /* T2 */
    PRODUCT(a11, b11, zero, z);  /* A11 B11 */
    GIVE(c11, *beta);            /* in C11 */
    PRODUCT(x, y, one, z);       /* U */
    PRODUCT(a12, b21, one, c11); /* C11 is done */
    GIVE(c12, one);              /* U in C12 */
    SUM_A(-1, x, 1, a12);        /* S4 */
    PRODUCT(x, b22, one, c12);   /* C12 is done */
    SUM_B(-1, y, 1, b21);        /* T4 */
    PRODUCT(a22, y, *beta, c21); /* A22 T4 in C21 */
    SUM_A(1, a11, -1, a21);      /* S3 */
    SUM_B(1, b22, -1, b12);      /* T3 */
    PRODUCT(x, y, one, z);       /* V */
    GIVE(c21, one);              /* C21 is done */
    GIVE(c22, one);              /* C22 is done */
#undef SUM_A
#undef SUM_B
#undef GIVE
#undef PRODUCT

    return strassen_peel(call, m, n, k, alpha, a, b, beta, c);
}

jstatus_t ji_strassen_run(jhandle_t *handle, const ji_matmat_t *args, int levels, void *workspace) {
    const strassen_t call = {handle, args};
    const jdatatype_t type = args->head.type;
    const view_t a = {type, args->a, args->lda, !ji_is_transposed(args->transa)};
    const view_t b = {type, args->b, args->ldb, !ji_is_transposed(args->transb)};
    const view_t c = {type, args->c, args->ldc, true};

    return strassen_halve(&call, levels, workspace, args->m, args->n, args->k, &args->alpha, &a, &b,
                          &args->beta, &c);
}
