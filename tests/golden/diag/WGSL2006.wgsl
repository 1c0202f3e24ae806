// run: stage=check
// means: An address space holds only some types: buffers no booleans, private memory nothing without a known size, no space but that of handles textures.
// fix: Choose another space or type.
@group(0) @binding(0) var<uniform> flags : array<bool, 4>;
