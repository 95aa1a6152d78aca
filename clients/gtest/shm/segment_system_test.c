/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Calls of the system that fail below a segment, one at a time and each at the place where that
 * matters: what is tried again, what has another way, what becomes which status, and who is taken
 * for dead. The sweep over all calls is in segment_attach_test.c. */

#include "segment_backing_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- Making one ---- */

JTEST(SegmentSystem, EachErrorHasItsStatus) {
    static const struct {
        int error;
        jstatus_t status;
    } rows[] = {{ENOSPC, JSTATUS_MEMORY_ERROR}, {EDQUOT, JSTATUS_MEMORY_ERROR},
                {EFBIG, JSTATUS_MEMORY_ERROR},  {ENOMEM, JSTATUS_MEMORY_ERROR},
                {EMFILE, JSTATUS_MEMORY_ERROR}, {ENFILE, JSTATUS_MEMORY_ERROR},
                {EAGAIN, JSTATUS_MEMORY_ERROR}, {EACCES, JSTATUS_PERMISSION},
                {EPERM, JSTATUS_PERMISSION},    {EROFS, JSTATUS_PERMISSION},
                {EEXIST, JSTATUS_EXISTS},       {ENAMETOOLONG, JSTATUS_INVALID_VALUE},
                {EIO, JSTATUS_IO_ERROR}};
    for (size_t i = 0; i < LEN(rows); ++i) {
        JSCOPED_TRACE("%s", strerror(rows[i].error));
        SAMPLE(sample, JSEGMENT_POSIX);
        jtest_fail_calls("fchmod", 1, 1, rows[i].error);
        JEXPECT_STATUS(sample_create(&sample), rows[i].status);
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_SUBSTR(jstatus_last_message(), strerror(rows[i].error));
        JEXPECT_EQ(sample_file_count(&sample), 0);
    }
}

JTEST(SegmentSystem, WhereNoFileCanBeUnnamedItHasATemporaryName) {
    static const struct {
        const char *function;
        int error;
    } rows[] = {{"open", EOPNOTSUPP},
                {"open", EISDIR},
                {"open", ENOSYS},
                {"open", EINVAL},
                {"access", ENOENT}};
    for (size_t i = 0; i < LEN(rows); ++i) {
        JSCOPED_TRACE("%s: %s", rows[i].function, strerror(rows[i].error));
        SAMPLE(sample, JSEGMENT_FILE);
        shm_constants_t *c = &sample.constants;
        JASSERT_TRUE(shm_constants_make(c, SAMPLE_BYTES, SAMPLE_BYTES, SAMPLE_SLOTS, true));
        jtest_fail_calls(rows[i].function, 1, 1, rows[i].error);
        JEXPECT_OK(shm_backing_create(sample_options(&sample), c, SAMPLE_BYTES, &sample.backing));
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_NOT_NULL(sample.backing.temporary);
        JEXPECT_OK(shm_backing_publish(&sample.backing));
        JEXPECT_EQ(sample_file_count(&sample), 1);
    }
}

JTEST(SegmentSystem, ATemporaryNameThatIsTakenIsNotTriedForEver) {
    WITHOUT(SHM_WITHOUT_TMPFILE);
    static const struct {
        int error;
        uint64_t count;
        jstatus_t status;
    } rows[] = {{EEXIST, 3, JSTATUS_SUCCESS},
                {EINTR, 3, JSTATUS_SUCCESS},
                {EEXIST, UINT64_MAX, JSTATUS_EXISTS},
                {EROFS, 1, JSTATUS_PERMISSION}};
    for (size_t i = 0; i < LEN(rows); ++i) {
        JSCOPED_TRACE("row %zu", i);
        SAMPLE(sample, JSEGMENT_FILE);
        shm_constants_t *c = &sample.constants;
        JASSERT_TRUE(shm_constants_make(c, SAMPLE_BYTES, SAMPLE_BYTES, SAMPLE_SLOTS, true));
        jtest_fail_calls("open", 1, rows[i].count, rows[i].error);
        JEXPECT_STATUS(
            shm_backing_create(sample_options(&sample), c, SAMPLE_BYTES, &sample.backing),
            rows[i].status);
        JEXPECT_TRUE(jtest_calls_failed());
        shm_backing_close(&sample.backing);
        JEXPECT_EQ(sample_file_count(&sample), 0);
    }
}

JTEST(SegmentSystem, ANameInTheRootIsOfTheRootDirectory) {
    SAMPLE(sample, JSEGMENT_FILE);
    snprintf(sample.name, sizeof sample.name, "/jalloc-backing-%ld-root", (long)getpid());
    /* The first asks for the start of the machine. */
    jtest_fail_calls("open", 2, UINT64_MAX, EROFS);
    JEXPECT_STATUS(sample_create(&sample), JSTATUS_PERMISSION);
    JEXPECT_TRUE(jtest_calls_failed());
}

JTEST(SegmentSystem, AMemfdIsMadeByAnyKernelAndSealed) {
    static const struct {
        const char *function;
        uint64_t count;
        int error;
        jstatus_t status;
    } rows[] = {{"memfd_create", 1, EINVAL, JSTATUS_SUCCESS}, /* which does not know all flags */
                {"memfd_create", 2, EINVAL, JSTATUS_IO_ERROR},
                {"memfd_create", 1, EPERM, JSTATUS_PERMISSION},
                {"fcntl", 1, EPERM, JSTATUS_PERMISSION}};
    for (size_t i = 0; i < LEN(rows); ++i) {
        JSCOPED_TRACE("row %zu", i);
        SAMPLE(sample, JSEGMENT_MEMFD);
        shm_constants_t *c = &sample.constants;
        JASSERT_TRUE(shm_constants_make(c, SAMPLE_BYTES, SAMPLE_BYTES, SAMPLE_SLOTS, true));
        jsegment_options_t options = sample.options;
        options.name = "labelled";
        jtest_fail_calls(rows[i].function, 1, rows[i].count, rows[i].error);
        JEXPECT_STATUS(shm_backing_create(&options, c, SAMPLE_BYTES, &sample.backing),
                       rows[i].status);
        JEXPECT_TRUE(jtest_calls_failed());
        if (rows[i].status != JSTATUS_SUCCESS)
            continue;
        char self[48], target[128] = "";
        snprintf(self, sizeof self, "/proc/self/fd/%d", sample.backing.descriptor);
        JEXPECT_GT(readlink(self, target, sizeof target - 1), 0);
        JEXPECT_SUBSTR(target, "memfd:labelled");
    }
}

JTEST(SegmentSystem, WritingInsteadOfReservingGoesOnAfterASignal) {
    WITHOUT(SHM_WITHOUT_FALLOCATE);
    SAMPLE(sample, JSEGMENT_MEMFD);
    jtest_fail_calls("pwrite", 1, 3, EINTR);
    JEXPECT_OK(sample_create(&sample));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(shm_backing_size(&sample.backing), SAMPLE_BYTES);
    jtest_fail_calls("pwrite", 1, 1, EIO);
    JEXPECT_STATUS(
        shm_backing_extend(&sample.backing, &sample.constants, SAMPLE_BYTES, 2 * SAMPLE_BYTES),
        JSTATUS_MEMORY_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
}

JTEST(SegmentSystem, ReservingThatIsDeniedIsNoLackOfSpace) {
    static const int errors[] = {EACCES, EPERM};
    for (size_t i = 0; i < LEN(errors); ++i) {
        SAMPLE(sample, JSEGMENT_MEMFD);
        jtest_fail_calls("fallocate", 1, 1, errors[i]);
        JEXPECT_STATUS(sample_create(&sample), JSTATUS_IO_ERROR);
        JEXPECT_TRUE(jtest_calls_failed());
    }
}

JTEST(SegmentSystem, TheBootIdIsAskedForOrTheReasonIsKnown) {
    static const int errors[] = {EMFILE, ENFILE, ENOMEM};
    shm_constants_t c;
    for (size_t i = 0; i < LEN(errors); ++i) {
        jtest_fail_calls("open", 1, 1, errors[i]);
        JEXPECT_FALSE(shm_constants_make(&c, SAMPLE_BYTES, SAMPLE_BYTES, SAMPLE_SLOTS, true));
        JEXPECT_TRUE(jtest_calls_failed());
    }
    jtest_fail_calls("open", 1, 1, ENOENT); /* a kernel without one */
    JEXPECT_TRUE(shm_constants_make(&c, SAMPLE_BYTES, SAMPLE_BYTES, SAMPLE_SLOTS, true));
    JEXPECT_STREQ(c.boot_id, "");
    jtest_fail_calls("open", 1, 2, EINTR);
    JEXPECT_TRUE(shm_constants_make(&c, SAMPLE_BYTES, SAMPLE_BYTES, SAMPLE_SLOTS, true));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_OK(shm_constants_check(&c));
}

/* ---- One that exists ---- */

JTEST(SegmentSystem, OpeningGoesOnAfterASignalAndNotThroughALink) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    shm_constants_t c;
    ATTACHED(attached);
    jtest_fail_calls("open", 1, 3, EINTR);
    JEXPECT_OK(sample_attach(&sample, false, &c, &attached));
    JEXPECT_TRUE(jtest_calls_failed());
    shm_backing_close(&attached);
    jtest_fail_calls("open", 1, 1, ELOOP); /* put there since it was looked at */
    JEXPECT_STATUS(sample_attach(&sample, false, &c, &attached), JSTATUS_UNSAFE);
    JEXPECT_TRUE(jtest_calls_failed());
}

JTEST(SegmentSystem, ANameThatCannotBeLookedAtOrTakenAwayStays) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    static const struct {
        const char *function;
        int error;
        jstatus_t status;
    } rows[] = {{"fstat", EIO, JSTATUS_IO_ERROR},
                {"lstat", EACCES, JSTATUS_PERMISSION},
                {"unlink", EROFS, JSTATUS_PERMISSION}};
    for (size_t i = 0; i < LEN(rows); ++i) {
        JSCOPED_TRACE("%s", rows[i].function);
        jtest_fail_calls(rows[i].function, 1, 1, rows[i].error);
        JEXPECT_STATUS(shm_backing_unlink(&sample.backing), rows[i].status);
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_EQ(sample_file_count(&sample), 1);
    }
    /* A file of another file system, as where one has been mounted over the name. */
    char path[] = "/proc/version", *const own = sample.backing.path;
    sample.backing.path = path;
    JEXPECT_STATUS(shm_backing_unlink(&sample.backing), JSTATUS_NOT_FOUND);
    sample.backing.path = own;
    JEXPECT_OK(shm_backing_unlink(&sample.backing));
    JEXPECT_EQ(sample_file_count(&sample), 0);
}

JTEST(SegmentSystem, ASizeThatCannotBeToldIsNone) {
    SAMPLE(sample, JSEGMENT_FILE);
    JASSERT_OK(sample_create_and_publish(&sample));
    JEXPECT_EQ(shm_backing_size(&sample.backing), SAMPLE_BYTES);
    jtest_fail_calls("fstat", 1, 1, EIO);
    JEXPECT_EQ(shm_backing_size(&sample.backing), 0);
    JEXPECT_TRUE(jtest_calls_failed());
    JASSERT_EQ(ftruncate(sample.backing.descriptor, 0), 0);
    JEXPECT_EQ(shm_backing_size(&sample.backing), 0);
}

/* ---- Who is alive ---- */

JTEST(SegmentSystem, LocksAreAskedForAgainAfterASignalOnly) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    shm_constants_t c;
    ATTACHED(attached);
    JASSERT_OK(sample_attach(&sample, false, &c, &attached));
    jtest_fail_calls("fcntl", 1, 3, EINTR);
    JEXPECT_TRUE(shm_life_take(&sample.backing, 1));
    JEXPECT_TRUE(jtest_calls_failed());
    jtest_fail_calls("fcntl", 1, 3, EINTR);
    JEXPECT_EQ(shm_life_of(&attached, 1, 0), SHM_ALIVE);
    JEXPECT_TRUE(jtest_calls_failed());
    jtest_fail_calls("fcntl", 1, 1, EIO); /* a file system that cannot tell has killed nobody */
    JEXPECT_EQ(shm_life_of(&attached, 2, 0), SHM_LIFE_UNKNOWN);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(shm_life_of(&attached, 2, 0), SHM_DEAD_PROCESS);

    jtest_fail_calls("fcntl", 1, 1, ENOLCK);
    JEXPECT_FALSE(shm_gate_take(&attached, true, UINT32_MAX)); /* at once: waiting would not help */
    JEXPECT_TRUE(jtest_calls_failed());
    jtest_fail_calls("fcntl", 1, 2, EACCES); /* what POSIX lets a held lock say as well */
    JEXPECT_TRUE(shm_gate_take(&attached, true, 60000));
    JEXPECT_TRUE(jtest_calls_failed());
    shm_gate_release(&attached);
}

JTEST(SegmentSystem, WithoutItsNamespaceAProcessIsNotKnown) {
    JEXPECT_NE(shm_pid_namespace(), 0);
    jtest_fail_calls("stat", 1, 1, EACCES);
    JEXPECT_EQ(shm_pid_namespace(), 0);
    JEXPECT_TRUE(jtest_calls_failed());
}

JTEST(SegmentSystem, OnlyWhoIsGoneForCertainIsDead) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    const shm_backing_t *backing = &sample.backing;
    const uint64_t mine = shm_life_identity(backing, &sample.constants);
    JASSERT_EQ(shm_life_of(backing, 1, mine), SHM_ALIVE);
    jtest_fail_calls("kill", 1, 1, EPERM); /* of another user: it is there */
    JEXPECT_EQ(shm_life_of(backing, 1, mine), SHM_ALIVE);
    JEXPECT_TRUE(jtest_calls_failed());
    /* Nothing of /proc/PID/stat, after the namespace's offsets. */
    jtest_fail_calls("read", 2, 1, 0);
    JEXPECT_EQ(shm_life_of(backing, 1, mine), SHM_LIFE_UNKNOWN);
    JEXPECT_TRUE(jtest_calls_failed());

    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    JASSERT_EQ(waitpid(child, NULL, 0), child);
    const uint64_t gone = (uint64_t)child << 32 | 1;
    JEXPECT_EQ(shm_life_of(backing, 1, gone), SHM_DEAD_PROCESS);
    static const struct {
        uint64_t count;
        int error;
        shm_life_t life;
    } rows[] = {{1, 0, SHM_DEAD_PROCESS}, /* it ended between being asked and being looked at */
                {2, 0, SHM_LIFE_UNKNOWN}, /* it is there, and /proc does not show it */
                {2, EPERM, SHM_LIFE_UNKNOWN}};
    for (size_t i = 0; i < LEN(rows); ++i) {
        JSCOPED_TRACE("row %zu", i);
        jtest_fail_calls("kill", 1, rows[i].count, rows[i].error);
        JEXPECT_EQ(shm_life_of(backing, 1, gone), rows[i].life);
        JEXPECT_TRUE(jtest_calls_failed());
    }
}
