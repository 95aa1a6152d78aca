/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is done to every element: fill, scale, norm, the search for numbers that are not finite. A
 * buffer of any kind, rank, strides and
 * structure is a number of lines; each operation says what it does to one.
 *
 * Of a distributed buffer the rows of a view that a process holds are neighbours in its part, since
 * the order of local rows is that of global ones; so are those of a column down to the diagonal. A
 * line is cut at two local indices. */

#include "blas/primitives/element.h"
#include "buffer/walk.h"
#include "operation/operation.h"

#include <math.h>

#define STAGE_BYTES ((size_t)1 << 16) /* of a device's line read at once by norm */

/* ---- Lines ---- */

static void *at(const jbuffer_t *buffer, int64_t offset) {
    return (char *)ji_buffer_data(buffer) +
           offset * (int64_t)jhandle_sizeof_datatype(ji_buffer_type(buffer));
}

static jstatus_t each_local_column(const jbuffer_t *buffer, ji_line_function_t function,
                                   void *context) {
    const jdistribution_t *d = &buffer->storage->distribution;
    const ji_matrix_t matrix = ji_matrix(ji_buffer_type(buffer), &buffer->layout, NULL);
    const int64_t *starts = buffer->starts;
    const int row = d->coordinates[0], column = d->coordinates[1];
    if (row < 0)
        return JSTATUS_SUCCESS;

    const int64_t last = jdistribution_local_count(d, 1, column, starts[1] + matrix.columns);
    for (int64_t local = jdistribution_local_count(d, 1, column, starts[1]); local < last;
         local++) {
        const int64_t j = jdistribution_to_global(d, 1, column, local) - starts[1];
        int64_t first, end;
        ji_region_rows(ji_structure_region(matrix.structure), matrix.rows, j, &first, &end);

        const int64_t top = jdistribution_local_count(d, 0, row, starts[0] + first);
        const int64_t count = jdistribution_local_count(d, 0, row, starts[0] + end) - top;
        if (count == 0)
            continue;

        const ji_line_t line = {at(buffer, top + local * buffer->storage->leading_dimension), count,
                                1, top, j};
        JTRY_RETURN(function(context, &line));
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_each_line(const jbuffer_t *buffer, bool by_column, ji_line_function_t function,
                       void *context) {
    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED)
        return each_local_column(buffer, function, context);

    ji_walk_t walk;
    if (by_column)
        ji_walk_columns(&walk, &buffer->layout);
    else
        ji_walk_layouts(&walk, 1, (const jlayout_t *const[]){&buffer->layout});

    for (ji_walk_begin(&walk, 1); ji_walk_next(&walk);) {
        const ji_line_t line = {at(buffer, walk.at[0]), walk.count, walk.dimensions[0].strides[0],
                                walk.first, walk.index[1]};
        JTRY_RETURN(function(context, &line));
    }
    return JSTATUS_SUCCESS;
}

int64_t ji_row_of(const jbuffer_t *buffer, const ji_line_t *line, int64_t index) {
    const jdistribution_t *d = &buffer->storage->distribution;
    if (ji_buffer_kind(buffer) != JBUFFER_DISTRIBUTED)
        return line->row + index;
    return jdistribution_to_global(d, 0, d->coordinates[0], line->row + index) - buffer->starts[0];
}

/* ---- Fill and scale ---- */

/* What a launched fill of a strided line is given. */
typedef struct filler {
    void *data;
    int64_t count, stride;
    size_t size_bytes; /* of an element */
    unsigned char value[16];
} filler_t;

static void fill_strided(void *arguments) {
    const filler_t *filler = arguments;
    char *element = filler->data;
    for (int64_t i = 0; i < filler->count;
         i++, element += filler->stride * (int64_t)filler->size_bytes)
        memcpy(element, filler->value, filler->size_bytes);
}

static jstatus_t fill_line(void *context, const ji_line_t *line) {
    const ji_operation_t *op = context;
    jhandle_t *handle = op->handle;

    filler_t filler = {
        line->data, line->count, line->stride, jhandle_sizeof_datatype(op->type), {0}};

    if (op->scalars[0] != NULL)
        memcpy(filler.value, op->scalars[0], filler.size_bytes);

    if (line->stride == 1)
        return jdevice_fill(handle->device, handle->stream, line->data, filler.value,
                            filler.size_bytes, (size_t)line->count);

    if (jdevice_kind(handle->device) == JDEVICE_HOST)
        return jstream_launch(handle->device, handle->stream, fill_strided, &filler, sizeof filler);

    char *element = line->data;
    for (int64_t i = 0; i < line->count; i++, element += line->stride * (int64_t)filler.size_bytes)
        JTRY_RETURN(jdevice_fill(handle->device, handle->stream, element, filler.value,
                                 filler.size_bytes, 1));
    return JSTATUS_SUCCESS;
}

static jstatus_t scale_line(void *context, const ji_line_t *line) {
    const ji_operation_t *op = context;
    return ji_scale(op->handle, op->type, line->count, op->scalars[0], line->data, line->stride);
}

static jstatus_t fill_run(ji_operation_t *op) {
    return ji_each_line(op->operands[0].buffer, false, fill_line, op);
}
static jstatus_t scale_run(ji_operation_t *op) {
    return ji_each_line(op->operands[0].buffer, false, scale_line, op);
}

jstatus_t jbuffer_fill(jhandle_t *handle, jbuffer_t *x, const void *value) {
    static const ji_operation_class_t fill = {.way = {.run = fill_run}, .elementwise = true};
    ji_operation_t op = {.name = __func__,
                         .class = &fill,
                         .handle = handle,
                         .operands = {{.buffer = x, .access = JI_WRITES}},
                         .count = 1,
                         .any_type = true,
                         .scalars = {value}};
    return ji_operation_run(&op);
}

jstatus_t jbuffer_scale(jhandle_t *handle, const void *alpha, jbuffer_t *x) {
    static const ji_operation_class_t scale = {
        .way = {.run = scale_run}, .scalars = 1, .elementwise = true};
    ji_operation_t op = {.name = __func__,
                         .class = &scale,
                         .handle = handle,
                         .operands = {{.buffer = x, .access = JI_UPDATES}},
                         .count = 1,
                         .scalars = {alpha}};
    return ji_operation_run(&op);
}

/* ---- Norms ---- */

typedef struct norm_walk {
    const ji_operation_t *op;
    const jbuffer_t *x;
    bool mirrored;  /* each element beside the diagonal stands for two */
    double largest; /* of all |x_ij| that are not NaN */
    double nan;     /* 1: there is one */
    double scale;   /* Frobenius, second round: what elements are divided by */
    double sum;     /* of squares */
    double *sums;   /* one, infinity; NULL: the largest is wanted */
    char *stage;    /* of a device: room for STAGE_BYTES in host memory */
} norm_walk_t;

static double modulus(jdatatype_t type, const char *element) {
    ji_value_t value;
    memcpy(&value, element, ji_sizeof(type));
    switch (type) {
    case JDATATYPE_F32: return fabs((double)value.s);
    case JDATATYPE_F64: return fabs(value.d);
    case JDATATYPE_F32_C: return hypot((double)value.c[0], (double)value.c[1]);
    default: return hypot(value.z[0], value.z[1]);
    }
}

static void norm_add(norm_walk_t *walk, const ji_line_t *line, int64_t index, double size) {
    const bool placed = walk->sums != NULL || walk->mirrored; /* its position matters */
    const int64_t row = placed ? ji_row_of(walk->x, line, index) : 0;
    const bool twice = walk->mirrored && row != line->column;

    if (walk->sums == NULL) {
        size /= walk->scale;
        walk->sum += (twice ? 2 : 1) * size * size;
        return;
    }

    const bool by_column = walk->op->norm == JNORM_ONE;
    walk->sums[by_column ? line->column : row] += size;
    if (twice)
        walk->sums[by_column ? row : line->column] += size;
}

/* Elements in host memory; `index` of the first one in its line. */
static void norm_elements(norm_walk_t *walk, const ji_line_t *line, const char *data, int64_t index,
                          int64_t count) {
    const jdatatype_t type = walk->op->type;
    const int64_t step = line->stride * (int64_t)ji_sizeof(type);

    for (int64_t i = 0; i < count; i++, data += step) {
        const double size = modulus(type, data);
        if (walk->sums == NULL && walk->scale == 0) {
            if (size > walk->largest)
                walk->largest = size;
            else if (isnan(size))
                walk->nan = 1;
        } else {
            norm_add(walk, line, index + i, size);
        }
    }
}

static jstatus_t norm_line(void *context, const ji_line_t *line) {
    norm_walk_t *walk = context;
    jhandle_t *handle = walk->op->handle;
    const size_t bytes = ji_sizeof(walk->op->type);

    if (walk->stage == NULL) {
        norm_elements(walk, line, line->data, 0, line->count);
        return JSTATUS_SUCCESS;
    }

    /* With the gaps between them, or one by one where they are too far apart. */
    const int64_t room = (int64_t)(STAGE_BYTES / bytes), piece = (room - 1) / line->stride + 1;

    for (int64_t i = 0; i < line->count; i += piece) {
        const int64_t count = line->count - i < piece ? line->count - i : piece;
        JTRY_RETURN(jdevice_copy(handle->device, handle->stream, walk->stage,
                                 (char *)line->data + i * line->stride * (int64_t)bytes,
                                 (size_t)((count - 1) * line->stride + 1) * bytes));
        JTRY_RETURN(ji_handle_wait(handle, handle->stream));
        norm_elements(walk, line, walk->stage, i, count);
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t norm_reduce(const ji_operation_t *op, double *values, int64_t count, bool sum) {
    return op->backend->reduce != NULL ? op->backend->reduce(op->runtime, values, count, sum)
                                       : JSTATUS_SUCCESS;
}

/* How many sums the norm needs; 0: it is the largest element. */
static int64_t norm_sums(const ji_operation_t *op) {
    const jlayout_t *layout = &op->operands[0].layout;
    int64_t elements = 0;
    (void)jlayout_get_count(layout, &elements);
    if (elements == 0 || layout->rank == 0 || op->norm == JNORM_MAX || op->norm == JNORM_FROBENIUS)
        return 0;
    if (layout->rank == 1)
        return op->norm == JNORM_ONE ? 1 : 0;
    return layout->extents[op->norm == JNORM_ONE ? 1 : 0];
}

static jstatus_t norm_prepare(ji_operation_t *op) {
    const size_t sums = jalloc_mul(norm_sums(op), sizeof(double));
    const bool staged = jdevice_kind(op->handle->device) != JDEVICE_HOST;
    if (!ji_size_add(sums, staged ? STAGE_BYTES : 0, &op->extra_bytes))
        op->extra_bytes = JALLOC_SIZE_OVERFLOW;

    op->waits = true; /* the host does it */
    return JSTATUS_SUCCESS;
}

/* The largest of the sums of columns or rows; one that is NaN is it. */
static jstatus_t norm_of_sums(norm_walk_t *walk, int64_t count, double *norm) {
    memset(walk->sums, 0, (size_t)count * sizeof *walk->sums);
    JTRY_RETURN(ji_each_line(walk->x, true, norm_line, walk));
    JTRY_RETURN(norm_reduce(walk->op, walk->sums, count, true));

    for (int64_t i = 0; i < count; i++)
        if (walk->sums[i] > walk->largest || isnan(walk->sums[i])) {
            walk->largest = walk->sums[i];
            if (isnan(walk->largest))
                break;
        }
    *norm = walk->largest;
    return JSTATUS_SUCCESS;
}

/* The largest element; of Frobenius's norm a second round sums the squares of all divided by that,
 * so that no square overflows and none that counts underflows, as LAPACK's lassq does. */
static jstatus_t norm_of_elements(norm_walk_t *walk, double *norm) {
    JTRY_RETURN(ji_each_line(walk->x, false, norm_line, walk));
    double found[2] = {walk->largest, walk->nan};
    JTRY_RETURN(norm_reduce(walk->op, found, 2, false));

    double result = found[1] != 0 ? (double)NAN : found[0];
    if (walk->op->norm == JNORM_FROBENIUS && result > 0 && !isinf(result)) {
        walk->scale = result;
        JTRY_RETURN(ji_each_line(walk->x, walk->mirrored, norm_line, walk));
        JTRY_RETURN(norm_reduce(walk->op, &walk->sum, 1, true));
        result *= sqrt(walk->sum);
    }
    *norm = result;
    return JSTATUS_SUCCESS;
}

static jstatus_t norm_run(ji_operation_t *op) {
    const int64_t count = norm_sums(op);
    const jbuffer_t *x = op->operands[0].buffer;
    const jstructure_t structure = x->layout.structure;
    const bool staged = jdevice_kind(op->handle->device) != JDEVICE_HOST;
    char *extra = ji_operation_extra(op);

    norm_walk_t walk = {
        .op = op,
        .x = x,
        .mirrored = structure != JSTRUCTURE_GENERAL && !ji_structure_is_triangular(structure),
        .sums = count > 0 ? (double *)(void *)(staged ? extra + STAGE_BYTES : extra) : NULL,
        .stage = staged ? extra : NULL};
    return walk.sums != NULL ? norm_of_sums(&walk, count, &op->found.norm)
                             : norm_of_elements(&walk, &op->found.norm);
}

static jstatus_t norm_check(ji_operation_t *op) {
    const jnorm_t norm = op->norm;
    const int rank = op->operands[0].layout.rank;
    if ((unsigned)norm > JNORM_FROBENIUS)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: norm = %d: must be JNORM_MAX (0), JNORM_ONE (1), JNORM_INFINITY (2) or "
                       "JNORM_FROBENIUS (3)",
                       op->name, (int)norm);

    if ((norm == JNORM_ONE || norm == JNORM_INFINITY) && rank > 2)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: this norm is of matrices and vectors; the rank is %d", op->name, rank);
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_norm(jhandle_t *handle, jnorm_t norm, const jbuffer_t *x, double *result) {
    static const ji_operation_class_t class = {.check = norm_check,
                                               .way = {norm_prepare, norm_run},
                                               .answer = "result",
                                               .elementwise = true};
    ji_operation_t op = {.name = __func__,
                         .class = &class,
                         .handle = handle,
                         .operands = {{.buffer = (jbuffer_t *)x, .access = JI_READS}},
                         .count = 1,
                         .norm = norm,
                         .answer = result};
    return ji_operation_run(&op);
}

/* ---- Numbers that are not finite ---- */

/* 1 where there is one: not finite; not 0. */
typedef struct finite_walk {
    jdatatype_t type;
    double infinite, nonzero;
} finite_walk_t;

static jstatus_t finite_line(void *context, const ji_line_t *line) {
    finite_walk_t *walk = context;
    const char *element = line->data;
    const int64_t step = line->stride * (int64_t)ji_sizeof(walk->type);

    for (int64_t i = 0; i < line->count; i++, element += step)
        for (int part = 0; part < (ji_is_complex(walk->type) ? 2 : 1); part++) {
            const double value = ji_real_at(walk->type, element, part);
            walk->infinite = isfinite(value) ? walk->infinite : 1;
            walk->nonzero = value == 0 ? walk->nonzero : 1;
        }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_operation_check_finite(ji_operation_t *op) {
    jstatus_t status = JSTATUS_SUCCESS;
    for (int i = 0; i < op->count && status == JSTATUS_SUCCESS; i++) {
        if (op->operands[i].access != JI_READS)
            continue;

        finite_walk_t walk = {.type = op->type};
        JTRY_RETURN(ji_each_line(ji_operand_buffer(&op->operands[i]), false, finite_line, &walk));
        double found[2] = {walk.infinite, walk.nonzero};
        JTRY_RETURN(norm_reduce(op, found, 2, false));

        if (found[0] != 0)
            status = ji_fail(JSTATUS_INVALID_VALUE, "%s: operand %d holds a NaN or an infinity",
                             op->name, i);
        if (i == 0)
            op->zero = found[1] == 0;
    }
    /* Each process has looked at its own copy of what is replicated. */
    return op->collective && op->backend->reduce == NULL ? jruntime_agree(op->runtime, status)
                                                         : status;
}
