// run: stage=check
// means: The source says something by '#warning'.
// fix: Do what its text asks for, or remove the directive.
#warning this path is slow
