// SPDX-License-Identifier: MIT
// Preprocess, parse, check, lower: each stage runs only if those before it found no error.
#include "compiler/front/hlsl/module/front.h"

#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "compiler/front/hlsl/check/check.h"
#include "compiler/front/hlsl/lower/module.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/parse.h"

namespace kiln::hlsl {
namespace {

void Append(std::vector<Diagnostic>& all, std::vector<Diagnostic>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

size_t NodesOf(const syntax::Ast& ast) {
  return ast.decls.size() + ast.variables.size() + ast.stmts.size() + ast.exprs.size();
}

size_t NodesOf(const Unit& unit) { return unit.exprs.size() + unit.stmts.size() + unit.scalars.size(); }

size_t NodesOf(const ir::ModuleView& view) {
  return view.options.size() + view.decls.size() + view.members.size() + view.locals.size() +
         view.cexprs.size() + view.insts.size() + view.blocks.size();
}

// The module of a stream, with what is wrong.
std::optional<ir::Module> ModuleOf(const TokenStream& stream,
                                   std::span<const std::string_view> texts,
                                   const Settings& settings, const Hash128& fingerprint,
                                   const LanguageLimits& limits,
                                   std::vector<Diagnostic>& diagnostics) {
  syntax::ParseResult parsed = syntax::Parse(stream, texts, settings.version, limits);
  Append(diagnostics, std::move(parsed.diagnostics));
  if (HasErrors(diagnostics)) {
    return std::nullopt;
  }
  size_t nodes = NodesOf(parsed.ast);
  std::optional<ir::Module> module;
  if (nodes <= limits.nodes) {
    CheckResult checked = Check(stream, parsed.ast, settings, limits);
    Append(diagnostics, std::move(checked.diagnostics));
    if (HasErrors(diagnostics)) {
      return std::nullopt;
    }
    nodes += NodesOf(checked.unit);
    if (nodes <= limits.nodes) {
      module = Lower(checked.unit, stream, settings, fingerprint);
      nodes += NodesOf(module->view());
    }
  }
  if (nodes > limits.nodes) {
    module.reset();
    diagnostics.push_back(Make(Code::kLim1001, {.module = stream.module, .bytes = {0, 0}})
                              .With("what", "source")
                              .With("parts", "syntax and IR nodes")
                              .With("limit", limits.nodes));
  }
  return module;
}

}  // namespace

ParseResult Parse(const SourceFile& root, const SourceSet& files, const Settings& settings,
                  const Hash128& fingerprint, uint32_t ordinal, const LanguageLimits& limits) {
  PreprocessResult read = Preprocess(root, files, settings, ordinal, limits);
  ParseResult result;
  std::vector<Diagnostic>& diagnostics = result.module.diagnostics;
  diagnostics = std::move(read.diagnostics);
  if (!HasErrors(diagnostics)) {
    std::vector<std::string_view> texts{root.text};
    for (size_t i = 1; i < read.stream.files.size(); ++i) {
      const SourceFile* file = files.Find(read.stream.files[i].path);
      texts.push_back(file == nullptr ? std::string_view{} : file->text);
    }
    result.module.value =
        ModuleOf(read.stream, texts, settings, fingerprint, limits, diagnostics);
  }
  SortAndMerge(diagnostics);
  result.probes = std::move(read.stream.probes);
  result.files = std::move(read.stream.files);
  return result;
}

}  // namespace kiln::hlsl
