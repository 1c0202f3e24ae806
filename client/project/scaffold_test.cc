// SPDX-License-Identifier: MIT
#include "client/project/scaffold.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/project/manifest.h"
#include "client/project/source_words.h"

namespace kiln::project {
namespace {

// "name: sources; stage=function …; axes" of every program.
std::string Summary(const std::vector<SourceText>& sources) {
  const Scaffold scaffold = MakeScaffold("test", sources);
  if (scaffold.programs == 0) {
    return {};  // the manifest wants one
  }
  const Result<Manifest> manifest = ReadManifest(scaffold.manifest, "kiln.toml");
  EXPECT_TRUE(manifest.ok()) << scaffold.manifest
                             << (manifest.ok() ? "" : manifest.error().context);
  if (!manifest.ok()) {
    return {};
  }
  EXPECT_EQ(manifest->programs.size(), scaffold.programs);
  std::string text;
  for (const ManifestProgram& program : manifest->programs) {
    text += fmt::format("{}: {};", program.name, fmt::join(program.sources, " "));
    for (const auto& [stage, function] : program.entry_points) {
      text += fmt::format(" {}={}", stage, function);
    }
    for (const auto& [name, axis] : program.axes) {
      text += fmt::format(" {}{}", name, axis.all ? "*" : "");
    }
    text += program.pass.empty() ? "" : " pass=" + program.pass;
    text += program.pipeline == "compute" ? " compute\n" : "\n";
  }
  return text;
}

// Names of files and folders are values of the manifest and nothing else in it.
TEST(Scaffold, NamesOfFiles_AreQuoted) {
  const std::string evil = "a\"]\n[program.options]\nx = \"";
  const std::string text = "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n";
  const std::pair<std::string, std::string> names[] = {
      {"a\"b", "a_b"}, {"a'b#[c]", "a_b__c_"}, {"a-1.b", "a-1.b"}, {"\xc3\xbc =", "____"}};
  for (const auto& [file, name] : names) {
    const std::vector<SourceText> sources{{.path = file + ".rpl", .text = text}};
    const Scaffold scaffold = MakeScaffold("pro\"ject\\" + evil, sources);
    const Result<Manifest> manifest = ReadManifest(scaffold.manifest, "kiln.toml");
    ASSERT_TRUE(manifest.ok()) << manifest.error().context << scaffold.manifest;
    ASSERT_EQ(manifest->programs.size(), 1u) << scaffold.manifest;
    EXPECT_EQ(manifest->programs[0].name, name);
    EXPECT_EQ(manifest->programs[0].sources.at(0), file + ".rpl");
    EXPECT_EQ(manifest->name, "pro\"ject\\a\"]\\x0a[program.options]\\x0ax = \"");
  }
}

TEST(Scaffold, Programs_ComeFromEntryPointsAndWhatTheyNeed) {
  const std::string pass =
      "color_output_container target { f4 color; };\nf1 shade (in f1 x) { return x; }\n"
      "global fog: flag false;\n";
  const std::string rock =
      "vertex_attribute_container vertex { f3 position; };\n"
      "instance quality: enum \"low\" \"high\";\nglobal lights: uint 4;\n"
      "void rock_v (void) { vertex_stage_output_position (f4 {vertex.position, 1.0}); }\n"
      "void rock_f (void) { target.color = f4 {shade (1.0)}; }\n";
  struct Row {
    std::vector<SourceText> sources;
    std::string programs;
  };
  const Row rows[] = {
      {{}, ""},
      {{{"a.rpl", "constant x = 1u;"}}, ""},
      {{{"rock.rpl", rock}, {"pass.rpl", pass}},
       "rock: pass.rpl rock.rpl; fragment=rock_f vertex=rock_v fog* quality* pass=pass\n"},
      {{{"depth.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }"}},
       "depth: depth.rpl; vertex=v pass=depth\n"},
      {{{"blur.rpl", "rpl 2;\nvoid blur (void) { u3 id = compute_stage_global_id (); }"}},
       "blur: blur.rpl; compute=blur compute\n"},
      {{{"x/two.rpl",
         "void a_vertex (void) { } void b_vertex (void) { }\n"
         "void a_fragment (void) { } void b_fragment (void) { }"}},
       "two/a_fragment: x/two.rpl; fragment=a_fragment vertex=a_vertex pass=two\n"
       "two/b_fragment: x/two.rpl; fragment=b_fragment vertex=b_vertex pass=two\n"},
      {{{"x/a.rpl", "void v_vertex (void) { }"}, {"y/a.rpl", "void w_vertex (void) { }"}},
       "a: x/a.rpl; vertex=v_vertex pass=a\na_2: y/a.rpl; vertex=w_vertex pass=a_2\n"},
      // called, commented out, with arguments
      {{{"c.rpl",
         "void help_vertex (void) { } // void no_vertex (void) { }\n"
         "/* void also_vertex (void) { } */ void main_vertex (void) { help_vertex (); }\n"
         "void arg_vertex (in f1 x) { }"}},
       "c: c.rpl; vertex=main_vertex pass=c\n"},
      {{{"d.rpl",
         "conditional (fog && !x) void v (void) { vertex_stage_output_position (f4 {0.0}); }"}},
       "d: d.rpl; vertex=v pass=d\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Summary(row.sources), row.programs);
  }
}

// "name: color … depth …" of every pass.
std::string Passes(const std::vector<SourceText>& sources) {
  const Scaffold scaffold = MakeScaffold("test", sources);
  const Result<Manifest> manifest = ReadManifest(scaffold.manifest, "kiln.toml");
  EXPECT_TRUE(manifest.ok()) << scaffold.manifest;
  if (!manifest.ok()) {
    return {};
  }
  EXPECT_EQ(manifest->passes.size(), scaffold.passes);
  std::string text;
  for (const ManifestPass& pass : manifest->passes) {
    text += fmt::format("{}: {} {}\n", pass.name, fmt::join(pass.color, " "), pass.depth);
  }
  return text;
}

TEST(Scaffold, Passes_HaveTheFormatsOfOutputsAndTests) {
  const std::string outputs =
      "color_output_container target { meta (a, b) f4 color; conditional (x) u2 id; "
      "alias (r, target.color.x) s1 age; };\n";
  const std::string draws =
      "void v_vertex (void) { vertex_stage_output_position (f4 {0.0}); }\n"
      "void v_fragment (void) { target.color = f4 {1.0}; }\n";
  const std::string off = "setting depth_test = false;\n";
  struct Row {
    std::vector<SourceText> sources;
    std::string passes;
  };
  const Row rows[] = {
      {{{"a.rpl", outputs + draws}}, "a: rgba8_unorm rgba32_uint rgba32_sint d32_float\n"},
      {{{"a.rpl", outputs + off + draws}}, "a: rgba8_unorm rgba32_uint rgba32_sint \n"},
      {{{"a.rpl", outputs + "conditional (x) " + off + draws}},
       "a: rgba8_unorm rgba32_uint rgba32_sint d32_float\n"},
      {{{"a.rpl", outputs + off + "conditional (x) setting stencil_test = true;\n" + draws}},
       "a: rgba8_unorm rgba32_uint rgba32_sint d32_float_s8_uint\n"},
      {{{"a.rpl", off + "void v (void) { vertex_stage_output_position (f4 {0.0}); }"}}, ""},
      {{{"a.rpl", "rpl 2;\nvoid blur (void) { u3 id = compute_stage_global_id (); }"}}, ""},
      // two materials share what they are linked with; one of them tests no depth
      {{{"pass.rpl", outputs}, {"x.rpl", draws}, {"y.rpl", off + draws}},
       "pass: rgba8_unorm rgba32_uint rgba32_sint d32_float\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Passes(row.sources), row.passes) << row.sources[0].text;
  }
}

TEST(Scaffold, SourcesOfNoProgram_AreNamed) {
  const std::vector<SourceText> sources{
      {"lone.rpl", "f1 nobody_needs (in f1 x) { return x; }"},
      {"rock.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }"}};
  const Scaffold scaffold = MakeScaffold("test", sources);
  EXPECT_EQ(scaffold.unused, std::vector<std::string>{"lone.rpl"});
  EXPECT_NE(scaffold.manifest.find("used: lone.rpl."), std::string::npos) << scaffold.manifest;
  EXPECT_NE(scaffold.manifest.find("[[material]]"), std::string::npos) << "and what to write";
  EXPECT_TRUE(MakeScaffold("test", std::span(sources).subspan(1)).unused.empty());
}

TEST(Scaffold, ManyFlags_BecomeCommentsBeyondTheBound) {
  std::string text = "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n";
  for (int i = 0; i < 30; ++i) {
    text += fmt::format("global f{}: flag false;\n", i);
  }
  const std::string summary = Summary({{"a.rpl", text}});
  EXPECT_EQ(std::count(summary.begin(), summary.end(), '*'), 8);
}

TEST(Scaffold, AnyBytes_AreRead) {
  for (const std::string& text :
       {std::string("{{{{"), std::string("}}}"), std::string("((("), std::string("\"open"),
        std::string("/* open"), std::string("//"), std::string("global"), std::string("void f ("),
        std::string("= = ="), std::string("\0\xff{", 3), std::string("conditional (")}) {
    EXPECT_EQ(Summary({{"a.rpl", text}}), "") << text;
  }
}

}  // namespace
}  // namespace kiln::project
