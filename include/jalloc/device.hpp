/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DEVICE_HPP
#define JALLOC_DEVICE_HPP

/** @file
 * Devices, streams and events in C++; device.h says what they are. */

#include <cstring>

#include "jalloc/device.h"
#include "jalloc/outcome.hpp"

namespace jalloc {
inline namespace JALLOC_POLICY_ {

/** A device: a pointer that the process keeps. The host unless it is said otherwise. */
class device {
    jdevice_t *native_;

  public:
    device() noexcept : native_(jdevice_host()) {}
    device(jdevice_t *native) noexcept : native_(native) {}
    /** By name: "cuda:0". */
    static result<device> find(const char *name) {
        jdevice_t *native = nullptr;
        const jstatus_t status = jdevice_get(name, &native);
        return detail::give(status, device(native));
    }

    operator jdevice_t *() const noexcept { return native_; }
    const char *name() const noexcept { return jdevice_name(native_); }
    jdevice_kind_t kind() const noexcept { return jdevice_kind(native_); }
    std::size_t granule_bytes() const noexcept { return jdevice_granule_bytes(native_); }
    result<jdevice_properties_t> properties() const {
        return detail::fill(jdevice_properties_t JDEVICE_PROPERTIES_INIT, jdevice_get_properties,
                            native_);
    }
};

/** Runs a function in stream order: one without state that needs a destructor, of at most
 * JSTREAM_MAX_ARGUMENT_BYTES, such as a lambda that captures pointers and numbers. It has nobody to
 * throw at: `[=]() noexcept { ... }`. */
template <typename Function>
outcome launch(jdevice_t *device, jstream_t *stream, Function function) {
    static_assert(std::is_trivially_copyable_v<Function>, "its bytes are copied into the stream");
    static_assert(sizeof(Function) <= JSTREAM_MAX_ARGUMENT_BYTES, "that is too much to capture");
    static_assert(std::is_nothrow_invocable_v<Function &>,
                  "nobody would catch what it throws: declare it noexcept");
    struct call {
        static void run(void *bytes) {
            alignas(Function) unsigned char copy[sizeof(Function)]; // a stream aligns for no type
            std::memcpy(copy, bytes, sizeof copy);
            (*reinterpret_cast<Function *>(copy))();
        }
    };
    return check(jstream_launch(device, stream, call::run, &function, sizeof function));
}

/** The same in the handle's stream. */
template <typename Function> outcome launch(jhandle_t *handle, Function function) {
    jstream_t *stream = nullptr;
    const jstatus_t status = jhandle_get_stream(handle, &stream);
    if (jstatus_is_error(status))
        return check(status);
    return launch(jhandle_device(handle), stream, function);
}

/** A point in a stream. */
class event : public owner<jevent_t, jevent_destroy> {
  public:
    using owner::owner;
    event() : event(device()) {}
    explicit event(device of) : owner(made(jevent_create, static_cast<jdevice_t *>(of))) {}

    outcome record(jstream_t *stream) { return check(jevent_record(get(), stream)); }
    outcome synchronize() { return check(jevent_synchronize(get())); }
    result<bool> reached() const { return detail::get<bool>(jevent_query, get()); }
    /** Since another one that was reached before. */
    result<double> elapsed_ms_since(const event &start) const {
        return detail::get<double>(jevent_get_elapsed_ms, start.get(), get());
    }
};

/** A queue of work. */
class stream : public owner<jstream_t, jstream_destroy> {
  public:
    using owner::owner;
    stream() : stream(jalloc::device()) {}
    explicit stream(jalloc::device of)
        : owner(made(jstream_create, static_cast<jdevice_t *>(of))) {}
    /** A stream of the runtime (cudaStream_t, hipStream_t), which it does not destroy. */
    stream(jalloc::device of, void *native)
        : owner(made(jstream_wrap, static_cast<jdevice_t *>(of), native)) {}

    jalloc::device device() const noexcept { return jstream_device(get()); }
    outcome synchronize() { return check(jstream_synchronize(device(), get())); }
    /** What is enqueued from now on comes after the event. */
    outcome wait(const event &until) { return check(jevent_wait(until.get(), get())); }
    template <typename Function> outcome launch(Function function) {
        return jalloc::launch(device(), get(), function);
    }
};

} // namespace JALLOC_POLICY_
} // namespace jalloc
#endif
