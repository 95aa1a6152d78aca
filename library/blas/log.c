/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Call logging (JALLOC_LAYER) for all routines at once. A routine's row names its arguments; the tables below say where
 * an argument of that name stands in the block of its level and how it is written. So the bench line, the trace line
 * and the profile's key are three readings of one list:
 *
 *   bench    jblas-bench -f trsm -r d --side L ... --lda 512 --ldb 512      options that jblas-bench takes, no pointers
 *   trace    jblas_dtrsm(handle=0x..., side=L, ..., A=0x..., lda=512)       everything
 *   profile  trsm -r d --side L ... -m 512 -n 512                           enums and sizes: what decides the time
 *
 * The profile's time is that of the call: on a created stream, and on any of a GPU, the host waits before and after, so
 * that it is the time of the work. In a capture it cannot, and the time is that of the capturing. */

#include "blas/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

typedef enum {
    FIELD_ENUM,
    FIELD_SIZE,
    FIELD_STRIDE,
    FIELD_SCALAR,
    FIELD_REAL_SCALAR,
    FIELD_FLOAT_SCALAR,
    FIELD_POINTER
} field_kind_t;

typedef struct field {
    const char *name; /* as in a row's format */
    field_kind_t kind;
    size_t offset;      /* in the block */
    const char *option; /* of jblas-bench; NULL: none */
} field_t;

#define V(name, kind, member, option)                                                                                  \
    { name, kind, offsetof(ji_vector_t, member), option }
static const field_t vector_fields[] = {
    V("n", FIELD_SIZE, n, "-n"),
    V("alpha", FIELD_SCALAR, alpha, "--alpha"),
    V("realalpha", FIELD_REAL_SCALAR, alpha, "--alpha"),
    V("x", FIELD_POINTER, x, NULL),
    V("incx", FIELD_STRIDE, incx, "--incx"),
    V("y", FIELD_POINTER, y, NULL),
    V("incy", FIELD_STRIDE, incy, "--incy"),
    V("result", FIELD_POINTER, result, NULL),
    {NULL, FIELD_SIZE, 0, NULL},
};
#undef V
#define V(name, kind, member, option)                                                                                  \
    { name, kind, offsetof(ji_matvec_t, member), option }
static const field_t matvec_fields[] = {
    V("uplo", FIELD_ENUM, uplo, "--uplo"),
    V("transA", FIELD_ENUM, trans, "--transA"),
    V("diag", FIELD_ENUM, diag, "--diag"),
    V("m", FIELD_SIZE, m, "-m"),
    V("n", FIELD_SIZE, n, "-n"),
    V("alpha", FIELD_SCALAR, alpha, "--alpha"),
    V("realalpha", FIELD_REAL_SCALAR, alpha, "--alpha"),
    V("A", FIELD_POINTER, a, NULL),
    V("lda", FIELD_STRIDE, lda, "--lda"),
    V("x", FIELD_POINTER, x, NULL),
    V("incx", FIELD_STRIDE, incx, "--incx"),
    V("beta", FIELD_SCALAR, beta, "--beta"),
    V("y", FIELD_POINTER, y, NULL),
    V("incy", FIELD_STRIDE, incy, "--incy"),
    {NULL, FIELD_SIZE, 0, NULL},
};
#undef V
#define V(name, kind, member, option)                                                                                  \
    { name, kind, offsetof(ji_matmat_t, member), option }
static const field_t matmat_fields[] = {
    V("side", FIELD_ENUM, side, "--side"),
    V("uplo", FIELD_ENUM, uplo, "--uplo"),
    V("transA", FIELD_ENUM, transa, "--transA"),
    V("transB", FIELD_ENUM, transb, "--transB"),
    V("diag", FIELD_ENUM, diag, "--diag"),
    V("m", FIELD_SIZE, m, "-m"),
    V("n", FIELD_SIZE, n, "-n"),
    V("k", FIELD_SIZE, k, "-k"),
    V("nrhs", FIELD_SIZE, m, "--nrhs"),
    V("alpha", FIELD_SCALAR, alpha, "--alpha"),
    V("realalpha", FIELD_REAL_SCALAR, alpha, "--alpha"),
    V("floatalpha", FIELD_FLOAT_SCALAR, alpha, "--alpha"),
    V("A", FIELD_POINTER, a, NULL),
    V("lda", FIELD_STRIDE, lda, "--lda"),
    V("stride_a", FIELD_STRIDE, stride_a, "--stride_a"),
    V("B", FIELD_POINTER, b, NULL),
    V("ldb", FIELD_STRIDE, ldb, "--ldb"),
    V("stride_b", FIELD_STRIDE, stride_b, "--stride_b"),
    V("beta", FIELD_SCALAR, beta, "--beta"),
    V("realbeta", FIELD_REAL_SCALAR, beta, "--beta"),
    V("floatbeta", FIELD_FLOAT_SCALAR, beta, "--beta"),
    V("C", FIELD_POINTER, c, NULL),
    V("ldc", FIELD_STRIDE, ldc, "--ldc"),
    V("stride_c", FIELD_STRIDE, stride_c, "--stride_c"),
    V("info", FIELD_POINTER, info, NULL),
    V("batch_count", FIELD_SIZE, batch_count, "--batch_count"),
    {NULL, FIELD_SIZE, 0, NULL},
};
#undef V

/* One line being written; what does not fit is cut. */
typedef struct line {
    char text[512];
    size_t length;
} line_t;

static void JALLOC_PRINTF(2, 3) line_add(line_t *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line->text + line->length, sizeof line->text - line->length, format, arguments);
    va_end(arguments);
    if (written > 0)
        line->length +=
            (size_t)written < sizeof line->text - line->length ? (size_t)written : sizeof line->text - line->length - 1;
}

static char enum_letter(int value) {
    switch (value) {
    case JBLAS_NO_TRANSPOSE: return 'N';
    case JBLAS_TRANSPOSE: return 'T';
    case JBLAS_CONJUGATE_TRANSPOSE: return 'C';
    case JBLAS_UPPER: return 'U';
    case JBLAS_LOWER: return 'L';
    case JBLAS_NON_UNIT: return 'N';
    case JBLAS_UNIT: return 'U';
    case JBLAS_LEFT: return 'L';
    case JBLAS_RIGHT: return 'R';
    default: return '?';
    }
}

/* Enough digits that a replay uses the same number. */
static void line_add_number(line_t *line, jdatatype_t type, const void *number) {
    const float *s = number;
    const double *d = number;
    switch (type) {
    case JDATATYPE_F32: line_add(line, "%.9g", (double)s[0]); break;
    case JDATATYPE_F64: line_add(line, "%.17g", d[0]); break;
    case JDATATYPE_F32_C: line_add(line, "%.9g,%.9g", (double)s[0], (double)s[1]); break;
    default: line_add(line, "%.17g,%.17g", d[0], d[1]); break;
    }
}

/* The field of the first name in `*names`, which moves on to the next; `*length` is the name's. */
static const field_t *field_next(const ji_row_t *row, const char **names, size_t *length) {
    const char *name = *names;
    *length = strcspn(name, " ");
    *names += *length + strspn(name + *length, " ");
    const field_t *field = row->level == '1' ? vector_fields : row->level == '2' ? matvec_fields : matmat_fields;
    while (field->name && (strncmp(field->name, name, *length) != 0 || field->name[*length] != '\0'))
        ++field;
    return field->name ? field : NULL;
}

/* The value; false where there is none to write: a scalar that is on the device, or NULL. */
static bool line_add_value(line_t *line, const char *before, const field_t *field, const ji_head_t *head,
                           bool host_pointers) {
    const char *at = (const char *)head + field->offset;
    int enumerator;
    int64_t size;
    const void *pointer;
    switch (field->kind) {
    case FIELD_ENUM:
        memcpy(&enumerator, at, sizeof enumerator);
        line_add(line, "%s%c", before, enum_letter(enumerator));
        return true;
    case FIELD_SIZE:
    case FIELD_STRIDE:
        memcpy(&size, at, sizeof size);
        line_add(line, "%s%lld", before, (long long)size);
        return true;
    case FIELD_SCALAR:
    case FIELD_REAL_SCALAR:
    case FIELD_FLOAT_SCALAR:
        pointer = ((const ji_scalar_t *)(const void *)at)->pointer; /* not taken yet: the caller's */
        if (pointer == NULL || !host_pointers)
            return false;
        line_add(line, "%s", before);
        line_add_number(line,
                        field->kind == FIELD_SCALAR         ? head->type
                        : field->kind == FIELD_FLOAT_SCALAR ? JDATATYPE_F32
                                                            : ji_real_of(head->type),
                        pointer);
        return true;
    default: return false;
    }
}

/* Options as jblas-bench takes them: all of them, or only what decides the time. */
static void line_add_options(line_t *line, const jhandle_t *handle, const ji_head_t *head, bool all) {
    const ji_row_t *row = head->row;
    line_add(line, "-f %s -r %c", row->name, "sdczhb"[head->type]);
    size_t length;
    for (const char *names = row->format; *names != '\0';) {
        const field_t *field = field_next(row, &names, &length);
        if (field && field->option && (all || field->kind <= FIELD_SIZE)) {
            char before[24];
            snprintf(before, sizeof before, " %s ", field->option);
            line_add_value(line, before, field, head, ji_host_pointers(handle));
        }
    }
}

static void trace(const jhandle_t *handle, const ji_head_t *head) {
    const ji_row_t *row = head->row;
    line_t line = {"", 0};
    line_add(&line, "%s(handle=%p", ji_routine_name(head), (const void *)handle);
    size_t length;
    for (const char *names = row->format; *names != '\0';) {
        const char *name = names;
        const field_t *field = field_next(row, &names, &length);
        char before[24];
        snprintf(before, sizeof before, ", %.*s=", (int)length, name);
        if (field && !line_add_value(&line, before, field, head, ji_host_pointers(handle))) {
            const void *pointer; /* also the first member of a scalar */
            memcpy(&pointer, (const char *)head + field->offset, sizeof pointer);
            line_add(&line, "%s%p", before, pointer);
        }
    }
    line_add(&line, ")");
    jlog_write_line(line.text);
}

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

jstatus_t ji_log_call(jhandle_t *handle, ji_call_function_t call, void *block) {
    ji_head_t *head = block;
    if (handle->layers & JLOG_LAYER_TRACE)
        trace(handle, head);
    if (handle->layers & JLOG_LAYER_BENCH) {
        line_t line = {"", 0};
        line_add(&line, "jblas-bench ");
        line_add_options(&line, handle, head, true);
        jlog_write_line(line.text);
    }
    if (!(handle->layers & JLOG_LAYER_PROFILE))
        return call(handle, block);
    line_t key = {"", 0};
    line_add_options(&key, handle, head, false);
    if (!handle->runs_inline)
        (void)jstream_synchronize(handle->device, handle->stream);
    double start = now_us();
    jstatus_t status = call(handle, block);
    if (!handle->runs_inline)
        (void)jstream_synchronize(handle->device, handle->stream);
    if (!jstatus_is_error(status)) /* a refused call did no work */
        (void)jlog_profile_add(key.text, head->rung, now_us() - start);
    return status;
}
