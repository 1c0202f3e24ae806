// run: stage=check
// means: The name is there, but is of another kind than what stands here.
// fix: Use a name of that kind.
float brightness () { return 1; }
float f () { return brightness; }
