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
# precompiled once for all libraries, programs and tests; a file still includes what it uses (the clang presets, which
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

# The same for users of gRPC, whose targets bring flags of their own, with gRPC's headers: these alone
# are some seconds of each source that includes them. Made when the first such target asks, since
# only some targets of an outer project need gRPC.
function(kiln_rpc_headers target headers)
  if(NOT TARGET ${target})
    add_library(${target} OBJECT ${kiln_pch_source})
    get_target_property(independent ${headers} POSITION_INDEPENDENT_CODE)
    if(independent)
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    get_target_property(libraries ${headers} LINK_LIBRARIES)
    target_link_libraries(${target} PRIVATE ${libraries} gRPC::grpc++)
    get_target_property(names ${headers} PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${names} <grpcpp/grpcpp.h>)
  endif()
endfunction()

function(kiln_precompile target headers)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if("${libraries}" MATCHES "gRPC|_grpc|kiln::call_empty")
    if(KILN_UNITY)
      string(REPLACE kiln_ kiln_rpc_ rpc ${headers})
      kiln_rpc_headers(${rpc} ${headers})
      target_precompile_headers(${target} REUSE_FROM ${rpc})
    endif()
  else()
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# Only the files that name them are compiled with the paths of the checkout, so that ccache gives the
# others to every checkout.
function(kiln_define_paths)
  foreach(file ${ARGN})
    file(STRINGS ${file} found REGEX "KILN_(SOURCE|BINARY)_DIR" LIMIT_COUNT 1)
    if(found)
      kiln_give_paths(${file})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
  endforeach()
endfunction()
function(kiln_give_paths)
  set_property(SOURCE ${ARGN} PROPERTY COMPILE_DEFINITIONS KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                       KILN_BINARY_DIR="${PROJECT_BINARY_DIR}")
endfunction()

# With KILN_UNITY the sources of a target are compiled in few units (unity.py), in less time: for
# a tree that is built once, as deploy/run does. Without it an edit costs one source. Sources that are given
# the paths of the checkout (kiln_define_paths) share units among themselves.
function(kiln_units result target)
  set(units)
  set(plain)
  set(located)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(NOT KILN_UNITY OR NOT path MATCHES "\\.cc$" OR NOT EXISTS "${path}")
      list(APPEND units ${source})
    elseif(NOT definitions)
      list(APPEND plain ${path})
    elseif(definitions MATCHES "^KILN_SOURCE_DIR=[^;]*;KILN_BINARY_DIR=[^;]*$")
      list(APPEND located ${path})
    else()
      list(APPEND units ${source})
    endif()
  endforeach()
  foreach(kind IN ITEMS plain located)
    if(NOT ${kind})
      continue()
    endif()
    execute_process(
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/unity.py
              ${PROJECT_BINARY_DIR}/unity/${target}/${kind} ${${kind}}
      OUTPUT_VARIABLE made COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE "\n$" "" made "${made}")
    string(REPLACE "\n" ";" made "${made}")
    list(APPEND units ${made})
    if(kind STREQUAL "located")
      list(FILTER made INCLUDE REGEX "^${PROJECT_BINARY_DIR}/unity/")
      kiln_give_paths(${made})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${${kind}}
                                           ${PROJECT_SOURCE_DIR}/cmake/unity.py)
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

# For code that waits for people, files or the network, for tests, and for stubs of gRPC: in units, which are built
# once, -O1 takes up to a third less time to compile than -O2. What computes stays as it is.
function(kiln_compile_quickly target)
  if(KILN_UNITY AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
  endif()
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
    kiln_units(units ${target} ${arg_SRCS})
    add_library(${target} STATIC ${units})
    set_target_properties(${target} PROPERTIES KILN_SOURCES "${arg_SRCS}")
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

# g++ 12 with precompiled headers takes the buffer of a short string for the end of every string.
function(kiln_forgive_strings target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                             -Wno-stringop-overread)
  endif()
endfunction()

# kiln_program(name SRCS … DEPS …): build/<preset>/<name>
function(kiln_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SRCS;DEPS")
  kiln_units(units ${name} ${arg_SRCS})
  add_executable(${name} ${units})
  target_link_libraries(${name} PRIVATE kiln_settings ${arg_DEPS})
  if(KILN_UNITY)
    # Compiled as libraries are, a program can use what is precompiled for them.
    target_compile_options(${name} PRIVATE -fPIC)
    target_link_libraries(${name} PRIVATE fmt::fmt)
    kiln_precompile(${name} kiln_headers)
    kiln_forgive_strings(${name})
  endif()
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
  kiln_define_paths(${arg_SRCS})
  kiln_units(units ${name} ${arg_SRCS})
  add_executable(${name} ${units})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  set(main GTest::gtest_main)
  if("vulkan" IN_LIST arg_LABELS OR "gpu-real" IN_LIST arg_LABELS)
    set(main kiln::listed_skips_main)  # what is skipped there is in tests/skips.txt
  endif()
  target_link_libraries(${name} PRIVATE kiln_settings ${arg_DEPS} fmt::fmt GTest::gmock ${main})
  kiln_compile_quickly(${name})
  kiln_precompile(${name} kiln_test_headers)
  kiln_forgive_strings(${name})
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
