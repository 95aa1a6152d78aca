/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* After set-up nothing allocates: shown by a filter that ends the process at the first call of the
 * system which would give or take memory, or make a thread.
 *
 * Set-up is a handle with its threads, a size query, and a workspace of what it answered. Then the
 * filter is set (seccomp, Linux), for all threads that there are, and products are computed, by
 * two threads, in packed panels. What prints is the C library's, so its buffer is ours, too.
 *
 * This is what a program looks like that must not be stopped by memory running out once it works:
 * a controller, a server under a limit, one of many tenants. */

#include <unistd.h>

#include "sample.h"

#ifdef __has_feature /* Clang's word for what GCC has macros for */
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

#if defined(__linux__) && defined(__x86_64__) && !HAS_SANITIZER /* these map memory at any time */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const uint32_t forbidden[] = {SYS_mmap,     SYS_munmap,  SYS_mremap, SYS_brk,
                                     SYS_mprotect, SYS_madvise, SYS_clone,  435 /* clone3 */};
enum { FORBIDDEN = sizeof forbidden / sizeof forbidden[0] };

/* False where the system has no such filters. */
static int seal(void) {
    struct sock_filter filter[FORBIDDEN + 3] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (int i = 0; i < FORBIDDEN; i++)
        filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i],
                                                     (uint8_t)(FORBIDDEN - i), 0);
    filter[FORBIDDEN + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[FORBIDDEN + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);

    const struct sock_fprog program = {FORBIDDEN + 3, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

#else

static int seal(void) { return 0; }

#endif

enum { ORDER = 300, CALLS = 20 };

static double A[ORDER * ORDER], B[ORDER * ORDER], C[ORDER * ORDER];

/* C = A B; with NULL operands, for the query, as well. */
static jstatus_t multiply(jhandle_t *handle, const double *a, const double *b, double *c) {
    const double one = 1, zero = 0;
    return jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, ORDER, ORDER, ORDER, &one, a,
                       ORDER, b, ORDER, &zero, c, ORDER);
}

int main(void) {
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
    for (int i = 0; i < ORDER * ORDER; i++)
        A[i] = i % 7 - 3, B[i] = i % 5 - 2;

    jhandle_t *handle;
    size_t bytes;
    TRY(jhandle_create(NULL, &handle));
    TRY(jhandle_set_threads(handle, 2));
    TRY(jhandle_start_size_query(handle));
    TRY(multiply(handle, NULL, NULL, NULL));
    TRY(jhandle_stop_size_query(handle, &bytes));
    TRY(jhandle_set_fixed_workspace_size(handle, bytes));
    printf("set up: 2 threads, %zu bytes\n", bytes);

    const int sealed = seal();
    puts(sealed ? "sealed: no memory and no threads from here on" : "no filter to be had here");
    for (int i = 0; i < CALLS; i++)
        CLAIM(multiply(handle, A, B, C) == JSTATUS_SUCCESS);

    double first = 0;
    for (int k = 0; k < ORDER; k++)
        first += A[k * ORDER] * B[k];
    CLAIM(C[0] == first);
    jhandle_stats_t stats = JHANDLE_STATS_INIT;
    TRY(jhandle_get_stats(handle, &stats));
    printf("%d products of order %d: %llu borrows, most at once %zu bytes, first element %g\n",
           CALLS, ORDER, (unsigned long long)stats.borrow_count, stats.high_watermark_bytes, C[0]);

    /* The seal is for good, and destroying the handle would give memory back. The end of the
     * program gives back everything, and asks for nothing. */
    if (!sealed)
        TRY(jhandle_destroy(handle));
    return 0;
}
