/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices with any strides and structures, by jblas alone: so one code serves every device and
 * stream.
 *
 * ji_matrix_add() is the workhorse: it copies, packs, transposes, expands triangles, adds. What
 * BLAS can take as it lies is one geam. Everything else is cut into lines along the shorter strides
 * of the sum, and each line where a term's stored triangle ends, as here for the column j of a
 * general sum of a term whose upper triangle is stored:
 *
 *     rows 0 to j        the term's own column j
 *     rows j + 1 on      its row j, as the structure mirrors it: conjugated, or zero
 *
 * A line is a 1 x n matrix whose leading dimension is its stride, so geam adds lines, too. A line
 * that is only copied is copied, which keeps bits that a product by 1 would not (-0, a complex
 * infinity). */

#include "buffer/walk.h"
#include "operation/operation.h"

#define LINE_MOST ((int64_t)1 << 30) /* elements at once: a CBLAS of 32-bit integers takes them */
#define TILE 64 /* elements of a line that lies across, copied before the next one: a cache's */

/* ---- Scalars ---- */

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

/* The stride of a single row or column may be anything: here it is 1. */
static int64_t stride_of(const jlayout_t *layout, int d) {
    return layout->extents[d] > 1 ? layout->strides[d] : 1;
}

ji_matrix_t ji_matrix(jdatatype_t type, const jlayout_t *layout, void *data) {
    ji_matrix_t matrix = {type, layout->structure, 1, 1, 1, 1, data};

    if (layout->rank > 0) {
        matrix.rows = layout->extents[0];
        matrix.row_stride = stride_of(layout, 0);
    }

    if (layout->rank > 1) {
        matrix.columns = layout->extents[1];
        matrix.column_stride = stride_of(layout, 1);
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
    bool on_host;
} adder_t;

/* What geam takes: a matrix with its op, which may be one that is not there. */
typedef struct geam_term {
    jblas_operation_t operation;
    const void *scalar, *data;
    int64_t leading_dimension;
} geam_term_t;

static jstatus_t geam(const adder_t *adder, int64_t rows, int64_t columns, const geam_term_t *a,
                      const geam_term_t *b, void *c, int64_t ldc) {
    ji_matmat_t call = {.head = {.type = adder->type},
                        .transa = a->operation,
                        .transb = b->operation,
                        .m = rows,
                        .n = columns,
                        .alpha.pointer = a->scalar,
                        .a = a->data,
                        .lda = a->leading_dimension,
                        .beta.pointer = b->scalar,
                        .b = b->data,
                        .ldb = b->leading_dimension,
                        .c = c,
                        .ldc = ldc};
    return ji_call_geam(adder->handle, &call);
}

static jstatus_t line_copy(const adder_t *adder, int64_t count, const line_term_t *from, void *to,
                           int64_t stride) {
    ji_vector_t call = {.head = {.type = adder->type},
                        .n = count,
                        .x = from->x,
                        .incx = from->stride,
                        .y = to,
                        .incy = stride};
    return ji_call_copy(adder->handle, &call);
}

jstatus_t ji_scale(jhandle_t *handle, jdatatype_t type, int64_t count, const void *scalar, void *x,
                   int64_t stride) {
    ji_vector_t call = {
        .head = {.type = type}, .n = count, .alpha.pointer = scalar, .x = x, .incx = stride};
    return ji_call_scal(handle, &call);
}

/* x = conj(x). */
static jstatus_t line_conjugate(const adder_t *adder, int64_t count, char *x, int64_t stride) {
    const jdatatype_t real = ji_real_of(adder->type);
    return ji_scale(adder->handle, real, count, &minus_one[real], x + ji_sizeof(real), 2 * stride);
}

static void conjugate_scalar(jdatatype_t type, const void *scalar, ji_value_t *conjugate) {
    memcpy(conjugate, scalar, ji_sizeof(type));
    ji_conjugate(type, conjugate, 0, 1);
}

/* y = a + b, neither conjugated. */
static jstatus_t line_add_plain(const adder_t *adder, int64_t count, const line_term_t *a,
                                const line_term_t *b, char *y, int64_t stride) {
    if (b->x == NULL && a->x != NULL && is_one(adder->type, a->scalar))
        return a->x == y ? JSTATUS_SUCCESS : line_copy(adder, count, a, y, stride);

    const line_term_t *lines[2] = {a, b};
    geam_term_t terms[2];
    bool whole = stride == 1; /* all are one column: the faster loop */
    for (int i = 0; i < 2; i++) {
        const bool there = lines[i]->x != NULL;
        terms[i] = (geam_term_t){JBLAS_NO_TRANSPOSE, there ? lines[i]->scalar : &zero, lines[i]->x,
                                 there ? lines[i]->stride : 1};
        whole = whole && terms[i].leading_dimension == 1;
    }
    if (!whole)
        return geam(adder, 1, count, &terms[0], &terms[1], y, stride);

    terms[0].leading_dimension = terms[1].leading_dimension = count;
    return geam(adder, count, 1, &terms[0], &terms[1], y, count);
}

/* y = a + b. With conjugates: conj(y) = conj(a) + conj(b), where the terms that are not there
 * conjugated already come second. */
static jstatus_t line_add(const adder_t *adder, int64_t count, line_term_t a, line_term_t b,
                          char *y, int64_t stride) {
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

/* Rows `first` on of column j of a term, as its structure has them; they do not cross the
 * diagonal. */
static inline line_term_t term_line(const oriented_t *term, int64_t first, int64_t j) {
    line_term_t line = {term->scalar, NULL, 1, term->conjugate};
    const ji_matrix_t *matrix = &term->matrix;
    const ji_origin_t origin = ji_origin_of(matrix->structure, first, j);
    if (term->scalar == NULL || origin == JI_ORIGIN_ZERO)
        return line;

    const bool mirrored = ji_origin_is_mirrored(origin);
    const int64_t row = mirrored ? j : first, column = mirrored ? first : j;
    line.x =
        (const char *)matrix->data + (row * matrix->row_stride + column * matrix->column_stride) *
                                         (int64_t)ji_sizeof(matrix->type);
    line.stride = mirrored ? matrix->column_stride : matrix->row_stride;
    line.conjugate ^= origin == JI_ORIGIN_CONJUGATED;
    return line;
}

/* Rows [first, end) of column j. */
static jstatus_t add_line(const adder_t *adder, const oriented_t terms[2], const ji_matrix_t *sum,
                          int64_t first, int64_t end, int64_t j) {
    for (; first < end; first += LINE_MOST) {
        const int64_t count = end - first < LINE_MOST ? end - first : LINE_MOST;
        char *y = (char *)sum->data + (first * sum->row_stride + j * sum->column_stride) *
                                          (int64_t)ji_sizeof(sum->type);
        JTRY_RETURN(line_add(adder, count, term_line(&terms[0], first, j),
                             term_line(&terms[1], first, j), y, sum->row_stride));
    }
    return JSTATUS_SUCCESS;
}

/* The stored part of column j of a square sum, cut at the diagonal. */
static jstatus_t add_column(const adder_t *adder, const oriented_t terms[2], const ji_matrix_t *sum,
                            int64_t j) {
    int64_t cuts[4] = {0, j, j + 1, 0};
    ji_region_rows(ji_structure_region(sum->structure), sum->rows, j, &cuts[0], &cuts[3]);

    for (int i = 0; i < 3; i++)
        JTRY_RETURN(add_line(adder, terms, sum, cuts[i], cuts[i + 1], j));
    return JSTATUS_SUCCESS;
}

/* The term as geam reads it; false: it cannot. */
static bool geam_reads(const oriented_t *term, geam_term_t *read) {
    const bool conjugate = term->conjugate && ji_is_complex(term->matrix.type);
    const ji_matrix_t across = ji_matrix_transposed(&term->matrix);

    *read = (geam_term_t){JBLAS_NO_TRANSPOSE, term->scalar != NULL ? term->scalar : &zero,
                          term->matrix.data, ji_max(1, term->matrix.rows)};
    if (term->scalar == NULL)
        return true;

    if (!conjugate && ji_matrix_is_column_major(&term->matrix)) {
        read->leading_dimension = ji_matrix_leading_dimension(&term->matrix);
        return true;
    }

    read->operation = conjugate ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
    read->leading_dimension = ji_matrix_leading_dimension(&across);
    return ji_matrix_is_column_major(&across);
}

static bool is_copy(const oriented_t terms[2]) {
    return terms[1].scalar == NULL && terms[0].scalar != NULL &&
           is_one(terms[0].matrix.type, terms[0].scalar);
}

static jstatus_t add_general(const adder_t *adder, const oriented_t terms[2],
                             const ji_matrix_t *sum) {
    geam_term_t read[2];
    const bool readable = geam_reads(&terms[0], &read[0]) && geam_reads(&terms[1], &read[1]) &&
                          ji_matrix_is_column_major(sum) && sum->rows <= LINE_MOST &&
                          sum->columns <= LINE_MOST;
    if (readable && !(is_copy(terms) && adder->on_host))
        return geam(adder, sum->rows, sum->columns, &read[0], &read[1], sum->data,
                    ji_matrix_leading_dimension(sum));

    /* Columns of the first term lie across those of the sum: by tiles, which stay in a cache. */
    const bool across =
        adder->on_host && terms[0].scalar != NULL && terms[0].matrix.row_stride != 1;
    const int64_t tile = across && sum->columns > 1 ? TILE : ji_max(1, sum->rows);
    for (int64_t top = 0; top < sum->rows; top += tile)
        for (int64_t j = 0; j < sum->columns; j++)
            JTRY_RETURN(add_line(adder, terms, sum, top,
                                 top + tile < sum->rows ? top + tile : sum->rows, j));
    return JSTATUS_SUCCESS;
}

/* Columns that follow each other without a gap are one. */
static bool is_one_line(const ji_matrix_t *matrix) {
    return matrix->row_stride == 1 &&
           (matrix->columns <= 1 || matrix->column_stride == matrix->rows);
}

jstatus_t ji_matrix_add(jhandle_t *handle, const ji_term_t terms[2], const ji_matrix_t *sum) {
    const adder_t adder = {handle, sum->type, jdevice_kind(jhandle_device(handle)) == JDEVICE_HOST};
    ji_matrix_t to = *sum;
    if (to.rows == 0 || to.columns == 0)
        return JSTATUS_SUCCESS;

    /* Lines go along the sum's shorter stride. */
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
        o->matrix = (term->operation != JBLAS_NO_TRANSPOSE) != turn
                        ? ji_matrix_transposed(&term->matrix)
                        : term->matrix;
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

jstatus_t ji_matrix_copy(jhandle_t *handle, jblas_operation_t operation, const ji_matrix_t *to,
                         const ji_matrix_t *from) {
    const ji_term_t terms[2] = {{&ji_one[to->type], operation, *from},
                                {NULL, JBLAS_NO_TRANSPOSE, *from}};
    return ji_matrix_add(handle, terms, to);
}

/* One side of a tile as a matrix. */
static inline ji_matrix_t tile(const ji_walk_t *walk, int side, jdatatype_t type, void *data) {
    const ji_walk_dimension_t *rows = &walk->dimensions[0], *columns = &walk->dimensions[1];
    char *first = data != NULL ? (char *)data + walk->at[side] * (int64_t)ji_sizeof(type) : NULL;
    return (ji_matrix_t){type,
                         JSTRUCTURE_GENERAL,
                         rows->extent,
                         columns->extent,
                         rows->strides[side],
                         columns->strides[side],
                         first};
}

/* Two dimensions, those along which the sum is nearest to its neighbours, are a matrix; the others
 * are walked. */
jstatus_t ji_layout_add(jhandle_t *handle, jdatatype_t type, const ji_layout_term_t terms[2],
                        const jlayout_t *layout, void *sum) {
    const jlayout_t *layouts[3] = {layout};
    for (int i = 0; i < 2; i++)
        layouts[1 + i] = terms[i].layout != NULL ? terms[i].layout : layout;

    ji_walk_t walk;
    ji_walk_layouts(&walk, 3, layouts);

    for (ji_walk_begin(&walk, 2); ji_walk_next(&walk);) {
        const ji_matrix_t to = tile(&walk, 0, type, sum);
        const ji_term_t here[2] = {
            {terms[0].scalar, JBLAS_NO_TRANSPOSE, tile(&walk, 1, type, terms[0].data)},
            {terms[1].scalar, JBLAS_NO_TRANSPOSE, tile(&walk, 2, type, terms[1].data)},
        };
        JTRY_RETURN(ji_matrix_add(handle, here, &to));
    }
    return JSTATUS_SUCCESS;
}
