// Textures by index, handed to functions that sample them.
// run: fragment=ps_main
// glslang: none, it does not know NonUniformResourceIndex
Texture2D Textures[512] : register(t0, space1);
TextureCube Cubes[16] : register(t0, space2);
SamplerState Samplers[8] : register(s0, space3);
struct Layer {
    uint color;
    uint normal;
    uint environment;
    uint sampler_index;
    float scale;
    float strength;
};
StructuredBuffer<Layer> LayerTable : register(t0);

float3 Triplanar(Texture2D map, SamplerState s, float3 p, float3 n) {
    float3 w = abs(n) / (abs(n.x) + abs(n.y) + abs(n.z));
    return map.Sample(s, p.yz).rgb * w.x + map.Sample(s, p.xz).rgb * w.y + map.Sample(s, p.xy).rgb * w.z;
}
float3 UnpackNormal(Texture2D map, SamplerState s, float2 uv, float strength) {
    float3 n = map.Sample(s, uv).xyz * 2 - 1;
    n.xy *= strength;
    return normalize(n);
}
float3 Reflection(TextureCube map, SamplerState s, float3 direction, float roughness) {
    return map.SampleLevel(s, direction, roughness * 6).rgb;
}
float4 ps_main(float4 position : SV_Position, float3 world : WORLD, float3 normal : NORMAL, float2 uv : TEXCOORD0,
               nointerpolation uint id : LAYER) : SV_Target {
    Layer layer = LayerTable[id];
    SamplerState s = Samplers[NonUniformResourceIndex(layer.sampler_index)];
    float3 n = normalize(normal + UnpackNormal(Textures[NonUniformResourceIndex(layer.normal)], s, uv, layer.strength));
    float3 color = Triplanar(Textures[NonUniformResourceIndex(layer.color)], s, world * layer.scale, n);
    color += Reflection(Cubes[layer.environment], s, reflect(-normalize(world), n), 0.5) * 0.1;
    return float4(color + Triplanar(Textures[0], Samplers[0], world, n) * 0.01, 1);
}
