/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers in one process: typed, shaped memory that knows where it came from.
 *
 *     runtime -> buffer allocator (kind, type, device) -> buffers (layouts) -> views, files
 *
 * From a runtime view the program makes an allocator, from that buffers in every way there is;
 * results of operations come with the allocator of their operands. With several processes the same
 * calls make replicated and distributed buffers: mpi/buffer_convert.c. */

#include <math.h>
#include <unistd.h>

#include "jalloc/operation.h"
#include "sample.h"

/* A layout is a plain value, and has a text form. */
static int layouts(void) {
    jlayout_t layout, every_other;
    jdatatype_t type;
    int64_t span, offset;
    char text[JLAYOUT_TEXT_BYTES];
    const int64_t starts[2] = {1, 0}, extents[2] = {3, 2}, steps[2] = {2, 1};
    TRY(jlayout_parse("f64[6,4] ld=8 blocks=(2,2)", &layout, &type));
    TRY(jlayout_get_span(&layout, &span));
    CLAIM(type == JDATATYPE_F64 && layout.strides[0] == 1 && layout.strides[1] == 8 &&
          span == 3 * 8 + 6);
    /* Rows 1, 3, 5 of the first two columns: the same memory, seen with other strides. */
    TRY(jlayout_slice(&layout, starts, extents, steps, &every_other, &offset));
    CLAIM(offset == 1 && every_other.strides[0] == 2);
    TRY(jlayout_format(&every_other, &type, text, sizeof text));
    printf("every other row of f64[6,4] ld=8 is %s, from element %lld on\n", text,
           (long long)offset);
    return 0;
}

/* From nested lists; a view changes what it looks at. */
static int lists_and_views(jbuffer_allocator_t *allocator) {
    const double list[2][3] = {{1, 2, 3}, {4, 5, 6}}, hundred = 100;
    const int64_t starts[2] = {1, 1}, extents[2] = {1, 2}, first[2] = {0, 0}, there[2] = {1, 1};
    const int exchanged[2] = {1, 0};
    jbuffer_t *matrix, *row, *transposed;
    double value;
    TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_2(list), &matrix));
    TRY(jbuffer_slice(matrix, starts, extents, NULL, &row)); /* {5, 6} */
    TRY(jbuffer_permute(matrix, exchanged, &transposed));
    TRY(jbuffer_get(row, first, &value));
    CLAIM(value == 5);
    TRY(jbuffer_set(row, first, &hundred));
    TRY(jbuffer_get(transposed, there, &value));
    CLAIM(value == hundred);
    /* A view keeps the memory: the order in which references end is free. */
    TRY(jbuffer_release(matrix));
    TRY(jbuffer_get(row, first, &value));
    CLAIM(value == hundred);
    TRY(jbuffer_release(row));
    TRY(jbuffer_release(transposed));
    return 0;
}

/* A block matrix of which only the blocks on the diagonal are not zero. */
enum { N = 2048, BLOCK = 256 };

static jbuffer_filled_t fill_diagonal(void *context, const jbuffer_block_t *block) {
    (void)context;
    if (block->starts[0] != block->starts[1])
        return JBUFFER_BLOCK_ZERO; /* its pages are not touched */
    double *x = block->data;
    for (int64_t j = 0; j < block->extents[1]; j++)
        for (int64_t i = 0; i < block->extents[0]; i++)
            x[i * block->strides[0] + j * block->strides[1]] =
                (i == j ? BLOCK : 0) + 1.0 / (double)(1 + i + j);
    return JBUFFER_BLOCK_FILLED;
}

/* Solves K x = b with a Cholesky factor and looks at what is left. */
static int functions_and_operations(jbuffer_allocator_t *allocator) {
    const int64_t extents[2] = {N, N}, of_column[2] = {N, 1}, blocks[2] = {BLOCK, BLOCK};
    const double zero = 0, one = 1, minus_one = -1;
    jlayout_t square, column;
    jbuffer_t *k, *factor, *lower, *b, *x, *product = NULL;
    jhandle_t *handle;
    int64_t minor;
    double norm, rest;
    TRY(jhandle_create(NULL, &handle));
    TRY(jlayout_init(&square, 2, extents, JORDER_COLUMN_MAJOR));
    TRY(jlayout_set_blocks(&square, blocks));
    TRY(jlayout_set_structure(&square, JSTRUCTURE_SYMMETRIC_LOWER));
    TRY(jlayout_init(&column, 2, of_column, JORDER_COLUMN_MAJOR));
    TRY(jbuffer_construct_function(allocator, &square, fill_diagonal, NULL, 0, &k));
    TRY(jbuffer_construct_value(allocator, &column, &one, &b));

    TRY(jbuffer_construct_copy(allocator, k, &factor));
    TRY(jbuffer_construct_copy(allocator, b, &x));
    TRY(jbuffer_cholesky(handle, factor, &minor));
    CLAIM(minor == 0);
    TRY(jbuffer_with_structure(factor, JSTRUCTURE_TRIANGULAR_LOWER, &lower));
    TRY(jbuffer_solve_triangular(handle, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, &one,
                                 lower, x));
    TRY(jbuffer_solve_triangular(handle, JBLAS_LEFT, JBLAS_TRANSPOSE, JBLAS_NON_UNIT, &one, lower,
                                 x));

    /* The product is made here: it takes the allocator of its operands. Of k only the lower
     * triangle is read. */
    jbuffer_allocator_t *of_product;
    TRY(jbuffer_product(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, &one, k, x, &zero,
                        &product));
    TRY(jbuffer_get_allocator(product, &of_product));
    CLAIM(of_product == allocator);
    TRY(jbuffer_add(handle, &one, product, &minus_one, b, &product)); /* K x - b, in place */
    TRY(jbuffer_norm(handle, JNORM_FROBENIUS, product, &rest));
    TRY(jbuffer_norm(handle, JNORM_FROBENIUS, b, &norm));
    printf("K x = b of order %d: |K x - b| is %.1e of |b|\n", N, rest / norm);
    CLAIM(rest <= 1e-13 * norm);

    /* By LU without more ado: k stays, and b becomes the same x. */
    TRY(jbuffer_solve(handle, k, b, &minor));
    CLAIM(minor == 0);
    TRY(jbuffer_norm(handle, JNORM_FROBENIUS, x, &norm));
    TRY(jbuffer_add(handle, &one, b, &minus_one, x, &b));
    TRY(jbuffer_norm(handle, JNORM_FROBENIUS, b, &rest));
    CLAIM(rest <= 1e-12 * norm);

    jbuffer_t *buffers[] = {k, factor, lower, b, x, product};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        TRY(jbuffer_release(buffers[i]));
    TRY(jhandle_destroy(handle));
    return 0;
}

/* NumPy's numpy.load() reads the file as well. */
static int files(jbuffer_allocator_t *allocator) {
    const double cube[2][2][3] = {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
    const int64_t last[3] = {1, 1, 2};
    char path[64];
    jbuffer_t *saved, *loaded;
    double value;
    snprintf(path, sizeof path, "buffer_kinds_%ld.npy", (long)getpid());
    TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_3(cube), &saved));
    TRY(jbuffer_save(saved, path));
    jstatus_t status = jbuffer_load(allocator, path, &loaded);
    (void)unlink(path);
    TRY(status);
    TRY(jbuffer_get(loaded, last, &value));
    CLAIM(value == 12);
    TRY(jbuffer_release(loaded));
    TRY(jbuffer_release(saved));
    return 0;
}

/* Another type, another kind; and what one process by itself cannot have. */
static int rebinding(jbuffer_allocator_t *allocator) {
    const double third[1] = {1.0 / 3};
    const int64_t first[1] = {0};
    jbuffer_allocator_t *floats, *replicated, *none = NULL;
    jbuffer_t *wide, *narrow;
    jbuffer_kind_t kind;
    float value;
    TRY(jbuffer_allocator_rebind(allocator, JBUFFER_LOCAL, JDATATYPE_F32, &floats));
    TRY(jbuffer_allocator_rebind(floats, JBUFFER_REPLICATED, JDATATYPE_F32, &replicated));
    CLAIM(jbuffer_allocator_rebind(allocator, JBUFFER_DISTRIBUTED, JDATATYPE_F64, &none) ==
          JSTATUS_NOT_FOUND);
    printf("no distributed buffers here: %s\n", jstatus_last_message());

    TRY(jbuffer_construct_list(allocator, JBUFFER_LIST_1(third), &wide));
    TRY(jbuffer_construct_copy(replicated, wide, &narrow)); /* rounded to the nearest float */
    TRY(jbuffer_get_kind(narrow, &kind));
    TRY(jbuffer_get(narrow, first, &value));
    CLAIM(kind == JBUFFER_REPLICATED && value == (float)third[0]);
    TRY(jbuffer_release(narrow));
    TRY(jbuffer_release(wide));
    TRY(jbuffer_allocator_release(replicated));
    TRY(jbuffer_allocator_release(floats));
    return 0;
}

int main(void) {
    jruntime_t *runtime;
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    /* Local, f64, on the host. */
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    TRY(jruntime_create(&runtime));
    TRY(jruntime_get_info(runtime, &info));
    printf("%d process with %d threads, %d devices, %.1f of %.1f GiB available\n", info.processes,
           info.threads, info.devices, ldexp((double)info.node_available_bytes, -30),
           ldexp((double)info.node_total_bytes, -30));
    TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    if (layouts() != 0 || lists_and_views(allocator) != 0 ||
        functions_and_operations(allocator) != 0 || files(allocator) != 0 ||
        rebinding(allocator) != 0)
        return 1;
    TRY(jbuffer_allocator_release(allocator));
    TRY(jruntime_release(runtime));
    return 0;
}
