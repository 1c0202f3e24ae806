// run: stage=check
// means: The format is none that images of such items have.
// fix: Use one whose items are floats, int or uint as those of the type.
[[vk::image_format ("r32ui")]] RWTexture2D<float4> target;
