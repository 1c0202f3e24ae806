// Strands: two highlights along the tangent, order by a hash for transparency.
// run: fragment=ps_main
struct HairParams {
    float3 albedo;
    float shift1;
    float3 specular1;
    float shift2;
    float3 specular2;
    float power1;
    float power2;
    float alpha;
    float noise;
};
ConstantBuffer<HairParams> Hair : register(b0);
cbuffer Light : register(b1) { float3 LightDir; float3 LightColor; float3 Eye; uint FrameIndex; };
Texture2D ShiftMap : register(t0);
Texture2D AlphaMap : register(t1);
SamplerState Aniso : register(s0);
float3 ShiftTangent(float3 t, float3 n, float shift) { return normalize(t + shift * n); }
float StrandSpecular(float3 t, float3 v, float3 l, float exponent) {
    float3 h = normalize(l + v);
    float th = dot(t, h);
    float s = sqrt(max(1 - th * th, 0));
    return smoothstep(-1, 0, th) * pow(s, exponent);
}
float Hash(uint2 p) {
    uint n = p.x * 1597334673u ^ p.y * 3812015801u ^ FrameIndex * 2798796415u;
    return float(n * 1103515245u >> 9) / 8388608.0;
}
float4 ps_main(float4 position : SV_Position, float3 world : POSITION1, float3 normal : NORMAL, float3 tangent : TANGENT,
               float2 uv : TEXCOORD) : SV_Target {
    float alpha = AlphaMap.Sample(Aniso, uv).a * Hair.alpha;
    if (alpha < Hash(uint2(position.xy)))
        discard;
    float3 v = normalize(Eye - world), n = normalize(normal);
    float shift = ShiftMap.Sample(Aniso, uv).r - 0.5;
    float3 t1 = ShiftTangent(tangent, n, Hair.shift1 + shift), t2 = ShiftTangent(tangent, n, Hair.shift2 + shift);
    float3 color = Hair.albedo * saturate(lerp(0.25, 1, dot(n, LightDir)));
    color += Hair.specular1 * StrandSpecular(t1, v, LightDir, Hair.power1);
    color += Hair.specular2 * StrandSpecular(t2, v, LightDir, Hair.power2) * Hair.noise;
    return float4(color * LightColor, 1);
}
