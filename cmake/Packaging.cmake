# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Debian packages of what is installed (Install.cmake): cpack -G DEB in the build folder.
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
set(CPACK_COMPONENTS_ALL)

# jalloc_package(COMPONENT NAME SECTION [FIELD VALUE]...): a package of what is installed as the component, with fields such as
# DEPENDS of what dpkg-shlibdeps cannot know. A macro, since CPack reads variables.
macro(jalloc_package component name section)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER CPACK_DEBIAN_${component}_PACKAGE package)
  set(${package}_NAME ${name})
  set(${package}_SECTION ${section})
  set(fields ${ARGN})
  while(fields)
    list(POP_FRONT fields field value)
    set(${package}_${field} "${value}")
  endwhile()
endmacro()

# jalloc_package_library(NAME [FIELD VALUE]...): a shared library, which needs those that were packaged by this before it.
set(runtime)
macro(jalloc_package_library name)
  jalloc_package(lib${name} lib${name}${JALLOC_SOVERSION} libs DEPENDS "${runtime}" ${ARGN})
  string(JOIN ", " runtime ${runtime} "lib${name}${JALLOC_SOVERSION} (= ${PROJECT_VERSION})")
endmacro()

# jalloc_package_face(NAME [FIELD VALUE]...): a library that only its own users need, and what they compile with.
macro(jalloc_package_face name)
  jalloc_package(libjalloc_${name} libjalloc-${name}${JALLOC_SOVERSION} libs DEPENDS "${runtime}")
  jalloc_package(dev_${name} libjalloc-${name}-dev libdevel DEPENDS
                 "libjalloc-dev (= ${PROJECT_VERSION}), libjalloc-${name}${JALLOC_SOVERSION} (= ${PROJECT_VERSION})" ${ARGN})
endmacro()

jalloc_package_library(jalloc)
set(tools_runtime)
if(JALLOC_HAVE_JBLAS)
  jalloc_package_library(jblas RECOMMENDS libopenblas0) # the CBLAS that it loads
  jalloc_package_library(jlapack)
  jalloc_package_library(jbuffer)

  # The drop-in is one of the libraries that Debian's alternatives choose libblas.so.3 from: before the reference's, which
  # has the priority 10, and after OpenBLAS's, 100, so that who installs both chooses by himself.
  set(DROPIN_PATH ${CPACK_PACKAGING_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/jblas/libblas.so.3)
  set(DROPIN_LINK /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libblas.so.3)
  set(DROPIN_NAME libblas.so.3-${CMAKE_LIBRARY_ARCHITECTURE})
  set(DROPIN_PRIORITY 40)
  foreach(script postinst prerm)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/dropin.${script}.in ${PROJECT_BINARY_DIR}/deb/${script} @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
  jalloc_package(libjblas_blas libjblas-blas libs PROVIDES libblas.so.3)
  set(CPACK_DEBIAN_LIBJBLAS_BLAS_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/deb/postinst ${PROJECT_BINARY_DIR}/deb/prerm)
  # The one with LAPACK's names has a part of them, so it is no alternative of liblapack.so.3: it is preloaded, by jblas-run,
  # which comes with it. The other one comes only where it is asked for, since it becomes the system's BLAS.
  jalloc_package(libjlapack_lapack libjlapack-lapack libs)
  set(tools_runtime ", libjlapack-lapack (= ${PROJECT_VERSION})")
endif()
if(TARGET jalloc_mpi)
  jalloc_package_face(mpi RECOMMENDS "libopenmpi-dev, libscalapack-openmpi-dev")
endif()
if(TARGET jalloc_fortran)
  jalloc_package_face(fortran)
endif()
foreach(module ${JALLOC_MODULES}) # of their own, because they depend on what a vendor provides
  string(REPLACE jalloc_ "" kind ${module})
  jalloc_package(lib${module} libjalloc${JALLOC_SOVERSION}-${kind} libs DEPENDS "libjalloc${JALLOC_SOVERSION} (= ${PROJECT_VERSION})")
endforeach()
jalloc_package(dev libjalloc-dev libdevel DEPENDS "${runtime}")
if(JALLOC_BUILD_TOOLS)
  jalloc_package(clients jalloc-tools utils DEPENDS "${runtime}${tools_runtime}" SUGGESTS libjblas-blas)
endif()
include(CPack)
