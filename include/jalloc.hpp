/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_HPP
#define JALLOC_HPP

/** @file
 * jalloc in C++17, header-only, over the functions of C.
 *
 *     jalloc::handle handle;
 *     handle.set_fixed_workspace_size(handle.size_query([&] {
 *         jalloc::lapack::potrf(handle, JBLAS_LOWER, n, jalloc::none<double>, n, nullptr);
 *     }));
 *     jalloc::lapack::potrf(handle, JBLAS_LOWER, n, a, n, &info);   // by the type of a: dpotrf
 *
 * Objects move and do not copy, end by themselves, and convert to what C takes. Errors are
 * exceptions, or are returned: outcome.hpp. The manual's page is docs/cxx.rst. */

#include "jalloc/allocator.hpp"
#include "jalloc/borrow.hpp"
#include "jalloc/buffer.hpp"
#include "jalloc/device.hpp"
#include "jalloc/handle.hpp"
#include "jalloc/jalloc.h"
#include "jalloc/memory_resource.hpp"
#include "jalloc/outcome.hpp"
#include "jalloc/requirement.hpp"
#include "jalloc/segment.hpp"
#include "jalloc/span.hpp"

/* Made from the headers of C when jalloc is built, where there is a Python. */
#if __has_include("jalloc/blas.hpp")
#include "jalloc/blas.hpp"
#include "jalloc/lapack.hpp"
#endif

#endif
