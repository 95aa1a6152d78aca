/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Files that are not of NumPy's format, and names that are no files: each is refused with a
 * message. */

#include "npy_helper.h"

#include "buffer/buffer.h"

/* ---- Refusals ---- */

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
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2), }",
     "before \"), }\", \",\" was expected"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (,), }", "a number"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", "a number"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2.0,), }", "\",\" or \")\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3), }", "\",\" or \")\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,, 3), }", "a number"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (0x2,), }", "\",\" or \")\""},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }",
     "no more than 8 dimensions"},
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
    jbuffer_allocator_t *allocator =
        buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL);
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
        {"\x93NUMPY\2\0\0\0\0\x80 and more", 20, JSTATUS_INVALID_VALUE,
         "a header of 2147483648 bytes"},
        {"\x93NUMPY\3\0\xff\xff\xff\xff and more", 20, JSTATUS_INVALID_VALUE,
         "a header of 4294967295 bytes"},
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
            changed[at] =
                (unsigned char)(jtest_random_bool() ? jtest_random()
                                                    : changed[jtest_random_between(0, 75)]);
        }
        write_file(folder.path, changed, size);
        free(changed);
        const jstatus_t status = jbuffer_load(allocator, folder.path, &loaded);
        JEXPECT_TRUE(status == JSTATUS_SUCCESS || status == JSTATUS_INVALID_VALUE ||
                     status == JSTATUS_TRUNCATED);
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
    JEXPECT_STATUS(jbuffer_load((jbuffer_allocator_t *)buffer, folder.path, &loaded),
                   JSTATUS_NOT_FOUND);
    /* No such file. */
    JEXPECT_STATUS(jbuffer_load(allocator, folder.path, &loaded), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "No such file");
    JASSERT_OK(jbuffer_save(buffer, folder.path));
    jbuffer_allocator_t *other = buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F32, NULL, NULL);
    /* Another type. */
    JEXPECT_STATUS(jbuffer_load(other, folder.path, &loaded), JSTATUS_INVALID_VALUE);
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
    } errors[] = {
        {ENOENT, JSTATUS_NOT_FOUND}, {ENOTDIR, JSTATUS_NOT_FOUND}, {EACCES, JSTATUS_PERMISSION},
        {EPERM, JSTATUS_PERMISSION}, {EROFS, JSTATUS_PERMISSION},  {ENOMEM, JSTATUS_MEMORY_ERROR},
        {ENOSPC, JSTATUS_IO_ERROR},  {EIO, JSTATUS_IO_ERROR},      {EFBIG, JSTATUS_IO_ERROR}};
    for (size_t i = 0; i < COUNT_OF(errors); ++i) {
        JEXPECT_STATUS(ji_npy_errno("/a/b", "cannot be read", errors[i].error), errors[i].status);
        JEXPECT_SUBSTR(jstatus_last_message(), "\"/a/b\": cannot be read: ");
        JEXPECT_SUBSTR(jstatus_last_message(), strerror(errors[i].error));
    }
}

/* ---- Names that are something else ---- */

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
    /* A pipe that nobody writes to: nothing waits for it. */
    JASSERT_EQ(mkfifo(folder.path, 0600), 0);
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
    /* Longer than any file system takes. */
    snprintf(name, sizeof name, "%s/%0500d", folder.name, 1);
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
