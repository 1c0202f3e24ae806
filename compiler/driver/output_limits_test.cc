// SPDX-License-Identifier: MIT
// Limits of what comes out: one less, as many, one more, on both paths. What a program makes is
// measured first, and then it is built with limits around that.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/clock.h"
#include "compiler/base/threads/stop.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "compiler/resolve/values/options.h"

namespace kiln::driver {
namespace {

constexpr const char* kText =
    "global bright: flag false;\n"
    "set_pass uniform_buffer view { f4 light; f4 tint; };\n"
    "color_output_container target { f4 color; };\n"
    "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n"
    "void f (void)\n"
    "{\n"
    "  f4 sum = view.light * view.tint;\n"
    "  conditional (bright) { sum = sum + sum * view.light; }\n"
    "  target.color = sum;\n"
    "}\n";
const std::vector<resolve::EntryPoint> kEntries = {
    {.stage = ir::Stage::kVertex, .function = "v"},
    {.stage = ir::Stage::kFragment, .function = "f"}};

LinkedProgram LinkedOf(const std::string& text, const LanguageLimits& limits) {
  Diagnosed<ir::Module> parsed =
      ParseSource(ir::Language::kRpl, SourceFile("p.rpl", text), /*ordinal=*/0, limits);
  EXPECT_TRUE(parsed.ok());
  Diagnosed<LinkedProgram> linked =
      LinkModules({std::make_shared<const ir::Module>(std::move(*parsed.value))}, {"p.rpl"},
                  ir::PipelineType::kGraphicsClassic, limits);
  EXPECT_TRUE(linked.ok());
  return std::move(*linked.value);
}

target::Target TargetOf(const LanguageLimits& limits, bool combined) {
  target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  target.limits = target::LimitsOf(limits);
  target.combined = combined;
  return target;
}

std::string TextOf(const BuildResult& built) {
  std::string text;
  for (const Diagnostic& found : built.diagnostics) {
    if (found.severity == Severity::kError) {
      text += std::to_string(found.primary.bytes.begin) + ": " + std::string(CodeText(found.code)) +
              " " + Message(found) + "\n";
    }
  }
  EXPECT_EQ(built.ok(), text.empty());
  return text;
}

resolve::OptionValues ValuesOf(const LinkedProgram& linked) {
  return *resolve::CheckOptions(linked.program, {}).value;
}

// What both paths say; one that remembers says the same of modules that it knows.
std::string Messages(const std::string& text, const LanguageLimits& limits, bool combined = false) {
  const LinkedProgram linked = LinkedOf(text, limits);
  const target::Target target = TargetOf(limits, combined);
  const resolve::OptionValues values = ValuesOf(linked);
  const std::string direct = TextOf(BuildDirect(linked, values, kEntries, target));
  VariantAssembler assembler(linked, kEntries, target);
  for (const ModuleSelection wanted :
       {ModuleSelection::kAll, ModuleSelection::kNew, ModuleSelection::kAll}) {
    EXPECT_EQ(TextOf(assembler.BuildCopy(values, wanted)), direct);
  }
  VariantAssembler plain(linked, kEntries, target);
  for (const char* time : {"first", "second"}) {
    EXPECT_EQ(plain.Build(values).ok, direct.empty()) << time;
  }
  return direct;
}

BuildResult Measured(bool combined = false) {
  const LinkedProgram linked = LinkedOf(kText, {});
  return BuildDirect(linked, ValuesOf(linked), kEntries, TargetOf({}, combined));
}

std::string Place(const char* what) { return std::to_string(std::string(kText).find(what)); }

TEST(OutputLimits, IdsOfAModule_AreCounted) {
  const BuildResult made = Measured();
  const uint32_t ids = made.products->code[1].words[3] - 1;
  EXPECT_LT(made.products->code[0].words[3] - 1, ids) << "the first module is smaller";
  EXPECT_EQ(Messages(kText, {.spirv_ids = ids + 1}), "");
  EXPECT_EQ(Messages(kText, {.spirv_ids = ids}), "");
  EXPECT_EQ(Messages(kText, {.spirv_ids = ids - 1}),
            Place("f (void)\n") + ": LIM1001 SPIR-V of 'f' has too many ids, the limit is " +
                std::to_string(ids - 1) + "\n");
}

TEST(OutputLimits, BytesOfAModule_AreCounted) {
  const BuildResult made = Measured();
  const auto bytes = static_cast<uint32_t>(made.products->code[1].words.size() * 4);
  EXPECT_EQ(Messages(kText, {.spirv_bytes = bytes + 1}), "");
  EXPECT_EQ(Messages(kText, {.spirv_bytes = bytes}), "");
  EXPECT_EQ(Messages(kText, {.spirv_bytes = bytes - 1}),
            Place("f (void)\n") + ": LIM1001 SPIR-V of 'f' has too many bytes, the limit is " +
                std::to_string(bytes - 1) + "\n");
}

TEST(OutputLimits, BytesOfMetadata_AreCounted) {
  const auto bytes = static_cast<uint32_t>(Measured().products->metadata.size());
  EXPECT_EQ(Messages(kText, {.metadata_bytes = bytes + 1}), "");
  EXPECT_EQ(Messages(kText, {.metadata_bytes = bytes}), "");
  EXPECT_EQ(
      Messages(kText, {.metadata_bytes = bytes - 1}),
      "0: LIM1001 metadata has too many bytes, the limit is " + std::to_string(bytes - 1) + "\n");
}

TEST(OutputLimits, ModuleOfAllEntryPoints_IsOneModule) {
  const auto bytes = static_cast<uint32_t>(Measured(true).products->code[0].words.size() * 4);
  EXPECT_EQ(Messages(kText, {.spirv_bytes = bytes}, true), "");
  EXPECT_EQ(Messages(kText, {.spirv_bytes = bytes - 1}, true),
            Place("v (void)") +
                ": LIM1001 SPIR-V of all entry points has too many bytes, the limit is " +
                std::to_string(bytes - 1) + "\n");
}

// A few lines that copy a struct of 2^`doublings` parts between two layouts, `copies` times; in
// WGSL it is memory of atomics that is copied part by part.
std::string CopiesText(int doublings, int copies, bool atomic) {
  std::string text = "rpl 2;\nstruct Pair0 { u1 a; u1 b; };\n";
  for (int i = 1; i < doublings; ++i) {
    const std::string inner = "Pair" + std::to_string(i - 1);
    text += "struct Pair" + std::to_string(i) + " { " + inner + " a; " + inner + " b; };\n";
  }
  const std::string whole = "Pair" + std::to_string(doublings - 1);
  text += "set_pass read_only_storage_buffer from { " + whole + " s; };\n";
  text += "set_pass read_write_storage_buffer to { " + whole + " s; };\n";
  text +=
      "color_output_container target { f4 color; };\n"
      "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n"
      "void f (void)\n{\n  target.color = f4 {0.0};\n";
  for (int i = 0; i < copies; ++i) {
    text += "  to.s = from.s;\n";
  }
  // One operation for each part, whose members follow from the bits of its number.
  for (int part = 0; atomic && part < 1 << doublings; ++part) {
    text += "  u1 _before" + std::to_string(part) + " = atomic_add (to.s";
    for (int i = 0; i < doublings; ++i) {
      text += (part >> i & 1) != 0 ? ".b" : ".a";
    }
    text += ", u1 {1});\n";
  }
  return text + "}\n";
}

// What copies of structs make is measured while it is made, and refused as what was made is; every
// limit below what they make is one.
TEST(OutputLimits, CopiesBetweenLayouts_AreNotMadeToTheEnd) {
  for (const bool combined : {false, true}) {
    const std::string text = CopiesText(12, 300, false);
    for (const uint32_t limit : {4096u, 100'000u, LanguageLimits{}.spirv_bytes}) {
      const std::string what = combined ? "all entry points" : "'f'";
      EXPECT_EQ(Messages(text, {.spirv_bytes = limit}, combined),
                std::to_string(text.find(combined ? "v (void)" : "f (void)\n")) +
                    ": LIM1001 SPIR-V of " + what + " has too many bytes, the limit is " +
                    std::to_string(limit) + "\n");
    }
  }
  EXPECT_EQ(Messages(CopiesText(12, 10, false), {}), "");
}

// 300 copies would be 400 MiB, of which nothing is kept; a call that may keep 100 MiB is enough.
TEST(OutputLimits, CopiesBetweenLayouts_AreCharged) {
  const LinkedProgram linked = LinkedOf(CopiesText(12, 300, false), {});
  FakeClock clock;
  const auto build = [&](uint64_t bytes) {
    const StopScope scope({.bytes = bytes}, clock);
    return TextOf(BuildDirect(linked, ValuesOf(linked), kEntries, TargetOf({}, false)));
  };
  EXPECT_NE(build(uint64_t{100} << 20).find("LIM1001"), std::string::npos);
  EXPECT_THROW(build(uint64_t{10} << 20), Stopped);
}

TEST(OutputLimits, CopiesOfAtomics_AreNotMadeToTheEnd) {
  const std::string text = CopiesText(8, 3000, true);
  const LinkedProgram linked = LinkedOf(text, {});
  target::Target target = TargetOf({}, false);
  target.form = target::Form::kWgsl;
  const std::string direct = TextOf(BuildDirect(linked, ValuesOf(linked), kEntries, target));
  EXPECT_EQ(direct, std::to_string(text.find("f (void)\n")) +
                        ": LIM1001 WGSL of 'f' has too many bytes, the limit is 16777216\n");
  VariantAssembler assembler(linked, kEntries, target);
  for (const char* time : {"first", "second"}) {
    EXPECT_EQ(TextOf(assembler.BuildCopy(ValuesOf(linked))), direct) << time;
  }
}

// `count` parts, each with its number for '#'.
std::string Repeated(uint32_t count, const std::string& part) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) {
    std::string one = part;
    for (size_t at = one.find('#'); at != std::string::npos; at = one.find('#')) {
      one.replace(at, 1, std::to_string(i));
    }
    text += one;
  }
  return text;
}

// Errors of a fragment stage 'main' in any language.
std::string ErrorsOf(ir::Language language, const std::string& text,
                     target::Environment environment = target::Environment::kVulkan11) {
  Diagnosed<ir::Module> parsed = ParseSource(language, SourceFile("p", text), /*ordinal=*/0, {});
  EXPECT_TRUE(parsed.ok());
  if (!parsed.ok()) {
    return "not parsed";
  }
  Diagnosed<LinkedProgram> linked =
      LinkModules({std::make_shared<const ir::Module>(std::move(*parsed.value))}, {"p"},
                  ir::PipelineType::kGraphicsClassic, {});
  const std::vector<resolve::EntryPoint> entries = {
      {.stage = ir::Stage::kFragment, .function = "main"}};
  const BuildResult built =
      BuildDirect(*linked.value, ValuesOf(*linked.value), entries, target::MakeTarget(environment));
  std::string found;
  for (const Diagnostic& diagnostic : built.diagnostics) {
    if (diagnostic.severity == Severity::kError) {
      found += std::string(CodeText(diagnostic.code)) + " " + Message(diagnostic) + "\n";
    }
  }
  return found;
}

// What SPIR-V has no room for is refused in all languages, and one less is made.
TEST(OutputLimits, LimitsOfSpirv_AreThoseOfAllLanguages) {
  using Text = std::string (*)(uint32_t);
  struct Row {
    ir::Language language;
    uint32_t most;  // for SPIR-V
    Text text;
    std::string_view error;  // of one more
  };
  const std::string_view members = "has too many members, the limit is 16383\n";
  const std::string_view labels = "LIM1001 switch has too many labels, the limit is 16383\n";
  const std::string_view items =
      "LIM1001 value has too many items in an array, the limit is 65532\n";
  const Row rows[] = {
      {ir::Language::kRpl, 16'383,
       [](uint32_t count) {
         return "rpl 2;\nstruct Wide { " + Repeated(count, "f1 m#; ") +
                "};\ncolor_output_container t { f4 c; };\n"
                "void main (void) { Wide x; x.m0 = 1.0; t.c = f4 {x.m0}; }\n";
       },
       members},
      {ir::Language::kRpl, 16'383,
       [](uint32_t count) {
         return "rpl 2;\nset_pass read_only_storage_buffer u { " + Repeated(count, "f1 m#; ") +
                "};\ncolor_output_container t { f4 c; };\n"
                "void main (void) { t.c = f4 {u.m0}; }\n";
       },
       members},
      {ir::Language::kRpl, 255,
       [](uint32_t count) {
         return "rpl 2;\nf1 g (in f1 a" + Repeated(count - 1, ", in f1 a_#") +
                ") { return a; }\ncolor_output_container t { f4 c; };\n"
                "void main (void) { t.c = f4 {g (1.0" +
                Repeated(count - 1, ", 1.0") + ")}; }\n";
       },
       "LIM1001 function 'g' has too many parameters, the limit is 255\n"},
      {ir::Language::kRpl, 65'532,
       [](uint32_t count) {
         const std::string type = "f1[" + std::to_string(count) + "]";
         return "rpl 2;\ncolor_output_container t { f4 c; };\nvoid main (void) { " + type +
                " v = " + type + " {1.0" + Repeated(count - 1, ", 1.0") + "}; t.c = f4 {v[3]}; }\n";
       },
       items},
      {ir::Language::kWgsl, 65'532,
       [](uint32_t count) {
         return "@fragment fn main() -> @location(0) vec4f { var v = array(1.0" +
                Repeated(count - 1, ", 1.0") + "); return vec4f(v[3]); }\n";
       },
       items},
      {ir::Language::kWgsl, 16'383,
       [](uint32_t count) {
         return "@fragment fn main(@location(0) @interpolate(flat) k : u32) -> @location(0) vec4f "
                "{ var r = 0.0; switch k { " +
                Repeated(count, "case #: { r = 1.0; } ") + "default: {} } return vec4f(r); }\n";
       },
       labels},
      {ir::Language::kWgsl, 16'383,
       [](uint32_t count) {
         return "@fragment fn main(@location(0) @interpolate(flat) k : u32) -> @location(0) vec4f "
                "{ var r = 0.0; switch k { case 99999" +
                Repeated(count - 1, ", #") + ": { r = 1.0; } default: {} } return vec4f(r); }\n";
       },
       labels},
      // A method has its object as well.
      {ir::Language::kHlsl, 254,
       [](uint32_t count) {
         return "struct T { float q; float g(float a" + Repeated(count - 1, ", float a#") +
                ") { return q + a; } };\n"
                "float4 main() : SV_Target { T x = (T)0; return x.g(1.0" +
                Repeated(count - 1, ", 1.0") + "); }\n";
       },
       "has too many parameters, the limit is 255\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ErrorsOf(row.language, row.text(row.most)), "");
    const std::string found = ErrorsOf(row.language, row.text(row.most + 1));
    EXPECT_TRUE(found.ends_with(row.error)) << found;
    EXPECT_TRUE(found.starts_with("LIM1001 ")) << found;
  }
}

// Variables are counted by what an entry point reaches; from SPIR-V 1.4 on it lists them all.
TEST(OutputLimits, VariablesOfAModule_AreThoseThatSpirvHasRoomFor) {
  const auto wgsl = [](uint32_t count) {
    return Repeated(count, "var<private> g# : f32;\n") +
           "@fragment fn main() -> @location(0) vec4f { " + Repeated(count, "g# = 1.0; ") +
           "return vec4f(g0); }\n";
  };
  // One variable is the output. The name takes two words, what is before it three.
  constexpr uint32_t kMost = 65'534;
  constexpr uint32_t kMostListed = kMost - 5;
  const std::string variables =
      "LIM1001 SPIR-V of 'main' has too many variables of module scope, the limit is 65535\n";
  const std::string words =
      "LIM1001 SPIR-V of 'main' has too many words in an entry point and the list of its "
      "variables, the limit is 65535\n";
  EXPECT_EQ(ErrorsOf(ir::Language::kWgsl, wgsl(kMost)), "");
  EXPECT_EQ(ErrorsOf(ir::Language::kWgsl, wgsl(kMost + 1)), variables);
  const auto newest = target::Environment::kVulkan13;
  EXPECT_EQ(ErrorsOf(ir::Language::kWgsl, wgsl(kMostListed), newest), "");
  EXPECT_EQ(ErrorsOf(ir::Language::kWgsl, wgsl(kMostListed + 1), newest), words);
}

// Where one variant is too large, the modules that it shares with others are theirs all the same.
TEST(OutputLimits, OneVariantIsTooLarge_OthersAreMade) {
  const auto bytes = static_cast<uint32_t>(Measured().products->code[1].words.size() * 4);
  const LanguageLimits limits{.spirv_bytes = bytes};
  const LinkedProgram linked = LinkedOf(kText, limits);
  const target::Target target = TargetOf(limits, false);
  resolve::OptionValues bright = ValuesOf(linked);
  bright.bits[0] = 1;
  VariantAssembler assembler(linked, kEntries, target);
  EXPECT_NE(TextOf(assembler.BuildCopy(bright)), "");
  const BuildResult small = assembler.BuildCopy(ValuesOf(linked));
  ASSERT_EQ(TextOf(small), "");
  const BuildResult direct = BuildDirect(linked, ValuesOf(linked), kEntries, target);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(small.products->code[i].words, direct.products->code[i].words);
  }
  EXPECT_EQ(small.products->metadata, direct.products->metadata);
  EXPECT_NE(TextOf(assembler.BuildCopy(bright)), "");
}

// Resources of all kinds count together, those of another set apart.
TEST(OutputLimits, BindingsOfASet_AreCounted) {
  const auto of = [](uint32_t count) {
    std::string text = kText;  // has one of its own
    constexpr const char* kKinds[] = {"sampler", "image_color_2d", "image_depth_2d"};
    for (uint32_t i = 1; i < count; ++i) {
      text += "set_pass " + std::string(kKinds[i % 3]) + " r" + std::to_string(i) + ";\n";
      text += "set_object sampler other" + std::to_string(i) + ";\n";
    }
    return text;
  };
  const uint32_t most = LanguageLimits{}.bindings;
  EXPECT_EQ(Messages(of(most - 1), {}), "");
  EXPECT_EQ(Messages(of(most), {}), "");
  const std::string text = of(most + 1);  // in the order of bindings a depth image is the last
  EXPECT_EQ(Messages(text, {}), std::to_string(text.find(" r1022;") + 1) +
                                    ": LIM1001 set 'pass' has too many bindings, the limit is "
                                    "1024\n");
}

// Languages with spaces count by those; resources that stand at one number are one binding.
TEST(OutputLimits, BindingsOfASpace_AreCounted) {
  const auto of = [](uint32_t count, uint32_t space) {
    std::string text;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      const std::string place = ", space" + std::to_string(space) + ");\n";
      const std::string name = std::to_string(space) + "_" + number;
      text += i == 0 ? "Texture2D<float4> b" + name + " : register(t0" + place + "SamplerState s" +
                           name + " : register(s0" + place
                     : "StructuredBuffer<float> b" + name + " : register(t" + number + place;
    }
    return text;
  };
  const auto errors = [&](uint32_t first, uint32_t second) {
    return ErrorsOf(ir::Language::kHlsl,
                    of(first, 0) + of(second, 1) + "float4 main() : SV_Target { return 0; }\n");
  };
  const uint32_t most = LanguageLimits{}.bindings;
  EXPECT_EQ(errors(most, most), "");
  EXPECT_EQ(errors(2, most + 1), "LIM1001 set 1 has too many bindings, the limit is 1024\n");
}

}  // namespace
}  // namespace kiln::driver
