/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A small program to run under libjalloc_record.so; check_record.py knows what it does and looks
 * for it in the trace.
 *
 * Each event has a size of its own, from which the check tells the events apart. "record_test
 * leave" ends by _exit instead of a return. To be compiled with -fno-builtin: a compiler that knows
 * malloc and free removes pairs of them.
 * */

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 2000
#define HANDED 256

/* A size that the compiler does not know, so does not warn of. */
static size_t hidden(size_t size) {
    volatile size_t copy = size;
    return copy;
}

static void require(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "record_test: %s\n", what);
        exit(1);
    }
}

/* One thread, each function once. */
static void every_function(void) {
    free(malloc(hidden(1023))); /* below the threshold */
    free(malloc(hidden(2001)));
    char *zeros = calloc(hidden(1001), 2);
    for (size_t i = 0; i < 2002; i++)
        require(zeros[i] == 0, "calloc is not 0");
    free(zeros);
    require(calloc(hidden(SIZE_MAX), 2) == NULL, "calloc of too much");

    /* realloc over the threshold, above it, and below it again. */
    char *grown = malloc(hidden(100));
    memcpy(grown, "kept", 5);
    grown = realloc(grown, hidden(2003));
    grown = realloc(grown, hidden(2004));
    errno = 0;
    require(realloc(grown, hidden(SIZE_MAX / 2)) == NULL && errno == ENOMEM, "realloc of too much");
    require(strcmp(grown, "kept") == 0, "realloc lost the content");
    grown = realloc(grown, hidden(101));
    require(strcmp(grown, "kept") == 0, "realloc lost the content");
    free(malloc(hidden(2008)));
    free(grown);
    free(realloc(NULL, hidden(2005)));

    void *aligned = NULL;
    require(posix_memalign(&aligned, 4096, hidden(2006)) == 0 && (uintptr_t)aligned % 4096 == 0,
            "posix_memalign");
    free(aligned);
    require(posix_memalign(&aligned, hidden(3), hidden(2007)) == EINVAL,
            "posix_memalign of no power of two");
    aligned = aligned_alloc(256, hidden(2048));
    require((uintptr_t)aligned % 256 == 0, "aligned_alloc");
    free(aligned);
    aligned = memalign(512, hidden(2009));
    require((uintptr_t)aligned % 512 == 0, "memalign");
    free(aligned);
    errno = 0;
    require(malloc(hidden(SIZE_MAX / 4)) == NULL && errno == ENOMEM, "malloc of too much");
    aligned = malloc(hidden(2010));
    free(valloc(hidden(2011)));         /* not recorded */
    require(aligned != NULL, "malloc"); /* live at the end */
}

/* A child has nothing to say in its parent's trace, nor has a program that it becomes. */
static void children(char *self) {
    for (int way = 0; way < 2; way++) {
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < ROUNDS; i++)
                free(malloc(hidden(3001)));
            if (way == 1)
                execl(self, self, "child", (char *)NULL);
            exit(way);
        }
        int status;
        require(waitpid(child, &status, 0) == child && status == 0, "a child failed");
    }
}

/* Threads that take and give back the same addresses: 4000 + n is freed by the thread that took it,
 * 5000 + n by the next thread, through a place where it waits. */
static void *volatile handed[THREADS][HANDED];
static pthread_barrier_t barrier;

static void *thread_run(void *argument) {
    size_t number = (size_t)argument;
    for (int round = 0; round < ROUNDS; round++)
        free(malloc(hidden(4000 + number)));
    for (int i = 0; i < HANDED; i++)
        handed[number][i] = malloc(hidden(5000 + number));
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < HANDED; i++)
        free(handed[(number + 1) % THREADS][i]);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        free(malloc(hidden(3002)));
        return 0;
    }
    mallopt(M_ARENA_MAX, 1); /* threads get each other's addresses */
    every_function();
    pthread_t threads[THREADS];
    require(pthread_barrier_init(&barrier, NULL, THREADS) == 0, "no barrier");
    for (size_t number = 0; number < THREADS; number++)
        require(pthread_create(&threads[number], NULL, thread_run, (void *)number) == 0,
                "no thread");
    for (size_t number = 0; number < THREADS; number++)
        pthread_join(threads[number], NULL);
    pthread_barrier_destroy(&barrier);
    children(argv[0]); /* when a part of the trace is in the file, and a part in the buffer */
    if (argc > 1 && strcmp(argv[1], "leave") == 0)
        _exit(0);
    return 0;
}
