/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_LOG_H
#define JALLOC_BLAS_ROUTINE_LOG_H

/* Call logging, which log.c explains. */

#include "blas/blas.h"

/* Makes the call, with the lines that the handle's layers ask for. The handle is valid and not
 * querying. */
jstatus_t ji_log_call(jhandle_t *handle, ji_call_function_t call, void *block)
    __attribute__((cold));

#endif
