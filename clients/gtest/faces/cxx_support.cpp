/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The main of jalloc-cxx-test, and bookkeeping memory that counts and fails. */

#include "cxx_support.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

#include "jalloc/metadata.h"

namespace {
std::atomic<std::size_t> live, countdown;
std::atomic<bool> failed;

void *take(void *, std::size_t size_bytes) {
    std::size_t left = countdown.load();
    while (left > 0 && !countdown.compare_exchange_weak(left, left - 1))
        ;
    if (left == 1) {
        failed = true;
        return nullptr;
    }
    void *pointer = std::malloc(size_bytes);
    if (pointer)
        ++live;
    return pointer;
}

void give_back(void *, void *pointer) {
    --live;
    std::free(pointer);
}
} // namespace

bool count_metadata() {
    jmetadata_hooks_t hooks = JMETADATA_HOOKS_INIT;
    hooks.allocate = take;
    hooks.deallocate = give_back;
    return jmetadata_set_hooks(&hooks) == JSTATUS_SUCCESS;
}

std::size_t metadata_live() { return live; }

void fail_metadata_at(std::size_t n) {
    failed = false;
    countdown = n;
}

bool metadata_failed() { return failed; }

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    if (!count_metadata()) {
        std::fprintf(stderr, "jalloc has taken bookkeeping memory before main\n");
        return 1;
    }
    return RUN_ALL_TESTS();
}
