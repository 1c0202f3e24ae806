// Fog in a volume of cells: light injected, then summed from front to back.
// run: compute=cs_inject
// run: compute=cs_integrate
cbuffer Fog : register(b0) {
    float4x4 InvViewProj;
    float4x4 ShadowMatrix;
    float4x4 PrevViewProj;
    uint3 Resolution;
    float Near;
    float Far;
    float Density;
    float Anisotropy;
    float HeightFalloff;
    float3 SunDirection;
    float History;
    float3 SunColor;
    float Jitter;
    float3 Eye;
};
Texture2D<float> ShadowMap : register(t0);
Texture3D<float4> Previous : register(t1);
Texture3D<float4> Scattering : register(t2);
SamplerComparisonState ShadowCompare : register(s0);
SamplerState Linear : register(s1);
RWTexture3D<float4> Injected : register(u0);
RWTexture3D<float4> Integrated : register(u1);

float SliceDepth(float slice) { return Near * pow(Far / Near, slice / Resolution.z); }
float HenyeyGreenstein(float c, float g) {
    float d = 1 + g * g - 2 * g * c;
    return (1 - g * g) / (12.566371 * d * sqrt(d));
}
[numthreads(4, 4, 4)]
void cs_inject(uint3 id : SV_DispatchThreadID) {
    if (any(id >= Resolution))
        return;
    float depth = SliceDepth(id.z + 0.5 + Jitter);
    float2 uv = (id.xy + 0.5) / Resolution.xy;
    float4 near_point = mul(InvViewProj, float4(uv * float2(2, -2) + float2(-1, 1), 1, 1));
    float3 ray = normalize(near_point.xyz / near_point.w - Eye);
    float3 world = Eye + ray * depth;
    float density = Density * exp(-max(world.y, 0) * HeightFalloff);
    float3 shadow = mul(ShadowMatrix, float4(world, 1)).xyz;
    float lit = ShadowMap.SampleCmpLevelZero(ShadowCompare, shadow.xy, shadow.z);
    float3 light = SunColor * lit * HenyeyGreenstein(dot(ray, SunDirection), Anisotropy);
    float4 value = float4(light * density, density);
    float4 old = mul(PrevViewProj, float4(world, 1));
    float3 old_uv = float3(old.xy / old.w * float2(0.5, -0.5) + 0.5, log(max(old.w, Near) / Near) / log(Far / Near));
    if (all(old_uv == saturate(old_uv)))
        value = lerp(value, Previous.SampleLevel(Linear, old_uv, 0), History);
    Injected[id] = value;
}
[numthreads(8, 8, 1)]
void cs_integrate(uint3 id : SV_DispatchThreadID) {
    float4 sum = float4(0, 0, 0, 1);
    float last = Near;
    for (uint z = 0; z < Resolution.z; ++z) {
        float4 s = Scattering.Load(int4(id.xy, z, 0));
        float depth = SliceDepth(z + 1);
        float transmittance = exp(-s.a * (depth - last));
        sum.rgb += sum.a * (s.rgb - s.rgb * transmittance) / max(s.a, 1e-5);
        sum.a *= transmittance;
        Integrated[uint3(id.xy, z)] = sum;
        last = depth;
    }
}
