/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The rule of sized.h, for every struct that begins with its own size. A size that no struct has is
 * refused before anything behind it is read: it is what memory held that nobody initialized. */

#include "core/sized.h"

#include <string.h>

jstatus_t ji_sized_check(const void *user, size_t size_bytes, size_t minimum_bytes,
                         const char *type) {
    const size_t given = *(const size_t *)user;
    if (given < minimum_bytes || given > JI_SIZED_MAX_BYTES)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: struct_size is %zu, expected %zu: initialize it with its _INIT", type,
                       given, size_bytes);

    const unsigned char *bytes = user;
    for (size_t i = size_bytes; i < given; ++i)
        if (bytes[i] != 0)
            return ji_fail(JSTATUS_INVALID_VALUE,
                           "%s: struct_size is %zu, this library knows %zu bytes, and byte %zu is "
                           "not zero: a later version's member is set",
                           type, given, size_bytes, i);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_options_take(void *options, size_t size_bytes, const void *user, size_t minimum_bytes,
                          const char *type) {
    if (user == NULL)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_sized_check(user, size_bytes, minimum_bytes, type));
    const size_t given = *(const size_t *)user;
    memcpy(options, user, given < size_bytes ? given : size_bytes);
    *(size_t *)options = size_bytes;
    return JSTATUS_SUCCESS;
}

void ji_result_give(void *user, const void *result, size_t size_bytes) {
    const size_t given = *(const size_t *)user;
    memcpy((char *)user + sizeof given, (const char *)result + sizeof given,
           (given < size_bytes ? given : size_bytes) - sizeof given);
}
