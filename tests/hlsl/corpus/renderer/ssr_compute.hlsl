// Reflections in screen space: a march through a pyramid of depths.
// run: compute=cs_main
// hlsl: version=2018
// glslang: none, it has no mips
cbuffer SSR : register(b0) {
    float4x4 View;
    float4x4 Projection;
    float4x4 InvProjection;
    uint2 Size;
    uint MaxLevel;
    uint MaxSteps;
    float Thickness;
    float MaxRoughness;
};
Texture2D<float> Pyramid : register(t0);
Texture2D<float4> Normals : register(t1);
Texture2D<float4> SceneColor : register(t2);
TextureCube Fallback : register(t3);
SamplerState Linear : register(s0);
RWTexture2D<float4> Result : register(u0);

float3 ToScreen(float3 view) {
    float4 clip = mul(Projection, float4(view, 1));
    clip.xyz /= clip.w;
    return float3(clip.xy * float2(0.5, -0.5) + 0.5, clip.z);
}
float3 ToView(float2 uv, float depth) {
    float4 v = mul(InvProjection, float4(uv * float2(2, -2) + float2(-1, 1), depth, 1));
    return v.xyz / v.w;
}
float2 CellCount(uint level) {
    uint w, h, levels;
    Pyramid.GetDimensions(level, w, h, levels);
    return float2(w, h);
}
bool March(float3 origin, float3 direction, out float3 hit) {
    uint level = 0;
    float3 ray = origin;
    hit = 0;
    for (uint i = 0; i < MaxSteps; ++i) {
        float2 cells = CellCount(level);
        float2 cell = floor(ray.xy * cells);
        float2 edge = (cell + step(0, direction.xy)) / cells;
        float2 t = (edge - ray.xy) / (abs(direction.xy) < 1e-6 ? 1e-6 : direction.xy);
        float depth = Pyramid.mips[level][uint2(cell)];
        float3 next = ray + direction * (min(t.x, t.y) + 1e-5);
        if (next.z < depth) {
            ray = next;
            level = min(level + 1, MaxLevel);
        } else if (level == 0) {
            hit = ray;
            return next.z - depth < Thickness;
        } else {
            --level;
        }
        if (any(ray.xy < 0) || any(ray.xy > 1))
            return false;
    }
    return false;
}
[numthreads(8, 8, 1)]
void cs_main(uint2 id : SV_DispatchThreadID) {
    if (id.x >= Size.x || id.y >= Size.y)
        return;
    float4 packed = Normals[id];
    float2 uv = (id + 0.5) / Size;
    float depth = Pyramid[id];
    float3 position = ToView(uv, depth);
    float3 normal = normalize(packed.xyz * 2 - 1);
    float3 reflected = reflect(normalize(position), normal);
    float4 color = float4(Fallback.SampleLevel(Linear, mul((float3x3)View, reflected), packed.w * 6).rgb, 0);
    if (packed.w < MaxRoughness) {
        float3 start = ToScreen(position), end = ToScreen(position + reflected);
        float3 hit;
        if (March(start, normalize(end - start), hit))
            color = float4(SceneColor.SampleLevel(Linear, hit.xy, packed.w * 4).rgb, 1);
    }
    Result[id] = color;
}
