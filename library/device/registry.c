/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* From a name to a device.
 *
 * The host is part of the library. A GPU is behind a module (module.h), so that one build of jalloc
 * serves machines with and without a GPU, and a program that never asks for one never loads a
 * vendor's runtime. A failure is not remembered: asking again after the cause is gone succeeds.
 * When there is no device, the message is what the user needs to read: it says which file was
 * looked for, where, and what the loader answered.
 *
 * A fork waits until nobody is inside, so a child finds the mutex free. But for the forking thread
 * itself: a driver that is being started may fork, to run a program that loads its kernel
 * module. */

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "device/module.h"

#define REGISTRY_DEVICES 64 /* of one kind */

/* One for each kind of GPU; under the mutex. */
typedef struct registry_module {
    const char *file, *option; /* of the build, that makes it */
    ji_module_open_t open;     /* NULL: not loaded */
    ji_module_services_t services;
    jdevice_t *devices[REGISTRY_DEVICES];
} registry_module_t;

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool registry_held; /* by this thread */
static registry_module_t registry_modules[] = {
    [JDEVICE_CUDA] = {.file = JI_MODULE_FILE("cuda"), .option = "JALLOC_CUDA"},
    [JDEVICE_HIP] = {.file = JI_MODULE_FILE("hip"), .option = "JALLOC_HIP"},
};

static void registry_before_fork(void) {
    if (!registry_held)
        pthread_mutex_lock(&registry_mutex);
}
static void registry_after_fork(void) {
    if (!registry_held)
        pthread_mutex_unlock(&registry_mutex);
}
static void registry_watch_forks(void) {
    static const ji_fork_handlers_t handlers = {registry_before_fork, registry_after_fork,
                                                registry_after_fork};
    ji_fork_hold(JI_FORK_REGISTRY, &handlers);
}

static void registry_lock(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, registry_watch_forks);
    pthread_mutex_lock(&registry_mutex);
    registry_held = true;
}
static void registry_unlock(void) {
    registry_held = false;
    pthread_mutex_unlock(&registry_mutex);
}

/* What an address is looked for among: the program, which is visited first, and its libraries. */
typedef struct registry_search {
    uintptr_t address;
    int visited;      /* before the one that has it */
    const char *name; /* of that one, as the loader has it */
} registry_search_t;

static int registry_visit_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    registry_search_t *search = context;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            search->address - begin < info->dlpi_phdr[i].p_memsz) {
            search->name = info->dlpi_name;
            return 1;
        }
    }

    ++search->visited;
    return 0;
}

/* The directory of the file that this code was loaded from; false where it cannot be told without
 * the working directory. */
static bool registry_own_directory(char path[PATH_MAX]) {
    registry_search_t search = {.address = (uintptr_t)registry_modules};
    if (dl_iterate_phdr(registry_visit_object, &search) == 0)
        return false;

    if (search.visited == 0) { /* linked into the program itself, whose name may be any */
        ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
        if (length <= 0)
            return false;
        path[length] = '\0';
    } else {
        snprintf(path, PATH_MAX, "%s", search.name); /* it was opened, so it fits */
    }

    if (path[0] != '/')
        return false;
    *strrchr(path, '/') = '\0';
    return true;
}

/* The loader begins with what it could not load: the module, whose path is said already, or what
 * the module needs. */
static jstatus_t registry_refuse_load(const char *file, const char *name) {
    const char *error = dlerror(), *remedy = "";
    const size_t length = strlen(file);
    if (error == NULL)
        error = "the loader does not say why";

    if (strncmp(error, file, length) == 0 && error[length] == ':')
        error += length + 1 + strspn(error + length + 1, " ");
    else
        remedy = "; install what it needs where the loader looks (ldconfig, LD_LIBRARY_PATH)";
    return ji_fail(JSTATUS_NO_DEVICE, "%s: %.200s cannot be loaded: %.180s%s", name, file, error,
                   remedy);
}

/* Loads the module's file, and finds in it the one function that it has for us. */
static jstatus_t registry_load_file(registry_module_t *module, const char *directory,
                                    const char *name) {
    char file[PATH_MAX + 32];
    snprintf(file, sizeof file, "%s/%s", directory, module->file);
    if (access(file, F_OK) != 0)
        return ji_fail(JSTATUS_NO_DEVICE,
                       "%s: no module %s in %.150s: %s; build jalloc with -D%s=ON and install it "
                       "there, or set JALLOC_MODULE_PATH to the folder that has it",
                       name, module->file, directory, strerror(errno), module->option);

    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return registry_refuse_load(file, name);

    void *symbol = dlsym(library, JI_MODULE_OPEN);
    if (symbol == NULL) {
        dlclose(library);
        return ji_fail(JSTATUS_NO_DEVICE,
                       "%s: %.250s has no " JI_MODULE_OPEN ": not a module of jalloc", name, file);
    }

    /* POSIX's way from an object pointer to a function pointer. */
    memcpy(&module->open, &symbol, sizeof symbol);
    return JSTATUS_SUCCESS;
}

static jstatus_t registry_load(registry_module_t *module, const char *name) {
    char directory[PATH_MAX];
    jconfig_entry_t path = JCONFIG_ENTRY_INIT, vendor_blas;
    (void)jconfig_get(JCONFIG_JALLOC_MODULE_PATH, &path); /* fails for wrong arguments alone */
    if (!path.valid || strlen(path.value) >= sizeof directory)
        return ji_fail(JSTATUS_NO_DEVICE,
                       "%s: JALLOC_MODULE_PATH=\"%.200s\" is not an absolute path", name,
                       path.value);
    if (ji_config_require(JCONFIG_JALLOC_VENDOR_BLAS, &vendor_blas) != JSTATUS_SUCCESS)
        return JSTATUS_NO_DEVICE;

    if (path.value[0] != '\0')
        snprintf(directory, sizeof directory, "%s", path.value);
    else if (!registry_own_directory(directory))
        return ji_fail(JSTATUS_NO_DEVICE,
                       "%s: cannot tell where libjalloc lies; set JALLOC_MODULE_PATH to find %s",
                       name, module->file);
    JTRY_RETURN(registry_load_file(module, directory, name));

    module->services = (ji_module_services_t){
        .fail = ji_fail,
        .metadata_zalloc = ji_metadata_zalloc,
        .metadata_free = ji_metadata_free,
        .fork_generation = &ji_fork_generation,
        .vendor_blas = strcmp(vendor_blas.value, "0") != 0,
    };
    return JSTATUS_SUCCESS;
}

/* device NULL: only whether there is such a number. */
static jstatus_t registry_open(registry_module_t *module, int index, const char *name,
                               jdevice_t **device) {
    if (index >= REGISTRY_DEVICES)
        return ji_fail(JSTATUS_NO_DEVICE, "%s: no such number, at most %d devices of a kind", name,
                       REGISTRY_DEVICES);

    if (module->open == NULL)
        JTRY_RETURN(registry_load(module, name));
    if (module->devices[index] == NULL) {
        char reason[256] = "";
        jdevice_t *opened = NULL;
        jstatus_t status = module->open(JI_MODULE_ABI, &module->services, index,
                                        device != NULL ? &opened : NULL, reason, sizeof reason);
        if (status == JSTATUS_SUCCESS && device == NULL)
            return status;

        if (status != JSTATUS_SUCCESS || opened == NULL)
            return ji_fail(status == JSTATUS_SUCCESS ? JSTATUS_INTERNAL_ERROR : status, "%s: %s",
                           name, reason[0] != '\0' ? reason : jstatus_text(status));
        module->devices[index] = opened;
    }

    if (device != NULL)
        *device = module->devices[index];
    return JSTATUS_SUCCESS;
}

jstatus_t jdevice_get_count(jdevice_kind_t kind, int *count) {
    JREQUIRE(count != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(kind >= JDEVICE_HOST && kind <= JDEVICE_HIP, JSTATUS_INVALID_VALUE, __func__,
                   "kind", kind, "must be of jdevice_kind_t");
    if (kind == JDEVICE_HOST) {
        *count = 1;
        return JSTATUS_SUCCESS;
    }

    registry_lock();
    jstatus_t status = JSTATUS_SUCCESS;
    int found = 0;

    while (found < REGISTRY_DEVICES && status == JSTATUS_SUCCESS) {
        char name[JI_DEVICE_NAME_BYTES];
        snprintf(name, sizeof name, "%s:%hhu", kind == JDEVICE_CUDA ? "cuda" : "hip",
                 (unsigned char)found);
        status = registry_open(&registry_modules[kind], found, name, NULL);
        found += status == JSTATUS_SUCCESS;
    }
    registry_unlock();

    if (found == 0)
        return status;
    *count = found;
    return JSTATUS_SUCCESS;
}

jstatus_t jdevice_get(const char *name, jdevice_t **device) {
    JREQUIRE(name != NULL && device != NULL, JSTATUS_INVALID_POINTER);
    char full_name[JI_DEVICE_NAME_BYTES];
    int kind, index;
    if (!ji_config_device_name(name, strlen(name), full_name, &kind, &index))
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "\"%.100s\" is not a device: expected host, cuda:N or hip:N", name);

    if (kind == JDEVICE_HOST) {
        *device = &ji_host_device;
        return JSTATUS_SUCCESS;
    }

    registry_lock();
    jstatus_t status = registry_open(&registry_modules[kind], index, full_name, device);
    registry_unlock();
    return status;
}
