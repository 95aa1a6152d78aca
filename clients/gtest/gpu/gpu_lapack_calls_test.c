/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The calls of the vendor's LAPACK, over the fake one: workspace of both kinds, refusals and
 * captures, streams that come and go, failures, and what happens where it is not there. On a real
 * GPU queries and refusals alone are looked at. */

#include "gpu_lapack_helper.h"

#include <stdio.h>

static size_t host_size(const jhandle_t *handle) {
    size_t bytes = 0;
    JEXPECT_OK(jhandle_get_host_workspace_size(handle, &bytes));
    return bytes;
}

/* ---- Workspace ---- */

/* What a query answers is enough, of both kinds, and then a call takes none; a granule less of one,
 * a byte of the other, is too little, and nothing was written. */
EACH_SOLVER(AQueryAnswersBothWorkspaces) {
    SOLVER_OR_SKIP();
    for (int64_t round = 0; round < 2 * jtest_iterations(4) && !jtest_has_failure(); round++) {
        jhandle_t *handle = handle_on(NULL, round % 2 ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST);
        PROBLEM(p, (solver_t)*param, (int)(round % 4), round, 14);
        size_t host_bytes = SIZE_MAX;
        const size_t bytes = problem_query(handle, &p, &host_bytes);
        JEXPECT_GT(bytes, 0);
        JEXPECT_EQ(host_size(handle), 0);
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, bytes));
        JEXPECT_EQ(host_size(handle), host_bytes);

        problem_run(handle, &p); /* makes what the vendor keeps */
        if (gpu_fake() != NULL)
            gpu_fake()->reset_counts();
        problem_upload(&p);
        JEXPECT_OK(problem_call(handle, &p));
        if (gpu_fake() != NULL) {
            JEXPECT_EQ(gpu_fake()->count_allocations(), 0);
            JEXPECT_EQ(gpu_fake()->count_frees(), 0);
        }
        problem_download(handle, &p);
        problem_right(&p);
        jhandle_stats_t stats = stats_of(handle);
        JEXPECT_GT(stats.rung_count[0], 0);
        JEXPECT_EQ(stats.degraded_count, 0);

        if (host_bytes > 0) {
            JEXPECT_OK(jhandle_set_host_workspace_size(handle, host_bytes - 1));
            JEXPECT_STATUS(problem_call(handle, &p), JSTATUS_MEMORY_ERROR);
            JEXPECT_SUBSTR(jhandle_last_message(handle), "jhandle_set_host_workspace_size");
            JEXPECT_OK(jhandle_set_host_workspace_size(handle, host_bytes));
        }
        JEXPECT_OK(
            jhandle_set_fixed_workspace_size(handle, bytes - jdevice_granule_bytes(gpu_device())));
        problem_upload(&p);
        const bool alone = *param != GETRS && *param != ORGQR && *param != ORMQR;
        JEXPECT_STATUS(problem_call(handle, &p), JSTATUS_MEMORY_ERROR);
        problem_download(handle, &p);
        if (alone)
            JEXPECT_EQ(memcmp(p.a.data, p.a.before, p.a.bytes), 0);
        JEXPECT_EQ(memcmp(p.b.data, p.b.before, p.b.bytes), 0);
        JEXPECT_EQ(p.info, -99);
        JEXPECT_OK(jhandle_destroy(handle));
    }
    expect_no_fault();
}

/* Default mode grows by itself, once; sealed it says so; the block goes when it is told to. */
JTEST(GpuLapack, TheHostWorkspaceGrowsOnDemand) {
    if (fake_solver_there() == NULL || !solver_is_there())
        JSKIP("needs the fake vendor's LAPACK, which wants host workspace");
    jhandle_t *handle = gpu_make_handle();
    size_t host_bytes = 0;
    PROBLEM(p, SYEVD, JDATATYPE_F64, 0, 20);
    JEXPECT_OK(jhandle_get_host_query_size(handle, &host_bytes));
    JEXPECT_EQ(host_bytes, 0);
    problem_run(handle, &p);
    (void)problem_query(handle, &p, &host_bytes);
    JEXPECT_GT(host_bytes, 0);
    JEXPECT_EQ(host_size(handle), host_bytes);
    problem_run(handle, &p);
    JEXPECT_EQ(host_size(handle), host_bytes);

    JEXPECT_OK(jhandle_set_host_workspace_size(handle, 0));
    JEXPECT_EQ(host_size(handle), 0);
    JEXPECT_OK(jhandle_seal(handle));
    JEXPECT_STATUS(problem_call(handle, &p), JSTATUS_SEALED);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "host workspace");
    JEXPECT_OK(jhandle_unseal(handle));
    problem_run(handle, &p);
    JEXPECT_OK(jhandle_destroy(handle));

    /* A query of one handle, the bytes of both kinds given to another, and a workspace of the
     * caller's. */
    for (int own = 0; own < 2; own++) {
        jhandle_t *asked = gpu_make_handle(), *other = gpu_make_handle();
        const size_t bytes = problem_query(asked, &p, &host_bytes);
        void *workspace = gpu_take(bytes);
        JEXPECT_OK(own ? jhandle_set_workspace(other, workspace, bytes)
                       : jhandle_set_workspace_size(other, bytes));
        problem_upload(&p);
        JEXPECT_STATUS(problem_call(other, &p), JSTATUS_MEMORY_ERROR);
        JEXPECT_OK(jhandle_set_host_workspace_size(other, host_bytes));
        problem_run(other, &p);
        JEXPECT_OK(jhandle_set_workspace(asked, workspace, bytes));
        problem_run(asked, &p);
        JEXPECT_OK(jhandle_destroy(asked));
        JEXPECT_OK(jhandle_destroy(other));
        gpu_give(workspace, bytes);
    }
    expect_no_fault();
}

/* A query begins with none; and a handle that ends gives its block back, once the stream has
 * passed. */
JTEST(GpuLapack, TheHostWorkspaceEndsWithItsHandle) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake_solver_there() == NULL || !solver_is_there())
        JSKIP("needs the fake vendor's LAPACK, which wants host workspace");
    PROBLEM(large, SYEVD, JDATATYPE_F64, 0, 20);
    PROBLEM(none, GEQRF, JDATATYPE_F64, 0, 9);
    jhandle_t *first = handle_on(NULL, JPOINTER_MODE_DEVICE);
    problem_run(first, &large); /* makes what the vendor keeps */
    JEXPECT_OK(jhandle_destroy(first));

    const size_t before = fake->live_bytes();
    size_t host_bytes = 0;
    jhandle_t *handle = handle_on(NULL, JPOINTER_MODE_DEVICE);
    (void)problem_query(handle, &large, &host_bytes);
    JEXPECT_GT(host_bytes, 0);
    (void)problem_query(handle, &none, &host_bytes);
    JEXPECT_EQ(host_bytes, 0);
    problem_upload(&large);
    JEXPECT_OK(problem_call(handle, &large));
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_EQ(fake->live_bytes(), before);
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
    expect_no_fault();
}

JTEST(GpuLapack, TheHostWorkspaceRefusesByName) {
    jhandle_t *handle = gpu_make_handle();
    size_t bytes = 7;
    JEXPECT_STATUS(jhandle_set_host_workspace_size(NULL, 1), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_host_workspace_size(NULL, &bytes), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_host_query_size(NULL, &bytes), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jhandle_get_host_workspace_size(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_host_query_size(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_EQ(bytes, 7);

    JEXPECT_OK(jhandle_set_host_workspace_size(handle, 100));
    JEXPECT_STATUS(jhandle_set_host_workspace_size(handle, SIZE_MAX), JSTATUS_INVALID_SIZE);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "jhandle_set_host_workspace_size: ");
    if (gpu_fake() != NULL) {
        gpu_fake()->fail_after(1, FAKE_GPU_OUT_OF_MEMORY);
        JEXPECT_STATUS(jhandle_set_host_workspace_size(handle, 200), JSTATUS_MEMORY_ERROR);
        gpu_fake()->fail_after(0, FAKE_GPU_OUT_OF_MEMORY);
        JEXPECT_EQ(host_size(handle), 100);
    }
    JALLOC_WITH_BORROW(ws, handle, 64) {
        JEXPECT_STATUS(jhandle_set_host_workspace_size(handle, 1), JSTATUS_BUSY);
    }
    JEXPECT_EQ(host_size(handle), 100);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Refusals ---- */

JTEST(GpuLapack, RefusesWhatIsWrongByName) {
    SOLVER_OR_SKIP();
    jhandle_t *h = gpu_make_handle();
    double *a = gpu_take(64 * sizeof *a);
    int64_t *ipiv = gpu_take(8 * sizeof *ipiv), info = -7;
    const jblas_operation_t plain = JBLAS_NO_TRANSPOSE, odd = JBLAS_CONJUGATE;
#define REFUSED(...) JLAPACK_REFUSED(h, __VA_ARGS__)
    REFUSED(jlapack_dgetrf(h, -1, 2, a, 2, ipiv, &info), JSTATUS_INVALID_SIZE, "dgetrf: m = -1");
    REFUSED(jlapack_dgetrf(h, 2, 2, a, 1, ipiv, &info), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dgetrf(h, 2, 2, NULL, 2, ipiv, &info), JSTATUS_INVALID_POINTER, "a is NULL");
    REFUSED(jlapack_dgetrf(h, 2, 2, a, 2, ipiv, NULL), JSTATUS_INVALID_POINTER, "info is NULL");
    REFUSED(jlapack_zgetrs(h, odd, 2, 1, NULL, 2, ipiv, NULL, 2), JSTATUS_INVALID_VALUE,
            "trans = 114");
    REFUSED(jlapack_dgesv(h, 2, 1, a, 2, NULL, a, 2, &info), JSTATUS_INVALID_POINTER, "ipiv");
    REFUSED(jlapack_dgeqrf(h, 2, 2, a, 2, NULL), JSTATUS_INVALID_POINTER, "tau is NULL");
    REFUSED(jlapack_dorgqr(h, 2, 3, 1, a, 2, a), JSTATUS_INVALID_SIZE, "n = 3");
    REFUSED(jlapack_dorgqr(h, 3, 2, 3, a, 3, a), JSTATUS_INVALID_SIZE, "k = 3");
    REFUSED(jlapack_dorgqr(h, 3, 2, 3, a, 0, a), JSTATUS_INVALID_SIZE, "k = 3"); /* the first */
    REFUSED(jlapack_dormqr(h, JBLAS_LEFT, plain, 2, 2, 3, a, 2, a, a, 2), JSTATUS_INVALID_SIZE,
            "k = 3");
    REFUSED(jlapack_dgels(h, plain, 3, 2, 1, a, 3, a, 2, &info), JSTATUS_INVALID_SIZE, "ldb = 2");
    REFUSED(jlapack_dsyevd(h, JLAPACK_ALL, JBLAS_UPPER, 2, a, 2, a, &info), JSTATUS_INVALID_VALUE,
            "jobz = 65");
    REFUSED(
        jlapack_dgesvd(h, JLAPACK_OVERWRITE, JLAPACK_OVERWRITE, 2, 2, a, 2, a, a, 2, a, 2, &info),
        JSTATUS_INVALID_VALUE, "jobvt");
    REFUSED(jlapack_dgesvd(h, JLAPACK_ALL, JLAPACK_NONE, 2, 2, a, 2, a, NULL, 2, NULL, 1, &info),
            JSTATUS_INVALID_POINTER, "u is NULL");
    JEXPECT_EQ(info, -7);

    /* Sizes of 32 bits. */
    const int64_t huge = INT64_C(1) << 31;
    JEXPECT_OK(jhandle_start_size_query(h));
    REFUSED(jlapack_dormqr(h, JBLAS_LEFT, plain, huge, 2, 2, NULL, huge, NULL, NULL, huge),
            JSTATUS_NOT_IMPLEMENTED, "jlapack_dormqr: 2147483648: ");
    REFUSED(jlapack_dorgqr(h, huge, 2, 2, NULL, huge, NULL), JSTATUS_NOT_IMPLEMENTED, "32 bits");
    if (fake_solver_there() != NULL)
        JEXPECT_FALSE(jstatus_is_error(jlapack_dgetrf(h, huge, 2, NULL, huge, NULL, NULL)));
    size_t bytes;
    JEXPECT_OK(jhandle_stop_size_query(h, &bytes));

    /* An address between two complex numbers. */
    REFUSED(jlapack_zgetrf(h, 2, 2, (jcomplex_f64_t *)(a + 1), 2, ipiv, &info),
            JSTATUS_NOT_IMPLEMENTED, "a multiple of 16");
    /* What the vendor has not is still refused by name. */
    REFUSED(jlapack_dgetri(h, 2, a, 2, ipiv, &info), JSTATUS_NOT_IMPLEMENTED,
            "jlapack_dgetri is not offered on ");
    REFUSED(jlapack_dgesdd(h, JLAPACK_NONE, 2, 2, a, 2, a, a, 2, a, 2, &info),
            JSTATUS_NOT_IMPLEMENTED, "jlapack_dgesdd is not offered on ");
#undef REFUSED
    gpu_give(a, 64 * sizeof *a);
    gpu_give(ipiv, 8 * sizeof *ipiv);
    JEXPECT_OK(jhandle_destroy(h));
    expect_no_fault();
}

/* A captured stream is refused, by a call and by a query, and its capture is as it was. */
EACH_SOLVER(NothingIsCaptured) {
    SOLVER_OR_SKIP();
    const fake_gpu_control_t *program = gpu_program();
    if (program == NULL)
        JSKIP(GPU_NO_PROGRAM);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(gpu_device(), &stream));
    jhandle_t *handle = handle_on(stream, JPOINTER_MODE_DEVICE);
    PROBLEM(p, (solver_t)*param, JDATATYPE_F64, 0, 9);
    for (int warm = 0; warm < 2 && !jtest_has_failure(); warm++) {
        JEXPECT_EQ(program->begin_capture(jstream_native(gpu_device(), stream)), 0);
        JEXPECT_STATUS(problem_call(handle, &p), JSTATUS_CAPTURING);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "captured");
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_STATUS(problem_call(handle, &p), JSTATUS_CAPTURING);
        JEXPECT_OK(jhandle_stop_size_query(handle, &(size_t){0}));
        void *graph = program->end_capture(jstream_native(gpu_device(), stream));
        JEXPECT_NOT_NULL(graph);
        if (graph != NULL)
            program->destroy_graph(graph);
        problem_run(handle, &p);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    expect_no_fault();
}

/* ---- Streams that come and go ---- */

JTEST(GpuLapack, AStreamThatIsGoneLeavesItsHandleToTheNext) {
    const fake_solver_control_t *vendor = fake_solver_there();
    if (vendor == NULL || !solver_is_there())
        JSKIP("needs the fake vendor's LAPACK");
    enum { COUNT = 4 };
    jstream_t *streams[COUNT]; /* so that no two have one name */
    PROBLEM(p, GESV, JDATATYPE_F64, 0, 9);
    uint64_t handles = 0;
    for (int i = 0; i < COUNT; i++)
        JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
    for (int i = 0; i < COUNT; i++) {
        jhandle_t *handle = handle_on(streams[i], JPOINTER_MODE_HOST);
        problem_run(handle, &p);
        if (i == 0)
            handles = vendor->count_handles();
        JEXPECT_EQ(vendor->count_handles(), handles);
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_destroy(streams[i]));
    }
    expect_no_fault();
}

/* ---- Failures ---- */

/* Each call of the library failing, and each of the runtime below it: a status that says so, and
 * the next call is as if nothing had been. */
static void fail_each_call(solver_t solver, int64_t round, bool of_library, int failure) {
    static const jstatus_t told[] = {JSTATUS_MEMORY_ERROR, JSTATUS_DEVICE_ERROR,
                                     JSTATUS_NOT_IMPLEMENTED, JSTATUS_INTERNAL_ERROR};
    const fake_gpu_control_t *fake = gpu_fake();
    const fake_solver_control_t *vendor = fake_solver_there();
    bool failed = true;
    PROBLEM(p, solver, JDATATYPE_F64_C, round, 9);
    for (uint64_t n = 1; failed && !jtest_has_failure(); n++) {
        JSCOPED_TRACE("%s, call %d of the %s, failure %d", solver_names[solver], (int)n,
                      of_library ? "library" : "runtime", failure);
        jstream_t *streams[2] = {NULL, NULL}; /* the second finds nothing left by another */
        for (int i = 0; i < 2; i++)
            JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
        jhandle_t *handle =
            handle_on(streams[1], n % 2 == 0 ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST);
        problem_upload(&p);
        if (of_library)
            vendor->fail_after(n, (fake_solver_failure_t)failure);
        else
            fake->fail_after(n, (fake_gpu_error_t)failure);
        const jstatus_t status = problem_call(handle, &p);
        failed = of_library ? vendor->has_failed() : fake->has_failed();
        vendor->fail_after(0, FAKE_SOLVER_NO_MEMORY);
        fake->fail_after(0, FAKE_GPU_OUT_OF_MEMORY);
        JEXPECT_OK(jstream_synchronize(gpu_device(), streams[1]));
        if (status != JSTATUS_SUCCESS && of_library) {
            JEXPECT_STATUS(status, told[failure]);
            JEXPECT_SUBSTR(jhandle_last_message(handle), ": fakesolverDn");
        } else if (status != JSTATUS_SUCCESS) {
            JEXPECT_TRUE(failed);
            JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR || status == JSTATUS_DEVICE_ERROR);
        } else {
            JEXPECT_FALSE(of_library && failed);
            problem_download(handle, &p);
            problem_right(&p);
        }
        problem_run(handle, &p);
        JEXPECT_OK(jhandle_destroy(handle));
        for (int i = 0; i < 2; i++)
            JEXPECT_OK(jstream_destroy(streams[i]));
        JEXPECT_EQ(fake->last_error(), 0);
        JEXPECT_EQ(fake->faults(), 0);
    }
}

EACH_SOLVER(FailuresAreToldAndLeaveNothingBehind) {
    if (fake_solver_there() == NULL || !solver_is_there())
        JSKIP("needs the fake vendor's LAPACK");
    for (int64_t round = 0; round < 2 && !jtest_has_failure(); round++) {
        for (int failure = FAKE_SOLVER_NO_MEMORY; failure <= FAKE_SOLVER_INVALID_VALUE; failure++)
            fail_each_call((solver_t)*param, round, true, failure);
        fail_each_call((solver_t)*param, round, false, FAKE_GPU_OUT_OF_MEMORY);
        fail_each_call((solver_t)*param, round, false, FAKE_GPU_UNKNOWN_ERROR);
    }
}

/* Bookkeeping memory, too. */
JTEST(GpuLapack, BookkeepingMemoryMayFail) {
    SOLVER_OR_SKIP();
    PROBLEM(p, GESV, JDATATYPE_F64, 0, 9);
    JFOR_EACH_FAILURE(i) {
        jhandle_options_t options = JHANDLE_OPTIONS_INIT;
        jhandle_t *handle = NULL;
        options.device = gpu_device();
        jstatus_t status = jhandle_create(&options, &handle);
        if (status == JSTATUS_SUCCESS) {
            problem_upload(&p);
            status = problem_call(handle, &p);
        }
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_TRUE(jtest_metadata_failed());
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        } else {
            problem_download(handle, &p);
            problem_right(&p);
        }
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* An info below 0 is the vendor's refusal of what passed the checks. */
JTEST(GpuLapack, AnInfoBelowZeroIsAnError) {
    const fake_solver_control_t *vendor = fake_solver_there();
    if (vendor == NULL || !solver_is_there())
        JSKIP("needs the fake vendor's LAPACK");
    static const solver_t with_info[] = {GETRF, GESV, SYEVD, GESVD};
    jhandle_t *handle = gpu_make_handle();
    for (size_t i = 0; i < sizeof with_info / sizeof *with_info; i++) {
        PROBLEM(p, with_info[i], JDATATYPE_F64, 0, 9);
        vendor->set_info(-3);
        problem_upload(&p);
        JEXPECT_STATUS(problem_call(handle, &p), JSTATUS_INTERNAL_ERROR);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "refused its argument 3");
        JEXPECT_EQ(p.info, -3);
        vendor->set_info(2);
        JEXPECT_OK(problem_call(handle, &p));
        JEXPECT_EQ(p.info, 2);
        vendor->set_info(0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Where it is not there ---- */

/* In a process of its own, because the library is looked for once. */
JTEST_ONLY_WITH("JALLOC_TEST_GPU_LAPACK", GpuLapackChild, IsRefusedByName) {
    const char *how = getenv("JALLOC_TEST_GPU_LAPACK");
    const fake_solver_control_t *vendor = fake_solver_there();
    if (strcmp(how, "absent") == 0)
        vendor->set_present(false);
    else if (strncmp(how, "fakesolver", 10) == 0)
        vendor->set_missing(how);
    jhandle_t *h = gpu_make_handle();
    double a[4] = {1, 2, 3, 4};
    int64_t ipiv[2], info = -7;
    /* Before anything else is looked at, and in a size query. */
    JLAPACK_REFUSED(h, jlapack_dgetrf(h, -1, 2, a, 2, ipiv, &info), JSTATUS_NOT_IMPLEMENTED,
                    "jlapack_dgetrf: ");
    if (strcmp(how, "absent") == 0)
        JEXPECT_SUBSTR(jhandle_last_message(h), "libfakesolver.so.12: cannot open");
    else if (strcmp(how, "off") == 0)
        JEXPECT_SUBSTR(jhandle_last_message(h), "JALLOC_VENDOR_BLAS is 0");
    else if (strcmp(how, "without") == 0)
        JEXPECT_SUBSTR(jhandle_last_message(h), "was built without ");
    else
        JEXPECT_SUBSTR(jhandle_last_message(h), how);
    JEXPECT_OK(jhandle_start_size_query(h));
    JEXPECT_STATUS(jlapack_dgesv(h, 2, 1, NULL, 2, NULL, NULL, 2, NULL), JSTATUS_NOT_IMPLEMENTED);
    size_t bytes = 7;
    JEXPECT_OK(jhandle_stop_size_query(h, &bytes));
    JEXPECT_EQ(bytes, 0);
    JEXPECT_EQ(info, -7);

    /* One function takes its own routines away, and no other. */
    const bool others = strncmp(how, "fakesolverDnXgetrf", 18) == 0;
    JEXPECT_STATUS(jlapack_dgeqrf(h, 0, 0, NULL, 1, NULL),
                   others ? JSTATUS_SUCCESS : JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_OK(jhandle_destroy(h));
}

JTEST(GpuLapack, IsRefusedByNameWithoutIt) {
    static const char *const ways[] = {"off", "absent", "fakesolverDnXgetrf",
                                       "fakesolverDnXgetrf_bufferSize", "fakesolverDnCreateParams"};
    const bool without = gpu_fake() != NULL && fake_solver_there() == NULL;
    const size_t count = fake_solver_there() != NULL ? sizeof ways / sizeof ways[0] : 1;
    for (size_t i = 0; i < count; i++) {
        char output[8192], path[4200], device[64], way[64];
        snprintf(way, sizeof way, "JALLOC_TEST_GPU_LAPACK=%s", without ? "without" : ways[i]);
        snprintf(path, sizeof path, "JALLOC_MODULE_PATH=%s", gpu_module_path());
        snprintf(device, sizeof device, "JALLOC_TEST_DEVICE=%s", gpu_device_name());
        const char *const environment[] = {
            way, path, device, i == 0 ? "JALLOC_VENDOR_BLAS=0" : "JALLOC_VENDOR_BLAS=1", NULL};
        const int result = jtest_run_self("GpuLapackChild.*", environment, output, sizeof output);
        if (result != 0 || strstr(output, "1 test from") == NULL)
            JFAIL("%s: %d: %s", way, result, output);
    }
}
