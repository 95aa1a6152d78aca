/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_GUEST_LIBRARY_H
#define JALLOC_BLAS_GUEST_LIBRARY_H

/* A library that is loaded at run time, privately: the CBLAS (load.c), and libjlapack's LAPACK. */

#include "core/core.h"

typedef struct ji_spelling {
    const char *prefix, *suffix;
} ji_spelling_t;

typedef struct ji_library {
    const char *what;         /* "CBLAS" */
    jconfig_t variable;       /* that names one */
    const char *const *usual; /* the usual ones, best first */
    size_t usual_count;
    const char *shown; /* a function by whose name the spelling is known */
    /* Takes what it needs by ji_library_symbol(). Gives the name of what is not there, or NULL. */
    const char *(*take)(const struct ji_library *library);

    /* What was loaded. */
    void *handle; /* NULL: nothing yet */
    const ji_spelling_t *spelling;
    char name[256]; /* what it says of itself, or its file */
} ji_library_t;

/* Finds the library that its variable names, or the first of the usual ones; if that was done
 * already, nothing. For one thread at a time.
 * @return success; not found (the message says what was tried); invalid configuration. */
JI_SHARED jstatus_t ji_library_load(ji_library_t *library);

/* A symbol of the library, spelt as it spells its own ("openblas_get_config" may be
 * "openblas_get_config64_"); NULL: it has none. */
JI_SHARED void *ji_library_symbol(const ji_library_t *library, const char *name);

#endif
