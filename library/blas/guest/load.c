/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How the CBLAS comes in: by dlopen(), when a process's first call on the host wants it, and by no
 * other way. It is loaded privately. Its names become nobody else's (RTLD_LOCAL), and where the
 * loader can do it, it looks for what it needs in itself and its own libraries before the program's
 * (RTLD_DEEPBIND): a program may have another BLAS, linked or preloaded, or a function that is
 * called dgemm_, and neither notices the other. A library that the process has already is the same
 * one, with the same threads and settings: the loader knows no second copy.
 *
 * The same functions exist under several spellings: with 64-bit integers often with a suffix, in
 * Python's wheels with a prefix. All of them are tried, in one library after the other.
 *
 * Whether integers have 32 or 64 bits no name tells, so a function is asked: a count whose low half
 * is 2 and which is negative as a whole sums two numbers with 32 bits and none with 64.
 *
 * A library that was taken stays: it may have threads. */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "blas/guest/guest.h"
#include "core/core.h"

#define LOAD_NAME_BYTES 80 /* of a function, with prefix and suffix */
#define LOAD_WHY_BYTES 256

ji_guest_t ji_guest, ji_guest_given;

/* The usual ones, fastest first. */
static const char *const load_usual[] = {"libopenblas.so.0", "libmkl_rt.so.2",
                                         "libblis.so.4",     "libblas.so.3",
                                         "libcblas.so.3",    "libopenblas64.so.0"};
#define LOAD_USUAL (sizeof load_usual / sizeof load_usual[0])

typedef struct load_spelling {
    const char *prefix, *suffix;
} load_spelling_t;
static const load_spelling_t load_spellings[] = {
    {"", ""},          {"", "64_"}, /* OpenBLAS beside one of 32-bit integers */
    {"", "_64"},                    /* MKL, reference BLAS 3.11 */
    {"scipy_", ""},                 /* OpenBLAS in the wheels of PyPI */
    {"scipy_", "64_"},
};
#define LOAD_SPELLINGS (sizeof load_spellings / sizeof load_spellings[0])

/* The functions of the table. */
static const struct {
    const char *name;
    size_t offset; /* of its pointer */
} load_functions[] = {
#define LOAD_FUNCTION(name, R, TAKES) {"cblas_" #name, offsetof(ji_guest_t, name)},
    JI_GUEST_FUNCTION_LIST(LOAD_FUNCTION)
#undef LOAD_FUNCTION
};
#define LOAD_FUNCTIONS (sizeof load_functions / sizeof load_functions[0])

/* What was loaded. */
static struct {
    void *library; /* NULL: nothing yet */
    const load_spelling_t *spelling;
    char name[256];
    int int_bits;
} loaded;

/* ---- A library ---- */

static void *load_symbol(void *library, const load_spelling_t *spelling, const char *name) {
    char spelt[LOAD_NAME_BYTES];
    snprintf(spelt, sizeof spelt, "%s%s%s", spelling->prefix, name, spelling->suffix);
    return dlsym(library, spelt);
}

/* The runtimes of sanitizers end a program that binds deeply: its allocations would not be theirs.
 * They come with the program, whether or not jblas was built for one. */
static int load_flags(void) {
    int flags = RTLD_NOW | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
    if (dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path") == NULL)
        flags |= RTLD_DEEPBIND;
#endif
    return flags;
}

/* The spelling by which the library has a CBLAS; NULL: by none. */
static const load_spelling_t *load_spelling_of(void *library) {
    for (size_t i = 0; i < LOAD_SPELLINGS; i++)
        if (load_symbol(library, &load_spellings[i], load_functions[0].name) != NULL)
            return &load_spellings[i];
    return NULL;
}

/* Fills a table. Gives the name of a function that is not there, or NULL. */
static const char *load_fill(void *library, const load_spelling_t *spelling, ji_guest_t *guest) {
    for (size_t i = 0; i < LOAD_FUNCTIONS; i++) {
        void *symbol = load_symbol(library, spelling, load_functions[i].name);
        if (symbol == NULL)
            return load_functions[i].name;
        /* POSIX's way from an object pointer to a function pointer. */
        memcpy((char *)guest + load_functions[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

static int load_int_bits(void) {
    const double ones[2] = {1, 1};
    const int64_t two_or_less = 2 - (INT64_C(1) << 32);

    if (sizeof(guest_int_t) < sizeof two_or_less)
        return 32;
    return ji_guest.dasum((guest_int_t)two_or_less, ones, 1) == 2 ? 32 : 64;
}

/* OpenBLAS tells its version and options. Of the others the file is known. */
static void load_tell_name(void) {
    char *(*config)(void) = NULL;
    void *symbol = ji_guest_symbol("openblas_get_config");
    memcpy(&config, &symbol, sizeof config);

    Dl_info info;
    void *function;
    memcpy(&function, &ji_guest, sizeof function); /* the first of the table */
    const char *name = config != NULL                 ? config()
                       : dladdr(function, &info) != 0 ? info.dli_fname
                                                      : "unknown CBLAS";
    snprintf(loaded.name, sizeof loaded.name, "%s", name);
}

/* Takes the library of this name; false, and why not. */
static bool load_library(const char *name, char why[LOAD_WHY_BYTES]) {
    void *library = dlopen(name, load_flags());
    if (library == NULL) {
        snprintf(why, LOAD_WHY_BYTES, "%s", dlerror());
        return false;
    }

    const load_spelling_t *spelling = load_spelling_of(library);
    const char *missing =
        spelling == NULL ? load_functions[0].name : load_fill(library, spelling, &ji_guest_given);
    if (missing != NULL) {
        snprintf(why, LOAD_WHY_BYTES, "it has no %s, so it is no CBLAS", missing);
        dlclose(library);
        return false;
    }

    ji_guest = ji_guest_given;
    loaded.library = library;
    loaded.spelling = spelling;
    loaded.int_bits = load_int_bits();
    load_tell_name();
    return true;
}

/* ---- Which one ---- */

static jstatus_t load_first_usual(void) {
    char tried[256] = "", why[LOAD_WHY_BYTES];

    for (size_t i = 0; i < LOAD_USUAL; i++) {
        if (load_library(load_usual[i], why))
            return JSTATUS_SUCCESS;
        const size_t length = strlen(tried);
        snprintf(tried + length, sizeof tried - length, "%s%s", i > 0 ? ", " : "", load_usual[i]);
    }

    return ji_fail(JSTATUS_NOT_FOUND,
                   "no CBLAS was found, of %s; install one (Debian: apt install libopenblas0), or "
                   "name one, JALLOC_CBLAS=/path/libopenblas.so.0",
                   tried);
}

jstatus_t ji_guest_load(void) {
    if (loaded.library != NULL)
        return JSTATUS_SUCCESS;

    jconfig_entry_t wanted;
    JTRY_RETURN(ji_config_require(JCONFIG_JALLOC_CBLAS, &wanted));
    if (wanted.value[0] == '\0')
        return load_first_usual();

    char why[LOAD_WHY_BYTES];
    if (load_library(wanted.value, why))
        return JSTATUS_SUCCESS;
    return ji_fail(JSTATUS_NOT_FOUND, "JALLOC_CBLAS=\"%.150s\" cannot be loaded: %s", wanted.value,
                   why);
}

/* ---- What it is ---- */

const char *ji_guest_name(void) { return loaded.name; }

int ji_guest_int_bits(void) { return loaded.int_bits; }

void *ji_guest_symbol(const char *name) {
    return load_symbol(loaded.library, loaded.spelling, name);
}
