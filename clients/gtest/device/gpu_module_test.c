/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Device modules as libjalloc finds and loads them: the real ones of this build, up to the answer
 * of a machine without a GPU, and some that are none. A module stays loaded, so each test asks in a
 * process of its own. */

#include "jtest.h"

#include "buffer/buffer.h"
#include "core/core.h"
#include "device/device.h"
#include "device/module.h"
#include "jalloc/handle.h"
#include "jalloc/log.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* JALLOC_MODULE_DIR: where the build puts its modules. JALLOC_TEST_MODULE_DIR: see
 * module/forking_module.c. */

typedef struct real {
    const char *kind, *file, *error; /* the runtime's errors begin so */
} real_t;
static const real_t reals[] = {
    {"cuda:0", JALLOC_MODULE_DIR "/" JI_MODULE_FILE("cuda"), "(cudaError"},
    {"hip:0", JALLOC_MODULE_DIR "/" JI_MODULE_FILE("hip"), "(hipError"}};

static void name_of_real(const void *parameter, char *name) {
    snprintf(name, 5, "%.*s", (int)strcspn(((const real_t *)parameter)->kind, ":"),
             ((const real_t *)parameter)->kind);
}

#define REQUIRE_BUILT(real)                                                                        \
    if (access((real)->file, R_OK) != 0)                                                           \
    JSKIP("the module was not built")

static void ask_real(void *argument) {
    const real_t *real = argument;
    jdevice_t *device = NULL;
    int count = 0;
    const jstatus_t status = jdevice_get(real->kind, &device);
    if (status == JSTATUS_SUCCESS) { /* a machine with a GPU */
        jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
        JEXPECT_STREQ(jdevice_name(device), real->kind);
        JEXPECT_OK(jdevice_get_properties(device, &properties));
        JEXPECT_OK(jdevice_get_count(jdevice_kind(device), &count));
        JEXPECT_GE(count, 1);
        return;
    }
    JEXPECT_STATUS(status, JSTATUS_NO_DEVICE);
    JEXPECT_NULL(device);
    JEXPECT_NULL(strstr(jstatus_last_message(), "no module")); /* it was loaded, and asked */
    JEXPECT_SUBSTR(jstatus_last_message(), real->kind);
    JEXPECT_SUBSTR(jstatus_last_message(), real->error);
    JEXPECT_STATUS(
        jdevice_get_count(strncmp(real->kind, "hip", 3) == 0 ? JDEVICE_HIP : JDEVICE_CUDA, &count),
        JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), real->error);
}

JTEST_P_NAMED(Module, ARealOneAnswersWithTheDriversWordsWhereThereIsNoGpu, real_t, reals,
              name_of_real) {
    REQUIRE_BUILT(param);
    jtest_setenv("JALLOC_MODULE_PATH", JALLOC_MODULE_DIR);
    jtest_in_child(60, ask_real, (void *)(uintptr_t)param);
}

static void ask_with_another_interface(void *argument) {
    const real_t *real = argument;
    ji_module_open_t open = NULL;
    jdevice_t *device = NULL;
    char reason[256] = "";
    void *library = dlopen(real->file, RTLD_NOW | RTLD_LOCAL),
         *symbol = library ? dlsym(library, JI_MODULE_OPEN) : NULL;
    JASSERT_NOT_NULL(symbol);
    memcpy(&open, &symbol, sizeof open);
    /* Nothing of another interface is looked at, so it may be anything. */
    JEXPECT_STATUS(open(JI_MODULE_ABI + 1, NULL, 0, &device, reason, sizeof reason),
                   JSTATUS_NO_DEVICE);
    JEXPECT_NULL(device);
    JEXPECT_SUBSTR(reason, "another version of libjalloc");
}

JTEST_P_NAMED(Module, ARealOneRefusesAnotherInterface, real_t, reals, name_of_real) {
    REQUIRE_BUILT(param);
    jtest_in_child(60, ask_with_another_interface, (void *)(uintptr_t)param);
}

/* The program of a user, which is linked with the shared library, and is told nothing. */
JTEST(Module, IsFoundBesideLibjallocWithoutBeingTold) {
    char program[4096], output[16384];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 16);
    JASSERT_GT(length, 0);
    program[length] = '\0';
    strcpy(strrchr(program, '/') + 1, "jalloc-info");
    if (access(program, X_OK) != 0 || access(reals[0].file, R_OK) != 0 ||
        access(reals[1].file, R_OK) != 0)
        JSKIP("jalloc-info or a module was not built");
    const char *const arguments[] = {program, NULL}, *const environment[] = {"JALLOC_MODULE_PATH=",
                                                                             NULL};
    JEXPECT_EQ(jtest_run_program(arguments, environment, output, sizeof output), 0);
    JEXPECT_SUBSTR(output, "cuda:0");
    JEXPECT_SUBSTR(output, "hip:0");
    JEXPECT_NULL(strstr(output, "no module"));
}

static void ask_for_the_modules_folder(void *argument) {
    (void)argument;
    JEXPECT_EQ(chdir(JALLOC_MODULE_DIR), 0);
    for (int i = 0; i < 2; ++i) {
        JEXPECT_STATUS(jdevice_get(reals[i].kind, &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
        JEXPECT_SUBSTR(jstatus_last_message(), "no module");
    }
}

/* This program has libjalloc inside, so its own folder is where a module would be. */
JTEST(Module, IsNeitherLookedForInTheWorkingDirectoryNorInTheLoadersPath) {
    jtest_setenv("JALLOC_MODULE_PATH", NULL);
    jtest_setenv("LD_LIBRARY_PATH", JALLOC_MODULE_DIR);
    jtest_in_child(60, ask_for_the_modules_folder, NULL);
}

/* A folder with another library by the module's name. */
JTEST(Module, ALibraryThatIsNoModuleIsNoDevice) {
    char folder[] = "/tmp/jalloc-module-XXXXXX", path[256];
    struct link_map *map = NULL;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    JASSERT_NOT_NULL(library);
    JASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    JASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, JI_MODULE_FILE("cuda"));
    JASSERT_EQ(symlink(map->l_name, path), 0);
    jtest_setenv("JALLOC_MODULE_PATH", folder);
    JEXPECT_STATUS(jdevice_get("cuda:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), "not a module of jalloc");
    unlink(path);
    rmdir(folder);
    dlclose(library);
}

static void ask_the_odd_module(void *argument) {
    (void)argument;
    jdevice_t *device = jdevice_host();
    int count = -1;
    JEXPECT_OK(jdevice_get_count(JDEVICE_CUDA, &count));
    JEXPECT_EQ(count, 64); /* it would go on for ever */
    JEXPECT_STATUS(jdevice_get("cuda:0", &device), JSTATUS_MEMORY_ERROR);
    /* The status's words, for want of the module's. */
    JEXPECT_STREQ(jstatus_last_message(), "cuda:0: memory could not be allocated or is too small");
    JEXPECT_STATUS(jdevice_get("cuda:1", &device), JSTATUS_INTERNAL_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "cuda:1: ");
    JEXPECT_EQ(device, jdevice_host());
    jruntime_t *runtime = NULL;
    JASSERT_OK(jruntime_create(&runtime)); /* sees no more than can be opened */
    JEXPECT_EQ(runtime->info.devices, 1);
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Module, AnOddOneIsCountedToTheLimitAndOpensNothing) {
    jtest_setenv("JALLOC_MODULE_PATH", JALLOC_TEST_MODULE_DIR "/odd");
    jtest_in_child(20, ask_the_odd_module, NULL);
}

static void look_at_a_crowd(void *argument) {
    (void)argument;
    jruntime_t *runtime = NULL;
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    jruntime_device_t device = JRUNTIME_DEVICE_INIT;
    JASSERT_OK(jruntime_create(&runtime));
    JEXPECT_OK(jruntime_get_info(runtime, &info));
    JEXPECT_EQ(info.devices, 64); /* with the host; the last one is left out */
    for (int i = 1; i < 64; ++i) {
        JASSERT_OK(jruntime_get_device(runtime, i, &device));
        JEXPECT_EQ(jdevice_index(device.device), i - 1);
        /* It does not say: nothing is put there. */
        JEXPECT_EQ(device.available_bytes, i == 1 ? 0 : 1);
        JEXPECT_EQ(device.total_bytes, i == 1 ? 0 : 2);
    }
    JEXPECT_SUBSTR(jtest_log_text(), "does not tell its memory");
    JEXPECT_STATUS(jruntime_refresh(runtime), JSTATUS_DEVICE_ERROR);
    JEXPECT_OK(jruntime_release(runtime));
}

JTEST(Module, ACrowdOfDevicesIsListedToTheLimit) {
    jtest_setenv("JALLOC_MODULE_PATH", JALLOC_TEST_MODULE_DIR "/crowd");
    jtest_in_child(20, look_at_a_crowd, NULL);
}

/* libjalloc, loaded by another path than its own, looks for a module where it lies, if it can tell
 * where that is. */
static void ask_the_shared_library(void *argument) {
    const char *expected = argument, *slash = strrchr(JALLOC_SHARED_LIBRARY, '/');
    char path[4096];
    jstatus_t (*get)(const char *name, jdevice_t **device) = NULL;
    const char *(*message)(void) = NULL;
    snprintf(path, sizeof path, "%.*s", (int)(slash - JALLOC_SHARED_LIBRARY),
             JALLOC_SHARED_LIBRARY);
    JASSERT_EQ(chdir(path), 0);
    snprintf(path, sizeof path, expected[0] == 'c' ? ".%s" : "%s",
             expected[0] == 'c' ? slash : JALLOC_SHARED_LIBRARY);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    JASSERT_NOT_NULL(library);
    void *symbols[] = {dlsym(library, "jdevice_get"), dlsym(library, "jstatus_last_message")};
    memcpy(&get, &symbols[0], sizeof get);
    memcpy(&message, &symbols[1], sizeof message);
    jstatus_t status = get("hip:0", &(jdevice_t *){NULL});
    if (expected[0] == 'n' && access(JI_MODULE_FILE("hip"), F_OK) == 0) { /* built too, and found */
        JEXPECT_NULL(strstr(message(), expected));
    } else {
        JEXPECT_STATUS(status, JSTATUS_NO_DEVICE);
        JEXPECT_SUBSTR(message(), expected);
    }
    dlclose(library);
}

JTEST(Module, IsLookedForBesideTheSharedLibrary) {
    jtest_setenv("JALLOC_MODULE_PATH", NULL);
    jtest_in_child(60, ask_the_shared_library, "no module libjalloc_hip");
    /* A path relative to then. */
    jtest_in_child(60, ask_the_shared_library, "cannot tell where libjalloc lies");
}

static void ask_without_a_place(void *function) {
    jtest_fail_calls(function, 1, 1, 0);
    JEXPECT_STATUS(jdevice_get("cuda:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_SUBSTR(jstatus_last_message(), "cannot tell where libjalloc lies");
}

JTEST(Module, IsNotLookedForWhereLibjallocCannotTellItsFolder) {
    jtest_setenv("JALLOC_MODULE_PATH", NULL);
    jtest_in_child(20, ask_without_a_place, "dl_iterate_phdr");
    jtest_in_child(20, ask_without_a_place, "readlink");
}

static void ask_the_forking_module(void *argument) {
    (void)argument;
    for (int i = 0; i < 3; ++i) {
        JEXPECT_STATUS(jdevice_get("hip:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
        JEXPECT_SUBSTR(jstatus_last_message(), "the child ended with 7");
    }
}

/* A fork waits for the registry's lock, which the thread that starts a driver holds itself. */
JTEST(Module, ADriverThatForksWhileItIsStartedDoesNotWaitForItself) {
    jtest_setenv("JALLOC_MODULE_PATH", JALLOC_TEST_MODULE_DIR "/forking");
    jtest_in_child(20, ask_the_forking_module, NULL);
}

#define FORKS 50

static void *fork_often(void *argument) {
    int *good = argument;
    for (int i = 0; i < FORKS; ++i) {
        int result = -1;
        const pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        *good += pid > 0 && waitpid(pid, &result, 0) == pid && result == 0;
    }
    return NULL;
}

JTEST_ONLY_WITH("JALLOC_TEST_KEEP", ModuleChild, ForksInsideAndOutside) {
    pthread_t thread;
    jhandle_t *handle = NULL;
    int good = 0;
    alarm(60); /* where one waits for the other, that ends it */
    /* The registry is the first to learn of forks. */
    (void)jdevice_get("hip:0", &(jdevice_t *){NULL});
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jlog_set_sink(NULL, NULL));
    JASSERT_EQ(pthread_create(&thread, NULL, fork_often, &good), 0);
    for (int i = 0; i < FORKS; ++i)
        JEXPECT_STATUS(jdevice_get("hip:0", &(jdevice_t *){NULL}), JSTATUS_NO_DEVICE);
    pthread_join(thread, NULL);
    JEXPECT_EQ(good, FORKS);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Both take all locks of the library; in whatever order it came to have them, neither waits for the
 * other. In a process of its own: the thread sanitizer takes a thread of a forked child for one of
 * its parent's, whose stack it has. */
JTEST(Module, AForkWithinADriverAndOneBesideItDoNotWaitForEachOther) {
    static char output[16384];
    const char *const environment[] = {
        "JALLOC_TEST_KEEP=1", "JALLOC_MODULE_PATH=" JALLOC_TEST_MODULE_DIR "/forking", NULL};
    JEXPECT_EQ(
        jtest_run_self("ModuleChild.ForksInsideAndOutside", environment, output, sizeof output), 0);
    JEXPECT_SUBSTR(output, "1 test");
    if (jtest_has_failure())
        fputs(output, stderr);
}
