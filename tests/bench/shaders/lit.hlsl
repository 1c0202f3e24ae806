// SPDX-License-Identifier: MIT
// A lit pixel shader by ten macros, as engines write one. DITHER is read where FOG is, WETNESS and
// SNOW in one condition.
struct Pixel {
    float4 position : SV_Position;
    float3 world : TEXCOORD0;
    float3 normal : TEXCOORD1;
    float4 tangent : TEXCOORD2;
    float2 uv : TEXCOORD3;
};

cbuffer Frame : register(b0) {
    float4 camera;
    float4 sun_way;
    float4 sun_colour;
    float4 sky_colour;
    float4 fog_colour;
    float4 fog_range;
    float4 light_places[4];
    float4 light_colours[4];
    float4x4 shadow_matrix;
    float4 weather;
};

Texture2D base_map : register(t1);
Texture2D normal_map : register(t2);
Texture2D shadow_map : register(t3);
SamplerState linear_sampler : register(s4);

float distribution(float3 normal, float3 half_way, float roughness) {
    float a = roughness * roughness;
    float a2 = a * a;
    float n_h = saturate(dot(normal, half_way));
    float d = n_h * n_h * (a2 - 1.0) + 1.0;
    return a2 / max(3.14159265 * d * d, 0.0001);
}

float visibility(float3 normal, float3 view, float3 light, float roughness) {
    float k = (roughness + 1.0) * (roughness + 1.0) / 8.0;
    float n_v = saturate(dot(normal, view));
    float n_l = saturate(dot(normal, light));
    float v = n_v / (n_v * (1.0 - k) + k);
    float l = n_l / (n_l * (1.0 - k) + k);
    return v * l;
}

float3 fresnel(float cosine, float3 f0) {
    return f0 + (1.0 - f0) * pow(saturate(1.0 - cosine), 5.0);
}

float3 shade(float3 normal, float3 view, float3 light, float3 radiance, float3 albedo, float roughness, float metallic) {
    float3 half_way = normalize(view + light);
    float3 f0 = lerp(float3(0.04, 0.04, 0.04), albedo, metallic);
    float3 f = fresnel(saturate(dot(half_way, view)), f0);
#ifdef SPECULAR
    float d = distribution(normal, half_way, roughness);
    float g = visibility(normal, view, light, roughness);
    float3 specular = d * g * f / max(4.0 * saturate(dot(normal, view)) * saturate(dot(normal, light)), 0.001);
#else
    float3 specular = float3(0.0, 0.0, 0.0);
#endif
    float3 diffuse = (1.0 - f) * (1.0 - metallic) * albedo / 3.14159265;
    return (diffuse + specular) * radiance * saturate(dot(normal, light));
}

float shadow_at(float3 world) {
    float4 at = mul(shadow_matrix, float4(world, 1.0));
    float2 uv = at.xy / at.w * float2(0.5, -0.5) + 0.5;
    float depth = shadow_map.SampleLevel(linear_sampler, uv, 0.0).x;
    return at.z / at.w - 0.002 < depth ? 1.0 : 0.0;
}

float3 mapped_normal(Pixel pixel) {
    float3 n = normalize(pixel.normal);
#ifdef NORMAL_MAP
    float3 t = normalize(pixel.tangent.xyz - n * dot(n, pixel.tangent.xyz));
    float3 b = cross(n, t) * pixel.tangent.w;
    float3 m = normal_map.Sample(linear_sampler, pixel.uv).xyz * 2.0 - 1.0;
    n = normalize(t * m.x + b * m.y + n * m.z);
#endif
    return n;
}

float3 with_fog(float3 colour, float3 world, float2 at) {
    float far = length(world - camera.xyz);
    float amount = saturate((far - fog_range.x) / (fog_range.y - fog_range.x));
#ifdef DITHER
    amount = saturate(amount + (frac(sin(dot(at, float2(12.9898, 78.233))) * 43758.5453) - 0.5) / 64.0);
#endif
    return lerp(colour, fog_colour.xyz, amount);
}

float4 ps_main(Pixel pixel) : SV_Target {
    float4 base = base_map.Sample(linear_sampler, pixel.uv);
#ifdef ALPHA_TEST
    if (base.w < 0.5)
        discard;
#endif
    float3 albedo = base.xyz;
    float roughness = 0.6;
    float metallic = 0.0;
    float3 normal = mapped_normal(pixel);
#if defined(WETNESS) || defined(SNOW)
    roughness = lerp(roughness, 0.1, weather.x);
    albedo = lerp(albedo, albedo * 0.6, weather.x);
#endif
    float3 view = normalize(camera.xyz - pixel.world);
    float3 colour = sky_colour.xyz * albedo * (normal.y * 0.5 + 0.5);
    float sun = 1.0;
#ifdef SHADOWS
    sun = shadow_at(pixel.world);
#endif
    colour += shade(normal, view, sun_way.xyz, sun_colour.xyz * sun, albedo, roughness, metallic);
#ifdef POINT_LIGHTS
    for (int i = 0; i < 4; ++i) {
        float3 way = light_places[i].xyz - pixel.world;
        float far2 = max(dot(way, way), 0.01);
        colour += shade(normal, view, way / sqrt(far2), light_colours[i].xyz / far2, albedo, roughness, metallic);
    }
#endif
#ifdef FOG
    colour = with_fog(colour, pixel.world, pixel.position.xy);
#endif
#ifdef TONE_MAP
    colour = colour / (colour + 1.0);
#endif
    return float4(colour, base.w);
}
