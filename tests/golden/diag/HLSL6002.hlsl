// run: stage=check
// means: Options are bool, int, uint, float or an enum.
// fix: Use one of these types.
[[kiln::option (global)]] static const float2 kSize = 1;
