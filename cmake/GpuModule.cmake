# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# The GPU modules' compilers, and how a module is built with one. CMake's own support of CUDA and HIP wants every option
# of the project understood by them; a module needs a compiler, four options and a link, so they are written out here.
#
#   JALLOC_CUDA, JALLOC_HIP    AUTO: built where the compiler is found and works, and the build is not an instrumented one;
#                              ON: or else it is an error; OFF
#   JALLOC_CUDA_COMPILER, JALLOC_HIP_COMPILER    nvcc and hipcc, where they are not found

set(JALLOC_CUDA AUTO CACHE STRING "Build libjalloc_cuda: AUTO (if nvcc is found), ON or OFF")
set(JALLOC_HIP AUTO CACHE STRING "Build libjalloc_hip: AUTO (if hipcc is found), ON or OFF")
set(JALLOC_CUDA_ARCHITECTURES "80;90" CACHE STRING "Compute capabilities of libjalloc_cuda; newer ones by PTX of the last")
set(JALLOC_HIP_ARCHITECTURES "" CACHE STRING
    "Targets of libjalloc_hip; empty: gfx90a, gfx1030, and newer ones that the compiler knows")
set(hip_newer_architectures gfx942 gfx950 gfx1100 gfx1101 gfx1200 gfx1201)
# A build that only wants to know that it compiles takes a third of the time without optimization.
set(JALLOC_CUDA_FLAGS "-O3;-lineinfo" CACHE STRING "Options of nvcc")
set(JALLOC_HIP_FLAGS "-O3" CACHE STRING "Options of hipcc")
mark_as_advanced(JALLOC_CUDA_ARCHITECTURES JALLOC_HIP_ARCHITECTURES JALLOC_CUDA_FLAGS JALLOC_HIP_FLAGS)

# Warnings are errors where JALLOC_WERROR says so; with the host compiler's, not every header of a vendor is without.
set(gpu_host_flags -fPIC -fvisibility=hidden -Wall -Wextra)
if(JALLOC_WERROR)
  list(APPEND gpu_host_flags -Werror)
endif()

# Whether the compiler makes an object of a small kernel; what it said otherwise is left in ERRORS.
function(gpu_try works errors)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/try.cu)
  file(WRITE ${source} "#if defined(__HIP__)\n#include <hip/hip_runtime.h>\n#endif\n"
                       "static __global__ void kernel(float *x) { *x = 1; }\nvoid *f() { return (void *)kernel; }\n")
  execute_process(COMMAND ${ARGN} -c ${source} -o ${source}.o
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  file(REMOVE ${source}.o)
  if(result EQUAL 0)
    set(${works} ON PARENT_SCOPE)
  else()
    set(${works} OFF PARENT_SCOPE)
  endif()
  set(${errors} "${output}" PARENT_SCOPE)
endfunction()

# Leaves GPU_CUDA_COMPILER or GPU_HIP_COMPILER empty where the module is not to be built.
function(gpu_find_compiler KIND program)
  set(GPU_${KIND}_COMPILER "" PARENT_SCOPE)
  if(NOT JALLOC_${KIND})
    return()
  endif()
  if(JALLOC_${KIND} STREQUAL AUTO AND (JALLOC_SANITIZE OR JALLOC_COVERAGE OR JALLOC_FUZZ))
    return()
  endif()
  find_program(JALLOC_${KIND}_COMPILER ${program} HINTS ENV CUDA_PATH ENV CUDA_HOME ENV ROCM_PATH ENV HIP_PATH
               PATHS /usr/local/cuda /opt/rocm PATH_SUFFIXES bin DOC "The compiler of libjalloc's ${KIND} module")
  if(JALLOC_${KIND}_COMPILER)
    set(GPU_${KIND}_COMPILER ${JALLOC_${KIND}_COMPILER} PARENT_SCOPE)
  elseif(NOT JALLOC_${KIND} STREQUAL AUTO)
    message(FATAL_ERROR "JALLOC_${KIND} is ${JALLOC_${KIND}} and there is no ${program}; say where: -DJALLOC_${KIND}_COMPILER=...")
  endif()
endfunction()

# A compiler that was found and does not work counts as missing under AUTO.
function(gpu_refuse KIND errors)
  if(NOT JALLOC_${KIND} STREQUAL AUTO)
    message(FATAL_ERROR "${JALLOC_${KIND}_COMPILER} does not work:\n${errors}")
  endif()
  message(WARNING "${JALLOC_${KIND}_COMPILER} does not work, so the module is not built:\n${errors}")
  set(GPU_${KIND}_COMPILER "" PARENT_SCOPE)
endfunction()

# gpu_add_module(NAME COMPILE link... ) makes lib<NAME>.so.N beside libjalloc, N as in its soname, of every source of library/gpu, and the
# target NAME. COMPILE: a list, the compiler and its options; LINK: the same.
function(gpu_add_module name)
  cmake_parse_arguments(GPU "" "" "COMPILE;LINK;SOURCES" ${ARGN})
  set(objects "")
  foreach(source ${GPU_SOURCES})
    get_filename_component(stem ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${GPU_COMPILE} -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/library -MD -MT ${object}
              -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building lib${name}: ${stem}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(library ${JALLOC_MODULE_DIR}/lib${name}.so.${JALLOC_SOVERSION})
  set(exports ${PROJECT_SOURCE_DIR}/cmake/gpu_module.map)
  add_custom_command(OUTPUT ${library}
    COMMAND ${GPU_LINK} -shared -o ${library} ${objects} -Xlinker -soname=lib${name}.so.${JALLOC_SOVERSION}
            -Xlinker --version-script=${exports} -Xlinker -z -Xlinker defs
    DEPENDS ${objects} ${exports} COMMENT "Linking lib${name}.so.${JALLOC_SOVERSION}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${library})
  install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lib${name})
  set(JALLOC_MODULES ${JALLOC_MODULES} ${name} CACHE INTERNAL "")
endfunction()
