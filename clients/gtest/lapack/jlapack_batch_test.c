/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Batches of LU and QR: each item has the bits of the plain call, whatever lies beside it. */

#include "jlapack_helper.h"

#include "jalloc/jlapack_batched.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackBatch, name)

/* ---- A batch, and the same by plain calls ---- */

typedef enum routine { GETRF, GETRS, GESV, GETRI, GEQRF, ROUTINES } routine_t;
static const char *const names[ROUTINES] = {"getrf", "getrs", "gesv", "getri", "geqrf"};

/* Items one behind the other, with gaps. */
typedef struct part {
    size_t element;
    int64_t stride, count;
    char *batch, *plain; /* two copies */
} part_t;

typedef struct problem {
    routine_t routine;
    int type;
    jblas_operation_t trans;
    int64_t m, n, nrhs, lda, ldb, count;
    part_t a, b, ipiv, tau, info;
} problem_t;

static part_t make_part(size_t element, int64_t each, int64_t count) {
    part_t part = {element, each + jtest_random_between(0, 5), count, NULL, NULL};
    /* The last item ends where nobody may touch. */
    const size_t bytes =
        count > 0 ? element * (size_t)(part.stride * (count - 1) + each) : (size_t)0;
    part.batch = jtest_guard_pages(bytes), part.plain = jtest_guard_pages(bytes);
    part.count = (int64_t)(bytes / element);
    memset(part.batch, 7, bytes);
    return part;
}
static void copy_part(const part_t *part) {
    memcpy(part->plain, part->batch, (size_t)part->count * part->element);
}
static void expect_part(const part_t *part) {
    JEXPECT_EQ(memcmp(part->plain, part->batch, (size_t)part->count * part->element), 0);
}
static void *item_of(const part_t *part, char *data, int64_t item) {
    return data + (size_t)(item * part->stride) * part->element;
}

static jstatus_t do_plain(jhandle_t *h, const problem_t *p, int64_t item) {
    void *const a = item_of(&p->a, p->a.plain, item), *const b = item_of(&p->b, p->b.plain, item),
                *const tau = item_of(&p->tau, p->tau.plain, item);
    int64_t *const ipiv = item_of(&p->ipiv, p->ipiv.plain, item), *const info = (int64_t *)(void *)
                                                                                    p->info.plain +
                                                                                item;
    switch (p->routine) {
    case GETRF: return JLAPACK_CALL(p->type, getrf, h, p->m, p->n, a, p->lda, ipiv, info);
    case GETRS:
        return JLAPACK_CALL(p->type, getrs, h, p->trans, p->n, p->nrhs, a, p->lda, ipiv, b, p->ldb);
    case GESV:
        return JLAPACK_CALL(p->type, gesv, h, p->n, p->nrhs, a, p->lda, ipiv, b, p->ldb, info);
    case GETRI: return JLAPACK_CALL(p->type, getri, h, p->n, a, p->lda, ipiv, info);
    default: return JLAPACK_CALL(p->type, geqrf, h, p->m, p->n, a, p->lda, tau);
    }
}

/* `as` and `bs` are pointers to the items of either form: then it is the one that has arrays of
 * them. */
static jstatus_t do_batch(jhandle_t *h, const problem_t *p, void **as, void **bs) {
    const int type = p->type;
    const int64_t m = p->m, n = p->n, nrhs = p->nrhs, lda = p->lda, ldb = p->ldb, count = p->count;
    const int64_t of_a = p->a.stride, of_b = p->b.stride, of_p = p->ipiv.stride,
                  of_t = p->tau.stride;
    void *const a = p->a.batch, *const b = p->b.batch, *const tau = p->tau.batch,
                *const each_a = as, *const each_b = bs;
    int64_t *const ipiv = (void *)p->ipiv.batch, *const info = (void *)p->info.batch;

    if (as != NULL)
        switch (p->routine) {
        case GETRF:
            return JLAPACK_CALL(type, getrf_batched, h, m, n, each_a, lda, ipiv, of_p, info, count);
        case GETRS:
            return JLAPACK_CALL(type, getrs_batched, h, p->trans, n, nrhs, each_a, lda, ipiv, of_p,
                                each_b, ldb, count);
        case GESV:
            return JLAPACK_CALL(type, gesv_batched, h, n, nrhs, each_a, lda, ipiv, of_p, each_b,
                                ldb, info, count);
        case GETRI:
            return JLAPACK_CALL(type, getri_batched, h, n, each_a, lda, ipiv, of_p, info, count);
        default: return JLAPACK_CALL(type, geqrf_batched, h, m, n, each_a, lda, tau, of_t, count);
        }
    switch (p->routine) {
    case GETRF:
        return JLAPACK_CALL(type, getrf_strided_batched, h, m, n, a, lda, of_a, ipiv, of_p, info,
                            count);
    case GETRS:
        return JLAPACK_CALL(type, getrs_strided_batched, h, p->trans, n, nrhs, a, lda, of_a, ipiv,
                            of_p, b, ldb, of_b, count);
    case GESV:
        return JLAPACK_CALL(type, gesv_strided_batched, h, n, nrhs, a, lda, of_a, ipiv, of_p, b,
                            ldb, of_b, info, count);
    case GETRI:
        return JLAPACK_CALL(type, getri_strided_batched, h, n, a, lda, of_a, ipiv, of_p, info,
                            count);
    default:
        return JLAPACK_CALL(type, geqrf_strided_batched, h, m, n, a, lda, of_a, tau, of_t, count);
    }
}

/* ---- Problems ---- */

static void draw_elements(const problem_t *p, const part_t *part) {
    for (int64_t i = 0; i < part->count; i++) {
        wide_t value = jtest_random_double(-1, 1);
        if (wide_is_complex(p->type))
            __imag__ value = jtest_random_double(-1, 1);
        wide_put(part->batch, p->type, i, value);
    }
}

/* Something in one of the items with which no small kernel goes on. */
static void spoil(const problem_t *p) {
    static const long double odd[] = {0, NAN, INFINITY, 1e-42L, 1e-310L};
    const int64_t item = jtest_random_between(0, p->count - 1);
    char *const a = item_of(&p->a, p->a.batch, item);
    const int64_t j = jtest_random_between(0, p->n - 1);
    const long double value = odd[jtest_random_between(0, 4)];
    for (int64_t i = 0; i < p->m; i++) /* a column of them, or one element */
        if (value == 0 || value < 1e-40L || i == j % p->m)
            wide_put(a, p->type, i + j * p->lda, value);
}

static problem_t make_problem(int type, routine_t routine, int64_t round) {
    const int64_t most = round % 6 == 0 ? 60 : 17;
    const size_t element = jdatatype_bytes((jdatatype_t)type);
    problem_t p = {.routine = routine, .type = type};
    p.trans =
        (jblas_operation_t)jtest_random_between(JBLAS_NO_TRANSPOSE, JBLAS_CONJUGATE_TRANSPOSE);
    p.n = jtest_random_between(0, most);
    p.m = routine == GETRF || routine == GEQRF ? jtest_random_between(0, most) : p.n;
    p.nrhs = jtest_random_between(0, 5);
    p.count = jtest_random_between(0, most == 60 ? 5 : 70);
    p.lda = larger(p.m, 1) + (round % 2 == 0 ? 0 : jtest_random_between(0, 3));
    p.ldb = larger(p.n, 1) + jtest_random_between(0, 2);
    p.a = make_part(element, p.n > 0 ? p.lda * (p.n - 1) + p.m : 0, p.count);
    p.b = make_part(element, p.nrhs > 0 ? p.ldb * (p.nrhs - 1) + p.n : 0, p.count);
    p.tau = make_part(element, smaller(p.m, p.n), p.count);
    p.ipiv = make_part(sizeof(int64_t), smaller(p.m, p.n), p.count);
    p.info = make_part(sizeof(int64_t), p.count, 1);
    draw_elements(&p, &p.a), draw_elements(&p, &p.b);
    if (round % 3 == 0 && p.count > 0 && p.n > 0 && p.m > 0)
        spoil(&p);
    return p;
}

/* getrs and getri take a factor: by plain calls, in both copies. */
static void factor_first(jhandle_t *handle, problem_t *p) {
    if (p->routine != GETRS && p->routine != GETRI)
        return;
    problem_t factor = *p;
    factor.routine = GETRF;
    for (int64_t i = 0; i < p->count; i++)
        JEXPECT_OK(do_plain(handle, &factor, i));
    part_t *const parts[] = {&p->a, &p->ipiv, &p->info};
    for (int i = 0; i < 3; i++)
        memcpy(parts[i]->batch, parts[i]->plain, (size_t)parts[i]->count * parts[i]->element);
}

static void copy_all(const problem_t *p) {
    copy_part(&p->a), copy_part(&p->b), copy_part(&p->ipiv), copy_part(&p->tau);
    copy_part(&p->info);
}
static void expect_all(const problem_t *p) {
    expect_part(&p->a), expect_part(&p->b), expect_part(&p->ipiv), expect_part(&p->tau);
    if (p->m > 0 && p->n > 0)
        expect_part(&p->info);
}

/* ---- Tests ---- */

static void compare(jhandle_t *handle, int type, routine_t routine, int64_t round) {
    problem_t p = make_problem(type, routine, round);
    void *as[80], *bs[80];
    JSCOPED_TRACE("%s: %ld of %ld x %ld, nrhs %ld, lda %ld", names[routine], (long)p.count,
                  (long)p.m, (long)p.n, (long)p.nrhs, (long)p.lda);
    copy_all(&p);
    factor_first(handle, &p);
    for (int64_t i = 0; i < p.count; i++)
        as[i] = item_of(&p.a, p.a.batch, i), bs[i] = item_of(&p.b, p.b.batch, i);

    const bool by_pointers = round % 2 == 0;
    JEXPECT_OK(do_batch(handle, &p, by_pointers ? as : NULL, bs));
    for (int64_t i = 0; i < p.count; i++)
        JEXPECT_OK(do_plain(handle, &p, i));
    expect_all(&p);
}

/* Of any shape, by one thread and two, and beside items with which small kernels stop. */
EACH_TYPE(ItemsHaveTheBitsOfPlainCalls) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(60); round > 0 && !jtest_has_failure(); --round)
        for (int r = 0; r < ROUTINES && !jtest_has_failure(); r++) {
            JEXPECT_OK(jhandle_set_threads(handle, (int)(round / 2 % 2 + 1)));
            compare(handle, *param, (routine_t)r, round);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A NaN in each place, of one item beside others without. There are more rows than pivots, so that
 * its row need not become one, which would be seen by that. */
EACH_TYPE(APivotIsSoughtBesideANaN) {
    enum { ROWS = 12, COLUMNS = 5 };
    const size_t element = jdatatype_bytes((jdatatype_t)*param);
    jhandle_t *handle = make_handle(0);
    problem_t p = {.routine = GETRF, .type = *param, .m = ROWS, .n = COLUMNS, .lda = ROWS};
    p.count = 33;
    p.a = make_part(element, (int64_t)ROWS * COLUMNS, p.count);
    p.b = p.tau = make_part(element, 0, p.count);
    p.ipiv = make_part(sizeof(int64_t), COLUMNS, p.count);
    p.info = make_part(sizeof(int64_t), p.count, 1);
    for (int64_t place = 0; place < (int64_t)ROWS * COLUMNS && !jtest_has_failure(); place++) {
        wide_t value = 0.5L;
        if (wide_is_complex(*param) && place % 2 == 1)
            __imag__ value = NAN;
        else
            __real__ value = NAN;
        draw_elements(&p, &p.a);
        wide_put(item_of(&p.a, p.a.batch, place % p.count), *param, place, value);
        copy_all(&p);
        JEXPECT_OK(do_batch(handle, &p, NULL, NULL));
        for (int64_t i = 0; i < p.count; i++)
            JEXPECT_OK(do_plain(handle, &p, i));
        expect_all(&p);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Long columns, of which a factorization keeps most on the stack, of a worker too. */
EACH_TYPE(LongItemsFitOnAWorkersStack) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_set_threads(handle, 2));
    problem_t p = {.routine = GEQRF, .type = *param, .m = 17000, .n = 32, .lda = 17000, .count = 2};
    p.a = make_part(jdatatype_bytes((jdatatype_t)*param), p.m * p.n, p.count);
    p.tau = make_part(jdatatype_bytes((jdatatype_t)*param), p.n, p.count);
    p.b = p.ipiv = p.info = make_part(sizeof(int64_t), 0, p.count);
    draw_elements(&p, &p.a);
    copy_all(&p);
    JEXPECT_OK(do_batch(handle, &p, NULL, NULL));
    for (int64_t i = 0; i < p.count; i++)
        JEXPECT_OK(do_plain(handle, &p, i));
    expect_part(&p.a), expect_part(&p.tau);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* With the bytes that a query gives at a page that nobody may touch, with fewer, and without. */
EACH_TYPE(AnyWorkspaceServesABatch) {
    jhandle_t *handle = make_handle(0);
    for (int r = 0; r < ROUTINES && !jtest_has_failure(); r++) {
        problem_t p = {.routine = (routine_t)r, .type = *param, .trans = JBLAS_NO_TRANSPOSE};
        const size_t element = jdatatype_bytes((jdatatype_t)*param);
        p.m = p.n = p.lda = p.ldb = 150, p.nrhs = 100, p.count = 3;
        p.a = make_part(element, p.n * p.n, p.count);
        p.b = make_part(element, p.n * p.nrhs, p.count);
        p.tau = make_part(element, p.n, p.count);
        p.ipiv = make_part(sizeof(int64_t), p.n, p.count);
        p.info = make_part(sizeof(int64_t), p.count, 1);
        draw_elements(&p, &p.a), draw_elements(&p, &p.b);
        copy_all(&p);
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 1 << 26));
        factor_first(handle, &p);
        problem_t before = p;
        before.a.batch = malloc((size_t)p.a.count * element);
        before.b.batch = malloc((size_t)p.b.count * element);
        memcpy(before.a.batch, p.a.batch, (size_t)p.a.count * element);
        memcpy(before.b.batch, p.b.batch, (size_t)p.b.count * element);
        for (int64_t i = 0; i < p.count; i++)
            JEXPECT_OK(do_plain(handle, &p, i));

        for (int threads = 1; threads <= 2; threads++) {
            size_t bytes = 0;
            JEXPECT_OK(jhandle_set_threads(handle, threads));
            JEXPECT_OK(jhandle_start_size_query(handle));
            JEXPECT_FALSE(jstatus_is_error(do_batch(handle, &p, NULL, NULL)));
            JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
            for (int share = 0; share < 3; share++) {
                const size_t size = bytes / 64 / (size_t)(share * share + 1) * 64;
                JSCOPED_TRACE("%s: %zu of %zu bytes, %d threads", names[r], size, bytes, threads);
                if (share < 2 && size > 0)
                    JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(size), size));
                else
                    JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 0));
                memcpy(p.a.batch, before.a.batch, (size_t)p.a.count * element);
                memcpy(p.b.batch, before.b.batch, (size_t)p.b.count * element);
                JEXPECT_STATUS(do_batch(handle, &p, NULL, NULL),
                               share == 0 || bytes == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
                expect_all(&p);
            }
        }
        free(before.a.batch), free(before.b.batch);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Refusals ---- */

#define REFUSED(...) JLAPACK_REFUSED(h, __VA_ARGS__)
JTEST(JlapackBatch, RefusesWhatIsWrongByName) {
    double a[8] = {1, 2, 3, 4, 1, 2, 3, 4},
           tau[4], *const both[2] = {a, a + 4}, *const one[2] = {a, NULL};
    int64_t ipiv[4] = {1, 2, 1, 2}, info[2] = {-7, -7};
    jhandle_t *h = make_handle(0);

    REFUSED(jlapack_dgetrf_strided_batched(h, 2, 2, a, 2, 4, ipiv, 2, info, -1),
            JSTATUS_INVALID_SIZE, "dgetrf_strided_batched: batch_count = -1");
    REFUSED(jlapack_dgetrf_strided_batched(h, 2, 2, a, 1, 4, ipiv, 2, info, 2),
            JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dgetrf_strided_batched(h, 2, 2, a, 2, 3, ipiv, 2, info, 2),
            JSTATUS_INVALID_SIZE, "stride_a = 3");
    REFUSED(jlapack_dgetrf_strided_batched(h, 2, 2, a, 2, 4, ipiv, 1, info, 2),
            JSTATUS_INVALID_SIZE, "stride_ipiv = 1");
    REFUSED(jlapack_dgetrf_batched(h, 2, 2, both, 2, ipiv, 1, info, 2), JSTATUS_INVALID_SIZE,
            "dgetrf_batched: stride_ipiv = 1");
    REFUSED(jlapack_dgetrf_batched(h, 2, 2, one, 2, ipiv, 2, info, 2), JSTATUS_INVALID_POINTER,
            "a [1] is NULL");
    REFUSED(jlapack_dgetrf_batched(h, 2, 2, both, 2, NULL, 2, info, 2), JSTATUS_INVALID_POINTER,
            "ipiv is NULL");
    REFUSED(jlapack_dgetrf_batched(h, 2, 2, both, 2, ipiv, 2, NULL, 2), JSTATUS_INVALID_POINTER,
            "info is NULL");
    REFUSED(jlapack_dgetrf_batched(h, 2, 2, both, 2, ipiv, INT64_MAX / 2, info, 2),
            JSTATUS_INVALID_SIZE, "stride_ipiv");
    REFUSED(jlapack_dgeqrf_batched(h, 2, 2, both, 2, tau, 1, 2), JSTATUS_INVALID_SIZE,
            "stride_tau = 1");
    JEXPECT_EQ(info[0], -7);
    JEXPECT_EQ(a[0], 1);
    JEXPECT_EQ(a[4], 1);

    /* Pivots that are read may be those of all items; with no items nothing is looked at. */
    double b[4] = {1, 1, 1, 1}, *const sides[2] = {b, b + 2};
    JEXPECT_OK(jlapack_dgetrs_batched(h, JBLAS_NO_TRANSPOSE, 2, 1, (const double *const *)both, 2,
                                      ipiv, 0, sides, 2, 2));
    JEXPECT_EQ(memcmp(b, b + 2, 2 * sizeof *b), 0);
    JEXPECT_OK(jlapack_dgetrf_batched(h, 2, 2, NULL, 2, NULL, 2, NULL, 0));
    JEXPECT_OK(jlapack_dgetrf_batched(h, 0, 2, NULL, 1, NULL, 0, info, 2));
    JEXPECT_EQ(info[0], 0);
    JEXPECT_EQ(info[1], 0);
    JEXPECT_OK(jhandle_destroy(h));
}
#undef REFUSED

/* In a created stream arrays of pointers are read when the stream comes to them. */
JTEST(JlapackBatch, FollowsTheStream) {
    enum { N = 6, COUNT = 9 };
    jhandle_t *handle = make_handle(0);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    problem_t p = {
        .routine = GETRF, .type = JDATATYPE_F64, .m = N, .n = N, .lda = N, .count = COUNT};
    void *as[COUNT];
    p.a = make_part(sizeof(double), N * N, COUNT);
    p.b = make_part(sizeof(double), 0, COUNT), p.tau = make_part(sizeof(double), N, COUNT);
    p.ipiv = make_part(sizeof(int64_t), N, COUNT), p.info = make_part(sizeof(int64_t), COUNT, 1);
    draw_elements(&p, &p.a);
    copy_all(&p);
    for (int64_t i = 0; i < COUNT; i++)
        JEXPECT_OK(do_plain(handle, &p, i));

    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    memset(as, 0, sizeof as);
    for (int64_t i = 0; i < COUNT; i++)
        as[i] = item_of(&p.a, p.a.batch, i);
    JEXPECT_OK(do_batch(handle, &p, as, NULL));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    expect_all(&p);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}
