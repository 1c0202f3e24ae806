// Constant blocks and vertex data in the way of Direct3D 9 and 10, dialect of 2018.
cbuffer PerFrame : register(b0)
{
    float4x4 view_projection : packoffset(c0);
    float3 camera            : packoffset(c4);
    float  time              : packoffset(c4.w);
    float4 lights[8]         : packoffset(c5);
};

cbuffer PerObject : register(b1)
{
    column_major float4x4 world;
    float3x4 bone_rows[32];
    bool receives_light;
};

uniform float4 tint = float4(1, 1, 1, 1);
extern float bias;

struct VS_IN
{
    float3 pos     : POSITION0;
    float3 nrm     : NORMAL0;
    float4 weights : BLENDWEIGHT0;
    uint4  indices : BLENDINDICES0;
};

struct VS_OUT
{
    float4 pos : SV_POSITION;
    float3 nrm : NORMAL0;
    float4 col : COLOR0;
};

float3 skin(float4 p, float4 w, uint4 idx)
{
    float3 r = 0;
    [unroll] for (int i = 0; i < 4; i++)
        r += w[i] * mul(bone_rows[idx[i]], p);
    return r;
}

VS_OUT vs_main(VS_IN i)
{
    VS_OUT o = (VS_OUT)0;
    float3 p = skin(float4(i.pos, 1), i.weights, i.indices);
    o.pos = mul(mul(float4(p, 1), world), view_projection);
    o.nrm = mul(i.nrm, (float3x3)world);
    for (int i2 = 0; i2 < 8; ++i2)
    {
        float4 l = lights[i2];
        float3 d = l.xyz - p;
        o.col.rgb += receives_light ? saturate(dot(o.nrm, d) / dot(d, d)) * l.w : 0;
    }
    o.col.a = time + bias;
    return o;
}

float4 ps_main(VS_OUT i) : SV_TARGET
{
    return i.col * tint;
}
