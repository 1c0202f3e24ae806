// Cloth as points and springs, in steps on the GPU.
// run: compute=cs_integrate
// run: compute=cs_constrain
struct Point {
    float3 position;
    float inverse_mass;
    float3 previous;
    float pad;
};
struct Spring {
    uint a, b;
    float rest;
    float stiffness;
};
cbuffer Cloth : register(b0) {
    float3 Gravity;
    float Step;
    float3 Wind;
    float Damping;
    float4 Spheres[8];
    uint SphereCount;
    uint PointCount;
    uint2 Batch;
};
RWStructuredBuffer<Point> Points : register(u0);
StructuredBuffer<Spring> Springs : register(t0);

void Collide(inout float3 p) {
    for (uint i = 0; i < SphereCount; ++i) {
        float3 d = p - Spheres[i].xyz;
        float l = length(d);
        if (l < Spheres[i].w)
            p = Spheres[i].xyz + d / l * Spheres[i].w;
    }
}
[numthreads(64, 1, 1)]
void cs_integrate(uint3 id : SV_DispatchThreadID) {
    if (id.x >= PointCount || Points[id.x].inverse_mass == 0)
        return;
    Point p = Points[id.x];
    float3 velocity = (p.position - p.previous) * (1 - Damping);
    p.previous = p.position;
    p.position += velocity + (Gravity + Wind * p.inverse_mass) * Step * Step;
    Collide(p.position);
    Points[id.x] = p;
}
[numthreads(64, 1, 1)]
void cs_constrain(uint3 id : SV_DispatchThreadID) {
    if (id.x >= Batch.y)
        return;
    Spring s = Springs[Batch.x + id.x];
    float wa = Points[s.a].inverse_mass, wb = Points[s.b].inverse_mass;
    if (wa + wb <= 0)
        return;
    float3 d = Points[s.b].position - Points[s.a].position;
    float l = max(length(d), 1e-6);
    float3 move = d * ((l - s.rest) / l * s.stiffness / (wa + wb));
    Points[s.a].position += move * wa;
    Points[s.b].position -= move * wb;
}
