// Waves by sums of sines, refraction of what lies below, foam at the shore.
// run: vertex=vs_main fragment=ps_main
struct Wave {
    float2 direction;
    float amplitude;
    float length;
    float speed;
    float steepness;
};
cbuffer Water : register(b0) {
    float4x4 ViewProj;
    Wave Waves[4];
    float3 Eye;
    float Time;
    float3 DeepColor;
    float Clarity;
    float3 SunDirection;
    float FoamWidth;
    float2 ScreenSize;
};
Texture2D SceneColor : register(t0);
Texture2D<float> SceneDepth : register(t1);
TextureCube Sky : register(t2);
Texture2D Foam : register(t3);
SamplerState Linear : register(s0);

struct Interp {
    float4 position : SV_Position;
    float3 world : TEXCOORD0;
    float3 normal : TEXCOORD1;
};
void Gerstner(Wave w, float2 at, inout float3 offset, inout float3 normal) {
    float k = 6.2831853 / w.length;
    float2 d = normalize(w.direction);
    float f = k * (dot(d, at) - w.speed * Time);
    float s, c;
    sincos(f, s, c);
    offset += float3(d.x * w.steepness * w.amplitude * c, w.amplitude * s, d.y * w.steepness * w.amplitude * c);
    normal -= float3(d.x * k * w.amplitude * c, w.steepness * k * w.amplitude * s, d.y * k * w.amplitude * c);
}
Interp vs_main(float3 position : POSITION) {
    float3 offset = 0, normal = float3(0, 1, 0);
    [unroll]
    for (int i = 0; i < 4; ++i)
        Gerstner(Waves[i], position.xz, offset, normal);
    Interp o;
    o.world = position + offset;
    o.normal = normalize(normal);
    o.position = mul(ViewProj, float4(o.world, 1));
    return o;
}
float4 ps_main(Interp i) : SV_Target {
    float3 V = normalize(Eye - i.world);
    float2 screen = i.position.xy / ScreenSize;
    float below = SceneDepth.SampleLevel(Linear, screen, 0);
    float thickness = max(below - i.position.z, 0) * 100;
    float3 refracted = SceneColor.SampleLevel(Linear, screen + i.normal.xz * 0.02 * saturate(thickness), 0).rgb;
    refracted = lerp(DeepColor, refracted, exp(-thickness * Clarity));
    float3 R = reflect(-V, i.normal);
    R.y = abs(R.y);
    float3 reflected = Sky.SampleLevel(Linear, R, 1).rgb;
    float fresnel = lerp(0.02, 1, pow(1 - saturate(dot(V, i.normal)), 5));
    float glint = pow(saturate(dot(R, -SunDirection)), 512) * 8;
    float foam = Foam.Sample(Linear, i.world.xz * 0.3).r * (1 - smoothstep(0, FoamWidth, thickness));
    return float4(lerp(refracted, reflected, fresnel) + glint + foam, 1);
}
