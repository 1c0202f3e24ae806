// run: stage=preprocess
// means: A # at the start of a line begins a directive, and there is none of that name.
// fix: Write one of define, undef, include, if, ifdef, ifndef, elif, else, endif, error, warning, line and pragma.
#ifdefined FOG
#elifdef RAIN
