/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Saving and loading where something fails in between: memory, the system's calls, a device,
 * another process. Whatever it is leaves the old file as it was and nothing beside it. */

#include "npy_helper.h"
#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include "buffer/buffer.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>

JTEST(Npy, WithoutBookkeepingMemoryNothingIsLeftBehind) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64_c[5,5] ld=7 hermitian-lower");
    /* The process's own allocator is made at its first use and stays; the test's is there. */
    jbuffer_allocator_t *allocator =
        buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F64_C, NULL, jtest_failing_allocator());
    JFOR_EACH_FAILURE(i) {
        write_file(folder.path, "old", 3);
        const jstatus_t status = jbuffer_save(buffer, folder.path);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(folder_count(&folder), 1);
        size_t size;
        unsigned char *file = read_file(folder.path, &size);
        JEXPECT_EQ(size == 3 && memcmp(file, "old", 3) == 0, status != JSTATUS_SUCCESS);
        free(file);
    }
    JFOR_EACH_FAILURE(i) {
        jbuffer_t *loaded = NULL;
        const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(loaded != NULL, status == JSTATUS_SUCCESS);
        JEXPECT_OK(jbuffer_release(loaded));
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

JTEST(Npy, WithoutMemoryForElementsNothingIsLeftBehind) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[5,5]"), *loaded = NULL;
    JASSERT_OK(jbuffer_save(buffer, folder.path));
    jbuffer_allocator_t *allocator =
        buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F64, NULL, jtest_failing_allocator());
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(loaded);
    JEXPECT_OK(jbuffer_load(allocator, folder.path, &loaded));
    JEXPECT_EQ(jtest_live_bytes(), 200);
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

/* Saves over "old" in small pieces; what is there afterwards is the one file or the other, and
 * nothing beside it. */
static jstatus_t save_over_old(const folder_t *folder, jbuffer_t *buffer) {
    write_file(folder->path, "old", 3);
    const jstatus_t status = jbuffer_save(buffer, folder->path);
    jtest_fail_metadata_after(0);
    size_t size;
    unsigned char *file = read_file(folder->path, &size);
    JEXPECT_EQ(size == 3 && memcmp(file, "old", 3) == 0, status != JSTATUS_SUCCESS);
    JEXPECT_EQ(folder_count(folder), 1);
    free(file);
    return status;
}

/* Each call of the system that saving and loading make fails once: an error of the system, with its
 * words and the path. */
JTEST(Npy, EachFailedCallOfTheSystemIsAStatusAndLeavesTheOldFile) {
    static const char *const saving[] = {"open", "write", "fchmod", "fsync", "close", "rename"},
                             *const loading[] = {"open", "fstat", "pread"};
    static const char *const layouts[] = {"f64[5,5]", "f64[5,5] ld=7",
                                          "f64_c[5,5] hermitian-lower"};
    const folder_t folder = folder_make();
    const size_t usual = ji_file_piece_bytes;
    ji_file_piece_bytes = 96;
    for (size_t i = 0; i < COUNT_OF(layouts); ++i) {
        jbuffer_t *buffer = make_buffer(layouts[i]), *loaded = NULL;
        jbuffer_allocator_t *allocator;
        JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
        for (size_t k = 0; k < COUNT_OF(saving); ++k)
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                JSCOPED_TRACE("%s: %s number %d", layouts[i], saving[k], (int)n);
                jtest_fail_calls(saving[k], n, 1, EIO);
                const jstatus_t status = save_over_old(&folder, buffer);
                failed = jtest_calls_failed();
                JEXPECT_TRUE(failed || n > 1);
                JEXPECT_STATUS(status, failed ? JSTATUS_IO_ERROR : JSTATUS_SUCCESS);
                if (failed) {
                    JEXPECT_SUBSTR(jstatus_last_message(), strerror(EIO));
                    JEXPECT_SUBSTR(jstatus_last_message(), folder.name);
                }
            }
        for (size_t k = 0; k < COUNT_OF(loading); ++k)
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                JSCOPED_TRACE("%s: %s number %d", layouts[i], loading[k], (int)n);
                jtest_fail_calls(loading[k], n, 1, EIO);
                const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
                failed = jtest_calls_failed();
                JEXPECT_TRUE(failed || n > 1);
                JEXPECT_STATUS(status, failed ? JSTATUS_IO_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(loaded == NULL, failed != 0);
                if (failed)
                    JEXPECT_SUBSTR(jstatus_last_message(), folder.path);
                JEXPECT_OK(jbuffer_release(loaded));
                loaded = NULL;
            }
        JEXPECT_OK(jbuffer_release(buffer));
    }
    ji_file_piece_bytes = usual;
    folder_end(&folder);
}

/* A call that a signal cut short is made again; a name made without random numbers is a name,
 * too. */
JTEST(Npy, CallsThatASignalInterruptsAreRepeated) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[5,5]"), *loaded;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
    jtest_fail_calls("write", 1, 3, EINTR);
    JEXPECT_OK(jbuffer_save(buffer, folder.path));
    JEXPECT_TRUE(jtest_calls_failed());
    jtest_fail_calls("getrandom", 1, 1, EAGAIN);
    JEXPECT_OK(jbuffer_save(buffer, folder.path));
    JEXPECT_TRUE(jtest_calls_failed());
    expect_file(folder.path, buffer, true);
    jtest_fail_calls("pread", 1, 2, EINTR);
    JASSERT_OK(jbuffer_load(allocator, folder.path, &loaded));
    JEXPECT_TRUE(jtest_calls_failed());
    expect_same_elements(loaded, buffer);
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

/* The signal of a file that is too large is the program's, where it was pending before. */
JTEST(Npy, ASignalThatWasPendingBeforeStaysPending) {
    const folder_t folder = folder_make();
    const struct timespec now = {0, 0};
    jbuffer_t *buffer = make_buffer("f64[5,5]");
    sigset_t too_large, before, pending;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    JASSERT_EQ(pthread_sigmask(SIG_BLOCK, &too_large, &before), 0);
    for (int was = 0; was < 2; ++was) {
        if (was)
            JASSERT_EQ(raise(SIGXFSZ), 0);
        jtest_fail_calls("write", 1, 1, EFBIG);
        JEXPECT_STATUS(save_over_old(&folder, buffer), JSTATUS_IO_ERROR);
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_SUBSTR(jstatus_last_message(), strerror(EFBIG));
        JEXPECT_EQ(sigpending(&pending), 0);
        JEXPECT_EQ(sigismember(&pending, SIGXFSZ), was);
    }
    JEXPECT_EQ(sigtimedwait(&too_large, NULL, &now), SIGXFSZ);
    JEXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

/* Between a file and a device, in pieces of several columns and of part of one: each call of the
 * device and each allocation of bookkeeping fails once. */
JTEST(Npy, EachFailureOfADeviceIsAStatusAndLeavesTheOldFile) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    const folder_t folder = folder_make();
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64_C, &gpu->device, NULL, false);
    const size_t usual = ji_file_piece_bytes;
    for (int structure = 0; structure <= JSTRUCTURE_TRIANGULAR_LOWER; ++structure)
        for (size_t elements = 3; elements <= 16; elements += 13) {
            JSCOPED_TRACE("structure %d, pieces of %zu", structure, elements);
            jbuffer_t *whole = make_buffer("f64_c[7,7]"), *host, *there = NULL, *view;
            ji_file_piece_bytes = 16 * elements;
            JASSERT_OK(jbuffer_with_structure(whole, (jstructure_t)structure, &host));
            JASSERT_OK(jbuffer_save(whole, folder.path));
            gpu->fail_with = JSTATUS_DEVICE_ERROR;
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                gpu->failed = false;
                gpu->fail_in = n;
                const jstatus_t status = jbuffer_load(allocator, folder.path, &there);
                gpu->fail_in = 0;
                failed = gpu->failed;
                JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(there == NULL, failed != 0);
            }
            JFOR_EACH_FAILURE(i) {
                jbuffer_t *loaded = NULL;
                const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
                JEXPECT_STATUS(status,
                               jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(loaded == NULL, status != JSTATUS_SUCCESS);
                JEXPECT_OK(jbuffer_release(loaded));
            }
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                jbuffer_t *loaded = NULL;
                jtest_fail_calls("pread", n, 1, EIO);
                const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
                failed = jtest_calls_failed();
                JEXPECT_TRUE(failed || n > 49 / elements);
                JEXPECT_STATUS(status, failed ? JSTATUS_IO_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(loaded == NULL, failed != 0);
                JEXPECT_OK(jbuffer_release(loaded));
            }
            JASSERT_OK(jbuffer_with_structure(there, (jstructure_t)structure, &view));
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                gpu->failed = false;
                gpu->fail_in = n;
                const jstatus_t status = save_over_old(&folder, view);
                gpu->fail_in = 0;
                failed = gpu->failed;
                JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
            }
            expect_file(folder.path, host, true);
            JFOR_EACH_FAILURE(i) {
                const jstatus_t status = save_over_old(&folder, view);
                JEXPECT_STATUS(status,
                               jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            }
            JEXPECT_OK(jbuffer_release(view));
            JEXPECT_OK(jbuffer_release(there));
            JEXPECT_OK(jbuffer_release(host));
            JEXPECT_OK(jbuffer_release(whole));
        }
    JEXPECT_EQ(gpu->violations, 0);
    ji_file_piece_bytes = usual;
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
    folder_end(&folder);
}

/* Everyone's buffer, of which rank 0 reads and writes the file: what the others report, or cannot
 * be told, is a status. */
static ji_npy_t told_header; /* what rank 0 tells the others */
static void tell_header(void *bytes, size_t size_bytes) {
    if (size_bytes == sizeof told_header)
        memcpy(bytes, &told_header, size_bytes);
}
JTEST(Npy, EachFailureOfTheOthersIsAStatus) {
    for (int rank = 0; rank < 2; ++rank)
        for (int shared = 0; shared < 2; ++shared)
            for (int empty = 0; empty < 2; ++empty) {
                JSCOPED_TRACE("rank %d, shared %d, empty %d", rank, shared, empty);
                const folder_t folder = folder_make();
                jbuffer_t *buffer = make_buffer(empty ? "f64[0,3]" : "f64[4,3]"), *loaded = NULL,
                          *replicated = NULL;
                JASSERT_OK(jbuffer_save(buffer, folder.path));
                int file;
                JASSERT_OK(ji_npy_open(folder.path, &told_header, &file));
                JEXPECT_EQ(close(file), 0);
                pretend_runtime_t pretend;
                JASSERT_OK(pretend_runtime_make(&pretend, 2, false));
                pretend.runtime->info.rank = rank;
                pretend.change = rank != 0 ? tell_header : NULL;
                jbuffer_allocator_t *allocator = buffer_allocator_of(
                    pretend.runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL, NULL, shared != 0);
                for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                    pretend.fail_in = n;
                    const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
                    failed = pretend.fail_in == 0;
                    pretend.fail_in = 0;
                    JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
                    JEXPECT_EQ(loaded == NULL, failed != 0);
                    replicated = loaded;
                    loaded = NULL;
                }
                JASSERT_NOT_NULL(replicated);
                write_file(folder.path, "old", 3);
                pretend.fail_in = 1;
                JEXPECT_STATUS(jbuffer_save(replicated, folder.path), JSTATUS_DEVICE_ERROR);
                JEXPECT_OK(jbuffer_save(replicated, folder.path));
                size_t size;
                unsigned char *bytes = read_file(folder.path, &size);
                JEXPECT_EQ(size == 3, rank != 0); /* rank 0 alone writes */
                free(bytes);
                if (rank == 0)
                    expect_file(folder.path, buffer, true);
                JEXPECT_OK(jbuffer_release(replicated));
                JEXPECT_OK(jbuffer_release(buffer));
                JEXPECT_OK(jbuffer_allocator_release(allocator));
                JEXPECT_OK(jruntime_release(pretend.runtime));
                folder_end(&folder);
            }
}

/* Where the best allocator makes local buffers each process reads the file, of which rank 0 has
 * told the header. */
JTEST(Npy, EachProcessReadsALocalBufferForItself) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[4,3]"), *loaded = NULL;
    JASSERT_OK(jbuffer_save(buffer, folder.path));
    JASSERT_OK(ji_npy_read_header(folder.path, &told_header));
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 2, false));
    pretend.runtime->info.rank = 1;
    pretend.change = tell_header;
    jtest_setenv("JALLOC_BUFFER", "local");
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(pretend.runtime, JBUFFER_BEST, JDATATYPE_F64, NULL, NULL, false);
    static const char *const calls[] = {"open", "fstat", "pread", "none"};
    for (size_t k = 0; k < COUNT_OF(calls); ++k) {
        JSCOPED_TRACE("%s", calls[k]);
        const bool fails = k + 1 < COUNT_OF(calls);
        jtest_fail_calls(calls[k], 1, UINT64_MAX, EIO);
        const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
        JEXPECT_EQ(jtest_calls_failed(), fails);
        JEXPECT_STATUS(status, fails ? JSTATUS_IO_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(loaded == NULL, fails);
    }
    expect_same_elements(loaded, buffer);
    JEXPECT_OK(jbuffer_release(loaded));
    loaded = NULL;
    JASSERT_EQ(unlink(folder.path), 0);
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_NOT_FOUND);
    JEXPECT_NULL(loaded);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
    folder_end(&folder);
}

static void save_above_the_limit(void *argument) {
    const folder_t *folder = argument;
    static const char *const layouts[] = {"i8[200,200]", "i8[200,200] strides=(1,300)"};
    struct rlimit before;
    sigset_t pending;
    JASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {4096, before.rlim_max};
    jbuffer_t *buffers[COUNT_OF(layouts)];
    for (size_t i = 0; i < COUNT_OF(layouts); ++i)
        buffers[i] = make_buffer(layouts[i]);
    JASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (size_t i = 0; i < COUNT_OF(layouts); ++i) {
        JEXPECT_STATUS(jbuffer_save(buffers[i], folder->path), JSTATUS_IO_ERROR);
        JEXPECT_SUBSTR(jstatus_last_message(), "File too large");
        JEXPECT_EQ(folder_count(folder), 1);
        JEXPECT_OK(jbuffer_release(buffers[i]));
    }
    /* What the child writes at its end may be larger. */
    JEXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    sigpending(&pending);
    JEXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
}
JTEST(Npy, ALimitOnFilesIsAnErrorAndNoSignal) {
    folder_t folder = folder_make();
    size_t size;
    write_file(folder.path, "old", 3);
    jtest_in_child(60, save_above_the_limit, &folder);
    unsigned char *file = read_file(folder.path, &size);
    JEXPECT_TRUE(size == 3 && memcmp(file, "old", 3) == 0);
    free(file);
    folder_end(&folder);
}

JTEST(Npy, AFullDiskLeavesTheOldFile) {
    const folder_t folder = folder_make();
    if (mount("none", folder.name, "tmpfs", MS_NOSUID, "size=64k") != 0) {
        folder_end(&folder);
        JSKIP("no file system can be mounted here");
    }
    jbuffer_t *small = make_buffer("i8[100]"), *large = make_buffer("i8[200000]");
    JEXPECT_OK(jbuffer_save(small, folder.path));
    JEXPECT_STATUS(jbuffer_save(large, folder.path), JSTATUS_IO_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "No space left");
    expect_file(folder.path, small, false);
    JEXPECT_EQ(folder_count(&folder), 1);
    JEXPECT_OK(jbuffer_release(small));
    JEXPECT_OK(jbuffer_release(large));
    JEXPECT_EQ(umount(folder.name), 0);
    folder_end(&folder);
}

static void save_without_rights(void *argument) {
    const folder_t *folder = argument;
    jbuffer_t *buffer = make_buffer("f64[2,3]"), *loaded = NULL;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
    if (geteuid() == 0)
        JASSERT_EQ(setuid(65534), 0);
    JEXPECT_STATUS(jbuffer_save(buffer, folder->path), JSTATUS_PERMISSION);
    JEXPECT_SUBSTR(jstatus_last_message(), "Permission denied");
    JEXPECT_STATUS(jbuffer_load(allocator, folder->path, &loaded), JSTATUS_PERMISSION);
    JEXPECT_NULL(loaded);
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST(Npy, WithoutRightsNothingHappens) {
    folder_t folder = folder_make();
    write_file(folder.path, "old", 3);
    JASSERT_EQ(chmod(folder.path, 0), 0);
    JASSERT_EQ(chmod(folder.name, 0555), 0);
    jtest_in_child(60, save_without_rights, &folder);
    JASSERT_EQ(chmod(folder.name, 0700), 0);
    JEXPECT_EQ(folder_count(&folder), 1);
    folder_end(&folder);
}
