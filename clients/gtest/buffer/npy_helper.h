/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_NPY_HELPER_H
#define JALLOC_CLIENTS_GTEST_NPY_HELPER_H

/* What the tests of NumPy's files share: a folder for each test, buffers full of random bytes, and
 * the bytes that their files should have, made naively. */

#include "buffer_helper.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

typedef struct folder {
    char name[32], path[64]; /* the folder; a file in it */
} folder_t;

static inline folder_t folder_make(void) {
    folder_t folder = {.name = "/tmp/jalloc-npy-XXXXXX"};
    if (mkdtemp(folder.name) == NULL)
        JFAIL("mkdtemp: %s", strerror(errno));
    snprintf(folder.path, sizeof folder.path, "%s/a.npy", folder.name);
    return folder;
}

/* How many files are in it, those with a dot too. */
static inline int folder_count(const folder_t *folder) {
    int count = 0;
    DIR *directory = opendir(folder->name);
    if (directory == NULL)
        return -1;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static inline void folder_end(const folder_t *folder) {
    (void)unlink(folder->path);
    JEXPECT_EQ(folder_count(folder), 0);
    JEXPECT_EQ(rmdir(folder->name), 0);
}

static inline void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    JASSERT_NOT_NULL(file);
    JEXPECT_EQ(fwrite(bytes, 1, size, file), size);
    JEXPECT_EQ(fclose(file), 0);
}

/* The bytes of a file; released by the caller. */
static inline unsigned char *read_file(const char *path, size_t *size) {
    struct stat facts;
    FILE *file = fopen(path, "rb");
    *size = 0;
    if (file == NULL || fstat(fileno(file), &facts) != 0) {
        JFAIL("%s: %s", path, strerror(errno));
        return calloc(1, 1);
    }
    unsigned char *bytes = malloc((size_t)facts.st_size + 1);
    *size = fread(bytes, 1, (size_t)facts.st_size + 1, file);
    fclose(file);
    return bytes;
}

/* A buffer of a layout in text form ("f64[2,3]"), every element different, its memory random in
 * between. */
static inline jbuffer_t *make_buffer(const char *text) {
    jlayout_t layout;
    jdatatype_t type;
    jbuffer_t *buffer = NULL;
    unsigned char *bytes;
    size_t size;
    JEXPECT_OK(jlayout_parse(text, &layout, &type));
    jbuffer_allocator_t *allocator = buffer_allocator_alone(JBUFFER_LOCAL, type, NULL, NULL);
    JEXPECT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, (void **)&bytes));
    JEXPECT_OK(jlayout_get_bytes(&layout, type, &size));
    for (size_t i = 0; i < size; ++i)
        bytes[i] = (unsigned char)jtest_random();
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    return buffer;
}

/* The conjugate: the sign of the imaginary part is a bit. */
static inline void conjugate(void *number, jdatatype_t type) {
    const size_t size = jhandle_sizeof_datatype(type);
    if (type == JDATATYPE_F32_C || type == JDATATYPE_F64_C)
        ((unsigned char *)number)[size - 1] ^= 0x80;
}

/* The element at these indices as the structure has it. */
static inline void naive_element(const unsigned char *data, const jlayout_t *layout,
                                 jdatatype_t type, const int64_t *indices, unsigned char *element) {
    const size_t size = jhandle_sizeof_datatype(type);
    int64_t i = indices[0], j = indices[1], offset;
    const jstructure_t s = layout->structure;
    const bool upper = s == JSTRUCTURE_SYMMETRIC_UPPER || s == JSTRUCTURE_HERMITIAN_UPPER ||
                       s == JSTRUCTURE_TRIANGULAR_UPPER;
    const bool hermitian = s == JSTRUCTURE_HERMITIAN_UPPER || s == JSTRUCTURE_HERMITIAN_LOWER;
    const bool mirrored = s != JSTRUCTURE_GENERAL && (upper ? i > j : i < j);
    memset(element, 0, size);
    if (mirrored && (s == JSTRUCTURE_TRIANGULAR_UPPER || s == JSTRUCTURE_TRIANGULAR_LOWER))
        return;
    int64_t places[JLAYOUT_MAX_RANK];
    memcpy(places, indices, sizeof places);
    if (mirrored) {
        places[0] = j;
        places[1] = i;
    }
    JASSERT_OK(jlayout_get_offset(layout, places, &offset));
    memcpy(element, data + (size_t)offset * size, size);
    if (mirrored && hermitian)
        conjugate(element, type);
    if (hermitian && i == j && (type == JDATATYPE_F32_C || type == JDATATYPE_F64_C))
        memset(element + size / 2, 0, size / 2);
}

static const char *const descriptions[] = {"<f4", "<f8", "<c8", "<c16", "<f2", "", "|i1", "<i4"};

/* The file that a buffer should become; released by the caller. */
static inline unsigned char *naive_file(jbuffer_t *buffer, bool fortran, size_t *size) {
    jlayout_t layout;
    jdatatype_t type;
    const unsigned char *data;
    char text[256], shape[200] = "";
    int64_t count;
    JEXPECT_OK(jbuffer_get_layout(buffer, &layout));
    JEXPECT_OK(jbuffer_get_type(buffer, &type));
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, (void **)&data));
    JEXPECT_OK(jlayout_get_count(&layout, &count));
    for (int d = 0; d < layout.rank; ++d)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%lld%s",
                 (long long)layout.extents[d],
                 layout.rank == 1      ? ","
                 : d + 1 < layout.rank ? ", "
                                       : "");
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
             descriptions[type], fortran ? "True" : "False", shape);
    const size_t element = jhandle_sizeof_datatype(type),
                 begin = (10 + strlen(text) + 1 + 63) / 64 * 64;
    *size = begin + (size_t)count * element;
    unsigned char *file = malloc(*size);
    memcpy(file, "\x93NUMPY\x01", 8);
    file[8] = (unsigned char)((begin - 10) % 256);
    file[9] = (unsigned char)((begin - 10) / 256);
    memset(file + 10, ' ', begin - 10);
    memcpy(file + 10, text, strlen(text));
    file[begin - 1] = '\n';
    for (int64_t number = 0; number < count; ++number) {
        int64_t indices[JLAYOUT_MAX_RANK] = {0}, rest = number;
        for (int k = 0; k < layout.rank; ++k) {
            const int d = fortran ? k : layout.rank - 1 - k;
            indices[d] = rest % layout.extents[d];
            rest /= layout.extents[d];
        }
        naive_element(data, &layout, type, indices, file + begin + (size_t)number * element);
    }
    return file;
}

static inline void expect_file(const char *path, jbuffer_t *buffer, bool fortran) {
    size_t size, expected_size;
    unsigned char *file = read_file(path, &size),
                  *expected = naive_file(buffer, fortran, &expected_size);
    JEXPECT_EQ(size, expected_size);
    if (size == expected_size) {
        size_t first = 0;
        while (first < size && file[first] == expected[first])
            first++;
        if (first < size)
            JFAIL("byte %zu of %zu is %d, not %d", first, size, file[first], expected[first]);
    }
    free(file);
    free(expected);
}

/* Whether a packed buffer has the elements of another one (or of the whole matrix that its
 * structure means). */
static inline void expect_same_elements(jbuffer_t *loaded, jbuffer_t *original) {
    jlayout_t a, b;
    jdatatype_t type;
    const unsigned char *data_a, *data_b;
    int64_t count;
    JASSERT_OK(jbuffer_get_layout(loaded, &a));
    JASSERT_OK(jbuffer_get_layout(original, &b));
    JASSERT_OK(jbuffer_get_type(loaded, &type));
    JASSERT_TRUE(jlayout_same_shape(&a, &b));
    JASSERT_TRUE(jlayout_is_packed(&a));
    JASSERT_OK(jbuffer_as_pointer(loaded, JDEVICE_HOST, (void **)&data_a));
    JASSERT_OK(jbuffer_as_pointer(original, JDEVICE_HOST, (void **)&data_b));
    JASSERT_OK(jlayout_get_count(&a, &count));
    for (int64_t number = 0; number < count; ++number) {
        int64_t indices[JLAYOUT_MAX_RANK] = {0}, rest = number;
        unsigned char here[16], there[16];
        for (int d = 0; d < a.rank; ++d) {
            indices[d] = rest % a.extents[d];
            rest /= a.extents[d];
        }
        naive_element(data_a, &a, type, indices, here);
        naive_element(data_b, &b, type, indices, there);
        JASSERT_EQ(memcmp(here, there, jhandle_sizeof_datatype(type)), 0);
    }
}

/* Saves, compares with the file that should be, loads, compares. */
static inline void round_trip(jbuffer_t *buffer, bool fortran) {
    const folder_t folder = folder_make();
    jbuffer_t *loaded = NULL;
    jdatatype_t type;
    JASSERT_OK(jbuffer_get_type(buffer, &type));
    JEXPECT_OK(jbuffer_save(buffer, folder.path));
    JEXPECT_EQ(folder_count(&folder), 1);
    expect_file(folder.path, buffer, fortran);
    jbuffer_allocator_t *allocator = buffer_allocator_alone(JBUFFER_LOCAL, type, NULL, NULL);
    JEXPECT_OK(jbuffer_load(allocator, folder.path, &loaded));
    if (loaded != NULL) {
        jlayout_t layout;
        expect_same_elements(loaded, buffer);
        JEXPECT_OK(jbuffer_get_layout(loaded, &layout));
        JEXPECT_TRUE(jlayout_has_order(&layout, fortran ? JORDER_COLUMN_MAJOR : JORDER_ROW_MAJOR));
        JEXPECT_EQ(layout.structure, JSTRUCTURE_GENERAL);
    }
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    folder_end(&folder);
}

/* A file of that header's text and so many bytes of elements, of any version. */
static inline void write_npy(const char *path, int version, const char *text, size_t text_bytes,
                             size_t bytes) {
    static unsigned char file[1 << 16];
    const size_t begin = version == 1 ? 10 : 12;
    memset(file, 0, sizeof file);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    for (size_t i = 8; i < begin; ++i)
        file[i] = (unsigned char)(text_bytes >> 8 * (i - 8));
    memcpy(file + begin, text, text_bytes);
    for (size_t i = 0; i < bytes; ++i)
        file[begin + text_bytes + i] = (unsigned char)(i + 1);
    write_file(path, file, begin + text_bytes + bytes);
}

#endif
