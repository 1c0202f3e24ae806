# SPDX-License-Identifier: MIT
# `cpack` in the build folder makes the packages kiln, kilnd, libkiln0, libkiln-dev and kiln-doc of Debian 12;
# `cpack -G TGZ` one archive that runs wherever it is unpacked. The components of install.cmake are the
# packages; what Debian wants of each besides is deploy/debian, put in by debian_files.cmake.
set(KILN_MAINTAINER "The kiln authors <kiln@example.org>" CACHE STRING "who answers for the packages")

set(CPACK_PACKAGE_NAME kiln)
set(CPACK_PACKAGE_VENDOR kiln)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${KILN_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shader compiler, cache and runtime for engines")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL kiln kilnd libkiln0 libkiln-dev kiln-doc)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package/debian_files.cmake)
set(CPACK_KILN_SOURCE ${PROJECT_SOURCE_DIR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# kiln_package(name SECTION section SUMMARY text TEXT text [DEPENDS text] [RECOMMENDS text] [CONTROL file…])
macro(kiln_package name)
  cmake_parse_arguments(arg "" "SECTION;SUMMARY;TEXT;DEPENDS;RECOMMENDS;SUGGESTS" "CONTROL" ${ARGN})
  string(TOUPPER ${name} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${arg_SECTION})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${arg_DEPENDS}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${arg_RECOMMENDS}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "${arg_SUGGESTS}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${arg_CONTROL}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${arg_SUMMARY}\n${arg_TEXT}")
endmacro()

set(kiln_same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(kiln_debian ${PROJECT_SOURCE_DIR}/deploy/debian)
set(kiln_control ${PROJECT_BINARY_DIR}/package/control)
# Files of control have fixed names.
foreach(row IN ITEMS kilnd/prerm kilnd/postinst kilnd/postrm libkiln0/triggers)
  string(REPLACE "/" "." file ${row})
  configure_file(${kiln_debian}/${file} ${kiln_control}/${row} COPYONLY)
endforeach()
file(WRITE ${kiln_control}/kilnd/conffiles "/etc/kiln/kilnd.toml\n")
# What programs that link a library need: before 1.0 minor versions do not fit each other.
math(EXPR kiln_next "${PROJECT_VERSION_MINOR} + 1")
set(kiln_shlibs "")
foreach(library IN ITEMS "" -runtime -graph -client -compiler -client-c -compiler-c)
  string(APPEND kiln_shlibs "libkiln${library} ${PROJECT_VERSION_MAJOR} libkiln0 (>= ${PROJECT_VERSION}), libkiln0 "
         "(<< ${PROJECT_VERSION_MAJOR}.${kiln_next})\n")
endforeach()
file(WRITE ${kiln_control}/libkiln0/shlibs "${kiln_shlibs}")

kiln_package(
  kiln
  SECTION
  devel
  SUMMARY
  "command line of the kiln shader compiler"
  TEXT
  "Compiles projects of shaders with all their variants, watches them, packs\nthem for engines and explains what it did. Most verbs ask a daemon, which\nthe first one starts; kilnc compiles without."
  DEPENDS
  "kilnd ${kiln_same}"
  SUGGESTS
  "kiln-doc, mesa-vulkan-drivers")
kiln_package(
  kilnd
  SECTION
  devel
  SUMMARY
  "daemon of the kiln shader compiler"
  TEXT
  "Parses each source once, compiles thousands of variants to SPIR-V, WGSL and\nmetadata, keeps them in a cache and serves editors, build farms and engines.\nUnits for systemd start one for a user or one for the machine."
  SUGGESTS
  "kiln"
  CONTROL
  ${kiln_control}/kilnd/prerm
  ${kiln_control}/kilnd/postinst
  ${kiln_control}/kilnd/postrm
  ${kiln_control}/kilnd/conffiles)
kiln_package(
  libkiln0
  SECTION
  libs
  SUMMARY
  "runtime of kiln for engines"
  TEXT
  "libkiln in C, which reads packs of shaders, builds pipelines of Vulkan before\nthey are drawn with, and plans and executes frames; the same in C++; clients\nof the daemon and the compiler as libraries."
  RECOMMENDS
  "libvulkan1"
  CONTROL
  ${kiln_control}/libkiln0/shlibs
  ${kiln_control}/libkiln0/triggers)
kiln_package(
  libkiln-dev
  SECTION
  libdevel
  SUMMARY
  "development files of kiln for engines"
  TEXT
  "Headers of C and C++, archives, the CMake package kiln with\nkiln_add_materials, pkg-config files and the protocol of the daemon."
  DEPENDS
  "libkiln0 ${kiln_same}, kiln ${kiln_same}, kilnd ${kiln_same}, libvulkan-dev, libzstd-dev, libxxhash-dev"
  SUGGESTS
  "libgrpc++-dev, libprotobuf-dev, libssl-dev, libtomlplusplus-dev, protobuf-compiler-grpc")
kiln_package(
  kiln-doc
  SECTION
  doc
  SUMMARY
  "documents and examples of kiln"
  TEXT
  "Pages for artists, build engineers, engine programmers and operators, the\nlanguage RPL, the specifications, and examples as projects of their own.")
set(CPACK_DEBIAN_KILN-DOC_PACKAGE_ARCHITECTURE all)

# The archive has everything, the demo included, and one folder at the top.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
include(CPack)
