// SPDX-License-Identifier: MIT
// Programs with macros: option values choose a list of defines, and what lists have in common is
// made once.
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "server/compile/cached_build.h"
#include "server/compile/programs/macro_choices.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kMacros = 10;
constexpr uint32_t kLists = 1u << kMacros;

// Ten flags: M0 to M4 decide a line each, M5 and M6 one together, M7 to M9 nothing.
std::string TenMacros() {
  std::string text = "float4 ps_main (float4 at : SV_Position) : SV_Target {\n  float x = at.x;\n";
  for (uint32_t i = 0; i < 5; ++i) {
    text += fmt::format("#ifdef M{}\n  x = x * {}.0 + at.y;\n#endif\n", i, i + 2);
  }
  return text + "#if M5 || M6\n  x = -x;\n#endif\n  return float4 (x, 0, 0, 1);\n}\n";
}

resolve::OptionSetting Flag(const std::string& name, bool value) {
  return {.name = name, .kind = ir::OptionKind::kFlag, .bits = value ? 1u : 0u};
}

std::vector<resolve::OptionSetting> ListOf(uint32_t bits) {
  std::vector<resolve::OptionSetting> options;
  for (uint32_t i = 0; i < kMacros; ++i) {
    options.push_back(Flag(fmt::format("M{}", i), (bits >> i & 1) != 0));
  }
  return options;
}

class MacroProgramsTest : public testing::Test {
 protected:
  struct Process {
    explicit Process(MacroProgramsTest& test)
        : pool(test.store, 64 << 20), builder(test.store, pool, test.clock) {}
    ProgramPool pool;
    CachedBuild builder;
  };

  static ProgramRequest Request(const std::string& text) {
    ProgramRequest request;
    request.name = "p";
    request.sources.push_back({.path = "p.hlsl",
                               .digest = DigestOf(std::string_view(text)),
                               .text = std::make_shared<const std::string>(text)});
    request.entries.push_back({.stage = ir::Stage::kFragment, .function = "ps_main"});
    request.hlsl.files = std::make_shared<const FileList>();
    return request;
  }
  static ProgramRequest TenRequest() {
    ProgramRequest request = Request(TenMacros());
    for (uint32_t i = 0; i < kMacros; ++i) {
      request.hlsl.macros.push_back(*hlsl::MakeMacroAxis(fmt::format("M{}", i), {"false", "true"}));
    }
    return WithChoices(std::move(request), {});
  }

  static std::shared_ptr<const PreparedProgram> Prepare(Process& process,
                                                        const ProgramRequest& request) {
    const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
    const auto prepared = process.builder.Prepare(request, {.name = "vk", .target = target}, {});
    EXPECT_TRUE(prepared.ok() && (*prepared)->ok());
    return *prepared;
  }

  static Outcome Build(Process& process, const PreparedProgram& program,
                       const std::vector<resolve::OptionSetting>& options) {
    Result<Outcome> built = process.builder.Build(program, options, {}, {});
    EXPECT_TRUE(built.ok());
    return std::move(built).value();
  }

  // The code that a single variant has.
  static Digest CodeOf(const Outcome& outcome) {
    EXPECT_EQ(outcome.kind, OutcomeKind::kOk);
    return outcome.artifact->code.at(0).digest;
  }

  static std::vector<std::string> Codes(const Outcome& outcome) {
    std::vector<std::string> codes;
    for (const PlacedDiagnostic& diagnostic : outcome.diagnostics) {
      codes.push_back(diagnostic.code);
    }
    return codes;
  }

  SystemClock clock;
  cache::MemoryStore store{nullptr, nullptr, {}};
};

TEST_F(MacroProgramsTest, ThousandLists_ShareWhatTheyHaveInCommon) {
  Process process(*this);
  const auto program = Prepare(process, TenRequest());
  std::set<Digest> codes;
  std::set<Hash128> results;
  for (uint32_t list = 0; list < kLists; ++list) {
    const Outcome outcome = Build(process, *program, ListOf(list));
    codes.insert(CodeOf(outcome));
    results.insert(outcome.artifact->signature);
  }
  // Three of ten macros are dead: 2^7 lists differ in what is asked for. Of these, three in four of
  // M5 and M6 leave the same tokens, so 2^6 modules are parsed, and the code of no other is made.
  EXPECT_EQ(process.pool.Counters().parsed, 128u);
  EXPECT_EQ(process.pool.Counters().same_tokens, 64u);
  EXPECT_EQ(results.size(), 128u);
  EXPECT_EQ(codes.size(), 64u);
  // What an assembler has lowered goes on to the next module of the family, so most of what is met
  // again is not lowered again.
  EXPECT_LT(process.builder.counters().regions_lowered, 128u);

  // Another process finds all of it: nothing is read, nothing is lowered.
  Process other(*this);
  const auto again = Prepare(other, TenRequest());
  for (uint32_t list = 0; list < kLists; ++list) {
    EXPECT_TRUE(codes.contains(CodeOf(Build(other, *again, ListOf(list)))));
  }
  EXPECT_EQ(other.pool.Counters().parsed, 0u);
  EXPECT_EQ(other.builder.counters().regions_lowered, 0u);
}

TEST_F(MacroProgramsTest, ListHasTheCodeOfTheSameDefines) {
  Process process(*this);
  const auto program = Prepare(process, TenRequest());
  for (const uint32_t list : {0u, 1u, 0x15u, 0x60u, 0x3ffu}) {
    ProgramRequest plain = Request(TenMacros());
    for (uint32_t i = 0; i < kMacros; ++i) {
      if ((list >> i & 1) != 0) {
        plain.hlsl.settings.defines.push_back({.name = fmt::format("M{}", i)});
      }
    }
    const auto defined = Prepare(process, plain);
    EXPECT_EQ(CodeOf(Build(process, *program, ListOf(list))), CodeOf(Build(process, *defined, {})))
        << list;
  }
}

TEST_F(MacroProgramsTest, LiveOptions_AreTheMacrosThatWereAskedFor) {
  Process process(*this);
  const ProgramRequest request = [] {
    ProgramRequest made = Request(
        "float4 ps_main () : SV_Target {\n#ifdef FOG\n  return float4 (DENSITY, 0, 0, 1);\n"
        "#else\n  return float4 (0, 0, 0, 1);\n#endif\n}\n");
    made.hlsl.macros = {*hlsl::MakeMacroAxis("DEAD", {"soft", "hard"}),
                        *hlsl::MakeMacroAxis("DENSITY", {"1", "2", "4"}),
                        *hlsl::MakeMacroAxis("FOG", {"false", "true"})};
    return WithChoices(std::move(made), {});
  }();
  const auto program = Prepare(process, request);
  const auto live = [&](const std::vector<resolve::OptionSetting>& options) {
    const cache::NameList names = Build(process, *program, options).artifact->live_options;
    return std::vector<std::string>(names.begin(), names.end());
  };
  EXPECT_EQ(live({}), (std::vector<std::string>{"FOG"}));
  EXPECT_EQ(live({Flag("FOG", true)}), (std::vector<std::string>{"DENSITY", "FOG"}));
}

TEST_F(MacroProgramsTest, WrongValues_AreSaid) {
  Process process(*this);
  ProgramRequest request =
      Request("float4 ps_main () : SV_Target { return float4 (LIGHTS, 0, 0, 1); }\n");
  request.hlsl.macros = {*hlsl::MakeMacroAxis("LIGHTS", {"1", "2"})};
  const auto program = Prepare(process, WithChoices(request, {}));
  const auto codes = [&](const resolve::OptionSetting& option) {
    return Codes(Build(process, *program, {option}));
  };
  EXPECT_EQ(codes({.name = "LIGHTS", .kind = ir::OptionKind::kUint, .bits = 2}),
            std::vector<std::string>{});
  EXPECT_EQ(codes({.name = "LIGHTS", .kind = ir::OptionKind::kUint, .bits = 3}),
            std::vector<std::string>{"RPL2006"});
  EXPECT_EQ(codes(Flag("LIGHTS", true)), std::vector<std::string>{"RPL2004"});
  EXPECT_EQ(codes(Flag("LIGHT", true)), std::vector<std::string>{"RPL2003"});
}

// What is wrong with one list is an outcome of that list.
TEST_F(MacroProgramsTest, ListThatDoesNotCompile_FailsAlone) {
  Process process(*this);
  ProgramRequest request = Request(
      "float4 ps_main () : SV_Target {\n#ifdef BAD\n  return nothing;\n#endif\n"
      "  return float4 (0, 0, 0, 1);\n}\n");
  request.hlsl.macros = {*hlsl::MakeMacroAxis("BAD", {"false", "true"})};
  const auto program = Prepare(process, WithChoices(request, {}));
  EXPECT_EQ(Build(process, *program, {}).kind, OutcomeKind::kOk);
  const Outcome wrong = Build(process, *program, {Flag("BAD", true)});
  EXPECT_EQ(wrong.kind, OutcomeKind::kSourceError);
  ASSERT_FALSE(wrong.diagnostics.empty());
  EXPECT_EQ(wrong.diagnostics[0].primary.line, 3u);
}

TEST_F(MacroProgramsTest, SourcesListMacrosThemselves) {
  Process process(*this);
  const auto program =
      Prepare(process, Request("#pragma multi_compile _ FOG\n#pragma kiln macro LIGHTS 1 2\n"
                               "#pragma multi_compile LINEAR EXP\n"
                               "float4 ps_main () : SV_Target {\n  float x = LIGHTS;\n"
                               "#ifdef FOG\n  x += 8;\n#endif\n#ifdef EXP\n  x += 16;\n#endif\n"
                               "  return float4 (x, 0, 0, 1);\n}\n"));
  const Digest usual = CodeOf(Build(process, *program, {}));
  const resolve::OptionSetting two{.name = "LIGHTS", .kind = ir::OptionKind::kUint, .bits = 2};
  const resolve::OptionSetting exp{
      .name = "LINEAR_EXP", .kind = ir::OptionKind::kEnum, .text = "EXP"};
  std::set<Digest> codes{usual};
  codes.insert(CodeOf(Build(process, *program, {Flag("FOG", true)})));
  codes.insert(CodeOf(Build(process, *program, {two})));
  codes.insert(CodeOf(Build(process, *program, {exp})));
  EXPECT_EQ(codes.size(), 4u);
  EXPECT_EQ(Codes(Build(process, *program,
                        {{.name = "LINEAR_EXP", .kind = ir::OptionKind::kEnum, .text = "FOG"}})),
            std::vector<std::string>{"RPL2006"});
}

TEST(MacroChoices, LaterValuesWin_StrangersChooseNothing) {
  const std::vector<hlsl::MacroAxis> macros{*hlsl::MakeMacroAxis("FOG", {"false", "true"}),
                                            *hlsl::MakeMacroAxis("LIGHTS", {"1", "2"})};
  const auto text = [&](const std::vector<resolve::OptionSetting>& fixed,
                        const std::vector<resolve::OptionSetting>& options) {
    std::string out;
    for (const hlsl::MacroChoice& choice : ChoicesOf(macros, fixed, options)) {
      out += choice.name + "=" + choice.value.value_or("-") + " ";
    }
    return out;
  };
  EXPECT_EQ(text({}, {}), "FOG=- LIGHTS=1 ");
  EXPECT_EQ(text({Flag("FOG", true)}, {}), "FOG=1 LIGHTS=1 ");
  EXPECT_EQ(text({Flag("FOG", true)}, {Flag("FOG", false)}), "FOG=- LIGHTS=1 ");
  EXPECT_EQ(text({}, {{.name = "LIGHTS", .kind = ir::OptionKind::kUint, .bits = 2}}),
            "FOG=- LIGHTS=2 ");
  EXPECT_EQ(text({}, {{.name = "LIGHTS", .kind = ir::OptionKind::kSint, .bits = 2}}),
            "FOG=- LIGHTS=1 ");
  EXPECT_EQ(text({}, {Flag("SNOW", true)}), "FOG=- LIGHTS=1 ");
}

TEST(MacroChoices, MacrosOfARequest_ComeBeforeThoseOfASource) {
  const auto names = [](const std::vector<hlsl::MacroAxis>& macros,
                        const std::vector<hlsl::Define>& defines, std::string_view text) {
    std::string out;
    for (const hlsl::MacroAxis& macro : WithMacrosOf(macros, defines, text)) {
      out += macro.name + ":" + macro.values[0] + " ";
    }
    return out;
  };
  const std::vector<hlsl::MacroAxis> fog{*hlsl::MakeMacroAxis("FOG", {"7"})};
  EXPECT_EQ(names({}, {}, "#pragma shader_feature FOG"), "FOG:false ");
  EXPECT_EQ(names(fog, {}, "#pragma shader_feature FOG\n#pragma shader_feature A"),
            "A:false FOG:7 ");
  EXPECT_EQ(names({}, {{.name = "FOG"}}, "#pragma shader_feature FOG"), "");
  EXPECT_EQ(names(fog, {}, "#pragma multi_compile FOG A"), "FOG:7 ");
}

}  // namespace
}  // namespace kiln::compile
