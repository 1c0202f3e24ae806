// SPDX-License-Identifier: MIT
// Guaranteed properties that need a language: P1, P4, P26 and P29 of layout.md 15, over random RPL
// programs whose bodies mention this or that of a random interface.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/driver/stages.h"
#include "compiler/layout/assign.h"
#include "compiler/layout/dump.h"
#include "compiler/layout/lay_out.h"
#include "tests/layout/runs.h"

namespace kiln::layout {
namespace {

// A random interface, and the expressions that its resources allow.
class RandomSource {
 public:
  explicit RandomSource(uint32_t seed) : random_(seed) {
    head_ =
        "instance bright: flag false;\n"
        "vertex_attribute_container mesh { f3 position; pack (snorm16) f4 normal; };\n"
        "color_output_container target { f4 color; };\n";
    constexpr const char* kSets[] = {"pass", "material", "object", "shared"};
    for (uint32_t i = 0, count = 2 + Below(6); i < count; ++i) {
      const std::string name = fmt::format("thing{}", i);
      const char* set = kSets[Below(4)];
      switch (Below(3)) {
        case 0:
          head_ +=
              fmt::format("set_{} uniform_buffer {} {{ f4 first; f4[{}] second; f4x4 third; }};\n",
                          set, name, 1 + Below(4));
          mentions_.push_back(name + ".first");
          mentions_.push_back(name + ".second[0]");
          break;
        case 1:
          head_ += fmt::format(
              "set_{} read_only_storage_buffer {} {{ f3 first; f1 second; f2 third; f4... tail; "
              "}};\n",
              set, name);
          mentions_.push_back(fmt::format("f4 {{{}.first, {}.second}}", name, name));
          mentions_.push_back(name + ".tail[0]");
          break;
        default:
          head_ += fmt::format("set_{} sampler {};\n", set, name);
          break;
      }
    }
  }

  // Bodies that mention what chance wants.
  std::string Text() {
    std::string body = "  f4 sum = f4 {0.5};\n";
    for (const std::string& mention : mentions_) {
      if (Below(2) == 0) {
        body += Below(3) == 0
                    ? fmt::format("  conditional (bright) {{ sum = sum + {}; }}\n", mention)
                    : fmt::format("  sum = sum * {};\n", mention);
      }
    }
    return head_ +
           "void main_vertex (void) { vertex_stage_output_position (f4 {mesh.position, 1.0}); }\n"
           "void main_fragment (void)\n{\n" +
           body + "  target.color = sum;\n}\n";
  }

 private:
  uint32_t Below(uint32_t limit) { return random_() % limit; }

  std::mt19937 random_;
  std::string head_;
  std::vector<std::string> mentions_;
};

const std::vector<resolve::EntryPoint>& Entries() {
  static const std::vector<resolve::EntryPoint> entries = {
      {.stage = ir::Stage::kVertex, .function = "main_vertex"},
      {.stage = ir::Stage::kFragment, .function = "main_fragment"}};
  return entries;
}

using Decorations = std::map<std::string, std::string>;

// "thing0 binding 2", "thing0 set 1", "thing0.first offset 0" of everything in the module.
void ReadDecorations(std::span<const uint32_t> words, Decorations& out) {
  constexpr uint32_t kName = 5, kMemberName = 6, kDecorate = 71, kMemberDecorate = 72,
                     kBinding = 33, kDescriptorSet = 34, kOffset = 35;
  std::map<uint32_t, std::string> names;
  std::map<std::pair<uint32_t, uint32_t>, std::string> members;
  const auto text = [&](size_t at) {
    return std::string(reinterpret_cast<const char*>(&words[at]));
  };
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    const uint32_t op = words[at] & 0xffffu;
    if (op == kName) {
      names[words[at + 1]] = text(at + 2);
    } else if (op == kMemberName) {
      members[{words[at + 1], words[at + 2]}] = text(at + 3);
    } else if (op == kDecorate && words[at + 2] == kBinding) {
      out[names[words[at + 1]] + " binding"] = std::to_string(words[at + 3]);
    } else if (op == kDecorate && words[at + 2] == kDescriptorSet) {
      out[names[words[at + 1]] + " set"] = std::to_string(words[at + 3]);
    } else if (op == kMemberDecorate && words[at + 3] == kOffset) {
      out[names[words[at + 1]] + "." + members[{words[at + 1], words[at + 2]}] + " offset"] =
          std::to_string(words[at + 4]);
    }
  }
}

Decorations NumbersOf(const ProgramLayout& layout, ByteLayouts& bytes) {
  Decorations numbers;
  for (const PlacedParameter& parameter : layout.parameters) {
    const PlacedLeaf& leaf = parameter.leaves.front();
    numbers[leaf.path + " binding"] = std::to_string(leaf.places.front().index);
    numbers[leaf.path + " set"] = std::to_string(leaf.places.front().space);
    if (leaf.content.valid()) {
      for (const ListedMember& member : ListMembers(bytes, leaf.content, *leaf.rules)) {
        numbers[leaf.path + "." + member.path + " offset"] = std::to_string(member.offset);
      }
    }
  }
  return numbers;
}

void Build(const std::string& text, bool bright, std::string& dump, Decorations& numbers,
           Decorations& decorated) {
  std::vector<SourceFile> sources;
  sources.emplace_back("random.rpl", text);
  const auto linked = driver::LinkSources(sources, ir::PipelineType::kGraphicsClassic);
  ASSERT_TRUE(linked.ok()) << text;
  const std::vector<resolve::OptionSetting> settings = {
      {.name = "bright", .kind = ir::OptionKind::kFlag, .bits = bright ? 1u : 0u}};
  const auto values = resolve::CheckOptions(linked.value->program, settings);
  ASSERT_TRUE(values.ok());
  ir::Pool pool;
  driver::DirectUnits units(linked.value->program);
  resolve::Answers answers(linked.value->program, *values.value, pool, &units);
  const auto closed = resolve::CloseVariant(linked.value->program, Entries(), answers, units);
  ASSERT_TRUE(closed.ok()) << text << Message(closed.diagnostics.front());
  TypeLayouts types(pool);
  dump = DumpLayout(*closed.value, {}, types);
  const DescribedVariant described = Describe(*closed.value, {}, types);
  numbers = NumbersOf(LayOut(described.program, types.types(), types.bytes()), types.bytes());
  const auto built = driver::BuildDirect(*linked.value, *values.value, Entries(), {});
  ASSERT_TRUE(built.ok()) << text;
  for (const auto& code : built.products->code) {
    ReadDecorations(code.words, decorated);
  }
}

TEST(SourceProperty, P1_P4_P26_P29_BodiesAndInstanceOptionsMoveNothing) {
  size_t compared = 0;
  for (uint32_t seed = 0; seed < Runs(40); ++seed) {
    RandomSource source(seed);
    std::string first;
    for (int body = 0; body < 3; ++body) {
      const std::string text = source.Text();
      for (const bool bright : {false, true}) {
        std::string dump;
        Decorations numbers;
        Decorations decorated;
        Build(text, bright, dump, numbers, decorated);
        ASSERT_FALSE(HasFatalFailure());
        first = first.empty() ? dump : first;
        ASSERT_EQ(dump, first) << text;
        for (const auto& [name, number] : decorated) {
          ASSERT_EQ(numbers.at(name), number) << name << "\n" << text;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 4 * Runs(40));
}

}  // namespace
}  // namespace kiln::layout
