// run: stage=check
// means: An option is a constant of the module that the request may replace.
// fix: Declare it static const, outside of functions.
[[kiln::option (global)]] static bool kFog = true;
