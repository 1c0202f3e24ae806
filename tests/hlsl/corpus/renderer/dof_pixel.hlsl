// Depth of field by rings of samples, and the sharpness of each pixel.
// run: fragment=ps_coc
// run: fragment=ps_bokeh
cbuffer Lens : register(b0) {
    float FocusDistance;
    float FocusRange;
    float Aperture;
    float MaxRadius;
    float2 Texel;
    float2 Planes;
};
Texture2D<float4> Color : register(t0);
Texture2D<float> Depth : register(t1);
Texture2D<float> Coc : register(t2);
SamplerState Linear : register(s0);
SamplerState Point : register(s1);

float LinearDepth(float z) { return Planes.x * Planes.y / (Planes.y - z * (Planes.y - Planes.x)); }
float ps_coc(float4 position : SV_Position) : SV_Target {
    float z = LinearDepth(Depth.Load(int3(position.xy, 0)));
    return clamp((z - FocusDistance) / FocusRange, -1, 1) * Aperture;
}
float4 ps_bokeh(float4 position : SV_Position, float2 uv : TEXCOORD0) : SV_Target {
    const int rings = 4;
    float center = Coc.SampleLevel(Point, uv, 0);
    float4 sum = float4(Color.SampleLevel(Linear, uv, 0).rgb, 1);
    for (int ring = 1; ring <= rings; ++ring) {
        int count = ring * 6;
        float radius = ring * MaxRadius / rings;
        for (int k = 0; k < count; ++k) {
            float angle = k * 6.2831853 / count;
            float2 at = uv + float2(cos(angle), sin(angle)) * radius * Texel;
            float coc = Coc.SampleLevel(Point, at, 0);
            float reach = min(abs(coc) * MaxRadius, max(abs(center), 0.1) * MaxRadius);
            float weight = saturate(reach - radius + 1);
            sum += float4(Color.SampleLevel(Linear, at, 0).rgb, 1) * weight;
        }
    }
    return float4(sum.rgb / sum.a, saturate(abs(center)));
}
