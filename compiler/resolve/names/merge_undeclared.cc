// SPDX-License-Identifier: MIT
#include "compiler/resolve/names/merge_undeclared.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/base/threads/stop.h"
#include "compiler/ir/insts.h"

namespace kiln::resolve {
namespace {

// Of one name in one function.
struct Mentions {
  uint64_t written = 0;
  std::vector<uint32_t> reported;  // numbers of spans
};

// What is to be done with the errors of one module, by the number of their span.
struct Plan {
  std::set<uint32_t> left_out;
  std::map<uint32_t, Note> notes;
};

// A misspelt name is reported at each of its mentions in a function. One message with their number
// says the same and leaves room for others.
class ModulePlanner {
 public:
  ModulePlanner(const Program& program, uint32_t module, const std::set<uint32_t>& reported)
      : program_(program), module_(module), view_(program.module(module)), reported_(reported) {}

  Plan Run() {
    // A module that was read without places has no spans to merge by.
    if (view_.inst_spans.empty()) {
      return {};
    }
    for (uint32_t row = 0; row < view_.decls.size(); ++row) {
      CheckStop();
      if (view_.decls[row].kind == ir::DeclKind::kFunction) {
        AddFunction(ir::DeclId{program_.bases(module_).decl + row});
      }
    }
    return std::move(plan_);
  }

 private:
  void AddFunction(ir::DeclId function) {
    // Sorted by number, so that the notes do not depend on a hash.
    std::map<uint32_t, Mentions> names;
    const InstRange range = program_.InstsOf(function);
    for (uint32_t row = range.begin; row < range.end; ++row) {
      CheckStop();
      // Functions and structs are looked up by other instructions and keep their own messages.
      if (view_.insts[row].kind != ir::InstKind::kNameRef) {
        continue;
      }
      const auto ref = view_.insts[row].As<ir::NameRefInst>();
      // Only mentions without a candidate count: the others may be declared in some variants.
      if (!view_.List(ref.candidates).empty()) {
        continue;
      }
      Mentions& mentions = names[ref.name.value];
      const uint32_t span = view_.inst_spans[row].main.value;
      ++mentions.written;
      // Mentions in code that this variant does not reach are counted, but only reported ones can
      // be merged.
      if (reported_.contains(span)) {
        mentions.reported.push_back(span);
      }
    }
    for (const auto& [name, mentions] : names) {
      // A single mention needs no note.
      if (!mentions.reported.empty() && mentions.written > 1) {
        Merge(mentions, program_.Text(program_.NameOf(function)));
      }
    }
  }

  // The first in the source stays, wherever the walk has found it first.
  void Merge(const Mentions& mentions, std::string_view function) {
    // By place and not by number of the span, which follows the order of lowering.
    const uint32_t first = *std::ranges::min_element(
        mentions.reported, {}, [&](uint32_t span) { return view_.SpanOf(ir::SpanId{span}).begin; });
    plan_.left_out.insert(mentions.reported.begin(), mentions.reported.end());
    plan_.left_out.erase(first);
    const uint64_t more = mentions.written - 1;
    plan_.notes.emplace(
        first, Note{.kind = NoteKind::kMoreMentions,
                    .arguments = {{"mentions",
                                   std::to_string(more) + " more mention" + (more == 1 ? "" : "s")},
                                  {"function", function}}});
  }

  const Program& program_;
  const uint32_t module_;
  const ir::ModuleView& view_;
  const std::set<uint32_t>& reported_;
  Plan plan_;
};

// The number of the span ties a diagnostic to its instruction; without it nothing can be said about
// the instruction.
bool IsUndeclared(const Diagnostic& found) {
  return found.code == Code::kRpl6001 && found.primary.known() &&
         found.primary.span_number != Location::kNone;
}

}  // namespace

void MergeUndeclared(const Program& program, std::vector<Diagnostic>& diagnostics) {
  std::map<uint32_t, std::set<uint32_t>> reported;  // by module
  for (const Diagnostic& found : diagnostics) {
    if (IsUndeclared(found)) {
      reported[found.primary.module].insert(found.primary.span_number);
    }
  }
  // One walk for each module that has such an error, so a program without errors pays nothing.
  std::map<uint32_t, Plan> plans;
  for (const auto& [module, spans] : reported) {
    plans.emplace(module, ModulePlanner(program, module, spans).Run());
  }
  // The order of diagnostics stays as it is; only doubles go.
  std::erase_if(diagnostics, [&](Diagnostic& found) {
    if (!IsUndeclared(found)) {
      return false;
    }
    const Plan& plan = plans.at(found.primary.module);
    if (const auto note = plan.notes.find(found.primary.span_number); note != plan.notes.end()) {
      found.notes.push_back(note->second);
    }
    return plan.left_out.contains(found.primary.span_number);
  });
}

}  // namespace kiln::resolve
