// Terrain: namespaces, aliases, matrices, loops, a struct with methods.
namespace noise {
    typedef float3 Gradient;

    float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }

    float lattice(int2 cell) {
        int n = cell.x * 374761393 + cell.y * 668265263;
        n = (n ^ (n >> 13)) * 1274126177;
        return float(n ^ (n >> 16)) / 2147483647.0;
    }

    float value(float2 at) {
        int2 cell = int2(floor(at));
        float2 part = at - float2(cell);
        float a = lattice(cell), b = lattice(cell + int2(1, 0));
        float c = lattice(cell + int2(0, 1)), d = lattice(cell + int2(1, 1));
        float2 s = float2(fade(part.x), fade(part.y));
        return lerp(lerp(a, b, s.x), lerp(c, d, s.x), s.y);
    }

    namespace fractal {
        float sum(float2 at, uint octaves, float gain) {
            float total = 0, weight = 1;
            for (uint i = 0; i < octaves; ++i) {
                total += weight * value(at);
                at *= 2.0;
                weight *= gain;
            }
            return total;
        }
    }
}

using Frame = matrix<float, 3, 3>;

struct Patch {
    float2 corner;
    float scale;
    uint level;

    float2 place(float2 uv) { return corner + uv * scale; }
    float height(float2 uv) {
        float2 at = place(uv);
        return noise::fractal::sum(at, 4 + level, 0.5);
    }
    Frame frame(float2 uv) {
        const float e = 1.0 / 64;
        float h = height(uv);
        float3 x = float3(e, height(uv + float2(e, 0)) - h, 0);
        float3 z = float3(0, height(uv + float2(0, e)) - h, e);
        float3 n = normalize(cross(z, x));
        return Frame(normalize(x), n, normalize(z));
    }
};

cbuffer Terrain : register(b1) {
    row_major float4x4 world_to_clip;
    Patch patches[16];
    float4 sun : packoffset(c100);
}

struct Vertex {
    float2 uv : TEXCOORD0;
    uint patch_index : BLENDINDICES;
};

struct Pixel {
    float4 position : SV_Position;
    centroid float3 normal : NORMAL;
    nointerpolation uint level : LEVEL;
};

Pixel terrain_vertex(Vertex v) {
    Patch p = patches[v.patch_index];
    float2 at = p.place(v.uv);
    Pixel o;
    o.position = mul(float4(at.x, p.height(v.uv), at.y, 1), world_to_clip);
    o.normal = p.frame(v.uv)[1];
    o.level = p.level;
    return o;
}

float4 terrain_pixel(Pixel i) : SV_Target0 {
    float lit = saturate(dot(normalize(i.normal), sun.xyz));
    float3 bands[4] = {
        { 0.2, 0.3, 0.1 },
        { 0.4, 0.35, 0.25 },
        { 0.5, 0.5, 0.5 },
        { 0.9, 0.9, 0.95 },
    };
    float3 colour = bands[min(i.level, 3u)];
    if (sun.w > 0 && lit < sun.w)
        discard;
    return float4(colour * (0.1 + 0.9 * lit), 1);
}
