/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#include "memory/memory.h"
const ji_kind_t ji_kind_record = {.public = {"record", JALLOCATOR_ADAPTOR, "", NULL}};
jstatus_t ji_record_wrap(jallocator_t *allocator, jallocator_t **out) { *out = allocator; return JSTATUS_SUCCESS; }
