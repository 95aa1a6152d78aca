/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    const int64_t n = 300;
    jhandle_t *handle;
    jrequirement_t *requirement;
    jrequirement_info_t info = JREQUIREMENT_INFO_INIT;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet 1 */
    SNIPPET_TRY(jrequirement_get_info(requirement, &info));
    EXPECT(info.call_count == 2);
    SNIPPET_TRY(jrequirement_destroy(requirement));
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
