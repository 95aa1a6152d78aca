/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Call logging (JALLOC_LAYER) for all routines at once. A routine's row names its arguments; the tables below say where
 * an argument of that name stands in the block of its level and how it is written. So the bench line, the trace line
 * and the profile's key are three readings of one list:
 *
 *   bench    jblas-bench -f trsm -r d --side L ... --lda 512 --ldb 512      options that jblas-bench takes
 *   trace    jblas_dtrsm(handle=0x..., side=L, ..., A=0x..., lda=512)       everything
 *   profile  trsm -r d --side L ... -m 512 -n 512                           enums and sizes: what decides the time
 *
 * A bench line run again does what the call did: it has the same status and takes the same rung. So it says what the
 * handle was like (mode, workspace, what was borrowed of it, budget, seal, policy, accuracy, pointer mode), scalars to
 * the last bit, enumerators that are none as numbers, and which pointers were NULL. It cannot say what memory there was
 * for default mode to grow into, nor the value of a scalar that is read later, in stream order, or on a GPU: that is
 * "--alpha device", and 1 when it is run again.
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
    int first;          /* of an enumeration: the first enumerator, and a letter for each from there on */
    const char *letters;
} field_t;

#define V(name, kind, member, option)                                                                                  \
    { name, kind, offsetof(ji_vector_t, member), option, 0, NULL }
static const field_t vector_fields[] = {
    V("n", FIELD_SIZE, n, "-n"),
    V("alpha", FIELD_SCALAR, alpha, "--alpha"),
    V("realalpha", FIELD_REAL_SCALAR, alpha, "--alpha"),
    V("x", FIELD_POINTER, x, NULL),
    V("incx", FIELD_STRIDE, incx, "--incx"),
    V("y", FIELD_POINTER, y, NULL),
    V("incy", FIELD_STRIDE, incy, "--incy"),
    V("result", FIELD_POINTER, result, NULL),
    {NULL, FIELD_SIZE, 0, NULL, 0, NULL},
};
#undef V
#define V(name, kind, member, option)                                                                                  \
    { name, kind, offsetof(ji_matvec_t, member), option, 0, NULL }
#define E(name, member, option, first, letters)                                                                        \
    { name, FIELD_ENUM, offsetof(ji_matvec_t, member), option, first, letters }
static const field_t matvec_fields[] = {
    E("uplo", uplo, "--uplo", JBLAS_UPPER, "UL"),
    E("transA", trans, "--transA", JBLAS_NO_TRANSPOSE, "NTC"),
    E("diag", diag, "--diag", JBLAS_NON_UNIT, "NU"),
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
    {NULL, FIELD_SIZE, 0, NULL, 0, NULL},
};
#undef V
#undef E
#define V(name, kind, member, option)                                                                                  \
    { name, kind, offsetof(ji_matmat_t, member), option, 0, NULL }
#define E(name, member, option, first, letters)                                                                        \
    { name, FIELD_ENUM, offsetof(ji_matmat_t, member), option, first, letters }
static const field_t matmat_fields[] = {
    E("side", side, "--side", JBLAS_LEFT, "LR"),
    E("uplo", uplo, "--uplo", JBLAS_UPPER, "UL"),
    E("transA", transa, "--transA", JBLAS_NO_TRANSPOSE, "NTC"),
    E("transB", transb, "--transB", JBLAS_NO_TRANSPOSE, "NTC"),
    E("diag", diag, "--diag", JBLAS_NON_UNIT, "NU"),
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
    {NULL, FIELD_SIZE, 0, NULL, 0, NULL},
};
#undef V
#undef E

/* One line being written; what does not fit is cut. */
typedef struct line {
    char text[1024];
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

/* A letter; a number for what is no enumerator. */
static void line_add_enum(line_t *line, const char *before, const field_t *field, int value) {
    const unsigned place = (unsigned)value - (unsigned)field->first;
    if (place < strlen(field->letters))
        line_add(line, "%s%c", before, field->letters[place]);
    else
        line_add(line, "%s%d", before, value);
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
    while (field->name && (strlen(field->name) != *length || memcmp(field->name, name, *length) != 0))
        ++field;
    return field->name ? field : NULL;
}

/* Whether scalars can be read now: the call itself reads them before it returns. */
static bool scalars_are_here(const jhandle_t *handle) { return ji_host_pointers(handle) || handle->runs_inline; }

/* The value; false where there is none to write: a pointer, or a scalar that is NULL or not here. */
static bool line_add_value(line_t *line, const char *before, const field_t *field, const ji_head_t *head,
                           bool scalars_here) {
    const char *at = (const char *)head + field->offset;
    int enumerator;
    int64_t size;
    const void *pointer;
    switch (field->kind) {
    case FIELD_ENUM:
        memcpy(&enumerator, at, sizeof enumerator);
        line_add_enum(line, before, field, enumerator);
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
        if (pointer == NULL || !scalars_here)
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

/* The pointer of an operand, or of a scalar, whose first member it is. */
static const void *field_pointer(const field_t *field, const ji_head_t *head) {
    const void *pointer;
    memcpy(&pointer, (const char *)head + field->offset, sizeof pointer);
    return pointer;
}

/* Options as jblas-bench takes them: all of them, or only what decides the time. */
static void line_add_options(line_t *line, const jhandle_t *handle, const ji_head_t *head, bool all) {
    const ji_row_t *row = head->row;
    line_add(line, "-f %s -r %c", row->name, "sdczhb"[head->type]);
    size_t length;
    for (const char *names = row->format; *names != '\0';) {
        const field_t *field = field_next(row, &names, &length);
        if (field == NULL || (!all && field->kind > FIELD_SIZE))
            continue;
        if (field->kind == FIELD_POINTER) {
            if (field_pointer(field, head) == NULL)
                line_add(line, " --null %s", field->name);
            continue;
        }
        char before[24];
        snprintf(before, sizeof before, " %s ", field->option);
        if (!line_add_value(line, before, field, head, scalars_are_here(handle)))
            line_add(line, "%s%s", before, field_pointer(field, head) == NULL ? "null" : "device");
    }
}

/* What the handle is like: options that bring one of jblas-bench's into the same state. */
static void line_add_handle(line_t *line, jhandle_t *handle) {
    static const char *const modes[] = {"default", "preallocate", "manual", "user_owned"};
    size_t held = 0;
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    (void)jhandle_get_workspace_size(handle, &held);
    (void)jhandle_get_stats(handle, &stats);
    if (handle->device->kind != JDEVICE_HOST)
        line_add(line, " --device %s", jdevice_name(handle->device));
    line_add(line, " --mode %s --workspace %zu", modes[handle->mode], held);
    if (stats.in_use_bytes != 0)
        line_add(line, " --borrowed %zu", stats.in_use_bytes);
    if (handle->budget_bytes != 0)
        line_add(line, " --budget %zu", handle->budget_bytes);
    if (handle->sealed)
        line_add(line, " --sealed");
    line_add(line, " --policy %s --accuracy %s --pointer_mode %s",
             handle->result_policy == JRESULT_POLICY_SAME_BITS ? "same_bits" : "fast",
             handle->accuracy == JACCURACY_NORMWISE ? "normwise" : "componentwise",
             ji_host_pointers(handle) ? "host" : "device");
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
        if (field && !line_add_value(&line, before, field, head, scalars_are_here(handle)))
            line_add(&line, "%s%p", before, field_pointer(field, head));
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
        line_add_handle(&line, handle);
        jlog_write_line(line.text);
    }
    if (!(handle->layers & JLOG_LAYER_PROFILE))
        return call(handle, block);
    line_t key = {"", 0};
    line_add_options(&key, handle, head, false);
    (void)ji_handle_wait(handle, handle->stream);
    double start = now_us();
    jstatus_t status = call(handle, block);
    (void)ji_handle_wait(handle, handle->stream);
    if (!jstatus_is_error(status)) /* a refused call did no work */
        (void)jlog_profile_add(key.text, head->rung, now_us() - start);
    return status;
}
