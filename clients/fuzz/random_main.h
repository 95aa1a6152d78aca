/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FUZZ_RANDOM_MAIN_H
#define JALLOC_CLIENTS_FUZZ_RANDOM_MAIN_H

/* What a fuzz target does without libFuzzer: runs the files it is given, or COUNT [SEED] random inputs of up to so many
 * bytes, the same ones each time. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*fuzz_target_t)(const uint8_t *data, size_t size);

static inline int run_file(const char *path, fuzz_target_t target) {
    static uint8_t input[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    const size_t size = fread(input, 1, sizeof input, file);
    fclose(file);
    return target(input, size);
}

static inline int run_random_inputs(int argc, char **argv, fuzz_target_t target, size_t largest_bytes) {
    char *end = NULL;
    const unsigned long count = argc > 1 ? strtoul(argv[1], &end, 10) : 1000;
    if (end != NULL && *end != '\0') { /* not a number: files */
        int failures = 0;
        for (int i = 1; i < argc; ++i)
            failures += run_file(argv[i], target);
        return failures != 0;
    }
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static uint8_t input[1 << 16];
    for (unsigned long i = 0; i < count; ++i) {
        for (size_t k = 0; k < largest_bytes; ++k) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            input[k] = (uint8_t)(state >> 56);
        }
        target(input, 2 + (size_t)(state >> 20) % (largest_bytes - 2));
    }
    printf("%lu inputs, nothing wrong\n", count);
    return 0;
}

#endif
