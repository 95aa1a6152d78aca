/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A fuzz target: somebody who may write to the segment writes whatever it likes into it, between
 * the operations of others, or at the same time. They get statuses; nothing outside the mapping is
 * touched.
 *
 *     byte 0          bit 0: a thread scribbles beside; bits 1, 2: how many operations between two
 *                     scribbles
 *     byte 1          a seed of the operations
 *     then, each      a scribble: offset (2 bytes, of words), where (1), value (5)
 *
 * The segment is an array between two pages that trap. With Clang this is a libFuzzer target (cmake
 * -DJALLOC_FUZZ=ON). Without, it has a main of its own: segment_scribble_fuzz COUNT [SEED], or
 * FILE... */

#include <pthread.h>

#include "jalloc/jalloc.h"
#include "segment_exercise.h"
#include "shm/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES = 160 << 10, STEP = 8 };

static unsigned char *array;

static void start(void) {
    array = exercise_guarded(BYTES);
    (void)jlog_set_level(JLOG_OFF);
}

/* One store, as any process can make it; racing with everybody is its purpose. */
static void scribble(const uint8_t *step) {
    const size_t tables = 32768 / 8, words = BYTES / 8, draw = step[0] | (size_t)step[1] << 8;
    const size_t at = step[2] % 4 == 0   ? draw % words
                      : step[2] % 4 == 1 ? draw % 512
                                         : draw % tables;
    uint64_t *word = (uint64_t *)(void *)array + at,
             value = __atomic_load_n(word, __ATOMIC_RELAXED);
    uint64_t random =
        step[3] | (uint64_t)step[4] << 8 | (uint64_t)step[5] << 32 | (uint64_t)step[6] << 56;
    switch (step[7] % 5) {
    case 0: value = random; break;
    case 1: value ^= (uint64_t)1 << random % 64; break;
    case 2: value += (uint64_t)(int8_t)step[3]; break;
    case 3:
        value = __atomic_load_n((uint64_t *)(void *)array + random % words, __ATOMIC_RELAXED);
        break;
    default: value = (value & ~(uint64_t)0xff) | step[3]; break;
    }
    /* The constants are copied when a process attaches; segment_attach_fuzz is about them. */
    if (at >= 64)
        __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

typedef struct scribbler {
    const uint8_t *steps;
    size_t count;
    int stop;
} scribbler_t;
static void *scribble_on(void *context) {
    scribbler_t *scribbler = context;
    for (size_t i = 0; !__atomic_load_n(&scribbler->stop, __ATOMIC_RELAXED);
         i = (i + 1) % scribbler->count)
        scribble(scribbler->steps + i * STEP);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (array == NULL)
        start();
    if (size < 2 + STEP)
        return 0;
    const jsegment_options_t options = exercise_options(array, BYTES);
    exercise_population_t population;
    memset(array, 0, BYTES);
    exercise_populate(&options, &population);
    exercise_t workers[2] = {{.segment = population.segments[0], .random = data[1]},
                             {.segment = population.segments[1], .random = data[1] + 1u}};
    const size_t count = (size - 2) / STEP;
    const unsigned between = 1u << (data[0] >> 1) % 4;
    scribbler_t scribbler = {data + 2, count, 0};
    pthread_t thread;
    const bool beside = data[0] & 1;
    if (beside)
        FUZZ_DEMAND(pthread_create(&thread, NULL, scribble_on, &scribbler) == 0);
    for (size_t i = 0; i < count && workers[0].busy + workers[1].busy < 16; ++i) {
        if (!beside)
            scribble(data + 2 + i * STEP);
        for (unsigned k = 0; k < between; ++k)
            exercise_change(&workers[(i + k) % 2]);
    }
    for (unsigned i = 0; i < 2; ++i)
        exercise_look(&workers[i]);
    exercise_segment(&options, data[1], 20);
    if (beside) {
        __atomic_store_n(&scribbler.stop, 1, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
    }
    for (unsigned i = 0; i < 2; ++i) {
        exercise_look(&workers[i]);
        /* A lock that seems to be held by a living process keeps everybody waiting. Without it, all
         * can leave. */
        __atomic_store_n(&((shm_header_t *)(void *)array)->lock, 0, __ATOMIC_RELAXED);
        /* Whatever is left. */
        FUZZ_DEMAND(jsegment_detach(population.segments[i]) == JSTATUS_SUCCESS);
    }
    FUZZ_DEMAND(jmetadata_set_hooks(NULL) == JSTATUS_SUCCESS); /* busy while bookkeeping is live */
    return 0;
}

#ifndef JALLOC_LIBFUZZER
int main(int argc, char **argv) { return fuzz_run(argc, argv, 600); }
#endif
