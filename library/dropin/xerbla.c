/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* xerbla_, which is told of an argument that is wrong. A program may have one of its own, which
 * then is the one that is called; this file has nothing that would not be replaced with it, and no
 * caller of its own, so that no compiler sees a reason to bind the call.
 *
 * It prints and returns. The reference's manual has it stop the program, Debian's libblas.so.3
 * prints as here. */

#include <stdio.h>
#include <string.h>

#include "dropin/dropin.h"

/* A caller in C may leave out the hidden length. Names of BLAS have at most six letters, those of
 * LAPACK a few more, and xerbla_array_ gives as many as there may be. */
enum { NAME_BYTES = 32 };

static int name_length_of(const char *name, size_t given) {
    const size_t most = given > 0 && given <= NAME_BYTES ? given : 6;
    size_t length = strnlen(name, most);
    while (length > 0 && name[length - 1] == ' ')
        length--;
    return (int)length;
}

/* "DSYRK " becomes "cblas_dsyrk". */
static void name_in_c(const char *name, int length, char text[NAME_BYTES + 8]) {
    memcpy(text, "cblas_", 6);
    for (int i = 0; i < length; i++)
        text[6 + i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    text[6 + length] = '\0';
}

void JI_FORTRAN(xerbla)(const char *name, const blas_int_t *info, size_t name_length) {
    const int length = name_length_of(name, name_length);
    if (!JI_GLOBAL(CBLAS_CallFromC)) {
        fprintf(stderr, "Parameter %lld to routine %.*s was incorrect\n", (long long)*info, length,
                name);
        return;
    }

    char text[NAME_BYTES + 8];
    name_in_c(name, length, text);
    JI_CBLAS(xerbla)(*info + 1, text, "");
}

/* LAPACK's: the name is an array of characters, its length an argument. */
JI_EXPORTED void JI_FORTRAN(xerbla_array)(const char *name, const blas_int_t *name_length,
                                          const blas_int_t *info);
void JI_FORTRAN(xerbla_array)(const char *name, const blas_int_t *name_length,
                              const blas_int_t *info) {
    char text[NAME_BYTES];
    const blas_int_t most = NAME_BYTES, length = *name_length < 0      ? 0
                                                 : *name_length > most ? most
                                                                       : *name_length;
    memset(text, ' ', sizeof text);
    memcpy(text, name, (size_t)length);
    JI_FORTRAN(xerbla)(text, info, sizeof text);
}
