/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DROPIN_REPORT_H
#define JALLOC_DROPIN_REPORT_H

/* What the process called, and what it took: JALLOC_BLAS_REPORT, which jblas-run --report sets. */

#include <stdbool.h>
#include <stdint.h>

#include "handle/handle.h"
#include "jalloc/quota.h"

/* The calls of one name; each entry has one of its own. */
typedef struct ji_dropin_counter ji_dropin_counter_t;
struct ji_dropin_counter {
    const char *name; /* as the program called it: "dgemm_" */
    bool lapack;
    uint64_t count;            /* atomic */
    bool is_listed;            /* atomic */
    ji_dropin_counter_t *next; /* of those that were called */
};

/* Whether there will be a report. Set when the library is loaded. */
extern bool ji_dropin_reports __attribute__((visibility("hidden")));

void ji_dropin_count(ji_dropin_counter_t *counter) __attribute__((cold));

/* A thread's handle was made, and is about to be destroyed. The quota is the process's. */
void ji_dropin_report_began(jhandle_t *handle, const jquota_t *quota);
void ji_dropin_report_ends(jhandle_t *handle);
/* A call computes without a handle, and so without workspace: there is no memory for one, its
 * thread has ended, the environment is not understood. */
void ji_dropin_report_lacked(void);
/* In a child: what was counted is the parent's. */
void ji_dropin_report_forget(void);

#endif
