# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# What the build needs from outside: pthreads always; MPI and ScaLAPACK for libjalloc_mpi; a CBLAS for
# the benchmarks beside it; C++ for tests and benchmarks alone; GoogleTest and Python for the tests.
include(CheckSymbolExists)

if(JALLOC_BUILD_TESTS OR JALLOC_BUILD_BENCHMARKS)
  enable_language(CXX)
endif()
find_package(Threads REQUIRED)
find_package(Python3 COMPONENTS Interpreter)

# libjblas is built without a CBLAS: it loads one where it is told to. Benchmarks compare with one, and the fake vendor's
# BLAS of the tests computes by one: these are linked with it.
set(CBLAS_FOUND OFF)
if(JALLOC_BUILD_JBLAS AND (JALLOC_BUILD_BENCHMARKS OR JALLOC_BUILD_TESTS))
  find_package(CBLAS MODULE QUIET)
  if(CBLAS_FOUND)
    message(STATUS "CBLAS of benchmarks and tests: ${CBLAS_LIBRARIES}, ${CBLAS_HEADER}")
  else()
    message(STATUS "Benchmarks beside a CBLAS, fake GPUs: not built, since ${CBLAS_REASON} (Debian: apt install "
      "libopenblas-dev)")
  endif()
endif()

# Distributed buffers, and samples that need an MPI alone. ScaLAPACK has no header, and each is built for one
# MPI: Debian names it after that, and with another one a program would load both.
set(JALLOC_HAVE_MPI OFF CACHE INTERNAL "")
if(JALLOC_MPI)
  set(missing "")
  find_package(MPI COMPONENTS C QUIET)
  if(NOT MPI_C_FOUND)
    set(missing "there is no MPI (Debian: apt install libopenmpi-dev openmpi-bin)")
  elseif(NOT JALLOC_BUILD_JBLAS)
    set(missing "libjblas is not built")
  else()
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
    check_symbol_exists(OPEN_MPI mpi.h MPI_IS_OPENMPI)
    check_symbol_exists(MPICH_VERSION mpi.h MPI_IS_MPICH)
    unset(CMAKE_REQUIRED_LIBRARIES)
    set(scalapack_names scalapack-mpi scalapack)
    if(MPI_IS_OPENMPI)
      list(PREPEND scalapack_names scalapack-openmpi)
    elseif(MPI_IS_MPICH)
      list(PREPEND scalapack_names scalapack-mpich)
    endif()
    find_library(SCALAPACK_LIBRARY NAMES ${scalapack_names})
    mark_as_advanced(SCALAPACK_LIBRARY)
    if(NOT SCALAPACK_LIBRARY)
      list(GET scalapack_names 0 name)
      set(missing "there is no ScaLAPACK for ${MPI_C_COMPILER} (Debian: apt install lib${name}-dev)")
    endif()
  endif()
  if(NOT missing)
    set(JALLOC_HAVE_MPI ON CACHE INTERNAL "")
    message(STATUS "MPI: ${MPI_C_INCLUDE_DIRS}, ScaLAPACK: ${SCALAPACK_LIBRARY}")
  elseif(JALLOC_MPI STREQUAL AUTO OR NOT JALLOC_BUILD_JBLAS) # without libjblas there is none to ask for
    message(STATUS "libjalloc_mpi: not built, since ${missing}")
  else()
    message(FATAL_ERROR "JALLOC_MPI is ${JALLOC_MPI}, and ${missing}")
  endif()
endif()

if(JALLOC_BUILD_TESTS)
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(WARNING "No GoogleTest (Debian: apt install libgtest-dev): jalloc-test is not built.")
  endif()
endif()
