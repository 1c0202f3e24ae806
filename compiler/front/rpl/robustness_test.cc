// SPDX-License-Identifier: MIT
// Any text gives a verified module or errors, and never both: cut, mutated and random sources.
#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/rpl/front.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::rpl {
namespace {

std::string UberSource() {
  std::ifstream file(KILN_SOURCE_DIR "/tests/bench/shaders/uber.rpl", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file.good() || file.eof());
  return text.str();
}

void ExpectAnswer(const std::string& text) {
  const Diagnosed<ir::Module> module = Parse(SourceFile("x.rpl", text), {}, 0);
  ASSERT_NE(module.ok(), HasErrors(module.diagnostics)) << text;
  for (const Diagnostic& d : module.diagnostics) {
    ASSERT_LE(d.primary.bytes.end, text.size()) << text;
    ASSERT_FALSE(Message(d).empty());
    for (const Label& label : d.labels) {
      ASSERT_FALSE(LabelText(label).empty());
    }
  }
  if (module.ok()) {
    const Result<void> verified = ir::VerifyIds(module.value->view());
    ASSERT_TRUE(verified.ok()) << ErrorText(verified.error()) << "\n" << text;
  }
}

TEST(Robustness, UberSource_IsAModule) {
  const std::string text = UberSource();
  ASSERT_GT(text.size(), 10000u);
  const Diagnosed<ir::Module> module = Parse(SourceFile("uber.rpl", text), {}, 0);
  ASSERT_TRUE(module.ok());
  EXPECT_TRUE(module.diagnostics.empty());
  EXPECT_TRUE(ir::VerifyIds(module.value->view()).ok());
}

TEST(Robustness, CutSources_AreAnswered) {
  const std::string text = UberSource();
  for (size_t size = 0; size < text.size(); size += 37) {
    ExpectAnswer(text.substr(0, size));
    ExpectAnswer(text.substr(size));
  }
}

// One token-like change at a time, so that most of the source still makes sense.
TEST(Robustness, MutatedSources_AreAnswered) {
  const std::string text = UberSource().substr(0, 3000);
  const std::string pieces[] = {
      "(",      ")",    "{", "}",  "[",  "]",  ";",        ",",    ".",  "...",           "=",
      "==",     "-",    "!", "&&", "1",  "u",  "2.5",      "\"",   "//", "conditional (", "alias (",
      "meta (", "void", "?", ":",  "+=", "\n", "\xc3\xa9", "\xff", "in", "else"};
  std::mt19937 random(20240711);
  for (int i = 0; i < 1500; ++i) {
    std::string mutated = text;
    const size_t at = random() % mutated.size();
    const std::string& piece = pieces[random() % std::size(pieces)];
    if (random() % 2 == 0) {
      mutated.insert(at, piece);
    } else {
      mutated.replace(at, random() % 12, piece);
    }
    ExpectAnswer(mutated);
  }
}

TEST(Robustness, RandomTokens_AreAnswered) {
  const std::string words[] = {
      "struct", "f4",          "x",        "{",       "}",      "(",   ")",     ";",
      "f1",     "in",          "void",     "y",       "=",      "1.0", "+",     "if",
      "else",   "for",         "[",        "2u",      "]",      ".",   ",",     "alias",
      "meta",   "conditional", "set_pass", "sampler", "return", "-",   "\"s\"", "constant",
      "global", ":",           "flag",     "true",    "?",      "{ }", "while", "break;"};
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = random() % 2 == 0 ? "void f (void) { " : "";
    for (uint32_t n = random() % 60; n > 0; --n) {
      text += words[random() % std::size(words)] + " ";
    }
    ExpectAnswer(text);
  }
}

TEST(Robustness, RandomBytes_AreAnswered) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 80, '\0');
    const bool printable = random() % 4 != 0;
    std::ranges::generate(
        text, [&] { return static_cast<char>(printable ? 32 + random() % 95 : random() % 256); });
    ExpectAnswer(text);
  }
}

}  // namespace
}  // namespace kiln::rpl
