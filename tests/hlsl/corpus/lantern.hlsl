// A lantern: options, blocks, attributes of kiln, vertex and pixel stage.
enum class Tone { filmic, neutral };
[[kiln::option(instance)]] static const Tone kTone = Tone::filmic;
[[kiln::option(instance)]] static const bool kFlicker = true;
[[kiln::option(global)]] static const bool kSkinned = false;
[[kiln::option(global)]] static const uint kWicks = 4;

struct Lamp {
    float3 position;
    float range;
    float4 color;
};

struct Mesh {
    float3 position : POSITION;
    [[kiln::pack(snorm8)]] float4 normal : NORMAL;
    [[kiln::pack(float16)]] float2 uv : TEXCOORD;
    [[kiln::conditional(kSkinned), kiln::pack(uint8)]] uint4 joints : JOINTS;
};

struct Surface {
    float4 clip : SV_Position;
    float3 world : WORLDPOS;
    float3 normal : NORMAL;
    float2 uv : TEXCOORD;
};

[[kiln::set(pass)]] cbuffer View {
    [[kiln::meta(clip_transform)]] float4x4 to_clip;
    float4 eye;
};

[[kiln::set(material)]] cbuffer Glass {
    float4 base;
    float4 wick[kWicks];
    [[kiln::meta(animated)]] float4 clock;
};

[[kiln::set(material)]] SamplerState albedo_sampler;
[[kiln::set(material)]] Texture2D albedo;
[[kiln::set(shared)]] StructuredBuffer<Lamp> lamps;
[[kiln::set(object), kiln::conditional(kSkinned)]] StructuredBuffer<float4x4> bones;

float3 tone(float3 c) {
    switch (kTone) {
    case Tone::filmic: {
        float3 k = max(c - 0.004, 0.0);
        return k / (k + 0.155);
    }
    default:
        return c;
    }
}

[[kiln::setting("cull_mode", kFlicker ? "none" : "back")]]
[shader("vertex")]
Surface lantern_vertex(Mesh mesh) {
    float4 at = float4(mesh.position, 1);
    if (kSkinned)
        at = mul(bones[mesh.joints.x], at);
    Surface o;
    o.clip = mul(to_clip, at);
    o.world = at.xyz;
    o.uv = mesh.uv;
    o.normal = mesh.normal.xyz;
    return o;
}

[shader("pixel")]
float4 lantern_pixel(Surface s) : SV_Target {
    float4 texel = albedo.Sample(albedo_sampler, s.uv) * base;
    float3 way = lamps[0].position - s.world;
    float3 lit = lamps[0].color.rgb * saturate(dot(normalize(s.normal), normalize(way)));
    if (kFlicker)
        lit *= 0.9 + 0.1 * sin(clock.x + wick[0].x);
    return float4(tone(texel.rgb * lit), texel.a);
}
