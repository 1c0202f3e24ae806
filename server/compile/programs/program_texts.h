// SPDX-License-Identifier: MIT
// The texts of a program's modules, as places of diagnostics and declarations need them: the
// sources, and of each the files that it was made of.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cache/store.h"
#include "compiler/base/result.h"
#include "compiler/source/module_text.h"
#include "compiler/source/source_file.h"

namespace kiln::compile {

class ProgramPool;
struct PreparedProgram;

class ProgramTexts {
 public:
  // Errors: as ProgramPool::Text.
  static Result<ProgramTexts> Load(ProgramPool& pool, const PreparedProgram& program,
                                   const cache::Call& call);

  // By module; valid as long as the object, wherever it is moved.
  std::span<const ModuleText> modules() const { return modules_; }

 private:
  std::vector<std::unique_ptr<const SourceFile>> owned_;
  std::vector<ModuleText> modules_;
};

}  // namespace kiln::compile
