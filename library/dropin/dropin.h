/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DROPIN_DROPIN_H
#define JALLOC_DROPIN_DROPIN_H

/* The drop-in: BLAS by the names that programs are linked with, Fortran's and C's, over jblas.
 *
 *     dgemm_("N", "T", &m, ...)      cblas_dgemm(CblasRowMajor, ...)     fortran.c, cblas.c
 *                                                                       (copies.c: OpenBLAS's)
 *            |                              |
 *            |                              |  row_major.h: as a call of the transposed matrices
 *            v                              v
 *     a block of arguments, filled by the routine's row (entry.h)
 *            |
 *            v
 *     jblas_dgemm(this thread's handle, ...)                             thread.c
 *            |
 *            | refused: the argument's number -> xerbla_, cblas_xerbla   error.c
 *            v
 *     the caller
 *
 * libjalloc and libjblas are linked into it, hidden: it shares nothing with a jalloc that the
 * program has of its own. On the host it computes with jblas's own kernels whatever the environment
 * says, since a CBLAS that is loaded would be found to be this library.
 *
 * One text makes two libraries. Without JI_DROPIN_ILP64 integers have 32 bits and names are those
 * of Debian's libblas.so.3; with it they have 64 bits and the suffix 64_ that OpenBLAS and NumPy
 * have: dgemm_64_, cblas_dgemm64_.
 *
 * What always holds: no call ends the process or does without computing for want of memory. A call
 * that gets no workspace takes a lower rung, and one that gets no handle makes do with one on its
 * own stack, which has none. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handle/handle.h"

#ifdef JI_DROPIN_ILP64
typedef int64_t blas_int_t;
#define JI_FORTRAN(name) name##_64_
#define JI_CBLAS(name) cblas_##name##64_
#define JI_GLOBAL(name) name##64_
#define JI_LAPACKE(name) LAPACKE_##name##64_
#else
typedef int32_t blas_int_t;
#define JI_FORTRAN(name) name##_
#define JI_CBLAS(name) cblas_##name
#define JI_GLOBAL(name) name
#define JI_LAPACKE(name) LAPACKE_##name
#endif

#define JI_EXPORTED __attribute__((visibility("default")))

/* ---- This thread's handle: thread.c ---- */

/* NULL: none yet, or none any more. By the ABI's fastest way, for which a library that is loaded
 * late has room as long as it wants little. */
extern _Thread_local jhandle_t *ji_dropin_thread_handle
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Makes it. NULL: it cannot be had now. */
jhandle_t *ji_dropin_make_handle(void) __attribute__((cold));

static inline jhandle_t *ji_dropin_handle(void) {
    jhandle_t *handle = ji_dropin_thread_handle;
    return JI_LIKELY(handle != NULL) ? handle : ji_dropin_make_handle();
}

/* After a fork, of which jblas's answer tells: the one of the parent goes, another is made. */
jhandle_t *ji_dropin_renew_handle(void) __attribute__((cold));

/* ---- Calls that jblas did not carry out: error.c ---- */

typedef struct ji_dropin_call {
    const char *name; /* "dgemm" */
    bool from_c;      /* a function of CBLAS */
    bool row_major;
    int before;     /* arguments that Fortran's routine has before jblas's first */
    int refused;    /* the number of the argument that the program was told of; 0: none */
    jhandle_t bare; /* what it computes with where no other handle can be had */
} ji_dropin_call_t;

/* What comes after a status that is an error: a handle with which to call once more, or NULL, when
 * the program was told of the argument that is wrong. */
jhandle_t *ji_dropin_again(ji_dropin_call_t *call, const jhandle_t *handle, jstatus_t status)
    __attribute__((cold));

/* Tells the program of an argument, by jblas's number. */
void ji_dropin_refuse(const ji_dropin_call_t *call, int number) __attribute__((cold));

/* An argument of CBLAS that is none of its enumerators. */
void ji_dropin_refuse_setting(const char *name, bool row_major, int number, const char *what,
                              int value) __attribute__((cold));

/* ---- What the program may define itself: xerbla.c, cblas_xerbla.c ---- */

/* As the reference has them: the caller of cblas_xerbla() reads there whether the call was one of
 * CBLAS, and in which order. */
extern JI_EXPORTED int JI_GLOBAL(CBLAS_CallFromC), JI_GLOBAL(RowMajorStrg);

JI_EXPORTED void JI_FORTRAN(xerbla)(const char *name, const blas_int_t *info, size_t name_length);
JI_EXPORTED void JI_CBLAS(xerbla)(blas_int_t info, const char *name, const char *format, ...);

#endif
