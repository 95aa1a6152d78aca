/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JBLAS_BENCH_MEASURE_H
#define JBLAS_BENCH_MEASURE_H

/* What came of one line. */

#include "problem.h"

typedef struct measurement {
    jstatus_t status;      /* of the calls */
    char message[256];     /* where that is an error */
    int rung;              /* the lowest way that a timed call took; -1: the routine has no plan */
    size_t asked_bytes;    /* by the size query */
    size_t capacity_bytes; /* of the workspace */
    size_t high_bytes;     /* most that was borrowed during the timed calls */
    uint64_t allocations;  /* of workspace during the timed calls */
    double seconds;        /* of one call, median; 0: not timed */
    double direct_seconds; /* of the direct call; 0: there is none */
    double flops;          /* of one call */
    bool verified;         /* then: */
    long double error, bound;
} measurement_t;

/* Runs a line. False after a message when it could not even begin. */
bool measure(const options_t *options, const routine_t *routine, measurement_t *measurement);

/* Of a sample to which it hardly matters what was done before. */
#define MEASURE_LONG_SECONDS 3e-4

/* Seconds of one call of what the problem's slots hold, which are restored before. */
double measure_sample(jhandle_t *handle, problem_t *problem, jstatus_t *status);
/* Makes the operands, with as many slots as make a sample long enough. False: no memory for them.
 * Where *status is an error, a first call has failed; the problem is there to be ended. */
bool measure_init(problem_t *problem, jhandle_t *handle, const routine_t *routine,
                  const options_t *options, jstatus_t *status);
/* What the call would like, with NULL operands. */
jstatus_t measure_query(jhandle_t *handle, const problem_t *problem, size_t *bytes);
/* Of one item, of elements of that type. */
double measure_flops(const routine_t *routine, const options_t *options, jdatatype_t type);
/* A workspace of exactly so many bytes, the program's own, whose pages are there. */
jstatus_t measure_lend(jhandle_t *handle, size_t bytes);

/* A row of the table (the head before the first), or a line of JSON. */
void report(const options_t *options, const routine_t *routine, const measurement_t *measurement);

/* Whether the answer was good: no error status, and right where it was compared. */
bool measurement_is_good(const measurement_t *measurement);

#endif
