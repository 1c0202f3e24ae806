// run: stage=lex
#include <a/b.hlsli> // not looked at
  #define F(x) x ## 1 /* here */ #x
float4 a = .5 + 1.0f.xxxx - 0x1Fu << 08; "s\"t" \
@ N::m [[vk]] ++--
