// SPDX-License-Identifier: MIT
// Case files that are meant to hurt: an answer with a code, at once.
#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/layout/cases/case_file.h"

namespace kiln::layout {
namespace {

using nlohmann::ordered_json;

// `expect` of the only case of a section.
ordered_json Answer(const std::string& section, const ordered_json& item) {
  const auto start = std::chrono::steady_clock::now();
  const auto answered = AnswerCases(ordered_json{{section, {item}}}.dump());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_TRUE(answered.ok());
  return ordered_json::parse(answered.value())[section][0]["expect"];
}

std::string CodeOf(const ordered_json& answer) {
  return answer.contains("error") ? answer["error"][0]["code"].get<std::string>() : "";
}

ordered_json Block(const ordered_json& structs, const std::string& type) {
  return {{"structs", structs},
          {"fields", ordered_json::array({ordered_json::array({"x", type})})}};
}

ordered_json Fields(std::initializer_list<std::pair<std::string, std::string>> fields) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, type] : fields) {
    list.push_back(ordered_json::array({name, type}));
  }
  return list;
}

TEST(HostileCases, Cycles_AreOutOfRange) {
  const ordered_json self = {{"A", Fields({{"a", "A"}})}};
  EXPECT_EQ(CodeOf(Answer("layout", Block(self, "A"))["std140"]), "LAY1001");
  const ordered_json pair = {{"A", Fields({{"b", "B[2]"}})},
                             {"B", Fields({{"f", "f32"}, {"a", "A"}})}};
  for (const char* type : {"A", "B", "B[]"}) {
    const ordered_json answer = Answer("layout", Block(pair, type));
    EXPECT_EQ(CodeOf(answer["std430"]), "LAY1001") << type;
    EXPECT_EQ(answer["wgsl"]["host_shareable"], false);
  }
  const ordered_json program = {
      {"structs", {{"A", Fields({{"t", "Texture2D"}, {"p", "ParameterBlock<A>"}})}}},
      {"units", {{{"name", "u0"}, {"params", {{{"name", "a"}, {"type", "A"}}}}}}}};
  EXPECT_EQ(CodeOf(Answer("binding", program)["vulkan"]), "LAY1001");
}

TEST(HostileCases, LongChains_AreOutOfRange) {
  ordered_json structs = ordered_json::object();
  structs["S0"] = Fields({{"f", "f32"}});
  for (int i = 1; i < 5000; ++i) {
    structs[fmt::format("S{}", i)] = Fields({{"m", fmt::format("S{}", i - 1)}});
  }
  EXPECT_EQ(CodeOf(Answer("layout", Block(structs, "S4999"))["scalar"]), "LAY1001");
  EXPECT_EQ(CodeOf(Answer("layout", Block(structs, "S10"))["scalar"]), "");
  EXPECT_EQ(CodeOf(Answer("layout", Block(structs, "S70"))["scalar"]), "LAY1001");
}

TEST(HostileCases, HugeExtents_AreOutOfRange) {
  for (const char* type : {"f32[4294967295]", "f32[99999999999999999999999]", "bool[65536][65536]",
                           "mat_r4c4<f64>[4294967295][4294967295]"}) {
    for (const char* rules : {"std140", "scalar", "d3d_cbuffer"}) {
      EXPECT_EQ(CodeOf(Answer("layout", Block(ordered_json::object(), type))[rules]), "LAY1001")
          << type << " " << rules;
    }
  }
}

TEST(HostileCases, ZeroExtents_HaveNoSize) {
  const ordered_json answer = Answer("layout", Block(ordered_json::object(), "f32[0]"));
  EXPECT_EQ(answer["std430"]["size"], 0);
  EXPECT_EQ(answer["std140"]["size"], 0);
}

TEST(HostileCases, MisplacedTails_AreErrors) {
  ordered_json item = {{"fields", Fields({{"v", "f32[]"}, {"n", "u32"}})}};
  const ordered_json answer = Answer("layout", item);
  EXPECT_EQ(CodeOf(answer["std430"]), "LAY1006");
  EXPECT_FALSE(answer.contains("d3d_cbuffer"));
  EXPECT_EQ(CodeOf(Answer("layout", Block(ordered_json::object(), "f32[][2]"))["c"]), "");
  EXPECT_EQ(CodeOf(Answer("layout", Block(ordered_json::object(), "f32[2][]"))["c"]), "LAY1006");
}

TEST(HostileCases, ManyParameters_AreAnsweredAtOnce) {
  ordered_json parameters = ordered_json::array();
  for (int i = 0; i < 5000; ++i) {
    parameters.push_back({{"name", fmt::format("p{}", i)},
                          {"type", i % 2 == 0 ? "Texture2D" : "Texture2D[2]"},
                          {"d3d", {{"reg", fmt::format("t{}", 3 * (5000 - i))}}}});
  }
  const ordered_json program = {{"units", {{{"name", "u0"}, {"params", std::move(parameters)}}}}};
  const ordered_json answer = Answer("binding", program);
  EXPECT_EQ(answer["d3d12"]["bindings"]["p4999"], "t3[2],space0");
}

}  // namespace
}  // namespace kiln::layout
