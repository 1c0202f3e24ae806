# SPDX-License-Identifier: MIT
# What engines link: kiln::runtime (packs, pipelines), kiln::graph (render graph), kiln::client (daemon),
# kiln::compiler (kilnc as a function); in C kiln::c (kiln.h: the first two), kiln::client_c (client.h),
# kiln::compiler_c (compiler.h). In this tree and inside of an outer project a component is the static
# libraries that it consists of. Where kiln is installed (install.cmake), it is one archive that holds the
# objects of all of them, and a shared library, too.

# Libraries lie in lib/<triplet>, as Debian has them; an outer project decides itself.
option(KILN_MULTIARCH "install libraries into lib/<triplet>" ${PROJECT_IS_TOP_LEVEL})
if(KILN_MULTIARCH AND CMAKE_LIBRARY_ARCHITECTURE)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
include(GNUInstallDirs)
find_package(OpenSSL REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(zstd REQUIRED)

# The compiled half of fmt is inside of what is installed: no user needs libfmt.
add_library(kiln_formatting OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/package/formatting.cc)
set_target_properties(kiln_formatting PROPERTIES POSITION_INDEPENDENT_CODE ON
                                                 DISABLE_PRECOMPILE_HEADERS ON)
target_link_libraries(kiln_formatting PRIVATE kiln_settings)
# The archive says which version it is of, and the CMake package, which came with the headers, asks for it:
# the linker refuses an archive of another version by this name. Shared libraries have versioned symbols.
set(kiln_version_symbol kiln_library_of_${PROJECT_VERSION_MAJOR}_${PROJECT_VERSION_MINOR})
set_property(TARGET kiln_formatting PROPERTY COMPILE_DEFINITIONS KILN_VERSION_SYMBOL=${kiln_version_symbol})

# kiln_component(name LIBRARIES internal… [OBJECTS library…] [REQUIRES component…]
#                [EXTERNAL library…])
#   LIBRARIES: kiln's own, without the prefix, each with all that it needs but for those of REQUIRES.
#   OBJECTS:   libraries of objects that only the archive has.
#   EXTERNAL:  what a user of the archive links besides.
function(kiln_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;OBJECTS;REQUIRES;EXTERNAL")
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
  list(APPEND arg_LIBRARIES ${arg_OBJECTS})
  list(TRANSFORM arg_LIBRARIES REPLACE "(.+)" "$<TARGET_OBJECTS:kiln_\\1>" OUTPUT_VARIABLE objects)
  list(TRANSFORM arg_REQUIRES REPLACE "kiln::(.+)" "kiln_archive_\\1")
  string(REPLACE "_" "-" file ${name})
  add_library(kiln_archive_${name} STATIC ${objects})
  set_target_properties(kiln_archive_${name} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME kiln-${file}
                                                        LINKER_LANGUAGE CXX)
  target_link_libraries(kiln_archive_${name} INTERFACE ${arg_REQUIRES} ${arg_EXTERNAL})
  if(name STREQUAL "runtime")
    target_link_options(kiln_archive_${name} INTERFACE LINKER:--require-defined=${kiln_version_symbol})
  endif()
  if(KILN_SANITIZE)
    target_link_options(kiln_archive_${name} INTERFACE -fsanitize=${KILN_SANITIZE})
  endif()
  kiln_component_usage(kiln_archive_${name})
endfunction()

# kiln_shared_component(name EXPORTS version-script LIBRARIES target… [OBJECTS target…]
#                       [WHOLE archive…] [PARTS archive…] [REQUIRES component…])
#   Makes kiln_shared_<name>. It has the OBJECTS, and of the LIBRARIES what these refer to, or all of
#   WHOLE; what the version script does not name is hidden. WHOLE and PARTS are linked as files: what
#   users of these archives link besides is not linked with them.
function(kiln_shared_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORTS" "OBJECTS;WHOLE;PARTS;LIBRARIES;REQUIRES")
  list(TRANSFORM arg_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  set(target kiln_shared_${name})
  add_library(${target} SHARED ${objects})
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION
               ${PROJECT_VERSION_MAJOR} LINK_DEPENDS "${arg_EXPORTS}" LIBRARY_OUTPUT_DIRECTORY
               ${PROJECT_BINARY_DIR}/lib)
  list(TRANSFORM arg_REQUIRES PREPEND kiln_shared_)
  if(arg_WHOLE OR arg_PARTS)
    add_dependencies(${target} ${arg_WHOLE} ${arg_PARTS})
  endif()
  set(files ${arg_PARTS})
  list(TRANSFORM arg_WHOLE REPLACE "(.+)" "-Wl,--whole-archive,$<TARGET_FILE:\\1>,--no-whole-archive"
                 OUTPUT_VARIABLE whole)
  list(TRANSFORM files REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  foreach(archive IN LISTS arg_WHOLE arg_PARTS)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:${archive}>)
  endforeach()
  target_link_libraries(
    ${target}
    PUBLIC ${arg_REQUIRES}
    PRIVATE ${whole} ${files} ${arg_LIBRARIES} kiln_settings)
  target_link_options(
    ${target}
    PRIVATE
    -Wl,--version-script=${arg_EXPORTS}
    -Wl,-Bsymbolic-functions
    -Wl,--as-needed
    -Wl,--gc-sections
    -Wl,-z,defs
    -Wl,-z,now)
endfunction()

# kiln_cxx_library(name [REQUIRES component…] LIBRARIES library…): the shared form of a component with
# headers of C++. It exports what these declare; the rest of it is hidden and dropped where nobody uses it.
# LIBRARIES are those of the system.
function(kiln_cxx_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "REQUIRES;LIBRARIES")
  if(NOT KILN_INSTALL)
    return()
  endif()
  set(map ${PROJECT_BINARY_DIR}/package/${name}_symbols.map)
  string(TOUPPER ${name} upper)
  add_custom_command(
    OUTPUT ${map}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/package
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/package/exported_symbols.py
            ${PROJECT_SOURCE_DIR} ${name} KILN_${upper}_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
            ${map} ${CMAKE_NM} $<TARGET_FILE:kiln_archive_${name}>
    DEPENDS kiln_archive_${name} ${PROJECT_SOURCE_DIR}/cmake/package/headers.txt
            ${PROJECT_SOURCE_DIR}/cmake/package/exported_symbols.py
    COMMENT "symbols of kiln-${name}"
    VERBATIM)
  set_source_files_properties(${map} PROPERTIES HEADER_FILE_ONLY ON)
  list(TRANSFORM arg_REQUIRES REPLACE "(.+)" "kiln_archive_\\1" OUTPUT_VARIABLE parts)
  kiln_shared_component(
    ${name}
    EXPORTS
    ${map}
    WHOLE
    kiln_archive_${name}
    PARTS
    ${parts}
    LIBRARIES
    ${arg_LIBRARIES}
    REQUIRES
    ${arg_REQUIRES})
  target_sources(kiln_shared_${name} PRIVATE ${map} ${PROJECT_SOURCE_DIR}/cmake/package/shared.cc)
  # Before 1.0 every minor version has classes of its own.
  set_target_properties(kiln_shared_${name} PROPERTIES OUTPUT_NAME kiln-${name} INSTALL_RPATH $ORIGIN)
  kiln_component_usage(kiln_shared_${name})
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
  cache_pack_reader
  runtime_pipeline
  runtime_vk
  OBJECTS
  formatting
  EXTERNAL
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
  proto
  proto_grpc
  source
  REQUIRES
  runtime
  EXTERNAL
  gRPC::grpc++
  protobuf::libprotobuf
  OpenSSL::SSL
  OpenSSL::Crypto
  tomlplusplus::tomlplusplus)

# kilnc as a function, without what the recipes of a daemon need.
kiln_component(
  compiler
  LIBRARIES
  diag
  driver
  embed
  emit_metadata
  emit_spirv
  emit_wgsl
  front_common
  front_hlsl
  front_hlsl_check
  front_hlsl_lower
  front_hlsl_module
  front_hlsl_sema
  front_hlsl_syntax
  front_wgsl
  front_wgsl_check
  front_wgsl_lower
  front_wgsl_module
  front_wgsl_sema
  front_wgsl_syntax
  front_rpl
  ir
  layout
  resolve
  source
  target
  REQUIRES
  runtime)

kiln_component(c LIBRARIES runtime_c runtime_c_arguments OBJECTS c_memory_plain REQUIRES graph)
kiln_component(client_c LIBRARIES client_c_calls REQUIRES client c)
kiln_component(compiler_c LIBRARIES compiler_c_calls REQUIRES compiler c)

set(kiln_system_libraries zstd::libzstd_shared xxhash Threads::Threads ${CMAKE_DL_LIBS})
kiln_cxx_library(runtime LIBRARIES ${kiln_system_libraries})
kiln_cxx_library(graph REQUIRES runtime LIBRARIES ${kiln_system_libraries})
kiln_cxx_library(compiler REQUIRES runtime LIBRARIES ${kiln_system_libraries})
kiln_cxx_library(client REQUIRES runtime LIBRARIES kiln_shared_rpc ${kiln_system_libraries})
if(NOT PROJECT_IS_TOP_LEVEL)
  target_link_libraries(kiln_client INTERFACE kiln::client_engine)  # kiln::client is the library of its folder
endif()
include(${CMAKE_CURRENT_LIST_DIR}/c_library.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/c_tools.cmake)
