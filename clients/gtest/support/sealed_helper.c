/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "sealed_helper.h"

#include "jtest.h"

int jtest_run_sealed(const char *filter, char *output, size_t output_bytes) {
    /* An OpenBLAS that is there has no threads of its own, which map memory as they begin. */
    const char *const environment[] = {"JALLOC_TEST_KEEP=1", "OPENBLAS_NUM_THREADS=1", NULL};
    return jtest_run_self(filter, environment, output, output_bytes);
}

#if JTEST_HAS_SEAL

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    int number;
    const char *name;
} forbidden[] = {
    {SYS_mmap, "mmap"},         {SYS_munmap, "munmap"},   {SYS_mremap, "mremap"}, {SYS_brk, "brk"},
    {SYS_mprotect, "mprotect"}, {SYS_madvise, "madvise"}, {SYS_clone, "clone"},
#ifdef SYS_clone3
    {SYS_clone3, "clone3"},
#endif
};
enum { FORBIDDEN = sizeof forbidden / sizeof forbidden[0] };

const char *volatile jtest_sealed_work = "nothing";

static void say(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

/* Nothing of the C library's ending: it may allocate. */
static void leave(int result) { syscall(SYS_exit_group, result); }

static void stopped(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number, (void)context;
    const char *name = "?";
    for (int i = 0; i < FORBIDDEN; i++)
        if (forbidden[i].number == info->si_syscall)
            name = forbidden[i].name;
    say("sealed: "), say(jtest_sealed_work), say(" called "), say(name), say("\n");
    leave(1);
}

static bool seal(void) {
    struct sock_filter filter[FORBIDDEN + 3];
    int at = 0;
    filter[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < FORBIDDEN; i++, at++)
        filter[at] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)forbidden[i].number, (uint8_t)(FORBIDDEN - i), 0);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);

    const struct sock_fprog program = {(unsigned short)at, filter};
    struct sigaction action = {.sa_sigaction = stopped, .sa_flags = SA_SIGINFO};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

void jtest_seal(void) {
    if (!seal()) {
        say("sealed: not possible here\n");
        leave(0);
    }
}

void jtest_sealed_fail(const char *what) {
    say("sealed: "), say(jtest_sealed_work), say(what), say("\n");
    leave(1);
}

void jtest_sealed_end(void) {
    say("sealed: all calls\n");
    jtest_sealed_work = "the end of the program";
    exit(0);
}

static jhandle_t *sealed_handle(int mode, int threads, size_t bytes) {
    jhandle_t *handle = NULL;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.threads = threads;
    options.preallocate_bytes = mode == 0 ? bytes : 0;
    JEXPECT_OK(jhandle_create(&options, &handle));
    if (mode == 1)
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, bytes));
    if (mode == 2)
        JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(bytes), bytes));
    return handle;
}

void jtest_sealed_handles(jhandle_t *handles[JTEST_SEALED_HANDLES],
                          size_t (*queried_bytes)(int threads)) {
    for (int i = 0; i < JTEST_SEALED_HANDLES; i++) {
        const int threads = i % JTEST_SEALED_THREADS + 1;
        handles[i] = sealed_handle(i / JTEST_SEALED_THREADS, threads, queried_bytes(threads));
    }
}

size_t jtest_stack_bytes(void *(*work)(void *argument), void *argument) {
    enum { STACK_BYTES = 1 << 20, UNUSED = 0xA5 };
    static _Alignas(4096) unsigned char stack[STACK_BYTES];
    pthread_attr_t attributes;
    pthread_t thread;
    void *failed = NULL;
    memset(stack, UNUSED, sizeof stack);
    pthread_attr_init(&attributes);
    JEXPECT_EQ(pthread_attr_setstack(&attributes, stack, sizeof stack), 0);
    JEXPECT_EQ(pthread_create(&thread, &attributes, work, argument), 0);
    JEXPECT_EQ(pthread_join(thread, &failed), 0);
    pthread_attr_destroy(&attributes);
    if (failed != NULL)
        JFAIL("%s failed", (const char *)failed);

    size_t untouched = 0;
    while (untouched < sizeof stack && stack[untouched] == UNUSED)
        untouched++;
    return sizeof stack - untouched;
}

void jtest_expect_sealed(const char *filter) {
    static char output[16384];
    const int result = jtest_run_sealed(filter, output, sizeof output);
    if (strstr(output, "not possible here"))
        JSKIP("the system has no seccomp filters");
    JEXPECT_EQ(result, 0);
    JEXPECT_SUBSTR(output, "sealed: all calls");
}

#else

void jtest_expect_sealed(const char *filter) {
    (void)filter;
    JSKIP("needs x86-64 without sanitizers");
}

#endif
