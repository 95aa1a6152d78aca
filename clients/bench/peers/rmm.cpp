/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* RAPIDS RMM's pool and arena as a peer.
 *
 * RMM's resources stack like jalloc's: they take any upstream that has the right six functions, so
 * ours is handed over as "device memory", though the host can read it; neither pool nor arena looks
 * at what it hands out.
 *
 * They order memory by CUDA stream and so call the CUDA runtime on each free (an event is recorded)
 * and on each allocation (the stream's number is asked for). On a machine without a GPU these calls
 * fail; cudart_stub.c answers them instead, at the cost of a call, which is less than a real
 * runtime takes: the peer is measured at its best.
 *
 * - rmm-pool: its first size, which its constructor insists on, is 1 MiB; it grows by doubling. It
 *   could be told a maximum, but then takes half of what is left of it at a time.
 * - rmm-arena: takes the whole limit when it is made. With the default stream, all threads share an
 *   arena.
 * - rmm-arena-per-thread: the same with the per-thread default stream: an arena for each thread. */

#include <cuda_runtime_api.h>
#include <rmm/cuda_stream_view.hpp>
#include <rmm/logger.hpp>
#include <rmm/mr/arena_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp>

#include <cstddef>
#include <new>

#include "../peer.h"

namespace {

constexpr std::size_t first_pool_bytes = std::size_t{1} << 20;

/* The benchmark's upstream as a memory resource. */
class upstream_t {
  public:
    explicit upstream_t(const bench_upstream_t &upstream) : upstream_(&upstream) {}

    void *allocate_sync(std::size_t bytes, std::size_t alignment = rmm::CUDA_ALLOCATION_ALIGNMENT) {
        void *pointer = upstream_->allocate(upstream_->context, bytes, alignment);
        if (!pointer)
            throw std::bad_alloc();
        return pointer;
    }

    void deallocate_sync(void *pointer, std::size_t bytes,
                         std::size_t alignment = rmm::CUDA_ALLOCATION_ALIGNMENT) noexcept {
        upstream_->deallocate(upstream_->context, pointer, bytes, alignment);
    }

    void *allocate(cuda::stream_ref, std::size_t bytes,
                   std::size_t alignment = rmm::CUDA_ALLOCATION_ALIGNMENT) {
        return allocate_sync(bytes, alignment);
    }

    void deallocate(cuda::stream_ref, void *pointer, std::size_t bytes,
                    std::size_t alignment = rmm::CUDA_ALLOCATION_ALIGNMENT) noexcept {
        deallocate_sync(pointer, bytes, alignment);
    }

    bool operator==(const upstream_t &other) const noexcept { return upstream_ == other.upstream_; }
    bool operator!=(const upstream_t &other) const noexcept { return upstream_ != other.upstream_; }

    friend void get_property(const upstream_t &, cuda::mr::device_accessible) noexcept {}

  private:
    const bench_upstream_t *upstream_;
};

/* One of RMM's resources with the stream it is used on. */
template <typename Resource> struct peer_t {
    Resource resource;
    cuda::stream_ref stream;

    static void *allocate(void *state, std::size_t bytes) {
        auto *self = static_cast<peer_t *>(state);
        try {
            return self->resource.allocate(self->stream, bytes, rmm::CUDA_ALLOCATION_ALIGNMENT);
        } catch (...) {
            return nullptr;
        }
    }

    static void deallocate(void *state, void *pointer, std::size_t bytes) {
        auto *self = static_cast<peer_t *>(state);
        self->resource.deallocate(self->stream, pointer, bytes, rmm::CUDA_ALLOCATION_ALIGNMENT);
    }

    static void destroy(void *state) { delete static_cast<peer_t *>(state); }
};

using pool_t = peer_t<rmm::mr::pool_memory_resource>;
using arena_t = peer_t<rmm::mr::arena_memory_resource>;

void *pool_create(const bench_upstream_t *upstream, std::size_t) {
    try {
        /* A refused request is no news here. */
        rmm::default_logger().set_level(rapids_logger::level_enum::off);
        return new pool_t{rmm::mr::pool_memory_resource(upstream_t(*upstream), first_pool_bytes),
                          rmm::cuda_stream_default};
    } catch (...) {
        return nullptr;
    }
}

void *arena_create_on(const bench_upstream_t *upstream, std::size_t limit_bytes,
                      rmm::cuda_stream_view stream) {
    try {
        return new arena_t{rmm::mr::arena_memory_resource(upstream_t(*upstream), limit_bytes),
                           stream};
    } catch (...) {
        return nullptr;
    }
}

void *arena_create(const bench_upstream_t *upstream, std::size_t limit_bytes) {
    return arena_create_on(upstream, limit_bytes, rmm::cuda_stream_default);
}

void *arena_per_thread_create(const bench_upstream_t *upstream, std::size_t limit_bytes) {
    return arena_create_on(upstream, limit_bytes, rmm::cuda_stream_per_thread);
}

const bench_peer_t peers[] = {
    {"rmm-pool", 1, pool_create, pool_t::allocate, pool_t::deallocate, pool_t::destroy},
    {"rmm-arena", 1, arena_create, arena_t::allocate, arena_t::deallocate, arena_t::destroy},
    {"rmm-arena-per-thread", 1, arena_per_thread_create, arena_t::allocate, arena_t::deallocate,
     arena_t::destroy},
};

} // namespace

const bench_peer_t *bench_peer_get(size_t index) {
    return index < sizeof peers / sizeof *peers ? &peers[index] : nullptr;
}
