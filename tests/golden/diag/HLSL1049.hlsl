// run: stage=check
// means: The attribute says something about other things than the one that it stands at.
// fix: Remove it, or write it where it belongs.
[unroll] static float x;
