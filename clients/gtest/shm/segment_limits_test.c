/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A limit of the system below a segment is a status: descriptors, sizes of files, address space,
 * and file systems that are full, cannot reserve, or have no /proc. */

#include "segment_backing_helper.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/time.h>

/* ---- Limits of the system ---- */

static void without_descriptors(void *argument) {
    const backing_kind_t *kind = argument;
    struct rlimit limit;
    JASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    bool created = false, attached = false;
    for (rlim_t count = 0; count < 40 && !attached; ++count) {
        SAMPLE(sample, kind->backend);
        shm_constants_t c;
        ATTACHED(other);
        JASSERT_TRUE(
            shm_constants_make(&sample.constants, SAMPLE_BYTES, SAMPLE_BYTES, SAMPLE_SLOTS, true));
        const struct rlimit low = {count, limit.rlim_max};
        JASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
        jstatus_t status = shm_backing_create(sample_options(&sample), &sample.constants,
                                              SAMPLE_BYTES, &sample.backing);
        if (status == JSTATUS_SUCCESS) {
            created = true;
            memcpy(sample.backing.base, &sample.constants, sizeof sample.constants);
            JEXPECT_OK(shm_backing_publish(&sample.backing));
            status = sample_attach(&sample, false, &c, &other);
            attached = status == JSTATUS_SUCCESS;
        }
        JEXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        if (!attached)
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
        if (!created)
            JEXPECT_EQ(sample_file_count(&sample), 0);
    }
    JEXPECT_TRUE(attached);
}

JTEST_P_NAMED(SegmentBacking, LackOfDescriptorsIsAStatus, backing_kind_t, file_kinds,
              backing_kind_name) {
    backing_kind_t kind = *param;
    const resources_t before = resources_now();
    jtest_in_child(20, without_descriptors, &kind);
    kind.without = SHM_WITHOUT_TMPFILE;
    shm_backing_without = kind.without;
    jtest_in_child(20, without_descriptors, &kind);
    shm_backing_without = 0;
    resources_check(&before);
}

static volatile sig_atomic_t signals_seen;
static void see_signal(int number) { signals_seen += number == SIGXFSZ || number == SIGALRM; }

static void under_a_file_limit(void *argument) {
    const backing_kind_t *kind = argument;
    shm_backing_without = kind->without;
    SAMPLE(sample, kind->backend);
    SAMPLE(larger, kind->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    const struct rlimit limit = {SAMPLE_BYTES + 8192, SAMPLE_BYTES + 8192};
    JASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    larger.options.size_bytes = 2 * SAMPLE_BYTES;
    const bool handled = kind->name[0] == 'h';
    signal(SIGXFSZ, handled ? see_signal : SIG_DFL); /* the default is death */
    sigset_t before, after, pending;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    JEXPECT_STATUS(sample_create(&larger), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(sample_file_count(&larger), 0);
    const shm_constants_t *c = &sample.constants;
    jtest_fail_calls("sigtimedwait", 1, 2, EINTR); /* the signal is still to be taken away */
    JEXPECT_STATUS(shm_backing_extend(&sample.backing, c, SAMPLE_BYTES, 2 * SAMPLE_BYTES),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), strerror(EFBIG));
    JEXPECT_TRUE(jtest_calls_failed());
    /* What is left. */
    JEXPECT_OK(shm_backing_extend(&sample.backing, c, SAMPLE_BYTES, SAMPLE_BYTES + 8192));
    sample.backing.base[SAMPLE_BYTES + 8191] = 1;
    JEXPECT_EQ(signals_seen, 0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < 64; ++number)
        JEXPECT_EQ(sigismember(&before, number), sigismember(&after, number));

    /* One that was there before is not taken away. */
    sigset_t too_large;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, NULL);
    raise(SIGXFSZ);
    JEXPECT_STATUS(shm_backing_extend(&sample.backing, c, SAMPLE_BYTES, 2 * SAMPLE_BYTES),
                   JSTATUS_MEMORY_ERROR);
    sigpending(&pending);
    JEXPECT_EQ(sigismember(&pending, SIGXFSZ), 1);
    signal(SIGXFSZ, SIG_IGN);
}

static const backing_kind_t limit_kinds[] = {
    {"default_memfd", JSEGMENT_MEMFD, 0},
    {"handled_memfd", JSEGMENT_MEMFD, 0},
    {"handled_memfd_written", JSEGMENT_MEMFD, SHM_WITHOUT_FALLOCATE},
    {"default_posix", JSEGMENT_POSIX, 0},
    {"default_posix_written", JSEGMENT_POSIX, SHM_WITHOUT_TMPFILE | SHM_WITHOUT_FALLOCATE},
    {"handled_file", JSEGMENT_FILE, 0},
    {"default_file_written", JSEGMENT_FILE, SHM_WITHOUT_FALLOCATE},
};
JTEST_P_NAMED(SegmentBacking, LimitOnFilesIsAStatusAndNoSignal, backing_kind_t, limit_kinds,
              backing_kind_name) {
    backing_kind_t kind = *param;
    jtest_in_child(30, under_a_file_limit, &kind);
}

#if !defined __SANITIZE_ADDRESS__ &&                                                               \
    !defined __SANITIZE_THREAD__ /* whose shadows are beyond any such limit */
static void under_an_address_limit(void *argument) {
    const backing_kind_t *kind = argument;
    struct rlimit limit = {resources_now().address_bytes, RLIM_INFINITY};
    /* Room for the mapping and a little more: no slack to align it by 2^30. */
    limit.rlim_cur += SAMPLE_MAX_BYTES + ((size_t)16 << 20);
    SAMPLE(sample, kind->backend);
    JASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    JASSERT_OK(sample_create_and_publish(&sample));
    JEXPECT_GE(sample.backing.alignment, (size_t)1 << 21);
    JEXPECT_EQ((uintptr_t)sample.backing.base % sample.backing.alignment, 0);
    JEXPECT_EQ(sample.backing.base[SAMPLE_BYTES - 1], 0);
    if (kind->backend != JSEGMENT_PRIVATE) {
        shm_constants_t c;
        shm_backing_t attached;
        JEXPECT_STATUS(sample_attach(&sample, false, &c, &attached), JSTATUS_MEMORY_ERROR);
    }
    SAMPLE(second, kind->backend);
    JEXPECT_STATUS(sample_create(&second), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(sample_file_count(&second), 0);
}

static const backing_kind_t mapped_kinds[] = {{"private", JSEGMENT_PRIVATE, 0},
                                              {"memfd", JSEGMENT_MEMFD, 0},
                                              {"posix", JSEGMENT_POSIX, 0},
                                              {"file", JSEGMENT_FILE, 0}};
JTEST_P_NAMED(SegmentBacking, NarrowAddressSpaceCostsAlignmentThenAStatus, backing_kind_t,
              mapped_kinds, backing_kind_name) {
    backing_kind_t kind = *param;
    jtest_in_child(20, under_an_address_limit, &kind);
}
#endif

JTEST(SegmentBacking, ReservingEndsUnderATimerThatNeverDoes) {
    struct sigaction see = {.sa_handler = see_signal}, before;
    sigaction(SIGALRM, &see, &before);
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create(&sample));
    setitimer(ITIMER_REAL, &often, NULL);
    const jstatus_t status = shm_backing_extend(&sample.backing, &sample.constants, SAMPLE_BYTES,
                                                SAMPLE_BYTES + ((size_t)192 << 20));
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    JEXPECT_OK(status);
    JEXPECT_GT(signals_seen, 0);
    signals_seen = 0;
}

/* ---- File systems of their own, which only the superuser can mount ---- */

typedef struct mounted {
    const char *type, *data;
    unsigned without;
    void (*run)(const char *directory);
    const char *directory;
    bool refused;
} mounted_t;

static void in_a_mount_namespace(void *argument) {
    mounted_t *mounted = argument;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        (mounted->type != NULL &&
         mount("test", mounted->directory, mounted->type, 0, mounted->data) != 0)) {
        fprintf(stderr, "no mount namespace: %s\n", strerror(errno));
        return;
    }
    shm_backing_without = mounted->without;
    mounted->run(mounted->directory);
    if (mounted->type != NULL)
        umount2(mounted->directory, MNT_DETACH);
}

static void run_mounted(mounted_t mounted) {
    char directory[64];
    snprintf(directory, sizeof directory, "/tmp/jalloc-mount-%ld-XXXXXX", (long)getpid());
    mounted.directory = mkdtemp(directory);
    JASSERT_NOT_NULL(mounted.directory);
    jtest_in_child(60, in_a_mount_namespace, &mounted);
    JEXPECT_EQ(rmdir(directory), 0);
}

static void fill_a_small_one(const char *directory) {
    SAMPLE(sample, JSEGMENT_FILE);
    SAMPLE(larger, JSEGMENT_FILE);
    snprintf(sample.name, sizeof sample.name, "%s/a", directory);
    snprintf(larger.name, sizeof larger.name, "%s/b", directory);
    snprintf(sample.path, sizeof sample.path, "%s", sample.name);
    snprintf(larger.path, sizeof larger.path, "%s", larger.name);
    /* 4 of them are the hole in the page table, and there are 6 */
    larger.options.size_bytes = (size_t)12 << 20;
    JEXPECT_STATUS(sample_create(&larger), JSTATUS_MEMORY_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), strerror(ENOSPC));
    JEXPECT_EQ(directory_count(directory, ""), 2); /* . and .. */
    larger.options.size_bytes = SAMPLE_BYTES;

    JASSERT_OK(sample_create_and_publish(&sample));
    const shm_constants_t *c = &sample.constants;
    JEXPECT_STATUS(sample_create(&larger), JSTATUS_MEMORY_ERROR);
    char *base = sample.backing.base;
    char *const words_end = base + c->table_offset + (SAMPLE_BYTES >> 12) * sizeof(shm_page_t);
    words_end[-1] = base[SAMPLE_BYTES - 1] = 5;
    const uint64_t before = bytes_set_aside(&sample.backing);
    JEXPECT_STATUS(shm_backing_extend(&sample.backing, c, SAMPLE_BYTES, 2 * SAMPLE_BYTES),
                   JSTATUS_MEMORY_ERROR);
    /* The others have the space again, what there was is as good as before, and a smaller step
     * still goes. */
    JEXPECT_LE(bytes_set_aside(&sample.backing), before + 65536); /* whole pages of the table */
    JEXPECT_EQ(words_end[-1], 5);
    JEXPECT_EQ(base[SAMPLE_BYTES - 1], 5);
    memset(base + (c->first_page << 12), 1, SAMPLE_BYTES - (c->first_page << 12));
    JEXPECT_OK(shm_backing_extend(&sample.backing, c, SAMPLE_BYTES, SAMPLE_BYTES + 65536));
    memset(base + SAMPLE_BYTES, 1, 65536);
    ATTACHED(attached);
    shm_constants_t copy;
    JEXPECT_OK(sample_attach(&sample, false, &copy, &attached));
}

static void use_an_ordinary_one(const char *directory) {
    SAMPLE(sample, JSEGMENT_FILE);
    snprintf(sample.name, sizeof sample.name, "%s/a", directory);
    snprintf(sample.path, sizeof sample.path, "%s", sample.name);
    JASSERT_OK(sample_create_and_publish(&sample));
    JEXPECT_OK(
        shm_backing_extend(&sample.backing, &sample.constants, SAMPLE_BYTES, 2 * SAMPLE_BYTES));
    sample.backing.base[2 * SAMPLE_BYTES - 1] = 1;
    ATTACHED(attached);
    shm_constants_t copy;
    JEXPECT_OK(sample_attach(&sample, false, &copy, &attached));
    JEXPECT_EQ(directory_count(directory, ""), 3);
    JEXPECT_OK(shm_backing_unlink(&attached));
    JEXPECT_EQ(directory_count(directory, ""), 2);
}

static void without_proc(const char *directory) {
    (void)directory;
    if (umount2("/proc", MNT_DETACH) != 0 || access("/proc/self", F_OK) == 0) {
        fprintf(stderr, "/proc stays: %s\n", strerror(errno));
        return;
    }
    JEXPECT_EQ(shm_pid_namespace(), 0);
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create(&sample));
    JEXPECT_STREQ(sample.constants.boot_id, "");
    JEXPECT_NOT_NULL(sample.backing.temporary); /* one without a name could not be given one */
    JASSERT_OK(shm_backing_publish(&sample.backing));
    ATTACHED(attached);
    shm_constants_t c;
    JEXPECT_OK(sample_attach(&sample, false, &c, &attached));
    int descriptor;
    JEXPECT_STATUS(shm_backing_reopen(&sample.backing, &descriptor), JSTATUS_NOT_IMPLEMENTED);
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    options.descriptor = sample.backing.descriptor;
    shm_backing_t other;
    JEXPECT_STATUS(shm_backing_attach(&options, &c, &other), JSTATUS_NOT_IMPLEMENTED);

    SAMPLE(array, JSEGMENT_ARRAY);
    JASSERT_OK(sample_create(&array));
    const uint64_t claim = shm_life_identity(&array.backing, &array.constants);
    JEXPECT_NE(claim, 0);
    JEXPECT_EQ(shm_life_of(&array.backing, 1, claim), SHM_LIFE_UNKNOWN);
}

JTEST(SegmentBacking, FullDiskIsAStatus) {
    if (geteuid() != 0)
        JSKIP("only the superuser can mount");
    for (unsigned without = 0; without < 4; ++without)
        run_mounted((mounted_t){
            .type = "tmpfs", .data = "size=6m", .run = fill_a_small_one, .without = without});
}

JTEST(SegmentBacking, FileSystemThatCannotReserveIsWrittenTo) {
    if (geteuid() != 0)
        JSKIP("only the superuser can mount");
    run_mounted((mounted_t){.type = "ramfs", .run = use_an_ordinary_one});
    run_mounted((mounted_t){.type = "tmpfs", .data = "size=64m", .run = use_an_ordinary_one});
}

JTEST(SegmentBacking, NamedSegmentsWorkWithoutProc) {
    if (geteuid() != 0)
        JSKIP("only the superuser can unmount");
    run_mounted((mounted_t){.run = without_proc});
}
