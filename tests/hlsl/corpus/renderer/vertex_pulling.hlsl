// Meshes from buffers of bytes: formats packed by hand, no vertex buffers.
// run: vertex=vs_main fragment=ps_main
ByteAddressBuffer Vertices : register(t0);
ByteAddressBuffer Indices : register(t1);
struct MeshView { uint vertex_offset; uint index_offset; uint stride; uint flags; };
struct DrawConstants { float4x4 world_view_proj; MeshView mesh; };
ConstantBuffer<DrawConstants> Draw : register(b0);
float2 UnpackHalf2(uint v) { return float2(f16tof32(v & 0xffff), f16tof32(v >> 16)); }
float3 UnpackNormal(uint v) {
    int3 n = int3(v << 22, v << 12, v << 2) >> 22;
    return max(float3(n) / 511.0, -1);
}
uint IndexOf(uint id) {
    if (Draw.mesh.flags & 1)
        return Indices.Load(Draw.mesh.index_offset + id * 4);
    uint word = Indices.Load((Draw.mesh.index_offset + id * 2) & ~3u);
    return (id & 1) ? word >> 16 : word & 0xffff;
}
void vs_main(uint id : SV_VertexID, out float4 position : SV_Position, out float3 normal : NORMAL, out float2 uv : TEXCOORD0) {
    uint at = Draw.mesh.vertex_offset + IndexOf(id) * Draw.mesh.stride;
    position = mul(Draw.world_view_proj, float4(asfloat(Vertices.Load3(at)), 1));
    uint2 packed = Vertices.Load2(at + 12);
    normal = UnpackNormal(packed.x);
    uv = UnpackHalf2(packed.y);
}
float4 ps_main(float4 position : SV_Position, float3 normal : NORMAL, float2 uv : TEXCOORD0) : SV_Target {
    return float4(normalize(normal) * 0.5 + 0.5, frac(uv.x + uv.y));
}
