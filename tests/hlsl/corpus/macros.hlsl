// Much of the text comes from macros, as in sources of older engines.
#define DECLARE_CURVE(name, power)             \
    float name(float x) {                      \
        float r = 1;                           \
        [unroll] for (int i = 0; i < power; i++) \
            r *= x;                            \
        return r;                              \
    }
#define SQUARE(x) ((x) * (x))
#define CLAMP01(x) clamp(x, 0, 1)
#define CONCAT(a, b) a##b
#define FIELD(type, name, index) type name : CONCAT(TEXCOORD, index)
#ifdef HIGH_QUALITY
#define STEPS 64
#else
#define STEPS 16
#endif

DECLARE_CURVE(cube, 3)
DECLARE_CURVE(sixth, 6)

struct Link {
    float4 position : SV_Position;
    FIELD(float2, uv, 0);
    FIELD(float3, view, 1);
#if STEPS > 32
    FIELD(float3, detail, 2);
#endif
};

float march(float3 from, float3 way) {
    float t = 0;
    for (int i = 0; i < STEPS; ++i) {
        float3 at = from + way * t;
        float d = length(at) - 1.0 + 0.1 * sin(CLAMP01(at.x) * 6.28);
        if (d < 0.001)
            break;
        t += d * CLAMP01(SQUARE(1 - d));
    }
    return t;
}

float4 macros_pixel(Link link) : SV_Target {
    float t = march(link.view, float3(link.uv, 1));
    return float4(cube(t), sixth(t), SQUARE(t), 1);
}
