/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_VENDOR_VENDOR_H
#define JALLOC_LAPACK_VENDOR_VENDOR_H

/* What a GPU vendor's LAPACK computes. Its calls are primitives of the device
 * (blas/primitives/solver.h); what they lack to be jlapack's routines is here: the wide matrices of
 * least squares and singular values, a B that a singular A leaves as it was, an info of 64 bits.
 *
 *   vendor.h vendor.c   a routine's call on a GPU, and one step of it, which is the vendor's
 *   lu.c qr.c spectral.c   the routines
 *
 * What always holds: nothing waits, and nothing looks at what a step found, but for host pointer
 * mode's info; a step has exactly the bytes that the vendor asks for, of the handle's workspace and
 * of its host workspace; where the vendor has not all that a routine needs the routine is not
 * implemented, before anything else is looked at. */

#include "blas/primitives/solver.h"
#include "lapack/guest/guest.h"
#include "lapack/lapack.h"

/* A routine: what it is made of (bits 1 << JI_SOLVER_...), and as of any routine its plan and its
 * run. `ask` finds out how many bytes the vendor wants, writes them into the block, where the plan
 * finds them, and answers a size query's host bytes. */
typedef struct ji_vendor_way {
    unsigned routines;
    jstatus_t (*ask)(jhandle_t *handle, void *block);
    ji_plan_function_t plan;
    ji_run_function_t run;
} ji_vendor_way_t;

/* not implemented, with a message: the device has not all of these. */
jstatus_t ji_vendor_find(jhandle_t *handle, const ji_head_t *head, unsigned routines);
/* Raises *bytes to what the vendor wants for a step. */
jstatus_t ji_vendor_ask(jhandle_t *handle, const ji_solver_t *step, size_t *bytes);
/* Enqueues a step with what the plan's rung has lent: work, and info's place, unless the step has
 * one. */
jstatus_t ji_vendor_step(jhandle_t *handle, ji_solver_t step, const jborrow_t *ws);
/* Ends a call: in host pointer mode an info below 0 is no answer, but a refusal. */
jstatus_t ji_vendor_leave(jhandle_t *handle, const ji_head_t *head, const int64_t *info,
                          jstatus_t status);

/* The buffers of every plan, before a routine's own. */
enum { JI_VENDOR_WORK, JI_VENDOR_INFO, JI_VENDOR_OWN };
#define JI_VENDOR_INFO_BYTES sizeof(int64_t)
/* Its one rung: `bytes` has `count` own ones. */
void ji_vendor_plan(jplan_t *plan, const jhandle_t *handle, const ji_head_t *head, int64_t m,
                    int64_t n, size_t work_bytes, size_t count, const size_t *bytes);

/* *info = what a step left; where that is 0 and `from` is there, to = from, m x n. */
jstatus_t ji_vendor_finish(jhandle_t *handle, const ji_head_t *head, const jborrow_t *ws,
                           int64_t *info, int64_t m, int64_t n, const void *from, int64_t ld_from,
                           void *to, int64_t ld_to);
/* info = 0, of a call that has nothing to do. */
jstatus_t ji_vendor_nothing(jhandle_t *handle, const ji_head_t *head, int64_t *info);
/* to = from, m x n; or its adjoint, n x m. */
jstatus_t ji_vendor_copy(jhandle_t *handle, const ji_head_t *head, bool adjoint, int64_t m,
                         int64_t n, const void *from, int64_t ld_from, void *to, int64_t ld_to);

extern const ji_vendor_way_t ji_vendor_getrf, ji_vendor_getrs, ji_vendor_gesv; /* lu.c */
extern const ji_vendor_way_t ji_vendor_geqrf, ji_vendor_orgqr, ji_vendor_ormqr,
    ji_vendor_gels;                                            /* qr.c */
extern const ji_vendor_way_t ji_vendor_syevd, ji_vendor_gesvd; /* spectral.c */

#endif
