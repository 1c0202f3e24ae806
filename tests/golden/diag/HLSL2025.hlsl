// run: stage=close entry=fragment:main
// means: A function that is declared and called has its body in the same module.
// fix: Write the body, or include the file that has it.
float f (float x);
float4 main () : SV_Target { return f (1); }
