/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_REQUIREMENT_HPP
#define JALLOC_REQUIREMENT_HPP

/** @file
 * Requirements and programs in C++; requirement.h and program.h say what they are. */

#include <initializer_list>

#include "jalloc/outcome.hpp"
#include "jalloc/program.h"
#include "jalloc/requirement.h"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

/** What calls need; handle::requirement_query() and program::requirement() make it. */
class requirement : public owner<jrequirement_t, jrequirement_destroy> {
    friend class handle;
    using parts = std::initializer_list<const jrequirement_t *>;

  public:
    using owner::owner;
    explicit requirement(const jprogram_t *program)
        : owner(made(jprogram_get_requirement, program)) {}
    /** Parts one after the other, which use the same bytes. */
    static requirement in_order(parts of) {
        return requirement(made(jrequirement_create_in_order, of.size(), of.begin()));
    }
    /** Parts at once, which have bytes of their own. */
    static requirement at_once(parts of) {
        return requirement(made(jrequirement_create_at_once, of.size(), of.begin()));
    }
    requirement repeated(std::uint64_t times) const {
        return requirement(made(jrequirement_create_repeated, get(), times));
    }

    result<jrequirement_info_t> info() const {
        return detail::fill(jrequirement_info_t JREQUIREMENT_INFO_INIT, jrequirement_get_info,
                            get());
    }
    /** The index-th step, fewest bytes first. */
    result<jrequirement_step_t> step(std::size_t index) const {
        return detail::fill(jrequirement_step_t JREQUIREMENT_STEP_INIT, jrequirement_get_step,
                            get(), index);
    }
    /** The step that so many bytes are on. */
    result<jrequirement_step_t> step_at(std::size_t size_bytes) const {
        return detail::fill(jrequirement_step_t JREQUIREMENT_STEP_INIT, jrequirement_get_step_at,
                            get(), size_bytes);
    }

  private:
    explicit requirement(owner &&from) noexcept : owner(std::move(from)) {}
    requirement(jstatus_t status, jrequirement_t *native) : owner(status, native) {}
};

/** Calls of several handles in phases, and the rungs that are chosen for them. */
class program : public owner<jprogram_t, jprogram_destroy> {
  public:
    using owner::owner;
    program() : owner(made(jprogram_create)) {}

    outcome begin_phase() { return check(jprogram_begin_phase(get())); }
    outcome record(jhandle_t *handle) { return check(jprogram_record(get(), handle)); }
    outcome stop(jhandle_t *handle, std::uint64_t times = 1) {
        return check(jprogram_stop_repeated(get(), handle, times));
    }
    outcome choose(std::size_t budget_bytes) { return check(jprogram_choose(get(), budget_bytes)); }
    outcome enter(std::size_t phase) { return check(jprogram_enter(get(), phase)); }
    outcome leave() { return check(jprogram_leave(get())); }
    jalloc::requirement requirement() const { return jalloc::requirement(get()); }
    result<jprogram_info_t> info() const {
        return detail::fill(jprogram_info_t JPROGRAM_INFO_INIT, jprogram_get_info, get());
    }
    result<jprogram_call_t> call(std::size_t index) const {
        return detail::fill(jprogram_call_t JPROGRAM_CALL_INIT, jprogram_get_call, get(), index);
    }
};

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
