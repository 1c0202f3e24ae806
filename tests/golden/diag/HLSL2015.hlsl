// run: stage=check
// means: In HLSL 2021 && and || evaluate their right side only if needed, which is said of scalars alone.
// fix: Write and (…) or or (…) for vectors.
bool2 f (bool2 a, bool2 b) { return a && b; }
