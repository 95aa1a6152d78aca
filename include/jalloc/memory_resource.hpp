/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_RESOURCE_HPP
#define JALLOC_MEMORY_RESOURCE_HPP

/** @file
 * The standard library's allocators over any composition whose memory the host can use:
 * memory_resource for std::pmr, stl_allocator for the others. Memory that cannot be had is
 * std::bad_alloc, under either policy, because containers know no other error; without exceptions
 * the program ends, as it does with operator new. */

#include <cstddef>
#include <exception>
#include <limits>
#include <memory_resource>
#include <new>

#include "jalloc/allocator.hpp"
#include "jalloc/outcome.hpp"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

namespace detail {
/** Containers write: not into memory that only a GPU sees. */
inline jstatus_t for_containers(const jallocator_t *allocator) {
    if (allocator == nullptr)
        return jhandle_fail(nullptr, JSTATUS_INVALID_POINTER, "containers need an allocator");
    const jmemory_kind_t kind = jallocator_memory_kind(allocator);
    if (jdevice_kind(jallocator_device(allocator)) == JDEVICE_HOST || kind == JMEMORY_PINNED ||
        kind == JMEMORY_MANAGED)
        return JSTATUS_SUCCESS;
    return jhandle_fail(nullptr, JSTATUS_INVALID_VALUE,
                        "containers cannot use the memory of %s: it is %s's alone",
                        jallocator_name(allocator), jdevice_name(jallocator_device(allocator)));
}

[[noreturn]] inline void out_of_memory() {
#ifdef __cpp_exceptions
    throw std::bad_alloc();
#else
    std::terminate();
#endif
}

/** No NULL for 0 bytes: a container's pointer is one. */
inline void *allocate(jallocator_t *allocator, std::size_t size_bytes, std::size_t alignment) {
    void *pointer = nullptr;
    if (jstatus_is_error(jallocator_allocate(allocator, size_bytes ? size_bytes : 1, alignment,
                                             nullptr, &pointer)))
        out_of_memory();
    return pointer;
}

/** A failure is in the log: who gives memory back cannot do anything about it. */
inline void deallocate(jallocator_t *allocator, void *pointer, std::size_t size_bytes) noexcept {
    jallocator_deallocate(allocator, pointer, size_bytes ? size_bytes : 1, nullptr);
}
} // namespace detail

/** A std::pmr::memory_resource over a composition, which it owns, or over an allocator, which it
 * keeps: destroying that one is busy as long. */
class memory_resource : public std::pmr::memory_resource {
    jallocator_t *allocator_ = nullptr;
    allocator owned_{static_cast<jallocator_t *>(nullptr)};
    jstatus_t status_ = JSTATUS_SUCCESS;

    void keep(jallocator_t *allocator) {
        status_ = detail::for_containers(allocator);
        if (!jstatus_is_error(status_))
            status_ = jallocator_retain(allocator);
        if (!jstatus_is_error(status_))
            allocator_ = allocator;
        (void)check(status_);
    }

  public:
    explicit memory_resource(const char *composition) : owned_(composition) {
        if (owned_)
            keep(owned_);
        else
            status_ = owned_.status();
    }
    explicit memory_resource(jallocator_t *allocator) { keep(allocator); }
    explicit memory_resource(const jalloc::allocator &allocator) { keep(allocator); }
    /** One that is about to end would be kept by then, and stay for ever. */
    explicit memory_resource(const jalloc::allocator &&allocator) = delete;
    memory_resource(const memory_resource &) = delete;
    memory_resource &operator=(const memory_resource &) = delete;
    ~memory_resource() override {
        if (allocator_)
            jallocator_release(allocator_);
    }

    explicit operator bool() const noexcept { return allocator_ != nullptr; }
    jstatus_t status() const noexcept { return status_; }
    jallocator_t *native() const noexcept { return allocator_; }

  private:
    void *do_allocate(std::size_t size_bytes, std::size_t alignment) override {
        return detail::allocate(allocator_, size_bytes, alignment);
    }
    void do_deallocate(void *pointer, std::size_t size_bytes, std::size_t) override {
        detail::deallocate(allocator_, pointer, size_bytes);
    }
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override {
#ifdef __cpp_rtti
        const auto *same = dynamic_cast<const memory_resource *>(&other);
        return same != nullptr && same->allocator_ == allocator_;
#else
        return this == &other;
#endif
    }
};

/** An allocator of the standard library's kind, over one that lives longer:
 * std::vector<double, jalloc::stl_allocator<double>> x(n, jalloc::stl_allocator<double>(pool)). */
template <typename T> class stl_allocator {
    jallocator_t *allocator_;

  public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    /** Where containers cannot use its memory: an error; returned, an allocator that has none. */
    explicit stl_allocator(jallocator_t *allocator)
        : allocator_(check(detail::for_containers(allocator)).is_error() ? nullptr : allocator) {}
    template <typename U>
    stl_allocator(const stl_allocator<U> &other) noexcept : allocator_(other.native()) {}

    [[nodiscard]] T *allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
#ifdef __cpp_exceptions
            throw std::bad_array_new_length();
#else
            std::terminate();
#endif
        }
        return static_cast<T *>(detail::allocate(allocator_, count * sizeof(T), alignof(T)));
    }
    void deallocate(T *pointer, std::size_t count) noexcept {
        detail::deallocate(allocator_, pointer, count * sizeof(T));
    }
    jallocator_t *native() const noexcept { return allocator_; }

    template <typename U> bool operator==(const stl_allocator<U> &other) const noexcept {
        return allocator_ == other.native();
    }
    template <typename U> bool operator!=(const stl_allocator<U> &other) const noexcept {
        return !(*this == other);
    }
};

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
