/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The forecast's covariance, too large for one process: a distributed buffer.
 *
 * co2_forecast computes the log marginal likelihood of a record from the Cholesky factor of its
 * covariance K, which for the 3,177 months of sunspots is 77 MiB. Here each process makes and holds
 * its blocks of K alone:
 *
 *     construct by function    K_ij = covariance(month_i - month_j), block by block, the lower
 *                              triangle
 *     jbuffer_cholesky         K = L L'
 *     jbuffer_solve_triangular z = L^-1 y, y the observations, which rank 0 has
 *     jbuffer_norm             y' K^-1 y = |z|^2
 *     jbuffer_as_part          sum log L_ii, each process over its part of the diagonal
 *
 * Rank 0 then runs the forecast itself, which is jblas in one process, and both likelihoods must
 * agree. The model, the record and the forecast are the files of co2_forecast/. */

#include <math.h>
#include <stdlib.h>

#include "../sample.h"
#include "co2_forecast.h"
#include "jalloc/mpi.h"

/* Relative: sums of 10^7 roundings of 1e-16, and K's condition. */
static const double tolerance = 1e-10;

/* What the function that fills blocks knows. */
typedef struct kernel {
    const int *month;
    const double *by_lag; /* covariance of two months so far apart */
} kernel_t;

static jbuffer_filled_t fill_block(void *context, const jbuffer_block_t *block) {
    const kernel_t *kernel = context;
    const int *row = kernel->month + block->starts[0], *column = kernel->month + block->starts[1];
    for (int64_t j = 0; j < block->extents[1]; j++) {
        double *x = (double *)block->data + j * block->strides[1];
        for (int64_t i = 0; i < block->extents[0]; i++)
            x[i * block->strides[0]] = kernel->by_lag[abs(row[i] - column[j])];
    }
    return JBUFFER_BLOCK_FILLED;
}

/* log det L, of a distributed L. */
static int sum_of_logs(jruntime_t *runtime, jbuffer_t *factor, double *sum) {
    jbuffer_part_t part = JBUFFER_PART_INIT;
    MPI_Comm ranks;
    TRY(jbuffer_as_part(factor, &part));
    const jdistribution_t *d = &part.distribution;
    double mine = 0;
    for (int64_t j = 0; j < part.columns; j++) {
        const int64_t global = jdistribution_to_global(d, 1, d->coordinates[1], j);
        if (jdistribution_owner(d, 0, global) == d->coordinates[0])
            mine += log(((double *)part.pointer)[jdistribution_to_local(d, 0, global) +
                                                 j * part.leading_dimension]);
    }
    TRY(jruntime_get_communicator(runtime, &ranks));
    MPI_Allreduce(&mine, sum, 1, MPI_DOUBLE, MPI_SUM, ranks);
    return 0;
}

/* The likelihood by all processes; observation is read on rank 0 alone. */
static int likelihood_distributed(jruntime_t *runtime, jhandle_t *handle, const model_t *model,
                                  const record_t *record, double *observation, double *likelihood) {
    const int64_t n = record->count, extents[2] = {n, n};
    const int64_t lags = record->month[n - 1] - record->month[0] + 1;
    double *by_lag = malloc((size_t)lags * sizeof *by_lag);
    CLAIM(by_lag != NULL);
    covariance_by_lag(model, lags, by_lag);
    kernel_t kernel = {record->month, by_lag};

    /* K: a symmetric matrix over a grid of processes as square as can be, in blocks of 64. */
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_DISTRIBUTED;
    jbuffer_allocator_t *allocator, *local;
    jlayout_t square, column;
    jbuffer_t *covariance, *factor, *y, *z;
    size_t mine_bytes;
    TRY(jlayout_init(&square, 2, extents, JORDER_COLUMN_MAJOR));
    TRY(jlayout_set_structure(&square, JSTRUCTURE_SYMMETRIC_LOWER));
    TRY(jbuffer_allocator_create(runtime, &options, &allocator));
    TRY(jbuffer_allocator_get_local_bytes(allocator, &square, &mine_bytes));
    TRY(jbuffer_construct_function(allocator, &square, fill_block, &kernel, 0, &covariance));

    int64_t minor;
    TRY(jbuffer_cholesky(handle, covariance, &minor));
    CLAIM(minor == 0);
    TRY(jbuffer_with_structure(covariance, JSTRUCTURE_TRIANGULAR_LOWER, &factor));

    /* Rank 0's observations as a local buffer, and from it a distributed one, which keeps the
     * allocator's grid. */
    TRY(jlayout_init(&column, 1, extents, JORDER_COLUMN_MAJOR));
    TRY(jbuffer_allocator_rebind(allocator, JBUFFER_LOCAL, JDATATYPE_F64, &local));
    TRY(jbuffer_wrap(local, &column, observation, &y));
    TRY(jbuffer_construct_copy(allocator, y, &z));
    const double one = 1;
    double norm, log_determinant;
    TRY(jbuffer_solve_triangular(handle, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, &one,
                                 factor, z));
    TRY(jbuffer_norm(handle, JNORM_FROBENIUS, z, &norm));
    if (sum_of_logs(runtime, factor, &log_determinant) != 0)
        return 1;
    const double log_two_pi = 1.8378770664093454836;
    *likelihood = -norm * norm / 2 - log_determinant - (double)n / 2 * log_two_pi;

    jruntime_info_t info = JRUNTIME_INFO_INIT;
    TRY(jruntime_get_info(runtime, &info));
    TRY(jbuffer_allocator_get_options(allocator, &options));
    if (info.rank == 0)
        printf("%d processes as %d x %d, each with about %.1f of %.1f MiB\n", info.processes,
               options.grid[0], options.grid[1], (double)mine_bytes / (1 << 20),
               (double)(n * n) * sizeof(double) / (1 << 20));
    TRY(jbuffer_release(z));
    TRY(jbuffer_release(y));
    TRY(jbuffer_release(factor));
    TRY(jbuffer_release(covariance));
    TRY(jbuffer_allocator_release(local));
    TRY(jbuffer_allocator_release(allocator));
    free(by_lag);
    return 0;
}

/* The likelihood by the forecast, in one process. */
static int likelihood_here(jhandle_t *handle, const problem_t *problem, double *likelihood) {
    operands_t operands;
    forecast_t forecast;
    double milliseconds;
    size_t callee_bytes;
    TRY(posterior_query(handle, problem->n, &callee_bytes));
    TRY(operands_init(&operands, jhandle_device(handle), problem->n, callee_bytes));
    TRY(regression_run(handle, problem, &operands, &forecast, &milliseconds));
    operands_free(&operands);
    *likelihood = forecast.log_marginal_likelihood;
    return 0;
}

static int run(const char *path) {
    jruntime_t *runtime;
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    jhandle_t *handle;
    record_t record;
    problem_t problem = {0};
    const model_t *model = model_find("sunspots");
    TRY(jruntime_create_mpi(MPI_COMM_WORLD, &runtime));
    TRY(jruntime_get_info(runtime, &info));
    TRY(jhandle_create(NULL, &handle));
    CLAIM(model != NULL && record_read(path, &record));

    /* Rank 0 has the observations, as problem_init() prepares them; the others room for as many. */
    double *observation;
    if (info.rank == 0) {
        CLAIM(problem_init(&problem, model, &record));
        observation = problem.observation;
    } else {
        CLAIM((observation = calloc((size_t)record.count, sizeof *observation)) != NULL);
    }

    double distributed, here = 0;
    if (likelihood_distributed(runtime, handle, model, &record, observation, &distributed) != 0)
        return 1;
    if (info.rank == 0) {
        if (likelihood_here(handle, &problem, &here) != 0)
            return 1;
        printf("log marginal likelihood of %lld months\n  distributed %.9f\n  forecast's  %.9f\n",
               (long long)record.count, distributed, here);
        CLAIM(fabs(distributed - here) <= tolerance * fabs(here));
        problem_free(&problem);
    } else {
        free(observation);
    }
    record_free(&record);
    TRY(jhandle_destroy(handle));
    TRY(jruntime_release(runtime));
    return 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (run(argc > 1 ? argv[1] : CO2_FORECAST_DATA_DIR "/sunspots-monthly.csv") != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
