// run: stage=check
// means: The item of an image is a scalar or a vector of at most 16 bytes.
// fix: Use such an item.
Texture2D<float4x4> t;
