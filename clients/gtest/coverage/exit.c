/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A process that ends by _exit, as a test's child does, runs no handlers, and libgcov would not write what it counted.
 * Linked with --wrap=_exit into the tests of a build with coverage. */

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status) {
    __gcov_dump();
    __real__exit(status);
}
