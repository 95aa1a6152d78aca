/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Who is alive: a lock of the file goes with its process, however that ends, and stays as long as
 * anybody has the description; a claim is never taken for dead unless it is, and a pid that is used
 * again revives nobody. */

#include "segment_backing_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* ---- Other processes ---- */

/* A process that prepares something, says so, and stays until it is killed, or does what it was
 * told to. */
typedef struct peer {
    pid_t pid;
    int go; /* closed: it goes on to what it does last */
    bool ready;
} peer_t;
#define PEER_LONGEST_S 120 /* against leaving it behind */

static peer_t peer_start(bool (*prepare)(void *argument), void (*finish)(void), void *argument) {
    int says[2], go[2];
    if (pipe2(says, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) {
        JFAIL("pipe2: %s", strerror(errno));
        return (peer_t){.pid = -1, .go = -1};
    }
    fflush(NULL);
    const pid_t pid = fork();
    char word = 'n';
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(PEER_LONGEST_S);
        close(says[0]);
        close(go[1]);
        word = prepare == NULL || prepare(argument) ? 'y' : 'n';
        if (write(says[1], &word, 1) != 1)
            _exit(2);
        (void)!read(go[0], &word, 1); /* ends when the other end is closed */
        if (finish != NULL)
            finish();
        for (;;)
            pause();
    }
    close(says[1]);
    close(go[0]);
    const peer_t peer = {pid, go[1], pid > 0 && read(says[0], &word, 1) == 1 && word == 'y'};
    close(says[0]);
    return peer;
}
static void peer_go(peer_t *peer) {
    if (peer->go >= 0)
        close(peer->go);
    peer->go = -1;
}
static void peer_reap(peer_t *peer) {
    peer_go(peer);
    if (peer->pid > 0)
        while (waitpid(peer->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    peer->pid = -1;
}
static void peer_end(peer_t *peer) {
    if (peer->pid > 0)
        kill(peer->pid, SIGKILL);
    peer_reap(peer);
}
#define PEER(variable) __attribute__((cleanup(peer_end))) peer_t variable

static void *stay(void *argument) {
    (void)argument;
    for (;;)
        pause();
    return NULL;
}
/* Until it is so; a process that ends does so in its own time. */
static bool comes_to_be(const shm_backing_t *backing, unsigned slot, uint64_t claim,
                        shm_life_t expected) {
    for (int i = 0; i < 20000 && shm_life_of(backing, slot, claim) != expected; ++i)
        jtest_sleep_ms(1);
    return shm_life_of(backing, slot, claim) == expected;
}

/* ---- Locks ---- */

typedef struct kind {
    const char *name;
    jsegment_backend_t backend;
} kind_t;
static const kind_t kinds[] = {
    {"memfd", JSEGMENT_MEMFD}, {"posix", JSEGMENT_POSIX}, {"file", JSEGMENT_FILE}};
static void kind_name(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME, "%s", ((const kind_t *)parameter)->name);
}

JTEST_P_NAMED(SegmentLife, SlotIsHeldByOneAttachmentAlsoInOneProcess, kind_t, kinds, kind_name) {
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    shm_constants_t c;
    ATTACHED(other);
    JASSERT_OK(sample_attach(&sample, false, &c, &other));
    const shm_backing_t *a = &sample.backing, *b = &other;
    static const unsigned slots[] = {1, 2, 64, SHM_MAX_SLOTS};
    for (size_t i = 0; i < LEN(slots); ++i) {
        JSCOPED_TRACE("slot %u", slots[i]);
        const unsigned slot = slots[i];
        JEXPECT_EQ(shm_life_of(b, slot, 0), SHM_DEAD_PROCESS);
        JEXPECT_FALSE(shm_life_of_any(b));
        JEXPECT_TRUE(shm_life_take(a, slot));
        JEXPECT_TRUE(shm_life_take(a, slot));
        JEXPECT_FALSE(shm_life_take(b, slot));
        JEXPECT_EQ(shm_life_of(b, slot, 0), SHM_ALIVE);
        JEXPECT_EQ(shm_life_of(b, slot, UINT64_MAX), SHM_ALIVE); /* claims do not count */
        JEXPECT_TRUE(shm_life_of_any(b));
        JEXPECT_EQ(shm_life_of(a, slot, 0), SHM_DEAD_PROCESS); /* its own */
        JEXPECT_FALSE(shm_life_of_any(a));
        JEXPECT_EQ(shm_life_of(b, slot + 1, 0), SHM_DEAD_PROCESS);
        JEXPECT_TRUE(shm_gate_take(b, true, 0));
        shm_gate_release(b);
        shm_life_release(b, slot); /* not its own: nothing */
        JEXPECT_EQ(shm_life_of(b, slot, 0), SHM_ALIVE);
        shm_life_release(a, slot);
        JEXPECT_TRUE(shm_life_take(b, slot));
        shm_life_release(b, slot);
    }
    JEXPECT_TRUE(shm_life_take(b, 3));
    JEXPECT_EQ(shm_life_of(a, 3, 0), SHM_ALIVE);
    shm_backing_close(&other);
    JEXPECT_EQ(shm_life_of(a, 3, 0), SHM_DEAD_PROCESS);
}

JTEST(SegmentLife, ReadOnlyAttachmentAsksAndGoesThroughTheGate) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    shm_constants_t c;
    ATTACHED(reader);
    JASSERT_OK(sample_attach(&sample, true, &c, &reader));
    JEXPECT_EQ(shm_life_of(&reader, 7, 0), SHM_DEAD_PROCESS);
    JEXPECT_TRUE(shm_life_take(&sample.backing, 7));
    JEXPECT_EQ(shm_life_of(&reader, 7, 0), SHM_ALIVE);
    JEXPECT_TRUE(shm_gate_take(&reader, false, 0));
    JEXPECT_FALSE(shm_gate_take(&sample.backing, true, 0));
    shm_gate_release(&reader);
    JEXPECT_TRUE(shm_gate_take(&sample.backing, true, 0));
    JEXPECT_FALSE(shm_gate_take(&reader, false, 1));
}

static bool attach_and_take(void *argument) {
    sample_t *sample = argument;
    static shm_backing_t backing;
    shm_constants_t c;
    return sample_attach(sample, false, &c, &backing) == JSTATUS_SUCCESS &&
           shm_life_take(&backing, 5);
}
static void die_by_exit(void) { _exit(0); }
static void die_by_exec(void) { execlp("sleep", "sleep", "60", (char *)NULL); }

JTEST_P_NAMED(SegmentLife, ProcessLosesItsSlotHoweverItEnds, kind_t, kinds, kind_name) {
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    static const int signals[] = {SIGKILL, SIGTERM, 0};
    for (size_t i = 0; i < LEN(signals); ++i) {
        JSCOPED_TRACE("signal %d", signals[i]);
        PEER(peer) = peer_start(attach_and_take, die_by_exit, &sample);
        JASSERT_TRUE(peer.ready);
        JEXPECT_EQ(shm_life_of(&sample.backing, 5, 0), SHM_ALIVE);
        JEXPECT_FALSE(shm_life_take(&sample.backing, 5));
        JEXPECT_TRUE(shm_life_of_any(&sample.backing));
        if (signals[i] != 0)
            kill(peer.pid, signals[i]);
        peer_reap(&peer);
        JEXPECT_EQ(shm_life_of(&sample.backing, 5, 0), SHM_DEAD_PROCESS);
        JEXPECT_FALSE(shm_life_of_any(&sample.backing));
    }
}

JTEST(SegmentLife, StoppedProcessIsAlive) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    PEER(peer) = peer_start(attach_and_take, NULL, &sample);
    JASSERT_TRUE(peer.ready);
    kill(peer.pid, SIGSTOP);
    JEXPECT_EQ(waitpid(peer.pid, NULL, WUNTRACED), peer.pid);
    JEXPECT_EQ(shm_life_of(&sample.backing, 5, 0), SHM_ALIVE);
}

JTEST(SegmentLife, ProgramThatIsExecutedHasNoSlot) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    PEER(peer) = peer_start(attach_and_take, die_by_exec, &sample);
    JASSERT_TRUE(peer.ready);
    JEXPECT_EQ(shm_life_of(&sample.backing, 5, 0), SHM_ALIVE);
    peer_go(&peer);
    JEXPECT_TRUE(comes_to_be(&sample.backing, 5, 0, SHM_DEAD_PROCESS));
    JEXPECT_EQ(kill(peer.pid, 0), 0);
    JEXPECT_EQ(waitpid(peer.pid, NULL, WNOHANG), 0); /* it lives, as another program */
}

JTEST(SegmentLife, SlotStaysWhileAChildHasTheDescription) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    shm_constants_t c;
    ATTACHED(parents);
    JASSERT_OK(sample_attach(&sample, false, &c, &parents));
    JASSERT_TRUE(shm_life_take(&parents, 9));
    PEER(peer) = peer_start(NULL, NULL, NULL);
    JASSERT_TRUE(peer.ready);
    shm_backing_close(&parents);
    JEXPECT_EQ(shm_life_of(&sample.backing, 9, 0), SHM_ALIVE);
    peer_end(&peer);
    JEXPECT_EQ(shm_life_of(&sample.backing, 9, 0), SHM_DEAD_PROCESS);
}

static bool open_its_own(void *argument) {
    sample_t *sample = argument;
    shm_backing_t own = sample->backing;
    return shm_backing_reopen(&sample->backing, &own.descriptor) == JSTATUS_SUCCESS &&
           !shm_life_take(&own, 1) && shm_life_take(&own, 2) &&
           close(sample->backing.descriptor) == 0 && shm_life_of(&own, 1, 0) == SHM_ALIVE;
}
JTEST_P_NAMED(SegmentLife, ChildThatOpensItsOwnIsToldFromItsParent, kind_t, kinds, kind_name) {
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    JASSERT_TRUE(shm_life_take(&sample.backing, 1));
    PEER(peer) = peer_start(open_its_own, NULL, &sample);
    JASSERT_TRUE(peer.ready);
    JEXPECT_EQ(shm_life_of(&sample.backing, 2, 0), SHM_ALIVE);
    peer_end(&peer);
    JEXPECT_EQ(shm_life_of(&sample.backing, 2, 0), SHM_DEAD_PROCESS);
}

#ifndef __SANITIZE_THREAD__ /* which allows no fork of a process with several threads to go on */
#define RACE_FORKS 150
#define RACE_ATTACHES 100

static void *fork_and_stay(void *argument) {
    (void)argument;
    for (int i = 0; i < RACE_FORKS; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(PEER_LONGEST_S);
            stay(NULL);
        }
        if (child < 0)
            return NULL;
    }
    return NULL;
}
/* All end with the process group, which the first of them makes. */
static bool attach_while_forking(void *argument) {
    sample_t *sample = argument;
    pthread_t thread;
    if (setpgid(0, 0) != 0 || pthread_create(&thread, NULL, fork_and_stay, NULL) != 0)
        return false;
    jsegment_options_t options = *sample_options(sample);
    for (int i = 0; i < RACE_ATTACHES; ++i) {
        jsegment_t *segment;
        if (jsegment_attach(&options, &segment) != JSTATUS_SUCCESS)
            return false;
    }
    return pthread_join(thread, NULL) == 0;
}

JTEST(SegmentLife, ForkWhileAnotherThreadAttachesKeepsNoSlot) {
    SAMPLE(sample, JSEGMENT_POSIX);
    sample.options.size_bytes = JSEGMENT_MIN_BYTES;
    sample.options.max_processes = JSEGMENT_MAX_PROCESSES;
    jsegment_t *segment;
    JASSERT_OK(jsegment_create(sample_options(&sample), &segment));
    ATTACHED(backing);
    JEXPECT_OK(shm_backing_find(JSEGMENT_POSIX, sample.name, &backing));
    PEER(peer) = peer_start(attach_while_forking, NULL, &sample);
    JEXPECT_TRUE(peer.ready);
    const pid_t group = peer.pid;
    JEXPECT_EQ(shm_life_of(&backing, 1 + RACE_ATTACHES, 0), SHM_ALIVE);
    peer_end(&peer); /* its children live, and have the file open */
    for (unsigned slot = 2; slot <= JSEGMENT_MAX_PROCESSES; ++slot)
        JEXPECT_TRUE(comes_to_be(&backing, slot, 0, SHM_DEAD_PROCESS));
    JEXPECT_EQ(kill(-group, SIGKILL), 0);
    JEXPECT_OK(jsegment_destroy(segment));
}
#endif

/* ---- The gate ---- */

JTEST_P_NAMED(SegmentLife, GateLetsManyInOrOneAlone, kind_t, kinds, kind_name) {
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    shm_constants_t c;
    ATTACHED(second);
    ATTACHED(third);
    JASSERT_OK(sample_attach(&sample, false, &c, &second));
    JASSERT_OK(sample_attach(&sample, false, &c, &third));
    JEXPECT_TRUE(shm_gate_take(&sample.backing, false, 0));
    JEXPECT_TRUE(shm_gate_take(&second, false, 0));
    JEXPECT_FALSE(shm_life_of_any(&third)); /* the gate is no slot */
    const double before = jtest_now_ms();
    JEXPECT_FALSE(shm_gate_take(&third, true, 30));
    JEXPECT_GE(jtest_now_ms() - before, 30);
    shm_gate_release(&sample.backing);
    JEXPECT_FALSE(shm_gate_take(&third, true, 0));
    shm_backing_close(&second);
    JEXPECT_TRUE(shm_gate_take(&third, true, 0));
    JEXPECT_FALSE(shm_gate_take(&sample.backing, false, 1));
    shm_gate_release(&third);
    JEXPECT_TRUE(shm_gate_take(&sample.backing, false, 0));
}

static bool attach_and_block_the_gate(void *argument) {
    sample_t *sample = argument;
    static shm_backing_t backing;
    shm_constants_t c;
    return sample_attach(sample, false, &c, &backing) == JSTATUS_SUCCESS &&
           shm_gate_take(&backing, true, 0);
}
static void die_a_little_later(void) {
    jtest_sleep_ms(30);
    _exit(0);
}
JTEST(SegmentLife, GateOpensWhenItsHolderDies) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    PEER(peer) = peer_start(attach_and_block_the_gate, die_a_little_later, &sample);
    JASSERT_TRUE(peer.ready);
    JEXPECT_FALSE(shm_gate_take(&sample.backing, false, 0));
    peer_go(&peer);
    JEXPECT_TRUE(shm_gate_take(&sample.backing, false, 60000));
}

JTEST(SegmentLife, SegmentsWithoutAFileHaveNoLocks) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    JEXPECT_FALSE(shm_life_take(&sample.backing, 1));
    shm_life_release(&sample.backing, 1);
    JEXPECT_FALSE(shm_life_of_any(&sample.backing));
    JEXPECT_TRUE(shm_gate_take(&sample.backing, true, 0));
    JEXPECT_TRUE(shm_gate_take(&sample.backing, false, 0));
    shm_gate_release(&sample.backing);
}

/* ---- Claims ---- */

/* Where processes leave their claims for each other. */
static uint64_t *claim_of(const sample_t *sample) {
    return (uint64_t *)(sample->backing.base + (sample->constants.first_page << 12));
}
static bool leave_a_claim(void *argument) {
    const sample_t *sample = argument;
    *claim_of(sample) = shm_life_identity(&sample->backing, &sample->constants);
    return true;
}
static pid_t pid_of(uint64_t claim) { return (pid_t)(claim >> 32 & 0x7fffffff); }

JTEST(SegmentLife, ClaimLivesAsLongAsItsProcess) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    const shm_backing_t *backing = &sample.backing;
    JASSERT_TRUE(leave_a_claim(&sample));
    const uint64_t mine = *claim_of(&sample);
    JEXPECT_NE(mine, 0);
    JEXPECT_EQ(pid_of(mine), getpid());
    JEXPECT_EQ(shm_life_identity(backing, &sample.constants), mine);
    JEXPECT_EQ(shm_life_of(backing, 1, mine), SHM_ALIVE);
    JEXPECT_EQ(shm_life_of(backing, 1, 0), SHM_DEAD_PROCESS);

    PEER(peer) = peer_start(leave_a_claim, NULL, &sample);
    JASSERT_TRUE(peer.ready);
    const uint64_t claim = *claim_of(&sample);
    JEXPECT_NE(claim, mine);
    JEXPECT_EQ(pid_of(claim), peer.pid);
    JEXPECT_EQ(shm_life_of(backing, 1, claim), SHM_ALIVE);
    kill(peer.pid, SIGSTOP);
    JEXPECT_EQ(shm_life_of(backing, 1, claim), SHM_ALIVE);
    kill(peer.pid, SIGKILL);
    /* Its parent has not asked for its end: it is a zombie, which does nothing any more. */
    JEXPECT_TRUE(comes_to_be(backing, 1, claim, SHM_DEAD_PROCESS));
    JEXPECT_EQ(kill(peer.pid, 0), 0);
    peer_reap(&peer);
    JEXPECT_EQ(shm_life_of(backing, 1, claim), SHM_DEAD_PROCESS);
}

JTEST(SegmentLife, PidThatIsUsedAgainRevivesNobody) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    const uint64_t mine = shm_life_identity(&sample.backing, &sample.constants);
    for (int bit = 0; bit < 32; ++bit)
        JEXPECT_EQ(shm_life_of(&sample.backing, 1, mine ^ (uint64_t)1 << bit), SHM_DEAD_PROCESS);
    /* Pid 0 is nobody's. */
    JEXPECT_EQ(shm_life_of(&sample.backing, 1, mine & 0xffffffff), SHM_LIFE_UNKNOWN);
}

JTEST(SegmentLife, AnyBytesAsAClaimAreAnswered) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    for (int64_t i = jtest_iterations(500); i > 0; --i) {
        const uint64_t claim = jtest_random() >> jtest_random_between(0, 63);
        const shm_life_t life = shm_life_of(&sample.backing, 1, claim);
        JASSERT_TRUE(life == SHM_DEAD_PROCESS || life == SHM_LIFE_UNKNOWN);
    }
}

static bool leave_a_claim_and_a_thread(void *argument) {
    pthread_t thread;
    return leave_a_claim(argument) && pthread_create(&thread, NULL, stay, NULL) == 0;
}
/* Alone, and without unwinding GoogleTest's frames. */
static void end_the_first_thread(void) { syscall(SYS_exit, 0); }

JTEST(SegmentLife, ProcessWhoseFirstThreadHasEndedIsAlive) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    PEER(peer) = peer_start(leave_a_claim_and_a_thread, end_the_first_thread, &sample);
    JASSERT_TRUE(peer.ready);
    peer_go(&peer);
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)peer.pid);
    for (int i = 0; i < 20000 && strstr(text, ") Z ") == NULL; ++i) {
        jtest_sleep_ms(1);
        JASSERT_TRUE(shm_system_read(path, text, sizeof text));
    }
    JEXPECT_SUBSTR(text, ") Z ");
    JEXPECT_EQ(shm_life_of(&sample.backing, 1, *claim_of(&sample)), SHM_ALIVE);
    kill(peer.pid, SIGKILL);
    JEXPECT_TRUE(comes_to_be(&sample.backing, 1, *claim_of(&sample), SHM_DEAD_PROCESS));
}

static bool leave_a_claim_under_another_name(void *argument) {
    return prctl(PR_SET_NAME, ") Z 1 (a b) X") == 0 && leave_a_claim(argument);
}
JTEST(SegmentLife, NameOfAProcessMayBeAnything) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    PEER(peer) = peer_start(leave_a_claim_under_another_name, NULL, &sample);
    JASSERT_TRUE(peer.ready);
    JEXPECT_EQ(shm_life_of(&sample.backing, 1, *claim_of(&sample)), SHM_ALIVE);
}

static void ask_as_nobody(void *argument) {
    const sample_t *sample = argument;
    JEXPECT_EQ(setresuid(65534, 65534, 65534), 0);
    JEXPECT_NE(kill(pid_of(*claim_of(sample)), 0), 0);
    JEXPECT_EQ(shm_life_of(&sample->backing, 1, *claim_of(sample)), SHM_ALIVE);
    JEXPECT_EQ(shm_life_of(&sample->backing, 1, *claim_of(sample) ^ 1), SHM_DEAD_PROCESS);
}
JTEST(SegmentLife, ProcessOfAnotherUserIsSeen) {
    if (geteuid() != 0)
        JSKIP("only the superuser can be another one");
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    JASSERT_TRUE(leave_a_claim(&sample));
    jtest_in_child(20, ask_as_nobody, &sample);
}

static void ask_without_descriptors(void *argument) {
    sample_t *sample = argument;
    const uint64_t claim = *claim_of(sample);
    const struct rlimit none = {0, 0};
    JEXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    JEXPECT_EQ(shm_life_of(&sample->backing, 1, claim), SHM_LIFE_UNKNOWN);
    JEXPECT_EQ(shm_life_of(&sample->backing, 1, claim ^ 1), SHM_LIFE_UNKNOWN);
    /* A claim made now says that it cannot be judged. */
    JEXPECT_EQ(shm_life_identity(&sample->backing, &sample->constants) >> 63, 1);
    /* Nor is a sound segment stale because nobody can be asked. */
    JEXPECT_STATUS(shm_constants_check(&sample->constants), JSTATUS_MEMORY_ERROR);
    shm_constants_t c;
    JEXPECT_FALSE(shm_constants_make(&c, SAMPLE_BYTES, SAMPLE_BYTES, 64, true));
}
JTEST(SegmentLife, WhatCannotBeAskedIsNotDead) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    JASSERT_TRUE(leave_a_claim(&sample));
    jtest_in_child(20, ask_without_descriptors, &sample);
}

/* ---- Namespaces ---- */

JTEST(SegmentLife, NobodyIsDeadInAnotherNamespace) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    JEXPECT_NE(sample.backing.pid_namespace, 0);
    JEXPECT_EQ(sample.backing.pid_namespace, sample.constants.pid_namespace);
    JEXPECT_EQ(sample.backing.segment_pid_namespace, sample.constants.pid_namespace);
    const uint64_t mine = shm_life_identity(&sample.backing, &sample.constants);
    JEXPECT_EQ(mine >> 63, 0);
    const uint64_t gone = mine ^ 1;
    JEXPECT_EQ(shm_life_of(&sample.backing, 1, gone), SHM_DEAD_PROCESS);
    JEXPECT_EQ(shm_life_of(&sample.backing, 1, gone | (uint64_t)1 << 63), SHM_LIFE_UNKNOWN);
    static const uint64_t others[] = {0, 1};
    for (size_t i = 0; i < LEN(others); ++i) {
        sample.constants.pid_namespace = sample.backing.segment_pid_namespace = others[i];
        JEXPECT_EQ(shm_life_of(&sample.backing, 1, gone), SHM_LIFE_UNKNOWN);
        /* Nobody has claimed it. */
        JEXPECT_EQ(shm_life_of(&sample.backing, 1, 0), SHM_DEAD_PROCESS);
        JEXPECT_EQ(shm_life_identity(&sample.backing, &sample.constants) >> 63, 1);
    }
}

/* Runs a function in a new namespace, in a process that is in it. False: the system does not let
 * us. */
static bool run_in_namespace(int flags, const char *offsets, void (*run)(void *argument),
                             void *argument) {
    fflush(NULL);
    const pid_t outer = fork();
    if (outer == 0) {
        alarm(PEER_LONGEST_S);
        if (unshare(flags) != 0)
            _exit(77);
        if (offsets != NULL) {
            const int file = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
            if (file < 0 || write(file, offsets, strlen(offsets)) < 0)
                _exit(77);
            close(file);
        }
        const uint64_t before = jtest_failure_count();
        const pid_t inner = fork();
        if (inner == 0) {
            alarm(PEER_LONGEST_S);
            run(argument);
            fflush(NULL);
            _exit(jtest_failure_count() == before ? 0 : 1);
        }
        int result = 1;
        if (inner > 0)
            waitpid(inner, &result, 0);
        _exit(result == 0 ? 0 : 1);
    }
    int result = 1;
    waitpid(outer, &result, 0);
    if (WIFEXITED(result) && WEXITSTATUS(result) == 77)
        return false;
    JEXPECT_EQ(result, 0);
    return true;
}

/* The claim of the first process, which lives, and one of its pid that is dead there. */
static void look_from_elsewhere(const sample_t *sample) {
    const uint64_t claim = *claim_of(sample);
    JEXPECT_EQ(shm_life_of(&sample->backing, 1, claim), SHM_LIFE_UNKNOWN);
    JEXPECT_EQ(shm_life_of(&sample->backing, 1, claim ^ 1), SHM_LIFE_UNKNOWN);
    claim_of(sample)[1] = shm_life_identity(&sample->backing, &sample->constants);
    JEXPECT_EQ(claim_of(sample)[1] >> 63, 1);
}
static void look_with_the_old_proc(void *argument) {
    JEXPECT_EQ(shm_pid_namespace(), 0); /* whose numbers are other processes than this one's */
    look_from_elsewhere(argument);
    SAMPLE(own, JSEGMENT_ARRAY); /* not known on both sides is not the same */
    JASSERT_OK(sample_create(&own));
    JEXPECT_EQ(shm_life_identity(&own.backing, &own.constants) >> 63, 1);
}
static void look_with_a_new_proc(void *argument) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", 0, NULL) != 0)
        return;
    const sample_t *sample = argument;
    JEXPECT_NE(shm_pid_namespace(), 0);
    JEXPECT_NE(shm_pid_namespace(), sample->constants.pid_namespace);
    look_from_elsewhere(sample);
    /* A segment that is made here is one where pids are understood. */
    SAMPLE(own, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&own));
    const uint64_t mine = shm_life_identity(&own.backing, &own.constants);
    JEXPECT_EQ(pid_of(mine), 1);
    JEXPECT_EQ(mine >> 63, 0);
    JEXPECT_EQ(shm_life_of(&own.backing, 1, mine), SHM_ALIVE);
    JEXPECT_EQ(shm_life_of(&own.backing, 1, mine ^ 1), SHM_DEAD_PROCESS);
}
static void look_with_shifted_time(void *argument) {
    const sample_t *sample = argument;
    JEXPECT_EQ(shm_pid_namespace(), sample->constants.pid_namespace);
    look_from_elsewhere(sample);
}

JTEST(SegmentLife, ProcessesOfRealNamespacesAreNeverTakenForDead) {
    if (geteuid() != 0)
        JSKIP("only the superuser can make namespaces");
    SAMPLE(sample, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&sample));
    static const struct {
        int flags;
        const char *offsets;
        void (*look)(void *argument);
    } cases[] = {{CLONE_NEWPID, NULL, look_with_the_old_proc},
                 {CLONE_NEWPID | CLONE_NEWNS, NULL, look_with_a_new_proc},
                 {CLONE_NEWTIME, "boottime 1000 0\n", look_with_shifted_time}};
    unsigned run = 0;
    for (size_t i = 0; i < LEN(cases); ++i) {
        JSCOPED_TRACE("case %zu", i);
        JASSERT_TRUE(leave_a_claim(&sample));
        claim_of(&sample)[1] = 0;
        if (!run_in_namespace(cases[i].flags, cases[i].offsets, cases[i].look, &sample))
            continue;
        if (claim_of(&sample)[1] == 0)
            continue; /* /proc could not be mounted there, as below a chroot */
        ++run;
        /* Back here, the claim that was made there cannot be judged either, though its process is
         * gone. */
        JEXPECT_NE(claim_of(&sample)[1], 0);
        JEXPECT_EQ(shm_life_of(&sample.backing, 1, claim_of(&sample)[1]), SHM_LIFE_UNKNOWN);
    }
    if (run == 0)
        JSKIP("the system makes no namespaces");
}

static void take_from_elsewhere(void *argument) {
    sample_t *sample = argument;
    shm_constants_t c;
    shm_backing_t backing;
    JASSERT_OK(sample_attach(sample, false, &c, &backing));
    JEXPECT_FALSE(shm_life_take(&backing, 1));
    JEXPECT_EQ(shm_life_of(&backing, 1, 0), SHM_ALIVE);
    JEXPECT_TRUE(shm_life_take(&backing, 2));
    JEXPECT_EQ(shm_life_of(&sample->backing, 2, 0), SHM_ALIVE);
}
JTEST(SegmentLife, LocksAreSeenAcrossNamespaces) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    JASSERT_TRUE(shm_life_take(&sample.backing, 1));
    if (!run_in_namespace(CLONE_NEWPID, NULL, take_from_elsewhere, &sample))
        JSKIP("the system makes no pid namespace");
    JEXPECT_EQ(shm_life_of(&sample.backing, 2, 0), SHM_DEAD_PROCESS);
}
