/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef BOOST_HEAP_H
#define BOOST_HEAP_H

/* Boost.Interprocess's managed_shared_memory behind functions of C. Its name is taken away as soon
 * as it exists, so that nothing stays behind however the program ends: processes that are forked
 * later have it mapped. */

#include <stdbool.h>
#include <stddef.h>

typedef struct boost_heap boost_heap_t;

#ifdef BENCH_HAVE_BOOST
#ifdef __cplusplus
extern "C" {
#endif
const char *boost_heap_version(void);                            /* such as "1_74" */
boost_heap_t *boost_heap_create(const char *name, size_t bytes); /* NULL: it could not be made */
void boost_heap_destroy(boost_heap_t *heap);                     /* unmaps; NULL: nothing */
void *boost_heap_allocate(boost_heap_t *heap, size_t bytes);     /* NULL: no room */
void boost_heap_deallocate(boost_heap_t *heap, void *pointer);
size_t boost_heap_free_bytes(boost_heap_t *heap);
bool boost_heap_is_sound(boost_heap_t *heap);
#ifdef __cplusplus
}
#endif

#else /* it is absent: nothing can be made */
static inline const char *boost_heap_version(void) { return NULL; }
static inline boost_heap_t *boost_heap_create(const char *name, size_t bytes) {
    (void)name, (void)bytes;
    return NULL;
}
static inline void boost_heap_destroy(boost_heap_t *heap) { (void)heap; }
static inline void *boost_heap_allocate(boost_heap_t *heap, size_t bytes) {
    (void)heap, (void)bytes;
    return NULL;
}
static inline void boost_heap_deallocate(boost_heap_t *heap, void *pointer) {
    (void)heap, (void)pointer;
}
static inline size_t boost_heap_free_bytes(boost_heap_t *heap) {
    (void)heap;
    return 0;
}
static inline bool boost_heap_is_sound(boost_heap_t *heap) {
    (void)heap;
    return false;
}
#endif
#endif
