// SPDX-License-Identifier: MIT
#include "compiler/driver/stages.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/diag/encode.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/reads.h"
#include "compiler/emit/metadata/write.h"
#include "compiler/emit/spirv/assemble.h"
#include "compiler/emit/spirv/lower.h"
#include "compiler/layout/assign.h"
#include "compiler/resolve/close_decl.h"
#include "compiler/resolve/close_segment.h"

namespace kiln::driver {
namespace {

void Append(std::vector<Diagnostic>& to, std::vector<Diagnostic>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

struct EmittedCode {
  std::vector<StageCode> stages;
  target::Needs needs = 0;  // union over the stages
};

EmittedCode EmitCode(const ir::ClosedVariant& variant, const layout::Layout& layout,
                     const target::Target& target) {
  EmittedCode code;
  if (variant.entries.empty()) {
    return code;
  }
  spirv::PieceTable table(*variant.pool, target);
  spirv::Prepare(variant, table);
  spirv::Assembler assembler(table);
  const auto count = static_cast<uint32_t>(target.combined ? 1 : variant.entries.size());
  for (uint32_t i = 0; i < count; ++i) {
    const std::span<const uint32_t> words =
        assembler.Assemble(variant, {.index = i, .combined = target.combined}, layout);
    StageCode& stage = code.stages.emplace_back();
    stage.words.assign(words.begin(), words.end());
    if (!target.combined) {
      stage.stage = variant.entries[i].stage;
    }
    code.needs |= assembler.needs();
  }
  return code;
}

Products EmitProducts(const LinkedProgram& linked, const ir::ClosedVariant& variant,
                      const layout::Layout& layout, const target::Target& target,
                      layout::TypeLayouts& types) {
  EmittedCode code = EmitCode(variant, layout, target);
  metadata::Metadata written =
      metadata::Write(variant, layout, target, types, ModuleFactsOf(linked), code.needs);
  const Hash128 state_hash = HashBytes(written.bytes);
  return {.code = std::move(code.stages),
          .metadata = std::move(written.bytes),
          .layout_hash = written.layout_hash,
          .state_hash = state_hash};
}

}  // namespace

const Diagnosed<ir::ClosedDecl>& DirectUnits::Decl(ir::DeclId decl, resolve::Answers& answers) {
  if (decls_[decl.value] == nullptr) {
    Diagnosed<ir::ClosedDecl> closed = resolve::CloseDecl(program_, decl, answers);
    decls_[decl.value] = &closed_decls_.emplace_back(std::move(closed));
  }
  return *decls_[decl.value];
}

const Diagnosed<ir::ClosedSegment>& DirectUnits::Segment(ir::SegmentId segment,
                                                         resolve::Answers& answers) {
  const auto stage = static_cast<size_t>(answers.stage());
  const Diagnosed<ir::ClosedSegment>*& known = segments_[segment.value].by_stage[stage];
  if (known == nullptr) {
    Diagnosed<ir::ClosedSegment> closed = resolve::CloseSegment(program_, segment, answers);
    known = &closed_segments_.emplace_back(std::move(closed));
  }
  return *known;
}

Diagnosed<LinkedProgram> LinkModules(std::vector<std::shared_ptr<const ir::Module>> modules,
                                     std::vector<std::string> paths, ir::PipelineType pipeline) {
  std::vector<ir::ModuleView> views;
  views.reserve(modules.size());
  std::vector<Hash128> semantic_ids;
  for (const std::shared_ptr<const ir::Module>& module : modules) {
    views.push_back(module->view());
    semantic_ids.push_back(module->semantic_id());
  }
  Diagnosed<resolve::Program> linked = resolve::Link(views, pipeline, paths);
  Diagnosed<LinkedProgram> result;
  result.diagnostics = std::move(linked.diagnostics);
  if (linked.value.has_value()) {
    result.value = LinkedProgram{.modules = std::move(modules),
                                 .paths = std::move(paths),
                                 .semantic_ids = std::move(semantic_ids),
                                 .program = std::move(*linked.value)};
  }
  return result;
}

Diagnosed<LinkedProgram> LinkSources(std::span<const SourceFile> sources,
                                     ir::PipelineType pipeline) {
  Diagnosed<LinkedProgram> failed;
  std::vector<std::shared_ptr<const ir::Module>> modules;
  std::vector<std::string> paths;
  for (const SourceFile& source : sources) {
    if (std::find(paths.begin(), paths.end(), source.path) != paths.end()) {
      failed.diagnostics.push_back(Make(Code::kRpl2001, {}).With("module", source.path));
      continue;
    }
    const auto ordinal = static_cast<uint32_t>(paths.size());
    paths.push_back(source.path);
    const std::optional<ir::Language> language = LanguageOf(source.path);
    KILN_CHECK(language.has_value(), "no front end reads {}", source.path);
    Diagnosed<ir::Module> parsed = ParseSource(*language, source, ordinal);
    Append(failed.diagnostics, std::move(parsed.diagnostics));
    if (parsed.value.has_value()) {
      modules.push_back(std::make_shared<const ir::Module>(std::move(*parsed.value)));
    }
  }
  if (modules.size() != paths.size()) {
    return failed;
  }
  Diagnosed<LinkedProgram> result = LinkModules(std::move(modules), std::move(paths), pipeline);
  Append(result.diagnostics, std::move(failed.diagnostics));
  return result;
}

void FillPositions(const resolve::Program& program, std::vector<Diagnostic>& diagnostics) {
  kiln::FillPositions(diagnostics, [&](uint32_t module, uint32_t number) {
    if (module >= program.modules().size() || number >= program.module(module).spans.size()) {
      return std::optional<Span>();
    }
    return std::optional(program.module(module).spans[number]);
  });
}

std::vector<metadata::ModuleFacts> ModuleFactsOf(const LinkedProgram& linked) {
  std::vector<metadata::ModuleFacts> facts;
  for (size_t i = 0; i < linked.modules.size(); ++i) {
    facts.push_back({.semantic_id = linked.semantic_ids[i],
                     .path = linked.paths[i],
                     .view = &linked.modules[i]->view()});
  }
  return facts;
}

BuildResult BuildDirect(const LinkedProgram& linked, const resolve::OptionValues& values,
                        std::span<const resolve::EntryPoint> entries,
                        const target::Target& target) {
  const resolve::Program& program = linked.program;
  ir::Pool pool;
  DirectUnits units(program);
  resolve::Answers answers(program, values, pool, &units);
  answers.BeginReads();
  Diagnosed<ir::ClosedVariant> closed = resolve::CloseVariant(program, entries, answers, units);
  BuildResult result{.products = std::nullopt,
                     .reads = ReadsOf(program, values, answers.EndReads()),
                     .diagnostics = std::move(closed.diagnostics)};
  if (closed.value.has_value()) {
    layout::TypeLayouts types(pool);
    Diagnosed<layout::Layout> layout = layout::Assign(*closed.value, target, types);
    Append(result.diagnostics, std::move(layout.diagnostics));
    if (layout.value.has_value()) {
      result.products = EmitProducts(linked, *closed.value, *layout.value, target, types);
    }
  }
  FillPositions(program, result.diagnostics);
  SortAndMerge(result.diagnostics);
  return result;
}

}  // namespace kiln::driver
