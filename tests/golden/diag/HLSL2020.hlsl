// run: stage=check
// means: How many items the type has depends on options, so a list cannot fit all variants.
// fix: Assign member by member or item by item.
[[kiln::option (global)]] static const uint kCount = 2;
float f () {
  float a[kCount] = { 1, 2 };
  return a[0];
}
