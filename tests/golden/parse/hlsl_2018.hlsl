// run: stage=parse hlsl.version=2018
float4 tint < string name = "Tint"; >;
uint count : register(c3);
float main(float4 at : SV_Position) : SV_Target {
    struct t { float a; };
    for (float t = 0; t < 4; t++) { }
    return (t) - 1 + (float)-1;
}
