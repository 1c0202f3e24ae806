// Particles on the GPU: emission and movement, with lists of those that live and those that do not.
// run: compute=cs_emit
// run: compute=cs_update
struct Particle {
    float3 position;
    float age;
    float3 velocity;
    float lifetime;
    float4 color;
    float size;
    float rotation;
    uint flags;
    uint seed;
};
cbuffer Emitter : register(b0) {
    float4x4 EmitterToWorld;
    float3 Gravity;
    float DeltaTime;
    float4 StartColor;
    float4 EndColor;
    float2 LifetimeRange;
    float2 SpeedRange;
    uint EmitCount;
    uint MaxParticles;
    float Drag;
    float Turbulence;
};
RWStructuredBuffer<Particle> Particles : register(u0);
RWStructuredBuffer<uint> DeadList : register(u1);
RWStructuredBuffer<uint> AliveList : register(u2);
RWByteAddressBuffer Counters : register(u3);
Texture3D<float3> Noise : register(t0);
SamplerState Wrap : register(s0);

#define COUNTER_DEAD 0
#define COUNTER_ALIVE 4

uint Hash(uint s) {
    s ^= 2747636419u;
    s *= 2654435769u;
    s ^= s >> 16;
    s *= 2654435769u;
    s ^= s >> 16;
    return s * 2654435769u;
}
float Random(inout uint seed) {
    seed = Hash(seed);
    return seed / 4294967295.0f;
}

[numthreads(64, 1, 1)]
void cs_emit(uint3 id : SV_DispatchThreadID) {
    if (id.x >= EmitCount)
        return;
    uint dead;
    Counters.InterlockedAdd(COUNTER_DEAD, 0xffffffffu, dead);
    if (dead == 0 || dead > MaxParticles)
        return;
    uint index = DeadList[dead - 1];
    Particle p;
    p.seed = Hash(index ^ asuint(DeltaTime));
    float3 direction = normalize(float3(Random(p.seed), Random(p.seed), Random(p.seed)) * 2 - 1);
    p.position = mul(EmitterToWorld, float4(direction * 0.1, 1)).xyz;
    p.velocity = direction * lerp(SpeedRange.x, SpeedRange.y, Random(p.seed));
    p.lifetime = lerp(LifetimeRange.x, LifetimeRange.y, Random(p.seed));
    p.age = 0;
    p.color = StartColor;
    p.size = 0.05f + 0.1f * Random(p.seed);
    p.rotation = Random(p.seed) * 6.2831853f;
    p.flags = 1;
    Particles[index] = p;
    uint slot;
    Counters.InterlockedAdd(COUNTER_ALIVE, 1, slot);
    AliveList[slot] = index;
}

[numthreads(256, 1, 1)]
void cs_update(uint3 id : SV_DispatchThreadID) {
    if (id.x >= MaxParticles)
        return;
    Particle p = Particles[id.x];
    if (!(p.flags & 1))
        return;
    p.age += DeltaTime;
    if (p.age >= p.lifetime) {
        Particles[id.x].flags = 0;
        uint slot;
        Counters.InterlockedAdd(COUNTER_DEAD, 1, slot);
        DeadList[slot] = id.x;
        return;
    }
    float3 noise = Noise.SampleLevel(Wrap, p.position * 0.1, 0) * 2 - 1;
    p.velocity += (Gravity + noise * Turbulence) * DeltaTime;
    p.velocity *= exp(-Drag * DeltaTime);
    p.position += p.velocity * DeltaTime;
    p.color = lerp(StartColor, EndColor, p.age / p.lifetime);
    Particles[id.x] = p;
    uint slot;
    Counters.InterlockedAdd(COUNTER_ALIVE, 1, slot);
    AliveList[slot] = id.x;
}
