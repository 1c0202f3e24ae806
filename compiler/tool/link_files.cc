// SPDX-License-Identifier: MIT
#include "compiler/tool/link_files.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/driver/frontends.h"
#include "compiler/ir/text/parse_generic.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::tool {

bool IsTextModule(std::string_view path) { return path.ends_with(".kir"); }

// A text module may be written by hand, so it is verified like an image from a cache.
Result<ir::Module> ReadTextModule(const SourceFile& source) {
  // Errors of the text form have no place in a source, so the file is named here.
  const auto named = [&](Error error) {
    error.context = source.path + ": " + error.context;
    return error;
  };
  Result<ir::Module> module = ir::ParseModule(source.text);
  if (!module.ok()) {
    return named(module.error());
  }
  const Result<void> verified = ir::VerifyIds(module->view());
  return verified.ok() ? std::move(module) : named(verified.error());
}

// Sources and text modules may be mixed. A test can so write the one module that matters as text.
Result<driver::LinkedSources> LinkFiles(std::span<const SourceFile> sources,
                                        const driver::SourceInputs& inputs,
                                        ir::PipelineType pipeline, const LanguageLimits& limits) {
  const auto is_text = [](const SourceFile& source) { return IsTextModule(source.path); };
  if (std::ranges::none_of(sources, is_text)) {
    return driver::LinkSources(sources, inputs, pipeline, limits);
  }
  driver::LinkedSources linked;
  std::vector<Diagnostic> found;
  std::vector<std::shared_ptr<const ir::Module>> modules;
  std::vector<std::string> paths;
  for (const SourceFile& source : sources) {
    if (is_text(source)) {
      KILN_TRY(ir::Module module, ReadTextModule(source));
      modules.push_back(std::make_shared<const ir::Module>(std::move(module)));
      linked.files.emplace_back();
    } else {
      driver::ParsedSource parsed =
          driver::ParseSource(*driver::LanguageOf(source.path, inputs), source, inputs,
                              static_cast<uint32_t>(paths.size()), limits);
      linked.files.push_back(std::move(parsed.files));
      // Warnings of a source that parses go on with the linked program.
      found.insert(found.end(), parsed.module.diagnostics.begin(), parsed.module.diagnostics.end());
      // The first source that cannot be read ends it: linking half of the modules would only report
      // what the missing one declares.
      if (!parsed.module.value.has_value()) {
        linked.program.diagnostics = std::move(found);
        return linked;
      }
      modules.push_back(std::make_shared<const ir::Module>(std::move(*parsed.module.value)));
    }
    // The number of a module is that of its path.
    paths.push_back(source.path);
  }
  linked.program = driver::LinkModules(std::move(modules), std::move(paths), pipeline, limits);
  // Diagnostics of parsing come first, in the order in which they were found.
  linked.program.diagnostics.insert(linked.program.diagnostics.begin(), found.begin(), found.end());
  return linked;
}

}  // namespace kiln::tool
