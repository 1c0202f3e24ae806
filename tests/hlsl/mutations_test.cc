// SPDX-License-Identifier: MIT
// One token of a right source is deleted, doubled or exchanged with its neighbour: parsing ends,
// says at most one thing of each statement, and the first that it says is near the change.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/parse.h"
#include "compiler/front/hlsl/syntax/tree_check.h"
#include "compiler/source/line_index.h"
#include "tests/hlsl/corpus.h"

namespace kiln::hlsl {
namespace {

enum class Change : uint8_t { kDelete, kDouble, kExchange };
constexpr Change kChanges[] = {Change::kDelete, Change::kDouble, Change::kExchange};

struct Outcome {
  PreprocessResult read;
  std::vector<Diagnostic> errors;  // of both stages, sorted
};

Outcome ReadAndParse(const std::string& text, Version version) {
  const SourceFile file("case.hlsl", text);
  Settings settings;
  settings.version = version;
  Outcome out{.read = Preprocess(file, {}, settings, 0), .errors = {}};
  const std::string_view texts[] = {file.text};
  const syntax::ParseResult parsed =
      syntax::Parse(out.read.stream, texts, version, {}, out.read.diagnostics);
  out.errors = out.read.diagnostics;
  out.errors.insert(out.errors.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  std::erase_if(out.errors, [](const Diagnostic& d) { return d.severity != Severity::kError; });
  SortAndMerge(out.errors);
  if (out.errors.empty()) {
    EXPECT_EQ(syntax::CheckTree(out.read.stream, parsed.ast), "") << text;
  }
  return out;
}

// The tokens of the file itself, in order: what macros make has no place of its own in it.
std::vector<Span> WrittenTokens(const TokenStream& stream) {
  std::vector<Span> spans;
  for (const Token& token : stream.tokens) {
    const bool in_file =
        stream.origins.context(stream.origins.ContextOf(token.origin)).kind == Context::Kind::kFile;
    if (in_file && token.kind != TokenKind::kEnd) {
      spans.push_back(stream.origins.WrittenAt(token.origin));
    }
  }
  std::ranges::sort(spans, {}, &Span::begin);
  return spans;
}

std::string Mutated(const std::string& text, const std::vector<Span>& tokens, size_t number,
                    Change change) {
  const Span at = tokens[number];
  const std::string token(TextOf(text, at));
  std::string out = text;
  switch (change) {
    case Change::kDelete:
      return out.replace(at.begin, at.size(), " ");
    case Change::kDouble:
      return out.insert(at.end, " " + token);
    case Change::kExchange: {
      const Span next = tokens[number + 1];
      const std::string other(TextOf(text, next));
      out.replace(next.begin, next.size(), " " + token + " ");
      return out.replace(at.begin, at.size(), " " + other + " ");
    }
  }
  return out;
}

// Does a statement, member or declaration end between two places? Macros repeat and move what they
// are given, so places say nothing where there are any.
bool AreOfTwoStatements(const TokenStream& stream, uint32_t first, uint32_t second) {
  if (WrittenTokens(stream).size() + 1 != stream.tokens.size()) {
    return true;
  }
  return std::ranges::any_of(stream.tokens, [&](const Token& token) {
    const uint32_t at = stream.origins.WrittenAt(token.origin).begin;
    switch (token.kind) {
      case TokenKind::kSemicolon:
      case TokenKind::kOpenBrace:
      case TokenKind::kCloseBrace:
      case TokenKind::kColon:
      case TokenKind::kElse:
      case TokenKind::kDo:
      case TokenKind::kCloseParen:  // of a head, behind which a statement stands
        return at >= first && at <= second;
      default:
        return false;
    }
  });
}

struct Count {
  uint32_t wrong = 0;
  uint32_t near = 0;
};

TEST(Mutations, Corpus_IsRight) {
  for (const CorpusSource& source : ReadCorpus()) {
    const Outcome outcome = ReadAndParse(source.text, source.version);
    ASSERT_TRUE(outcome.errors.empty())
        << source.name << ": "
        << LineIndex(source.text).At(outcome.errors[0].primary.bytes.begin).line << ": "
        << Message(outcome.errors[0]);
    EXPECT_GT(WrittenTokens(outcome.read.stream).size(), 150u) << source.name;
  }
}

TEST(Mutations, FirstError_IsWithinTwoLines) {
  std::map<Change, Count> counts;
  std::string far;  // for whoever has to mend it
  for (const CorpusSource& source : ReadCorpus()) {
    const std::vector<Span> tokens =
        WrittenTokens(ReadAndParse(source.text, source.version).read.stream);
    for (size_t number = 0; number + 1 < tokens.size(); ++number) {
      for (const Change change : kChanges) {
        const std::string text = Mutated(source.text, tokens, number, change);
        const Outcome outcome = ReadAndParse(text, source.version);
        if (outcome.errors.empty()) {
          continue;
        }
        const LineIndex lines(text);
        const int64_t changed = lines.At(tokens[number].begin).line;
        const int64_t found = lines.At(outcome.errors[0].primary.bytes.begin).line;
        ++counts[change].wrong;
        if (std::abs(changed - found) <= 2) {
          ++counts[change].near;
        } else {
          far += source.name + ":" + std::to_string(changed) + " '" +
                 std::string(TextOf(source.text, tokens[number])) + "' change " +
                 std::to_string(static_cast<int>(change)) + " found at " + std::to_string(found) +
                 ": " + Message(outcome.errors[0]) + "\n";
        }
        for (size_t i = 0; i + 1 < outcome.errors.size(); ++i) {
          ASSERT_TRUE(AreOfTwoStatements(outcome.read.stream, outcome.errors[i].primary.bytes.begin,
                                         outcome.errors[i + 1].primary.bytes.begin))
              << source.name << ":" << changed << "\n"
              << Message(outcome.errors[i]) << "\n"
              << Message(outcome.errors[i + 1]);
        }
      }
    }
  }
  for (const auto& [change, count] : counts) {
    RecordProperty("wrong_" + std::to_string(static_cast<int>(change)), count.wrong);
    RecordProperty("near_" + std::to_string(static_cast<int>(change)), count.near);
    EXPECT_GT(count.wrong, 1000u);
    EXPECT_GE(count.near * 10, count.wrong * 9) << far;
  }
  if (std::getenv("KILN_SHOW") != nullptr) {
    GTEST_LOG_(INFO) << far;
  }
}

}  // namespace
}  // namespace kiln::hlsl
