// SPDX-License-Identifier: MIT
// RPL text -> the modules of WGSL of one variant, for tests of what is in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"

namespace kiln::wgsl {

struct EmittedProgram {
  std::vector<std::string> texts;  // in stage order
  std::string messages;            // "WGSL8302 …", one a line
  std::vector<std::byte> metadata;
};

inline target::Target WgslTarget() {
  target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  target.form = target::Form::kWgsl;
  return target;
}

// `entries`: "vertex:v fragment:f"; those of compute make a compute program.
inline EmittedProgram EmitText(const std::string& text, std::string_view entries,
                               const target::Target& target = WgslTarget()) {
  EmittedProgram emitted;
  std::vector<resolve::EntryPoint> points;
  ir::PipelineType pipeline = ir::PipelineType::kGraphicsClassic;
  while (!entries.empty()) {
    const std::string_view word = entries.substr(0, entries.find(' '));
    entries.remove_prefix(std::min(entries.size(), word.size() + 1));
    const std::string_view stage = word.substr(0, word.find(':'));
    points.push_back({.stage = stage == "vertex"     ? ir::Stage::kVertex
                               : stage == "fragment" ? ir::Stage::kFragment
                                                     : ir::Stage::kCompute,
                      .function = std::string(word.substr(stage.size() + 1))});
    pipeline = stage == "compute" ? ir::PipelineType::kCompute : pipeline;
  }
  const SourceFile source("test.rpl", text);
  Diagnosed<driver::LinkedProgram> linked = driver::LinkSources(std::span(&source, 1), pipeline);
  std::vector<Diagnostic> found = linked.diagnostics;
  if (linked.ok()) {
    const resolve::OptionValues values =
        resolve::CheckOptions(linked.value->program, {}).value.value();
    driver::BuildResult built = driver::BuildDirect(*linked.value, values, points, target);
    found.insert(found.end(), built.diagnostics.begin(), built.diagnostics.end());
    if (built.ok()) {
      for (const driver::StageCode& code : built.products->code) {
        emitted.texts.push_back(code.text);
      }
      emitted.metadata = built.products->metadata;
    }
  }
  for (const Diagnostic& diagnostic : found) {
    emitted.messages += std::string(CodeText(diagnostic.code)) + " " + Message(diagnostic) + "\n";
  }
  return emitted;
}

}  // namespace kiln::wgsl
