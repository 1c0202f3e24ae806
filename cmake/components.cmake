# SPDX-License-Identifier: MIT
# What engines link: kiln::runtime (packs, pipelines), kiln::graph (render graph), kiln::client (daemon).
# In this tree and inside of an outer project a component is the static libraries that it consists of.
# Where kiln is installed (install.cmake), it is one archive that holds the objects of all of them.

include(GNUInstallDirs)
find_package(OpenSSL REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(zstd REQUIRED)

# kiln_component(name LIBRARIES internal… [REQUIRES component…] [EXTERNAL library…])
#   LIBRARIES: kiln's own, without the prefix, each with all that it needs but for those of REQUIRES.
#   EXTERNAL:  what a user of the archive links besides.
function(kiln_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;REQUIRES;EXTERNAL")
  list(TRANSFORM arg_REQUIRES PREPEND kiln::)
  if(NOT TARGET kiln::${name})  # the library of a folder may have the name already
    add_library(kiln_component_${name} INTERFACE)
    list(TRANSFORM arg_LIBRARIES PREPEND kiln:: OUTPUT_VARIABLE libraries)
    target_link_libraries(kiln_component_${name} INTERFACE ${libraries} ${arg_REQUIRES})
    kiln_component_usage(kiln_component_${name})
    add_library(kiln::${name} ALIAS kiln_component_${name})
  endif()
  if(NOT KILN_INSTALL)
    return()
  endif()
  list(TRANSFORM arg_LIBRARIES REPLACE "(.+)" "$<TARGET_OBJECTS:kiln_\\1>" OUTPUT_VARIABLE objects)
  list(TRANSFORM arg_REQUIRES REPLACE "kiln::(.+)" "kiln_archive_\\1")
  add_library(kiln_archive_${name} STATIC ${objects})
  set_target_properties(kiln_archive_${name} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME kiln-${name}
                                                        LINKER_LANGUAGE CXX)
  target_link_libraries(kiln_archive_${name} INTERFACE ${arg_REQUIRES} ${arg_EXTERNAL})
  if(KILN_SANITIZE)
    target_link_options(kiln_archive_${name} INTERFACE -fsanitize=${KILN_SANITIZE})
  endif()
  kiln_component_usage(kiln_archive_${name})
endfunction()

# Headers are named as in the repository, "runtime/pipeline/pipelines.h", wherever they lie.
function(kiln_component_usage target)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/kiln>)
endfunction()

kiln_component(
  runtime
  LIBRARIES
  artifact
  base
  cache
  cache_pack
  proto
  runtime_pipeline
  runtime_vk
  EXTERNAL
  protobuf::libprotobuf
  fmt::fmt
  OpenSSL::Crypto
  zstd::libzstd_shared
  xxhash
  Threads::Threads
  ${CMAKE_DL_LIBS})

kiln_component(graph LIBRARIES runtime_graph REQUIRES runtime)

kiln_component(
  client
  client_engine
  LIBRARIES
  cache_upstream
  client
  client_engine
  client_project
  diag
  proto_grpc
  source
  REQUIRES
  runtime
  EXTERNAL
  gRPC::grpc++
  OpenSSL::SSL
  tomlplusplus::tomlplusplus)
