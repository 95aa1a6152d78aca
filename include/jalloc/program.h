/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROGRAM_H
#define JALLOC_PROGRAM_H

/** @file
 * Programs: which rung each call should take under one budget.
 *
 * A program is a sequence of phases. In a phase some handles are at work at once, so each has bytes
 * of its own; what one phase used, the next may use again.
 *
 *     phase 0   solver  |== trsm ==|= getrf =|        solver + filter <= budget
 *               filter  |= gemm =|== gemm ===|
 *     phase 1   writer  |==== syrk ====|              writer          <= budget
 *
 * @code
 * jprogram_create(&program);
 * jprogram_record(program, solver);       // a size query: operands are not looked at
 * solve(solver, NULL, NULL);
 * jprogram_stop(program, solver);
 * jprogram_record(program, filter);
 * smooth(filter, NULL, NULL);
 * jprogram_stop(program, filter);
 * jprogram_begin_phase(program);          // the writer is at work after them
 * jprogram_record(program, writer);
 * gather(writer, NULL, NULL);
 * jprogram_stop(program, writer);
 * jprogram_choose(program, budget_bytes); // the least predicted time
 * jprogram_enter(program, 0);             // the handles take the rungs that were chosen
 * @endcode
 *
 * The choice is that of the least predicted time of all calls together (profile.h) among all
 * choices whose bytes fit: for each handle and phase a share of the budget, and for each call the
 * fastest rung within its handle's share. It is the best there is, but for what
 * jrequirement_create_at_once() says of staircases with many steps.
 *
 * A program is for one thread at a time, and no handle of it may be in use while it is entered,
 * left or destroyed. Its handles may be destroyed before it. */

#include "jalloc/requirement.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jprogram jprogram_t; /**< calls in phases, and what was chosen for them */

/** A program without calls. @return success; invalid pointer; memory error. */
JALLOC_API jstatus_t jprogram_create(jprogram_t **program);
/** Leaves the program and destroys it. A recording that is under way ends, and its query with it.
 * NULL is ignored.
 * @return success; busy (a handle that follows it has a live borrow: it stays as it was). */
JALLOC_API jstatus_t jprogram_destroy(jprogram_t *program);

/** @name Calls
 * A program that is changed has no choice any more, and is left.
 * @{ */

/** What is recorded from now on is not at work together with what was recorded before. The first
 * phase begins by itself; a phase without calls is none.
 * @return success; invalid pointer; busy (a handle is being recorded, or as in
 * jprogram_destroy()). */
JALLOC_API jstatus_t jprogram_begin_phase(jprogram_t *program);
/** Starts a size query of the handle whose calls become the program's, in the phase that was begun
 * last. Several handles may be recorded at once. Calls of one handle in one phase are in order,
 * whenever they were recorded.
 * @return as jhandle_start_requirement_query(); invalid pointer; busy. */
JALLOC_API jstatus_t jprogram_record(jprogram_t *program, jhandle_t *handle);
/** Ends that query. @return success; size query mismatch (the handle is not being recorded);
 * invalid pointer; invalid handle; forked; memory error, and invalid size (more calls than 64 bits
 * count): the calls since jprogram_record() are lost. */
JALLOC_API jstatus_t jprogram_stop(jprogram_t *program, jhandle_t *handle);
/** The same, and its calls count so many times: of a loop one round is recorded.
 * @return as jprogram_stop(); invalid value (no times: the recording goes on). */
JALLOC_API jstatus_t jprogram_stop_repeated(jprogram_t *program, jhandle_t *handle, uint64_t times);

/** @} @name Choosing
 * @{ */

/** What calls need and what bytes buy, phases one after the other and their handles at once. Times
 * are those of rungs that handles take by themselves.
 * @return success; invalid pointer; invalid size (the sum overflows); memory error. */
JALLOC_API jstatus_t jprogram_get_requirement(const jprogram_t *program,
                                              jrequirement_t **requirement);

/** Chooses a rung for each call, so that no phase needs more than budget_bytes of workspace.
 * @return success; memory error (a phase needs more: the message names it, the call that needs most
 * and the bytes missing; or no bookkeeping memory); invalid size (a sum overflows); invalid
 * pointer; busy (a handle is being recorded, or as in jprogram_destroy()). On failure what was
 * chosen before stays. */
JALLOC_API jstatus_t jprogram_choose(jprogram_t *program, size_t budget_bytes);

/** A program in numbers; of the choice, zeros before there is one. */
typedef struct jprogram_info_t {
    size_t struct_size;
    size_t phase_count;
    size_t call_count;       /**< different ones; jprogram_get_call()'s */
    size_t budget_bytes;     /**< as chosen for */
    size_t size_bytes;       /**< of the hungriest phase, by the choice */
    double seconds;          /**< predicted, of all calls */
    double best_seconds;     /**< with bytes without end */
    uint64_t degraded_count; /**< calls that will answer perf degraded */
} jprogram_info_t;
#define JPROGRAM_INFO_INIT                                                                         \
    { sizeof(jprogram_info_t), 0, 0, 0, 0, 0, 0, 0 }
/** @return success; invalid pointer; invalid value (struct_size). */
JALLOC_API jstatus_t jprogram_get_info(const jprogram_t *program, jprogram_info_t *info);

/** A call of a program. Of the choice, zeros and NULL before there is one. */
typedef struct jprogram_call_t {
    size_t struct_size;
    size_t phase;
    const jhandle_t *handle;            /**< NULL: destroyed since */
    char call[JREQUIREMENT_CALL_BYTES]; /**< such as "jblas_dtrsm m=512 n=64" */
    uint64_t times;                     /**< that it was recorded */
    const char *rung;                   /**< chosen; the plan's text */
    size_t size_bytes;                  /**< that it needs */
    double seconds;                     /**< predicted, of one call */
    double best_seconds;                /**< of one call on its fastest rung */
    size_t best_size_bytes;             /**< that that one needs */
    bool degraded;                      /**< it will answer perf degraded */
} jprogram_call_t;
#define JPROGRAM_CALL_INIT                                                                         \
    { sizeof(jprogram_call_t), 0, NULL, {0}, 0, NULL, 0, 0, 0, 0, false }
/** The index-th call, by phases and handles in the order in which they were recorded.
 * @return success; invalid pointer; invalid value (no such call, struct_size). */
JALLOC_API jstatus_t jprogram_get_call(const jprogram_t *program, size_t index,
                                       jprogram_call_t *call);
/** A handle's share of the budget in a phase: what its calls there need with the chosen rungs.
 * @return success; invalid pointer; invalid value (no such phase); not found (no choice yet,
 * or the handle has no call there). */
JALLOC_API jstatus_t jprogram_get_share(const jprogram_t *program, size_t phase,
                                        const jhandle_t *handle, size_t *size_bytes);

/** @} @name Following
 * @{ */

/** Enters a phase: its handles take the chosen rungs from now on, until another phase is entered or
 * the program is left. A handle in default mode gives back what it holds above its share and has
 * the share for a budget; a handle of another phase gives back all, so that no more than the
 * program's budget is held. In fixed modes the workspace stays, and is to be at least the share.
 *
 * A call is known by its routine and shape and by the bytes and prices of its rungs. One that the
 * program does not know takes what fits, a warning names the first, and
 * jhandle_stats_t counts them. A chosen rung below the best answers perf degraded: that was
 * announced. With jhandle_set_degradation() what was not announced is an error. A borrow of the
 * caller's around calls is not in the program: it takes of their share.
 *
 * Synchronizes as jhandle_trim(); work in the streams of other phases must have been enqueued.
 * @return success; invalid pointer; invalid value (no such phase); not found (no choice yet);
 * busy (as in jprogram_destroy(); or a handle follows another program); device error, capturing (of
 * a trim). On failure no handle follows the program, but with a live borrow of one that does all
 * stays as it was. */
JALLOC_API jstatus_t jprogram_enter(jprogram_t *program, size_t phase);
/** The handles choose by themselves again, with the budgets that they had. Success, too, where
 * no phase was. @return success; invalid pointer; busy (as in jprogram_destroy()). */
JALLOC_API jstatus_t jprogram_leave(jprogram_t *program);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
