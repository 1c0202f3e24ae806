// run: stage=check
// means: What a declaration means would need itself first: a constant its own value, a struct its own size, a function its own body.
// fix: Break the chain; write recursion as a loop.
const kA = kB + 1;
const kB = kA;
