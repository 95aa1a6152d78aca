/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Programs that are right, in situations that a recorder inside them must survive: "record_cases
 * NAME" is one of them. check_cases.py runs each with and without libjalloc_record.so.
 *
 * EVENTS blocks of FIRST bytes are allocated and freed before what matters, as many of SECOND bytes
 * afterwards; so the trace tells whether anything is missing. To be compiled with -fno-builtin. */

#define _DEFAULT_SOURCE /* vfork, setitimer */

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS 2000 /* more than a buffer holds */
#define FIRST 5000
#define SECOND 7000

static void allocate(size_t size) {
    for (int i = 0; i < EVENTS; i++)
        free(malloc(size));
}

static int wait_for(pid_t child) {
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

/* A daemon's start: all descriptors are closed, from `lowest` on, and files opened that get their
 * numbers. */
static int reopen(int lowest, int files) {
    allocate(FIRST);
    for (int number = lowest; number < 1024; number++)
        close(number);
    for (int i = 0; i < files; i++) {
        char name[16];
        snprintf(name, sizeof name, "data%d", i);
        if (write(open(name, O_CREAT | O_TRUNC | O_WRONLY, 0666), "mine\n", 5) != 5)
            return 1;
    }
    allocate(SECOND);
    return 0;
}
static int case_close(void) { return reopen(3, 8); }
static int case_close_all(void) { return reopen(0, 8); }

/* Others may change the trace meanwhile: says so, and waits for a line. */
static int case_wait(void) {
    char line[16];
    allocate(FIRST);
    puts("ready");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        return 1;
    allocate(SECOND);
    return 0;
}

/* Handlers of a fork that take a lock under which others allocate, and allocate themselves;
 * registered before any library's own. */
static pthread_mutex_t fork_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool fork_case;
static atomic_bool fork_over;

static void fork_prepare(void) {
    if (fork_case) {
        pthread_mutex_lock(&fork_mutex);
        free(malloc(FIRST));
    }
}
static void fork_done(void) {
    if (fork_case) {
        free(malloc(FIRST));
        pthread_mutex_unlock(&fork_mutex);
    }
}
static void fork_register(void) { (void)pthread_atfork(fork_prepare, fork_done, fork_done); }
__attribute__((section(".preinit_array"),
               used)) static void (*const fork_first)(void) = fork_register;

static void *fork_neighbour(void *unused) {
    while (!atomic_load(&fork_over)) {
        pthread_mutex_lock(&fork_mutex);
        free(malloc(FIRST));
        pthread_mutex_unlock(&fork_mutex);
        usleep(100); /* a mutex is not fair, and a trace need not be long */
    }
    return unused;
}

static int case_fork(void) {
    pthread_t neighbours[2];
    fork_case = true;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&neighbours[i], NULL, fork_neighbour, NULL) != 0)
            return 1;
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            free(malloc(SECOND));
            _exit(5);
        }
        if (wait_for(child) != 5)
            return 1;
    }
    atomic_store(&fork_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(neighbours[i], NULL);
    return 0;
}

/* A child by fork, one by fork that becomes another program, in another folder; both allocate. */
static int case_children(char *self) {
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            allocate(SECOND);
            if (i == 1 && mkdir("below", 0777) == 0 && chdir("below") == 0)
                execl(self, self, "close", (char *)NULL);
            exit(5);
        }
        if (wait_for(child) != (i == 0 ? 5 : 0))
            return 1;
    }
    allocate(FIRST);
    return 0;
}

/* _exit may be called from a signal handler. */
static void leave(int number) {
    (void)number;
    _exit(7);
}
static int case_signal(void) {
    const struct itimerval soon = {{0, 0}, {0, 5000}};
    signal(SIGALRM, leave);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (int i = 0; i < 1000000; i++)
        allocate(FIRST);
    return 1;
}

/* What every shell does for a command that is not there. */
static int case_vfork(void) {
    allocate(FIRST);
    pid_t child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): this is about it
    if (child == 0) {
        execl("/no/such/program", "program", (char *)NULL);
        _exit(127);
    }
    if (wait_for(child) != 127)
        return 1;
    allocate(SECOND);
    return 0;
}

static int case_quick(void) {
    allocate(FIRST);
    quick_exit(3);
}

/* malloc is no place where a thread is cancelled, also when a buffer is written there. */
static atomic_bool cancel_asked;
static void *cancel_thread(void *unused) {
    while (!atomic_load(&cancel_asked))
        sched_yield();
    allocate(FIRST);
    atomic_store(&cancel_asked, false);
    pthread_testcancel();
    return unused;
}
static int case_cancel(void) {
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, cancel_thread, NULL) != 0)
        return 1;
    pthread_cancel(thread);
    atomic_store(&cancel_asked, true);
    pthread_join(thread, &result);
    allocate(SECOND);
    return atomic_load(&cancel_asked) || result != PTHREAD_CANCELED;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(void);
    } cases[] = {{"close", case_close}, {"close-all", case_close_all}, {"wait", case_wait},
                 {"fork", case_fork},   {"signal", case_signal},       {"vfork", case_vfork},
                 {"quick", case_quick}, {"cancel", case_cancel}};
    const char *name = argc == 2 ? argv[1] : "";
    if (strcmp(name, "children") == 0)
        return case_children(argv[0]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0)
            return cases[i].run();
    fprintf(stderr, "record_cases: no case is named '%s'\n", name);
    return 2;
}
