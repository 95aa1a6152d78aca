/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Threads of the program's own for the work of a handle: a pool of pthreads, OpenMP, and one thread
 * that does everything.
 *
 * By default a large call shares its work with a team of threads that jhandle_create() has made. A
 * program that has threads already lends those by an executor of two functions: how many could take
 * part now, and one that runs the parts. Parts do not wait for each other, so any order is right,
 * and results have the same bits with any number of threads: here one sum is taken in five ways. */

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "sample.h"

enum { COUNT = 1 << 21, MEMBERS = 3 };

/* ---- One thread ---- */

static int one_available(void *context) {
    (void)context;
    return 2; /* two parts, one after the other: for a debugger, say */
}

static void one_run(void *context, int count, void (*part)(void *, int), void *argument) {
    (void)context;
    for (int index = 0; index < count; index++)
        part(argument, index);
}

/* ---- A pool ---- */

typedef struct pool {
    pthread_mutex_t turn; /* held by the call whose parts are run */
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work, done;
    void (*part)(void *, int);
    void *argument;
    int next, count, left; /* the next part that nobody has; how many there are, are not done */
    bool ends;
    int runs; /* for this sample's own claim */
} pool_t;

/* With the lock held: takes parts until all are taken. */
static void pool_take_parts(pool_t *pool) {
    while (pool->next < pool->count) {
        const int index = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        pool->part(pool->argument, index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->left == 0)
            pthread_cond_signal(&pool->done);
    }
}

static void *pool_serve(void *argument) {
    pool_t *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->ends) {
        pool_take_parts(pool);
        pthread_cond_wait(&pool->work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Nobody waits for a pool that another call has. */
static int pool_available(void *context) {
    pool_t *pool = context;
    if (pthread_mutex_trylock(&pool->turn) != 0)
        return 1;
    pthread_mutex_unlock(&pool->turn);
    return MEMBERS + 1;
}

static void pool_run(void *context, int count, void (*part)(void *, int), void *argument) {
    pool_t *pool = context;
    if (pthread_mutex_trylock(&pool->turn) != 0) { /* another call has come in between */
        one_run(NULL, count, part, argument);
        return;
    }

    pthread_mutex_lock(&pool->lock);
    pool->part = part;
    pool->argument = argument;
    pool->next = 0;
    pool->count = pool->left = count;
    pool->runs++;
    pthread_cond_broadcast(&pool->work);
    pool_take_parts(pool); /* the calling thread is one of them */
    while (pool->left > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->turn);
}

static void pool_end(pool_t *pool, pthread_t members[], int count) {
    pthread_mutex_lock(&pool->lock);
    pool->ends = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < count; i++)
        pthread_join(members[i], NULL);
}

/* ---- OpenMP ---- */

#ifdef _OPENMP
/* Within a parallel region the others are at work already. */
static int openmp_available(void *context) {
    (void)context;
    return omp_in_parallel() ? 1 : omp_get_max_threads();
}

static void openmp_run(void *context, int count, void (*part)(void *, int), void *argument) {
    (void)context;
#pragma omp parallel for num_threads(count) schedule(static, 1)
    for (int index = 0; index < count; index++)
        part(argument, index);
}
#endif

/* ---- The same sum by each ---- */

static int sum(jhandle_t *handle, const char *by, const double *x, double expected) {
    double result;
    TRY(jblas_ddot(handle, COUNT, x, 1, x, 1, &result));
    printf("%-10s %.17g\n", by, result);
    CLAIM(result == expected);
    return 0;
}

static int sum_by_all(const double *x, pool_t *pool) {
    const jexecutor_t one = {sizeof one, NULL, one_available, one_run};
    const jexecutor_t own = {sizeof own, pool, pool_available, pool_run};
    jhandle_t *handle;
    double expected;
    TRY(jhandle_create(NULL, &handle));

    int threads;
    TRY(jhandle_get_threads(handle, &threads));
    printf("by default a call has at most %d threads of the process's team\n", threads);
    TRY(jhandle_set_threads(handle, 1));
    TRY(jblas_ddot(handle, COUNT, x, 1, x, 1, &expected));
    TRY(jhandle_set_threads(handle, 0));
    if (sum(handle, "team", x, expected) != 0)
        return 1;

    TRY(jhandle_set_executor(handle, &one));
    if (sum(handle, "one", x, expected) != 0)
        return 1;

    TRY(jhandle_set_executor(handle, &own));
    CLAIM(jhandle_executor(handle) == &own);
    if (sum(handle, "pool", x, expected) != 0)
        return 1;
    CLAIM(pool->runs > 0);

#ifdef _OPENMP
    const jexecutor_t openmp = {sizeof openmp, NULL, openmp_available, openmp_run};
    TRY(jhandle_set_executor(handle, &openmp));
    if (sum(handle, "OpenMP", x, expected) != 0)
        return 1;
#endif

    TRY(jhandle_destroy(handle));
    return 0;
}

int main(void) {
    double *x = malloc(COUNT * sizeof *x);
    CLAIM(x != NULL);
    for (int i = 0; i < COUNT; i++)
        x[i] = 1 / (1.0 + i);

    static pool_t pool = {.turn = PTHREAD_MUTEX_INITIALIZER,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .work = PTHREAD_COND_INITIALIZER,
                          .done = PTHREAD_COND_INITIALIZER};
    pthread_t members[MEMBERS];
    int count = 0;
    while (count < MEMBERS && pthread_create(&members[count], NULL, pool_serve, &pool) == 0)
        count++;

    const int failed = sum_by_all(x, &pool);
    pool_end(&pool, members, count);
    free(x);
    return failed;
}
