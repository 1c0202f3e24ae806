// A full-screen pass: textures of several kinds, methods, semantics, macros.
#define SAMPLES 8
#define TAP(offset) source.Load(int3(at + (offset), 0))

Texture2D<float4> source : register(t0);
Texture2DArray<float> shadows : register(t1);
TextureCube sky : register(t2);
Texture2DMS<float4, 4> resolved : register(t3);
RWTexture2D<unorm float4> target : register(u0);
SamplerState linear_clamp : register(s0);
SamplerComparisonState compare : register(s1);
Buffer<float4> palette;

cbuffer Post {
    float2 texel;
    float exposure;
    int mode;
    float4x4 inverse_view;
};

static const float2 kDisc[SAMPLES] = {
    float2(-0.61, 0.39), float2(0.46, -0.27), float2(-0.15, -0.85), float2(0.81, 0.32),
    float2(0.06, 0.71), float2(-0.44, -0.38), float2(0.92, -0.18), float2(-0.92, 0.05)
};

struct Screen {
    float4 position : SV_Position;
    noperspective float2 uv : TEXCOORD0;
};

Screen post_vertex(uint id : SV_VertexID) {
    Screen o;
    o.uv = float2((id << 1) & 2, id & 2);
    o.position = float4(o.uv * float2(2, -2) + float2(-1, 1), 0, 1);
    return o;
}

float luminance(float3 c) { return dot(c, float3(0.2126, 0.7152, 0.0722)); }

float3 sharpen(int2 at) {
    float3 c = TAP(int2(0, 0)).rgb * 5;
    c -= TAP(int2(1, 0)).rgb + TAP(int2(-1, 0)).rgb;
    c -= TAP(int2(0, 1)).rgb + TAP(int2(0, -1)).rgb;
    return max(c, 0);
}

float shadow(float3 at, float slice) {
    float lit = 0;
    for (int i = 0; i < SAMPLES; ++i)
        lit += shadows.SampleCmpLevelZero(compare, float3(at.xy + kDisc[i] * texel, slice), at.z);
    return lit / SAMPLES;
}

float4 post_pixel(Screen i, bool front : SV_IsFrontFace) : SV_Target0 {
    float4 c = source.SampleLevel(linear_clamp, i.uv, 0);
    switch (mode) {
    case 0:
        break;
    case 1:
        c.rgb = sharpen(int2(i.position.xy));
        break;
    case 2:
        c = lerp(c, palette[uint(luminance(c.rgb) * 255)], 0.5);
        break;
    default:
        c = float4(ddx(c.x), ddy(c.x), front ? 1 : 0, 1);
    }
    float3 ray = mul((float3x3)inverse_view, float3(i.uv * 2 - 1, 1));
    c.rgb += sky.Sample(linear_clamp, ray).rgb * (1 - c.a);
    c.rgb *= shadow(ray, 0.0) * exp2(exposure);
    return c;
}

[numthreads(8, 8, 1)]
void resolve(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID) {
    float4 sum = 0;
    [unroll]
    for (uint s = 0; s < 4; ++s)
        sum += resolved.sample[s][id.xy];
    target[id.xy] = sum / 4 + source.mips[1][id.xy / 2] * (group.z == 0 ? 0.0 : 1.0);
}
