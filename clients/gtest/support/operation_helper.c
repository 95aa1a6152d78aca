/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "operation_helper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int operation_types[4] = {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32_C, JDATATYPE_F64_C};
const jstructure_t operation_structures[7] = {
    JSTRUCTURE_GENERAL,         JSTRUCTURE_SYMMETRIC_UPPER, JSTRUCTURE_SYMMETRIC_LOWER,
    JSTRUCTURE_HERMITIAN_UPPER, JSTRUCTURE_HERMITIAN_LOWER, JSTRUCTURE_TRIANGULAR_UPPER,
    JSTRUCTURE_TRIANGULAR_LOWER};

const char *storage_name(storage_t storage) {
    static const char *const names[STORED_COUNT] = {"column",     "row",     "column-padded",
                                                    "row-padded", "stepped", "permuted"};
    return names[storage];
}

storage_t random_storage(void) { return (storage_t)jtest_random_between(0, STORED_COUNT - 1); }

static const jbuffer_allocator_options_t no_options = JBUFFER_ALLOCATOR_OPTIONS_INIT;

void operation_begin(operation_world_t *world, jdatatype_t type) {
    jbuffer_allocator_options_t options = no_options;
    memset(world, 0, sizeof *world);
    options.type = type;
    JEXPECT_OK(jruntime_create(&world->runtime));
    JEXPECT_OK(jbuffer_allocator_create(world->runtime, &options, &world->allocator));
    JEXPECT_OK(jhandle_create(NULL, &world->handle));
}

void operation_end(operation_world_t *world) {
    JEXPECT_OK(jhandle_destroy(world->handle));
    JEXPECT_OK(jbuffer_allocator_release(world->allocator));
    JEXPECT_OK(jruntime_release(world->runtime));
    wide_arena_free(&world->arena);
}

void operation_give_exactly(jhandle_t *handle, bool guarded) {
    size_t bytes = 0;
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    if (bytes == 0)
        JEXPECT_OK(jhandle_seal(handle));
    else if (guarded)
        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes), bytes));
    else
        JEXPECT_OK(jhandle_set_workspace_size(handle, bytes));
}

void operation_give_any(jhandle_t *handle) {
    JEXPECT_OK(jhandle_set_workspace_size(handle, 0));
    JEXPECT_OK(jhandle_unseal(handle));
}

jlayout_t operation_layout(int rank, int64_t m, int64_t n) {
    jlayout_t layout;
    const int64_t extents[2] = {m, n};
    JEXPECT_OK(jlayout_init(&layout, rank, extents, JORDER_COLUMN_MAJOR));
    return layout;
}

/* ---- Operands ---- */

void *operand_at(const operand_t *operand, int64_t i, int64_t j) {
    void *first = NULL;
    JEXPECT_OK(jbuffer_as_pointer(operand->view, JDEVICE_HOST, &first));
    const int64_t column = operand->layout.rank > 1 ? operand->layout.strides[1] : 0;
    return (char *)first + (i * operand->layout.strides[0] + j * column) *
                               (int64_t)jhandle_sizeof_datatype(operand->type);
}

bool layout_stores(const jlayout_t *layout, int64_t i, int64_t j) {
    if (layout->structure == JSTRUCTURE_GENERAL)
        return true;
    return layout->structure % 2 == 1 ? i <= j : i >= j; /* the upper ones have odd numbers */
}

static void make_parent(operand_t *operand, jbuffer_allocator_t *allocator, int64_t m, int64_t n,
                        storage_t storage) {
    jlayout_t layout;
    const int64_t plain[2] = {m, n}, turned[2] = {n, m}, wide[2] = {2 * m + 2, 3 * n + 3};
    const int64_t starts[2] = {1, 2}, steps[2] = {2, 3};
    const int64_t gap = jtest_random_between(1, 3);
    switch (storage) {
    case STORED_ROW:
    case STORED_ROW_PADDED: JEXPECT_OK(jlayout_init(&layout, 2, plain, JORDER_ROW_MAJOR)); break;
    case STORED_STEPPED:
        JEXPECT_OK(jlayout_init(&layout, 2, wide,
                                jtest_random_bool() ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR));
        break;
    case STORED_PERMUTED: JEXPECT_OK(jlayout_init(&layout, 2, turned, JORDER_COLUMN_MAJOR)); break;
    default: JEXPECT_OK(jlayout_init(&layout, 2, plain, JORDER_COLUMN_MAJOR)); break;
    }
    if (storage == STORED_COLUMN_PADDED)
        layout.strides[1] = m + 1 + gap;
    else if (storage == STORED_ROW_PADDED)
        layout.strides[0] = n + 1 + gap;
    else if (storage == STORED_PERMUTED)
        layout.strides[1] = n + 1 + gap;
    JEXPECT_OK(jbuffer_allocate(allocator, &layout, &operand->parent));
    if (storage == STORED_STEPPED)
        JEXPECT_OK(jbuffer_slice(operand->parent, starts, plain, steps, &operand->view));
    else if (storage == STORED_PERMUTED)
        JEXPECT_OK(jbuffer_permute(operand->parent, (const int[]){1, 0}, &operand->view));
    else
        JEXPECT_OK(
            jbuffer_slice(operand->parent, (const int64_t[]){0, 0}, plain, NULL, &operand->view));
    JEXPECT_OK(jlayout_get_bytes(&layout, operand->type, &operand->size_bytes));
}

static void make_vector(operand_t *operand, jbuffer_allocator_t *allocator, int64_t n,
                        storage_t storage) {
    const int64_t step = storage == STORED_STEPPED ? 3 : 1, all = n * step + 2;
    jlayout_t layout;
    JEXPECT_OK(jlayout_init(&layout, 1, &all, JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jbuffer_allocate(allocator, &layout, &operand->parent));
    JEXPECT_OK(jbuffer_slice(operand->parent, (const int64_t[]){1}, &n, &step, &operand->view));
    JEXPECT_OK(jlayout_get_bytes(&layout, operand->type, &operand->size_bytes));
}

void operand_make(operand_t *operand, jbuffer_allocator_t *allocator, int64_t rows, int64_t columns,
                  storage_t storage, jstructure_t structure) {
    memset(operand, 0, sizeof *operand);
    jbuffer_allocator_options_t options = no_options;
    JEXPECT_OK(jbuffer_allocator_get_options(allocator, &options));
    operand->type = options.type;
    if (columns < 0)
        make_vector(operand, allocator, rows, storage);
    else
        make_parent(operand, allocator, rows, columns, storage);
    if (structure != JSTRUCTURE_GENERAL) {
        jbuffer_t *view = NULL;
        JEXPECT_OK(jbuffer_with_structure(operand->view, structure, &view));
        JEXPECT_OK(jbuffer_release(operand->view));
        operand->view = view;
    }
    JEXPECT_OK(jbuffer_get_layout(operand->view, &operand->layout));
    void *memory = NULL;
    JEXPECT_OK(jbuffer_as_pointer(operand->parent, JDEVICE_HOST, &memory));
    operand->memory = memory;
    if (operand->size_bytes > 0)
        memset(operand->memory, 0xff, operand->size_bytes); /* NaN in every type of BLAS */
    operand->before = malloc(operand->size_bytes + 1);
    const bool complex = wide_is_complex(operand->type);
    const int64_t width = columns < 0 ? 1 : columns;
    const double small =
        structure == JSTRUCTURE_TRIANGULAR_UPPER || structure == JSTRUCTURE_TRIANGULAR_LOWER
            ? 1.0 / (double)(rows + 1)
            : 1.0;
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = 0; i < rows; i++) {
            if (!layout_stores(&operand->layout, i, j))
                continue;
            wide_t value = jtest_random_double(-1, 1) * small + (small < 1 && i == j ? 2 : 0);
            if (complex && !(i == j && (structure == JSTRUCTURE_HERMITIAN_UPPER ||
                                        structure == JSTRUCTURE_HERMITIAN_LOWER)))
                __imag__ value = jtest_random_double(-1, 1) * small;
            wide_put(operand_at(operand, i, j), operand->type, 0, value);
        }
    operand_keep(operand);
}

void operand_keep(operand_t *operand) {
    if (operand->size_bytes > 0)
        memcpy(operand->before, operand->memory, operand->size_bytes);
}

void operand_make_definite(operand_t *operand, wide_arena_t *arena) {
    const int64_t n = operand->layout.extents[0];
    const bool complex = wide_is_complex(operand->type);
    wide_matrix_t root = wide_zeros(arena, n, n), product = wide_zeros(arena, n, n);
    root.real = product.real = !complex;
    for (int64_t i = 0; i < n * n; i++) {
        root.e[i] = jtest_random_double(-1, 1);
        if (complex)
            __imag__ root.e[i] = jtest_random_double(-1, 1);
    }
    wide_multiply_add(1, root, wide_operate(arena, root, JBLAS_CONJUGATE_TRANSPOSE), product);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            if (layout_stores(&operand->layout, i, j))
                wide_put(operand_at(operand, i, j), operand->type, 0,
                         *wide_at(product, i, j) + (i == j ? n + 1 : 0));
    operand_keep(operand);
}

void operand_free(operand_t *operand) {
    JEXPECT_OK(jbuffer_release(operand->view));
    JEXPECT_OK(jbuffer_release(operand->parent));
    free(operand->before);
}

/* ---- Values ---- */

static wide_t element_of(const jlayout_t *layout, jdatatype_t type, const char *first, int64_t i,
                         int64_t j) {
    const int64_t row = layout->rank > 0 ? layout->strides[0] : 0,
                  column = layout->rank > 1 ? layout->strides[1] : 0;
    return wide_get(first + (i * row + j * column) * (int64_t)jhandle_sizeof_datatype(type), type,
                    0);
}

wide_matrix_t buffer_value(wide_arena_t *arena, jbuffer_t *buffer) {
    jlayout_t layout;
    jdatatype_t type = JDATATYPE_F64;
    void *first = NULL;
    JEXPECT_OK(jbuffer_get_layout(buffer, &layout));
    JEXPECT_OK(jbuffer_get_type(buffer, &type));
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, &first));
    wide_matrix_t value = wide_zeros(arena, layout.rank > 0 ? layout.extents[0] : 1,
                                     layout.rank > 1 ? layout.extents[1] : 1);
    value.real = !wide_is_complex(type);
    const bool hermitian = layout.structure == JSTRUCTURE_HERMITIAN_UPPER ||
                           layout.structure == JSTRUCTURE_HERMITIAN_LOWER;
    const bool triangular = layout.structure == JSTRUCTURE_TRIANGULAR_UPPER ||
                            layout.structure == JSTRUCTURE_TRIANGULAR_LOWER;
    for (int64_t j = 0; j < value.columns; j++)
        for (int64_t i = 0; i < value.rows; i++) {
            wide_t element = 0;
            if (layout_stores(&layout, i, j)) {
                element = element_of(&layout, type, first, i, j);
            } else if (!triangular) {
                element = element_of(&layout, type, first, j, i);
                if (hermitian)
                    __imag__ element = -__imag__ element;
            }
            *wide_at(value, i, j) = element;
            *wide_bound_at(value, i, j) = wide_abs(element);
        }
    return value;
}

wide_matrix_t operand_value(wide_arena_t *arena, const operand_t *operand) {
    return buffer_value(arena, operand->view);
}

/* ---- Judgement ---- */

void buffer_expect(jbuffer_t *buffer, wide_matrix_t expected, long double factor) {
    jlayout_t layout;
    jdatatype_t type = JDATATYPE_F64;
    void *first = NULL;
    JEXPECT_OK(jbuffer_get_layout(buffer, &layout));
    JEXPECT_OK(jbuffer_get_type(buffer, &type));
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, &first));
    JASSERT_EQ(layout.rank > 0 ? layout.extents[0] : 1, expected.rows);
    JASSERT_EQ(layout.rank > 1 ? layout.extents[1] : 1, expected.columns);
    for (int64_t j = 0; j < expected.columns; j++)
        for (int64_t i = 0; i < expected.rows; i++) {
            if (!layout_stores(&layout, i, j))
                continue;
            const wide_t actual = element_of(&layout, type, first, i, j),
                         wanted = *wide_at(expected, i, j);
            const long double bound = factor * wide_epsilon(type) * *wide_bound_at(expected, i, j);
            if (!(wide_abs(actual - wanted) <= bound)) {
                JFAIL("element (%ld, %ld) is %.17g%+.17gi, not %.17g%+.17gi within %.3g", (long)i,
                      (long)j, (double)__real__ actual, (double)__imag__ actual,
                      (double)__real__ wanted, (double)__imag__ wanted, (double)bound);
                return;
            }
        }
}

void operand_expect(const operand_t *operand, wide_matrix_t expected, long double factor) {
    buffer_expect(operand->view, expected, factor);
    /* Beside the stored elements nothing has changed. */
    unsigned char *other = malloc(operand->size_bytes + 1);
    const size_t bytes = jhandle_sizeof_datatype(operand->type);
    if (operand->size_bytes > 0)
        memcpy(other, operand->memory, operand->size_bytes);
    for (int64_t j = 0; j < expected.columns; j++)
        for (int64_t i = 0; i < expected.rows; i++)
            if (layout_stores(&operand->layout, i, j)) {
                const size_t offset =
                    (size_t)((unsigned char *)operand_at(operand, i, j) - operand->memory);
                memcpy(other + offset, operand->before + offset, bytes);
            }
    if (memcmp(other, operand->before, operand->size_bytes) != 0)
        JFAIL("memory beside the stored elements has changed");
    free(other);
}

void operand_expect_unchanged(const operand_t *operand) {
    if (operand->size_bytes > 0 &&
        memcmp(operand->memory, operand->before, operand->size_bytes) != 0)
        JFAIL("the operand has changed");
}

/* ---- Scalars ---- */

scalar_t scalar_of(jdatatype_t type, double re, double im) {
    scalar_t scalar = {0};
    wide_t value = re;
    if (wide_is_complex(type))
        __imag__ value = im;
    wide_put(&scalar, type, 0, value);
    return scalar;
}

scalar_t scalar_random(jdatatype_t type) {
    switch (jtest_random_between(0, 3)) {
    case 0: return scalar_of(type, 0, 0);
    case 1: return scalar_of(type, 1, 0);
    default: return scalar_of(type, jtest_random_double(-2, 2), jtest_random_double(-2, 2));
    }
}

wide_t scalar_value(jdatatype_t type, const scalar_t *scalar) { return wide_get(scalar, type, 0); }

/* ---- Results among their operands ---- */

#define WHOLE 12 /* rows and columns of the matrix that all are views of */

typedef struct view {
    jbuffer_t *buffer;
    int64_t starts[2], steps[2], extents[2]; /* in the whole */
    bool turned;                             /* rows for columns */
} view_t;

/* m x n of the whole; where it can be, one time in three, those of `like`. */
static void view_make(view_t *view, jbuffer_t *whole, int64_t m, int64_t n, jstructure_t structure,
                      bool strided, const view_t *like) {
    view_t made = {.turned = strided && jtest_random_bool()};
    for (int d = 0; d < 2; d++) {
        made.extents[d] = (d == 0) != made.turned ? m : n;
        made.steps[d] = strided ? jtest_random_between(1, 2) : 1;
        made.starts[d] = jtest_random_between(0, WHOLE - 1 - (made.extents[d] - 1) * made.steps[d]);
    }
    if (jtest_random_between(0, 2) == 0 && like != NULL && like->extents[like->turned] == m &&
        like->extents[!like->turned] == n)
        made = *like;
    jbuffer_t *slice = NULL, *turned = NULL;
    JEXPECT_OK(
        jbuffer_slice(whole, made.starts, made.extents, strided ? made.steps : NULL, &slice));
    if (made.turned)
        JEXPECT_OK(jbuffer_permute(slice, (const int[]){1, 0}, &turned));
    JEXPECT_OK(jbuffer_with_structure(made.turned ? turned : slice, structure, &made.buffer));
    JEXPECT_OK(jbuffer_release(turned));
    JEXPECT_OK(jbuffer_release(slice));
    *view = made;
}

/* Element (i, j) of the view in the whole. */
static wide_t *view_at(const view_t *view, wide_matrix_t whole, int64_t i, int64_t j) {
    const int64_t row = view->turned ? j : i, column = view->turned ? i : j;
    return wide_at(whole, view->starts[0] + row * view->steps[0],
                   view->starts[1] + column * view->steps[1]);
}

static wide_matrix_t value_of(wide_arena_t *arena, jbuffer_allocator_t *local, jbuffer_t *buffer) {
    jbuffer_t *copy = NULL;
    JEXPECT_OK(jbuffer_construct_copy(local, buffer, &copy));
    const wide_matrix_t value = buffer_value(arena, copy);
    JEXPECT_OK(jbuffer_release(copy));
    return value;
}

typedef enum { COPY, ADD, PRODUCT, TRANSPOSE, SOLVE, OVERLAP_OPERATIONS } overlap_operation_t;

typedef struct overlap_call {
    overlap_operation_t operation;
    jblas_operation_t transposes[2];
    scalar_t alpha, beta;
    view_t a, b, c; /* c: the result */
} overlap_call_t;

static jstatus_t overlap_run(jhandle_t *handle, overlap_call_t *call) {
    switch (call->operation) {
    case COPY: return jbuffer_copy(handle, call->c.buffer, call->a.buffer);
    case ADD:
        return jbuffer_add(handle, &call->alpha, call->a.buffer, &call->beta, call->b.buffer,
                           &call->c.buffer);
    case PRODUCT:
        return jbuffer_product(handle, call->transposes[0], call->transposes[1], &call->alpha,
                               call->a.buffer, call->b.buffer, &call->beta, &call->c.buffer);
    case TRANSPOSE:
        return jbuffer_transpose(handle, call->transposes[0], call->a.buffer, &call->c.buffer);
    default:
        return jbuffer_solve_triangular(handle, JBLAS_LEFT, call->transposes[0], JBLAS_UNIT,
                                        &call->alpha, call->a.buffer, call->c.buffer);
    }
}

/* What the result should be, from what all are now. */
static wide_matrix_t overlap_expected(const overlap_call_t *call, jbuffer_allocator_t *local,
                                      jdatatype_t type, wide_arena_t *arena) {
    const wide_t alpha = scalar_value(type, &call->alpha), beta = scalar_value(type, &call->beta);
    const wide_matrix_t a = value_of(arena, local, call->a.buffer),
                        b = value_of(arena, local, call->b.buffer),
                        c = value_of(arena, local, call->c.buffer);
    wide_matrix_t result = wide_zeros(arena, c.rows, c.columns);
    result.real = !wide_is_complex(type);
    switch (call->operation) {
    case COPY: return a;
    case ADD:
        wide_add(alpha, a, result);
        wide_add(beta, b, result);
        return result;
    case PRODUCT:
        wide_add(beta, c, result);
        wide_multiply_add(alpha, wide_operate(arena, a, call->transposes[0]),
                          wide_operate(arena, b, call->transposes[1]), result);
        return result;
    case TRANSPOSE: return wide_operate(arena, a, call->transposes[0]);
    default: {
        wide_matrix_t triangle = a;
        jlayout_t layout;
        JEXPECT_OK(jbuffer_get_layout(call->a.buffer, &layout));
        *(layout.structure == JSTRUCTURE_TRIANGULAR_UPPER ? &triangle.below : &triangle.above) = 0;
        for (int64_t i = 0; i < a.rows; i++)
            *wide_at(triangle, i, i) = 1;
        wide_add(alpha, c, result);
        wide_solve(wide_operate(arena, triangle, call->transposes[0]), result);
        return result;
    }
    }
}

static void overlap_draw(overlap_call_t *call, jbuffer_t *whole, jdatatype_t type, bool strided) {
    static const jblas_operation_t transposes[3] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                    JBLAS_CONJUGATE_TRANSPOSE};
    static const jstructure_t structures[5] = {
        JSTRUCTURE_GENERAL, JSTRUCTURE_SYMMETRIC_UPPER, JSTRUCTURE_SYMMETRIC_LOWER,
        JSTRUCTURE_TRIANGULAR_UPPER, JSTRUCTURE_TRIANGULAR_LOWER};
    *call = (overlap_call_t){
        .operation = (overlap_operation_t)jtest_random_between(0, OVERLAP_OPERATIONS - 1),
        .transposes = {transposes[jtest_random_between(0, 2)],
                       transposes[jtest_random_between(0, 2)]},
        .alpha = scalar_random(type),
        .beta = scalar_random(type)};
    const bool turn_a = call->transposes[0] != JBLAS_NO_TRANSPOSE,
               turn_b = call->transposes[1] != JBLAS_NO_TRANSPOSE;
    const int64_t m = jtest_random_between(1, 5), n = jtest_random_between(1, 5);
    int64_t k = jtest_random_between(1, 5);
    jstructure_t of_a = JSTRUCTURE_GENERAL, of_c = JSTRUCTURE_GENERAL;
    view_t *a = &call->a, *b = &call->b, *c = &call->c;
    int64_t rows = m, columns = n;
    switch (call->operation) {
    case COPY:
    case ADD:
        columns = jtest_random_bool() ? m : n;
        of_a = columns == m ? structures[jtest_random_between(0, 4)] : JSTRUCTURE_GENERAL;
        of_c = call->operation == COPY && jtest_random_bool() ? of_a : JSTRUCTURE_GENERAL;
        view_make(c, whole, rows, columns, of_c, strided, NULL);
        view_make(a, whole, rows, columns, of_a, strided, c);
        view_make(b, whole, rows, columns, JSTRUCTURE_GENERAL, strided, c);
        return;
    case PRODUCT:
        if (jtest_random_bool())
            k = turn_a ? m : n;
        view_make(c, whole, m, n, JSTRUCTURE_GENERAL, strided, NULL);
        of_a = m == k ? structures[jtest_random_between(0, 4)] : JSTRUCTURE_GENERAL;
        view_make(a, whole, turn_a ? k : m, turn_a ? m : k, of_a, strided, c);
        view_make(b, whole, turn_b ? n : k, turn_b ? k : n, JSTRUCTURE_GENERAL, strided, c);
        return;
    case TRANSPOSE:
        of_a = m == n ? structures[jtest_random_between(0, 4)] : JSTRUCTURE_GENERAL;
        view_make(c, whole, m, n, JSTRUCTURE_GENERAL, strided, NULL);
        view_make(a, whole, turn_a ? n : m, turn_a ? m : n, of_a, strided, c);
        break;
    default:
        view_make(c, whole, m, n, JSTRUCTURE_GENERAL, strided, NULL);
        view_make(a, whole, m, m, structures[jtest_random_between(3, 4)], strided, c);
        break;
    }
    view_make(b, whole, 1, 1, JSTRUCTURE_GENERAL, strided, NULL); /* not used */
}

void overlap_expect_right(jhandle_t *handle, jbuffer_allocator_t *allocator,
                          jbuffer_allocator_t *local, wide_arena_t *arena, bool strided) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    JEXPECT_OK(jbuffer_allocator_get_options(allocator, &options));
    const jdatatype_t type = options.type;
    operand_t random;
    overlap_call_t call;
    jbuffer_t *whole = NULL;
    operand_make(&random, local, WHOLE, WHOLE, STORED_COLUMN, JSTRUCTURE_GENERAL);
    JEXPECT_OK(jbuffer_construct_copy(allocator, random.view, &whole));
    overlap_draw(&call, whole, type, strided);
    JSCOPED_TRACE("operation %d, %ld x %ld, operations %d %d", (int)call.operation,
                  (long)call.c.extents[call.c.turned], (long)call.c.extents[!call.c.turned],
                  (int)call.transposes[0], (int)call.transposes[1]);
    wide_matrix_t before = value_of(arena, local, whole);
    const wide_matrix_t expected = overlap_expected(&call, local, type, arena);

    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_FALSE(jstatus_is_error(overlap_run(handle, &call)));
    operation_give_exactly(handle, false);
    JEXPECT_OK(overlap_run(handle, &call));
    JEXPECT_OK(jstream_synchronize(jhandle_device(handle), NULL));
    operation_give_any(handle);

    jbuffer_t *result = NULL;
    jlayout_t layout = {.rank = 0};
    JEXPECT_OK(jbuffer_construct_copy(local, call.c.buffer, &result));
    JEXPECT_OK(jbuffer_get_layout(call.c.buffer, &layout));
    buffer_expect(result, expected, 100);
    /* Beside the result everything is as it was. */
    const wide_matrix_t after = value_of(arena, local, whole);
    for (int64_t j = 0; j < expected.columns; j++)
        for (int64_t i = 0; i < expected.rows; i++)
            if (layout_stores(&layout, i, j))
                *view_at(&call.c, before, i, j) = *view_at(&call.c, after, i, j);
    for (int64_t i = 0; i < WHOLE * WHOLE; i++)
        if (before.e[i] != after.e[i])
            JFAIL("element %ld beside the result has changed", (long)i);
    JEXPECT_OK(jbuffer_release(result));
    JEXPECT_OK(jbuffer_release(call.a.buffer));
    JEXPECT_OK(jbuffer_release(call.b.buffer));
    JEXPECT_OK(jbuffer_release(call.c.buffer));
    JEXPECT_OK(jbuffer_release(whole));
    operand_free(&random);
}
