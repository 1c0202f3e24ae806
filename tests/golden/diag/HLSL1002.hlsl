// run: stage=check
// means: A source has characters of HLSL only; others may stand in comments and strings.
// fix: Remove the character, or put it into a comment.
float a = 1 @ 2;
