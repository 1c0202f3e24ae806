// SPDX-License-Identifier: MIT
// What is wrong with expressions of manifests and command lines, and where.
#include "compiler/driver/expressions.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/driver/stages.h"

namespace kiln::driver {
namespace {

constexpr char kOptions[] =
    "global fog: flag false;\nglobal wet: flag false;\nglobal lights: uint 4;\n"
    "global shading: enum \"flat\" \"toon\";\n";

// Each error as its message with the text below which its carets stand, one line each:
//   a ==
//       ^ RPL1178: expression ends behind '==', an operand is due
std::string Errors(const std::string& text) {
  const std::vector<SourceFile> sources{SourceFile("options.rpl", kOptions)};
  const Diagnosed<LinkedProgram> linked = LinkSources(sources, ir::PipelineType::kGraphicsClassic);
  const std::vector<std::string> texts{"fog", text};
  const auto compiled = Expressions::Compile(*linked.value, texts);
  EXPECT_EQ(compiled.ok(), compiled.diagnostics.empty());
  std::string out;
  for (const Diagnostic& found : compiled.diagnostics) {
    EXPECT_EQ(found.primary.module, 1u) << "the number of the expression";
    const Span where = found.primary.bytes;
    EXPECT_LE(where.begin, where.end);
    EXPECT_LE(where.end, text.size());
    out += std::string(where.begin, ' ') + std::string(std::max(where.end - where.begin, 1u), '^') +
           " " + std::string(CodeText(found.code)) + ": " + Message(found) + "\n";
    for (const Label& label : found.labels) {
      EXPECT_EQ(label.where.module, 1u);
      out += std::string(label.where.bytes.begin, ' ') + "^ " + LabelText(label) + "\n";
    }
  }
  return out;
}

TEST(Expressions, Wrong_SaysWhatIsMissingAndWhere) {
  struct Row {
    const char* text;
    const char* errors;
  };
  for (const Row& row : {
           Row{"fog ==", "      ^ RPL1178: expression ends behind '==', an operand is due\n"},
           {"fog ==  ", "      ^ RPL1178: expression ends behind '==', an operand is due\n"},
           {"fog == // what?", "      ^ RPL1178: expression ends behind '==', an operand is due\n"},
           {"fog &&", "      ^ RPL1178: expression ends behind '&&', an operand is due\n"},
           {"!", "^ RPL1173: '!' has nothing to apply to\n"},
           {"fog && !", "       ^ RPL1173: '!' has nothing to apply to\n"},
           {"", "^ RPL1179: expression is empty, a condition over options is due\n"},
           {" // later", "^ RPL1179: expression is empty, a condition over options is due\n"},
           {"(fog || wet",
            "           ^ RPL1178: expression ends behind 'wet', ')' is due\n^ '(' starts here\n"},
           {"fog && (wet || (lights == 4u)",
            "                             ^ RPL1178: expression ends behind ')', ')' is due\n"
            "       ^ '(' starts here\n"},
           {"(", " ^ RPL1178: expression ends behind '(', an operand is due\n"},
           {"fog.", "    ^ RPL1178: expression ends behind '.', a field name is due\n"},
           {"== fog", "^^ RPL1172: operator '==' where an operand is due\n"},
           {"fog == == wet", "       ^^ RPL1172: operator '==' where an operand is due\n"},
           {"fog wet", "    ^^^ RPL1170: expected an operator, found name 'wet'\n"},
           {"fog\nwet", "   ^ RPL1170: expected an operator, found text 'wet'\n"},
           {"fog 4u", "    ^^ RPL1170: expected an operator, found literal '4u'\n"},
           {"fog \"flat\"", "    ^^^^^^ RPL1170: expected an operator, found string '\"flat\"'\n"},
           {"fog)", "   ^ RPL1170: expected an operator, found text ')'\n"},
           {"fog) || (wet", "   ^ RPL1170: expected an operator, found text ')'\n"},
           {"fog, wet", "   ^ RPL1170: expected an operator, found text ','\n"},
           {"fog ? wet : fog", "    ^ RPL1170: expected an operator, found text '?'\n"},
           {"fog; wet", "   ^ RPL1170: expected an operator, found text ';'\n"},
           {"fog;", "   ^ RPL1170: expected an operator, found text ';'\n"},
           {";", "^ RPL1174: expression ends before ';', an operand is due\n"},
           {"fog ==; constant x = (1",
            "      ^ RPL1174: expression ends before ';', an operand is due\n"},
           {"shading == \"toon; fog",
            "           ^^^^^^^^^^ RPL1003: string '\"toon; fog' is not "
            "closed on its line\n"},
           {"shading == 'toon'", "           ^ RPL1002: unexpected character '''\n"},
           {"fog {", "     ^ RPL1178: expression ends behind '{', an operand is due\n"},
           {"{", "^ RPL1175: '{' does not start an expression\n"},
           {"lights == 4294967296u",
            "          ^^^^^^^^^^^ RPL1006: unsigned literal '4294967296u' does not fit in 32 "
            "bits\n"},
           {"fgo", "^^^ RPL3003: no option or constant is named 'fgo'\n"},
       }) {
    EXPECT_EQ(Errors(row.text), row.errors) << row.text;
  }
}

TEST(Expressions, Right_SaysNothing) {
  for (const char* text :
       {"fog", "(fog || wet) && !(fog && wet)", "lights == 4u // many", "shading == \"toon\"",
        "shading != \"toon\" // ; not an end", "fog\n  && wet", " \t fog "}) {
    EXPECT_EQ(Errors(text), "") << text;
  }
}

TEST(Expressions, LongWord_IsCutInItsMessage) {
  const std::string word(200, 'a');
  EXPECT_NE(Errors("fog == (" + word).find("behind '" + word.substr(0, 60) + "...'"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::driver
