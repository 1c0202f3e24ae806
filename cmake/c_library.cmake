# SPDX-License-Identifier: MIT
# libkiln.so.0: kiln.h over packs, pipelines and frames, as games ship it. It exports the functions of
# kiln.h and nothing else, has the standard library of C++ inside, and needs zstd, xxHash and libc. Its
# version script names the version of the ABI, so that two libraries of different ones can meet.
# In this tree and inside of an outer project kiln::c is static, and memory is the program's.
target_sources(kiln_component_c INTERFACE $<TARGET_OBJECTS:kiln_c_memory_plain>)
if(NOT KILN_INSTALL)
  return()
endif()

# The sources of these folders once more, for size: what a game ships is at most 1.5 MiB.
set(kiln_shipped_sources)
foreach(library IN ITEMS artifact cache_pack_reader runtime_c runtime_c_arguments runtime_graph runtime_pipeline runtime_vk)
  get_target_property(sources kiln_${library} KILN_SOURCES)
  get_target_property(folder kiln_${library} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(TRANSFORM sources PREPEND ${folder}/)
  list(APPEND kiln_shipped_sources ${sources})
endforeach()
kiln_units(kiln_shipped_units kiln_shipped ${kiln_shipped_sources})
add_library(kiln_shipped STATIC ${kiln_shipped_units} ${PROJECT_SOURCE_DIR}/cmake/package/formatting.cc
                                ${PROJECT_SOURCE_DIR}/cmake/package/plain_terminate.cc)
set_target_properties(kiln_shipped PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                              VISIBILITY_INLINES_HIDDEN ON)
set_source_files_properties(${PROJECT_SOURCE_DIR}/cmake/package/formatting.cc
                            PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
target_compile_options(kiln_shipped PRIVATE -Os -ffunction-sections -fdata-sections)
target_include_directories(kiln_shipped PRIVATE ${PROJECT_BINARY_DIR}/c)
target_link_libraries(
  kiln_shipped
  PRIVATE kiln_settings
          kiln::base
          kiln::cache
          nlohmann_json::nlohmann_json
          Threads::Threads
          fmt::fmt
          zstd::libzstd_shared
          ${CMAKE_DL_LIBS})
target_precompile_headers(kiln_shipped PRIVATE ${kiln_common_headers})

file(STRINGS ${PROJECT_BINARY_DIR}/c/kiln/functions.txt kiln_c_roots)
list(TRANSFORM kiln_c_roots PREPEND -Wl,-u,)
kiln_shared_component(
  c
  EXPORTS
  ${PROJECT_SOURCE_DIR}/cmake/package/c_symbols.map
  OBJECTS
  kiln_c_memory_hooks
  LIBRARIES
  kiln_shipped)
set_target_properties(kiln_shared_c PROPERTIES OUTPUT_NAME kiln)
# The functions of kiln.h are what the linker begins with.
target_link_options(kiln_shared_c PRIVATE -static-libstdc++ -static-libgcc ${kiln_c_roots})
target_include_directories(
  kiln_shared_c INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/c>
                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_include_directories(
  kiln_archive_c INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/c>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
