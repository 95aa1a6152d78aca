/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Distributed buffers in .npy files, by MPI-IO: all processes write their elements into one file at once.
 *
 * A file of m x n elements in Fortran's order is the columns one behind the other. A process sees of it, through a file
 * view, what it holds: runs of rows in runs of columns. In its memory these are a rectangle, since a process stores what it
 * holds side by side. So one collective call of MPI moves all of it, and MPI makes large writes of what is interleaved.
 *
 *     file     |aabbaabb|aabbaabb|ccddccdd|...      a column each; process a sees  |aa  aa  |aa  aa  |
 *     memory   |aaaa|aaaa|                          and holds it like this
 *
 * A row-major file is read by exchanging rows and columns on the side of the file, and walking memory the other way.
 *
 * Whole or not at all: rank 0 makes a file of a temporary name beside the path, with the header; all write and
 * synchronize; when all agree that everything went well, rank 0 renames it. After any failure anywhere it removes it.
 * Steps that MPI wants all processes for are taken by all; a failure waits for the next agreement. */

#define _GNU_SOURCE /* the signal of a limit on the size of files */

#include "mpi/distributed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_RUN ((int64_t)1 << 30) /* elements of one run: MPI counts in int */

/* ---- Errors ---- */

/* An error of MPI-IO, which says of many what is wrong with the file. */
static jstatus_t file_status(int error, const char *path, const char *what) {
    if (error == MPI_SUCCESS)
        return JSTATUS_SUCCESS;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0, class = MPI_ERR_OTHER;
    MPI_Error_class(error, &class);
    MPI_Error_string(error, text, &length);
    text[length] = '\0';
    const jstatus_t status = class == MPI_ERR_ACCESS || class == MPI_ERR_READ_ONLY ? JSTATUS_PERMISSION
                             : class == MPI_ERR_NO_SUCH_FILE                       ? JSTATUS_NOT_FOUND
                             : class == MPI_ERR_NO_MEM                             ? JSTATUS_MEMORY_ERROR
                                                                                   : JSTATUS_IO_ERROR;
    return ji_fail(status, "\"%.300s\" %s: %s", path, what, text);
}

/* The first of two that is an error. */
static jstatus_t file_first(jstatus_t first, jstatus_t second) { return first != JSTATUS_SUCCESS ? first : second; }

/* ---- What a process sees ---- */

/* One dimension, in the order of the file: fastest first. */
typedef struct file_axis {
    int dimension;  /* of the matrix */
    int64_t count;  /* of this process's indices of the view */
    int64_t stride; /* between them in memory, in elements */
    int runs;       /* in the file */
    int *lengths;
    MPI_Aint *displacements; /* in bytes, of the first element of each */
} file_axis_t;

/* A buffer on its way to or from a file. */
typedef struct file_job {
    const jbuffer_t *buffer;
    const char *path;   /* for messages */
    size_t element;     /* bytes */
    int64_t extents[2]; /* of the view */
    char *memory;       /* its first element here, in host memory */
    char *image;        /* of a device's part; NULL: memory is the buffer's */
    size_t image_bytes;
    file_axis_t axes[2];
    MPI_Datatype etype, filetype; /* one element; what this process sees */
    void *tables;
    MPI_File file;
} file_job_t;

/* The runs of an axis: of this process's indices of the view, cut where they are long. Counts them, and writes them where
 * the axis has tables. -1: more than MPI can count. */
static int file_find_runs(const file_job_t *job, file_axis_t *axis, MPI_Aint unit) {
    const jdistribution_t *whole = &job->buffer->storage->distribution;
    const int d = axis->dimension;
    const int64_t begin = job->buffer->starts[d], end = begin + job->extents[d], block = whole->blocks[d];
    int64_t runs = 0;
    for (int64_t local = jdistribution_local_count(whole, d, whole->place[d], begin), left = axis->count; left > 0;) {
        const int64_t at = jdistribution_to_global(whole, d, whole->place[d], local);
        int64_t length = block - at % block < end - at ? block - at % block : end - at;
        length = length < FILE_RUN ? length : FILE_RUN;
        if (axis->lengths != NULL) {
            axis->lengths[runs] = (int)length;
            axis->displacements[runs] = (MPI_Aint)(at - begin) * unit;
        }
        ++runs;
        local += length;
        left -= length;
    }
    return runs <= INT32_MAX ? (int)runs : -1;
}

/* By itself: what this process has, and its runs. */
static jstatus_t file_look(file_job_t *job, jorder_t order) {
    const ji_storage_t *storage = job->buffer->storage;
    const jdistribution_t *whole = &storage->distribution;
    jdevice_t *device = ji_buffer_device(job->buffer);
    jstatus_t status = JSTATUS_SUCCESS;
    int64_t first[2];
    job->element = jhandle_sizeof_datatype(ji_buffer_type(job->buffer));
    ji_mpi_extents(&job->buffer->layout, job->extents);
    for (int k = 0; k < 2; ++k) {
        const int d = order == JORDER_ROW_MAJOR ? 1 - k : k;
        const int64_t begin = job->buffer->starts[d];
        first[d] = jdistribution_local_count(whole, d, whole->place[d], begin);
        job->axes[k].dimension = d;
        job->axes[k].stride = d == 0 ? 1 : storage->leading_dimension;
        job->axes[k].count = jdistribution_local_count(whole, d, whole->place[d], begin + job->extents[d]) - first[d];
    }
    if (job->axes[0].count == 0 || job->axes[1].count == 0) {
        job->axes[0].count = job->axes[1].count = 0;
        return JSTATUS_SUCCESS;
    }
    job->memory = storage->pointer;
    if (jdevice_kind(device) != JDEVICE_HOST) {
        job->image_bytes = storage->size_bytes;
        JTRY_ALLOC(job->image = ji_metadata_alloc(job->image_bytes));
        JTRY(jdevice_copy(device, NULL, job->image, storage->pointer, job->image_bytes));
        JTRY(jstream_synchronize(device, NULL));
        job->memory = job->image;
    }
    job->memory += (size_t)(first[0] + first[1] * storage->leading_dimension) * job->element;

    const MPI_Aint size = (MPI_Aint)job->element, line = size * (MPI_Aint)job->extents[job->axes[0].dimension];
    for (int k = 0; k < 2; ++k)
        job->axes[k].runs = file_find_runs(job, &job->axes[k], 0);
    if (job->axes[0].runs < 0 || job->axes[1].runs < 0)
        return ji_fail(JSTATUS_INVALID_SIZE, "\"%.300s\": more blocks than MPI can count", job->path);
    const size_t runs = (size_t)job->axes[0].runs + (size_t)job->axes[1].runs;
    JTRY_ALLOC(job->tables = ji_metadata_alloc(runs * (sizeof(MPI_Aint) + sizeof(int))));
    MPI_Aint *displacements = job->tables;
    int *lengths = (int *)(displacements + runs);
    for (int k = 0; k < 2; ++k) {
        job->axes[k].displacements = displacements + (k == 0 ? 0 : job->axes[0].runs);
        job->axes[k].lengths = lengths + (k == 0 ? 0 : job->axes[0].runs);
        (void)file_find_runs(job, &job->axes[k], k == 0 ? size : line);
    }
done:
    return status;
}

/* The view of the file: runs of the fast dimension in runs of the slow one. */
static jstatus_t file_make_types(file_job_t *job) {
    const MPI_Aint size = (MPI_Aint)job->element, line = size * (MPI_Aint)job->extents[job->axes[0].dimension];
    MPI_Datatype fast = MPI_DATATYPE_NULL, spaced = MPI_DATATYPE_NULL;
    jstatus_t status;
    JTRY(JI_MPI(MPI_Type_contiguous((int)job->element, MPI_BYTE, &job->etype)));
    JTRY(JI_MPI(MPI_Type_commit(&job->etype)));
    if (job->axes[0].count == 0) {
        JTRY(JI_MPI(MPI_Type_dup(job->etype, &job->filetype)));
    } else {
        const file_axis_t *axes = job->axes;
        JTRY(JI_MPI(MPI_Type_create_hindexed(axes[0].runs, axes[0].lengths, axes[0].displacements, job->etype, &fast)));
        JTRY(JI_MPI(MPI_Type_create_resized(fast, 0, line, &spaced)));
        JTRY(JI_MPI(
            MPI_Type_create_hindexed(axes[1].runs, axes[1].lengths, axes[1].displacements, spaced, &job->filetype)));
    }
    status = JI_MPI(MPI_Type_commit(&job->filetype));
done:
    if (fast != MPI_DATATYPE_NULL)
        MPI_Type_free(&fast);
    if (spaced != MPI_DATATYPE_NULL)
        MPI_Type_free(&spaced);
    return status;
}

static void file_end(file_job_t *job) {
    if (job->filetype != MPI_DATATYPE_NULL)
        MPI_Type_free(&job->filetype);
    if (job->etype != MPI_DATATYPE_NULL)
        MPI_Type_free(&job->etype);
    ji_metadata_free(job->tables);
    ji_metadata_free(job->image);
}

/* ---- Moving ---- */

/* `slow` lines of `fast` elements of this process's rectangle, in the order of the file. */
static jstatus_t file_move_some(file_job_t *job, bool saving, char *memory, int64_t fast, int64_t slow) {
    MPI_Datatype line = MPI_DATATYPE_NULL, lines = MPI_DATATYPE_NULL;
    const MPI_Aint size = (MPI_Aint)job->element;
    jstatus_t status;
    JTRY(JI_MPI(MPI_Type_create_hvector((int)fast, 1, (MPI_Aint)job->axes[0].stride * size, job->etype, &line)));
    JTRY(JI_MPI(MPI_Type_create_hvector((int)slow, 1, (MPI_Aint)job->axes[1].stride * size, line, &lines)));
    status = JI_MPI(MPI_Type_commit(&lines));
done:;
    /* Whatever has failed: the others are in the call. */
    const int count = status == JSTATUS_SUCCESS && fast > 0 && slow > 0;
    const MPI_Datatype type = count > 0 ? lines : job->etype;
    const int error = saving ? MPI_File_write_all(job->file, memory, count, type, MPI_STATUS_IGNORE)
                             : MPI_File_read_all(job->file, memory, count, type, MPI_STATUS_IGNORE);
    if (lines != MPI_DATATYPE_NULL)
        MPI_Type_free(&lines);
    if (line != MPI_DATATYPE_NULL)
        MPI_Type_free(&line);
    return file_first(status, file_status(error, job->path, saving ? "cannot be written" : "cannot be read"));
}

/* Everything, in as many collective calls as the process with most elements needs. */
static jstatus_t file_move(file_job_t *job, bool saving) {
    const jruntime_t *runtime = ji_buffer_runtime(job->buffer);
    const int64_t most = (int64_t)(JI_MPI_MAX_BYTES / job->element);
    const int64_t fast = job->axes[0].count, slow = job->axes[1].count;
    /* Some whole lines at a time, or part of one. */
    const int64_t lines = fast == 0 ? 1 : fast < most ? most / fast : 1, part = fast < most ? fast : most;
    int64_t rounds = fast == 0 ? 0 : (slow + lines - 1) / lines * ((fast + part - 1) / part), all = 0;
    jstatus_t status = JI_MPI(MPI_Allreduce(&rounds, &all, 1, MPI_INT64_T, MPI_MAX, ji_mpi_of(runtime)->all));
    int64_t i = 0, j = 0; /* the next element */
    for (int64_t round = 0; round < all; ++round) {
        const int64_t here = fast - i < part ? fast - i : part, of = slow - j < lines ? slow - j : lines;
        const bool some = round < rounds;
        char *memory = job->memory;
        if (some)
            memory += (size_t)(i * job->axes[0].stride + j * job->axes[1].stride) * job->element;
        status = file_first(status, file_move_some(job, saving, memory, some ? here : 0, some ? of : 0));
        i += part;
        if (i >= fast) {
            i = 0;
            j += lines;
        }
    }
    return status;
}

/* Opens the file, moves everything and closes it. Agreed upon. */
static jstatus_t file_transfer(file_job_t *job, const char *name, int64_t data_offset, bool saving) {
    jruntime_t *runtime = ji_buffer_runtime(job->buffer);
    const MPI_Comm all = ji_mpi_of(runtime)->all;
    const int mode = saving ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    job->file = MPI_FILE_NULL;
    jstatus_t status =
        file_status(MPI_File_open(all, name, mode, MPI_INFO_NULL, &job->file), job->path, "cannot be opened");
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));
    if (!saving) {
        MPI_Offset size = 0;
        const int64_t bytes = job->extents[0] * job->extents[1] * (int64_t)job->element;
        status = file_status(MPI_File_get_size(job->file, &size), job->path, "has no size");
        if (status == JSTATUS_SUCCESS && size - data_offset < bytes)
            status = ji_fail(JSTATUS_TRUNCATED, "\"%.300s\" has %lld bytes of elements, not %lld", job->path,
                             (long long)(size - data_offset), (long long)bytes);
        JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));
    }
    status = file_status(MPI_File_set_view(job->file, data_offset, job->etype, job->filetype, "native", MPI_INFO_NULL),
                         job->path, "has no such view");
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));
    status = file_move(job, saving);
    if (saving)
        status = file_first(status, file_status(MPI_File_sync(job->file), job->path, "cannot be written"));
done:
    if (job->file != MPI_FILE_NULL)
        status = file_first(status, file_status(MPI_File_close(&job->file), job->path, "cannot be closed"));
    return ji_mpi_agree(runtime, JI_SCOPE_ALL, status);
}

/* ---- Saving ---- */

/* Rank 0: a new file of a temporary name, with its header and the rights of the one that it will replace. */
static jstatus_t file_create(const char *path, char **temporary, const char *header, int64_t header_bytes) {
    unsigned mode = 0;
    int file = -1;
    jstatus_t status;
    JTRY(ji_npy_target(path, &mode));
    JTRY(ji_npy_temporary(path, temporary));
    file = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        status = ji_npy_errno(*temporary, "cannot be made", errno);
        ji_metadata_free(*temporary);
        *temporary = NULL;
        goto done;
    }
    ssize_t written;
    do
        written = write(file, header, (size_t)header_bytes);
    while (written < 0 && errno == EINTR);
    if (written != header_bytes || (mode != 0 && fchmod(file, (mode_t)mode) != 0))
        status = ji_npy_errno(path, "cannot be written", written < 0 || written == header_bytes ? errno : ENOSPC);
done:
    if (file >= 0 && close(file) != 0 && status == JSTATUS_SUCCESS)
        status = ji_npy_errno(path, "cannot be written", errno);
    return status;
}

/* Rank 0's name for all. Agreed upon. */
static jstatus_t file_share_name(jruntime_t *runtime, char **name) {
    const MPI_Comm all = ji_mpi_of(runtime)->all;
    unsigned long bytes = *name != NULL ? strlen(*name) + 1 : 0;
    jstatus_t status;
    JTRY(JI_MPI(MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG, 0, all)));
    if (*name == NULL && (*name = ji_metadata_alloc(bytes)) == NULL)
        status = ji_fail(JSTATUS_MEMORY_ERROR, "jbuffer_save: no memory for bookkeeping");
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));
    status = JI_MPI(MPI_Bcast(*name, (int)bytes, MPI_CHAR, 0, all));
done:
    return status;
}

/* A matrix with a structure is saved as the whole matrix that it stands for. */
static jstatus_t file_save_structured(jbuffer_t *buffer, const char *path) {
    jbuffer_t *whole = NULL;
    void *workspace = NULL;
    size_t best, least;
    jlayout_t layout = buffer->layout;
    layout.structure = JSTRUCTURE_GENERAL;
    jstatus_t status;
    JTRY(jbuffer_allocate(ji_buffer_allocator(buffer), &layout, &whole));
    JTRY(ji_buffer_copy_bytes(whole, buffer, &best, &least));
    workspace = best > 0 ? ji_metadata_alloc(best + 64) : NULL;
    char *aligned = (char *)(((uintptr_t)workspace + 63) & ~(uintptr_t)63);
    JTRY(ji_buffer_copy(whole, buffer, NULL, aligned, workspace != NULL ? best : 0)); /* 0 is a memory error there */
    status = ji_mpi_save(whole, path);
done:
    ji_metadata_free(workspace);
    if (whole != NULL)
        (void)jbuffer_release(whole);
    return status;
}

/* The signal of a limit on the size of files would end the program; the error that comes with it is enough. */
static void file_block_signal(sigset_t *before, bool *pending) {
    sigset_t signals;
    sigpending(&signals);
    *pending = sigismember(&signals, SIGXFSZ) == 1;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &signals, before);
}

static void file_unblock_signal(const sigset_t *before, bool pending) {
    sigset_t signals;
    const struct timespec now = {0, 0};
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    while (!pending && sigtimedwait(&signals, NULL, &now) < 0 && errno == EINTR)
        ;
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

static jstatus_t file_save_general(jbuffer_t *buffer, const char *path) {
    jruntime_t *runtime = ji_buffer_runtime(buffer);
    const bool root = runtime->info.rank == 0;
    const jlayout_t *layout = &buffer->layout;
    file_job_t job = {.buffer = buffer, .path = path, .etype = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL};
    /* Of a vector and of a number both orders are true; NumPy then says that it is not Fortran's. */
    ji_npy_t npy = {.type = ji_buffer_type(buffer),
                    .order = layout->rank < 2 ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR,
                    .rank = layout->rank};
    char header[JI_NPY_MAX_HEADER], *temporary = NULL;
    bool made = false;
    memcpy(npy.extents, layout->extents, sizeof npy.extents);
    jstatus_t status = ji_npy_format(&npy, header);
    if (status == JSTATUS_SUCCESS)
        status = file_look(&job, JORDER_COLUMN_MAJOR);
    if (status == JSTATUS_SUCCESS)
        status = file_make_types(&job);
    if (status == JSTATUS_SUCCESS && root)
        status = file_create(path, &temporary, header, npy.data_offset);
    made = temporary != NULL;
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));
    JTRY(file_share_name(runtime, &temporary));
    JTRY(file_transfer(&job, temporary, npy.data_offset, true));
    if (root && rename(temporary, path) != 0)
        status = ji_npy_errno(path, "cannot be replaced", errno);
    else
        made = false;
    status = ji_mpi_agree(runtime, JI_SCOPE_ALL, status);
done:
    if (root && made)
        (void)unlink(temporary);
    ji_metadata_free(temporary);
    file_end(&job);
    return status;
}

jstatus_t ji_mpi_save(jbuffer_t *buffer, const char *path) {
    jstatus_t status = ji_mpi_check_alive();
    if (status != JSTATUS_SUCCESS)
        return status;
    if (buffer->layout.structure != JSTRUCTURE_GENERAL)
        return file_save_structured(buffer, path);
    sigset_t before;
    bool pending;
    file_block_signal(&before, &pending);
    status = file_save_general(buffer, path);
    file_unblock_signal(&before, pending);
    return status;
}

/* ---- Loading ---- */

jstatus_t ji_mpi_load(jbuffer_t *buffer, const char *path, int64_t data_offset, jorder_t order) {
    jruntime_t *runtime = ji_buffer_runtime(buffer);
    jdevice_t *device = ji_buffer_device(buffer);
    jstatus_t status = ji_mpi_check_alive();
    if (status != JSTATUS_SUCCESS)
        return status;
    file_job_t job = {.buffer = buffer, .path = path, .etype = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL};
    status = file_look(&job, order);
    if (status == JSTATUS_SUCCESS)
        status = file_make_types(&job);
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));
    JTRY(file_transfer(&job, path, data_offset, false));
    if (job.image != NULL) {
        status = jdevice_copy(device, NULL, buffer->storage->pointer, job.image, job.image_bytes);
        status = file_first(status, jstream_synchronize(device, NULL));
    }
    if (jdevice_kind(device) != JDEVICE_HOST)
        status = ji_mpi_agree(runtime, JI_SCOPE_ALL, status);
done:
    file_end(&job);
    return status;
}
