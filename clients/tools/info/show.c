/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a bug report should begin with: versions, devices, the runtime view, the environment in
 * force, what computes on the host, the CBLAS, the LAPACK. */

#include <stdio.h>

#include "info.h"
#include "jalloc/config.h"
#include "jalloc/device.h"
#include "jalloc/handle.h"
#include "jalloc/version.h"
#ifdef JALLOC_HAVE_JBLAS
#include "jalloc/jblas.h"
#include "jalloc/jlapack.h"
#include "jalloc/runtime.h"
#endif

static void show_versions(void) {
    section_begin("versions");
    row_begin("jalloc");
    field_text("headers", "%d.%d.%d", JALLOC_VERSION_MAJOR, JALLOC_VERSION_MINOR,
               JALLOC_VERSION_PATCH);
    field_text("library", "%s", jalloc_version_string());
    field_bool("agree", jalloc_version() == JALLOC_VERSION);
    row_end();
    row_begin("compiler");
    field_text("version", "%s", __VERSION__);
    row_end();
    section_end();
}

static void show_device(const char *name) {
    jdevice_t *device;
    size_t free_bytes, total_bytes;
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    row_begin(name);
    jstatus_t status = jdevice_get(name, &device);
    if (!jstatus_is_error(status))
        status = jdevice_get_properties(device, &properties);
    field_text("status", "%s", jstatus_name(status));
    if (jstatus_is_error(status)) {
        field_text("reason", "%s", jstatus_last_message());
        row_end();
        return;
    }
    field_text("description", "%s", properties.description);
    field_text("architecture", "%s", properties.architecture);
    field_text("runtime", "%s", properties.runtime);
    if (properties.blas[0] != '\0')
        field_text("blas", "%s", properties.blas);
    field_count("processors", properties.multiprocessors);
    field_count("wave", properties.wave_size);
    field_bytes("cache", (size_t)properties.l2_cache_bytes);
    field_bytes("granule", properties.granule_bytes);
    field_bool("managed", properties.has_managed_memory);
    field_bool("ordered", properties.has_stream_ordered);
    field_bool("capture", properties.has_capture);
    field_bool("graphs own", properties.has_capture_ownership);
    status = jdevice_get_memory_info(device, &free_bytes, &total_bytes);
    if (jstatus_is_error(status)) {
        field_text("memory", "%s: %s", jstatus_name(status), jstatus_last_message());
    } else {
        field_bytes("free", free_bytes);
        field_bytes("total", total_bytes);
    }
    row_end();
}

/* Every device of each kind; where there is none, the first, which says why. */
static void show_devices(void) {
    static const char *const kinds[] = {"host", "cuda", "hip"};
    section_begin("devices");
    show_device("host");
    for (int kind = JDEVICE_CUDA; kind <= JDEVICE_HIP; kind++) {
        int count = 1;
        (void)jdevice_get_count((jdevice_kind_t)kind, &count);
        for (int i = 0; i < count; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s:%d", kinds[kind], i);
            show_device(name);
        }
    }
    section_end();
}

#ifdef JALLOC_HAVE_JBLAS
/* What buffer allocators go by. */
static void show_runtime(void) {
    jruntime_t *runtime = NULL;
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    section_begin("runtime");
    row_begin("this process");
    jstatus_t status = jruntime_create(&runtime);
    if (!jstatus_is_error(status))
        status = jruntime_get_info(runtime, &info);
    if (jstatus_is_error(status)) {
        field_text("status", "%s: %s", jstatus_name(status), jstatus_last_message());
    } else {
        field_text("transport", "%s", info.transport);
        field_count("processes", info.processes);
        field_count("threads", info.threads);
        field_count("devices", info.devices);
        field_bytes("available", info.node_available_bytes);
        field_bytes("total", info.node_total_bytes);
    }
    row_end();
    section_end();
    (void)jruntime_release(runtime);
}

#else
static void show_runtime(void) {}
#endif

/* False when a variable cannot be understood. */
static bool show_environment(void) {
    bool valid = true;
    section_begin("environment");
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    for (int which = 0; jconfig_get((jconfig_t)which, &entry) == JSTATUS_SUCCESS; which++) {
        row_begin(entry.name);
        field_text("value", "%s", entry.value);
        field_text("origin", "%s", entry.from_environment ? "environment" : "default");
        field_bool("valid", entry.valid);
        field_text("default", "%s", entry.fallback);
        field_text("syntax", "%s", entry.syntax);
        if (entry.example != NULL)
            field_text("example", "%s", entry.example);
        field_text("meaning", "%s", entry.meaning);
        row_end();
        valid = valid && entry.valid;
    }
    section_end();
    return valid;
}

/* False when there is a name in the environment that begins as jalloc's do and is none of them. */
static bool show_unknown(void) {
    jconfig_unknown_t unknown;
    size_t count = 0;
    if (!info_is_json() && jstatus_is_error(jconfig_get_unknown(0, &unknown)))
        return true;
    section_begin("unknown variables");
    for (; !jstatus_is_error(jconfig_get_unknown(count, &unknown)); count++) {
        row_begin(unknown.name);
        field_text("nearest", "%s", unknown.nearest != NULL ? unknown.nearest : "");
        row_end();
    }
    section_end();
    return count == 0;
}

#ifdef JALLOC_HAVE_JBLAS
static void show_self_check(void) {
    const jblas_cblas_kernel_t *kernel;
    int checked = 0, wrong = 0;
    for (; (kernel = jblas_cblas_kernel_at((size_t)checked)) != NULL; checked++)
        wrong += kernel->wrong_length != 0;
    if (wrong == 0)
        field_text("self-check", "checked %d kernels, all right", checked);
    else
        field_text("self-check", "checked %d kernels, %d wrong and not used", checked, wrong);
    for (int i = 0; i < checked; i++)
        if ((kernel = jblas_cblas_kernel_at((size_t)i))->wrong_length != 0)
            field_text(kernel->name, "wrong at n = %lld; jblas takes %s",
                       (long long)kernel->wrong_length, kernel->instead);
}

/* What computes on the host, and what would if it were told to. */
static void show_host_blas(void) {
    const char *blas, *isa;
    section_begin("host blas");
    if (jblas_get_host_blas(&blas) == JSTATUS_SUCCESS &&
        jblas_get_host_isa(&isa) == JSTATUS_SUCCESS) {
        row_begin(blas);
        field_text("kernels", "%s", isa);
    } else {
        row_begin("none");
        field_text("reason", "%s", jstatus_last_message());
    }
    row_end();
    section_end();
}

/* A library that is loaded, or why it is not; of one that is, what more there is to say. */
static void show_guest(const char *title, const char *name, int int_bits, void (*more)(void)) {
    section_begin(title);
    row_begin(name);
    if (int_bits == 0)
        field_text("reason", "%s", jstatus_last_message());
    else
        field_text("integers", "%d bits", int_bits);
    if (int_bits != 0 && more != NULL)
        more();
    row_end();
    section_end();
}

static void show_cblas(void) {
    show_guest("cblas", jblas_cblas_name(), jblas_cblas_int_bits(), show_self_check);
}

static void show_lapack(void) {
    show_guest("lapack", jlapack_lapack_name(), jlapack_lapack_int_bits(), NULL);
}
#else
static void show_host_blas(void) {
    section_begin("host blas");
    row_begin("none");
    field_text("reason", "jalloc was built without libjblas");
    row_end();
    section_end();
}
static void show_cblas(void) {}
static void show_lapack(void) {}
#endif

/* Every kind that a composition can name, with its keys. */
void show_allocators(void) {
    static const char *const roles[] = {"provider", "policy", "adaptor"};
    section_begin("allocators");
    const jallocator_kind_t *kind;
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; i++) {
        row_begin(kind->name);
        field_text("role", "%s", roles[kind->role]);
        field_text("summary", "%s", kind->summary);
        for (const jallocator_key_t *key = kind->keys; key->name != NULL; key++) {
            const char *example = jconfig_example(key->syntax);
            field_text(key->name, "%s (%s%s%s%s%s)", key->meaning, key->syntax,
                       key->fallback[0] != '\0' ? "; default " : "", key->fallback,
                       example != NULL ? "; such as " : "", example != NULL ? example : "");
        }
        row_end();
    }
    section_end();
}

bool show_everything(void) {
    show_versions();
    show_devices();
    show_runtime();
    const bool valid = show_environment();
    const bool known = show_unknown();
    show_host_blas();
    show_cblas();
    show_lapack();
    if (!info_is_json()) {
        if (!valid)
            puts("\nAn environment variable cannot be understood: no handle can be created until "
                 "it is mended.");
        if (!known)
            puts("\nA variable in the environment is unknown: it has no effect.");
        puts("\njalloc-info --check says whether this machine will be fast, and what is wrong "
             "with it.");
    }
    return valid && known;
}
