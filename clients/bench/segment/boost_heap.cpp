/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "boost_heap.h"

#include <new>

#include <boost/interprocess/managed_shared_memory.hpp>
#include <boost/version.hpp>

namespace ipc = boost::interprocess;

struct boost_heap {
    /* With its defaults: best fit in a red-black tree, one mutex. */
    ipc::managed_shared_memory memory;
    boost_heap(const char *name, size_t bytes) : memory(ipc::create_only, name, bytes) {}
};

const char *boost_heap_version(void) { return BOOST_LIB_VERSION; }

boost_heap_t *boost_heap_create(const char *name, size_t bytes) {
    boost_heap_t *heap = nullptr;
    try {
        heap = new boost_heap(name, bytes);
    } catch (const std::exception &) { /* the answer says it */
    }
    ipc::shared_memory_object::remove(name);
    return heap;
}

void boost_heap_destroy(boost_heap_t *heap) { delete heap; }

void *boost_heap_allocate(boost_heap_t *heap, size_t bytes) {
    return heap->memory.allocate(bytes, std::nothrow);
}

void boost_heap_deallocate(boost_heap_t *heap, void *pointer) { heap->memory.deallocate(pointer); }

size_t boost_heap_free_bytes(boost_heap_t *heap) { return heap->memory.get_free_memory(); }

bool boost_heap_is_sound(boost_heap_t *heap) { return heap->memory.check_sanity(); }
