/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A filter of system calls (seccomp) hands those that are watched to a thread which was made before
 * it, is not subject to it, and touches nothing but numbers: it counts a call and lets it go on, or
 * answers in the system's place. */

#include "jtest_watch.h"

#include <stdatomic.h>
#include <stddef.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/seccomp.h>)
#include <linux/seccomp.h>
#endif
#endif

#if defined(SECCOMP_USER_NOTIF_FLAG_CONTINUE) && defined(__LP64__) && !JTEST_HAS_SHADOW

#include <errno.h>
#include <linux/filter.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    int number;
    jtest_watched_t kind;
} watched[] = {
    {SYS_mmap, JTEST_GIVES_MEMORY},    {SYS_mremap, JTEST_GIVES_MEMORY},
    {SYS_brk, JTEST_GIVES_MEMORY},     {SYS_mprotect, JTEST_GIVES_MEMORY},
    {SYS_munmap, JTEST_TAKES_MEMORY},  {SYS_madvise, JTEST_TAKES_MEMORY},
    {SYS_clone, JTEST_GIVES_THREADS},
#ifdef SYS_clone3
    {SYS_clone3, JTEST_GIVES_THREADS},
#endif
};
enum { WATCHED = sizeof watched / sizeof watched[0] };

static atomic_uint_fast64_t watched_count;
static struct {
    atomic_bool is_set, failed;
    jtest_watched_t kind;
    uint64_t calls, first, count; /* calls: of the kind, since it was set */
} plan;

static int listener; /* where the system asks; known when the semaphore says so */
static sem_t listener_is_there;

/* ---- The answers ---- */

static bool call_fails(jtest_watched_t kind) {
    if (!atomic_load(&plan.is_set) || kind != plan.kind || ++plan.calls < plan.first ||
        plan.calls - plan.first >= plan.count)
        return false;
    atomic_store(&plan.failed, true);
    return true;
}

static struct seccomp_notif_resp answer_to(const struct seccomp_notif *call) {
    struct seccomp_notif_resp answer = {.id = call->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    jtest_watched_t kind = JTEST_TAKES_MEMORY;
    for (int i = 0; i < WATCHED; i++)
        if (watched[i].number == call->data.nr)
            kind = watched[i].kind;

    atomic_fetch_add(&watched_count, 1);
    if (!call_fails(kind))
        return answer;

    answer.flags = 0;
    if (call->data.nr == SYS_brk) /* says where the end is, wherever it was wanted */
        answer.val = (int64_t)(intptr_t)sbrk(0);
    else
        answer.error = kind == JTEST_GIVES_THREADS ? -EAGAIN : -ENOMEM;
    return answer;
}

static void *answer_calls(void *unused) {
    (void)unused;
    struct seccomp_notif call;
    sem_wait(&listener_is_there);
    for (;;) {
        memset(&call, 0, sizeof call);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0 && errno != EINTR &&
            errno != ENOENT)
            return NULL;
        struct seccomp_notif_resp answer = answer_to(&call);
        (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

/* ---- The filter ---- */

bool jtest_watch_system(void) {
    struct sock_filter filter[WATCHED + 3];
    int at = 0;
    filter[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < WATCHED; i++)
        filter[at++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)watched[i].number, (uint8_t)(WATCHED - i), 0);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);

    const struct sock_fprog program = {(unsigned short)at, filter};
    pthread_t thread;
    if (sem_init(&listener_is_there, 0, 0) != 0 ||
        pthread_create(&thread, NULL, answer_calls, NULL) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;

    listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                            &program);
    if (listener < 0)
        return false;
    sem_post(&listener_is_there);
    return true;
}

uint64_t jtest_watched_count(void) { return atomic_load(&watched_count); }

void jtest_fail_watched(jtest_watched_t kind, uint64_t first, uint64_t count) {
    atomic_store(&plan.is_set, false);
    atomic_store(&plan.failed, false);
    plan.kind = kind;
    plan.calls = 0, plan.first = first, plan.count = count;
    atomic_store(&plan.is_set, true);
}

bool jtest_watched_failed(void) {
    atomic_store(&plan.is_set, false);
    return atomic_load(&plan.failed);
}

#else

bool jtest_watch_system(void) { return false; }
uint64_t jtest_watched_count(void) { return 0; }
void jtest_fail_watched(jtest_watched_t kind, uint64_t first, uint64_t count) {
    (void)kind, (void)first, (void)count;
}
bool jtest_watched_failed(void) { return false; }

#endif
