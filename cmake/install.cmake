# SPDX-License-Identifier: MIT
# The installed tree: programs, the libraries of components.cmake with their public headers as the CMake
# package `kiln` and as pkg-config files, manual pages, completions, units and documents.
include(CMakePackageConfigHelpers)
set(kiln_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)
set(kiln_package ${PROJECT_BINARY_DIR}/package)
set(kiln_components runtime graph client compiler c client_c compiler_c)

# Programs, which the package names kiln::kiln, kiln::kilnc, …. Components of the installation are the
# packages of packages.cmake; the demo is in none.
install(
  TARGETS kiln kilnc kiln_pipeline_child
  EXPORT kiln-programs
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT kiln)
install(
  TARGETS kilnd
  EXPORT kiln-programs
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT kilnd)
if(TARGET kiln_demo)
  install(TARGETS kiln_demo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT demo)
endif()
install(EXPORT kiln-programs NAMESPACE kiln:: DESTINATION ${kiln_cmake_dir} COMPONENT libkiln-dev)

# Libraries and public headers. A row of the list is `component header`, or `component + header`.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/package/headers.txt kiln_header_rows REGEX "^[a-z]")
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                                             cmake/package/headers.txt)
foreach(row IN LISTS kiln_header_rows)
  string(REGEX REPLACE "^[a-z]+ (\\+ )?" "" header "${row}")
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kiln/${folder} COMPONENT libkiln-dev)
endforeach()
foreach(component IN LISTS kiln_components)
  install(
    TARGETS kiln_archive_${component}
    EXPORT kiln-${component}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libkiln-dev)
  install(EXPORT kiln-${component} NAMESPACE kiln:: DESTINATION ${kiln_cmake_dir}
          COMPONENT libkiln-dev)
endforeach()
# The files of an export include all whose names begin with theirs, so the form stands in front.
foreach(component IN LISTS kiln_components)
  install(
    TARGETS kiln_shared_${component}
    EXPORT kiln-shared-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libkiln0 NAMELINK_COMPONENT libkiln-dev)
  install(EXPORT kiln-shared-${component} NAMESPACE kiln:: DESTINATION ${kiln_cmake_dir}
          COMPONENT libkiln-dev)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/c/kiln/kiln.h ${PROJECT_BINARY_DIR}/c/kiln/client.h
              ${PROJECT_BINARY_DIR}/c/kiln/compiler.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kiln
        COMPONENT libkiln-dev)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/package/kiln-config.cmake.in ${kiln_package}/kiln-config.cmake
  INSTALL_DESTINATION ${kiln_cmake_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${kiln_package}/kiln-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${kiln_package}/kiln-config.cmake ${kiln_package}/kiln-config-version.cmake
              ${PROJECT_SOURCE_DIR}/deploy/cmake/KilnShaders.cmake
        DESTINATION ${kiln_cmake_dir} COMPONENT libkiln-dev)

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
          COMPONENT libkiln-dev)
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
          COMPONENT libkiln-dev)
endforeach()

# Manual pages and completions are the programs' own words; they are asked for when installing.
foreach(program IN ITEMS kiln kilnd)
  install(
    CODE "
set(program ${program})
set(file \"$<TARGET_FILE:${program}>\")
set(pages \"${PROJECT_SOURCE_DIR}/deploy/debian\")
set(source \"${PROJECT_SOURCE_DIR}\")
set(made \"${kiln_package}/made\")
set(man \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}\")
set(data \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")"
    COMPONENT ${program})
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/package/written_by_programs.cmake COMPONENT ${program})
endforeach()
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/package/system_files.cmake COMPONENT kilnd)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/proto/kiln DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln/proto
        COMPONENT libkiln-dev FILES_MATCHING PATTERN "*.proto")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/editors DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln
        COMPONENT kiln)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT kiln-doc)
# The notices of what is inside, as the machine has them that builds.
install(
  CODE "
file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
execute_process(
  COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/cmake/package/licences.py\" --notices
          \"${PROJECT_SOURCE_DIR}\"
          \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/third-party-notices\"
  COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT kiln-doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT kiln-doc PATTERN "*.py" EXCLUDE)
foreach(example IN ITEMS game live live_c python_client triangle triangle_c)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/${example} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
          COMPONENT kiln-doc USE_SOURCE_PERMISSIONS)
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/packages.cmake)
