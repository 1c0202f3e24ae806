// A triangle over the whole screen, without buffers, and a copy of a texture.
// run: vertex=vs_main fragment=ps_copy
// run: vertex=vs_main fragment=ps_gamma
struct VSOutput {
    float4 position : SV_Position;
    float2 uv : TEXCOORD0;
};
Texture2D Source : register(t0);
SamplerState Point : register(s0);
cbuffer Copy : register(b0) {
    float4 UvScaleBias;
    float Gamma;
    float Level;
};

VSOutput vs_main(uint id : SV_VertexID) {
    VSOutput output;
    output.uv = float2((id << 1) & 2, id & 2);
    output.position = float4(output.uv * float2(2, -2) + float2(-1, 1), 0, 1);
    return output;
}
float4 ps_copy(VSOutput input) : SV_Target {
    return Source.SampleLevel(Point, input.uv * UvScaleBias.xy + UvScaleBias.zw, Level);
}
float4 ps_gamma(VSOutput input) : SV_Target {
    float4 color = Source.Load(int3(input.position.xy, 0));
    return float4(pow(abs(color.rgb), 1.0f / Gamma), color.a);
}
