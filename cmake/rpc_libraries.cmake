# SPDX-License-Identifier: MIT
# gRPC, protobuf and Abseil are linked from their archives: a command that loads them as some seventy
# shared libraries spends most of its time on that (tests/bench/start_bench). OpenSSL, c-ares and the
# others stay shared, so that the system's updates of them reach kiln.
# An outer project may have found them already, and says itself how they are linked.
option(KILN_STATIC_RPC "link gRPC, protobuf and Abseil from their archives" ${PROJECT_IS_TOP_LEVEL})

set(Protobuf_USE_STATIC_LIBS ${KILN_STATIC_RPC})
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)

# kiln_link_archives(target …): these imported shared libraries and all that they need, where an archive
# lies beside them.
function(kiln_link_archives)
  set(queue ${ARGN})
  while(queue)
    list(POP_FRONT queue target)
    if(target IN_LIST seen OR NOT target MATCHES "^(gRPC|absl)::" OR NOT TARGET ${target})
      continue()
    endif()
    list(APPEND seen ${target})
    get_target_property(needs ${target} INTERFACE_LINK_LIBRARIES)
    if(needs)
      list(APPEND queue ${needs})
    endif()
    get_target_property(shared ${target} IMPORTED_LOCATION_NONE)
    string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${shared}")
    if(EXISTS "${archive}")
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_NONE ${archive}
                                                 IMPORTED_SONAME_NONE "")
    endif()
  endwhile()
endfunction()

# For shared libraries of kiln: the archives of Debian have thread-local variables of the program
# (R_X86_64_TPOFF32), which no shared library can have. Names are looked up by the linker, which takes
# shared libraries first.
add_library(kiln_shared_rpc INTERFACE)
target_link_libraries(kiln_shared_rpc INTERFACE grpc++ grpc gpr protobuf absl_synchronization OpenSSL::SSL
                                                OpenSSL::Crypto tomlplusplus)

if(KILN_STATIC_RPC)
  kiln_link_archives(gRPC::grpc++ gRPC::grpc++_reflection)
endif()
