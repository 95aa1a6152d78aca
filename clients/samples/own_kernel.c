/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A kernel of one's own, with a plan and two rungs: transposing a rectangular matrix in place.
 *
 * With room for a copy the work is a copy and a blocked transposition. Without, the elements must
 * be moved one by one along the cycles of the permutation, which jumps through memory: right, but
 * many times slower. The plan states both ways and what they need, once; the size query and the
 * borrow both read it, so they cannot disagree. It says what they cost, too, in counts that hold
 * on any machine: a requirement makes time of them, and so tells what the bytes of the copy buy.
 * The checks stand in the order that every routine of
 * jblas has: handle and sizes, query, quick return, pointers, borrow, run. */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sample.h"

typedef struct transpose_arguments {
    double *a;    /* rows x columns on entry, columns x rows on exit; column-major, no gaps */
    double *copy; /* as many elements, or NULL for the way without */
    int64_t rows, columns;
} transpose_arguments_t;

static void transpose_by_copy(void *arguments) {
    transpose_arguments_t *t = arguments;
    enum { BLOCK = 16 }; /* two blocks of 16 x 16 doubles stay in the nearest cache */
    for (int64_t i = 0; i < t->rows * t->columns; i++)
        t->copy[i] = t->a[i];
    for (int64_t jb = 0; jb < t->columns; jb += BLOCK)
        for (int64_t ib = 0; ib < t->rows; ib += BLOCK)
            for (int64_t j = jb; j < jb + BLOCK && j < t->columns; j++)
                for (int64_t i = ib; i < ib + BLOCK && i < t->rows; i++)
                    t->a[j + i * t->columns] = t->copy[i + j * t->rows];
}

/* Element p = i + j rows belongs at p columns modulo (rows columns - 1). A cycle is moved when its
 * smallest member is met; to know whether p is the smallest one walks the cycle, and that is the
 * price of having no memory to remember it. */
static void transpose_by_cycles(void *arguments) {
    transpose_arguments_t *t = arguments;
    int64_t last = t->rows * t->columns - 1;
    for (int64_t start = 1; start < last; start++) {
        int64_t p = start * t->columns % last;
        while (p > start)
            p = p * t->columns % last;
        if (p < start)
            continue;
        double carried = t->a[start];
        do {
            p = p * t->columns % last;
            double displaced = t->a[p];
            t->a[p] = carried;
            carried = displaced;
        } while (p != start);
    }
}

/* The ways there are, best first, each with the bytes that it needs. */
static jplan_t transpose_plan(const jhandle_t *handle, int64_t rows, int64_t columns) {
    jplan_t plan;
    const int64_t shape[] = {rows, columns};
    const size_t copy_bytes[] = {jalloc_matrix_bytes(JDATATYPE_F64, rows, columns)};
    jplan_init(&plan, handle, "transpose", "mn", shape);
    jplan_add(&plan, "copy", 0, 0, 1, copy_bytes);
    const double bytes = (double)copy_bytes[0];
    jplan_price(&plan, &(const jprice_t){.moved_bytes = 4 * bytes}); /* to and fro */
    /* The same bits class: moving elements rounds nothing. */
    jplan_add(&plan, "cycles", 0, 0, 0, NULL);
    /* A cache line for each element, and some 20 steps along its cycle with an integer
     * division each, in whose time two hundred flops could be done. */
    const double elements = bytes / sizeof(double);
    jplan_price(&plan, &(const jprice_t){.flops = 20 * 200 * elements, .moved_bytes = 8 * bytes});
    return plan;
}

/* A becomes its transpose.
 *   A      rows x columns on entry, columns x rows on exit; column-major without gaps
 * Workspace: rung 0 "copy"   as much as A
 *            rung 1 "cycles" none
 * Runs in the handle's stream and does not synchronize (default mode: growing does).
 * Returns success; perf degraded (rung 1); invalid handle, size, pointer. */
static jstatus_t transpose(jhandle_t *handle, int64_t rows, int64_t columns, double *a) {
    if (jhandle_device(handle) == NULL)
        return JSTATUS_INVALID_HANDLE;
    if (rows < 0 || columns < 0)
        return jhandle_fail(handle, JSTATUS_INVALID_SIZE, "transpose: %lld x %lld", (long long)rows,
                            (long long)columns);

    jplan_t plan = transpose_plan(handle, rows, columns);
    JALLOC_ANSWER_SIZE_QUERY(handle, &plan);
    if (rows <= 1 || columns <= 1)
        return JSTATUS_SUCCESS;
    if (a == NULL)
        return jhandle_fail(handle, JSTATUS_INVALID_POINTER, "transpose: A is NULL");

    JALLOC_BORROW_PLAN(ws, handle, &plan);
    if (!ws.ok)
        return ws.status;
    jstream_t *stream;
    jhandle_get_stream(handle, &stream);
    transpose_arguments_t arguments = {a, ws.ptr[0], rows, columns};
    jstatus_t status =
        jstream_launch(jhandle_device(handle), stream,
                       strcmp(ws.way, "copy") == 0 ? transpose_by_copy : transpose_by_cycles,
                       &arguments, sizeof arguments);
    return status == JSTATUS_SUCCESS ? ws.status : status; /* the stream keeps the order */
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(void) {
    enum { ROWS = 600, COLUMNS = 437 };
    double *a = malloc(sizeof(double) * ROWS * COLUMNS);
    CLAIM(a != NULL);
    jhandle_t *handle;
    size_t wanted;
    TRY(jhandle_create(NULL, &handle));
    TRY(jhandle_start_size_query(handle));
    TRY(transpose(handle, ROWS, COLUMNS, NULL));
    TRY(jhandle_stop_size_query(handle, &wanted));
    printf("transposing %d x %d in place wants %zu bytes\n", ROWS, COLUMNS, wanted);
    CLAIM(wanted >= sizeof(double) * ROWS * COLUMNS);

    jrequirement_t *requirement;
    TRY(jhandle_start_requirement_query(handle));
    TRY(transpose(handle, ROWS, COLUMNS, NULL));
    TRY(jhandle_stop_requirement_query(handle, &requirement));
    jrequirement_step_t least = JREQUIREMENT_STEP_INIT, best = JREQUIREMENT_STEP_INIT;
    TRY(jrequirement_get_step_at(requirement, 0, &least));
    TRY(jrequirement_get_step_at(requirement, wanted, &best));
    printf("predicted: %.3f ms with none, %.3f ms with all\n", least.seconds * 1e3,
           best.seconds * 1e3);
    CLAIM(least.seconds > best.seconds && best.size_bytes == wanted);
    TRY(jrequirement_destroy(requirement));

    const size_t workspaces[] = {wanted, 64};
    for (int way = 0; way < 2; way++) {
        TRY(jhandle_set_fixed_workspace_size(handle, workspaces[way]));
        for (int i = 0; i < ROWS * COLUMNS; i++)
            a[i] = i;
        double started = now_ms();
        jstatus_t status = transpose(handle, ROWS, COLUMNS, a);
        TRY(status);
        printf("with %7zu bytes: %-21s %8.3f ms\n", workspaces[way], jstatus_name(status),
               now_ms() - started);
        CLAIM(status == (way == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED));
        for (int j = 0; j < COLUMNS; j++)
            for (int i = 0; i < ROWS; i++)
                CLAIM(a[j + i * COLUMNS] == i + j * ROWS);
    }
    TRY(jhandle_destroy(handle));
    free(a);
    return 0;
}
