/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BORROW_H
#define JALLOC_BORROW_H

/** @file
 * Borrowing workspace, and plans: what a routine is written with.
 *
 * @code
 * JALLOC_BORROW(ws, handle, m * sizeof(double), n * sizeof(double)); // until scope's end
 * if (!ws.ok) return ws.status;
 * double *x = ws.ptr[0], *y = ws.ptr[1]; // C++: (double *)ws.ptr[0]
 * @endcode
 *
 * A routine with several ways states them as a plan, so that the size query and the borrow cannot
 * drift apart:
 *
 * @code
 * jplan_t plan = my_plan(handle, m, n);    // rungs, best first
 * JALLOC_ANSWER_SIZE_QUERY(handle, &plan); // returns while querying
 * JALLOC_BORROW_PLAN(ws, handle, &plan);   // the best rung that fits
 * if (!ws.ok) return ws.status;
 * my_run(ws.way, ws.ptr, m, n);            // "best", or as jplan_add() called the rung
 * return ws.status;                        // success on rung 0, perf degraded below
 * @endcode
 *
 * Borrows nest, last in first out. Every pointer is aligned to the device's granule. The memory is
 * uninitialized, and is valid in stream order: work enqueued in the handle's stream before the
 * scope ends may use it. In a stream that is being captured it is valid whenever the graph runs
 * (handle.h). */

#include "jalloc/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JBORROW_MAX_BUFFERS 8 /**< buffers in one borrow */
#define JBORROW_MAX_DEPTH 32  /**< borrows live at once on one handle */

/** A lease on part of a handle's workspace. Not to be copied. Frozen. */
typedef struct jborrow_t {
    /** the buffers asked for; NULL for a zero size, all NULL when not ok */
    void *ptr[JBORROW_MAX_BUFFERS];
    jstatus_t status; /**< success; perf degraded; or why there are none */
    /** of a plan: the index of the rung chosen; 0 otherwise, -1 when not ok */
    int rung;
    /** of a plan: the name of that rung, as jplan_add() got it; NULL otherwise */
    const char *way;
    bool ok;            /**< the buffers are there */
    void *frame_;       /**< internal: its frame, in the handle */
    uint64_t serial_;   /**< internal: which borrow of the handle */
    jhandle_t *handle_; /**< internal: NULL when it needs no end */
} jborrow_t;

/** Borrows `count` buffers. `routine` (static text, may be NULL) names the owner in statistics and
 * messages. Synchronizes only when default mode has to grow, and then only where the allocator does
 * not take memory back in stream order, or in a capture. JALLOC_BORROW ends it by itself;
 * jborrow_end ends it otherwise.
 * @return success (as borrow->status, which has the same); invalid handle; invalid size (overflow);
 * invalid value (more than JBORROW_MAX_BUFFERS, or deeper than JBORROW_MAX_DEPTH); invalid pointer;
 * size query mismatch (querying); memory error; sealed; busy; forked; capturing (the capture has
 * failed, or forbids what this borrow needs); device error. */
JALLOC_API jstatus_t jborrow_begin(jborrow_t *borrow, jhandle_t *handle, const char *routine,
                                   size_t count, const size_t *size_bytes);

/** Ends a borrow. A borrow that is not ok, or was ended, is left alone. Out of order: reported, and
 * the memory returns when the borrows above it end.
 * @return success (also of one that was ended by this variable); invalid pointer; out of order; not
 *         found (a copy of one that has ended, or abandoned); busy (on another thread than it began
 *         on; it stays live); invalid handle. */
JALLOC_API jstatus_t jborrow_end(jborrow_t *borrow);

/** One way of carrying out a call. Frozen. */
typedef struct jplan_rung_t {
    const char *name;                  /**< static text, such as "inverse" */
    uint32_t bits_class;               /**< rungs that give the same bits have the same number */
    uint32_t buffer_count;             /**< how many of bytes[] are used */
    size_t bytes[JBORROW_MAX_BUFFERS]; /**< its buffers */
    /** the largest need (jplan_bytes) of what it calls while borrowing */
    size_t callee_bytes;
} jplan_rung_t;

/** What a rung costs, in counts that are the same on any machine; a profile (profile.h) makes
 * time of them. Zeros: not said. Frozen. */
typedef struct jprice_t {
    double flops;       /**< operations on real numbers: six in a complex product, two in a sum */
    double moved_bytes; /**< read and written, packing and copies in workspace among them */
    double launches;    /**< kernels started, or steps that wait for each other */
} jprice_t;

/** The ways in which one call can be carried out, best first. Build it with jplan_init and
 * jplan_add. */
typedef struct jplan_t {
    size_t struct_size;                    /**< sizeof(jplan_t); jplan_init() sets it */
    const char *routine;                   /**< static text, such as "jblas_dtrsm" */
    const char *shape_names;               /**< one letter per size, such as "mn"; static text */
    int64_t shape[4];                      /**< the sizes */
    jstatus_t status;                      /**< the first error while building; success */
    uint32_t rung_count;                   /**< how many of rungs[] are used */
    bool same_bits;                        /**< only rungs of the last rung's class may be used */
    jplan_rung_t rungs[JHANDLE_MAX_RUNGS]; /**< the rungs */
    uint32_t priced;                       /**< bit i: prices[i] was said */
    jprice_t prices[JHANDLE_MAX_RUNGS];    /**< what the rungs cost */
} jplan_t;
/** A plan without rungs. What jplan_init() starts needs none. */
#define JPLAN_INIT                                                                                 \
    {                                                                                              \
        sizeof(jplan_t), NULL, NULL, {0}, JSTATUS_SUCCESS, 0, false, {{NULL, 0, 0, {0}, 0}}, 0, {  \
            { 0, 0, 0 }                                                                            \
        }                                                                                          \
    }

/** Starts a plan, whatever it holds. `shape` holds one size for each letter of shape_names (at most
 * 4). Takes the handle's result policy. `struct_size` is the size of the caller's jplan_t.
 * Of a NULL `plan`, here and below, jstatus_last_message() alone tells; a NULL `shape` where there
 * are names is kept in plan->status, as invalid pointer. */
JALLOC_API void jplan_init_sized(jplan_t *plan, size_t struct_size, const jhandle_t *handle,
                                 const char *routine, const char *shape_names,
                                 const int64_t *shape);

/** jplan_init_sized() with the size of this header's jplan_t, which is why the library does not
 * export it. */
static inline void jplan_init(jplan_t *plan, const jhandle_t *handle, const char *routine,
                              const char *shape_names, const int64_t *shape) {
    jplan_init_sized(plan, sizeof *plan, handle, routine, shape_names, shape);
}

/** Adds a rung below those there. `name` is static text, unlike those of the plan's other rungs. A
 * size of JALLOC_SIZE_OVERFLOW makes it a rung that never fits; a query of which it is the best
 * rung is answered invalid size. Too many rungs or buffers, and `bytes` that is NULL where there
 * are buffers, are kept in plan->status and answered by the calls below. */
JALLOC_API void jplan_add(jplan_t *plan, const char *name, uint32_t bits_class, size_t callee_bytes,
                          size_t buffer_count, const size_t *bytes);

/** Says what the rung added last costs. Only requirements and programs (requirement.h) ask, so a
 * routine whose price takes time to count says it while jhandle_is_size_query() alone. Counts that
 * are negative or not finite, and a NULL `price`, are refused as too many rungs are. */
JALLOC_API void jplan_price(jplan_t *plan, const jprice_t *price);

/** The bytes that rung 0 needs: its buffers rounded up to the granule, plus callee_bytes. With
 * result policy same bits rung 0 is the first rung that has the bits of the last.
 * JALLOC_SIZE_OVERFLOW on overflow, and for a NULL plan. */
JALLOC_API size_t jplan_bytes(const jplan_t *plan, const jhandle_t *handle);

/** Answers a size query with a plan. @return size increased; size unchanged; size query mismatch
 * (not querying); invalid value (struct_size; the plan has no rung, or too much was added:
 * plan->status); busy; forked; invalid handle; invalid pointer; invalid size. */
JALLOC_API jstatus_t jhandle_answer_plan(jhandle_t *handle, const jplan_t *plan);

/** Borrows the best rung that the result policy allows and that fits: its own buffers and
 * callee_bytes beside them. borrow->rung is its index in plan->rungs, borrow->way its name, by
 * which a routine tells what to do: an index changes with the rungs that a plan leaves out.
 * @return as jborrow_begin(); perf degraded when an allowed rung above it did not fit; memory error
 * when none fits. */
JALLOC_API jstatus_t jborrow_begin_plan(jborrow_t *borrow, jhandle_t *handle, const jplan_t *plan);

/** A size that no workspace has. */
#define JALLOC_SIZE_OVERFLOW SIZE_MAX

/** a * b, or JALLOC_SIZE_OVERFLOW. Negative arguments count as 0. */
JALLOC_INLINE size_t jalloc_mul(int64_t a, int64_t b) {
    size_t product;
    if (a <= 0 || b <= 0)
        return 0;
    return __builtin_mul_overflow((size_t)a, (size_t)b, &product) ? JALLOC_SIZE_OVERFLOW : product;
}

/** The bytes of a rows x columns matrix of `type`, or JALLOC_SIZE_OVERFLOW; that also where `type`
 * is no element type, whose matrices are of no size that could be borrowed. */
JALLOC_INLINE size_t jalloc_matrix_bytes(jdatatype_t type, int64_t rows, int64_t columns) {
    size_t elements = jalloc_mul(rows, columns), element_bytes = jdatatype_bytes(type), bytes;
    return element_bytes == 0 || __builtin_mul_overflow(elements, element_bytes, &bytes)
               ? JALLOC_SIZE_OVERFLOW
               : bytes;
}

/** Returns size unchanged from the enclosing function while querying: for routines that need no
 * workspace. */
#define JALLOC_RETURN_ZERO_SIZE_IF_QUERIED(handle)                                                 \
    do {                                                                                           \
        if (jhandle_is_size_query(handle))                                                         \
            return jhandle_set_optimal_size(handle, 0, NULL);                                      \
    } while (0)

/** Returns the answer from the enclosing function while querying. */
#define JALLOC_ANSWER_SIZE_QUERY(handle, plan)                                                     \
    do {                                                                                           \
        if (jhandle_is_size_query(handle))                                                         \
            return jhandle_answer_plan(handle, plan);                                              \
    } while (0)

/** @name Internal: the inline path of a borrow
 * Most borrows fit into what is there, on the thread that borrowed last, below the high watermark.
 * For those `user` is the thread and `fast_end` lies above the end of the borrow; for everything
 * else the library keeps one of the two such that the call goes to jborrow_begin or jborrow_end. A
 * handle begins with this struct.
 *
 * A borrow writes its frame, where free memory begins behind it, and which frame is the next one's;
 * its end makes its own frame the next one's, and that is all: what was before stands there still.
 * The serial number in the innermost frame says whose end may do so.
 * @{ */

/** A borrow, or what the next one begins with. Frozen. */
typedef struct jborrow_frame_ {
    uintptr_t top; /**< where free memory began before the borrow */
    /** the frame's index, and JBORROW_SERIAL_STEP_ for each borrow that it had, this one included:
     * no other borrow of the handle ever has it */
    uint64_t serial;
    const char *routine; /**< who borrowed; static text or NULL */
} jborrow_frame_;

#define JBORROW_SERIAL_STEP_ 64 /**< more than any index */
#define JBORROW_FRAMES_ 33      /**< JBORROW_MAX_DEPTH, and one for what begins behind the last */

/** The borrow frames at the beginning of a handle. Frozen. */
typedef struct jborrow_frames_ {
    /** the thread that borrowed last; NULL while the inline path is closed to all (a further block,
     * or an end out of order); relaxed atomic */
    const void *user;
    uintptr_t fast_end;    /**< a borrow that ends below may begin inline; 0: none may */
    jborrow_frame_ *frame; /**< the next borrow's: those before it are in use */
    /** 0: the serial number of nobody, where an end looks for that of a frame before the first */
    uint64_t nobody;
    uintptr_t granule_mask;                 /**< granule - 1 */
    jborrow_frame_ frames[JBORROW_FRAMES_]; /**< the outermost first */
} jborrow_frames_;

/** What the inline functions call in all but the usual case. Frozen. */
typedef struct jborrow_calls_ {
    jstatus_t (*begin)(jborrow_t *borrow, jhandle_t *handle, const char *routine, size_t count,
                       const size_t *size_bytes); /**< jborrow_begin */
    jstatus_t (*end)(jborrow_t *borrow);          /**< jborrow_end */
} jborrow_calls_;

/** The inline functions compile the structs above into programs, and that a handle begins with its
 * frames. They are frozen under the number in this name: a library with another layout has the next
 * number and not this, so that a program of the old layout is not loaded with it, where it would
 * corrupt memory. An object, because functions may be looked up as late as they are first
 * called. */
extern JALLOC_API const jborrow_calls_ jborrow_calls_2_;

/** No sum of JBORROW_MAX_BUFFERS sizes up to this overflows. */
#define JBORROW_MAX_SIZE_BYTES_ (SIZE_MAX / (4 * JBORROW_MAX_BUFFERS))

/** The number of buffers is a constant where the macros are used: without the loop their sizes stay
 * in registers. */
#ifdef __clang__
#define JALLOC_UNROLL_ _Pragma("clang loop unroll(full)")
#else
#define JALLOC_UNROLL_ _Pragma("GCC unroll 8")
#endif

/** jborrow_begin, inline in the usual case. Neither the guard nor the sizes are passed on (copies
 * are, and the guard's is taken over by member), so that the compiler can keep them in registers:
 * read back from memory, they would cost as much as all the rest. */
static inline __attribute__((always_inline)) void
jborrow_begin_inline_(jborrow_t *borrow, jhandle_t *handle, const char *routine, size_t count,
                      const size_t *size_bytes) {
    jborrow_frames_ *borrows = (jborrow_frames_ *)handle;
    if (__builtin_expect(borrows != NULL && count <= JBORROW_MAX_BUFFERS &&
                             __atomic_load_n(&borrows->user, __ATOMIC_RELAXED) ==
                                 __builtin_thread_pointer(),
                         1)) {
        jborrow_frame_ *frame = borrows->frame;
        uintptr_t mask = borrows->granule_mask, next = frame->top;
        size_t bits = 0;
        JALLOC_UNROLL_
        for (size_t i = 0; i < count; ++i) {
            borrow->ptr[i] = size_bytes[i] ? (void *)next : NULL;
            bits |= size_bytes[i];
            next += (size_bytes[i] + mask) & ~mask;
        }
        if (__builtin_expect(next < borrows->fast_end && bits <= JBORROW_MAX_SIZE_BYTES_ &&
                                 frame != &borrows->frames[JBORROW_MAX_DEPTH],
                             1)) {
            uint64_t serial = frame->serial + JBORROW_SERIAL_STEP_;
            frame->serial = serial;
            frame->routine = routine;
            frame[1].top = next;
            borrows->frame = frame + 1;
            borrow->status = JSTATUS_SUCCESS;
            borrow->rung = 0;
            borrow->way = NULL;
            borrow->ok = true;
            borrow->frame_ = frame;
            borrow->serial_ = serial;
            borrow->handle_ = handle;
            return;
        }
    }
    jborrow_t escaping;
    size_t sizes[JBORROW_MAX_BUFFERS];
    const size_t most = count <= JBORROW_MAX_BUFFERS ? count : 0;
    JALLOC_UNROLL_
    for (size_t i = 0; i < most; ++i)
        sizes[i] = size_bytes[i];
    jborrow_calls_2_.begin(&escaping, handle, routine, count, sizes);
    JALLOC_UNROLL_
    for (size_t i = 0; i < JBORROW_MAX_BUFFERS; ++i)
        borrow->ptr[i] = escaping.ptr[i];
    borrow->status = escaping.status;
    borrow->rung = escaping.rung;
    borrow->way = escaping.way;
    borrow->ok = escaping.ok;
    borrow->frame_ = escaping.frame_;
    borrow->serial_ = escaping.serial_;
    borrow->handle_ = escaping.handle_;
}

/** jborrow_end, inline in the usual case. What goes wrong is in the handle's message, log and
 * statistics.
 */
static inline __attribute__((always_inline)) void jborrow_end_inline_(jborrow_t *borrow) {
    if (!borrow->ok)
        return;
    jborrow_frames_ *borrows = (jborrow_frames_ *)borrow->handle_;
    if (__builtin_expect(__atomic_load_n(&borrows->user, __ATOMIC_RELAXED) ==
                                 __builtin_thread_pointer() &&
                             borrows->frame[-1].serial == borrow->serial_,
                         1)) {
        borrows->frame = (jborrow_frame_ *)borrow->frame_;
    } else {
        /* What jborrow_end reads: of ptr[] only what was borrowed was ever set. */
        jborrow_t escaping;
        escaping.ok = true;
        escaping.handle_ = borrow->handle_;
        escaping.serial_ = borrow->serial_;
        jborrow_calls_2_.end(&escaping);
    }
}

/** For the cleanup attribute. */
static inline void jborrow_cleanup_(jborrow_t *borrow) { jborrow_end_inline_(borrow); }
/** @} */

#ifdef __cplusplus
} /* extern "C" */

#include <type_traits>

namespace jalloc {
/** A size of any integer type, as C converts it: a negative one is larger than any workspace. */
template <typename Size> constexpr size_t size_bytes(Size size) {
    static_assert(std::is_convertible<Size, size_t>::value && !std::is_floating_point<Size>::value,
                  "a size in bytes is an integer");
    return static_cast<size_t>(size);
}

/** A borrow that its destructor ends. */
struct borrow : jborrow_t {
    template <typename... Sizes> borrow(jhandle_t *handle, const char *routine, Sizes... sizes) {
        const size_t bytes[] = {jalloc::size_bytes(sizes)...};
        jborrow_begin_inline_(this, handle, routine, sizeof...(sizes), bytes);
    }
    borrow(jhandle_t *handle, const jplan_t *plan) { jborrow_begin_plan(this, handle, plan); }
    borrow(const borrow &) = delete;
    borrow &operator=(const borrow &) = delete;
    ~borrow() { jborrow_end_inline_(this); }
    explicit operator bool() const { return ok; }
};

/** Answers a size query with the sizes of the buffers that serve the call best. */
template <typename... Sizes> jstatus_t set_optimal_size(jhandle_t *handle, Sizes... sizes) {
    const size_t bytes[] = {jalloc::size_bytes(sizes)...};
    return jhandle_set_optimal_size(handle, sizeof...(sizes), bytes);
}
} // namespace jalloc

#define JALLOC_SET_OPTIMAL_SIZE(handle, ...) ::jalloc::set_optimal_size(handle, __VA_ARGS__)
#define JALLOC_BORROW(ws, handle, ...) ::jalloc::borrow ws(handle, __func__, __VA_ARGS__)
#define JALLOC_BORROW_PLAN(ws, handle, plan) ::jalloc::borrow ws(handle, plan)
#define JALLOC_WITH_BORROW(ws, handle, ...)                                                        \
    for (bool ws##_once_ = true; ws##_once_; ws##_once_ = false)                                   \
        for (JALLOC_BORROW(ws, handle, __VA_ARGS__); ws##_once_; ws##_once_ = false)
#else

/** Answers a size query with the sizes of the buffers that serve the call best. An expression of
 * type jstatus_t. */
#define JALLOC_SET_OPTIMAL_SIZE(handle, ...)                                                       \
    jhandle_set_optimal_size(handle, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t),             \
                             (size_t[]){__VA_ARGS__})

/** No constant, but 1: what has it for a size has a variably modified type, into whose scope C
 * allows no jump. */
static inline size_t jborrow_one_(void) { return 1; }

/** Declares a guard. A goto or a case label past it would end a borrow that has not begun; the type
 * makes compilers refuse that, and costs no instruction. */
#define JALLOC_GUARD_(ws)                                                                          \
    __attribute__((cleanup(jborrow_cleanup_))) jborrow_t ws;                                       \
    _Pragma("GCC diagnostic push") _Pragma(                                                        \
        "GCC diagnostic ignored \"-Wvla\"") typedef char ws##_is_not_jumped_over_[jborrow_one_()]  \
        __attribute__((unused));                                                                   \
    _Pragma("GCC diagnostic pop")

/** Declares `ws`, a jborrow_t with one buffer per size, ended by the compiler when the enclosing
 * scope ends. A jump past it to a label in the same scope does not compile: let the scope be a
 * block of its own, which ends before the label. */
#define JALLOC_BORROW(ws, handle, ...)                                                             \
    JALLOC_GUARD_(ws)                                                                              \
    jborrow_begin_inline_(&ws, handle, __func__, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), \
                          (size_t[]){__VA_ARGS__})

/** Declares `ws`, a jborrow_t of the best rung of a plan, ended by the compiler when the enclosing
 * scope ends. */
#define JALLOC_BORROW_PLAN(ws, handle, plan)                                                       \
    JALLOC_GUARD_(ws)                                                                              \
    jborrow_begin_plan(&ws, handle, plan)

/** The block form: JALLOC_WITH_BORROW(ws, handle, bytes) { if (ws.ok) ... } - the borrow ends with
 * the block. */
#define JALLOC_WITH_BORROW(ws, handle, ...)                                                        \
    for (bool ws##_once_ = true; ws##_once_; ws##_once_ = false)                                   \
        for (__attribute__((cleanup(jborrow_cleanup_), unused)) jborrow_t ws =                     \
                 jborrow_make_(handle, __func__, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), \
                               (size_t[]){__VA_ARGS__});                                           \
             ws##_once_; ws##_once_ = false)

/** For the block form. */
static inline jborrow_t jborrow_make_(jhandle_t *handle, const char *routine, size_t count,
                                      const size_t *size_bytes) {
    jborrow_t borrow;
    jborrow_begin_inline_(&borrow, handle, routine, count, size_bytes);
    return borrow;
}
#endif
#endif
