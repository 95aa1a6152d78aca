/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc.hpp where errors are returned, in one program with the other policy. */

#define JALLOC_EXCEPTIONS 0

#include "cxx_support.h"

#include <gtest/gtest.h>
#include <jalloc.hpp>
#include <type_traits>

namespace {

/* A source of each policy: their names differ, so nothing is defined twice. */
static_assert(std::is_same_v<jalloc::handle, jalloc::returning::handle>);
static_assert(std::is_same_v<decltype(std::declval<jalloc::handle &>().budget()),
                             jalloc::result<std::size_t>>);

TEST(CxxReturned, ObjectsSayWhyTheyAreEmpty) {
    jalloc::handle_options options;
    options.threads = -1;
    jalloc::handle handle(options);
    EXPECT_FALSE(handle);
    EXPECT_EQ(handle.status(), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(handle.seal(), JSTATUS_INVALID_HANDLE);

    jalloc::handle sound;
    EXPECT_TRUE(sound);
    EXPECT_EQ(sound.status(), JSTATUS_SUCCESS);
    handle = std::move(sound);
    EXPECT_TRUE(handle);
    EXPECT_EQ(handle.status(), JSTATUS_SUCCESS);
    EXPECT_FALSE(sound);
    EXPECT_EQ(sound.status(), JSTATUS_INVALID_POINTER);

    jalloc::quota quota(1024), kept(quota.release());
    EXPECT_EQ(quota.status(), JSTATUS_INVALID_POINTER);
    EXPECT_EQ(kept.close(), JSTATUS_SUCCESS);
    EXPECT_EQ(kept.status(), JSTATUS_INVALID_POINTER);

    jalloc::allocator misspelt("bcf");
    EXPECT_EQ(misspelt.status(), JSTATUS_INVALID_CONFIGURATION);
    jalloc::memory_resource resource("bcf");
    EXPECT_FALSE(resource);
    EXPECT_EQ(resource.status(), JSTATUS_INVALID_CONFIGURATION);
    EXPECT_EQ(jalloc::segment::attach("/jalloc-no-such-segment").status(), JSTATUS_NOT_FOUND);
    EXPECT_EQ(jalloc::quota(std::size_t{0}).status(), JSTATUS_INVALID_SIZE);
}

TEST(CxxReturned, ResultsAreValuesOrStatuses) {
    jalloc::handle handle, empty(nullptr);
    jalloc::result<std::size_t> size = handle.workspace_size();
    EXPECT_TRUE(size);
    EXPECT_EQ(*size, 0u);
    jalloc::result<std::size_t> none = empty.workspace_size();
    EXPECT_FALSE(none);
    EXPECT_EQ(none.status(), JSTATUS_INVALID_HANDLE);
    EXPECT_EQ(none.value(), 0u);
    EXPECT_EQ(handle.stats()->borrow_count, 0u);
    EXPECT_EQ(jalloc::device::find("tpu:0").status(), JSTATUS_INVALID_VALUE);
}

TEST(CxxReturned, BorrowsAreLookedAt) {
    jalloc::handle handle;
    jalloc::outcome set = handle.set_fixed_workspace_size(128);
    ASSERT_FALSE(set.is_error());
    {
        auto ws = handle.borrow<double>(10), more = handle.borrow<double>(10);
        EXPECT_TRUE(ws);
        EXPECT_EQ(ws.get().size(), 10u);
        EXPECT_FALSE(more);
        EXPECT_EQ(more.status(), JSTATUS_MEMORY_ERROR);
        EXPECT_TRUE(more.get().empty());
        EXPECT_EQ(more.get().data(), nullptr);
        EXPECT_EQ(handle.close(), JSTATUS_BUSY);
    }
    EXPECT_EQ(handle.close(), JSTATUS_SUCCESS);
}

TEST(CxxReturned, QueriesEndWithAnError) {
    jalloc::handle handle;
    auto size = handle.size_query([] { return JSTATUS_IO_ERROR; });
    EXPECT_EQ(size.status(), JSTATUS_IO_ERROR);
    EXPECT_FALSE(jhandle_is_size_query(handle));
    size = handle.size_query([&] { return jalloc::set_optimal_size(handle, 100); });
    EXPECT_EQ(size.status(), JSTATUS_SUCCESS);
    EXPECT_EQ(*size, 128u);
    EXPECT_EQ(handle.requirement_query([] { return JSTATUS_IO_ERROR; }).status(), JSTATUS_IO_ERROR);
}

TEST(CxxReturned, CallsAnswer) {
    jalloc::handle handle;
    const double x[] = {3, 4};
    double norm = 0;
    EXPECT_EQ(jalloc::blas::nrm2(handle, 2, x, 1, &norm), JSTATUS_SUCCESS);
    EXPECT_EQ(norm, 5);
    EXPECT_EQ(jalloc::blas::nrm2(handle, 2, jalloc::none<double>, 1, &norm),
              JSTATUS_INVALID_POINTER);
    EXPECT_EQ(jalloc::blas::nrm2(nullptr, 2, x, 1, &norm), JSTATUS_INVALID_HANDLE);
}

TEST(CxxReturned, BuffersAnswer) {
    jalloc::buffer_allocator allocator(jalloc::datatype<double>);
    jalloc::buffer a = allocator.zeros({2, 2});
    EXPECT_EQ(a.at<float>({0, 0}).status(), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(a.at<double>({0}).status(), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(*a.at<double>({0, 0}), 0);
    EXPECT_EQ(allocator.allocate({-1}).status(), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(allocator.zeros({-1, 2}).status(), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(a.slice({1, 1}, {2, 2}).status(), JSTATUS_INVALID_VALUE);
    EXPECT_EQ(a.slice({0, 1}, {2, 1}).elements<double>()->size(), 2u);
    EXPECT_EQ(a.slice({1, 0}, {1, 2}).elements<double>().status(), JSTATUS_INVALID_VALUE);
    jalloc::layout none = jalloc::buffer().layout();
    EXPECT_TRUE(jstatus_is_error(jlayout_check(&none)));
}

TEST(CxxReturned, OutOfMemory) {
    const auto each = [](auto make) {
        EXPECT_EQ(make(), JSTATUS_SUCCESS);
        return each_failure([&] {
            const jstatus_t status = make();
            EXPECT_TRUE(status == JSTATUS_SUCCESS || status == JSTATUS_MEMORY_ERROR)
                << jstatus_name(status);
            return status == JSTATUS_SUCCESS;
        });
    };
    EXPECT_GT(each([] { return jalloc::handle().status(); }), 0u);
    EXPECT_GT(each([] { return jalloc::allocator("bfc+track").status(); }), 0u);
    EXPECT_GT(each([] { return jalloc::memory_resource("bfc+track").status(); }), 0u);
    EXPECT_GT(each([] { return jalloc::stream().status(); }), 0u);
    EXPECT_GT(each([] { return jalloc::buffer_allocator(JDATATYPE_F64).status(); }), 0u);
    EXPECT_GT(each([] { return jalloc::program().status(); }), 0u);
}

} // namespace
