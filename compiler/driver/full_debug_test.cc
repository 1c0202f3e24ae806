// SPDX-License-Identifier: MIT
// What a debugger finds in a module with full debug information: the files and lines of what it
// does.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "compiler/driver/direct_builder.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "compiler/ir/line_starts.h"

namespace kiln::driver {
namespace {

constexpr uint32_t kOpString = 7;
constexpr uint32_t kOpLine = 8;

// Two functions of equal content, at lines 2 and 6.
constexpr const char* kLibrary =
    "f1 first (in f1 x) {\n"
    "  return x * 2.0; }\n"
    "// é\n"
    "f1 second (in f1 x) {\n"
    "\n"
    "  return x * 2.0; }\n";
constexpr const char* kMain =
    "color_output_container target { f4 color; };\r\n"
    "void v (void) { vertex_stage_output_position (f4 {0.0}); }\r\n"
    "void f (void)\r\n"
    "{\r\n"
    "  target.color = f4 {first (1.0), second (1.0), 0.0, 1.0};\r\n"
    "}\r\n";

LinkedProgram LinkedOf(const std::vector<std::pair<std::string, std::string>>& sources) {
  std::vector<std::shared_ptr<const ir::Module>> modules;
  std::vector<std::string> paths;
  for (const auto& [path, text] : sources) {
    const SourceFile source(path, text);
    Diagnosed<ir::Module> parsed =
        ParseSource(ir::Language::kRpl, source, static_cast<uint32_t>(modules.size()));
    EXPECT_TRUE(parsed.ok()) << path;
    modules.push_back(std::make_shared<const ir::Module>(std::move(*parsed.value)));
    paths.push_back(path);
  }
  Diagnosed<LinkedProgram> linked =
      LinkModules(std::move(modules), std::move(paths), ir::PipelineType::kGraphicsClassic);
  EXPECT_TRUE(linked.ok());
  return std::move(*linked.value);
}

// "lib/twice.rpl:2" of every line that a module mentions.
std::set<std::string> LinesOf(std::span<const uint32_t> words) {
  std::map<uint32_t, std::string> strings;
  std::set<std::string> lines;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    const uint32_t op = words[at] & 0xffff;
    if (op == kOpString) {
      strings[words[at + 1]] = reinterpret_cast<const char*>(&words[at + 2]);
    } else if (op == kOpLine) {
      EXPECT_GT(words[at + 3], 0u);
      lines.insert(strings[words[at + 1]] + ":" + std::to_string(words[at + 2]));
    }
  }
  return lines;
}

const std::vector<resolve::EntryPoint> kEntries = {
    {.stage = ir::Stage::kVertex, .function = "v"},
    {.stage = ir::Stage::kFragment, .function = "f"}};

target::Target TargetWith(target::Debug debug) {
  target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  target.debug = debug;
  return target;
}

std::vector<std::vector<uint32_t>> WordsOf(BuildResult result) {
  EXPECT_TRUE(result.ok());
  std::vector<std::vector<uint32_t>> words;
  for (StageCode& stage : result.products->code) {
    words.push_back(std::move(stage.words));
  }
  return words;
}

TEST(FullDebug, Lines_AreThoseOfTheSources) {
  const LinkedProgram linked = LinkedOf({{"lib/twice.rpl", kLibrary}, {"main.rpl", kMain}});
  VariantAssembler assembler(linked, kEntries, TargetWith(target::Debug::kFull));
  const auto words = WordsOf(assembler.BuildCopy({}));
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(LinesOf(words[0]), (std::set<std::string>{"main.rpl:2"}));
  EXPECT_EQ(LinesOf(words[1]),
            (std::set<std::string>{"lib/twice.rpl:2", "lib/twice.rpl:6", "main.rpl:5"}));
  DirectBuilder direct(linked, kEntries, TargetWith(target::Debug::kFull));
  EXPECT_EQ(WordsOf(direct.Build({})), words);
}

TEST(FullDebug, OtherLevels_MentionNoLines) {
  const LinkedProgram linked = LinkedOf({{"lib/twice.rpl", kLibrary}, {"main.rpl", kMain}});
  for (const target::Debug debug : {target::Debug::kNone, target::Debug::kNames}) {
    VariantAssembler assembler(linked, kEntries, TargetWith(debug));
    for (const std::vector<uint32_t>& words : WordsOf(assembler.BuildCopy({}))) {
      EXPECT_TRUE(LinesOf(words).empty());
    }
  }
}

// The text is not asked for: an image that comes from a cache knows its lines.
TEST(FullDebug, Image_KnowsItsLines) {
  const LinkedProgram linked = LinkedOf({{"main.rpl", kMain}, {"lib/twice.rpl", kLibrary}});
  const std::span<const uint32_t> starts = ir::LineStartsOf(*linked.modules[0]);
  ASSERT_EQ(starts.size(), 7u);
  EXPECT_EQ(starts[1], std::string_view(kMain).find("void v"));
  const LinkedProgram moved =
      LinkedOf({{"main.rpl", std::string("\n") + kMain}, {"lib/twice.rpl", kLibrary}});
  EXPECT_EQ(linked.semantic_ids, moved.semantic_ids) << "lines are no content";
}

}  // namespace
}  // namespace kiln::driver
