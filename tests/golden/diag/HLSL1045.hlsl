// run: stage=check hlsl.version=2018
// means: Templates, operator overloads and bit-fields came with HLSL 2021, and the module is compiled as 2018.
// fix: Set the version to 2021, or write it without.
template<typename T> T twice(T a) { return a + a; }
