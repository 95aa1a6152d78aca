/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What layout.h has inline, as symbols of this library; handle/inline.c has those of libjalloc. */

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/status.h"

#undef JALLOC_INLINE
#define JALLOC_INLINE JALLOC_API
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the definitions are all there is */

#include "jalloc/layout.h"
