// run: stage=check lints=true
// means: '#pragma message' is for whoever reads the log.
// fix: Nothing needs to be done.
#pragma message("slow path")
