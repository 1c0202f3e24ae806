// SPDX-License-Identifier: MIT
// HLSL and WGSL as an editor meets them: diagnostics with their chains of includes, and each
// request about names.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "client/lsp/documents/uri.h"
#include "client/lsp/server/test_editor.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::lsp {
namespace {

constexpr char kWgsl[] =
    "struct Light { color: vec3<f32>, power: f32 }\n"
    "@group(0) @binding(0) var<uniform> lights: array<Light, 4>;\n"
    "const scale = 2.0;\n"
    "fn shade(n: vec3<f32>, i: u32) -> vec3<f32> {\n"
    "  let one = lights[i].color * scale;\n"
    "  return one * n;\n"
    "}\n";
constexpr char kHlsl[] =
    "#include \"light.hlsli\"\n"
    "cbuffer View { float4 eye; };\n"
    "float3 shade(Light light, float3 n)\n"
    "{\n"
    "    float3 one = light.color * kScale;\n"
    "    return one * n * eye.xyz;\n"
    "}\n";
constexpr char kIncluded[] =
    "struct Light { float3 color; float power; };\n"
    "static const float kScale = 2;\n";

// A folder with a root, what it includes, and a manifest that does not name it.
class LspModules : public testing::Test {
 protected:
  void SetUp() override {
    Write("light.hlsli", kIncluded);
    editor.Initialize({{"textDocument", {{"publishDiagnostics", {{"relatedInformation", true}}}}}});
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFile((folder.path() / name).string(), AsBytes(text)).ok());
  }
  std::string Uri(const std::string& name) { return UriOf((folder.path() / name).string()); }
  void Open(const std::string& name, const std::string& text) {
    editor.Open(Uri(name), text, ++version);
    texts[name] = text;
  }
  // The place of a piece of an open text, and so many bytes behind its begin.
  Json At(const std::string& name, const std::string& piece, uint32_t offset = 0) {
    const std::string& text = texts[name];
    const size_t at = text.find(piece) + offset;
    const auto line = static_cast<uint32_t>(std::count(text.begin(), text.begin() + at, '\n'));
    const size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1);
    return TestEditor::At(Uri(name), line,
                          static_cast<uint32_t>(begin == std::string::npos ? at : at - begin - 1));
  }
  std::string Hover(const std::string& name, const std::string& piece) {
    const Json found = editor.Result("textDocument/hover", At(name, piece));
    return found.is_null() ? "" : found["contents"]["value"].get<std::string>();
  }
  // "name:line" of a location.
  static std::string Short(const Json& location) {
    const std::string uri = location["uri"];
    return uri.substr(uri.rfind('/') + 1) + ":" +
           std::to_string(location["range"]["start"]["line"].get<int>());
  }
  std::string Definition(const std::string& name, const std::string& piece) {
    const Json found = editor.Result("textDocument/definition", At(name, piece));
    return found.is_null() ? "" : Short(found[0]);
  }
  std::set<std::string> Labels(const Json& params) {
    std::set<std::string> labels;
    const Json answer = editor.Result("textDocument/completion", params);
    for (const Json& item : answer["items"]) {
      labels.insert(item["label"].get<std::string>());
    }
    return labels;
  }

  SystemClock clock;
  TestEditor editor{clock};
  TestDirectory folder;
  std::map<std::string, std::string> texts;
  int64_t version = 0;
};

TEST_F(LspModules, RightSources_HaveNoDiagnostics) {
  Open("a.wgsl", kWgsl);
  Open("a.hlsl", kHlsl);
  EXPECT_EQ(editor.Diagnostics(Uri("a.wgsl")), Json::array());
  EXPECT_EQ(editor.Diagnostics(Uri("a.hlsl")), Json::array());
}

// However an editor learns of it, and though the folder had none when it was looked at first.
TEST_F(LspModules, ManifestThatIsMadeLater_IsFound) {
  constexpr char kText[] = "float4 place(float4 p : POSITION) : SV_Position { return p * C; }\n";
  constexpr char kManifest[] =
      "[project]\nmanifest = 1\nname = \"x\"\n[hlsl]\ndefines = { C = \"2.0\" }\n"
      "[target.vk]\nform = \"spirv\"\nenv = \"vulkan1.1\"\n"
      "[[program]]\nname = \"m\"\nsources = [\"m.hlsl\"]\n"
      "entry_points = { vertex = \"place\" }\ntargets = [\"vk\"]\n";
  const std::string manifest = (folder.path() / "kiln.toml").string();
  const auto wrong = [&] { return editor.Diagnostics(Uri("m.hlsl")).size(); };
  const auto watched = [&] {
    editor.Notify("workspace/didChangeWatchedFiles",
                  {{"changes", {{{"uri", Uri("kiln.toml")}, {"type", 1}}}}});
  };
  Write("m.hlsl", kText);
  const std::function<void()> tellings[] = {
      watched,
      [&] { editor.Replace(Uri("m.hlsl"), kText + std::string("// more\n"), ++version); },
      [&] {
        editor.Open(Uri("kiln.toml"), kManifest, ++version);
        editor.Notify("textDocument/didClose", {{"textDocument", {{"uri", Uri("kiln.toml")}}}});
      },
      [&] {
        editor.Notify("textDocument/didSave", {{"textDocument", {{"uri", Uri("m.hlsl")}}}});
      },
      [&] {
        editor.Notify("textDocument/didClose", {{"textDocument", {{"uri", Uri("m.hlsl")}}}});
        Open("m.hlsl", kText);
      },
  };
  Open("m.hlsl", kText);
  // The manifest comes, goes and comes back.
  for (const std::function<void()>& tell : tellings) {
    EXPECT_EQ(wrong(), 1u);
    Write("kiln.toml", kManifest);
    tell();
    EXPECT_EQ(wrong(), 0u) << &tell - tellings << editor.Diagnostics(Uri("m.hlsl"));
    std::filesystem::remove(manifest);
    watched();
  }
}

TEST_F(LspModules, Mistakes_AreToldWithTheirCodes) {
  struct Row {
    const char* name;
    std::string text;
    const char* code;
  };
  const Row rows[] = {
      {"a.wgsl", "fn f() { let a: i32 = true; }", "WGSL2002"},
      {"a.wgsl", "fn f() { let a = x; }", "WGSL2005"},
      {"a.wgsl", "fn f( { }", "WGSL1001"},
      {"a.hlsl", "float f() { return x; }", "HLSL2001"},
      {"a.hlsl", "float f( { }", "HLSL1040"},
      {"a.hlsl", "#include \"gone.hlsli\"\n", "HLSL1010"},
  };
  for (const Row& row : rows) {
    Open(row.name, row.text);
    const Json found = editor.Diagnostics(Uri(row.name));
    ASSERT_FALSE(found.empty()) << row.text;
    EXPECT_EQ(found[0]["code"], row.code) << found;
    EXPECT_EQ(found[0]["severity"], 1);
  }
}

// A mistake in what is included stands there, and says what included it; the open text counts.
TEST_F(LspModules, MistakeInAnInclude_IsThereWithItsChain) {
  Open("a.hlsl", kHlsl);
  Open("light.hlsli", std::string(kIncluded) + "float f() { return nothing; }\n");
  const Json found = editor.Diagnostics(Uri("light.hlsli"));
  ASSERT_EQ(found.size(), 1u) << found;
  EXPECT_EQ(found[0]["range"]["start"]["line"], 2);
  ASSERT_EQ(found[0]["relatedInformation"].size(), 1u) << found;
  EXPECT_EQ(Short(found[0]["relatedInformation"][0]["location"]), "a.hlsl:0");
  EXPECT_EQ(editor.Diagnostics(Uri("a.hlsl")), Json::array());
  editor.Replace(Uri("light.hlsli"), kIncluded, ++version);
  EXPECT_EQ(editor.Diagnostics(Uri("light.hlsli")), Json::array());
}

TEST_F(LspModules, ClientWithoutRelatedInformation_ReadsTheChain) {
  TestEditor plain(clock);
  plain.Initialize();
  Write("light.hlsli", "float f() { return nothing; }\n");
  plain.Open(Uri("a.hlsl"), "#include \"light.hlsli\"\n");
  const Json found = plain.Diagnostics(Uri("light.hlsli"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0]["message"].get<std::string>().find("a.hlsl:1: "), std::string::npos) << found;
}

// An include leads below the folder only, whatever the source says.
TEST_F(LspModules, IncludeOutsideOfTheFolder_IsNotRead) {
  TestDirectory other;
  ASSERT_TRUE(WriteFile((other.path() / "secret.hlsli").string(),
                        AsBytes(std::string("static const int secret = ;\n")))
                  .ok());
  const std::string up = "../" + other.path().filename().string() + "/secret.hlsli";
  std::filesystem::create_symlink(other.path() / "secret.hlsli", folder.path() / "link.hlsli");
  for (const std::string& path : {up, std::string("link.hlsli")}) {
    Open("a.hlsl", "#include \"" + path + "\"\n");
    const Json found = editor.Diagnostics(Uri("a.hlsl"));
    ASSERT_EQ(found.size(), 1u) << found;
    EXPECT_EQ(found[0]["code"], "HLSL1010") << found;
  }
}

// Settings, macros and include roots are those of the manifest; errors of variants come as well.
TEST_F(LspModules, Manifest_SaysHowASourceIsRead) {
  std::filesystem::create_directories(folder.path() / "lib");
  Write("lib/common.hlsli", "static const float kHalf = 0.5;\n");
  Write("kiln.toml",
        "[project]\nmanifest = 1\nname = \"p\"\n[defaults]\ntargets = [\"vk\"]\n"
        "[target.vk]\nform = \"spirv\"\n[hlsl]\ninclude_roots = [\"lib\"]\n"
        "[hlsl.defines]\nAMOUNT = \"2\"\n"
        "[[program]]\nname = \"a\"\nsources = [\"a.hlsl\"]\npipeline = \"compute\"\n"
        "entry_points = { compute = \"main\" }\n");
  const std::string text =
      "#include <common.hlsli>\nRWStructuredBuffer<float> o;\n"
      "[numthreads(1, 1, 1)] void main() { o[0] = kHalf * AMOUNT; }\n";
  Open("a.hlsl", text);
  EXPECT_EQ(editor.Diagnostics(Uri("a.hlsl")), Json::array());
  EXPECT_EQ(Definition("a.hlsl", "kHalf"), "common.hlsli:0");
}

TEST_F(LspModules, Hover_ShowsTheDeclaration) {
  struct Row {
    const char* name;
    const char* at;
    std::string text;
  };
  const Row rows[] = {
      {"a.wgsl", "one * n",
       "```wgsl\nlet one = lights[i].color * scale\n```\n\nlocal of shade, type vec3<f32>"},
      {"a.wgsl", "color *", "```wgsl\ncolor: vec3<f32>\n```\n\nmember of Light"},
      {"a.wgsl", "n: vec3", "```wgsl\nn: vec3<f32>\n```\n\nparameter of shade"},
      {"a.wgsl", "return", ""},
      {"a.hlsl", "light.color", "```hlsl\nLight light\n```\n\nparameter of shade"},
      {"a.hlsl", "color *", "```hlsl\nfloat3 color\n```\n\nmember of Light"},
      {"a.hlsl", "eye.xyz", "```hlsl\nfloat4 eye\n```\n\nmember of View"},
      {"a.hlsl", "return", ""},
  };
  Open("a.wgsl", kWgsl);
  Open("a.hlsl", kHlsl);
  for (const Row& row : rows) {
    EXPECT_EQ(Hover(row.name, row.at), row.text) << row.at;
  }
}

TEST_F(LspModules, Definition_LeadsToWhatIsMeant) {
  struct Row {
    const char* name;
    const char* at;
    const char* place;
  };
  const Row rows[] = {
      {"a.wgsl", "lights[i]", "a.wgsl:1"},        {"a.wgsl", "Light, 4", "a.wgsl:0"},
      {"a.wgsl", "scale;", "a.wgsl:2"},           {"a.wgsl", "return", ""},
      {"a.hlsl", "kScale", "light.hlsli:1"},      {"a.hlsl", "Light light", "light.hlsli:0"},
      {"a.hlsl", "light.hlsli", "light.hlsli:0"}, {"a.hlsl", "eye.xyz", "a.hlsl:1"},
  };
  Open("a.wgsl", kWgsl);
  Open("a.hlsl", kHlsl);
  for (const Row& row : rows) {
    EXPECT_EQ(Definition(row.name, row.at), row.place) << row.at;
  }
  // In the included file names are those of the module around it.
  Open("light.hlsli", kIncluded);
  EXPECT_EQ(Definition("light.hlsli", "kScale"), "light.hlsli:1");
}

TEST_F(LspModules, References_AreThoseOfTheModule) {
  Open("a.wgsl", kWgsl);
  Open("a.hlsl", kHlsl);
  Json params = At("a.wgsl", "scale;");
  for (const bool declared : {true, false}) {
    params["context"] = {{"includeDeclaration", declared}};
    EXPECT_EQ(editor.Result("textDocument/references", params).size(), declared ? 2u : 1u);
  }
  const Json places = editor.Result("textDocument/references", At("a.hlsl", "kScale"));
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(Short(places[0]) + " " + Short(places[1]), "a.hlsl:4 light.hlsli:1");
  EXPECT_EQ(editor.Result("textDocument/documentHighlight", At("a.hlsl", "kScale")).size(), 1u);
  EXPECT_EQ(editor.Result("textDocument/documentHighlight", At("a.wgsl", "one =")).size(), 2u);
}

TEST_F(LspModules, Symbols_AreDeclarationsOfTheFile) {
  Open("a.wgsl", kWgsl);
  Open("a.hlsl", kHlsl);
  const auto names = [](const Json& symbols) {
    std::string text;
    for (const Json& symbol : symbols) {
      text += symbol["name"].get<std::string>() + "(";
      for (const Json& part : symbol.value("children", Json::array())) {
        text += part["name"].get<std::string>() + " ";
      }
      text += ") ";
    }
    return text;
  };
  const auto symbols = [&](const std::string& name) {
    return editor.Result("textDocument/documentSymbol", {{"textDocument", {{"uri", Uri(name)}}}});
  };
  EXPECT_EQ(names(symbols("a.wgsl")), "Light(color power ) lights() scale() shade() ");
  EXPECT_EQ(names(symbols("a.hlsl")), "View(eye ) shade() ");
  const Json found = editor.Result("workspace/symbol", {{"query", "kScale"}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(Short(found[0]["location"]), "light.hlsli:1");
}

TEST_F(LspModules, TokensAndFolds_FollowTheIndex) {
  for (const char* name : {"a.wgsl", "a.hlsl"}) {
    Open(name, name[2] == 'w' ? kWgsl : kHlsl);
    const Json document = {{"textDocument", {{"uri", Uri(name)}}}};
    const Json data = editor.Result("textDocument/semanticTokens/full", document)["data"];
    EXPECT_GT(data.size(), 5u * 10);
    EXPECT_EQ(data.size() % 5, 0u);
    EXPECT_EQ(editor.Result("textDocument/foldingRange", document).size(), 1u);
  }
}

TEST_F(LspModules, Completion_OffersWhatCanStand) {
  struct Row {
    const char* name;
    const char* before;
    const char* typed;
    std::set<std::string> offered;
    std::set<std::string> others;
  };
  const Row rows[] = {
      {"a.wgsl",
       "return one",
       "return o",
       {"one", "n", "scale", "shade", "dot", "return"},
       {"color"}},
      {"a.wgsl", "return one", "return lights[i].", {"color", "power"}, {"one", "dot"}},
      {"a.wgsl", "return one", "return lights[i].color.", {"x", "xyz"}, {"color"}},
      {"a.wgsl", "return one", "// on", {}, {"one", "dot"}},
      {"a.wgsl", "return one", "return nothing.", {}, {"one", "x"}},
      {"a.hlsl",
       "return one",
       "return li",
       {"one", "light", "kScale", "eye", "saturate"},
       {"color"}},
      {"a.hlsl", "return one", "return light.", {"color", "power"}, {"one"}},
      {"a.hlsl", "return one", "return eye.", {"x", "xyz"}, {"eye"}},
  };
  for (const Row& row : rows) {
    const std::string good = row.name[2] == 'w' ? kWgsl : kHlsl;
    Open(row.name, good);
    std::string text = good;
    const size_t at = text.find(row.before);
    text.replace(at, std::string(row.before).size(), row.typed);
    Open(row.name, text);
    const std::set<std::string> labels =
        Labels(At(row.name, row.typed, static_cast<uint32_t>(std::string(row.typed).size())));
    for (const std::string& label : row.offered) {
      EXPECT_TRUE(labels.contains(label)) << row.typed << " lacks " << label;
    }
    for (const std::string& label : row.others) {
      EXPECT_FALSE(labels.contains(label)) << row.typed << " has " << label;
    }
  }
}

TEST_F(LspModules, SignatureHelp_ShowsTheParameters) {
  Open("a.wgsl", kWgsl);
  Open("a.wgsl", std::string(kWgsl) + "fn g() { _ = shade(vec3<f32>(1, 2, 3), ");
  Json help = editor.Result("textDocument/signatureHelp", At("a.wgsl", "3), ", 4));
  ASSERT_EQ(help["signatures"].size(), 1u) << help;
  EXPECT_EQ(help["signatures"][0]["label"], "fn shade(n: vec3<f32>, i: u32) -> vec3<f32>");
  EXPECT_EQ(help["activeParameter"], 1);
  EXPECT_EQ(editor.Result("textDocument/signatureHelp", At("a.wgsl", "one * n")), nullptr);
}

// What is not there for these languages is refused or empty, never RPL's answer.
TEST_F(LspModules, WhatTheyLack_IsNotAnsweredAsRpl) {
  Open("a.wgsl", kWgsl);
  Json params = At("a.wgsl", "scale;");
  params["newName"] = "other";
  EXPECT_EQ(editor.Ask("textDocument/rename", params)["error"]["code"], -32803);
  EXPECT_EQ(editor.Result("textDocument/prepareRename", params), nullptr);
  EXPECT_EQ(editor.Result("textDocument/formatting", params), Json::array());
  EXPECT_EQ(editor.Result("textDocument/codeLens", params), Json::array());
}

// Sources that are much of one thing: each request has its answer within the bounds of a message.
TEST_F(LspModules, HostileSources_AreAnswered) {
  std::string deep = "fn f() { _ = ";
  std::string many;
  for (int i = 0; i < 20'000; ++i) {
    deep += "(";
    many += "const c" + std::to_string(i) + " = " + std::to_string(i) + ";\n";
  }
  std::string dots = "fn f() { a";
  for (int i = 0; i < 50'000; ++i) {
    dots += ".a";
  }
  Write("self.hlsli", "#include \"self.hlsli\"\n");
  const std::pair<const char*, std::string> rows[] = {
      {"a.wgsl", deep},
      {"a.wgsl", many},
      {"a.wgsl", dots + "."},
      {"a.wgsl", std::string(100'000, '[') + std::string(100'000, ']') + "."},
      {"a.hlsl", "#include \"self.hlsli\"\n"},
      {"a.hlsl", "#define A A A\nA A"},
      {"a.hlsl", std::string(30'000, '{')},
  };
  for (const auto& [name, text] : rows) {
    Open(name, text);
    const size_t lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    const Json at = TestEditor::At(Uri(name), static_cast<uint32_t>(lines), 1'000'000);
    for (const char* method :
         {"textDocument/hover", "textDocument/completion", "textDocument/signatureHelp",
          "textDocument/definition", "textDocument/references", "textDocument/documentSymbol",
          "textDocument/semanticTokens/full", "textDocument/foldingRange"}) {
      EXPECT_TRUE(editor.Ask(method, at).contains("result")) << method << text.substr(0, 30);
    }
  }
}

}  // namespace
}  // namespace kiln::lsp
