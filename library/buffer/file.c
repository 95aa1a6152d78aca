/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers saved to files and loaded from them (npy.c knows the header).
 *
 * A file is written under a temporary name in the folder of its own, made sure of (fsync), and then renamed, which
 * happens at once or not at all: who opens the name finds the file as it was or the new one. On any failure the
 * temporary file is removed. A limit on the size of files is a signal, which would end the program; it is blocked
 * meanwhile, and the error that comes with it is enough.
 *
 * Elements lie in the file one behind the other. Memory that is like that is written as it is. Any other, strided,
 * with a structure, or on a device, is packed in pieces of a megabyte, cut so that each is one run of the file:
 *
 *     column-major, a piece of 8 elements         of a matrix with a structure, whose lower triangle is stored:
 *     1 1 2 2 3                                   the columns of a piece are
 *     1 1 2 2 3                                     m m    rows above: from the other triangle, mirrored, or zeros
 *     1 1 2 2 3                                     d .    the square on the diagonal: a structured slice itself
 *     1 1 2 2 3                                     d d
 *                                                   s s    rows below: as they are stored
 *
 * Memory is loaded into as the file's order says, packed; so pieces matter for devices alone. */

#include "buffer/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MOST_AT_ONCE ((size_t)1 << 30) /* the kernel takes no more than 2 GiB in one call */

size_t ji_file_piece_bytes = (size_t)1 << 20;

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* The elements of a layout in a file's order, some at a time. A piece takes whole dimensions, the fastest ones, part of
 * one more, and a single index in those behind it. */
typedef struct file_pieces {
    const jlayout_t *layout;
    jorder_t order;
    int whole;                         /* dimensions that a piece takes as a whole */
    int64_t step;                      /* and of the next one */
    int64_t starts[JLAYOUT_MAX_RANK];  /* of the present piece */
    int64_t extents[JLAYOUT_MAX_RANK]; /* of it */
} file_pieces_t;

/* The k-th fastest dimension. */
static int file_dimension(const file_pieces_t *pieces, int k) {
    return pieces->order == JORDER_ROW_MAJOR ? pieces->layout->rank - 1 - k : k;
}

/* The extents of the present piece. */
static void file_cut_piece(file_pieces_t *pieces) {
    for (int k = 0; k < pieces->layout->rank; k++) {
        const int d = file_dimension(pieces, k);
        const int64_t rest = pieces->layout->extents[d] - pieces->starts[d];
        const int64_t most = k < pieces->whole ? rest : k == pieces->whole ? pieces->step : 1;
        pieces->extents[d] = most < rest ? most : rest;
    }
}

static void file_first_piece(file_pieces_t *pieces, const jlayout_t *layout, jorder_t order, int64_t most) {
    *pieces = (file_pieces_t){.layout = layout, .order = order};
    int64_t elements = 1;
    while (pieces->whole < layout->rank && layout->extents[file_dimension(pieces, pieces->whole)] <= most / elements)
        elements *= layout->extents[file_dimension(pieces, pieces->whole++)];
    pieces->step = most / elements;
    file_cut_piece(pieces);
}

/* False behind the last one. */
static bool file_next_piece(file_pieces_t *pieces) {
    for (int k = pieces->whole; k < pieces->layout->rank; k++) {
        const int d = file_dimension(pieces, k);
        pieces->starts[d] += pieces->extents[d];
        if (pieces->starts[d] < pieces->layout->extents[d]) {
            file_cut_piece(pieces);
            return true;
        }
        pieces->starts[d] = 0;
    }
    return false;
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* A buffer's memory on its way from or to a file. */
typedef struct file_job {
    ji_place_t place;
    jorder_t order;
    void *piece;   /* in host memory */
    void *staging; /* what a copy to or from a device asks for */
    size_t staging_bytes;
} file_job_t;

/* The most elements that a piece has. */
static int64_t file_piece_elements(const file_job_t *job) {
    return (int64_t)(ji_file_piece_bytes / jhandle_sizeof_datatype(job->place.type));
}

static void file_end_job(file_job_t *job) {
    ji_metadata_free(job->piece);
    ji_metadata_free(job->staging);
}

static jstatus_t file_copy(file_job_t *job, const ji_place_t *destination, const ji_place_t *source) {
    jdevice_t *const device = job->place.device;
    const size_t bytes = ji_place_copy_bytes(destination, source);
    jstatus_t status;
    if (bytes > job->staging_bytes) {
        ji_metadata_free(job->staging);
        job->staging_bytes = 0;
        JTRY_ALLOC(job->staging = ji_metadata_alloc(bytes));
        job->staging_bytes = bytes;
    }
    JTRY(ji_place_copy(destination, source, NULL, job->staging));
    status = jstream_synchronize(device, NULL);
done:
    return status;
}

/* The imaginary parts of a packed column-major matrix with a leading dimension change their sign. */
static void file_conjugate(const ji_place_t *matrix) {
    const jlayout_t *layout = &matrix->layout;
    for (int64_t j = 0; j < layout->extents[1]; j++)
        for (int64_t i = 0; i < layout->extents[0]; i++) {
            const int64_t at = 2 * (i * layout->strides[0] + j * layout->strides[1]) + 1;
            if (matrix->type == JDATATYPE_F32_C)
                ((float *)matrix->data)[at] = -((float *)matrix->data)[at];
            else if (matrix->type == JDATATYPE_F64_C)
                ((double *)matrix->data)[at] = -((double *)matrix->data)[at];
        }
}

/* Rows begin to end of a piece of a matrix with a structure, which lie on one side of the diagonal. */
static jstatus_t file_pack_rows(file_job_t *job, const file_pieces_t *pieces, const ji_place_t *piece, int64_t begin,
                                int64_t end, bool stored) {
    const jstructure_t structure = job->place.layout.structure;
    if (begin >= end || (!stored && ji_structure_is_triangular(structure))) /* the piece is zero before */
        return JSTATUS_SUCCESS;
    ji_place_t source;
    const int64_t rows = end - begin, column = pieces->starts[1], columns = pieces->extents[1];
    const ji_place_t destination =
        ji_place_slice(piece, (const int64_t[]){begin - pieces->starts[0], 0}, (const int64_t[]){rows, columns});
    if (stored) {
        source = ji_place_slice(&job->place, (const int64_t[]){begin, column}, (const int64_t[]){rows, columns});
    } else {
        source = ji_place_slice(&job->place, (const int64_t[]){column, begin}, (const int64_t[]){columns, rows});
        (void)jlayout_permute(&source.layout, (const int[]){1, 0}, &source.layout);
    }
    jstatus_t status = file_copy(job, &destination, &source);
    if (!stored && status == JSTATUS_SUCCESS && ji_structure_is_hermitian(structure))
        file_conjugate(&destination);
    return status;
}

/* A piece of a matrix with a structure. */
static jstatus_t file_pack_structured(file_job_t *job, const file_pieces_t *pieces, const ji_place_t *piece) {
    const jstructure_t structure = job->place.layout.structure;
    const bool upper = ji_structure_is_upper(structure);
    const int64_t top = pieces->starts[0], bottom = top + pieces->extents[0];
    /* Where the columns meet the diagonal: a square, since a piece has all rows or a single column. */
    int64_t from = pieces->starts[1], to = from + pieces->extents[1];
    from = from < top ? top : from > bottom ? bottom : from;
    to = to < top ? top : to > bottom ? bottom : to;
    jstatus_t status;
    memset(piece->data, 0,
           (size_t)(pieces->extents[0] * pieces->extents[1]) * jhandle_sizeof_datatype(job->place.type));
    JTRY(file_pack_rows(job, pieces, piece, top, from, upper));
    if (from < to) {
        const int64_t extents[2] = {to - from, to - from};
        ji_place_t source = ji_place_slice(&job->place, (const int64_t[]){from, from}, extents);
        source.layout.structure = structure;
        const ji_place_t destination =
            ji_place_slice(piece, (const int64_t[]){from - top, from - pieces->starts[1]}, extents);
        JTRY(file_copy(job, &destination, &source));
    }
    status = file_pack_rows(job, pieces, piece, to, bottom, !upper);
done:
    return status;
}

/* The present piece, between the buffer and job->piece. */
static jstatus_t file_move_piece(file_job_t *job, const file_pieces_t *pieces, bool saving, size_t *bytes) {
    ji_place_t piece = {jdevice_host(), job->place.type, {0}, job->piece};
    jstatus_t status;
    JTRY(jlayout_init(&piece.layout, job->place.layout.rank, pieces->extents, job->order));
    JTRY(jlayout_get_bytes(&piece.layout, piece.type, bytes));
    if (saving && job->place.layout.structure != JSTRUCTURE_GENERAL) {
        status = file_pack_structured(job, pieces, &piece);
    } else {
        const ji_place_t slice = ji_place_slice(&job->place, pieces->starts, pieces->extents);
        status = saving ? file_copy(job, &piece, &slice) : file_copy(job, &slice, &piece);
    }
done:
    return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

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
    (void)getrandom(&number, sizeof number, GRND_NONBLOCK); /* a name that is taken is no harm: it is refused */
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
            return ji_fail(JSTATUS_IO_ERROR, "\"%.300s\" is there and no regular file: it is not replaced", path);
        rights = facts.st_mode & 0777;
    } else if (errno != ENOENT) {
        return ji_npy_errno(path, "cannot be looked at", errno);
    }
    *mode = rights;
    return JSTATUS_SUCCESS;
}

/* write() without the signal of a limit on the size of files. */
static ssize_t file_write_some(int file, const void *bytes, size_t size_bytes) {
    sigset_t too_large, before, pending;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &too_large, &before);
    sigpending(&pending);
    const ssize_t count = write(file, bytes, size_bytes < FILE_MOST_AT_ONCE ? size_bytes : FILE_MOST_AT_ONCE);
    const int error = errno;
    if (count < 0 && error == EFBIG && sigismember(&pending, SIGXFSZ) == 0) {
        const struct timespec now = {0, 0};
        while (sigtimedwait(&too_large, NULL, &now) < 0 && errno == EINTR)
            ;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
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

static jstatus_t file_write_elements(int file, const char *path, file_job_t *job) {
    const jlayout_t *const layout = &job->place.layout;
    jlayout_t packed;
    size_t bytes;
    jstatus_t status;
    JTRY(jlayout_init(&packed, layout->rank, layout->extents, job->order));
    JTRY(jlayout_get_bytes(&packed, job->place.type, &bytes));
    if (bytes == 0)
        goto done;
    if (jdevice_kind(job->place.device) == JDEVICE_HOST && layout->structure == JSTRUCTURE_GENERAL &&
        jlayout_is_packed(layout)) { /* in an order that it has, which is the job's */
        status = file_write(file, path, job->place.data, bytes);
        goto done;
    }
    JTRY_ALLOC(job->piece = ji_metadata_alloc(bytes < ji_file_piece_bytes ? bytes : ji_file_piece_bytes));
    file_pieces_t pieces;
    file_first_piece(&pieces, layout, job->order, file_piece_elements(job));
    do {
        JTRY(file_move_piece(job, &pieces, true, &bytes));
        JTRY(file_write(file, path, job->piece, bytes));
    } while (file_next_piece(&pieces));
done:
    return status;
}

/* A buffer whose elements are all here. */
static jstatus_t file_save(const jbuffer_t *buffer, const char *path) {
    file_job_t job = {.place = ji_buffer_place(buffer), .order = JORDER_COLUMN_MAJOR};
    const jlayout_t *const layout = &buffer->layout;
    ji_npy_t npy = {.type = job.place.type, .rank = layout->rank};
    char header[JI_NPY_MAX_HEADER], *temporary = NULL;
    unsigned mode = 0;
    int file = -1;
    jstatus_t status;
    /* Of a vector and of a number both orders are true; NumPy then says that it is not Fortran's. */
    if (layout->structure == JSTRUCTURE_GENERAL && (!ji_layout_order(layout, &job.order) || layout->rank < 2))
        job.order = layout->rank < 2 ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR;
    npy.order = job.order;
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
    JTRY(file_write_elements(file, path, &job));
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
    file_end_job(&job);
    return status;
}

jstatus_t jbuffer_save(const jbuffer_t *buffer, const char *path) {
    jstatus_t status = ji_buffer_check(buffer, __func__);
    if (status != JSTATUS_SUCCESS)
        return status;
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
    if (status == JSTATUS_SUCCESS && (ji_buffer_kind(buffer) == JBUFFER_LOCAL || runtime->info.rank == 0))
        status = file_save(buffer, path);
    return ji_buffer_agree(allocator, status);
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* The elements into a new buffer, packed as the file is. */
static jstatus_t file_load_elements(int file, const char *path, const ji_npy_t *npy, const jbuffer_t *buffer) {
    file_job_t job = {.place = ji_buffer_place(buffer), .order = npy->order};
    size_t bytes;
    int64_t offset = npy->data_offset;
    jstatus_t status;
    JTRY(jlayout_get_bytes(&job.place.layout, npy->type, &bytes));
    if (bytes == 0)
        goto done;
    if (jdevice_kind(job.place.device) == JDEVICE_HOST) {
        status = ji_npy_read(file, path, offset, job.place.data, bytes);
        goto done;
    }
    JTRY_ALLOC(job.piece = ji_metadata_alloc(bytes < ji_file_piece_bytes ? bytes : ji_file_piece_bytes));
    file_pieces_t pieces;
    file_first_piece(&pieces, &job.place.layout, job.order, file_piece_elements(&job));
    do {
        size_t piece_bytes = jhandle_sizeof_datatype(npy->type);
        for (int d = 0; d < npy->rank; d++)
            piece_bytes *= (size_t)pieces.extents[d];
        JTRY(ji_npy_read(file, path, offset, job.piece, piece_bytes));
        JTRY(file_move_piece(&job, &pieces, false, &piece_bytes));
        offset += (int64_t)piece_bytes;
    } while (file_next_piece(&pieces));
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
    return runtime->ops->broadcast(runtime, scope, 0, ji_buffer_device(buffer), ji_buffer_data(buffer), bytes);
}

/* What the kind of the buffer makes of it. Agreed upon where the allocator is collective. */
static jstatus_t file_load(int file, const char *path, const ji_npy_t *npy, const jbuffer_allocator_t *allocator,
                           jbuffer_t *buffer) {
    const jruntime_t *const runtime = allocator->runtime;
    jstatus_t status = JSTATUS_SUCCESS;
    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED)
        return runtime->ops->load(buffer, path, npy->data_offset, npy->order);
    if (file >= 0) {
        status = file_load_elements(file, path, npy, buffer);
    } else if (ji_buffer_kind(buffer) == JBUFFER_LOCAL) { /* as the best allocator chose: everyone reads for itself */
        ji_npy_t same;
        status = ji_npy_open(path, &same, &file);
        if (status == JSTATUS_SUCCESS) {
            status = file_load_elements(file, path, npy, buffer);
            (void)close(file);
        }
    }
    status = ji_buffer_agree(allocator, status);
    if (status == JSTATUS_SUCCESS && ji_buffer_kind(buffer) == JBUFFER_REPLICATED && runtime->info.processes > 1)
        status = ji_buffer_agree(allocator, file_share(buffer));
    return status;
}

jstatus_t jbuffer_load(jbuffer_allocator_t *allocator, const char *path, jbuffer_t **buffer) {
    jstatus_t status = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__);
    if (status != JSTATUS_SUCCESS)
        return status;
    jruntime_t *const runtime = allocator->runtime;
    const bool collective = ji_buffer_is_collective(allocator);
    jbuffer_t *made = NULL;
    ji_npy_t npy = {.rank = 0};
    jlayout_t layout;
    int file = -1;
    if (path == NULL || buffer == NULL)
        status =
            ji_fail(JSTATUS_INVALID_POINTER, "%s: no %s", __func__, path == NULL ? "path" : "pointer for the buffer");
    else if (!collective || runtime->info.rank == 0)
        status = ji_npy_open(path, &npy, &file);
    if (status == JSTATUS_SUCCESS && file >= 0 && npy.type != allocator->options.type)
        status = ji_fail(JSTATUS_INVALID_VALUE, "\"%.300s\" has elements of %s, the allocator makes %s", path,
                         jdatatype_name(npy.type), jdatatype_name(allocator->options.type));
    JTRY(ji_buffer_agree(allocator, status));
    if (collective)
        JTRY(ji_buffer_agree(allocator, runtime->ops->broadcast(runtime, JI_SCOPE_ALL, 0, NULL, &npy, sizeof npy)));
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
