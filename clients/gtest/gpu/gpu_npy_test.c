/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Files of buffers on a GPU: the same bytes as those of the same buffer on the host, and back. */

#include "buffer_helper.h"
#include "gpu_device.h"

#include "buffer/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool same_files(const char *a, const char *b) {
    FILE *file_a = fopen(a, "rb"), *file_b = fopen(b, "rb");
    bool same = file_a != NULL && file_b != NULL;
    int byte = 0;
    while (same && byte != EOF) {
        byte = fgetc(file_a);
        same = byte == fgetc(file_b);
    }
    if (file_a != NULL)
        fclose(file_a);
    if (file_b != NULL)
        fclose(file_b);
    return same;
}

/* One layout on the host and on the device, with the same bytes, saved; then loaded on the device
 * and saved again. */
static void compare(const char *text, size_t piece_bytes) {
    char on_host[64], on_device[64];
    jlayout_t layout;
    jdatatype_t type;
    size_t bytes;
    jbuffer_t *host = NULL, *device = NULL, *loaded = NULL;
    const size_t usual = ji_file_piece_bytes;
    JSCOPED_TRACE("%s, pieces of %zu", text, piece_bytes);
    snprintf(on_host, sizeof on_host, "/tmp/jalloc-host-%ld.npy", (long)getpid());
    snprintf(on_device, sizeof on_device, "/tmp/jalloc-device-%ld.npy", (long)getpid());
    JASSERT_OK(jlayout_parse(text, &layout, &type));
    JASSERT_OK(jlayout_get_bytes(&layout, type, &bytes));
    jbuffer_allocator_t *hosts = buffer_allocator_alone(JBUFFER_LOCAL, type, jdevice_host(), NULL),
                        *devices = buffer_allocator_alone(JBUFFER_LOCAL, type, gpu_device(), NULL);
    JASSERT_OK(jbuffer_allocate(hosts, &layout, &host));
    JASSERT_OK(jbuffer_allocate(devices, &layout, &device));
    unsigned char *of_host = NULL;
    void *of_device = NULL;
    JASSERT_OK(jbuffer_as_pointer(host, JDEVICE_HOST, (void **)&of_host));
    JASSERT_OK(jbuffer_as_pointer(device, jdevice_kind(gpu_device()), &of_device));
    for (size_t i = 0; i < bytes; ++i)
        /* No NaN, whose bits a copy may change. */
        of_host[i] = (unsigned char)(jtest_random() % 64);
    if (bytes > 0)
        gpu_upload(of_device, of_host, bytes);
    ji_file_piece_bytes = piece_bytes;
    JEXPECT_OK(jbuffer_save(host, on_host));
    JEXPECT_OK(jbuffer_save(device, on_device));
    JEXPECT_TRUE(same_files(on_host, on_device));
    JEXPECT_OK(jbuffer_load(devices, on_host, &loaded));
    JEXPECT_OK(jbuffer_save(loaded, on_device));
    JEXPECT_TRUE(same_files(on_host, on_device));
    ji_file_piece_bytes = usual;
    (void)unlink(on_host);
    (void)unlink(on_device);
    JEXPECT_OK(jbuffer_release(loaded));
    JEXPECT_OK(jbuffer_release(device));
    JEXPECT_OK(jbuffer_release(host));
    JEXPECT_OK(jbuffer_allocator_release(devices));
    JEXPECT_OK(jbuffer_allocator_release(hosts));
}

JTEST(GpuNpy, FilesAreThoseOfTheHost) {
    static const char *const texts[] = {
        "f64[7,5]",
        "f32[7,5] row",
        "f64_c[3,4,5]",
        "i8[0,5]",
        "f32[40]",
        "i32[40] strides=(3)",
        "f64[7,5] ld=9",
        "f64[7,5] row ld=9",
        "f32[3,4,5] strides=(20,1,4)",
        "f64[9,9] ld=10 symmetric-lower",
        "f64_c[9,9] hermitian-upper",
        "f32[9,9] row triangular-upper",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        compare(texts[i], (size_t)1 << 20);
        compare(texts[i], (size_t)jtest_random_between(16, 200));
    }
}

JTEST(GpuNpy, WithoutBookkeepingMemoryNothingIsLeftBehind) {
    char path[64];
    jlayout_t layout;
    jbuffer_t *buffer = NULL;
    const double one = 1;
    snprintf(path, sizeof path, "/tmp/jalloc-device-%ld.npy", (long)getpid());
    jbuffer_allocator_t *allocator =
        buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F64, gpu_device(), NULL);
    JASSERT_OK(jlayout_parse("[9,9] ld=10", &layout, NULL));
    JASSERT_OK(jbuffer_construct_value(allocator, &layout, &one, &buffer));
    JFOR_EACH_FAILURE(i) {
        const jstatus_t status = jbuffer_save(buffer, path);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(access(path, F_OK) == 0, status == JSTATUS_SUCCESS);
    }
    JFOR_EACH_FAILURE(i) {
        jbuffer_t *loaded = NULL;
        const jstatus_t status = jbuffer_load(allocator, path, &loaded);
        JEXPECT_TRUE(status == JSTATUS_SUCCESS ||
                     (status == JSTATUS_MEMORY_ERROR && jtest_metadata_failed()));
        JEXPECT_EQ(loaded != NULL, status == JSTATUS_SUCCESS);
        JEXPECT_OK(jbuffer_release(loaded));
    }
    (void)unlink(path);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}
