// run: stage=check
// means: Vulkan has nothing that does this.
// fix: Write it without.
uint f () { return GetRenderTargetSampleCount (); }
