// An environment: irradiance by harmonics, prefiltered levels, the table of a split sum.
// run: compute=cs_project
// run: compute=cs_prefilter
// run: compute=cs_brdf
#define PI 3.14159265359
TextureCube Environment : register(t0);
SamplerState Linear : register(s0);
RWStructuredBuffer<float4> Coefficients : register(u0);
RWTexture2DArray<float4> Prefiltered : register(u1);
RWTexture2D<float2> Table : register(u2);
cbuffer Filter : register(b0) {
    float Roughness;
    uint SampleCount;
    uint FaceSize;
    float SourceSize;
};
groupshared float3 Partial[9][64];

float3 Direction(uint face, float2 uv) {
    float2 p = uv * 2 - 1;
    switch (face) {
        case 0: return normalize(float3(1, -p.y, -p.x));
        case 1: return normalize(float3(-1, -p.y, p.x));
        case 2: return normalize(float3(p.x, 1, p.y));
        case 3: return normalize(float3(p.x, -1, -p.y));
        case 4: return normalize(float3(p.x, -p.y, 1));
        default: return normalize(float3(-p.x, -p.y, -1));
    }
}
float RadicalInverse(uint bits) { return reversebits(bits) * 2.3283064365386963e-10; }
float2 Hammersley(uint i, uint n) { return float2((float)i / n, RadicalInverse(i)); }
float3 ImportanceSample(float2 x, float roughness, float3 n) {
    float a = roughness * roughness;
    float phi = 2 * PI * x.x;
    float c = sqrt((1 - x.y) / (1 + (a * a - 1) * x.y));
    float s = sqrt(1 - c * c);
    float3 up = abs(n.z) < 0.999 ? float3(0, 0, 1) : float3(1, 0, 0);
    float3 t = normalize(cross(up, n));
    return t * (s * cos(phi)) + cross(n, t) * (s * sin(phi)) + n * c;
}
void Basis(float3 d, out float sh[9]) {
    sh[0] = 0.282095;
    sh[1] = 0.488603 * d.y;
    sh[2] = 0.488603 * d.z;
    sh[3] = 0.488603 * d.x;
    sh[4] = 1.092548 * d.x * d.y;
    sh[5] = 1.092548 * d.y * d.z;
    sh[6] = 0.315392 * (3 * d.z * d.z - 1);
    sh[7] = 1.092548 * d.x * d.z;
    sh[8] = 0.546274 * (d.x * d.x - d.y * d.y);
}
[numthreads(8, 8, 1)]
void cs_project(uint index : SV_GroupIndex, uint3 thread : SV_GroupThreadID) {
    float3 sums[9];
    uint k;
    for (k = 0; k < 9; ++k)
        sums[k] = 0;
    for (uint face = 0; face < 6; ++face) {
        float3 d = Direction(face, (thread.xy + 0.5) / 8);
        float3 radiance = Environment.SampleLevel(Linear, d, 4).rgb;
        float sh[9];
        Basis(d, sh);
        for (k = 0; k < 9; ++k)
            sums[k] += radiance * sh[k];
    }
    for (k = 0; k < 9; ++k)
        Partial[k][index] = sums[k];
    GroupMemoryBarrierWithGroupSync();
    if (index < 9) {
        float3 total = 0;
        for (uint i = 0; i < 64; ++i)
            total += Partial[index][i];
        Coefficients[index] = float4(total * (4 * PI / 384), 0);
    }
}
[numthreads(8, 8, 1)]
void cs_prefilter(uint3 id : SV_DispatchThreadID) {
    float3 n = Direction(id.z, (id.xy + 0.5) / FaceSize);
    float4 sum = 0;
    for (uint i = 0; i < SampleCount; ++i) {
        float3 h = ImportanceSample(Hammersley(i, SampleCount), Roughness, n);
        float3 l = 2 * dot(n, h) * h - n;
        float cosine = saturate(dot(n, l));
        if (cosine > 0) {
            float nh = saturate(dot(n, h));
            float a2 = pow(Roughness, 4);
            float pdf = a2 / (PI * pow(nh * nh * (a2 - 1) + 1, 2)) / 4 + 1e-4;
            float level = 0.5 * log2(SourceSize * SourceSize * pdf / SampleCount);
            sum += float4(Environment.SampleLevel(Linear, l, max(level, 0)).rgb * cosine, cosine);
        }
    }
    Prefiltered[id] = float4(sum.rgb / max(sum.a, 1e-4), 1);
}
[numthreads(8, 8, 1)]
void cs_brdf(uint3 id : SV_DispatchThreadID) {
    float2 uv = (id.xy + 0.5) / 128.0;
    float3 v = float3(sqrt(1 - uv.x * uv.x), 0, uv.x);
    float2 sum = 0;
    for (uint i = 0; i < 64; ++i) {
        float3 h = ImportanceSample(Hammersley(i, 64u), uv.y, float3(0, 0, 1));
        float3 l = 2 * dot(v, h) * h - v;
        if (l.z > 0) {
            float k = uv.y * uv.y / 2;
            float g = uv.x / (uv.x * (1 - k) + k) * l.z / (l.z * (1 - k) + k);
            float visible = g * saturate(dot(v, h)) / max(h.z * uv.x, 1e-4);
            float fc = pow(1 - saturate(dot(v, h)), 5);
            sum += float2((1 - fc) * visible, fc * visible);
        }
    }
    Table[id.xy] = sum / 64;
}
