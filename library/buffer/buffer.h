/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BUFFER_BUFFER_H
#define JALLOC_BUFFER_BUFFER_H

/* Buffers: the content of runtimes, buffer allocators and buffers, and what the parts of this
 * layer, libjblas and libjalloc_mpi do for each other.
 *
 *     jbuffer_t  ---------->  ji_storage_t  -->  jbuffer_allocator_t  -->  jruntime_t
 *     a view: layout,         the memory,        what was asked for,       processes, devices,
 *     where it begins         its distribution   where bytes come from     the table of messages
 *
 * Each arrow is a counted reference. A buffer and its views share one storage. libjbuffer knows no
 * MPI: what processes do together goes through the runtime's table (ji_runtime_ops_t), which
 * libjalloc_mpi fills, and which without it has no more than one process to speak for.
 *
 * What always holds: collective functions end as they began, together. Each process does what it
 * can by itself, then ji_runtime_agree_on() tells everyone the worst that happened to anyone, and
 * on an error each undoes its own part.
 *
 *     layout.c, layout_text.c             which elements there are: values that stand by themselves
 *     walk.h                              going through them
 *     object.c, runtime.c                 live objects; processes, devices, memory of the machine
 *     allocator.c, choose.c, propagate.c  buffer allocators, and which one a result gets
 *     buffer.c, storage.c, overlap.c      buffers and views, their memory
 *     elements.c, copy.c                  elements from one address to another, buffers to buffers
 *     construct.c, function.c, convert.c  making buffers
 *     npy.c, file.c                       NumPy's files
 *
 * To read: buffer.c, then storage.c and construct.c. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "core/lock.h"
#include "core/sized.h"
#include "jalloc/buffer.h"
#include "jalloc/segment.h"

/* ---- Objects: what is live (object.c) ---- */

typedef enum ji_object_kind {
    JI_OBJECT_RUNTIME,
    JI_OBJECT_BUFFER_ALLOCATOR,
    JI_OBJECT_BUFFER
} ji_object_kind_t;

/* Whose a reference is. What the program has, it may give back; what buffers have of their
 * allocator, and allocators of their runtime, is out of its reach. */
typedef enum ji_owner { JI_OWNER_PROGRAM, JI_OWNER_LIBRARY, JI_OWNERS } ji_owner_t;

/* First member of a runtime, a buffer allocator and a buffer. All live ones are in one table, by
 * address, so that a pointer can be told to be one without being followed. */
typedef struct ji_object {
    ji_object_kind_t kind;
    atomic_size_t references[JI_OWNERS];
    struct ji_object *next; /* in its bucket */
} ji_object_t;

/* Enters an object with one reference, the program's. */
void ji_object_enter(ji_object_t *object, ji_object_kind_t kind);
/* success; invalid pointer (NULL); not found. The message names the caller and what was
 * expected. */
JI_SHARED jstatus_t ji_object_check(const void *object, ji_object_kind_t kind, const char *caller);
/* One reference more, or less; *last: it was the last one of all, and the object has left the
 * table. An owner who has none left gives none back: not found. */
jstatus_t ji_object_retain(void *object, ji_object_kind_t kind, ji_owner_t owner,
                           const char *caller);
jstatus_t ji_object_release(void *object, ji_object_kind_t kind, ji_owner_t owner,
                            const char *caller, bool *last);

/* ---- Layouts (layout.c) ---- */

/* What a structure says. General is none of these. */
static inline bool ji_structure_is_upper(jstructure_t structure) {
    return structure == JSTRUCTURE_SYMMETRIC_UPPER || structure == JSTRUCTURE_HERMITIAN_UPPER ||
           structure == JSTRUCTURE_TRIANGULAR_UPPER;
}
static inline bool ji_structure_is_lower(jstructure_t structure) {
    return structure != JSTRUCTURE_GENERAL && !ji_structure_is_upper(structure);
}
static inline bool ji_structure_is_hermitian(jstructure_t structure) {
    return structure == JSTRUCTURE_HERMITIAN_UPPER || structure == JSTRUCTURE_HERMITIAN_LOWER;
}
static inline bool ji_structure_is_triangular(jstructure_t structure) {
    return structure == JSTRUCTURE_TRIANGULAR_UPPER || structure == JSTRUCTURE_TRIANGULAR_LOWER;
}

/* The strides of that order, packed or (not 0) with a leading dimension. False where one does not
 * fit 63 bits. */
bool ji_layout_strides(int rank, const int64_t *extents, jorder_t order, int64_t leading_dimension,
                       int64_t *strides);
/* The order of a layout, where it has one; where it has both the strides of single elements
 * decide. */
bool ji_layout_order(const jlayout_t *layout, jorder_t *order);
/* The dimensions in the order of their strides, the fastest first; of equal ones the first. */
void ji_layout_sort(const jlayout_t *layout, int order[JLAYOUT_MAX_RANK]);
/* Whether each stride goes beyond all elements of the dimensions with shorter ones, so that no two
 * elements share an address. Of a layout that has been checked. */
bool ji_layout_is_nested(const jlayout_t *layout);
/* As jlayout_set_leading_dimension(), of that order. */
jstatus_t ji_layout_lead(jlayout_t *layout, jorder_t order, int64_t leading_dimension);

/* ---- Runtimes (runtime.c) ---- */

/* Which processes take part. */
typedef enum ji_scope {
    JI_SCOPE_ALL,
    JI_SCOPE_NODE, /* those of this machine; root is its node rank */
    /* The first of each machine; root is a node number. Others return success at once. */
    JI_SCOPE_LEADERS
} ji_scope_t;

struct ji_backend; /* operation/operation.h */
typedef struct ji_grid ji_grid_t;

/* What processes do together. Every function is collective over its scope, and gives device error
 * with MPI's message where that fails. */
typedef struct ji_runtime_ops {
    const char *transport; /* "none", "mpi" */
    void (*destroy)(jruntime_t *runtime);
    jstatus_t (*agree)(jruntime_t *runtime, ji_scope_t scope, jstatus_t status);
    /* The same over all, by the same messages: in success all must have given the same hash of
     * their arguments, else all get invalid value. NULL: arguments are not compared. */
    jstatus_t (*agree_on)(jruntime_t *runtime, jstatus_t status, uint64_t arguments);
    /* The root's bytes for all; on the memory of a device, or (NULL) the host. */
    jstatus_t (*broadcast)(jruntime_t *runtime, ji_scope_t scope, int root, jdevice_t *device,
                           void *bytes, size_t size_bytes);

    /* Distributed buffers; all NULL where there are none. */

    /* The grid of that shape, made at the first call and kept until the runtime ends. */
    jstatus_t (*open_grid)(jruntime_t *runtime, const int grid[2], ji_grid_t **out);
    /* As ji_buffer_copy_bytes() and ji_buffer_copy() where one of the two is distributed; the
     * result is not agreed yet. The processes of `runtime` take part: a local side may be of
     * another one. */
    jstatus_t (*copy_bytes)(jruntime_t *runtime, const jbuffer_t *destination,
                            const jbuffer_t *source, size_t *best, size_t *least);
    jstatus_t (*copy)(jruntime_t *runtime, jbuffer_t *destination, const jbuffer_t *source,
                      void *workspace, size_t size_bytes);
    /* Element of the whole storage, to every process. */
    jstatus_t (*get)(const jbuffer_t *buffer, const int64_t indices[2], void *value);
    /* jbuffer_save() and the elements of jbuffer_load(); agreed upon. */
    jstatus_t (*save)(const jbuffer_t *buffer, const char *path);
    jstatus_t (*load)(jbuffer_t *buffer, const char *path, int64_t data_offset, jorder_t order);
    const struct ji_backend *backend; /* of operations on distributed buffers */
} ji_runtime_ops_t;

#define JI_RUNTIME_MAX_DEVICES 64

struct jruntime {
    ji_object_t object;
    const ji_runtime_ops_t *ops;
    void *state; /* the table's own */
    /* As of the last refresh, and under the lock but for what a refresh leaves alone: transport,
     * processes, nodes. */
    jruntime_info_t info;
    jruntime_device_t devices[JI_RUNTIME_MAX_DEVICES];
    ji_lock_t lock;
};

/* Makes a runtime; `info` has the processes and nodes, the rest is looked up. On failure `state` is
 * still the caller's. */
JI_SHARED jstatus_t ji_runtime_make(const ji_runtime_ops_t *ops, void *state,
                                    const jruntime_info_t *info, jruntime_t **out);

/* jruntime_agree(), and if no process has an error, that all passed the same arguments: invalid
 * value where not. */
jstatus_t ji_runtime_agree_on(jruntime_t *runtime, jstatus_t status, uint64_t arguments);

/* The library's references of a runtime, as jruntime_retain() and jruntime_release() are the
 * program's. */
jstatus_t ji_runtime_hold(jruntime_t *runtime);
jstatus_t ji_runtime_drop(jruntime_t *runtime);

/* ---- Buffer allocators (allocator.c, choose.c, propagate.c) ---- */

/* A grid of processes, owned by the runtime. */
struct ji_grid {
    int shape[2];
    int coordinates[2]; /* this process's; -1, -1: outside */
    int blacs_context;  /* -1: outside */
    ji_grid_t *next;
};

struct jbuffer_allocator {
    ji_object_t object;
    jruntime_t *runtime; /* held */
    /* Complete: device, grid and (as asked for) blocks; of a best one as given. */
    jbuffer_allocator_options_t options;
    /* The options' allocator, or the process's; NULL: best, or shared on nodes. */
    jallocator_t *bytes;
    ji_grid_t *grid; /* distributed; the runtime's */
};

/* Makes an allocator, as jbuffer_allocator_create() after looking at struct_size and kind.
 * Collective as that is. */
jstatus_t ji_buffer_allocator_make(jruntime_t *runtime, const jbuffer_allocator_options_t *options,
                                   jbuffer_allocator_t **out);
/* The same for a process by itself, which asks nobody: of any kind but distributed, for what only
 * this process sees. */
jstatus_t ji_buffer_allocator_make_alone(jruntime_t *runtime,
                                         const jbuffer_allocator_options_t *options,
                                         jbuffer_allocator_t **out);

/* Whether there can be so many operands: success; invalid size. */
static inline jstatus_t ji_operands_check(size_t count, const char *caller) {
    if (JI_UNLIKELY(!ji_is_array(count, sizeof(jbuffer_t *))))
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: count = %zu: more operands than memory can hold",
                       caller, count);
    return JSTATUS_SUCCESS;
}

/* The library's references of an allocator. */
jstatus_t ji_buffer_allocator_hold(jbuffer_allocator_t *allocator);
jstatus_t ji_buffer_allocator_drop(jbuffer_allocator_t *allocator);

static inline bool ji_buffer_is_shared_kind(const jbuffer_allocator_options_t *options) {
    return options->kind == JBUFFER_REPLICATED && options->shared_on_node;
}

/* Whether what is done with buffers of this allocator has to be agreed upon. */
static inline bool ji_buffer_is_collective(const jbuffer_allocator_t *allocator) {
    return allocator->options.kind != JBUFFER_LOCAL && allocator->runtime->info.processes > 1;
}
/* Ends a collective function: the same status for all. */
static inline jstatus_t ji_buffer_agree(const jbuffer_allocator_t *allocator, jstatus_t status) {
    return ji_buffer_is_collective(allocator) ? jruntime_agree(allocator->runtime, status) : status;
}
/* The same where each passes the hash of its arguments. */
static inline jstatus_t ji_buffer_agree_on(const jbuffer_allocator_t *allocator, jstatus_t status,
                                           uint64_t arguments) {
    return ji_buffer_is_collective(allocator)
               ? ji_runtime_agree_on(allocator->runtime, status, arguments)
               : status;
}

/* The distribution of a layout by an allocator of distributed ones: its blocks, or the allocator's,
 * or chosen. */
JI_SHARED jdistribution_t ji_buffer_distribution(const jbuffer_allocator_t *allocator,
                                                 const jlayout_t *layout);
/* The bytes of this process's part of a layout, which is checked; of a distributed one also its
 * distribution. */
jstatus_t ji_buffer_part_bytes(const jbuffer_allocator_t *allocator, const jlayout_t *layout,
                               jdistribution_t *d, size_t *bytes);

/* ---- Buffers (buffer.c, storage.c, overlap.c) ---- */

/* The memory of a buffer and its views; or a placeholder for it, which a size query made and which
 * takes it when it is first written to. */
typedef struct ji_storage {
    atomic_size_t references;
    jbuffer_allocator_t *allocator; /* held */
    void *pointer;                  /* this process's part; NULL: no elements, or a placeholder */
    size_t size_bytes;
    jallocator_t *from; /* gives it back to; NULL: wrapped, or in a segment */
    /* It came zeroed and nobody has written to it: only while constructing. */
    bool zeroed;
    jdistribution_t distribution; /* distributed: the whole matrix */
    int64_t leading_dimension;    /* distributed: of the part, at least 1 */
    jsegment_t *segment;          /* replicated, shared on nodes */
    void *window;                 /* of MPI; ended by: */
    void (*end_window)(void *window);
    bool placeholder; /* on every process that has a part, whether that has elements or not */
} ji_storage_t;

struct jbuffer {
    ji_object_t object;
    ji_storage_t *storage; /* counted */
    jlayout_t layout;      /* the strides of a distributed one are those of the packed whole */
    int64_t offset;        /* elements before its first one in the storage; distributed: 0 */
    int64_t starts[2];     /* distributed: where the view begins in the whole */
};

/* The first element, wherever the storage is by now; distributed: this process's part. NULL: no
 * elements, or a placeholder. */
JI_SHARED void *ji_buffer_data(const jbuffer_t *buffer);

static inline jbuffer_allocator_t *ji_buffer_allocator(const jbuffer_t *buffer) {
    return buffer->storage->allocator;
}
static inline jbuffer_kind_t ji_buffer_kind(const jbuffer_t *buffer) {
    return buffer->storage->allocator->options.kind;
}
static inline jdatatype_t ji_buffer_type(const jbuffer_t *buffer) {
    return buffer->storage->allocator->options.type;
}
static inline jdevice_t *ji_buffer_device(const jbuffer_t *buffer) {
    return buffer->storage->allocator->options.device;
}
static inline jruntime_t *ji_buffer_runtime(const jbuffer_t *buffer) {
    return buffer->storage->allocator->runtime;
}
/* Replicated in one copy per machine: the first process of a machine writes, then all of the
 * machine agree. */
static inline bool ji_buffer_is_shared(const jbuffer_t *buffer) {
    return ji_buffer_is_shared_kind(&buffer->storage->allocator->options);
}
static inline bool ji_buffer_writes(const jbuffer_t *buffer) {
    return !ji_buffer_is_shared(buffer) || ji_buffer_runtime(buffer)->info.node_rank == 0;
}

/* Memory for a layout, with one reference: taken as the allocator takes it, or (wrap) the caller's.
 * Where it comes zeroed storage->zeroed says so. Collective where it is shared on nodes, and then
 * agreed; otherwise by itself. success; invalid value, size; invalid pointer (wrap is not aligned);
 * not implemented; memory error; device error. */
jstatus_t ji_storage_create(jbuffer_allocator_t *allocator, const jlayout_t *layout, void *wrap,
                            ji_storage_t **out);
/* A placeholder, with one reference: all but the memory. Never collective. success; invalid value,
 * size; memory error. */
jstatus_t ji_storage_promise(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                             ji_storage_t **out);
/* Takes a placeholder's memory, for all its views: collective and agreed where ji_storage_create()
 * is, and the same statuses; on an error it is a placeholder as before. */
jstatus_t ji_storage_take(ji_storage_t *storage);
/* Gives that back: it is a placeholder again. */
jstatus_t ji_storage_return(ji_storage_t *storage);
/* One reference less; the last gives the memory back. */
jstatus_t ji_storage_release(ji_storage_t *storage);
/* A buffer over a storage, whose reference it takes over on success. */
jstatus_t ji_buffer_make(ji_storage_t *storage, const jlayout_t *layout, jbuffer_t **out);
/* A buffer that is a placeholder, of an allocator that is not best; as jbuffer_allocate() but for
 * the memory, and by each process for itself. */
jstatus_t ji_buffer_promise(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                            jbuffer_t **out);

/* How the elements of two buffers lie to each other (overlap.c). */
typedef enum ji_overlap {
    JI_OVERLAP_NONE, /* none is an element of both */
    JI_OVERLAP_SAME, /* both are the same elements at the same addresses, with the same structure */
    /* Some are, at other addresses or as another structure; or it takes too long to tell. */
    JI_OVERLAP_SOME,
    /* Memory that was wrapped twice, once as the part of a distributed buffer: other processes may
     * find something else. */
    JI_OVERLAP_HERE
} ji_overlap_t;
ji_overlap_t ji_buffer_overlap(const jbuffer_t *a, const jbuffer_t *b);

/* Looks whether the pointer is a live buffer: success; invalid pointer; not found. */
static inline jstatus_t ji_buffer_check(const jbuffer_t *buffer, const char *caller) {
    return ji_object_check(buffer, JI_OBJECT_BUFFER, caller);
}
static inline bool ji_buffer_is_placeholder(const jbuffer_t *buffer) {
    return buffer->storage->placeholder;
}
/* Of a live buffer whose contents or memory are wanted: success; invalid value (a placeholder). */
JI_SHARED jstatus_t ji_buffer_check_contents(const jbuffer_t *buffer, const char *caller);

/* ---- What all processes should pass alike (arguments.c) ---- */

/* A hash with more of the arguments of a collective function. It begins as 0; none that something
 * was added to is. What a process may have as it likes does not count. */
uint64_t ji_arguments_add(uint64_t hash, const void *bytes, size_t size_bytes);
/* That was checked. */
uint64_t ji_arguments_add_layout(uint64_t hash, const jlayout_t *layout, bool with_strides);
uint64_t ji_arguments_add_allocator(uint64_t hash, const jbuffer_allocator_options_t *options);
uint64_t ji_arguments_add_buffer(uint64_t hash, const jbuffer_t *buffer);

/* ---- Elements in local memory (elements.c) ---- */

/* Local memory seen as elements: what a local or replicated buffer is, or a piece of a distributed
 * one. */
typedef struct ji_elements {
    jdevice_t *device;
    jdatatype_t type;
    jlayout_t layout; /* with its structure; blocks do not count */
    void *data;       /* the first element */
} ji_elements_t;

/* Host memory to host memory, of one shape; done on return. Types may differ: as
 * jbuffer_construct_copy() says (complex to real: invalid value). A structured source is read as
 * the whole matrix where the destination is general; a structured destination gets its stored
 * triangle. May not overlap. Allocates nothing. */
jstatus_t ji_elements_copy_host(const ji_elements_t *destination, const ji_elements_t *source);
/* Every stored element becomes *value (NULL: 0), in host memory. */
void ji_elements_fill_host(const ji_elements_t *destination, const void *value);

/* Bytes of host staging that a copy between any devices needs: 0 on the host, and where
 * both are packed alike. */
size_t ji_elements_copy_bytes(const ji_elements_t *destination, const ji_elements_t *source);
/* The copy, of one type where a device takes part. In the order of the stream, which belongs to the
 * device of the two that is not the host (NULL: its default stream); `staging` is host memory of
 * those bytes, aligned to 64. Where staging is used the stream is waited for. */
jstatus_t ji_elements_copy(const ji_elements_t *destination, const ji_elements_t *source,
                           jstream_t *stream, void *staging);

/* Those of a local or replicated buffer. */
ji_elements_t ji_buffer_elements(const jbuffer_t *buffer);
/* What this process holds of a distributed buffer, as a matrix. */
ji_elements_t ji_buffer_part_elements(const jbuffer_t *buffer);
/* A slice of them, without structure. */
ji_elements_t ji_elements_slice(const ji_elements_t *elements, const int64_t *starts,
                                const int64_t *extents);
/* The layout in blocks of no more than so many elements (at least 1), which are long where strides
 * are short. */
jlayout_t ji_layout_divide(const jlayout_t *layout, int64_t elements);

/* ---- Copies between buffers (copy.c) ---- */

/* Workspace, in host memory, aligned to 64, of a copy between two buffers of one shape and type:
 * what serves it best, and the least it can do with. Not collective. `least` is the same on all
 * processes, or 0 where a process takes no part. */
JI_SHARED jstatus_t ji_buffer_copy_bytes(const jbuffer_t *destination, const jbuffer_t *source,
                                         size_t *best, size_t *least);
/* The copy, with size_bytes of workspace, at least `least`; how much each process has need not be
 * the same. Done on return, but for local copies in a stream that is not NULL (of a device that
 * takes part). Collective where the two are of different kinds and there are several processes, or
 * one is distributed or shared on nodes; then the result is agreed, where anything can fail. */
JI_SHARED jstatus_t ji_buffer_copy(jbuffer_t *destination, const jbuffer_t *source,
                                   jstream_t *stream, void *workspace, size_t size_bytes);
/* Whether that copy is collective. */
bool ji_buffer_copy_is_collective(const jbuffer_t *destination, const jbuffer_t *source);

/* ---- Making buffers (construct.c, function.c, convert.c) ---- */

/* A buffer while it is made. What several processes do for it they do together: each goes through
 * the same steps, also with an error of its own, until all have agreed on one. */
typedef struct ji_construct {
    /* The one that makes it: a reference; NULL: none was chosen. */
    jbuffer_allocator_t *allocator;
    const jbuffer_allocator_t *participants; /* whose processes have to agree */
    uint64_t arguments;                      /* what they should have in common */
    bool over;                               /* they have, on an error */
    ji_storage_t *storage;                   /* until it is a buffer */
    jbuffer_t *made;
} ji_construct_t;

/* Begins with the status so far: memory for a layout. `source`: another buffer that takes part, or
 * NULL. Not agreed. */
jstatus_t ji_construct_begin(ji_construct_t *construct, jbuffer_allocator_t *allocator,
                             const jlayout_t *layout, const jbuffer_t *source, jstatus_t status);
jstatus_t ji_construct_agree(ji_construct_t *construct, jstatus_t status);
/* Ends, agreed: gives the buffer, or on an error the memory back. */
jstatus_t ji_construct_end(ji_construct_t *construct, jstatus_t status, jbuffer_t **buffer);
/* Host memory for what is done meanwhile. */
jstatus_t ji_construct_scratch(const ji_construct_t *construct, jallocator_t **allocator);
/* Copies into the buffer that is made. Collective where ji_buffer_copy() is: every process comes
 * here, with its status. */
jstatus_t ji_construct_copy(ji_construct_t *construct, const jbuffer_t *source, jstatus_t status);
/* Who has to agree: the buffer that is made, or if that is everybody's own the one that it is made
 * from. */
const jbuffer_allocator_t *ji_construct_participants(const jbuffer_allocator_t *allocator,
                                                     const jbuffer_t *source);
/* success; invalid pointer: the result pointer is NULL. */
jstatus_t ji_construct_check_out(const void *out, const char *caller);

/* A descriptor of memory that is no buffer: what a function that takes buffers wants to see of
 * it. */
typedef struct ji_construct_descriptor {
    jbuffer_allocator_t allocator;
    ji_storage_t storage;
    jbuffer_t buffer;
} ji_construct_descriptor_t;

/* ---- Files (npy.c, file.c) ---- */

#define JI_NPY_MAX_HEADER 1024 /* bytes of any header that is written here */

/* What a .npy file says before its elements. */
typedef struct ji_npy {
    jdatatype_t type;
    jorder_t order;
    int rank;
    int64_t extents[JLAYOUT_MAX_RANK];
    int64_t data_offset; /* where the elements begin */
} ji_npy_t;

/* Writes a header (its end padded to 64 bytes). success; not implemented (a type that NumPy has no
 * name for). */
JI_SHARED jstatus_t ji_npy_format(ji_npy_t *npy, char header[JI_NPY_MAX_HEADER]);
/* Reads the header of a file. success; not found; permission; io error; truncated; invalid
 * value. */
jstatus_t ji_npy_read_header(const char *path, ji_npy_t *npy);
/* The same, and the file is left open for the caller to read from. */
jstatus_t ji_npy_open(const char *path, ji_npy_t *npy, int *opened);
/* Reads so many bytes from there on: success; truncated; io error. */
jstatus_t ji_npy_read(int file, const char *path, int64_t offset, void *bytes, size_t size_bytes);
/* A name for a file beside `path`, of the same folder and likely to be free; the caller frees it
 * (ji_metadata_free). */
JI_SHARED jstatus_t ji_npy_temporary(const char *path, char **temporary);
/* What becomes the file `path` by renaming: success; io error (something that is no regular file
 * has that name). *mode: the rights that it should have. */
JI_SHARED jstatus_t ji_npy_target(const char *path, unsigned *mode);
/* Bytes of a piece that is packed at once, at least an element's; tests make it small. */
extern size_t ji_file_piece_bytes;
/* The status of an errno of open, write, rename and so on, with a message that has the path and the
 * system's reason. */
JI_SHARED jstatus_t ji_npy_errno(const char *path, const char *what, int error);

#endif
