// run: stage=close entry=vertex:main
// means: Only invocations of that stage can do this, and another stage reaches it.
// fix: Call it from that stage only.
float4 main () : SV_Position {
  discard;
  return 0;
}
