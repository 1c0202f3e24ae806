// SPDX-License-Identifier: MIT
#include "tests/oracle/traps.h"

#include <bit>
#include <cmath>

namespace kiln::oracle {
namespace {

constexpr uint32_t kFirstUnsigned = 16;
constexpr uint32_t kFirstSigned = 20;
constexpr std::string_view kOutputs[] = {"result.f0", "", "", "", "result.u0", "result.s0"};

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

ir::Stage StageOf(const std::string& entry) {
  return entry.starts_with("vertex") ? ir::Stage::kVertex : ir::Stage::kFragment;
}

}  // namespace

void RplTraps::Outputs(const std::string& source, uint32_t first,
                       const std::vector<uint32_t>& expected) {
  const BuiltVariant variant(BenchRequest(source));
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const Samples samples{};
  const std::vector<Outcome> outcomes = InterpretPixels(variant, samples);
  const Result<Pixels> pixels = bench().Run(variant, samples);
  ASSERT_TRUE(pixels.ok()) << ErrorText(pixels.error());
  EXPECT_EQ(outcomes[0].undecided, "");
  const Value& written = outcomes[0].written.find(kOutputs[first / 4])->second;
  for (uint32_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(written[i].bits, expected[i]) << "interpreter, output " << i;
    EXPECT_TRUE(written[i].exact()) << "output " << i;
    EXPECT_EQ((*pixels)[0][first + i], expected[i]) << "device, output " << i;
  }
}

void RplTraps::Floats(const std::string& source, const std::vector<float>& expected) {
  std::vector<uint32_t> words;
  words.reserve(expected.size());
  for (const float number : expected) {
    words.push_back(std::bit_cast<uint32_t>(number));
  }
  Outputs(source, 0, words);
}

void RplTraps::Unsigneds(const std::string& source, const std::vector<uint32_t>& expected) {
  Outputs(source, kFirstUnsigned, expected);
}

void RplTraps::Signeds(const std::string& source, const std::vector<int32_t>& expected) {
  Outputs(source, kFirstSigned, {expected.begin(), expected.end()});
}

std::string RplTraps::Said(const std::string& source, std::string_view entries) {
  return SaidOfModules({source}, entries);
}

std::string RplTraps::SaidOfModules(std::vector<std::string> sources, std::string_view entries) {
  return BuiltVariant({.sources = std::move(sources), .entries = Words(entries)}).messages();
}

std::string RplTraps::SaidOfCode(const std::string& statements, const std::string& declarations) {
  return Said(declarations + "\nvoid main (void)\n{\n" + statements + "\n}\n", "fragment:main");
}

std::string RplTraps::Code(const std::string& source, std::string_view entries) {
  const std::vector<std::string> words = Words(entries);
  const BuiltVariant variant({.sources = {source}, .entries = words});
  EXPECT_TRUE(variant.ok()) << variant.messages();
  return variant.ok() ? variant.Disassembly(StageOf(words[0])) : "";
}

}  // namespace kiln::oracle
