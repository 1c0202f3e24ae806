// SPDX-License-Identifier: MIT
// Loads the texts of a program for diagnostics. Builds that succeed never need them, so they are
// loaded only where something is to be shown.
#include "server/compile/programs/program_texts.h"

#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/ir/module_files.h"
#include "server/compile/programs/prepared_program.h"
#include "server/compile/programs/program_pool.h"

namespace kiln::compile {

// Rows point to source files that this object owns, and stay valid when it is moved.
Result<ProgramTexts> ProgramTexts::Load(ProgramPool& pool, const PreparedProgram& program,
                                        const cache::Call& call) {
  ProgramTexts texts;
  const auto load = [&](const Source& source) -> Result<const SourceFile*> {
    CheckStop();
    KILN_TRY(const std::shared_ptr<const std::string> text, pool.Text(source, call));
    texts.owned_.push_back(std::make_unique<const SourceFile>(source.path, *text));
    return Result<const SourceFile*>(texts.owned_.back().get());
  };
  for (size_t i = 0; i < program.request.sources.size(); ++i) {
    KILN_TRY(const SourceFile* const root, load(program.request.sources[i]));
    const std::optional<ir::ModuleFiles>& files = program.parsed[i]->files;
    if (!files.has_value()) {
      texts.modules_.emplace_back(root);
      continue;
    }
    // The root is the first row, whatever other files are called.
    std::vector<ModuleText::File> rows;
    for (const ir::ModuleFile& file : files->files) {
      const SourceFile* source = root;
      if (!rows.empty()) {
        KILN_TRY(source, load({.path = file.path, .digest = file.digest, .text = nullptr}));
      }
      rows.push_back({.first = file.first, .source = source, .included = file.included});
    }
    texts.modules_.emplace_back(std::move(rows), files->marks, files->mark_paths);
  }
  return texts;
}

}  // namespace kiln::compile
