// SPDX-License-Identifier: MIT
#include "server/project/liveness.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/threads/stop.h"
#include "compiler/driver/stages.h"

namespace kiln::project {
namespace {

// "a=1 code b=0": every option with its dependents and what can consult it, in order of
// declaration.
std::string LivenessIn(const std::string& text, const std::vector<resolve::EntryPoint>& entries) {
  const SourceFile source("live.rpl", text);
  const auto linked =
      driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
  const resolve::Program& program = linked.value->program;
  std::string out;
  uint32_t option = 0;
  for (const Liveness& row : LivenessOf(program, entries)) {
    out += (option == 0 ? "" : " ") +
           std::string(program.Text(program.NameOf(ir::OptionId{option}))) + "=" +
           std::to_string(row.dependents) + (row.code ? " code" : "") +
           (row.settings ? " settings" : "") + (row.layout ? " layout" : "");
    ++option;
  }
  return out;
}

constexpr const char* kShader = R"(
global in_main: flag false;
global in_helper: flag false;
global in_dead_helper: flag false;
global in_constant: uint 2;
global in_setting: flag false;
global in_struct: flag false;
global on_buffer: flag false;
global nobody: flag false;
constant count = in_constant;
conditional (in_setting) setting cull_mode = "back";
conditional (on_buffer) set_object uniform_buffer extra { f4 shade; };
struct pair { f4 one; conditional (in_struct) f4 two; };
color_output_container target { f4 color; };
void v (void) { vertex_stage_output_position (f4 {0.0}); }
f4 helper (void)
{
    f4 color = f4 {1.0};
    conditional (in_helper) { color = f4 {0.5}; }
    conditional (count > 1u) { color = f4 {0.25}; }
    return color;
}
f4 dead (void)
{
    f4 color = f4 {1.0};
    conditional (in_dead_helper) { color = f4 {0.5}; }
    return color;
}
void f (void)
{
    f4 color = helper ();
    conditional (in_main) { color = f4 {0.0}; }
    target.color = color;
}
)";

TEST(Liveness, OptionsOfReachedCodeAreLive_OthersAreNot) {
  EXPECT_EQ(LivenessIn(kShader, {{ir::Stage::kVertex, "v"}, {ir::Stage::kFragment, "f"}}),
            "in_main=1 code in_helper=1 code in_dead_helper=0 in_constant=1 code "
            "in_setting=1 settings in_struct=0 on_buffer=1 layout nobody=0");
}

TEST(Liveness, Readers_AreTheDeclarationsThatConsult) {
  const SourceFile source("live.rpl", kShader);
  const auto linked =
      driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
  const resolve::Program& program = linked.value->program;
  const std::vector<resolve::EntryPoint> entries = {{ir::Stage::kVertex, "v"},
                                                    {ir::Stage::kFragment, "f"}};
  std::string names;
  for (const Liveness& row : LivenessOf(program, entries)) {
    for (const Liveness::Reader& reader : row.readers) {
      EXPECT_EQ(reader.module, 0u);
      names += reader.name + " ";
      EXPECT_TRUE(reader.name.ends_with(TextOf(kShader, reader.where))) << reader.name;
    }
    names += "| ";
  }
  EXPECT_EQ(names,
            "function f | function helper | | function helper | setting cull_mode | | "
            "buffer extra | | ");
}

TEST(Liveness, WithoutEntryPoints_InterfaceAndSettingsAlone) {
  EXPECT_EQ(LivenessIn(kShader, {}),
            "in_main=0 in_helper=0 in_dead_helper=0 in_constant=0 in_setting=1 settings "
            "in_struct=0 on_buffer=1 layout nobody=0");
}

TEST(Liveness, StructIsReachedByItsName) {
  const std::string used =
      std::string(kShader) + "set_object uniform_buffer held { pair both; };\n";
  EXPECT_NE(LivenessIn(used, {}).find("in_struct=1 layout"), std::string::npos);
}

TEST(Liveness, OutputsMatterToSettingsAndCode_StateToCodeAlone) {
  EXPECT_EQ(LivenessIn("global wide: flag false;\nglobal passed: flag false;\n"
                       "color_output_container target { f4 color; conditional (wide) f4 more; };\n"
                       "state_container state { f4 uv; conditional (passed) f4 extra; };\n",
                       {}),
            "wide=1 code settings passed=1 code");
}

TEST(Liveness, BufferThatCodeMentions_MattersToBoth) {
  EXPECT_EQ(LivenessIn("global tinted: flag false;\n"
                       "conditional (tinted) set_object uniform_buffer tint { f4 shade; };\n"
                       "color_output_container target { f4 color; };\n"
                       "void f (void) { target.color = tint.shade; }\n",
                       {{ir::Stage::kFragment, "f"}}),
            "tinted=1 code layout");
}

// A constant that mentions an option hands it to everybody who reads the constant.
TEST(Liveness, ManyReaders_TheFirstAreListedAndAllAreCounted) {
  constexpr size_t kFunctions = 3 * kMaxReaders;
  std::string text = "global fog: flag false;\nconstant foggy = fog;\n";
  std::string calls;
  for (size_t i = 0; i < kFunctions; ++i) {
    const std::string name = "f" + std::to_string(i);
    text += "f1 " + name + " (void) { f1 x = 0.0; conditional (foggy) { x = 1.0; } return x; }\n";
    calls += " x = " + name + " ();";
  }
  text += "void v (void) { f1 x = 0.0;" + calls + " vertex_stage_output_position (f4 {x}); }\n";
  const SourceFile source("live.rpl", text);
  const auto linked =
      driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
  const std::vector<resolve::EntryPoint> entries = {{ir::Stage::kVertex, "v"}};
  const std::vector<Liveness> rows = LivenessOf(linked.value->program, entries);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].readers_in_all, kFunctions);
  ASSERT_EQ(rows[0].readers.size(), kMaxReaders);
  EXPECT_EQ(rows[0].readers.front().name, "function f0");
  EXPECT_EQ(rows[0].readers.back().name, "function f" + std::to_string(kMaxReaders - 1));
}

TEST(Liveness, CallerLeaves_LookingEnds) {
  const SourceFile source("live.rpl", kShader);
  const auto linked =
      driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
  FakeClock clock;
  std::stop_source stop;
  stop.request_stop();
  const StopScope scope({.stop = stop.get_token()}, clock);
  const std::vector<resolve::EntryPoint> entries = {{ir::Stage::kVertex, "v"}};
  EXPECT_THROW((void)LivenessOf(linked.value->program, entries), Stopped);
}

}  // namespace
}  // namespace kiln::project
