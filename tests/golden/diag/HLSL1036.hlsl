// run: stage=check
// means: A module is read once for all stages and targets, so macros that depend on them are never defined.
// fix: Use an option, or write what the stages need into functions of their own.
#if __SHADER_TARGET_STAGE == 1
#endif
