/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The public functions that the headers of libjalloc have inline, as symbols: who calls a library
 * by name finds them here, made of the same text. It stands here because this folder may include
 * all headers that have some. clients/scripts/check_texts.py sees to it that none is missing. */

#define JALLOC_INLINE JALLOC_API
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the definitions are all there is */

#include "jalloc/borrow.h"
#include "jalloc/datatype.h"
#include "jalloc/segment.h"
#include "jalloc/status.h"
