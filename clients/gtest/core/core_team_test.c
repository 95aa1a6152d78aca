/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The process's team: every part of a call runs once, by as many threads as are free and no more,
 * whoever comes when; and what is left of it after a fork. */

#include "core/team.h"
#include "jtest.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "jalloc/handle.h"

#define MOST_PARTS 64

typedef struct parts {
    atomic_int runs[MOST_PARTS];
} parts_t;

static void count_run(void *argument, int index) {
    parts_t *parts = argument;
    atomic_fetch_add(&parts->runs[index], 1);
}

/* Some steps of a lease, of which each runs every part once. */
static void run_steps(ji_team_lease_t *lease, int steps) {
    for (int step = 0; step < steps; step++) {
        parts_t parts = {0};
        ji_team_do(lease, count_run, &parts);
        for (int i = 0; i < MOST_PARTS; i++)
            JEXPECT_EQ(atomic_load(&parts.runs[i]), i < lease->count);
    }
}

/* A lease. Says how many took part. */
static int run_lease(const ji_threads_t *threads, int wanted, int steps) {
    ji_team_lease_t lease;
    ji_team_begin(&lease, threads, wanted);
    run_steps(&lease, steps);
    const int count = lease.count;
    ji_team_end(&lease);
    return count;
}

/* The team has `workers`, and the process is taken to have `processors`, until the scope ends. */
static void give_processors_back(const int *processors) {
    atomic_store(&ji_team_processors, *processors);
}
#define WITH_PROCESSORS(workers, processors)                                                       \
    __attribute__((cleanup(give_processors_back), unused)) const int processors_before =           \
        atomic_load(&ji_team_processors);                                                          \
    ji_team_make((workers) + 1);                                                                   \
    JASSERT_GE(ji_team_size(), workers);                                                           \
    atomic_store(&ji_team_processors, processors)

JTEST(Team, RunsEveryPartOfEveryStepOnce) {
    WITH_PROCESSORS(7, 8);
    for (int count = 0; count <= 8; count++) {
        const ji_threads_t threads = {.count = count};
        for (int wanted = 0; wanted <= 9; wanted++) {
            const int most = wanted < count ? wanted : count;
            JSCOPED_TRACE("%d of %d", wanted, count);
            JEXPECT_EQ(run_lease(&threads, wanted, 20), most < 1 ? 1 : most);
        }
    }
}

/* Those who call at the same time, and what they are lent, are never more than there are
 * processors, as long as there are not more callers. */
JTEST(Team, CallersDivideTheProcessors) {
    WITH_PROCESSORS(7, 4);
    const ji_threads_t threads = {.count = 4}, two = {.count = 2};
    ji_team_lease_t a, b, c, d;
    ji_team_begin(&a, &two, 9);
    JEXPECT_EQ(a.count, 2);
    ji_team_begin(&b, &threads, 9);
    JEXPECT_EQ(b.count, 2);
    ji_team_begin(&c, &threads, 9); /* nothing is left */
    JEXPECT_EQ(c.count, 1);
    ji_team_end(&a);
    ji_team_begin(&d, &threads, 9); /* b has two, c and d have one each */
    JEXPECT_EQ(d.count, 1);
    ji_team_end(&b);
    ji_team_end(&d);
    ji_team_begin(&a, &threads, 9); /* c has one */
    JEXPECT_EQ(a.count, 3);
    run_steps(&a, 3);
    run_steps(&c, 3);
    ji_team_end(&c);
    ji_team_end(&a);
    JEXPECT_EQ(run_lease(&threads, 9, 3), 4);
}

/* A caller that works for long is a busy thread, whether it may have others or not; one whose work
 * is small is not counted. */
JTEST(Team, WhoWorksAloneForLongIsCounted) {
    WITH_PROCESSORS(7, 4);
    const ji_threads_t threads = {.count = 4}, alone = {.count = 1};
    ji_team_lease_t long_one, short_one;
    ji_team_begin(&long_one, &alone, 9);
    JEXPECT_EQ(long_one.count, 1);
    ji_team_begin(&short_one, &threads, 1);
    JEXPECT_EQ(short_one.count, 1);
    JEXPECT_EQ(run_lease(&threads, 9, 1), 3);
    ji_team_end(&long_one);
    JEXPECT_EQ(run_lease(&threads, 9, 1), 4);
    ji_team_end(&short_one);
}

/* Who is part of a lease is counted there: what it begins asks nobody. */
JTEST(Team, APartIsCountedOnce) {
    WITH_PROCESSORS(7, 4);
    const ji_threads_t threads = {.count = 4}, two = {.count = 2}, part = {.count = 0};
    ji_team_lease_t whole, own;
    ji_team_begin(&whole, &two, 9);
    JEXPECT_EQ(whole.count, 2);
    ji_team_begin(&own, &part, 9);
    JEXPECT_EQ(own.count, 1);
    JEXPECT_EQ(run_lease(&threads, 9, 3), 2);
    run_steps(&own, 3);
    ji_team_end(&own);
    JEXPECT_EQ(run_lease(&threads, 9, 3), 2);
    ji_team_end(&whole);
    JEXPECT_EQ(run_lease(&threads, 9, 3), 4);
}

/* Asked for by name, more threads than processors are had by one who calls alone. */
JTEST(Team, MoreThanProcessorsForOneWhoAsks) {
    WITH_PROCESSORS(7, 2);
    const ji_threads_t threads = {.count = 8};
    ji_team_lease_t lease;
    ji_team_begin(&lease, &threads, 9);
    JEXPECT_EQ(lease.count, 8);
    JEXPECT_EQ(run_lease(&threads, 9, 3), 1);
    run_steps(&lease, 3);
    ji_team_end(&lease);
}

/* But not beside others: callers and what they are lent are then no more than the processors. */
JTEST(Team, NoMoreThanProcessorsBesideOthers) {
    WITH_PROCESSORS(7, 3);
    const ji_threads_t alone = {.count = 1}, two = {.count = 2}, many = {.count = 8};
    ji_team_lease_t first, second;
    ji_team_begin(&first, &alone, 9);
    JEXPECT_EQ(run_lease(&many, 9, 3), 2);
    ji_team_begin(&second, &two, 9);
    JEXPECT_EQ(second.count, 2);
    JEXPECT_EQ(run_lease(&many, 9, 3), 1);
    ji_team_end(&first);
    JEXPECT_EQ(run_lease(&many, 9, 3), 1);
    ji_team_end(&second);
    JEXPECT_EQ(run_lease(&many, 9, 3), 8);
}

/* A caller is counted with the workers that it has, not with those that it would have had. */
JTEST(Team, WorkersThatAreNotThereAreNotCounted) {
    WITH_PROCESSORS(7, 1000);
    const ji_threads_t threads = {.count = 1000};
    ji_team_lease_t all, none;
    ji_team_begin(&all, &threads, 1000);
    JEXPECT_EQ(all.count, 1 + ji_team_size());
    ji_team_begin(&none, &threads, 1000);
    JEXPECT_EQ(none.count, 1);
    ji_team_end(&all);
    atomic_store(&ji_team_processors, 4);
    JEXPECT_EQ(run_lease(&(ji_threads_t){.count = 4}, 4, 1), 3);
    ji_team_end(&none);
    JEXPECT_EQ(run_lease(&(ji_threads_t){.count = 4}, 4, 1), 4);
}

/* The order of one who sleeps is done by the caller, rather than waited for. */
typedef struct seen {
    pthread_t by[MOST_PARTS];
} seen_t;
static void see_thread(void *argument, int index) {
    ((seen_t *)argument)->by[index] = pthread_self();
}
static void see_thread_slowly(void *argument, int index) {
    see_thread(argument, index);
    jtest_sleep_ms(20); /* so that one who is there takes the next */
}
JTEST(Team, NobodyWaitsForAWorkerThatHasNotBegun) {
    WITH_PROCESSORS(3, 4);
    const ji_threads_t threads = {.count = 4};
    int taken_back = 0;
    for (int round = 0; round < 200 && taken_back == 0; round++) {
        seen_t seen;
        ji_team_lease_t lease;
        jtest_sleep_ms(2); /* they sleep by now */
        ji_team_begin(&lease, &threads, 4);
        JASSERT_EQ(lease.count, 4);
        ji_team_do(&lease, see_thread, &seen);
        ji_team_end(&lease);
        JEXPECT_TRUE(pthread_equal(seen.by[0], pthread_self()));
        for (int i = 1; i < 4; i++)
            taken_back += pthread_equal(seen.by[i], pthread_self()) != 0;
    }
    JEXPECT_GT(taken_back, 0);
}

/* ---- Processors ---- */

typedef struct places {
    atomic_bool has_begun;
    int processor;     /* where the worker was */
    cpu_set_t allowed; /* where it may be */
    const cpu_set_t *change;
} places_t;

/* The caller stays until the worker has begun, and takes nothing back. */
static void note_place(void *argument, int index) {
    places_t *places = argument;
    if (index == 0) {
        while (!atomic_load(&places->has_begun))
            sched_yield();
        return;
    }
    places->processor = sched_getcpu();
    JEXPECT_EQ(sched_getaffinity(0, sizeof places->allowed, &places->allowed), 0);
    if (places->change != NULL)
        JEXPECT_EQ(sched_setaffinity(0, sizeof *places->change, places->change), 0);
    atomic_store(&places->has_begun, true);
}

/* With the caller on that processor alone, the worker is asleep and is woken; then it is given the
 * processors `change`, unless that is NULL. */
static void wake_from(int processor, const cpu_set_t *change, places_t *places) {
    const ji_threads_t two = {.count = 2};
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(processor, &here);
    JASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    jtest_sleep_ms(20);

    *places = (places_t){.change = change};
    ji_team_lease_t lease;
    ji_team_begin(&lease, &two, 2);
    JEXPECT_EQ(lease.count, 2);
    ji_team_do(&lease, note_place, places);
    ji_team_end(&lease);
}

/* A worker that is woken is not where its caller is, goes back to processors that its callers have
 * left, and does with what others leave it. */
static void wake_from_processors(void *unused) {
    (void)unused;
    cpu_set_t all, first_alone;
    JASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    WITH_PROCESSORS(1, 2);

    int processors[2], found = 0;
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &all))
            processors[found++] = i;

    places_t places;
    for (int turn = 0; turn < 4; turn++) {
        const int here = processors[turn % 2];
        wake_from(here, NULL, &places);
        JEXPECT_NE(places.processor, here);
        CPU_SET(here, &places.allowed);
        JEXPECT_TRUE(CPU_EQUAL(&places.allowed, &all));
    }

    CPU_ZERO(&first_alone);
    CPU_SET(processors[0], &first_alone);
    wake_from(processors[0], &first_alone, &places);
    for (int turn = 0; turn < 4; turn++) {
        wake_from(processors[turn % 2], NULL, &places);
        JEXPECT_EQ(places.processor, processors[0]);
        JEXPECT_TRUE(CPU_EQUAL(&places.allowed, &first_alone));
    }
}

JTEST(Team, AWorkerThatIsWokenIsNotOnItsCallersProcessor) {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2)
        JSKIP("one processor");
    jtest_in_child(60, wake_from_processors, NULL);
}

/* ---- Many threads ---- */

typedef struct crowd {
    atomic_int lent, most_lent; /* workers that somebody has */
    int64_t leases;
} crowd_t;

static void note_lent(crowd_t *crowd, int workers) {
    const int lent = atomic_fetch_add(&crowd->lent, workers) + workers;
    int most = atomic_load(&crowd->most_lent);
    while (lent > most && !atomic_compare_exchange_weak(&crowd->most_lent, &most, lent))
        continue;
}

static void *lease_often(void *argument) {
    crowd_t *crowd = argument;
    uint64_t random = (uintptr_t)&random;
    for (int64_t i = 0; i < crowd->leases; i++) {
        const ji_threads_t threads = {.count = 1 + (int)(jtest_random_next(&random) % 4)};
        ji_team_lease_t lease;
        ji_team_begin(&lease, &threads, 1 + (int)(jtest_random_next(&random) % 6));
        note_lent(crowd, lease.count - 1);
        run_steps(&lease, 1 + (int)(jtest_random_next(&random) % 4));
        note_lent(crowd, 1 - lease.count);
        ji_team_end(&lease);
    }
    return NULL;
}

/* Some callers, and as many processors as they and a few workers would keep busy. */
static void run_crowd(int callers) {
    enum { PROCESSORS = 4 };
    WITH_PROCESSORS(7, PROCESSORS);
    crowd_t crowd = {.leases = jtest_iterations(300)};
    pthread_t threads[16];
    for (int i = 0; i < callers; i++)
        JASSERT_EQ(pthread_create(&threads[i], NULL, lease_often, &crowd), 0);
    for (int i = 0; i < callers; i++)
        pthread_join(threads[i], NULL);
    JEXPECT_EQ(atomic_load(&crowd.lent), 0);
    JEXPECT_LT(atomic_load(&crowd.most_lent), PROCESSORS);

    const ji_threads_t all = {.count = PROCESSORS};
    JEXPECT_EQ(run_lease(&all, 9, 1), PROCESSORS); /* nothing was lost */
}

JTEST(Team, LeasesOfManyThreads) {
    for (int callers = 1; callers <= 16; callers *= 2)
        run_crowd(callers);
}

/* ---- Forks ---- */

static void build_anew(void *unused) {
    (void)unused;
    const ji_threads_t threads = {.count = 3};
    JEXPECT_EQ(ji_team_size(), 0);
    JEXPECT_EQ(run_lease(&threads, 3, 5), 1);
    ji_team_make(3);
    JEXPECT_EQ(ji_team_size(), 2);
    JEXPECT_EQ(run_lease(&threads, 3, 100), 3);
}

JTEST(TeamFork, AChildBeginsAloneAndMayBuildItsOwn) {
    WITH_PROCESSORS(3, 4);
    jtest_in_child(60, build_anew, NULL);
    const ji_threads_t threads = {.count = 4};
    JEXPECT_EQ(run_lease(&threads, 4, 20), 4);
}

static void go_on_with_a_lease(void *argument) {
    ji_team_lease_t *lease = argument;
    run_steps(lease, 5);
    ji_team_make(4); /* they are not of that lease */
    run_steps(lease, 5);
    seen_t seen;
    ji_team_do(lease, see_thread_slowly, &seen);
    for (int i = 0; i < lease->count; i++)
        JEXPECT_TRUE(pthread_equal(seen.by[i], pthread_self()));
    ji_team_end(lease);
    const ji_threads_t threads = {.count = 4};
    JEXPECT_EQ(run_lease(&threads, 4, 20), 4);
}

JTEST(TeamFork, ALeaseOfTheParentIsDoneByTheChildItself) {
    WITH_PROCESSORS(3, 4);
    const ji_threads_t threads = {.count = 4};
    ji_team_lease_t lease;
    ji_team_begin(&lease, &threads, 4);
    JEXPECT_EQ(lease.count, 4);
    run_steps(&lease, 5);
    jtest_in_child(60, go_on_with_a_lease, &lease);
    run_steps(&lease, 5);
    ji_team_end(&lease);
    JEXPECT_EQ(run_lease(&threads, 4, 20), 4);
}

static void *lease_until_told(void *argument) {
    const ji_threads_t threads = {.count = 3};
    while (!atomic_load((atomic_bool *)argument)) {
        (void)run_lease(&threads, 3, 3);
        ji_team_make(1 + (ji_team_size() + 1) % 16);
    }
    return NULL;
}

JTEST(TeamFork, WhileOthersHaveTheTeam) {
    WITH_PROCESSORS(3, 4);
    atomic_bool stop = false;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        JASSERT_EQ(pthread_create(&threads[i], NULL, lease_until_told, &stop), 0);
    for (int64_t round = jtest_iterations(20); round > 0; round--)
        jtest_in_child(60, build_anew, NULL);
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Threads that cannot be had ---- */

static void make_with_failures(void *unused) {
    (void)unused;
    for (int n = 1; n <= 4; n++) {
        jtest_fail_calls("pthread_create", 1, 100, EAGAIN);
        ji_team_make(4 * n);
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_EQ(ji_team_size(), 4 * (n - 1));
        jtest_fail_calls("pthread_create", 3, 1, EAGAIN);
        ji_team_make(4 * n + 1);
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_EQ(ji_team_size(), 4 * (n - 1) + 2);
        const ji_threads_t threads = {.count = 100};
        JEXPECT_EQ(run_lease(&threads, 100, 3), 4 * (n - 1) + 3);
        ji_team_make(4 * n + 1);
        JEXPECT_EQ(ji_team_size(), 4 * n);
    }
}

JTEST(Team, FewerThreadsWhereTheSystemGivesNoMore) { jtest_in_child(60, make_with_failures, NULL); }

/* Thread-local memory may be more than a small stack holds. */
static void make_with_small_stacks_refused(void *unused) {
    (void)unused;
    jtest_fail_calls("pthread_create", 1, 1, EINVAL);
    ji_team_make(3);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(ji_team_size(), 2);
}

JTEST(Team, AStackOfTheUsualSizeWhereASmallOneIsRefused) {
    jtest_in_child(60, make_with_small_stacks_refused, NULL);
}

JTEST(Team, HasNoMoreWorkersThanItHasRoomFor) {
    const ji_threads_t threads = {.count = 1 << 30};
    jtest_fail_calls("pthread_create", 1, 1 << 30, EAGAIN);
    ji_team_make(1 << 30);
    const int size = ji_team_size();
    JEXPECT_EQ(run_lease(&threads, 1 << 30, 1), 1 + size);
}

typedef struct signals {
    atomic_int workers; /* that have begun */
    bool blocked[4];
} signals_t;
static void see_signals(void *argument, int index) {
    signals_t *signals = argument;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    signals->blocked[index] = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGUSR1) == 1;
    if (index > 0)
        atomic_fetch_add(&signals->workers, 1);
    while (index == 0 && atomic_load(&signals->workers) < 3)
        jtest_sleep_ms(1); /* or this thread would do their parts */
}

JTEST(Team, SignalsAreNotForWorkers) {
    WITH_PROCESSORS(3, 4);
    const ji_threads_t threads = {.count = 4};
    ji_team_lease_t lease;
    signals_t signals = {.workers = 0};
    ji_team_begin(&lease, &threads, 4);
    JASSERT_EQ(lease.count, 4);
    ji_team_do(&lease, see_signals, &signals);
    ji_team_end(&lease);
    JEXPECT_FALSE(signals.blocked[0]);
    for (int i = 1; i < 4; i++)
        JEXPECT_TRUE(signals.blocked[i]);
}

/* ---- Executors ---- */

typedef struct lender {
    int offers, asked, runs;
} lender_t;

static int offer(void *context) {
    lender_t *lender = context;
    lender->asked++;
    return lender->offers;
}

static void run_backwards(void *context, int count, void (*part)(void *, int), void *argument) {
    ((lender_t *)context)->runs++;
    for (int i = count - 1; i >= 0; i--)
        part(argument, i);
}

JTEST(TeamExecutor, RunsThePartsOneAfterAnother) {
    lender_t lender = {.offers = 5};
    const jexecutor_t executor = {sizeof executor, &lender, offer, run_backwards};
    const ji_threads_t threads = {.executor = &executor, .count = 8};
    const int size = ji_team_size();
    JEXPECT_EQ(run_lease(&threads, 9, 3), 5);
    JEXPECT_EQ(lender.asked, 1);
    JEXPECT_EQ(lender.runs, 3);
    JEXPECT_EQ(run_lease(&threads, 4, 3), 4);
    JEXPECT_EQ(lender.runs, 6);
    JEXPECT_EQ(run_lease(&threads, 1, 3), 1); /* nobody is asked */
    JEXPECT_EQ(lender.asked, 2);

    for (lender.offers = 1; lender.offers >= -1; lender.offers--)
        JEXPECT_EQ(run_lease(&threads, 4, 3), 1);
    JEXPECT_EQ(lender.runs, 6);
    JEXPECT_EQ(ji_team_size(), size);
}

/* As OpenMP does it: a thread for each part, and all meet at the end. */
typedef struct member {
    void (*part)(void *, int);
    void *argument;
    int index;
} member_t;

static void *be_member(void *argument) {
    const member_t *member = argument;
    member->part(member->argument, member->index);
    return NULL;
}

static int offer_six(void *context) { return context == NULL ? 6 : 0; }

static void run_at_once(void *context, int count, void (*part)(void *, int), void *argument) {
    pthread_t threads[6];
    member_t members[6];
    (void)context;
    for (int i = 1; i < count; i++) {
        members[i] = (member_t){part, argument, i};
        JASSERT_EQ(pthread_create(&threads[i], NULL, be_member, &members[i]), 0);
    }
    part(argument, 0);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
}

JTEST(TeamExecutor, RunsThePartsAtOnce) {
    const jexecutor_t executor = {sizeof executor, NULL, offer_six, run_at_once};
    for (int count = 1; count <= 8; count++) {
        const ji_threads_t threads = {.executor = &executor, .count = count};
        JEXPECT_EQ(run_lease(&threads, 100, 5), count < 6 ? count : 6);
    }
}

/* ---- The end ---- */

static int count_threads(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* The shared library, which has a team of its own, may be unloaded: no thread stays behind in code
 * that is gone. */
static void load_and_unload(void *unused) {
    (void)unused;
    const int before = count_threads();
    if (before == 0)
        return;
    for (int round = 0; round < 20; round++) {
        void *library = dlopen(JALLOC_SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        JASSERT_NOT_NULL(library);
        jstatus_t (*create)(const jhandle_options_t *, jhandle_t **) = NULL;
        jstatus_t (*destroy)(jhandle_t *) = NULL;
        *(void **)&create = dlsym(library, "jhandle_create");
        *(void **)&destroy = dlsym(library, "jhandle_destroy");
        JASSERT_TRUE(create != NULL && destroy != NULL);

        jhandle_options_t options = JHANDLE_OPTIONS_INIT;
        jhandle_t *handle;
        options.threads = 5;
        JASSERT_OK(create(&options, &handle));
        JEXPECT_EQ(count_threads(), before + 4);
        JEXPECT_OK(destroy(handle));
        JEXPECT_EQ(dlclose(library), 0);
        /* The kernel may still show one that has been joined. */
        for (int i = 0; i < 1000 && count_threads() != before; i++)
            jtest_sleep_ms(1);
        JASSERT_EQ(count_threads(), before);
    }
}

JTEST(Team, EndsWithTheLibrary) { load_and_unload(NULL); }
