// SPDX-License-Identifier: MIT
// Macros as tables: text in, tokens out. Nothing may be reported unless a row says so.
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

struct Row {
  const char* name;
  const char* text;
  const char* tokens;
  const char* codes = "";
};

void Check(const Row& row) {
  const TestRun run{std::string(row.text)};
  EXPECT_EQ(run.Tokens(), row.tokens) << row.name;
  EXPECT_EQ(run.Codes(), row.codes) << row.name << "\n" << run.Messages();
}

template <size_t N>
void CheckAll(const Row (&rows)[N]) {
  for (const Row& row : rows) {
    Check(row);
  }
}

TEST(Macros, Objects_StandForTheirTokens) {
  CheckAll({
      {"a value", "#define A 1\nA + A", "1 + 1"},
      {"nothing", "#define A\n[A]", "[ ]"},
      {"several tokens", "#define A ( x )\nA", "( x )"},
      {"not before its line", "A\n#define A 1\nA", "A 1"},
      {"undefined again", "#define A 1\nA\n#undef A\nA", "1 A"},
      {"undefining what is none", "#undef A\nA", "A"},
      {"a parenthesis behind a space is its body", "#define A (x)\nA", "( x )"},
      {"a keyword", "#define if while\nif (x)", "while ( x )"},
      {"a name in a string or number is none", "#define A 1\n\"A\" 0xA", "\"A\" 0xA"},
      {"a spliced line", "#define A 1 \\\n + 2\nA", "1 + 2"},
      {"a spliced name", "#define A\\\nB 1\nAB", "1"},
      {"a comment is a space", "#define A/**/1\nA", "1"},
      {"a comment across lines goes on", "#define A 1 /* \n */ + 2\nA", "1 + 2"},
      {"hash alone", "#define A # x\nA", "x", "1002"},
      {"defined the same way again", "#define A 1 + 2\n#define A  1 /**/ + 2\nA", "1 + 2"},
      {"defined differently", "#define A 1\n#define A 2\nA", "2", "1028"},
      {"other spaces are different", "#define A 1+2\n#define A 1 +2\nA", "1 + 2", "1028"},
  });
}

TEST(Macros, Names_AreHiddenWhileTheyAreExpanded) {
  CheckAll({
      {"itself", "#define A A\nA", "A"},
      {"itself in more", "#define A A + 1\nA", "A + 1"},
      {"two of each other", "#define A B\n#define B A\nA B", "A B"},
      {"three", "#define A B\n#define B C\n#define C A x\nA", "A x"},
      {"a function", "#define F(x) F(x)\nF(F(1))", "F ( F ( 1 ) )"},
      {"hidden for ever", "#define F(x) x(1)\nF(F)", "F ( 1 )"},
      {"a name from an argument is not hidden", "#define F(x) x\nF(F)(2)", "F ( 2 )"},
      {"no longer hidden behind its expansion", "#define A B\n#define B 1\nA A", "1 1"},
      {"through an object", "#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2 * 9 * g"},
      {"the standard's example",
       "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n"
       "#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n"
       "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);",
       "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; "
       "f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 "
       ") ;"},
  });
}

TEST(Macros, Functions_TakeArguments) {
  CheckAll({
      {"one", "#define F(x) [x]\nF(1)", "[ 1 ]"},
      {"two, mixed", "#define F(a, b) b a\nF(1, 2)", "2 1"},
      {"none", "#define F() 1\nF() F( )", "1 1"},
      {"empty ones", "#define F(a, b) [a|b]\nF(,) F(1,) F(,2)", "[ | ] [ 1 | ] [ | 2 ]"},
      {"an empty one alone", "#define F(a) [a]\nF()", "[ ]"},
      {"commas in parentheses", "#define F(a) [a]\nF((1, 2))", "[ ( 1 , 2 ) ]"},
      {"commas in braces count", "#define F(a) a\nF({1, 2})", "F", "1026"},
      {"a space before the parenthesis", "#define F(a) a\nF (1)", "1"},
      {"across lines", "#define F(a, b) a b\nF\n(\n1\n,\n2)\n3", "1 2 3"},
      {"without a call it is a name", "#define F(a) a\nF + F", "F + F"},
      {"without a call at the end", "#define F(a) a\nF", "F"},
      {"a call that begins in an expansion", "#define F(a) [a]\n#define G F\nG(1)", "[ 1 ]"},
      {"a call whose parts are expansions",
       "#define F(a, b) [a b]\n#define OPEN F(1\n#define CLOSE , 2)\nOPEN , 2) F(1 , 2)",
       "[ 1 2 ] [ 1 2 ]"},
      {"a parenthesis that is a macro opens no call", "#define F(a) a\n#define P (\nF P 1 )",
       "F ( 1 )"},
      {"an argument is not split by its expansion", "#define F(a) [a]\n#define C 1,2\nF(C)",
       "[ 1 , 2 ]"},
      {"but what it comes to is", "#define F(a, b) [a|b]\n#define G(x) F(x)\n#define C 1,2\nG(C)",
       "[ 1 | 2 ]"},
      {"nested calls across lines", "#define F(a) (a)\nF(F(\n1) +\nF(2))", "( ( 1 ) + ( 2 ) )"},
      {"a parameter called like a macro", "#define A 1\n#define F(A) A\nF(2) A", "2 1"},
      {"a parameter called like a keyword", "#define F(in, out) out in\nF(1, 2)", "2 1"},
      {"a directive among the arguments",
       "#define F(a, b) a b\nF(1,\n#define N 2\n#ifdef N\nN)\n#else\n3)\n#endif\n4", "1 2 4"},
      {"a directive before the parenthesis", "#define F(a) a\nF\n#define N\n(1)", "F ( 1 )"},
      {"defined anew while it is read", "#define F(a) 1 a\nF(\n#undef F\n#define F 2\n3) F",
       "1 3 2"},
      {"too few", "#define F(a, b) a\nF(1) x", "F x", "1026"},
      {"too many", "#define F(a) a\nF(1, 2) x", "F x", "1026"},
      {"some for none", "#define F() a\nF(1)", "F", "1026"},
      {"not closed", "#define F(a) a\nF(1", "F", "1003"},
      {"not closed in its file", "#define F(a) a\n[F((1)", "[ F", "1003"},
  });
}

TEST(Macros, Arguments_AreExpandedBeforeTheyStandInTheBody) {
  CheckAll({
      {"expanded", "#define A 1\n#define F(x) x\nF(A)", "1"},
      {"expanded once, used twice", "#define A 1\n#define F(x) x x\nF(A + A)", "1 + 1 1 + 1"},
      {"as written behind #", "#define A 1\n#define F(x) #x\nF(A)", "\"A\""},
      {"as written beside ##", "#define A 1\n#define F(x) x##2\nF(A)", "A2"},
      {"both", "#define A 1\n#define F(x) x #x x##_\nF(A)", "1 \"A\" A_"},
      {"through one more macro", "#define A 1\n#define S(x) #x\n#define X(x) S(x)\nX(A)", "\"1\""},
      {"pasted after expansion",
       "#define P(a, b) a##b\n#define Q(a, b) P(a, b)\n#define A 1\nQ(A, A)", "11"},
      {"a call in an argument that is closed outside",
       "#define F(x) [x]\n#define G(x) {x}\nF(G)(1)", "[ G ] ( 1 )"},
      {"and one that is closed by what follows", "#define ID(x) x\n#define G(x) {x}\nID(G)(1)",
       "{ 1 }"},
  });
}

TEST(Macros, Hash_MakesAString) {
  CheckAll({
      {"words", "#define S(x) #x\nS(a b)", "\"a b\""},
      {"spaces are one", "#define S(x) #x\nS( a  /* */ b\n c )", "\"a b c\""},
      {"no space where there is none", "#define S(x) #x\nS(a+b)", "\"a+b\""},
      {"nothing", "#define S(x) #x\nS()", "\"\""},
      {"strings are escaped", "#define S(x) #x\nS(\"a\\n\")", "\"\\\"a\\\\n\\\"\""},
      {"commas of variable arguments", "#define S(...) #__VA_ARGS__\nS(a, b)", "\"a, b\""},
      {"a space behind it", "#define S(x) # x\nS(a)", "\"a\""},
      {"its own space stays", "#define S(x) y #x\nS(a)", "y \"a\""},
      {"of no parameter", "#define S(x) #y\nS(1)", "S ( 1 )", "1040"},
      {"at the end", "#define S(x) x #\nS(1)", "S ( 1 )", "1040"},
      {"a backslash alone", "#define S(x) #x\nS(\\)", "\"\"", "1003"},
  });
}

TEST(Macros, HashHash_PastesTokens) {
  CheckAll({
      {"words", "#define P(a, b) a##b\nP(x, y)", "xy"},
      {"a word and a number", "#define P(a, b) a##b\nP(x, 1) P(1, .5)", "x1 1.5"},
      {"punctuators", "#define P(a, b) a##b\nP(<, <=) P(+, +) P(:, :)", "<<= ++ ::"},
      {"three", "#define P(a, b, c) a ## b ## c\nP(x, y, z)", "xyz"},
      {"an empty side", "#define P(a, b) a##b\n[P(, y)|P(x, )|P(,)]", "[ y | x | ]"},
      {"empty in between", "#define P(a, b, c) a##b##c\nP(x,,z)", "xz"},
      {"the tokens at the edge only", "#define P(a, b) a##b\nP(1 x, y 2)", "1 xy 2"},
      {"in an object", "#define O x ## y\nO", "xy"},
      {"the result is a macro", "#define xy 7\n#define P(a, b) a##b\nP(x, y)", "7"},
      {"the result is a keyword", "#define P(a, b) a##b\nP(wh, ile)", "while"},
      {"the result is no operator", "#define H # ## #\n#define M(a) #a\nH", "", "1002"},
      {"the standard's hash_hash",
       "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
       "#define join(c, d) in_between(c hash_hash d)\njoin(x, y)",
       "\"x ## y\""},
      {"the standard's t",
       "#define t(x,y,z) x ## y ## z\nt(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), "
       "t(,,12), "
       "t(,,)",
       "123 , 45 , 67 , 89 , 10 , 11 , 12 ,"},
      {"a name that was hidden is not, in another", "#define AB x\n#define A A##B\nA", "x"},
      {"two tokens", "#define P(a, b) a##b\nP(x, +)", "x +", "1029"},
      {"a comment", "#define P(a, b) a##b\nP(/, /)", "/ /", "1029"},
      {"at the start", "#define P ## x\nP", "P", "1040"},
      {"at the end", "#define P x ##\nP", "P", "1040"},
      {"twice", "#define P x ## ## y\nP", "P", "1040"},
  });
}

TEST(Macros, VariableArguments_TakeWhatIsLeft) {
  CheckAll({
      {"all", "#define F(...) [__VA_ARGS__]\nF(1, 2) F(1) F()", "[ 1 , 2 ] [ 1 ] [ ]"},
      {"behind others", "#define F(a, ...) a: __VA_ARGS__\nF(1, 2, 3)", "1 : 2 , 3"},
      {"missing", "#define F(a, ...) [a|__VA_ARGS__]\nF(1) F(1,)", "[ 1 | ] [ 1 | ]"},
      {"too few before them", "#define F(a, b, ...) a\nF(1)", "F", "1026"},
      {"expanded", "#define A 1\n#define F(...) __VA_ARGS__\nF(A, A)", "1 , 1"},
      {"the comma before them goes", "#define F(a, ...) f(a, ##__VA_ARGS__)\nF(1) F(1, 2)",
       "f ( 1 ) f ( 1 , 2 )"},
      {"a name like any other elsewhere", "#define F(a) a\nF(__VA_ARGS__)", "__VA_ARGS__"},
      {"not last", "#define F(..., a) a\nF", "F", "1040"},
      {"called so", "#define F(__VA_ARGS__) 1\nF", "F", "1040"},
  });
}

TEST(Macros, Definitions_ThatAreWrong_AreNone) {
  CheckAll({
      {"no name", "#define\nx", "x", "1040"},
      {"a number", "#define 1 2\n1", "1", "1040"},
      {"defined", "#define defined 1\ndefined", "defined", "1040"},
      {"a parameter twice", "#define F(a, a) a\nF(1, 2)", "F ( 1 , 2 )", "1040"},
      {"a number as parameter", "#define F(1) a\nF", "F", "1040"},
      {"parameters not closed", "#define F(a\nF", "F", "1040"},
      {"two without a comma", "#define F(a b) a\nF", "F", "1040"},
      {"a comma too much", "#define F(a,) a\nF", "F", "1040"},
      {"undef without a name", "#undef\nx", "x", "1040"},
  });
}

TEST(Macros, Predefined_SayWhatAModuleKnows) {
  Settings settings;
  settings.version = Version::k2018;
  settings.shader_model = ShaderModel::k66;
  const std::string names =
      "__KILN__ __HLSL_VERSION __hlsl_dx_compiler __spirv__ __SHADER_TARGET_MAJOR "
      "__SHADER_TARGET_MINOR __HLSL_ENABLE_16_BIT";
  EXPECT_EQ(TestRun(names).Tokens(), "1 2021 1 1 6 0 __HLSL_ENABLE_16_BIT");
  EXPECT_EQ(TestRun(names, settings).Tokens(), "1 2018 1 1 6 6 __HLSL_ENABLE_16_BIT");
  settings.sixteen_bit = SixteenBit::kOn;
  EXPECT_EQ(TestRun(names, settings).Tokens(), "1 2018 1 1 6 6 1");
}

TEST(Macros, LineAndFile_AreThoseOfTheOutermostUse) {
  EXPECT_EQ(TestRun("__LINE__\n\n__LINE__ __FILE__").Tokens(), "1 3 \"root.hlsl\"");
  EXPECT_EQ(TestRun("#define L __LINE__\n#define F(x) x L\n\nF(\n__LINE__)").Tokens(), "5 4");
}

TEST(Macros, Line_RenamesWhatFollows) {
  EXPECT_EQ(TestRun("#line 40\n__LINE__\n__LINE__ __FILE__").Tokens(), "40 41 \"root.hlsl\"");
  EXPECT_EQ(TestRun("#line 7 \"a.fx\"\n__LINE__ __FILE__\n#line 9\n__FILE__").Tokens(),
            "7 \"a.fx\" \"a.fx\"");
  EXPECT_EQ(TestRun("#define N 5\n#line N\n__LINE__").Tokens(), "5");
}

TEST(Macros, Defines_StandBeforeTheFirstLine) {
  Settings settings;
  settings.defines = {{"A", "1"}, {"F(x)", "[x]"}, {"E", ""}, {"M", "2\n#define N 3"}};
  EXPECT_EQ(TestRun("A F(2) E x M", settings).Tokens(), "1 [ 2 ] x 2 define N 3");
  settings.defines = {{"A", "x\\"}};
  EXPECT_EQ(TestRun("A", settings).Tokens(), "x");
}

}  // namespace
}  // namespace kiln::hlsl
