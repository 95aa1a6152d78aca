/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DROPIN_ENTRY_H
#define JALLOC_DROPIN_ENTRY_H

/* What Fortran's and C's entries have in common: which routines there are, and the call of jblas.
 *
 * An entry fills a block, `args`, as the log and the primitives know it (primitive.h), from its own
 * parameters; that is expanded from the routine's row (rows.h). Then JI_DROPIN_RUN expands the row
 * again and calls jblas with what is in the block. Most of the block falls away in compiling. */

#include "blas/primitives/primitive.h"
#include "blas/routine/rows.h"
#include "dropin/dropin.h"
#include "dropin/report.h"

/* BLAS's routines, by what a function of theirs is: VOID(routine, level), or VALUE(routine, of)
 * returns its result, which is of the kind that `of` says (rows.h). GERC is VOID for who sees no
 * difference: row-major it is geru. */
#define JI_DROPIN_LIST(VOID, VALUE, GERC)                                                          \
    VALUE(asum, REAL)                                                                              \
    VALUE(nrm2, REAL)                                                                              \
    VALUE(dot, ELEMENT)                                                                            \
    VALUE(dotu, ELEMENT)                                                                           \
    VALUE(dotc, ELEMENT)                                                                           \
    VALUE(dsdot, WIDE)                                                                             \
    VALUE(sdsdot, ELEMENT)                                                                         \
    VALUE(iamax, INDEX)                                                                            \
    VOID(axpy, 1)                                                                                  \
    VOID(copy, 1)                                                                                  \
    VOID(scal, 1)                                                                                  \
    VOID(csscal, 1)                                                                                \
    VOID(zdscal, 1)                                                                                \
    VOID(swap, 1)                                                                                  \
    VOID(rot, 1)                                                                                   \
    VOID(rotm, 1)                                                                                  \
    VOID(gemv, 2)                                                                                  \
    VOID(ger, 2)                                                                                   \
    VOID(geru, 2)                                                                                  \
    GERC(gerc, 2)                                                                                  \
    VOID(symv, 2)                                                                                  \
    VOID(hemv, 2)                                                                                  \
    VOID(syr, 2)                                                                                   \
    VOID(her, 2)                                                                                   \
    VOID(syr2, 2)                                                                                  \
    VOID(her2, 2)                                                                                  \
    VOID(trmv, 2)                                                                                  \
    VOID(trsv, 2)                                                                                  \
    VOID(gbmv, 2)                                                                                  \
    VOID(sbmv, 2)                                                                                  \
    VOID(hbmv, 2)                                                                                  \
    VOID(spmv, 2)                                                                                  \
    VOID(hpmv, 2)                                                                                  \
    VOID(spr, 2)                                                                                   \
    VOID(hpr, 2)                                                                                   \
    VOID(spr2, 2)                                                                                  \
    VOID(hpr2, 2)                                                                                  \
    VOID(tbmv, 2)                                                                                  \
    VOID(tbsv, 2)                                                                                  \
    VOID(tpmv, 2)                                                                                  \
    VOID(tpsv, 2)                                                                                  \
    VOID(gemm, 3)                                                                                  \
    VOID(symm, 3)                                                                                  \
    VOID(hemm, 3)                                                                                  \
    VOID(syrk, 3)                                                                                  \
    VOID(herk, 3)                                                                                  \
    VOID(syr2k, 3)                                                                                 \
    VOID(her2k, 3)                                                                                 \
    VOID(trmm, 3)                                                                                  \
    VOID(trsm, 3)

/* Functions of 16-bit elements have no name in BLAS: F_s(context, ...) and so on are expanded, F_h
 * is nothing. */
#define JI_DROPIN_ONLY(F, t, ...) JI_DROPIN_ONLY_##t(F, __VA_ARGS__)
#define JI_DROPIN_ONLY_s(F, ...) F(__VA_ARGS__)
#define JI_DROPIN_ONLY_d(F, ...) F(__VA_ARGS__)
#define JI_DROPIN_ONLY_c(F, ...) F(__VA_ARGS__)
#define JI_DROPIN_ONLY_z(F, ...) F(__VA_ARGS__)
#define JI_DROPIN_ONLY_h(F, ...)
#define JI_DROPIN_ONLY_b(F, ...)

/* A row's list of parameters begins with a comma, for jblas's have a handle first. */
#define JI_DROPIN_LIST_OF(...) JI_DROPIN_WITHOUT_FIRST(__VA_ARGS__)
#define JI_DROPIN_WITHOUT_FIRST(nothing, ...) __VA_ARGS__

#define JI_DROPIN_BLOCK_1 ji_vector_t
#define JI_DROPIN_BLOCK_2 ji_matvec_t
#define JI_DROPIN_BLOCK_3 ji_matmat_t

/* ---- The call ---- */

#define JI_DROPIN_PASS(t, kind, ...) JI_DROPIN_PASS_##kind(__VA_ARGS__)
#define JI_DROPIN_PASS_ENUM(name, which) , args.name
#define JI_DROPIN_PASS_LENGTH(name) , args.name
#define JI_DROPIN_PASS_SIZE(name) , args.name
#define JI_DROPIN_PASS_SCALAR(name, of) , args.name.pointer
#define JI_DROPIN_PASS_RESULT(name, of) , args.name
#define JI_DROPIN_PASS_VECTOR(name, inc, ...) , ji_dropin_unconst(args.name), args.inc
#define JI_DROPIN_PASS_MATRIX(name, ld, ...) , ji_dropin_unconst(args.name), args.ld
#define JI_DROPIN_PASS_PACKED(name, ...) , ji_dropin_unconst(args.name)

#define JI_DROPIN_PASS_LEADING(ld, name, shape) , args.ld

static inline void *ji_dropin_unconst(const void *pointer) { return (void *)(uintptr_t)pointer; }

/* Counts a call, by the name that the program called, for the report. */
#define JI_DROPIN_COUNT(called, is_lapack)                                                         \
    if (JI_UNLIKELY(ji_dropin_reports)) {                                                          \
        static ji_dropin_counter_t counter = {.name = (called), .lapack = is_lapack};              \
        ji_dropin_count(&counter);                                                                 \
    }

/* Carries out `call`, an expression with `handle` in it, for <function>; once more where it has to
 * be. Declares `status`, and `refused`, the number of the argument that the program was told of. */
#define JI_DROPIN_ATTEMPT(arguments, function, is_from_c, is_row_major, call)                      \
    int refused = 0;                                                                               \
    jhandle_t *handle = ji_dropin_handle();                                                        \
    jstatus_t status = call;                                                                       \
    if (JI_UNLIKELY(jstatus_is_error(status))) {                                                   \
        ji_dropin_call_t failed = {.name = #function,                                              \
                                   .from_c = is_from_c,                                            \
                                   .row_major = is_row_major,                                      \
                                   .before = arguments};                                           \
        while (jstatus_is_error(status) &&                                                         \
               (handle = ji_dropin_again(&failed, handle, status)) != NULL)                        \
            status = call;                                                                         \
        refused = failed.refused;                                                                  \
    }

/* Both, for a function of BLAS. */
#define JI_DROPIN_CARRY_OUT(function, is_from_c, is_row_major, call)                               \
    JI_DROPIN_CARRY_OUT_BEHIND(0, function, is_from_c, is_row_major, call)
/* The same where Fortran's routine has that many arguments before jblas's first. */
#define JI_DROPIN_CARRY_OUT_BEHIND(arguments, function, is_from_c, is_row_major, call)             \
    JI_DROPIN_COUNT(is_from_c ? "cblas_" #function : #function "_", false)                         \
    JI_DROPIN_ATTEMPT(arguments, function, is_from_c, is_row_major, call)                          \
    (void)refused;

/* Calls jblas_<called> with `args`, for <function>. */
#define JI_DROPIN_RUN(routine, t, called, function, is_from_c, is_row_major)                       \
    JI_DROPIN_CARRY_OUT(function, is_from_c, is_row_major,                                         \
                        jblas_##called(handle JI_ARGUMENTS_##routine(JI_DROPIN_PASS, t)))

#endif
