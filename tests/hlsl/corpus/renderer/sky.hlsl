// A sky by single scattering, on the far plane.
// run: vertex=vs_main fragment=ps_main
cbuffer Sky : register(b0) {
    float4x4 InverseViewProjection;
    float3 SunDirection;
    float SunIntensity;
    float3 CameraPosition;
    float PlanetRadius;
    float AtmosphereRadius;
    float MieAnisotropy;
    float2 ScaleHeights;
    float3 RayleighScattering;
    float MieScattering;
};
#define STEPS 16
#define LIGHT_STEPS 4
static const float kPi = 3.14159265;

void vs_main(uint id : SV_VertexID, out float4 position : SV_Position, out float3 direction : DIRECTION) {
    float2 p = float2(id == 1 ? 3.0 : -1.0, id == 2 ? 3.0 : -1.0);
    position = float4(p, 1, 1);
    float4 far_point = mul(InverseViewProjection, position);
    direction = far_point.xyz / far_point.w - CameraPosition;
}

float2 RaySphere(float3 origin, float3 direction, float radius) {
    float b = dot(origin, direction);
    float c = dot(origin, origin) - radius * radius;
    float d = b * b - c;
    if (d < 0)
        return float2(1e5, -1e5);
    d = sqrt(d);
    return float2(-b - d, -b + d);
}
float2 Density(float3 p) {
    float h = length(p) - PlanetRadius;
    return exp(-h / ScaleHeights);
}
float PhaseRayleigh(float c) { return 3.0 / (16.0 * kPi) * (1 + c * c); }
float PhaseMie(float c, float g) {
    float gg = g * g;
    return 3.0 / (8.0 * kPi) * ((1 - gg) * (1 + c * c)) / ((2 + gg) * pow(abs(1 + gg - 2 * g * c), 1.5));
}

float4 ps_main(float4 position : SV_Position, float3 direction : DIRECTION) : SV_Target {
    const float3 ray = normalize(direction);
    const float3 origin = float3(0, PlanetRadius + 1.0, 0) + CameraPosition;
    float2 hit = RaySphere(origin, ray, AtmosphereRadius);
    float3 rayleigh = 0.0.xxx, mie = 0.0.xxx;
    float2 depth = 0;
    float step = (hit.y - max(hit.x, 0)) / STEPS;
    for (int i = 0; i < STEPS; ++i) {
        float3 p = origin + ray * (max(hit.x, 0) + (i + 0.5) * step);
        float2 density = Density(p) * step;
        depth += density;
        float light_step = RaySphere(p, SunDirection, AtmosphereRadius).y / LIGHT_STEPS;
        float2 light_depth = 0;
        [unroll(LIGHT_STEPS)]
        for (int j = 0; j < LIGHT_STEPS; ++j)
            light_depth += Density(p + SunDirection * (j + 0.5) * light_step) * light_step;
        float3 tau = RayleighScattering * (depth.x + light_depth.x) + MieScattering * 1.1 * (depth.y + light_depth.y);
        float3 attenuation = exp(-tau);
        rayleigh += density.x * attenuation;
        mie += density.y * attenuation;
    }
    float c = dot(ray, SunDirection);
    float3 color = SunIntensity * (rayleigh * RayleighScattering * PhaseRayleigh(c) + mie * MieScattering * PhaseMie(c, MieAnisotropy));
    return float4(color, 1.0f);
}
