/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_ALLOCATOR_HPP
#define JALLOC_ALLOCATOR_HPP

/** @file
 * Allocators in C++, made by composition; allocator.h says what they are. memory_resource.hpp makes
 * the standard library's of them. */

#include "jalloc/allocator.h"
#include "jalloc/device.hpp"
#include "jalloc/outcome.hpp"
#include "jalloc/quota.h"
#include "jalloc/segment.h"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

/** Functions of a caller's own, which begin as none. */
struct allocator_ops : jallocator_ops_t {
    allocator_ops() noexcept : jallocator_ops_t JALLOCATOR_OPS_INIT {}
};
struct allocator_options : jallocator_options_t {
    allocator_options() noexcept : jallocator_options_t JALLOCATOR_OPTIONS_INIT {}
};
struct quota_share_options : jquota_share_options_t {
    quota_share_options() noexcept : jquota_share_options_t JQUOTA_SHARE_OPTIONS_INIT {}
};

/** A budget that several allocators share. */
class quota : public owner<jquota_t, jquota_destroy> {
  public:
    using owner::owner;
    explicit quota(std::size_t limit_bytes) : owner(made(jquota_create, limit_bytes)) {}

    outcome set_limit(std::size_t limit_bytes) {
        return check(jquota_set_limit(get(), limit_bytes));
    }
    result<jquota_stats_t> stats() const {
        return detail::fill(jquota_stats_t JQUOTA_STATS_INIT, jquota_get_stats, get());
    }
};

/** An allocator of any composition. */
class allocator : public owner<jallocator_t, jallocator_destroy> {
  public:
    using owner::owner;
    /** By text: "bfc(limit=2GiB)+guard". */
    explicit allocator(const char *composition)
        : owner(made(jallocator_compose, static_cast<jdevice_t *>(nullptr), composition)) {}
    allocator(jalloc::device of, const char *composition)
        : owner(made(jallocator_compose, static_cast<jdevice_t *>(of), composition)) {}
    /** Over another one, which stays the caller's and lives longer. */
    allocator(jallocator_t *below, const char *composition)
        : owner(made(jallocator_compose_over, below, composition)) {}
    allocator(const allocator &below, const char *composition)
        : allocator(below.get(), composition) {}
    /** One that is about to end would be in use by then, and stay for ever. */
    allocator(const allocator &&below, const char *composition) = delete;
    /** A share of a quota over another one. */
    allocator(jallocator_t *below, const quota &budget, const jquota_share_options_t &options)
        : owner(made(jallocator_create_quota, below, budget.get(), &options)) {}
    allocator(jallocator_t *below, const quota &&budget,
              const jquota_share_options_t &options) = delete;
    /** Of functions of the caller's own. */
    allocator(const jallocator_ops_t &ops, void *context,
              const jallocator_options_t &options = allocator_options())
        : owner(made(jallocator_create, &ops, context, &options)) {}
    /** Over one in a segment, which must be closed after it. */
    explicit allocator(jshared_t *shared) : owner(made(jallocator_create_shared, shared)) {}

    /** alignment 0: the device's granule. */
    result<void *> allocate(std::size_t size_bytes, std::size_t alignment = 0,
                            jstream_t *stream = nullptr) {
        return detail::get<void *>(jallocator_allocate, get(), size_bytes, alignment, stream);
    }
    outcome deallocate(void *pointer, std::size_t size_bytes, jstream_t *stream = nullptr) {
        return check(jallocator_deallocate(get(), pointer, size_bytes, stream));
    }
    result<jallocator_stats_t> stats() const {
        return detail::fill(jallocator_stats_t JALLOCATOR_STATS_INIT, jallocator_get_stats, get());
    }
    outcome clear_stats() { return check(jallocator_clear_stats(get())); }
    outcome trim(std::size_t keep_bytes = 0) { return check(jallocator_trim(get(), keep_bytes)); }
    /** Whether what must not have changed (guards, lists) has changed: corrupted. */
    outcome verify() { return check(jallocator_check(get())); }
    const char *name() const noexcept { return jallocator_name(get()); }
    jalloc::device device() const noexcept { return jallocator_device(get()); }
};

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
