/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_METADATA_GATE_H
#define JALLOC_CLIENTS_GTEST_METADATA_GATE_H

/* A thread that is held up where the library takes bookkeeping memory, so that others overtake
 * it. */

#include "jtest.h"

/* The n-th allocation of bookkeeping memory from now on stops at the gate, which another thread
 * opens. */
void jtest_stop_metadata_after(uint64_t n, jtest_gate_t *gate);

#endif
