/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BUFFER_H
#define JALLOC_BUFFER_H

/** @file
 * Buffers: typed, shaped memory that knows where it came from; and the allocators that make them.
 *
 * | kind        | each process holds                | its contents                   | needs      |
 * | ----------- | --------------------------------- | ------------------------------ | ---------- |
 * | local       | the whole, on any device          | its own; processes do not know | -          |
 * |             |                                   | each other's                   |            |
 * | replicated  | the whole, or (shared_on_node)    | the same everywhere, as long   | MPI, if    |
 * |             | one copy per machine in a shared  | as all processes do the same   | there are  |
 * |             | segment                           | to it                          | several    |
 * | distributed | some blocks of a matrix, block-   | parts of one whole             | MPI        |
 * |             | cyclic over a grid of processes   |                                |            |
 * |             | (layout.h)                        |                                |            |
 *
 * A buffer allocator is bound to a runtime view, a kind, an element type and a device; it makes
 * buffers from layouts. A buffer keeps its allocator, so results can be made alike:
 * jbuffer_propagate(), and rebinding for another kind or type. Operations on buffers stand in
 * operation.h; both are libjbuffer's. What needs MPI's types stands in mpi.h (libjalloc_mpi).
 *
 * **Collective.** Of distributed buffers, and of replicated ones on a runtime of several processes,
 * allocate, construct_*, save, load and creating or rebinding an allocator are collective: all
 * processes of the runtime call them in the same order with the same arguments (data pointers
 * apart); an error on one is the same status on all, and nothing is left behind. Other arguments on
 * one process (shapes, blocks, kinds, options, the scalars of what is computed together) are
 * invalid value on all, found by the message that all exchange anyway. An argument that leads to no
 * runtime (NULL, a freed object) cannot be agreed upon: on one process alone, the others wait for
 * it. Everything else is not collective, unless it says so. Local buffers are not collective, but
 * as the other side of a conversion: then each process passes one of the same shape, and that of
 * rank 0 is read.
 *
 * **References.** Buffers, views and allocators begin with one reference and end with their last. A
 * view keeps the memory that it looks at; a buffer keeps its allocator, and that its runtime, by
 * references of their own, which no release of the program's takes away. What is not a live buffer
 * is answered not found, and so is one that was released, until a buffer, view, allocator or
 * runtime that is made later gets its address: then the pointer means that one. Counting is safe
 * from any thread; contents are not guarded.
 *
 * **Placeholders.** A size query of an operation (operation.h) makes its new result as a
 * placeholder: a buffer with layout, kind, type and allocator, but without memory. It can be
 * viewed, released and asked what it is. It becomes an ordinary buffer, and its views with it, when
 * an operation first writes it. Until then what reads elements, writes single ones or wants a
 * pointer (get, set, save, construct_copy, construct_move, the down-casts) gives invalid value: "is
 * a placeholder that a size query made".
 *
 * **Waiting.** What is here has been done when it returns, on GPUs too. Order it with work of your
 * own streams by waiting for them first. */

#include "jalloc/allocator.h"
#include "jalloc/datatype.h"
#include "jalloc/layout.h"
#include "jalloc/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** a buffer, or a view of one; reference-counted */
typedef struct jbuffer jbuffer_t;
typedef struct jbuffer_allocator jbuffer_allocator_t; /**< makes buffers; reference-counted */

/** Kinds of buffers. */
typedef enum jbuffer_kind_t {
    JBUFFER_LOCAL = 0,
    JBUFFER_REPLICATED = 1,
    JBUFFER_DISTRIBUTED = 2,
    JBUFFER_BEST = 3 /**< of allocators alone: chooses another for each buffer */
} jbuffer_kind_t;

/** The kind's name: "local", "replicated", "distributed", "best"; "unknown". Static. */
JALLOC_API const char *jbuffer_kind_name(jbuffer_kind_t kind);

/** @name Allocators of buffers
 * @{ */

/** What an allocator makes. */
typedef struct jbuffer_allocator_options_t {
    size_t struct_size; /**< sizeof(jbuffer_allocator_options_t) */
    jbuffer_kind_t kind;
    jdatatype_t type;
    jdevice_t *device; /**< where elements live in each process; NULL: the host */
    /** where bytes come from, retained; NULL: the process's for the device, and on the host from 32
     * MiB on the system, which gives zeros that cost nothing until written */
    jallocator_t *allocator;
    /** replicated: one copy per machine. On the host; `allocator` is not used */
    bool shared_on_node;
    /** distributed: rows and columns of processes; 0, 0: as square as can be over all. A smaller
     * grid leaves the last ranks without a part. Rank r is at row r / columns, column r %
     * columns */
    int grid[2];
    /** distributed: blocks where the layout has none; 0: 64. No larger than a quarter of what each
     * process would have, if that is possible, where 0. Those of a square matrix are square where
     * both are 0 */
    int64_t blocks[2];
} jbuffer_allocator_options_t;
#define JBUFFER_ALLOCATOR_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(jbuffer_allocator_options_t), JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL, false,      \
            {0, 0}, {                                                                              \
            0, 0                                                                                   \
        }                                                                                          \
    }

/** Makes an allocator of buffers. kind JBUFFER_BEST: one that chooses (jbuffer_allocator_choose);
 * of the other options it reads the type, and the rest as wishes. Collective for a distributed or
 * replicated one over several processes.
 * @return success; invalid pointer; invalid value (struct_size, an enum, a grid that is larger than
 * the runtime, an allocator of another device); invalid size (blocks); not found (freed runtime);
 * not implemented (the kind needs MPI); memory error; device error; no device, io error and invalid
 * configuration (of the process's allocator). */
JALLOC_API jstatus_t jbuffer_allocator_create(jruntime_t *runtime,
                                              const jbuffer_allocator_options_t *options,
                                              jbuffer_allocator_t **allocator);

/** The allocator for another kind or type of the same backend: same runtime, device, bytes and
 * grid. An allocator that is equal already is given again, with one more reference. Collective
 * where creating is.
 * @return success; invalid pointer; invalid value; not found (freed; or the backend has no such
 * kind: distributed without MPI); memory error; device error; no device, io error and invalid
 * configuration (of the process's allocator). */
JALLOC_API jstatus_t jbuffer_allocator_rebind(jbuffer_allocator_t *allocator, jbuffer_kind_t kind,
                                              jdatatype_t type, jbuffer_allocator_t **rebound);

/** One more reference, the program's. @return success; invalid pointer; not found. */
JALLOC_API jstatus_t jbuffer_allocator_retain(jbuffer_allocator_t *allocator);
/** One reference less. It ends when the program has none left and there are no buffers of it, which
 * is not collective. NULL is ignored. @return success; not found (or the program has no reference
 * of it left). */
JALLOC_API jstatus_t jbuffer_allocator_release(jbuffer_allocator_t *allocator);

/** What it was made with, with everything chosen: device, grid, blocks; the runtime by the next
 * function.
 * @return success; invalid pointer; invalid value (struct_size); not found. */
JALLOC_API jstatus_t jbuffer_allocator_get_options(const jbuffer_allocator_t *allocator,
                                                   jbuffer_allocator_options_t *options);
/** Its runtime, without a new reference; NULL for what is no allocator. */
JALLOC_API jruntime_t *jbuffer_allocator_runtime(const jbuffer_allocator_t *allocator);

/** The bytes that this process would hold of a buffer of this layout; of a best allocator: of the
 * whole. Not collective.
 * @return success; invalid pointer; not found; invalid value (a layout that the kind cannot have);
 * invalid size. */
JALLOC_API jstatus_t jbuffer_allocator_get_local_bytes(const jbuffer_allocator_t *allocator,
                                                       const jlayout_t *layout, size_t *bytes);

/** Chooses where a buffer of this layout should live, given the operands it will meet (count may be
 * 0), with a new reference. An ordinary allocator chooses itself. The best one goes by the first
 * line that applies:
 *
 * | if                                                     | kind        | device                |
 * | ------------------------------------------------------ | ----------- | --------------------- |
 * | JALLOC_BUFFER names a kind, a device, or both          | as named    | as named, else as     |
 * | ("distributed@host")                                   |             | below                 |
 * | there are operands                                     | jbuffer_propagate()'s answer        ||
 * | one process, and a GPU wished for or found has room    | local       | that GPU              |
 * | for                                                    |             |                       |
 * | three such                                             |             |                       |
 * | one process                                            | local       | host                  |
 * | several; a matrix; larger than a quarter of what a     | distributed | host                  |
 * | process has of its machine's available memory, or of   |             |                       |
 * | 64 MiB and more                                        |             |                       |
 * | several                                                | replicated  | host                  |
 *
 * A GPU is taken by itself only from 8 MiB on, and for local buffers alone. What was chosen and why
 * is logged at level info. The figures are those of the runtime's last refresh; over several
 * processes the choice is rank 0's and the call collective.
 * @return success; invalid pointer; not found; invalid value and invalid size (layout; operands as
 * jbuffer_propagate()); invalid configuration (JALLOC_BUFFER, or it names what cannot be had); no
 * device; memory error. */
JALLOC_API jstatus_t jbuffer_allocator_choose(jbuffer_allocator_t *allocator,
                                              const jlayout_t *layout, size_t count,
                                              jbuffer_t *const *operands,
                                              jbuffer_allocator_t **chosen);

/** The allocator for the result of an operation, with a new reference. Operands that are NULL do
 * not count. The rules:
 *
 * | operands                               | the result                                         |
 * | -------------------------------------- | -------------------------------------------------- |
 * | one                                    | its allocator                                      |
 * | of one kind and device                 | the first one's allocator                          |
 * | a distributed one among others         | the allocator of the largest distributed one       |
 * | replicated and local ones              | replicated, rebound from the largest replicated    |
 * |                                        | one                                                |
 * | of one kind on several devices         | the allocator of the largest one; of equal ones    |
 * |                                        | the first                                          |
 * | of several element types               | invalid value: convert first (construct_copy to a  |
 * |                                        | rebound allocator)                                 |
 * | of several runtimes                    | invalid value                                      |
 *
 * "Largest" counts elements. @return success; invalid pointer; invalid value; invalid size (more
 * operands than memory can hold); not found (a freed operand). */
JALLOC_API jstatus_t jbuffer_propagate(size_t count, jbuffer_t *const *operands,
                                       jbuffer_allocator_t **allocator);

/** @} @name Making buffers
 * All give a buffer with one reference. Layouts: strides of a distributed one are not looked at, it
 * is column-major on each process; it has rank 0 to 2, where a vector is a matrix of one column.
 * Each returns: success; invalid pointer; invalid value and invalid size (layout); not found
 * (freed); memory error; not implemented (type or kind); device error; no device, io error and
 * invalid configuration (of the process's allocator); no slot, busy, corrupted and truncated
 * (shared on a node); and on all processes the same.
 * @{ */

/** Uninitialized. */
JALLOC_API jstatus_t jbuffer_allocate(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                                      jbuffer_t **buffer);

/** Memory of the caller's as a buffer, kept valid until the last reference ends: this process's
 * part, of at least jbuffer_allocator_get_local_bytes(), aligned to the element, on the allocator's
 * device. Not collective. Not for buffers that are shared on a node (not implemented). */
JALLOC_API jstatus_t jbuffer_wrap(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                                  void *pointer, jbuffer_t **buffer);

/** Every element that the layout's structure stores becomes *value, of the allocator's type; NULL:
 * 0. */
JALLOC_API jstatus_t jbuffer_construct_value(jbuffer_allocator_t *allocator,
                                             const jlayout_t *layout, const void *value,
                                             jbuffer_t **buffer);

/** Ones on the diagonal (all indices equal), zeros elsewhere; of rank 2 and more. */
JALLOC_API jstatus_t jbuffer_construct_identity(jbuffer_allocator_t *allocator,
                                                const jlayout_t *layout, jbuffer_t **buffer);

/** From nested lists: C arrays of rank 0 to 4 (or more), the last index fastest. The layout is
 * packed and column-major. JBUFFER_LIST_2(array) and its kin give the four middle arguments of an
 * array (in C):
 *
 * @code
 * double a[2][3] = {{1, 2, 3}, {4, 5, 6}};
 * jbuffer_construct_list(allocator, JBUFFER_LIST_2(a), &buffer);
 * @endcode
 *
 * Each process passes the same values; a replicated or distributed buffer takes rank 0's. Adds:
 * invalid value (type is not the allocator's). */
JALLOC_API jstatus_t jbuffer_construct_list(jbuffer_allocator_t *allocator, int rank,
                                            const int64_t *extents, jdatatype_t type,
                                            const void *values, jbuffer_t **buffer);

/** What a function that fills a block says. */
typedef enum jbuffer_filled_t {
    JBUFFER_BLOCK_FILLED = 0, /**< the block has been written */
    JBUFFER_BLOCK_ZERO =
        /** the block is zero; the function wrote none of it. Where memory comes zeroed from the
         * system (32 MiB and more on the host, without an allocator of the caller's) its pages cost
         * nothing until something is written to them */
    1,
    JBUFFER_BLOCK_FAILED = 2 /**< ends the construction with invalid value, on all processes */
} jbuffer_filled_t;

/** A block to fill: where it lies in the whole, and local memory for it. Frozen. */
typedef struct jbuffer_block_t {
    int rank;
    jdatatype_t type;
    const int64_t *starts;  /**< global indices of its first element */
    const int64_t *extents; /**< its elements in each dimension */
    const int64_t *strides; /**< elements between neighbours in `data`, in each dimension */
    void *data;             /**< its first element, in host memory */
} jbuffer_block_t;

/** Fills one block. May be called by several threads at once, each with another block. Must not
 * call jalloc with the buffer that is being made. */
typedef jbuffer_filled_t (*jbuffer_function_t)(void *context, const jbuffer_block_t *block);

/** Calls `function` for each block that this process holds. Blocks are the layout's; where it has
 * none, pieces of about 256 KiB. Of a matrix with a structure every block that touches the stored
 * triangle is asked for, and the function may fill the rest of it or leave it. Blocks are filled in
 * place where the memory is the host's, otherwise through a copy. max_threads: most threads that
 * call it at once; 0: as many as the runtime has, for buffers above 1 MiB; 1: the caller alone. */
JALLOC_API jstatus_t jbuffer_construct_function(jbuffer_allocator_t *allocator,
                                                const jlayout_t *layout,
                                                jbuffer_function_t function, void *context,
                                                int max_threads, jbuffer_t **buffer);

/** A copy of another buffer (or view), of any kind, device and type: elements are converted
 * (rounded to the nearest; integers are rounded and clamped, NaN gives 0; complex to real is
 * refused with invalid value). The layout is packed column-major with the source's shape and
 * structure; its blocks too for a distributed result from a distributed source whose allocator is
 * the same. Local to replicated or distributed takes rank 0's contents; to local gives the whole to
 * every process. */
JALLOC_API jstatus_t jbuffer_construct_copy(jbuffer_allocator_t *allocator, const jbuffer_t *source,
                                            jbuffer_t **buffer);

/** As construct_copy, and gives the caller's reference of *source up: *source is NULL afterwards.
 * The memory is used again where the source is the only reference to it (no view, not wrapped) and
 * both allocators have device, type, grid, blocks and kind in common; kinds do not matter where
 * there is one process, nor from replicated (not shared on a node) to local. Used again it lies as
 * it did: the layout is the source's. *reused (may be NULL) says whether it was; it is the same on
 * all processes. On failure *source is as before. */
JALLOC_API jstatus_t jbuffer_construct_move(jbuffer_allocator_t *allocator, jbuffer_t **source,
                                            jbuffer_t **buffer, bool *reused);

/** @} @name References and views
 * @{ */

/** One more reference. @return success; invalid pointer; not found. */
JALLOC_API jstatus_t jbuffer_retain(jbuffer_t *buffer);
/** One reference less; the last one gives the memory back (when no view is left). NULL is ignored.
 * Collective where the buffer is shared on a node, or has a window of MPI. @return success; not
 * found; device error. */
JALLOC_API jstatus_t jbuffer_release(jbuffer_t *buffer);

/** A view of part of a buffer, as jlayout_slice(): no copy. steps NULL: all 1; of a distributed one
 * they must be.
 * @return success; invalid pointer; not found; invalid value; memory error. */
JALLOC_API jstatus_t jbuffer_slice(jbuffer_t *buffer, const int64_t *starts, const int64_t *extents,
                                   const int64_t *steps, jbuffer_t **view);
/** A view with the dimensions in another order, as jlayout_permute(). Not of distributed ones.
 * @return as jbuffer_slice(); not implemented (distributed). */
JALLOC_API jstatus_t jbuffer_permute(jbuffer_t *buffer, const int *order, jbuffer_t **view);
/** A view of a matrix that says what is known of it: a triangle after a factorization, symmetry.
 * @return as jbuffer_slice(); invalid size (not square). */
JALLOC_API jstatus_t jbuffer_with_structure(jbuffer_t *buffer, jstructure_t structure,
                                            jbuffer_t **view);

/** @} @name What a buffer is
 * @{ */

/** Its layout; of a view that of the view. Of a distributed one the strides are those of the whole,
 * packed.
 * @return success; invalid pointer; not found. */
JALLOC_API jstatus_t jbuffer_get_layout(const jbuffer_t *buffer, jlayout_t *layout);
/** @return success; invalid pointer; not found. */
JALLOC_API jstatus_t jbuffer_get_kind(const jbuffer_t *buffer, jbuffer_kind_t *kind);
/** @return success; invalid pointer; not found. */
JALLOC_API jstatus_t jbuffer_get_type(const jbuffer_t *buffer, jdatatype_t *type);
/** The device of its memory; of a distributed one that of this process's part. @return success;
 * invalid pointer; not found. */
JALLOC_API jstatus_t jbuffer_get_device(const jbuffer_t *buffer, jdevice_t **device);
/** The allocator that made it, without a new reference: valid as long as the buffer. @return as
 * jbuffer_get_kind(). */
JALLOC_API jstatus_t jbuffer_get_allocator(const jbuffer_t *buffer,
                                           jbuffer_allocator_t **allocator);

/** Down-cast to a pointer: the first element of a local or replicated buffer on a device of that
 * kind, a device pointer of CUDA or HIP for theirs. The strides are the layout's. NULL where there
 * are no elements.
 * @return success; invalid pointer; not found; invalid value (distributed, or on another kind of
 * device: the message says which; a placeholder). */
JALLOC_API jstatus_t jbuffer_as_pointer(jbuffer_t *buffer, jdevice_kind_t device, void **pointer);

/** What this process holds of a distributed matrix. */
typedef struct jbuffer_part_t {
    size_t struct_size;           /**< sizeof(jbuffer_part_t) */
    void *pointer;                /**< its part of the whole matrix, column-major; NULL: none */
    int64_t leading_dimension;    /**< of that, at least 1 */
    int64_t rows, columns;        /**< of that */
    jdistribution_t distribution; /**< of the whole matrix */
    int64_t starts[2];            /**< where this view begins in the whole */
    int64_t extents[2];           /**< of the view */
} jbuffer_part_t;
#define JBUFFER_PART_INIT                                                                          \
    {                                                                                              \
        sizeof(jbuffer_part_t), NULL, 0, 0, 0, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {0, 0}, { 0, 0 }  \
    }

/** Down-cast to the part of a distributed buffer. @return success; invalid pointer; invalid value
 * (struct_size; not distributed; a placeholder); not found. */
JALLOC_API jstatus_t jbuffer_as_part(jbuffer_t *buffer, jbuffer_part_t *part);

/** Reads one element, as the structure has it (mirrored, or zero, outside of the stored triangle).
 * indices: rank of them; NULL for rank 0. Collective for distributed ones: every process gets it.
 * @return success; invalid pointer; invalid value (indices; a placeholder); not found; device
 *         error; not implemented (a distributed one whose runtime has no broadcast). */
JALLOC_API jstatus_t jbuffer_get(const jbuffer_t *buffer, const int64_t *indices, void *value);
/** Writes one element. Of a distributed one the process that holds it does; of one shared on a node
 * the first process of each machine does; the others do not touch it. Not collective: synchronize
 * before others read.
 * @return success; invalid pointer; invalid value (indices; outside of the stored triangle; a
 * placeholder); not found; device error. */
JALLOC_API jstatus_t jbuffer_set(jbuffer_t *buffer, const int64_t *indices, const void *value);

/** @} @name Files
 * NumPy's format .npy, in the machine's byte order, in column-major ("fortran_order") or row-major
 * order: numpy.load reads what is saved, and what numpy.save writes (versions 1.0 to 3.0 of the
 * format) can be loaded, if its type is one of jalloc's. A file holds shape, order and elements;
 * structure and blocks are not kept (the elements are those of the whole matrix). f16 is '<f2';
 * bf16 has no name in NumPy and is refused.
 * @{ */

/** Saves a buffer, in the order of its layout (column-major where it has a structure, or neither
 * order). It is written under a temporary name beside `path` and then renamed: the file is there
 * whole, or as it was before. What is replaced gives the new file its rights; a symbolic link is
 * replaced itself, and what is no regular file is not replaced. Local: by this process; replicated:
 * by rank 0; distributed: by all at once through MPI-IO, onto one file system.
 * @return success; invalid pointer; invalid value (a placeholder); not found (freed; no such
 * folder); not implemented (type); permission; io error (the message has the system's reason);
 * memory error; device error. */
JALLOC_API jstatus_t jbuffer_save(const jbuffer_t *buffer, const char *path);

/** Loads a file into a new buffer of the allocator's kind; packed, in the file's order (a
 * distributed one: column-major). The type must be the allocator's. Local: this process reads;
 * replicated: rank 0 does; distributed: all at once.
 * @return success; invalid pointer; not found (freed; no such file); invalid value (no .npy file,
 * another type, byte order, or more dimensions than a layout has; the message quotes); truncated;
 * permission; io error; memory error; as jbuffer_allocate(). */
JALLOC_API jstatus_t jbuffer_load(jbuffer_allocator_t *allocator, const char *path,
                                  jbuffer_t **buffer);
/** @} */

#ifndef __cplusplus
/** The element type of an expression; does not compile for others. */
#define JDATATYPE_OF(x)                                                                            \
    _Generic((x), float                                                                            \
             : JDATATYPE_F32, double                                                               \
             : JDATATYPE_F64, jcomplex_f32_t                                                       \
             : JDATATYPE_F32_C, jcomplex_f64_t                                                     \
             : JDATATYPE_F64_C, jfloat16_t                                                         \
             : JDATATYPE_F16, jbfloat16_t                                                          \
             : JDATATYPE_BF16, int8_t                                                              \
             : JDATATYPE_I8, int32_t                                                               \
             : JDATATYPE_I32)
/* The elements of an array in its first dimension. A pointer, whose sizeof is not the array's, does
 * not compile. */
#define JBUFFER_COUNT_(a)                                                                          \
    ((int64_t)(sizeof(a) / sizeof((a)[0])) +                                                       \
     0 * (int64_t)sizeof(struct {                                                                  \
         _Static_assert(!__builtin_types_compatible_p(__typeof__(a), __typeof__(&(a)[0])),         \
                        "JBUFFER_LIST_n takes an array of n dimensions, not a pointer or an "      \
                        "array of pointers");                                                      \
         char member;                                                                              \
     }))
/** Arguments rank, extents, type, values of jbuffer_construct_list(), from a number or from a C
 * array of that rank. In C alone: C++ passes the four. Pointers are refused by the compiler, on
 * every level: their extents are not known, and rows that they point to do not lie behind each
 * other. */
#define JBUFFER_LIST_0(x) 0, NULL, JDATATYPE_OF(x), &(x)
#define JBUFFER_LIST_1(a) 1, ((const int64_t[]){JBUFFER_COUNT_(a)}), JDATATYPE_OF((a)[0]), (a)
#define JBUFFER_LIST_2(a)                                                                          \
    2, ((const int64_t[]){JBUFFER_COUNT_(a), JBUFFER_COUNT_((a)[0])}), JDATATYPE_OF((a)[0][0]), (a)
#define JBUFFER_LIST_3(a)                                                                          \
    3, ((const int64_t[]){JBUFFER_COUNT_(a), JBUFFER_COUNT_((a)[0]), JBUFFER_COUNT_((a)[0][0])}),  \
        JDATATYPE_OF((a)[0][0][0]), (a)
#define JBUFFER_LIST_4(a)                                                                          \
    4,                                                                                             \
        ((const int64_t[]){JBUFFER_COUNT_(a), JBUFFER_COUNT_((a)[0]), JBUFFER_COUNT_((a)[0][0]),   \
                           JBUFFER_COUNT_((a)[0][0][0])}),                                         \
        JDATATYPE_OF((a)[0][0][0][0]), (a)
#endif

#ifdef __cplusplus
}
#endif
#endif
