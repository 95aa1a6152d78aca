/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Functions of the system that fail on demand. The program is linked with --wrap for each of them
 * (JTEST_SYSTEM_CALLS of CMakeLists.txt), so what the library calls, its static form being part of
 * the program, comes through here. */

#include "jtest.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static struct {
    _Atomic(const char *) function; /* the name in its wrapper; NULL: none is to fail */
    atomic_uint_fast64_t calls;     /* since it was said */
    uint64_t first, count;
    int error;
    atomic_bool failed;
} plan;

/* Whether this call is one that is to fail. `self` is a wrapper's name, one object for each. */
static bool call_fails(const char *self) {
    const char *function = atomic_load(&plan.function);
    if (function == NULL || strcmp(function, self) != 0)
        return false;
    const uint64_t call = atomic_fetch_add(&plan.calls, 1) + 1;
    if (call < plan.first || call - plan.first >= plan.count)
        return false;
    atomic_store(&plan.failed, true);
    errno = plan.error;
    return true;
}

/* A wrapper: what it gives instead of the function's result is `failure`, or the number opposite to
 * an "error" that is none. */
#define WRAP(type, name, parameters, arguments, failure)                                           \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        if (call_fails(#name))                                                                     \
            return plan.error > 0 ? (failure) : (type) - (intptr_t)plan.error;                     \
        return __real_##name arguments;                                                            \
    }

WRAP(int, access, (const char *path, int mode), (path, mode), -1)
WRAP(int, close, (int file), (file), -1)
WRAP(int, dl_iterate_phdr, (int (*visit)(struct dl_phdr_info *, size_t, void *), void *context),
     (visit, context), 0)
WRAP(int, fallocate, (int file, int mode, off_t offset, off_t bytes), (file, mode, offset, bytes),
     -1)
WRAP(int, fchmod, (int file, mode_t mode), (file, mode), -1)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
WRAP(int, fstat, (int file, struct stat *result), (file, result), -1)
WRAP(int, fsync, (int file), (file), -1)
WRAP(int, ftruncate, (int file, off_t bytes), (file, bytes), -1)
WRAP(unsigned long, getauxval, (unsigned long type), (type), 1)
WRAP(char *, getcwd, (char *path, size_t bytes), (path, bytes), NULL)
WRAP(ssize_t, getrandom, (void *bytes, size_t count, unsigned flags), (bytes, count, flags), -1)
WRAP(int, kill, (pid_t process, int number), (process, number), -1)
WRAP(int, linkat, (int from, const char *old, int to, const char *path, int flags),
     (from, old, to, path, flags), -1)
WRAP(int, lstat, (const char *path, struct stat *result), (path, result), -1)
WRAP(int, madvise, (void *address, size_t bytes, int advice), (address, bytes, advice), -1)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
WRAP(void *, mmap, (void *at, size_t bytes, int protection, int flags, int file, off_t offset),
     (at, bytes, protection, flags, file, offset), MAP_FAILED)
WRAP(int, mprotect, (void *address, size_t bytes, int protection), (address, bytes, protection), -1)
WRAP(int, munmap, (void *address, size_t bytes), (address, bytes), -1)
WRAP(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), -1)
WRAP(int, posix_memalign, (void **pointer, size_t alignment, size_t bytes),
     (pointer, alignment, bytes), plan.error)
WRAP(ssize_t, pread, (int file, void *bytes, size_t count, off_t offset),
     (file, bytes, count, offset), -1)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *),
      void *argument),
     (thread, attributes, function, argument), plan.error)
WRAP(int, pthread_key_create, (pthread_key_t * key, void (*at_exit)(void *)), (key, at_exit),
     plan.error)
WRAP(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value), plan.error)
WRAP(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t offset),
     (file, bytes, count, offset), -1)
WRAP(ssize_t, read, (int file, void *bytes, size_t count), (file, bytes, count), -1)
WRAP(ssize_t, readlink, (const char *path, char *text, size_t bytes), (path, text, bytes), -1)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1)
WRAP(int, sched_getaffinity, (pid_t process, size_t bytes, cpu_set_t *mask), (process, bytes, mask),
     -1)
WRAP(int, sigtimedwait, (const sigset_t *set, siginfo_t *information, const struct timespec *time),
     (set, information, time), -1)
WRAP(int, stat, (const char *path, struct stat *result), (path, result), -1)
WRAP(long, sysconf, (int name), (name), -1)
WRAP(int, uname, (struct utsname * system), (system), -1)
WRAP(int, unlink, (const char *path), (path), -1)
WRAP(int, vsnprintf, (char *text, size_t bytes, const char *format, va_list arguments),
     (text, bytes, format, arguments), -1)
WRAP(ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count), -1)
WRAP(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count), -1)

/* Those that take any number of arguments hand on as many as there can be. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    const mode_t mode = creates ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return call_fails("open") ? -1 : __real_open(path, flags, mode);
}

int __real_fcntl(int file, int command, ...);
int __wrap_fcntl(int file, int command, ...);
int __wrap_fcntl(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *); /* or an int, which comes by the same way */
    va_end(arguments);
    return call_fails("fcntl") ? (plan.error > 0 ? -1 : -plan.error)
                               : __real_fcntl(file, command, argument);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    long argument[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; ++i)
        argument[i] = va_arg(arguments, long);
    va_end(arguments);
    /* Threads of the library's own wait by futexes at any time, and would be the ones who fail. */
    if (number != SYS_futex && call_fails("syscall"))
        return plan.error > 0 ? -1 : -plan.error;
    return __real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                          argument[5]);
}

void jtest_fail_calls(const char *function, uint64_t first, uint64_t count, int error) {
    atomic_store(&plan.function, NULL);
    atomic_store(&plan.calls, 0);
    atomic_store(&plan.failed, false);
    plan.first = first;
    plan.count = count;
    plan.error = error;
    atomic_store(&plan.function, function);
}

bool jtest_calls_failed(void) {
    atomic_store(&plan.function, NULL);
    return atomic_load(&plan.failed);
}
