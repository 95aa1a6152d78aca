/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The last message of each thread.
 *
 * Keeping a message needs no lock and, for the first 64 threads that have one, no memory: an
 * out-of-memory error can still say what was wanted. A thread claims one of the buffers here with
 * its first message, and gives it back when it ends; later ones take bookkeeping memory, and where
 * there is none the message is lost and the status is not. The buffers are not the threads' own
 * storage: whoever loads the library while it runs has little room for that, and all of a library's
 * variables of that kind must fit, since the fast ones cannot do without it.
 *
 * A text that is too long is cut. The text is made beside the buffer and copied into it, because an
 * argument may well be the present message: a caller that adds to what its callee said. */

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/core.h"

#define MESSAGE_BUFFERS 64 /* bits of a word */

_Thread_local unsigned ji_message_count __attribute__((tls_model("initial-exec")));

/* The innermost. */
static _Thread_local ji_message_try_t *message_try __attribute__((tls_model("initial-exec")));

static char message_buffers[MESSAGE_BUFFERS][JI_MESSAGE_BYTES];
static _Atomic(uint64_t) message_taken; /* bit i: buffer i is a thread's */
static pthread_key_t message_key;       /* a thread's buffer */
static bool message_has_key;

static char *message_claim(void) {
    uint64_t taken = atomic_load_explicit(&message_taken, memory_order_relaxed);
    while (taken != UINT64_MAX) {
        const int buffer = __builtin_ctzll(~taken);
        if (atomic_compare_exchange_weak_explicit(&message_taken, &taken,
                                                  taken | (uint64_t)1 << buffer,
                                                  memory_order_acquire, memory_order_relaxed))
            return message_buffers[buffer];
    }

    return ji_metadata_alloc(JI_MESSAGE_BYTES);
}

/* Also when the thread ends. */
static void message_release(void *text) {
    const uintptr_t offset = (uintptr_t)text - (uintptr_t)message_buffers;

    if (offset < sizeof message_buffers)
        atomic_fetch_and_explicit(&message_taken, ~((uint64_t)1 << offset / JI_MESSAGE_BYTES),
                                  memory_order_release);
    else
        ji_metadata_free(text);
}

static void message_start(void) {
    message_has_key = pthread_key_create(&message_key, message_release) == 0;
}

/* A library that is unloaded leaves nothing behind that would be called. */
__attribute__((destructor)) static void message_end(void) {
    if (message_has_key)
        (void)pthread_key_delete(message_key);
}

/* The calling thread's buffer; NULL: it has none. */
static char *message_of_thread(bool claims) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, message_start);

    char *text = message_has_key ? pthread_getspecific(message_key) : NULL;
    if (text != NULL || !claims || !message_has_key || (text = message_claim()) == NULL)
        return text;

    if (pthread_setspecific(message_key, text) == 0)
        return text;
    message_release(text);
    return NULL;
}

void ji_message_try_begin(ji_message_try_t *attempt) {
    attempt->outer = message_try;
    attempt->has_text = false;
    message_try = attempt;
}

void ji_message_try_end(ji_message_try_t *attempt, bool restores) {
    message_try = attempt->outer;
    if (restores && attempt->has_text)
        memcpy(message_of_thread(false), attempt->text, sizeof attempt->text);
}

/* What the tries under way have not seen replaced yet. */
static void message_try_keep(const char *kept) {
    for (ji_message_try_t *attempt = message_try; attempt != NULL && !attempt->has_text;
         attempt = attempt->outer) {
        memcpy(attempt->text, kept, sizeof attempt->text);
        attempt->has_text = true;
    }
}

jstatus_t ji_fail(jstatus_t status, const char *format, ...) {
    int saved_errno = errno;
    char text[JI_MESSAGE_BYTES];

    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        snprintf(text, sizeof text, "%s", jstatus_text(status));
    va_end(arguments);

    char *kept = message_of_thread(true);
    if (kept != NULL) {
        message_try_keep(kept);
        memcpy(kept, text, strlen(text) + 1);
    }

    ji_message_count++;
    errno = saved_errno;
    return status;
}

const char *jstatus_last_message(void) {
    const char *kept = message_of_thread(false);
    if (kept != NULL)
        return kept;
    return ji_message_count == 0 ? "" : "there was no memory to keep the message";
}
