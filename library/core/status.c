/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Names and sentences of the statuses, made from the one list in status.h, so that none can be
 * missing here. */

#include "jalloc/status.h"

const char *jstatus_name(jstatus_t status) {
    switch ((int)status) {
#define STATUS_NAME(name, number, text)                                                            \
    case number: return "JSTATUS_" #name;
        JSTATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    default: return "JSTATUS_UNKNOWN";
    }
}

const char *jstatus_text(jstatus_t status) {
    switch ((int)status) {
#define STATUS_TEXT(name, number, text)                                                            \
    case number: return text;
        JSTATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    default: return "a number that is no status of jalloc";
    }
}
