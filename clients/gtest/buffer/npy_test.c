/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Files of NumPy's format. What is written is compared byte by byte with what npy_helper.h makes by
 * itself, and with files that NumPy wrote; what is read is what NumPy may write.
 * npy_refusal_test.c: anything else. */

#include "npy_helper.h"

#include "buffer/buffer.h"

/* ---- What is written ---- */

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
    static const char *const structures[] = {"symmetric-upper",  "symmetric-lower",
                                             "hermitian-upper",  "hermitian-lower",
                                             "triangular-upper", "triangular-lower"};
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
            ji_file_piece_bytes =
                jtest_random_bool() ? usual : (size_t)jtest_random_between(16, 600);
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
                 (int)jtest_random_between(1, 9), (int)jtest_random_between(1, 9),
                 (int)jtest_random_between(1, 9));
        jbuffer_t *buffer = make_buffer(text);
        JASSERT_OK(jbuffer_get_layout(buffer, &layout));
        int64_t starts[3], extents[3], steps[3];
        for (int d = 0; d < 3; ++d) {
            starts[d] = jtest_random_between(0, layout.extents[d] - 1);
            steps[d] = jtest_random_between(1, 2);
            extents[d] =
                jtest_random_between(1, (layout.extents[d] - 1 - starts[d]) / steps[d] + 1);
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

/* ---- Files that NumPy wrote ---- */

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
    jbuffer_allocator_t *allocator =
        buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_I32, NULL, NULL);
    for (int fortran = 0; fortran < 2; ++fortran) {
        jbuffer_t *buffer = NULL;
        jlayout_t layout;
        JASSERT_EQ(sizeof by_row, 128 + 24);
        JASSERT_EQ(sizeof by_column, 128 + 24);
        write_file(folder.path, fortran ? by_column : by_row, 128 + 24);
        JASSERT_OK(jbuffer_load(allocator, folder.path, &buffer));
        JASSERT_OK(jbuffer_get_layout(buffer, &layout));
        JEXPECT_TRUE(layout.rank == 2 && layout.extents[0] == 2 && layout.extents[1] == 3);
        JEXPECT_TRUE(layout.strides[0] == (fortran ? 1 : 3) &&
                     layout.strides[1] == (fortran ? 2 : 1));
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

typedef struct accepted {
    const char *text;
    jdatatype_t type;
    jorder_t order;
    int rank;
    int64_t extents[3];
} accepted_t;
/* clang-format off */
static const accepted_t accepted[] = {
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
     JDATATYPE_F64, JORDER_ROW_MAJOR, 2, {2, 3}},
    {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }   \n",
     JDATATYPE_F64, JORDER_COLUMN_MAJOR, 2, {2, 3}},
    {"{'shape': (2, 3), 'fortran_order': True, 'descr': '<f8'}",
     JDATATYPE_F64, JORDER_COLUMN_MAJOR, 2, {2, 3}},
    {"{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}\n",
     JDATATYPE_F32, JORDER_ROW_MAJOR, 2, {2, 3}},
    {" { 'descr' : '<c8' ,\t'fortran_order'\n: True,'shape' : ( 2 , 3 , ) , } ",
     JDATATYPE_F32_C, JORDER_COLUMN_MAJOR, 2, {2, 3}},
    {"{'descr': '<c16', 'fortran_order': False, 'shape': (), }",
     JDATATYPE_F64_C, JORDER_ROW_MAJOR, 0, {0}},
    {"{'descr': '<c16', 'fortran_order': False, 'shape': ( ), }",
     JDATATYPE_F64_C, JORDER_ROW_MAJOR, 0, {0}},
    {"{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }",
     JDATATYPE_F16, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }",
     JDATATYPE_I8, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '<i1', 'fortran_order': False, 'shape': (3,), }",
     JDATATYPE_I8, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '>i1', 'fortran_order': False, 'shape': (3,), }",
     JDATATYPE_I8, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '=i4', 'fortran_order': False, 'shape': (3,), }",
     JDATATYPE_I32, JORDER_ROW_MAJOR, 1, {3}},
    {"{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 3L, 4L), }",
     JDATATYPE_I32, JORDER_ROW_MAJOR, 3, {2, 3, 4}},
    {"{'descr': '<i4', 'fortran_order': True, 'shape': (0, 9223372036854775807), }",
     JDATATYPE_I32, JORDER_COLUMN_MAJOR, 2, {0, INT64_MAX}},
};
/* clang-format on */
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
            write_npy(folder.path, version, accepted[i].text, strlen(accepted[i].text),
                      count + (size_t)version);
            JEXPECT_OK(ji_npy_read_header(folder.path, &npy));
            JEXPECT_EQ(npy.type, accepted[i].type);
            JEXPECT_EQ(npy.order, accepted[i].order);
            JEXPECT_EQ(npy.rank, accepted[i].rank);
            for (int d = 0; d < accepted[i].rank; ++d)
                JEXPECT_EQ(npy.extents[d], accepted[i].extents[d]);
            JEXPECT_EQ((size_t)npy.data_offset,
                       (version == 1 ? 10 : 12) + strlen(accepted[i].text));
            jbuffer_allocator_t *allocator =
                buffer_allocator_alone(JBUFFER_LOCAL, npy.type, NULL, NULL);
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
