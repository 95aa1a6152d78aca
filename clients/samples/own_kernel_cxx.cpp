/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A kernel of one's own in C++.
 *
 * The column sums of a matrix, added so that no rounding error grows: pairwise. With room for a
 * copy of the matrix the additions run over whole columns at a time; without any the kernel adds
 * each column by itself, recursively, with the same bits. What is there decides, and the outcome
 * says it. A container of the standard library has its memory from an allocator of jalloc's. */

#include <cstdio>
#include <cstring>
#include <jalloc.hpp>
#include <memory_resource>
#include <vector>

namespace {

double pairwise(const double *x, std::int64_t n) {
    return n == 1 ? x[0] : pairwise(x, n - n / 2) + pairwise(x + (n - n / 2), n / 2);
}

/* sums: columns elements. Workspace: rung 0 "halves" as much as A, rung 1 "recursive" none. Runs in
 * the handle's stream. Perf degraded on rung 1. */
jalloc::outcome column_sums(jhandle_t *handle, std::int64_t rows, std::int64_t columns,
                            const double *a, double *sums) {
    jalloc::plan plan(handle, "column_sums", "mn", rows, columns);
    plan.add("halves", {jalloc::bytes_of<double>(rows, columns)}).add("recursive");
    if (jhandle_is_size_query(handle))
        return plan.answer(handle);
    if (rows < 1 || columns < 1)
        return jalloc::check(jhandle_fail(handle, JSTATUS_INVALID_SIZE, "column_sums: no sums"));

    jalloc::borrowed_plan ws(handle, plan);
    if (!ws)
        return ws.status();
    double *copy = ws.get<double>().data(); /* NULL on the other rung */
    jalloc::outcome launched = jalloc::launch(handle, [=]() noexcept {
        if (copy)
            std::memcpy(copy, a, sizeof(double) * static_cast<std::size_t>(rows * columns));
        for (std::int64_t j = 0; j < columns; ++j) {
            double *column = copy ? copy + j * rows : nullptr;
            for (std::int64_t n = rows; column && n > 1; n -= n / 2)
                for (std::int64_t i = 0; i < n / 2; ++i)
                    column[i] += column[n - n / 2 + i];
            sums[j] = column ? column[0] : pairwise(a + j * rows, rows);
        }
    });
    return launched.is_error() ? launched.status() : ws.status(); /* the stream keeps the order */
}

} // namespace

int main() try {
    const std::int64_t rows = 1024, columns = 100;
    jalloc::memory_resource pool("bfc+track");
    std::pmr::vector<double> a(static_cast<std::size_t>(rows * columns), 0.1, &pool),
        sums(static_cast<std::size_t>(columns), &pool);

    jalloc::handle handle;
    const std::size_t wanted =
        handle.size_query([&] { column_sums(handle, rows, columns, nullptr, nullptr); });
    bool right = true;
    for (std::size_t bytes : {wanted, std::size_t{0}}) {
        handle.set_fixed_workspace_size(bytes);
        const jalloc::outcome done = column_sums(handle, rows, columns, a.data(), sums.data());
        std::printf("with %6zu bytes: %-22s %.17g\n", bytes, done.name(), sums[0]);
        right = right && done.is_degraded() == (bytes == 0);
        for (double sum : sums)
            right = right && sum == 0.1 * static_cast<double>(rows);
    }
    return right ? 0 : 1;
} catch (const jalloc::error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
