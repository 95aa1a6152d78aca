/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef CO2_FORECAST_H
#define CO2_FORECAST_H

/* co2_forecast: what the files of the program share.
 *
 *     data.c        a monthly record, read from a file
 *     covariance.c  how alike two months are: the formulas and their constants
 *     regression.c  the linear algebra, all of it jblas calls on one handle
 *     posterior.c   one step of it, a routine of the program's own with three rungs
 *     modes.c       the same regression in every workspace mode and with too little
 *     rungs.c       what each rung of posterior.c is lent, and what it takes
 *     stages.c      the time of each stage, beside the same stages by OpenBLAS
 *     verify.c      comparison with the numbers of reference/
 *     picture.c     an SVG file
 *     main.c        options, and what is printed
 *
 * To see how a program uses jalloc, read regression.c, posterior.c and modes.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/jalloc.h"

#define FORECAST_YEARS 10
#define FORECAST_MONTHS (12 * FORECAST_YEARS)
/* Standard deviations on either side that hold 95% of a normal distribution. */
#define TWO_SIDED_95 1.959963984540054

/* data.c: values by month. Months are counted from the year 0 (12 * year + month - 1), so that
 * distances are exact. */
typedef struct record_t {
    int64_t count;
    int *month; /* strictly increasing; may have gaps */
    double *value;
} record_t;

bool record_read(const char *path, record_t *record);
void record_free(record_t *record);
/* "1998-01"; the buffer is the caller's. */
const char *month_text(int month, char text[16]);

/* covariance.c */
typedef enum term_kind_t {
    TERM_SMOOTH,   /* amplitude^2 exp(-d^2 / 2 length^2) */
    TERM_PERIODIC, /* amplitude^2 exp(-d^2 / 2 length^2 - 2 sin^2(pi d / period) / width^2) */
    TERM_RATIONAL, /* amplitude^2 (1 + d^2 / (2 shape length^2))^-shape */
    TERM_NOISE     /* amplitude^2 where both are the same observation, else 0 */
} term_kind_t;

typedef struct term_t {
    term_kind_t kind;
    const char *meaning;
    double amplitude;    /* in the model's unit */
    double length;       /* years */
    double period;       /* years */
    double width, shape; /* no unit */
} term_t;

typedef struct model_t {
    const char *name; /* also of the reference file */
    const char *file; /* of the record it was made for */
    const char *title, *unit, *source;
    bool square_root; /* the model describes the square root of the values */
    int term_count;
    term_t term[5];
} model_t;

const model_t *model_find(const char *name);
void model_print(const model_t *model);
/* The covariance of two months `lag` apart; fills table[0 .. count - 1]. */
void covariance_by_lag(const model_t *model, int64_t count, double *table);
/* From the values' unit to the model's and back; what lies below zero in a square root is zero. */
double model_from_value(const model_t *model, double value);
double model_to_value(const model_t *model, double y);

/* Makes a call, keeps perf degraded, leaves the function on an error. The answers to a size query
 * are no errors. */
#define CALL(call)                                                                                 \
    do {                                                                                           \
        jstatus_t call_status_ = (call);                                                           \
        if (jstatus_is_error(call_status_))                                                        \
            return call_status_;                                                                   \
        if (call_status_ == JSTATUS_PERF_DEGRADED)                                                 \
            status = call_status_;                                                                 \
    } while (0)

double now_ms(void);

/* posterior.c: S = K** - K*' K^-1 K*. */
#define POSTERIOR_RUNGS 3

/* What jblas wants for rung 0, beside what that borrows itself. The handle must not be in a query.
 * Once is enough for all calls of a size on handles of the same device and accuracy. */
jstatus_t posterior_query(jhandle_t *handle, int64_t n, size_t *callee_bytes);
/* The workspace that `rung` needs. */
size_t posterior_bytes(const jhandle_t *handle, int64_t n, size_t callee_bytes, int rung);
/* "a year at a time" */
const char *posterior_meaning(int rung);
/* S becomes S - K*' K^-1 K*.
 *   factor  n x n, lower triangle: K's
 *   cross   n x FORECAST_MONTHS: K*
 *   s       FORECAST_MONTHS squared, lower triangle: K** on entry
 * Workspace: rung 0 "decade"  n x FORECAST_MONTHS, and what jblas wants
 *            rung 1 "year"    n x 12
 *            rung 2 "month"   n
 * Runs in the handle's stream and does not synchronize (default mode: growing does). Returns
 * success; perf degraded (a lower rung); memory error (none fits: S is as it was); jblas's
 * errors. */
jstatus_t posterior_covariance(jhandle_t *handle, int64_t n, size_t callee_bytes,
                               const double *factor, const double *cross, double *s);

/* regression.c: the problem, in ordinary memory; column-major. */
typedef struct problem_t {
    int64_t n;                  /* observations */
    int month[FORECAST_MONTHS]; /* the months to forecast */
    /* Taken off the observations, put back on the forecast; model's unit. */
    double observation_mean;
    /* n x n, lower triangle: observations with each other, noise included. */
    double *covariance;
    double *cross; /* n x FORECAST_MONTHS: observations with months to forecast */
    /* FORECAST_MONTHS squared, lower triangle: as observations to come, noise included */
    double *prior;
    double *observation; /* n */
    /* FORECAST_MONTHS x FORECAST_YEARS: 1/12 where the month belongs to the year */
    double *weight;
} problem_t;

/* What comes out, in the model's unit. Variances are those of observations to come: noise
 * included. */
typedef struct forecast_t {
    double log_marginal_likelihood;
    double data_fit, complexity, normalization; /* the terms it is the sum of */
    double mean[FORECAST_MONTHS], variance[FORECAST_MONTHS];
    double year_mean[FORECAST_YEARS], year_variance[FORECAST_YEARS];
} forecast_t;

/* Memory on the device for one regression; see regression.c. */
typedef struct operands_t {
    jdevice_t *device;
    size_t callee_bytes;
    void *block;
    size_t block_bytes;
    double *covariance, *cross, *posterior, *observation, *alpha, *mean, *weight, *product,
        *year_posterior, *year_mean;
    double *factor_diagonal, *variance, *year_variance;
} operands_t;

bool problem_init(problem_t *problem, const model_t *model, const record_t *record);
void problem_free(problem_t *problem);
jstatus_t operands_init(operands_t *operands, jdevice_t *device, int64_t n, size_t callee_bytes);
void operands_free(operands_t *operands);
/* The workspace that serves a regression of this size best. */
jstatus_t regression_query(jhandle_t *handle, int64_t n, size_t callee_bytes, size_t *size_bytes);
/* The least that serves one, the best, and what the bytes between buy; jrequirement_destroy() ends
 * it. */
jstatus_t regression_requirement(jhandle_t *handle, int64_t n, size_t callee_bytes,
                                 jrequirement_t **requirement);
/* One regression; `milliseconds` is the time of the jblas calls. Success, perf degraded or an
 * error. */
jstatus_t regression_run(jhandle_t *handle, const problem_t *problem, const operands_t *operands,
                         forecast_t *forecast, double *milliseconds);

/* The linear algebra by stages, each of which takes what those before it left. */
typedef enum stage_t { STAGE_FACTOR, STAGE_SOLVE, STAGE_MONTHS, STAGE_YEARS, STAGES } stage_t;
/* A stage's calls. While the handle is queried, the operands may be NULL, and nothing is computed.
 *   quadratic  y' alpha
 *   minor      0, or the order of the first leading minor of K that is not positive definite, which
 *              is an error: nothing follows then */
jstatus_t regression_stage(jhandle_t *handle, stage_t stage, int64_t n, const operands_t *operands,
                           double *quadratic, int64_t *minor);

/* Copies the problem to the device, and waits for it. */
jstatus_t operands_fill(const operands_t *operands, jhandle_t *handle, const problem_t *problem);

/* modes.c: a handle as the program wants it, with so much workspace from the beginning; 0: none. */
jstatus_t handle_make(jdevice_t *device, size_t preallocate_bytes, jhandle_t **handle);
/* "perf degraded" for JSTATUS_PERF_DEGRADED. */
const char *status_words(jstatus_t status, char words[32]);
/* Runs in every mode, prints the table, leaves a forecast. False if a run failed, if two disagree,
 * or if a fixed workspace of the queried size was not what the query promised. */
bool modes_run(jdevice_t *device, const problem_t *problem, int repeat, forecast_t *forecast);
/* The largest relative difference of two forecasts in any number, and what two ways to one may have
 * (modes.c says why). */
double forecast_difference(const forecast_t *a, const forecast_t *b);
#define FORECAST_AGREEMENT 1e-9

/* staircase.c: prints what each byte of workspace buys, as it is predicted, and runs the regression
 * with the least, with some, and with the best. False if one of them fails, degrades otherwise than
 * was announced, or does not agree with `forecast`. */
bool staircase_run(jdevice_t *device, const problem_t *problem, int repeat,
                   const forecast_t *forecast);

/* rungs.c: what a rung of posterior.c was lent and took. */
typedef struct rung_t {
    size_t lent_bytes;
    double milliseconds; /* the shortest */
} rung_t;

/* Runs each rung in a workspace of just its bytes, prints the table. False if one was not taken
 * there, did not say what it was, or does not agree with rung 0, or if less than the least was
 * enough. */
bool rungs_run(jdevice_t *device, const problem_t *problem, int repeat,
               rung_t rungs[POSTERIOR_RUNGS]);

/* stages.c: prints the time of each stage, the shortest, beside that of the same stages by OpenBLAS
 * (the library that JALLOC_CBLAS names), if it can be loaded and the device is the host. False if
 * results differ. */
bool stages_run(jdevice_t *device, const problem_t *problem, int repeat);

/* verify.c: false if a number differs from the reference by more than 1e-8 of it. */
bool verify(const char *path, const problem_t *problem, const forecast_t *forecast);

/* picture.c: record, forecast and rungs. `later`: what was measured after the record's end, may be
 * empty. */
bool picture_write(const char *path, const model_t *model, const record_t *record,
                   const record_t *later, const problem_t *problem, const forecast_t *forecast,
                   const rung_t rungs[POSTERIOR_RUNGS]);

#endif
