// run: stage=check
// means: A packoffset is cN or cN.x, at a member of a block.
// fix: Write it so.
cbuffer B { float x : packoffset (c0.q); };
