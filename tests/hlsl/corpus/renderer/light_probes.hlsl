// Probes: rays to octahedral texels, weighed by distance moments.
// run: compute=cs_blend
// run: fragment=ps_irradiance
#define PROBE 8
#define BORDER (PROBE + 2)
struct ProbeGrid {
    float3 origin;
    float max_distance;
    float3 spacing;
    float hysteresis;
    uint3 counts;
    uint rays;
    float normal_bias;
    float view_bias;
    float2 texel;
};
ConstantBuffer<ProbeGrid> Grid : register(b0);
StructuredBuffer<float4> RayData : register(t0);
Texture2D<float4> Irradiance : register(t1);
Texture2D<float2> Moments : register(t2);
SamplerState Linear : register(s0);
RWTexture2D<float4> Target : register(u0);

float2 SignNotZero(float2 v) { return float2(v.x >= 0 ? 1 : -1, v.y >= 0 ? 1 : -1); }
float2 OctEncode(float3 v) {
    float2 r = v.xy / (abs(v.x) + abs(v.y) + abs(v.z));
    return v.z < 0 ? (1 - abs(r.yx)) * SignNotZero(r) : r;
}
float3 OctDecode(float2 o) {
    float3 v = float3(o, 1 - abs(o.x) - abs(o.y));
    if (v.z < 0)
        v.xy = (1 - abs(v.yx)) * SignNotZero(v.xy);
    return normalize(v);
}
float3 RayDirection(uint i, uint n) {
    float phi = 6.2831853 * frac(i * 0.61803398875);
    float c = 1 - (2 * i + 1.0) / n;
    float s = sqrt(saturate(1 - c * c));
    return float3(cos(phi) * s, sin(phi) * s, c);
}
[numthreads(PROBE, PROBE, 1)]
void cs_blend(uint3 group : SV_GroupID, uint3 thread : SV_GroupThreadID) {
    uint probe = group.x + group.y * Grid.counts.x * Grid.counts.y;
    float2 at = (thread.xy + 0.5) / PROBE * 2 - 1;
    float3 direction = OctDecode(at);
    float4 sum = 0;
    for (uint i = 0; i < Grid.rays; ++i) {
        float w = saturate(dot(direction, RayDirection(i, Grid.rays)));
        sum += float4(RayData[probe * Grid.rays + i].rgb * w, w);
    }
    uint2 texel = group.xy * BORDER + thread.xy + 1;
    float3 value = sum.rgb / max(2 * sum.a, 1e-4);
    Target[texel] = float4(lerp(value, Target[texel].rgb, Grid.hysteresis), 1);
}
float4 ps_irradiance(float4 position : SV_Position, float3 world : WORLD, float3 normal : NORMAL, float3 view : VIEW) : SV_Target {
    float3 biased = world + normal * Grid.normal_bias + view * Grid.view_bias;
    float3 local = (biased - Grid.origin) / Grid.spacing;
    int3 base = clamp((int3)local, int3(0, 0, 0), (int3)Grid.counts - 2);
    float3 alpha = saturate(local - base);
    float4 sum = 0;
    for (int i = 0; i < 8; ++i) {
        int3 offset = int3(i, i >> 1, i >> 2) & 1;
        int3 cell = base + offset;
        float3 to_probe = Grid.origin + cell * Grid.spacing - biased;
        float3 trilinear = max(0.001, lerp(1 - alpha, alpha, offset));
        float w = trilinear.x * trilinear.y * trilinear.z * (pow(dot(normalize(to_probe), normal) * 0.5 + 0.5, 2) + 0.2);
        float2 corner = float2(cell.x + cell.z * Grid.counts.x, cell.y) * BORDER + 1 + PROBE * 0.5;
        float d = length(to_probe);
        float2 m = Moments.SampleLevel(Linear, (corner + OctEncode(-to_probe / d) * PROBE * 0.5) * Grid.texel, 0);
        float variance = abs(m.x * m.x - m.y);
        float chebyshev = d > m.x ? variance / (variance + (d - m.x) * (d - m.x)) : 1;
        w *= max(chebyshev * chebyshev * chebyshev, 0.05);
        sum += float4(Irradiance.SampleLevel(Linear, (corner + OctEncode(normal) * PROBE * 0.5) * Grid.texel, 0).rgb * w, w);
    }
    return float4(sum.rgb / sum.a, 1);
}
