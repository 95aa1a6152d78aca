/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc.hpp where errors are thrown, which is the default. */

#include "cxx_support.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <jalloc.hpp>
#include <map>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace {

template <typename T> constexpr bool moves_only() {
    return std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
           !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
}
static_assert(moves_only<jalloc::handle>() && moves_only<jalloc::allocator>() &&
              moves_only<jalloc::segment>() && moves_only<jalloc::shared_allocator>() &&
              moves_only<jalloc::buffer>() && moves_only<jalloc::buffer_allocator>() &&
              moves_only<jalloc::runtime>() && moves_only<jalloc::stream>() &&
              moves_only<jalloc::event>() && moves_only<jalloc::quota>() &&
              moves_only<jalloc::requirement>() && moves_only<jalloc::program>());
static_assert(!std::is_move_constructible_v<jalloc::borrowed<double>>);
/* A success is 0: as a truth value it would read as a failure. */
static_assert(!std::is_constructible_v<bool, jalloc::outcome>);
/* What is about to end is no argument. */
static_assert(!std::is_convertible_v<jalloc::handle &&, jhandle_t *> &&
              std::is_convertible_v<jalloc::handle &, jhandle_t *>);
/* Nor is what will be stood on or kept: it would be in use at its end, and stay for ever. */
template <typename Below>
constexpr bool stood_on = std::is_constructible_v<jalloc::allocator, Below, const char *>;
template <typename Quota>
constexpr bool shared_out = std::is_constructible_v<jalloc::allocator, jallocator_t *, Quota,
                                                    const jquota_share_options_t &>;
template <typename Kept>
constexpr bool kept = std::is_constructible_v<jalloc::memory_resource, Kept>;
static_assert(stood_on<jalloc::allocator &> && !stood_on<jalloc::allocator>);
static_assert(shared_out<jalloc::quota &> && !shared_out<jalloc::quota>);
static_assert(kept<jalloc::allocator &> && !kept<jalloc::allocator>);
static_assert(std::is_base_of_v<std::runtime_error, jalloc::error>);
static_assert(sizeof(jalloc::handle) == sizeof(jhandle_t *));

/* The status of the error that a function throws; success: none. */
template <typename Function> jstatus_t thrown(Function function) {
    try {
        function();
    } catch (const jalloc::error &error) {
        EXPECT_STRNE(error.what(), "");
        return error.status();
    }
    return JSTATUS_SUCCESS;
}

/* A name in POSIX shared memory that no other run has. */
std::string segment_name(const char *test) {
    return "/jalloc-cxx-" + std::to_string(getpid()) + "-" + test;
}

std::uint64_t live_borrows(const jalloc::handle &handle) {
    return handle.stats().live_borrow_count;
}

TEST(CxxHandle, IsMadeMovedAndEnded) {
    jalloc::handle_options options;
    options.budget_bytes = 1 << 20;
    const std::size_t before = metadata_live();
    {
        jalloc::handle first(options), second;
        EXPECT_EQ(first.budget(), std::size_t{1} << 20);
        EXPECT_EQ(first.status(), JSTATUS_SUCCESS);
        jhandle_t *native = first;
        jalloc::handle moved = std::move(first);
        EXPECT_EQ(moved.get(), native);
        EXPECT_FALSE(first);
        second = std::move(moved);
        EXPECT_EQ(second.get(), native);
        EXPECT_FALSE(moved);
        EXPECT_EQ(thrown([&] { moved.seal(); }), JSTATUS_INVALID_HANDLE);
        EXPECT_EQ(thrown([&] { moved.borrow<double>(1); }), JSTATUS_INVALID_HANDLE);
        EXPECT_EQ(moved.close(), JSTATUS_SUCCESS); // C ignores NULL
        jalloc::handle taken(second.release());
        EXPECT_FALSE(second);
        EXPECT_TRUE(taken);
        taken.close();
        EXPECT_FALSE(taken);
    }
    EXPECT_EQ(metadata_live(), before);
}

TEST(CxxHandle, SaysWhatIsWrong) {
    jalloc::handle_options options;
    options.threads = -1;
    try {
        jalloc::handle handle(options);
        FAIL() << "made";
    } catch (const std::runtime_error &error) {
        EXPECT_NE(std::string(error.what()).find("threads"), std::string::npos) << error.what();
    }
    jalloc::handle handle;
    EXPECT_EQ(thrown([&] { handle.set_threads(-1); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { jalloc::check(jhandle_unseal(nullptr)); }), JSTATUS_INVALID_HANDLE);
    handle.set_fixed_workspace_size(0);
    handle.trim();
    EXPECT_EQ(handle.mode(), JHANDLE_MODE_MANUAL);
    EXPECT_EQ(handle.workspace_size(), 0u);
}

TEST(CxxHandle, AnswersAreNoErrors) {
    jalloc::handle handle;
    EXPECT_EQ(handle.size_query([&] {
        EXPECT_EQ(jalloc::check(jalloc::set_optimal_size(handle, 100)), JSTATUS_SIZE_INCREASED);
        EXPECT_EQ(jalloc::check(jalloc::set_optimal_size(handle, 50)), JSTATUS_SIZE_UNCHANGED);
    }),
              128u);
    jalloc::outcome degraded = JSTATUS_PERF_DEGRADED;
    EXPECT_TRUE(degraded.is_degraded() && !degraded.is_error());
    EXPECT_STREQ(degraded.name(), "JSTATUS_PERF_DEGRADED");
    EXPECT_EQ(jalloc::check(JSTATUS_PERF_DEGRADED), JSTATUS_PERF_DEGRADED);
}

/* However the calls are left, the query has ended. */
TEST(CxxHandle, AQueryEndsWithItsCalls) {
    jalloc::handle handle;
    EXPECT_THROW(handle.size_query([] { throw 1; }), int);
    EXPECT_FALSE(jhandle_is_size_query(handle));
    EXPECT_EQ(thrown([&] { handle.size_query([] { return JSTATUS_IO_ERROR; }); }),
              JSTATUS_IO_ERROR);
    EXPECT_FALSE(jhandle_is_size_query(handle));
    EXPECT_EQ(thrown([&] { handle.size_query([&] { handle.size_query([] {}); }); }),
              JSTATUS_SIZE_QUERY_MISMATCH);
    EXPECT_FALSE(jhandle_is_size_query(handle));
    EXPECT_THROW(handle.requirement_query([] { throw 1; }), int);
    EXPECT_FALSE(jhandle_is_size_query(handle));
}

TEST(CxxBorrow, IsTypedAndEnds) {
    jalloc::handle handle;
    {
        const std::int64_t count = 100;
        auto ws = handle.borrow<double, char>(count, 3u);
        jalloc::span<double> x = ws.get<0>();
        EXPECT_EQ(x.size(), 100u);
        EXPECT_EQ(ws.get<1>().size(), 3u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ws.get<1>().data()) % 64, 0u);
        for (double &element : x)
            element = 1;
        EXPECT_EQ(live_borrows(handle), 1u);
        auto [y, z] = jalloc::borrowed<int, float>(handle, 5, 6);
        EXPECT_EQ(y.size() + z.size(), 11u);
        EXPECT_EQ(live_borrows(handle), 2u);
        try {
            jalloc::borrowed<int> inner(handle, 1);
            throw 1;
        } catch (int) {
        }
        EXPECT_EQ(live_borrows(handle), 2u);
        EXPECT_EQ(x[99], 1);
    }
    EXPECT_EQ(live_borrows(handle), 0u);
    EXPECT_EQ(handle.stats().misuse_count, 0u);
    EXPECT_STREQ(handle.stats().peak_routine, "TestBody"); // by the caller's name
    EXPECT_EQ(handle.close(), JSTATUS_SUCCESS);
}

TEST(CxxBorrow, SizesDoNotWrap) {
    jalloc::handle handle;
    EXPECT_EQ(thrown([&] { handle.borrow<double>(-1); }), JSTATUS_INVALID_SIZE);
    EXPECT_EQ(thrown([&] { handle.borrow<char>(std::int64_t{-1}); }), JSTATUS_INVALID_SIZE);
    EXPECT_EQ(thrown([&] { handle.borrow<double>(SIZE_MAX / 8 + 1); }), JSTATUS_INVALID_SIZE);
    EXPECT_EQ(jalloc::bytes_of<double>(3, 5), 120u);
    EXPECT_EQ(jalloc::bytes_of<double>(0, INT64_MAX), 0u);
    EXPECT_EQ(jalloc::bytes_of<double>(INT64_MAX, 2), JALLOC_SIZE_OVERFLOW);
    EXPECT_EQ(jalloc::bytes_of<double>(5, -1), JALLOC_SIZE_OVERFLOW);
    EXPECT_EQ(live_borrows(handle), 0u);
}

TEST(CxxBorrow, WhatIsHeldKeepsTheHandle) {
    jalloc::handle handle;
    auto ws = handle.borrow<char>(1);
    EXPECT_EQ(thrown([&] { handle.close(); }), JSTATUS_BUSY);
    EXPECT_TRUE(handle);
}

/* A kernel of one's own, as the manual has it. */
jalloc::outcome work(jhandle_t *handle, std::int64_t n, double *x) {
    jalloc::plan plan(handle, "work", "n", n);
    plan.add("copy", {jalloc::bytes_of<double>(n), 8}).price(1, 2);
    plan.add("none", {}, 0);
    if (jhandle_is_size_query(handle))
        return plan.answer(handle);
    jalloc::borrowed_plan ws(handle, plan);
    if (std::string(ws.way()) == "copy") {
        EXPECT_EQ(ws.get<double>().size(), static_cast<std::size_t>(n));
        EXPECT_EQ(ws.get<char>(1).size(), 8u);
        EXPECT_EQ(ws.rung(), 0);
    }
    EXPECT_EQ(ws.get<char>(2).size(), 0u);
    EXPECT_EQ(ws.get<char>(99).size(), 0u);
    jalloc::launch(handle, [=]() noexcept { x[0] += static_cast<double>(n); });
    return ws.status();
}

TEST(CxxPlan, TakesTheRungThatFits) {
    jalloc::handle handle;
    double x = 0;
    const std::size_t wanted = handle.size_query([&] { work(handle, 1000, nullptr); });
    EXPECT_EQ(wanted, 8064u);
    handle.set_fixed_workspace_size(wanted);
    EXPECT_EQ(work(handle, 1000, &x), JSTATUS_SUCCESS);
    handle.set_fixed_workspace_size(64);
    EXPECT_EQ(work(handle, 1000, &x), JSTATUS_PERF_DEGRADED);
    EXPECT_EQ(x, 2000);
    jalloc::plan plan(handle, "never", "n", 1);
    plan.add("only", {jalloc::bytes_of<double>(1000)});
    EXPECT_EQ(plan.need(handle), 8000u);
    EXPECT_EQ(thrown([&] { jalloc::borrowed_plan ws(handle, plan); }), JSTATUS_MEMORY_ERROR);
    EXPECT_EQ(thrown([&] { plan.answer(handle); }), JSTATUS_SIZE_QUERY_MISMATCH);
}

TEST(CxxRequirement, AddsUp) {
    jalloc::handle handle;
    const auto calls = [&] { work(handle, 1000, nullptr); };
    jalloc::requirement one = handle.requirement_query(calls), twice = one.repeated(2),
                        both = jalloc::requirement::at_once({one, twice}),
                        order = jalloc::requirement::in_order({one, twice});
    EXPECT_EQ(one.info().optimal_bytes, 8064u);
    EXPECT_EQ(both.info().optimal_bytes, 2 * 8064u);
    EXPECT_EQ(order.info().optimal_bytes, 8064u);
    EXPECT_EQ(twice.info().call_count, 2u);
    EXPECT_EQ(one.step(0).size_bytes, 0u);
    EXPECT_EQ(one.step_at(9000).size_bytes, 8064u);
    EXPECT_EQ(thrown([&] { one.step(2); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { one.repeated(0); }), JSTATUS_INVALID_VALUE);
}

TEST(CxxProgram, ChoosesUnderABudget) {
    jalloc::handle handle;
    jalloc::program program;
    double x = 0;
    program.record(handle);
    work(handle, 1000, nullptr);
    program.stop(handle, 3);
    EXPECT_EQ(program.requirement().info().optimal_bytes, 8064u);
    program.choose(64);
    EXPECT_EQ(program.info().degraded_count, 3u);
    EXPECT_STREQ(program.call(0).rung, "none");
    program.enter(0);
    EXPECT_EQ(work(handle, 1000, &x), JSTATUS_PERF_DEGRADED);
    program.leave();
    EXPECT_EQ(thrown([&] { program.enter(1); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { program.stop(handle); }), JSTATUS_SIZE_QUERY_MISMATCH);
}

TEST(CxxAllocator, IsAComposition) {
    jalloc::allocator bottom("bfc(limit=1MiB)"), top(bottom, "track");
    EXPECT_STREQ(top.name(), "track");
    void *pointer = top.allocate(1000, 128);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointer) % 128, 0u);
    EXPECT_EQ(top.stats().in_use_bytes, 1000u);
    EXPECT_EQ(thrown([&] { top.deallocate(pointer, 999); }), JSTATUS_INVALID_SIZE);
    EXPECT_EQ(thrown([&] { top.close(); }), JSTATUS_BUSY);
    EXPECT_EQ(thrown([&] { bottom.close(); }), JSTATUS_BUSY);
    top.deallocate(pointer, 1000);
    EXPECT_EQ(thrown([&] { top.allocate(2 << 20); }), JSTATUS_MEMORY_ERROR);
    EXPECT_EQ(thrown([] { jalloc::allocator misspelt("bcf"); }), JSTATUS_INVALID_CONFIGURATION);

    jalloc::handle_options options;
    options.allocator = top;
    jalloc::handle handle(options);
    handle.borrow<double>(1000);
    EXPECT_GE(top.stats().in_use_bytes, 8000u);
}

TEST(CxxAllocator, IsMadeOfFunctions) {
    std::size_t taken = 0;
    jalloc::allocator_ops ops;
    ops.allocate = [](void *context, std::size_t size, std::size_t alignment, jstream_t *,
                      void **pointer) {
        ++*static_cast<std::size_t *>(context);
        *pointer = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
        return *pointer ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR;
    };
    ops.deallocate = [](void *, void *pointer, std::size_t, jstream_t *) {
        std::free(pointer);
        return JSTATUS_SUCCESS;
    };
    jalloc::allocator own(ops, &taken);
    own.deallocate(own.allocate(100), 100);
    EXPECT_EQ(taken, 1u);
}

TEST(CxxQuota, IsShared) {
    jalloc::quota budget(1 << 20);
    jalloc::allocator below("malloc");
    jalloc::quota_share_options options;
    options.guaranteed_bytes = 1 << 19;
    jalloc::allocator one(below, budget, options), other(below, budget, options);
    EXPECT_EQ(budget.stats().share_count, 2u);
    EXPECT_EQ(thrown([&] { other.allocate((1 << 19) + 1); }), JSTATUS_MEMORY_ERROR);
    EXPECT_EQ(thrown([] { jalloc::quota none(std::size_t{0}); }), JSTATUS_INVALID_SIZE);
    EXPECT_EQ(thrown([&] { budget.close(); }), JSTATUS_BUSY);
}

TEST(CxxStream, RunsInOrder) {
    jalloc::stream stream, other;
    jalloc::event event, start;
    int order = 0, *at = &order;
    start.record(stream);
    stream.launch([at]() noexcept { *at = 1; });
    event.record(stream);
    other.wait(event);
    other.launch([at]() noexcept { *at = *at * 10 + 2; });
    other.synchronize();
    EXPECT_EQ(order, 12);
    EXPECT_TRUE(event.reached());
    EXPECT_GE(event.elapsed_ms_since(start), 0);
    EXPECT_EQ(stream.device().kind(), JDEVICE_HOST);
    EXPECT_GT(jalloc::device().properties().multiprocessors, 0);

    jalloc::handle_options options;
    options.stream = stream;
    jalloc::handle handle(options);
    handle.launch([at]() noexcept { *at = 5; });
    stream.synchronize();
    EXPECT_EQ(order, 5);
    handle.close();
    jalloc::stream empty(nullptr);
    EXPECT_EQ(thrown([&] { empty.synchronize(); }), JSTATUS_INVALID_POINTER);
    EXPECT_EQ(thrown([] { jalloc::device::find("tpu:0"); }), JSTATUS_INVALID_VALUE);
    EXPECT_STREQ(static_cast<jalloc::device>(jalloc::device::find("host")).name(), "host");
}

TEST(CxxSegment, IsSharedByOffsets) {
    const std::string name = segment_name("offsets");
    jalloc::segment segment = jalloc::segment::create(name.c_str(), 1 << 20, 4 << 20);
    jalloc::shared_allocator shared = jalloc::shared_allocator::create(segment, 7);
    const joffset_t offset = shared.allocate<double>(100);
    jalloc::span<double> x = segment.at<double>(offset, 100);
    ASSERT_EQ(x.size(), 100u);
    x[99] = 3;
    segment.set_root("x", offset);
    shared.give(offset);

    jalloc::segment again = jalloc::segment::attach(name.c_str());
    jalloc::shared_allocator same = jalloc::shared_allocator::open(again, 7);
    EXPECT_EQ(same.id(), 7u);
    EXPECT_EQ(again.at<double>(again.root("x"), 100)[99], 3);
    EXPECT_EQ(again.offset(again.at<double>(offset).data()), offset);
    EXPECT_EQ(again.at<double>(offset, -1).size(), 0u);
    EXPECT_EQ(again.at<double>(offset + 1).size(), 0u); // not aligned
    EXPECT_EQ(again.at<double>(offset, 1 << 20).size(), 0u);
    EXPECT_EQ(again.recover(), 0u);
    again.verify();
    EXPECT_EQ(again.stats().allocators, 1u);

    EXPECT_EQ(thrown([&] { (void)again.root("y"); }), JSTATUS_NOT_FOUND);
    EXPECT_EQ(thrown([&] { shared.allocate<double>(-1); }), JSTATUS_INVALID_SIZE);
    EXPECT_EQ(thrown([&] { jalloc::segment::create(name.c_str(), 1 << 20); }), JSTATUS_EXISTS);
    EXPECT_EQ(thrown([&] { jalloc::shared_allocator::open(segment, 8); }), JSTATUS_NOT_FOUND);
    EXPECT_EQ(thrown([&] { segment.destroy(); }), JSTATUS_BUSY);
    EXPECT_TRUE(segment);
    {
        jalloc::allocator over(shared);
        void *pointer = over.allocate(100);
        EXPECT_NE(segment.offset(pointer), JOFFSET_NULL);
        EXPECT_EQ(thrown([&] { shared.close(); }), JSTATUS_BUSY);
        over.deallocate(pointer, 100);
    }
    shared.deallocate(offset);
    same.close();
    again.close();
    shared.destroy();
    jalloc::segment_options reading;
    reading.backend = JSEGMENT_POSIX;
    reading.name = name.c_str();
    reading.read_only = true;
    jalloc::segment reader = jalloc::segment::attach(reading);
    EXPECT_EQ(thrown([&] { reader.destroy(); }), JSTATUS_READ_ONLY);
    ASSERT_TRUE(reader); // it is attached still, and to be detached
    reader.close();

    segment.destroy();
    EXPECT_FALSE(segment);
    EXPECT_EQ(thrown([&] { jalloc::segment::attach(name.c_str()); }), JSTATUS_NOT_FOUND);
}

TEST(CxxBuffer, IsTypedShapedAndCounted) {
    jalloc::buffer_allocator allocator(jalloc::datatype<double>);
    jalloc::buffer a = allocator.zeros({3, 2}), kept = a.share();
    a.set<double>({2, 1}, 5);
    EXPECT_EQ(a.at<double>({2, 1}), 5);
    EXPECT_EQ(jalloc::span<double>(a.elements<double>())[5], 5);
    EXPECT_EQ(a.type(), JDATATYPE_F64);
    EXPECT_EQ(a.kind(), JBUFFER_LOCAL);
    EXPECT_EQ(a.layout().extents[1], 2);
    jalloc::buffer row = a.slice({2, 0}, {1, 2});
    EXPECT_EQ(row.at<double>({0, 1}), 5);
    a.close();
    EXPECT_EQ(kept.at<double>({2, 1}), 5);

    EXPECT_EQ(thrown([&] { kept.elements<float>(); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { kept.at<float>({2, 1}); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { kept.at<double>({2}); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { kept.set<double>({2, 1, 0}, 1); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { kept.slice({2}, {1, 2}); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { row.elements<double>(); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { allocator.allocate({-1}); }), JSTATUS_INVALID_SIZE);
    EXPECT_EQ(thrown([&] { jalloc::buffer().at<double>({0}); }), JSTATUS_INVALID_POINTER);

    jalloc::handle handle;
    jalloc::buffer transposed;
    jalloc::check(jbuffer_transpose(handle, JBLAS_TRANSPOSE, kept, transposed.out()));
    EXPECT_EQ(transposed.at<double>({1, 2}), 5);
    jalloc::buffer identity = allocator.identity(4);
    EXPECT_EQ(identity.at<double>({3, 3}), 1);
    double memory[4] = {1, 2, 3, 4};
    EXPECT_EQ(allocator.wrap(jalloc::layout{2, 2}, memory).at<double>({1, 0}), 2);
    jalloc::buffer_allocator floats(jalloc::datatype<float>);
    EXPECT_EQ(floats.copy(identity).at<float>({0, 0}), 1);
    const std::string path = testing::TempDir() + "jalloc-cxx-" + std::to_string(getpid()) + ".npy";
    identity.save(path.c_str());
    EXPECT_EQ(allocator.load(path.c_str()).at<double>({2, 2}), 1);
    std::remove(path.c_str());
    EXPECT_EQ(thrown([&] { allocator.load(path.c_str()); }), JSTATUS_NOT_FOUND);
    EXPECT_GE(jalloc::runtime().info().processes, 1);
}

TEST(CxxMemoryResource, ServesContainers) {
    jalloc::memory_resource pool("bfc(limit=1MiB)+track");
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    {
        std::pmr::vector<double> x(1000, 1.0, &pool);
        std::pmr::map<int, std::pmr::string> names(&pool);
        names[1] = "a text that is too long to be kept within the string";
        jallocator_get_stats(pool.native(), &stats);
        EXPECT_GE(stats.in_use_bytes, 8000u);
        EXPECT_THROW(x.resize(1 << 20), std::bad_alloc);
        EXPECT_EQ(x.size(), 1000u);
        pool.deallocate(pool.allocate(0), 0); // 0 bytes have an address
        void *wide = pool.allocate(100, 4096);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % 4096, 0u);
        pool.deallocate(wide, 100, 4096);
    }
    jallocator_get_stats(pool.native(), &stats);
    EXPECT_EQ(stats.live_count, 0u);
    EXPECT_EQ(thrown([] { jalloc::memory_resource misspelt("bcf"); }),
              JSTATUS_INVALID_CONFIGURATION);
}

TEST(CxxMemoryResource, KeepsAnAllocator) {
    jalloc::allocator allocator("bfc"), other("bfc");
    {
        jalloc::memory_resource one(allocator), same(allocator.get()), another(other);
        EXPECT_TRUE(one == same);
        EXPECT_FALSE(one == another || one == *std::pmr::new_delete_resource());
        EXPECT_EQ(thrown([&] { allocator.close(); }), JSTATUS_BUSY);
    }
    EXPECT_EQ(allocator.close(), JSTATUS_SUCCESS);
    EXPECT_EQ(thrown([&] { jalloc::memory_resource none(allocator); }), JSTATUS_INVALID_POINTER);
}

TEST(CxxStlAllocator, ServesContainers) {
    jalloc::allocator pool("bfc(limit=1MiB)");
    using numbers = std::vector<double, jalloc::stl_allocator<double>>;
    {
        numbers x(1000, 1.0, jalloc::stl_allocator<double>(pool));
        EXPECT_GE(pool.stats().in_use_bytes, 8000u);
        numbers y = x, z = std::move(x);
        EXPECT_EQ(y, z);
        EXPECT_TRUE(y.get_allocator() == jalloc::stl_allocator<int>(pool));
        EXPECT_THROW(y.resize(1 << 20), std::bad_alloc);
        std::map<int, int, std::less<int>, jalloc::stl_allocator<std::pair<const int, int>>> nodes(
            jalloc::stl_allocator<std::pair<const int, int>>{pool});
        for (int i = 0; i < 100; ++i)
            nodes[i] = i;
        EXPECT_THROW((void)y.get_allocator().allocate(SIZE_MAX / 4), std::bad_array_new_length);
    }
    EXPECT_EQ(pool.stats().live_count, 0u);
    EXPECT_EQ(thrown([] { jalloc::stl_allocator<int> none(nullptr); }), JSTATUS_INVALID_POINTER);
}

/* Memory that only a GPU sees, as an allocator of functions says it of itself. */
TEST(CxxMemoryResource, RefusesWhatTheHostCannotUse) {
    jdevice_t *gpu = nullptr;
    if (jstatus_is_error(jdevice_get("cuda:0", &gpu)))
        GTEST_SKIP() << "no CUDA, not even a fake one (JALLOC_MODULE_PATH)";
    jalloc::allocator device(gpu, "bfc");
    EXPECT_EQ(thrown([&] { jalloc::memory_resource pool(device); }), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(thrown([&] { jalloc::stl_allocator<int> pool(device); }), JSTATUS_INVALID_VALUE);
    jalloc::allocator pinned(gpu, "device(kind=pinned)+bfc");
    std::pmr::memory_resource &&pool = jalloc::memory_resource(pinned);
    std::pmr::vector<int> x(10, 1, &pool);
    EXPECT_EQ(x[9], 1);
}

/* Each object, with each allocation of bookkeeping memory failing in turn: an exception that says
 * memory error, and nothing is left behind. */
template <typename Make> void each_allocation_fails(const char *what, Make make) {
    make(); // what the process makes once
    EXPECT_GT(each_failure([&] {
                  const jstatus_t status = thrown(make);
                  EXPECT_TRUE(status == JSTATUS_SUCCESS || status == JSTATUS_MEMORY_ERROR)
                      << what << ": " << jstatus_name(status);
                  return status == JSTATUS_SUCCESS;
              }),
              0u)
        << what;
}

TEST(CxxFailures, OfBookkeepingMemoryAreThrown) {
    jalloc::handle handle;
    jalloc::allocator below("malloc");
    jalloc::quota budget(1 << 20);
    jalloc::runtime runtime;
    jalloc::buffer_allocator allocator(runtime, jalloc::buffer_allocator_options(JDATATYPE_F64));
    jalloc::segment_options options;
    options.size_bytes = 1 << 20;
    jalloc::segment segment = jalloc::segment::create(options);
    jalloc::shared_allocator shared = jalloc::shared_allocator::create(segment, 1);
    each_allocation_fails("handle", [] { jalloc::handle made; });
    each_allocation_fails("allocator", [] { jalloc::allocator made("bfc+track"); });
    each_allocation_fails("over", [&] { jalloc::allocator made(below, "bfc"); });
    each_allocation_fails("shared", [&] { jalloc::allocator made(shared); });
    each_allocation_fails(
        "share", [&] { jalloc::allocator made(below, budget, jalloc::quota_share_options()); });
    each_allocation_fails("resource", [] { jalloc::memory_resource made("bfc"); });
    each_allocation_fails("quota", [] { jalloc::quota made(1); });
    each_allocation_fails("stream", [] { jalloc::stream made; });
    each_allocation_fails("event", [] { jalloc::event made; });
    each_allocation_fails("segment", [&] { jalloc::segment::create(options); });
    each_allocation_fails("runtime", [] { jalloc::runtime made; });
    each_allocation_fails("buffer allocator", [] { jalloc::buffer_allocator made(JDATATYPE_F64); });
    each_allocation_fails("buffer", [&] { allocator.zeros({4, 4}); });
    each_allocation_fails("program", [] { jalloc::program made; });
    each_allocation_fails("requirement", [&] {
        handle.requirement_query([&] { jalloc::set_optimal_size(handle, 100); });
    });
}

} // namespace
