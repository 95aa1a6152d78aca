/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Files of NumPy's format. What is written is compared byte by byte with what this file makes by itself, and with files
 * that NumPy wrote; what is read is what NumPy may write, and anything else is refused with a message. Whatever fails
 * leaves the old file as it was and nothing beside it. */

#include "buffer_helper.h"
#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include "buffer/buffer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- A folder for each test -------------------------------------------------------------------------------------- */

typedef struct folder {
    char name[32], path[64]; /* the folder; a file in it */
} folder_t;

static folder_t folder_make(void) {
    folder_t folder = {.name = "/tmp/jalloc-npy-XXXXXX"};
    if (mkdtemp(folder.name) == NULL)
        JFAIL("mkdtemp: %s", strerror(errno));
    snprintf(folder.path, sizeof folder.path, "%s/a.npy", folder.name);
    return folder;
}

/* How many files are in it, those with a dot too. */
static int folder_count(const folder_t *folder) {
    int count = 0;
    DIR *directory = opendir(folder->name);
    if (directory == NULL)
        return -1;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static void folder_end(const folder_t *folder) {
    (void)unlink(folder->path);
    JEXPECT_EQ(folder_count(folder), 0);
    JEXPECT_EQ(rmdir(folder->name), 0);
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    JASSERT_NOT_NULL(file);
    JEXPECT_EQ(fwrite(bytes, 1, size, file), size);
    JEXPECT_EQ(fclose(file), 0);
}

/* The bytes of a file; released by the caller. */
static unsigned char *read_file(const char *path, size_t *size) {
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

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

/* A buffer of a layout in text form ("f64[2,3]"), every element different, its memory random in between. */
static jbuffer_t *make_buffer(const char *text) {
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
static void conjugate(void *number, jdatatype_t type) {
    const size_t size = jhandle_sizeof_datatype(type);
    if (type == JDATATYPE_F32_C || type == JDATATYPE_F64_C)
        ((unsigned char *)number)[size - 1] ^= 0x80;
}

/* The element at these indices as the structure has it. */
static void naive_element(const unsigned char *data, const jlayout_t *layout, jdatatype_t type, const int64_t *indices,
                          unsigned char *element) {
    const size_t size = jhandle_sizeof_datatype(type);
    int64_t i = indices[0], j = indices[1], offset;
    const jstructure_t s = layout->structure;
    const bool upper =
        s == JSTRUCTURE_SYMMETRIC_UPPER || s == JSTRUCTURE_HERMITIAN_UPPER || s == JSTRUCTURE_TRIANGULAR_UPPER;
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
static unsigned char *naive_file(jbuffer_t *buffer, bool fortran, size_t *size) {
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
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%lld%s", (long long)layout.extents[d],
                 layout.rank == 1      ? ","
                 : d + 1 < layout.rank ? ", "
                                       : "");
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descriptions[type],
             fortran ? "True" : "False", shape);
    const size_t element = jhandle_sizeof_datatype(type), begin = (10 + strlen(text) + 1 + 63) / 64 * 64;
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

static void expect_file(const char *path, jbuffer_t *buffer, bool fortran) {
    size_t size, expected_size;
    unsigned char *file = read_file(path, &size), *expected = naive_file(buffer, fortran, &expected_size);
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

/* Whether a packed buffer has the elements of another one (or of the whole matrix that its structure means). */
static void expect_same_elements(jbuffer_t *loaded, jbuffer_t *original) {
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
static void round_trip(jbuffer_t *buffer, bool fortran) {
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

/* ---- What is written --------------------------------------------------------------------------------------------- */

static const struct written {
    const char *layout;
    bool fortran;
} written[] = {
    {"f64[]", false},
    {"f64[5]", false},
    {"f64[5] strides=(3)", false},
    {"i8[0]", false},
    {"f32[2,3]", true},
    {"f32[2,3] row", false},
    {"f32_c[3,4] ld=7", true},
    {"f64_c[3,4] row ld=7", false},
    {"i32[1,7]", true},
    {"i32[7,1]", true},
    {"i32[1,7] row", false},
    {"f16[3,0,2]", true},
    {"f16[2,3,4]", true},
    {"i8[2,3,4] row", false},
    {"f64[2,3,4] strides=(4,8,1)", true}, /* neither order */
    {"f32[2,3,4,5] strides=(60,20,5,1)", false},
    {"i32[2,3,2,3,2] ld=3", true},
    {"i8[1,2,3,4,5,2,1,2] row", false},
};
JTEST_P(Npy, FilesAreTheBytesTheyShouldBe, struct written, written) {
    const size_t usual = ji_file_piece_bytes;
    for (int small = 0; small < 2; ++small) {
        JSCOPED_TRACE("%s%s", param->layout, small ? ", in small pieces" : "");
        jbuffer_t *buffer = make_buffer(param->layout);
        ji_file_piece_bytes = small ? (size_t)jtest_random_between(16, 80) : usual;
        round_trip(buffer, param->fortran);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    ji_file_piece_bytes = usual;
}

JTEST(Npy, EveryTypeHasItsName) {
    for (int t = JDATATYPE_F32; t <= JDATATYPE_I32; ++t) {
        char text[64];
        snprintf(text, sizeof text, "%s[3,2]", jdatatype_name((jdatatype_t)t));
        JSCOPED_TRACE("%s", text);
        jbuffer_t *buffer = make_buffer(text);
        if (t != JDATATYPE_BF16) {
            round_trip(buffer, true);
        } else {
            const folder_t folder = folder_make();
            JEXPECT_STATUS(jbuffer_save(buffer, folder.path), JSTATUS_NOT_IMPLEMENTED);
            JEXPECT_SUBSTR(jstatus_last_message(), "bf16");
            folder_end(&folder);
        }
        JEXPECT_OK(jbuffer_release(buffer));
    }
}

JTEST(Npy, AStructureIsWrittenAsTheWholeMatrix) {
    static const char *const structures[] = {"symmetric-upper", "symmetric-lower",  "hermitian-upper",
                                             "hermitian-lower", "triangular-upper", "triangular-lower"};
    static const char *const types[] = {"f32", "f64", "f32_c", "f64_c", "i32"};
    const size_t usual = ji_file_piece_bytes;
    for (size_t s = 0; s < COUNT_OF(structures); ++s)
        for (size_t t = 0; t < COUNT_OF(types); ++t) {
            char text[96];
            const int n = (int)jtest_random_between(0, 12);
            const bool row = jtest_random_bool();
            snprintf(text, sizeof text, "%s[%d,%d]%s ld=%d %s", types[t], n, n, row ? " row" : "",
                     n + (int)jtest_random_between(1, 3), structures[s]);
            /* A column whole, several at once, and less than one. */
            ji_file_piece_bytes = jtest_random_bool() ? usual : (size_t)jtest_random_between(16, 600);
            JSCOPED_TRACE("%s, pieces of %zu", text, ji_file_piece_bytes);
            jbuffer_t *buffer = make_buffer(text);
            round_trip(buffer, true);
            JEXPECT_OK(jbuffer_release(buffer));
        }
    ji_file_piece_bytes = usual;
}

JTEST(Npy, ViewsAreWrittenAsTheyAreSeen) {
    const size_t usual = ji_file_piece_bytes;
    for (int64_t round = jtest_iterations(60); round > 0; --round) {
        jlayout_t layout;
        char text[96];
        jbuffer_t *view = NULL, *turned = NULL;
        snprintf(text, sizeof text, "%s[%d,%d,%d]", jtest_random_bool() ? "f32" : "f64_c",
                 (int)jtest_random_between(1, 9), (int)jtest_random_between(1, 9), (int)jtest_random_between(1, 9));
        jbuffer_t *buffer = make_buffer(text);
        JASSERT_OK(jbuffer_get_layout(buffer, &layout));
        int64_t starts[3], extents[3], steps[3];
        for (int d = 0; d < 3; ++d) {
            starts[d] = jtest_random_between(0, layout.extents[d] - 1);
            steps[d] = jtest_random_between(1, 2);
            extents[d] = jtest_random_between(1, (layout.extents[d] - 1 - starts[d]) / steps[d] + 1);
        }
        JASSERT_OK(jbuffer_slice(buffer, starts, extents, steps, &view));
        const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
        JASSERT_OK(jbuffer_permute(view, orders[jtest_random_between(0, 2)], &turned));
        JASSERT_OK(jbuffer_get_layout(turned, &layout));
        ji_file_piece_bytes = (size_t)jtest_random_between(16, 300);
        jorder_t order;
        const bool fortran = !ji_layout_order(&layout, &order) || order == JORDER_COLUMN_MAJOR;
        round_trip(turned, fortran);
        JEXPECT_OK(jbuffer_release(turned));
        JEXPECT_OK(jbuffer_release(view));
        JEXPECT_OK(jbuffer_release(buffer));
    }
    ji_file_piece_bytes = usual;
}

JTEST(Npy, LargeBuffersGoInPieces) {
    static const struct written large[] = {
        {"f64[300,500] ld=301", true},
        {"f64[300,500] strides=(1000,2)", false},
        {"i8[1200,900,2] strides=(2,2400,1)", true},
        {"i8[3000000] strides=(2)", false},
        {"f64_c[300,300] hermitian-lower", true},
        {"f64[600,600]", true},
    };
    for (size_t i = 0; i < COUNT_OF(large); ++i) {
        JSCOPED_TRACE("%s", large[i].layout);
        const folder_t folder = folder_make();
        jbuffer_t *buffer = make_buffer(large[i].layout);
        JEXPECT_OK(jbuffer_save(buffer, folder.path));
        expect_file(folder.path, buffer, large[i].fortran);
        JEXPECT_OK(jbuffer_release(buffer));
        folder_end(&folder);
    }
}

JTEST(Npy, TheLongestHeaderFits) {
    ji_npy_t npy = {.type = JDATATYPE_F64_C, .rank = JLAYOUT_MAX_RANK};
    char header[JI_NPY_MAX_HEADER + 8];
    for (int d = 0; d < JLAYOUT_MAX_RANK; ++d)
        npy.extents[d] = INT64_MAX;
    memset(header, '#', sizeof header);
    JASSERT_OK(ji_npy_format(&npy, header));
    JEXPECT_EQ(npy.data_offset % 64, 0);
    JEXPECT_LE(npy.data_offset, JI_NPY_MAX_HEADER);
    JEXPECT_EQ(header[npy.data_offset - 1], '\n');
    for (size_t i = (size_t)npy.data_offset; i < sizeof header; ++i)
        JASSERT_EQ(header[i], '#');
    npy.type = (jdatatype_t)-1;
    JEXPECT_STATUS(ji_npy_format(&npy, header), JSTATUS_NOT_IMPLEMENTED);
}

/* ---- Files that NumPy wrote -------------------------------------------------------------------------------------- */

/* The header of numpy.save, whose last line is filled up to 128 bytes. */
#define NUMPY_HEADER "\x93NUMPY\x01\x00v\x00"
#define SPACES_56 "                                                        "

JTEST(Npy, FilesOfNumPyAreRead) {
    /* numpy.save(..., numpy.array([[1, 2, 3], [4, 5, 6]], dtype="<i4")), and order="F" */
    static const char by_row[] =
        NUMPY_HEADER "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }" SPACES_56 "  \n"
                     "\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0\x05\0\0\0\x06\0\0";
    static const char by_column[] =
        NUMPY_HEADER "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }" SPACES_56 "   \n"
                     "\x01\0\0\0\x04\0\0\0\x02\0\0\0\x05\0\0\0\x03\0\0\0\x06\0\0";
    const folder_t folder = folder_make();
    jbuffer_allocator_t *allocator = buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_I32, NULL, NULL);
    for (int fortran = 0; fortran < 2; ++fortran) {
        jbuffer_t *buffer = NULL;
        jlayout_t layout;
        JASSERT_EQ(sizeof by_row, 128 + 24);
        JASSERT_EQ(sizeof by_column, 128 + 24);
        write_file(folder.path, fortran ? by_column : by_row, 128 + 24);
        JASSERT_OK(jbuffer_load(allocator, folder.path, &buffer));
        JASSERT_OK(jbuffer_get_layout(buffer, &layout));
        JEXPECT_TRUE(layout.rank == 2 && layout.extents[0] == 2 && layout.extents[1] == 3);
        JEXPECT_TRUE(layout.strides[0] == (fortran ? 1 : 3) && layout.strides[1] == (fortran ? 2 : 1));
        for (int64_t i = 0; i < 2; ++i)
            for (int64_t j = 0; j < 3; ++j) {
                int32_t value = 0;
                JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){i, j}, &value));
                JEXPECT_EQ(value, 3 * i + j + 1);
            }
        /* And what is saved is NumPy's file again. */
        size_t size;
        JEXPECT_OK(jbuffer_save(buffer, folder.path));
        unsigned char *file = read_file(folder.path, &size);
        JEXPECT_EQ(size, 128 + 24);
        JEXPECT_EQ(memcmp(file, fortran ? by_column : by_row, 128 + 24), 0);
        free(file);
        JEXPECT_OK(jbuffer_release(buffer));
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    folder_end(&folder);
}

/* A file of that header's text and so many bytes of elements, of any version. */
static void write_npy(const char *path, int version, const char *text, size_t text_bytes, size_t bytes) {
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

static const struct accepted {
    const char *text;
    jdatatype_t type;
    jorder_t order;
    int rank;
    int64_t extents[3];
} accepted[] = {
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", JDATATYPE_F64, JORDER_ROW_MAJOR, 2, {2, 3}},
    {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }   \n", JDATATYPE_F64, JORDER_COLUMN_MAJOR, 2, {2, 3}},
    {"{'shape': (2, 3), 'fortran_order': True, 'descr': '<f8'}", JDATATYPE_F64, JORDER_COLUMN_MAJOR, 2, {2, 3}},
    {"{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}\n", JDATATYPE_F32, JORDER_ROW_MAJOR, 2, {2, 3}},
    {" { 'descr' : '<c8' ,\t'fortran_order'\n: True,'shape' : ( 2 , 3 , ) , } ",
     JDATATYPE_F32_C,
     JORDER_COLUMN_MAJOR,
     2,
     {2, 3}},
    {"{'descr': '<c16', 'fortran_order': False, 'shape': (), }", JDATATYPE_F64_C, JORDER_ROW_MAJOR, 0, {0}},
    {"{'descr': '<c16', 'fortran_order': False, 'shape': ( ), }", JDATATYPE_F64_C, JORDER_ROW_MAJOR, 0, {0}},
    {"{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", JDATATYPE_F16, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", JDATATYPE_I8, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '<i1', 'fortran_order': False, 'shape': (3,), }", JDATATYPE_I8, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '>i1', 'fortran_order': False, 'shape': (3,), }", JDATATYPE_I8, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '=i4', 'fortran_order': False, 'shape': (3,), }", JDATATYPE_I32, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 3L, 4L), }",
     JDATATYPE_I32,
     JORDER_ROW_MAJOR,
     3,
     {2, 3, 4}},
    {"{'descr': '<i4', 'fortran_order': True, 'shape': (0, 9223372036854775807), }",
     JDATATYPE_I32,
     JORDER_COLUMN_MAJOR,
     2,
     {0, INT64_MAX}},
};
JTEST(Npy, WhateverNumPyMayWriteIsRead) {
    const folder_t folder = folder_make();
    for (size_t i = 0; i < COUNT_OF(accepted); ++i)
        for (int version = 1; version <= 3; ++version) {
            ji_npy_t npy = {.rank = 99};
            JSCOPED_TRACE("%s, version %d", accepted[i].text, version);
            size_t count = jhandle_sizeof_datatype(accepted[i].type);
            for (int d = 0; d < accepted[i].rank; ++d)
                count *= (size_t)accepted[i].extents[d];
            /* Anything may stand behind the elements: numpy.save() into an open file appends. */
            write_npy(folder.path, version, accepted[i].text, strlen(accepted[i].text), count + (size_t)version);
            JEXPECT_OK(ji_npy_read_header(folder.path, &npy));
            JEXPECT_EQ(npy.type, accepted[i].type);
            JEXPECT_EQ(npy.order, accepted[i].order);
            JEXPECT_EQ(npy.rank, accepted[i].rank);
            for (int d = 0; d < accepted[i].rank; ++d)
                JEXPECT_EQ(npy.extents[d], accepted[i].extents[d]);
            JEXPECT_EQ((size_t)npy.data_offset, (version == 1 ? 10 : 12) + strlen(accepted[i].text));
            jbuffer_allocator_t *allocator = buffer_allocator_alone(JBUFFER_LOCAL, npy.type, NULL, NULL);
            jbuffer_t *buffer = NULL;
            unsigned char *data;
            JEXPECT_OK(jbuffer_load(allocator, folder.path, &buffer));
            JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, (void **)&data));
            for (size_t k = 0; k < count; ++k)
                JASSERT_EQ(data[k], (unsigned char)(k + 1));
            JEXPECT_OK(jbuffer_release(buffer));
            JEXPECT_OK(jbuffer_allocator_release(allocator));
        }
    folder_end(&folder);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

#define REST "'fortran_order': False, 'shape': (2,), }"
static const struct refused {
    const char *text, *message;
} refused[] = {
    {"", "\"{\" was expected"},
    {"   ", "\"{\" was expected"},
    {"[]", "before \"[]\", \"{\" was expected"},
    {"{}", "each of 'descr', 'fortran_order' and 'shape'"},
    {"{'descr': '<f8', 'fortran_order': False, }", "each of 'descr', 'fortran_order' and 'shape'"},
    {"{'descr': '<f8', 'shape': (2,), }", "each of 'descr', 'fortran_order' and 'shape'"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}", "before \"'more': 1}\""},
    {"{'descr': '<f8', 'descr': '<f8', " REST, "'shape' once"},
    {"{'Descr': '<f8', " REST, "at byte 11 of the file"},
    {"{descr: '<f8', " REST, "a text in quotes"},
    {"{'descr', " REST, "\":\" was expected"},
    {"{'descr: '<f8', " REST, "each of"},
    {"{'descr\": '<f8', " REST, "each of"},
    {"{'descr': '<f8' " REST, "\",\" or \"}\""},
    {"{,'descr': '<f8', " REST, "a text in quotes"},
    {"{'descr': '<f8',, " REST, "a text in quotes"},
    {"{'descr': '>f8', " REST, "before \"'>f8', 'fortran_order': "},
    {"{'descr': '|f8', " REST, "byte order"},
    {"{'descr': 'f8', " REST, "one type of"},
    {"{'descr': '<f16', " REST, "one type of"},
    {"{'descr': '<f8x', " REST, "one type of"},
    {"{'descr': '<c1', " REST, "one type of"},
    {"{'descr': '<u4', " REST, "one type of"},
    {"{'descr': '<i8', " REST, "one type of"},
    {"{'descr': '|b1', " REST, "one type of"},
    {"{'descr': '|O', " REST, "one type of"},
    {"{'descr': '<', " REST, "one type of"},
    {"{'descr': '', " REST, "one type of"},
    {"{'descr': [('x', '<f8'), ('y', '<f8')], " REST, "not records"},
    {"{'descr': <f8, " REST, "a text in quotes"},
    {"{'descr': '<f8", "a closing quote"},
    {"{'descr': ", "a text in quotes"},
    {"{'descr': 'xi1', " REST, "one type of"},
    {"{'descr': '<f8', 'fortran_order': 1, 'shape': (2,), }", "True or False"},
    {"{'descr': '<f8', 'fortran_order': true, 'shape': (2,), }", "True or False"},
    {"{'descr': '<f8', 'fortran_order': Falsehood, 'shape': (2,), }", "\",\" or \"}\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': 2, }", "\"(\" was expected"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': [2], }", "\"(\" was expected"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2), }", "before \"), }\", \",\" was expected"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (,), }", "a number"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", "a number"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2.0,), }", "\",\" or \")\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3), }", "\",\" or \")\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,, 3), }", "a number"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (0x2,), }", "\",\" or \")\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "no more than 8 dimensions"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,), }", "63 bits"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775810,), }", "63 bits"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "63 bits"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,), }", "63 bits"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2", "\",\" or \")\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)", "\",\" or \"}\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), } x", "the end of the header"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }}", "the end of the header"},
};
JTEST(Npy, OtherHeadersAreRefusedAndQuoted) {
    const folder_t folder = folder_make();
    jbuffer_allocator_t *allocator = buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL);
    for (size_t i = 0; i < COUNT_OF(refused); ++i) {
        jbuffer_t *buffer = (jbuffer_t *)&buffer;
        JSCOPED_TRACE("%s", refused[i].text);
        write_npy(folder.path, 1, refused[i].text, strlen(refused[i].text), 16);
        JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &buffer), JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), refused[i].message);
        JEXPECT_SUBSTR(jstatus_last_message(), folder.path);
        JEXPECT_TRUE(buffer == (jbuffer_t *)&buffer);
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    folder_end(&folder);
}

JTEST(Npy, WhatIsNoNumPyFileIsRefused) {
    static const struct {
        const char *bytes;
        size_t size;
        jstatus_t status;
        const char *message;
    } files[] = {
        {"", 0, JSTATUS_TRUNCATED, "ends after 0 bytes"},
        {"\x93NUMPY", 6, JSTATUS_TRUNCATED, "ends after 6 bytes"},
        {"PK\3\4 this is a zip", 18, JSTATUS_INVALID_VALUE, "is no file of NumPy's"},
        {"\x93NUMPX\1\0v\0 and more", 20, JSTATUS_INVALID_VALUE, "is no file of NumPy's"},
        {"\x93NUMPY\0\0v\0 and more", 20, JSTATUS_INVALID_VALUE, "version 0.0"},
        {"\x93NUMPY\4\0v\0 and more", 20, JSTATUS_INVALID_VALUE, "version 4.0"},
        {"\x93NUMPY\1\1v\0 and more", 20, JSTATUS_INVALID_VALUE, "version 1.1"},
        {"\x93NUMPY\1\0\x11\x27 and more", 20, JSTATUS_INVALID_VALUE, "a header of 10001 bytes"},
        {"\x93NUMPY\1\0\x10\x27 and more", 20, JSTATUS_TRUNCATED, "there should be 10010"},
        {"\x93NUMPY\2\0\0\0\0\x80 and more", 20, JSTATUS_INVALID_VALUE, "a header of 2147483648 bytes"},
        {"\x93NUMPY\3\0\xff\xff\xff\xff and more", 20, JSTATUS_INVALID_VALUE, "a header of 4294967295 bytes"},
        {"\x93NUMPY\2\0\1\0\0", 11, JSTATUS_TRUNCATED, "ends after 11 bytes"},
    };
    const folder_t folder = folder_make();
    for (size_t i = 0; i < COUNT_OF(files); ++i) {
        ji_npy_t npy = {.rank = 99};
        JSCOPED_TRACE("file %zu", i);
        write_file(folder.path, files[i].bytes, files[i].size);
        JEXPECT_STATUS(ji_npy_read_header(folder.path, &npy), files[i].status);
        JEXPECT_SUBSTR(jstatus_last_message(), files[i].message);
        JEXPECT_EQ(npy.rank, 99);
    }
    folder_end(&folder);
}

JTEST(Npy, AFileCutAnywhereIsTruncated) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f32[3,4]"), *loaded = NULL;
    jbuffer_allocator_t *allocator;
    size_t size;
    JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
    JASSERT_OK(jbuffer_save(buffer, folder.path));
    unsigned char *file = read_file(folder.path, &size);
    for (size_t cut = 0; cut < size; ++cut) {
        JSCOPED_TRACE("%zu of %zu bytes", cut, size);
        JEXPECT_EQ(truncate(folder.path, 0), 0);
        write_file(folder.path, file, cut);
        JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_TRUNCATED);
        JEXPECT_NULL(loaded);
    }
    JEXPECT_SUBSTR(jstatus_last_message(), "47 bytes of elements; its header speaks of 48");
    free(file);
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

JTEST(Npy, AnyBytesAreReadOrRefused) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[2,3]");
    jbuffer_allocator_t *allocator;
    size_t size;
    JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
    JASSERT_OK(jbuffer_save(buffer, folder.path));
    unsigned char *file = read_file(folder.path, &size);
    for (int64_t round = jtest_iterations(1000); round > 0; --round) {
        unsigned char *changed = malloc(size);
        jbuffer_t *loaded = NULL;
        memcpy(changed, file, size);
        for (int64_t i = jtest_random_between(1, 4); i > 0; --i) {
            const size_t at = (size_t)jtest_random_between(0, 75);
            changed[at] = (unsigned char)(jtest_random_bool() ? jtest_random() : changed[jtest_random_between(0, 75)]);
        }
        write_file(folder.path, changed, size);
        free(changed);
        const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
        JEXPECT_TRUE(status == JSTATUS_SUCCESS || status == JSTATUS_INVALID_VALUE || status == JSTATUS_TRUNCATED);
        JEXPECT_EQ(loaded != NULL, status == JSTATUS_SUCCESS);
        JEXPECT_OK(jbuffer_release(loaded));
    }
    free(file);
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

JTEST(Npy, MisuseHasItsStatus) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[2,3]"), *loaded = NULL;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
    JEXPECT_STATUS(jbuffer_save(NULL, folder.path), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_save(buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_save((jbuffer_t *)allocator, folder.path), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jbuffer_load(NULL, folder.path, &loaded), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_load(allocator, NULL, &loaded), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_load((jbuffer_allocator_t *)buffer, folder.path, &loaded), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_NOT_FOUND); /* no such file */
    JEXPECT_SUBSTR(jstatus_last_message(), "No such file");
    JASSERT_OK(jbuffer_save(buffer, folder.path));
    jbuffer_allocator_t *other = buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F32, NULL, NULL);
    JEXPECT_STATUS(jbuffer_load(other, folder.path, &loaded), JSTATUS_INVALID_VALUE); /* another type */
    JEXPECT_SUBSTR(jstatus_last_message(), "elements of f64, the allocator makes f32");
    JEXPECT_NULL(loaded);
    JEXPECT_OK(jbuffer_allocator_release(other));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_STATUS(jbuffer_save(buffer, folder.path), JSTATUS_NOT_FOUND); /* freed */
    folder_end(&folder);
}

JTEST(Npy, ErrorsOfTheSystemHaveTheirStatuses) {
    static const struct {
        int error;
        jstatus_t status;
    } errors[] = {{ENOENT, JSTATUS_NOT_FOUND}, {ENOTDIR, JSTATUS_NOT_FOUND}, {EACCES, JSTATUS_PERMISSION},
                  {EPERM, JSTATUS_PERMISSION}, {EROFS, JSTATUS_PERMISSION},  {ENOMEM, JSTATUS_MEMORY_ERROR},
                  {ENOSPC, JSTATUS_IO_ERROR},  {EIO, JSTATUS_IO_ERROR},      {EFBIG, JSTATUS_IO_ERROR}};
    for (size_t i = 0; i < COUNT_OF(errors); ++i) {
        JEXPECT_STATUS(ji_npy_errno("/a/b", "cannot be read", errors[i].error), errors[i].status);
        JEXPECT_SUBSTR(jstatus_last_message(), "\"/a/b\": cannot be read: ");
        JEXPECT_SUBSTR(jstatus_last_message(), strerror(errors[i].error));
    }
}

/* ---- Names that are something else ------------------------------------------------------------------------------- */

JTEST(Npy, OnlyRegularFilesAreReadAndReplaced) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[2,3]"), *loaded = NULL;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
    JASSERT_EQ(mkdir(folder.path, 0700), 0); /* a folder */
    JEXPECT_STATUS(jbuffer_save(buffer, folder.path), JSTATUS_IO_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "no regular file");
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "no regular file");
    JEXPECT_EQ(folder_count(&folder), 1);
    JASSERT_EQ(rmdir(folder.path), 0);
    JASSERT_EQ(mkfifo(folder.path, 0600), 0); /* a pipe that nobody writes to: nothing waits for it */
    JEXPECT_STATUS(jbuffer_save(buffer, folder.path), JSTATUS_IO_ERROR);
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_INVALID_VALUE);
    struct stat facts;
    JEXPECT_TRUE(lstat(folder.path, &facts) == 0 && S_ISFIFO(facts.st_mode));
    JASSERT_EQ(unlink(folder.path), 0);
    char *present = getcwd(NULL, 0);
    JASSERT_TRUE(present != NULL && chdir(folder.name) == 0); /* where files may be made */
    JEXPECT_STATUS(jbuffer_save(buffer, ""), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jbuffer_load(allocator, "", &loaded), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(chdir(present), 0);
    free(present);
    char below[96], name[600];
    snprintf(below, sizeof below, "%s/none/a.npy", folder.name);
    JEXPECT_STATUS(jbuffer_save(buffer, below), JSTATUS_NOT_FOUND);
    snprintf(below, sizeof below, "%s/", folder.name);
    JEXPECT_STATUS(jbuffer_save(buffer, below), JSTATUS_IO_ERROR);
    snprintf(name, sizeof name, "%s/%0500d", folder.name, 1); /* longer than any file system takes */
    JEXPECT_STATUS(jbuffer_save(buffer, name), JSTATUS_IO_ERROR);
    JEXPECT_EQ(folder_count(&folder), 0);
    /* The longest name there can be leaves room for the temporary one, which is another. */
    snprintf(name, sizeof name, "%s/%0255d", folder.name, 1);
    JEXPECT_OK(jbuffer_save(buffer, name));
    JEXPECT_EQ(folder_count(&folder), 1);
    JEXPECT_EQ(unlink(name), 0);
    JEXPECT_NULL(loaded);
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

JTEST(Npy, WhatIsReplacedGivesItsRights) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[2,3]");
    struct stat facts;
    const mode_t mask = umask(0027);
    JEXPECT_OK(jbuffer_save(buffer, folder.path));
    JEXPECT_TRUE(stat(folder.path, &facts) == 0 && (facts.st_mode & 0777) == 0640);
    JEXPECT_EQ(chmod(folder.path, 0604), 0);
    JEXPECT_OK(jbuffer_save(buffer, folder.path));
    JEXPECT_TRUE(stat(folder.path, &facts) == 0 && (facts.st_mode & 0777) == 0604);
    (void)umask(mask);
    /* A symbolic link is replaced, not what it points to. */
    char other[96];
    snprintf(other, sizeof other, "%s/b.npy", folder.name);
    JEXPECT_EQ(rename(folder.path, other), 0);
    JEXPECT_EQ(truncate(other, 1), 0);
    JEXPECT_EQ(symlink("b.npy", folder.path), 0);
    JEXPECT_OK(jbuffer_save(buffer, folder.path));
    JEXPECT_TRUE(lstat(folder.path, &facts) == 0 && S_ISREG(facts.st_mode));
    JEXPECT_TRUE(stat(other, &facts) == 0 && facts.st_size == 1);
    JEXPECT_EQ(unlink(other), 0);
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

JTEST(Npy, APathWithoutAFolderIsOfThePresentOne) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[2,3]");
    char *present = getcwd(NULL, 0);
    JASSERT_NOT_NULL(present);
    JASSERT_EQ(chdir(folder.name), 0);
    JEXPECT_OK(jbuffer_save(buffer, "a.npy"));
    JEXPECT_EQ(chdir(present), 0);
    JEXPECT_EQ(folder_count(&folder), 1);
    expect_file(folder.path, buffer, true);
    free(present);
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

/* ---- Failures in between ----------------------------------------------------------------------------------------- */

JTEST(Npy, WithoutBookkeepingMemoryNothingIsLeftBehind) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64_c[5,5] ld=7 hermitian-lower");
    /* The process's own allocator is made at its first use and stays; the test's is there. */
    jbuffer_allocator_t *allocator =
        buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F64_C, NULL, jtest_failing_allocator());
    JFOR_EACH_FAILURE(i) {
        write_file(folder.path, "old", 3);
        const jstatus_t status = jbuffer_save(buffer, folder.path);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(folder_count(&folder), 1);
        size_t size;
        unsigned char *file = read_file(folder.path, &size);
        JEXPECT_EQ(size == 3 && memcmp(file, "old", 3) == 0, status != JSTATUS_SUCCESS);
        free(file);
    }
    JFOR_EACH_FAILURE(i) {
        jbuffer_t *loaded = NULL;
        const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(loaded != NULL, status == JSTATUS_SUCCESS);
        JEXPECT_OK(jbuffer_release(loaded));
    }
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

JTEST(Npy, WithoutMemoryForElementsNothingIsLeftBehind) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[5,5]"), *loaded = NULL;
    JASSERT_OK(jbuffer_save(buffer, folder.path));
    jbuffer_allocator_t *allocator =
        buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F64, NULL, jtest_failing_allocator());
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(loaded);
    JEXPECT_OK(jbuffer_load(allocator, folder.path, &loaded));
    JEXPECT_EQ(jtest_live_bytes(), 200);
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

/* Saves over "old" in small pieces; what is there afterwards is the one file or the other, and nothing beside it. */
static jstatus_t save_over_old(const folder_t *folder, jbuffer_t *buffer) {
    write_file(folder->path, "old", 3);
    const jstatus_t status = jbuffer_save(buffer, folder->path);
    jtest_fail_metadata_after(0);
    size_t size;
    unsigned char *file = read_file(folder->path, &size);
    JEXPECT_EQ(size == 3 && memcmp(file, "old", 3) == 0, status != JSTATUS_SUCCESS);
    JEXPECT_EQ(folder_count(folder), 1);
    free(file);
    return status;
}

/* Each call of the system that saving and loading make fails once: an error of the system, with its words and the path. */
JTEST(Npy, EachFailedCallOfTheSystemIsAStatusAndLeavesTheOldFile) {
    static const char *const saving[] = {"open", "write", "fchmod", "fsync", "close", "rename"}, *const loading[] = {
                                                                                                     "open", "fstat",
                                                                                                     "pread"};
    static const char *const layouts[] = {"f64[5,5]", "f64[5,5] ld=7", "f64_c[5,5] hermitian-lower"};
    const folder_t folder = folder_make();
    const size_t usual = ji_file_piece_bytes;
    ji_file_piece_bytes = 96;
    for (size_t i = 0; i < COUNT_OF(layouts); ++i) {
        jbuffer_t *buffer = make_buffer(layouts[i]), *loaded = NULL;
        jbuffer_allocator_t *allocator;
        JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
        for (size_t k = 0; k < COUNT_OF(saving); ++k)
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                JSCOPED_TRACE("%s: %s number %d", layouts[i], saving[k], (int)n);
                jtest_fail_calls(saving[k], n, 1, EIO);
                const jstatus_t status = save_over_old(&folder, buffer);
                failed = jtest_calls_failed();
                JEXPECT_TRUE(failed || n > 1);
                JEXPECT_STATUS(status, failed ? JSTATUS_IO_ERROR : JSTATUS_SUCCESS);
                if (failed) {
                    JEXPECT_SUBSTR(jstatus_last_message(), strerror(EIO));
                    JEXPECT_SUBSTR(jstatus_last_message(), folder.name);
                }
            }
        for (size_t k = 0; k < COUNT_OF(loading); ++k)
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                JSCOPED_TRACE("%s: %s number %d", layouts[i], loading[k], (int)n);
                jtest_fail_calls(loading[k], n, 1, EIO);
                const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
                failed = jtest_calls_failed();
                JEXPECT_TRUE(failed || n > 1);
                JEXPECT_STATUS(status, failed ? JSTATUS_IO_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(loaded == NULL, failed != 0);
                if (failed)
                    JEXPECT_SUBSTR(jstatus_last_message(), folder.path);
                JEXPECT_OK(jbuffer_release(loaded));
                loaded = NULL;
            }
        JEXPECT_OK(jbuffer_release(buffer));
    }
    ji_file_piece_bytes = usual;
    folder_end(&folder);
}

/* A call that a signal cut short is made again; a name made without random numbers is a name, too. */
JTEST(Npy, CallsThatASignalInterruptsAreRepeated) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[5,5]"), *loaded;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
    jtest_fail_calls("write", 1, 3, EINTR);
    JEXPECT_OK(jbuffer_save(buffer, folder.path));
    JEXPECT_TRUE(jtest_calls_failed());
    jtest_fail_calls("getrandom", 1, 1, EAGAIN);
    JEXPECT_OK(jbuffer_save(buffer, folder.path));
    JEXPECT_TRUE(jtest_calls_failed());
    expect_file(folder.path, buffer, true);
    jtest_fail_calls("pread", 1, 2, EINTR);
    JASSERT_OK(jbuffer_load(allocator, folder.path, &loaded));
    JEXPECT_TRUE(jtest_calls_failed());
    expect_same_elements(loaded, buffer);
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

/* The signal of a file that is too large is the program's, where it was pending before. */
JTEST(Npy, ASignalThatWasPendingBeforeStaysPending) {
    const folder_t folder = folder_make();
    const struct timespec now = {0, 0};
    jbuffer_t *buffer = make_buffer("f64[5,5]");
    sigset_t too_large, before, pending;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    JASSERT_EQ(pthread_sigmask(SIG_BLOCK, &too_large, &before), 0);
    for (int was = 0; was < 2; ++was) {
        if (was)
            JASSERT_EQ(raise(SIGXFSZ), 0);
        jtest_fail_calls("write", 1, 1, EFBIG);
        JEXPECT_STATUS(save_over_old(&folder, buffer), JSTATUS_IO_ERROR);
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_SUBSTR(jstatus_last_message(), strerror(EFBIG));
        JEXPECT_EQ(sigpending(&pending), 0);
        JEXPECT_EQ(sigismember(&pending, SIGXFSZ), was);
    }
    JEXPECT_EQ(sigtimedwait(&too_large, NULL, &now), SIGXFSZ);
    JEXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    JEXPECT_OK(jbuffer_release(buffer));
    folder_end(&folder);
}

/* Between a file and a device, in pieces of several columns and of part of one: each call of the device and each
 * allocation of bookkeeping fails once. */
JTEST(Npy, EachFailureOfADeviceIsAStatusAndLeavesTheOldFile) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    const folder_t folder = folder_make();
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(runtime, JBUFFER_LOCAL, JDATATYPE_F64_C, &gpu->device, NULL, false);
    const size_t usual = ji_file_piece_bytes;
    for (int structure = 0; structure <= JSTRUCTURE_TRIANGULAR_LOWER; ++structure)
        for (size_t elements = 3; elements <= 16; elements += 13) {
            JSCOPED_TRACE("structure %d, pieces of %zu", structure, elements);
            jbuffer_t *whole = make_buffer("f64_c[7,7]"), *host, *there = NULL, *view;
            ji_file_piece_bytes = 16 * elements;
            JASSERT_OK(jbuffer_with_structure(whole, (jstructure_t)structure, &host));
            JASSERT_OK(jbuffer_save(whole, folder.path));
            gpu->fail_with = JSTATUS_DEVICE_ERROR;
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                gpu->failed = false;
                gpu->fail_in = n;
                const jstatus_t status = jbuffer_load(allocator, folder.path, &there);
                gpu->fail_in = 0;
                failed = gpu->failed;
                JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(there == NULL, failed != 0);
            }
            JFOR_EACH_FAILURE(i) {
                jbuffer_t *loaded = NULL;
                const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
                JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(loaded == NULL, status != JSTATUS_SUCCESS);
                JEXPECT_OK(jbuffer_release(loaded));
            }
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                jbuffer_t *loaded = NULL;
                jtest_fail_calls("pread", n, 1, EIO);
                const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
                failed = jtest_calls_failed();
                JEXPECT_TRUE(failed || n > 49 / elements);
                JEXPECT_STATUS(status, failed ? JSTATUS_IO_ERROR : JSTATUS_SUCCESS);
                JEXPECT_EQ(loaded == NULL, failed != 0);
                JEXPECT_OK(jbuffer_release(loaded));
            }
            JASSERT_OK(jbuffer_with_structure(there, (jstructure_t)structure, &view));
            for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                gpu->failed = false;
                gpu->fail_in = n;
                const jstatus_t status = save_over_old(&folder, view);
                gpu->fail_in = 0;
                failed = gpu->failed;
                JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
            }
            expect_file(folder.path, host, true);
            JFOR_EACH_FAILURE(i) {
                const jstatus_t status = save_over_old(&folder, view);
                JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
            }
            JEXPECT_OK(jbuffer_release(view));
            JEXPECT_OK(jbuffer_release(there));
            JEXPECT_OK(jbuffer_release(host));
            JEXPECT_OK(jbuffer_release(whole));
        }
    JEXPECT_EQ(gpu->violations, 0);
    ji_file_piece_bytes = usual;
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(runtime));
    folder_end(&folder);
}

/* Everyone's buffer, of which rank 0 reads and writes the file: what the others report, or cannot be told, is a status. */
static ji_npy_t told_header; /* what rank 0 tells the others */
static void tell_header(void *bytes, size_t size_bytes) {
    if (size_bytes == sizeof told_header)
        memcpy(bytes, &told_header, size_bytes);
}
JTEST(Npy, EachFailureOfTheOthersIsAStatus) {
    for (int rank = 0; rank < 2; ++rank)
        for (int shared = 0; shared < 2; ++shared)
            for (int empty = 0; empty < 2; ++empty) {
                JSCOPED_TRACE("rank %d, shared %d, empty %d", rank, shared, empty);
                const folder_t folder = folder_make();
                jbuffer_t *buffer = make_buffer(empty ? "f64[0,3]" : "f64[4,3]"), *loaded = NULL, *replicated = NULL;
                JASSERT_OK(jbuffer_save(buffer, folder.path));
                int file;
                JASSERT_OK(ji_npy_open(folder.path, &told_header, &file));
                JEXPECT_EQ(close(file), 0);
                pretend_runtime_t pretend;
                JASSERT_OK(pretend_runtime_make(&pretend, 2, false));
                pretend.runtime->info.rank = rank;
                pretend.change = rank != 0 ? tell_header : NULL;
                jbuffer_allocator_t *allocator =
                    buffer_allocator_of(pretend.runtime, JBUFFER_REPLICATED, JDATATYPE_F64, NULL, NULL, shared != 0);
                for (uint64_t n = 1, failed = 1; failed != 0; ++n) {
                    pretend.fail_in = n;
                    const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
                    failed = pretend.fail_in == 0;
                    pretend.fail_in = 0;
                    JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
                    JEXPECT_EQ(loaded == NULL, failed != 0);
                    replicated = loaded;
                    loaded = NULL;
                }
                JASSERT_NOT_NULL(replicated);
                write_file(folder.path, "old", 3);
                pretend.fail_in = 1;
                JEXPECT_STATUS(jbuffer_save(replicated, folder.path), JSTATUS_DEVICE_ERROR);
                JEXPECT_OK(jbuffer_save(replicated, folder.path));
                size_t size;
                unsigned char *bytes = read_file(folder.path, &size);
                JEXPECT_EQ(size == 3, rank != 0); /* rank 0 alone writes */
                free(bytes);
                if (rank == 0)
                    expect_file(folder.path, buffer, true);
                JEXPECT_OK(jbuffer_release(replicated));
                JEXPECT_OK(jbuffer_release(buffer));
                JEXPECT_OK(jbuffer_allocator_release(allocator));
                JEXPECT_OK(jruntime_release(pretend.runtime));
                folder_end(&folder);
            }
}

/* Where the best allocator makes local buffers each process reads the file, of which rank 0 has told the header. */
JTEST(Npy, EachProcessReadsALocalBufferForItself) {
    const folder_t folder = folder_make();
    jbuffer_t *buffer = make_buffer("f64[4,3]"), *loaded = NULL;
    JASSERT_OK(jbuffer_save(buffer, folder.path));
    JASSERT_OK(ji_npy_read_header(folder.path, &told_header));
    pretend_runtime_t pretend;
    JASSERT_OK(pretend_runtime_make(&pretend, 2, false));
    pretend.runtime->info.rank = 1;
    pretend.change = tell_header;
    jtest_setenv("JALLOC_BUFFER", "local");
    jbuffer_allocator_t *allocator =
        buffer_allocator_of(pretend.runtime, JBUFFER_BEST, JDATATYPE_F64, NULL, NULL, false);
    static const char *const calls[] = {"open", "fstat", "pread", "none"};
    for (size_t k = 0; k < COUNT_OF(calls); ++k) {
        JSCOPED_TRACE("%s", calls[k]);
        const bool fails = k + 1 < COUNT_OF(calls);
        jtest_fail_calls(calls[k], 1, UINT64_MAX, EIO);
        const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
        JEXPECT_EQ(jtest_calls_failed(), fails);
        JEXPECT_STATUS(status, fails ? JSTATUS_IO_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(loaded == NULL, fails);
    }
    expect_same_elements(loaded, buffer);
    JEXPECT_OK(jbuffer_release(loaded));
    loaded = NULL;
    JASSERT_EQ(unlink(folder.path), 0);
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_NOT_FOUND);
    JEXPECT_NULL(loaded);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jruntime_release(pretend.runtime));
    folder_end(&folder);
}

static void save_above_the_limit(void *argument) {
    const folder_t *folder = argument;
    static const char *const layouts[] = {"i8[200,200]", "i8[200,200] strides=(1,300)"};
    struct rlimit before;
    sigset_t pending;
    JASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {4096, before.rlim_max};
    jbuffer_t *buffers[COUNT_OF(layouts)];
    for (size_t i = 0; i < COUNT_OF(layouts); ++i)
        buffers[i] = make_buffer(layouts[i]);
    JASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (size_t i = 0; i < COUNT_OF(layouts); ++i) {
        JEXPECT_STATUS(jbuffer_save(buffers[i], folder->path), JSTATUS_IO_ERROR);
        JEXPECT_SUBSTR(jstatus_last_message(), "File too large");
        JEXPECT_EQ(folder_count(folder), 1);
        JEXPECT_OK(jbuffer_release(buffers[i]));
    }
    JEXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0); /* what the child writes at its end may be larger */
    sigpending(&pending);
    JEXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
}
JTEST(Npy, ALimitOnFilesIsAnErrorAndNoSignal) {
    folder_t folder = folder_make();
    size_t size;
    write_file(folder.path, "old", 3);
    jtest_in_child(60, save_above_the_limit, &folder);
    unsigned char *file = read_file(folder.path, &size);
    JEXPECT_TRUE(size == 3 && memcmp(file, "old", 3) == 0);
    free(file);
    folder_end(&folder);
}

JTEST(Npy, AFullDiskLeavesTheOldFile) {
    const folder_t folder = folder_make();
    if (mount("none", folder.name, "tmpfs", MS_NOSUID, "size=64k") != 0) {
        folder_end(&folder);
        JSKIP("no file system can be mounted here");
    }
    jbuffer_t *small = make_buffer("i8[100]"), *large = make_buffer("i8[200000]");
    JEXPECT_OK(jbuffer_save(small, folder.path));
    JEXPECT_STATUS(jbuffer_save(large, folder.path), JSTATUS_IO_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "No space left");
    expect_file(folder.path, small, false);
    JEXPECT_EQ(folder_count(&folder), 1);
    JEXPECT_OK(jbuffer_release(small));
    JEXPECT_OK(jbuffer_release(large));
    JEXPECT_EQ(umount(folder.name), 0);
    folder_end(&folder);
}

static void save_without_rights(void *argument) {
    const folder_t *folder = argument;
    jbuffer_t *buffer = make_buffer("f64[2,3]"), *loaded = NULL;
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_get_allocator(buffer, &allocator));
    if (geteuid() == 0)
        JASSERT_EQ(setuid(65534), 0);
    JEXPECT_STATUS(jbuffer_save(buffer, folder->path), JSTATUS_PERMISSION);
    JEXPECT_SUBSTR(jstatus_last_message(), "Permission denied");
    JEXPECT_STATUS(jbuffer_load(allocator, folder->path, &loaded), JSTATUS_PERMISSION);
    JEXPECT_NULL(loaded);
    JEXPECT_OK(jbuffer_release(buffer));
}
JTEST(Npy, WithoutRightsNothingHappens) {
    folder_t folder = folder_make();
    write_file(folder.path, "old", 3);
    JASSERT_EQ(chmod(folder.path, 0), 0);
    JASSERT_EQ(chmod(folder.name, 0555), 0);
    jtest_in_child(60, save_without_rights, &folder);
    JASSERT_EQ(chmod(folder.name, 0700), 0);
    JEXPECT_EQ(folder_count(&folder), 1);
    folder_end(&folder);
}
