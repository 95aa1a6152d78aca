/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BUFFER_CHOOSE_H
#define JALLOC_BUFFER_CHOOSE_H

/* The decision of a best allocator, apart from everything that it is made from. */

#include "buffer/buffer.h"

/* What JALLOC_BUFFER names. */
typedef struct ji_choice_wish {
    int kind;                          /* -1: none */
    char device[JI_DEVICE_NAME_BYTES]; /* in full; "": none */
} ji_choice_wish_t;

typedef struct ji_choice_question {
    ji_choice_wish_t named;
    /* Of the allocator that they propagate; NULL: there are none. */
    const jbuffer_allocator_options_t *operands;
    jdevice_t *wished; /* the allocator's device; NULL: none */
    int rank;          /* of the layout */
    size_t size_bytes; /* of the whole */
    bool can_distribute;
    const jruntime_info_t *info;
    const jruntime_device_t *devices; /* info->devices of them, the host first */
} ji_choice_question_t;

typedef struct ji_choice {
    jbuffer_kind_t kind;
    jdevice_t *device; /* NULL: the one that is named */
    const char *why;   /* for the log; static */
} ji_choice_t;

/* The table of jbuffer_allocator_choose(). */
ji_choice_t ji_choice_decide(const ji_choice_question_t *question);

#endif
