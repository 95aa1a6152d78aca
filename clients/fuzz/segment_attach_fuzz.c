/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A fuzz target: the input is a segment, or what a sound one is changed by; whoever attaches to it
 * must be refused with a status or be able to work in it, and never touch what lies outside.
 *
 *     byte 0          bit 0: the array between guard pages, or a memfd
 *                     bit 1: the rest is the segment itself, or changes of a sound one
 *                     bit 2: the checksum of the constants is made right again
 *     byte 1          a seed of the operations
 *     then, each      changes: offset (3 bytes, of words), how (1), value (8)
 *
 * With Clang this is a libFuzzer target (cmake -DJALLOC_FUZZ=ON). Without, it has a main of its own
 * that runs files, or a number of random inputs: segment_attach_fuzz COUNT [SEED]. */

#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jalloc/jalloc.h"
#include "segment_exercise.h"
#include "shm/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES = 160 << 10 };

static unsigned char *array;       /* BYTES between two pages that trap */
static unsigned char image[BYTES]; /* of a sound segment in which two processes live */
static unsigned char file_image[BYTES];

static jsegment_options_t options_of(jsegment_backend_t backend) {
    jsegment_options_t options = exercise_options(array, BYTES);
    options.backend = backend;
    return options;
}

static void start(void) {
    array = exercise_guarded(BYTES);
    exercise_population_t population;
    jsegment_options_t options = options_of(JSEGMENT_ARRAY);
    exercise_populate(&options, &population);
    memcpy(image, array, BYTES);
    FUZZ_DEMAND(jsegment_detach(population.segments[1]) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jsegment_detach(population.segments[0]) == JSTATUS_SUCCESS);
    options = options_of(JSEGMENT_MEMFD);
    FUZZ_DEMAND(jsegment_create(&options, &population.segments[0]) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jsegment_export(population.segments[0], &options.descriptor) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(jsegment_detach(population.segments[0]) == JSTATUS_SUCCESS);
    FUZZ_DEMAND(pread(options.descriptor, file_image, BYTES, 0) == BYTES);
    close(options.descriptor);
    memcpy(file_image + sizeof(shm_constants_t), image + sizeof(shm_constants_t),
           BYTES - sizeof(shm_constants_t));
    (void)jlog_set_level(JLOG_OFF);
}

/* As the library computes it. */
static void fix_checksum(unsigned char *bytes) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < offsetof(shm_constants_t, checksum); ++i)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    memcpy(bytes + offsetof(shm_constants_t, checksum), &hash, sizeof hash);
}

static void change(unsigned char *bytes, const uint8_t *step) {
    const size_t words = BYTES / 8,
                 at = (step[0] | (size_t)step[1] << 8 | (size_t)step[2] << 16) % words;
    /* Mostly the tables at the beginning. */
    const size_t place = (step[3] & 0x80 ? at : at % (32768 / 8)) * 8;
    uint64_t word, value;
    memcpy(&word, bytes + place, 8);
    memcpy(&value, step + 4, 8);
    switch (step[3] % 6) {
    case 0: word = value; break;
    case 1: word ^= (uint64_t)1 << value % 64; break;
    case 2: word += (uint64_t)(int8_t)step[4]; break;
    case 3: word = 0; break;
    case 4: memcpy(&word, bytes + value % words * 8, 8); break;
    default: word = (word & ~(uint64_t)0xffff) | (value & 0xffff); break;
    }
    memcpy(bytes + place, &word, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char changed[BYTES];
    if (array == NULL)
        start();
    if (size < 2)
        return 0;
    const uint8_t flags = data[0];
    jsegment_options_t options = options_of(flags & 1 ? JSEGMENT_ARRAY : JSEGMENT_MEMFD);
    size_t length = BYTES;
    memcpy(changed, flags & 1 ? image : file_image, BYTES);
    if (flags & 2) {
        length = size - 2 < BYTES ? size - 2 : BYTES;
        memcpy(changed, data + 2, length);
        if (length >= 8 && flags & 8)
            memcpy(changed, SHM_MAGIC, 8);
        if (flags & 16)
            length = BYTES;
    } else {
        for (const uint8_t *step = data + 2; step + 12 <= data + size; step += 12)
            change(changed, step);
    }
    if (flags & 4)
        fix_checksum(changed);
    if (flags & 1) {
        options.size_bytes = length;
        memcpy(array, changed, BYTES);
    } else {
        options.descriptor = memfd_create("fuzz", MFD_CLOEXEC);
        FUZZ_DEMAND(options.descriptor >= 0 && fchmod(options.descriptor, 0600) == 0);
        FUZZ_DEMAND(write(options.descriptor, changed, length) == (ssize_t)length);
    }
    exercise_segment(&options, data[1] + 1, 60);
    if (options.descriptor >= 0)
        close(options.descriptor);
    return 0;
}

#ifndef JALLOC_LIBFUZZER
int main(int argc, char **argv) { return fuzz_run(argc, argv, 400); }
#endif
