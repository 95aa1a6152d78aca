# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#[=======================================================================[
Finds a BLAS that has the C interface: OpenBLAS where there is one, else any that FindBLAS knows. BLA_VENDOR chooses
another, as it does for FindBLAS (FLAME is BLIS, Intel10_64lp MKL, Generic whatever libblas is), BLAS_LIBRARIES names
the files, CBLAS_INCLUDE_DIR the folder of the header. MKL calls it mkl_cblas.h, Debian the reference BLAS's
cblas-netlib.h: then a cblas.h that includes it is written into the build folder.

  CBLAS_FOUND        whether the header compiles and cblas_dgemm links
  CBLAS_REASON       if not: what is missing
  CBLAS::CBLAS       what to link
  CBLAS_HEADER       the header's path

For benchmarks and tests: the libraries are linked with none.
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

# The header of the library found, not of another that is installed too: from PREFIX/lib/FOLDER to PREFIX/include/FOLDER
# and up. Nothing of this is kept in the cache, so that another BLA_VENDOR finds another header.
set(cblas_names cblas.h)
set(cblas_hints "")
set(cblas_suffixes cblas)
if(BLAS_LIBRARIES)
  set(cblas_library ${BLAS_LIBRARIES})
  list(FILTER cblas_library EXCLUDE REGEX "^-") # the linker's options around static ones
  list(GET cblas_library 0 cblas_library)
  get_filename_component(cblas_folder "${cblas_library}" REALPATH)
  get_filename_component(cblas_folder "${cblas_folder}" DIRECTORY)
  if(cblas_library MATCHES "mkl_")
    set(cblas_names mkl_cblas.h)
    list(APPEND cblas_suffixes mkl)
    list(APPEND cblas_hints "$ENV{MKLROOT}/include")
  elseif(cblas_library MATCHES "openblas")
    list(APPEND cblas_suffixes openblas)
  elseif(cblas_library MATCHES "blis")
    list(APPEND cblas_suffixes blis)
    if(cblas_library MATCHES "blis64")
      set(cblas_names cblas64.h cblas.h)
    endif()
  elseif(cblas_folder MATCHES "/blas$")
    set(cblas_names cblas-netlib.h cblas.h)
  endif()
  string(REGEX REPLACE "^(.*/)lib(32|64)?(/.*|)$" "\\1include\\3" cblas_folder "${cblas_folder}")
  while(cblas_folder MATCHES "/include")
    list(APPEND cblas_hints "${cblas_folder}")
    get_filename_component(cblas_folder "${cblas_folder}" DIRECTORY)
  endwhile()
endif()
if(NOT CBLAS_INCLUDE_DIR)
  unset(CBLAS_INCLUDE_DIR CACHE) # NOTFOUND of another time
  find_path(CBLAS_INCLUDE_DIR NAMES ${cblas_names} HINTS ${cblas_hints} PATH_SUFFIXES ${cblas_suffixes} NO_CACHE)
endif()
string(REGEX REPLACE "/+$" "" CBLAS_INCLUDE_DIR "${CBLAS_INCLUDE_DIR}")
set(CBLAS_HEADER "")
foreach(name IN LISTS cblas_names)
  if(NOT CBLAS_HEADER AND EXISTS "${CBLAS_INCLUDE_DIR}/${name}")
    set(CBLAS_HEADER "${CBLAS_INCLUDE_DIR}/${name}")
  endif()
endforeach()
set(cblas_include_dirs "${CBLAS_INCLUDE_DIR}")
if(CBLAS_HEADER AND NOT CBLAS_HEADER MATCHES "/cblas.h$")
  list(PREPEND cblas_include_dirs "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cblas")
  set(cblas_define "")
  if(BLAS_LIBRARIES MATCHES "mkl_intel_ilp64")
    set(cblas_define "#define MKL_ILP64\n")
  endif()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cblas/cblas.h"
       CONTENT "${cblas_define}#include \"${CBLAS_HEADER}\"\n")
endif()

# What was found out about another library is forgotten.
if(NOT "${CBLAS_CHECKED}" STREQUAL "${BLAS_LIBRARIES};${CBLAS_HEADER}")
  unset(CBLAS_HEADER_COMPILES CACHE)
  unset(CBLAS_IN_BLAS CACHE)
  unset(CBLAS_IN_CBLAS CACHE)
  set(CBLAS_CHECKED "${BLAS_LIBRARIES};${CBLAS_HEADER}" CACHE INTERNAL "what the checks were made with")
endif()

# Most BLAS libraries contain the C interface; the reference one may keep it in libcblas.
unset(CBLAS_LIBRARIES)
if(BLAS_LIBRARIES AND CBLAS_HEADER)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_INCLUDES "${cblas_include_dirs}")
  check_c_source_compiles("#include <cblas.h>\nint main(void) { return CblasNoTrans == 0; }" CBLAS_HEADER_COMPILES)
  set(cblas_program "#include <cblas.h>\nint main(void) { double x = 1;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1, &x, 1, &x, 1, 0, &x, 1); return 0; }")
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

set(CBLAS_REASON "")
list(JOIN cblas_names " or " cblas_names)
if(NOT BLAS_LIBRARIES)
  set(CBLAS_REASON "no BLAS library was found")
  if(BLA_VENDOR OR DEFINED ENV{BLA_VENDOR})
    string(APPEND CBLAS_REASON " with BLA_VENDOR=${BLA_VENDOR}$ENV{BLA_VENDOR}")
  endif()
elseif(NOT CBLAS_HEADER)
  set(CBLAS_REASON "${cblas_library} was found, but not its ${cblas_names}; -DCBLAS_INCLUDE_DIR=... says where it is")
elseif(NOT CBLAS_HEADER_COMPILES)
  set(CBLAS_REASON "${CBLAS_HEADER} does not compile (CMakeFiles/CMakeError.log or CMakeConfigureLog.yaml says why)")
elseif(NOT CBLAS_LIBRARIES)
  set(CBLAS_REASON "${cblas_library} has no cblas_dgemm that links, and there is no libcblas that has")
endif()
find_package_handle_standard_args(CBLAS REQUIRED_VARS CBLAS_LIBRARIES CBLAS_HEADER
  REASON_FAILURE_MESSAGE "${CBLAS_REASON}")

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS INTERFACE IMPORTED)
  set_target_properties(CBLAS::CBLAS PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${cblas_include_dirs}"
                        INTERFACE_LINK_LIBRARIES "${CBLAS_LIBRARIES}")
endif()
mark_as_advanced(CBLAS_LIBRARY)
