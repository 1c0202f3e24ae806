// SPDX-License-Identifier: MIT
// Materials × passes × pass variants -> programs `material/pass[/variant]`, and one program without
// entry points for every material: the metadata of its family. Private to client/project.
// See spec/daemon 6.7; spec/pso 5.2
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "client/project/manifest.h"
#include "client/project/table_reader.h"

namespace kiln::project {

// [defaults] and [axes.*]: what programs and materials begin with.
struct ManifestDefaults {
  std::string pipeline = "graphics_classic";
  std::vector<std::string> targets;
  ManifestOptions options;
  std::map<std::string, std::string> entry_points;
  std::vector<std::string> use;
  std::map<std::string, std::map<std::string, ManifestAxis>> axis_sets;
  ManifestBudget budget;
  ManifestHlsl hlsl;
  uint64_t bytes = 0;  // that a program takes over of all this, without sets of axes
};

// The sets of `use`, then `axes`: a later one replaces an earlier one of the same name.
std::map<std::string, ManifestAxis> ReadAxes(TableReader& reader, const toml::table& table,
                                             const std::string& who,
                                             const ManifestDefaults& defaults);

// Whether the daemon would take as many targets, axes, expressions and tags (spec/daemon 10).
void CheckSize(TableReader& reader, const ManifestProgram& program);

// results, variants, cpu ("2h"), output ("8G").
ManifestBudget ReadBudget(TableReader& reader, const toml::table& table);

// Reads [[pass]] and [[material]] and adds what they make together.
void Compose(TableReader& reader, const toml::table& root, const ManifestDefaults& defaults,
             Manifest& manifest);

// Whether the passes that [[program]] names for their formats are there. Behind Compose.
void CheckPassesOfPrograms(TableReader& reader, const toml::table& root, const Manifest& manifest);

}  // namespace kiln::project
