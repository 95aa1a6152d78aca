/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SEGMENT_HPP
#define JALLOC_SEGMENT_HPP

/** @file
 * Shared segments in C++; segment.h says what they are. */

#include "jalloc/outcome.hpp"
#include "jalloc/segment.h"
#include "jalloc/span.hpp"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

struct segment_options : jsegment_options_t {
    segment_options() noexcept : jsegment_options_t JSEGMENT_OPTIONS_INIT {}
};
struct shared_options : jshared_options_t {
    shared_options() noexcept : jshared_options_t JSHARED_OPTIONS_INIT {}
};

/** This process's attachment to a segment; it detaches at its end, and the segment stays. */
class segment : public owner<jsegment_t, jsegment_detach> {
    explicit segment(owner &&from) noexcept : owner(std::move(from)) {}

  public:
    using owner::owner;
    static segment create(const jsegment_options_t &options) {
        return segment(made(jsegment_create, &options));
    }
    static segment attach(const jsegment_options_t &options) {
        return segment(made(jsegment_attach, &options));
    }
    /** By a name of POSIX shared memory, "/name". */
    static segment create(const char *name, std::size_t size_bytes, std::size_t max_bytes = 0) {
        segment_options options;
        options.backend = JSEGMENT_POSIX;
        options.name = name;
        options.size_bytes = size_bytes;
        options.max_bytes = max_bytes;
        return create(options);
    }
    static segment attach(const char *name) {
        segment_options options;
        options.backend = JSEGMENT_POSIX;
        options.name = name;
        return attach(options);
    }

    /** Detaches and takes the name away. Where that fails it is detached all the same, and empty,
     * if it was the name that could not be taken away. */
    outcome destroy() {
        const jstatus_t status = jsegment_destroy(get());
        if (status != JSTATUS_BUSY && status != JSTATUS_READ_ONLY && status != JSTATUS_FORKED &&
            status != JSTATUS_NO_SLOT && status != JSTATUS_CORRUPTED)
            (void)release();
        return check(status);
    }

    /** Elements at an offset; empty where they do not lie in the segment, or not aligned. */
    template <typename T> span<T> at(joffset_t offset, elements<T> count = 1) const noexcept {
        T *pointer = static_cast<T *>(
            jsegment_pointer_typed_(get(), offset, sizeof(T), alignof(T), count.count()));
        return {pointer, pointer ? count.count() : 0};
    }
    /** Of an address in the segment; JOFFSET_NULL for any other. */
    joffset_t offset(const void *pointer) const noexcept { return jsegment_offset(get(), pointer); }
    outcome set_root(const char *name, joffset_t offset) {
        return check(jsegment_set_root(get(), name, offset));
    }
    result<joffset_t> root(const char *name) const {
        return detail::get<joffset_t>(jsegment_get_root, get(), name);
    }
    outcome grow(std::size_t size_bytes) { return check(jsegment_grow(get(), size_bytes)); }
    /** Gives back what dead processes owned. @return of how many. */
    result<unsigned> recover() { return detail::get<unsigned>(jsegment_recover, get()); }
    outcome verify() const { return check(jsegment_verify(get())); }
    unsigned slot() const noexcept { return jsegment_slot(get()); }
    result<jsegment_stats_t> stats() const {
        return detail::fill(jsegment_stats_t JSEGMENT_STATS_INIT, jsegment_get_stats, get());
    }
};

/** An allocator in a segment, by offsets. It is closed at its end, and its blocks stay. The segment
 * is declared before it. */
class shared_allocator : public owner<jshared_t, jshared_close> {
    explicit shared_allocator(owner &&from) noexcept : owner(std::move(from)) {}

  public:
    using owner::owner;
    static shared_allocator create(jsegment_t *segment, std::uint64_t id,
                                   const jshared_options_t &options = shared_options()) {
        return shared_allocator(made(jshared_create, segment, id, &options));
    }
    static shared_allocator open(jsegment_t *segment, std::uint64_t id) {
        return shared_allocator(made(jshared_open, segment, id));
    }
    /** Destroys it with all its blocks. */
    outcome destroy() {
        const jstatus_t status = jshared_destroy(get());
        if (!jstatus_is_error(status))
            (void)release();
        return check(status);
    }

    /** Room for so many elements, uninitialized: `x.allocate<double>(n)`. */
    template <typename T> result<joffset_t> allocate(elements<T> count = 1) {
        return detail::get<joffset_t>(jshared_allocate, get(), count.bytes(), alignof(T));
    }
    outcome deallocate(joffset_t offset) { return check(jshared_deallocate(get(), offset)); }
    /** From now on the block dies with that slot; JSEGMENT_SLOT_SEGMENT: with the segment. */
    outcome give(joffset_t offset, unsigned slot = JSEGMENT_SLOT_SEGMENT) {
        return check(jshared_give(get(), offset, slot));
    }
    std::uint64_t id() const noexcept { return jshared_id(get()); }
    jsegment_t *segment() const noexcept { return jshared_segment(get()); }
};

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
