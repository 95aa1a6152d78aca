/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Distributed buffers in .npy files, by MPI-IO: all processes write their part of one file at once.
 *
 * A file of m x n elements in Fortran's order is the columns one behind the other, and a process of
 * a block-cyclic matrix has a little of each. So panels of some columns are redistributed first,
 * such that each process has whole columns side by side (of very long ones: a piece of one), and
 * writes them in one piece:
 *
 *     matrix   abab      panel   aabb      file   |aa|bb|cc|dd|   a write each, then the next
 *              cdcd              aabb                             panel
 *              abab  ->          aabb
 *
 * A row-major file is that of the transposed matrix: the panel is read and redistributed with rows
 * for columns.
 *
 * Whole or not at all: rank 0 makes a file of a temporary name beside the path, with the header;
 * all write and synchronize; when all agree that everything went well, rank 0 renames it. After any
 * failure anywhere it removes it. A process that has failed still takes part in what all do, and
 * the failure waits for the next agreement. Collective writes and file views would do without
 * panels, but not every MPI tells when one of those has failed: Open MPI's returned success on a
 * full disk. A process's own write says how much it has written. */

#include "core/file_limit.h"
#include "mpi/distributed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t ji_mpi_panel_bytes = (int64_t)4 << 20;

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

    const jstatus_t status = class == MPI_ERR_ACCESS || class == MPI_ERR_READ_ONLY
                                 ? JSTATUS_PERMISSION
                             : class == MPI_ERR_NO_SUCH_FILE ? JSTATUS_NOT_FOUND
                             : class == MPI_ERR_NO_MEM       ? JSTATUS_MEMORY_ERROR
                                                             : JSTATUS_IO_ERROR;
    return ji_fail(status, "\"%.300s\" %s: %s", path, what, text);
}

/* The first of two that is an error. */
static jstatus_t file_first(jstatus_t first, jstatus_t second) {
    return first != JSTATUS_SUCCESS ? first : second;
}

/* ---- Panels ---- */

/* A buffer on its way to or from a file, which is seen as the columns of a matrix. */
typedef struct panel_job {
    jbuffer_t *buffer;
    const char *path; /* for messages */
    int64_t data_offset;
    bool saving, transposed;       /* the file's matrix is the buffer's, transposed */
    int64_t element;               /* bytes */
    int64_t extents[2], blocks[2]; /* of the file's matrix, of each process's piece of a panel */
    int grid[2];                   /* of panels */
    jbuffer_allocator_t *allocator;
    jbuffer_t *panel;
    void *memory; /* workspace of copies to and from panels is in it */
    char *workspace;
    size_t workspace_bytes;
    MPI_File file;
} panel_job_t;

static void file_end(panel_job_t *job) {
    ji_metadata_free(job->memory);
    if (job->panel != NULL)
        (void)jbuffer_release(job->panel);
    if (job->allocator != NULL)
        (void)jbuffer_allocator_release(job->allocator);
}

/* Part of a distributed buffer, which is no buffer of its own: nothing to count, nothing that can
 * fail. */
static jbuffer_t file_slice(const jbuffer_t *buffer, int64_t row, int64_t column, int64_t rows,
                            int64_t columns) {
    jbuffer_t slice = *buffer;
    slice.layout.rank = 2;
    slice.layout.extents[0] = rows;
    slice.layout.extents[1] = columns;
    slice.starts[0] += row;
    slice.starts[1] += column;
    return slice;
}

/* The panel that begins there, and the part of the buffer that it is of; smaller at the edges. */
static void file_cut(const panel_job_t *job, int64_t row, int64_t column, jbuffer_t *panel,
                     jbuffer_t *part) {
    int64_t extents[2];
    const int64_t starts[2] = {row, column};
    for (int d = 0; d < 2; ++d) {
        const int64_t whole = job->blocks[d] * job->grid[d], left = job->extents[d] - starts[d];
        extents[d] = whole < left ? whole : left;
    }

    /* Dimension of the file's matrix that the buffer's rows are. */
    const int first = job->transposed;
    *panel = file_slice(job->panel, 0, 0, extents[0], extents[1]);
    *part = file_slice(job->buffer, starts[first], starts[!first], extents[first], extents[!first]);
}

/* What panels are like, the memory of one and of what copies it. Agreed upon. */
static jstatus_t file_make_panel(panel_job_t *job) {
    const jbuffer_allocator_t *allocator = ji_buffer_allocator(job->buffer);
    jruntime_t *runtime = allocator->runtime;
    jbuffer_allocator_options_t options = allocator->options;
    const int processes = runtime->info.processes;
    const int64_t rows = job->extents[0], columns = job->extents[1],
                  most = ji_mpi_panel_bytes / job->element;
    if (rows == 0 || columns == 0) {
        job->extents[0] = job->extents[1] = 0; /* nothing is to be moved */
        return JSTATUS_SUCCESS;
    }

    /* Whole columns, unless one is too long for a process. */

    const bool whole = rows <= most;
    const int64_t each = ((whole ? columns : rows) + processes - 1) / processes;
    job->blocks[0] = whole ? rows : each < most ? each : most;
    job->blocks[1] = !whole ? 1 : each < most / rows ? each : most / rows;
    job->grid[0] = whole ? 1 : processes;
    job->grid[1] = whole ? processes : 1;

    memcpy(options.grid, job->grid, sizeof options.grid);
    memcpy(options.blocks, job->blocks, sizeof options.blocks);
    if (jdevice_kind(options.device) != JDEVICE_HOST) {
        options.device = jdevice_host();
        options.allocator = NULL;
    }

    jlayout_t layout;
    jbuffer_t panel, part;
    size_t least;
    const int64_t extents[2] = {job->blocks[0] * job->grid[0], job->blocks[1] * job->grid[1]};
    jstatus_t status;

    JTRY(jbuffer_allocator_create(runtime, &options, &job->allocator));
    JTRY(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
    JTRY(jlayout_set_blocks(&layout, job->blocks));
    JTRY(jbuffer_allocate(job->allocator, &layout, &job->panel));

    file_cut(job, 0, 0, &panel, &part);
    JTRY(job->saving ? ji_mpi_move_bytes(runtime, &panel, &part, job->transposed,
                                         &job->workspace_bytes, &least)
                     : ji_mpi_move_bytes(runtime, &part, &panel, job->transposed,
                                         &job->workspace_bytes, &least));

    job->memory = ji_metadata_alloc(job->workspace_bytes + JI_ALIGNMENT);
    job->workspace = ji_align_pointer(job->memory);
    if (job->memory == NULL)
        status = ji_fail(JSTATUS_MEMORY_ERROR, "\"%.300s\": no memory for %zu bytes of workspace",
                         job->path, job->workspace_bytes);

    status = ji_mpi_agree(runtime, JI_SCOPE_ALL, status);
done:
    return status;
}

/* This process's piece of a panel, to or from the file. */
static jstatus_t file_move_piece(const panel_job_t *job, const jbuffer_t *panel, int64_t row,
                                 int64_t column) {
    const jdistribution_t *whole = &panel->storage->distribution;
    int64_t begin[2], count[2];
    for (int d = 0; d < 2; ++d) {
        begin[d] = whole->coordinates[d] * job->blocks[d];
        count[d] =
            jdistribution_local_count(whole, d, whole->coordinates[d], panel->layout.extents[d]);
    }

    const int64_t at = row + begin[0] + (column + begin[1]) * job->extents[0];
    const int bytes = (int)(count[0] * count[1] * job->element);
    const MPI_Offset offset = job->data_offset + at * job->element;
    if (bytes == 0)
        return JSTATUS_SUCCESS;

    MPI_Status moved;
    int moved_bytes = 0;
    const int error =
        job->saving
            ? MPI_File_write_at(job->file, offset, panel->storage->pointer, bytes, MPI_BYTE, &moved)
            : MPI_File_read_at(job->file, offset, panel->storage->pointer, bytes, MPI_BYTE, &moved);
    if (error != MPI_SUCCESS)
        return file_status(error, job->path, job->saving ? "cannot be written" : "cannot be read");

    MPI_Get_count(&moved, MPI_BYTE, &moved_bytes);
    if (moved_bytes != bytes)
        return ji_fail(JSTATUS_IO_ERROR, "\"%.300s\": %d bytes of %d could be %s", job->path,
                       moved_bytes, bytes, job->saving ? "written" : "read");
    return JSTATUS_SUCCESS;
}

static jstatus_t file_move(const panel_job_t *job) {
    jruntime_t *runtime = ji_buffer_runtime(job->buffer);
    jstatus_t status = JSTATUS_SUCCESS;

    for (int64_t column = 0; column < job->extents[1]; column += job->blocks[1] * job->grid[1])
        for (int64_t row = 0; row < job->extents[0]; row += job->blocks[0] * job->grid[0]) {
            jbuffer_t panel, part;
            file_cut(job, row, column, &panel, &part);

            if (job->saving)
                status = file_first(status, ji_mpi_move(runtime, &panel, &part, job->transposed,
                                                        job->workspace, job->workspace_bytes));
            status = file_first(status, file_move_piece(job, &panel, row, column));
            if (!job->saving)
                status = file_first(status, ji_mpi_move(runtime, &part, &panel, job->transposed,
                                                        job->workspace, job->workspace_bytes));
        }
    return status;
}

/* Opens the file, moves everything and closes it. Agreed upon. */
static jstatus_t file_transfer(panel_job_t *job, const char *name) {
    jruntime_t *runtime = ji_buffer_runtime(job->buffer);
    const int mode = job->saving ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    const int64_t bytes = job->extents[0] * job->extents[1] * job->element;
    MPI_Offset size = 0;

    job->file = MPI_FILE_NULL;
    jstatus_t status = file_status(
        MPI_File_open(ji_mpi_of(runtime)->all, (char *)name, mode, MPI_INFO_NULL, &job->file),
        job->path, "cannot be opened");
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));

    if (!job->saving) { /* rank 0 has looked, but another machine may see another file */
        status = file_status(MPI_File_get_size(job->file, &size), job->path, "has no size");
        if (status == JSTATUS_SUCCESS && size - job->data_offset < bytes)
            status = ji_fail(JSTATUS_TRUNCATED, "\"%.300s\" has %lld bytes of elements, not %lld",
                             job->path, (long long)(size - job->data_offset), (long long)bytes);
        JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));
    }

    status = file_move(job);
    if (job->saving)
        status = file_first(status,
                            file_status(MPI_File_sync(job->file), job->path, "cannot be written"));
done:
    if (job->file != MPI_FILE_NULL)
        status = file_first(status,
                            file_status(MPI_File_close(&job->file), job->path, "cannot be closed"));
    return ji_mpi_agree(runtime, JI_SCOPE_ALL, status);
}

/* ---- Saving ---- */

/* Rank 0: a new file of a temporary name, with its header and the rights of the one that it will
 * replace. */
static jstatus_t file_create(const char *path, char **temporary, const char *header,
                             int64_t header_bytes) {
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
        status = ji_npy_errno(path, "cannot be written",
                              written < 0 || written == header_bytes ? errno : ENOSPC);
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
static jstatus_t file_save_structured(const jbuffer_t *buffer, const char *path) {
    jbuffer_t *whole = NULL;
    void *workspace = NULL;
    size_t best, least;

    jlayout_t layout = buffer->layout;
    layout.structure = JSTRUCTURE_GENERAL;
    jstatus_t status;

    JTRY(jbuffer_allocate(ji_buffer_allocator(buffer), &layout, &whole));
    JTRY(ji_buffer_copy_bytes(whole, buffer, &best, &least));
    workspace = best > 0 ? ji_metadata_alloc(best + JI_ALIGNMENT) : NULL;
    JTRY(ji_buffer_copy(whole, buffer, NULL, ji_align_pointer(workspace),
                        workspace != NULL ? best : 0)); /* 0 is a memory error there */

    status = ji_mpi_save(whole, path);
done:
    ji_metadata_free(workspace);
    if (whole != NULL)
        (void)jbuffer_release(whole);
    return status;
}

static jstatus_t file_save_general(const jbuffer_t *buffer, const char *path) {
    jruntime_t *runtime = ji_buffer_runtime(buffer);
    const bool root = runtime->info.rank == 0;
    const jlayout_t *layout = &buffer->layout;
    /* Of a vector and of a number both orders are true; NumPy then says that it is not
     * Fortran's. */
    ji_npy_t npy = {.type = ji_buffer_type(buffer),
                    .order = layout->rank < 2 ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR,
                    .rank = layout->rank};
    char header[JI_NPY_MAX_HEADER], *temporary = NULL;
    bool made = false;

    memcpy(npy.extents, layout->extents, sizeof npy.extents);
    jstatus_t status = ji_npy_format(&npy, header);

    panel_job_t job = {.buffer = (jbuffer_t *)buffer, /* only read */
                       .path = path,
                       .data_offset = npy.data_offset,
                       .saving = true,
                       .element = (int64_t)jhandle_sizeof_datatype(npy.type)};
    ji_mpi_extents(layout, job.extents);

    if (status == JSTATUS_SUCCESS && root)
        status = file_create(path, &temporary, header, npy.data_offset);
    made = temporary != NULL;
    JTRY(ji_mpi_agree(runtime, JI_SCOPE_ALL, status));

    JTRY(file_make_panel(&job));
    JTRY(file_share_name(runtime, &temporary));
    JTRY(file_transfer(&job, temporary));

    if (root && rename(temporary, path) != 0)
        status = ji_npy_errno(path, "cannot be replaced", errno);
    else
        made = false;
    status = ji_mpi_agree(runtime, JI_SCOPE_ALL, status);
done:
    if (made)
        (void)unlink(temporary);
    ji_metadata_free(temporary);
    file_end(&job);
    return status;
}

jstatus_t ji_mpi_save(const jbuffer_t *buffer, const char *path) {
    JTRY_RETURN(ji_mpi_check_alive());
    if (buffer->layout.structure != JSTRUCTURE_GENERAL)
        return file_save_structured(buffer, path);

    ji_file_limit_t limit;
    ji_file_limit_begin(&limit);
    jstatus_t status = file_save_general(buffer, path);
    ji_file_limit_end(&limit);
    return status;
}

/* ---- Loading ---- */

jstatus_t ji_mpi_load(jbuffer_t *buffer, const char *path, int64_t data_offset, jorder_t order) {
    jstatus_t status;
    JTRY_RETURN(ji_mpi_check_alive());

    int64_t extents[2];
    ji_mpi_extents(&buffer->layout, extents);
    /* A column is in either order the same. */
    const bool transposed = order == JORDER_ROW_MAJOR && extents[1] != 1;

    panel_job_t job = {.buffer = buffer,
                       .path = path,
                       .data_offset = data_offset,
                       .transposed = transposed,
                       .element = (int64_t)jhandle_sizeof_datatype(ji_buffer_type(buffer)),
                       .extents = {extents[transposed], extents[!transposed]}};

    JTRY(file_make_panel(&job));
    status = file_transfer(&job, path);
done:
    file_end(&job);
    return status;
}
