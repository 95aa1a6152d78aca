# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# An installed jalloc in the place of one that is built along, which is what
# clients/package/check_subproject.py does.
cmake_minimum_required(VERSION 3.22)
project(snippet C)
include(GNUInstallDirs)
find_package(jalloc REQUIRED)
function(add_subdirectory folder)
  if(NOT folder STREQUAL "jalloc")
    message(FATAL_ERROR "add_subdirectory(${folder})")
  endif()
endfunction()
include_directories(${SNIPPETS})
configure_file(${SNIPPETS}/program.c ${CMAKE_CURRENT_SOURCE_DIR}/program.c COPYONLY)
# snippet
