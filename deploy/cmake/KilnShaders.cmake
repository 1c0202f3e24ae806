# SPDX-License-Identifier: MIT
# Shaders of a kiln.toml as part of a CMake build: built when the manifest or one of its sources
# changed, and only then.
#
#   include(KilnShaders)
#   kiln_shaders(game_shaders MANIFEST kiln.toml OUT ${CMAKE_BINARY_DIR}/shaders)
#   kiln_shaders(game_pack MANIFEST kiln.toml PACK ${CMAKE_BINARY_DIR}/game.kpack)
#   add_dependencies(game game_shaders)
#
#   kiln_add_materials(game MANIFEST kiln.toml PACK game.kpack DESTINATION share/game)
#
# The last one makes a pack beside the program `game`, whenever that is built, and installs it with it.
# PROGRAMS names or globs instead of all; REPORT FORMAT:FILE; KILN_EXECUTABLE is found in PATH
# unless it is set. The target is part of `all`.
find_program(KILN_EXECUTABLE kiln DOC "The command line of kiln")

function(kiln_shaders target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;OUT;PACK" "PROGRAMS;REPORT")
  if(NOT arg_MANIFEST OR (NOT arg_OUT AND NOT arg_PACK))
    message(FATAL_ERROR "kiln_shaders(${target}): MANIFEST, and OUT or PACK, are needed")
  endif()
  if(NOT KILN_EXECUTABLE)
    message(FATAL_ERROR "kiln_shaders(${target}): there is no kiln; set KILN_EXECUTABLE")
  endif()
  get_filename_component(manifest "${arg_MANIFEST}" ABSOLUTE)
  set(depfile "${CMAKE_CURRENT_BINARY_DIR}/${target}.d")
  set(command "${KILN_EXECUTABLE}" build ${arg_PROGRAMS} --manifest "${manifest}" --deps "${depfile}")
  if(arg_OUT)
    set(product "${arg_OUT}/index.json")
    list(APPEND command --out "${arg_OUT}")
  else()
    set(product "${arg_PACK}")
  endif()
  if(arg_PACK)
    list(APPEND command --pack "${arg_PACK}")
  endif()
  foreach(report IN LISTS arg_REPORT)
    list(APPEND command --report "${report}")
  endforeach()
  list(APPEND command --depfile-target "${product}")
  # A product that did not change keeps its time; without a new one it would be made again for ever.
  add_custom_command(
    OUTPUT "${product}"
    COMMAND ${command}
    COMMAND "${CMAKE_COMMAND}" -E touch "${product}"
    DEPENDS "${manifest}"
    DEPFILE "${depfile}"
    COMMENT "kiln build ${arg_MANIFEST}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${product}")
endfunction()

# kiln_add_materials(program MANIFEST file PACK name [DESTINATION folder] [PROGRAMS name…])
#   PACK:        the file's name, in the folder that the program is built in.
#   DESTINATION: where `install` puts it; without one it is not installed.
function(kiln_add_materials program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;PACK;DESTINATION" "PROGRAMS")
  if(NOT arg_MANIFEST OR NOT arg_PACK)
    message(FATAL_ERROR "kiln_add_materials(${program}): MANIFEST and PACK are needed")
  endif()
  if(NOT TARGET ${program})
    message(FATAL_ERROR "kiln_add_materials(${program}): there is no target of that name")
  endif()
  set(pack "${CMAKE_CURRENT_BINARY_DIR}/${arg_PACK}")
  kiln_shaders(${program}_materials MANIFEST "${arg_MANIFEST}" PACK "${pack}" PROGRAMS
               ${arg_PROGRAMS})
  add_dependencies(${program} ${program}_materials)
  if(arg_DESTINATION)
    install(FILES "${pack}" DESTINATION "${arg_DESTINATION}")
  endif()
endfunction()
