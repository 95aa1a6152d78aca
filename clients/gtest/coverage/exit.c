/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What libgcov would lose of a child, in the tests of a build with coverage, which are linked with
 * --wrap for these two.
 *
 * A process that ends by _exit, as a test's child does, runs no handlers, so nothing would write
 * what it counted. And where fork() is called, GCC calls __gcov_fork(), which sets the child's
 * counts to zero after the fork, and with them those of the handlers that pthread_atfork() knows.
 * Here they are set to zero by the first of those handlers. The parent writes nothing and loses
 * nothing: what its other threads count meanwhile stays, or a line could come out as taken fewer
 * than no times. */

#include <pthread.h>
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status) {
    __gcov_dump();
    __real__exit(status);
}

/* Before any constructor of the library: children's handlers are called in the order in which they
 * were given. */
__attribute__((constructor(101))) static void know_children(void) {
    (void)pthread_atfork(NULL, NULL, __gcov_reset);
}

pid_t system_fork(void) __asm__("fork"); /* by a name that GCC does not know */
pid_t __wrap___gcov_fork(void);

pid_t __wrap___gcov_fork(void) { return system_fork(); }
