// SPDX-License-Identifier: MIT
#include "compiler/tool/dump_stage.h"

#include <utility>

#include <fmt/format.h>
#include <spirv-tools/libspirv.hpp>

#include "compiler/artifact/metadata.h"
#include "compiler/artifact/metadata_text.h"
#include "compiler/base/check.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/output_limits.h"
#include "compiler/driver/stages.h"
#include "compiler/emit/metadata/write.h"
#include "compiler/emit/spirv/assemble.h"
#include "compiler/emit/spirv/dump.h"
#include "compiler/emit/spirv/lower.h"
#include "compiler/emit/wgsl/assemble.h"
#include "compiler/front/hlsl/module/front.h"
#include "compiler/front/rpl/front.h"
#include "compiler/front/wgsl/module/front.h"
#include "compiler/ir/text/print_generic.h"
#include "compiler/ir/text/print_specialised.h"
#include "compiler/layout/reflection/dump.h"
#include "compiler/layout/rpl_adapter.h"
#include "compiler/tool/link_files.h"

namespace kiln::tool {
namespace {

void Append(std::vector<Diagnostic>& to, const std::vector<Diagnostic>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Friendly names are those of the debug instructions, where there are any.
std::string Disassembly(std::span<const uint32_t> words) {
  // The newest environment knows every older module; validity is not asked here.
  const spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  const bool good = tools.Disassemble(
      words.data(), words.size(), &text,
      SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES);
  KILN_CHECK(good, "a module of {} words cannot be read back", words.size());
  return text;
}

// Units that write down what each one asked.
// Stands between the evaluator and the units: each unit is computed by the same code as in a build,
// only watched.
class RecordingUnits final : public resolve::UnitSource {
 public:
  explicit RecordingUnits(const resolve::Program& program) : program_(program), direct_(program) {}

  // Both methods do what DirectUnits does and keep the trace.
  const Diagnosed<ir::SpecialisedDecl>& Decl(ir::DeclId decl,
                                             resolve::VariantEvaluator& answers) override {
    // The trace records what is asked between Begin and End, whether the unit is good or not.
    resolve::QueryTrace trace;
    answers.BeginTrace(&trace);
    const Diagnosed<ir::SpecialisedDecl>& specialised = direct_.Decl(decl, answers);
    answers.EndTrace();
    const ir::ModuleView& module = program_.module(program_.ModuleOf(decl));
    Add(fmt::format("decl {}", module.Text(program_.Get(decl).name)), trace, answers);
    return specialised;
  }

  const Diagnosed<ir::SpecialisedRegion>& Region(ir::RegionId region,
                                                 resolve::VariantEvaluator& answers) override {
    resolve::QueryTrace trace;
    answers.BeginTrace(&trace);
    const Diagnosed<ir::SpecialisedRegion>& specialised = direct_.Region(region, answers);
    answers.EndTrace();
    const uint32_t ordinal = program_.ModuleOf(region);
    const ir::ModuleView& module = program_.module(ordinal);
    const ir::Region& row = program_.Get(region);
    // Regions are named by their place in the function, because numbers of the whole program would
    // change with every edit above.
    // The first region of a function is its body, so numbers count from there.
    const uint32_t number =
        region.value - program_.bases(ordinal).region - module.decls[row.function.value].body;
    Add(fmt::format("region {} #{}", module.Text(module.decls[row.function.value].name), number),
        trace, answers);
    return specialised;
  }

  std::string Take() { return std::move(text_); }

 private:
  // One paragraph for each unit, in the order in which units are specialised.
  void Add(const std::string& title, const resolve::QueryTrace& trace,
           resolve::VariantEvaluator& answers) {
    text_ += title + "\n";
    text_ += resolve::QueryTraceText(trace, program_, answers.pool());
  }

  const resolve::Program& program_;
  driver::DirectUnits direct_;
  std::string text_;
};

// A dump, and the files that its places are in.
struct DumpedSource {
  Diagnosed<std::string> text;
  std::optional<ir::ModuleFiles> files;
};

// The IR as it is printed by the module itself, so that the dump can be read back as a .kir file.
DumpedSource DumpLowered(const SourceFile& source, const driver::SourceInputs& inputs,
                         uint32_t ordinal) {
  driver::ParsedSource parsed =
      driver::ParseSource(*driver::LanguageOf(source.path), source, inputs, ordinal);
  DumpedSource out{.text = {.value = {}, .diagnostics = std::move(parsed.module.diagnostics)},
                   .files = std::move(parsed.files)};
  if (parsed.module.ok()) {
    out.text.value = ir::Print(parsed.module.value->view());
  }
  return out;
}

// RPL has no preprocessor, so the text itself is the answer.
DumpedSource DumpRpl(std::string_view stage, const SourceFile& source, uint32_t ordinal) {
  if (stage == "preprocess") {
    return {.text = {.value = source.text, .diagnostics = {}}, .files = {}};
  }
  return {.text = stage == "lex" ? rpl::DumpTokens(source, ordinal) : rpl::DumpAst(source, ordinal),
          .files = {}};
}

// Lexing needs no settings; the later stages need those of the command line, because the
// preprocessor decides what is there at all.
DumpedSource DumpHlsl(std::string_view stage, const SourceFile& source,
                      const driver::SourceInputs& inputs, uint32_t ordinal) {
  hlsl::DumpedStage dumped =
      stage == "lex"          ? hlsl::DumpLexed(source)
      : stage == "preprocess" ? hlsl::DumpPreprocessed(source, inputs.files, inputs.hlsl, ordinal)
                              : hlsl::DumpParsed(source, inputs.files, inputs.hlsl, ordinal);
  return {.text = std::move(dumped.text), .files = std::move(dumped.files)};
}

// WGSL has no preprocessor either.
DumpedSource DumpWgsl(std::string_view stage, const SourceFile& source, uint32_t ordinal) {
  if (stage == "preprocess") {
    return {.text = {.value = source.text, .diagnostics = {}}, .files = {}};
  }
  return {.text = stage == "lex" ? wgsl::front::DumpTokens(source, ordinal)
                                 : wgsl::front::DumpAst(source, ordinal),
          .files = {}};
}

// `lower` is one stage for all languages, as they all make modules of generic IR.
DumpedSource DumpSource(std::string_view stage, const SourceFile& source,
                        const driver::SourceInputs& inputs, uint32_t ordinal) {
  if (stage == "lower") {
    return DumpLowered(source, inputs, ordinal);
  }
  switch (*driver::LanguageOf(source.path)) {
    case ir::Language::kHlsl:
      return DumpHlsl(stage, source, inputs, ordinal);
    case ir::Language::kWgsl:
      return DumpWgsl(stage, source, ordinal);
    default:
      return DumpRpl(stage, source, ordinal);
  }
}

}  // namespace

// Stages that need one source and no program.
bool IsSourceStage(std::string_view stage) {
  return stage == "preprocess" || stage == "lex" || stage == "parse" || stage == "lower";
}

// Each source is dumped even if one before it failed.
DumpResult DumpSourceStage(std::string_view stage, std::span<const SourceFile> sources,
                           const driver::SourceInputs& inputs) {
  DumpResult result{.ok = true, .text = {}, .diagnostics = {}};
  for (uint32_t ordinal = 0; ordinal < sources.size(); ++ordinal) {
    if (IsTextModule(sources[ordinal].path)) {
      // A text module has no stages of its own: whatever was asked for, it is printed as it was
      // read.
      const Result<ir::Module> module = ReadTextModule(sources[ordinal]);
      result.ok = result.ok && module.ok();
      result.text += module.ok() ? ir::Print(module->view()) : ErrorText(module.error()) + "\n";
      result.files.emplace_back();  // a row for each source: places are looked up by ordinal
      continue;
    }
    DumpedSource dumped = DumpSource(stage, sources[ordinal], inputs, ordinal);
    Append(result.diagnostics, dumped.text.diagnostics);
    result.ok = result.ok && dumped.text.ok();
    // A stage that failed has no text; its diagnostics say why.
    result.text += dumped.text.value.value_or("");
    result.files.push_back(std::move(dumped.files));
  }
  return result;
}

// Stops after the stage that was asked for. Each stage needs those before it, and their diagnostics
// count.
DumpResult DumpVariantStage(std::string_view stage, const VariantInputs& inputs) {
  const resolve::Program& program = inputs.linked.program;
  ir::Pool pool;
  RecordingUnits units(program);
  resolve::VariantEvaluator answers(program, inputs.values, pool, &units);
  const Diagnosed<ir::SpecialisedProgram> specialised =
      resolve::SpecialiseVariant(program, inputs.entries, answers, units);
  DumpResult result;
  result.diagnostics = specialised.diagnostics;
  driver::FillPositions(program, result.diagnostics);
  // The queries are known even if the variant fails, which is when one looks at them.
  if (stage == "queries") {
    result.text = units.Take();
    result.ok = specialised.ok();
    return result;
  }
  if (!specialised.ok()) {
    return result;
  }
  const ir::SpecialisedProgram& variant = *specialised.value;
  if (stage == "specialise") {
    result.text = ir::Print(variant);
    result.ok = true;
    return result;
  }
  // Layout, metadata and WGSL share one cache of types, as a build does.
  layout::TypeLayouts types(pool);
  target::Target target = inputs.target;
  // WGSL has its own layout rules, so the stage decides about the form whatever the target says.
  target.form = stage == "wgsl" ? target::Form::kWgsl : target.form;
  const Diagnosed<layout::Layout> layout = layout::Assign(variant, target, types);
  Append(result.diagnostics, layout.diagnostics);
  driver::FillPositions(program, result.diagnostics);
  if (!layout.ok()) {
    return result;
  }
  result.ok = true;
  if (stage == "layout") {
    result.text = layout::DumpLayout(variant, target, types);
    return result;
  }
  // Decoded again before it is printed. So the dump shows what a reader gets, and tests the reader
  // as well.
  if (stage == "metadata") {
    const metadata::Metadata written = metadata::Write(variant, *layout.value, inputs.target, types,
                                                       driver::ModuleFactsOf(inputs.linked), 0, {},
                                                       program.limits().metadata_bytes);
    if (!driver::CheckMetadata(program, written.fits, result.diagnostics)) {
      result.ok = false;
      return result;
    }
    const Result<artifact::PipelineMetadata> read = artifact::DecodeMetadata(written.bytes);
    KILN_CHECK(read.ok(), "metadata cannot be read back");
    result.text = artifact::MetadataText(*read);
    return result;
  }
  if (stage == "wgsl") {
    Diagnosed<wgsl::EmittedModules> emitted = wgsl::Emit(
        variant, *layout.value, types, inputs.target.combined, program.limits().spirv_bytes);
    driver::FillPositions(program, emitted.diagnostics);
    Append(result.diagnostics, emitted.diagnostics);
    result.ok = emitted.ok() && driver::CheckCode(program, variant, emitted.value->oversized,
                                                  target, result.diagnostics);
    for (const std::string& text :
         emitted.ok() ? emitted.value->modules : std::vector<std::string>{}) {
      result.text += text;
    }
    return result;
  }
  spirv::CodeObjectTable table(pool, inputs.target, program.limits().spirv_bytes);
  result.ok = driver::CheckCode(program, variant, spirv::Prepare(variant, table), inputs.target,
                                result.diagnostics);
  if (!result.ok) {
    return result;
  }
  if (stage == "objects") {
    result.text = spirv::DumpCodeObjects(variant, table);
    return result;
  }
  // One listing for all entries of a combined module, else one for each entry, in their order.
  const auto count = static_cast<uint32_t>(inputs.target.combined ? 1 : variant.entries.size());
  for (uint32_t i = 0; i < count; ++i) {
    const spirv::EntryChoice choice{.index = i, .combined = inputs.target.combined};
    result.text += Disassembly(spirv::Assemble(variant, choice, *layout.value, table));
  }
  return result;
}

}  // namespace kiln::tool
