# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#[=======================================================================[
Finds a BLAS that has the C interface: OpenBLAS where there is one, else any that FindBLAS knows. BLA_VENDOR chooses
another, BLAS_LIBRARIES names the files, CBLAS_INCLUDE_DIR the folder of cblas.h.

  CBLAS_FOUND        whether cblas_dgemm links
  CBLAS::CBLAS       what to link
  CBLAS_INTEGER_BITS 32 or 64, when CBLAS_DETECT_INTEGER is set (runs a program); empty when it could not be told

Installed beside jallocConfig.cmake, where the static libjblas needs it again.
#]=======================================================================]
include(CheckCSourceCompiles)
include(FindPackageHandleStandardArgs)

if(NOT BLAS_LIBRARIES)
  if(NOT BLA_VENDOR AND NOT DEFINED ENV{BLA_VENDOR})
    set(BLA_VENDOR OpenBLAS)
    find_package(BLAS QUIET)
    unset(BLA_VENDOR)
  endif()
  if(NOT BLAS_FOUND)
    find_package(BLAS QUIET)
  endif()
endif()

# The header of the library found, not of another that is installed too: beside it first.
set(cblas_library "${BLAS_LIBRARIES}")
set(cblas_hints "")
set(cblas_suffixes cblas)
if(BLAS_LIBRARIES)
  list(GET BLAS_LIBRARIES 0 cblas_library)
  get_filename_component(cblas_real "${cblas_library}" REALPATH)
  get_filename_component(cblas_folder "${cblas_real}" DIRECTORY)
  get_filename_component(cblas_folder_name "${cblas_folder}" NAME)
  get_filename_component(cblas_prefix "${cblas_folder}" DIRECTORY)
  list(APPEND cblas_hints "${cblas_prefix}/include")
  list(PREPEND cblas_suffixes "${cblas_folder_name}") # Debian: lib/TRIPLE/openblas-pthread and include/TRIPLE/openblas-pthread
  if(cblas_library MATCHES "openblas")
    list(APPEND cblas_suffixes openblas)
  elseif(cblas_library MATCHES "mkl")
    list(APPEND cblas_suffixes mkl)
  elseif(cblas_library MATCHES "blis")
    list(APPEND cblas_suffixes blis)
  endif()
endif()
find_path(CBLAS_INCLUDE_DIR NAMES cblas.h HINTS ${cblas_hints} PATH_SUFFIXES ${cblas_suffixes})

# Most BLAS libraries contain the C interface; the reference one keeps it in libcblas.
if(BLAS_LIBRARIES AND CBLAS_INCLUDE_DIR)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_INCLUDES "${CBLAS_INCLUDE_DIR}")
  set(cblas_program "#include <cblas.h>\nint main(void) { double x = 1; return (int)cblas_ddot(1, &x, 1, &x, 1); }")
  set(CMAKE_REQUIRED_LIBRARIES ${BLAS_LIBRARIES} m)
  check_c_source_compiles("${cblas_program}" CBLAS_IN_BLAS)
  if(CBLAS_IN_BLAS)
    set(CBLAS_LIBRARIES ${BLAS_LIBRARIES})
  else()
    find_library(CBLAS_LIBRARY NAMES cblas)
    if(CBLAS_LIBRARY)
      set(CMAKE_REQUIRED_LIBRARIES ${CBLAS_LIBRARY} ${BLAS_LIBRARIES} m)
      check_c_source_compiles("${cblas_program}" CBLAS_IN_CBLAS)
      if(CBLAS_IN_CBLAS)
        set(CBLAS_LIBRARIES ${CBLAS_LIBRARY} ${BLAS_LIBRARIES})
      endif()
    endif()
  endif()
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_QUIET)
endif()

find_package_handle_standard_args(CBLAS REQUIRED_VARS CBLAS_LIBRARIES CBLAS_INCLUDE_DIR REASON_FAILURE_MESSAGE
  "Install one (Debian: apt install libopenblas-dev), or name it: -DBLA_VENDOR=..., -DBLAS_LIBRARIES=..., -DCBLAS_INCLUDE_DIR=...")

# The same symbols exist with 32-bit and with 64-bit integers, so only running tells them apart: a count whose low half is
# 2 and which is negative as a whole sums two numbers with 32 bits and none with 64.
if(CBLAS_FOUND AND CBLAS_DETECT_INTEGER AND NOT DEFINED CBLAS_INTEGER_BITS AND NOT CMAKE_CROSSCOMPILING)
  set(cblas_probe "${CMAKE_BINARY_DIR}/CMakeFiles/cblas_integer.c")
  file(WRITE "${cblas_probe}" "#include <stdint.h>
double cblas_dasum(int64_t n, const double *x, int64_t increment);
int main(void) {
    const double x[2] = {1, 1};
    return cblas_dasum(INT64_C(2) - (INT64_C(1) << 32), x, 1) == 2.0 ? 32 : 64;
}
")
  try_run(cblas_run cblas_compiled "${CMAKE_BINARY_DIR}/CMakeFiles" "${cblas_probe}"
          LINK_LIBRARIES ${CBLAS_LIBRARIES} m)
  if(cblas_compiled AND cblas_run MATCHES "^(32|64)$")
    set(CBLAS_INTEGER_BITS ${cblas_run} CACHE INTERNAL "bits of an integer of the CBLAS")
  endif()
endif()

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS INTERFACE IMPORTED)
  set_target_properties(CBLAS::CBLAS PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CBLAS_INCLUDE_DIR}"
                        INTERFACE_LINK_LIBRARIES "${CBLAS_LIBRARIES}")
endif()
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARY)
