// SPDX-License-Identifier: MIT
#include "compiler/resolve/versions/entry_points.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/enum_names.h"
#include "compiler/resolve/versions/interface_locations.h"

namespace kiln::resolve {
namespace {

// Compute pipelines have that stage alone, graphics pipelines the two others.
bool HasStage(ir::PipelineType pipeline, ir::Stage stage) {
  return (pipeline == ir::PipelineType::kCompute) == (stage == ir::Stage::kCompute);
}

const ir::ModuleHeader& HeaderOf(const Program& program, ir::DeclId id) {
  return program.module(program.ModuleOf(id)).header;
}

// Types of attributes are spelled in rows; leaves keep what they are made of.
EntryInterface Finished(InterfaceDraft&& draft) {
  EntryInterface made{.unwritten = std::move(draft.unwritten)};
  for (DraftRow& row : draft.rows) {
    made.rows.push_back(std::move(row.row));
  }
  for (Leaf& leaf : draft.leaves) {
    made.leaves.push_back(std::move(leaf.place));
  }
  return made;
}

}  // namespace

// What is wrong with the request itself. Requests are not sources, so the messages have no
// place.
bool CheckEntry(const Program& program, std::span<const EntryPoint> entries,
                const EntryPoint& entry, std::vector<Diagnostic>& diagnostics) {
  if (!HasStage(program.pipeline(), entry.stage)) {
    diagnostics.push_back(Make(Code::kRpl5007, Location{})
                              .With("pipeline", ir::NameOf(program.pipeline()))
                              .With("stage", ir::NameOf(entry.stage)));
    return false;
  }
  // Only entries before this one are looked at, so each pair is reported once, at the later one.
  for (const EntryPoint& other : entries) {
    if (&other == &entry) {
      break;
    }
    if (other.stage == entry.stage) {
      diagnostics.push_back(Make(Code::kRpl5005, Location{})
                                .With("stage", ir::NameOf(entry.stage))
                                .With("name", other.function)
                                .With("other", entry.function));
      return false;
    }
    if (other.function == entry.function) {
      diagnostics.push_back(Make(Code::kRpl5006, Location{}).With("name", entry.function));
      return false;
    }
  }
  return true;
}

// Entries come from a request and not from the source; hence most messages have no place.
ir::DeclId FindEntry(const EntryPoint& entry, VariantEvaluator& answers,
                     std::vector<Diagnostic>& diagnostics) {
  const Program& program = answers.program();
  // A name that no source of the program spells has no number, so it names no function.
  const NameId name = program.FindName(entry.function);
  const NameResolution answer = name.valid() ? answers.Function(name) : NameResolution{};
  switch (answer.kind) {
    case NameResolution::Kind::kDecl:
      break;
    case NameResolution::Kind::kNone:
      diagnostics.push_back(Make(Code::kRpl5001, Location{}).With("name", entry.function));
      return {};
    case NameResolution::Kind::kConflict:
      diagnostics.push_back(
          Make(Code::kRpl5002, program.NameLocation(answer.decl())).With("name", entry.function));
      answers.LabelFunctions(name, diagnostics.back());
      return {};
    // A failure was told where the name was resolved, and the other kinds are no answers about
    // functions.
    case NameResolution::Kind::kFailed:
    case NameResolution::Kind::kOption:
    case NameResolution::Kind::kConstant:
      return {};
  }
  const ir::SpecialisedDecl* signature = answers.Decl(answer.decl());
  if (signature == nullptr) {
    return {};
  }
  const bool plain =
      signature->members.empty() && answers.pool()[signature->type].kind == ir::TypeKind::kVoid;
  const ir::ModuleHeader& header = HeaderOf(program, answer.decl());
  // Entry points of RPL take nothing and return nothing. Typed modules may have an interface,
  // unless the module's rules say otherwise.
  if (plain || (header.typed != 0 && !header.Has(ir::ModuleRule::kEntriesTakeNothing))) {
    return answer.decl();
  }
  diagnostics.push_back(
      Make(Code::kRpl5003, program.NameLocation(answer.decl())).With("name", entry.function));
  return {};
}

// All or none: a program whose stages do not fit has no locations.
std::vector<const EntryInterface*> InterfacesOf(std::span<const ChosenEntry> entries,
                                                VariantEvaluator& answers, EntryInterfaces& known,
                                                std::vector<Diagnostic>& diagnostics) {
  const Program& program = answers.program();
  std::vector<InterfaceDraft> drafts;
  bool good = true;
  for (const ChosenEntry& entry : entries) {
    const ir::SpecialisedDecl* signature =
        HeaderOf(program, entry.function).typed != 0 ? answers.Decl(entry.function) : nullptr;
    if (signature == nullptr) {
      continue;
    }
    InterfaceDraft draft{.stage = entry.stage,
                         .entry = program.Text(program.NameOf(entry.function))};
    std::optional<std::vector<Leaf>> leaves = LeavesOf(*signature, answers, diagnostics);
    // All entry points are looked at, so an author sees the errors of every one at once.
    good = good && leaves.has_value();
    if (leaves.has_value()) {
      draft.leaves = std::move(*leaves);
      good = MakeRows(draft, answers.pool(), diagnostics) && good;
    }
    drafts.push_back(std::move(draft));
  }
  // Vertex before fragment, whatever the order of the request, because a fragment stage takes the
  // locations of the vertex stage.
  std::ranges::sort(drafts, {}, &InterfaceDraft::stage);
  if (!good || !Locate(drafts, answers.pool(), diagnostics)) {
    answers.NoteEffect();
    return {};
  }
  std::vector<const EntryInterface*> interfaces;
  for (const ChosenEntry& entry : entries) {
    // Each stage has one entry point at most, so the stage finds the draft.
    const auto draft = std::ranges::find(drafts, entry.stage, &InterfaceDraft::stage);
    interfaces.push_back(draft == drafts.end() ? nullptr
                                               : known.Intern(Finished(std::move(*draft))));
  }
  return interfaces;
}

// Settings of colour outputs are numbered by location.
uint32_t ColorOutputsOf(ir::Stage stage, const EntryInterface& interface) {
  uint32_t count = 0;
  for (const ir::InterfaceRow& row : interface.rows) {
    const ir::Attribute* location = row.Find(ir::AttributeKey::kLocation);
    if (stage == ir::Stage::kFragment && row.direction == ir::Direction::kOut &&
        location != nullptr) {
      // Locations may have gaps, so the highest one counts and not the number of rows.
      count = std::max(count, location->a + 1);
    }
  }
  return count;
}

}  // namespace kiln::resolve
