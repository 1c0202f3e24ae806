// Samples of a pixel resolved by hand, and their depths.
// run: fragment=ps_resolve
// run: fragment=ps_depth
Texture2DMS<float4> Color : register(t0);
Texture2DMS<float> Depth : register(t1);
cbuffer Resolve : register(b0) { float Exposure; int Samples; };
float Weight(float3 c) { return 1 / (1 + dot(c, float3(0.2126, 0.7152, 0.0722)) * Exposure); }
float4 ps_resolve(float4 position : SV_Position) : SV_Target {
    uint width, height, count;
    Color.GetDimensions(width, height, count);
    float4 sum = 0;
    float total = 0;
    for (uint i = 0; i < count; ++i) {
        float4 c = Color.Load(int2(position.xy), i);
        float w = Weight(c.rgb);
        sum += c * w;
        total += w;
    }
    return sum / total;
}
float ps_depth(float4 position : SV_Position) : SV_Depth {
    float closest = 1;
    for (int i = 0; i < Samples; ++i)
        closest = min(closest, Depth.Load(int2(position.xy), i));
    return closest;
}
