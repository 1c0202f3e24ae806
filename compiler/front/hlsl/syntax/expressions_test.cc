// SPDX-License-Identifier: MIT
// Every rule of `expr` down to `postfix`: source → dump, or → message.
#include <gtest/gtest.h>

#include "compiler/front/hlsl/syntax/parsed_source.h"

namespace kiln::hlsl::syntax {
namespace {

struct Case {
  std::string_view source;
  std::string_view dump;
};

TEST(Expressions, Literals_KeepValueAndSuffix) {
  const Case cases[] = {
      {"0", "0"},
      {"42u", "42u"},
      {"42U", "42u"},
      {"017", "15"},
      {"0x1F", "31"},
      {"0xFFFFFFFFFFFFFFFFull", "18446744073709551615ull"},
      {"5l", "5l"},
      {"5UL", "5ul"},
      {"5ll", "5ll"},
      {"1.", "1.0"},
      {".5", "0.5"},
      {"1e3", "1000.0"},
      {"1.5E-3", "0.0015"},
      {"2.5f", "2.5f"},
      {"2.5h", "2.5h"},
      {"2.5L", "2.5l"},
      {"0.1f", "0.10000000149011612f"},
      {"true", "true"},
      {"false", "false"},
      {R"("a" "b\n\"")", R"("ab\n\"")"},
      {"this", "this"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOfExpression(c.source), c.dump) << c.source;
  }
}

TEST(Expressions, BinaryOperators_BindAsInC) {
  const Case cases[] = {
      {"a * b / c % d", "(% (/ (* a b) c) d)"},
      {"a + b - c", "(- (+ a b) c)"},
      {"a + b * c", "(+ a (* b c))"},
      {"a << b >> c", "(>> (<< a b) c)"},
      {"a << b + c", "(<< a (+ b c))"},
      {"a < b > c", "(> (< a b) c)"},
      {"a <= b >= c", "(>= (<= a b) c)"},
      {"a < b << c", "(< a (<< b c))"},
      {"a == b != c", "(!= (== a b) c)"},
      {"a == b < c", "(== a (< b c))"},
      {"a & b & c", "(& (& a b) c)"},
      {"a & b == c", "(& a (== b c))"},
      {"a ^ b & c", "(^ a (& b c))"},
      {"a | b ^ c", "(| a (^ b c))"},
      {"a && b | c", "(&& a (| b c))"},
      {"a || b && c", "(|| a (&& b c))"},
      {"a || b || c", "(|| (|| a b) c)"},
      {"(a + b) * c", "(* (+ a b) c)"},
      {"((a))", "a"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOfExpression(c.source), c.dump) << c.source;
  }
}

TEST(Expressions, RightBinding_NestsToTheRight) {
  const Case cases[] = {
      {"a = b = c", "(= a (= b c))"},
      {"a += b -= c", "(+= a (-= b c))"},
      {"a *= b", "(*= a b)"},
      {"a /= b", "(/= a b)"},
      {"a %= b", "(%= a b)"},
      {"a <<= b", "(<<= a b)"},
      {"a >>= b", "(>>= a b)"},
      {"a &= b", "(&= a b)"},
      {"a ^= b", "(^= a b)"},
      {"a |= b", "(|= a b)"},
      {"a ? b : c", "(? a b c)"},
      {"a ? b : c ? d : e", "(? a b (? c d e))"},
      {"a ? b ? c : d : e", "(? a (? b c d) e)"},
      {"a ? b, c : d", "(? a (, b c) d)"},
      {"a || b ? c : d", "(? (|| a b) c d)"},
      {"a ? b : c = d", "(? a b (= c d))"},
      {"a = b ? c : d", "(= a (? b c d))"},
      {"(a, b)", "(, a b)"},
      {"(a, b, c)", "(, (, a b) c)"},
      {"(a = b, c)", "(, (= a b) c)"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOfExpression(c.source), c.dump) << c.source;
  }
}

TEST(Expressions, UnaryOperators_StandBeforePostfixOnes) {
  const Case cases[] = {
      {"+a", "(+ a)"},
      {"-a", "(- a)"},
      {"!a", "(! a)"},
      {"~a", "(~ a)"},
      {"++a", "(++ a)"},
      {"--a", "(-- a)"},
      {"a++", "(++ post a)"},
      {"a--", "(-- post a)"},
      {"- -a", "(- (- a))"},
      {"-a.m", "(- (. a m))"},
      {"!~-a", "(! (~ (- a)))"},
      {"++a.m[b]", "(++ ([] (. a m) b))"},
      {"-a * -b", "(* (- a) (- b))"},
      {"a - -b", "(- a (- b))"},
      {"a++ + ++b", "(+ (++ post a) (++ b))"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOfExpression(c.source), c.dump) << c.source;
  }
}

TEST(Expressions, Postfix_IsAChain) {
  const Case cases[] = {
      {"a.m.n", "(. (. a m) n)"},
      {"a[b][c]", "([] ([] a b) c)"},
      {"a[b, c]", "([] a (, b c))"},
      {"f ()", "(call f)"},
      {"f (a, b + c)", "(call f a (+ b c))"},
      {"f (a = b)", "(call f (= a b))"},
      {"f (g (a))", "(call f (call g a))"},
      {"a.m (b)", "(call (. a m) b)"},
      {"a.m (b).n", "(. (call (. a m) b) n)"},
      {"a[b].m (c)[d]", "([] (call (. ([] a b) m) c) d)"},
      {"this.m", "(. this m)"},
      {"(a + b).m", "(. (+ a b) m)"},
      {"1.0.xxx", "(. 1.0 xxx)"},
      {"n::v", "n::v"},
      {"::x", "::x"},
      {"::n::v", "::n::v"},
      {"n::f (a)", "(call n::f a)"},
      {"s::g ()", "(call s::g)"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOfExpression(c.source), c.dump) << c.source;
  }
}

TEST(Expressions, Types_ConstructAndConvert) {
  const Case cases[] = {
      {"float4 (a, b, 0, 1)", "(make float4 a b 0 1)"},
      {"float4x4 (a)", "(make float4x4 a)"},
      {"s (a)", "(make s a)"},
      {"n::t (a)", "(make n::t a)"},
      {"vector<float, 3> (a)", "(make vector<float, 3> a)"},
      {"matrix<int, 2, 1 + 1> (a, b)", "(make matrix<int, 2, (+ 1 1)> a b)"},
      {"unsigned (a)", "(make unsigned a)"},
      {"(float3) a", "(cast float3 a)"},
      {"(float3) -a", "(cast float3 (- a))"},
      {"-(float3) a", "(- (cast float3 a))"},
      {"(float) (int) a", "(cast float (cast int a))"},
      {"(float) a * b", "(* (cast float a) b)"},
      {"(s) 0", "(cast s 0)"},
      {"(n::t) 0", "(cast n::t 0)"},
      {"(struct s) 0", "(cast struct s 0)"},
      {"(unsigned int) a", "(cast unsigned a)"},
      {"(const float) a", "(cast const float a)"},
      {"(row_major float2x2) a", "(cast row_major float2x2 a)"},
      {"(vector<float, 2>) a", "(cast vector<float, 2> a)"},
      {"(vector<float, (2 > 1)>) a", "(cast vector<float, (> 2 1)> a)"},
      {"(float[2]) a", "(cast float[2] a)"},
      {"(float2[2][3]) a", "(cast float2[2][3] a)"},
      {"(float3 (a)).x", "(. (make float3 a) x)"},
      {"(a) - b", "(- a b)"},
      {"(a) (b)", "8:1"},
      {"(unknown) a", "(cast unknown a)"},
      {"(unknown) - a", "(- unknown a)"},
      {"-(vector<float, 2>) a + b", "(+ (- (cast vector<float, 2> a)) b)"},
  };
  for (const Case& c : cases) {
    if (c.dump == "8:1") {
      EXPECT_NE(DumpOfExpression(c.source).find("HLSL1040"), std::string::npos) << c.source;
    } else {
      EXPECT_EQ(DumpOfExpression(c.source), c.dump) << c.source;
    }
  }
}

TEST(Expressions, Lists_AreInitialisers) {
  const Case cases[] = {
      {"{}", "(list)"},
      {"{ a }", "(list a)"},
      {"{ a, b, }", "(list a b)"},
      {"{ { a, b }, { c } }", "(list (list a b) (list c))"},
      {"{ a = b, f (c) }", "(list (= a b) (call f c))"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DumpOfExpression(c.source), c.dump) << c.source;
  }
}

// The text of the message behind its place and code.
std::string MessageOf(std::string_view expression) {
  const std::string found = DumpOfExpression(expression);
  const size_t code = found.find(" HLSL");
  return code == std::string::npos ? found : found.substr(code + 1);
}

TEST(Expressions, Mistakes_HaveOneMessage) {
  const Case cases[] = {
      {"", "HLSL1040 expected an expression, found ';'\n"},
      {"a +", "HLSL1040 expected an expression, found ';'\n"},
      {"* a", "HLSL1040 expected an expression, found '*'\n"},
      {"(a", "HLSL1041 expression in '(' is not closed, expected ')' before ';'\n"},
      {"()", "HLSL1040 expected an expression, found ')'\n"},
      {"a ? b", "HLSL1040 expected ':' after second operand of '?', found ';'\n"},
      {"a[b", "HLSL1041 index is not closed, expected ']' before ';'\n"},
      {"a[]", "HLSL1040 expected an expression, found ']'\n"},
      {"f (a", "HLSL1041 call of 'f' is not closed, expected ')' before ';'\n"},
      {"f (a,)", "HLSL1040 expected an expression, found ')'\n"},
      {"a.", "HLSL1040 expected the name of a member after '.', found ';'\n"},
      {"a.1", "HLSL1040 expected ';' after variable 'x', found '.1'\n"},
      {"n::", "HLSL1040 expected a name after '::', found ';'\n"},
      {"float3", "HLSL1040 expected '(' after type 'float3', found ';'\n"},
      {"float3 (a", "HLSL1041 constructor of 'float3' is not closed, expected ')' before ';'\n"},
      {"(float3 a", "HLSL1040 expected '(' after type 'float3', found 'a'\n"},
      {"vector<float, 3 (a)", "HLSL1040 expected an operator, found '('\n"},
      {"1 (a)", "HLSL1040 expected an operator, found '('\n"},
      {"{ a", "HLSL1041 initialiser list is not closed, expected '}' before ';'\n"},
      {"{ a b }", "HLSL1041 initialiser list is not closed, expected '}' before 'b'\n"},
      {"a b", "HLSL1040 expected ';' after variable 'x', found 'b'\n"},
      {"18446744073709551616", "HLSL1006 literal '18446744073709551616' does not fit in 64 bits\n"},
      {"1e39f", "HLSL1006 literal '1e39f' does not fit in 32 bits\n"},
      {"1e400", "HLSL1006 literal '1e400' does not fit in 64 bits\n"},
      {"f<float> (a)", "HLSL8004 'f' belongs to templates, which this build lacks\n"},
      {"a.Load<float4> (b)",
       "HLSL8004 'Load' belongs to templated methods, which this build lacks\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MessageOf(c.source), c.dump) << c.source;
  }
}

}  // namespace
}  // namespace kiln::hlsl::syntax
