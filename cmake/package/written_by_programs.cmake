# SPDX-License-Identifier: MIT
# Run when installing, with `program` and its target's file, and the folders `made`, `man` and `data`: what
# the program writes about itself, below `made` -> manual pages and completions where they belong.
string(RANDOM LENGTH 16 unique)  # others may install the same build at the same time
set(made "${made}/${unique}")
file(MAKE_DIRECTORY "${made}/${program}" "${made}/completions")
execute_process(COMMAND "${file}" manual --out "${made}/${program}" COMMAND_ERROR_IS_FATAL ANY)
if(program STREQUAL "kiln")  # of programs that write none
  file(COPY "${pages}/kilnc.1" "${pages}/kiln_pipeline_child.1" DESTINATION "${made}/${program}")
endif()
foreach(section IN ITEMS 1 5 8)
  file(GLOB found "${made}/${program}/*.${section}")
  if(found)
    file(INSTALL DESTINATION "${man}/man${section}" TYPE FILE FILES ${found})
  endif()
endforeach()

function(kiln_install_completion shell folder name)
  execute_process(COMMAND "${file}" completion ${shell} OUTPUT_FILE "${made}/completions/${name}"
                          COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL DESTINATION "${data}/${folder}" TYPE FILE FILES "${made}/completions/${name}")
endfunction()
if(program STREQUAL "kiln")
  kiln_install_completion(bash bash-completion/completions kiln)
  set(zsh site-functions)  # Debian's packages have a folder of their own
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(zsh vendor-completions)
  endif()
  kiln_install_completion(zsh zsh/${zsh} _kiln)
  kiln_install_completion(fish fish/vendor_completions.d kiln.fish)
endif()
file(REMOVE_RECURSE "${made}")
