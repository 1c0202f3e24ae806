// Interfaces: quads with rounded corners, text from a field of distances, a clip rectangle.
// run: vertex=vs_main fragment=ps_quad
// run: vertex=vs_main fragment=ps_text
struct UiConstants {
    float2 InverseViewport;
    float2 Translation;
};
[[vk::push_constant]] ConstantBuffer<UiConstants> Constants;
Texture2D<float4> Atlas : register(t0);
SamplerState Bilinear : register(s0);

struct Vertex {
    float2 position : POSITION;
    float2 uv : TEXCOORD0;
    float4 color : COLOR0;
    float4 rect : TEXCOORD1;
    float4 clip_rect : TEXCOORD2;
    float2 radius : TEXCOORD3;
};
struct Fragment {
    float4 position : SV_Position;
    float2 uv : TEXCOORD0;
    float4 color : COLOR0;
    float4 rect : TEXCOORD1;
    nointerpolation float4 clip_rect : TEXCOORD2;
    nointerpolation float2 radius : TEXCOORD3;
    float2 pixel : TEXCOORD4;
};
Fragment vs_main(Vertex v) {
    Fragment o;
    float2 p = v.position + Constants.Translation;
    o.position = float4(p * Constants.InverseViewport * float2(2, -2) + float2(-1, 1), 0, 1);
    o.uv = v.uv;
    o.color = v.color;
    o.rect = v.rect;
    o.clip_rect = v.clip_rect;
    o.radius = v.radius;
    o.pixel = p;
    return o;
}
float RoundedBox(float2 p, float2 half_size, float radius) {
    float2 q = abs(p) - half_size + radius;
    return min(max(q.x, q.y), 0) + length(max(q, 0)) - radius;
}
void Clip(Fragment i) {
    if (any(i.pixel < i.clip_rect.xy) || any(i.pixel > i.clip_rect.zw))
        discard;
}
float4 ps_quad(Fragment i) : SV_Target {
    Clip(i);
    float2 center = (i.rect.xy + i.rect.zw) * 0.5;
    float d = RoundedBox(i.pixel - center, (i.rect.zw - i.rect.xy) * 0.5, i.radius.x);
    float alpha = saturate(0.5 - d);
    float border = i.radius.y > 0 ? saturate(0.5 - abs(d + i.radius.y * 0.5) + i.radius.y * 0.5) : 0;
    float4 color = Atlas.Sample(Bilinear, i.uv) * i.color;
    color.rgb = lerp(color.rgb, 1, border * 0.25);
    return float4(color.rgb, color.a * alpha);
}
float4 ps_text(Fragment i) : SV_Target {
    Clip(i);
    float4 s = Atlas.Sample(Bilinear, i.uv);
    float distance = max(min(s.r, s.g), min(max(s.r, s.g), s.b)) - 0.5;
    float width = fwidth(distance);
    float alpha = smoothstep(-width, width, distance);
    return float4(i.color.rgb, i.color.a * alpha);
}
