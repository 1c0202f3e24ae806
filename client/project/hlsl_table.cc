// SPDX-License-Identifier: MIT
// The table `hlsl` of the manifest, of the whole project or of one program; what a program says
// replaces single settings and macros, and the whole list of roots (spec/daemon 6.2).
#include "client/project/hlsl_table.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "client/project/limits.h"
#include "compiler/base/text/logical_path.h"

namespace kiln::project {
namespace {

constexpr std::array<std::string_view, 5> kSettings{"float_ne", "matrix_order", "shader_model",
                                                    "sixteen_bit", "version"};

// A number is its digits, a flag 1 or 0: what stands behind #define.
std::string ValueOf(TableReader& reader, std::string_view name, const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* flag = node.as_boolean()) {
    return flag->get() ? "1" : "0";
  }
  if (const auto* number = node.as_integer()) {
    return std::to_string(number->get());
  }
  reader.Fail(node, fmt::format("macro '{}' must be text, a whole number, true or false", name));
  return {};
}

void ReadDefines(TableReader& reader, const toml::table& table, ManifestHlsl& hlsl) {
  if (const toml::table* defines = reader.Table(table, "defines")) {
    for (const auto& [name, node] : *defines) {
      hlsl.defines.insert_or_assign(std::string(name.str()), ValueOf(reader, name.str(), node));
    }
  }
}

}  // namespace

std::span<const std::string_view> HlslSettingNames() { return kSettings; }

// Settings are texts here; their values are checked by the front end, which has the table of them
// (spec/hlsl 1.5).
void ReadHlsl(TableReader& reader, const toml::table& table, std::string_view what,
              ManifestHlsl& hlsl) {
  std::vector<std::string_view> keys(kSettings.begin(), kSettings.end());
  keys.insert(keys.end(), {"defines", "include_roots", "include"});
  reader.CheckKeys(table, what, keys);
  for (const std::string_view name : kSettings) {
    if (table.contains(name)) {
      hlsl.settings.insert_or_assign(std::string(name), reader.Text(table, name, ""));
    }
  }
  ReadDefines(reader, table, hlsl);
  if (table.contains("include_roots")) {
    // The order of the roots is the order in which they are searched. The root of the project is
    // the empty path.
    hlsl.include_roots = reader.Texts(table, "include_roots");
    for (std::string& root : hlsl.include_roots) {
      root = root == "." ? std::string() : root;
      if (!root.empty() && !IsLogicalPath(root)) {
        reader.Fail(*table.get("include_roots"),
                    fmt::format("include root '{}': a folder below the root of the project, "
                                "'/'-separated and without empty, '.' or '..' segments",
                                root));
      }
    }
  }
  for (std::string& path : reader.Texts(table, "include")) {
    if (!IsLogicalPath(path) || path.find_first_of("*?[") != std::string::npos) {
      reader.Fail(
          *table.get("include"),
          fmt::format("file '{}': a path below the root of the project, without wildcards", path));
    }
    hlsl.include.push_back(std::move(path));
  }
}

// The same list as an axis has, but that every value is named: a macro is declared here and nowhere
// else. Whether its values are of one kind is the daemon's to say.
void ReadMacros(TableReader& reader, const toml::table& table, ManifestHlsl& hlsl) {
  const toml::table* const macros = reader.Table(table, "macros");
  if (macros == nullptr) {
    return;
  }
  for (auto& [name, axis] : reader.Axes(*macros)) {
    if (axis.all) {
      reader.Fail(axis.place, fmt::format("macro '{}' must list its values", name));
    }
    if (axis.values.size() > kMaxMacroValues) {
      reader.FailAtLimit(axis.place, "values of a macro", kMaxMacroValues, axis.values.size());
    }
    if (hlsl.defines.contains(name)) {
      reader.Fail(axis.place, fmt::format("macro '{}' is in 'defines', too", name));
    }
    hlsl.macros.insert_or_assign(name, axis);
  }
}

}  // namespace kiln::project
