/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_HOST_FAILURES_H
#define JALLOC_CLIENTS_GTEST_HOST_FAILURES_H

/* Failures of the host device, which by itself has none: of what is enqueued in a created stream,
 * and of waiting for it. */

#include "jtest.h"

/* The n-th launch, copy, fill or wait on the host from now on does nothing and fails with
 * JSTATUS_DEVICE_ERROR, once; for one thread. host_fail_no_more() ends it and tells whether it has
 * happened. */
void host_fail_after(uint64_t n);
bool host_fail_no_more(void);

#endif
