// SPDX-License-Identifier: MIT
#include "client/project/scaffold.h"

#include <string>
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
    text += program.pipeline == "compute" ? " compute\n" : "\n";
  }
  return text;
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
       "rock: pass.rpl rock.rpl; fragment=rock_f vertex=rock_v fog* quality*\n"},
      {{{"depth.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }"}},
       "depth: depth.rpl; vertex=v\n"},
      {{{"blur.rpl", "rpl 2;\nvoid blur (void) { u3 id = compute_stage_global_id (); }"}},
       "blur: blur.rpl; compute=blur compute\n"},
      {{{"x/two.rpl",
         "void a_vertex (void) { } void b_vertex (void) { }\n"
         "void a_fragment (void) { } void b_fragment (void) { }"}},
       "two/a_fragment: x/two.rpl; fragment=a_fragment vertex=a_vertex\n"
       "two/b_fragment: x/two.rpl; fragment=b_fragment vertex=b_vertex\n"},
      {{{"x/a.rpl", "void v_vertex (void) { }"}, {"y/a.rpl", "void w_vertex (void) { }"}},
       "a: x/a.rpl; vertex=v_vertex\na_2: y/a.rpl; vertex=w_vertex\n"},
      // called, commented out, with arguments
      {{{"c.rpl",
         "void help_vertex (void) { } // void no_vertex (void) { }\n"
         "/* void also_vertex (void) { } */ void main_vertex (void) { help_vertex (); }\n"
         "void arg_vertex (in f1 x) { }"}},
       "c: c.rpl; vertex=main_vertex\n"},
      {{{"d.rpl",
         "conditional (fog && !x) void v (void) { vertex_stage_output_position (f4 {0.0}); }"}},
       "d: d.rpl; vertex=v\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Summary(row.sources), row.programs);
  }
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
