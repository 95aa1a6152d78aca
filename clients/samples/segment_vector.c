/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Two programs share a vector.
 *
 * The writer makes a segment, allocates a vector of doubles in it, gives it to the segment, puts a
 * root to it and ends. The reader attaches, finds the root, waits until the writer has gone, and
 * the vector is still there; what the writer kept for itself is not. Nothing in the segment is an
 * address: the header of the vector holds an offset, since each of the two has the segment mapped
 * somewhere else.
 *
 * Both are this source: without arguments it starts the writer and the reader as programs of their
 * own. */

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

enum { LENGTH = 100000 };

/* As it lies in the segment. */
typedef struct vector {
    uint64_t length;
    joffset_t data; /* doubles */
} vector_t;

static int write_vector(const char *name) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_POSIX;
    options.name = name;
    options.size_bytes = (size_t)1 << 20;
    options.max_bytes = (size_t)64 << 20; /* it grows by itself up to here */
    jsegment_t *segment;
    jshared_t *heap;
    TRY(jsegment_create(&options, &segment));
    TRY(jshared_create(segment, 1, NULL, &heap));

    joffset_t at, data, scratch;
    TRY(jshared_allocate(heap, sizeof(vector_t), _Alignof(vector_t), &at));
    TRY(jshared_allocate(heap, LENGTH * sizeof(double), 64, &data));
    TRY(jshared_allocate(heap, 4096, 0, &scratch)); /* the writer's own: it ends with the writer */

    vector_t *vector = JSEGMENT_AT(segment, vector_t, at, 1);
    double *x = JSEGMENT_AT(segment, double, data, LENGTH);
    CLAIM(vector != NULL && x != NULL);
    vector->length = LENGTH;
    vector->data = data;
    for (int i = 0; i < LENGTH; i++)
        x[i] = 0.5 * i;

    /* First it is the segment's, then it can be found: so nobody finds what could vanish. */
    TRY(jshared_give(heap, data, JSEGMENT_SLOT_SEGMENT));
    TRY(jshared_give(heap, at, JSEGMENT_SLOT_SEGMENT));
    TRY(jsegment_set_root(segment, "vector", at));
    printf("writer: %d doubles at offset %llu, here %p\n", LENGTH, (unsigned long long)data,
           (void *)x);
    TRY(jsegment_detach(segment));
    return 0;
}

static int read_vector(const char *name) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_POSIX;
    options.name = name;
    jsegment_t *segment;
    jshared_t *heap;
    joffset_t at;
    jstatus_t status;
    /* The segment appears complete or not at all; the root when there is something to find. */
    for (int tries = 0;
         (status = jsegment_attach(&options, &segment)) == JSTATUS_NOT_FOUND && tries < 10000;
         tries++)
        usleep(1000);
    TRY(status);
    for (int tries = 0;
         (status = jsegment_get_root(segment, "vector", &at)) == JSTATUS_NOT_FOUND && tries < 10000;
         tries++)
        usleep(1000);
    TRY(status);

    /* Until the reader is alone. */
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    for (int tries = 0; tries < 10000; tries++) {
        TRY(jsegment_get_stats(segment, &stats));
        if (stats.processes == 1)
            break;
        usleep(1000);
    }
    /* The writer's scratch has gone with it. */
    CLAIM(stats.processes == 1 && stats.owned_bytes == 0);

    vector_t *vector = JSEGMENT_AT(segment, vector_t, at, 1);
    CLAIM(vector != NULL && vector->length == LENGTH);
    double *x = JSEGMENT_AT(segment, double, vector->data, vector->length);
    CLAIM(x != NULL);
    double sum = 0;
    for (uint64_t i = 0; i < vector->length; i++)
        sum += x[i];
    CLAIM(sum == 0.5 * LENGTH * (LENGTH - 1) / 2);
    printf("reader: the sum is %.1f, the vector is here %p\n", sum, (void *)x);

    /* Whoever is the last clears up. */
    TRY(jshared_open(segment, 1, &heap));
    TRY(jsegment_set_root(segment, "vector", JOFFSET_NULL));
    TRY(jshared_deallocate(heap, vector->data));
    TRY(jshared_deallocate(heap, at));
    TRY(jsegment_destroy(segment));
    return 0;
}

static pid_t start(const char *program, const char *role, const char *name) {
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, role, name, (char *)NULL);
        _exit(127);
    }
    return child;
}

int main(int argc, char **argv) {
    if (argc == 3)
        return strcmp(argv[1], "write") == 0 ? write_vector(argv[2]) : read_vector(argv[2]);
    char name[64];
    snprintf(name, sizeof name, "/jalloc-vector-%ld", (long)getpid());
    const pid_t writer = start(argv[0], "write", name), reader = start(argv[0], "read", name);
    CLAIM(writer > 0 && reader > 0);
    int wrote = 1, read = 1;
    (void)waitpid(writer, &wrote, 0);
    (void)waitpid(reader, &read, 0);
    if (wrote != 0 || read != 0)
        (void)jsegment_remove(JSEGMENT_POSIX, name, JSEGMENT_REMOVE_ALWAYS);
    CLAIM(wrote == 0 && read == 0);
    return 0;
}
