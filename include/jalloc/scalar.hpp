/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SCALAR_HPP
#define JALLOC_SCALAR_HPP

/** @file
 * alpha, beta and their like as arguments of blas.hpp and lapack.hpp: by value, or by pointer as in
 * C, which pointer mode device needs. */

#include <complex>

#include "jalloc/handle.h"
#include "jalloc/outcome.hpp"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

/** Only ever an argument. Where it lies may change until it is there, so it does not know its own
 * address. */
template <typename T> class exactly {
    T value_{};
    const T *pointer_ = nullptr;
    bool is_value_;

  public:
    exactly(T value) noexcept : value_(value), is_value_(true) {}
    /** A template, for which a literal 0 is no pointer. */
    template <typename Pointer,
              typename = std::enable_if_t<std::is_convertible_v<Pointer, const T *>>,
              typename = void>
    exactly(Pointer pointer) noexcept : pointer_(pointer), is_value_(false) {}
    const T *pointer() const noexcept { return is_value_ ? &value_ : pointer_; }
    bool is_value() const noexcept { return is_value_; }
};

/** A scalar that any real number converts to. */
template <typename T> class scalar : public exactly<T> {
  public:
    using exactly<T>::exactly;
    template <typename Real, typename = std::enable_if_t<std::is_arithmetic_v<Real>>>
    scalar(Real value) noexcept : exactly<T>(real(value)) {}

  private:
    template <typename Real> static T real(Real value) noexcept {
        if constexpr (std::is_arithmetic_v<T>)
            return static_cast<T>(value);
        else
            return T(static_cast<typename T::value_type>(value));
    }
};

namespace detail {
/** A value lives until the call returns, and a handle in pointer mode device reads later: refused,
 * where it would be a wrong number. */
template <typename... Scalars>
jstatus_t may_pass(jhandle_t *handle, const char *routine, const Scalars &...scalars) {
    jpointer_mode_t mode = JPOINTER_MODE_HOST;
    if ((scalars.is_value() || ...) && jhandle_get_pointer_mode(handle, &mode) == JSTATUS_SUCCESS &&
        mode == JPOINTER_MODE_DEVICE)
        return jhandle_fail(handle, JSTATUS_INVALID_VALUE,
                            "%s: a scalar by value in pointer mode device: pass a pointer",
                            routine);
    return JSTATUS_SUCCESS;
}
} // namespace detail

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
