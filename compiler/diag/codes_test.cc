// SPDX-License-Identifier: MIT
// Every row of codes.def is well formed.
#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/diag/diagnostic.h"

namespace kiln {
namespace {

bool IsPlaceholderName(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

// Values for the placeholders; adds a failure for braces that are no placeholder.
std::vector<Argument> ArgumentsFor(std::string_view text, std::string_view row) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '}') {  // a brace of the language is quoted
      EXPECT_EQ(text.substr(i - 1, 3), "'}'") << row;
    }
    if (text[i] != '{') {
      continue;
    }
    const size_t close = text.find('}', i);
    const std::string_view name = text.substr(i + 1, close - i - 1);
    EXPECT_TRUE(close != std::string_view::npos && IsPlaceholderName(name)) << row << ": " << name;
    arguments.emplace_back(name, "<" + std::string(name) + ">");
    i = close;
  }
  return arguments;
}

void ExpectHouseStyle(std::string_view text, std::string_view row) {
  ASSERT_FALSE(text.empty()) << row;
  EXPECT_FALSE(std::isupper(static_cast<unsigned char>(text.front()))) << row;
  EXPECT_NE(text.back(), '.') << row;
  EXPECT_EQ(text.find("  "), std::string_view::npos) << row;
  EXPECT_EQ(std::ranges::count(text, '(') - std::ranges::count(text, ')'), 0) << row;
}

TEST(Codes, EveryRow_HasTextAndNameOfItsOwn) {
  std::set<std::string_view> names;
  std::string_view previous;
  ASSERT_GE(AllCodes().size(), 222u);
  for (const Code code : AllCodes()) {
    EXPECT_LT(previous, CodeText(code)) << "rows ascend";
    previous = CodeText(code);
    EXPECT_TRUE(names.insert(CodeName(code)).second) << CodeName(code);
    EXPECT_TRUE(std::ranges::all_of(CodeName(code), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    })) << CodeName(code);
    EXPECT_EQ(FindCode(CodeText(code)), code);
  }
  EXPECT_EQ(FindCode("RPL0000"), std::nullopt);
}

TEST(Codes, EveryMessage_IsFilledByItsPlaceholders) {
  for (const Code code : AllCodes()) {
    Diagnostic diagnostic = Make(code, {});
    diagnostic.arguments = ArgumentsFor(CodeTemplate(code), CodeText(code));
    const std::string message = Message(diagnostic);
    EXPECT_EQ(message.find('{'), std::string::npos) << message;
    ExpectHouseStyle(CodeTemplate(code), CodeText(code));
  }
}

TEST(Codes, EveryLabelAndNote_IsFilledByItsPlaceholders) {
  for (uint32_t i = 0; i < kLabelKindCount; ++i) {
    const auto kind = static_cast<LabelKind>(i);
    const Label label{.kind = kind, .arguments = ArgumentsFor(LabelTemplate(kind), "label")};
    EXPECT_EQ(LabelText(label).find('{'), std::string::npos);
    ExpectHouseStyle(LabelTemplate(kind), LabelTemplate(kind));
  }
  for (uint32_t i = 0; i < kNoteKindCount; ++i) {
    const auto kind = static_cast<NoteKind>(i);
    const Note note{.kind = kind, .arguments = ArgumentsFor(NoteTemplate(kind), "note")};
    EXPECT_EQ(NoteText(note).find('{'), std::string::npos);
    ExpectHouseStyle(NoteTemplate(kind), NoteTemplate(kind));
  }
}

TEST(Codes, Severities_AreThoseOfTheSpecification) {
  EXPECT_EQ(CodeSeverity(Code::kRpl6022), Severity::kError);
  EXPECT_EQ(CodeSeverity(Code::kRpl2001), Severity::kWarning);
  EXPECT_EQ(CodeSeverity(Code::kRpl7008), Severity::kLint);
  EXPECT_EQ(std::ranges::count(AllCodes(), Severity::kWarning, CodeSeverity), 38);
  EXPECT_EQ(std::ranges::count(AllCodes(), Severity::kLint, CodeSeverity), 4);
}

}  // namespace
}  // namespace kiln
