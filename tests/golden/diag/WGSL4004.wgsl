// run: stage=check
// means: Two variables that one entry point reaches would be one resource.
// fix: Give one of them another binding.
@group(0) @binding(1) var<uniform> a : vec4f;
@group(0) @binding(1) var<uniform> b : vec4f;
@fragment fn main() -> @location(0) vec4f { return a + b; }
