// SPDX-License-Identifier: MIT
// One golden: an input whose first line says how to run it, and the text that is expected of it.
//   // run: stage=specialise with=view.rpl entry=vertex:main option.skinning=true
//   // skip: reason             in place of it, for a known gap
// The stages are those of kilnc and `check`, which gives what is wrong with one source and no more.
// Words are key=value, separated by spaces:
//   with=FILE           a further module, linked behind the input; may repeat
//   entry=STAGE:NAME    an entry point; may repeat
//   include=FILE        a file that HLSL may include; may repeat
//   option.NAME=VALUE   env=vulkan1.2   combined=true   pipeline=compute   lints=true
//   hlsl.NAME=VALUE     define=NAME=VALUE   root=FOLDER (of includes)
// The expectation of `case.rpl`, `case.hlsl` or `case.wgsl` is `case.expected`; goldens of one
// topic may lie in one file with theirs, `topic.golden` (topic_file.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::golden {

struct GoldenCase {
  std::filesystem::path input;     // in a topic file: where the input would be beside it
  std::filesystem::path expected;  // the file that holds the expectation
  std::optional<std::string> expectation;
  std::string name;    // path below the root of the goldens
  std::string source;  // bytes of the input
  std::string stage;
  std::string skip;                                        // reason, or empty
  std::vector<std::pair<std::string, std::string>> words;  // in order, without `stage`

  // Values of a key that may repeat ("with", "entry"), in order.
  std::vector<std::string> All(std::string_view key) const;
};

struct GoldenFolder {
  std::vector<GoldenCase> cases;      // sorted by name
  std::vector<std::string> problems;  // inputs without first line, expectations without input
};

// Replaces the expectation of a case in its file.
void WriteExpectation(const GoldenCase& golden, const std::string& text);

Result<std::string> ReadBytes(const std::filesystem::path& path);

// Every input below `root`. Files named in a `with` word of a case are parts of that case and no
// cases of their own.
GoldenFolder FindCases(const std::filesystem::path& root);

}  // namespace kiln::golden
