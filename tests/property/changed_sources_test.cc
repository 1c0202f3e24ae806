// SPDX-License-Identifier: MIT
// Sources of the tests that somebody is typing: cut off behind a token, or with one token that is
// another word of the language or of the source. Whatever comes of it, the compiler keeps what it
// promises. KILN_FULL=1 in the environment cuts behind every token and changes far more of them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/source/span.h"
#include "tests/golden/runner/topic_file.h"
#include "tests/integration/full_run.h"
#include "tests/property/promises.h"
#include "tests/property/source_words.h"

namespace kiln::property {
namespace {

struct Language {
  const char* name;
  const char* extension;
  std::vector<const char*> tables;   // folders
  std::vector<const char*> sources;  // folders
  std::vector<const char*> words;    // that no table spells out
};

// Names the tests.
void PrintTo(const Language& language, std::ostream* out) { *out << language.name; }

const Language kLanguages[] = {
    {.name = "rpl",
     .extension = ".rpl",
     .tables = {"compiler/front/rpl", "compiler/ir"},
     .sources = {"acceptance", "golden"},
     .words = {"0", "1u", "2s", "0.5", "\"text\"", "floor_f3", "name"}},
    {.name = "hlsl",
     .extension = ".hlsl",
     .tables = {"compiler/front/hlsl"},
     .sources = {"hlsl/corpus", "golden"},
     .words = {"0",         "1u",      "4294967296",  "0.5",    "1e39",      "2.0h",
               "\"text\"",  "float4",  "int3x2",      "float1", "float1x1",  "half2",
               "uint2",     "bool4",   "min16float3", "name",   "SV_Target", "SV_Position",
               "TEXCOORD0", "#define", "@",           "'"}},
    {.name = "wgsl",
     .extension = ".wgsl",
     .tables = {"compiler/front/wgsl"},
     .sources = {"wgsl_front/corpus", "golden"},
     .words = {"0",
               "1u",
               "2i",
               "0.5",
               "1e39f",
               "2.0h",
               "0x1p-3",
               "vec4f",
               "vec2<u32>",
               "mat3x2h",
               "i32",
               "u32",
               "f16",
               "array",
               "array<f32>",
               "ptr<function, i32>",
               "atomic<u32>",
               "texture_2d<f32>",
               "texture_depth_2d",
               "sampler",
               "vec3",
               "name",
               "@",
               "#"}},
};

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Inputs of goldens that share a file, or the file itself; in the order of their names.
std::vector<Program> ReadSources(const Language& language) {
  std::vector<Program> sources;
  const auto add = [&](const std::string& name, std::string text) {
    if (!name.ends_with(language.extension)) {
      return;
    }
    Program program{.path = std::string("case") + language.extension, .text = std::move(text)};
    const bool old = program.text.find("dialect of 2018") != std::string::npos ||
                     program.text.find("hlsl.version=2018") != std::string::npos;
    program.hlsl.version = old ? hlsl::Version::k2018 : hlsl::Version::k2021;
    sources.push_back(std::move(program));
  };
  for (const char* folder : language.sources) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(KILN_SOURCE_DIR) / "tests" / folder)) {
      paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    for (const std::filesystem::path& path : paths) {
      if (path.extension() == ".golden") {
        for (golden::TopicCase& one : golden::ParseTopic(ReadAll(path))) {
          add(one.name, std::move(one.source));
        }
      } else if (path.extension() == language.extension) {
        add(path.filename(), ReadAll(path));
      }
    }
  }
  return sources;
}

// Words, and all other characters one by one; neither blanks nor comments of lines.
std::vector<Span> TokensOf(std::string_view text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  std::vector<Span> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    while (is_word(text[at]) && end < text.size() && is_word(text[end])) {
      ++end;
    }
    if (std::isspace(static_cast<unsigned char>(text[at])) == 0) {
      tokens.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
    }
    at = end;
  }
  return tokens;
}

class ChangedSources : public testing::TestWithParam<Language> {
 protected:
  // Counts what comes of it.
  void Check(const Program& original, std::string text) {
    Program program = original;
    program.text = std::move(text);
    const Verdict verdict = Try(program);
    ++(verdict.compiled ? compiled_ : refused_);
    // A broken promise is shown with its source; the rest is still tried.
    EXPECT_EQ(verdict.broken, "") << program.text << "\n----";
  }

  int compiled_ = 0;
  int refused_ = 0;
};

TEST_P(ChangedSources, CutOffBehindAToken_KeepWhatIsPromised) {
  int number = 0;
  for (const Program& source : ReadSources(GetParam())) {
    const Program program = WithEntries(source);
    for (const Span token : TokensOf(program.text)) {
      if (tests::FullRun() || ++number % 29 == 0) {
        Check(program, program.text.substr(0, token.end));
      }
    }
  }
  EXPECT_GT(refused_, 200);
}

TEST_P(ChangedSources, WithAnotherToken_KeepWhatIsPromised) {
  std::vector<std::string> words;
  for (const char* folder : GetParam().tables) {
    std::ranges::copy(WordsOfTables(folder), std::back_inserter(words));
  }
  std::ranges::copy(GetParam().words, std::back_inserter(words));
  std::mt19937 random(GTEST_FLAG_GET(random_seed));
  std::vector<Program> programs = ReadSources(GetParam());
  std::ranges::transform(programs, programs.begin(), WithEntries);
  for (int round = 0; round < tests::Rounds(1500, 100'000); ++round) {
    const Program& program = programs[random() % programs.size()];
    const std::vector<Span> tokens = TokensOf(program.text);
    if (tokens.empty()) {
      continue;
    }
    std::string text = program.text;
    // One change, now and then a second one.
    for (int changes = random() % 4 == 0 ? 2 : 1; changes > 0; --changes) {
      const Span at = tokens[random() % tokens.size()];
      const Span other = tokens[random() % tokens.size()];
      const std::string word = random() % 2 == 0 ? words[random() % words.size()]
                                                 : std::string(TextOf(program.text, other));
      if (at.end <= text.size()) {
        text.replace(at.begin, at.size(), " " + word + " ");
      }
    }
    Check(program, std::move(text));
  }
  EXPECT_GT(refused_, 500);
  EXPECT_GT(compiled_, 5);
}

INSTANTIATE_TEST_SUITE_P(, ChangedSources, testing::ValuesIn(kLanguages),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kiln::property
