// run: stage=check
// means: The grammar has something else at this place.
// fix: Write what is expected, or look for what is missing before this place.
float4 colour = float4(1, 0, 0, 1)
float half_of(float x) {
    return x * ;
}
