// SPDX-License-Identifier: MIT
// Guaranteed properties that need a language: P1, P4, P26 and P29 of spec/layout 15, over random
// RPL programs whose bodies mention this or that of a random interface.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/artifact/metadata.h"
#include "compiler/driver/stages.h"
#include "compiler/layout/engine/engine.h"
#include "compiler/layout/reflection/dump.h"
#include "compiler/layout/rpl_adapter.h"
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
        "state_container vary { f4 tint; };\n"
        "color_output_container target { f4 color; };\n";
    mentions_ = {"vary.tint"};
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
           "void main_vertex (void)\n{\n"
           "  vary.tint = mesh.normal;\n"
           "  vertex_stage_output_position (f4 {mesh.position, 1.0});\n}\n"
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

// "thing0 binding 2", "thing0 set 1", "mesh.position location 0", "thing0.first offset 0", and
// "stride" and "matrix" of members: everything in the module.
class DecorationReader {
 public:
  explicit DecorationReader(std::span<const uint32_t> words) : words_(words) {
    for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
      Collect(at);
    }
  }

  void Read(Decorations& out) const {
    for (size_t at = 5; at < words_.size(); at += words_[at] >> 16) {
      const uint32_t op = words_[at] & 0xffffu;
      if (op == kDecorate && kVariableWords.contains(words_[at + 2])) {
        out[names_.at(words_[at + 1]) + kVariableWords.at(words_[at + 2])] =
            std::to_string(words_[at + 3]);
      } else if (op == kMemberDecorate && kMemberWords.contains(words_[at + 3])) {
        out[MemberName(words_[at + 1], words_[at + 2]) + kMemberWords.at(words_[at + 3])] =
            std::to_string(words_[at + 4]);
      } else if (op == kTypeStruct) {
        ReadStrides(at, out);
      }
    }
  }

 private:
  static constexpr uint32_t kName = 5, kMemberName = 6, kTypeStruct = 30, kDecorate = 71,
                            kMemberDecorate = 72, kArrayStride = 6;
  static inline const std::map<uint32_t, std::string> kVariableWords = {
      {33, " binding"}, {34, " set"}, {30, " location"}};
  static inline const std::map<uint32_t, std::string> kMemberWords = {{35, " offset"},
                                                                      {7, " matrix"}};

  std::string Text(size_t at) const { return reinterpret_cast<const char*>(&words_[at]); }
  std::string MemberName(uint32_t type, uint32_t member) const {
    return names_.at(type) + "." + members_.at({type, member});
  }

  void Collect(size_t at) {
    const uint32_t op = words_[at] & 0xffffu;
    if (op == kName) {
      names_[words_[at + 1]] = Text(at + 2);
    } else if (op == kMemberName) {
      members_[{words_[at + 1], words_[at + 2]}] = Text(at + 3);
    } else if (op == kDecorate && words_[at + 2] == kArrayStride) {
      strides_[words_[at + 1]] = words_[at + 3];
    }
  }

  // Strides are those of the types of members.
  void ReadStrides(size_t at, Decorations& out) const {
    for (uint32_t member = 0; member + 2 < words_[at] >> 16; ++member) {
      const auto stride = strides_.find(words_[at + 2 + member]);
      if (stride != strides_.end()) {
        out[MemberName(words_[at + 1], member) + " stride"] = std::to_string(stride->second);
      }
    }
  }

  std::span<const uint32_t> words_;
  std::map<uint32_t, std::string> names_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> members_;
  std::map<uint32_t, uint32_t> strides_;
};

void AddParameters(const std::string& block, uint64_t base,
                   const std::vector<artifact::Parameter>& parameters, Decorations& out) {
  for (const artifact::Parameter& parameter : parameters) {
    const std::string name = block + "." + parameter.name;
    out[name + " offset"] = std::to_string(base + parameter.offset);
    if (parameter.array_stride != 0) {
      out[name + " stride"] = std::to_string(parameter.array_stride);
    }
    if (parameter.matrix_stride != 0) {
      out[name + " matrix"] = std::to_string(parameter.matrix_stride);
    }
  }
}

// The same of the metadata.
void ReadMetadata(const artifact::PipelineMetadata& metadata, Decorations& out) {
  for (size_t set = 0; set < metadata.sets.size(); ++set) {
    const auto add = [&](const std::string& name, uint32_t binding) {
      out[name + " set"] = std::to_string(set);
      out[name + " binding"] = std::to_string(binding);
    };
    for (const artifact::Buffer& buffer : metadata.sets[set].buffers) {
      add(buffer.name, buffer.binding);
      AddParameters(buffer.name, 0, buffer.main_parameters, out);
      if (buffer.tail_item_size != 0) {
        const std::string tail = buffer.name + "." + buffer.tail_field;
        out[tail + " offset"] = std::to_string(buffer.tail_offset);
        out[tail + " stride"] = std::to_string(buffer.tail_item_size);
      }
    }
    for (const artifact::Sampler& sampler : metadata.sets[set].samplers) {
      add(sampler.name, sampler.binding);
    }
  }
  for (const artifact::AttributeSource& source : metadata.attribute_sources) {
    for (const artifact::Attribute& attribute : source.attributes) {
      const std::string name = source.name + "." + attribute.name;
      out[name + " location"] = std::to_string(attribute.location);
      out[name + " offset"] = std::to_string(attribute.offset);
    }
  }
  for (const artifact::ColorOutput& output : metadata.color_outputs) {
    out["target." + output.name + " location"] = std::to_string(output.location);
  }
}

Decorations NumbersOf(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes) {
  Decorations numbers;
  size_t next = 0;
  for (const Unit& unit : program.units) {
    for (const Container& container : unit.containers) {
      const PlacedContainer& placed = layout.containers[next++];
      for (size_t i = 0; i < placed.fields.size(); ++i) {
        const std::string name = fmt::format("{}.{}", container.name, container.fields[i].name);
        numbers[name + " location"] = std::to_string(placed.fields[i].location);
        numbers[name + " offset"] = std::to_string(placed.fields[i].offset);
      }
    }
  }
  for (const PlacedParameter& parameter : layout.parameters) {
    const PlacedLeaf& leaf = parameter.leaves.front();
    numbers[leaf.path + " binding"] = std::to_string(leaf.places.front().index);
    numbers[leaf.path + " set"] = std::to_string(leaf.places.front().space);
    if (leaf.content.valid()) {
      for (const ListedMember& member : ListMembers(bytes, leaf.content, *leaf.rules)) {
        const std::string name = leaf.path + "." + member.path;
        numbers[name + " offset"] = std::to_string(member.offset);
        numbers[name + " stride"] = std::to_string(member.array_stride);
        numbers[name + " matrix"] = std::to_string(member.matrix_stride);
      }
    }
  }
  return numbers;
}

void Build(const std::string& text, bool bright, std::string& dump, Decorations& numbers,
           Decorations& decorated, Decorations& described_by_metadata) {
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
  resolve::VariantEvaluator answers(linked.value->program, *values.value, pool, &units);
  const auto closed = resolve::SpecialiseVariant(linked.value->program, Entries(), answers, units);
  ASSERT_TRUE(closed.ok()) << text << Message(closed.diagnostics.front());
  TypeLayouts types(pool);
  dump = DumpLayout(*closed.value, {}, types);
  const DescribedVariant described = Describe(*closed.value, {}, types);
  numbers = NumbersOf(described.program, LayOut(described.program, types.types(), types.bytes()),
                      types.bytes());
  const auto built = driver::BuildDirect(*linked.value, *values.value, Entries(), {});
  ASSERT_TRUE(built.ok()) << text;
  for (const auto& code : built.products->code) {
    DecorationReader(code.words).Read(decorated);
  }
  const auto metadata = artifact::DecodeMetadata(built.products->metadata);
  ASSERT_TRUE(metadata.ok());
  ReadMetadata(*metadata, described_by_metadata);
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
        Decorations metadata;
        Build(text, bright, dump, numbers, decorated, metadata);
        ASSERT_FALSE(HasFatalFailure());
        first = first.empty() ? dump : first;
        ASSERT_EQ(dump, first) << text;
        for (const auto& [name, number] : decorated) {
          ASSERT_EQ(numbers.at(name), number) << name << "\n" << text;
          ++compared;
        }
        for (const auto& [name, number] : metadata) {
          ASSERT_EQ(numbers.at(name), number) << name << " in metadata\n" << text;
        }
        ASSERT_TRUE(decorated.contains("target.color location"));
        ASSERT_TRUE(decorated.contains("mesh.normal location"));
        ASSERT_TRUE(metadata.contains("mesh.normal offset"));
      }
    }
  }
  EXPECT_GT(compared, 4 * Runs(40));
}

}  // namespace
}  // namespace kiln::layout
