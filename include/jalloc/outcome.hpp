/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_OUTCOME_HPP
#define JALLOC_OUTCOME_HPP

/** @file
 * What a call did, as C++ sees it: the policy, and who owns what.
 *
 * Functions of C answer a status. Here one macro says what becomes of an error, for all classes and
 * calls at once:
 *
 * | JALLOC_EXCEPTIONS   | an error              | a call gives  | an object that is not made |
 * | ------------------- | --------------------- | ------------- | -------------------------- |
 * | 1, the default      | is thrown, a          | an outcome,   | does not exist             |
 * |                     | jalloc::error         | or a T        |                            |
 * | 0, the default with | is returned, to be    | an outcome,   | is empty (false), and      |
 * | -fno-exceptions     | looked at (nodiscard) | or result<T>  | status() says why          |
 *
 * Perf degraded, size increased and size unchanged are answers, not errors: they are in the outcome
 * under either policy. The policy is a part of the names (an inline namespace), so that a program
 * may have sources of both. */

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "jalloc/handle.h"
#include "jalloc/status.h"

#ifndef JALLOC_EXCEPTIONS
#ifdef __cpp_exceptions
#define JALLOC_EXCEPTIONS 1
#else
#define JALLOC_EXCEPTIONS 0
#endif
#endif
#if JALLOC_EXCEPTIONS && !defined(__cpp_exceptions)
#error "JALLOC_EXCEPTIONS is 1, and the compiler has no exceptions (-fno-exceptions)"
#endif

#if JALLOC_EXCEPTIONS
#define JALLOC_POLICY_ throwing
#define JALLOC_LOOK_
#else
#define JALLOC_POLICY_ returning
#define JALLOC_LOOK_ [[nodiscard]]
#endif

namespace jalloc {
inline namespace JALLOC_POLICY_ {

/** What a call did that gives no value. Where errors are thrown it is no error. */
class JALLOC_LOOK_ outcome {
    jstatus_t status_;

  public:
    constexpr outcome(jstatus_t status = JSTATUS_SUCCESS) noexcept : status_(status) {}
    constexpr operator jstatus_t() const noexcept { return status_; }
    /** A success is 0, which as a truth value would read as a failure: ask is_error(). */
    explicit operator bool() const = delete;
    constexpr jstatus_t status() const noexcept { return status_; }
    bool is_error() const noexcept { return jstatus_is_error(status_); }
    /** The result is right, and a slower way was taken for want of workspace. */
    constexpr bool is_degraded() const noexcept { return status_ == JSTATUS_PERF_DEGRADED; }
    const char *name() const noexcept { return jstatus_name(status_); }
};

#if JALLOC_EXCEPTIONS
/** An error as an exception: what() is the library's message, with the values that were wrong. */
class error : public std::runtime_error {
    jstatus_t status_;

    static const char *message(jstatus_t status) {
        const char *last = jstatus_last_message();
        return *last ? last : jstatus_text(status);
    }

  public:
    /** Takes the thread's last message along. */
    explicit error(jstatus_t status) : std::runtime_error(message(status)), status_(status) {}
    jstatus_t status() const noexcept { return status_; }
};

/** What a call gives: the value itself. */
template <typename T> using result = T;
#else
/** A value, or why there is none. */
template <typename T> class [[nodiscard]] result {
    T value_{};
    jstatus_t status_ = JSTATUS_SUCCESS;

  public:
    result(T value) : value_(std::move(value)) {}
    result(jstatus_t status, T value) : value_(std::move(value)), status_(status) {}
    explicit operator bool() const noexcept { return !jstatus_is_error(status_); }
    jstatus_t status() const noexcept { return status_; }
    /** The value; T{} where there is none. */
    T &value() &noexcept { return value_; }
    const T &value() const &noexcept { return value_; }
    T &&value() &&noexcept { return std::move(value_); }
    T &operator*() &noexcept { return value_; }
    const T &operator*() const &noexcept { return value_; }
    T &&operator*() &&noexcept { return std::move(value_); }
    T *operator->() noexcept { return &value_; }
    const T *operator->() const noexcept { return &value_; }
};
#endif

/** The policy over any call of C: `jalloc::check(jhandle_set_threads(handle, 1))`. */
inline outcome check(jstatus_t status) {
#if JALLOC_EXCEPTIONS
    if (jstatus_is_error(status))
        throw error(status);
#endif
    return status;
}

namespace detail {
/** Refuses what no function of C has seen, with a message as theirs. */
inline outcome refuse(jstatus_t status, const char *message) {
    return check(jhandle_fail(nullptr, status, "%s", message));
}

template <typename T> result<T> give(jstatus_t status, T value) {
#if JALLOC_EXCEPTIONS
    check(status);
    return value;
#else
    return {status, jstatus_is_error(status) ? T{} : std::move(value)};
#endif
}

/** What a getter of C writes to its last argument. */
template <typename T, typename Getter, typename... Arguments>
result<T> get(Getter getter, Arguments... arguments) {
    T value{};
    const jstatus_t status = getter(arguments..., &value);
    return give(status, value);
}

/** The same for a struct that begins with its size. */
template <typename T, typename Getter, typename... Arguments>
result<T> fill(T value, Getter getter, Arguments... arguments) {
    const jstatus_t status = getter(arguments..., &value);
    return give(status, value);
}
} // namespace detail

/** Owns an object of C and ends it. Moves, does not copy; what was moved from is empty, and C
 * refuses it by a status. Converts to the pointer, so that functions of C take it. */
template <typename T, jstatus_t (*End)(T *)> class owner {
    T *native_ = nullptr;
#if !JALLOC_EXCEPTIONS
    jstatus_t status_ = JSTATUS_INVALID_POINTER;
#endif

  protected:
    owner(jstatus_t status, T *native) : native_(jstatus_is_error(status) ? nullptr : native) {
#if JALLOC_EXCEPTIONS
        check(status);
#else
        status_ = status;
#endif
    }

    /** What a function of C makes, which gives it by its last argument. */
    template <typename Make, typename... Arguments>
    static owner made(Make make, Arguments... arguments) {
        T *native = nullptr;
        const jstatus_t status = make(arguments..., &native);
        return owner(status, native);
    }

    /** For a function of C that makes one; empty before. */
    T **address() noexcept { return &native_; }

  public:
    /** Takes over an object of C; nullptr: empty. */
    explicit owner(T *native) noexcept : native_(native) {
#if !JALLOC_EXCEPTIONS
        status_ = native ? JSTATUS_SUCCESS : JSTATUS_INVALID_POINTER;
#endif
    }
    owner(owner &&other) noexcept : native_(std::exchange(other.native_, nullptr)) {
#if !JALLOC_EXCEPTIONS
        status_ = std::exchange(other.status_, JSTATUS_INVALID_POINTER);
#endif
    }
    owner &operator=(owner &&other) noexcept {
        owner(std::move(other)).swap(*this);
        return *this;
    }
    /** What cannot be ended, because it is in use, stays: see close(). */
    ~owner() {
        if (native_)
            End(native_);
    }

    void swap(owner &other) noexcept {
        std::swap(native_, other.native_);
#if !JALLOC_EXCEPTIONS
        std::swap(status_, other.status_);
#endif
    }

    /** Ends the object now and says how that went. Where it is busy, or its stream is captured, it
     * stays as it was. */
    outcome close() {
        const jstatus_t status = End(native_);
        if (status != JSTATUS_BUSY && status != JSTATUS_CAPTURING)
            native_ = nullptr;
        return check(status);
    }

    explicit operator bool() const noexcept { return native_ != nullptr; }
    /** Success; of an empty one why it could not be made, or invalid pointer. */
    jstatus_t status() const noexcept {
        if (native_)
            return JSTATUS_SUCCESS;
#if !JALLOC_EXCEPTIONS
        if (jstatus_is_error(status_)) // and not of one that was made, and let go
            return status_;
#endif
        return JSTATUS_INVALID_POINTER;
    }
    T *get() const noexcept { return native_; }
    operator T *() const &noexcept { return native_; }
    /** What is about to end is no argument to be kept. */
    operator T *() const && = delete;
    /** The object of C, which is the caller's from now on. */
    T *release() noexcept { return std::exchange(native_, nullptr); }
};

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
