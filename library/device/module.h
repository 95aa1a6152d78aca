/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DEVICE_MODULE_H
#define JALLOC_DEVICE_MODULE_H

/* What a device module is. A module is a shared library, one for each kind of GPU:
 *
 *     libjalloc_cuda.so.N, libjalloc_hip.so.N
 *
 * with libjalloc's own N (its soname's: 0.1, 0.2, ... 1, 2), so that each of several versions has
 * its modules beside it; found in the directory that JALLOC_MODULE_PATH names, or else beside
 * libjalloc, and nowhere else: not in the working directory, not in the loader's search path. It is
 * loaded when a device of its kind is first asked for and stays loaded. It exports one symbol,
 * JI_MODULE_OPEN, of type ji_module_open_t. */

#include "device/table.h"
#include "jalloc/version.h"

/* The file of a module, JI_MODULE_FILE("cuda"). The number is that of JALLOC_SOVERSION in
 * library/CMakeLists.txt. */
#if JALLOC_VERSION_MAJOR == 0
#define JI_SOVERSION "0." JALLOC_QUOTE_(JALLOC_VERSION_MINOR)
#else
#define JI_SOVERSION JALLOC_QUOTE_(JALLOC_VERSION_MAJOR)
#endif
#define JI_MODULE_FILE(kind) "libjalloc_" kind ".so." JI_SOVERSION

/* Changes whenever anything in table.h, here, or in blas/primitives/primitive.h does. A module
 * refuses another one. */
#define JI_MODULE_ABI 8u

#define JI_MODULE_OPEN "jalloc_module_open"

/* What libjalloc does for its modules, which link to nothing of it; for the life of the process. */
typedef struct ji_module_services {
    /* Keeps the message. */
    jstatus_t (*fail)(jstatus_t status, const char *format, ...) JALLOC_PRINTF(2, 3);
    void *(*metadata_zalloc)(size_t size_bytes);
    void (*metadata_free)(void *pointer);
    const unsigned *fork_generation; /* grows in each child */
    bool vendor_blas; /* the vendor's BLAS and LAPACK may be used: JALLOC_VENDOR_BLAS */
} ji_module_services_t;

/* Opens device number `index`. On success *device is an object that lives as long as the process,
 * with every operation filled in; jalloc asks once for each index and keeps it. Otherwise the
 * status (no device where there is no driver or no such number) and, in `reason`, why: a phrase of
 * at most reason_size bytes with its terminator. With device NULL only whether there is such a
 * number is asked. Called by one thread at a time. */
typedef jstatus_t (*ji_module_open_t)(uint32_t abi_version, const ji_module_services_t *services,
                                      int index, jdevice_t **device, char *reason,
                                      size_t reason_size);

#endif
