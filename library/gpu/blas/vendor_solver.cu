/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The vendor's LAPACK: loading it, its handles, and the call of each routine (solver.h).
 *
 * Loaded, not linked, by the name of its binary interface (libcusolver.so.12) when a routine first
 * asks. Where the library or one of a routine's functions is missing there is nothing in its place:
 * the routine is not implemented, and the message says what was looked for.
 *
 * Handles. As with the vendor's BLAS, a handle for each stream (vendor_turn.cu has why), made at
 * the stream's first call or size query, and a call of ours is a turn with it under its lock. The
 * library has memory of its own behind it; what it is given, and how much, is by its own query with
 * the same sizes. That query looks at no operand, and is given none: a size query of ours has no
 * operands.
 *
 * Captures. Nothing is promised of these functions in one, so a captured stream is refused before
 * anything is called.
 *
 * Not run on a GPU yet; compiled against cuSOLVER 12, and run over the fake one. */

#include "gpu/blas/vendor_solver.h"

#include "gpu/blas/matrix.h"

#if !GPU_HAS_SOLVER

jstatus_t gpu_solver_find(jdevice_t *device, int) {
    return gpu_services->fail(JSTATUS_NOT_IMPLEMENTED, "the module of %s was built without %s",
                              device->name, GPU_SOLVER_NAME);
}
jstatus_t gpu_solver_bytes(jdevice_t *device, jstream_t *, const ji_solver_t *call,
                           ji_solver_bytes_t *) {
    return gpu_solver_find(device, call->routine);
}
jstatus_t gpu_solver(const gpu_call_t *call, const void *block) {
    return gpu_solver_find(call->device, ((const ji_solver_t *)block)->routine);
}
void gpu_solver_forget_stream(gpu_device_t *, gpuStream_t, bool) {}

#else

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include <mutex>

#include "gpu/blas/vendor_entry.h"

/* ---- The library ---- */

/* What is missing is NULL. */
static struct {
#define X(routine, name) decltype(&GPU_SOLVER_(name)) name;
    GPU_SOLVER_LIST(X)
#undef X
} solver_api;

static std::once_flag solver_once;
static bool solver_is_there;
static char solver_why[160]; /* it is not */

static void solver_load() {
    if (!gpu_services->vendor_blas) {
        snprintf(solver_why, sizeof solver_why, "JALLOC_VENDOR_BLAS is 0");
        return;
    }

    void *library = GPU_SOLVER_OPEN(GPU_SOLVER_LIBRARY);
    if (library == nullptr) {
        const char *said = GPU_SOLVER_OPEN_ERROR();
        snprintf(solver_why, sizeof solver_why, "%s", said != nullptr ? said : GPU_SOLVER_LIBRARY);
        return;
    }

#define X(routine, name)                                                                           \
    solver_api.name =                                                                              \
        (decltype(solver_api.name))GPU_SOLVER_FIND(library, GPU_SOLVER_STRING(GPU_SOLVER_(name)));
    GPU_SOLVER_LIST(X)
#undef X
    solver_is_there = true;
}

/* The first function of a routine that is missing; NULL: none. */
static const char *solver_lacks(int routine) {
    int functions = 0;
#define X(of, name)                                                                                \
    if (JI_SOLVER_##of == routine || JI_SOLVER_##of == JI_SOLVER_ROUTINES) {                       \
        functions += JI_SOLVER_##of == routine;                                                    \
        if (solver_api.name == nullptr)                                                            \
            return GPU_SOLVER_STRING(GPU_SOLVER_(name));                                           \
    }
    GPU_SOLVER_LIST(X)
#undef X
    return functions > 0 ? nullptr : "a function with 64-bit sizes";
}

jstatus_t gpu_solver_find(jdevice_t *device, int routine) {
    std::call_once(solver_once, solver_load);
    if (!solver_is_there)
        return gpu_services->fail(JSTATUS_NOT_IMPLEMENTED, "%s: no %s: %s", device->name,
                                  GPU_SOLVER_NAME, solver_why);

    const char *lacks = solver_lacks(routine);
    return lacks == nullptr ? JSTATUS_SUCCESS
                            : gpu_services->fail(JSTATUS_NOT_IMPLEMENTED, "%s: %s has not %s",
                                                 device->name, GPU_SOLVER_LIBRARY, lacks);
}

/* ---- Handles ---- */

struct solver_stream_t {
    solver_stream_t *next; /* vendor_entry.h */
    gpu_device_t *device;
    gpuStream_t stream;
    bool taken;
    std::mutex turn; /* of the rest */
    bool has_handle, has_params;
    gpusolverHandle_t handle;
    gpusolverParams_t params;
};

static std::mutex solver_mutex; /* of the list, not of what it holds */
static solver_stream_t *solver_streams;

void gpu_solver_forget_stream(gpu_device_t *device, gpuStream_t stream, bool idle) {
    std::lock_guard<std::mutex> lock(solver_mutex);
    vendor_leave_entry(solver_streams, device, stream, idle, [](solver_stream_t *) {});
}

/* From construction to destruction the stream's handle is this call's. */
class solver_turn {
  public:
    explicit solver_turn(const gpu_call_t *call)
        : status(JSTATUS_SUCCESS), device(call->device), entry(nullptr),
          before(gpuPeekAtLastError()) {
        status = begin(call);
    }
    ~solver_turn() {
        if (entry != nullptr)
            entry->turn.unlock();
    }
    solver_turn(const solver_turn &) = delete;
    solver_turn &operator=(const solver_turn &) = delete;

    jstatus_t status;
    gpusolverHandle_t handle() const { return entry->handle; }
    gpusolverParams_t params() const { return entry->params; }
    jstatus_t check(gpusolverStatus_t code, const char *function) const;

  private:
    jdevice_t *device;
    solver_stream_t *entry;
    const gpuError_t before; /* the runtime's last error then: the program's */

    jstatus_t begin(const gpu_call_t *call);
};

static const char *solver_status_text(gpusolverStatus_t code) {
    switch (code) {
    case GPU_SOLVER_ENUM_(STATUS_NOT_INITIALIZED): return "not initialized";
    case GPU_SOLVER_ENUM_(STATUS_ALLOC_FAILED): return "no memory";
    case GPU_SOLVER_ENUM_(STATUS_INVALID_VALUE): return "invalid value";
    case GPU_SOLVER_ENUM_(STATUS_ARCH_MISMATCH): return "not for this architecture";
    case GPU_SOLVER_ENUM_(STATUS_EXECUTION_FAILED): return "execution failed";
    case GPU_SOLVER_ENUM_(STATUS_INTERNAL_ERROR): return "internal error";
    case GPU_SOLVER_ENUM_(STATUS_NOT_SUPPORTED): return "not supported";
    default: return "failed";
    }
}

jstatus_t solver_turn::check(gpusolverStatus_t code, const char *function) const {
    if (code == GPU_SOLVER_ENUM_(STATUS_SUCCESS))
        return JSTATUS_SUCCESS;
    if (gpuPeekAtLastError() != before)
        (void)gpuGetLastError(); /* what failed below it */

    jstatus_t failed = JSTATUS_DEVICE_ERROR;
    switch (code) {
    case GPU_SOLVER_ENUM_(STATUS_NOT_SUPPORTED):
    case GPU_SOLVER_ENUM_(STATUS_ARCH_MISMATCH): failed = JSTATUS_NOT_IMPLEMENTED; break;
    case GPU_SOLVER_ENUM_(STATUS_ALLOC_FAILED): failed = JSTATUS_MEMORY_ERROR; break;
    case GPU_SOLVER_ENUM_(STATUS_INVALID_VALUE): failed = JSTATUS_INTERNAL_ERROR; break;
    default: break;
    }
    return gpu_services->fail(failed, "%s: %s: %s (%d)", device->name, function,
                              solver_status_text(code), (int)code);
}

/* A function, and its name for messages. */
#define SOLVER_CALL_(turn, name, ...)                                                              \
    (turn).check(solver_api.name(__VA_ARGS__), GPU_SOLVER_STRING(GPU_SOLVER_(name)))

jstatus_t solver_turn::begin(const gpu_call_t *call) {
    uint64_t capture = 0;
    JTRY_RETURN(gpu_call_capture(call, &capture));
    if (capture != 0)
        return gpu_services->fail(JSTATUS_CAPTURING, "%s: nothing of %s is captured", device->name,
                                  GPU_SOLVER_NAME);
    if (call->stream == GPU_SOLVER_STREAM_PER_THREAD) /* as many streams as there are threads */
        return gpu_services->fail(JSTATUS_NOT_IMPLEMENTED,
                                  "%s: %s is for streams that have a name of their own",
                                  device->name, GPU_SOLVER_NAME);

    solver_stream_t *found;
    {
        std::lock_guard<std::mutex> lock(solver_mutex);
        found = vendor_find_entry(&solver_streams, gpu_device(device), call->stream);
    }
    if (found == nullptr)
        return gpu_services->fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping",
                                  device->name);
    found->turn.lock();
    entry = found;

    /* A failure leaves the rest to the next call. */
    if (!entry->has_handle)
        JTRY_RETURN(SOLVER_CALL_(*this, Create, &entry->handle));
    entry->has_handle = true;
    if (!entry->has_params)
        JTRY_RETURN(SOLVER_CALL_(*this, CreateParams, &entry->params));
    entry->has_params = true;
    return SOLVER_CALL_(*this, SetStream, entry->handle, call->stream);
}

/* ---- The routines ---- */

/* One call of the library with a turn's handle: the routine, or with `bytes` its query. */
struct solver_step {
    const solver_turn &turn;
    const ji_solver_t *call;
    ji_solver_bytes_t *bytes;
    decltype(GPU_SOLVER_TYPE_(R_32F)) type, real;
};

/* A pointer as whatever the vendor's function has there. */
struct solver_any {
    const void *pointer;
    template <typename T> operator T *() const { return (T *)const_cast<void *>(pointer); }
};

#define SOLVER_64_(step, name, ...)                                                                \
    SOLVER_CALL_((step).turn, name, (step).turn.handle(), (step).turn.params(), __VA_ARGS__)
#define SOLVER_WORK_(call)                                                                         \
    (call)->work, (call)->work_bytes, (call)->host_work, (call)->host_bytes, (call)->info

static auto solver_operation(const ji_solver_t *call) {
    return call->trans == JBLAS_NO_TRANSPOSE ? GPU_SOLVER_BLAS_(OP_N)
           : call->trans == JBLAS_CONJUGATE_TRANSPOSE && ji_is_complex(call->head.type)
               ? GPU_SOLVER_BLAS_(OP_C)
               : GPU_SOLVER_BLAS_(OP_T);
}

static jstatus_t solver_getrf(const solver_step &s) {
    const ji_solver_t *c = s.call;
    if (s.bytes != nullptr)
        return SOLVER_64_(s, Xgetrf_bufferSize, c->m, c->n, s.type, nullptr, c->lda, s.type,
                          &s.bytes->device, &s.bytes->host);
    return SOLVER_64_(s, Xgetrf, c->m, c->n, s.type, const_cast<void *>(c->a), c->lda,
                      const_cast<int64_t *>(c->ipiv), s.type, SOLVER_WORK_(c));
}

static jstatus_t solver_getrs(const solver_step &s) {
    const ji_solver_t *c = s.call;
    if (s.bytes != nullptr) /* it has no query, and needs nothing */
        return JSTATUS_SUCCESS;
    return SOLVER_64_(s, Xgetrs, solver_operation(c), c->n, c->k, s.type, c->a, c->lda, c->ipiv,
                      s.type, c->b, c->ldb, c->info);
}

static jstatus_t solver_geqrf(const solver_step &s) {
    const ji_solver_t *c = s.call;
    if (s.bytes != nullptr)
        return SOLVER_64_(s, Xgeqrf_bufferSize, c->m, c->n, s.type, nullptr, c->lda, s.type,
                          nullptr, s.type, &s.bytes->device, &s.bytes->host);
    return SOLVER_64_(s, Xgeqrf, c->m, c->n, s.type, const_cast<void *>(c->a), c->lda, s.type,
                      const_cast<void *>(c->tau), s.type, SOLVER_WORK_(c));
}

/* Of functions by type with sizes of int, whose work is counted in elements. */
#define SOLVER_TYPED_(step, real, complex, ...)                                                    \
    ((step).call->head.type == JDATATYPE_F32                                                       \
         ? SOLVER_CALL_((step).turn, S##real, (step).turn.handle(), __VA_ARGS__)                   \
     : (step).call->head.type == JDATATYPE_F64                                                     \
         ? SOLVER_CALL_((step).turn, D##real, (step).turn.handle(), __VA_ARGS__)                   \
     : (step).call->head.type == JDATATYPE_F32_C                                                   \
         ? SOLVER_CALL_((step).turn, C##complex, (step).turn.handle(), __VA_ARGS__)                \
         : SOLVER_CALL_((step).turn, Z##complex, (step).turn.handle(), __VA_ARGS__))

static jstatus_t solver_require_ints(const solver_step &s) {
    const ji_solver_t *c = s.call;
    const int64_t sizes[] = {c->m, c->n, c->k, c->lda, c->ldb};
    for (int64_t size : sizes)
        if (size > INT_MAX)
            return gpu_services->fail(JSTATUS_NOT_IMPLEMENTED,
                                      "%lld: %s takes at most %d here, whose sizes have 32 bits",
                                      (long long)size, GPU_SOLVER_NAME, INT_MAX);
    return JSTATUS_SUCCESS;
}

static jstatus_t solver_take_elements(const solver_step &s, jstatus_t status, int elements) {
    s.bytes->device = elements > 0 ? (size_t)elements * ji_sizeof(s.call->head.type) : 0;
    return status;
}

static jstatus_t solver_orgqr(const solver_step &s) {
    const ji_solver_t *c = s.call;
    const int m = (int)c->m, n = (int)c->n, k = (int)c->k, lda = (int)c->lda;
    const solver_any none{nullptr}, a{c->a}, tau{c->tau}, work{c->work};
    int elements = 0;
    JTRY_RETURN(solver_require_ints(s));
    if (s.bytes != nullptr) {
        const jstatus_t status = SOLVER_TYPED_(s, orgqr_bufferSize, ungqr_bufferSize, m, n, k, none,
                                               lda, none, &elements);
        return solver_take_elements(s, status, elements);
    }
    elements = (int)(c->work_bytes / ji_sizeof(c->head.type));
    return SOLVER_TYPED_(s, orgqr, ungqr, m, n, k, a, lda, tau, work, elements, c->info);
}

static jstatus_t solver_ormqr(const solver_step &s) {
    const ji_solver_t *c = s.call;
    const auto side =
        c->side == JBLAS_LEFT ? GPU_SOLVER_BLAS_(SIDE_LEFT) : GPU_SOLVER_BLAS_(SIDE_RIGHT);
    const auto op = solver_operation(c);
    const int m = (int)c->m, n = (int)c->n, k = (int)c->k, lda = (int)c->lda, ldb = (int)c->ldb;
    const solver_any none{nullptr}, a{c->a}, tau{c->tau}, b{c->b}, work{c->work};
    int elements = 0;
    JTRY_RETURN(solver_require_ints(s));
    if (s.bytes != nullptr) {
        const jstatus_t status = SOLVER_TYPED_(s, ormqr_bufferSize, unmqr_bufferSize, side, op, m,
                                               n, k, none, lda, none, none, ldb, &elements);
        return solver_take_elements(s, status, elements);
    }
    elements = (int)(c->work_bytes / ji_sizeof(c->head.type));
    return SOLVER_TYPED_(s, ormqr, unmqr, side, op, m, n, k, a, lda, tau, b, ldb, work, elements,
                         c->info);
}

#if GPU_SOLVER_HAS_SPECTRAL

static jstatus_t solver_syevd(const solver_step &s) {
    const ji_solver_t *c = s.call;
    const auto job =
        c->jobu == 'V' ? GPU_SOLVER_ENUM_(EIG_MODE_VECTOR) : GPU_SOLVER_ENUM_(EIG_MODE_NOVECTOR);
    const auto uplo = c->uplo == JBLAS_UPPER ? GPU_SOLVER_BLAS_(FILL_MODE_UPPER)
                                             : GPU_SOLVER_BLAS_(FILL_MODE_LOWER);
    if (s.bytes != nullptr)
        return SOLVER_64_(s, Xsyevd_bufferSize, job, uplo, c->n, s.type, nullptr, c->lda, s.real,
                          nullptr, s.type, &s.bytes->device, &s.bytes->host);
    return SOLVER_64_(s, Xsyevd, job, uplo, c->n, s.type, const_cast<void *>(c->a), c->lda, s.real,
                      c->values, s.type, SOLVER_WORK_(c));
}

static jstatus_t solver_gesvd(const solver_step &s) {
    const ji_solver_t *c = s.call;
    const signed char jobu = (signed char)c->jobu, jobvt = (signed char)c->jobvt;
    if (s.bytes != nullptr)
        return SOLVER_64_(s, Xgesvd_bufferSize, jobu, jobvt, c->m, c->n, s.type, nullptr, c->lda,
                          s.real, nullptr, s.type, nullptr, c->ldb, s.type, nullptr, c->ldvt,
                          s.type, &s.bytes->device, &s.bytes->host);
    return SOLVER_64_(s, Xgesvd, jobu, jobvt, c->m, c->n, s.type, const_cast<void *>(c->a), c->lda,
                      s.real, c->values, s.type, c->b, c->ldb, s.type, c->vt, c->ldvt, s.type,
                      SOLVER_WORK_(c));
}

#endif

static jstatus_t solver_do(const gpu_call_t *call, const ji_solver_t *block,
                           ji_solver_bytes_t *bytes) {
    const jdatatype_t type = block->head.type;
    const bool single = ji_real_of(type) == JDATATYPE_F32;
    JTRY_RETURN(gpu_solver_find(call->device, block->routine));

    solver_turn turn(call);
    if (turn.status != JSTATUS_SUCCESS)
        return turn.status;

    const auto real = single ? GPU_SOLVER_TYPE_(R_32F) : GPU_SOLVER_TYPE_(R_64F);
    const auto complex = single ? GPU_SOLVER_TYPE_(C_32F) : GPU_SOLVER_TYPE_(C_64F);
    const solver_step step{turn, block, bytes, ji_is_complex(type) ? complex : real, real};
    switch (block->routine) {
    case JI_SOLVER_GETRF: return solver_getrf(step);
    case JI_SOLVER_GETRS: return solver_getrs(step);
    case JI_SOLVER_GEQRF: return solver_geqrf(step);
    case JI_SOLVER_ORGQR: return solver_orgqr(step);
    case JI_SOLVER_ORMQR: return solver_ormqr(step);
#if GPU_SOLVER_HAS_SPECTRAL
    case JI_SOLVER_SYEVD: return solver_syevd(step);
    case JI_SOLVER_GESVD: return solver_gesvd(step);
#endif
    default:
        return gpu_services->fail(JSTATUS_INTERNAL_ERROR, "%s has no solver %d", call->device->name,
                                  (int)block->routine);
    }
}

jstatus_t gpu_solver_bytes(jdevice_t *device, jstream_t *stream, const ji_solver_t *call,
                           ji_solver_bytes_t *bytes) {
    GPU_ENTER(device);
    gpu_relaxed relaxed;
    const gpu_call_t turn = {device, gpu_native(stream), stream, gpu_device(device)->blas, false,
                             0};
    *bytes = ji_solver_bytes_t{0, 0};
    return solver_do(&turn, call, bytes);
}

/* The vendor reads complex numbers whole. */
static bool solver_is_aligned(const ji_solver_t *call) {
    const void *operands[] = {call->a, call->b, call->vt,
                              call->routine == JI_SOLVER_GEQRF ||
                                      call->routine == JI_SOLVER_ORGQR ||
                                      call->routine == JI_SOLVER_ORMQR
                                  ? call->tau
                                  : nullptr};
    for (const void *operand : operands)
        if ((uintptr_t)operand % ji_sizeof(call->head.type) != 0)
            return false;
    return true;
}

jstatus_t gpu_solver(const gpu_call_t *call, const void *block) {
    const ji_solver_t *args = (const ji_solver_t *)block;
    if (!solver_is_aligned(args))
        return gpu_services->fail(JSTATUS_NOT_IMPLEMENTED,
                                  "%s: %s takes no operand whose address is not a multiple of %zu",
                                  call->device->name, GPU_SOLVER_NAME, ji_sizeof(args->head.type));
    return solver_do(call, args, nullptr);
}

#endif

/* ---- What is left of a call ---- */

/* *info = *found; where that is 0, A = B. */
template <typename T> struct solver_store {
    const int32_t *found;
    int64_t *info;
    T *a;
    int64_t lda;
    const T *b;
    int64_t ldb;

    __device__ inline bool start() {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            *info = *found;
        return b != nullptr && *found == 0;
    }
    __device__ inline void at(int64_t i, int64_t j) const { a[i + j * lda] = b[i + j * ldb]; }
};

template <typename T>
static jstatus_t solver_run_finish(const gpu_call_t *call, const ji_matmat_t *args) {
    solver_store<T> action = {};
    action.found = (const int32_t *)args->c;
    action.info = args->info;
    action.a = (T *)const_cast<void *>(args->a);
    action.lda = args->lda;
    action.b = (const T *)args->b;
    action.ldb = args->ldb;
    const bool stores = args->b != nullptr;
    return matrix_each(call, action, stores ? args->m : 1, stores ? args->n : 1, "solver_finish");
}

jstatus_t gpu_solver_finish(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    GPU_BY_TYPE(args->head.type, return solver_run_finish<T>(call, args));
}
