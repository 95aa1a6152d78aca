/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <string.h>

static int reported;
static void xerbla(const char *routine, int number) {
    EXPECT(strcmp(routine, "jblas_dscal") == 0);
    reported = number;
}

int main(void) {
    const int64_t n = 10;
    const double alpha = 2;
    jhandle_t *handle;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet */
    EXPECT(reported == 3);
    EXPECT(strcmp(argument, "x") == 0);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
