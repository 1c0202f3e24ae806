# SPDX-License-Identifier: MIT
# kiln_library, kiln_program, kiln_test, kiln_fuzz: the only ways to make a target of kiln's sources.

# compiler/base -> base, compiler/front/rpl -> front_rpl, cache/sqlite -> cache_sqlite
function(kiln_folder_name result)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "^compiler/" "" path ${path})
  string(REPLACE "/" "_" path ${path})
  set(${result} ${path} PARENT_SCOPE)
endfunction()

# Headers of the standard library that nearly every file includes, and of GoogleTest for tests, are
# precompiled once for all targets; a file still includes what it uses (the clang presets, which
# precompile nothing, and the `headers` test find what is missing).
set(kiln_common_headers
    <algorithm> <array> <bit> <chrono> <cstdint> <cstring> <functional> <map> <memory> <optional> <set>
    <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
set(kiln_pch_source ${PROJECT_SOURCE_DIR}/cmake/precompiled.cc)
add_library(kiln_headers OBJECT ${kiln_pch_source})
set_target_properties(kiln_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(kiln_headers PRIVATE kiln_settings fmt::fmt)
target_precompile_headers(kiln_headers PRIVATE ${kiln_common_headers})
if(KILN_TESTS)
  add_library(kiln_test_headers OBJECT ${kiln_pch_source})
  target_link_libraries(kiln_test_headers PRIVATE kiln_settings fmt::fmt GTest::gmock)
  target_precompile_headers(kiln_test_headers PRIVATE ${kiln_common_headers} <gmock/gmock.h>
                            <gtest/gtest.h>)
endif()

# Not for users of gRPC, whose targets bring flags of their own.
function(kiln_precompile target headers)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(NOT "${libraries}" MATCHES "gRPC|_grpc")
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# Only the files that name them are compiled with the paths of the checkout, so that ccache gives the
# others to every checkout.
function(kiln_define_paths)
  foreach(file ${ARGN})
    file(STRINGS ${file} found REGEX "KILN_(SOURCE|BINARY)_DIR" LIMIT_COUNT 1)
    if(found)
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS
                                                  KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                  KILN_BINARY_DIR="${PROJECT_BINARY_DIR}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
  endforeach()
endfunction()

# kiln_library([NAME name] SRCS a.cc b.cc [DEPS public…] [PRIVATE_DEPS …])
# The library of the current folder: target kiln_<folder>, alias kiln::<folder>. NAME replaces <folder>.
# Without SRCS it is an interface library.
function(kiln_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SRCS;DEPS;PRIVATE_DEPS")
  if(NOT arg_NAME)
    kiln_folder_name(arg_NAME)
  endif()
  set(target kiln_${arg_NAME})
  if(arg_SRCS)
    add_library(${target} STATIC ${arg_SRCS})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(
      ${target}
      PUBLIC ${arg_DEPS}
      PRIVATE kiln_settings fmt::fmt ${arg_PRIVATE_DEPS})
    kiln_precompile(${target} kiln_headers)
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_DEPS})
  endif()
  add_library(kiln::${arg_NAME} ALIAS ${target})
endfunction()

# kiln_program(name SRCS … DEPS …): build/<preset>/<name>
function(kiln_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SRCS;DEPS")
  add_executable(${name} ${arg_SRCS})
  target_link_libraries(${name} PRIVATE kiln_settings ${arg_DEPS})
endfunction()

# kiln_test(name SRCS … DEPS … [TIMEOUT seconds] [LABELS …] [ENVIRONMENT A=1 B=2 …]): a GoogleTest
# program; every TEST becomes one ctest entry named <name>.<Subject>.<Case>. KILN_SOURCE_DIR is defined
# for finding test data. With the label vulkan or gpu-real, skips are judged by tests/skips.txt.
function(kiln_test name)
  if(NOT KILN_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SRCS;DEPS;LABELS;ENVIRONMENT")
  # Ends what hangs: far longer than anything takes as one of eight on one core.
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  add_executable(${name} ${arg_SRCS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  kiln_define_paths(${arg_SRCS})
  set(main GTest::gtest_main)
  if("vulkan" IN_LIST arg_LABELS OR "gpu-real" IN_LIST arg_LABELS)
    set(main kiln::listed_skips_main)  # what is skipped there is in tests/skips.txt
  endif()
  target_link_libraries(${name} PRIVATE kiln_settings ${arg_DEPS} fmt::fmt GTest::gmock ${main})
  kiln_precompile(${name} kiln_test_headers)
  # g++ 12 with precompiled headers takes the buffer of a short string for the end of every string.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict
                                                   -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  gtest_discover_tests(
    ${name}
    TEST_PREFIX ${name}.
    NO_PRETTY_VALUES  # rows have names; printed structs would show addresses
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  if(arg_ENVIRONMENT)
    # gtest_discover_tests takes no lists as values, so ctest sets this after the discovery.
    set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_environment.cmake)
    file(WRITE ${script}
         "if(${name}_TESTS)\n"
         "set_tests_properties(\${${name}_TESTS} PROPERTIES ENVIRONMENT \"${arg_ENVIRONMENT}\")\n"
         "endif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
  endif()
endfunction()

# kiln_fuzz(name SRCS … DEPS … [CORPUS folder…] [DICTIONARY file]): a libFuzzer program (fuzz preset
# only); its ctest entry runs a fixed number of executions over the corpus and keeps what it finds.
function(kiln_fuzz name)
  if(NOT KILN_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DICTIONARY" "SRCS;DEPS;CORPUS")
  if(arg_DICTIONARY)
    set(arg_DICTIONARY -dict=${arg_DICTIONARY})
  endif()
  add_executable(${name} ${arg_SRCS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE kiln_settings ${arg_DEPS})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${name}_found)
  file(MAKE_DIRECTORY ${found})
  add_test(NAME ${name} COMMAND ${name} -runs=20000 -seed=1 -timeout=10 ${arg_DICTIONARY}
                                ${found} ${arg_CORPUS})
endfunction()
