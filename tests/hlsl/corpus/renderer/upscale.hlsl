// Upscaling: edges found by gathers, a kernel turned along them, then sharpened.
// run: compute=cs_upscale
// run: compute=cs_sharpen
cbuffer Scale : register(b0) {
    float4 Const0;
    uint2 OutputSize;
    float Sharpness;
};
Texture2D<float4> Input : register(t0);
SamplerState Linear : register(s0);
RWTexture2D<float4> Output : register(u0);
float Luma(float3 c) { return c.b * 0.5 + (c.r * 0.5 + c.g); }
void Tap(inout float3 color, inout float weight, float2 offset, float2 direction, float2 len, float lobe, float clip_at, float3 c) {
    float2 v = float2(offset.x * direction.x + offset.y * direction.y, offset.x * -direction.y + offset.y * direction.x) * len;
    float d2 = min(dot(v, v), clip_at);
    float b = 2.0 / 5.0 * d2 - 1, a = lobe * d2 - 1;
    b *= b;
    a *= a;
    b = 25.0 / 16.0 * b - (25.0 / 16.0 - 1.0);
    color += c * (b * a);
    weight += b * a;
}
[numthreads(8, 8, 1)]
void cs_upscale(uint3 id : SV_DispatchThreadID) {
    float2 pp = id.xy * Const0.xy + Const0.zw;
    float2 fp = floor(pp);
    pp -= fp;
    uint w, h;
    Input.GetDimensions(w, h);
    float2 texel = rcp(float2(w, h));
    float4 g = Input.GatherGreen(Linear, (fp + 1) * texel);
    float4 r = Input.GatherRed(Linear, (fp + 1) * texel);
    float4 b = Input.GatherBlue(Linear, (fp + 1) * texel);
    float4 l = b * 0.5 + (r * 0.5 + g);
    float2 direction = float2(l.z - l.w + l.y - l.x, l.w - l.x + l.z - l.y);
    float len2 = dot(direction, direction);
    direction = len2 < 1.0 / 32768.0 ? float2(1, 0) : direction * rsqrt(len2);
    float stretch = dot(direction, direction) * rcp(max(abs(direction.x), abs(direction.y)));
    float amount = saturate(sqrt(len2));
    float2 lengths = float2(1 + (stretch - 1) * amount, 1 - 0.5 * amount);
    float lobe = 0.5 + (0.25 - 0.04 - 0.5) * amount;
    float3 color = 0;
    float weight = 0;
    [unroll] for (int y = 0; y < 2; ++y)
        [unroll] for (int x = 0; x < 2; ++x)
            Tap(color, weight, float2(x, y) - pp, direction, lengths, lobe, rcp(lobe), Input[clamp(int2(fp) + int2(x, y), 0, int2(w, h) - 1)].rgb);
    Output[id.xy] = float4(color / weight, 1);
}
[numthreads(8, 8, 1)]
void cs_sharpen(uint3 id : SV_DispatchThreadID) {
    int3 at = int3(id.xy, 0);
    float3 b = Input.Load(at, int2(0, -1)).rgb, d = Input.Load(at, int2(-1, 0)).rgb, e = Input.Load(at).rgb;
    float3 f = Input.Load(at, int2(1, 0)).rgb, h = Input.Load(at, int2(0, 1)).rgb;
    float3 low = min(min(b, d), min(f, h)), high = max(max(b, d), max(f, h));
    float3 limit = max(-min(low, e) * rcp(4 * max(high, e)), (1 - max(high, e)) * rcp(4 * min(low, e) - 4));
    float lobe = max(-0.1875, min(max(limit.r, max(limit.g, limit.b)), 0)) * Sharpness;
    Output[id.xy] = float4((lobe * (b + d + f + h) + e) * rcp(4 * lobe + 1), 1);
}
