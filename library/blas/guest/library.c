/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How a guest comes in: by dlopen(), when a process's first call wants it, and by no other way. It
 * is loaded privately. Its names become nobody else's (RTLD_LOCAL), and where the loader can do it,
 * it looks for what it needs in itself and its own libraries before the program's (RTLD_DEEPBIND):
 * a program may have another BLAS, linked or preloaded, or a function that is called dgemm_, and
 * neither notices the other. A library that the process has already is the same one, with the same
 * threads and settings: the loader knows no second copy.
 *
 * The same functions exist under several spellings: with 64-bit integers often with a suffix, in
 * Python's wheels with a prefix. All of them are tried, in one library after the other.
 *
 * A library that was taken stays: it may have threads. */

#include "blas/guest/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY_SYMBOL_BYTES 80 /* of a function's name, with prefix and suffix */
#define LIBRARY_WHY_BYTES 256

static const ji_spelling_t library_spellings[] = {
    {"", ""},          {"", "64_"}, /* OpenBLAS beside one of 32-bit integers */
    {"", "_64"},                    /* MKL, reference BLAS 3.11 */
    {"scipy_", ""},                 /* OpenBLAS in the wheels of PyPI */
    {"scipy_", "64_"},
};
#define LIBRARY_SPELLINGS (sizeof library_spellings / sizeof library_spellings[0])

/* ---- A library ---- */

static void *library_find(void *handle, const ji_spelling_t *spelling, const char *name) {
    char spelt[LIBRARY_SYMBOL_BYTES];
    snprintf(spelt, sizeof spelt, "%s%s%s", spelling->prefix, name, spelling->suffix);
    return dlsym(handle, spelt);
}

void *ji_library_symbol(const ji_library_t *library, const char *name) {
    return library_find(library->handle, library->spelling, name);
}

/* The runtimes of sanitizers end a program that binds deeply: its allocations would not be theirs.
 * They come with the program, whether or not jblas was built for one. */
static int library_flags(void) {
    int flags = RTLD_NOW | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
    if (dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path") == NULL)
        flags |= RTLD_DEEPBIND;
#endif
    return flags;
}

/* The spelling by which the library has the function; NULL: by none. */
static const ji_spelling_t *library_spelling_of(void *handle, const char *name) {
    for (size_t i = 0; i < LIBRARY_SPELLINGS; i++)
        if (library_find(handle, &library_spellings[i], name) != NULL)
            return &library_spellings[i];
    return NULL;
}

/* OpenBLAS tells its version and options. Of the others the file is known. */
static void library_tell_name(ji_library_t *library) {
    char *(*config)(void) = NULL;
    void *symbol = ji_library_symbol(library, "openblas_get_config");
    memcpy(&config, &symbol, sizeof config);

    Dl_info info;
    const char *name = config != NULL ? config()
                       : dladdr(ji_library_symbol(library, library->shown), &info) != 0
                           ? info.dli_fname
                           : "unknown";
    snprintf(library->name, sizeof library->name, "%s", name);
}

/* Takes the library of this name; false, and why not. */
static bool library_open(ji_library_t *library, const char *name, char why[LIBRARY_WHY_BYTES]) {
    ji_library_t opened = *library;
    opened.handle = dlopen(name, library_flags());
    if (opened.handle == NULL) {
        snprintf(why, LIBRARY_WHY_BYTES, "%s", dlerror());
        return false;
    }

    opened.spelling = library_spelling_of(opened.handle, library->shown);
    const char *missing = opened.spelling == NULL ? library->shown : library->take(&opened);
    if (missing != NULL) {
        snprintf(why, LIBRARY_WHY_BYTES, "it has no %s, so it is no %s", missing, library->what);
        dlclose(opened.handle);
        return false;
    }

    library_tell_name(&opened);
    *library = opened;
    return true;
}

/* ---- Which one ---- */

static jstatus_t library_open_first_usual(ji_library_t *library, const char *variable) {
    char tried[256] = "", why[LIBRARY_WHY_BYTES];

    for (size_t i = 0; i < library->usual_count; i++) {
        if (library_open(library, library->usual[i], why))
            return JSTATUS_SUCCESS;
        const size_t length = strlen(tried);
        snprintf(tried + length, sizeof tried - length, "%s%s", i > 0 ? ", " : "",
                 library->usual[i]);
    }

    return ji_fail(JSTATUS_NOT_FOUND,
                   "no %s was found, of %s; install one (Debian: apt install libopenblas0), or "
                   "name one, %s=/path/libopenblas.so.0",
                   library->what, tried, variable);
}

jstatus_t ji_library_load(ji_library_t *library) {
    if (library->handle != NULL)
        return JSTATUS_SUCCESS;

    jconfig_entry_t wanted;
    JTRY_RETURN(ji_config_require(library->variable, &wanted));
    if (wanted.value[0] == '\0')
        return library_open_first_usual(library, wanted.name);

    char why[LIBRARY_WHY_BYTES];
    if (library_open(library, wanted.value, why))
        return JSTATUS_SUCCESS;
    return ji_fail(JSTATUS_NOT_FOUND, "%s=\"%.150s\" cannot be loaded: %s", wanted.name,
                   wanted.value, why);
}
