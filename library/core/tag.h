/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_TAG_H
#define JALLOC_CORE_TAG_H

#include "jalloc/tag.h"

/* The calling thread's tag. Initial-exec: one instruction, at the price of four bytes of the
 * loader's static block. */
extern _Thread_local jtag_t ji_tag_current __attribute__((tls_model("initial-exec")));

#endif
