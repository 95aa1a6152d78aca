/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_JALLOC_H
#define JALLOC_JALLOC_H

/** @file
 * Everything that needs no other project's header.
 *
 * A struct whose first member is `struct_size` can have more members in a later version, at its
 * end. Begin with its initializer, jhandle_options_t with JHANDLE_OPTIONS_INIT: the size says which
 * version the program was compiled with. The library takes a smaller struct, whose missing members
 * have their defaults, and writes of a result what fits; it takes a larger one if all that it does
 * not know is zero, and refuses it by name otherwise: invalid value (struct_size). A struct whose
 * comment ends with "Frozen." stays as it is, as do the lengths of arrays in structs
 * (JHANDLE_MAX_RUNGS). */

#include "jalloc/adaptor.h"
#include "jalloc/allocator.h"
#include "jalloc/borrow.h"
#include "jalloc/buffer.h"
#include "jalloc/config.h"
#include "jalloc/datatype.h"
#include "jalloc/device.h"
#include "jalloc/executor.h"
#include "jalloc/handle.h"
#include "jalloc/jblas.h"
#include "jalloc/jlapack.h"
#include "jalloc/jlapack_batched.h"
#include "jalloc/layout.h"
#include "jalloc/log.h"
#include "jalloc/metadata.h"
#include "jalloc/operation.h"
#include "jalloc/policy.h"
#include "jalloc/process.h"
#include "jalloc/profile.h"
#include "jalloc/program.h"
#include "jalloc/provider.h"
#include "jalloc/quota.h"
#include "jalloc/requirement.h"
#include "jalloc/runtime.h"
#include "jalloc/segment.h"
#include "jalloc/status.h"
#include "jalloc/tag.h"
#include "jalloc/version.h"

#endif
