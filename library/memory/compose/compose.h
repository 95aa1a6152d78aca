/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_COMPOSE_COMPOSE_H
#define JALLOC_MEMORY_COMPOSE_COMPOSE_H

/* Allocators from text, and those that the process has.
 *
 *     JALLOC_ALLOCATOR="general;cuda:0=bfc(limit=2GiB)+guard"
 *          |
 *     process.c    clauses by device; the process's allocators, one for each kind of memory
 *          | "bfc(limit=2GiB)+guard"
 *     compose.c    stages: a kind and its options, read by the kind's table of keys
 *          |
 *     kinds.c      all kinds that have a name; ji_kind_make() makes one (memory.h)
 *
 * This room stands on all others of memory/: it alone knows all kinds. A kind knows nothing of
 * text: its table says what keys it has, of which type, and where in its options they go, so a new
 * key is one line and cannot be read in two ways.
 *
 * What always holds: a text is read to its end before anything is made of it, so a mistake in the
 * last stage costs nothing and leaves nothing behind. A stage that was made owns the one below it,
 * so destroying the topmost is enough. What is refused is quoted, with what was expected and the
 * nearest name.
 *
 * To read: compose.c, from compose_read_stage() on. */

#include "memory/memory.h"

#define JI_PROCESS_MAX_TEXT 1023 /* of one composition */

/* ---- compose.c ---- */

/* Whether a composition can be read: kinds, keys, values, the order of the stages. Makes nothing.
 * success; invalid configuration, with a message that quotes the part. */
jstatus_t ji_compose_check(const char *composition);
/* Whether a composition, the first `length` characters of a text, begins with a device; its name in
 * full. */
bool ji_compose_get_device(const char *composition, size_t length,
                           char device[JI_DEVICE_NAME_BYTES]);
/* Of a composition that can be read. */
bool ji_compose_begins_with_provider(const char *composition);

/* ---- process.c ---- */

/* Whether a text has compositions by device. */
bool ji_process_is_by_device(const char *text);
/* The composition of one device in such a text. success; invalid configuration. */
jstatus_t ji_process_choose(const jdevice_t *device, const char *text,
                            char composition[JI_PROCESS_MAX_TEXT + 1]);

/* Makes what JALLOC_ALLOCATOR says for a device, with `provider` ("numa(node=1)") in place of its
 * provider; NULL: as said. Where it says nothing, makes `fallback`; NULL: *allocator is NULL. The
 * result owns what is below it. success; invalid configuration (the message quotes the variable);
 * what making a stage returns. */
jstatus_t ji_process_compose(jdevice_t *device, const char *provider, const char *fallback,
                             jallocator_t **allocator);
/* The process's provider of host memory that comes zeroed from the system and costs nothing until
 * it is touched. It lives as the process's other allocators do. success; memory error. */
JI_SHARED jstatus_t ji_process_get_mapped(jallocator_t **allocator);
/* For tests: destroys the process's allocators, so that the next request makes new ones from the
 * environment as it is then. success; busy (the message names the first that has something live, or
 * that somebody else keeps; it and those not yet reached stay); device error, capturing and forked
 * (memory that a device does not take back). */
jstatus_t ji_process_reset(void);

#endif
