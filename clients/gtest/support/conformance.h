/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_CONFORMANCE_H
#define JALLOC_CLIENTS_GTEST_CONFORMANCE_H

#include "jalloc/device.h"

/* The device whose memory the suite of allocators runs over: the program's that it is part of. */
jdevice_t *conformance_device(void);

#endif
