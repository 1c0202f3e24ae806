// Effects of Direct3D 9 grown into 10: matrices in one block, lights as arrays, texture as global.
// run: vertex=MainVS fragment=MainPS
// glslang: none, its loose globals have no bindings of their own
#define NUM_LIGHTS 3
float4x4 matWorld;
float4x4 matWorldViewProj;
float4 LightPosition[NUM_LIGHTS];
float4 LightDiffuse[NUM_LIGHTS];
float4 MaterialAmbient = float4(0.1f, 0.1f, 0.1f, 1.0f);
float4 MaterialDiffuse;
float4 MaterialSpecular;
float SpecularPower;
float3 EyePosition;
Texture2D DiffuseTexture;
SamplerState DiffuseSampler;

struct VS_INPUT {
    float4 Position : POSITION;
    float3 Normal : NORMAL;
    float2 TexCoord : TEXCOORD0;
};
struct VS_OUTPUT {
    float4 Position : SV_POSITION;
    float2 TexCoord : TEXCOORD0;
    float3 Normal : TEXCOORD1;
    float3 WorldPos : TEXCOORD2;
};
VS_OUTPUT MainVS(VS_INPUT In) {
    VS_OUTPUT Out = (VS_OUTPUT)0;
    Out.Position = mul(In.Position, matWorldViewProj);
    Out.WorldPos = mul(In.Position, matWorld).xyz;
    Out.Normal = mul(In.Normal, (float3x3)matWorld);
    Out.TexCoord = In.TexCoord;
    return Out;
}
float4 MainPS(VS_OUTPUT In) : SV_TARGET {
    float3 N = normalize(In.Normal);
    float3 V = normalize(EyePosition - In.WorldPos);
    float4 Diffuse = MaterialAmbient, Specular = 0;
    for (int i = 0; i < NUM_LIGHTS; i++) {
        float3 L = normalize(LightPosition[i].xyz - In.WorldPos);
        float4 Lit = lit(dot(N, L), dot(N, normalize(L + V)), SpecularPower);
        Diffuse += LightDiffuse[i] * MaterialDiffuse * Lit.y;
        Specular += LightDiffuse[i] * MaterialSpecular * Lit.z;
    }
    return DiffuseTexture.Sample(DiffuseSampler, In.TexCoord) * Diffuse + Specular;
}
