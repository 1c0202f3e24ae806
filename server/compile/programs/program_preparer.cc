// SPDX-License-Identifier: MIT
// From a request to what its variants are built from: sources read, modules linked, keys made,
// diagnostics placed. Programs that are right are kept by their request (prepared_program_cache),
// since a client asks for thousands of variants of one.
#include "server/compile/programs/program_preparer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cache/call_bounds.h"
#include "cache/decorators/memory_store.h"
#include "compiler/resolve/checks/unused.h"
#include "server/compile/explainer.h"
#include "server/compile/poison.h"
#include "server/compile/programs/build_keys.h"
#include "server/compile/programs/macro_choices.h"
#include "server/compile/programs/program_texts.h"
#include "server/jobs/job.h"

namespace kiln::compile {
namespace {

// Diagnostics of several sources, each parsed as module 0, as those of one program. Places that are
// not known stay so; all others get the number of their source in link order.
std::vector<Diagnostic> Renumbered(std::span<const std::shared_ptr<const ParsedSource>> parsed) {
  std::vector<Diagnostic> all;
  for (uint32_t module = 0; module < parsed.size(); ++module) {
    const auto move = [&](Location& where) {
      where.module = where.known() ? module : where.module;
    };
    for (Diagnostic diagnostic : parsed[module]->diagnostics) {
      move(diagnostic.primary);
      for (Label& label : diagnostic.labels) {
        move(label.where);
      }
      all.push_back(std::move(diagnostic));
    }
  }
  return all;
}

}  // namespace

// Lines and columns need the texts, which are loaded only if there is something to say.
Result<std::vector<PlacedDiagnostic>> PlaceAll(ProgramPool& pool, const PreparedProgram& program,
                                               std::span<const Diagnostic> diagnostics,
                                               const cache::Call& call) {
  if (diagnostics.empty()) {
    return std::vector<PlacedDiagnostic>();
  }
  KILN_TRY(const ProgramTexts texts, ProgramTexts::Load(pool, program, call));
  std::vector<PlacedDiagnostic> placed = Place(diagnostics, texts.modules());
  SortForReading(placed);
  return placed;
}

// Sources may list macros themselves. What nobody has chosen yet has its first value. A list that
// was chosen already, by whoever knew the macros of the request alone, is chosen again with all of
// them.
Result<void> ProgramPreparer::AddMacros(ProgramRequest& request, const cache::Call& call) {
  const size_t before = request.hlsl.macros.size();
  for (const Source& source : request.sources) {
    if (driver::LanguageOf(source.path) == ir::Language::kHlsl) {
      KILN_TRY(const std::shared_ptr<const std::string> text, pool_.Text(source, call));
      request.hlsl.macros =
          WithMacrosOf(std::move(request.hlsl.macros), request.hlsl.settings.defines, *text);
    }
  }
  if (request.hlsl.macros.size() != before) {
    std::vector<hlsl::MacroChoice> chosen = std::move(request.hlsl.settings.macros);
    request.hlsl.settings.macros = ChoicesOf(request.hlsl.macros, request.options, {});
    for (hlsl::MacroChoice& choice : request.hlsl.settings.macros) {
      const hlsl::MacroChoice* const known = hlsl::FindMacro(chosen, choice.name);
      if (known != nullptr) {
        choice = *known;
      }
    }
  }
  return {};
}

Result<std::shared_ptr<const PreparedProgram>> ProgramPreparer::Prepare(
    const ProgramRequest& request, const NamedTarget& target, const cache::Call& call,
    PoisonPolicy poison) {
  if (std::shared_ptr<const PreparedProgram> known = prepared_.Find(request, target, call)) {
    return known;
  }
  // Answered from memory alone, so it needs no bounds of memory and CPU time.
  if (call.deadline == cache::kAtOnce) {  // measures nothing: it does not wait
    return PrepareNow(request, target, call, poison);
  }
  return cache::WhileWanted(
      call, jobs::kCallBytes, clock_, [&] { return PrepareNow(request, target, call, poison); },
      jobs::kJobCpu);
}

// Sources are parsed one by one, each as module 0, and the pool has most of them already. Only what
// can be linked gets ids: a program with a wrong source fails with its diagnostics and has no key.
// Entry points are put in stage order here, so that a request that lists them otherwise has the
// same keys. A program that a front end read just now is not kept: whoever asks again is told that
// the pool had it.
Result<std::shared_ptr<const PreparedProgram>> ProgramPreparer::PrepareNow(
    const ProgramRequest& request, const NamedTarget& target, const cache::Call& call,
    PoisonPolicy poison) {
  auto prepared = std::make_shared<PreparedProgram>();
  prepared->number = ++last_number_;
  prepared->request = request;
  prepared->target = target;
  prepared->target.target.limits = target::LimitsOf(pool_.limits());
  prepared->limits = pool_.limits();
  // The order of entry points means nothing, so one order of them makes one key.
  std::stable_sort(
      prepared->request.entries.begin(), prepared->request.entries.end(),
      [](const resolve::EntryPoint& a, const resolve::EntryPoint& b) { return a.stage < b.stage; });
  KILN_TRY_VOID(AddMacros(prepared->request, call));
  std::vector<std::string> paths;
  bool good = true;
  // Parsing goes on behind a wrong source, so that the author hears of the mistakes of all of them
  // at once.
  for (const Source& source : request.sources) {
    CheckStop();
    KILN_TRY(std::shared_ptr<const ParsedSource> parsed,
             pool_.Parse(source, prepared->request.hlsl, call, &prepared->parsed_now, poison));
    prepared->poison = prepared->poison || parsed->poison;
    good = good && parsed->module != nullptr;
    prepared->parsed.push_back(std::move(parsed));
    paths.push_back(source.path);
  }
  std::vector<Diagnostic> diagnostics = Renumbered(prepared->parsed);
  if (good) {
    const std::unique_ptr<const driver::MacrosOfProgram> macros =
        MacrosOf(prepared->request.hlsl.macros, prepared->parsed);
    KILN_TRY(prepared->linked,
             pool_.Link(LinkKey(prepared->parsed, paths, macros.get(), request.pipeline),
                        prepared->parsed, paths, macros.get(), request.pipeline, call));
    diagnostics.insert(diagnostics.end(), prepared->linked->diagnostics.begin(),
                       prepared->linked->diagnostics.end());
    if (prepared->linked->ok()) {
      // Found here and not while linking, since what is unused depends on the entry points, and one
      // link serves all of them.
      const std::vector<Diagnostic> unused =
          resolve::FindUnused(prepared->linked->value->program, prepared->request.entries);
      diagnostics.insert(diagnostics.end(), unused.begin(), unused.end());
    }
    prepared->entry =
        EntryIdOf(prepared->parsed, prepared->request, macros.get(), target, pool_.limits_id());
    prepared->family = FamilyOf(prepared->request, target);
  }
  SortAndMerge(diagnostics);
  KILN_TRY(prepared->diagnostics, PlaceAll(pool_, *prepared, diagnostics, call));
  for (size_t i = 0; i < prepared->parsed.size(); ++i) {
    if (prepared->parsed[i]->poison) {
      prepared->diagnostics.push_back(
          PoisonDiagnostic(fmt::format("source '{}'", request.sources[i].path)));
    }
  }
  prepared->inputs = InputsOf(*prepared);
  // Poison is never kept either, since ok() is false: the store knows how long it stands.
  if (prepared->ok() && !prepared->parsed_now && call.may_write) {
    prepared_.Keep(request, target, prepared);
  }
  return std::shared_ptr<const PreparedProgram>(std::move(prepared));
}

// A list that differs from the program's own in what no source asks for is another request but
// leads to the same modules, link and entry id: only finding that out is paid for, once.
Result<std::shared_ptr<const PreparedProgram>> ProgramPreparer::Choose(
    const PreparedProgram& program, std::span<const resolve::OptionSetting> options,
    const cache::Call& call) {
  using Chosen = std::shared_ptr<const PreparedProgram>;
  const HlslInputs& hlsl = program.request.hlsl;
  if (hlsl.macros.empty()) {
    return Chosen(nullptr);
  }
  std::vector<hlsl::MacroChoice> choices = ChoicesOf(hlsl.macros, program.request.options, options);
  if (choices == hlsl.settings.macros) {
    return Chosen(nullptr);
  }
  if (Chosen known = chosen_.Find(program.number, choices, call)) {
    return known;
  }
  ProgramRequest request = program.request;
  request.hlsl.settings.macros = choices;
  Chosen chosen;
  if (call.deadline == cache::kAtOnce) {  // measures nothing: it does not wait
    KILN_TRY(chosen, PrepareNow(request, program.target, call, PoisonPolicy::kStands));
  } else {
    KILN_TRY(chosen,
             cache::WhileWanted(
                 call, jobs::kCallBytes, clock_,
                 [&] { return PrepareNow(request, program.target, call, PoisonPolicy::kStands); },
                 jobs::kJobCpu));
  }
  if (chosen->ok() && call.may_write) {
    chosen_.Keep(program.number, std::move(choices), chosen);
  }
  return chosen;
}

// Sources of the program and what they include. Files that are missing are among the result; they
// are no error here.
Result<std::vector<Source>> ProgramPreparer::NeedsOf(const ProgramRequest& request,
                                                     const cache::Call& call) {
  return cache::WhileWanted(
      call, jobs::kCallBytes, clock_,
      [&]() -> Result<std::vector<Source>> {
        std::vector<Source> needs = request.sources;
        for (const Source& source : request.sources) {
          const Result<std::vector<Source>> more = pool_.NeedsOf(source, request.hlsl, call);
          if (more.ok()) {
            needs.insert(needs.end(), more->begin(), more->end());
          } else if (more.error().reason != "SOURCES_MISSING") {
            return more.error();
          }
        }
        return needs;
      },
      jobs::kJobCpu);
}

}  // namespace kiln::compile
