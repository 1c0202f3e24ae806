// SPDX-License-Identifier: MIT
// One variant of sources, for tests that look at more than one product of it: the specialised form,
// the words and the metadata, and what the compiler said.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "compiler/ir/specialised.h"

namespace kiln {

struct VariantRequest {
  std::vector<std::string> sources;    // module i is called "<i>.rpl"
  std::vector<std::string> entries;    // "vertex:main"; "compute:main" makes a compute program
  std::vector<std::string> options{};  // "fog=true"
  std::string environment = "vulkan1.1";
  std::vector<std::string> modules{};  // texts of generic modules, instead of sources
  driver::SourceInputs inputs{};       // `language` of the sources, and what it takes
};

class BuiltVariant {
 public:
  explicit BuiltVariant(const VariantRequest& request);

  // Nothing was wrong. The specialised form is verified then, and every module passed the
  // validator; otherwise messages() says what failed.
  bool ok() const { return ok_; }
  // One line per diagnostic but lints: "RPL4021 'uv' is declared twice in 'leaf'".
  const std::string& messages() const { return messages_; }

  // Requires: ok().
  const ir::SpecialisedProgram& specialised() const { return *specialised_.value; }
  const driver::Products& products() const { return *result_.products; }
  const artifact::PipelineMetadata& metadata() const { return metadata_; }
  // Of the entry point of a stage.
  const std::vector<uint32_t>& words(ir::Stage stage) const;
  std::string Disassembly(ir::Stage stage) const;

 private:
  void Link(const VariantRequest& request);
  void LinkTexts(const VariantRequest& request, ir::PipelineType pipeline);
  void Build(const VariantRequest& request);
  void Check();
  void Note(const std::vector<Diagnostic>& diagnostics);

  target::Target target_;
  std::optional<driver::LinkedProgram> linked_;
  ir::Pool pool_;
  std::unique_ptr<driver::DirectUnits> units_;
  Diagnosed<ir::SpecialisedProgram> specialised_;
  driver::BuildResult result_;
  artifact::PipelineMetadata metadata_;
  std::string messages_;
  bool ok_ = false;
};

}  // namespace kiln
