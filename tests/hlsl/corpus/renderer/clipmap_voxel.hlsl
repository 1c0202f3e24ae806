// Voxels: averages by exchange, cones through a volume.
// run: compute=cs_clear
// run: fragment=ps_voxelise
// run: fragment=ps_cones
RWTexture3D<uint> Voxels : register(u1);
Texture3D<float4> Radiance : register(t0);
Texture2D Albedo : register(t1);
SamplerState Linear : register(s0);
cbuffer Grid : register(b0) {
    float3 Origin;
    float VoxelSize;
    uint Resolution;
    float MaxDistance;
};
uint Pack(float4 v) { return (uint(v.w) << 24) | (uint(v.z) << 16) | (uint(v.y) << 8) | uint(v.x); }
float4 Unpack(uint v) { return float4(v & 0xff, v >> 8 & 0xff, v >> 16 & 0xff, v >> 24); }
void Average(uint3 at, float3 color) {
    uint value = Pack(float4(color * 255, 1)), previous = 0, original;
    [loop]
    for (uint i = 0; i < 16; ++i) {
        InterlockedCompareExchange(Voxels[at], previous, value, original);
        if (original == previous)
            break;
        previous = original;
        float4 sum = Unpack(original);
        float4 next = float4((sum.rgb * sum.a + color * 255) / (sum.a + 1), sum.a + 1);
        value = Pack(next);
    }
}
[numthreads(4, 4, 4)]
void cs_clear(uint3 id : SV_DispatchThreadID) { Voxels[id] = 0; }
void ps_voxelise(float4 position : SV_Position, float3 world : WORLD, float2 uv : TEXCOORD) {
    uint3 at = uint3((world - Origin) / VoxelSize);
    if (all(at < Resolution))
        Average(at, Albedo.Sample(Linear, uv).rgb);
}
float4 Cone(float3 from, float3 direction, float aperture) {
    float4 sum = 0;
    float t = VoxelSize;
    while (t < MaxDistance && sum.a < 0.99) {
        float diameter = max(VoxelSize, 2 * aperture * t);
        float3 uvw = (from + direction * t - Origin) / (VoxelSize * Resolution);
        float4 v = Radiance.SampleLevel(Linear, uvw, log2(diameter / VoxelSize));
        sum += (1 - sum.a) * v;
        t += diameter * 0.5;
    }
    return sum;
}
float4 ps_cones(float4 position : SV_Position, float3 world : WORLD, float3 normal : NORMAL) : SV_Target {
    static const float3 directions[5] = { float3(0, 1, 0), float3(0.87, 0.5, 0), float3(-0.87, 0.5, 0), float3(0, 0.5, 0.87), float3(0, 0.5, -0.87) };
    float3 up = abs(normal.y) < 0.99 ? float3(0, 1, 0) : float3(1, 0, 0);
    float3 t = normalize(cross(up, normal));
    float3x3 frame = float3x3(t, normal, cross(t, normal));
    float4 sum = 0;
    for (int i = 0; i < 5; ++i)
        sum += Cone(world + normal * VoxelSize, mul(directions[i], frame), 0.577);
    return sum / 5;
}
