// run: stage=check
// means: kiln does not know the attribute, so it changes nothing.
// fix: Mend its spelling, or leave it for other compilers.
[[vk::bindings(1)]] Texture2D albedo;
[inlined] float f() { return 1; }
