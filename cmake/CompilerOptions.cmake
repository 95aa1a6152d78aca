# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Warnings, sanitizers and coverage: the same for every target, so that a finding in a client counts as much as one in
# the library. GCC and Clang are the supported compilers.
if(NOT CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  message(FATAL_ERROR "jalloc needs GCC or Clang, not ${CMAKE_C_COMPILER_ID}")
endif()

add_compile_options("$<$<NOT:$<COMPILE_LANGUAGE:Fortran>>:-Wall;-Wextra;-Wshadow;-Wvla>"
                    "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>"
                    "$<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-Wall;-Wextra>")
# What C libraries have beyond ISO C is asked for in one place, so a user's -D_GNU_SOURCE meets no other.
add_compile_definitions("$<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=1>")
if(JALLOC_WERROR)
  add_compile_options(-Werror)
endif()

if(JALLOC_SANITIZE)
  # Recovering from undefined behaviour would let a test pass over it.
  add_compile_options(-fsanitize=${JALLOC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${JALLOC_SANITIZE})
else()
  add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:LINKER:-z,defs>")
endif()
if(JALLOC_FUZZ) # the fuzzer follows what the library does, not only its target
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(JALLOC_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
