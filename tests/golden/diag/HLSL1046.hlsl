// run: stage=check
// means: An attribute takes other arguments than these.
// fix: Write what the message names.
[numthreads (8, 8)] void main () {}
