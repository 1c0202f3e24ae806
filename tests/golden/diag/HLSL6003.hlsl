// run: stage=check
// means: The default of an option must be known before options have values.
// fix: Use literals and enumerators.
static float x = 1;
[[kiln::option (global)]] static const float kScale = x;
