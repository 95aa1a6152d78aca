/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Graphs, what is instantiated from them, and the user objects that they keep. A launch puts the
 * operations into the stream in a random order that the edges allow; launches of one instance
 * follow each other whatever their streams. */

#include "runtime.h"

namespace fake {

static void user_object_release(user_object_t *object, int64_t count) {
    object->references -= count;

    if (object->references > 0)
        return;

    call_back(object->destroy, nullptr);
    state().user_objects.erase(object);
}

kept_t::~kept_t() {
    for (const auto &[object, count] : objects)
        user_object_release(object, count);
}

static std::vector<size_t> graph_order(const graph_exec_t &exec) {
    std::vector<size_t> order, ready;
    std::vector<size_t> missing;
    for (const std::vector<size_t> &after : exec.after)
        missing.push_back(after.size());

    for (size_t i = 0; i < missing.size(); ++i)
        if (missing[i] == 0)
            ready.push_back(i);

    while (!ready.empty()) {
        std::swap(ready[random_number() % ready.size()], ready.back());
        const size_t node = ready.back();
        ready.pop_back();
        order.push_back(node);
        for (size_t i = 0; i < missing.size(); ++i)
            for (size_t earlier : exec.after[i])
                if (earlier == node && --missing[i] == 0)
                    ready.push_back(i);
    }

    return order;
}

} // namespace fake

using namespace fake;

gpuError_t gpuGraphInstantiate(gpuGraphExec_t *handle, gpuGraph_t graph_handle,
                               unsigned long long) {
    return call("GraphInstantiate", PLAIN, [=](guard_t &) -> gpuError_t {
        runtime_t &rt = state();
        auto found = rt.graphs.find(graph_handle);
        if (handle == nullptr || found == rt.graphs.end())
            return gpuErrorInvalidValue;

        const graph_t &graph = *found->second;
        std::unique_ptr<graph_exec_t> exec = std::make_unique<graph_exec_t>();
        std::map<node_t *, size_t> number;
        for (const std::unique_ptr<node_t> &node : graph.nodes) {
            number[node.get()] = exec->operations.size();
            exec->operations.push_back(node->operation);
        }

        for (const std::unique_ptr<node_t> &node : graph.nodes) {
            exec->after.emplace_back();
            for (node_t *earlier : node->after)
                exec->after.back().push_back(number[earlier]);
        }

        exec->kept = graph.kept;
        *handle = (gpuGraphExec_t)exec.get();
        rt.execs[*handle] = std::move(exec);
        return gpuSuccess;
    });
}

gpuError_t gpuGraphLaunch(gpuGraphExec_t handle, gpuStream_t stream_handle) {
    return call("GraphLaunch", PLAIN, [=](guard_t &) -> gpuError_t {
        runtime_t &rt = state();
        auto found = rt.execs.find(handle);
        std::shared_ptr<stream_t> stream = find_stream(stream_handle);
        if (found == rt.execs.end() || stream == nullptr)
            return gpuErrorInvalidResourceHandle;

        graph_exec_t &exec = *found->second;
        gpuError_t error = check_implicit(*stream);
        if (error != gpuSuccess)
            return error;

        if (stream->capture != nullptr)
            return gpuErrorNotSupported;

        operation_t begin, end;
        begin.waits = exec.last;
        enqueue(stream, std::move(begin));

        for (size_t node : graph_order(exec))
            enqueue(stream, exec.operations[node]);

        const std::shared_ptr<kept_t> kept = exec.kept; /* until it has run */
        end.action = [kept] { return gpuSuccess; };
        exec.last = {enqueue(stream, std::move(end))};
        return gpuSuccess;
    });
}

gpuError_t gpuGraphExecDestroy(gpuGraphExec_t handle) {
    return call("GraphExecDestroy", PLAIN, [=](guard_t &) -> gpuError_t {
        return state().execs.erase(handle) != 0 ? gpuSuccess : gpuErrorInvalidValue;
    });
}

gpuError_t gpuGraphDestroy(gpuGraph_t handle) {
    return call("GraphDestroy", PLAIN, [=](guard_t &) -> gpuError_t {
        return state().graphs.erase(handle) != 0 ? gpuSuccess : gpuErrorInvalidValue;
    });
}

#if GPU_HAS_CAPTURE_OWNERSHIP

namespace fake {

static graph_t *graph_find(gpuGraph_t handle) {
    runtime_t &rt = state();
    auto found = rt.graphs.find(handle);
    if (found != rt.graphs.end())
        return found->second.get();

    for (const std::shared_ptr<capture_t> &capture : rt.captures) /* one that is being made */
        if ((void *)capture->graph.get() == (void *)handle)
            return capture->graph.get();
    return nullptr;
}

} // namespace fake

gpuError_t gpuUserObjectCreate(gpuUserObject_t *handle, void *pointer, gpuHostFn_t destroy,
                               unsigned references, unsigned flags) {
    return call("UserObjectCreate", PLAIN, [=](guard_t &) -> gpuError_t {
        if (handle == nullptr || destroy == nullptr || references == 0 || references > INT32_MAX ||
            flags != gpuUserObjectNoDestructorSync)
            return gpuErrorInvalidValue;

        std::unique_ptr<user_object_t> object = std::make_unique<user_object_t>();
        object->destroy = host_function_t{destroy, pointer};
        object->references = references;

        *handle = (gpuUserObject_t)object.get();
        state().user_objects[*handle] = std::move(object);
        return gpuSuccess;
    });
}

gpuError_t gpuUserObjectRelease(gpuUserObject_t handle, unsigned count) {
    return call("UserObjectRelease", PLAIN, [=](guard_t &) -> gpuError_t {
        auto found = state().user_objects.find(handle);
        if (found == state().user_objects.end() || count == 0 || found->second->references < count)
            return gpuErrorInvalidValue;

        user_object_release(found->second.get(), count);
        return gpuSuccess;
    });
}

gpuError_t gpuGraphRetainUserObject(gpuGraph_t graph_handle, gpuUserObject_t handle, unsigned count,
                                    unsigned flags) {
    return call("GraphRetainUserObject", PLAIN, [=](guard_t &) -> gpuError_t {
        graph_t *graph = graph_find(graph_handle);
        auto found = state().user_objects.find(handle);
        if (graph == nullptr || found == state().user_objects.end() || count == 0)
            return gpuErrorInvalidValue;

        graph->kept->objects[found->second.get()] += count;
        if ((flags & gpuGraphUserObjectMove) == 0)
            found->second->references += count;
        return gpuSuccess;
    });
}

#endif
