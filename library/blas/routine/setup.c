/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Setting the host up, by the first call of a process on it: the environment says who computes and
 * by which instructions. A call that finds it done looks at one flag of its handle.
 *
 *     JALLOC_HOST_BLAS=own     the table has jblas's functions, and nothing is loaded
 *                     =cblas   the guest's, which is loaded and checked
 *     JALLOC_HOST_ISA          the set of kernels
 *
 * What cannot be had is refused and not replaced by something else: who forces a set of kernels or
 * a CBLAS wants to know that it runs. A library that is a CBLAS itself cannot refuse: its callers
 * look at no status, so the best kernels compute. */

#include "blas/routine/setup.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "blas/guest/cblas.h"
#include "blas/guest/selfcheck.h"
#include "blas/kernels/kernels.h"
#include "core/core.h"
#include "core/lock.h"
#include "core/node.h"

_Atomic(bool) ji_host_ready;
bool ji_host_own_alone;

/* Under the lock. */
static ji_lock_t setup_lock;
static const char *setup_blas; /* as JALLOC_HOST_BLAS said it */
static bool setup_checked;     /* the guest */

static void setup_make_lock(void) { ji_lock_init(&setup_lock); }

static void setup_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, setup_make_lock);
    ji_lock_acquire(&setup_lock);
}

static void setup_end(void) { ji_lock_release(&setup_lock); }

/* ---- Kernels ---- */

static const ji_kernel_set_t *setup_kernel_set(const char *name) {
    const ji_kernel_set_t *set;
    for (size_t i = 0; (set = ji_kernel_set_at(i)) != NULL; i++)
        if (strcmp(set->name, name) == 0 && ji_kernel_set_is_here(set))
            return set;
    return NULL;
}

/* "avx2, generic" */
static void setup_list_kernels(char *text, size_t text_bytes) {
    const ji_kernel_set_t *set;
    size_t length = 0;
    for (size_t i = 0; (set = ji_kernel_set_at(i)) != NULL; i++)
        if (ji_kernel_set_is_here(set))
            length += (size_t)snprintf(text + length, text_bytes - length, "%s%s",
                                       length > 0 ? ", " : "", set->name);
}

/* NULL: the processor lacks them, or the name is not understood. */
static jstatus_t setup_find_kernels(const ji_kernel_set_t **set) {
    jconfig_entry_t isa;
    *set = NULL;
    JTRY_RETURN(ji_config_require(JCONFIG_JALLOC_HOST_ISA, &isa));
    *set = strcmp(isa.value, "best") == 0 ? ji_kernel_set_best() : setup_kernel_set(isa.value);
    if (*set != NULL)
        return JSTATUS_SUCCESS;

    char here[64] = "";
    setup_list_kernels(here, sizeof here);
    jstatus_t status =
        ji_fail(JSTATUS_INVALID_CONFIGURATION,
                "JALLOC_HOST_ISA=\"%s\": this processor cannot run these kernels; it can run %s",
                isa.value, here);
    if (ji_host_own_alone)
        jlog_write(JLOG_WARNING, __func__, "%s; the best of these compute", jstatus_last_message());
    return status;
}

static jstatus_t setup_kernels(void) {
    const ji_kernel_set_t *set;
    jstatus_t status = setup_find_kernels(&set);
    if (status != JSTATUS_SUCCESS && !ji_host_own_alone)
        return status;
    ji_kernel_set_use(set != NULL ? set : ji_kernel_set_best());
    return JSTATUS_SUCCESS;
}

/* ---- The guest ---- */

static jstatus_t setup_checked_guest(void) {
    JTRY_RETURN(ji_guest_load());
    if (!setup_checked)
        ji_selfcheck();
    setup_checked = true;
    return JSTATUS_SUCCESS;
}

static jstatus_t setup_guest(void) {
    JTRY_RETURN(setup_checked_guest());
    ji_blas_int_max = ji_guest_int_bits() == 64 ? INT64_MAX : INT32_MAX;
    return JSTATUS_SUCCESS;
}

/* ---- Both ---- */

/* Half a megabyte of the second cache is for C, and what passes by of the other operand. */
static void setup_tuning(void) {
    ji_host_tuning.compact_bytes = ji_node_second_cache_bytes() - 524288;
}

static jstatus_t setup_host(void) {
    bool guest = false;
    if (!ji_host_own_alone) {
        jconfig_entry_t blas;
        JTRY_RETURN(ji_config_require(JCONFIG_JALLOC_HOST_BLAS, &blas));
        guest = strcmp(blas.value, "cblas") == 0;
    }
    JTRY_RETURN(setup_kernels());
    setup_tuning();

    ji_host_choose(guest);
    if (ji_host_has_guest())
        JTRY_RETURN(setup_guest());

    setup_blas = guest ? "cblas" : "own";
    /* Release: who reads true sees all of the above. */
    atomic_store_explicit(&ji_host_ready, true, memory_order_release);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_host_set_up(void) {
    if (atomic_load_explicit(&ji_host_ready, memory_order_acquire))
        return JSTATUS_SUCCESS;

    setup_begin();
    jstatus_t status = atomic_load(&ji_host_ready) ? JSTATUS_SUCCESS : setup_host();
    setup_end();
    return status;
}

jstatus_t jblas_get_host_blas(const char **name) {
    JREQUIRE(name != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(ji_host_set_up());
    *name = setup_blas;
    return JSTATUS_SUCCESS;
}

jstatus_t jblas_get_host_isa(const char **name) {
    JREQUIRE(name != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(ji_host_set_up());
    *name = ji_kernels->name;
    return JSTATUS_SUCCESS;
}

/* ---- The CBLAS, whether or not it computes ---- */

static bool setup_has_guest(void) {
    setup_begin();
    const bool has = ji_guest_load() == JSTATUS_SUCCESS;
    setup_end();
    return has;
}

const char *jblas_cblas_name(void) { return setup_has_guest() ? ji_guest_name() : "no CBLAS"; }

int jblas_cblas_int_bits(void) { return setup_has_guest() ? ji_guest_int_bits() : 0; }

const jblas_cblas_kernel_t *jblas_cblas_kernel_at(size_t index) {
    setup_begin();
    const bool checked = setup_checked_guest() == JSTATUS_SUCCESS;
    setup_end();
    return checked ? ji_selfcheck_kernel(index) : NULL;
}
