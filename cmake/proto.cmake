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

# Users see the generated headers as system headers and wait for them to be made.
function(kiln_generated_library name sources deps)
  set(target kiln_${name})
  if(KILN_UNITY)  # gRPC's and protobuf's headers are read twice, not sixteen times
    set(unit ${PROJECT_BINARY_DIR}/unity/${target}/all.cc)
    set(made ${sources})
    list(FILTER made INCLUDE REGEX "\\.cc$")
    set_source_files_properties(${made} PROPERTIES HEADER_FILE_ONLY ON)
    set_source_files_properties(${unit} PROPERTIES OBJECT_DEPENDS "${sources}")
    list(TRANSFORM made REPLACE "(.+)" "#include \"\\1\"\n")
    string(CONCAT made ${made})
    file(CONFIGURE OUTPUT ${unit} CONTENT "${made}")
    list(APPEND sources ${unit})
  endif()
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY "" POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/proto ${PROJECT_BINARY_DIR})
  target_link_libraries(
    ${target}
    PUBLIC ${deps}
    PRIVATE kiln_generated)
  add_library(kiln::${name} ALIAS ${target})
endfunction()
