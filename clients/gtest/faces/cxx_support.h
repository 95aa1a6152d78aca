/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_CXX_SUPPORT_H
#define JALLOC_CLIENTS_GTEST_CXX_SUPPORT_H

/* Bookkeeping memory that counts and fails, for the tests of jalloc.hpp. */

#include <cstddef>

/* Installs the hooks; once, before anything of jalloc is live. */
bool count_metadata();
/* Blocks that are live. */
std::size_t metadata_live();
/* The n-th allocation from now on fails, once; 0: none. */
void fail_metadata_at(std::size_t n);
/* Whether it did. */
bool metadata_failed();

/* Calls `attempt` with the first allocation failing, then the second, until it does without one
 * that fails; true of `attempt`: it succeeded. Gives how many failed, and 0 where something was
 * left behind, or an attempt went well with a failure. */
template <typename Attempt> std::size_t each_failure(Attempt attempt) {
    for (std::size_t n = 1;; ++n) {
        const std::size_t before = metadata_live();
        fail_metadata_at(n);
        const bool made = attempt();
        const bool failed = metadata_failed();
        fail_metadata_at(0);
        if (made || !failed || metadata_live() != before)
            return failed || metadata_live() != before ? 0 : n - 1;
    }
}

#endif
