/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Sizes and names of the element types. A number that is no type has size 0, so a size computed
 * from it is 0 too. */

#include "jalloc/datatype.h"

#include "core/core.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size_bytes;
} datatype_table[] = {
    [JDATATYPE_F32] = {"f32", 4},     [JDATATYPE_F64] = {"f64", 8},
    [JDATATYPE_F32_C] = {"f32_c", 8}, [JDATATYPE_F64_C] = {"f64_c", 16},
    [JDATATYPE_F16] = {"f16", 2},     [JDATATYPE_BF16] = {"bf16", 2},
    [JDATATYPE_I8] = {"i8", 1},       [JDATATYPE_I32] = {"i32", 4},
};

/* Through size_t, so that a negative number is out of range like any other. */
#define DATATYPE_KNOWN(type) ((size_t)(type) < sizeof datatype_table / sizeof datatype_table[0])

size_t jdatatype_bytes(jdatatype_t type) {
    return DATATYPE_KNOWN(type) ? datatype_table[(size_t)type].size_bytes : 0;
}

size_t jhandle_sizeof_datatype(jdatatype_t type) { return jdatatype_bytes(type); }

const char *jdatatype_name(jdatatype_t type) {
    return DATATYPE_KNOWN(type) ? datatype_table[(size_t)type].name : "unknown";
}

jstatus_t jdatatype_parse(const char *name, jdatatype_t *type) {
    JREQUIRE(name != NULL && type != NULL, JSTATUS_INVALID_POINTER);
    for (size_t i = 0; DATATYPE_KNOWN(i); ++i)
        if (strcmp(name, datatype_table[i].name) == 0) {
            *type = (jdatatype_t)i;
            return JSTATUS_SUCCESS;
        }
    return ji_fail(
        JSTATUS_INVALID_VALUE,
        "\"%.80s\" is no element type: f32, f64, f32_c, f64_c, f16, bf16, i8 and i32 are", name);
}
