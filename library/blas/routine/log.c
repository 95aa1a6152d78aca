/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Call logging (JALLOC_LAYER) for all routines at once. A routine's row names its arguments; the
 * tables below say what an argument of that name is called in a line and how its value is written.
 * So the bench line, the trace line and the profile's key are three readings of one list:
 *
 *   bench    jblas-bench -f trsm -r d --side L ... --lda 512 --ldb 512      what jblas-bench takes
 *   trace    jblas_dtrsm(handle=0x..., side=L, ..., A=0x..., lda=512)       everything
 *   profile  trsm -r d --side L ... -m 512 -n 512                           what decides the time:
 *                                                                           enumerators and sizes
 *
 * A bench line run again does what the call did: it has the same status and takes the same rung. So
 * it says what the handle was like (mode, workspace, what was borrowed of it, budget, seal, policy,
 * accuracy, pointer mode), scalars to the last bit, enumerators that are none as numbers, and which
 * pointers were NULL; and which of the process's handles it was, by which jalloc-plan tells who was
 * at work at once. It cannot say what memory there was for default mode to grow into, nor the value
 * of a scalar that is read later, in stream order, or on a GPU: that is "--alpha device", and 1
 * when it is run again.
 *
 * The profile's time is that of the call: on a created stream, and on any of a GPU, the host waits
 * before and after, so that it is the time of the work. In a capture it cannot, and the time is
 * that of the capturing. */

#include "blas/routine/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "core/locale.h"

typedef struct word {
    const char *name;   /* of the argument in its row */
    const char *option; /* of jblas-bench; NULL: none */
    const char *label;  /* in a trace line; NULL: the name */
} word_t;

static const word_t words[] = {
    {"side", "--side", NULL},
    {"norm", "--norm", NULL},
    {"uplo", "--uplo", NULL},
    {"trans", "--transA", "transA"},
    {"transa", "--transA", "transA"},
    {"transb", "--transB", "transB"},
    {"diag", "--diag", NULL},
    {"m", "-m", NULL},
    {"n", "-n", NULL},
    {"k", "-k", NULL},
    {"kl", "--kl", NULL},
    {"ku", "--ku", NULL},
    {"nrhs", "--nrhs", NULL},
    {"alpha", "--alpha", NULL},
    {"anorm", "--alpha", NULL},
    {"beta", "--beta", NULL},
    {"a", NULL, "A"},
    {"ap", NULL, "AP"},
    {"lda", "--lda", NULL},
    {"stride_a", "--stride_a", NULL},
    {"stride_ap", "--stride_a", NULL},
    {"b", NULL, "B"},
    {"af", NULL, "AF"},
    {"ldaf", "--ldaf", NULL},
    {"ldb", "--ldb", NULL},
    {"stride_b", "--stride_b", NULL},
    {"stride_bp", "--stride_b", NULL},
    {"c", NULL, "C"},
    {"ldc", "--ldc", NULL},
    {"stride_c", "--stride_c", NULL},
    {"a_type", "--a_type", NULL},
    {"b_type", "--b_type", NULL},
    {"c_type", "--c_type", NULL},
    {"x_type", "--x_type", NULL},
    {"y_type", "--y_type", NULL},
    {"cs_type", "--cs_type", NULL},
    {"compute_type", "--compute_type", NULL},
    {"x", NULL, NULL},
    {"ldx", "--ldx", NULL},
    {"incx", "--incx", NULL},
    {"stride_x", "--stride_x", NULL},
    {"y", NULL, NULL},
    {"bp", NULL, NULL},
    {"incy", "--incy", NULL},
    {"stride_y", "--stride_y", NULL},
    {"batch_count", "--batch_count", NULL},
    {"result", NULL, NULL},
    {"info", NULL, NULL},
    {"rcond", NULL, NULL},
    {"iter", NULL, NULL},
    {"ferr", NULL, NULL},
    {"berr", NULL, NULL},
    {"ipiv", NULL, NULL},
    {"jpvt", NULL, NULL},
    {"tau", NULL, NULL},
    {"c", "--c", NULL}, /* rot's cosine: with an option, while the matrix C has none */
    {"s", "--s", NULL},
    {"param", "--param", NULL},
    {"s", NULL, NULL}, /* rotg's and rotmg's numbers; c is the C above */
    {"param", NULL, NULL},
    {"d1", NULL, NULL},
    {"d2", NULL, NULL},
    {"x1", NULL, NULL},
    {"y1", NULL, NULL},
    {"stride_s", "--stride_s", NULL},
    {"stride_param", "--stride_param", NULL},
    {"stride_d1", "--stride_a", NULL},
    {"stride_d2", "--stride_b", NULL},
    {"stride_x1", "--stride_c", NULL},
    {"stride_y1", "--stride_s", NULL},
    {"stride_ipiv", "--stride_c", NULL},
    {"stride_tau", "--stride_b", NULL},
    {"jobz", "--jobz", NULL}, /* jlapack's */
    {"jobu", "--jobu", NULL},
    {"jobvt", "--jobvt", NULL},
    {"jobvl", "--jobvl", NULL},
    {"jobvr", "--jobvr", NULL},
    {"jobvs", "--jobvs", NULL},
    {"range", "--range", NULL},
    {"itype", "--itype", NULL},
    {"kd", "--kd", NULL},
    {"il", "--il", NULL},
    {"iu", "--iu", NULL},
    {"above", "--above", NULL},
    {"up_to", "--up_to", NULL},
    {"abstol", "--abstol", NULL},
    {"rcond", "--rcond", NULL},
    {"ab", NULL, "AB"},
    {"ldab", "--ldab", NULL},
    {"u", NULL, "U"},
    {"ldu", "--ldu", NULL},
    {"vt", NULL, "VT"},
    {"ldvt", "--ldvt", NULL},
    {"vl", NULL, "VL"},
    {"ldvl", "--ldvl", NULL},
    {"vr", NULL, "VR"},
    {"ldvr", "--ldvr", NULL},
    {"vs", NULL, "VS"},
    {"ldvs", "--ldvs", NULL},
    {"z", NULL, "Z"},
    {"ldz", "--ldz", NULL},
    {"w", NULL, NULL},
    {"wr", NULL, NULL},
    {"wi", NULL, NULL},
    {"alpha", NULL, NULL},
    {"alphar", NULL, NULL},
    {"alphai", NULL, NULL},
    {"beta", NULL, NULL},
    {"d", NULL, NULL},
    {"dl", NULL, NULL},
    {"du", NULL, NULL},
    {"count", NULL, NULL},
    {"rank", NULL, NULL},
    {"isuppz", NULL, NULL},
};

/* One line being written; what does not fit is cut. */
typedef struct line {
    char text[1024];
    size_t length;
} line_t;

static void JALLOC_PRINTF(2, 3) line_add(line_t *line, const char *format, ...) {
    const size_t room = sizeof line->text - line->length;
    va_list arguments;
    va_start(arguments, format);
    const locale_t before = ji_locale_enter();
    int written = vsnprintf(line->text + line->length, room, format, arguments);
    ji_locale_leave(before);
    va_end(arguments);

    if (written > 0)
        line->length += (size_t)written < room ? (size_t)written : room - 1;
}

/* A type's name, or a letter; a number for what is no enumerator. */
static void line_add_enum(line_t *line, const char *before, ji_argument_kind_t kind, int value) {
    if (kind == JI_ARGUMENT_DATATYPE) {
        if (jdatatype_bytes((jdatatype_t)value) > 0)
            line_add(line, "%s%s", before, jdatatype_name((jdatatype_t)value));
        else
            line_add(line, "%s%d", before, value);
        return;
    }

    if (kind == JI_ARGUMENT_LETTER) {
        const bool letter = value >= 'A' && value <= 'Z';
        letter ? line_add(line, "%s%c", before, value) : line_add(line, "%s%d", before, value);
        return;
    }

    static const struct {
        int first; /* enumerator, and a letter for each from there on */
        const char *letters;
    } enumerations[] = {[JI_ARGUMENT_SIDE] = {JBLAS_LEFT, "LR"},
                        [JI_ARGUMENT_UPLO] = {JBLAS_UPPER, "UL"},
                        [JI_ARGUMENT_DIAGONAL] = {JBLAS_NON_UNIT, "NU"},
                        [JI_ARGUMENT_OPERATION] = {JBLAS_NO_TRANSPOSE, "NTCR"},
                        [JI_ARGUMENT_NORM] = {171, "1???I"}}; /* jlapack_norm_t */
    const char *letters = enumerations[kind].letters;
    const unsigned index = (unsigned)value - (unsigned)enumerations[kind].first;

    if (index < strlen(letters) && letters[index] != '?')
        line_add(line, "%s%c", before, letters[index]);
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
    case JDATATYPE_I32: line_add(line, "%d", *(const int32_t *)number); break;
    case JDATATYPE_F16:
        line_add(line, "%.9g", (double)jalloc_f32_from_f16(*(const jfloat16_t *)number));
        break;
    case JDATATYPE_BF16:
        line_add(line, "%.9g", (double)jalloc_f32_from_bf16(*(const jbfloat16_t *)number));
        break;
    default: line_add(line, "%.17g,%.17g", d[0], d[1]); break;
    }
}

static const word_t *word_of(const ji_argument_t *argument) {
    const bool is_pointer = argument->kind == JI_ARGUMENT_POINTER;
    const word_t *word = words;
    while (strcmp(word->name, argument->name) != 0 || (word->option == NULL) != is_pointer)
        ++word;
    return word;
}

/* Whether scalars can be read now: the call itself reads them before it returns. */
static bool scalars_are_here(const jhandle_t *handle) {
    return ji_host_pointers(handle) || handle->runs_inline;
}

static jdatatype_t scalar_type(const ji_argument_t *argument, const ji_head_t *head) {
    switch (argument->kind) {
    case JI_ARGUMENT_REAL_SCALAR: return ji_real_of(head->type);
    case JI_ARGUMENT_SUM_SCALAR: return JI_TYPE_OF_SUM(head->type);
    case JI_ARGUMENT_CS_SCALAR: return ((const ji_vector_t *)(const void *)head)->cs_type;
    default: return head->type;
    }
}

/* The flag of rotm and its numbers; 0 for those that it implies, which may never have been set. */
static void line_add_parameters(line_t *line, jdatatype_t type, const void *numbers) {
    const char *read = "";
    for (int i = 0; i < 5; ++i) {
        const double number = ji_real_at(type, numbers, i);
        if (i == 0)
            read = number == 0 ? "23" : number > 0 ? "14" : number == -2 ? "" : "1234";
        const bool is_read = i == 0 || strchr(read, '0' + i) != NULL;
        line_add(line, "%s%.17g", i == 0 ? "" : ",", is_read ? number : 0);
    }
}

/* Not of what no routine computes in: such a call is refused. Of 16 bits only rot_ex's. */
static bool is_scalar_type(jdatatype_t type, ji_argument_kind_t kind) {
    return type <= JDATATYPE_F64_C || type == JDATATYPE_I32 ||
           (kind == JI_ARGUMENT_CS_SCALAR && ji_is_half(type));
}

/* The value. False where there is none to write: a pointer, or a scalar that is NULL or cannot be
 * read now. */
static bool line_add_value(line_t *line, const char *before, const ji_argument_t *argument,
                           const ji_head_t *head, bool scalars_here) {
    const char *at = (const char *)head + argument->offset;
    int enumerator;
    int64_t size;
    const void *pointer;

    switch (argument->kind) {
    case JI_ARGUMENT_SIDE:
    case JI_ARGUMENT_UPLO:
    case JI_ARGUMENT_DIAGONAL:
    case JI_ARGUMENT_OPERATION:
    case JI_ARGUMENT_NORM:
    case JI_ARGUMENT_DATATYPE:
    case JI_ARGUMENT_LETTER:
        memcpy(&enumerator, at, sizeof enumerator);
        line_add_enum(line, before, argument->kind, enumerator);
        return true;
    case JI_ARGUMENT_SIZE:
    case JI_ARGUMENT_STRIDE:
        memcpy(&size, at, sizeof size);
        line_add(line, "%s%lld", before, (long long)size);
        return true;
    case JI_ARGUMENT_SCALAR:
    case JI_ARGUMENT_REAL_SCALAR:
    case JI_ARGUMENT_SUM_SCALAR:
    case JI_ARGUMENT_CS_SCALAR:
    case JI_ARGUMENT_PARAMETERS:
        /* Not taken yet: the caller's. */
        pointer = ((const ji_scalar_t *)(const void *)at)->pointer;
        if (pointer == NULL || !scalars_here ||
            !is_scalar_type(scalar_type(argument, head), argument->kind))
            return false;
        line_add(line, "%s", before);
        if (argument->kind == JI_ARGUMENT_PARAMETERS)
            line_add_parameters(line, head->type, pointer);
        else
            line_add_number(line, scalar_type(argument, head), pointer);
        return true;
    default: return false;
    }
}

/* The pointer of an operand, or of a scalar, whose first member it is. */
static const void *pointer_of(const ji_argument_t *argument, const ji_head_t *head) {
    const void *pointer;
    memcpy(&pointer, (const char *)head + argument->offset, sizeof pointer);
    return pointer;
}

static const char *label_of(const ji_argument_t *argument) {
    const word_t *word = word_of(argument);
    return word->label != NULL ? word->label : word->name;
}

/* Options as jblas-bench takes them: all of them, or only what decides the time. */
static void line_add_options(line_t *line, const jhandle_t *handle, const ji_head_t *head,
                             bool all) {
    line_add(line, "-f %s", head->row->name);
    if (!ji_has_types(head->row))
        line_add(line, " -r %c", "sdczhb"[head->type]);

    for (const ji_argument_t *argument = head->row->arguments; argument->name != NULL; ++argument) {
        if (!all && argument->kind > JI_ARGUMENT_SIZE)
            continue;
        if (argument->kind == JI_ARGUMENT_POINTER) {
            if (pointer_of(argument, head) == NULL)
                line_add(line, " --null %s", label_of(argument));
            continue;
        }

        char before[24];
        snprintf(before, sizeof before, " %s ", word_of(argument)->option);
        if (!line_add_value(line, before, argument, head, scalars_are_here(handle)))
            line_add(line, "%s%s", before, pointer_of(argument, head) == NULL ? "null" : "device");
    }
}

/* What the handle is like: options that bring one of jblas-bench's into the same state. */
static void line_add_handle(line_t *line, jhandle_t *handle) {
    static const char *const modes[] = {"default", "preallocate", "manual", "user_owned"};

    size_t held = 0;
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    (void)jhandle_get_workspace_size(handle, &held);
    (void)jhandle_get_stats(handle, &stats);

    line_add(line, " --handle %" PRIu64, handle->number);
    if (handle->device->kind != JDEVICE_HOST)
        line_add(line, " --device %s", jdevice_name(handle->device));
    line_add(line, " --mode %s --workspace %zu", modes[handle->mode], held);
    if (stats.in_use_bytes != 0)
        line_add(line, " --borrowed %zu", stats.in_use_bytes);
    if (handle->budget_bytes != JALLOC_UNLIMITED)
        line_add(line, " --budget %zu", handle->budget_bytes);
    if (handle->sealed)
        line_add(line, " --sealed");

    line_add(line, " --policy %s --accuracy %s --pointer_mode %s",
             handle->result_policy == JRESULT_POLICY_SAME_BITS ? "same_bits" : "fast",
             handle->accuracy == JACCURACY_NORMWISE ? "normwise" : "componentwise",
             ji_host_pointers(handle) ? "host" : "device");
}

static void trace(const jhandle_t *handle, const ji_head_t *head) {
    line_t line = {"", 0};
    line_add(&line, "%s(handle=%p", ji_routine_name(head), (const void *)handle);

    for (const ji_argument_t *argument = head->row->arguments; argument->name != NULL; ++argument) {
        char before[24];
        snprintf(before, sizeof before, ", %s=", label_of(argument));
        if (!line_add_value(&line, before, argument, head, scalars_are_here(handle)))
            line_add(&line, "%s%p", before, pointer_of(argument, head));
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
