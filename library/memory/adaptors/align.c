/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* At least so aligned, whatever below can do.
 *
 * Below is asked for the alignment first. Where it refuses to align so, or gives what is not
 * aligned (which the object below answers with an internal error), it is asked for more bytes at no
 * alignment, and what lies before the first aligned byte is skipped:
 *
 *     base        pointer
 *     |<- offset ->|<------ size ------>| rest |        size + alignment - 1 bytes from below
 *
 * Only such blocks are remembered here, by pointer: where they begin and how large they are below.
 * What is live and of what size is known to the object's ledger, whose pointers are those that were
 * handed out. */

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"

typedef struct align_adaptor {
    ji_adaptor_t adaptor;
    size_t alignment_bytes;
    ji_lock_t lock;    /* around the ledger */
    ji_ledger_t moved; /* by pointer: size_bytes is the size below, number the offset */
} align_adaptor_t;

/* Whether another alignment could make a difference. */
static bool align_was_refused(jstatus_t status) {
    return status == JSTATUS_INVALID_VALUE || status == JSTATUS_NOT_IMPLEMENTED ||
           status == JSTATUS_INTERNAL_ERROR;
}

static jstatus_t align_allocate_moved(align_adaptor_t *align, size_t size_bytes, size_t alignment,
                                      jstream_t *stream, void **pointer) {
    size_t whole = size_bytes + alignment - 1; /* no request has more than PTRDIFF_MAX bytes */
    void *base;
    JTRY_RETURN(jallocator_allocate(align->adaptor.below, whole, 1, stream, &base));

    size_t offset = -(uintptr_t)base & (alignment - 1); /* an alignment is at most 2^30 */
    void *moved = (char *)base + offset;

    ji_lock_acquire(&align->lock);
    bool has_room = ji_ledger_reserve(&align->moved);
    if (has_room)
        ji_ledger_insert(&align->moved, moved, whole, 0)->number = (uint32_t)offset;
    ji_lock_release(&align->lock);

    if (!has_room) {
        (void)jallocator_deallocate(align->adaptor.below, base, whole, stream);
        return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");
    }

    *pointer = moved;
    return JSTATUS_SUCCESS;
}

static jstatus_t align_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    align_adaptor_t *align = context;

    if (alignment < align->alignment_bytes)
        alignment = align->alignment_bytes;

    jstatus_t status =
        jallocator_allocate(align->adaptor.below, size_bytes, alignment, stream, pointer);
    return align_was_refused(status)
               ? align_allocate_moved(align, size_bytes, alignment, stream, pointer)
               : status;
}

static jstatus_t align_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    align_adaptor_t *align = context;
    ji_ledger_entry_t known = {(uintptr_t)pointer, size_bytes, 0, 0};

    /* Out of the ledger before below has it: the next one may get the same address at once. */
    ji_lock_acquire(&align->lock);
    ji_ledger_entry_t *entry = ji_ledger_find(&align->moved, pointer);
    bool moved = entry != NULL;
    if (moved) {
        known = *entry;
        ji_ledger_remove(&align->moved, entry);
    }
    ji_lock_release(&align->lock);

    void *base = (char *)pointer - known.number;
    jstatus_t status = jallocator_deallocate(align->adaptor.below, base, known.size_bytes, stream);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS) && moved) {
        ji_lock_acquire(&align->lock);
        entry = ji_ledger_restore(&align->moved, pointer, known.size_bytes, 0);
        if (entry != NULL)
            entry->number = known.number;
        ji_lock_release(&align->lock);
    }

    return status;
}

static size_t align_usable_size(void *context, const void *pointer, size_t size_bytes) {
    align_adaptor_t *align = context;
    ji_lock_acquire(&align->lock);
    const ji_ledger_entry_t *entry = ji_ledger_find(&align->moved, pointer);
    size_t rest = entry != NULL ? entry->size_bytes - entry->number : 0;
    ji_lock_release(&align->lock);

    return rest != 0 ? rest : jallocator_usable_size(align->adaptor.below, pointer, size_bytes);
}

static void align_destroy(void *context) {
    align_adaptor_t *align = context;
    ji_lock_fini(&align->lock);
    ji_ledger_fini(&align->moved);
    ji_metadata_free(align);
}

static jstatus_t align_create(const ji_request_t *request, jallocator_t **out) {
    const jalign_options_t *options = request->options;
    size_t alignment = options->alignment_bytes != 0 ? options->alignment_bytes : 4096;

    if (!ji_is_power_of_two(alignment) || alignment > (size_t)1 << 30)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "align: alignment_bytes is %zu, and no power of two up to 2^30", alignment);

    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = align_allocate;
    ops.deallocate = align_deallocate;
    ops.usable_size = align_usable_size;
    ops.find = NULL; /* below does not know the pointers that were handed out */
    ops.visit = NULL;
    ops.destroy = align_destroy;

    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_align};

    jstatus_t status = JSTATUS_SUCCESS;
    align_adaptor_t *align;
    JTRY_ALLOC(align = ji_metadata_zalloc(sizeof *align));
    align->adaptor.below = request->below;
    align->alignment_bytes = alignment;
    ji_lock_init(&align->lock);

    status = ji_allocator_make(&ops, align, &traits, out);
    if (status != JSTATUS_SUCCESS)
        align_destroy(align);

done:
    return status;
}

static const jalign_options_t align_defaults = JALIGN_OPTIONS_INIT;
static const jallocator_key_t align_keys[] = {
    {"alignment", "SIZE", "4096", "least alignment of every allocation, a power of two"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t align_members[] = {
    {JI_KEY_SIZE, offsetof(jalign_options_t, alignment_bytes), 0}};

const ji_kind_t ji_kind_align = {
    .public = {"align", JALLOCATOR_ADAPTOR, "every allocation at least so aligned", align_keys},
    .members = align_members,
    .options_type = "jalign_options_t",
    .options_bytes = sizeof(jalign_options_t),
    .defaults = &align_defaults,
    .create = align_create,
};

jstatus_t jallocator_create_align(jallocator_t *below, const jalign_options_t *options,
                                  jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_align, NULL, below, options, allocator);
}
