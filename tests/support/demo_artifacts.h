// SPDX-License-Identifier: MIT
// Variants of the demo, straight from the compiler: its manifest -> words and metadata of named
// variants, or of a spread over the option space of a program. For tests of what is made of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "compiler/driver/stages.h"
#include "runtime/pipeline/pipelines.h"
#include "tests/support/demo_project.h"

namespace kiln {

// What an engine gets of one variant.
struct BuiltArtifact {
  std::string name;  // for messages
  artifact::PipelineMetadata metadata;
  driver::Products products;

  std::vector<runtime::ModuleWords> Modules() const;  // views of it
};

// Errors: kInvalidArgument with the first message if the sources are wrong for these values.
Result<BuiltArtifact> BuildArtifact(std::string name, const driver::LinkedProgram& linked,
                                    std::span<const resolve::OptionSetting> settings,
                                    std::span<const resolve::EntryPoint> entries);

class DemoArtifacts {
 public:
  // Errors: those of reading files and manifests.
  static Result<DemoArtifacts> Load(const std::string& folder);

  std::vector<std::string> Programs() const;  // in the order of the manifest

  // `options`: "fog_kind=linear", besides those that the manifest fixes.
  Result<BuiltArtifact> Build(std::string_view program, std::span<const std::string> options) const;
  // Up to `count` allowed variants, evenly over their ranks, the first and the last among them.
  Result<std::vector<BuiltArtifact>> Spread(std::string_view program, uint32_t count) const;

 private:
  struct Linked {
    const compile::BatchProgram* batch = nullptr;
    driver::LinkedProgram program;
  };
  Result<Linked> Link(std::string_view program) const;

  compile::BatchRequest batch_;
};

}  // namespace kiln
