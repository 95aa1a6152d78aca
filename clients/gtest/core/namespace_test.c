/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The shared library beside itself: a copy in each namespace of the loader, as plug-ins get them.
 * Each copy's variables per thread must fit into what the loader keeps free for whatever comes
 * while the program runs. */
#include "jtest.h"

#include "jalloc/version.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined __SANITIZE_ADDRESS__ &&                                                               \
    !defined __SANITIZE_THREAD__ /* whose runtimes are in one namespace */
enum { COPIES = 5 };

/* The copies that load, in a process of their own. */
static int load_copies(void) {
    int count = 0;
    for (; count < COPIES; ++count) {
        void *library = dlmopen(LM_ID_NEWLM, JALLOC_SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "copy %d: %s\n", count + 1, dlerror());
            break;
        }
        if (dlsym(library, "jallocator_create_malloc") == NULL)
            break;
    }
    return count;
}

JTEST(Namespace, CopiesOfTheLibraryLoad) {
    const pid_t child = fork();
    if (child == 0)
        _exit(load_copies());
    int status = 0;
    JASSERT_EQ(waitpid(child, &status, 0), child);
    JASSERT_TRUE(WIFEXITED(status));
    JEXPECT_EQ(WEXITSTATUS(status), COPIES);
}
#endif
