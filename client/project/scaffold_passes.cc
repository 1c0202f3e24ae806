// SPDX-License-Identifier: MIT
// Guesses formats of passes for `kiln init` from words of sources: programs that write the same
// outputs from the same source share a pass. What is written is a proposal for an author to read,
// so a guess that is wrong costs an edit.
#include "client/project/scaffold_passes.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace kiln::project {
namespace {

constexpr size_t kMostColors = 8;  // of a pass

// Wide integers for integer outputs, and the usual 8 bits for everything else: the type of an
// output says how many components code writes, not which format the image has.
std::string_view FormatOf(std::string_view type) {
  return type.starts_with('u')   ? "rgba32_uint"
         : type.starts_with('s') ? "rgba32_sint"
                                 : "rgba8_unorm";
}

bool AreEqual(const std::vector<OutputWords>& a, const std::vector<OutputWords>& b) {
  return std::ranges::equal(a, b, [](const OutputWords& left, const OutputWords& right) {
    return left.name == right.name && left.type == right.type;
  });
}

}  // namespace

// Whether a test is on in any variant. A value that is neither true nor false is one of options. A
// setting without a condition decides for all variants; one with a condition may be on in some.
bool ScaffoldPasses::Tests(std::span<const size_t> program, std::string_view setting,
                           bool usual) const {
  bool in_all = usual;
  bool in_some = false;
  for (const size_t source : program) {
    for (const SettingWords& words : words_[source].settings) {
      if (words.name == setting) {
        in_some = in_some || words.value != "false";
        in_all = words.conditional ? in_all : words.value != "false";
      }
    }
  }
  return in_all || in_some;
}

std::string ScaffoldPasses::FreeName(size_t home) const {
  std::string name = std::filesystem::path(sources_[home].path).stem().string();
  while (std::ranges::find(passes_, name, &Pass::name) != passes_.end()) {
    name += "_2";
  }
  return name;
}

// Nothing for programs that draw into no attachment, or into more than a pass may have. The pass is
// named after the source that declares its outputs.
std::string ScaffoldPasses::Add(std::span<const size_t> program, Stages stages) {
  Pass pass{.name = {}, .home = program.front(), .outputs = {}};
  for (const size_t source : program) {
    const std::vector<OutputWords>& outputs = words_[source].outputs;
    if (stages == Stages::kVertexAndFragment && !outputs.empty()) {
      pass.outputs.insert(pass.outputs.end(), outputs.begin(), outputs.end());
      pass.home = source;
    }
  }
  pass.stencil = Tests(program, "stencil_test", false);
  pass.depth = Tests(program, "depth_test", true) || Tests(program, "depth_bounds_test", false);
  if (pass.outputs.size() > kMostColors || (pass.outputs.empty() && !pass.depth && !pass.stencil)) {
    return {};
  }
  const auto known = std::ranges::find_if(passes_, [&](const Pass& other) {
    return other.home == pass.home && AreEqual(other.outputs, pass.outputs);
  });
  if (known != passes_.end()) {  // an attachment that some do not use serves all
    known->depth = known->depth || pass.depth;
    known->stencil = known->stencil || pass.stencil;
    return known->name;
  }
  pass.name = FreeName(pass.home);
  return passes_.emplace_back(std::move(pass)).name;
}

// The formats are those of spec/pso 5.2, as names of TOML.
std::string ScaffoldPasses::Toml() const {
  std::string text;
  for (const Pass& pass : passes_) {
    text += fmt::format("[[pass]]\nname = \"{}\"\n", pass.name);
    std::string formats, names;
    for (const OutputWords& output : pass.outputs) {
      formats += fmt::format("{}\"{}\"", formats.empty() ? "" : ", ", FormatOf(output.type));
      names += (names.empty() ? "" : ", ") + output.name;
    }
    text += formats.empty() ? "" : fmt::format("color = [{}]   # {}\n", formats, names);
    text += pass.stencil ? "depth = \"d32_float_s8_uint\"\n"
            : pass.depth ? "depth = \"d32_float\"\n"
                         : "";
    text += "\n";
  }
  return text.empty() ? text
                      : "# What pipelines draw into. `kiln pack build` gives the formats to the "
                        "pack, so that\n# an engine makes its pipelines before the first frame. "
                        "\"swapchain\" is the window's format.\n" +
                            text;
}

}  // namespace kiln::project
