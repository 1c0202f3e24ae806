// SPDX-License-Identifier: MIT
// A program is found again by an equal request and by no other; what is used least lately goes.
#include "server/compile/programs/prepared_program_cache.h"

#include <functional>

#include <gtest/gtest.h>

#include "server/compile/cached_build.h"

namespace kiln::compile {
namespace {

ProgramRequest Asked(const std::string& name) {
  return {.name = name,
          .sources = {{.path = "a.rpl", .digest = DigestOf("a"), .text = nullptr}},
          .entries = {{.stage = ir::Stage::kVertex, .function = "v"}},
          .options = {{.name = "fog", .bits = 1}}};
}

std::shared_ptr<const PreparedProgram> Prepared(uint64_t text_bytes = 0) {
  auto prepared = std::make_shared<PreparedProgram>();
  prepared->request.sources.push_back(
      {.path = "a.rpl",
       .digest = DigestOf("a"),
       .text = std::make_shared<const std::string>(text_bytes, ' ')});
  return prepared;
}

TEST(PreparedProgramCache, WhateverDiffers_IsAnotherProgram) {
  PreparedProgramCache memo(1000);
  const NamedTarget target{.name = "vk"};
  const auto prepared = Prepared();
  memo.Keep(Asked("rock"), target, prepared);
  EXPECT_EQ(memo.Find(Asked("rock"), target, {}), prepared);

  const struct {
    const char* what;
    std::function<void(ProgramRequest&, NamedTarget&)> change;
    bool same = false;
  } table[] = {
      {"nothing", [](auto&, auto&) {}, true},
      {"text that its digest stands for",
       [](auto& p, auto&) { p.sources[0].text = std::make_shared<const std::string>("a"); }, true},
      {"name", [](auto& p, auto&) { p.name = "sand"; }},
      {"path", [](auto& p, auto&) { p.sources[0].path = "b.rpl"; }},
      {"digest", [](auto& p, auto&) { p.sources[0].digest = DigestOf("b"); }},
      {"further source", [](auto& p, auto&) { p.sources.push_back(p.sources[0]); }},
      {"pipeline", [](auto& p, auto&) { p.pipeline = ir::PipelineType::kCompute; }},
      {"stage", [](auto& p, auto&) { p.entries[0].stage = ir::Stage::kFragment; }},
      {"function", [](auto& p, auto&) { p.entries[0].function = "w"; }},
      {"no entry point", [](auto& p, auto&) { p.entries.clear(); }},
      {"option", [](auto& p, auto&) { p.options[0].name = "mist"; }},
      {"value", [](auto& p, auto&) { p.options[0].bits = 0; }},
      {"scope", [](auto& p, auto&) { p.options[0].scope = ir::OptionScope::kGlobal; }},
      {"target", [](auto&, auto& t) { t.name = "gl"; }},
      {"metadata alone", [](auto&, auto& t) { t.metadata_only = true; }},
      {"debug", [](auto&, auto& t) { t.target.debug = target::Debug::kFull; }},
      {"version", [](auto&, auto& t) { t.target.spirv_version = target::SpirvVersion(1, 5); }},
      {"combined", [](auto&, auto& t) { t.target.combined = true; }},
      {"recipe", [](auto&, auto& t) { t.recipes = {"val"}; }},
  };
  for (const auto& row : table) {
    ProgramRequest program = Asked("rock");
    NamedTarget changed = target;
    row.change(program, changed);
    EXPECT_EQ(memo.Find(program, changed, {}) != nullptr, row.same) << row.what;
  }
  memo.Clear();
  EXPECT_EQ(memo.Find(Asked("rock"), target, {}), nullptr);
}

TEST(PreparedProgramCache, LeastLatelyUsed_MakesRoom) {
  PreparedProgramCache memo(1000);
  memo.Keep(Asked("a"), {}, Prepared(400));
  memo.Keep(Asked("b"), {}, Prepared(400));
  EXPECT_NE(memo.Find(Asked("a"), {}, {}), nullptr);
  memo.Keep(Asked("c"), {}, Prepared(400));
  EXPECT_NE(memo.Find(Asked("a"), {}, {}), nullptr);
  EXPECT_EQ(memo.Find(Asked("b"), {}, {}), nullptr);
  memo.Keep(Asked("huge"), {}, Prepared(1001));
  for (const char* name : {"a", "c", "huge"}) {
    EXPECT_EQ(memo.Find(Asked(name), {}, {}), nullptr) << name;
  }
  for (size_t i = 0; i <= PreparedProgramCache::kMaxPrograms; ++i) {
    memo.Keep(Asked(std::to_string(i)), {}, Prepared());
  }
  EXPECT_EQ(memo.Find(Asked("0"), {}, {}), nullptr);
  EXPECT_NE(memo.Find(Asked("1"), {}, {}), nullptr);
}

}  // namespace
}  // namespace kiln::compile
