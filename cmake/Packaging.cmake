# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# What is installed, how others find it (find_package, pkg-config), and the Debian packages. The install components are
# libjalloc, libjblas, libjalloc_mpi, libjalloc_cuda, libjalloc_hip, dev, dev_mpi, clients and docs; install.sh's component
# "library" is all but the last two. What belongs to libjalloc_mpi has a dev of its own, since it depends on an MPI.
include(CMakePackageConfigHelpers)

set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/jalloc)
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# jalloc_install_library(NAME EXPORT STATIC_EXPORT DEV): the shared library is a component of its own; the static one, what
# find_package reads and NAME.pc belong to the component DEV.
function(jalloc_install_library name export static_export dev)
  install(TARGETS ${name} EXPORT ${export}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lib${name} NAMELINK_COMPONENT ${dev})
  install(TARGETS ${name}_static EXPORT ${static_export} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${dev})
  set(exports ${export} ${static_export})
  list(REMOVE_DUPLICATES exports)
  foreach(each ${exports})
    install(EXPORT ${each} NAMESPACE jalloc:: DESTINATION ${cmake_folder} COMPONENT ${dev})
  endforeach()
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pc_folder} COMPONENT ${dev})
endfunction()

install(DIRECTORY include/jalloc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN *.h PATTERN *.hpp)

file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" PC_PREFIX "${PC_PREFIX}")
jalloc_install_library(jalloc jallocTargets jallocTargets dev)

if(JALLOC_HAVE_JBLAS)
  install(FILES cmake/FindCBLAS.cmake DESTINATION ${cmake_folder} COMPONENT dev)
  list(JOIN CBLAS_LIBRARIES " " PC_CBLAS)
  jalloc_install_library(jblas jblasTargets jblasStaticTargets dev)
endif()

if(TARGET jalloc_mpi)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE PC_MPI_CFLAGS)
  list(JOIN PC_MPI_CFLAGS " " PC_MPI_CFLAGS)
  list(JOIN MPI_C_LIBRARIES " " PC_MPI_LIBRARIES)
  jalloc_install_library(jalloc_mpi jalloc_mpiTargets jalloc_mpiStaticTargets dev_mpi)
endif()

configure_package_config_file(cmake/jallocConfig.cmake.in jallocConfig.cmake INSTALL_DESTINATION ${cmake_folder}
                              NO_SET_AND_CHECK_MACRO)
# A minor version may break the interface until 1.0.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(jallocConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/jallocConfig.cmake ${PROJECT_BINARY_DIR}/jallocConfigVersion.cmake
        DESTINATION ${cmake_folder} COMPONENT dev)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT libjalloc RENAME copyright)

# Debian packages: cpack -G DEB in the build folder.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME jalloc)
set(CPACK_PACKAGE_VENDOR "the jalloc authors")
set(CPACK_PACKAGE_CONTACT "the jalloc authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(DPKG_SHLIBDEPS)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/library)
endif()
set(CPACK_COMPONENTS_ALL libjalloc dev)
set(runtime "libjalloc${JALLOC_SOVERSION} (= ${PROJECT_VERSION})") # what dpkg-shlibdeps cannot know: our own
set(CPACK_DEBIAN_LIBJALLOC_PACKAGE_NAME libjalloc${JALLOC_SOVERSION})
set(CPACK_DEBIAN_LIBJALLOC_PACKAGE_SECTION libs)
if(JALLOC_HAVE_JBLAS)
  list(APPEND CPACK_COMPONENTS_ALL libjblas)
  set(CPACK_DEBIAN_LIBJBLAS_PACKAGE_NAME libjblas${JALLOC_SOVERSION})
  set(CPACK_DEBIAN_LIBJBLAS_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIBJBLAS_PACKAGE_DEPENDS "${runtime}")
  string(APPEND runtime ", libjblas${JALLOC_SOVERSION} (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libopenblas-dev")
endif()
if(TARGET jalloc_mpi)
  list(APPEND CPACK_COMPONENTS_ALL libjalloc_mpi dev_mpi)
  set(CPACK_DEBIAN_LIBJALLOC_MPI_PACKAGE_NAME libjalloc-mpi${JALLOC_SOVERSION})
  set(CPACK_DEBIAN_LIBJALLOC_MPI_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIBJALLOC_MPI_PACKAGE_DEPENDS "${runtime}")
  set(CPACK_DEBIAN_DEV_MPI_PACKAGE_NAME libjalloc-mpi-dev)
  set(CPACK_DEBIAN_DEV_MPI_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_DEV_MPI_PACKAGE_DEPENDS
      "libjalloc-dev (= ${PROJECT_VERSION}), libjalloc-mpi${JALLOC_SOVERSION} (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_DEV_MPI_PACKAGE_RECOMMENDS "libopenmpi-dev, libscalapack-openmpi-dev")
endif()
foreach(module ${JALLOC_MODULES}) # of their own, because they depend on what a vendor provides
  string(TOUPPER ${module} MODULE)
  string(REPLACE jalloc_ "" kind ${module})
  list(APPEND CPACK_COMPONENTS_ALL lib${module})
  set(CPACK_DEBIAN_LIB${MODULE}_PACKAGE_NAME libjalloc${JALLOC_SOVERSION}-${kind})
  set(CPACK_DEBIAN_LIB${MODULE}_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIB${MODULE}_PACKAGE_DEPENDS "libjalloc${JALLOC_SOVERSION} (= ${PROJECT_VERSION})")
endforeach()
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libjalloc-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${runtime}")
if(JALLOC_BUILD_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL clients)
  set(CPACK_DEBIAN_CLIENTS_PACKAGE_NAME jalloc-tools)
  set(CPACK_DEBIAN_CLIENTS_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_CLIENTS_PACKAGE_DEPENDS "${runtime}")
endif()
include(CPack)
