/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers saved to files and loaded from them (npy.c knows the header).
 *
 * A file is written under a temporary name in the folder of its own, made sure of (fsync), and then
 * renamed, which happens at once or not at all: who opens the name finds the file as it was or the
 * new one. On any failure the temporary file is removed. A limit on the size of files is a signal,
 * which would end the program; it is blocked meanwhile, and the error that comes with it is enough.
 *
 * Elements lie in the file one behind the other. Memory that is like that is written as it is. Any
 * other, strided, with a structure, or on a device, is packed in pieces of a megabyte, cut so that
 * each is one run of the file:
 *
 *     column-major,      of a matrix with a structure, whose lower triangle is stored:
 *     8 elements each    the columns of a piece are
 *     1 1 2 2 3            m m    rows above: from the other triangle, mirrored, or zeros
 *     1 1 2 2 3            d .    the square on the diagonal: a structured slice itself
 *     1 1 2 2 3            d d
 *     1 1 2 2 3            s s    rows below: as they are stored
 *
 * Memory is loaded into as the file's order says, packed; so pieces matter for devices alone. */

#include "buffer/walk.h"
#include "core/file_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST_AT_ONCE ((size_t)1 << 30) /* the kernel takes no more than 2 GiB in one call */

size_t ji_file_piece_bytes = (size_t)1 << 20;

/* ---- Packing ---- */

/* A buffer's memory on its way from or to a file. */
typedef struct file_job {
    ji_elements_t elements; /* its dimensions in the file's order, the fastest first */
    jlayout_t blocks;       /* the same elements as the file has them; each block is a piece */
    int64_t count;          /* of pieces */
    void *memory;           /* of one, on the host */
    void *staging;          /* what a copy to or from a device asks for */
    size_t staging_bytes;
} file_job_t;

/* Part of the elements, which is one run of the file. */
typedef struct file_piece {
    int64_t starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK];
    ji_elements_t packed; /* in the job's memory */
    size_t bytes;
} file_piece_t;

/* Begins a job: which pieces there are, and where. */
static jstatus_t file_begin_job(file_job_t *job, const jbuffer_t *buffer, jorder_t order) {
    jstatus_t status;
    size_t bytes;
    *job = (file_job_t){.elements = ji_buffer_elements(buffer)};

    jlayout_t *const layout = &job->elements.layout;
    int reversed[JLAYOUT_MAX_RANK];
    for (int d = 0; d < layout->rank; d++)
        reversed[d] = layout->rank - 1 - d;

    if (order == JORDER_ROW_MAJOR)
        JTRY(jlayout_permute(layout, reversed, layout));

    JTRY(jlayout_init(&job->blocks, layout->rank, layout->extents, JORDER_COLUMN_MAJOR));
    JTRY(jlayout_get_bytes(&job->blocks, job->elements.type, &bytes));
    job->blocks = ji_layout_divide(
        &job->blocks, (int64_t)(ji_file_piece_bytes / jhandle_sizeof_datatype(job->elements.type)));

    JTRY(jlayout_get_block_count(&job->blocks, &job->count));
    if (bytes > 0)
        JTRY_ALLOC(job->memory = ji_metadata_alloc(
                       bytes < ji_file_piece_bytes ? bytes : ji_file_piece_bytes));
done:
    return status;
}

static jstatus_t file_cut_piece(const file_job_t *job, int64_t number, file_piece_t *piece) {
    const int rank = job->blocks.rank;
    JTRY_RETURN(jlayout_get_block(&job->blocks, number, piece->starts, piece->extents));
    piece->packed = (ji_elements_t){jdevice_host(), job->elements.type, {.rank = 0}, job->memory};
    JTRY_RETURN(jlayout_init(&piece->packed.layout, rank, piece->extents, JORDER_COLUMN_MAJOR));
    return jlayout_get_bytes(&piece->packed.layout, job->elements.type, &piece->bytes);
}

static void file_end_job(file_job_t *job) {
    ji_metadata_free(job->memory);
    ji_metadata_free(job->staging);
}

static jstatus_t file_copy(file_job_t *job, const ji_elements_t *destination,
                           const ji_elements_t *source) {
    jdevice_t *const device = job->elements.device;
    const size_t bytes = ji_elements_copy_bytes(destination, source);
    jstatus_t status;

    if (bytes > job->staging_bytes) {
        ji_metadata_free(job->staging);
        job->staging_bytes = 0;
        JTRY_ALLOC(job->staging = ji_metadata_alloc(bytes));
        job->staging_bytes = bytes;
    }

    JTRY(ji_elements_copy(destination, source, NULL, job->staging));
    status = jstream_synchronize(device, NULL);
done:
    return status;
}

static void file_conjugate(const ji_elements_t *elements) {
    const int64_t size = (int64_t)jhandle_sizeof_datatype(elements->type);
    ji_walk_t walk;
    ji_walk_layouts(&walk, 1, (const jlayout_t *const[]){&elements->layout});

    for (ji_walk_begin(&walk, 1); ji_walk_next(&walk);)
        ji_conjugate(elements->type, (char *)elements->data + walk.at[0] * size,
                     walk.dimensions[0].strides[0] * size, walk.count);
}

/* Rows begin to end of a piece of a matrix with a structure, which lie on one side of the
 * diagonal. */
static jstatus_t file_pack_rows(file_job_t *job, const file_piece_t *piece, int64_t begin,
                                int64_t end) {
    const int64_t rows = end - begin, column = piece->starts[1], columns = piece->extents[1];
    const ji_origin_t origin = ji_origin_of(job->elements.layout.structure, begin, column);

    if (rows <= 0 || origin == JI_ORIGIN_ZERO) /* the piece is zero before */
        return JSTATUS_SUCCESS;

    ji_elements_t source;
    const ji_elements_t destination =
        ji_elements_slice(&piece->packed, (const int64_t[]){begin - piece->starts[0], 0},
                          (const int64_t[]){rows, columns});

    if (origin == JI_ORIGIN_STORED) {
        source = ji_elements_slice(&job->elements, (const int64_t[]){begin, column},
                                   (const int64_t[]){rows, columns});
    } else {
        source = ji_elements_slice(&job->elements, (const int64_t[]){column, begin},
                                   (const int64_t[]){columns, rows});
        (void)jlayout_permute(&source.layout, (const int[]){1, 0}, &source.layout);
    }

    JTRY_RETURN(file_copy(job, &destination, &source));
    if (origin == JI_ORIGIN_CONJUGATED)
        file_conjugate(&destination);
    return JSTATUS_SUCCESS;
}

/* A piece of a matrix with a structure. */
static jstatus_t file_pack_structured(file_job_t *job, const file_piece_t *piece) {
    const int64_t top = piece->starts[0], bottom = top + piece->extents[0];

    /* Where the columns meet the diagonal: a square, since a piece has all rows or a single
     * column. */
    int64_t from = piece->starts[1], to = from + piece->extents[1];
    from = from < top ? top : from > bottom ? bottom : from;
    to = to < top ? top : to > bottom ? bottom : to;

    memset(job->memory, 0, piece->bytes);
    JTRY_RETURN(file_pack_rows(job, piece, top, from));

    if (from < to) {
        const int64_t extents[2] = {to - from, to - from};
        ji_elements_t source =
            ji_elements_slice(&job->elements, (const int64_t[]){from, from}, extents);
        source.layout.structure = job->elements.layout.structure;
        const ji_elements_t destination = ji_elements_slice(
            &piece->packed, (const int64_t[]){from - top, from - piece->starts[1]}, extents);
        JTRY_RETURN(file_copy(job, &destination, &source));
    }

    return file_pack_rows(job, piece, to, bottom);
}

/* A piece from the buffer. */
static jstatus_t file_pack(file_job_t *job, const file_piece_t *piece) {
    if (job->elements.layout.structure != JSTRUCTURE_GENERAL)
        return file_pack_structured(job, piece);

    const ji_elements_t slice = ji_elements_slice(&job->elements, piece->starts, piece->extents);
    return file_copy(job, &piece->packed, &slice);
}

/* And to it; what is loaded has no structure. */
static jstatus_t file_unpack(file_job_t *job, const file_piece_t *piece) {
    const ji_elements_t slice = ji_elements_slice(&job->elements, piece->starts, piece->extents);
    return file_copy(job, &slice, &piece->packed);
}

/* ---- Writing ---- */

/* Where the name of the file begins behind its folder. */
static size_t file_folder_length(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

jstatus_t ji_npy_temporary(const char *path, char **temporary) {
    const size_t folder = file_folder_length(path), bytes = folder + 64;
    unsigned long long number = 0;
    char *name;
    jstatus_t status = JSTATUS_SUCCESS;
    JTRY_ALLOC(name = ji_metadata_alloc(bytes));

    /* A name that is taken is no harm: it is refused. */
    (void)getrandom(&number, sizeof number, GRND_NONBLOCK);

    memcpy(name, path, folder);
    snprintf(name + folder, bytes - folder, ".jalloc-%ld-%016llx.npy", (long)getpid(), number);

    *temporary = name;
done:
    return status;
}

jstatus_t ji_npy_target(const char *path, unsigned *mode) {
    struct stat facts;
    unsigned rights = 0;

    if (stat(path, &facts) == 0) {
        if (!S_ISREG(facts.st_mode))
            return ji_fail(JSTATUS_IO_ERROR,
                           "\"%.300s\" is there and no regular file: it is not replaced", path);
        rights = facts.st_mode & 0777;
    } else if (errno != ENOENT) {
        return ji_npy_errno(path, "cannot be looked at", errno);
    }

    *mode = rights;
    return JSTATUS_SUCCESS;
}

/* write() without the signal of a limit on the size of files. */
static ssize_t file_write_some(int file, const void *bytes, size_t size_bytes) {
    ji_file_limit_t limit;
    ji_file_limit_begin(&limit);

    const ssize_t count =
        write(file, bytes, size_bytes < FILE_MOST_AT_ONCE ? size_bytes : FILE_MOST_AT_ONCE);

    ji_file_limit_end(&limit);
    return count;
}

static jstatus_t file_write(int file, const char *path, const void *bytes, size_t size_bytes) {
    for (size_t done = 0; done < size_bytes;) {
        const ssize_t count = file_write_some(file, (const char *)bytes + done, size_bytes - done);

        if (count < 0 && errno != EINTR)
            return ji_npy_errno(path, "cannot be written", errno);
        done += count > 0 ? (size_t)count : 0;
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t file_write_elements(int file, const char *path, const jbuffer_t *buffer,
                                     jorder_t order) {
    const jlayout_t *const layout = &buffer->layout;
    file_job_t job = {.count = 0};
    jstatus_t status;

    if (jdevice_kind(ji_buffer_device(buffer)) == JDEVICE_HOST &&
        layout->structure == JSTRUCTURE_GENERAL &&
        jlayout_is_packed(layout)) { /* in an order that it has, which is the file's */
        size_t bytes;
        JTRY(jlayout_get_bytes(layout, ji_buffer_type(buffer), &bytes));
        status = file_write(file, path, ji_buffer_data(buffer), bytes);
        goto done;
    }

    JTRY(file_begin_job(&job, buffer, order));
    for (int64_t n = 0; n < job.count; n++) {
        file_piece_t piece;
        JTRY(file_cut_piece(&job, n, &piece));
        JTRY(file_pack(&job, &piece));
        JTRY(file_write(file, path, job.memory, piece.bytes));
    }
done:
    file_end_job(&job);
    return status;
}

/* A buffer whose elements are all here. */
static jstatus_t file_save(const jbuffer_t *buffer, const char *path) {
    const jlayout_t *const layout = &buffer->layout;
    ji_npy_t npy = {
        .type = ji_buffer_type(buffer), .order = JORDER_COLUMN_MAJOR, .rank = layout->rank};
    char header[JI_NPY_MAX_HEADER], *temporary = NULL;
    unsigned mode = 0;
    int file = -1;
    jstatus_t status;

    /* Of a vector and of a number both orders are true; NumPy then says that it is not
     * Fortran's. */
    if (layout->structure == JSTRUCTURE_GENERAL &&
        (!ji_layout_order(layout, &npy.order) || layout->rank < 2))
        npy.order = layout->rank < 2 ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR;

    memcpy(npy.extents, layout->extents, sizeof npy.extents);
    JTRY(ji_npy_format(&npy, header));
    JTRY(ji_npy_target(path, &mode));
    JTRY(ji_npy_temporary(path, &temporary));

    file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        status = ji_npy_errno(temporary, "cannot be made", errno);
        goto done;
    }

    JTRY(file_write(file, path, header, (size_t)npy.data_offset));
    JTRY(file_write_elements(file, path, buffer, npy.order));
    if ((mode != 0 && fchmod(file, (mode_t)mode) != 0) || fsync(file) != 0)
        JTRY(ji_npy_errno(path, "cannot be written", errno));

    const int closed = close(file);
    file = -2; /* there is something to remove, but nothing to close */
    if (closed != 0)
        JTRY(ji_npy_errno(path, "cannot be written", errno));

    if (rename(temporary, path) != 0)
        JTRY(ji_npy_errno(path, "cannot be replaced", errno));
    file = -1;
done:
    if (file >= 0)
        (void)close(file);
    if (file != -1)
        (void)unlink(temporary);
    ji_metadata_free(temporary);
    return status;
}

jstatus_t jbuffer_save(const jbuffer_t *buffer, const char *path) {
    JTRY_RETURN(ji_buffer_check(buffer, __func__));
    jstatus_t status = JSTATUS_SUCCESS;

    const jbuffer_allocator_t *const allocator = ji_buffer_allocator(buffer);
    jruntime_t *const runtime = allocator->runtime;

    if (path == NULL)
        status = ji_fail(JSTATUS_INVALID_POINTER, "%s: no path", __func__);
    else
        status = ji_buffer_check_contents(buffer, __func__);

    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED) {
        status = ji_buffer_agree(allocator, status);
        return status == JSTATUS_SUCCESS ? runtime->ops->save(buffer, path) : status;
    }

    if (status == JSTATUS_SUCCESS &&
        (ji_buffer_kind(buffer) == JBUFFER_LOCAL || runtime->info.rank == 0))
        status = file_save(buffer, path);
    return ji_buffer_agree(allocator, status);
}

/* ---- Loading ---- */

/* The elements into a new buffer, packed as the file is. */
static jstatus_t file_load_elements(int file, const char *path, const ji_npy_t *npy,
                                    const jbuffer_t *buffer) {
    file_job_t job = {.count = 0};
    int64_t offset = npy->data_offset;
    jstatus_t status;

    if (jdevice_kind(ji_buffer_device(buffer)) == JDEVICE_HOST) {
        size_t bytes;
        JTRY(jlayout_get_bytes(&buffer->layout, npy->type, &bytes));
        status = ji_npy_read(file, path, offset, ji_buffer_data(buffer), bytes);
        goto done;
    }

    JTRY(file_begin_job(&job, buffer, npy->order));
    for (int64_t n = 0; n < job.count; n++) {
        file_piece_t piece;
        JTRY(file_cut_piece(&job, n, &piece));
        JTRY(ji_npy_read(file, path, offset, job.memory, piece.bytes));
        JTRY(file_unpack(&job, &piece));
        offset += (int64_t)piece.bytes;
    }
done:
    file_end_job(&job);
    return status;
}

/* Rank 0's elements for all, into whatever memory they have. */
static jstatus_t file_share(const jbuffer_t *buffer) {
    jruntime_t *const runtime = ji_buffer_runtime(buffer);
    size_t bytes;

    jstatus_t status = jlayout_get_bytes(&buffer->layout, ji_buffer_type(buffer), &bytes);
    if (status != JSTATUS_SUCCESS || bytes == 0)
        return status;

    const ji_scope_t scope = ji_buffer_is_shared(buffer) ? JI_SCOPE_LEADERS : JI_SCOPE_ALL;
    return runtime->ops->broadcast(runtime, scope, 0, ji_buffer_device(buffer),
                                   ji_buffer_data(buffer), bytes);
}

/* What the kind of the buffer makes of it. Agreed upon where the allocator is collective. */
static jstatus_t file_load(int file, const char *path, const ji_npy_t *npy,
                           const jbuffer_allocator_t *allocator, jbuffer_t *buffer) {
    const jruntime_t *const runtime = allocator->runtime;
    jstatus_t status = JSTATUS_SUCCESS;

    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED)
        return runtime->ops->load(buffer, path, npy->data_offset, npy->order);

    if (file >= 0) {
        status = file_load_elements(file, path, npy, buffer);
    } else if (ji_buffer_kind(buffer) == JBUFFER_LOCAL) {
        /* As the best allocator chose: everyone reads for itself. */
        ji_npy_t same;
        status = ji_npy_open(path, &same, &file);
        if (status == JSTATUS_SUCCESS) {
            status = file_load_elements(file, path, npy, buffer);
            (void)close(file);
        }
    }

    status = ji_buffer_agree(allocator, status);
    if (status == JSTATUS_SUCCESS && ji_buffer_kind(buffer) == JBUFFER_REPLICATED &&
        runtime->info.processes > 1)
        status = ji_buffer_agree(allocator, file_share(buffer));
    return status;
}

jstatus_t jbuffer_load(jbuffer_allocator_t *allocator, const char *path, jbuffer_t **buffer) {
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));
    jstatus_t status = JSTATUS_SUCCESS;

    jruntime_t *const runtime = allocator->runtime;
    const bool collective = ji_buffer_is_collective(allocator);
    jbuffer_t *made = NULL;
    ji_npy_t npy = {.rank = 0};
    jlayout_t layout;
    int file = -1;

    if (path == NULL || buffer == NULL)
        status = ji_fail(JSTATUS_INVALID_POINTER, "%s: no %s", __func__,
                         path == NULL ? "path" : "pointer for the buffer");
    else if (!collective || runtime->info.rank == 0)
        status = ji_npy_open(path, &npy, &file);

    if (status == JSTATUS_SUCCESS && file >= 0 && npy.type != allocator->options.type)
        status =
            ji_fail(JSTATUS_INVALID_VALUE, "\"%.300s\" has elements of %s, the allocator makes %s",
                    path, jdatatype_name(npy.type), jdatatype_name(allocator->options.type));

    JTRY(ji_buffer_agree(allocator, status));
    if (collective)
        JTRY(ji_buffer_agree(
            allocator, runtime->ops->broadcast(runtime, JI_SCOPE_ALL, 0, NULL, &npy, sizeof npy)));

    JTRY(jlayout_init(&layout, npy.rank, npy.extents, npy.order));
    JTRY(jbuffer_allocate(allocator, &layout, &made));
    JTRY(file_load(file, path, &npy, allocator, made));

    *buffer = made;
    made = NULL;
done:
    if (file >= 0)
        (void)close(file);
    (void)jbuffer_release(made);
    return status;
}
