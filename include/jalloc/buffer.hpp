/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BUFFER_HPP
#define JALLOC_BUFFER_HPP

/** @file
 * Buffers in C++; buffer.h says what they are. Operations (operation.h) are functions of C that
 * take them as they are; a result that is made goes to out():
 *
 *     jalloc::check(jbuffer_transpose(handle, JBLAS_TRANSPOSE, a, b.out())); */

#include <initializer_list>

#include "jalloc/buffer.h"
#include "jalloc/outcome.hpp"
#include "jalloc/runtime.h"
#include "jalloc/span.hpp"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

/** The enumerator of an element type: datatype<double>. */
template <typename T>
inline constexpr jdatatype_t datatype = [] {
    if constexpr (std::is_same_v<T, float>)
        return JDATATYPE_F32;
    else if constexpr (std::is_same_v<T, double>)
        return JDATATYPE_F64;
    else if constexpr (std::is_same_v<T, jcomplex_f32_t>)
        return JDATATYPE_F32_C;
    else if constexpr (std::is_same_v<T, jcomplex_f64_t>)
        return JDATATYPE_F64_C;
    else if constexpr (std::is_same_v<T, jfloat16_t>)
        return JDATATYPE_F16;
    else if constexpr (std::is_same_v<T, jbfloat16_t>)
        return JDATATYPE_BF16;
    else if constexpr (std::is_same_v<T, std::int8_t>)
        return JDATATYPE_I8;
    else {
        static_assert(std::is_same_v<T, std::int32_t>, "jalloc has no such element type");
        return JDATATYPE_I32;
    }
}();

/** Extents and strides, a plain value: layout{m, n} is packed and column-major. */
class layout : public jlayout_t {
  public:
    layout(std::initializer_list<std::int64_t> sizes, jorder_t order = JORDER_COLUMN_MAJOR)
        : jlayout_t() {
        if (check(jlayout_init(this, static_cast<int>(sizes.size()), sizes.begin(), order))
                .is_error())
            rank = -1; // refused wherever a layout is taken
    }
    layout(const jlayout_t &other) noexcept : jlayout_t(other) {}
    outcome set_structure(jstructure_t known) { return check(jlayout_set_structure(this, known)); }
    outcome set_leading_dimension(std::int64_t ld) {
        return check(jlayout_set_leading_dimension(this, ld));
    }
};

/** What a buffer allocator knows of the world. */
class runtime : public owner<jruntime_t, jruntime_release> {
  public:
    using owner::owner;
    runtime() : owner(made(jruntime_create)) {}
    result<jruntime_info_t> info() const {
        return detail::fill(jruntime_info_t JRUNTIME_INFO_INIT, jruntime_get_info, get());
    }
};

struct buffer_allocator_options : jbuffer_allocator_options_t {
    buffer_allocator_options() noexcept
        : jbuffer_allocator_options_t JBUFFER_ALLOCATOR_OPTIONS_INIT {}
    explicit buffer_allocator_options(jdatatype_t of) noexcept : buffer_allocator_options() {
        type = of;
    }
};

/** A buffer, or a view of one: one reference. Its memory lives until the last one ends. */
class buffer : public owner<jbuffer_t, jbuffer_release> {
    friend class buffer_allocator;
    explicit buffer(owner &&from) noexcept : owner(std::move(from)) {}
    buffer(jstatus_t status, jbuffer_t *native) : owner(status, native) {}

    /** Where its elements lie side by side in the host's memory, if they are of type T. */
    template <typename T> static jstatus_t side_by_side(jbuffer_t *native, void **pointer) {
        jdatatype_t type = datatype<T>;
        jlayout_t shape = {};
        jstatus_t status = jbuffer_get_type(native, &type);
        if (!jstatus_is_error(status))
            status = jbuffer_get_layout(native, &shape);
        if (!jstatus_is_error(status) && type != datatype<T>)
            status = jhandle_fail(nullptr, JSTATUS_INVALID_VALUE, "the buffer is of %s, not %s",
                                  jdatatype_name(type), jdatatype_name(datatype<T>));
        if (!jstatus_is_error(status) && !jlayout_is_packed(&shape))
            status = jhandle_fail(nullptr, JSTATUS_INVALID_VALUE,
                                  "the buffer's elements do not lie side by side");
        return jstatus_is_error(status) ? status
                                        : jbuffer_as_pointer(native, JDEVICE_HOST, pointer);
    }

  public:
    using owner::owner;
    buffer() noexcept : owner(static_cast<jbuffer_t *>(nullptr)) {}
    /** Where an operation puts a result that it makes. What was here before is let go. */
    jbuffer_t **out() noexcept {
        *this = buffer();
        return address();
    }
    /** One more reference to the same buffer. */
    buffer share() const {
        const jstatus_t status = jbuffer_retain(get());
        return buffer(status, get());
    }

    /** Of an empty one: what no function takes for a layout. */
    jalloc::layout layout() const noexcept {
        jlayout_t shape = {};
        if (jstatus_is_error(jbuffer_get_layout(get(), &shape)))
            shape.rank = -1;
        return shape;
    }
    result<jdatatype_t> type() const { return detail::get<jdatatype_t>(jbuffer_get_type, get()); }
    result<jbuffer_kind_t> kind() const {
        return detail::get<jbuffer_kind_t>(jbuffer_get_kind, get());
    }

    /** All elements, of one in the host's memory. Another type, or elements that do not lie side by
     * side: invalid value. */
    template <typename T> result<span<T>> elements() {
        void *pointer = nullptr;
        std::int64_t count = 0;
        jstatus_t status = side_by_side<T>(get(), &pointer);
        if (!jstatus_is_error(status)) {
            jlayout_t shape = layout();
            status = jlayout_get_count(&shape, &count);
        }
        return detail::give(status,
                            span<T>(static_cast<T *>(pointer), static_cast<std::size_t>(count)));
    }
    /** One element; as the structure has it. */
    template <typename T> result<T> at(std::initializer_list<std::int64_t> indices) const {
        T value{};
        jstatus_t status = check_element<T>(indices.size());
        if (!jstatus_is_error(status))
            status = jbuffer_get(get(), indices.begin(), &value);
        return detail::give(status, value);
    }
    template <typename T> outcome set(std::initializer_list<std::int64_t> indices, T value) {
        const jstatus_t status = check_element<T>(indices.size());
        return check(jstatus_is_error(status) ? status
                                              : jbuffer_set(get(), indices.begin(), &value));
    }

    buffer slice(std::initializer_list<std::int64_t> starts,
                 std::initializer_list<std::int64_t> extents) {
        jstatus_t status = check_rank(starts.size());
        if (!jstatus_is_error(status))
            status = check_rank(extents.size());
        jbuffer_t *view = nullptr;
        if (!jstatus_is_error(status))
            status = jbuffer_slice(get(), starts.begin(), extents.begin(), nullptr, &view);
        return buffer(status, view);
    }
    buffer with_structure(jstructure_t known) {
        return buffer(made(jbuffer_with_structure, get(), known));
    }
    /** As a file of NumPy's (.npy). */
    outcome save(const char *path) const { return check(jbuffer_save(get(), path)); }

  private:
    /** C reads as many numbers as the buffer has dimensions. */
    jstatus_t check_rank(std::size_t numbers) const {
        jlayout_t shape = {};
        const jstatus_t status = jbuffer_get_layout(get(), &shape);
        if (jstatus_is_error(status) || static_cast<std::size_t>(shape.rank) == numbers)
            return status;
        return jhandle_fail(nullptr, JSTATUS_INVALID_VALUE,
                            "%zu numbers, and the buffer's rank is %d", numbers, shape.rank);
    }
    template <typename T> jstatus_t check_element(std::size_t indices) const {
        jdatatype_t type = datatype<T>;
        const jstatus_t status = jbuffer_get_type(get(), &type);
        if (jstatus_is_error(status))
            return status;
        return type == datatype<T>
                   ? check_rank(indices)
                   : jhandle_fail(nullptr, JSTATUS_INVALID_VALUE, "the buffer is of %s, not %s",
                                  jdatatype_name(type), jdatatype_name(datatype<T>));
    }
};

/** Makes buffers of one kind and element type. */
class buffer_allocator : public owner<jbuffer_allocator_t, jbuffer_allocator_release> {
    /** By a view of the world of its own, which it keeps. */
    static jstatus_t alone(const jbuffer_allocator_options_t *options,
                           jbuffer_allocator_t **allocator) {
        jruntime_t *view = nullptr;
        jstatus_t status = jruntime_create(&view);
        if (!jstatus_is_error(status))
            status = jbuffer_allocator_create(view, options, allocator);
        jruntime_release(view);
        return status;
    }

  public:
    using owner::owner;
    /** Of this process by itself: local buffers on the host. */
    explicit buffer_allocator(jdatatype_t type)
        : buffer_allocator(buffer_allocator_options(type)) {}
    explicit buffer_allocator(const jbuffer_allocator_options_t &options)
        : owner(made(alone, &options)) {}
    buffer_allocator(jruntime_t *of, const jbuffer_allocator_options_t &options)
        : owner(made(jbuffer_allocator_create, of, &options)) {}

    /** Uninitialized. */
    buffer allocate(const jlayout_t &layout) {
        return buffer(buffer::made(jbuffer_allocate, get(), &layout));
    }
    buffer allocate(std::initializer_list<std::int64_t> sizes) {
        return allocate(jalloc::layout(sizes));
    }
    buffer zeros(const jlayout_t &layout) {
        return buffer(buffer::made(jbuffer_construct_value, get(), &layout,
                                   static_cast<const void *>(nullptr)));
    }
    buffer zeros(std::initializer_list<std::int64_t> sizes) { return zeros(jalloc::layout(sizes)); }
    buffer identity(const jlayout_t &layout) {
        return buffer(buffer::made(jbuffer_construct_identity, get(), &layout));
    }
    buffer identity(std::int64_t order) { return identity(jalloc::layout{order, order}); }
    /** Converted where the types differ. */
    buffer copy(const jbuffer_t *source) {
        return buffer(buffer::made(jbuffer_construct_copy, get(), source));
    }
    /** The caller's memory as a buffer. */
    buffer wrap(const jlayout_t &layout, void *pointer) {
        return buffer(buffer::made(jbuffer_wrap, get(), &layout, pointer));
    }
    /** From a file of NumPy's (.npy). */
    buffer load(const char *path) { return buffer(buffer::made(jbuffer_load, get(), path)); }
};

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
