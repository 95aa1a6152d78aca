/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operations on buffers in a GPU's memory agree with those on the host, in every order of memory
 * and structure: the host's own operands, which are tested against the textbook elsewhere, are
 * copied to the GPU, views and gaps alike. */

#include "gpu_device.h"
#include "operation_helper.h"

static const jblas_operation_t operations[3] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                JBLAS_CONJUGATE_TRANSPOSE};

typedef struct gpu_world {
    operation_world_t host;
    jbuffer_allocator_t *allocator; /* on the GPU */
    jhandle_t *handle;
} gpu_world_t;

static void gpu_begin(gpu_world_t *world, jdatatype_t type) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    operation_begin(&world->host, type);
    options.type = type;
    options.device = gpu_device();
    JEXPECT_OK(jbuffer_allocator_create(world->host.runtime, &options, &world->allocator));
    world->handle = gpu_make_handle();
}

static void gpu_end(gpu_world_t *world) {
    JEXPECT_OK(jhandle_destroy(world->handle));
    JEXPECT_OK(jbuffer_allocator_release(world->allocator));
    operation_end(&world->host);
}

/* The twin of an operand on the GPU: the same bytes in the same layout. */
typedef struct twin {
    jbuffer_t *view;
    void *memory;
} twin_t;

static void twin_make(twin_t *twin, gpu_world_t *world, const operand_t *operand) {
    void *base = NULL, *first = NULL;
    JEXPECT_OK(jbuffer_as_pointer(operand->parent, JDEVICE_HOST, &base));
    JEXPECT_OK(jbuffer_as_pointer(operand->view, JDEVICE_HOST, &first));
    twin->memory = operand->size_bytes > 0 ? gpu_take(operand->size_bytes) : NULL;
    if (operand->size_bytes > 0)
        gpu_upload(twin->memory, operand->memory, operand->size_bytes);
    /* The view's own layout over the memory behind its first element. */
    char *at = (char *)twin->memory + (first == NULL ? 0 : (char *)first - (char *)base);
    jlayout_t view = operand->layout;
    JEXPECT_OK(jbuffer_wrap(world->allocator, &view, at, &twin->view));
}

/* The GPU's memory is what the host's has become, within the tolerance of the reference; gaps bit
 * for bit. */
static void twin_expect(twin_t *twin, operand_t *operand, gpu_world_t *world, long double factor) {
    const wide_matrix_t expected = operand_value(&world->host.arena, operand);
    if (operand->size_bytes > 0)
        gpu_download(operand->memory, twin->memory, operand->size_bytes);
    operand_expect(operand, expected, factor);
}

static void twin_free(twin_t *twin, const operand_t *operand) {
    JEXPECT_OK(jbuffer_release(twin->view));
    if (operand->size_bytes > 0)
        gpu_give(twin->memory, operand->size_bytes);
}

static jstructure_t any_structure(void) {
    return jtest_random_bool() ? JSTRUCTURE_GENERAL
                               : operation_structures[jtest_random_between(0, 6)];
}

JTEST_P(GpuOperation, ProductsAgreeWithTheHost, int, operation_types) {
    gpu_world_t world;
    gpu_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(60); round > 0 && !jtest_has_failure(); round--) {
        const jstructure_t structures[2] = {any_structure(), any_structure()};
        const jblas_operation_t op[2] = {operations[jtest_random_between(0, 2)],
                                         operations[jtest_random_between(0, 2)]};
        int64_t m = jtest_random_between(0, 20), n = jtest_random_between(0, 20),
                k = jtest_random_between(0, 20);
        m = structures[0] != JSTRUCTURE_GENERAL ? k : m;
        n = structures[1] != JSTRUCTURE_GENERAL ? k : n;
        const bool turn_a = op[0] != JBLAS_NO_TRANSPOSE, turn_b = op[1] != JBLAS_NO_TRANSPOSE;
        const scalar_t alpha = scalar_random((jdatatype_t)*param),
                       beta = scalar_random((jdatatype_t)*param),
                       zero = scalar_of((jdatatype_t)*param, 0, 0);
        operand_t a, b, c;
        twin_t gpu_a, gpu_b, gpu_c;
        operand_make(&a, world.host.allocator, turn_a ? k : m, turn_a ? m : k, random_storage(),
                     structures[0]);
        operand_make(&b, world.host.allocator, turn_b ? n : k, turn_b ? k : n, random_storage(),
                     structures[1]);
        operand_make(&c, world.host.allocator, m, n, random_storage(), JSTRUCTURE_GENERAL);
        twin_make(&gpu_a, &world, &a);
        twin_make(&gpu_b, &world, &b);
        twin_make(&gpu_c, &world, &c);
        JSCOPED_TRACE("%ld x %ld x %ld, operations %d %d, structures %d %d", (long)m, (long)n,
                      (long)k, (int)op[0], (int)op[1], (int)structures[0], (int)structures[1]);
        JEXPECT_OK(jbuffer_product(world.host.handle, op[0], op[1], &alpha, a.view, b.view, &beta,
                                   &c.view));
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_product(
            world.handle, op[0], op[1], &alpha, gpu_a.view, gpu_b.view, &beta, &gpu_c.view)));
        operation_give_exactly(world.handle, false);
        JEXPECT_OK(jbuffer_product(world.handle, op[0], op[1], &alpha, gpu_a.view, gpu_b.view,
                                   &beta, &gpu_c.view));
        operation_give_any(world.handle);
        wide_matrix_t expected = operand_value(&world.host.arena, &c);
        for (int64_t i = 0; i < m * n; i++)
            expected.bound[i] += (long double)(4 * k + 4);
        if (c.size_bytes > 0)
            gpu_download(c.memory, gpu_c.memory, c.size_bytes);
        operand_expect(&c, expected, 16);
        /* Made on the GPU, and copied back by a handle of either device. */
        jbuffer_t *made = NULL, *back = NULL;
        const jlayout_t layout = operation_layout(2, m, n);
        JEXPECT_OK(jbuffer_product(world.host.handle, op[0], op[1], &alpha, a.view, b.view, &zero,
                                   &c.view));
        JASSERT_OK(jbuffer_product(world.handle, op[0], op[1], &alpha, gpu_a.view, gpu_b.view,
                                   &zero, &made));
        JASSERT_OK(jbuffer_allocate(world.host.allocator, &layout, &back));
        JEXPECT_OK(jbuffer_copy(round % 2 ? world.handle : world.host.handle, back, made));
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        wide_matrix_t product = operand_value(&world.host.arena, &c);
        for (int64_t i = 0; i < m * n; i++)
            product.bound[i] += (long double)(4 * k + 4);
        buffer_expect(back, product, 16);
        JEXPECT_OK(jbuffer_release(made));
        JEXPECT_OK(jbuffer_release(back));
        twin_free(&gpu_a, &a);
        twin_free(&gpu_b, &b);
        twin_free(&gpu_c, &c);
        operand_free(&a);
        operand_free(&b);
        operand_free(&c);
    }
    gpu_end(&world);
}

JTEST_P(GpuOperation, ElementsAgreeWithTheHost, int, operation_types) {
    gpu_world_t world;
    gpu_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(70); round > 0 && !jtest_has_failure(); round--) {
        const jstructure_t structure = operation_structures[round % 7];
        const int64_t m = jtest_random_between(0, 12),
                      n = structure != JSTRUCTURE_GENERAL ? m : jtest_random_between(-1, 12);
        const scalar_t alpha = scalar_of((jdatatype_t)*param, 1.5, 0),
                       beta = scalar_of((jdatatype_t)*param, -2, 0);
        operand_t a, b, c;
        twin_t gpu_a, gpu_b, gpu_c;
        operand_make(&a, world.host.allocator, m, n, random_storage(), structure);
        operand_make(&b, world.host.allocator, m, n, random_storage(), structure);
        operand_make(&c, world.host.allocator, m, n, random_storage(),
                     jtest_random_bool() ? structure : JSTRUCTURE_GENERAL);
        twin_make(&gpu_a, &world, &a);
        twin_make(&gpu_b, &world, &b);
        twin_make(&gpu_c, &world, &c);
        JSCOPED_TRACE("structure %d -> %d, %ld x %ld", (int)structure, (int)c.layout.structure,
                      (long)m, (long)n);
        for (int norm = 0; norm < 4; norm++) {
            double host = -1, gpu = -1;
            JEXPECT_OK(jbuffer_norm(world.host.handle, (jnorm_t)norm, a.view, &host));
            JEXPECT_OK(jbuffer_norm(world.handle, (jnorm_t)norm, gpu_a.view, &gpu));
            JEXPECT_EQ(gpu, host);
        }
        JEXPECT_OK(jbuffer_scale(world.host.handle, &alpha, b.view));
        JEXPECT_OK(jbuffer_scale(world.handle, &alpha, gpu_b.view));
        twin_expect(&gpu_b, &b, &world, 4);
        JEXPECT_OK(jbuffer_add(world.host.handle, &alpha, a.view, &beta, b.view, &c.view));
        JEXPECT_OK(jbuffer_add(world.handle, &alpha, gpu_a.view, &beta, gpu_b.view, &gpu_c.view));
        twin_expect(&gpu_c, &c, &world, 16);
        JEXPECT_OK(jbuffer_copy(world.handle, gpu_c.view, gpu_a.view)); /* on the GPU */
        JEXPECT_OK(jbuffer_copy(world.host.handle, c.view, a.view));
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        twin_expect(&gpu_c, &c, &world, 0);
        JEXPECT_OK(jbuffer_fill(world.host.handle, c.view, &alpha));
        JEXPECT_OK(jbuffer_fill(world.handle, gpu_c.view, &alpha));
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        twin_expect(&gpu_c, &c, &world, 0);
        /* From the host into a view on the GPU, by a handle of either. */
        JEXPECT_OK(jbuffer_copy(round % 2 ? world.handle : world.host.handle, gpu_c.view, a.view));
        JEXPECT_OK(jbuffer_copy(world.host.handle, c.view, a.view));
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        twin_expect(&gpu_c, &c, &world, 0);
        if (n >= 0) { /* op(A), new */
            const jblas_operation_t operation = operations[round / 7 % 3];
            jbuffer_t *host = NULL, *gpu = NULL, *back = NULL;
            JASSERT_OK(jbuffer_transpose(world.host.handle, operation, a.view, &host));
            JASSERT_OK(jbuffer_transpose(world.handle, operation, gpu_a.view, &gpu));
            JASSERT_OK(jbuffer_construct_copy(world.host.allocator, gpu, &back));
            buffer_expect(back, buffer_value(&world.host.arena, host), 0);
            JEXPECT_OK(jbuffer_release(host));
            JEXPECT_OK(jbuffer_release(gpu));
            JEXPECT_OK(jbuffer_release(back));
        }
        twin_free(&gpu_a, &a);
        twin_free(&gpu_b, &b);
        twin_free(&gpu_c, &c);
        operand_free(&a);
        operand_free(&b);
        operand_free(&c);
    }
    gpu_end(&world);
}

JTEST_P(GpuOperation, FactorsAndSolvesAgreeWithTheHost, int, operation_types) {
    gpu_world_t world;
    gpu_begin(&world, (jdatatype_t)*param);
    const scalar_t one = scalar_of((jdatatype_t)*param, 1, 0);
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); round--) {
        const int64_t n = round % 8 == 0 ? 130 : jtest_random_between(1, 20),
                      rhs = jtest_random_between(1, 9);
        const bool upper = jtest_random_bool();
        operand_t a, b;
        twin_t gpu_a, gpu_b;
        operand_make(&a, world.host.allocator, n, n, random_storage(),
                     upper ? JSTRUCTURE_HERMITIAN_UPPER : JSTRUCTURE_HERMITIAN_LOWER);
        for (int64_t i = 0; i < n; i++)
            wide_put(operand_at(&a, i, i), a.type, 0, 2 * n);
        operand_keep(&a);
        operand_make(&b, world.host.allocator, n, rhs, random_storage(), JSTRUCTURE_GENERAL);
        twin_make(&gpu_a, &world, &a);
        twin_make(&gpu_b, &world, &b);
        JSCOPED_TRACE("order %ld, %s", (long)n, upper ? "upper" : "lower");
        int64_t host_info = -1, gpu_info = -1;
        JEXPECT_STATUS(jbuffer_solve(world.handle, gpu_a.view, gpu_b.view, &gpu_info),
                       JSTATUS_NOT_IMPLEMENTED);
        JEXPECT_SUBSTR(jhandle_last_message(world.handle), "jbuffer_solve is not offered on ");
        JEXPECT_OK(jbuffer_cholesky(world.host.handle, a.view, &host_info));
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_cholesky(world.handle, gpu_a.view, &gpu_info)));
        operation_give_exactly(world.handle, false);
        JEXPECT_OK(jbuffer_cholesky(world.handle, gpu_a.view, &gpu_info));
        operation_give_any(world.handle);
        JEXPECT_EQ(host_info, 0);
        JEXPECT_EQ(gpu_info, 0);
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        jbuffer_t *factor = NULL, *gpu_factor = NULL;
        const jstructure_t structure =
            upper ? JSTRUCTURE_TRIANGULAR_UPPER : JSTRUCTURE_TRIANGULAR_LOWER;
        JASSERT_OK(jbuffer_with_structure(a.view, structure, &factor));
        JASSERT_OK(jbuffer_with_structure(gpu_a.view, structure, &gpu_factor));
        const jblas_operation_t operation = operations[round % 3];
        JEXPECT_OK(jbuffer_solve_triangular(world.host.handle, JBLAS_LEFT, operation,
                                            JBLAS_NON_UNIT, &one, factor, b.view));
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        JEXPECT_FALSE(jstatus_is_error(jbuffer_solve_triangular(
            world.handle, JBLAS_LEFT, operation, JBLAS_NON_UNIT, &one, gpu_factor, gpu_b.view)));
        operation_give_exactly(world.handle, false);
        JEXPECT_OK(jbuffer_solve_triangular(world.handle, JBLAS_LEFT, operation, JBLAS_NON_UNIT,
                                            &one, gpu_factor, gpu_b.view));
        operation_give_any(world.handle);
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        wide_matrix_t expected = operand_value(&world.host.arena, &a);
        for (int64_t i = 0; i < n * n; i++)
            expected.bound[i] = (long double)(2 * n);
        gpu_download(a.memory, gpu_a.memory, a.size_bytes);
        operand_expect(&a, expected, 64);
        wide_matrix_t solution = operand_value(&world.host.arena, &b);
        for (int64_t i = 0; i < n * rhs; i++)
            solution.bound[i] += 1;
        gpu_download(b.memory, gpu_b.memory, b.size_bytes);
        operand_expect(&b, solution, 64 * (long double)(n + 4));
        JEXPECT_OK(jbuffer_release(factor));
        JEXPECT_OK(jbuffer_release(gpu_factor));
        twin_free(&gpu_a, &a);
        twin_free(&gpu_b, &b);
        operand_free(&a);
        operand_free(&b);
    }
    gpu_end(&world);
}

/* A chain whose intermediate results are new: asked and run with the same variables, in exactly the
 * bytes of the query. */
JTEST_P(GpuOperation, OneQueryIsEnoughForAChain, int, operation_types) {
    const int64_t n = 70;
    const jdatatype_t type = (jdatatype_t)*param;
    const scalar_t one = scalar_of(type, 1, 0), two = scalar_of(type, 2, 0),
                   zero = scalar_of(type, 0, 0);
    gpu_world_t world;
    gpu_begin(&world, type);
    operand_t a;
    twin_t gpu_a;
    operand_make(&a, world.host.allocator, n, n, STORED_STEPPED, JSTRUCTURE_GENERAL);
    twin_make(&gpu_a, &world, &a);
    jbuffer_t *p = NULL, *s = NULL, *corner = NULL, *here = NULL;
    for (int round = 0; round < 3; round++) {
        if (round == 0)
            JEXPECT_OK(jhandle_start_size_query(world.handle));
        jstatus_t status = jbuffer_product(world.handle, operations[0], operations[1], &one,
                                           gpu_a.view, gpu_a.view, &zero, &p);
        JEXPECT_TRUE(round == 0 ? !jstatus_is_error(status) : status == JSTATUS_SUCCESS);
        if (round == 0)
            JASSERT_OK(jbuffer_slice(p, (const int64_t[]){1, 0}, (const int64_t[]){n / 2, n},
                                     (const int64_t[]){2, 1}, &corner));
        status = jbuffer_add(world.handle, &one, corner, &two, corner, &s);
        JEXPECT_TRUE(round == 0 ? !jstatus_is_error(status) : status == JSTATUS_SUCCESS);
        if (round == 0)
            operation_give_exactly(world.handle, false);
    }
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    operation_give_any(world.handle);
    const wide_matrix_t value = operand_value(&world.host.arena, &a);
    wide_matrix_t product = wide_zeros(&world.host.arena, n, n),
                  expected = wide_zeros(&world.host.arena, n / 2, n);
    product.real = expected.real = !wide_is_complex(type);
    wide_multiply_add(1, value, wide_operate(&world.host.arena, value, operations[1]), product);
    for (int64_t i = 0; i < n / 2; i++)
        for (int64_t j = 0; j < n; j++) {
            *wide_at(expected, i, j) = 3 * *wide_at(product, 1 + 2 * i, j);
            *wide_bound_at(expected, i, j) = 3 * *wide_bound_at(product, 1 + 2 * i, j);
        }
    JEXPECT_OK(jbuffer_construct_copy(world.host.allocator, s, &here));
    buffer_expect(here, expected, 8 * (long double)(n + 4));
    JEXPECT_OK(jbuffer_release(here));
    JEXPECT_OK(jbuffer_release(corner));
    JEXPECT_OK(jbuffer_release(s));
    JEXPECT_OK(jbuffer_release(p));
    twin_free(&gpu_a, &a);
    operand_free(&a);
    gpu_end(&world);
}

/* Operands and handle must be on one device, but for copy. */
JTEST(GpuOperation, DevicesAreNotMixed) {
    gpu_world_t world;
    gpu_begin(&world, JDATATYPE_F64);
    const double one = 1, zero = 0;
    const jlayout_t layout = operation_layout(2, 3, 3);
    jbuffer_t *host = NULL, *gpu = NULL, *none = NULL;
    JASSERT_OK(jbuffer_construct_value(world.host.allocator, &layout, &one, &host));
    JASSERT_OK(jbuffer_construct_value(world.allocator, &layout, &zero, &gpu));
    JEXPECT_STATUS(jbuffer_scale(world.handle, &one, host), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_fill(world.host.handle, gpu, &one), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_product(world.handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, &one, gpu,
                                   host, &zero, &none),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_copy(world.handle, host, host), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_copy(world.host.handle, gpu, gpu), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_copy(world.handle, gpu, host));
    JEXPECT_OK(jbuffer_copy(world.host.handle, host, gpu));
    JEXPECT_NULL(none);
    JEXPECT_OK(jbuffer_release(host));
    JEXPECT_OK(jbuffer_release(gpu));
    gpu_end(&world);
}

/* ---- Results among their operands ---- */

JTEST_P(GpuOperation, ResultsMayOverlapOperands, int, operation_types) {
    gpu_world_t world;
    gpu_begin(&world, (jdatatype_t)*param);
    for (int64_t round = 0; round < jtest_iterations(60) && !jtest_has_failure(); round++)
        overlap_expect_right(world.handle, world.allocator, world.host.allocator, &world.host.arena,
                             true);
    gpu_end(&world);
}
