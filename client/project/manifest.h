// SPDX-License-Identifier: MIT
// kiln.toml: programs, targets, axes, exclusions. TOML text -> plain values, or the place and
// reason of the first thing that is wrong. Values are not typed yet: the declarations of the
// program's options decide (daemon §6.2.1). Spec: daemon §6.1, §6.2
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::project {

// A value as TOML has it.
struct ManifestValue {
  std::variant<bool, int64_t, double, std::string> value;
  uint32_t line = 0;
};

// Values of one option, or every value ("*").
struct ManifestAxis {
  bool all = false;
  std::vector<ManifestValue> values;
};

struct ManifestTarget {
  std::string name;
  std::string form = "spirv";
  std::string version;
  std::string env = "vulkan1.1";
  std::string debug = "names";
  std::vector<std::string> recipes;
  std::map<std::string, std::string> settings;
};

using ManifestOptions = std::map<std::string, ManifestValue>;

struct ManifestVariant {
  ManifestOptions options;
  bool warm = false;
};

struct ManifestProgram {
  std::string name;
  std::vector<std::string> sources;                 // logical paths, link order
  std::map<std::string, std::string> entry_points;  // stage -> function
  std::string pipeline = "graphics_classic";
  std::vector<std::string> targets;  // names
  ManifestOptions options;
  std::map<std::string, ManifestAxis> axes;  // sets of `use`, then own ones
  std::vector<std::string> exclude, require;
  std::vector<ManifestVariant> variants;
  bool only_explicit = false;
  std::vector<std::string> tags;
  uint32_t line = 0;
};

struct Manifest {
  std::string path;    // of the file
  std::string folder;  // what sources are relative to
  std::string name;
  std::vector<ManifestTarget> targets;
  std::vector<ManifestProgram> programs;
};

inline constexpr size_t kMaxManifest = size_t{4} << 20;  // bytes; daemon §10

// Errors: kInvalidArgument with "FILE:LINE: what; did you mean 'x'?"; kResourceExhausted above
// kMaxManifest.
Result<Manifest> ReadManifest(std::string_view text, const std::string& path);

// The nearest kiln.toml from `folder` upwards; empty if there is none.
std::string FindManifest(const std::string& folder);

// The known word that is closest to `word`, or empty if none is near.
std::string_view Closest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace kiln::project
