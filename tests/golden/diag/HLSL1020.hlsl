// run: stage=check
// means: Only the directives of the preprocessor stand behind a '#'.
// fix: Mend the spelling of the directive, or remove the line.
#elsif A
