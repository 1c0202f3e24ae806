# SPDX-License-Identifier: MIT
# The installed tree: programs, the libraries of components.cmake with their public headers as the CMake
# package `kiln` and as pkg-config files, manual pages, completions, units and documents.
include(CMakePackageConfigHelpers)
set(kiln_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)
set(kiln_package ${PROJECT_BINARY_DIR}/package)
set(kiln_components runtime graph client compiler c client_c compiler_c)

# Programs, which the package names kiln::kiln, kiln::kilnc, ….
install(
  TARGETS kiln kilnc kilnd kiln_demo kiln_pipeline_child
  EXPORT kiln-programs
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
install(EXPORT kiln-programs NAMESPACE kiln:: DESTINATION ${kiln_cmake_dir} COMPONENT development)

# Libraries and public headers. A row of the list is `component header`, or `component + header`.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/package/headers.txt kiln_header_rows REGEX "^[a-z]")
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                                             cmake/package/headers.txt)
foreach(row IN LISTS kiln_header_rows)
  string(REGEX REPLACE "^[a-z]+ (\\+ )?" "" header "${row}")
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kiln/${folder} COMPONENT development)
endforeach()
foreach(component IN LISTS kiln_components)
  install(
    TARGETS kiln_archive_${component}
    EXPORT kiln-${component}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT kiln-${component} NAMESPACE kiln:: DESTINATION ${kiln_cmake_dir}
          COMPONENT development)
endforeach()
# The files of an export include all whose names begin with theirs, so the form stands in front.
foreach(component IN LISTS kiln_components)
  install(
    TARGETS kiln_shared_${component}
    EXPORT kiln-shared-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development)
  install(EXPORT kiln-shared-${component} NAMESPACE kiln:: DESTINATION ${kiln_cmake_dir}
          COMPONENT development)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/c/kiln/kiln.h ${PROJECT_BINARY_DIR}/c/kiln/client.h
              ${PROJECT_BINARY_DIR}/c/kiln/compiler.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kiln
        COMPONENT development)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/package/kiln-config.cmake.in ${kiln_package}/kiln-config.cmake
  INSTALL_DESTINATION ${kiln_cmake_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${kiln_package}/kiln-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${kiln_package}/kiln-config.cmake ${kiln_package}/kiln-config-version.cmake
              ${PROJECT_SOURCE_DIR}/deploy/cmake/KilnShaders.cmake
        DESTINATION ${kiln_cmake_dir} COMPONENT development)

# pkg-config: the archives hold no references to each other's files, so all that is required is public.
set(kiln_pc_runtime_description "packs and pipelines")
set(kiln_pc_runtime_requires "libzstd libxxhash")
set(kiln_pc_graph_description "render graph")
set(kiln_pc_graph_requires "kiln-runtime = ${PROJECT_VERSION}")
set(kiln_pc_client_description "client of the daemon")
set(kiln_pc_client_requires "kiln-runtime = ${PROJECT_VERSION} protobuf grpc++ libssl libcrypto tomlplusplus")
file(RELATIVE_PATH kiln_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(kiln_pc_compiler_description "kilnc as a function")
set(kiln_pc_compiler_requires "kiln-runtime = ${PROJECT_VERSION}")
foreach(component IN ITEMS runtime graph client compiler)
  set(kiln_pc_description "${kiln_pc_${component}_description}")
  set(kiln_pc_requires "${kiln_pc_${component}_requires}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/package/kiln.pc.in ${kiln_package}/kiln-${component}.pc
                 @ONLY)
  install(FILES ${kiln_package}/kiln-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endforeach()

# In C: what links a shared library has its needs from it.
foreach(row IN ITEMS "kiln-c|kiln|packs, pipelines and frames|" "kiln-client-c|kiln-client-c|client of the daemon|kiln-c"
                     "kiln-compiler-c|kiln-compiler-c|kilnc as a function|kiln-c")
  string(REGEX MATCH "^(.*)\\|(.*)\\|(.*)\\|(.*)$" row "${row}")
  set(kiln_pc_name ${CMAKE_MATCH_1})
  set(kiln_pc_library ${CMAKE_MATCH_2})
  set(kiln_pc_description "${CMAKE_MATCH_3}")
  set(kiln_pc_requires "")
  if(CMAKE_MATCH_4)
    set(kiln_pc_requires "${CMAKE_MATCH_4} = ${PROJECT_VERSION}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/package/kiln-c.pc.in ${kiln_package}/${kiln_pc_name}.pc @ONLY)
  install(FILES ${kiln_package}/${kiln_pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endforeach()

# Manual pages and completions are the programs' own words; they are asked for when installing.
install(
  CODE "
set(kiln \"$<TARGET_FILE:kiln>\")
set(kilnd \"$<TARGET_FILE:kilnd>\")
set(made \"${kiln_package}/made\")
set(man \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}\")
set(data \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")"
  COMPONENT documentation)
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/package/written_by_programs.cmake COMPONENT documentation)

install(FILES ${PROJECT_SOURCE_DIR}/deploy/systemd/system/kilnd.service
        DESTINATION lib/systemd/system COMPONENT programs)
install(FILES ${PROJECT_SOURCE_DIR}/deploy/systemd/user/kilnd.service
              ${PROJECT_SOURCE_DIR}/deploy/systemd/user/kilnd.socket
        DESTINATION lib/systemd/user COMPONENT programs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/proto/kiln DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln/proto
        COMPONENT development FILES_MATCHING PATTERN "*.proto")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT documentation PATTERN "*.py" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/triangle ${PROJECT_SOURCE_DIR}/examples/triangle_c
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT documentation)
