/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The signal of a limit on the size of files (file_limit.h). It is blocked rather than ignored,
 * because what is ignored is so for the whole process. One that was pending before is the
 * program's, and stays. */

#include "core/file_limit.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static sigset_t limit_signal(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    return signals;
}

void ji_file_limit_begin(ji_file_limit_t *limit) {
    const sigset_t too_large = limit_signal();
    const int error = errno;
    sigset_t pending;
    (void)pthread_sigmask(SIG_BLOCK, &too_large, &limit->before);
    sigpending(&pending);
    limit->pending = sigismember(&pending, SIGXFSZ) == 1;
    errno = error;
}

void ji_file_limit_end(const ji_file_limit_t *limit) {
    const sigset_t too_large = limit_signal();
    const struct timespec now = {0, 0};
    const int error = errno;
    while (!limit->pending && sigtimedwait(&too_large, NULL, &now) < 0 && errno == EINTR)
        ;
    (void)pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
    errno = error;
}
