/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_SEGMENT_BACKING_HELPER_H
#define JALLOC_CLIENTS_GTEST_SEGMENT_BACKING_HELPER_H

/* Samples of segments' bytes: made, attached to and taken away again without anything that knows
 * what is in them. */

#include "jtest.h"
#include "shm/backing.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN(array) (sizeof(array) / sizeof(array)[0])

#define SAMPLE_BYTES ((size_t)8 << 20)
/* Its page table has 4 MiB, of which 32 KiB are for SAMPLE_BYTES. */
#define SAMPLE_MAX_BYTES ((size_t)1 << 30)
#define SAMPLE_SLOTS 64

typedef struct sample {
    jsegment_options_t options;
    char name[128], path[160]; /* "" where it has none */
    size_t max_bytes;
    shm_constants_t constants;
    shm_backing_t backing;
} sample_t;

/* What a test must leave as it was. */
typedef struct resources {
    unsigned descriptors;
    size_t address_bytes;
} resources_t;

static inline unsigned directory_count(const char *directory, const char *part) {
    unsigned count = 0;
    DIR *open_directory = opendir(directory);
    for (struct dirent *entry; open_directory != NULL && (entry = readdir(open_directory)) != NULL;)
        count += strstr(entry->d_name, part) != NULL;
    if (open_directory != NULL)
        closedir(open_directory);
    return count;
}

static inline resources_t resources_now(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        JFAIL("/proc/self/statm cannot be read");
    if (file != NULL)
        fclose(file);
    return (resources_t){directory_count("/proc/self/fd", ""),
                         pages * (size_t)sysconf(_SC_PAGESIZE)};
}
/* No descriptor more, and no mapping as large as that of a sample. */
static inline void resources_check(const resources_t *before) {
    const resources_t now = resources_now();
    JEXPECT_EQ(now.descriptors, before->descriptors);
    JEXPECT_LT(now.address_bytes, before->address_bytes + SAMPLE_MAX_BYTES / 2);
}

/* As the library's; written here again, so that what it computes is looked at. */
static inline uint64_t checksum_of(const shm_constants_t *constants) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < offsetof(shm_constants_t, checksum); ++i) {
        hash ^= ((const unsigned char *)constants)[i];
        hash *= 1099511628211u;
    }
    return hash;
}

/* Where files of tests are. */
static inline const char *sample_directory(const sample_t *sample) {
    const char *directory = getenv("TMPDIR");
    return sample->options.backend == JSEGMENT_POSIX     ? "/dev/shm"
           : directory != NULL && strlen(directory) < 64 ? directory
                                                         : "/tmp";
}
/* A part of its name that no other file has. */
static inline const char *sample_unique(const sample_t *sample) {
    const char *slash = strrchr(sample->path, '/');
    return slash != NULL ? slash + 1 : "-none-";
}
/* Files of it, those with a temporary name included. */
static inline unsigned sample_file_count(const sample_t *sample) {
    return directory_count(sample_directory(sample), sample_unique(sample));
}

static inline sample_t sample_of(jsegment_backend_t backend) {
    static unsigned number;
    sample_t sample = {.options = JSEGMENT_OPTIONS_INIT,
                       .max_bytes = SAMPLE_MAX_BYTES,
                       .backing = {.descriptor = -1}};
    sample.options.backend = backend;
    sample.options.size_bytes = SAMPLE_BYTES;
    char unique[64];
    snprintf(unique, sizeof unique, "jalloc-backing-%ld-%u", (long)getpid(), number++);
    if (backend == JSEGMENT_POSIX)
        snprintf(sample.name, sizeof sample.name, "/%s", unique);
    if (backend == JSEGMENT_FILE)
        snprintf(sample.name, sizeof sample.name, "%s/%s", sample_directory(&sample), unique);
    snprintf(sample.path, sizeof sample.path, "%s%s", backend == JSEGMENT_POSIX ? "/dev/shm" : "",
             sample.name);
    if (backend == JSEGMENT_ARRAY) {
        sample.max_bytes = SAMPLE_BYTES;
        sample.options.array = mmap(NULL, SAMPLE_BYTES, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return sample;
}
/* The name lies in the sample, so a copy has one of its own. */
static inline const jsegment_options_t *sample_options(sample_t *sample) {
    sample->options.name = sample->name[0] != '\0' ? sample->name : NULL;
    return &sample->options;
}

static inline bool sample_has_file(const sample_t *sample) {
    return sample->options.backend != JSEGMENT_PRIVATE && sample->options.backend != JSEGMENT_ARRAY;
}
static inline bool sample_has_name(const sample_t *sample) { return sample->name[0] != '\0'; }

/* Makes it, not yet under its name, with the constants at its front. */
static inline jstatus_t sample_create(sample_t *sample) {
    if (!shm_constants_make(&sample->constants, sample->options.size_bytes, sample->max_bytes,
                            SAMPLE_SLOTS, sample_has_file(sample)))
        return JSTATUS_INVALID_SIZE;
    const jstatus_t status = shm_backing_create(sample_options(sample), &sample->constants,
                                                sample->options.size_bytes, &sample->backing);
    if (status == JSTATUS_SUCCESS)
        memcpy(sample->backing.base, &sample->constants, sizeof sample->constants);
    return status;
}
static inline jstatus_t sample_create_and_publish(sample_t *sample) {
    const jstatus_t status = sample_create(sample);
    return status == JSTATUS_SUCCESS ? shm_backing_publish(&sample->backing) : status;
}
static inline jstatus_t sample_attach(sample_t *sample, bool read_only, shm_constants_t *constants,
                                      shm_backing_t *backing) {
    jsegment_options_t options = *sample_options(sample);
    options.descriptor = sample->backing.descriptor;
    options.read_only = read_only;
    return shm_backing_attach(&options, constants, backing);
}

/* Also after a failed test: nothing stays. */
static inline void sample_end(sample_t *sample) {
    shm_backing_close(&sample->backing);
    if (sample_has_name(sample) && unlink(sample->path) != 0)
        (void)rmdir(sample->path);
    if (sample->options.array != NULL)
        munmap(sample->options.array, SAMPLE_BYTES);
}
#define SAMPLE(variable, backend)                                                                  \
    __attribute__((cleanup(sample_end))) sample_t variable = sample_of(backend)
#define ATTACHED(variable)                                                                         \
    __attribute__((cleanup(shm_backing_close))) shm_backing_t variable = {.descriptor = -1}

/* ---- Kinds of segments ---- */

typedef struct backing_kind {
    const char *name;
    jsegment_backend_t backend;
    unsigned without;
} backing_kind_t;

static inline void backing_kind_name(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME, "%s", ((const backing_kind_t *)parameter)->name);
}

/* Those that a descriptor can be had of. */
static const backing_kind_t file_kinds[] = {
    {"memfd", JSEGMENT_MEMFD, 0}, {"posix", JSEGMENT_POSIX, 0}, {"file", JSEGMENT_FILE, 0}};

static inline void everything_again(void *context) {
    (void)context;
    shm_backing_without = 0;
}

/* Until the end of the scope, the system lacks what this kind is without. */
#define WITHOUT(flags)                                                                             \
    __attribute__((cleanup(everything_again), unused)) unsigned without_ = shm_backing_without =   \
        (flags)

static inline uint64_t bytes_set_aside(const shm_backing_t *backing) {
    struct stat file;
    return fstat(backing->descriptor, &file) == 0 ? (uint64_t)file.st_blocks * 512 : 0;
}

#endif
