// SPDX-License-Identifier: MIT
// [hlsl] of a manifest, and `hlsl` of a program: settings, macros, include roots, files. Private to
// client/project. See spec/daemon 6.1, spec/hlsl 1.5
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <toml++/toml.h>

#include "client/project/manifest.h"
#include "client/project/table_reader.h"

namespace kiln::project {

// Module settings, ascending. The daemon has their values; a test compares the names.
std::span<const std::string_view> HlslSettingNames();

// Adds a table to what holds without it: settings and macros by name, roots in place of the others,
// files beside them.
void ReadHlsl(TableReader& reader, const toml::table& table, std::string_view what,
              ManifestHlsl& hlsl);

// Adds `macros` of a program or material: names with all their values.
void ReadMacros(TableReader& reader, const toml::table& table, ManifestHlsl& hlsl);

}  // namespace kiln::project
