// SPDX-License-Identifier: MIT
// The oracle of spec/architecture 10.6: whatever a VariantAssembler has built before, it makes the
// bytes, diagnostics and read options that BuildDirect makes; so do several of them at once.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include "compiler/base/digest.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "tests/property/random_program.h"

namespace kiln::property {
namespace {

using driver::BuildResult;

const std::vector<resolve::EntryPoint> kEntries{
    {.stage = ir::Stage::kVertex, .function = "vertex_main"},
    {.stage = ir::Stage::kFragment, .function = "fragment_main"}};

// Everything of a result, as one text that tells two apart.
std::string TextOf(const BuildResult& built) {
  std::string text;
  for (const Diagnostic& found : built.diagnostics) {
    text += std::string(CodeText(found.code)) + " " + std::to_string(found.primary.module) + ":" +
            std::to_string(found.primary.bytes.begin) + " " + Message(found) + "\n";
    for (const kiln::Label& label : found.labels) {
      text += "  " + std::to_string(label.where.bytes.begin) + " " + LabelText(label) + "\n";
    }
  }
  for (const driver::OptionRead& read : built.reads) {
    text += read.name + "=" + (read.text.empty() ? std::to_string(read.bits) : read.text) + " ";
  }
  if (built.ok()) {
    for (const driver::StageCode& stage : built.products->code) {
      text += "\n" + HashBytes(std::as_bytes(std::span(stage.words))).hex() + " of " +
              std::to_string(stage.words.size()) + " words";
    }
    text += "\nmetadata " + HashBytes(built.products->metadata).hex() + " " +
            built.products->layout_hash.hex() + " " + built.products->state_hash.hex();
  }
  return text;
}

driver::LinkedProgram LinkText(const std::string& text,
                               ir::PipelineType pipeline = ir::PipelineType::kGraphicsClassic) {
  const SourceFile source("random.rpl", text);
  Diagnosed<driver::LinkedProgram> linked = driver::LinkSources(std::span(&source, 1), pipeline);
  for (const Diagnostic& found : linked.diagnostics) {
    EXPECT_NE(found.severity, Severity::kError) << Message(found) << "\n" << text;
  }
  return std::move(*linked.value);
}

std::vector<resolve::OptionValues> ValuesOf(const resolve::Program& program, uint64_t seed,
                                            uint32_t count) {
  Random random(seed);
  std::vector<resolve::OptionValues> all;
  resolve::OptionValues values = RandomValues(program, random);
  for (uint32_t i = 0; i < count; ++i) {
    all.push_back(values);
    if (Below(random, 4) == 0) {
      values = RandomValues(program, random);
    } else {
      Mutate(program, random, values);
    }
  }
  return all;
}

// Counts what a run of a property met, so that a generator gone stale is noticed.
struct Met {
  uint32_t good = 0, bad = 0;
};

void ExpectValid(const BuildResult& built, const target::Target& target,
                 const std::string& program) {
  const spvtools::SpirvTools tools(target.environment == target::Environment::kVulkan11
                                       ? SPV_ENV_VULKAN_1_1
                                       : SPV_ENV_VULKAN_1_3);
  for (const driver::StageCode& stage : built.products->code) {
    EXPECT_TRUE(tools.Validate(stage.words)) << program;
  }
}

// An assembler that writes new modules only names the others rightly, and what it knows is right.
void ExpectNamed(driver::VariantAssembler& saving, const resolve::OptionValues& values,
                 const BuildResult& direct, std::map<uint32_t, std::string>& known,
                 const std::string& program) {
  const std::string expected = TextOf(direct);
  const std::optional<uint32_t> found = saving.Find(values);
  if (found) {
    ASSERT_EQ(known.at(*found), expected) << program;
  }
  const driver::VariantView& view = saving.Build(values, driver::ModuleSelection::kNew);
  ASSERT_TRUE(!found || view.result == *found) << program;
  known.emplace(view.result, expected);
  for (size_t i = 0; i < view.code.size(); ++i) {
    const std::vector<uint32_t>& words = direct.products->code[i].words;
    ASSERT_EQ(view.code[i].content, DigestOf(std::as_bytes(std::span(words)))) << program;
    ASSERT_EQ(view.code[i].words.empty(), !view.code[i].is_new);
    ASSERT_TRUE(view.code[i].words.empty() || std::ranges::equal(view.code[i].words, words));
  }
}

void ExpectSame(const driver::LinkedProgram& linked,
                const std::vector<resolve::OptionValues>& variants,
                std::span<const resolve::EntryPoint> entries, const target::Target& target,
                const std::string& program, Met& met) {
  driver::VariantAssembler assembler(linked, entries, target);
  driver::VariantAssembler saving(linked, entries, target);
  driver::DirectBuilder builder(linked, entries, target);  // BuildDirect has one for each variant
  std::map<uint32_t, std::string> known;
  std::set<std::string> seen;
  for (const resolve::OptionValues& values : variants) {
    const BuildResult direct = driver::BuildDirect(linked, values, entries, target);
    const std::string expected = TextOf(direct);
    ASSERT_EQ(TextOf(assembler.BuildCopy(values)), expected) << program;
    ASSERT_EQ(TextOf(builder.Build(values)), expected) << program;
    ExpectNamed(saving, values, direct, known, program);
    (direct.ok() ? met.good : met.bad) += 1;
    if (direct.ok() && seen.insert(expected).second) {
      ExpectValid(direct, target, program);
    }
  }
  // Again, in another order, by an assembler that knows everything and one that forgets now and
  // then.
  Random random(seen.size());
  std::vector<resolve::OptionValues> shuffled = variants;
  for (size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[Below(random, static_cast<uint32_t>(i))]);
  }
  auto forgetful = std::make_unique<driver::VariantAssembler>(linked, entries, target);
  for (const resolve::OptionValues& values : shuffled) {
    if (Below(random, 8) == 0) {
      forgetful = std::make_unique<driver::VariantAssembler>(linked, entries, target);
    }
    ASSERT_EQ(TextOf(forgetful->BuildCopy(values)), TextOf(assembler.BuildCopy(values))) << program;
  }
}

TEST(Memo, RandomPrograms_BytesOfTheDirectPath) {
  Met met;
  for (uint64_t seed = 1; seed <= 60 && !HasFatalFailure(); ++seed) {
    const std::string text = RandomProgram(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const driver::LinkedProgram linked = LinkText(text);
    ExpectSame(linked, ValuesOf(linked.program, seed, 40), kEntries,
               target::MakeTarget(target::Environment::kVulkan11), text, met);
  }
  EXPECT_GT(met.good, 600u);
  EXPECT_GT(met.bad, 100u);
}

TEST(Memo, MoreThan256Options_BytesOfTheDirectPath) {
  Met met;
  for (uint64_t seed = 1; seed <= 4 && !HasFatalFailure(); ++seed) {
    const std::string text = RandomProgram(seed, true);
    const driver::LinkedProgram linked = LinkText(text);
    ASSERT_GT(linked.program.option_count(), 256u);
    ExpectSame(linked, ValuesOf(linked.program, seed, 30), kEntries,
               target::MakeTarget(target::Environment::kVulkan11), text, met);
  }
  EXPECT_GT(met.good, 20u);
}

TEST(Memo, CombinedModules_BytesOfTheDirectPath) {
  Met met;
  target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  target.combined = true;
  for (uint64_t seed = 100; seed <= 110 && !HasFatalFailure(); ++seed) {
    const std::string text = RandomProgram(seed);
    const driver::LinkedProgram linked = LinkText(text);
    ExpectSame(linked, ValuesOf(linked.program, seed, 20), kEntries, target, text, met);
  }
  EXPECT_GT(met.good, 60u);
}

// What version 2 adds to a variant beside its code: values of specialised options, workgroup
// memory.
TEST(Memo, SpecializedOptionsAndWorkgroupMemory_BytesOfTheDirectPath) {
  const struct {
    ir::PipelineType pipeline;
    resolve::EntryPoint entry;
    const char* text;
  } rows[] = {{ir::PipelineType::kGraphicsClassic,
               {.stage = ir::Stage::kVertex, .function = "v"},
               "rpl 2;\n"
               "instance specialize taps: uint 4;\n"
               "instance specialize mirrored: flag false;\n"
               "instance low: flag false;\n"
               "void v (void) {\n"
               "  f1 x = mirrored ? -1.0 : 1.0;\n"
               "  for (u1 i = 0u; i < taps; i += 1u) { x *= 0.5; }\n"
               "  conditional (low) { x = x - 1.0; }\n"
               "  vertex_stage_output_position (f4 {x, 0.0, 0.0, 1.0});\n"
               "}\n"},
              {ir::PipelineType::kCompute,
               {.stage = ir::Stage::kCompute, .function = "c"},
               "rpl 2;\n"
               "instance wide: flag false;\n"
               "instance specialize scale: uint 4;\n"
               "setting workgroup_size_x = 64u;\n"
               "conditional (wide) setting workgroup_size_y = 2u;\n"
               "set_pass read_write_storage_buffer result { u1 count; u4... values; };\n"
               "workgroup u1[64] tile;\n"
               "void c (void) {\n"
               "  u1 here = compute_stage_local_index ();\n"
               "  conditional (wide) { tile[here % 64u] = here * scale; workgroup_barrier (); }\n"
               "  u1 last = here;\n"
               "  conditional (wide) { last = tile[(here + 1u) % 64u]; }\n"
               "  result.values[here] = u4 {last};\n"
               "}\n"}};
  for (const auto& row : rows) {
    Met met;
    const driver::LinkedProgram linked = LinkText(row.text, row.pipeline);
    ExpectSame(linked, ValuesOf(linked.program, 5, 40), std::span(&row.entry, 1),
               target::MakeTarget(target::Environment::kVulkan11), row.text, met);
    EXPECT_EQ(met.good, 40u) << row.text;
  }
}

// The size of workgroups is no part of the interface, and decides whether there is a layout.
TEST(Memo, TooLargeWorkgroup_MessageOfTheDirectPath) {
  const std::string text =
      "rpl 2;\n"
      "instance wide: flag false;\n"
      "setting workgroup_size_x = 64u;\n"
      "conditional (wide) setting workgroup_size_y = 64u;\n"
      "set_pass read_write_storage_buffer result { u1 count; u4... values; };\n"
      "void c (void) {\n"
      "  u1 here = compute_stage_local_index ();\n"
      "  result.values[here] = u4 {here};\n"
      "}\n";
  const resolve::EntryPoint entry{.stage = ir::Stage::kCompute, .function = "c"};
  Met met;
  const driver::LinkedProgram linked = LinkText(text, ir::PipelineType::kCompute);
  ExpectSame(linked, ValuesOf(linked.program, 5, 20), std::span(&entry, 1),
             target::MakeTarget(target::Environment::kVulkan11), text, met);
  EXPECT_GT(met.good, 0u);
  EXPECT_GT(met.bad, 0u);
}

// Only options that nobody read change: the result is the same. So it is if all options that were
// read have the values of another variant.
TEST(Memo, OptionsThatAreNotRead_ChangeNothing) {
  uint32_t changed = 0;
  for (uint64_t seed = 200; seed <= 230; ++seed) {
    const std::string text = RandomProgram(seed);
    const driver::LinkedProgram linked = LinkText(text);
    const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
    driver::VariantAssembler assembler(linked, kEntries, target);
    Random random(seed);
    for (const resolve::OptionValues& values : ValuesOf(linked.program, seed, 20)) {
      const driver::VariantView& view = assembler.Build(values);
      resolve::OptionValues other = RandomValues(linked.program, random);
      view.reads->ForEach([&](size_t option) { other.bits[option] = values.bits[option]; });
      changed += other.bits != values.bits ? 1 : 0;
      const std::string expected = TextOf(assembler.BuildCopy(values));
      ASSERT_EQ(TextOf(assembler.BuildCopy(other)), expected) << text;
      ASSERT_EQ(TextOf(driver::BuildDirect(linked, other, kEntries, target)), expected) << text;
    }
  }
  EXPECT_GT(changed, 100u);
}

TEST(Memo, SeveralThreads_OneResult) {
  const std::string text = RandomProgram(7);
  const driver::LinkedProgram linked = LinkText(text);
  const std::vector<resolve::OptionValues> variants = ValuesOf(linked.program, 7, 60);
  const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  const auto build = [&](std::vector<std::string>& results, bool backwards) {
    driver::VariantAssembler assembler(linked, kEntries, target);
    results.resize(variants.size());
    for (size_t i = 0; i < variants.size(); ++i) {
      const size_t at = backwards ? variants.size() - 1 - i : i;
      results[at] = TextOf(assembler.BuildCopy(variants[at]));
    }
  };
  std::vector<std::string> results[4];
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { build(results[i], i % 2 == 1); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(results[i], results[0]);
  }
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "entries=vertex:F,fragment:G" of the first run of an acceptance program.
std::vector<resolve::EntryPoint> EntriesOf(const std::string& text) {
  std::vector<resolve::EntryPoint> entries;
  const std::string line = text.substr(0, text.find('\n'));
  for (const auto& [word, stage] :
       {std::pair("vertex:", ir::Stage::kVertex), std::pair("fragment:", ir::Stage::kFragment)}) {
    const size_t at = line.find(word);
    if (at != std::string::npos) {
      const size_t begin = at + std::string_view(word).size();
      entries.push_back({.stage = stage,
                         .function = line.substr(begin, line.find_first_of(", ", begin) - begin)});
    }
  }
  return entries;
}

TEST(Memo, AcceptancePrograms_BytesOfTheDirectPath) {
  Met met;
  const std::filesystem::path folder(KILN_SOURCE_DIR "/tests/acceptance/rpl");
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".rpl" || file.path().filename() == "multi_module.rpl") {
      continue;
    }
    SCOPED_TRACE(file.path().filename());
    const std::string text = ReadFile(file.path());
    const driver::LinkedProgram linked = LinkText(text);
    ExpectSame(linked, ValuesOf(linked.program, 3, 24), EntriesOf(text),
               target::MakeTarget(target::Environment::kVulkan13), text, met);
  }
  const std::string uber = ReadFile(KILN_SOURCE_DIR "/tests/bench/shaders/uber.rpl");
  const driver::LinkedProgram linked = LinkText(uber);
  ExpectSame(linked, ValuesOf(linked.program, 5, 200), kEntries,
             target::MakeTarget(target::Environment::kVulkan11), uber, met);
  EXPECT_GT(met.good, 300u);
}

}  // namespace
}  // namespace kiln::property
