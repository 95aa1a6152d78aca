/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_SAMPLES_CUDA_SAMPLE_H
#define JALLOC_CLIENTS_SAMPLES_CUDA_SAMPLE_H

/* What the CUDA samples share. */

#include <stdbool.h>
#include <stdlib.h>

#include "../sample.h"

/* Ends the program with the reason when a call of the CUDA runtime fails. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                        \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

/* Where there is no GPU the sample has nothing to show: it says why. */
static inline bool have_cuda(jdevice_t **device) {
    if (jdevice_get("cuda:0", device) == JSTATUS_SUCCESS)
        return true;
    printf("nothing to show: %s\n", jstatus_last_message());
    return false;
}

#endif
