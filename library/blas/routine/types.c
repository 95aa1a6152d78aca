/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Types that are arguments: which of them go together. jblas_ex.h has the same as a table. What the
 * compute type cannot hold is an error of the caller's, invalid value; what it could, and jblas
 * does not compute, is not implemented. */

#include "blas/routine/entry.h"
#include "handle/handle.h"

#include <stdio.h>

typedef enum fit { FITS, NOT_OFFERED, DOES_NOT_FIT } fit_t;

static bool is_integer(jdatatype_t type) { return type == JDATATYPE_I8 || type == JDATATYPE_I32; }

static fit_t fit_into_integer(jdatatype_t type, bool is_result) {
    if (!is_integer(type))
        return DOES_NOT_FIT;
    return type == (is_result ? JDATATYPE_I32 : JDATATYPE_I8) ? FITS : NOT_OFFERED;
}

static fit_t fit_into_float(jdatatype_t type, jdatatype_t computed) {
    if (is_integer(type))
        return NOT_OFFERED;
    if (ji_is_complex(type) && !ji_is_complex(computed))
        return DOES_NOT_FIT;

    const bool is_wide = type == JDATATYPE_F64 || type == JDATATYPE_F64_C;
    if (is_wide && ji_real_of(computed) == JDATATYPE_F32)
        return DOES_NOT_FIT;
    return ji_is_complex(type) == ji_is_complex(computed) ? FITS : NOT_OFFERED;
}

/* Of the type that the argument says. A rotation's cosine and sine may be real where it computes in
 * complex numbers. */
static fit_t fit_of(const char *argument, jdatatype_t type, jdatatype_t computed) {
    if (computed == JDATATYPE_I32)
        return fit_into_integer(type, argument[0] == 'c');
    if (strcmp(argument, "cs_type") == 0 && !ji_is_complex(type))
        return fit_into_float(type, ji_real_of(computed));
    return fit_into_float(type, computed);
}

/* Of an enumerator. */
static int value_of(const ji_head_t *head, const ji_argument_t *argument) {
    int value;
    memcpy(&value, (const char *)head + argument->offset, sizeof value);
    return value;
}

/* "a_type f16, b_type i8, c_type f32, compute_type f32" */
static void list_types(const ji_head_t *head, char *text, size_t text_bytes) {
    size_t length = 0;
    for (const ji_argument_t *argument = head->row->arguments; argument->name != NULL; ++argument)
        if (argument->kind == JI_ARGUMENT_DATATYPE)
            length += (size_t)snprintf(text + length, text_bytes - length, "%s%s %s",
                                       length > 0 ? ", " : "", argument->name,
                                       jdatatype_name((jdatatype_t)value_of(head, argument)));
}

static __attribute__((cold)) jstatus_t refuse(jhandle_t *handle, const ji_head_t *head,
                                              const char *argument, fit_t fit) {
    char types[128] = "";
    list_types(head, types, sizeof types);
    if (fit == DOES_NOT_FIT)
        return ji_refuse_type(handle, head, JSTATUS_INVALID_VALUE, argument, types,
                              "the compute type cannot hold it");
    return ji_refuse_type(handle, head, JSTATUS_NOT_IMPLEMENTED, argument, types, "not offered");
}

/* An enumerator that is none. */
static bool is_wrong(ji_argument_kind_t kind, int value, ji_types_t offered) {
    switch (kind) {
    case JI_ARGUMENT_SIDE: return !JI_IS_SIDE(value);
    case JI_ARGUMENT_UPLO: return !JI_IS_UPLO(value);
    case JI_ARGUMENT_DIAGONAL: return !JI_IS_DIAGONAL(value);
    case JI_ARGUMENT_OPERATION:
        return !(offered == JI_TYPES_ONE ? JI_IS_ANY_OPERATION(value) : JI_IS_OPERATION(value));
    default: return false;
    }
}

jstatus_t ji_check_types(jhandle_t *handle, const ji_head_t *head, ji_types_t offered) {
    const jdatatype_t computed = head->type;
    const char *lacking = NULL;

    /* Enumerators first, in their order: one that stands before the types and is none is refused by
     * the checks that follow. */
    for (const ji_argument_t *argument = head->row->arguments; argument->name != NULL; ++argument) {
        if (argument->kind < JI_ARGUMENT_DATATYPE &&
            is_wrong(argument->kind, value_of(head, argument), offered))
            return JSTATUS_SUCCESS;
        if (argument->kind == JI_ARGUMENT_DATATYPE && !JI_IS_DATATYPE(value_of(head, argument)))
            return ji_refuse(handle, head, JSTATUS_INVALID_VALUE, argument->name,
                             value_of(head, argument), JI_MUST_BE_DATATYPE, 0);
    }
    if (computed > JDATATYPE_F64_C && !(offered == JI_TYPES_INTEGER && computed == JDATATYPE_I32))
        return refuse(handle, head, "compute_type", NOT_OFFERED);

    /* What cannot be is said before what is not. The compute type fits itself. */
    for (const ji_argument_t *argument = head->row->arguments; argument->name != NULL; ++argument) {
        if (argument->kind != JI_ARGUMENT_DATATYPE)
            continue;

        const jdatatype_t type = (jdatatype_t)value_of(head, argument);
        const fit_t fit = fit_of(argument->name, type, computed);
        if (fit == DOES_NOT_FIT)
            return refuse(handle, head, argument->name, fit);
        if (fit == NOT_OFFERED || (offered == JI_TYPES_ONE && type != computed))
            lacking = argument->name;
    }

    return lacking == NULL ? JSTATUS_SUCCESS : refuse(handle, head, lacking, NOT_OFFERED);
}
