# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# What is installed and how others find it (find_package, pkg-config). The install components are libjalloc, libjblas,
# libjblas_blas, libjlapack, libjlapack_lapack, libjbuffer, libjalloc_mpi, libjalloc_fortran, libjalloc_cuda, libjalloc_hip, dev, dev_mpi, dev_fortran, clients and docs; install.sh's component
# "library" is all but the last two. What belongs to libjalloc_mpi has a dev of its own, since it depends on an MPI. A project of which jalloc is
# a part installs it along, for its programs load the shared libraries and its own exported targets name jalloc's.
include(CMakePackageConfigHelpers)

set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/jalloc)
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# jalloc_install_library(NAME DEV): the shared library is a component of its own; the static one, what find_package reads
# and NAME.pc belong to the component DEV.
function(jalloc_install_library name dev)
  install(TARGETS ${name} EXPORT ${name}Targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lib${name} NAMELINK_COMPONENT ${dev})
  install(TARGETS ${name}_static EXPORT ${name}Targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${dev})
  install(EXPORT ${name}Targets NAMESPACE jalloc:: DESTINATION ${cmake_folder} COMPONENT ${dev})
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pc_folder} COMPONENT ${dev})
endfunction()

install(DIRECTORY include/jalloc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN *.h PATTERN *.hpp)
install(FILES include/jalloc.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" PC_PREFIX "${PC_PREFIX}")
jalloc_install_library(jalloc dev)

if(JALLOC_HAVE_JBLAS)
  jalloc_install_library(jblas dev)
  jalloc_install_library(jlapack dev)
  jalloc_install_library(jbuffer dev)

  # The drop-in has the name of another library, so it lies where no loader looks by itself (ldconfig would make
  # libblas.so.3 of it): LD_PRELOAD and Debian's alternatives name it there.
  set(dropin_folder ${CMAKE_INSTALL_LIBDIR}/jblas)
  install(TARGETS jblas_blas jblas_blas64 LIBRARY DESTINATION ${dropin_folder} COMPONENT libjblas_blas)
  install(TARGETS jlapack_lapack jlapack_lapack64 LIBRARY DESTINATION ${dropin_folder} COMPONENT libjlapack_lapack)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/dropin_links)
  foreach(link libblas.so.3:libjblas_blas.so libblas64_.so.3:libjblas_blas64.so)
    string(REPLACE : ";" link ${link})
    list(GET link 0 name)
    list(GET link 1 file)
    file(CREATE_LINK ${file} ${PROJECT_BINARY_DIR}/dropin_links/${name} SYMBOLIC)
    install(FILES ${PROJECT_BINARY_DIR}/dropin_links/${name} DESTINATION ${dropin_folder} COMPONENT libjblas_blas)
  endforeach()
endif()

if(TARGET jalloc_mpi)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE PC_MPI_CFLAGS)
  list(JOIN PC_MPI_CFLAGS " " PC_MPI_CFLAGS)
  list(JOIN MPI_C_LIBRARIES " " PC_MPI_LIBRARIES)
  jalloc_install_library(jalloc_mpi dev_mpi)
endif()

if(TARGET jalloc_fortran)
  jalloc_install_library(jalloc_fortran dev_fortran)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/faces/fortran/modules/ DESTINATION ${JALLOC_FORTRAN_MODULES} COMPONENT dev_fortran
          FILES_MATCHING PATTERN *.mod)
endif()

configure_package_config_file(cmake/jallocConfig.cmake.in jallocConfig.cmake INSTALL_DESTINATION ${cmake_folder}
                              PATH_VARS CMAKE_INSTALL_LIBDIR NO_SET_AND_CHECK_MACRO)
# A minor version may break the interface until 1.0.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(jallocConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/jallocConfig.cmake ${PROJECT_BINARY_DIR}/jallocConfigVersion.cmake
        DESTINATION ${cmake_folder} COMPONENT dev)

# Samples, as a project that finds the installed jalloc.
set(examples_folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/jalloc/examples)
install(DIRECTORY clients/samples/ DESTINATION ${examples_folder} COMPONENT dev
        PATTERN CMakeLists.txt EXCLUDE PATTERN examples.cmake EXCLUDE)
install(FILES clients/samples/examples.cmake DESTINATION ${examples_folder} COMPONENT dev RENAME CMakeLists.txt)

# Not CMAKE_INSTALL_DOCDIR, which is the parent project's where there is one.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/jalloc COMPONENT libjalloc RENAME copyright)
