// SPDX-License-Identifier: MIT
// One token of a right source is deleted, doubled or exchanged with its neighbour: the front end
// ends, and the first thing that it says is near the change.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/front/wgsl/lex/lex.h"
#include "compiler/front/wgsl/module/front.h"
#include "compiler/front/wgsl/syntax/parse.h"
#include "compiler/source/line_index.h"

namespace kiln::wgsl::front {
namespace {

struct Source {
  std::string name;
  std::string text;
};

std::vector<Source> ReadCorpus() {
  std::vector<Source> sources;
  for (const auto& entry :
       std::filesystem::directory_iterator(KILN_SOURCE_DIR "/tests/wgsl_front/corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    sources.push_back({entry.path().filename(), text.str()});
  }
  std::ranges::sort(sources, {}, &Source::name);
  EXPECT_FALSE(sources.empty());
  return sources;
}

enum class Change : uint8_t { kDelete, kDouble, kExchange };
constexpr Change kChanges[] = {Change::kDelete, Change::kDouble, Change::kExchange};

std::string Mutated(const std::string& text, const TokenStream& stream, size_t number,
                    Change change) {
  const Span at = stream.tokens[number].span;
  const std::string token(TextOf(text, at));
  std::string out = text;
  switch (change) {
    case Change::kDelete:
      return out.replace(at.begin, at.size(), " ");
    case Change::kDouble:
      return out.insert(at.end, " " + token);
    case Change::kExchange: {
      const Span next = stream.tokens[number + 1].span;
      const std::string other(TextOf(text, next));
      out.replace(next.begin, next.size(), " " + token + " ");
      return out.replace(at.begin, at.size(), " " + other + " ");
    }
  }
  return out;
}

// Errors of words and syntax alone, in the order of their places.
std::vector<Diagnostic> SyntaxErrors(const std::string& text) {
  LexResult lexed = Lex(text, 0);
  syntax::ParseResult parsed = syntax::Parse(lexed.stream, 0);
  std::vector<Diagnostic> errors = std::move(lexed.diagnostics);
  errors.insert(errors.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  SortAndMerge(errors);
  return errors;
}

struct Count {
  uint32_t wrong = 0;
  uint32_t near = 0;
};

TEST(WgslMutations, Corpus_IsRight) {
  for (const Source& source : ReadCorpus()) {
    const Diagnosed<ir::Module> module = Parse(SourceFile(source.name, source.text), {}, 0);
    EXPECT_TRUE(module.ok()) << source.name << ": " << Message(module.diagnostics[0]);
  }
}

TEST(WgslMutations, FirstSyntaxError_IsWithinTwoLines) {
  std::map<Change, Count> counts;
  std::string far;  // for whoever has to mend it
  for (const Source& source : ReadCorpus()) {
    const LexResult lexed = Lex(source.text, 0);
    for (size_t number = 0; number + 2 < lexed.stream.tokens.size(); ++number) {
      for (const Change change : kChanges) {
        const std::string text = Mutated(source.text, lexed.stream, number, change);
        const std::vector<Diagnostic> errors = SyntaxErrors(text);
        if (errors.empty()) {
          continue;
        }
        const LineIndex lines(text);
        const int64_t changed = lines.At(lexed.stream.tokens[number].span.begin).line;
        const int64_t found = lines.At(errors[0].primary.bytes.begin).line;
        ++counts[change].wrong;
        if (std::abs(changed - found) <= 2) {
          ++counts[change].near;
        } else {
          far += source.name + ":" + std::to_string(changed) + " change " +
                 std::to_string(static_cast<int>(change)) + " found at " + std::to_string(found) +
                 ": " + Message(errors[0]) + "\n";
        }
      }
    }
  }
  for (const auto& [change, count] : counts) {
    EXPECT_GT(count.wrong, 1000u);
    EXPECT_GE(count.near * 100, count.wrong * 97) << far;
  }
}

// Through all stages: whatever is read is lowered, whatever is not has a place in the text. Every
// seventh token, so that it takes seconds.
TEST(WgslMutations, Mistakes_EndWithAModuleOrAMessage) {
  uint32_t modules = 0;
  uint32_t refused = 0;
  for (const Source& source : ReadCorpus()) {
    const LexResult lexed = Lex(source.text, 0);
    for (size_t number = 0; number + 2 < lexed.stream.tokens.size(); number += 7) {
      const std::string text = Mutated(source.text, lexed.stream, number, kChanges[number % 3]);
      const Diagnosed<ir::Module> module = Parse(SourceFile("case.wgsl", text), {}, 0);
      ++(module.ok() ? modules : refused);
      EXPECT_NE(module.ok(), HasErrors(module.diagnostics)) << text;
      for (const Diagnostic& diagnostic : module.diagnostics) {
        EXPECT_LE(diagnostic.primary.bytes.end, text.size()) << text;
        EXPECT_FALSE(Message(diagnostic).empty());
      }
    }
  }
  EXPECT_GT(refused, 500u);
  EXPECT_GT(modules, 5u);
}

}  // namespace
}  // namespace kiln::wgsl::front
