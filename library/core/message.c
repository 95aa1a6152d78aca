/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The last message of each thread.
 *
 * It lives in the thread's own storage, so that keeping a message needs no lock and no memory: an out-of-memory error
 * can still say what was wanted. A text that is too long is cut. The text is made beside the buffer and copied into it,
 * because an argument may well be the present message: a caller that adds to what its callee said. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/core.h"

#define MESSAGE_BYTES 512

static _Thread_local char message_last[MESSAGE_BYTES];
_Thread_local unsigned ji_message_count __attribute__((tls_model("initial-exec")));

jstatus_t ji_fail(jstatus_t status, const char *format, ...) {
    int saved_errno = errno;
    char text[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        snprintf(text, sizeof text, "%s", jstatus_text(status));
    va_end(arguments);
    memcpy(message_last, text, strlen(text) + 1);
    ji_message_count++;
    errno = saved_errno;
    return status;
}

const char *jstatus_last_message(void) { return message_last; }
