/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The CBLAS that is loaded (library.c), and its functions.
 *
 * Whether integers have 32 or 64 bits no name tells, so a function is asked: a count whose low half
 * is 2 and which is negative as a whole sums two numbers with 32 bits and none with 64. */

#include <string.h>

#include "blas/guest/guest.h"
#include "blas/guest/library.h"

ji_guest_t ji_guest, ji_guest_given;

/* The functions of the table. */
static const struct {
    const char *name;
    size_t offset; /* of its pointer */
} load_functions[] = {
#define LOAD_FUNCTION(name, R, TAKES) {"cblas_" #name, offsetof(ji_guest_t, name)},
    JI_GUEST_FUNCTION_LIST(LOAD_FUNCTION)
#undef LOAD_FUNCTION
};
#define LOAD_FUNCTIONS (sizeof load_functions / sizeof load_functions[0])

static const char *load_fill(const ji_library_t *library) {
    for (size_t i = 0; i < LOAD_FUNCTIONS; i++) {
        void *symbol = ji_library_symbol(library, load_functions[i].name);
        if (symbol == NULL)
            return load_functions[i].name;
        /* POSIX's way from an object pointer to a function pointer. */
        memcpy((char *)&ji_guest_given + load_functions[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

/* The usual ones, fastest first. */
static const char *const load_usual[] = {"libopenblas.so.0", "libmkl_rt.so.2",
                                         "libblis.so.4",     "libblas.so.3",
                                         "libcblas.so.3",    "libopenblas64.so.0"};
static ji_library_t loaded = {.what = "CBLAS",
                              .variable = JCONFIG_JALLOC_CBLAS,
                              .usual = load_usual,
                              .usual_count = sizeof load_usual / sizeof load_usual[0],
                              .shown = "cblas_scopy",
                              .take = load_fill};
static int loaded_int_bits;

static int load_int_bits(void) {
    const double ones[2] = {1, 1};
    const int64_t two_or_less = 2 - (INT64_C(1) << 32);

    if (sizeof(guest_int_t) < sizeof two_or_less)
        return 32;
    return ji_guest.dasum((guest_int_t)two_or_less, ones, 1) == 2 ? 32 : 64;
}

jstatus_t ji_guest_load(void) {
    if (loaded.handle != NULL)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_library_load(&loaded));
    ji_guest = ji_guest_given;
    loaded_int_bits = load_int_bits();
    return JSTATUS_SUCCESS;
}

/* ---- What it is ---- */

const char *ji_guest_name(void) { return loaded.name; }

int ji_guest_int_bits(void) { return loaded_int_bits; }

void *ji_guest_symbol(const char *name) { return ji_library_symbol(&loaded, name); }
