// Clouds: a march through noise in layers, light by steps, blended with a history.
// run: compute=cs_main
// glslang: none, it reads no classes of methods
struct Ray {
    float3 origin;
    float3 direction;
    float3 at(float t) { return origin + direction * t; }
};
struct CloudLayer {
    float bottom;
    float thickness;
    float coverage;
    float density;
    float HeightFraction(float3 p) { return saturate((p.y - bottom) / thickness); }
    float Profile(float3 p) {
        float h = HeightFraction(p);
        return saturate(h / 0.1) * saturate((1 - h) / 0.4);
    }
    bool Enter(Ray r, out float2 span) {
        float a = (bottom - r.origin.y) / r.direction.y, b = (bottom + thickness - r.origin.y) / r.direction.y;
        span = float2(max(min(a, b), 0), max(a, b));
        return span.y > span.x;
    }
};
cbuffer Clouds : register(b0) {
    float4x4 InvViewProj;
    float3 Eye;
    float Time;
    float3 SunDirection;
    float Absorption;
    float3 SunColor;
    uint Frame;
    CloudLayer Layer;
    uint2 Size;
    bool Reset;
};
Texture3D<float> Shape : register(t0);
Texture3D<float> Detail : register(t1);
Texture2D<float4> Weather : register(t2);
Texture2D<float4> History : register(t3);
SamplerState Wrap : register(s0);
RWTexture2D<float4> Output : register(u0);

float Density(float3 p, bool cheap) {
    float4 weather = Weather.SampleLevel(Wrap, p.xz * 1e-4, 0);
    float shape = Shape.SampleLevel(Wrap, p * 2e-3 + float3(Time, 0, 0), 0) * Layer.Profile(p);
    float d = saturate(shape - (1 - Layer.coverage * weather.r));
    if (!cheap && d > 0)
        d = saturate(d - Detail.SampleLevel(Wrap, p * 0.02, 0) * 0.2);
    return d * Layer.density;
}
float LightAt(float3 p) {
    Ray r = { p, SunDirection };
    float sum = 0;
    [unroll] for (int i = 1; i <= 5; ++i)
        sum += Density(r.at(i * i * 4.0), true) * i * 8;
    return exp(-sum * Absorption) + 0.25 * exp(-sum * Absorption * 0.25);
}
[numthreads(8, 8, 1)]
void cs_main(uint3 id : SV_DispatchThreadID) {
    if (any(id.xy >= Size)) return;
    float2 uv = (id.xy + 0.5) / Size;
    float4 p = mul(InvViewProj, float4(uv * float2(2, -2) + float2(-1, 1), 1, 1));
    Ray ray;
    ray.origin = Eye;
    ray.direction = normalize(p.xyz / p.w - Eye);
    float4 color = float4(0, 0, 0, 1);
    float2 span;
    if (Layer.Enter(ray, span)) {
        const int steps = 48;
        float dt = min(span.y - span.x, 4000) / steps;
        float t = span.x + dt * frac(dot(float2(id.xy), float2(0.7548, 0.5698)) + Frame * 0.618);
        for (int i = 0; i < steps && color.a > 0.01; ++i, t += dt) {
            float3 at = ray.at(t);
            float d = Density(at, false);
            if (d <= 0) continue;
            float attenuation = exp(-d * Absorption * dt);
            color.rgb += color.a * (1 - attenuation) * SunColor * LightAt(at);
            color.a *= attenuation;
        }
    }
    Output[id.xy] = Reset ? color : lerp(History.Load(int3(id.xy, 0)), color, 0.1);
}
