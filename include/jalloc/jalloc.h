/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JALLOC_H
#define JALLOC_JALLOC_H

/** @file
 * Everything that needs no other project's header. */

#include "jalloc/adaptor.h"
#include "jalloc/allocator.h"
#include "jalloc/borrow.h"
#include "jalloc/buffer.h"
#include "jalloc/config.h"
#include "jalloc/datatype.h"
#include "jalloc/device.h"
#include "jalloc/handle.h"
#include "jalloc/jblas.h"
#include "jalloc/layout.h"
#include "jalloc/log.h"
#include "jalloc/metadata.h"
#include "jalloc/operation.h"
#include "jalloc/policy.h"
#include "jalloc/process.h"
#include "jalloc/provider.h"
#include "jalloc/quota.h"
#include "jalloc/runtime.h"
#include "jalloc/segment.h"
#include "jalloc/status.h"
#include "jalloc/tag.h"
#include "jalloc/version.h"

#endif
