/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices with any strides and structures, by jblas alone: so one code serves every device and stream.
 *
 * ji_matrix_add() is the workhorse: it copies, packs, transposes, expands triangles, adds. What BLAS can take as it
 * lies is one geam. Everything else is cut into lines along the shorter strides of the sum, and each line where a
 * term's stored triangle ends, as here for the column j of a general sum of a term whose upper triangle is stored:
 *
 *     rows 0 to j        the term's own column j
 *     rows j + 1 on      its row j, as the structure mirrors it: conjugated, or zero
 *
 * A line is a 1 x n matrix whose leading dimension is its stride, so geam adds lines, too. A line that is only copied
 * is copied, which keeps bits that a product by 1 would not (-0, a complex infinity). */

#include "blas/operation.h"

#define LINE_MOST ((int64_t)1 << 30) /* elements of a line at once: a CBLAS of 32-bit integers takes them */
#define TILE 64 /* elements of a line copied before the next one, where it lies across: a cache's */

/* ---- jblas by type ---- */

#define WRAP(context, routine, t, name)                                                                                \
    static jstatus_t gemm_##t(jhandle_t *h, jblas_operation_t ta, jblas_operation_t tb, int64_t m, int64_t n,          \
                              int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,    \
                              const void *beta, void *c, int64_t ldc) {                                                \
        return jblas_##t##gemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                               \
    }                                                                                                                  \
    static jstatus_t symm_##t(jhandle_t *h, jblas_side_t side, jblas_fill_t uplo, int64_t m, int64_t n,                \
                              const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,               \
                              const void *beta, void *c, int64_t ldc) {                                                \
        return jblas_##t##symm(h, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                              \
    }                                                                                                                  \
    static jstatus_t trsm_##t(jhandle_t *h, jblas_side_t side, jblas_fill_t uplo, jblas_operation_t op,                \
                              jblas_diagonal_t diag, int64_t m, int64_t n, const void *alpha, const void *a,           \
                              int64_t lda, void *b, int64_t ldb) {                                                     \
        return jblas_##t##trsm(h, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);                                  \
    }                                                                                                                  \
    static jstatus_t potrf_##t(jhandle_t *h, jblas_fill_t uplo, int64_t n, void *a, int64_t lda, int64_t *info) {      \
        return jblas_##t##potrf(h, uplo, n, a, lda, info);                                                             \
    }                                                                                                                  \
    static jstatus_t geam_##t(jhandle_t *h, jblas_operation_t ta, jblas_operation_t tb, int64_t m, int64_t n,          \
                              const void *alpha, const void *a, int64_t lda, const void *beta, const void *b,          \
                              int64_t ldb, void *c, int64_t ldc) {                                                     \
        return jblas_##t##geam(h, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                                  \
    }                                                                                                                  \
    static jstatus_t copy_##t(jhandle_t *h, int64_t n, const void *x, int64_t incx, void *y, int64_t incy) {           \
        return jblas_##t##copy(h, n, x, incx, y, incy);                                                                \
    }                                                                                                                  \
    static jstatus_t scal_##t(jhandle_t *h, int64_t n, const void *alpha, void *x, int64_t incx) {                     \
        return jblas_##t##scal(h, n, alpha, x, incx);                                                                  \
    }
JI_SDCZ(WRAP, , )
#define WRAP_HEMM(context, routine, t, name)                                                                           \
    static jstatus_t hemm_##t(jhandle_t *h, jblas_side_t side, jblas_fill_t uplo, int64_t m, int64_t n,                \
                              const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,               \
                              const void *beta, void *c, int64_t ldc) {                                                \
        return jblas_##t##hemm(h, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                              \
    }
JI_CZ(WRAP_HEMM, , )
#define hemm_s symm_s
#define hemm_d symm_d
#define TABLE(context, routine, t, name)                                                                               \
    {gemm_##t, symm_##t, hemm_##t, trsm_##t, potrf_##t, geam_##t, copy_##t, scal_##t},
const ji_blas_table_t ji_blas_tables[4] = {JI_SDCZ(TABLE, , )};

const ji_value_t ji_one[4] = {{.s = 1}, {.d = 1}, {.c = {1, 0}}, {.z = {1, 0}}};
static const ji_value_t zero; /* of any type */
static const ji_value_t minus_one[2] = {{.s = -1}, {.d = -1}};

bool ji_is_zero(jdatatype_t type, const void *scalar) {
    ji_scalar_t value;
    memcpy(&value.value, scalar, ji_sizeof(type));
    value.pointer = NULL;
    return ji_scalar_is(&value, type, 0);
}

static bool is_one(jdatatype_t type, const void *scalar) {
    ji_scalar_t value;
    memcpy(&value.value, scalar, ji_sizeof(type));
    value.pointer = NULL;
    return ji_scalar_is(&value, type, 1);
}

/* ---- Matrices ---- */

jstructure_t ji_structure_family(jstructure_t structure, jdatatype_t type) {
    switch (structure) {
    case JSTRUCTURE_SYMMETRIC_UPPER:
    case JSTRUCTURE_SYMMETRIC_LOWER: return JSTRUCTURE_SYMMETRIC_UPPER;
    case JSTRUCTURE_HERMITIAN_UPPER:
    case JSTRUCTURE_HERMITIAN_LOWER:
        return ji_is_complex(type) ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_SYMMETRIC_UPPER;
    default: return structure;
    }
}

ji_matrix_t ji_matrix(jdatatype_t type, const jlayout_t *layout, void *data) {
    ji_matrix_t matrix = {type, layout->structure, 1, 1, 1, 1, data};
    if (layout->rank > 0) {
        matrix.rows = layout->extents[0];
        matrix.row_stride = layout->strides[0];
    }
    if (layout->rank > 1) {
        matrix.columns = layout->extents[1];
        matrix.column_stride = layout->strides[1];
    }
    return matrix;
}

ji_matrix_t ji_matrix_transposed(const ji_matrix_t *matrix) {
    return (ji_matrix_t){matrix->type,          ji_structure_flipped(matrix->structure),
                         matrix->columns,       matrix->rows,
                         matrix->column_stride, matrix->row_stride,
                         matrix->data};
}

bool ji_matrix_is_column_major(const ji_matrix_t *matrix) {
    return (matrix->rows <= 1 || matrix->row_stride == 1) &&
           (matrix->columns <= 1 || matrix->column_stride >= matrix->rows);
}

int64_t ji_matrix_leading_dimension(const ji_matrix_t *matrix) {
    return matrix->columns <= 1 ? ji_max(1, matrix->rows) : matrix->column_stride;
}

/* ---- Lines ---- */

/* Part of a line of a term: not there (x NULL), or so many elements. */
typedef struct line_term {
    const void *scalar;
    const char *x;
    int64_t stride;
    bool conjugate;
} line_term_t;

typedef struct adder {
    jhandle_t *handle;
    jdatatype_t type;
    const ji_blas_table_t *blas;
    bool on_host;
} adder_t;

/* x = conj(x). */
static jstatus_t line_conjugate(const adder_t *adder, int64_t count, char *x, int64_t stride) {
    const jdatatype_t real = ji_real_of(adder->type);
    return ji_blas_tables[real].scal(adder->handle, count, &minus_one[real], x + ji_sizeof(real), 2 * stride);
}

static void conjugate_scalar(jdatatype_t type, const void *scalar, ji_value_t *conjugate) {
    memcpy(conjugate, scalar, ji_sizeof(type));
    if (type == JDATATYPE_F32_C)
        conjugate->c[1] = -conjugate->c[1];
    else
        conjugate->z[1] = -conjugate->z[1];
}

/* y = a + b, neither conjugated. */
static jstatus_t line_add_plain(const adder_t *adder, int64_t count, const line_term_t *a, const line_term_t *b,
                                char *y, int64_t stride) {
    const void *alpha = a->x != NULL ? a->scalar : (const void *)&zero;
    const void *beta = b->x != NULL ? b->scalar : (const void *)&zero;
    const int64_t stride_a = a->x != NULL ? a->stride : 1, stride_b = b->x != NULL ? b->stride : 1;
    if (b->x == NULL && a->x != NULL && is_one(adder->type, alpha))
        return a->x == y ? JSTATUS_SUCCESS : adder->blas->copy(adder->handle, count, a->x, stride_a, y, stride);
    if (stride == 1 && stride_a == 1 && stride_b == 1) /* one column: the faster loop */
        return adder->blas->geam(adder->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, count, 1, alpha, a->x, count,
                                 beta, b->x, count, y, count);
    return adder->blas->geam(adder->handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, 1, count, alpha, a->x, stride_a,
                             beta, b->x, stride_b, y, stride);
}

/* y = a + b. With conjugates: conj(y) = conj(a) + conj(b), where the terms that are not there conjugated already come
 * second. */
static jstatus_t line_add(const adder_t *adder, int64_t count, line_term_t a, line_term_t b, char *y, int64_t stride) {
    if (!ji_is_complex(adder->type))
        a.conjugate = b.conjugate = false;
    if (a.x == NULL || (b.x != NULL && b.conjugate && !a.conjugate)) {
        const line_term_t other = a;
        a = b;
        b = other;
    }
    if (a.x == NULL || !a.conjugate)
        return line_add_plain(adder, count, &a, &b, y, stride);
    ji_value_t scalars[2];
    const line_term_t none = {NULL, NULL, 1, false};
    conjugate_scalar(adder->type, a.scalar, &scalars[0]);
    a.scalar = &scalars[0];
    const bool together = b.x != NULL && (b.conjugate || b.x == y);
    if (together) {
        conjugate_scalar(adder->type, b.scalar, &scalars[1]);
        if (!b.conjugate) /* b is y */
            JTRY_RETURN(line_conjugate(adder, count, y, stride));
        b.scalar = &scalars[1];
    }
    JTRY_RETURN(line_add_plain(adder, count, &a, together ? &b : &none, y, stride));
    JTRY_RETURN(line_conjugate(adder, count, y, stride));
    if (together || b.x == NULL)
        return JSTATUS_SUCCESS;
    const line_term_t sum = {&ji_one[adder->type], y, stride, false};
    return line_add_plain(adder, count, &sum, &b, y, stride);
}

/* ---- Sums of matrices ---- */

/* A term with op applied to its strides. */
typedef struct oriented {
    const void *scalar; /* NULL: the term is not there */
    ji_matrix_t matrix;
    bool conjugate;
} oriented_t;

/* Rows `first` on of column j of a term, as its structure has them; they do not cross the diagonal. */
static line_term_t term_line(const oriented_t *term, int64_t first, int64_t j, int64_t last) {
    line_term_t line = {term->scalar, NULL, 1, term->conjugate};
    const ji_matrix_t *matrix = &term->matrix;
    if (term->scalar == NULL)
        return line;
    const bool stored =
        matrix->structure == JSTRUCTURE_GENERAL || (ji_structure_is_upper(matrix->structure) ? last <= j : first >= j);
    if (!stored && ji_structure_is_triangular(matrix->structure))
        return line;
    const int64_t row = stored ? first : j, column = stored ? j : first;
    line.x = (const char *)matrix->data +
             (row * matrix->row_stride + column * matrix->column_stride) * (int64_t)ji_sizeof(matrix->type);
    line.stride = stored ? matrix->row_stride : matrix->column_stride;
    line.conjugate ^= !stored && ji_structure_is_hermitian(matrix->structure);
    return line;
}

/* Rows [first, end) of column j. */
static jstatus_t add_line(const adder_t *adder, const oriented_t terms[2], const ji_matrix_t *sum, int64_t first,
                          int64_t end, int64_t j) {
    for (; first < end; first += LINE_MOST) {
        const int64_t count = end - first < LINE_MOST ? end - first : LINE_MOST, last = first + count - 1;
        char *y =
            (char *)sum->data + (first * sum->row_stride + j * sum->column_stride) * (int64_t)ji_sizeof(sum->type);
        JTRY_RETURN(line_add(adder, count, term_line(&terms[0], first, j, last), term_line(&terms[1], first, j, last),
                             y, sum->row_stride));
    }
    return JSTATUS_SUCCESS;
}

/* The stored part of column j of a square sum, cut at the diagonal. */
static jstatus_t add_column(const adder_t *adder, const oriented_t terms[2], const ji_matrix_t *sum, int64_t j) {
    const bool whole = sum->structure == JSTRUCTURE_GENERAL, upper = ji_structure_is_upper(sum->structure);
    const int64_t first = whole || upper ? 0 : j, end = whole || !upper ? sum->rows : j + 1;
    const int64_t cuts[4] = {first, j, j + 1, end};
    for (int i = 0; i < 3; i++)
        JTRY_RETURN(add_line(adder, terms, sum, cuts[i], cuts[i + 1], j));
    return JSTATUS_SUCCESS;
}

/* The operation by which geam reads the term; false: it cannot. */
static bool geam_reads(const oriented_t *term, jblas_operation_t *operation, int64_t *leading_dimension) {
    const bool conjugate = term->conjugate && ji_is_complex(term->matrix.type);
    const ji_matrix_t across = ji_matrix_transposed(&term->matrix);
    *operation = JBLAS_NO_TRANSPOSE;
    *leading_dimension = ji_max(1, term->matrix.rows);
    if (term->scalar == NULL)
        return true;
    if (!conjugate && ji_matrix_is_column_major(&term->matrix)) {
        *leading_dimension = ji_matrix_leading_dimension(&term->matrix);
        return true;
    }
    *operation = conjugate ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
    *leading_dimension = ji_matrix_leading_dimension(&across);
    return ji_matrix_is_column_major(&across);
}

static bool is_copy(const oriented_t terms[2]) {
    return terms[1].scalar == NULL && terms[0].scalar != NULL && is_one(terms[0].matrix.type, terms[0].scalar);
}

static jstatus_t add_general(const adder_t *adder, const oriented_t terms[2], const ji_matrix_t *sum) {
    jblas_operation_t operations[2];
    int64_t leading[2];
    const bool readable = geam_reads(&terms[0], &operations[0], &leading[0]) &&
                          geam_reads(&terms[1], &operations[1], &leading[1]) && ji_matrix_is_column_major(sum);
    if (readable && !(is_copy(terms) && adder->on_host))
        return adder->blas->geam(adder->handle, operations[0], operations[1], sum->rows, sum->columns,
                                 terms[0].scalar ? terms[0].scalar : &zero, terms[0].matrix.data, leading[0],
                                 terms[1].scalar ? terms[1].scalar : &zero, terms[1].matrix.data, leading[1], sum->data,
                                 ji_matrix_leading_dimension(sum));
    const bool across = adder->on_host && terms[0].scalar != NULL && terms[0].matrix.row_stride != 1;
    const int64_t tile = across && sum->columns > 1 ? TILE : ji_max(1, sum->rows);
    for (int64_t top = 0; top < sum->rows; top += tile)
        for (int64_t j = 0; j < sum->columns; j++)
            JTRY_RETURN(add_line(adder, terms, sum, top, top + tile < sum->rows ? top + tile : sum->rows, j));
    return JSTATUS_SUCCESS;
}

/* Columns that follow each other without a gap are one. */
static bool is_one_line(const ji_matrix_t *matrix) {
    return matrix->row_stride == 1 && (matrix->columns <= 1 || matrix->column_stride == matrix->rows);
}

jstatus_t ji_matrix_add(jhandle_t *handle, const ji_term_t terms[2], const ji_matrix_t *sum) {
    const adder_t adder = {handle, sum->type, &ji_blas_tables[sum->type],
                           jdevice_kind(jhandle_device(handle)) == JDEVICE_HOST};
    ji_matrix_t to = *sum;
    if (to.rows == 0 || to.columns == 0)
        return JSTATUS_SUCCESS;
    const bool turn = to.columns > 1 && (to.rows <= 1 || to.column_stride < to.row_stride);
    if (turn)
        to = ji_matrix_transposed(&to);
    oriented_t oriented[2] = {{NULL, to, false}, {NULL, to, false}};
    bool general = to.structure == JSTRUCTURE_GENERAL, line = is_one_line(&to);
    for (int i = 0, next = 0; i < 2; i++) {
        const ji_term_t *term = &terms[i];
        if (term->scalar == NULL || ji_is_zero(sum->type, term->scalar))
            continue;
        oriented_t *o = &oriented[next++];
        o->scalar = term->scalar;
        o->conjugate = term->operation == JBLAS_CONJUGATE_TRANSPOSE;
        o->matrix =
            (term->operation != JBLAS_NO_TRANSPOSE) != turn ? ji_matrix_transposed(&term->matrix) : term->matrix;
        general = general && o->matrix.structure == JSTRUCTURE_GENERAL;
        line = line && is_one_line(&o->matrix);
    }
    if (general && line) {
        to.rows *= to.columns;
        to.columns = 1;
        return add_line(&adder, oriented, &to, 0, to.rows, 0);
    }
    if (general)
        return add_general(&adder, oriented, &to);
    for (int64_t j = 0; j < to.columns; j++)
        JTRY_RETURN(add_column(&adder, oriented, &to, j));
    return JSTATUS_SUCCESS;
}

/* Two dimensions, those along which the sum is nearest to its neighbours, are a matrix; the others are walked. */
jstatus_t ji_layout_add(jhandle_t *handle, jdatatype_t type, const ji_layout_term_t terms[2], const jlayout_t *layout,
                        void *sum) {
    const ji_layout_term_t all[3] = {terms[0], terms[1], {NULL, layout, sum}};
    const int rank = layout->rank;
    const int64_t bytes = (int64_t)ji_sizeof(type);
    int order[JLAYOUT_MAX_RANK] = {0};
    int64_t index[JLAYOUT_MAX_RANK] = {0};
    char *data[3];
    for (int i = 0; i < 3; i++)
        data[i] = all[i].data;
    for (int d = 0; d < rank; d++)
        if (layout->extents[d] == 0)
            return JSTATUS_SUCCESS;
    ji_layout_sort(layout, order);
    for (;;) {
        ji_matrix_t matrices[3];
        for (int i = 0; i < 3; i++) {
            const jlayout_t *own = all[i].layout != NULL ? all[i].layout : layout;
            matrices[i] = (ji_matrix_t){type,
                                        JSTRUCTURE_GENERAL,
                                        layout->extents[order[0]],
                                        layout->extents[order[1]],
                                        own->strides[order[0]],
                                        own->strides[order[1]],
                                        data[i]};
        }
        const ji_term_t here[2] = {{terms[0].scalar, JBLAS_NO_TRANSPOSE, matrices[0]},
                                   {terms[1].scalar, JBLAS_NO_TRANSPOSE, matrices[1]}};
        JTRY_RETURN(ji_matrix_add(handle, here, &matrices[2]));
        int d = 2;
        for (; d < rank; d++) {
            const int64_t extent = layout->extents[order[d]];
            const bool next = ++index[d] < extent;
            for (int i = 0; i < 3; i++)
                if (all[i].layout != NULL)
                    data[i] += (next ? 1 : 1 - extent) * all[i].layout->strides[order[d]] * bytes;
            if (next)
                break;
            index[d] = 0;
        }
        if (d >= rank)
            return JSTATUS_SUCCESS;
    }
}
