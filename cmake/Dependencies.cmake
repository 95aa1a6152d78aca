# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# What the build needs from outside: pthreads always; a CBLAS for libjblas; MPI and ScaLAPACK for
# libjalloc_mpi; C++ for tests and benchmarks alone; GoogleTest and Python for the tests.
if(JALLOC_BUILD_TESTS OR JALLOC_BUILD_BENCHMARKS)
  enable_language(CXX)
endif()
find_package(Threads REQUIRED)
find_package(Python3 COMPONENTS Interpreter)

set(CBLAS_FOUND OFF)
if(JALLOC_BUILD_JBLAS)
  set(CBLAS_DETECT_INTEGER ON)
  find_package(CBLAS MODULE)
  if(NOT CBLAS_FOUND)
    message(FATAL_ERROR "libjblas needs a BLAS with the C interface (cblas.h): ${CBLAS_REASON}. Install one "
      "(Debian: apt install libopenblas-dev), name one (-DBLA_VENDOR=..., -DBLAS_LIBRARIES=..., "
      "-DCBLAS_INCLUDE_DIR=...), or build libjalloc alone (-DJALLOC_BUILD_JBLAS=OFF).")
  endif()
  set(JALLOC_BLAS_INT_USED ${JALLOC_BLAS_INT})
  if(NOT JALLOC_BLAS_INT_USED)
    set(JALLOC_BLAS_INT_USED ${CBLAS_INTEGER_BITS})
  endif()
  if(NOT JALLOC_BLAS_INT_USED MATCHES "^(32|64)$")
    message(FATAL_ERROR "Whether ${CBLAS_LIBRARIES} has integers of 32 or of 64 bits could not be found out by running "
      "a program. Say it: -DJALLOC_BLAS_INT=32 or 64.")
  endif()
  message(STATUS "CBLAS: ${CBLAS_LIBRARIES} with ${JALLOC_BLAS_INT_USED}-bit integers, ${CBLAS_HEADER}")
endif()

# Distributed buffers. ScaLAPACK has no header; Debian's is built for one MPI each and named after it.
set(JALLOC_HAVE_MPI OFF CACHE INTERNAL "")
if(JALLOC_MPI AND JALLOC_BUILD_JBLAS)
  find_package(MPI COMPONENTS C QUIET)
  find_library(SCALAPACK_LIBRARY NAMES scalapack-openmpi scalapack-mpi scalapack scalapack-mpich)
  mark_as_advanced(SCALAPACK_LIBRARY)
  if(MPI_C_FOUND AND SCALAPACK_LIBRARY)
    set(JALLOC_HAVE_MPI ON CACHE INTERNAL "")
    message(STATUS "MPI: ${MPI_C_INCLUDE_DIRS}, ScaLAPACK: ${SCALAPACK_LIBRARY}")
  else()
    message(STATUS "libjalloc_mpi: not built, since there is no MPI or no ScaLAPACK "
                   "(Debian: apt install libopenmpi-dev openmpi-bin libscalapack-openmpi-dev)")
  endif()
endif()

if(JALLOC_BUILD_TESTS)
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(WARNING "No GoogleTest (Debian: apt install libgtest-dev): jalloc-test is not built.")
  endif()
endif()
