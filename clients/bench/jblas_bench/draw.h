/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JBLAS_BENCH_DRAW_H
#define JBLAS_BENCH_DRAW_H

/* Random calls, for what is measured over many shapes: jalloc-tune and bench_plan. */

#include "problem.h"

typedef struct draw {
    uint64_t state; /* of the random numbers; anything */
    int64_t low, high;
    double least_flops, most_flops; /* of a call; drivers' are estimated */
    double flops;                   /* of the last one */
} draw_t;

/* The routines that are drawn: those of matrices with more ways than one, by their plain names. */
bool draw_has(const routine_t *routine);

/* Sizes on a logarithmic scale, each for itself, and enumerators. False where no call of the
 * routine was found within the bounds that a size query of the handle takes. */
bool draw_call(draw_t *draw, jhandle_t *handle, const routine_t *routine, jdatatype_t type,
               options_t *options);

#endif
