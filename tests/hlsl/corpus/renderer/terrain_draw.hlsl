// Terrain: height from a texture, four materials by a splat map, triplanar rock.
// run: vertex=vs_main fragment=ps_main
cbuffer Terrain : register(b0) {
    float4x4 ViewProjection;
    float4 WorldScale;
    float2 HeightSize;
    float HeightScale;
    float MorphStart;
    float MorphEnd;
    float3 Eye;
    float4 Tiling;
};
cbuffer Node : register(b1) {
    float4 OffsetScale;
    uint Level;
};
Texture2D<float> HeightMap : register(t0);
Texture2D<float4> SplatMap : register(t1);
Texture2DArray Layers : register(t2);
Texture2DArray LayerNormals : register(t3);
SamplerState Clamp : register(s0);
SamplerState Repeat : register(s1);

struct Varyings {
    float4 position : SV_Position;
    float3 world : WORLD;
    float2 uv : UV;
};
float HeightAt(float2 uv) { return HeightMap.SampleLevel(Clamp, uv, 0) * HeightScale; }
float3 NormalAt(float2 uv) {
    float2 t = 1 / HeightSize;
    float l = HeightAt(uv - float2(t.x, 0)), r = HeightAt(uv + float2(t.x, 0));
    float d = HeightAt(uv - float2(0, t.y)), u = HeightAt(uv + float2(0, t.y));
    return normalize(float3(l - r, 2 * WorldScale.x * t.x, d - u));
}
Varyings vs_main(float2 grid : POSITION) {
    Varyings o;
    float2 at = grid * OffsetScale.zw + OffsetScale.xy;
    float morph = saturate((distance(float3(at.x, 0, at.y), Eye) - MorphStart) / (MorphEnd - MorphStart));
    float2 odd = frac(grid * 32) * 2.0 / 64.0;
    at -= odd * OffsetScale.zw * morph;
    o.uv = at / WorldScale.xy;
    o.world = float3(at.x, HeightAt(o.uv), at.y);
    o.position = mul(ViewProjection, float4(o.world, 1));
    return o;
}
float4 Triplanar(uint layer, float3 world, float3 n) {
    float3 w = pow(abs(n), 4);
    w /= w.x + w.y + w.z;
    return Layers.Sample(Repeat, float3(world.zy * Tiling.x, layer)) * w.x +
           Layers.Sample(Repeat, float3(world.xz * Tiling.x, layer)) * w.y +
           Layers.Sample(Repeat, float3(world.xy * Tiling.x, layer)) * w.z;
}
float4 ps_main(Varyings i) : SV_Target0 {
    float3 n = NormalAt(i.uv);
    float4 weights = SplatMap.Sample(Clamp, i.uv);
    weights /= max(dot(weights, 1), 1e-3);
    float3 color = 0;
    float3 detail = 0;
    for (uint layer = 0; layer < 4; ++layer) {
        if (weights[layer] < 0.01)
            continue;
        float3 coord = float3(i.world.xz * Tiling[layer], layer);
        color += weights[layer] * (layer == 3 ? Triplanar(layer, i.world, n) : Layers.SampleGrad(Repeat, coord, ddx(coord.xy), ddy(coord.xy))).rgb;
        detail += weights[layer] * (LayerNormals.SampleLevel(Repeat, coord, Level).xyz * 2 - 1);
    }
    n = normalize(n + detail.xzy * float3(1, 0, 1));
    return float4(color * saturate(n.y * 0.5 + 0.5), 1);
}
