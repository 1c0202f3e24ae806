// Lines and wire boxes for those who look for faults.
// run: vertex=vs_lines fragment=ps_color
// run: vertex=vs_box fragment=ps_color
cbuffer Debug : register(b0) { row_major float4x4 ViewProj; float4 BoxMin[16]; float4 BoxMax[16]; };
struct Line { float3 from; uint color_from; float3 to; uint color_to; };
StructuredBuffer<Line> Lines : register(t0);
struct Out { float4 position : SV_Position; float4 color : COLOR0; };
float4 UnpackColor(uint c) { return float4(c & 255, (c >> 8) & 255, (c >> 16) & 255, c >> 24) / 255.0f; }
Out vs_lines(uint id : SV_VertexID) {
    Line l = Lines[id >> 1];
    Out o;
    const bool second = (id & 1) != 0;
    o.position = mul(float4(second ? l.to : l.from, 1), ViewProj);
    o.color = UnpackColor(second ? l.color_to : l.color_from);
    return o;
}
Out vs_box(uint id : SV_VertexID, uint instance : SV_InstanceID) {
    static const uint corners[24] = { 0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7 };
    uint corner = corners[id];
    float3 p = float3(corner & 1 ? BoxMax[instance].x : BoxMin[instance].x, corner & 2 ? BoxMax[instance].y : BoxMin[instance].y,
                      corner & 4 ? BoxMax[instance].z : BoxMin[instance].z);
    Out o;
    o.position = mul(float4(p, 1), ViewProj);
    o.color = float4(0, 1, 0, 1);
    return o;
}
float4 ps_color(Out i) : SV_Target { return i.color; }
