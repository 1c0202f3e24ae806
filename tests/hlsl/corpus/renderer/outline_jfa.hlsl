// Outlines by jump flooding: seeds, jumps, the distance drawn.
// run: fragment=ps_seed
// run: fragment=ps_jump
// run: fragment=ps_outline
cbuffer Flood : register(b0) { int2 Step; float2 Size; float4 Color; float Width; };
Texture2D<float> Mask : register(t0);
Texture2D<int2> Seeds : register(t1);
int2 ps_seed(float4 position : SV_Position) : SV_Target {
    float m = Mask.Load(int3(position.xy, 0));
    return m > 0.5 ? (int2)position.xy : int2(-1, -1);
}
int2 ps_jump(float4 position : SV_Position) : SV_Target {
    int2 here = (int2)position.xy;
    int2 best = int2(-1, -1);
    float distance = 1e9;
    [unroll] for (int y = -1; y <= 1; ++y)
        [unroll] for (int x = -1; x <= 1; ++x) {
            int2 at = clamp(here + int2(x, y) * Step, int2(0, 0), (int2)Size - 1);
            int2 seed = Seeds.Load(int3(at, 0));
            float2 d = float2(seed - here);
            if (seed.x >= 0 && dot(d, d) < distance) {
                distance = dot(d, d);
                best = seed;
            }
        }
    return best;
}
float4 ps_outline(float4 position : SV_Position) : SV_Target {
    int2 seed = Seeds.Load(int3(position.xy, 0));
    if (seed.x < 0)
        discard;
    float d = length(float2(seed) - position.xy);
    float inside = Mask.Load(int3(position.xy, 0));
    return Color * (1 - inside) * smoothstep(Width + 0.5, Width - 0.5, d);
}
