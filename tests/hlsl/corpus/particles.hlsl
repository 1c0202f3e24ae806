// Particles in a compute stage: structured buffers, atomics, groupshared memory, barriers.
#define GROUP 64
#define LIFE(p) ((p).velocity_life.w)

struct Particle
{
    float4 position_size;
    float4 velocity_life;
};

struct Emitter
{
    float3 origin;
    uint seed;
    float3 direction;
    float spread;
};

ConstantBuffer<Emitter> emitter : register(b0);
RWStructuredBuffer<Particle> particles : register(u0);
RWByteAddressBuffer counters : register(u1, space1);
Texture3D<float4> wind : register(t0);
SamplerState wind_sampler : register(s0);

groupshared uint alive[GROUP];
groupshared float4 bounds_low;

static const float kGravity = -9.81;
static const float2 kDrag[3] = { float2(0.1, 0.0), float2(0.2, 0.5), float2(0.4, 1.0) };

uint hash(uint x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

float unit(inout uint state)
{
    state = hash(state + 0x9e3779b9u);
    return (state & 0xffffff) / 16777216.0;
}

void spawn(inout Particle p, uint index)
{
    uint state = emitter.seed ^ index;
    float3 jitter = float3(unit(state), unit(state), unit(state)) * 2 - 1;
    p.position_size = float4(emitter.origin, 0.1 + 0.05 * unit(state));
    p.velocity_life = float4(emitter.direction + jitter * emitter.spread, 1.0);
}

float drag_of(float life)
{
    float drag = kDrag[0].x;
    [unroll]
    for (int i = 1; i < 3; i++)
    {
        if (life < kDrag[i].y)
            break;
        drag = kDrag[i].x;
    }
    return drag;
}

[numthreads(GROUP, 1, 1)]
void simulate(uint3 id : SV_DispatchThreadID, uint local : SV_GroupIndex)
{
    Particle p = particles[id.x];
    if (LIFE(p) <= 0)
    {
        spawn(p, id.x);
    }
    else
    {
        float3 push = wind.SampleLevel(wind_sampler, p.position_size.xyz * 0.01, 0).xyz;
        p.velocity_life.y += kGravity * 0.016;
        p.velocity_life.xyz += (push - p.velocity_life.xyz) * drag_of(LIFE(p));
        p.position_size.xyz += p.velocity_life.xyz * 0.016;
        p.velocity_life.w -= 0.016;
    }
    particles[id.x] = p;

    alive[local] = LIFE(p) > 0 ? 1 : 0;
    GroupMemoryBarrierWithGroupSync();
    for (uint stride = GROUP / 2; stride > 0; stride >>= 1)
    {
        if (local < stride)
        {
            alive[local] += alive[local + stride];
        }
        GroupMemoryBarrierWithGroupSync();
    }
    if (local == 0)
    {
        uint before;
        counters.InterlockedAdd(0, alive[0], before);
        bounds_low = float4(before, 0, 0, 0);
    }
}
