// Skinned vertices: a palette of bones as 4x3 matrices, morph targets, the frame before.
// run: vertex=vs_main
#define MAX_BONES 128

cbuffer PerView : register(b0) {
    row_major float4x4 g_ViewProj;
    row_major float4x4 g_PrevViewProj;
    float4 g_EyePos;
}

cbuffer PerObject : register(b1) {
    float4x3 g_Bones[MAX_BONES];
    float4x3 g_PrevBones[MAX_BONES];
    float4 g_MorphWeights[2];
    uint g_VertexCount;
    bool g_HasMorphs;
};

struct MorphDelta {
    float3 position;
    float3 normal;
};
StructuredBuffer<MorphDelta> g_Morphs : register(t0);

struct VSIn {
    float3 pos : POSITION;
    float3 nrm : NORMAL;
    float4 tan : TANGENT;
    float2 uv : TEXCOORD;
    uint4 indices : BLENDINDICES;
    float4 weights : BLENDWEIGHT;
};

struct VSOut {
    float4 pos : SV_POSITION;
    float3 world : TEXCOORD0;
    float3 nrm : TEXCOORD1;
    float4 tan : TEXCOORD2;
    float2 uv : TEXCOORD3;
    float4 current : TEXCOORD4;
    float4 previous : TEXCOORD5;
};

float4x3 Blend(float4x3 bones[MAX_BONES], uint4 index, float4 weight) {
    return bones[index.x] * weight.x + bones[index.y] * weight.y + bones[index.z] * weight.z + bones[index.w] * weight.w;
}

void ApplyMorphs(uint vertex, inout float3 pos, inout float3 nrm) {
    for (uint i = 0; i < 8; i++) {
        float w = g_MorphWeights[i / 4][i % 4];
        if (w == 0.0f)
            continue;
        MorphDelta d = g_Morphs[i * g_VertexCount + vertex];
        pos += w * d.position;
        nrm += w * d.normal;
    }
}

VSOut vs_main(VSIn input, uint id : SV_VertexID) {
    VSOut o = (VSOut)0;
    float3 pos = input.pos, nrm = input.nrm;
    if (g_HasMorphs)
        ApplyMorphs(id, pos, nrm);

    float4x3 bone = Blend(g_Bones, input.indices, input.weights);
    float4x3 before = Blend(g_PrevBones, input.indices, input.weights);
    float3 world = mul(float4(pos, 1), bone);
    o.world = world;
    o.nrm = normalize(mul(nrm, (float3x3)bone));
    o.tan = float4(normalize(mul(input.tan.xyz, (float3x3)bone)), input.tan.w);
    o.pos = mul(float4(world, 1), g_ViewProj);
    o.current = o.pos;
    o.previous = mul(float4(mul(float4(pos, 1), before), 1), g_PrevViewProj);
    o.uv = input.uv;
    return o;
}
