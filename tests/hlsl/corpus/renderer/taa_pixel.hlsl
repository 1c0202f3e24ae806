// Temporal antialiasing: history by motion, clipped to the colours around the pixel.
// run: fragment=ps_main
cbuffer Temporal : register(b0) {
    float4 Jitter;
    float2 TexelSize;
    float Feedback;
    float Reset;
}
Texture2D<float4> Current : register(t0);
Texture2D<float4> History : register(t1);
Texture2D<float2> Motion : register(t2);
Texture2D<float> Depth : register(t3);
SamplerState LinearClamp : register(s0);
SamplerState PointClamp : register(s1);

float3 ToYCoCg(float3 c) {
    return float3(dot(c, float3(0.25, 0.5, 0.25)), dot(c, float3(0.5, 0, -0.5)), dot(c, float3(-0.25, 0.5, -0.25)));
}
float3 FromYCoCg(float3 c) {
    float t = c.x - c.z;
    return float3(t + c.y, c.x + c.z, t - c.y);
}

float2 ClosestMotion(float2 uv) {
    float2 best = uv;
    float closest = 1;
    [unroll] for (int y = -1; y <= 1; ++y)
        [unroll] for (int x = -1; x <= 1; ++x) {
            float2 at = uv + float2(x, y) * TexelSize;
            float d = Depth.SampleLevel(PointClamp, at, 0);
            if (d < closest) {
                closest = d;
                best = at;
            }
        }
    return Motion.SampleLevel(PointClamp, best, 0);
}

float3 SampleCatmullRom(Texture2D<float4> source, float2 uv, float2 size) {
    float2 position = uv * size;
    float2 center = floor(position - 0.5) + 0.5;
    float2 f = position - center;
    float2 w0 = f * (-0.5 + f * (1.0 - 0.5 * f));
    float2 w1 = 1.0 + f * f * (-2.5 + 1.5 * f);
    float2 w2 = f * (0.5 + f * (2.0 - 1.5 * f));
    float2 w3 = f * f * (-0.5 + 0.5 * f);
    float2 w12 = w1 + w2;
    float2 tc12 = (center + w2 / w12) / size;
    float2 tc0 = (center - 1.0) / size;
    float2 tc3 = (center + 2.0) / size;
    float3 result = 0;
    result += source.SampleLevel(LinearClamp, float2(tc12.x, tc0.y), 0).rgb * (w12.x * w0.y);
    result += source.SampleLevel(LinearClamp, float2(tc0.x, tc12.y), 0).rgb * (w0.x * w12.y);
    result += source.SampleLevel(LinearClamp, tc12, 0).rgb * (w12.x * w12.y);
    result += source.SampleLevel(LinearClamp, float2(tc3.x, tc12.y), 0).rgb * (w3.x * w12.y);
    result += source.SampleLevel(LinearClamp, float2(tc12.x, tc3.y), 0).rgb * (w12.x * w3.y);
    return max(result, 0);
}

float3 ClipToBox(float3 color, float3 low, float3 high) {
    float3 center = 0.5 * (low + high);
    float3 extents = 0.5 * (high - low) + 1e-5;
    float3 offset = color - center;
    float3 unit = abs(offset / extents);
    float largest = max(unit.x, max(unit.y, unit.z));
    return largest > 1 ? center + offset / largest : color;
}

float4 ps_main(float4 position : SV_Position, float2 uv : TEXCOORD0) : SV_Target0 {
    float3 now = ToYCoCg(Current.Sample(PointClamp, uv).rgb);
    float3 m1 = now, m2 = now * now;
    static const int2 offsets[8] = { int2(-1, -1), int2(0, -1), int2(1, -1), int2(-1, 0), int2(1, 0), int2(-1, 1), int2(0, 1), int2(1, 1) };
    for (uint i = 0; i < 8; ++i) {
        float3 c = ToYCoCg(Current.SampleLevel(PointClamp, uv + offsets[i] * TexelSize, 0).rgb);
        m1 += c;
        m2 += c * c;
    }
    float3 mean = m1 / 9.0;
    float3 sigma = sqrt(max(m2 / 9.0 - mean * mean, 0));
    float2 before = uv - ClosestMotion(uv);
    float3 old = ToYCoCg(SampleCatmullRom(History, before, 1.0 / TexelSize));
    old = ClipToBox(old, mean - 1.25 * sigma, mean + 1.25 * sigma);
    bool outside = any(before < 0) || any(before > 1);
    float blend = outside || Reset > 0 ? 1.0 : 1.0 - Feedback;
    return float4(FromYCoCg(lerp(old, now, blend)), 1);
}
