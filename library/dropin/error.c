/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Calls that jblas did not carry out: for want of a handle, after a fork, or because an argument is
 * wrong, of which the program is told in the reference's way: xerbla_ gets the name and the number
 * that Fortran's routine would report, and for a function of CBLAS the reference's two variables
 * say so meanwhile. Statuses for want of memory come from a handle's set-up, for jblas's plans have
 * a last rung that needs none, and from those of jlapack's that have not (lapack/call.c). */

#include <string.h>

#include "core/core.h"
#include "dropin/dropin.h"

/* ---- What the program is told ---- */

enum { FORTRAN_NAME_LENGTH = 6, LONGEST_NAME = 15 };

/* "syrk" becomes "SYRK  ". Gives the length. */
static size_t fortran_name(const char *name, char text[LONGEST_NAME + 1]) {
    size_t length = 0;
    for (; length < LONGEST_NAME && name[length] != '\0'; length++)
        text[length] = name[length] >= 'a' && name[length] <= 'z' ? (char)(name[length] - 'a' + 'A')
                                                                  : name[length];
    for (; length < FORTRAN_NAME_LENGTH; length++)
        text[length] = ' ';
    text[length] = '\0';
    return length;
}

static void set_state(bool from_c, bool row_major) {
    __atomic_store_n(&JI_GLOBAL(CBLAS_CallFromC), from_c, __ATOMIC_RELAXED);
    __atomic_store_n(&JI_GLOBAL(RowMajorStrg), row_major, __ATOMIC_RELAXED);
}

void ji_dropin_refuse(const ji_dropin_call_t *call, int number) {
    char name[LONGEST_NAME + 1];
    const blas_int_t info = number + call->before;
    const size_t length = fortran_name(call->name, name);

    set_state(call->from_c, call->row_major);
    JI_FORTRAN(xerbla)(name, &info, length);
    set_state(false, false);
}

void ji_dropin_refuse_setting(const char *name, bool row_major, int number, const char *what,
                              int value) {
    set_state(true, row_major);
    JI_CBLAS(xerbla)(number, name, "Illegal %s setting, %d\n", what, value);
    set_state(false, false);
}

/* ---- Once more ---- */

jhandle_t *ji_dropin_again(ji_dropin_call_t *call, const jhandle_t *handle, jstatus_t status) {
    int number = 0;
    if (handle != NULL &&
        jhandle_get_refused_argument(handle, NULL, NULL, &number) == JSTATUS_SUCCESS &&
        (status == JSTATUS_INVALID_VALUE || status == JSTATUS_INVALID_SIZE ||
         status == JSTATUS_INVALID_POINTER)) {
        call->refused = number + call->before;
        ji_dropin_refuse(call, number);
        return NULL;
    }

    if (handle == &call->bare) /* nothing else could be wrong with it */
        return NULL;

    jhandle_t *again = status == JSTATUS_FORKED ? ji_dropin_renew_handle() : NULL;
    if (again == NULL)
        ji_handle_make_bare(again = &call->bare);
    return again;
}
