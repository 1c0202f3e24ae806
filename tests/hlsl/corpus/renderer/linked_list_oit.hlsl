// Transparency by lists of fragments: heads in an image, nodes in a buffer, sorted when drawn.
// run: fragment=ps_store
// run: fragment=ps_sort
#define MAX_FRAGMENTS 8
struct Node { uint color; float depth; uint next; };
RWTexture2D<uint> Heads : register(u1);
RWStructuredBuffer<Node> Nodes : register(u2);
RWByteAddressBuffer Counter : register(u3);
Texture2D Albedo : register(t0);
SamplerState Linear : register(s0);
cbuffer Lists : register(b0) { uint NodeCount; };
uint PackColor(float4 c) {
    uint4 u = (uint4)(saturate(c) * 255.0f + 0.5f);
    return u.x | u.y << 8 | u.z << 16 | u.w << 24;
}
float4 UnpackColor(uint p) { return float4(p & 0xFF, p >> 8 & 0xFF, p >> 16 & 0xFF, p >> 24) / 255.0f; }
void ps_store(float4 position : SV_Position, float2 uv : TEXCOORD0) {
    uint index;
    Counter.InterlockedAdd(0, 1, index);
    if (index >= NodeCount)
        return;
    uint before;
    InterlockedExchange(Heads[uint2(position.xy)], index, before);
    Node node = { PackColor(Albedo.Sample(Linear, uv)), position.z, before };
    Nodes[index] = node;
}
float4 ps_sort(float4 position : SV_Position) : SV_Target {
    Node list[MAX_FRAGMENTS];
    uint count = 0;
    uint at = Heads[uint2(position.xy)];
    while (at != 0xFFFFFFFF && count < MAX_FRAGMENTS) {
        list[count++] = Nodes[at];
        at = Nodes[at].next;
    }
    for (uint i = 1; i < count; ++i) {
        Node node = list[i];
        uint j = i;
        while (j > 0 && list[j - 1].depth < node.depth) {
            list[j] = list[j - 1];
            --j;
        }
        list[j] = node;
    }
    float4 color = 0;
    for (uint k = 0; k < count; ++k) {
        float4 c = UnpackColor(list[k].color);
        color = float4(lerp(color.rgb, c.rgb, c.a), 1 - (1 - color.a) * (1 - c.a));
    }
    return color;
}
