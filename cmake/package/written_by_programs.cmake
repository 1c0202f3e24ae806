# SPDX-License-Identifier: MIT
# Run when installing, with `kiln`, `kilnd` and the folders `made`, `man` and `data`: what the programs
# write about themselves, below `made` -> manual pages and completions where they belong.
file(REMOVE_RECURSE "${made}")
file(MAKE_DIRECTORY "${made}/man")
foreach(program IN ITEMS "${kiln}" "${kilnd}")
  execute_process(COMMAND "${program}" manual --out "${made}/man" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(section IN ITEMS 1 5 8)
  file(GLOB pages "${made}/man/*.${section}")
  file(INSTALL DESTINATION "${man}/man${section}" TYPE FILE FILES ${pages})
endforeach()

function(kiln_install_completion shell folder name)
  execute_process(COMMAND "${kiln}" completion ${shell} OUTPUT_FILE "${made}/${name}"
                          COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL DESTINATION "${data}/${folder}" TYPE FILE FILES "${made}/${name}")
endfunction()
kiln_install_completion(bash bash-completion/completions kiln)
kiln_install_completion(zsh zsh/site-functions _kiln)
kiln_install_completion(fish fish/vendor_completions.d kiln.fish)
