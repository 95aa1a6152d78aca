// Copyright (c) 2026 the jalloc authors
// SPDX-License-Identifier: MIT

// jalloc.hpp, every class once, under either policy: check.py runs it with an installed jalloc, and
// check_cxx.py compiles it with many options.

#include <jalloc.hpp>

#include <cstdio>
#include <memory_resource>
#include <utility>
#include <vector>

namespace {

// A value, or what a result holds.
#if JALLOC_EXCEPTIONS
template <typename T> T value(T given) { return given; }
#else
template <typename T> T value(jalloc::result<T> given) { return std::move(given).value(); }
#endif

jalloc::outcome work(jhandle_t *handle, std::int64_t n, double *x) {
    jalloc::plan plan(handle, "work", "n", n);
    plan.add("copy", {jalloc::bytes_of<double>(n)}).price(1, 2).add("none");
    if (jhandle_is_size_query(handle))
        return plan.answer(handle);
    jalloc::borrowed_plan ws(handle, plan);
    if (!ws)
        return ws.status();
    jalloc::span<double> copy = ws.get<double>();
    const jalloc::outcome launched = jalloc::launch(handle, [=]() noexcept {
        for (double &element : copy)
            element = *x;
    });
    return launched.is_error() ? launched : jalloc::outcome(ws.status());
}

template <typename T> int products() {
    jalloc::handle handle;
    const int n = 2;
    const std::vector<T> a{4, 1, 1, 3};
    std::vector<T> b(a), c(4);
    std::int64_t info = -1;
    const std::size_t bytes = value(handle.size_query([&] {
        return jalloc::lapack::potrf(handle, JBLAS_LOWER, n, jalloc::none<T>, n, nullptr);
    }));
    jalloc::outcome done = handle.set_fixed_workspace_size(bytes);
    if (!done.is_error())
        done = jalloc::blas::gemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, 1,
                                  a.data(), n, a.data(), n, 0, c.data(), n);
    if (!done.is_error())
        done = jalloc::lapack::potrf(handle, JBLAS_LOWER, n, b.data(), n, &info);
    return !done.is_error() && c[0] == T(17) && b[0] == T(2) && info == 0 ? 0 : 1;
}

int borrows() {
    jalloc::handle_options options;
    options.budget_bytes = 1 << 20;
    jalloc::handle handle(options);
    double x = 0;
    if (!handle || work(handle, 100, &x).is_error())
        return 1;
    jalloc::requirement need = handle.requirement_query([&] { return work(handle, 100, nullptr); });
    if (value(need.info()).call_count != 1)
        return 5;
    auto ws = handle.borrow<double, int>(std::int64_t{6}, 3u);
    if (!ws || ws.get<1>().size() != 3)
        return 2;
    auto [y, z] = jalloc::borrowed<float, float>(handle, 2, 3);
    y[0] = z[0] = 1;
#ifdef __cpp_lib_mdspan
    auto matrix = value(jalloc::matrix_of(ws.get<0>(), 2, std::int64_t{3}));
    if (matrix.extent(1) != 3 || &matrix[1, 2] != &ws.get<0>()[5])
        return 3;
#endif
#ifdef __cpp_lib_span
    std::span<double> standard = ws.get<0>();
    if (standard.size() != 6)
        return 4;
#endif
    return value(handle.stats()).live_borrow_count == 2 ? 0 : 6;
}

int programs() {
    jalloc::handle handle;
    jalloc::program program;
    if (program.record(handle).is_error() || work(handle, 100, nullptr).is_error() ||
        program.stop(handle).is_error() || program.choose(0).is_error())
        return 1;
    return value(program.info()).degraded_count == 1 && program.requirement() ? 0 : 2;
}

int memory() {
    jalloc::allocator pool("bfc+track");
    jalloc::quota budget(1 << 20);
    jalloc::allocator share(pool, budget, jalloc::quota_share_options());
    void *pointer = value(share.allocate(100));
    if (share.deallocate(pointer, 100).is_error())
        return 1;
    jalloc::memory_resource resource(pool), own("bfc");
    std::pmr::vector<int> numbers(10, 1, &resource);
    std::vector<int, jalloc::stl_allocator<int>> others(10, 1, jalloc::stl_allocator<int>(pool));
    numbers.assign(others.begin(), others.end());
    return own && value(pool.stats()).live_count == 2 ? 0 : 2;
}

int streams() {
    jalloc::stream stream;
    jalloc::event event;
    int ran = 0, *const at = &ran;
    if (stream.launch([at]() noexcept { *at = 1; }).is_error() || event.record(stream).is_error() ||
        event.synchronize().is_error())
        return 1;
    return ran == 1 && value(event.reached()) ? 0 : 2;
}

int segments() {
    jalloc::segment_options options;
    options.size_bytes = 1 << 20;
    jalloc::segment segment = jalloc::segment::create(options);
    jalloc::shared_allocator shared = jalloc::shared_allocator::create(segment, 1);
    const joffset_t offset = value(shared.allocate<double>(10));
    jalloc::span<double> x = segment.at<double>(offset, 10);
    if (x.size() != 10)
        return 1;
    x.back() = 1;
    return shared.deallocate(offset).is_error();
}

int buffers() {
    jalloc::buffer_allocator allocator(jalloc::datatype<double>);
    jalloc::buffer identity = allocator.identity(3), kept = std::move(identity);
    return value(kept.at<double>({2, 2})) == 1 && value(kept.elements<double>()).size() == 9 ? 0
                                                                                             : 1;
}

} // namespace

int main() {
    // What failed has its bit.
    const bool failed[] = {products<float>() != 0, products<std::complex<double>>() != 0,
                           borrows() != 0,         programs() != 0,
                           memory() != 0,          streams() != 0,
                           segments() != 0,        buffers() != 0};
    int result = 0, bit = 1;
    for (bool one : failed) {
        result |= one ? bit : 0;
        bit *= 2;
    }
    std::printf("jalloc %s in C++, errors are %s: %d\n", jalloc_version_string(),
                JALLOC_EXCEPTIONS ? "thrown" : "returned", result);
    return result;
}
