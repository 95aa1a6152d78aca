/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_HANDLE_HPP
#define JALLOC_HANDLE_HPP

/** @file
 * The handle in C++; handle.h says what it is and from which thread it may be used. What is not
 * here is a function of C that takes the handle as it is:
 *
 *     jalloc::check(jhandle_set_executor(handle, &mine)); */

#include "jalloc/borrow.hpp"
#include "jalloc/device.hpp"
#include "jalloc/handle.h"
#include "jalloc/outcome.hpp"
#include "jalloc/requirement.hpp"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

/** Options, which begin as the defaults. */
struct handle_options : jhandle_options_t {
    handle_options() noexcept : jhandle_options_t JHANDLE_OPTIONS_INIT {}
};

/** A handle. What its options name (an allocator, a stream) is declared before it. */
class handle : public owner<jhandle_t, jhandle_destroy> {
    /** Between start and stop of a query, however the calls are left. */
    class query {
        jhandle_t *handle_;

      public:
        explicit query(jhandle_t *handle) noexcept : handle_(handle) {}
        query(const query &) = delete;
        query &operator=(const query &) = delete;
        ~query() {
            std::size_t nobody_asks;
            if (handle_)
                jhandle_stop_size_query(handle_, &nobody_asks);
        }
        void stopped() noexcept { handle_ = nullptr; }
    };

    /** What the calls of a query say: an error of theirs, where they give a status. */
    template <typename Calls> static jstatus_t asked(Calls &calls) {
        if constexpr (std::is_void_v<std::invoke_result_t<Calls &>>) {
            calls();
            return JSTATUS_SUCCESS;
        } else {
            return calls();
        }
    }

  public:
    using owner::owner;
    handle() : handle(handle_options()) {}
    explicit handle(const jhandle_options_t &options) : owner(made(jhandle_create, &options)) {}

    /** @name Workspace
     * @{ */
    /** Borrows until the result's scope ends: `auto ws = handle.borrow<double, int>(m, n)`. */
    template <typename... T>
    borrowed<T...> borrow(elements<T>... counts, const char *routine = __builtin_FUNCTION()) {
        return borrowed<T...>(get(), counts..., routine);
    }
    outcome set_workspace_size(std::size_t size_bytes) {
        return check(jhandle_set_workspace_size(get(), size_bytes));
    }
    outcome set_fixed_workspace_size(std::size_t size_bytes) {
        return check(jhandle_set_fixed_workspace_size(get(), size_bytes));
    }
    outcome set_workspace(void *pointer, std::size_t size_bytes) {
        return check(jhandle_set_workspace(get(), pointer, size_bytes));
    }
    result<std::size_t> workspace_size() const {
        return detail::get<std::size_t>(jhandle_get_workspace_size, get());
    }
    result<jhandle_mode_t> mode() const {
        return detail::get<jhandle_mode_t>(jhandle_get_mode, get());
    }
    outcome set_budget(std::size_t budget_bytes) {
        return check(jhandle_set_budget(get(), budget_bytes));
    }
    result<std::size_t> budget() const {
        return detail::get<std::size_t>(jhandle_get_budget, get());
    }
    outcome trim(std::size_t keep_bytes = 0) { return check(jhandle_trim(get(), keep_bytes)); }
    outcome seal() { return check(jhandle_seal(get())); }
    outcome unseal() { return check(jhandle_unseal(get())); }
    bool is_sealed() const noexcept { return jhandle_is_sealed(get()); }

    /** @} @name Queries
     * @{ */
    /** The bytes with which each of the calls takes its best way. The calls only say what they
     * want; operands are none<double> and the like. */
    template <typename Calls> result<std::size_t> size_query(Calls calls) {
        std::size_t size_bytes = 0;
        jstatus_t status = jhandle_start_size_query(get());
        if (!jstatus_is_error(status)) {
            query under_way(get());
            status = asked(calls);
            if (!jstatus_is_error(status)) {
                status = jhandle_stop_size_query(get(), &size_bytes);
                under_way.stopped();
            }
        }
        return detail::give(status, size_bytes);
    }
    /** The same as a requirement: what bytes buy. */
    template <typename Calls> requirement requirement_query(Calls calls) {
        jrequirement_t *wanted = nullptr;
        jstatus_t status = jhandle_start_requirement_query(get());
        if (!jstatus_is_error(status)) {
            query under_way(get());
            status = asked(calls);
            if (!jstatus_is_error(status)) {
                status = jhandle_stop_requirement_query(get(), &wanted);
                under_way.stopped();
            }
        }
        return requirement(status, wanted);
    }

    /** @} @name Stream and modes
     * @{ */
    jalloc::device device() const noexcept { return jhandle_device(get()); }
    outcome set_stream(jstream_t *stream) { return check(jhandle_set_stream(get(), stream)); }
    template <typename Function> outcome launch(Function function) {
        return jalloc::launch(get(), function);
    }
    outcome set_pointer_mode(jpointer_mode_t mode) {
        return check(jhandle_set_pointer_mode(get(), mode));
    }
    outcome set_result_policy(jresult_policy_t policy) {
        return check(jhandle_set_result_policy(get(), policy));
    }
    outcome set_accuracy(jaccuracy_t accuracy) {
        return check(jhandle_set_accuracy(get(), accuracy));
    }
    outcome set_degradation(jdegradation_t degradation) {
        return check(jhandle_set_degradation(get(), degradation));
    }
    outcome set_threads(int count) { return check(jhandle_set_threads(get(), count)); }

    /** @} @name Diagnosis
     * @{ */
    result<jhandle_stats_t> stats() const {
        return detail::fill(jhandle_stats_t JHANDLE_STATS_INIT, jhandle_get_stats, get());
    }
    outcome clear_stats() { return check(jhandle_clear_stats(get())); }
    const char *last_message() const noexcept { return jhandle_last_message(get()); }
    /** @} */
};

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
