/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_TAG_H
#define JALLOC_CORE_TAG_H

#include "jalloc/tag.h"

/* The calling thread's tag: one instruction. */
#define ji_tag_current ((jtag_t)(jthread_hint_1_.shifted_tag >> 32))

#endif
