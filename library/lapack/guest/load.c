/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The LAPACK that is loaded, as blas/guest/library.c has it, and its functions: a row's, by their
 * names in Fortran ("dsyevd_"). ilaver, which writes LAPACK's version, tells how wide its integers
 * are, too. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "blas/guest/library.h"
#include "core/core.h"
#include "core/lock.h"
#include "lapack/guest/guest.h"

int64_t ji_lapack_int_max;

static void *load_functions[JI_GUEST_COUNT][JDATATYPE_F64_C + 1];
static int load_int_bits;

static const ji_row_t *const load_rows[] = {
#define ROW(routine, block) &ji_row_##routine,
    JI_LAPACK_GUEST_ROUTINE_LIST(ROW)
#undef ROW
};

/* What an older LAPACK lacks is refused when it is called. */
static const char *load_take(const ji_library_t *library) {
    for (int routine = 0; routine < JI_GUEST_COUNT; routine++)
        for (jdatatype_t type = JDATATYPE_F32; type <= JDATATYPE_F64_C; type++) {
            const char *public_name = load_rows[routine]->names[type];
            char name[32];
            if (public_name == NULL)
                continue;
            snprintf(name, sizeof name, "%s_", public_name + strlen("jlapack_"));
            load_functions[routine][type] = ji_library_symbol(library, name);
        }
    return load_functions[JI_GUEST_syev][JDATATYPE_F64] == NULL ? "dsyev_" : NULL;
}

/* OpenBLAS has LAPACK in it, MKL, too; of the others it is a library above the BLAS. */
static const char *const load_usual[] = {"libopenblas.so.0", "libmkl_rt.so.2", "liblapack.so.3",
                                         "libopenblas64.so.0"};
static ji_library_t loaded = {.what = "LAPACK",
                              .variable = JCONFIG_JALLOC_LAPACK,
                              .usual = load_usual,
                              .usual_count = sizeof load_usual / sizeof load_usual[0],
                              .shown = "ilaver_",
                              .take = load_take};

/* An integer of 32 bits leaves the others as they are. */
static int load_ask_int_bits(void) {
    void (*ilaver)(int64_t *, int64_t *, int64_t *);
    void *symbol = ji_library_symbol(&loaded, "ilaver_");
    memcpy(&ilaver, &symbol, sizeof ilaver);

    int64_t version[3] = {-1, -1, -1};
    ilaver(&version[0], &version[1], &version[2]);
    return version[0] >= 0 && version[0] <= INT32_MAX ? 64 : 32;
}

static ji_lock_t load_lock;
static atomic_bool load_done;

static void load_make_lock(void) { ji_lock_init(&load_lock); }

static jstatus_t load_now(void) {
    JTRY_RETURN(ji_library_load(&loaded));
    load_int_bits = load_ask_int_bits();
    ji_lapack_int_max = load_int_bits == 64 ? INT64_MAX : INT32_MAX;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_lapack_guest_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (atomic_load_explicit(&load_done, memory_order_acquire))
        return JSTATUS_SUCCESS;

    (void)pthread_once(&once, load_make_lock);
    ji_lock_acquire(&load_lock);
    const jstatus_t status = atomic_load(&load_done) ? JSTATUS_SUCCESS : load_now();
    /* Release: who reads true sees the functions. */
    atomic_store_explicit(&load_done, status == JSTATUS_SUCCESS, memory_order_release);
    ji_lock_release(&load_lock);
    return status;
}

const char *ji_lapack_guest_name(void) { return loaded.name; }

const char *jlapack_lapack_name(void) {
    return ji_lapack_guest_load() == JSTATUS_SUCCESS ? loaded.name : "no LAPACK";
}

int jlapack_lapack_int_bits(void) {
    return ji_lapack_guest_load() == JSTATUS_SUCCESS ? load_int_bits : 0;
}

int ji_lapack_guest_int_bits(void) { return load_int_bits; }

void *ji_lapack_guest_function(int routine, jdatatype_t type) {
    return load_functions[routine][type];
}
