// SPDX-License-Identifier: MIT
// Linking and option values.
#include "compiler/resolve/program.h"

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/front/rpl/front.h"
#include "compiler/resolve/values/options.h"

namespace kiln::resolve {
namespace {

// Sources and the program of them.
class Linked {
 public:
  explicit Linked(const std::vector<std::string>& sources,
                  const std::vector<std::string>& names = {}) {
    std::vector<ir::ModuleView> views;
    for (uint32_t i = 0; i < sources.size(); ++i) {
      modules_.push_back(rpl::Parse(SourceFile("m.rpl", sources[i]), {}, i));
      EXPECT_TRUE(modules_.back().ok()) << sources[i];
    }
    for (const Diagnosed<ir::Module>& module : modules_) {
      views.push_back(module.value->view());
    }
    linked_ = Link(views, ir::PipelineType::kGraphicsClassic, names);
  }

  const Program& program() const { return *linked_.value; }
  std::string Messages() const { return TextOf(linked_.diagnostics); }
  bool Sensitive(std::string_view function) const {
    return program().StageSensitive(program().Functions(program().FindName(function))[0]);
  }
  std::string Check(const OptionSetting& setting) const {
    return TextOf(CheckOptions(program(), std::vector{setting}).diagnostics);
  }
  static std::string TextOf(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    for (const Diagnostic& found : diagnostics) {
      text += std::string(CodeText(found.code)) + " " + Message(found) + "\n";
    }
    return text;
  }

 private:
  std::vector<Diagnosed<ir::Module>> modules_;
  Diagnosed<Program> linked_;
};

TEST(Link, OptionOfTwoModules_IsAnError) {
  const Linked linked({"global fog: flag true;", "instance fog: uint 1;"}, {"a.rpl", "b.rpl"});
  EXPECT_EQ(linked.Messages(),
            "RPL2002 option 'fog' of module 'b.rpl' is already declared by module 'a.rpl'\n");
  EXPECT_EQ(Linked({"global fog: flag true;", "global mist: flag true;"}).Messages(), "");
}

// One flag for each of `count`, in two modules.
std::vector<std::string> Flags(uint32_t count) {
  std::vector<std::string> modules(2);
  for (uint32_t i = 0; i < count; ++i) {
    modules[i % 2] += "global f" + std::to_string(i) + ": flag false;\n";
  }
  return modules;
}

TEST(Link, OptionsOfAProgram_AreLimited) {
  const uint32_t most = LanguageLimits{}.options;
  EXPECT_EQ(Linked(Flags(most - 1)).Messages(), "");
  EXPECT_EQ(Linked(Flags(most)).Messages(), "");
  EXPECT_EQ(Linked(Flags(most + 1)).Messages(),
            "RPL2010 a program has at most 4096 options, its modules declare 4097\n");
}

TEST(Link, ValuesOfAnEnum_AreLimited) {
  const auto of = [](uint32_t count) {
    std::string text = "global kind: enum";
    for (uint32_t i = 0; i < count; ++i) {
      text += " \"v" + std::to_string(i) + "\"";
    }
    return std::vector<std::string>{text + ";"};
  };
  const uint32_t most = LanguageLimits{}.enum_values;
  EXPECT_EQ(Linked(of(most - 1)).Messages(), "");
  EXPECT_EQ(Linked(of(most)).Messages(), "");
  EXPECT_EQ(Linked(of(most + 1)).Messages(),
            "LIM1001 option 'kind' has too many values, the limit is 256\n");
}

// Half of them in each of two modules, under a condition that may never hold.
TEST(Link, FunctionsOfAProgram_AreLimited) {
  const auto of = [](uint32_t count) {
    std::vector<std::string> modules(2);
    for (uint32_t i = 0; i < count; ++i) {
      modules[i % 2] += "conditional (false) void g" + std::to_string(i) + " (void) { }\n";
    }
    return modules;
  };
  const uint32_t most = LanguageLimits{}.functions;
  EXPECT_EQ(Linked(of(most - 1)).Messages(), "");
  EXPECT_EQ(Linked(of(most)).Messages(), "");
  EXPECT_EQ(Linked(of(most + 1)).Messages(),
            "LIM1001 program has too many functions, the limit is 16384\n");
}

TEST(Link, RowsOfSeveralModules_HaveNumbersOfTheirOwn) {
  const Linked linked({"", "constant a = 1u;", "", "constant b = 2u; constant a = 3u;"});
  const Program& program = linked.program();
  const auto a = program.Constants(program.FindName("a"));
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(program.ModuleOf(a[0]), 1u);
  EXPECT_EQ(program.ModuleOf(a[1]), 3u);
  EXPECT_EQ(program.Text(program.NameOf(program.constants()[1])), "b");
  EXPECT_FALSE(program.FindName("nobody").valid());
}

TEST(Link, FunctionsThatSampleThroughCalls_AreStageSensitive) {
  const Linked linked(
      {"set_pass sampler s; set_pass image_color_2d i;\n"
       "f4 direct (void) { return sample (s, i, f2 {0.0}); }\n"
       "void nested (void) { if (1.0 < 2.0) { while (1u < 2u) { f4 x = direct (); } } }\n"
       "void cycle_a (void) { cycle_b (); } void cycle_b (void) { cycle_a (); nested (); }\n"
       "void plain (void) { other (); } void other (void) { }\n"
       "void dead (void) { conditional (false) { f4 x = direct (); } }\n"});
  EXPECT_TRUE(linked.Sensitive("direct"));
  EXPECT_TRUE(linked.Sensitive("nested"));
  EXPECT_TRUE(linked.Sensitive("cycle_a"));
  EXPECT_TRUE(linked.Sensitive("cycle_b"));
  EXPECT_TRUE(linked.Sensitive("dead"));
  EXPECT_FALSE(linked.Sensitive("plain"));
  EXPECT_FALSE(linked.Sensitive("other"));
}

TEST(Link, Interface_IsInBindingOrder) {
  const Linked linked(
      {"set_pass image_depth_2d d2; set_pass image_color_cube c3;\n"
       "set_pass image_color_2d[2] c2; set_pass sampler s; push_constant p { f4 x; };\n"
       "set_pass read_only_storage_buffer r { f4 x; };\n"
       "set_pass uniform_buffer u { f4 x; }; state_container c { f4 x; };\n"
       "set_pass image_color_2d_array ca; set_pass image_color_3d v;",
       "set_pass uniform_buffer w { f4 x; };"});
  std::string names;
  for (const ir::DeclId id : linked.program().interface()) {
    names += std::string(linked.program().Text(linked.program().NameOf(id))) + " ";
  }
  EXPECT_EQ(names, "c u r p s c2 v c3 ca d2 w ");
}

TEST(CheckOptions, EachRule_IsCheckedInOrder) {
  const Linked linked(
      {"global fog: flag true; instance lights: uint 4; instance bias: float 0.5;\n"
       "instance shift: sint -3; global tone: enum \"linear\" \"filmic\";"});
  using ir::OptionKind;
  using ir::OptionScope;
  const uint32_t nan = std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
  const struct {
    OptionSetting setting;
    const char* messages;
  } rows[] = {
      {{.name = "fog", .kind = OptionKind::kFlag}, ""},
      {{.name = "frog", .kind = OptionKind::kFlag}, "RPL2003 no option is named 'frog'\n"},
      {{.name = "fog", .kind = OptionKind::kUint},
       "RPL2004 option 'fog' is of type flag, the value is of type uint\n"},
      {{.name = "lights", .kind = OptionKind::kSint},
       "RPL2004 option 'lights' is of type uint, the value is of type sint\n"},
      {{.name = "fog", .scope = OptionScope::kGlobal, .kind = OptionKind::kFlag}, ""},
      {{.name = "fog", .scope = OptionScope::kInstance, .kind = OptionKind::kFlag},
       "RPL2005 option 'fog' is global, it was set as instance\n"},
      {{.name = "fog", .scope = OptionScope::kInstance, .kind = OptionKind::kFloat},
       "RPL2004 option 'fog' is of type flag, the value is of type float\n"},
      {{.name = "tone", .kind = OptionKind::kEnum, .text = "filmic"}, ""},
      {{.name = "tone", .kind = OptionKind::kEnum, .text = "aces"},
       "RPL2006 option 'tone' has no value 'aces'\n"},
      {{.name = "bias", .kind = OptionKind::kFloat, .bits = nan},
       "RPL2007 value of option 'bias' is not finite\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(linked.Check(row.setting), row.messages) << row.setting.name;
  }
}

TEST(CheckOptions, LaterSettings_ReplaceEarlierOnesAndDefaultsFillTheRest) {
  const Linked linked(
      {"global fog: flag true; instance lights: uint 4;\n"
       "global tone: enum \"linear\" \"filmic\";"});
  const Diagnosed<OptionValues> values = CheckOptions(
      linked.program(),
      std::vector<OptionSetting>{{.name = "lights", .kind = ir::OptionKind::kUint, .bits = 7},
                                 {.name = "tone", .kind = ir::OptionKind::kEnum, .text = "filmic"},
                                 {.name = "lights", .kind = ir::OptionKind::kUint, .bits = 9}});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values.value->bits, (std::vector<uint32_t>{1, 9, 1}));
}

}  // namespace
}  // namespace kiln::resolve
