/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* rotg and rotmg on the host: primitives/rotation.h, which has more to say. */

#include "blas/primitives/rotation.h"
#include "blas/host/host.h"

void ji_host_rotg(void *block) { ji_rotg((const ji_rotation_t *)block); }
void ji_host_rotmg(void *block) { ji_rotmg((const ji_rotation_t *)block); }
