/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LLNL Umpire's QuickPool and DynamicPoolList as a peer.
 *
 * An Umpire pool stands on an allocator, and an allocator is a strategy, a class that others may
 * derive: ours takes its memory from the benchmark. Umpire has no way to take an allocator away
 * again, so at the end a pool is emptied; Umpire drops it when the process ends.
 *
 * Umpire's pools are not safe to use from several threads unless wrapped in its
 * ThreadSafeAllocator; that is not the default, so they are not. Two settings of each pool, which
 * its manual offers:
 *
 * - umpire-quick, umpire-list: its defaults. Each allocation is entered in a map of the whole
 *   process (introspection); the first block is 512 MiB, or half the limit if that is less, each
 *   further one at least 1 MiB.
 * - umpire-quick-lean, umpire-list-lean: without introspection, and the first block is 1 MiB as
 *   well. */

#include <umpire/Allocator.hpp>
#include <umpire/ResourceManager.hpp>
#include <umpire/strategy/AllocationStrategy.hpp>
#include <umpire/strategy/DynamicPoolList.hpp>
#include <umpire/strategy/QuickPool.hpp>
#include <umpire/util/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <typeinfo>

#include "../peer.h"

/* Umpire writes down what an allocator was made with, as text. */
static std::string to_string(const bench_upstream_t *) { return "bench-upstream"; }

namespace {

constexpr std::size_t lean_block_bytes = std::size_t{1} << 20;
constexpr std::size_t block_alignment = 256;

/* The benchmark's upstream as a strategy. */
class upstream_t : public umpire::strategy::AllocationStrategy {
  public:
    upstream_t(const std::string &name, int id, const bench_upstream_t *upstream)
        : AllocationStrategy(name, id, nullptr, "bench-upstream"), upstream_(upstream) {}

    void *allocate(std::size_t bytes) override {
        void *pointer = upstream_->allocate(upstream_->context, bytes, block_alignment);
        if (!pointer)
            UMPIRE_ERROR(umpire::out_of_memory_error, "upstream refuses");
        return pointer;
    }

    void deallocate(void *pointer, std::size_t bytes) override {
        upstream_->deallocate(upstream_->context, pointer, bytes, block_alignment);
    }

    umpire::Platform getPlatform() noexcept override { return umpire::Platform::host; }

  private:
    const bench_upstream_t *upstream_;
};

template <typename Pool, bool introspection>
void *peer_create(const bench_upstream_t *upstream, std::size_t limit_bytes) {
    static std::atomic<unsigned> count{0}; /* a name is never free again */
    constexpr std::size_t default_first_bytes = Pool::s_default_first_block_size;
    try {
        auto &manager = umpire::ResourceManager::getInstance();
        std::string name = std::string("bench ") + typeid(Pool).name() +
                           (introspection ? " " : " lean ") + std::to_string(count++);
        umpire::Allocator below = manager.makeAllocator<upstream_t>(name + " upstream", upstream);
        std::size_t first_bytes =
            introspection ? std::min(limit_bytes / 2, default_first_bytes) : lean_block_bytes;
        return new umpire::Allocator(
            manager.makeAllocator<Pool, introspection>(name, below, first_bytes));
    } catch (...) {
        return nullptr;
    }
}

void *peer_allocate(void *state, std::size_t bytes) {
    try {
        return static_cast<umpire::Allocator *>(state)->allocate(bytes);
    } catch (...) {
        return nullptr;
    }
}

void peer_deallocate(void *state, void *pointer, std::size_t) noexcept {
    static_cast<umpire::Allocator *>(state)->deallocate(pointer);
}

void peer_destroy(void *state) {
    auto *pool = static_cast<umpire::Allocator *>(state);
    pool->release();
    delete pool;
}

template <typename Pool, bool introspection> constexpr bench_peer_t peer(const char *name) {
    return {name,        0, peer_create<Pool, introspection>, peer_allocate, peer_deallocate,
            peer_destroy};
}

using umpire::strategy::DynamicPoolList;
using umpire::strategy::QuickPool;

const bench_peer_t peers[] = {
    peer<QuickPool, true>("umpire-quick"),
    peer<QuickPool, false>("umpire-quick-lean"),
    peer<DynamicPoolList, true>("umpire-list"),
    peer<DynamicPoolList, false>("umpire-list-lean"),
};

} // namespace

const bench_peer_t *bench_peer_get(size_t index) {
    return index < sizeof peers / sizeof *peers ? &peers[index] : nullptr;
}
