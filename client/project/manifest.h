// SPDX-License-Identifier: MIT
// kiln.toml: programs, targets, axes, exclusions, and the programs that materials and passes make
// together. TOML text -> plain values, or the place and reason of the first thing that is wrong.
// Values are not typed yet: the declarations of the program's options decide (spec/daemon 6.2.1).
// See spec/daemon 6.1, 6.2, 6.7; spec/pso 5.2
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::project {

// From 1; line 0: nowhere in particular.
struct ManifestPlace {
  uint32_t line = 0;
  uint32_t column = 0;
};

// A value as TOML has it.
struct ManifestValue {
  std::variant<bool, int64_t, double, std::string> value;
  ManifestPlace place;
  bool global = false;  // the option must be a global one: options of a material
};

struct ManifestExpression {
  std::string text;
  ManifestPlace place;  // of the text's first character
};

// Values of one option, or every value ("*").
struct ManifestAxis {
  bool all = false;
  std::vector<ManifestValue> values;
  ManifestPlace place;
  ManifestPlace key;  // of its name
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
  std::vector<std::string> targets;  // names; none: all of the program
  bool warm = false;
};

// Limits of a build; 0: the default of the daemon.
struct ManifestBudget {
  uint64_t results = 0;
  uint64_t variants = 0;
  uint64_t cpu_ms = 0;
  uint64_t output = 0;  // bytes
};

// [hlsl] with what a program says beside it.
struct ManifestHlsl {
  std::map<std::string, std::string> settings;
  std::map<std::string, std::string> defines;  // macro -> value
  std::vector<std::string> include_roots;      // folders, in order; "" is the root of the project
  std::vector<std::string> include;            // files that macros name: no line leads to them
  // Macros that are options of the program, with all their values; the first is the default.
  std::map<std::string, ManifestAxis> macros;
};

struct ManifestProgram {
  std::string name;
  std::vector<std::string> sources;                 // logical paths, link order
  std::map<std::string, std::string> entry_points;  // stage -> function
  std::string pipeline = "graphics_classic";
  std::vector<std::string> targets;  // names
  ManifestOptions options;
  std::map<std::string, ManifestAxis> axes;  // sets of `use`, then own ones
  std::vector<ManifestExpression> exclude, require;
  std::vector<ManifestVariant> variants;
  bool only_explicit = false;
  std::vector<std::string> tags;
  uint32_t priority = 0;  // 0 to 9
  ManifestBudget budget;
  ManifestHlsl hlsl;
  std::string family;  // the material that it was composed of; or empty
  std::string pass;    // and the pass, or the one whose formats a [[program]] names
  ManifestPlace place;
};

// What a pass draws into; words as of Vulkan, "swapchain" is the surface's format.
struct ManifestPass {
  std::string name;
  std::vector<std::string> color;
  std::string depth;  // empty: none
  uint32_t samples = 1;
  uint32_t view_mask = 0;
};

struct ManifestPack {
  std::string name;
  std::vector<std::string> programs;  // globs
  std::vector<std::string> targets;
  std::string mode = "fast";
  std::string base;
  std::string sign;
};

struct Manifest {
  std::string path;    // of the file
  std::string text;    // of it
  Digest digest;       // of the text
  std::string folder;  // what sources are relative to
  std::string name;
  std::vector<ManifestTarget> targets;
  std::vector<ManifestProgram> programs;  // those of [[program]], then composed ones
  std::vector<ManifestPass> passes;
  std::vector<ManifestPack> packs;
  ManifestBudget budget;
  bool budget_warns = false;        // on_exceed = "warn"
  std::vector<std::string> ignore;  // globs that a watcher leaves out
  uint32_t debounce_ms = 50;
};

// Errors: kInvalidArgument with "FILE:LINE:COLUMN: what; did you mean 'x'?"; kResourceExhausted
// with LIMIT_EXCEEDED (spec/daemon 10).
Result<Manifest> ReadManifest(std::string_view text, const std::string& path);

// The nearest kiln.toml from `folder` upwards; empty if there is none.
std::string FindManifest(const std::string& folder);

// The same for who will do what it says as `user`: a file of somebody else that lies where
// everybody may put files is no project of his. Errors: FOREIGN_MANIFEST.
Result<std::string> OwnManifest(const std::string& folder);
Result<std::string> OwnManifest(const std::string& folder, uint32_t user);

// The known word that is closest to `word`, or empty if none is near.
std::string_view Closest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace kiln::project
