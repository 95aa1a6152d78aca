/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_BATCH_H
#define JALLOC_BLAS_PRIMITIVES_BATCH_H

/* Batches: a block whose operands are many, and its items, which are plain blocks. All items have
 * the sizes and the scalars of the batch; of operands that are NULL, since they are not read, each
 * item has NULL.
 *
 *     ji_items_t items;
 *     ji_items_begin(&items, block);
 *     for (int64_t i = 0; i < batch->count; i++) {
 *         ji_items_go_to(&items, i);
 *         function(&items.item);
 *     }
 *
 * Primitives leave their block as it was, so that from one item to the next pointers alone
 * change. */

#include "blas/primitives/primitive.h"

typedef union ji_any_block {
    struct {
        ji_head_t head; /* of each */
        ji_batch_t batch;
    } any;
    ji_rotation_t rotation;
    ji_vector_t vector;
    ji_matvec_t matvec;
    ji_matmat_t matmat;
} ji_any_block_t;

static_assert(offsetof(ji_rotation_t, batch) == offsetof(ji_any_block_t, any.batch) &&
                  offsetof(ji_vector_t, batch) == offsetof(ji_any_block_t, any.batch) &&
                  offsetof(ji_matvec_t, batch) == offsetof(ji_any_block_t, any.batch) &&
                  offsetof(ji_matmat_t, batch) == offsetof(ji_any_block_t, any.batch),
              "the batch is where the level need not be known");

/* What an item has of its own: where its block has the pointer, and whence it comes. */
typedef struct ji_items_pointer {
    void **place;
    void *const *array; /* NULL: by the step */
    char *first;
    int64_t step_bytes;
} ji_items_pointer_t;

typedef struct ji_items {
    ji_any_block_t item;
    ji_items_pointer_t pointers[5];
    int count;
} ji_items_t;

/* What is done with the items of a batch on the host. */
typedef struct ji_items_way {
    void (*each)(void *item);
    /* Unless NULL: a quicker way for many. Gives the first that is left to be done each. */
    int64_t (*many)(ji_items_t *items, int64_t first, int64_t end);
} ji_items_way_t;

static inline void ji_items_add(ji_items_t *items, ji_form_t form, const void *place,
                                int64_t step_bytes) {
    void **pointer = (void **)(uintptr_t)place;
    if (*pointer == NULL)
        return;

    ji_items_pointer_t *added = &items->pointers[items->count++];
    added->place = pointer;
    added->array = form == JI_FORM_POINTERS ? (void *const *)*pointer : NULL;
    added->first = (char *)*pointer;
    added->step_bytes = step_bytes;
}

/* The items of the block, which is as long as its level says; items.item is plain. */
static inline void ji_items_begin(ji_items_t *items, const void *block) {
    const ji_any_block_t *whole = (const ji_any_block_t *)block;
    const ji_batch_t *batch = &whole->any.batch;
    const ji_form_t form = (ji_form_t)whole->any.head.form;
    ji_form_t forms[3];
    for (int i = 0; i < 3; i++)
        forms[i] = (batch->by_stride >> i & 1) != 0 ? JI_FORM_STRIDED : form;
    const int64_t a = batch->stride_a * batch->element_bytes[0],
                  b = batch->stride_b * batch->element_bytes[1],
                  c = batch->stride_c * batch->element_bytes[2];
    ji_any_block_t *item = &items->item;

    memcpy(item, block,
           batch->level == 0   ? sizeof item->rotation
           : batch->level == 1 ? sizeof item->vector
           : batch->level == 2 ? sizeof item->matvec
                               : sizeof item->matmat);
    item->any.head.form = JI_FORM_PLAIN;
    items->count = 0;

    if (batch->level == 0) {
        for (int i = 0; i < JI_ROTATION_NUMBERS; i++)
            ji_items_add(items, form, &item->rotation.numbers[i],
                         item->rotation.strides[i] * ji_rotation_bytes(&item->rotation, i));
    } else if (batch->level == 1) {
        ji_items_add(items, form, &item->vector.x, b);
        ji_items_add(items, form, &item->vector.y, c);
        ji_items_add(items, JI_FORM_STRIDED, &item->vector.result, batch->result_bytes);
    } else if (batch->level == 2) {
        ji_items_add(items, form, &item->matvec.a, a);
        ji_items_add(items, form, &item->matvec.x, b);
        ji_items_add(items, form, &item->matvec.y, c);
    } else {
        ji_items_add(items, forms[0], &item->matmat.a, a);
        ji_items_add(items, forms[1], &item->matmat.b, b);
        ji_items_add(items, forms[2], &item->matmat.c, c);
        ji_items_add(items, JI_FORM_STRIDED, &item->matmat.info, batch->result_bytes);
    }
}

static inline void ji_items_go_to(ji_items_t *items, int64_t index) {
    for (int i = 0; i < items->count; i++) {
        const ji_items_pointer_t *pointer = &items->pointers[i];
        *pointer->place = pointer->array != NULL ? pointer->array[index]
                                                 : pointer->first + index * pointer->step_bytes;
    }
}

#endif
