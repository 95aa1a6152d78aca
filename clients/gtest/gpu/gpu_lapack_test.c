/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the vendor's LAPACK computes for jlapack, over the fake one or on a real GPU: results by
 * their own properties, in any shape, streams and batches, and of singular matrices. */

#include "gpu_lapack_helper.h"

/* ---- Results ---- */

EACH_SOLVER(IsRightInAnyShape) {
    SOLVER_OR_SKIP();
    jstream_t *streams[2] = {NULL, NULL};
    JASSERT_OK(jstream_create(gpu_device(), &streams[1]));
    for (int64_t round = 0; round < jtest_iterations(24) && !jtest_has_failure(); round++)
        for (int type = 0; type < 4 && !jtest_has_failure(); type++) {
            jhandle_t *handle = handle_on(streams[round % 2], round % 4 < 2 ? JPOINTER_MODE_HOST
                                                                            : JPOINTER_MODE_DEVICE);
            PROBLEM(p, (solver_t)*param, type, round, round % 3 == 0 ? 5 : 20);
            problem_run(handle, &p);
            JEXPECT_OK(jhandle_destroy(handle));
        }
    JEXPECT_OK(jstream_destroy(streams[1]));
    expect_no_fault();
}

/* One handle, call after call, and nobody waits in between: each has its host workspace to itself
 * until the stream has passed. */
EACH_SOLVER(CallsFollowEachOther) {
    SOLVER_OR_SKIP();
    enum { COUNT = 4 };
    jstream_t *streams[2];
    problem_t problems[COUNT];
    for (int i = 0; i < 2; i++)
        JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
    jhandle_t *handle = handle_on(streams[0], JPOINTER_MODE_DEVICE);
    for (int i = 0; i < COUNT; i++)
        problem_make(&problems[i], (solver_t)*param, i % 4, i, 12);
    for (int i = 0; i < COUNT; i++) {
        JEXPECT_OK(jhandle_set_stream(handle, streams[i / 2 % 2]));
        JEXPECT_OK(problem_call(handle, &problems[i]));
    }
    /* Held up are those that want some, which the fake vendor's QR does not, and they are counted.
     */
    const bool wants = *param < GEQRF || *param > GELS;
    if (fake_solver_there() != NULL)
        JEXPECT_EQ(stats_of(handle).synchronization_count > 0, wants);
    for (int i = 0; i < 2; i++)
        JEXPECT_OK(jstream_synchronize(gpu_device(), streams[i]));
    for (int i = 0; i < COUNT; i++) {
        problem_download(handle, &problems[i]);
        problem_right(&problems[i]);
        problem_free(&problems[i]);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    for (int i = 0; i < 2; i++)
        JEXPECT_OK(jstream_destroy(streams[i]));
    expect_no_fault();
}

/* A zero pivot: info has its number, and B is as it was. */
JLAPACK_EACH_TYPE(GpuLapack, ASingularMatrixIsTold) {
    SOLVER_OR_SKIP();
    for (int mode = 0; mode < 2; mode++) {
        jhandle_t *handle = handle_on(NULL, mode ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST);
        for (int solver = GETRF; solver <= GELS && !jtest_has_failure(); solver++) {
            if (solver != GETRF && solver != GESV && solver != GELS)
                continue;
            PROBLEM(p, (solver_t)solver, *param, 0, 12);
            const int64_t zero = smaller(p.m, p.n) / 2;
            const bool by_rows = solver == GELS && p.m < p.n;
            for (int64_t i = 0; i < (by_rows ? p.n : p.m); i++)
                wide_put(p.a.data, p.type, by_rows ? zero + i * p.a.ld : i + zero * p.a.ld, 0);
            keep(&p.a);
            problem_upload(&p);
            JEXPECT_OK(problem_call(handle, &p));
            problem_download(handle, &p);
            JEXPECT_EQ(p.info, zero + 1);
            if (solver == GESV)
                JEXPECT_EQ(memcmp(p.b.data, p.b.before, p.b.bytes), 0);
        }
        JEXPECT_OK(jhandle_destroy(handle));
    }
    expect_no_fault();
}

JTEST(GpuLapack, ZerosHaveNotFullRank) {
    SOLVER_OR_SKIP();
    jhandle_t *h = gpu_make_handle();
    const double zeros[6] = {0}, b[3] = {1, 2, 3};
    double *device_a = gpu_take(sizeof zeros), *device_b = gpu_take(sizeof b);
    int64_t info = -7;
    gpu_upload(device_a, zeros, sizeof zeros);
    gpu_upload(device_b, b, sizeof b);
    JEXPECT_OK(jlapack_dgels(h, JBLAS_NO_TRANSPOSE, 3, 2, 1, device_a, 3, device_b, 3, &info));
    JEXPECT_EQ(info, 1);
    gpu_give(device_a, sizeof zeros), gpu_give(device_b, sizeof b);
    JEXPECT_OK(jhandle_destroy(h));
}

/* ---- Nothing to do ---- */

JTEST(GpuLapack, EmptyCallsSayZero) {
    SOLVER_OR_SKIP();
    jhandle_t *h = gpu_make_handle();
    int64_t info = -7;
    double b[6] = {1, 2, 3, 4, 5, 6}, *device_b = gpu_take(sizeof b);
    JEXPECT_OK(jlapack_dgetrf(h, 0, 3, NULL, 1, NULL, &info));
    JEXPECT_EQ(info, 0), info = -7;
    JEXPECT_OK(jlapack_dgetrs(h, JBLAS_NO_TRANSPOSE, 0, 3, NULL, 1, NULL, NULL, 1));
    JEXPECT_OK(jlapack_dgesv(h, 0, 3, NULL, 1, NULL, NULL, 1, &info));
    JEXPECT_EQ(info, 0), info = -7;
    JEXPECT_OK(jlapack_dgeqrf(h, 3, 0, NULL, 3, NULL));
    JEXPECT_OK(jlapack_dormqr(h, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, 2, 2, 0, NULL, 2, NULL, NULL, 2));
    JEXPECT_OK(jlapack_dgels(h, JBLAS_NO_TRANSPOSE, 3, 2, 0, NULL, 3, NULL, 3, &info));
    JEXPECT_EQ(info, 0), info = -7;
    JEXPECT_OK(jlapack_dsyevd(h, JLAPACK_NONE, JBLAS_UPPER, 0, NULL, 1, NULL, &info));
    JEXPECT_EQ(info, 0), info = -7;
    JEXPECT_OK(
        jlapack_dgesvd(h, JLAPACK_ALL, JLAPACK_NONE, 0, 2, NULL, 1, NULL, NULL, 1, NULL, 1, &info));
    JEXPECT_EQ(info, 0), info = -7;

    /* Of least squares without equations the least X is 0. */
    gpu_upload(device_b, b, sizeof b);
    JEXPECT_OK(jlapack_dgels(h, JBLAS_NO_TRANSPOSE, 0, 3, 2, device_b, 1, device_b, 3, &info));
    gpu_download(b, device_b, sizeof b);
    JEXPECT_EQ(info, 0);
    for (int i = 0; i < 6; i++)
        JEXPECT_EQ(b[i], 0);
    gpu_give(device_b, sizeof b);
    JEXPECT_OK(jhandle_destroy(h));
}

/* Solves without right-hand sides factor all the same. */
JTEST(GpuLapack, GesvFactorsWithoutRightHandSides) {
    SOLVER_OR_SKIP();
    jhandle_t *h = gpu_make_handle();
    const double a[4] = {0, 2, 4, 1};
    double factor[4], *device_a = gpu_take(sizeof a);
    int64_t pivots[2], *ipiv = gpu_take(sizeof pivots), info = -7;
    gpu_upload(device_a, a, sizeof a);
    JEXPECT_OK(jlapack_dgesv(h, 2, 0, device_a, 2, ipiv, device_a, 2, &info));
    gpu_download(factor, device_a, sizeof a);
    gpu_download(pivots, ipiv, sizeof pivots);
    JEXPECT_EQ(info, 0);
    JEXPECT_EQ(pivots[0], 2);
    JEXPECT_EQ(factor[0], 2);
    JEXPECT_EQ(factor[3], 4);
    gpu_give(device_a, sizeof a);
    gpu_give(ipiv, sizeof pivots);
    JEXPECT_OK(jhandle_destroy(h));
}

/* ---- Batches ---- */

/* By strides and by arrays of pointers; the third item is singular. */
JTEST(GpuLapack, BatchesAreItemsOneAfterTheOther) {
    SOLVER_OR_SKIP();
    enum { N = 3, COUNT = 5 };
    jhandle_t *h = gpu_make_handle();
    double a[COUNT][N * N], b[COUNT][N], x[COUNT][N], factor[N * N];
    for (int item = 0; item < COUNT; item++)
        for (int i = 0; i < N * N; i++) {
            a[item][i] = jtest_random_double(-1, 1) + (i % (N + 1) == 0 ? 3 : 0);
            b[item][i % N] = jtest_random_double(-1, 1);
        }
    memset(a[2], 0, sizeof a[2]);
    double *device_a = gpu_take(sizeof a), *device_b = gpu_take(sizeof b),
           *device_tau = gpu_take(sizeof b), *each[2][COUNT];
    double **table[2] = {gpu_take(sizeof each[0]), gpu_take(sizeof each[1])};
    int64_t *ipiv = gpu_take(COUNT * N * sizeof *ipiv);
    for (int item = 0; item < COUNT; item++)
        each[0][item] = device_a + item * N * N, each[1][item] = device_b + item * N;
    for (int i = 0; i < 2; i++)
        gpu_upload(table[i], each[i], sizeof each[i]);

    for (int pointers = 0; pointers < 2; pointers++) {
        int64_t info[COUNT] = {-1, -1, -1, -1, -1};
        gpu_upload(device_a, a, sizeof a);
        gpu_upload(device_b, b, sizeof b);
        JEXPECT_OK(pointers ? jlapack_dgesv_batched(h, N, 1, table[0], N, ipiv, N, table[1], N,
                                                    info, COUNT)
                            : jlapack_dgesv_strided_batched(h, N, 1, device_a, N, N * N, ipiv, N,
                                                            device_b, N, N, info, COUNT));
        gpu_download(x, device_b, sizeof x);
        for (int item = 0; item < COUNT; item++) {
            JEXPECT_EQ(info[item], item == 2);
            for (int i = 0; i < N; i++) {
                double sum = item == 2 ? x[item][i] : 0;
                for (int j = 0; j < N && item != 2; j++)
                    sum += a[item][i + j * N] * x[item][j];
                JEXPECT_NEAR(sum, b[item][i], 1e-13);
            }
        }

        gpu_upload(device_a, a, sizeof a);
        JEXPECT_OK(pointers ? jlapack_dgeqrf_batched(h, N, N, table[0], N, device_tau, N, COUNT)
                            : jlapack_dgeqrf_strided_batched(h, N, N, device_a, N, N * N,
                                                             device_tau, N, COUNT));
        for (int item = 0; item < COUNT; item++) {
            gpu_download(factor, each[0][item], sizeof factor);
            JEXPECT_NEAR(fabs(factor[0]), hypot(hypot(a[item][0], a[item][1]), a[item][2]), 1e-13);
        }
    }
    gpu_give(device_a, sizeof a), gpu_give(device_b, sizeof b), gpu_give(device_tau, sizeof b);
    gpu_give(table[0], sizeof each[0]), gpu_give(table[1], sizeof each[1]);
    gpu_give(ipiv, COUNT * N * sizeof *ipiv);
    JEXPECT_OK(jhandle_destroy(h));
    expect_no_fault();
}
