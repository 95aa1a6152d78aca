/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SHM_FILE_H
#define JALLOC_SHM_FILE_H

/* The file behind a segment. Knows of a backing its names and its descriptor; nothing of what is in
 * the file. */

#include "shm/backing.h"

#define SHM_FILE_MODE 0600

/* Checks a name and keeps the path that it means. */
jstatus_t shm_file_set_name(shm_backing_t *backing, const char *name);
/* Removes the temporary name, if it has one. */
void shm_file_drop_temporary(shm_backing_t *backing);

/* Opens a new file without a name, or with a temporary one; shm_backing_publish() gives it the name
 * that is set. */
jstatus_t shm_file_open_new(shm_backing_t *backing);
/* A file that has no name but as a label. */
jstatus_t shm_file_open_memfd(shm_backing_t *backing, const char *name);
/* Opens the file of the name that is set, if it is a safe one. */
jstatus_t shm_file_open_path(shm_backing_t *backing);
/* A description of its own of the file of somebody's descriptor. */
jstatus_t shm_file_open_descriptor(shm_backing_t *backing, int descriptor);

/* What messages call the segment. */
const char *shm_backing_label(const shm_backing_t *backing);
/* The status that errno is, with a message of `what` failed. */
jstatus_t shm_backing_fail(const shm_backing_t *backing, const char *what);

#endif
