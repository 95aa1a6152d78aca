/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DROPIN_PLAN_H
#define JALLOC_DROPIN_PLAN_H

/* What the process's calls need: the end of its report. Of these functions one runs at a time. */

#include "handle/handle.h"
#include "jalloc/quota.h"

/* The handle's calls are recorded from now on, and no more. False without memory for that. */
bool ji_dropin_plan_began(jhandle_t *handle);
void ji_dropin_plan_ends(const jhandle_t *handle);
/* In a child: what was recorded is the parent's. */
void ji_dropin_plan_forget(void);
/* On standard error; the quota is the process's. */
void ji_dropin_plan_print(const jquota_t *quota);

#endif
