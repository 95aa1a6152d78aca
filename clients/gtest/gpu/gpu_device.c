/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "gpu_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/primitives/primitive.h"
#include "device/module.h"

#define REGION_ALIGNMENT 256

static char device_name[64], module_path[4096], no_device[512];
static jdevice_t *the_device;
static bool vendor_blas_off;

/* Before tests: the fixture takes JALLOC_* out of the environment, and counts what is made in a
 * test, while a device is for good. */
__attribute__((constructor)) static void open_device(void) {
    const char *name = getenv("JALLOC_TEST_DEVICE"), *vendor_blas = getenv("JALLOC_VENDOR_BLAS");
    vendor_blas_off = vendor_blas != NULL && strcmp(vendor_blas, "0") == 0;
    setenv("JALLOC_MODULE_PATH", JALLOC_FAKE_GPU_DIR, 0);
    snprintf(module_path, sizeof module_path, "%s", getenv("JALLOC_MODULE_PATH"));
    snprintf(device_name, sizeof device_name, "%s",
             name != NULL && name[0] != '\0' ? name : "cuda:0");
    if (jdevice_get(device_name, &the_device) != JSTATUS_SUCCESS)
        snprintf(no_device, sizeof no_device, "%s", jstatus_last_message());
}

const char *gpu_device_name(void) { return device_name; }

const char *gpu_module_path(void) { return module_path; }

bool gpu_vendor_blas_is_off(void) { return vendor_blas_off; }

jdevice_t *gpu_device(void) {
    if (the_device == NULL) {
        fprintf(stderr, "no GPU to test on: %s\n", no_device);
        exit(1);
    }
    return the_device;
}

/* The device's tuning is the module's own memory; its table shows it as constant. */
ji_tuning_t *gpu_tuning(void) {
    const ji_tuning_t *shown = &gpu_device()->blas->tuning;
    return (ji_tuning_t *)(uintptr_t)shown;
}

const fake_gpu_control_t *gpu_fake(void) {
    static const fake_gpu_control_t *control;
    static bool looked;
    if (!looked) {
        char path[sizeof module_path + 64];
        snprintf(path, sizeof path, "%s/libjalloc_%.*s.so." JI_SOVERSION, module_path,
                 (int)strcspn(device_name, ":"), device_name);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        control = library != NULL ? dlsym(library, "fake_gpu_control") : NULL;
        looked = true;
    }
    return control;
}

jhandle_t *gpu_make_handle(void) { return gpu_make_handle_on(NULL, 0); }

jhandle_t *gpu_make_handle_on(jstream_t *stream, size_t preallocate_bytes) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle = NULL;
    options.device = gpu_device();
    options.stream = stream;
    options.preallocate_bytes = preallocate_bytes;
    JEXPECT_OK(jhandle_create(&options, &handle));
    return handle;
}

jhandle_t *gpu_make_normwise_handle(void) {
    jhandle_t *handle = gpu_make_handle();
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    return handle;
}

void *gpu_take(size_t size_bytes) {
    void *pointer = NULL;
    JEXPECT_OK(jdevice_allocate(gpu_device(), JMEMORY_DEVICE, size_bytes, 0, &pointer));
    return pointer;
}

void gpu_give(void *pointer, size_t size_bytes) {
    JEXPECT_OK(jdevice_deallocate(gpu_device(), JMEMORY_DEVICE, pointer, size_bytes));
}

void gpu_upload(void *device, const void *host, size_t size_bytes) {
    JEXPECT_OK(jdevice_copy(gpu_device(), NULL, device, host, size_bytes));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
}

void gpu_download(void *host, const void *device, size_t size_bytes) {
    JEXPECT_OK(jdevice_copy(gpu_device(), NULL, host, device, size_bytes));
    JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
}

/* Data keeps its element's alignment alone, so that kernels which ask for more are found out. */
static size_t lead_bytes(const blas_operand_t *o) { return (size_t)(o->data - o->region); }

void gpu_case_begin(gpu_case_t *g, jhandle_t *handle, blas_case_t *c) {
    jpointer_mode_t mode = JPOINTER_MODE_HOST;
    JEXPECT_OK(jhandle_get_pointer_mode(handle, &mode));
    memset(g, 0, sizeof *g);
    g->c = c;
    memcpy(g->pointer, c->pointer, sizeof g->pointer);
    for (int which = 0; which < BLAS_OPERANDS; ++which) {
        blas_operand_t *o = &c->operand[which];
        if (o->kind == BLAS_NONE || o->region == NULL ||
            (blas_is_by_mode(o->kind) && mode == JPOINTER_MODE_HOST))
            continue;
        g->region[which] = gpu_take(o->region_bytes);
        gpu_upload(g->region[which], o->region, o->region_bytes);
        unsigned char *data = (unsigned char *)g->region[which] + lead_bytes(o);
        if (c->pointer[which] == (void *)o->pointers) {
            void *pointers[BLAS_MAX_BATCH] = {NULL};
            for (int64_t item = 0; item < o->count; ++item)
                pointers[item] = data + ((unsigned char *)o->pointers[item] - o->data);
            g->table[which] = gpu_take(sizeof pointers);
            gpu_upload(g->table[which], pointers, sizeof pointers);
            c->pointer[which] = g->table[which];
        } else {
            c->pointer[which] = data + (size_t)blas_origin(o) * wide_sizeof(o->element);
        }
    }
    if (mode == JPOINTER_MODE_DEVICE) {
        g->scalars = gpu_take(sizeof c->scalar);
        gpu_upload(g->scalars, c->scalar, sizeof c->scalar);
        c->pointer[BLAS_ALPHA] = g->scalars;
        c->pointer[BLAS_BETA] = (unsigned char *)g->scalars + sizeof c->scalar[0];
    }
}

void gpu_case_end(gpu_case_t *g, bool download) {
    blas_case_t *c = g->c;
    for (int which = 0; which < BLAS_OPERANDS; ++which) {
        blas_operand_t *o = &c->operand[which];
        if (g->region[which] == NULL)
            continue;
        if (download)
            gpu_download(o->region, g->region[which], o->region_bytes);
        gpu_give(g->region[which], o->region_bytes);
        if (g->table[which] != NULL)
            gpu_give(g->table[which], sizeof o->pointers);
    }
    if (g->scalars != NULL)
        gpu_give(g->scalars, sizeof c->scalar);
    memcpy(c->pointer, g->pointer, sizeof g->pointer);
}

jstatus_t gpu_blas_call(jhandle_t *handle, blas_case_t *c) {
    gpu_case_t g;
    jstream_t *stream = NULL;
    gpu_case_begin(&g, handle, c);
    jstatus_t status = blas_call(handle, c);
    JEXPECT_OK(jhandle_get_stream(handle, &stream));
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    gpu_case_end(&g, true);
    return status;
}
