/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle and several threads: while one holds borrows, the others are told so and change
 * nothing. */

#include "handle_helper.h"

#include "handle/handle.h"

#include <stdio.h>

typedef struct other_thread {
    jhandle_t *handle;
    jborrow_t *of_the_first; /* NULL: none */
    jstatus_t begun, by_macro, ended;
} other_thread_t;
static void *use_from_another_thread(void *argument) {
    other_thread_t *other = argument;
    jborrow_t borrow;
    other->begun = borrow_one(&borrow, other->handle, 64);
    {
        JALLOC_BORROW(ws, other->handle, 64);
        other->by_macro = ws.status;
    }
    if (other->of_the_first)
        other->ended = jborrow_end(other->of_the_first);
    else
        other->ended = jborrow_end(&borrow);
    return NULL;
}

JTEST(BorrowThreads, HandleInUseByAnotherThreadIsBusy) {
    jhandle_t *handle = make_handle(4096);
    jborrow_t borrow;
    pthread_t thread;
    other_thread_t other = {handle, &borrow, JSTATUS_SUCCESS, JSTATUS_SUCCESS, JSTATUS_SUCCESS};
    JEXPECT_OK(borrow_one(&borrow, handle, 100));
    JASSERT_EQ(pthread_create(&thread, NULL, use_from_another_thread, &other), 0);
    pthread_join(thread, NULL);
    JEXPECT_STATUS(other.begun, JSTATUS_BUSY);
    JEXPECT_STATUS(other.by_macro, JSTATUS_BUSY);
    JEXPECT_STATUS(other.ended, JSTATUS_BUSY);
    JEXPECT_TRUE(borrow.ok); /* it stays live */
    JEXPECT_EQ(stats_of(handle).live_borrow_count, 1);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_EQ(stats_of(handle).in_use_bytes, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(BorrowThreads, IdleHandleMayMoveToAnotherThread) {
    jhandle_t *handle = make_handle(0);
    pthread_t thread;
    other_thread_t other = {handle, NULL, JSTATUS_BUSY, JSTATUS_BUSY, JSTATUS_BUSY};
    JEXPECT_OK(touch(handle, 64));
    JASSERT_EQ(pthread_create(&thread, NULL, use_from_another_thread, &other), 0);
    pthread_join(thread, NULL);
    JEXPECT_OK(other.begun);
    JEXPECT_OK(other.by_macro);
    JEXPECT_OK(other.ended);
    JEXPECT_OK(touch(handle, 64));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Which is told by the word that the inline path asks: another thread's first borrow goes the long
 * way, and the second of this one, too. */
static void *borrow_twice(void *argument) {
    jhandle_t *handle = argument;
    JEXPECT_TRUE(handle->borrows.user != __builtin_thread_pointer());
    for (int i = 0; i < 2; ++i) {
        JALLOC_BORROW(ws, handle, 64);
        JEXPECT_TRUE(ws.ok);
        JEXPECT_EQ(handle->borrows.user, __builtin_thread_pointer());
    }
    return NULL;
}

static void *adopt_borrows(void *argument) {
    JEXPECT_OK(jhandle_adopt_borrows(argument));
    return NULL;
}

JTEST(BorrowThreads, TheInlinePathIsOfTheThreadThatBorrowedLast) {
    jhandle_t *handle = make_handle(4096);
    pthread_t thread;
    JEXPECT_TRUE(handle->borrows.user == NULL);
    JEXPECT_OK(touch(handle, 64));
    JEXPECT_EQ(handle->borrows.user, __builtin_thread_pointer());
    JASSERT_EQ(pthread_create(&thread, NULL, borrow_twice, handle), 0);
    pthread_join(thread, NULL);
    {
        JALLOC_BORROW(ws, handle, 64);
        JEXPECT_TRUE(ws.ok);
        JEXPECT_EQ(handle->borrows.user, __builtin_thread_pointer());
        JASSERT_EQ(pthread_create(&thread, NULL, adopt_borrows, handle), 0);
        pthread_join(thread, NULL);
        JEXPECT_TRUE(handle->borrows.user != __builtin_thread_pointer());
        JEXPECT_STATUS(jborrow_end(&ws), JSTATUS_BUSY);
        JEXPECT_OK(jhandle_adopt_borrows(handle));
        JEXPECT_EQ(handle->borrows.user, __builtin_thread_pointer());
    }
    JEXPECT_EQ(stats_of(handle).borrow_count, 4);
    JEXPECT_EQ(stats_of(handle).misuse_count, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Many handles, one each thread, on one allocator. */
static void *own_handle(void *argument) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.allocator = argument;
    for (int round = 0; round < 20; ++round) {
        jhandle_t *handle = NULL;
        JEXPECT_OK(jhandle_create(&options, &handle));
        for (size_t i = 1; i < 40; ++i) {
            JALLOC_BORROW(ws, handle, i * 50, i * 20);
            JEXPECT_TRUE(ws.ok);
            if (ws.ok)
                memset(ws.ptr[0], (int)i, i * 50);
        }
        JEXPECT_OK(jhandle_destroy(handle));
    }
    return NULL;
}
JTEST(BorrowThreads, HandlesShareOneAllocator) {
    pthread_t threads[4];
    jallocator_t *allocator = jtest_failing_allocator();
    for (int i = 0; i < 4; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, own_handle, allocator), 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

/* ---- Every function that changes a handle, from a thread that does not hold the borrow ---- */

static jstatus_t foreign_destroy(jhandle_t *handle) { return jhandle_destroy(handle); }
static jstatus_t foreign_set_size(jhandle_t *handle) {
    return jhandle_set_workspace_size(handle, 64);
}
static jstatus_t foreign_set_workspace(jhandle_t *handle) {
    return jhandle_set_workspace(handle, NULL, 0);
}
static jstatus_t foreign_set_budget(jhandle_t *handle) { return jhandle_set_budget(handle, 64); }
static jstatus_t foreign_trim(jhandle_t *handle) { return jhandle_trim(handle, 0); }
static jstatus_t foreign_seal(jhandle_t *handle) { return jhandle_seal(handle); }
static jstatus_t foreign_unseal(jhandle_t *handle) { return jhandle_unseal(handle); }
static jstatus_t foreign_start(jhandle_t *handle) { return jhandle_start_size_query(handle); }
static jstatus_t foreign_stop(jhandle_t *handle) {
    size_t bytes = 0;
    return jhandle_stop_size_query(handle, &bytes);
}
static jstatus_t foreign_optimal(jhandle_t *handle) {
    return jhandle_set_optimal_size(handle, 1, &(size_t){64});
}
static jstatus_t foreign_set_stream(jhandle_t *handle) { return jhandle_set_stream(handle, NULL); }
static jstatus_t foreign_never_captured(jhandle_t *handle) {
    return jhandle_set_never_captured(handle, true);
}
static jstatus_t foreign_pointer_mode(jhandle_t *handle) {
    return jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE);
}
static jstatus_t foreign_policy(jhandle_t *handle) {
    return jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS);
}
static jstatus_t foreign_accuracy(jhandle_t *handle) {
    return jhandle_set_accuracy(handle, JACCURACY_NORMWISE);
}
static jstatus_t foreign_threads(jhandle_t *handle) { return jhandle_set_threads(handle, 1); }
static jstatus_t foreign_executor(jhandle_t *handle) { return jhandle_set_executor(handle, NULL); }
static jstatus_t foreign_clear_stats(jhandle_t *handle) { return jhandle_clear_stats(handle); }
static jstatus_t foreign_abandon(jhandle_t *handle) { return jhandle_abandon_borrows(handle); }
static jstatus_t foreign_borrow(jhandle_t *handle) { return touch(handle, 64); }

typedef struct foreign {
    const char *name;
    jstatus_t (*call)(jhandle_t *handle);
    jhandle_t *handle;
    jstatus_t status;
    char message[200];
} foreign_t;

static void *call_from_another_thread(void *argument) {
    foreign_t *foreign = argument;
    foreign->status = foreign->call(foreign->handle);
    snprintf(foreign->message, sizeof foreign->message, "%s", jstatus_last_message());
    return NULL;
}
static void call_elsewhere(foreign_t *foreign) {
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, call_from_another_thread, foreign), 0);
    pthread_join(thread, NULL);
}

static const foreign_t foreign_calls[] = {
    {"destroy", foreign_destroy, NULL, 0, ""},
    {"set_workspace_size", foreign_set_size, NULL, 0, ""},
    {"set_workspace", foreign_set_workspace, NULL, 0, ""},
    {"set_budget", foreign_set_budget, NULL, 0, ""},
    {"trim", foreign_trim, NULL, 0, ""},
    {"seal", foreign_seal, NULL, 0, ""},
    {"unseal", foreign_unseal, NULL, 0, ""},
    {"start_size_query", foreign_start, NULL, 0, ""},
    {"stop_size_query", foreign_stop, NULL, 0, ""},
    {"set_optimal_size", foreign_optimal, NULL, 0, ""},
    {"set_stream", foreign_set_stream, NULL, 0, ""},
    {"set_never_captured", foreign_never_captured, NULL, 0, ""},
    {"set_pointer_mode", foreign_pointer_mode, NULL, 0, ""},
    {"set_result_policy", foreign_policy, NULL, 0, ""},
    {"set_accuracy", foreign_accuracy, NULL, 0, ""},
    {"set_threads", foreign_threads, NULL, 0, ""},
    {"set_executor", foreign_executor, NULL, 0, ""},
    {"clear_stats", foreign_clear_stats, NULL, 0, ""},
    {"abandon_borrows", foreign_abandon, NULL, 0, ""},
    {"borrow", foreign_borrow, NULL, 0, ""},
};

JTEST(BorrowThreads, NothingIsChangedUnderABorrowOfAnotherThread) {
    static jhandle_t before;
    for (size_t i = 0; i < sizeof foreign_calls / sizeof foreign_calls[0]; ++i) {
        foreign_t foreign = foreign_calls[i];
        JSCOPED_TRACE("%s", foreign.name);
        jhandle_t *handle = foreign.handle = make_handle(4096);
        jborrow_t borrow;
        JEXPECT_OK(borrow_one(&borrow, handle, 100));
        memcpy(&before, handle, sizeof before);
        call_elsewhere(&foreign);
        JEXPECT_STATUS(foreign.status, JSTATUS_BUSY);
        JEXPECT_SUBSTR(foreign.message, "another thread");
        /* Not even the message, nor a counter. */
        JEXPECT_EQ(memcmp(&before, handle, sizeof before), 0);
        JEXPECT_OK(jborrow_end(&borrow));
        if (foreign.call == foreign_destroy) {
            JEXPECT_OK(jhandle_destroy(handle));
            continue;
        }
        call_elsewhere(&foreign); /* nobody holds anything: whoever comes may */
        JEXPECT_NE(foreign.status, JSTATUS_BUSY);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}

/* A message about a bad argument is the asking thread's too. */
static jstatus_t foreign_bad_getter(jhandle_t *handle) { return jhandle_get_mode(handle, NULL); }
JTEST(BorrowThreads, MessagesOfOtherThreadsAreTheirOwn) {
    jhandle_t *handle = make_handle(4096);
    jborrow_t borrow;
    foreign_t foreign = {"get_mode", foreign_bad_getter, handle, JSTATUS_SUCCESS, ""};
    JEXPECT_STATUS(jhandle_get_budget(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(borrow_one(&borrow, handle, 100));
    call_elsewhere(&foreign);
    JEXPECT_STATUS(foreign.status, JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(foreign.message, "jhandle_get_mode");
    JEXPECT_SUBSTR(jhandle_last_message(handle), "jhandle_get_budget");
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Nor is what another thread was refused for the owner's to read. */
static jstatus_t foreign_refused(jhandle_t *handle) {
    ji_handle_keep_refused(handle, "theirs", "n", 7);
    return JSTATUS_SUCCESS;
}
JTEST(BorrowThreads, RefusedArgumentsOfOtherThreadsAreTheirOwn) {
    jhandle_t *handle = make_handle(4096);
    jborrow_t borrow;
    foreign_t foreign = {"refused", foreign_refused, handle, JSTATUS_SUCCESS, ""};
    const char *routine = NULL, *name = NULL;
    int number = 0;
    JEXPECT_STATUS(jhandle_get_refused_argument(handle, &routine, &name, &number),
                   JSTATUS_NOT_FOUND);
    JEXPECT_OK(borrow_one(&borrow, handle, 100));
    call_elsewhere(&foreign);
    JEXPECT_STATUS(jhandle_get_refused_argument(handle, &routine, &name, &number),
                   JSTATUS_NOT_FOUND);
    JEXPECT_NULL(routine);
    ji_handle_keep_refused(handle, "mine", "lda", 3);
    JEXPECT_OK(jhandle_get_refused_argument(handle, NULL, NULL, NULL));
    JEXPECT_OK(jhandle_get_refused_argument(handle, &routine, &name, &number));
    JEXPECT_STREQ(routine, "mine");
    JEXPECT_STREQ(name, "lda");
    JEXPECT_EQ(number, 3);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Which allows no new threads after the fork of a process with several. */
#ifndef __SANITIZE_THREAD__
/* In a child the borrow of the thread that forked is that thread's; others are told what comes
 * first. */
static void misuse_inherited_borrow(void *argument) {
    foreign_t abandon = {"abandon", foreign_abandon, argument, JSTATUS_SUCCESS, ""};
    foreign_t destroy = {"destroy", foreign_destroy, argument, JSTATUS_SUCCESS, ""};
    call_elsewhere(&abandon);
    JEXPECT_STATUS(abandon.status, JSTATUS_FORKED);
    call_elsewhere(&destroy);
    JEXPECT_STATUS(destroy.status, JSTATUS_BUSY);
    JEXPECT_SUBSTR(destroy.message, "another thread");
    JEXPECT_STATUS(jhandle_abandon_borrows(argument), JSTATUS_LEAKED); /* it was still live */
    JEXPECT_STATUS(jhandle_destroy(argument), JSTATUS_FORKED);
}
JTEST(BorrowThreads, InAChildTooBorrowsAreTheirThreads) {
    jhandle_t *handle = make_handle(4096);
    jborrow_t borrow;
    JEXPECT_OK(borrow_one(&borrow, handle, 100));
    jtest_in_child(20, misuse_inherited_borrow, handle);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(handle));
}
#endif

/* A thread that ended without ending its borrow; another one, which knows of it, cleans up. */
static void *lose_a_borrow(void *argument) {
    jborrow_t lost;
    JEXPECT_OK(borrow_one(&lost, argument, 100));
    return NULL;
}
JTEST(BorrowThreads, BorrowsOfAThreadThatEndedAreAdopted) {
    jhandle_t *handle = make_handle(4096);
    pthread_t thread;
    JEXPECT_OK(jhandle_adopt_borrows(handle)); /* none */
    JASSERT_EQ(pthread_create(&thread, NULL, lose_a_borrow, handle), 0);
    pthread_join(thread, NULL);
    JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_BUSY);
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_BUSY);
    JEXPECT_OK(jhandle_adopt_borrows(handle));
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_BUSY); /* it is live all the same */
    JEXPECT_STATUS(jhandle_abandon_borrows(handle), JSTATUS_LEAKED);
    JEXPECT_OK(touch(handle, 4096));
    JEXPECT_STATUS(jhandle_adopt_borrows(NULL), JSTATUS_INVALID_HANDLE);
    JEXPECT_OK(jhandle_destroy(handle));
}
