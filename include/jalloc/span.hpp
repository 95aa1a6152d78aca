/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SPAN_HPP
#define JALLOC_SPAN_HPP

/** @file
 * Elements that lie side by side: std::span where the library has it, else a small one of the same
 * interface as far as it goes; column-major matrices over them where there is std::mdspan; counts
 * of elements, and their bytes. */

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_span
#include <span>
#endif
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

#include "jalloc/borrow.h"
#include "jalloc/outcome.hpp"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

#ifdef __cpp_lib_span
template <typename T> using span = std::span<T>;
#else
/** A pointer and a count. */
template <typename T> class span {
    T *data_ = nullptr;
    std::size_t size_ = 0;

  public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;
    using size_type = std::size_t;
    using iterator = T *;

    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <typename U, typename = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
    constexpr span(span<U> other) noexcept : data_(other.data()), size_(other.size()) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t index) const { return data_[index]; }
    constexpr T &front() const { return data_[0]; }
    constexpr T &back() const { return data_[size_ - 1]; }
    constexpr span first(std::size_t count) const { return {data_, count}; }
    constexpr span last(std::size_t count) const { return {data_ + (size_ - count), count}; }
    constexpr span subspan(std::size_t offset) const { return {data_ + offset, size_ - offset}; }
    constexpr span subspan(std::size_t offset, std::size_t count) const {
        return {data_ + offset, count};
    }
};
#endif

/** No operand: what a size query is asked with, `none<double>` saying which overload. */
template <typename T> inline constexpr T *none = nullptr;

/** So many elements, of any integer type: a negative count is larger than any memory. */
template <typename T> class elements {
    std::size_t count_;

    template <typename Integer> static constexpr std::size_t converted(Integer count) noexcept {
        if constexpr (std::is_enum_v<Integer>)
            return converted(static_cast<std::underlying_type_t<Integer>>(count));
        else if constexpr (std::is_signed_v<Integer>)
            return count < 0 ? JALLOC_SIZE_OVERFLOW : static_cast<std::size_t>(count);
        else
            return static_cast<std::size_t>(count);
    }

  public:
    template <typename Integer,
              typename = std::enable_if_t<std::is_convertible_v<Integer, std::size_t> &&
                                          !std::is_floating_point_v<Integer> &&
                                          !std::is_same_v<Integer, bool>>>
    constexpr elements(Integer count) noexcept : count_(converted(count)) {}
    constexpr std::size_t count() const noexcept { return count_; }
    /** Or JALLOC_SIZE_OVERFLOW, which is refused as invalid size. */
    constexpr std::size_t bytes() const noexcept {
        return count_ > JALLOC_SIZE_OVERFLOW / sizeof(T) ? JALLOC_SIZE_OVERFLOW
                                                         : count_ * sizeof(T);
    }
};

/** The bytes of so many elements, or of rows x columns (x ...), or JALLOC_SIZE_OVERFLOW. */
template <typename T, typename... Counts> constexpr std::size_t bytes_of(Counts... counts) {
    bool overflow = false;
    std::size_t product = sizeof(T);
    const auto multiply = [&](std::size_t count) {
        if (count == JALLOC_SIZE_OVERFLOW || (count != 0 && product > JALLOC_SIZE_OVERFLOW / count))
            overflow = true;
        else
            product *= count;
    };
    (multiply(elements<T>(counts).count()), ...);
    return overflow ? JALLOC_SIZE_OVERFLOW : product;
}

#ifdef __cpp_lib_mdspan
/** A matrix, or an array of any rank, as std::mdspan has it. */
template <typename T, std::size_t Rank>
using matrix = std::mdspan<T, std::dextents<std::int64_t, Rank>, std::layout_left>;

/** Elements as an array of these extents, the first index fastest, as in BLAS. Where they are more
 * than there are: invalid size. */
template <typename T, typename... Extents>
result<matrix<T, sizeof...(Extents)>> matrix_of(span<T> from, Extents... extents) {
    jstatus_t status = JSTATUS_SUCCESS;
    if (bytes_of<T>(extents...) > from.size_bytes())
        status = detail::refuse(JSTATUS_INVALID_SIZE, "matrix_of: more elements than there are");
    return detail::give(
        status, matrix<T, sizeof...(Extents)>(from.data(), static_cast<std::int64_t>(extents)...));
}
#endif

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
