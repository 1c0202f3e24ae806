// run: stage=parse
#define TWICE(x) ((x) * 2)
[numthreads(8, 8, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    float4 a = (float4)id.xyzx, b = TWICE(a), c[2];
    for (int i = 0, j = 9; i < 4 && j != 2; ++i, j -= 2) {
        if (i & 1) continue;
        else if (a.x > 1.5e-3f) break;
        else { c[i % 2] = a = -b; }
    }
    [unroll(4)] while (true) { discard; }
    do a.x++; while (a.x < 10 ? a.y : !a.z);
    switch (id.x) { case 0: case 1 + 1: return; default: ; }
    struct Local { float x; } local = { (a, b).x };
}
