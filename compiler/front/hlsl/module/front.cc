// SPDX-License-Identifier: MIT
// The pipeline: preprocess, parse, check, lower. Files and probes are returned whether there is
// a module or not, as the key of a failed module must know them, too. Limits on the rows of all
// stages together end it early.
#include "compiler/front/hlsl/module/front.h"

#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/check.h"
#include "compiler/front/hlsl/lower/module.h"
#include "compiler/front/hlsl/module/stream_files.h"
#include "compiler/front/hlsl/module/stream_id.h"
#include "compiler/front/hlsl/preprocess/dump.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/dump.h"
#include "compiler/front/hlsl/syntax/parse.h"

namespace kiln::hlsl {

namespace {

// Moved: messages may be long.
void Append(std::vector<Diagnostic>& all, std::vector<Diagnostic>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Rows of each stage, to be held against one limit.
size_t NodesOf(const syntax::Ast& ast) {
  return ast.decls.size() + ast.variables.size() + ast.stmts.size() + ast.exprs.size();
}

size_t NodesOf(const Unit& unit) {
  return unit.exprs.size() + unit.stmts.size() + unit.scalars.size();
}

size_t NodesOf(const ir::ModuleView& view) {
  return view.options.size() + view.decls.size() + view.members.size() + view.locals.size() +
         view.cexprs.size() + view.insts.size() + view.blocks.size();
}

// Texts of the files of a stream, by row.
// Of files that are not there an empty text: the preprocessor said so.
std::vector<std::string_view> TextsOf(const TokenStream& stream, const SourceFile& root,
                                      const SourceSet& files) {
  std::vector<std::string_view> texts{root.text};
  for (size_t i = 1; i < stream.files.size(); ++i) {
    const SourceFile* file = files.Find(stream.files[i].path);
    texts.push_back(file == nullptr ? std::string_view{} : file->text);
  }
  return texts;
}

struct Request {
  const Settings& settings;
  const Hash128& fingerprint;
  const LanguageLimits& limits;
};

// The module of a stream; nothing if there are errors. Nodes are counted when they are there: their
// number is bounded by that of the tokens, and a source that has too many pays for them once.
// The limit is of all stages together.
std::optional<ir::Module> ModuleOf(const TokenStream& stream, const ModuleSources& sources,
                                   const Request& request, std::vector<Diagnostic>& diagnostics) {
  syntax::ParseResult parsed =
      syntax::Parse(stream, sources.texts, request.settings.version, request.limits, diagnostics);
  Append(diagnostics, std::move(parsed.diagnostics));
  size_t nodes = NodesOf(parsed.ast);
  // Tables of the stages below are charged as they grow and gone when there is a module.
  const ChargedMemory tables;
  std::optional<ir::Module> module;
  if (!HasErrors(diagnostics) && nodes <= request.limits.nodes) {
    CheckResult checked = Check(stream, parsed.ast, request.settings, request.limits);
    Append(diagnostics, std::move(checked.diagnostics));
    nodes += NodesOf(checked.unit);
    if (!HasErrors(diagnostics) && nodes <= request.limits.nodes) {
      module = Lower(checked.unit, stream, request.settings, sources, request.fingerprint);
      nodes += NodesOf(module->view());
    }
  }
  if (!HasErrors(diagnostics) && nodes > request.limits.nodes) {
    diagnostics.push_back(Make(Code::kLim1001, {.module = stream.module, .bytes = {0, 0}})
                              .With("what", "source")
                              .With("parts", "syntax and IR nodes")
                              .With("limit", request.limits.nodes));
    module.reset();
  }
  return module;
}

}  // namespace

// The parser looks for more errors where the preprocessor found some, if nothing is missing; later
// stages run only if those before them found none.
// If a file is missing nothing is parsed: every name of it would be reported.
ParsedModule Parse(const SourceFile& root, const SourceSet& files, const Settings& settings,
                   const Hash128& fingerprint, uint32_t ordinal, const LanguageLimits& limits,
                   const IsKnownStream& is_known) {
  PreprocessResult read = Preprocess(root, files, settings, ordinal, limits);
  ParsedModule out{.module = {.value = {}, .diagnostics = std::move(read.diagnostics)},
                   .files = FilesOf(read.stream)};
  if (is_known != nullptr && read.is_whole && out.module.diagnostics.empty()) {
    out.stream = StreamIdOf(read.stream);
    out.is_known = is_known(*out.stream);
  }
  if (read.is_whole && !out.is_known) {
    const std::vector<std::string_view> texts = TextsOf(read.stream, root, files);
    out.module.value = ModuleOf(read.stream, {out.files, texts}, {settings, fingerprint, limits},
                                out.module.diagnostics);
  }
  out.probes = std::move(read.stream.probes);
  SortAndMerge(out.module.diagnostics);
  return out;
}

// The files that a module asks for, without making it.
std::vector<Probe> ProbesOf(const SourceFile& root, const SourceSet& files,
                            const Settings& settings) {
  return Preprocess(root, files, settings, 0).stream.probes;
}

DumpedStage DumpLexed(const SourceFile& root) {
  DumpedStage out;
  out.files.files.push_back({.path = root.path, .digest = root.digest, .first = 0, .included = {}});
  out.text.value = DumpTokens(root);
  return out;
}

// Dumps of stages run those before them, and stop where these found errors.
DumpedStage DumpPreprocessed(const SourceFile& root, const SourceSet& files,
                             const Settings& settings, uint32_t ordinal) {
  PreprocessResult read = Preprocess(root, files, settings, ordinal);
  DumpedStage out{.text = {.value = {}, .diagnostics = std::move(read.diagnostics)},
                  .files = FilesOf(read.stream)};
  if (!HasErrors(out.text.diagnostics)) {
    out.text.value = DumpPreprocessed(read.stream, root, files);
  }
  SortAndMerge(out.text.diagnostics);
  return out;
}

DumpedStage DumpParsed(const SourceFile& root, const SourceSet& files, const Settings& settings,
                       uint32_t ordinal) {
  PreprocessResult read = Preprocess(root, files, settings, ordinal);
  DumpedStage out{.text = {.value = {}, .diagnostics = std::move(read.diagnostics)},
                  .files = FilesOf(read.stream)};
  if (read.is_whole) {
    syntax::ParseResult parsed = syntax::Parse(read.stream, TextsOf(read.stream, root, files),
                                               settings.version, {}, out.text.diagnostics);
    Append(out.text.diagnostics, std::move(parsed.diagnostics));
    if (!HasErrors(out.text.diagnostics)) {
      out.text.value = syntax::DumpAst(read.stream, parsed.ast);
    }
  }
  SortAndMerge(out.text.diagnostics);
  return out;
}

}  // namespace kiln::hlsl
