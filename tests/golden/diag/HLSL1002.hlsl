// run: stage=preprocess
// means: A character begins no token of HLSL.
// fix: Remove it, or put it into a comment.
float4 tint = base @ glow;
