/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What batched forms have beside plain ones. A batch goes the way of a plain call: the routine's
 * call function checks the sizes of an item, and JI_CHECK_SIZES() asks here for those of the batch;
 * the plan is that of an item for one thread, times the threads that will have items
 * (host/panels.c); ji_run() comes here with a block that is a batch.
 *
 *     host    one primitive, ji_host_batch(), in the stream or at once
 *     GPU     one primitive whose kernels go from item to item (ji_takes_batch()), gemm's by the
 *             vendor where it can. Of others a primitive for each item, one after the other, and an
 *             algorithm for each item in the same workspace. Arrays of pointers are the device's:
 *             where items are enqueued they are read here, for which the call waits
 *
 * Matrices that are written and share elements are refused, those that merely interleave are not,
 * and the difference is told exactly: by one comparison where they follow each other, and by
 * arithmetic of residues, some divisions, where they do not. Of a triangle the whole square
 * counts. */

#include "blas/primitives/batch.h"
#include "blas/routine/entry.h"
#include "blas/routine/extents.h"

__extension__ typedef unsigned __int128 wide_t;

JI_ROUTINE_LIST(EXTENTS)

/* ---- Overlap ---- */

/* The least x >= 0 with low <= a x mod m <= high, for a < m and low <= high < m, where there is
 * one: it is less than m. As Euclid's algorithm: a x passes m once in about m / a steps, and where
 * it lands then is the same question for m mod a and a. */
static uint64_t batch_first_landing(uint64_t a, uint64_t m, uint64_t low, uint64_t high) {
    if (low == 0)
        return 0;

    const uint64_t x = (low - 1) / a + 1;
    if ((wide_t)a * x <= high)
        return x;

    const uint64_t rounds = batch_first_landing(m % a, a, (a - high % a) % a, (a - low % a) % a);
    return (uint64_t)((low + (wide_t)m * rounds + a - 1) / a);
}

/* Whether two of the items share an element. Item x begins x |step| after the first and is a block
 * of m rows in columns ld apart, so it meets the first where x |step| is less than m away from a
 * multiple of ld, up to the last column's. Items may interleave: rows [2 x, 2 x + 2) of one tall
 * matrix are a batch of stride 2. */
static bool batch_overlaps(const ji_extent_t *operand, int64_t count) {
    if (operand->rows == 0 || operand->columns == 0 || count <= 1)
        return false;

    const uint64_t m = (uint64_t)operand->rows, ld = (uint64_t)operand->ld,
                   step = (uint64_t)ji_abs(operand->step), last = ji_extent_last(operand);
    if (step > last)
        return false;
    if (step < m || 2 * m > ld)
        return true; /* the next item; or whatever begins within one meets a column */

    /* (step + x step + m - 1) mod ld is to land on [0, 2 m - 2]. In the end it does, on m - 1:
     * where (x + 1) step is a multiple of ld. */
    const uint64_t start = (step + m - 1) % ld, low = start == 0 ? 0 : ld - start,
                   high = low + 2 * m - 2;
    const uint64_t next = high >= ld ? 0 : batch_first_landing(step % ld, ld, low, high);
    return next < (uint64_t)count - 1 && next <= last / step - 1;
}

/* ---- Checks ---- */

/* Of those that have one: all, or beside arrays of pointers some. */
static jstatus_t batch_check_strides(jhandle_t *handle, const ji_head_t *head, int64_t count,
                                     const ji_extents_t *extents) {
    const bool all = head->form == JI_FORM_STRIDED;
    for (int i = 0; i < extents->count; i++) {
        const ji_extent_t *operand = &extents->operands[i];
        if ((all || operand->by_stride) && !ji_addressable(operand->step, count))
            return ji_refuse(handle, head, JSTATUS_INVALID_SIZE, operand->stride, operand->step,
                             "with %lld items is more than memory can hold", count);
    }

    for (int i = 0; i < extents->count; i++) {
        const ji_extent_t *operand = &extents->operands[i];
        if ((all || operand->by_stride) && operand->written && batch_overlaps(operand, count))
            return ji_refuse(handle, head, JSTATUS_INVALID_SIZE, operand->stride, operand->step,
                             "lets what is written overlap, which none of %lld and more does",
                             (int64_t)ji_extent_last(operand) + 1);
    }

    return JSTATUS_SUCCESS;
}

static bool batch_is_empty(const ji_extent_t *operand) {
    return operand->rows == 0 || operand->columns == 0;
}

/* What has no elements is not looked at, nor is the array of pointers to it. */
static void batch_drop_empty(void *block, const ji_extents_t *extents) {
    for (int i = 0; i < extents->count; i++)
        if (batch_is_empty(&extents->operands[i]))
            memset((char *)block + extents->operands[i].offset, 0, sizeof(void *));
}

bool ji_batch_lacks(const void *block, const void *place) {
    const ji_extents_t extents = ((const ji_head_t *)block)->row->extents(block);
    for (int i = 0; i < extents.count; i++)
        if ((const char *)block + extents.operands[i].offset == place)
            return batch_is_empty(&extents.operands[i]);
    return false;
}

/* Divides the items among the handle's threads where there are as many; fewer are done one after
 * the other, each by all. A CBLAS has threads of its own. It does not depend on the sizes: so the
 * workspace does not fall when one grows. */
static void batch_take_threads(const jhandle_t *handle, ji_head_t *head, ji_batch_t *batch) {
    const int planned = head->threads.planned;
    batch->threads = 1;
    if (handle->device->kind != JDEVICE_HOST || planned < 2 || batch->count < planned ||
        ji_host_primitives[JI_GEMM] != ji_host_gemm)
        return;

    batch->threads = (int16_t)ji_min(planned, INT16_MAX);
    head->threads.count = head->threads.planned = 1;
}

bool ji_batch_goes_on(jhandle_t *handle, void *block, jstatus_t *status) {
    ji_any_block_t *whole = block;
    ji_head_t *head = &whole->any.head;
    ji_batch_t *batch = &whole->any.batch;
    const ji_extents_t extents = head->row->extents(block);

    *status = JSTATUS_SUCCESS;
    if (batch->count < 0)
        *status = ji_refuse(handle, head, JSTATUS_INVALID_SIZE, "batch_count", batch->count,
                            "must be at least %lld", 0);
    else if ((head->form == JI_FORM_POINTERS || extents.result_bytes != 0) &&
             !ji_addressable(1, batch->count)) /* an array of so many pointers, or results */
        *status = ji_refuse(handle, head, JSTATUS_INVALID_SIZE, "batch_count", batch->count,
                            "is more than memory can hold", 0);
    else
        *status = batch_check_strides(handle, head, batch->count, &extents);
    if (*status != JSTATUS_SUCCESS)
        return false;

    if (batch->count == 0) {
        *status = ji_is_query(handle) ? ji_answer(handle, block, NULL) : JSTATUS_SUCCESS;
        return false;
    }

    batch->result_bytes = (uint8_t)extents.result_bytes;
    for (int i = 0; i < extents.count; i++) {
        const ji_extent_t *operand = &extents.operands[i];
        if (operand->place == PLACE_NONE)
            continue;
        batch->element_bytes[operand->place] = (uint8_t)jdatatype_bytes(operand->type);
        if (operand->by_stride)
            batch->by_stride = (uint8_t)((batch->by_stride | 1u << operand->place) & 15u);
    }
    batch_drop_empty(block, &extents);
    batch_take_threads(handle, head, batch);
    return true;
}

bool ji_batch_is_there(jhandle_t *handle, const void *block, const char *name,
                       const void *pointers) {
    const ji_any_block_t *whole = block;
    const void *const *array = pointers;
    const bool is_now = handle->device->kind == JDEVICE_HOST
                            ? handle->runs_inline
                            : whole->any.batch.level == 0 && ji_host_pointers(handle);
    if (!is_now)
        return true;

    for (int64_t i = 0; i < whole->any.batch.count; i++)
        if (JI_UNLIKELY(array[i] == NULL)) {
            (void)ji_refuse_item(handle, &whole->any.head, name, i);
            return false;
        }
    return true;
}

/* ---- Items ---- */

#define BATCH_FETCHED 256 /* pointers at a time */
#define BATCH_POINTERS 4  /* of an item */

jstatus_t ji_enter_batch(jhandle_t *handle, ji_call_function_t call, void *block) {
    return ji_enter(handle, call, block);
}

/* What is done with an item on a device that has no batches of it. */
typedef struct batch_step {
    ji_primitive_t primitive; /* that is enqueued, */
    size_t block_bytes;
    ji_run_function_t run; /* or, unless NULL, an algorithm */
    const jborrow_t *ws;
} batch_step_t;

static jstatus_t batch_do_item(jhandle_t *handle, const batch_step_t *step, ji_any_block_t *item) {
    return step->run != NULL ? step->run(handle, item, step->ws)
                             : ji_enqueue(handle, step->primitive, item, step->block_bytes);
}

/* Brings pointers [first, first + count) of each array from the device, in stream order. */
static jstatus_t batch_fetch(jhandle_t *handle, const ji_items_t *items, int64_t first,
                             int64_t count, void *fetched[][BATCH_FETCHED]) {
    for (int i = 0; i < items->count; i++)
        if (items->pointers[i].array != NULL)
            JTRY_RETURN(jdevice_copy(handle->device, handle->stream, fetched[i],
                                     items->pointers[i].array + first,
                                     (size_t)count * sizeof(void *)));
    return ji_handle_wait(handle, handle->stream);
}

/* Puts item number `index` of those that were fetched, from `first` on, into items->item. */
static jstatus_t batch_take_item(jhandle_t *handle, ji_items_t *items, int64_t first, int64_t index,
                                 void *fetched[][BATCH_FETCHED]) {
    for (int i = 0; i < items->count; i++) {
        const ji_items_pointer_t *pointer = &items->pointers[i];
        *pointer->place = pointer->array != NULL
                              ? fetched[i][index]
                              : pointer->first + (first + index) * pointer->step_bytes;
        if (*pointer->place == NULL) {
            const long long which = first + index;
            return jhandle_fail(handle, JSTATUS_INVALID_POINTER,
                                "%s: [%lld] of an array of pointers is NULL",
                                ji_routine_name(&items->item.any.head), which);
        }
    }
    return JSTATUS_SUCCESS;
}

/* Most primitives take operands, not arrays of pointers to them. */
static jstatus_t batch_by_pointers(jhandle_t *handle, const batch_step_t *step, ji_items_t *items) {
    const int64_t count = items->item.any.batch.count;
    void *fetched[BATCH_POINTERS][BATCH_FETCHED];

    for (int64_t first = 0; first < count; first += BATCH_FETCHED) {
        const int64_t here = ji_min(BATCH_FETCHED, count - first);
        const jstatus_t status = batch_fetch(handle, items, first, here, fetched);
        if (status != JSTATUS_SUCCESS)
            return jhandle_fail(handle, status, "reading arrays of pointers: %s",
                                jstatus_last_message());

        for (int64_t index = 0; index < here; index++) {
            JTRY_RETURN(batch_take_item(handle, items, first, index, fetched));
            JTRY_RETURN(batch_do_item(handle, step, &items->item));
        }
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t batch_by_items(jhandle_t *handle, const batch_step_t *step, const void *block) {
    ji_items_t items;
    ji_items_begin(&items, block);
    if (((const ji_head_t *)block)->form == JI_FORM_POINTERS)
        return batch_by_pointers(handle, step, &items);

    for (int64_t i = 0; i < items.item.any.batch.count; i++) {
        ji_items_go_to(&items, i);
        JTRY_RETURN(batch_do_item(handle, step, &items.item));
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t batch_on_device(jhandle_t *handle, ji_primitive_t primitive, void *block,
                                 size_t block_bytes) {
    if (ji_takes_batch(primitive))
        return ji_enqueue(handle, primitive, block, block_bytes);
    if (primitive != JI_GEMM)
        return batch_by_items(
            handle, &(batch_step_t){.primitive = primitive, .block_bytes = block_bytes}, block);

    ji_matmat_t all = *(const ji_matmat_t *)block;
    const bool by_pointers = all.head.form == JI_FORM_POINTERS;
    all.head.form = JI_FORM_PLAIN;
    return ji_enqueue(handle, by_pointers ? JI_GEMM_BATCHED : JI_GEMM_STRIDED, &all, sizeof all);
}

jstatus_t ji_enqueue_batch(jhandle_t *handle, ji_primitive_t primitive, void *block,
                           size_t block_bytes) {
    if (handle->device->kind != JDEVICE_HOST)
        return batch_on_device(handle, primitive, block, block_bytes);

    ((ji_any_block_t *)block)->any.batch.primitive = (uint8_t)primitive;
    return ji_enqueue_host(handle, ji_host_batch, block, block_bytes);
}

jstatus_t ji_run_batch(jhandle_t *handle, const void *block, ji_run_function_t run,
                       const jborrow_t *ws) {
    if (handle->device->kind == JDEVICE_HOST)
        return run(handle, block, ws);
    return batch_by_items(handle, &(batch_step_t){.run = run, .ws = ws}, block);
}
