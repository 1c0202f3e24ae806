// run: stage=preprocess
// means: A condition asks for which stage or target the module is compiled. It is compiled once for all of them, so such names are not defined.
// fix: Write a function for each stage; what a target cannot express is said when a variant is made for it.
#if __SHADER_TARGET_STAGE == 1
float4 only_here;
#endif
#ifdef __SHADER_STAGE_PIXEL
#endif
