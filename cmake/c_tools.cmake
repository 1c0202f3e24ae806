# SPDX-License-Identifier: MIT
# libkiln-client-c.so.0 and libkiln-compiler-c.so.0: client.h and compiler.h over libkiln, which they see
# as every program does. They are libraries of their own, so that what ships with a game needs neither
# gRPC nor a compiler. Inside are the C++ components that they are the C of, with all of it hidden.
if(NOT KILN_INSTALL)
  return()
endif()

# kiln_c_tool(name PARTS archive… LIBRARIES library…)
function(kiln_c_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PARTS;LIBRARIES")
  file(STRINGS ${PROJECT_BINARY_DIR}/c/kiln/${name}_functions.txt roots)
  list(TRANSFORM roots PREPEND -Wl,-u,)
  string(TOUPPER ${name} upper)
  set(map ${PROJECT_BINARY_DIR}/package/${name}_c_symbols.map)
  file(
    CONFIGURE
    OUTPUT
    ${map}
    CONTENT
    "KILN_@upper@_@PROJECT_VERSION_MAJOR@ {\n  global:\n    kiln_@name@_*;\n  local:\n    *;\n};\n"
    @ONLY)
  kiln_shared_component(
    ${name}_c
    EXPORTS
    ${map}
    PARTS
    kiln_${name}_c_calls
    kiln_runtime_c_arguments
    ${arg_PARTS}
    LIBRARIES
    ${arg_LIBRARIES}
    REQUIRES
    c)
  target_sources(kiln_shared_${name}_c PRIVATE ${PROJECT_SOURCE_DIR}/cmake/package/shared.cc)
  target_link_options(kiln_shared_${name}_c PRIVATE ${roots})
  set_target_properties(kiln_shared_${name}_c PROPERTIES OUTPUT_NAME kiln-${name}-c INSTALL_RPATH $ORIGIN)
endfunction()

kiln_c_tool(
  client
  PARTS
  kiln_archive_client
  kiln_archive_runtime
  LIBRARIES
  kiln_shared_rpc
  ${kiln_system_libraries})
kiln_c_tool(
  compiler
  PARTS
  kiln_archive_compiler
  kiln_archive_runtime
  LIBRARIES
  ${kiln_system_libraries})
