// SPDX-License-Identifier: MIT
// Case files that are meant to hurt: an answer with a code, at once.
#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/base/test_cpu_time.h"
#include "compiler/layout/cases/case_file.h"

namespace kiln::layout {
namespace {

using nlohmann::ordered_json;

// `expect` of the only case of a section.
ordered_json Answer(const std::string& section, const ordered_json& item) {
  const Duration start = CpuOfThisThread();
  const auto answered = AnswerCases(ordered_json{{section, {item}}}.dump());
  EXPECT_LT(CpuOfThisThread() - start, std::chrono::seconds(10));
  EXPECT_TRUE(answered.ok() && answered->errors.empty());
  return ordered_json::parse(answered->text)[section][0]["expect"];
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

std::string ErrorOf(const std::string& text) {
  const auto answered = AnswerCases(text);
  if (!answered.ok()) {
    return answered.error().context;
  }
  return answered->errors.empty() ? "" : answered->errors[0];
}

TEST(HostileCases, WhatIsNoJson_IsSaidWithItsLine) {
  const std::string deep(100'000, '[');
  struct Row {
    std::string text;
    std::string error;
  };
  const Row rows[] = {
      {"", "the text is not JSON (line 1)"},
      {" \n", "the text is not JSON (line 2)"},
      {"{", "the text is not JSON (line 1)"},
      {"{}\n{}", "the text is not JSON (line 2)"},
      {"{\n\"a\": NaN}", "the text is not JSON (line 2)"},
      {"{\n\n\"a\": 1e999}", "a number is too large (line 3)"},
      {"{\"a\": \"\xff\"}", "the text is not JSON (line 1)"},
      {std::string("{\0}", 3), "the text is not JSON (line 1)"},
      {"[]", "the file is no JSON object"},
      {"{\"a\": 1, \"b\": {\"c\": 1, \"c\": 2}}", "the key 'c' is there twice in one object"},
      {deep, "objects and lists are nested more than 64 deep"},
      {"{\"layout\": " + deep, "objects and lists are nested more than 64 deep"},
      {"{\"layout\": {}}", "section 'layout' is no list of cases"},
      {"{\"rpl\": [null]}", "section 'rpl' is no list of cases"}};
  for (const Row& row : rows) {
    EXPECT_EQ(ErrorOf(row.text), row.error) << row.text.substr(0, 40);
  }
}

TEST(HostileCases, PartsOfTheWrongType_AreSaid) {
  const auto binding = [](const std::string& parameter) {
    return R"({"binding": [{"units": [{"name": "u", "params": [)" + parameter + "]}]}]}";
  };
  struct Row {
    std::string text;
    std::string error;
  };
  const Row rows[] = {
      {R"({"layout": [{}]})", "layout/#0: no member 'fields'"},
      {R"({"layout": [{"fields": {}}]})", "layout/#0: fields are not a list"},
      {R"({"layout": [{"structs": 1, "fields": []}]})", "layout/#0: structs are not an object"},
      {R"({"layout": [{"fields": [["a", 1]]}]})",
       "layout/#0: '[\"a\",1]' is not a field [name, type]"},
      {R"({"layout": [{"fields": [["a", "f32", "diagonal"]]}]})",
       "layout/#0: 'diagonal' is not 'row'"},
      {R"({"binding": [{"units": 1}]})", "binding/#0: 'units' is no list"},
      {R"({"binding": [{"units": [1]}]})", "binding/#0: no member 'name'"},
      {R"({"binding": [{"units": [{"name": "u", "params": "x"}]}]})",
       "binding/#0: 'params' is no list"},
      {binding("1"), "binding/#0: no member 'name'"},
      {binding(R"({"name": 1, "type": "f32"})"), "binding/#0: 'name' is no text"},
      {binding(R"({"name": "a", "type": "f32", "d3d": 5})"), "binding/#0: '5' is no object"},
      {binding(R"({"name": "a", "type": "Texture2D", "vk": {"binding": -1}})"),
       "binding/#0: 'binding' is no number of 32 bits"},
      {binding(R"({"name": "a", "type": "Texture2D", "vk": {"set": 99999999999999999999}})"),
       "binding/#0: 'set' is no number of 32 bits"},
      {R"({"rpl": [{"modules": {}}]})", "rpl/#0: 'modules' is no list"},
      {R"({"rpl": [{"modules": [{"name": "m", "decls": [{"kind": "sampler", "name": "s",
          "set": "world"}]}]}]})",
       "rpl/#0: 'world' is no set"}};
  for (const Row& row : rows) {
    EXPECT_EQ(ErrorOf(row.text), row.error) << row.text;
  }
}

TEST(HostileCases, LongTexts_AreShortenedAndDeepTypesAreOutOfRange) {
  const std::string text(1'000'000, 'x');
  EXPECT_LT(ErrorOf(ordered_json{{"layout", {Block({}, text)}}}.dump()).size(), 200u);
  EXPECT_LT(ErrorOf(ordered_json{{"layout", {{{"id", text}}}}}.dump()).size(), 200u);
  std::string nested;
  for (int i = 0; i < 3000; ++i) {
    nested += "ParameterBlock<";
  }
  const std::string closing(3000, '>');
  const ordered_json program = {
      {"units",
       {{{"name", "u"}, {"params", {{{"name", "a"}, {"type", nested + "f32" + closing}}}}}}}};
  EXPECT_EQ(CodeOf(Answer("binding", program)["vulkan"]), "LAY1001");
  std::string extents = "f32";
  std::string tails = "f1";
  for (int i = 0; i < 20'000; ++i) {
    extents += "[1]";
    tails += "...";
  }
  EXPECT_EQ(CodeOf(Answer("layout", Block(ordered_json::object(), extents))["c"]), "LAY1001");
  const ordered_json modules = {
      {"modules",
       {{{"name", "m"},
         {"decls",
          {{{"kind", "uniform_buffer"},
            {"set", "pass"},
            {"name", "b"},
            {"fields", ordered_json::array({ordered_json::array({"x", tails})})}}}}}}}};
  EXPECT_EQ(CodeOf(Answer("rpl", modules)["vulkan"]), "RPL4003");
}

// The CPU time of answering and checking a file with this many keys in each kind of object.
double SecondsFor(int count) {
  std::string keys;
  std::string structs;
  std::string decls;
  std::string fields;
  for (int i = 0; i < count; ++i) {
    const char* comma = i == 0 ? "" : ",";
    keys += fmt::format("{}\"k{}\":{}", comma, i, i);
    structs += fmt::format("{}\"S{}\":[[\"a\",\"f32\"]]", comma, i);
    decls += fmt::format(R"({}{{"kind":"sampler","set":"pass","name":"s{}"}})", comma, i);
    fields += fmt::format("{}[\"f{}\",\"f1\"]", comma, i);
  }
  const std::string text = fmt::format(
      R"({{"k":{{{0}}},{0},"layout":[{{"structs":{{{1}}},"fields":[["a","S7"]],{0},)"
      R"("expect":{{"std140":{{{0}}},{0}}}}}],"rpl":[{{"modules":[{{"name":"m","decls":[{2},)"
      R"({{"kind":"state_container","name":"v","fields":[{3}]}}]}}]}}]}})",
      keys, structs, decls, fields);
  const Duration start = CpuOfThisThread();
  const auto answered = AnswerCases(text);
  const auto checked = CheckCases(text);
  const Duration end = CpuOfThisThread();
  EXPECT_TRUE(answered.ok() && answered->errors.empty());
  EXPECT_TRUE(checked.ok());
  EXPECT_GT(checked->differences.size(), 2 * static_cast<size_t>(count));
  return std::chrono::duration<double>(end - start).count();
}

// Reading keys in the square of their number would take 64 times as long.
TEST(HostileCases, ManyKeys_AreReadInLinearTime) {
  const double few = SecondsFor(2'000);
  EXPECT_LT(SecondsFor(16'000), 24 * few + 0.1);
}

}  // namespace
}  // namespace kiln::layout
