// SPDX-License-Identifier: MIT
// Soundness of live keys and signatures: over generated programs, what a process finds that built
// nothing is what a direct build of that variant makes, for every variant. See spec/cache 3.7, 12
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "cache/decorators/hiding_store.h"
#include "cache/decorators/memory_store.h"
#include "compiler/diag/place.h"
#include "compiler/driver/stages.h"
#include "compiler/resolve/checks/unused.h"
#include "server/compile/cached_build.h"
#include "tests/integration/full_run.h"
#include "tests/property/random_program.h"

namespace kiln::property {
namespace {

constexpr int kProgramsOfAFullRun = 100'000;

const std::vector<resolve::EntryPoint> kEntries{
    {.stage = ir::Stage::kVertex, .function = "vertex_main"},
    {.stage = ir::Stage::kFragment, .function = "fragment_main"}};

// All values of an option as settings, or two of a number.
std::vector<resolve::OptionSetting> SettingsOf(const resolve::Program& program,
                                               const resolve::OptionValues& values) {
  std::vector<resolve::OptionSetting> settings;
  for (uint32_t i = 0; i < program.option_count(); ++i) {
    const ir::OptionId id{i};
    const ir::ModuleView& module = program.module(program.ModuleOf(id));
    const ir::Option& option = program.Get(id);
    resolve::OptionSetting setting{.name = std::string(module.Text(option.name)),
                                   .scope = {},
                                   .kind = option.kind,
                                   .bits = values.bits[i],
                                   .text = {}};
    if (option.kind == ir::OptionKind::kEnum) {
      setting.text = module.Text(ir::StringId{module.List(option.values)[values.bits[i]]});
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

std::string TextOf(const std::vector<PlacedDiagnostic>& diagnostics) {
  std::string text;
  for (const PlacedDiagnostic& found : diagnostics) {
    text += found.code + " " + found.primary.path + ":" + std::to_string(found.primary.line) + ":" +
            std::to_string(found.primary.column) + " " + found.message + "\n";
    for (const PlacedLabel& label : found.labels) {
      text += "  " + std::to_string(label.where.line) + " " + label.text + "\n";
    }
  }
  return text;
}

// What a daemon says of a variant, as text.
std::string TextOf(const compile::Outcome& outcome) {
  std::string text = TextOf(outcome.diagnostics);
  if (outcome.artifact.has_value()) {
    for (const compile::StageCodeDigest& code : outcome.artifact->code) {
      text += code.digest.id.hex() + "\n";
    }
    text += outcome.artifact->metadata.id.hex() + " " + outcome.artifact->layout_hash.hex() + "\n";
  }
  return text;
}

// The same of a direct build; `unused` is said of its program.
std::string TextOf(const driver::BuildResult& built, const std::vector<Diagnostic>& unused,
                   const SourceFile& source) {
  const SourceFile* const modules[] = {&source};
  std::vector<PlacedDiagnostic> diagnostics = Place(unused, modules);
  std::ranges::move(Place(built.diagnostics, modules), std::back_inserter(diagnostics));
  SortForReading(diagnostics);
  std::string text = TextOf(diagnostics);
  if (built.ok()) {
    for (const driver::StageCode& stage : built.products->code) {
      text += DigestOf(std::as_bytes(std::span(stage.words))).id.hex() + "\n";
    }
    text += DigestOf(ByteView(built.products->metadata)).id.hex() + " " +
            built.products->layout_hash.hex() + "\n";
  }
  return text;
}

struct Met {
  uint64_t good = 0, bad = 0, shared = 0;
};

class LiveKeyTest : public testing::Test {
 protected:
  // Everything of a daemon but its store.
  struct Process {
    Process(cache::BlobStore& store, Clock& clock)
        : pool(store, 1 << 20), builder(store, pool, clock) {}
    compile::ProgramPool pool;
    compile::CachedBuild builder;
  };

  void Check(const std::string& text, uint64_t seed, uint32_t variants, Met& met) {
    cache::MemoryStore store(nullptr, nullptr, {});
    compile::ProgramRequest request;
    request.sources.push_back({.path = "random.rpl",
                               .digest = DigestOf(text),
                               .text = std::make_shared<const std::string>(text)});
    request.entries = kEntries;
    const compile::NamedTarget target{.name = "vk",
                                      .target = target::MakeTarget(target::Environment::kVulkan11)};
    Process maker(store, clock);
    const auto prepared = maker.builder.Prepare(request, target, {});
    ASSERT_TRUE(prepared.ok() && (*prepared)->ok()) << text;
    const driver::LinkedProgram& linked = *(*prepared)->linked->value;
    Random random(seed);
    std::map<std::vector<uint32_t>, std::string> expected;  // of every variant
    std::set<Hash128> signatures;
    resolve::OptionValues values = RandomValues(linked.program, random);
    const SourceFile source("random.rpl", text);
    const std::vector<Diagnostic> unused = resolve::FindUnused(linked.program, kEntries);
    for (uint32_t i = 0; i < variants; ++i) {
      const driver::BuildResult direct =
          driver::BuildDirect(linked, values, kEntries, target.target);
      const std::string& known = expected[values.bits] = TextOf(direct, unused, source);
      const Result<compile::Outcome> made =
          maker.builder.Build(**prepared, SettingsOf(linked.program, values), {}, {});
      ASSERT_TRUE(made.ok());
      ASSERT_EQ(TextOf(*made), known) << text;
      ++(made->artifact.has_value() ? met.good : met.bad);
      if (made->artifact.has_value()) {
        signatures.insert(made->artifact->signature);
      }
      Mutate(linked.program, random, values);
    }
    met.shared += maker.builder.counters().shared;
    EXPECT_EQ(maker.builder.counters().compiled, maker.builder.counters().walked)
        << "walks = distinct live assignments = signatures\n"
        << text;
    EXPECT_GE(maker.builder.counters().compiled, signatures.size());
    cache::HidingStore lost(store);
    lost.levels = {cache::Level::kMask, cache::Level::kAlias};
    for (cache::BlobStore* const below :
         {static_cast<cache::BlobStore*>(&store), static_cast<cache::BlobStore*>(&lost)}) {
      Process finder(*below, clock);
      const auto program = finder.builder.Prepare(request, target, {});
      ASSERT_TRUE(program.ok() && (*program)->ok());
      for (const auto& [bits, known] : expected) {
        const Result<compile::Outcome> found = finder.builder.Build(
            **program, SettingsOf((*program)->program(), {.bits = bits}), {}, {});
        ASSERT_TRUE(found.ok());
        ASSERT_EQ(TextOf(*found), known) << text;
      }
      EXPECT_EQ(finder.builder.counters().compiled, 0u) << text;
      EXPECT_EQ(finder.builder.counters().regions_lowered, 0u);
      EXPECT_EQ(finder.builder.counters().walked == 0, below == &store) << text;
    }
  }

  SystemClock clock;
};

TEST_F(LiveKeyTest, RandomPrograms_WhatIsFoundIsWhatADirectBuildMakes) {
  Met met;
  const int programs = tests::Rounds(60, kProgramsOfAFullRun);
  for (int seed = 1; seed <= programs && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Check(RandomProgram(static_cast<uint64_t>(seed)), static_cast<uint64_t>(seed), 24, met);
  }
  RecordProperty("good", static_cast<int>(met.good));
  EXPECT_GT(met.good, 300u);
  EXPECT_GT(met.bad, 50u);
  EXPECT_GT(met.shared, 50u);
}

}  // namespace
}  // namespace kiln::property
