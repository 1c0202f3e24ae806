// SPDX-License-Identifier: MIT
// For tests: one module preprocessed, its tokens and messages as text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compiler/diag/diagnostic.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/source/line_index.h"

namespace kiln::hlsl {

// Files by path; "root.hlsl" is read.
using TestFiles = std::map<std::string, std::string>;

class TestRun {
 public:
  explicit TestRun(const TestFiles& files, const Settings& settings = {},
                   const LanguageLimits& limits = {}) {
    for (const auto& [path, text] : files) {
      set_.Add({path, text});
    }
    result_ = Preprocess(*set_.Find("root.hlsl"), set_, settings, 0, limits);
  }
  explicit TestRun(const std::string& text, const Settings& settings = {},
                   const LanguageLimits& limits = {})
      : TestRun(TestFiles{{"root.hlsl", text}}, settings, limits) {}

  const TokenStream& stream() const { return result_.stream; }
  const std::vector<Diagnostic>& diagnostics() const { return result_.diagnostics; }
  const SourceSet& set() const { return set_; }
  bool is_whole() const { return result_.is_whole; }

  // Spellings with one space between.
  std::string Tokens() const {
    std::string out;
    for (const Token& token : result_.stream.tokens) {
      if (token.kind != TokenKind::kEnd) {
        out += (out.empty() ? "" : " ") + std::string(result_.stream.Text(token));
      }
    }
    return out;
  }

  // "root.hlsl:2:5"
  std::string Place(Span span) const {
    const ModuleFile& file = result_.stream.files[result_.stream.FileAt(span.begin)];
    const LineColumn at = LineIndex(set_.Find(file.path)->text).At(span.begin - file.first);
    return fmt::format("{}:{}:{}", file.path, at.line, at.column);
  }

  // "HLSL1002 root.hlsl:1:3 unexpected character '@'", one line each, with labels in brackets:
  // "[root.hlsl:2:1 macro 'A' is expanded here]".
  std::string Messages() const {
    std::string out;
    for (const Diagnostic& d : result_.diagnostics) {
      out += fmt::format("{} {} {}", CodeText(d.code), Place(d.primary.bytes), Message(d));
      for (const Label& label : d.labels) {
        out += fmt::format(" [{} {}]", Place(label.where.bytes), LabelText(label));
      }
      for (const Note& note : d.notes) {
        out += fmt::format(" ({})", NoteText(note));
      }
      out += "\n";
    }
    return out;
  }

  // "1002 1005", in order.
  std::string Codes() const {
    std::string out;
    for (const Diagnostic& d : result_.diagnostics) {
      out += (out.empty() ? "" : " ") + std::string(CodeText(d.code).substr(4));
    }
    return out;
  }

 private:
  SourceSet set_;
  PreprocessResult result_;
};

}  // namespace kiln::hlsl
