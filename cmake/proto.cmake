# SPDX-License-Identifier: MIT
# kiln_proto: C++ of the .proto files of the current folder, under <build>/proto. Include as
# "proto/kiln/v1/x.pb.h". Files import each other as "kiln/v1/x.proto".

# kiln_proto(name FILES a.proto … [GRPC b.proto …] [DEPS …])
#   FILES: all message files, relative to the current folder, which must be proto/.
#   GRPC:  those of FILES that define services; their x.grpc.pb.h goes into kiln::<name>_grpc.
# Makes kiln::<name> (messages, needs protobuf) and, with GRPC, kiln::<name>_grpc (stubs and services).
function(kiln_proto name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES;GRPC;DEPS")
  find_package(Protobuf REQUIRED)
  set(out ${PROJECT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})

  foreach(file ${arg_FILES})
    string(REGEX REPLACE "\\.proto$" "" stem ${file})
    set(made ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
    add_custom_command(
      OUTPUT ${made}
      COMMAND protobuf::protoc -I ${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${out} ${file}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      DEPENDS ${arg_FILES}
      COMMENT "protoc ${file}"
      VERBATIM)
    list(APPEND message_sources ${made})
  endforeach()
  kiln_generated_library(${name} "${message_sources}" "protobuf::libprotobuf;${arg_DEPS}")

  if(NOT arg_GRPC)
    return()
  endif()
  find_package(gRPC CONFIG REQUIRED)
  foreach(file ${arg_GRPC})
    string(REGEX REPLACE "\\.proto$" "" stem ${file})
    set(made ${out}/${stem}.grpc.pb.cc ${out}/${stem}.grpc.pb.h)
    add_custom_command(
      OUTPUT ${made}
      COMMAND
        protobuf::protoc -I ${CMAKE_CURRENT_SOURCE_DIR} --grpc_out=${out}
        --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${file}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      DEPENDS ${arg_FILES}
      COMMENT "protoc --grpc_out ${file}"
      VERBATIM)
    list(APPEND service_sources ${made})
  endforeach()
  kiln_generated_library(${name}_grpc "${service_sources}" "kiln::${name};gRPC::grpc++")
endfunction()

# Adds a unit that includes all generated sources, so that headers of gRPC and protobuf are read once and
# not sixteen times. protobuf's files have two tables of the same names; headers are read before these are
# given others.
function(kiln_generated_unit list unit)
  set(headers)
  set(files)
  set(number 0)
  foreach(source IN LISTS ${list})
    if(source MATCHES "\\.h$")
      string(APPEND headers "#include \"${source}\"\n")
      continue()
    endif()
    math(EXPR number "${number} + 1")
    string(APPEND files "#define schemas schemas_${number}\n"
                        "#define file_default_instances file_default_instances_${number}\n"
                        "#include \"${source}\"\n"
                        "#undef schemas\n#undef file_default_instances\n")
    set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  file(CONFIGURE OUTPUT ${unit} CONTENT "// Made by cmake/proto.cmake.\n${headers}${files}")
  set_source_files_properties(${unit} PROPERTIES OBJECT_DEPENDS "${${list}}")
  set(${list} ${${list}} ${unit} PARENT_SCOPE)
endfunction()

# Users see the generated headers as system headers and wait for them to be made.
function(kiln_generated_library name sources deps)
  set(target kiln_${name})
  if(KILN_UNITY)
    kiln_generated_unit(sources ${PROJECT_BINARY_DIR}/unity/${target}/all.cc)
  endif()
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY "" POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -w)
  kiln_compile_quickly(${target})
  target_include_directories(${target} SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/proto ${PROJECT_BINARY_DIR})
  target_link_libraries(
    ${target}
    PUBLIC ${deps}
    PRIVATE kiln_generated)
  add_library(kiln::${name} ALIAS ${target})
endfunction()
