/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How calls reach a LAPACK: workspace to the byte, refusals by name, numbers that are not finite,
 * streams, and a machine without one. */

#include <stdio.h>

#include "jlapack_guest_helper.h"

#define SKIP_WITHOUT()                                                                             \
    if (ji_lapack_guest_load() != JSTATUS_SUCCESS)                                                 \
    JSKIP("there is no LAPACK")

/* ---- Workspace ---- */

/* The bytes of the first rung, and with same bits those of the last. */
static size_t bytes_of(problem_t *p, jresult_policy_t policy) {
    size_t bytes = 0;
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_set_result_policy(handle, policy));
    const jstatus_t status = problem_query(handle, p, &bytes);
    JEXPECT_STATUS(status, bytes > 0 ? JSTATUS_SIZE_INCREASED : JSTATUS_SIZE_UNCHANGED);
    JEXPECT_OK(jhandle_destroy(handle));
    return bytes;
}

static void expect_in(problem_t *p, size_t bytes, jstatus_t expected) {
    jhandle_t *handle = make_handle(0);
    JSCOPED_TRACE("%zu bytes", bytes);
    if (bytes > 0)
        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes), bytes));
    else
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 0));
    const uint64_t before = jtest_allocation_count();
    JEXPECT_STATUS(problem_call(handle, p), expected);
    JEXPECT_EQ(jtest_allocation_count(), before);
    JEXPECT_EQ(p->info, jstatus_is_error(expected) || p->routine == PBTRS ? -99 : 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What a query asks for is what the LAPACK takes, and what it documents as least is enough for it;
 * with less nothing has run. */
JLAPACK_EACH_ROUTINE(JlapackGuestCalls, WorkspaceIsExact) {
    SKIP_WITHOUT();
    for (int64_t round = jtest_iterations(48); round > 0 && !jtest_has_failure(); --round) {
        problem_t first __attribute__((cleanup(problem_free))) =
            problem_draw(param->routine, param->type, round, 90);
        JSCOPED_TRACE("%ld x %ld, %ld, jobs %c %c", (long)first.m, (long)first.n, (long)first.nrhs,
                      (char)first.job, (char)first.job2);
        const size_t best = bytes_of(&first, JRESULT_POLICY_FAST),
                     least = bytes_of(&first, JRESULT_POLICY_SAME_BITS);
        JEXPECT_GE(best, least);
        JEXPECT_EQ(least == 0,
                   param->routine >= GTSV || first.n == 0 ||
                       (param->routine >= GESVD && param->routine <= GESDD && first.m == 0) ||
                       (param->routine == GELSD && (first.m == 0 || first.nrhs == 0)));
        if (least > 0) {
            expect_in(&first, least - 64, JSTATUS_MEMORY_ERROR);
            expect_untouched(&first);
        }

        const size_t sizes[] = {best, least, least + 64};
        for (int i = 0; i < 3 && sizes[i] <= best; i++) {
            PROBLEM(p, param->routine, param->type, first.m, first.n, first.nrhs, first.job,
                    first.job2);
            expect_in(&p, sizes[i], sizes[i] == best ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
        }
    }
}

/* Tall and wide by so much that the ways inside are others. */
JLAPACK_EACH_TYPE(JlapackGuestCalls, LeastWorkspaceIsEnoughForAnyShape) {
    SKIP_WITHOUT();
    static const routine_t routines[] = {GESVD, GESDD, GELSD};
    static const int64_t shapes[][2] = {{2000, 1}, {1, 2000}, {300, 30},
                                        {30, 300}, {2, 150},  {60, 59}};
    for (size_t r = 0; r < 3; r++)
        for (size_t k = 0; k < 6; k++)
            for (int job = 0; job < 4; job++) {
                PROBLEM(p, routines[r], *param, shapes[k][0], shapes[k][1], 1 + job * 20,
                        part_jobs[job], part_jobs[(job + 1) % 4]);
                JSCOPED_TRACE("%s, %ld x %ld, job %c", routine_names[routines[r]], (long)p.m,
                              (long)p.n, (char)p.job);
                const size_t best = bytes_of(&p, JRESULT_POLICY_FAST),
                             least = bytes_of(&p, JRESULT_POLICY_SAME_BITS);
                expect_in(&p, least, least < best ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);

                long double squares = 0; /* of singular values, those of the elements */
                for (int64_t j = 0; j < p.n; j++)
                    for (int64_t i = 0; i < p.m; i++)
                        squares += square_of(before_at(&p.a, i, j));
                const long double all = squares;
                for (int64_t j = 0; j < p.w.rows; j++)
                    squares -= square_of(now_at(&p.w, j, 0));
                JEXPECT_TRUE(fabsl(squares) <= all * 1000 * wide_epsilon(*param));
            }
}

JLAPACK_EACH_TYPE(JlapackGuestCalls, AskForWorkspaceWhateverTheRange) {
    SKIP_WITHOUT();
    PROBLEM(p, SYEVR, *param, 40, 40, 0, JLAPACK_VECTORS, JLAPACK_NONE);
    const size_t bytes = bytes_of(&p, JRESULT_POLICY_FAST);
    p.il = 2, p.iu = 3;
    p.range = JLAPACK_RANGE_INDICES;
    JEXPECT_EQ(bytes_of(&p, JRESULT_POLICY_FAST), bytes);
    p.range = JLAPACK_RANGE_VALUES;
    JEXPECT_EQ(bytes_of(&p, JRESULT_POLICY_FAST), bytes);
}

/* The n-th allocation fails: it is said, and nothing was done. */
JLAPACK_EACH_ROUTINE(JlapackGuestCalls, EachAllocationMayFail) {
    SKIP_WITHOUT();
    for (uint64_t n = 1, failed = 1; failed != 0 && !jtest_has_failure(); n++) {
        PROBLEM(p, param->routine, param->type, 20, 17, 2,
                param->routine == GESVD || param->routine == GESDD ? JLAPACK_ALL : JLAPACK_VECTORS,
                JLAPACK_NONE);
        jhandle_t *handle = make_handle(0);
        const uint64_t before = jtest_allocation_count();
        jtest_fail_allocation_after(n);
        const jstatus_t status = problem_call(handle, &p);
        failed = jtest_allocation_count() - before >= n;
        jtest_fail_allocation_after(0);
        if (jstatus_is_error(status)) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            expect_untouched(&p);
            JEXPECT_OK(problem_call(handle, &p));
        }
        JEXPECT_EQ(p.info, p.routine == PBTRS ? -99 : 0);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* ---- Numbers that are not finite ---- */

/* The argument is named, and nothing is written but info; in device pointer mode info alone says
 * so. The routines without a search end with them. */
JLAPACK_EACH_ROUTINE(JlapackGuestCalls, NamesWhatIsNotFinite) {
    SKIP_WITHOUT();
    static const int64_t numbers[] = {4, 4, 5, 5, 5, 4, 4, 3, 4, 4};
    jhandle_t *handle = make_handle(0);
    for (int round = 0; round < 8; round++) {
        PROBLEM(p, param->routine, param->type, 9, 9, 2,
                param->routine == GESVD || param->routine == GESDD ? JLAPACK_ALL : JLAPACK_VECTORS,
                JLAPACK_NONE);
        const bool in_b =
            round % 2 != 0 && (p.routine == SYGVD || p.routine == GGEV || p.routine == GELSD);
        matrix_t *const of = in_b ? &p.b : &p.a;
        wide_t bad = round / 2 % 2 ? NAN : -INFINITY;
        if (wide_is_complex(p.type) && round == 2)
            __imag__ bad = NAN, __real__ bad = 1;
        const int64_t row = jtest_random_between(0, of->rows - 1),
                      column = jtest_random_between(0, of->columns - 1);
        const bool stored = !is_symmetric(p.routine) || is_stored(p.uplo, row, column);
        wide_put(of->data, p.type, stored ? row + column * of->ld : column + row * of->ld, bad);
        keep(of);
        JEXPECT_OK(jhandle_set_pointer_mode(handle, round / 4 == 0 ? JPOINTER_MODE_HOST
                                                                   : JPOINTER_MODE_DEVICE));
        const jstatus_t status = problem_call(handle, &p);
        if (!finds_values(p.routine)) {
            JEXPECT_OK(status);
            continue;
        }
        const int64_t number = numbers[p.routine] + (!in_b ? 0 : 2);
        JEXPECT_EQ(p.info, -number);
        expect_untouched(&p);
        if (round / 4 == 0) {
            JEXPECT_STATUS(status, JSTATUS_INVALID_VALUE);
            JEXPECT_SUBSTR(jhandle_last_message(handle), in_b ? ": b holds a NaN or an infinity"
                                                              : ": a holds a NaN or an infinity");
        } else {
            JEXPECT_OK(status);
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What is not read may hold anything: X's rows of gelsd's B, and the triangle that is not given
 * (which every problem's holds). */
JLAPACK_EACH_TYPE(JlapackGuestCalls, DoesNotLookAtWhatIsNotRead) {
    SKIP_WITHOUT();
    jhandle_t *handle = make_handle(0);
    PROBLEM(p, GELSD, *param, 6, 15, 2, JLAPACK_NONE, JLAPACK_NONE);
    wide_put(p.b.data, *param, 9, NAN);
    JEXPECT_OK(problem_call(handle, &p));
    JEXPECT_EQ(p.info, 0);
    JEXPECT_TRUE(wide_abs(now_at(&p.b, 9, 0)) < 1e6L);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* An interval that is none: seen when its ends are, so by info. */
JLAPACK_EACH_TYPE(JlapackGuestCalls, NamesAnIntervalThatIsNone) {
    SKIP_WITHOUT();
    jhandle_t *handle = make_handle(0);
    PROBLEM(p, SYEVR, *param, 9, 9, 0, JLAPACK_VECTORS, JLAPACK_NONE);
    p.range = JLAPACK_RANGE_VALUES;
    p.above = p.above_s = p.up_to = p.up_to_s = 2;
    JEXPECT_STATUS(problem_call(handle, &p), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(handle), "info = -8: up_to is not above the one before it");
    JEXPECT_EQ(p.info, -8);
    expect_untouched(&p);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Streams ---- */

JLAPACK_EACH_ROUTINE(JlapackGuestCalls, FollowTheStreamAndThePointerMode) {
    SKIP_WITHOUT();
    const jlapack_job_t job =
        param->routine == GESVD || param->routine == GESDD ? JLAPACK_SOME : JLAPACK_VECTORS;
    PROBLEM(p, param->routine, param->type, 33, 21, 2, job, JLAPACK_NONE);
    PROBLEM(same, param->routine, param->type, 33, 21, 2, job, JLAPACK_NONE);
    same.uplo = p.uplo, same.itype = p.itype, same.kd = p.kd;
    matrix_t *const from[] = {&p.a, &p.b, &p.w, &p.wi, &p.u, &p.vt}, *const to[] = {
                                                                         &same.a, &same.b,
                                                                         &same.w, &same.wi,
                                                                         &same.u, &same.vt};
    for (int i = 0; i < 6; i++) {
        free_matrix(to[i]);
        *to[i] = *from[i];
        make_room(to[i]);
        to[i]->before = malloc(to[i]->bytes + 1), keep(to[i]);
    }
    jhandle_t *handle = make_handle(0);
    jstream_t *stream = NULL;
    JEXPECT_OK(problem_call(handle, &same));
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    JEXPECT_OK(problem_call(handle, &p));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(p.info, p.routine == PBTRS ? -99 : 0);
    for (int i = 0; i < 6; i++) {
        JSCOPED_TRACE("operand %d", i);
        JEXPECT_EQ(memcmp(to[i]->data, from[i]->data, to[i]->bytes), 0);
    }
    JEXPECT_EQ(p.count, same.count);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- Refusals ---- */

JTEST(JlapackGuestCalls, RefuseWhatIsWrongByName) {
    SKIP_WITHOUT();
    double a[9] = {1}, b[9] = {1}, w[3], u[9], one = 1;
    jcomplex_f64_t z[9] = {1};
    int64_t info = 9, count = 9, isuppz[6];
    jhandle_t *h = make_handle(0);
    const jlapack_job_t none = JLAPACK_NONE, all = JLAPACK_ALL, vectors = JLAPACK_VECTORS,
                        over = JLAPACK_OVERWRITE, wrong = (jlapack_job_t)'X';
    const jblas_uplo_t upper = JBLAS_UPPER;
    JLAPACK_REFUSED(h, jlapack_dsyevd(h, all, upper, 2, a, 2, w, &info), JSTATUS_INVALID_VALUE,
                    "jlapack_dsyevd: jobz = 65: must be JLAPACK_NONE");
    JLAPACK_REFUSED(h, jlapack_zheevd(h, none, (jblas_uplo_t)5, 2, z, 2, w, &info),
                    JSTATUS_INVALID_VALUE, "jlapack_zheevd: uplo = 5");
    JLAPACK_REFUSED(h, jlapack_dsyevd(h, none, upper, -1, a, 2, w, &info), JSTATUS_INVALID_SIZE,
                    "n = -1");
    JLAPACK_REFUSED(h, jlapack_dsyevd(h, none, upper, 2, a, 1, w, &info), JSTATUS_INVALID_SIZE,
                    "lda = 1: must be at least 2");
    JLAPACK_REFUSED(h, jlapack_dsyevd(h, none, upper, 2, NULL, 2, w, &info),
                    JSTATUS_INVALID_POINTER, "a is NULL");
    JLAPACK_REFUSED(h, jlapack_dsyevd(h, none, upper, 2, a, 2, NULL, &info),
                    JSTATUS_INVALID_POINTER, "w is NULL");
    JLAPACK_REFUSED(h, jlapack_dsyevd(h, none, upper, 2, a, 2, w, NULL), JSTATUS_INVALID_POINTER,
                    "info is NULL");
    JLAPACK_REFUSED(h, jlapack_dsygvd(h, 4, none, upper, 2, a, 2, b, 2, w, &info),
                    JSTATUS_INVALID_VALUE, "itype = 4");
    JLAPACK_REFUSED(h,
                    jlapack_dsyevr(h, none, (jlapack_range_t)'N', upper, 2, a, 2, NULL, NULL, 0, 0,
                                   &one, &count, w, u, 2, isuppz, &info),
                    JSTATUS_INVALID_VALUE, "range = 78");
    JLAPACK_REFUSED(h,
                    jlapack_dsyevr(h, none, JLAPACK_RANGE_INDICES, upper, 2, a, 2, NULL, NULL, 2, 3,
                                   &one, &count, w, u, 2, isuppz, &info),
                    JSTATUS_INVALID_SIZE, "iu = 3: must be at most 2");
    JLAPACK_REFUSED(h,
                    jlapack_dsyevr(h, none, JLAPACK_RANGE_VALUES, upper, 2, a, 2, NULL, &one, 0, 0,
                                   &one, &count, w, u, 2, isuppz, &info),
                    JSTATUS_INVALID_POINTER, "above is NULL");
    JLAPACK_REFUSED(h, jlapack_dgesdd(h, vectors, 2, 2, a, 2, w, u, 2, b, 2, &info),
                    JSTATUS_INVALID_VALUE, "jobz = 86: must be JLAPACK_NONE");
    JLAPACK_REFUSED(h, jlapack_dgesdd(h, all, 3, 2, a, 3, w, u, 2, b, 2, &info),
                    JSTATUS_INVALID_SIZE, "ldu = 2: must be at least 3");
    JLAPACK_REFUSED(h, jlapack_dgesdd(h, over, 3, 2, a, 3, w, NULL, 1, b, 1, &info),
                    JSTATUS_INVALID_SIZE, "ldvt = 1: must be at least 2");
    JLAPACK_REFUSED(h, jlapack_dgesdd(h, all, 2, 2, a, 2, w, NULL, 2, b, 2, &info),
                    JSTATUS_INVALID_POINTER, "u is NULL");
    JLAPACK_REFUSED(h, jlapack_dgesvd(h, over, over, 2, 2, a, 2, w, u, 2, b, 2, &info),
                    JSTATUS_INVALID_VALUE, "jobvt = 79: cannot be JLAPACK_OVERWRITE where jobu is");
    JLAPACK_REFUSED(h, jlapack_dgeev(h, none, wrong, 2, a, 2, w, w, u, 2, b, 2, &info),
                    JSTATUS_INVALID_VALUE, "jobvr = 88");
    JLAPACK_REFUSED(h, jlapack_dgeev(h, none, vectors, 2, a, 2, w, w, NULL, 1, b, 1, &info),
                    JSTATUS_INVALID_SIZE, "ldvr = 1: must be at least 2");
    JLAPACK_REFUSED(h, jlapack_dgelsd(h, 2, 3, 1, a, 2, b, 2, w, &one, &count, &info),
                    JSTATUS_INVALID_SIZE, "ldb = 2: must be at least 3");
    JLAPACK_REFUSED(h, jlapack_dgelsd(h, 2, 3, 1, a, 2, b, 3, w, NULL, &count, &info),
                    JSTATUS_INVALID_POINTER, "rcond is NULL");
    JLAPACK_REFUSED(h, jlapack_dpbtrf(h, upper, 3, 2, a, 2, &info), JSTATUS_INVALID_SIZE,
                    "ldab = 2: must be at least 3");
    JLAPACK_REFUSED(h, jlapack_dgtsv(h, 3, -1, a, b, w, u, 3, &info), JSTATUS_INVALID_SIZE,
                    "nrhs = -1");
    JEXPECT_EQ(info, 9);
    JEXPECT_EQ(count, 9);
    JEXPECT_EQ(a[0], 1);

    a[0] = 4, b[0] = 8; /* one equation */
    JEXPECT_OK(jlapack_dgtsv(h, 1, 1, NULL, a, NULL, b, 1, &info));
    JEXPECT_EQ(b[0], 2);
    JLAPACK_REFUSED(h, jlapack_dgtsv(h, 2, 1, NULL, a, a, b, 2, &info), JSTATUS_INVALID_POINTER,
                    "dl is NULL");
    JEXPECT_OK(jlapack_dsyevd(h, vectors, upper, 0, NULL, 1, NULL, &info)); /* nothing to do */
    JEXPECT_EQ(info, 0);
    JEXPECT_OK(jlapack_dgelsd(h, 0, 2, 1, NULL, 1, NULL, 2, NULL, &one, &count, &info));
    JEXPECT_EQ(count, 0);
    JEXPECT_OK(jhandle_destroy(h));
}

/* What the LAPACK's integers do not hold, which here are few. */
JTEST(JlapackGuestCalls, RefuseSizesThatItsIntegersDoNotHold) {
    SKIP_WITHOUT();
    double a[64] = {1}, w[8];
    int64_t info = 9;
    size_t bytes;
    jhandle_t *h = make_handle(0);
    const int64_t before = ji_lapack_int_max;
    JEXPECT_EQ(before, ji_lapack_guest_int_bits() == 32 ? INT32_MAX : INT64_MAX);
    const int64_t above = INT64_C(1) << 31;
    if (before == INT32_MAX) {
        JLAPACK_REFUSED(
            h, jlapack_dsyev(h, JLAPACK_NONE, JBLAS_UPPER, 1, a, above, w, &info),
            JSTATUS_INVALID_SIZE,
            "the largest size = 2147483648: the LAPACK in use takes at most 2147483647");
        /* 1 + 6 n + 2 n^2 */
        JEXPECT_OK(jhandle_start_size_query(h));
        JLAPACK_REFUSED(
            h, jlapack_dsyevd(h, JLAPACK_VECTORS, JBLAS_UPPER, 32767, NULL, 32767, NULL, NULL),
            JSTATUS_INVALID_SIZE, "the least workspace = 2147549181");
        JEXPECT_STATUS(
            jlapack_dsyevd(h, JLAPACK_VECTORS, JBLAS_UPPER, 32766, NULL, 32766, NULL, NULL),
            JSTATUS_SIZE_INCREASED);
        JEXPECT_OK(jhandle_stop_size_query(h, &bytes));
        JEXPECT_GE(bytes, (size_t)(1 + 6 * 32766LL + 2 * 32766LL * 32766) * 8);
    }

    ji_lapack_int_max = 100;
    JLAPACK_REFUSED(h, jlapack_dsyevd(h, JLAPACK_VECTORS, JBLAS_UPPER, 8, a, 8, w, &info),
                    JSTATUS_INVALID_SIZE,
                    "the least workspace = 177: the LAPACK in use takes at most 100");
    JEXPECT_OK(jlapack_dsyevd(h, JLAPACK_NONE, JBLAS_UPPER, 8, a, 8, w, &info));
    ji_lapack_int_max = before;
    JEXPECT_OK(jhandle_destroy(h));
}

/* As single precision has it, 2^24 + 1 elements come as 2^24: the query gives what is enough. */
JTEST(JlapackGuestCalls, QueriesOfSinglePrecisionAreNotRoundedDown) {
    SKIP_WITHOUT();
    jhandle_t *h = make_handle(0);
    for (int64_t n = 2895; n < 2900; n++) { /* 1 + 6 n + 2 n^2, above 2^24 and odd */
        const int64_t wanted = 1 + 6 * n + 2 * n * n;
        size_t bytes = 0;
        JEXPECT_OK(jhandle_start_size_query(h));
        JEXPECT_STATUS(jlapack_ssyevd(h, JLAPACK_VECTORS, JBLAS_LOWER, n, NULL, n, NULL, NULL),
                       JSTATUS_SIZE_INCREASED);
        JEXPECT_OK(jhandle_stop_size_query(h, &bytes));
        JEXPECT_GE(bytes, (size_t)wanted * 4 + (size_t)(3 + 5 * n) * 4);

        const ji_driver_t call = {.head = {.type = JDATATYPE_F32, .row = &ji_row_syevd},
                                  .which = JI_GUEST_syevd,
                                  .jobz = JLAPACK_VECTORS,
                                  .uplo = JBLAS_LOWER,
                                  .n = n,
                                  .lda = n};
        JEXPECT_GE(ji_lapack_guest_ask(&call, (ji_work_t){1, 0, 1}).work, wanted);
    }
    JEXPECT_OK(jhandle_destroy(h));
}

JTEST(JlapackGuestCalls, AreNotOfferedOnGpus) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.device = &pretend_gpu_make()->device;
    JASSERT_OK(jhandle_create(&options, &handle));
    double a[4] = {1}, w[2];
    int64_t info = -7;
    JLAPACK_REFUSED(handle, jlapack_dsyevd(handle, JLAPACK_NONE, JBLAS_UPPER, 2, a, 2, w, &info),
                    JSTATUS_NOT_IMPLEMENTED, "jlapack_dsyevd is not offered on");
    JEXPECT_EQ(info, -7);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Which LAPACK ---- */

/* Run again by the tests below, with another environment. */
JTEST(JlapackGuestCalls, WithoutOneAreRefused) {
    if (ji_lapack_guest_load() == JSTATUS_SUCCESS)
        JSKIP("there is one");
    jhandle_t *handle = make_handle(0);
    double a[4] = {1}, w[2];
    int64_t info = -7;
    JLAPACK_REFUSED(handle, jlapack_dsyevd(handle, JLAPACK_NONE, JBLAS_UPPER, 2, a, 2, w, &info),
                    JSTATUS_NOT_IMPLEMENTED, "jlapack_dsyevd is computed by a LAPACK: ");
    JEXPECT_EQ(info, -7);
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_STATUS(jlapack_dsyevd(handle, JLAPACK_NONE, JBLAS_UPPER, 2, a, 2, w, &info),
                   JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jlapack_dgtsv(handle, -1, 1, a, a, a, a, 1, &info), JSTATUS_NOT_IMPLEMENTED);
    size_t bytes;
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    double b[4] = {4, 1, 1, 4}; /* what is jlapack's own needs none */
    JEXPECT_OK(jlapack_dposv(handle, JBLAS_UPPER, 2, 2, b, 2, a, 2, &info));
    printf("refused: %s\n",
           ji_lapack_guest_load() == JSTATUS_SUCCESS ? "" : jstatus_last_message());
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JlapackGuestCalls, SayWhatIsToBeSet) {
    static const char *const libraries[] = {"libnowhere.so.0", "libm.so.6"};
    static const char *const words[] = {"JALLOC_LAPACK=\"libnowhere.so.0\" cannot be loaded",
                                        "it has no ilaver_, so it is no LAPACK"};
    for (int i = 0; i < 2; i++) {
        char output[4000] = "", variable[64];
        snprintf(variable, sizeof variable, "JALLOC_LAPACK=%s", libraries[i]);
        const char *const environment[] = {variable, "JALLOC_TEST_KEEP=1", "JALLOC_TEST_SCALE=0.1",
                                           NULL};
        JEXPECT_EQ(jtest_run_self("JlapackGuestCalls.WithoutOneAreRefused", environment, output,
                                  sizeof output),
                   0);
        JEXPECT_SUBSTR(output, words[i]);
    }
}

/* The reference's LAPACK over whatever BLAS it finds, where it is installed: another than the
 * usual. */
JTEST(JlapackGuestCalls, TakeTheOneThatIsNamed) {
    static const char reference[] = "/usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3";
    FILE *file = fopen(reference, "rb");
    if (file == NULL)
        JSKIP("the reference's LAPACK is not installed");
    fclose(file);
    char output[8000] = "", variable[96];
    snprintf(variable, sizeof variable, "JALLOC_LAPACK=%s", reference);
    const char *const environment[] = {variable, "JALLOC_TEST_KEEP=1", "JALLOC_TEST_SCALE=0.1",
                                       NULL};
    JEXPECT_EQ(jtest_run_self("JlapackGuestCalls.WorkspaceIsExact*:JlapackGuest.ComputesAnyShape*",
                              environment, output, sizeof output),
               0);
}
