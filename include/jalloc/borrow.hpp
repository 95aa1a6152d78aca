/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BORROW_HPP
#define JALLOC_BORROW_HPP

/** @file
 * Borrowed workspace as typed spans, and plans, in C++; borrow.h says how borrows behave.
 *
 *     jalloc::borrowed<double, int> ws(handle, m * n, n);   // until the scope ends
 *     jalloc::span<double> x = ws.get<0>();
 *     auto [y, pivots] = jalloc::borrowed<double, int>(handle, m * n, n);
 *
 * Guards neither copy nor move, so they end in the reverse order of their beginning by
 * themselves. */

#include <initializer_list>
#include <tuple>

#include "jalloc/borrow.h"
#include "jalloc/outcome.hpp"
#include "jalloc/span.hpp"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

namespace detail {
/** What workspace may hold: bytes that nobody constructs or destroys. */
template <typename T> constexpr bool may_borrow() {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                  "workspace is memory: nothing is constructed or destroyed in it");
    static_assert(alignof(T) <= 64, "workspace is aligned to the granule, 64 bytes on the host");
    return true;
}
} // namespace detail

/** One buffer for each type, uninitialized, of so many elements. */
template <typename... T> class borrowed {
    static_assert(sizeof...(T) >= 1 && sizeof...(T) <= JBORROW_MAX_BUFFERS,
                  "a borrow has 1 to JBORROW_MAX_BUFFERS buffers");
    static_assert((detail::may_borrow<T>() && ...));
    template <std::size_t I> using type = std::tuple_element_t<I, std::tuple<T...>>;

    jalloc::borrow guard_;
    std::size_t counts_[sizeof...(T)];

  public:
    /** routine: whose it is in statistics and messages, static text; the calling function. */
    borrowed(jhandle_t *handle, elements<T>... counts, const char *routine = __builtin_FUNCTION())
        : guard_(handle, routine, counts.bytes()...), counts_{counts.count()...} {
        (void)check(guard_.status);
    }
    borrowed(const borrowed &) = delete;
    borrowed &operator=(const borrowed &) = delete;

    explicit operator bool() const noexcept { return guard_.ok; }
    jstatus_t status() const noexcept { return guard_.status; }
    /** The I-th buffer; empty where there is none. */
    template <std::size_t I = 0> span<type<I>> get() const noexcept {
        return {static_cast<type<I> *>(guard_.ptr[I]), guard_.ok ? counts_[I] : 0};
    }
};

/** The buffers of the best rung of a plan that fits. */
class borrowed_plan {
    jalloc::borrow guard_;
    std::size_t bytes_[JBORROW_MAX_BUFFERS] = {};

  public:
    borrowed_plan(jhandle_t *handle, const jplan_t &plan) : guard_(handle, &plan) {
        (void)check(guard_.status);
        if (guard_.ok) {
            const jplan_rung_t &rung = plan.rungs[guard_.rung];
            for (std::uint32_t i = 0; i < rung.buffer_count; ++i)
                bytes_[i] = rung.bytes[i];
        }
    }
    borrowed_plan(const borrowed_plan &) = delete;
    borrowed_plan &operator=(const borrowed_plan &) = delete;

    explicit operator bool() const noexcept { return guard_.ok; }
    /** Success on rung 0, perf degraded below: what the routine returns if all goes well. */
    jstatus_t status() const noexcept { return guard_.status; }
    /** The name of the rung, as plan::add() got it; NULL where there is none. */
    const char *way() const noexcept { return guard_.way; }
    int rung() const noexcept { return guard_.rung; }
    /** The rung's buffer of that index, in elements of a type. */
    template <typename T> span<T> get(std::size_t index = 0) const noexcept {
        static_assert(detail::may_borrow<T>());
        if (index >= JBORROW_MAX_BUFFERS)
            return {};
        return {static_cast<T *>(guard_.ptr[index]), bytes_[index] / sizeof(T)};
    }
};

/** The ways in which a call can be carried out, best first. */
class plan : public jplan_t {
  public:
    /** A letter for each size: plan(handle, "transpose", "mn", rows, columns). Static texts. */
    template <std::size_t Length, typename... Sizes>
    plan(const jhandle_t *handle, const char *name, const char (&letters)[Length], Sizes... sizes)
        : jplan_t JPLAN_INIT {
        static_assert(sizeof...(Sizes) + 1 == Length && sizeof...(Sizes) <= 4,
                      "a letter for each size, at most four");
        const std::int64_t shape_sizes[] = {static_cast<std::int64_t>(sizes)..., 0};
        jplan_init(this, handle, name, letters, shape_sizes);
    }

    /** A rung below those there, with its buffers (bytes_of<double>(n), ...). Rungs that give the
     * same bits have the same bits_class. callee_bytes: the largest need() of what it calls. */
    plan &add(const char *name, std::initializer_list<std::size_t> buffer_bytes = {},
              std::uint32_t bits_class = 0, std::size_t callee_bytes = 0) {
        jplan_add(this, name, bits_class, callee_bytes, buffer_bytes.size(), buffer_bytes.begin());
        return *this;
    }
    /** What the rung added last costs. */
    plan &price(double flops, double moved_bytes, double launches = 0) {
        const jprice_t said = {flops, moved_bytes, launches};
        jplan_price(this, &said);
        return *this;
    }
    /** Bytes that its best rung needs. */
    std::size_t need(const jhandle_t *handle) const noexcept { return jplan_bytes(this, handle); }
    /** The answer to a size query, while jhandle_is_size_query(). */
    outcome answer(jhandle_t *handle) const { return check(jhandle_answer_plan(handle, this)); }
};

} // namespace JALLOC_POLICY_
} // namespace jalloc

/* For structured bindings: `auto [x, y] = jalloc::borrowed<double, int>(handle, m, n)`. */
template <typename... T>
struct std::tuple_size<jalloc::borrowed<T...>> : std::integral_constant<std::size_t, sizeof...(T)> {
};
template <std::size_t I, typename... T> struct std::tuple_element<I, jalloc::borrowed<T...>> {
    using type = jalloc::span<std::tuple_element_t<I, std::tuple<T...>>>;
};

#endif
