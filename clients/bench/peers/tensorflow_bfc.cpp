/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* TensorFlow's best-fit allocator with coalescing, the algorithm jalloc's own BFC is to beat,
 * written anew.
 *
 * TensorFlow (tensorflow/core/common_runtime, "bfc_allocator") does not link without the rest of
 * itself, so what it does is done here with the same containers, for they decide its speed:
 *
 * - Memory is divided in granules of 256 bytes. A *chunk* is a run of granules; chunks stand in one
 *   std::vector and are named by their index, so that they can point at each other while the vector
 *   grows.
 * - A *region* is what one call of upstream gave. Its chunks form a list by address that covers it.
 *   For each of its granules it has one word: the chunk that begins there. The regions stand in a
 *   sorted vector; the one of an address is found by bisection, and from there the chunk by one
 *   look.
 * - Free chunks stand in 21 *bins*; bin k has those of 256 << k bytes up to twice that, the last
 *   one all the larger. A bin is a std::set in order of size and then of address: its first fitting
 *   element is the best fit.
 * - A chunk that is found is split when it is twice what is needed, or when more than 128 MiB would
 *   be left unused.
 * - A chunk that is freed takes in its free neighbours. So two neighbours are never both free.
 * - A region is as large as the one before or twice that, from 1 MiB, always enough for the
 *   request, and never beyond the limit; upstream's refusal makes it a tenth smaller, and again,
 *   until it is granted or the request no longer fits. Regions go back to upstream at the end only.
 *
 *     region  | chunk 0, used      | chunk 3, free            | chunk 1, used | chunk 2, free |
 *     words     0  -  -  -  -  -     3  -  -  -  -  -  -  -     1  -  -  -      2  -  -  -
 *
 * To its advantage, two things differ: newer versions begin with 2 MiB, and after a first refusal
 * ask for less never again.
 *
 * One mutex is held during each call, and the counters that TensorFlow keeps by default are kept.
 * Left out is what is off unless asked for: garbage collection of regions, time stamps of late
 * frees, growth in place. */

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "../peer.h"

namespace {

constexpr std::size_t granule_bytes = 256;
constexpr std::size_t first_region_bytes = std::size_t{1} << 20;
/* Of a chunk that is larger than its request. */
constexpr std::size_t most_unused_bytes = std::size_t{128} << 20;
constexpr int bin_count = 21;

using handle_t = std::uint32_t;
constexpr handle_t no_chunk = UINT32_MAX;

struct chunk_t {
    char *address;
    std::size_t bytes;
    std::size_t requested; /* of a used chunk */
    std::int64_t id;       /* counts allocations; -1: free */
    /* Neighbours in the region; a record that is not in use is listed by next. */
    handle_t previous, next;
    int bin; /* -1: in none */
};

struct region_t {
    char *begin, *end;
    std::vector<handle_t> chunk_at; /* by granule; no_chunk: none begins here */
};

class bfc_t {
  public:
    bfc_t(const bench_upstream_t &upstream, std::size_t limit)
        : upstream_(upstream),
          limit_(std::min(limit, SIZE_MAX / 4) / granule_bytes * granule_bytes) {}

    bfc_t(const bfc_t &) = delete;
    bfc_t &operator=(const bfc_t &) = delete;

    ~bfc_t() {
        for (const region_t &region : regions_)
            upstream_.deallocate(upstream_.context, region.begin,
                                 std::size_t(region.end - region.begin), granule_bytes);
    }

    void *allocate(std::size_t requested) {
        if (requested > limit_)
            return nullptr;
        std::size_t bytes = (requested + granule_bytes - 1) / granule_bytes * granule_bytes;
        std::lock_guard<std::mutex> lock(mutex_);
        void *found = find(bytes, requested);
        if (!found && grow(bytes))
            found = find(bytes, requested);
        return found;
    }

    void deallocate(void *pointer) {
        std::lock_guard<std::mutex> lock(mutex_);
        char *address = static_cast<char *>(pointer);
        handle_t h = chunk_word(address);
        chunk_t &chunk = chunks_[h];
        chunk.id = -1;
        in_use_ -= chunk.bytes;
        bin_insert(coalesce(h));
    }

  private:
    /* By size, then by address. It looks the chunks up where they are, as they are named by
     * index. */
    struct smaller_t {
        const bfc_t *bfc;
        bool operator()(handle_t a, handle_t b) const {
            const chunk_t &x = bfc->chunks_[a], &y = bfc->chunks_[b];
            return x.bytes != y.bytes ? x.bytes < y.bytes : x.address < y.address;
        }
    };
    using bin_t = std::set<handle_t, smaller_t>;

    static int bin_of(std::size_t bytes) {
        return std::min(bin_count - 1,
                        63 - __builtin_clzll(std::max(bytes, granule_bytes) / granule_bytes));
    }

    template <std::size_t... K> std::array<bin_t, bin_count> make_bins(std::index_sequence<K...>) {
        return {{(static_cast<void>(K), bin_t(smaller_t{this}))...}};
    }

    handle_t &chunk_word(char *address) {
        auto region = std::upper_bound(regions_.begin(), regions_.end(), address,
                                       [](const char *a, const region_t &r) { return a < r.end; });
        return region->chunk_at[std::size_t(address - region->begin) / granule_bytes];
    }

    handle_t chunk_make() {
        if (spare_ == no_chunk) {
            chunks_.emplace_back();
            return handle_t(chunks_.size() - 1);
        }
        handle_t h = spare_;
        spare_ = chunks_[h].next;
        return h;
    }

    void chunk_drop(handle_t h) {
        chunk_word(chunks_[h].address) = no_chunk;
        chunks_[h].next = spare_;
        spare_ = h;
    }

    void bin_insert(handle_t h) {
        chunk_t &chunk = chunks_[h];
        chunk.bin = bin_of(chunk.bytes);
        bins_[std::size_t(chunk.bin)].insert(h);
    }

    void bin_remove(handle_t h) {
        chunk_t &chunk = chunks_[h];
        bins_[std::size_t(chunk.bin)].erase(h);
        chunk.bin = -1;
    }

    /* The best fit, taken out of its bin and cut to size. */
    void *find(std::size_t bytes, std::size_t requested) {
        for (int b = bin_of(bytes); b < bin_count; b++) {
            bin_t &bin = bins_[std::size_t(b)];
            for (auto i = bin.begin(); i != bin.end(); ++i) {
                handle_t h = *i;
                if (chunks_[h].bytes < bytes)
                    continue;
                bin.erase(i);
                chunks_[h].bin = -1;
                if (chunks_[h].bytes >= 2 * bytes || chunks_[h].bytes - bytes >= most_unused_bytes)
                    split(h, bytes);
                return take(h, requested);
            }
        }
        return nullptr;
    }

    void *take(handle_t h, std::size_t requested) {
        chunk_t &chunk = chunks_[h];
        chunk.requested = requested;
        chunk.id = next_id_++;
        count_++;
        in_use_ += chunk.bytes;
        peak_ = std::max(peak_, in_use_);
        largest_ = std::max(largest_, chunk.bytes);
        return chunk.address;
    }

    /* What is left behind the first `bytes` becomes a free chunk of its own. */
    void split(handle_t h, std::size_t bytes) {
        handle_t rest = chunk_make(); /* moves the chunks */
        chunk_t &chunk = chunks_[h];
        chunks_[rest] = {chunk.address + bytes, chunk.bytes - bytes, 0, -1, h, chunk.next, -1};
        chunk_word(chunks_[rest].address) = rest;
        chunk.bytes = bytes;
        if (chunk.next != no_chunk)
            chunks_[chunk.next].previous = rest;
        chunk.next = rest;
        bin_insert(rest);
    }

    /* One chunk of a free chunk and its free neighbours; it is in no bin. */
    handle_t coalesce(handle_t h) {
        handle_t next = chunks_[h].next, previous = chunks_[h].previous;
        if (next != no_chunk && chunks_[next].id < 0) {
            bin_remove(next);
            merge(h, next);
        }
        if (previous != no_chunk && chunks_[previous].id < 0) {
            bin_remove(previous);
            merge(previous, h);
            return previous;
        }
        return h;
    }

    void merge(handle_t first, handle_t second) {
        chunk_t &a = chunks_[first], &b = chunks_[second];
        a.bytes += b.bytes;
        a.next = b.next;
        if (a.next != no_chunk)
            chunks_[a.next].previous = first;
        chunk_drop(second);
    }

    /* Another region, with room for `needed` bytes. */
    bool grow(std::size_t needed) {
        std::size_t available = limit_ - total_;
        if (needed > available)
            return false;
        bool doubled = false;
        while (next_region_bytes_ < needed) {
            next_region_bytes_ *= 2;
            doubled = true;
        }
        std::size_t bytes = std::min(next_region_bytes_, available);
        void *memory = upstream_.allocate(upstream_.context, bytes, granule_bytes);
        while (!memory) {
            bytes = (bytes - bytes / 10) / granule_bytes * granule_bytes;
            if (bytes < needed)
                return false;
            memory = upstream_.allocate(upstream_.context, bytes, granule_bytes);
        }
        if (!doubled && next_region_bytes_ < limit_)
            next_region_bytes_ *= 2;
        total_ += bytes;
        add_region(static_cast<char *>(memory), bytes);
        return true;
    }

    void add_region(char *begin, std::size_t bytes) {
        region_t region = {begin, begin + bytes,
                           std::vector<handle_t>(bytes / granule_bytes, no_chunk)};
        auto place = std::upper_bound(regions_.begin(), regions_.end(), begin,
                                      [](const char *a, const region_t &r) { return a < r.end; });
        regions_.insert(place, std::move(region));
        handle_t h = chunk_make();
        chunks_[h] = {begin, bytes, 0, -1, no_chunk, no_chunk, -1};
        chunk_word(begin) = h;
        bin_insert(h);
    }

    const bench_upstream_t upstream_;
    const std::size_t limit_; /* a multiple of the granule, small enough to be doubled */
    std::size_t total_ = 0;   /* bytes of all regions */
    std::size_t next_region_bytes_ = first_region_bytes;
    std::vector<region_t> regions_; /* by address */
    std::vector<chunk_t> chunks_;
    handle_t spare_ = no_chunk; /* records of chunks that are no more, a list */
    std::array<bin_t, bin_count> bins_ = make_bins(std::make_index_sequence<bin_count>());
    std::int64_t next_id_ = 1;
    std::size_t count_ = 0, in_use_ = 0, peak_ = 0, largest_ = 0; /* the statistics */
    std::mutex mutex_;
};

void *bfc_create(const bench_upstream_t *upstream, std::size_t limit_bytes) {
    return new (std::nothrow) bfc_t(*upstream, limit_bytes);
}

void *bfc_allocate(void *state, std::size_t bytes) {
    try {
        return static_cast<bfc_t *>(state)->allocate(bytes);
    } catch (const std::exception &) {
        return nullptr;
    }
}

void bfc_deallocate(void *state, void *pointer, std::size_t) noexcept {
    static_cast<bfc_t *>(state)->deallocate(pointer);
}

void bfc_destroy(void *state) { delete static_cast<bfc_t *>(state); }

} // namespace

const bench_peer_t bench_tensorflow_bfc = {"tensorflow-bfc", 1,          bfc_create, bfc_allocate,
                                           bfc_deallocate,   bfc_destroy};

#ifdef BENCH_PEER_PLUGIN /* it can be loaded like the others as well */
const bench_peer_t *bench_peer_get(size_t index) {
    return index == 0 ? &bench_tensorflow_bfc : nullptr;
}
#endif
