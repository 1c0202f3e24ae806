// run: stage=preprocess lints=true
// means: The source says something with #pragma message.
// fix: Nothing need be done.
#pragma message("fog is on")
