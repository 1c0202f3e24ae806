// SPDX-License-Identifier: MIT
// One variant as the arguments of a verb name it -> its program, outcomes and blobs from the
// daemon. See spec/cli 6.1, 6.7
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/autostart.h"
#include "client/cli/global.h"
#include "client/cli/output/results.h"

namespace kiln::cli {

// What `kiln compile` and `kiln inspect` take to name a variant.
struct VariantArguments {
  std::vector<std::string> what;           // a program of the manifest, or files in link order
  std::vector<std::string> entries;        // files: STAGE=FUNCTION
  std::vector<std::string> options;        // NAME=VALUE
  std::vector<std::string> targets;        // of the manifest, or forms; none: all of the program
  std::vector<std::string> include_roots;  // files in HLSL: folders
  std::vector<std::string> defines;        // files in HLSL: NAME[=VALUE]
  std::vector<std::string> settings;       // files in HLSL: NAME=VALUE
  std::string pipeline;                    // empty: that of the entry points
  std::string environment = "vulkan1.1";
  bool combined = false;
  bool retry_failed = false;
  bool explain = false;
};

struct FetchedVariant {
  client::DaemonConnection connected;
  client::Program program;         // with its sources
  std::vector<std::string> files;  // what it was read from
  client::OptionList declared;
  std::vector<client::Option> options;  // fixed ones of the program, then those of the arguments
  std::vector<client::Option> asked_options;  // those of the arguments
  FetchResult fetched;
  std::vector<client::Explanation> explanations;  // if they were asked for
};

// A variant that can be asked for: its sources are where the daemon is.
struct NamedVariant {
  client::DaemonConnection connected;
  std::string project;  // of the manifest; empty for files
  client::Program program;
  std::vector<std::string> files;  // what it was read from
  std::string base;                // folder of logical paths
  client::OptionList declared;
  std::vector<client::Option> options;  // those of the arguments
};

// Whether a word names a source by its ending: .rpl, .hlsl or .wgsl. Others are programs of the
// manifest, keys and artifacts.
bool IsSourceFile(std::string_view what);

// Declares what names one variant. `options`: how values are given; `kiln explain` has an --option
// of its own.
void AddVariant(CLI::App& verb, VariantArguments& variant, const char* options = "-o,--option");

// Connects, uploads and types the options. Errors: kInvalidArgument, kNotFound, kUnavailable.
Result<NamedVariant> NameVariant(const Global& global, const VariantArguments& arguments);

// For verbs that build nothing, and so are not told by the daemon what is wrong with a value.
// Errors: kNotFound for an option that is not declared, kInvalidArgument for a value that an enum
// does not have; with the closest one there is.
Result<void> CheckOptions(const NamedVariant& variant);

// Connects, uploads, compiles or finds, and fetches. Wrong sources are in the outcomes. Errors:
// kInvalidArgument, kNotFound, kUnavailable.
Result<FetchedVariant> FetchVariant(const Global& global, const VariantArguments& arguments);

}  // namespace kiln::cli
