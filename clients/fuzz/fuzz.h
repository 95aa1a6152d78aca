/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FUZZ_FUZZ_H
#define JALLOC_CLIENTS_FUZZ_FUZZ_H

/* What fuzz targets have in common. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "jalloc/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for any input: else the fuzzer has found something. */
#define FUZZ_DEMAND(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition,            \
                    jstatus_last_message());                                                       \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Without libFuzzer: runs the files it is given, or COUNT [SEED] random inputs of up to so many
 * bytes, the same ones each time. */
static inline int fuzz_run_file(const char *path) {
    static uint8_t input[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    const size_t size = fread(input, 1, sizeof input, file);
    fclose(file);
    return LLVMFuzzerTestOneInput(input, size);
}

static inline int fuzz_run(int argc, char **argv, size_t largest_bytes) {
    char *end = NULL;
    const unsigned long count = argc > 1 ? strtoul(argv[1], &end, 10) : 1000;
    if (end != NULL && *end != '\0') { /* not a number: files */
        int failures = 0;
        for (int i = 1; i < argc; ++i)
            failures += fuzz_run_file(argv[i]);
        return failures != 0;
    }
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static uint8_t input[1 << 16];
    for (unsigned long i = 0; i < count; ++i) {
        for (size_t k = 0; k < largest_bytes; ++k) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            input[k] = (uint8_t)(state >> 56);
        }
        LLVMFuzzerTestOneInput(input, 2 + (size_t)(state >> 20) % (largest_bytes - 2));
    }
    printf("%lu inputs, nothing wrong\n", count);
    return 0;
}

#endif
