/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The suite of allocators over the host's memory. */

#include "conformance.h"

jdevice_t *conformance_device(void) { return jdevice_host(); }
