/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The vendor's BLAS behind the primitives.
 *
 * Loaded, not linked. The library is looked for by the name of its binary interface
 * (libcublas.so.13) when the first primitive runs, along the run path of this module, and every
 * function by its name. If anything is missing it counts as not there, kernels of ours do
 * everything, and jdevice_properties_t says so by its `blas`. So it does with JALLOC_VENDOR_BLAS=0.
 *
 * Streams. The vendor's handle has a stream, a workspace and a pointer mode, which its next call
 * uses; so a call of ours is a turn: settings, of which those that differ from the last turn's are
 * said, and call under one lock. What NVIDIA's manual says decides the rest ("cublasSetStream",
 * "cublasSetWorkspace", "Results reproducibility", "CUDA Graphs support"):
 *
 *   - A workspace that the library takes by itself comes and goes with cudaMalloc or, in a capture,
 *     becomes nodes of the graph that take memory. One that is given keeps it from taking any.
 *     Setting the stream puts the library's own back, so the workspace is given again after the
 *     stream.
 *   - Two streams may not share a workspace, and with a workspace and a handle for each stream the
 *     same call has the same bits whatever other streams do.
 *
 *        thread 1 -- stream A --\                    .-----------.---------------.
 *                                +-- turn ---------> | handle A  | workspace A   |    found by (device, stream),
 *        thread 2 -- stream A --/                    :-----------:---------------:    made at the stream's first call,
 *        thread 3 -- stream B ----- turn ----------> | handle B | workspace B | handed on when it
 *        is destroyed
 *                                                    '-----------'---------------'
 *                 -- stream B in capture 7 --------------- " ---- workspace of capture 7 and B
 *                 -- stream C in capture 8, its first call - " -- workspace of capture 8 and C
 *
 *   - A graph may run beside the stream it was captured from, so a capture has workspaces of its
 *     own. The graph keeps them until it and all that was made of it are gone; then the next
 *     capture gets them. Where graphs own nothing, or the library cannot be given a workspace, what
 *     is captured is done by kernels of ours.
 *   - Nothing is promised of making a handle during a capture, and making one then is known to fail
 *     (pytorch#99397). So none is: a stream that comes to its first call in a capture has a turn of
 *     another stream's handle, with the workspace of the capture. Where the device has no handle
 *     yet, kernels of ours do the work, as they do where the library cannot make one beside a
 *     capture.
 *
 * So the first BLAS call on a stream takes memory (4 to 32 MiB by architecture, and the handle's
 * own), and the first in a capture a workspace; no later one takes, frees or waits. A program that
 * cannot have that inside a call warms the stream up by any product of matrices; before a capture
 * any stream of the device will do.
 *
 * Semantics. The vendor's way is taken where its manual promises what jblas.h does, and kernels of
 * ours otherwise:
 *
 *   - alpha 0, and k 0: the manual does not say that A and B are not read, and 0 NaN would show.
 *     Known zeros never get here; an alpha on the device may be one. trsm and trmm only write B,
 *     which is cleared afterwards if alpha was 0; geam's manual promises it; everything else with
 *     an alpha on the device is done by kernels of ours.
 *   - Scalars of one call are on one side. Where the algorithms put a constant of theirs beside a
 *     scalar on the device, the constant is read from a table on the device.
 *   - Complex numbers are read whole: addresses must be multiples of their size, and nobody can
 *     look at those in an array of pointers, so complex batches are ours. So are negative
 *     increments and strides, of which nothing is said.
 *   - hemm: nothing is said of imaginary parts on the diagonal, so it is ours. hemv, her, herk say
 *     it.
 *   - Sums are added in an order that does not depend on the run: no atomics, and floats are
 *     multiplied as floats. */

#include "gpu/blas/vendor_blas.h"

#if !GPU_HAS_BLAS

gpu_primitive_t gpu_vendor_primitive(gpu_device_t *, ji_primitive_t) { return nullptr; }
const char *gpu_vendor_blas_name(gpu_device_t *) { return nullptr; }
jstatus_t gpu_vendor_gemm_ex(const gpu_call_t *, const ji_matmat_t *, gpu_narrow_t, bool) {
    return JSTATUS_NOT_IMPLEMENTED;
}
bool gpu_vendor_has_bf16x9(gpu_device_t *) { return false; }
void gpu_vendor_forget_stream(gpu_device_t *, gpuStream_t, bool) {}

#else

#include <dlfcn.h>
#include <stdio.h>

#include <atomic>
#include <mutex>
#include <new>

/* ---- The library ---- */

struct vendor_api_t {
#define X(name) decltype(&GPU_BLAS_(name)) name;
    GPU_BLAS_HELPER_LIST(X)
#undef X
#define X(name) decltype(&GPU_BLAS_64(name)) name;
    GPU_BLAS_COMPUTE_LIST(X)
#undef X
    /* May be NULL. */
    gpublasStatus_t (*SetWorkspace)(gpublasHandle_t handle, void *workspace, size_t bytes);
};

static std::once_flag vendor_once;
static vendor_api_t vendor_api;
static char vendor_name[64]; /* empty: there is none */
static int vendor_version;   /* major * 100 + minor */

static bool vendor_find_functions(vendor_api_t *api, void *library) {
#define X(name)                                                                                    \
    api->name = (decltype(api->name))GPU_BLAS_FIND(library, GPU_BLAS_STRING(GPU_BLAS_(name)));     \
    if (api->name == nullptr)                                                                      \
        return false;
    GPU_BLAS_HELPER_LIST(X)
#undef X
#define X(name)                                                                                    \
    api->name = (decltype(api->name))GPU_BLAS_FIND(library, GPU_BLAS_STRING(GPU_BLAS_64(name)));   \
    if (api->name == nullptr)                                                                      \
        return false;
    GPU_BLAS_COMPUTE_LIST(X)
#undef X
    api->SetWorkspace = (decltype(api->SetWorkspace))GPU_BLAS_FIND(
        library, GPU_BLAS_STRING(GPU_BLAS_(SetWorkspace)));
    return true;
}

static void vendor_load() {
    if (!gpu_services->vendor_blas)
        return;
    void *library = GPU_BLAS_OPEN(GPU_BLAS_LIBRARY);
    if (library == nullptr)
        return;
    if (!vendor_find_functions(&vendor_api, library)) {
        GPU_BLAS_CLOSE(library);
        return;
    }
    int major = 0, minor = 0;
    GPU_BLAS_GET_VERSION(vendor_api, &major, &minor);
    vendor_version = major * 100 + minor;
    snprintf(vendor_name, sizeof vendor_name, GPU_BLAS_NAME " %d.%d", major, minor);
}

const char *gpu_vendor_blas_name(gpu_device_t *) {
    std::call_once(vendor_once, vendor_load);
    return vendor_name[0] != '\0' ? vendor_name : nullptr;
}

/* ---- What is kept for a stream, and for a capture ---- */

/* For as long as the process lives, as the devices are. */

struct vendor_settings_t {
    gpuStream_t stream;
    void *workspace;
    gpublasPointerMode_t mode;
};

struct vendor_stream_t {
    vendor_stream_t *next; /* of its chain */
    gpu_device_t *device;
    gpuStream_t stream;
    bool taken;              /* by this stream; else by none */
    std::atomic<bool> ready; /* for turns of any stream: handle and constants are there */
    /* `settings` is what the handle was told in its last turn, which was this stream's */
    std::atomic<bool> settled;
    std::mutex turn; /* of the rest */
    bool has_handle;
    gpublasHandle_t handle;
    void *workspace;       /* NULL: no call outside of captures yet */
    const char *constants; /* vendor_constants on the device */
    vendor_settings_t settings;
};

struct vendor_capture_t {
    vendor_capture_t *next;
    gpu_device_t *device;
    uint64_t capture;
    gpuStream_t stream;
    std::atomic<bool> free; /* no graph keeps it; set from a thread of the runtime */
    void *workspace;
};

static std::mutex vendor_mutex; /* of the lists, not of what they hold */
static vendor_stream_t *vendor_streams;
static vendor_capture_t *vendor_captures;

/* -1, 0, 1 as floats and as doubles, each with a zero behind it: a complex number as well. */
struct vendor_constants_t {
    alignas(16) double doubles[3][2];
    alignas(16) float floats[3][4];
};
static __device__ const vendor_constants_t vendor_constants = {
    {{-1, 0}, {0, 0}, {1, 0}}, {{-1, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}}};

static jstatus_t vendor_no_memory(const jdevice_t *device) {
    return gpu_services->fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", device->name);
}

/* The stream's entry; one that another has left, or a new one, if it has none. NULL: no memory. */
static vendor_stream_t *vendor_find_stream(gpu_device_t *device, gpuStream_t stream) {
    std::lock_guard<std::mutex> lock(vendor_mutex);
    vendor_stream_t *left = nullptr;
    for (vendor_stream_t *entry = vendor_streams; entry != nullptr; entry = entry->next) {
        if (entry->device != device)
            continue;
        if (entry->taken && entry->stream == stream)
            return entry;
        if (!entry->taken)
            left = entry;
    }
    if (left == nullptr) {
        left = new (std::nothrow) vendor_stream_t();
        if (left == nullptr)
            return nullptr;
        left->device = device;
        left->next = vendor_streams;
        vendor_streams = left;
    }
    left->stream = stream;
    left->taken = true;
    return left;
}

/* Whose handle a stream in a capture may use: its own entry's, else another's (lent), best one's
 * that nobody uses. NULL: nobody has one. */
static vendor_stream_t *vendor_find_ready(gpu_device_t *device, gpuStream_t stream, bool *lent) {
    std::lock_guard<std::mutex> lock(vendor_mutex);
    vendor_stream_t *found = nullptr;
    for (vendor_stream_t *entry = vendor_streams; entry != nullptr; entry = entry->next) {
        if (entry->device != device || !entry->ready.load())
            continue;
        *lent = !entry->taken || entry->stream != stream;
        if (!*lent)
            return entry;
        if (found == nullptr || !entry->taken)
            found = entry;
    }
    return found;
}

void gpu_vendor_forget_stream(gpu_device_t *device, gpuStream_t stream, bool idle) {
    std::lock_guard<std::mutex> lock(vendor_mutex);
    for (vendor_stream_t *entry = vendor_streams; entry != nullptr; entry = entry->next)
        if (entry->device == device && entry->taken && entry->stream == stream) {
            entry->settled.store(false); /* the next stream may have its name */
            entry->taken = !idle;
        }
}

static void vendor_release_capture(void *object) { ((vendor_capture_t *)object)->free.store(true); }

static jstatus_t vendor_take_workspace(gpu_device_t *device, void **workspace) {
    if (*workspace != nullptr)
        return JSTATUS_SUCCESS;
    return gpu_allocate(&device->base, JMEMORY_DEVICE,
                        GPU_BLAS_WORKSPACE_BYTES(device->properties.architecture), 256, workspace);
}

/* The workspace of a stream in a capture, which the graph keeps from then on. Not implemented:
 * graphs keep nothing. */
static jstatus_t vendor_capture_workspace(const gpu_call_t *call, uint64_t capture,
                                          void **workspace) {
    gpu_device_t *device = gpu_device(call->device);
    vendor_capture_t *entry = nullptr, *left = nullptr;
    if (!device->properties.has_capture_ownership)
        return JSTATUS_NOT_IMPLEMENTED;
    std::lock_guard<std::mutex> lock(vendor_mutex);
    for (entry = vendor_captures; entry != nullptr; entry = entry->next) {
        if (entry->device != device)
            continue;
        if (entry->free.load())
            left = entry;
        else if (entry->capture == capture && entry->stream == call->stream)
            break;
    }
    if (entry != nullptr) {
        *workspace = entry->workspace;
        return JSTATUS_SUCCESS;
    }
    if (left == nullptr) {
        left = new (std::nothrow) vendor_capture_t();
        if (left == nullptr)
            return vendor_no_memory(call->device);
        left->device = device;
        left->free.store(true);
        left->next = vendor_captures;
        vendor_captures = left;
    }
    jstatus_t status = vendor_take_workspace(device, &left->workspace);
    if (status != JSTATUS_SUCCESS)
        return status;
    left->capture = capture;
    left->stream = call->stream;
    left->free.store(false);
    status = gpu_stream_keep_in_capture(call->device, call->jstream, vendor_release_capture, left);
    if (status != JSTATUS_SUCCESS)
        left->free.store(true);
    *workspace = left->workspace;
    return status;
}

/* ---- A turn ---- */

/* From construction to destruction the stream's handle, or one that it is lent, is this call's, and
 * set up for it. */
class vendor_turn {
  public:
    vendor_turn(const gpu_call_t *call, gpublasPointerMode_t mode);
    ~vendor_turn() {
        if (entry != nullptr)
            entry->turn.unlock();
    }
    vendor_turn(const vendor_turn &) = delete;
    vendor_turn &operator=(const vendor_turn &) = delete;

    jstatus_t status; /* not implemented: nothing was said, and kernels of ours can do it */
    gpublasHandle_t handle() const { return entry->handle; }
    const char *constants() const { return entry->constants; }
    /* Not implemented where the library cannot do it at all, or not now; and no message. */
    jstatus_t check(gpublasStatus_t code, const char *function) const;

  private:
    vendor_stream_t *entry;
    bool lent;               /* the entry is another stream's */
    const gpuError_t before; /* the runtime's last error then: the program's */

    jstatus_t set_up(const gpu_call_t *call, gpublasPointerMode_t mode, uint64_t capture);
    jstatus_t make_ready(const gpu_call_t *call);
    jstatus_t settle(const vendor_settings_t &wanted);
};

vendor_turn::vendor_turn(const gpu_call_t *call, gpublasPointerMode_t mode)
    : status(JSTATUS_SUCCESS), entry(nullptr), lent(false), before(gpuPeekAtLastError()) {
    if (call->stream == GPU_BLAS_STREAM_PER_THREAD) {
        /* One name for as many streams as there are threads. */
        status = JSTATUS_NOT_IMPLEMENTED;
        return;
    }
    uint64_t capture = 0;
    status = gpu_call_capture(call, &capture);
    if (status != JSTATUS_SUCCESS)
        return;
    gpu_device_t *device = gpu_device(call->device);
    entry = capture != 0 ? vendor_find_ready(device, call->stream, &lent)
                         : vendor_find_stream(device, call->stream);
    if (entry == nullptr) {
        status = capture != 0 ? JSTATUS_NOT_IMPLEMENTED : vendor_no_memory(call->device);
        return;
    }
    entry->turn.lock();
    status = set_up(call, mode, capture);
}

jstatus_t vendor_turn::check(gpublasStatus_t code, const char *function) const {
    if (code == GPU_BLAS_ENUM_(STATUS_SUCCESS))
        return JSTATUS_SUCCESS;
    if (gpuPeekAtLastError() != before)
        (void)gpuGetLastError(); /* what failed below it */
    jstatus_t failed = JSTATUS_DEVICE_ERROR;
    if (code == GPU_BLAS_ENUM_(STATUS_NOT_SUPPORTED) ||
        code == GPU_BLAS_ENUM_(STATUS_ARCH_MISMATCH) ||
        code == GPU_BLAS_ENUM_(STATUS_NOT_INITIALIZED))
        return JSTATUS_NOT_IMPLEMENTED;
    if (code == GPU_BLAS_ENUM_(STATUS_ALLOC_FAILED))
        failed = JSTATUS_MEMORY_ERROR;
    else if (code == GPU_BLAS_ENUM_(STATUS_INVALID_VALUE))
        failed = JSTATUS_INTERNAL_ERROR;
    return gpu_services->fail(failed, "%s: %s: %s (%d)", entry->device->base.name, function,
                              GPU_BLAS_STATUS_TEXT(vendor_api, code), (int)code);
}

#define VENDOR_TRY(function, ...)                                                                  \
    do {                                                                                           \
        jstatus_t status_ =                                                                        \
            check(vendor_api.function(__VA_ARGS__), GPU_BLAS_STRING(GPU_BLAS_(function)));         \
        if (status_ != JSTATUS_SUCCESS)                                                            \
            return status_;                                                                        \
    } while (0)

jstatus_t vendor_turn::set_up(const gpu_call_t *call, gpublasPointerMode_t mode, uint64_t capture) {
    jstatus_t found = JSTATUS_SUCCESS;
    void *workspace = nullptr;
    if (capture != 0) {
        if (vendor_api.SetWorkspace == nullptr)
            return JSTATUS_NOT_IMPLEMENTED;
        found = vendor_capture_workspace(call, capture, &workspace);
    } else if (vendor_api.SetWorkspace != nullptr) {
        found = vendor_take_workspace(entry->device, &entry->workspace);
        workspace = entry->workspace;
    }
    if (found == JSTATUS_SUCCESS && !entry->ready.load())
        found = make_ready(call);
    return found == JSTATUS_SUCCESS ? settle(vendor_settings_t{call->stream, workspace, mode})
                                    : found;
}

/* What is missing is made; a failure leaves the rest to the next call. */
jstatus_t vendor_turn::make_ready(const gpu_call_t *call) {
    if (entry->constants == nullptr) {
        void *address = nullptr;
        GPU_TRY(call->device, gpuGetSymbolAddress(&address, vendor_constants));
        entry->constants = (const char *)address;
    }
    if (!entry->has_handle) {
        gpublasHandle_t made;
        VENDOR_TRY(Create, &made);
        entry->handle = made;
        entry->has_handle = true;
    }
    const jstatus_t prepared =
        check(GPU_BLAS_PREPARE(vendor_api, entry->handle), "preparing " GPU_BLAS_NAME);
    entry->ready.store(prepared == JSTATUS_SUCCESS);
    return prepared;
}

/* Says to the handle what it was not told in its last turn. */
jstatus_t vendor_turn::settle(const vendor_settings_t &wanted) {
    const bool settled = entry->settled.exchange(false); /* nor is it when one of these fails */
    const bool streams = settled && entry->settings.stream == wanted.stream;
    if (!streams)
        VENDOR_TRY(SetStream, entry->handle, wanted.stream);
    if (vendor_api.SetWorkspace != nullptr &&
        !(streams && entry->settings.workspace == wanted.workspace))
        VENDOR_TRY(SetWorkspace, entry->handle, wanted.workspace,
                   GPU_BLAS_WORKSPACE_BYTES(entry->device->properties.architecture));
    if (!(settled && entry->settings.mode == wanted.mode))
        VENDOR_TRY(SetPointerMode, entry->handle, wanted.mode);
    entry->settings = wanted;
    entry->settled.store(!lent);
    return JSTATUS_SUCCESS;
}

/* ---- Scalars ---- */

/* The scalars of a call, on one side. On the host they are copied: the vendor's complex types want
 * their alignment. */
class vendor_scalars {
  public:
    gpublasPointerMode_t mode = GPU_BLAS_ENUM_(POINTER_MODE_HOST);

    /* beta may be NULL: there is none. False: cannot be had on one side. */
    bool take(jdatatype_t type, const ji_scalar_t *alpha_scalar, const ji_scalar_t *beta_scalar) {
        const ji_scalar_t *each[2] = {alpha_scalar, beta_scalar};
        for (int i = 0; i < 2; ++i)
            if (each[i] != nullptr && each[i]->pointer != nullptr)
                mode = GPU_BLAS_ENUM_(POINTER_MODE_DEVICE);
        for (int i = 0; i < 2; ++i) {
            if (each[i] == nullptr)
                continue;
            if (mode == GPU_BLAS_ENUM_(POINTER_MODE_HOST))
                memcpy(values[i].bytes, &each[i]->value, sizeof each[i]->value);
            else if (each[i]->pointer != nullptr)
                pointers[i] = each[i]->pointer;
            else if (!take_constant(type, each[i], i))
                return false;
            if ((uintptr_t)pointers[i] % ji_sizeof(type) != 0)
                return false;
        }
        return true;
    }
    const void *alpha(const vendor_turn &turn) const { return get(turn, 0); }
    const void *beta(const vendor_turn &turn) const { return get(turn, 1); }

  private:
    struct {
        alignas(16) unsigned char bytes[sizeof(ji_value_t)];
    } values[2];
    const void *pointers[2] = {nullptr, nullptr}; /* on the device */
    size_t offsets[2] = {0, 0};                   /* of a constant in the table */

    bool take_constant(jdatatype_t type, const ji_scalar_t *scalar, int i) {
        const bool wide = ji_real_of(type) == JDATATYPE_F64;
        for (int number = 0; number < 3; ++number)
            if (ji_scalar_is(scalar, type, number - 1)) {
                offsets[i] =
                    wide ? offsetof(vendor_constants_t, doubles) + number * sizeof(double[2])
                         : offsetof(vendor_constants_t, floats) + number * sizeof(float[4]);
                return true;
            }
        return false;
    }
    const void *get(const vendor_turn &turn, int i) const {
        if (mode == GPU_BLAS_ENUM_(POINTER_MODE_HOST))
            return values[i].bytes;
        return pointers[i] != nullptr ? pointers[i] : turn.constants() + offsets[i];
    }
};

/* ---- Arguments ---- */

/* A pointer as whatever the vendor's function has there. */
struct vendor_any {
    const void *pointer;
    template <typename T> operator T *() const { return (T *)const_cast<void *>(pointer); }
};
static vendor_any any(const void *pointer) { return vendor_any{pointer}; }

static gpublasOperation_t vendor_operation(jdatatype_t type, jblas_operation_t operation) {
    if (operation == JBLAS_NO_TRANSPOSE)
        return GPU_BLAS_ENUM_(OP_N);
    return operation == JBLAS_CONJUGATE_TRANSPOSE && ji_is_complex(type) ? GPU_BLAS_ENUM_(OP_C)
                                                                         : GPU_BLAS_ENUM_(OP_T);
}
static gpublasFillMode_t vendor_uplo(jblas_uplo_t uplo) {
    return uplo == JBLAS_UPPER ? GPU_BLAS_ENUM_(FILL_MODE_UPPER) : GPU_BLAS_ENUM_(FILL_MODE_LOWER);
}
static gpublasSideMode_t vendor_side(jblas_side_t side) {
    return side == JBLAS_LEFT ? GPU_BLAS_ENUM_(SIDE_LEFT) : GPU_BLAS_ENUM_(SIDE_RIGHT);
}
static gpublasDiagType_t vendor_diagonal(jblas_diagonal_t diagonal) {
    return diagonal == JBLAS_UNIT ? GPU_BLAS_ENUM_(DIAG_UNIT) : GPU_BLAS_ENUM_(DIAG_NON_UNIT);
}

static bool vendor_aligned(jdatatype_t type, const void *pointer) {
    return (uintptr_t)pointer % ji_sizeof(type) == 0;
}
/* Whether the vendor's kernels can be given the vectors and matrices. */
static bool vendor_fits(const ji_matvec_t *args) {
    const jdatatype_t type = args->head.type;
    return vendor_aligned(type, args->a) && vendor_aligned(type, args->x) &&
           vendor_aligned(type, args->y) && args->incx >= 0 && args->incy >= 0;
}
static bool vendor_fits(const ji_matmat_t *args) {
    const jdatatype_t type = args->head.type;
    return vendor_aligned(type, args->a) && vendor_aligned(type, args->b) &&
           vendor_aligned(type, args->c);
}

/* Whether alpha is known not to be 0. Only then is what the vendor reads and multiplies what
 * jblas.h says. */
static bool vendor_alpha_counts(jdatatype_t type, const ji_scalar_t *alpha) {
    return alpha->pointer == nullptr && !ji_scalar_is(alpha, type, 0);
}

struct vendor_outcome {
    gpublasStatus_t status;
    const char *function;
};

/* Of a call by type: the status, and the name for messages. */
#define VENDOR_CALL_(name, ...)                                                                    \
    (vendor_outcome{vendor_api.name(__VA_ARGS__), GPU_BLAS_STRING(GPU_BLAS_64(name))})
#define VENDOR_REAL_(type, name, ...)                                                              \
    ((type) == JDATATYPE_F32 ? VENDOR_CALL_(S##name, __VA_ARGS__)                                  \
                             : VENDOR_CALL_(D##name, __VA_ARGS__))
#define VENDOR_COMPLEX_(type, name, ...)                                                           \
    ((type) == JDATATYPE_F32_C ? VENDOR_CALL_(C##name, __VA_ARGS__)                                \
                               : VENDOR_CALL_(Z##name, __VA_ARGS__))
#define VENDOR_ALL_(type, name, ...)                                                               \
    (ji_is_complex(type) ? VENDOR_COMPLEX_(type, name, __VA_ARGS__)                                \
                         : VENDOR_REAL_(type, name, __VA_ARGS__))

/* Takes a turn and calls; `ours` where the vendor cannot do it. invoke(turn) -> vendor_outcome. */
template <typename INVOKE>
static jstatus_t vendor_run(const gpu_call_t *call, gpublasPointerMode_t mode, gpu_primitive_t ours,
                            const void *block, INVOKE invoke) {
    {
        vendor_turn turn(call, mode);
        if (turn.status == JSTATUS_SUCCESS) {
            const vendor_outcome outcome = invoke(turn);
            turn.status = turn.check(outcome.status, outcome.function);
        }
        if (turn.status != JSTATUS_NOT_IMPLEMENTED)
            return turn.status;
    }
    return ours != nullptr ? ours(call, block) : JSTATUS_NOT_IMPLEMENTED;
}

/* ---- Level 2 ---- */

#define VENDOR_MATVEC(args, block)                                                                 \
    const ji_matvec_t *args = (const ji_matvec_t *)block;                                          \
    const jdatatype_t type = args->head.type;                                                      \
    vendor_scalars scalars

static jstatus_t vendor_gemv(const gpu_call_t *call, const void *block) {
    VENDOR_MATVEC(args, block);
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_gemv(call, block);
    return vendor_run(call, scalars.mode, gpu_gemv, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, gemv, turn.handle(), vendor_operation(type, args->trans), args->m,
                           args->n, any(scalars.alpha(turn)), any(args->a), args->lda, any(args->x),
                           args->incx, any(scalars.beta(turn)), any(args->y), args->incy);
    });
}

static jstatus_t vendor_ger_any(const gpu_call_t *call, const void *block, bool conjugate) {
    VENDOR_MATVEC(args, block);
    gpu_primitive_t ours = conjugate ? gpu_gerc : gpu_ger;
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, nullptr))
        return ours(call, block);
    return vendor_run(call, scalars.mode, ours, block, [&](const vendor_turn &turn) {
#define VENDOR_GER_ARGUMENTS                                                                       \
    turn.handle(), args->m, args->n, any(scalars.alpha(turn)), any(args->x), args->incx,           \
        any(args->y), args->incy, any(args->a), args->lda
        if (!ji_is_complex(type))
            return VENDOR_REAL_(type, ger, VENDOR_GER_ARGUMENTS);
        return conjugate ? VENDOR_COMPLEX_(type, gerc, VENDOR_GER_ARGUMENTS)
                         : VENDOR_COMPLEX_(type, geru, VENDOR_GER_ARGUMENTS);
#undef VENDOR_GER_ARGUMENTS
    });
}
static jstatus_t vendor_ger(const gpu_call_t *call, const void *block) {
    return vendor_ger_any(call, block, false);
}
static jstatus_t vendor_gerc(const gpu_call_t *call, const void *block) {
    return vendor_ger_any(call, block, true);
}

static jstatus_t vendor_symv(const gpu_call_t *call, const void *block) {
    VENDOR_MATVEC(args, block);
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_symv(call, block);
    return vendor_run(call, scalars.mode, gpu_symv, block, [&](const vendor_turn &turn) {
#define VENDOR_SYMV_ARGUMENTS                                                                      \
    turn.handle(), vendor_uplo(args->uplo), args->n, any(scalars.alpha(turn)), any(args->a),       \
        args->lda, any(args->x), args->incx, any(scalars.beta(turn)), any(args->y), args->incy
        return ji_is_complex(type) ? VENDOR_COMPLEX_(type, hemv, VENDOR_SYMV_ARGUMENTS)
                                   : VENDOR_REAL_(type, symv, VENDOR_SYMV_ARGUMENTS);
#undef VENDOR_SYMV_ARGUMENTS
    });
}

static jstatus_t vendor_syr(const gpu_call_t *call, const void *block) {
    VENDOR_MATVEC(args, block);
    const jdatatype_t scalar = ji_real_of(type); /* her's alpha is real */
    if (!vendor_fits(args) || !vendor_alpha_counts(scalar, &args->alpha) ||
        !scalars.take(scalar, &args->alpha, nullptr))
        return gpu_syr(call, block);
    return vendor_run(call, scalars.mode, gpu_syr, block, [&](const vendor_turn &turn) {
#define VENDOR_SYR_ARGUMENTS                                                                       \
    turn.handle(), vendor_uplo(args->uplo), args->n, any(scalars.alpha(turn)), any(args->x),       \
        args->incx, any(args->a), args->lda
        return ji_is_complex(type) ? VENDOR_COMPLEX_(type, her, VENDOR_SYR_ARGUMENTS)
                                   : VENDOR_REAL_(type, syr, VENDOR_SYR_ARGUMENTS);
#undef VENDOR_SYR_ARGUMENTS
    });
}

static jstatus_t vendor_syr2(const gpu_call_t *call, const void *block) {
    VENDOR_MATVEC(args, block);
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, nullptr))
        return gpu_syr2(call, block);
    return vendor_run(call, scalars.mode, gpu_syr2, block, [&](const vendor_turn &turn) {
#define VENDOR_SYR2_ARGUMENTS                                                                      \
    turn.handle(), vendor_uplo(args->uplo), args->n, any(scalars.alpha(turn)), any(args->x),       \
        args->incx, any(args->y), args->incy, any(args->a), args->lda
        return ji_is_complex(type) ? VENDOR_COMPLEX_(type, her2, VENDOR_SYR2_ARGUMENTS)
                                   : VENDOR_REAL_(type, syr2, VENDOR_SYR2_ARGUMENTS);
#undef VENDOR_SYR2_ARGUMENTS
    });
}

#define VENDOR_TRIANGLE_VECTOR(name)                                                               \
    static jstatus_t vendor_##name(const gpu_call_t *call, const void *block) {                    \
        const ji_matvec_t *args = (const ji_matvec_t *)block;                                      \
        const jdatatype_t type = args->head.type;                                                  \
        if (!vendor_fits(args))                                                                    \
            return gpu_##name(call, block);                                                        \
        return vendor_run(call, GPU_BLAS_ENUM_(POINTER_MODE_HOST), gpu_##name, block,              \
                          [&](const vendor_turn &turn) {                                           \
                              return VENDOR_ALL_(                                                  \
                                  type, name, turn.handle(), vendor_uplo(args->uplo),              \
                                  vendor_operation(type, args->trans),                             \
                                  vendor_diagonal(args->diag), args->n, any(args->a), args->lda,   \
                                  any(args->x), args->incx);                                       \
                          });                                                                      \
    }
VENDOR_TRIANGLE_VECTOR(trmv)
VENDOR_TRIANGLE_VECTOR(trsv)

/* ---- Level 3 ---- */

#define VENDOR_MATMAT(args, block)                                                                 \
    const ji_matmat_t *args = (const ji_matmat_t *)block;                                          \
    const jdatatype_t type = args->head.type;                                                      \
    vendor_scalars scalars

static jstatus_t vendor_gemm(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_gemm(call, block);
    return vendor_run(call, scalars.mode, gpu_gemm, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, gemm, turn.handle(), vendor_operation(type, args->transa),
                           vendor_operation(type, args->transb), args->m, args->n, args->k,
                           any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b),
                           args->ldb, any(scalars.beta(turn)), any(args->c), args->ldc);
    });
}

static jstatus_t vendor_gemm_batched(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (ji_is_complex(type) || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_gemm_batched(call, block);
    return vendor_run(call, scalars.mode, gpu_gemm_batched, block, [&](const vendor_turn &turn) {
        return VENDOR_REAL_(type, gemmBatched, turn.handle(), vendor_operation(type, args->transa),
                            vendor_operation(type, args->transb), args->m, args->n, args->k,
                            any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b),
                            args->ldb, any(scalars.beta(turn)), any(args->c), args->ldc,
                            args->batch_count);
    });
}

static jstatus_t vendor_gemm_strided(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || args->stride_a < 0 || args->stride_b < 0 || args->stride_c < 0 ||
        args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_gemm_strided(call, block);
    return vendor_run(call, scalars.mode, gpu_gemm_strided, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, gemmStridedBatched, turn.handle(),
                           vendor_operation(type, args->transa),
                           vendor_operation(type, args->transb), args->m, args->n, args->k,
                           any(scalars.alpha(turn)), any(args->a), args->lda, args->stride_a,
                           any(args->b), args->ldb, args->stride_b, any(scalars.beta(turn)),
                           any(args->c), args->ldc, args->stride_c, args->batch_count);
    });
}

static jstatus_t vendor_symm(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_symm(call, block);
    return vendor_run(call, scalars.mode, gpu_symm, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, symm, turn.handle(), vendor_side(args->side),
                           vendor_uplo(args->uplo), args->m, args->n, any(scalars.alpha(turn)),
                           any(args->a), args->lda, any(args->b), args->ldb,
                           any(scalars.beta(turn)), any(args->c), args->ldc);
    });
}

static jstatus_t vendor_syrk(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return gpu_syrk(call, block);
    return vendor_run(call, scalars.mode, gpu_syrk, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, syrk, turn.handle(), vendor_uplo(args->uplo),
                           vendor_operation(type, args->transa), args->n, args->k,
                           any(scalars.alpha(turn)), any(args->a), args->lda,
                           any(scalars.beta(turn)), any(args->c), args->ldc);
    });
}

static jstatus_t vendor_herk(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    const jdatatype_t scalar = ji_real_of(type);
    if (!vendor_fits(args) || args->k == 0 || !vendor_alpha_counts(scalar, &args->alpha) ||
        !scalars.take(scalar, &args->alpha, &args->beta))
        return gpu_herk(call, block);
    return vendor_run(call, scalars.mode, gpu_herk, block, [&](const vendor_turn &turn) {
        return VENDOR_COMPLEX_(type, herk, turn.handle(), vendor_uplo(args->uplo),
                               vendor_operation(type, args->transa), args->n, args->k,
                               any(scalars.alpha(turn)), any(args->a), args->lda,
                               any(scalars.beta(turn)), any(args->c), args->ldc);
    });
}

/* alpha counts, so it is on the host, and beta with it: two types need no table of constants. */
static jstatus_t vendor_syr2k_any(const gpu_call_t *call, const void *block, bool hermitian) {
    VENDOR_MATMAT(args, block);
    gpu_primitive_t ours = hermitian ? gpu_her2k : gpu_syr2k;
    if (!vendor_fits(args) || args->k == 0 || !vendor_alpha_counts(type, &args->alpha) ||
        !scalars.take(type, &args->alpha, &args->beta))
        return ours(call, block);
    return vendor_run(call, scalars.mode, ours, block, [&](const vendor_turn &turn) {
#define VENDOR_SYR2K_ARGUMENTS                                                                     \
    turn.handle(), vendor_uplo(args->uplo), vendor_operation(type, args->trans), args->n, args->k, \
        any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b), args->ldb,                \
        any(scalars.beta(turn)), any(args->c), args->ldc
        return hermitian ? VENDOR_COMPLEX_(type, her2k, VENDOR_SYR2K_ARGUMENTS)
                         : VENDOR_ALL_(type, syr2k, VENDOR_SYR2K_ARGUMENTS);
#undef VENDOR_SYR2K_ARGUMENTS
    });
}
static jstatus_t vendor_syr2k(const gpu_call_t *call, const void *block) {
    return vendor_syr2k_any(call, block, false);
}
static jstatus_t vendor_her2k(const gpu_call_t *call, const void *block) {
    return vendor_syr2k_any(call, block, true);
}

/* trmm and trsm write B alone, so a zero that alpha on the device turns out to be is put right
 * afterwards. */
static jstatus_t vendor_clear(const gpu_call_t *call, const ji_matmat_t *args, jstatus_t status) {
    return status == JSTATUS_SUCCESS && args->alpha.pointer != nullptr
               ? gpu_triangle_clear(call, args)
               : status;
}

static jstatus_t vendor_trmm(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || ji_scalar_is(&args->alpha, type, 0) ||
        !scalars.take(type, &args->alpha, nullptr))
        return gpu_trmm(call, block);
    const jstatus_t status =
        vendor_run(call, scalars.mode, gpu_trmm, block, [&](const vendor_turn &turn) {
            return VENDOR_ALL_(type, trmm, turn.handle(), vendor_side(args->side),
                               vendor_uplo(args->uplo), vendor_operation(type, args->transa),
                               vendor_diagonal(args->diag), args->m, args->n,
                               any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b),
                               args->ldb, any(args->b), args->ldb);
        });
    return vendor_clear(call, args, status);
}

static jstatus_t vendor_trsm(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || ji_scalar_is(&args->alpha, type, 0) ||
        !scalars.take(type, &args->alpha, nullptr))
        return gpu_trsm(call, block);
    const jstatus_t status =
        vendor_run(call, scalars.mode, gpu_trsm, block, [&](const vendor_turn &turn) {
            return VENDOR_ALL_(
                type, trsm, turn.handle(), vendor_side(args->side), vendor_uplo(args->uplo),
                vendor_operation(type, args->transa), vendor_diagonal(args->diag), args->m, args->n,
                any(scalars.alpha(turn)), any(args->a), args->lda, any(args->b), args->ldb);
        });
    return vendor_clear(call, args, status);
}

static jstatus_t vendor_geam(const gpu_call_t *call, const void *block) {
    VENDOR_MATMAT(args, block);
    if (!vendor_fits(args) || ji_scalar_is(&args->alpha, type, 0) ||
        ji_scalar_is(&args->beta, type, 0) || !scalars.take(type, &args->alpha, &args->beta))
        return gpu_geam(call, block);
    return vendor_run(call, scalars.mode, gpu_geam, block, [&](const vendor_turn &turn) {
        return VENDOR_ALL_(type, geam, turn.handle(), vendor_operation(type, args->transa),
                           vendor_operation(type, args->transb), args->m, args->n,
                           any(scalars.alpha(turn)), any(args->a), args->lda,
                           any(scalars.beta(turn)), any(args->b), args->ldb, any(args->c),
                           args->ldc);
    });
}

gpu_primitive_t gpu_vendor_primitive(gpu_device_t *device, ji_primitive_t primitive) {
    if (gpu_vendor_blas_name(device) == nullptr)
        return nullptr;
    switch (primitive) {
    case JI_GEMV: return vendor_gemv;
    case JI_GER: return vendor_ger;
    case JI_GERC: return vendor_gerc;
    case JI_SYMV: return vendor_symv;
    case JI_SYR: return vendor_syr;
    case JI_SYR2: return vendor_syr2;
    case JI_TRMV: return vendor_trmv;
    case JI_TRSV: return vendor_trsv;
    case JI_GEMM: return vendor_gemm;
    case JI_GEMM_BATCHED: return vendor_gemm_batched;
    case JI_GEMM_STRIDED: return vendor_gemm_strided;
    case JI_SYMM: return vendor_symm;
    case JI_SYRK: return vendor_syrk;
    case JI_HERK: return vendor_herk;
    case JI_SYR2K: return vendor_syr2k;
    case JI_HER2K: return vendor_her2k;
    case JI_TRMM: return vendor_trmm;
    case JI_TRSM: return vendor_trsm;
    case JI_GEAM: return vendor_geam;
    default: return nullptr;
    }
}

/* ---- Narrow numbers ---- */

bool gpu_vendor_has_bf16x9(gpu_device_t *device) {
#if defined(GPU_BLAS_BF16X9_SINCE)
    return gpu_vendor_blas_name(device) != nullptr && vendor_version >= GPU_BLAS_BF16X9_SINCE;
#else
    (void)device;
    return false;
#endif
}

jstatus_t gpu_vendor_gemm_ex(const gpu_call_t *call, const ji_matmat_t *args, gpu_narrow_t narrow,
                             bool narrow_result) {
    vendor_scalars scalars;
    if (gpu_vendor_blas_name(gpu_device(call->device)) == nullptr ||
        !scalars.take(JDATATYPE_F32, &args->alpha, &args->beta))
        return JSTATUS_NOT_IMPLEMENTED;
    auto inputs = narrow == GPU_NARROW_F16 ? GPU_BLAS_TYPE_(R_16F) : GPU_BLAS_TYPE_(R_16BF);
    auto compute = GPU_BLAS_ENUM_(COMPUTE_32F);
    if (narrow == GPU_NARROW_BF16X9) {
#if defined(GPU_BLAS_BF16X9_SINCE)
        inputs = GPU_BLAS_TYPE_(R_32F);
        compute = GPU_BLAS_ENUM_(COMPUTE_32F_EMULATED_16BFX9);
#endif
        if (!gpu_vendor_has_bf16x9(gpu_device(call->device)) || !vendor_fits(args))
            return JSTATUS_NOT_IMPLEMENTED;
    }
    const auto result = narrow_result ? inputs : GPU_BLAS_TYPE_(R_32F);
    return vendor_run(call, scalars.mode, nullptr, nullptr, [&](const vendor_turn &turn) {
        return VENDOR_CALL_(GemmEx, turn.handle(), vendor_operation(JDATATYPE_F32, args->transa),
                            vendor_operation(JDATATYPE_F32, args->transb), args->m, args->n,
                            args->k, scalars.alpha(turn), args->a, inputs, args->lda, args->b,
                            inputs, args->ldb, scalars.beta(turn), args->c, result, args->ldc,
                            compute, GPU_BLAS_DEFAULT_ALGORITHM);
    });
}

#endif
