# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# The samples as a project of their own, against an installed jalloc; installed as CMakeLists.txt beside them.
#
#     cmake -S . -B build -DCMAKE_PREFIX_PATH=/where/jalloc/is
#     cmake --build build
#     ctest --test-dir build
#
# Each file is a program; what needs more than jalloc (MPI, CUDA, OpenMP) is built where that is.
cmake_minimum_required(VERSION 3.22)
project(jalloc_examples LANGUAGES C)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_package(jalloc REQUIRED OPTIONAL_COMPONENTS mpi)
find_package(MPI QUIET COMPONENTS C)
find_package(OpenMP QUIET COMPONENTS C)
find_package(CUDAToolkit QUIET)
add_compile_definitions(_GNU_SOURCE)
enable_testing()

function(add_example name)
  set(sources ${ARGN})
  file(STRINGS ${sources} uses_jblas REGEX "jblas_|jlapack_|jbuffer_|jlayout_" LIMIT_COUNT 1)
  if(uses_jblas AND NOT jalloc_jblas_FOUND)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE jalloc::jalloc m ${CMAKE_DL_LIBS})
  if(jalloc_jblas_FOUND)
    target_link_libraries(${name} PRIVATE jalloc::jbuffer jalloc::jlapack jalloc::jblas)
  endif()
endfunction()

file(GLOB sources *.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_example(${name} ${source})
  if(TARGET ${name})
    add_test(NAME ${name} COMMAND ${name})
  endif()
endforeach()
if(TARGET executors AND OpenMP_C_FOUND)
  target_link_libraries(executors PRIVATE OpenMP::OpenMP_C)
endif()

# The main job: a forecast of the CO2 record of Mauna Loa.
set(forecast ${CMAKE_CURRENT_SOURCE_DIR}/co2_forecast)
set(data CO2_FORECAST_DATA_DIR="${forecast}/data")
if(jalloc_jblas_FOUND)
  file(GLOB sources co2_forecast/*.c)
  add_executable(co2_forecast ${sources})
  target_compile_definitions(co2_forecast PRIVATE ${data})
  target_link_libraries(co2_forecast PRIVATE jalloc::jbuffer jalloc::jlapack jalloc::jblas m)
  add_test(NAME co2_forecast COMMAND co2_forecast --verify --repeat 1 --output ${CMAKE_BINARY_DIR}/co2_forecast.svg)
endif()

if(CUDAToolkit_FOUND AND jalloc_jblas_FOUND)
  file(GLOB sources cuda/*.c)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_example(${name} ${source})
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
    add_test(NAME ${name} COMMAND ${name})
  endforeach()
endif()

# With four ranks each; those that use distributed buffers need libjalloc_mpi.
if(MPI_C_FOUND)
  file(GLOB sources mpi/*.c)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    file(STRINGS ${source} uses_buffers REGEX "jalloc/mpi.h" LIMIT_COUNT 1)
    if(uses_buffers AND NOT jalloc_mpi_FOUND)
      continue()
    endif()
    add_example(${name} ${source})
    target_link_libraries(${name} PRIVATE MPI::MPI_C)
    if(uses_buffers)
      target_link_libraries(${name} PRIVATE jalloc::jalloc_mpi)
    endif()
    add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4 ${MPIEXEC_PREFLAGS} ${CMAKE_BINARY_DIR}/${name})
  endforeach()
  if(TARGET co2_covariance) # of the main job
    target_sources(co2_covariance PRIVATE ${forecast}/covariance.c ${forecast}/data.c ${forecast}/posterior.c
                                          ${forecast}/regression.c)
    target_include_directories(co2_covariance PRIVATE ${forecast})
    target_compile_definitions(co2_covariance PRIVATE ${data})
  endif()
endif()
