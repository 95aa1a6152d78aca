/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What jalloc itself goes by: the environment, the kernels that were chosen, the libraries that it
 * loads, the profile of the machine, the modules of GPUs. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "info.h"
#include "jalloc/config.h"
#include "jalloc/device.h"
#include "jalloc/profile.h"
#include "jalloc/version.h"
#ifdef JALLOC_HAVE_JBLAS
#include "jalloc/jblas.h"
#include "jalloc/jlapack.h"
#endif

static jconfig_entry_t entry_of(jconfig_t which) {
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    (void)jconfig_get(which, &entry);
    return entry;
}

static void check_version(void) {
    if (jalloc_version() == JALLOC_VERSION)
        check_tell("version", VERDICT_GOOD, "", "%s", jalloc_version_string());
    else
        check_tell("version", VERDICT_WRONG,
                   "several are installed: see ldd jalloc-info, LD_LIBRARY_PATH and ldconfig",
                   "this program is of %s, and the library that it loads of %s",
                   JALLOC_VERSION_STRING, jalloc_version_string());
}

/* ---- The environment ---- */

static void check_values(void) {
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    int set = 0, wrong = 0;
    for (int which = 0; jconfig_get((jconfig_t)which, &entry) == JSTATUS_SUCCESS; which++) {
        char remedy[256];
        set += entry.from_environment;
        if (entry.valid)
            continue;
        wrong++;
        snprintf(remedy, sizeof remedy, "%s%s%s; no handle is created before", entry.syntax,
                 entry.example != NULL ? ", such as " : "",
                 entry.example != NULL ? entry.example : "");
        check_tell("environment", VERDICT_WRONG, remedy, "%s=\"%s\" is not understood", entry.name,
                   entry.value);
    }
    if (wrong == 0)
        check_tell("environment", VERDICT_GOOD, "", "%d variables are set, and understood", set);
}

static void check_names(void) {
    jconfig_unknown_t unknown;
    for (size_t i = 0; jconfig_get_unknown(i, &unknown) == JSTATUS_SUCCESS; i++) {
        char remedy[128] = "jalloc-info lists the variables that there are";
        if (unknown.nearest != NULL)
            snprintf(remedy, sizeof remedy, "did you mean %s?", unknown.nearest);
        check_tell("environment", VERDICT_WRONG, remedy, "%s is none of jalloc's variables",
                   unknown.name);
    }
}

/* What is for finding mistakes costs time at each call. */
static void check_diagnostics(void) {
    static const struct {
        jconfig_t which;
        const char *harmless; /* with that value it does nothing */
        const char *what;
    } costly[] = {{JCONFIG_JALLOC_LAYER, "0", "every call is logged"},
                  {JCONFIG_JALLOC_RECORD, "", "every allocation is recorded"},
                  {JCONFIG_JALLOC_RECORD_HEAP, "", "malloc is recorded"},
                  {JCONFIG_JALLOC_LEAK_REPORT, "0", "every allocation is remembered"}};
    static const char remedy[] = "unset it where speed counts";
    for (size_t i = 0; i < sizeof costly / sizeof *costly; i++) {
        const jconfig_entry_t entry = entry_of(costly[i].which);
        if (entry.valid && strcmp(entry.value, costly[i].harmless) != 0)
            check_tell("diagnostics", VERDICT_SLOW, remedy, "%s=%s: %s", entry.name, entry.value,
                       costly[i].what);
    }

    const jconfig_entry_t log = entry_of(JCONFIG_JALLOC_LOG_LEVEL);
    if (strcmp(log.value, "debug") == 0)
        check_tell("diagnostics", VERDICT_SLOW, remedy, "%s=debug: every message is written",
                   log.name);
    const jconfig_entry_t allocator = entry_of(JCONFIG_JALLOC_ALLOCATOR);
    static const char *const adaptors[] = {"+guard", "+fill", "+exact", "+record"};
    for (size_t i = 0; i < sizeof adaptors / sizeof *adaptors; i++)
        if (allocator.valid && strstr(allocator.value, adaptors[i]) != NULL)
            check_tell("diagnostics", VERDICT_SLOW, remedy, "%s=%s: %s is for finding mistakes",
                       allocator.name, allocator.value, adaptors[i] + 1);
}

/* ---- What computes on the host ---- */

#ifdef JALLOC_HAVE_JBLAS
/* Whether the processor has more than the kernels that were chosen use. */
static bool is_held_back(const char *isa) {
#if defined(__x86_64__)
    const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool has_avx512 =
        has_fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return (strcmp(isa, "generic") == 0 && has_fma) || (strcmp(isa, "avx2") == 0 && has_avx512);
#else
    (void)isa;
    return false;
#endif
}

static void check_kernels(void) {
    const char *blas, *isa;
    if (jblas_get_host_blas(&blas) != JSTATUS_SUCCESS ||
        jblas_get_host_isa(&isa) != JSTATUS_SUCCESS)
        check_tell("kernels", VERDICT_WRONG,
                   "unset JALLOC_HOST_ISA, JALLOC_HOST_BLAS and JALLOC_CBLAS, or mend them",
                   "every call of jblas fails: %s", jstatus_last_message());
    else if (is_held_back(isa))
        check_tell("kernels", VERDICT_SLOW, "unset JALLOC_HOST_ISA",
                   "%s, by JALLOC_HOST_ISA; the processor has more", isa);
    else if (strcmp(blas, "own") != 0)
        check_tell("kernels", VERDICT_NOTE, "unset JALLOC_HOST_BLAS for jblas's own",
                   "those of %s, by JALLOC_HOST_BLAS", jblas_cblas_name());
    else if (strcmp(isa, "generic") == 0)
        check_tell("kernels", VERDICT_NOTE, "",
                   "generic: the processor has neither AVX2 with FMA nor AVX-512");
    else
        check_tell("kernels", VERDICT_GOOD, "",
                   "jblas's own for %s, the most that the processor has", isa);
}

static int count_wrong_kernels(char *names, size_t size_bytes) {
    const jblas_cblas_kernel_t *kernel;
    int wrong = 0;
    names[0] = '\0';
    for (size_t i = 0; (kernel = jblas_cblas_kernel_at(i)) != NULL; i++) {
        if (kernel->wrong_length == 0)
            continue;
        const size_t length = strlen(names);
        snprintf(names + length, size_bytes - length, "%s%s", wrong > 0 ? ", " : "", kernel->name);
        wrong++;
    }
    return wrong;
}

/* Of the CBLAS: an OpenBLAS that does not know the processor takes its oldest kernels. */
static void check_cblas(void) {
    char names[256];
    const bool is_used = strcmp(entry_of(JCONFIG_JALLOC_HOST_BLAS).value, "cblas") == 0;
    const bool is_named = entry_of(JCONFIG_JALLOC_CBLAS).from_environment;
    if (jblas_cblas_int_bits() == 0) {
        check_tell("CBLAS", is_used || is_named ? VERDICT_WRONG : VERDICT_NOTE,
                   "apt install libopenblas0, or JALLOC_CBLAS=/path/to/libopenblas.so.0",
                   "none: %s%s", jstatus_last_message(),
                   is_used || is_named ? "" : " (jblas computes by itself)");
        return;
    }
    const int wrong = count_wrong_kernels(names, sizeof names);
    if (wrong > 0)
        check_tell("CBLAS", VERDICT_NOTE, "another version; jblas does not call them",
                   "%s, %d kernels of which are wrong on this processor: %s", jblas_cblas_name(),
                   wrong, names);
    else if (strstr(jblas_cblas_name(), "Prescott") != NULL)
        check_tell("CBLAS", is_used ? VERDICT_SLOW : VERDICT_NOTE,
                   "OPENBLAS_CORETYPE=HASWELL, or SKYLAKEX with AVX-512",
                   "%s does not know this processor and runs its oldest kernels",
                   jblas_cblas_name());
    else
        check_tell("CBLAS", VERDICT_GOOD, "", "%s, self-check passed", jblas_cblas_name());
}

static void check_lapack(void) {
    const bool is_named = entry_of(JCONFIG_JALLOC_LAPACK).from_environment;
    if (jlapack_lapack_int_bits() != 0)
        check_tell("LAPACK", VERDICT_GOOD, "", "%s", jlapack_lapack_name());
    else
        check_tell("LAPACK", is_named ? VERDICT_WRONG : VERDICT_NOTE,
                   "apt install libopenblas0, or JALLOC_LAPACK=/path/to/liblapack.so.3",
                   "none: %s (eigenvalues and singular values are not to be had)",
                   jstatus_last_message());
}
#else
static void check_kernels(void) {
    check_tell("kernels", VERDICT_NOTE, "build with -DJALLOC_BUILD_JBLAS=ON",
               "none: jalloc was built without libjblas");
}
static void check_cblas(void) {}
static void check_lapack(void) {}
#endif

/* ---- The profile ---- */

static void check_profile(void) {
    jprofile_info_t info = JPROFILE_INFO_INIT;
    const bool is_named = entry_of(JCONFIG_JALLOC_PROFILE).value[0] != '\0';
    if (jprofile_get_info(&info) != JSTATUS_SUCCESS)
        check_tell("profile", VERDICT_WRONG, "", "%s", jstatus_last_message());
    else if (info.refused[0] != '\0')
        check_tell("profile", VERDICT_WRONG,
                   is_named ? "jalloc-tune --output \"$JALLOC_PROFILE\" measures this machine; "
                              "JALLOC_PROFILE may name another file, or none"
                            : "jalloc-tune measures this machine; JALLOC_PROFILE names another "
                              "file, or none",
                   "not in force: %s", info.refused);
    else if (info.measured)
        check_tell("profile", VERDICT_GOOD, "", "%s, of this machine, %llu entries", info.path,
                   (unsigned long long)info.entry_count);
    else
        check_tell("profile", VERDICT_NOTE,
                   is_named ? "without JALLOC_PROFILE=none: jalloc-tune measures one in a minute"
                            : "jalloc-tune measures one in a minute",
                   "none: predictions of times are rough");
}

/* ---- GPUs ---- */

/* Whether the system's driver shows a GPU of that kind. */
static bool has_driver(jdevice_kind_t kind) {
    return kind == JDEVICE_CUDA
               ? access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0
               : access("/dev/kfd", F_OK) == 0;
}

/* Where the vendor's runtime only says that it fails. */
static const char *ask_vendor(jdevice_kind_t kind) {
    return kind == JDEVICE_CUDA ? "nvidia-smi says what the driver sees"
                                : "rocminfo says what the driver sees; its devices are for the "
                                  "groups render and video";
}

static void check_gpu_in_use(const char *label, const char *name, jdevice_kind_t kind, int count) {
    jdevice_t *device;
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    jstatus_t status = jdevice_get(name, &device);
    if (!jstatus_is_error(status))
        status = jdevice_get_properties(device, &properties);
    if (jstatus_is_error(status))
        check_tell(label, VERDICT_WRONG, ask_vendor(kind), "%s", jstatus_last_message());
    else if (strcmp(entry_of(JCONFIG_JALLOC_VENDOR_BLAS).value, "0") == 0)
        check_tell(label, VERDICT_SLOW, "unset JALLOC_VENDOR_BLAS",
                   "%d of them, the first %s, without the vendor's BLAS, by JALLOC_VENDOR_BLAS",
                   count, properties.description);
    else if (properties.blas[0] == '\0')
        check_tell(label, VERDICT_SLOW, "install cuBLAS or hipBLAS where the loader looks",
                   "%d of them, the first %s, without the vendor's BLAS", count,
                   properties.description);
    else
        check_tell(label, VERDICT_GOOD, "", "%d of them, the first %s, with %s", count,
                   properties.description, properties.blas);
}

/* The reason why there is none ends with what helps, where something does. */
static void check_gpu_absent(const char *label, jdevice_kind_t kind) {
    char reason[1024];
    snprintf(reason, sizeof reason, "%s", jstatus_last_message());
    const bool is_expected = entry_of(JCONFIG_JALLOC_MODULE_PATH).from_environment;
    if (!has_driver(kind) && !is_expected) {
        check_tell(label, VERDICT_GOOD, "", "no such GPU here");
        return;
    }
    char *remedy = strstr(reason, "; ");
    if (remedy != NULL)
        *remedy = '\0', remedy += 2;
    check_tell(label, has_driver(kind) ? VERDICT_WRONG : VERDICT_NOTE,
               remedy != NULL ? remedy : ask_vendor(kind), "%s", reason);
}

static void check_module_path(void) {
    const jconfig_entry_t path = entry_of(JCONFIG_JALLOC_MODULE_PATH);
    if (path.from_environment && path.valid && access(path.value, R_OK | X_OK) != 0)
        check_tell("GPU modules", VERDICT_WRONG,
                   "unset JALLOC_MODULE_PATH: modules are looked for beside libjalloc",
                   "JALLOC_MODULE_PATH=%s: %s", path.value, strerror(errno));
}

static void check_gpus(void) {
    check_module_path();
    static const struct {
        const char *label, *first;
        jdevice_kind_t kind;
    } kinds[] = {{"NVIDIA GPUs", "cuda:0", JDEVICE_CUDA}, {"AMD GPUs", "hip:0", JDEVICE_HIP}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int count = 0;
        if (jdevice_get_count(kinds[i].kind, &count) == JSTATUS_SUCCESS)
            check_gpu_in_use(kinds[i].label, kinds[i].first, kinds[i].kind, count);
        else
            check_gpu_absent(kinds[i].label, kinds[i].kind);
    }
}

void check_library(void) {
    check_version();
    check_values();
    check_names();
    check_diagnostics();
    check_kernels();
    check_cblas();
    check_lapack();
    check_profile();
    check_gpus();
}
