/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The header of NumPy's files (its form: numpy.org, "numpy.lib.format").
 *
 *     | \x93NUMPY | version 1 0 | length, 2 bytes | text | elements, one behind the other |
 *     |           |  2 0 or 3 0 | length, 4 bytes | the same                              |
 *
 *     text    {'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }   \n
 *
 * What is written is version 1.0, filled up with spaces so that the elements begin at a multiple of
 * 64 bytes. Eight dimensions of 19 digits still fit.
 *
 * What is read is untrusted. The text in braces is a literal of Python: the three keys come in any
 * order, with any spacing, in either kind of quotes, with a comma before the brace or without one;
 * each exactly once, and no others. Sizes are believed only when they fit a layout and the file is
 * long enough for them. Of a byte order other than this machine's nothing is read. A refusal quotes
 * the file's name and what stands where something else should. */

#include "buffer/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NPY_MAGIC "\x93NUMPY"
#define NPY_PREFIX_BYTES 8       /* magic and version */
#define NPY_LARGEST_HEADER 10000 /* bytes of text that are read: as many as NumPy itself trusts */
#define NPY_ALIGNMENT 64         /* of the first element in a file that is written here */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NPY_NATIVE '<'
#else
#define NPY_NATIVE '>'
#endif

/* NumPy's names: a kind and the bytes of an element. */
static const char *const npy_names[] = {
    [JDATATYPE_F32] = "f4",    [JDATATYPE_F64] = "f8", [JDATATYPE_F32_C] = "c8",
    [JDATATYPE_F64_C] = "c16", [JDATATYPE_F16] = "f2", [JDATATYPE_BF16] = "", /* none */
    [JDATATYPE_I8] = "i1",     [JDATATYPE_I32] = "i4",
};
enum { NPY_TYPES = sizeof npy_names / sizeof npy_names[0] };

jstatus_t ji_npy_errno(const char *path, const char *what, int error) {
    jstatus_t status = JSTATUS_IO_ERROR;
    if (error == ENOENT || error == ENOTDIR)
        status = JSTATUS_NOT_FOUND;
    else if (error == EACCES || error == EPERM || error == EROFS)
        status = JSTATUS_PERMISSION;
    else if (error == ENOMEM)
        status = JSTATUS_MEMORY_ERROR;
    return ji_fail(status, "\"%.300s\": %s: %s", path, what, strerror(error));
}

/* ---- Writing ---- */

jstatus_t ji_npy_format(ji_npy_t *npy, char header[JI_NPY_MAX_HEADER]) {
    if ((unsigned)npy->type >= NPY_TYPES || npy_names[npy->type][0] == '\0')
        return ji_fail(JSTATUS_NOT_IMPLEMENTED,
                       "NumPy has no name for the type %s: convert it first",
                       jdatatype_name(npy->type));

    char shape[JLAYOUT_MAX_RANK * 21 + 1] = "";
    size_t length = 0;
    for (int d = 0; d < npy->rank; d++)
        length += (size_t)snprintf(shape + length, sizeof shape - length, d > 0 ? ", %lld" : "%lld",
                                   (long long)npy->extents[d]);

    const size_t begin = NPY_PREFIX_BYTES + 2;
    const bool single = jhandle_sizeof_datatype(npy->type) == 1;
    length = begin + (size_t)snprintf(header + begin, JI_NPY_MAX_HEADER - begin,
                                      "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%s%s), }",
                                      single ? '|' : NPY_NATIVE, npy_names[npy->type],
                                      npy->order == JORDER_COLUMN_MAJOR ? "True" : "False", shape,
                                      npy->rank == 1 ? "," : "");

    const size_t total = (length + 1 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    memset(header + length, ' ', total - length);
    header[total - 1] = '\n';
    memcpy(header, NPY_MAGIC "\x01", NPY_PREFIX_BYTES); /* and the literal's own zero */

    header[NPY_PREFIX_BYTES] = (char)((total - begin) & 0xff);
    header[NPY_PREFIX_BYTES + 1] = (char)((total - begin) >> 8);

    npy->data_offset = (int64_t)total;
    return JSTATUS_SUCCESS;
}

/* ---- Reading the text ---- */

typedef struct npy_reader {
    const char *at, *end;
    const char *expected; /* what was, where `at` is */
} npy_reader_t;

/* Whoever gets false from here gives it on: there is one miss. */
static bool npy_miss(npy_reader_t *reader, const char *expected) {
    reader->expected = expected;
    return false;
}

static bool npy_is_one_of(char c, const char *set) { return c != '\0' && strchr(set, c) != NULL; }

static void npy_skip_spaces(npy_reader_t *reader) {
    while (reader->at < reader->end && npy_is_one_of(*reader->at, " \t\r\n"))
        reader->at++;
}

/* Takes the text, if it stands here behind spaces. */
static bool npy_take(npy_reader_t *reader, const char *text) {
    const size_t length = strlen(text);

    npy_skip_spaces(reader);
    if ((size_t)(reader->end - reader->at) < length || strncmp(reader->at, text, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* A text in quotes, without escapes: nothing that is looked for has any. */
static bool npy_read_string(npy_reader_t *reader, const char **text, size_t *length) {
    if (!npy_take(reader, "'") && !npy_take(reader, "\""))
        return npy_miss(reader, "a text in quotes");

    const char *const close =
        memchr(reader->at, reader->at[-1], (size_t)(reader->end - reader->at));
    if (close == NULL)
        return npy_miss(reader, "a closing quote");

    *text = reader->at;
    *length = (size_t)(close - reader->at);
    reader->at = close + 1;
    return true;
}

static bool npy_read_type(npy_reader_t *reader, jdatatype_t *type) {
    static const char expected[] =
        "one type of f32, f64, f32_c, f64_c, f16, i8 or i32 in this machine's byte order";
    const char *text;
    size_t length;

    npy_skip_spaces(reader);
    const char *const begin = reader->at;
    if (reader->at < reader->end && *reader->at == '[')
        return npy_miss(reader, "a single type, not records,");

    if (!npy_read_string(reader, &text, &length))
        return false;

    for (int t = 0; t < (int)NPY_TYPES; t++) {
        const bool single = jhandle_sizeof_datatype((jdatatype_t)t) == 1;
        const size_t bytes = strlen(npy_names[t]);
        if (bytes > 0 && length == bytes + 1 && strncmp(text + 1, npy_names[t], bytes) == 0 &&
            (text[0] == NPY_NATIVE || text[0] == '=' ||
             (single && npy_is_one_of(text[0], "|<>")))) {
            *type = (jdatatype_t)t;
            return true;
        }
    }

    reader->at = begin;
    return npy_miss(reader, expected);
}

static bool npy_read_order(npy_reader_t *reader, jorder_t *order) {
    if (npy_take(reader, "True"))
        *order = JORDER_COLUMN_MAJOR;
    else if (npy_take(reader, "False"))
        *order = JORDER_ROW_MAJOR;
    else
        return npy_miss(reader, "True or False");
    return true;
}

static bool npy_read_extent(npy_reader_t *reader, int64_t *extent) {
    npy_skip_spaces(reader);
    const char *const begin = reader->at;
    int64_t value = 0;

    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *reader->at - '0', &value)) {
            reader->at = begin;
            return npy_miss(reader, "a number of 63 bits");
        }

    if (reader->at == begin)
        return npy_miss(reader, "a number");
    if (reader->at < reader->end && *reader->at == 'L') /* as Python 2 wrote them */
        reader->at++;
    *extent = value;
    return true;
}

/* (), (3,), (2, 3): one number alone has a comma, or it would be no tuple. */
static bool npy_read_shape(npy_reader_t *reader, ji_npy_t *npy) {
    if (!npy_take(reader, "("))
        return npy_miss(reader, "\"(\"");

    npy->rank = 0;
    bool comma = true;
    while (!npy_take(reader, ")")) {
        if (!comma)
            return npy_miss(reader, "\",\" or \")\"");
        if (npy->rank == JLAYOUT_MAX_RANK)
            return npy_miss(reader, "no more than 8 dimensions");

        if (!npy_read_extent(reader, &npy->extents[npy->rank]))
            return false;
        npy->rank++;
        comma = npy_take(reader, ",");
    }

    if (npy->rank != 1 || comma)
        return true;
    reader->at--;
    return npy_miss(reader, "\",\"");
}

static bool npy_read_dictionary(npy_reader_t *reader, ji_npy_t *npy) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false}, comma = true;
    if (!npy_take(reader, "{"))
        return npy_miss(reader, "\"{\"");

    while (!npy_take(reader, "}")) {
        const char *text = NULL;
        size_t length = 0;
        int key = 0;
        if (!comma)
            return npy_miss(reader, "\",\" or \"}\"");

        const char *const begin = reader->at;
        if (!npy_read_string(reader, &text, &length))
            return false;

        while (key < 3 && (length != strlen(keys[key]) || memcmp(text, keys[key], length) != 0))
            key++;

        if (key == 3 || seen[key]) {
            reader->at = begin;
            return npy_miss(reader, "each of 'descr', 'fortran_order' and 'shape' once");
        }

        seen[key] = true;
        if (!npy_take(reader, ":"))
            return npy_miss(reader, "\":\"");
        if (key == 0   ? !npy_read_type(reader, &npy->type)
            : key == 1 ? !npy_read_order(reader, &npy->order)
                       : !npy_read_shape(reader, npy))
            return false;

        comma = npy_take(reader, ",");
    }

    if (!seen[0] || !seen[1] || !seen[2]) {
        reader->at--;
        return npy_miss(reader, "each of 'descr', 'fortran_order' and 'shape'");
    }

    npy_skip_spaces(reader);
    if (reader->at != reader->end)
        return npy_miss(reader, "the end of the header");
    return true;
}

/* ---- Reading the file ---- */

jstatus_t ji_npy_read(int file, const char *path, int64_t offset, void *bytes, size_t size_bytes) {
    for (size_t done = 0; done < size_bytes;) {
        const ssize_t count =
            pread(file, (char *)bytes + done, size_bytes - done, (off_t)offset + (off_t)done);

        if (count == 0)
            return ji_fail(
                JSTATUS_TRUNCATED, "\"%.300s\" ends after %lld bytes; there should be %lld", path,
                (long long)offset + (long long)done, (long long)offset + (long long)size_bytes);
        if (count < 0 && errno != EINTR)
            return ji_npy_errno(path, "cannot be read", errno);

        done += count > 0 ? (size_t)count : 0;
    }
    return JSTATUS_SUCCESS;
}

/* What is quoted of a text that is not to be trusted: a few characters, the printable ones. */
static void npy_quote(const npy_reader_t *reader, char quoted[25]) {
    size_t length = 0;
    for (const char *at = reader->at; at < reader->end && length < 24; at++)
        quoted[length++] = *at >= ' ' && *at <= '~' ? *at : '?';
    quoted[length] = '\0';
}

static jstatus_t npy_read_header(int file, const char *path, int64_t file_bytes, ji_npy_t *npy) {
    unsigned char prefix[NPY_PREFIX_BYTES + 4];
    char text[NPY_LARGEST_HEADER];
    JTRY_RETURN(ji_npy_read(file, path, 0, prefix, NPY_PREFIX_BYTES + 2));
    jstatus_t status = JSTATUS_SUCCESS;

    if (memcmp(prefix, NPY_MAGIC, sizeof NPY_MAGIC - 1) != 0)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "\"%.300s\" is no file of NumPy's: it does not begin with \\x93NUMPY", path);

    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "\"%.300s\": version %d.%d of NumPy's format; 1.0, 2.0 and 3.0 are known",
                       path, prefix[6], prefix[7]);

    size_t begin = NPY_PREFIX_BYTES + 2, length = (size_t)prefix[8] | (size_t)prefix[9] << 8;

    if (prefix[6] >= 2) {
        status = ji_npy_read(file, path, (int64_t)begin, prefix + begin, 2);
        if (status != JSTATUS_SUCCESS)
            return status;
        length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
        begin += 2;
    }

    if (length > sizeof text)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "\"%.300s\": a header of %zu bytes; up to %d are read", path, length,
                       NPY_LARGEST_HEADER);
    status = ji_npy_read(file, path, (int64_t)begin, text, length);
    if (status != JSTATUS_SUCCESS)
        return status;

    npy_reader_t reader = {.at = text, .end = text + length};
    if (!npy_read_dictionary(&reader, npy)) {
        char quoted[25];
        npy_quote(&reader, quoted);
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "\"%.300s\": at byte %zu of the file, before \"%s\", %s was expected", path,
                       begin + (size_t)(reader.at - text), quoted, reader.expected);
    }

    npy->data_offset = (int64_t)(begin + length);
    jlayout_t layout;
    size_t bytes;
    if (jlayout_init(&layout, npy->rank, npy->extents, npy->order) != JSTATUS_SUCCESS ||
        jlayout_get_bytes(&layout, npy->type, &bytes) != JSTATUS_SUCCESS)
        return ji_fail(JSTATUS_INVALID_VALUE, "\"%.200s\": %s", path, jstatus_last_message());

    if ((int64_t)bytes > file_bytes - npy->data_offset)
        return ji_fail(JSTATUS_TRUNCATED,
                       "\"%.300s\" has %lld bytes of elements; its header speaks of %zu", path,
                       (long long)(file_bytes - npy->data_offset), bytes);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_npy_open(const char *path, ji_npy_t *npy, int *opened) {
    struct stat facts;
    ji_npy_t found = {.rank = 0};
    jstatus_t status;

    /* A pipe without a writer must not hold us. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return ji_npy_errno(path, "cannot be opened", errno);

    if (fstat(file, &facts) != 0)
        status = ji_npy_errno(path, "cannot be looked at", errno);
    else if (!S_ISREG(facts.st_mode))
        status = ji_fail(JSTATUS_INVALID_VALUE, "\"%.300s\" is no regular file", path);
    else
        status = npy_read_header(file, path, (int64_t)facts.st_size, &found);

    if (status != JSTATUS_SUCCESS) {
        (void)close(file);
        return status;
    }

    *npy = found;
    *opened = file;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_npy_read_header(const char *path, ji_npy_t *npy) {
    int file = -1;
    jstatus_t status = ji_npy_open(path, npy, &file);
    if (status == JSTATUS_SUCCESS)
        (void)close(file);
    return status;
}
