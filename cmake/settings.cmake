# SPDX-License-Identifier: MIT
# kiln_settings: the one place for flags. kiln_generated: the same without warnings, for generated
# sources.
add_library(kiln_generated INTERFACE)
target_compile_features(kiln_generated INTERFACE cxx_std_20)
target_include_directories(kiln_generated INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
# __FILE__ and debug information name files relative to the repository, whatever it is checked out as.
target_compile_options(kiln_generated INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(KILN_SANITIZE)
  target_compile_options(
    kiln_generated INTERFACE -fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer
                             -fno-sanitize-recover=all)
  target_link_options(kiln_generated INTERFACE -fsanitize=${KILN_SANITIZE})
endif()

find_program(KILN_MOLD mold)
if(KILN_MOLD AND PROJECT_IS_TOP_LEVEL)  # who links a static library links with its options
  target_link_options(kiln_generated INTERFACE -fuse-ld=mold)
endif()

add_library(kiln_settings INTERFACE)
target_link_libraries(kiln_settings INTERFACE kiln_generated)
# Members that a designated initialiser leaves out are initialised all the same.
target_compile_options(kiln_settings INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
if(PROJECT_IS_TOP_LEVEL)  # what another compiler finds more must not stop an outer project
  target_compile_options(kiln_settings INTERFACE -Werror)
endif()
# A class of one source may have members of its unnamed namespace; in a unit the source is not the main file,
# and the compiler fears that other units have the class, too.
if(KILN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(kiln_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
# Every library reports its coverage to the fuzzers, and is fast enough for them.
if(KILN_FUZZ)
  target_compile_options(kiln_settings INTERFACE -fsanitize=fuzzer-no-link -O1)
endif()
# What ccache needs to know precompiled headers by their content.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(kiln_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
