// SPDX-License-Identifier: MIT
#include "compiler/resolve/names/name_resolver.h"

#include <optional>
#include <utility>

#include "compiler/resolve/values/expression_reports.h"

namespace kiln::resolve {

NameResolver::NameResolver(ValueEvaluator& values, QueryRecorder& recorder)
    : program_(values.program()), values_(values), recorder_(recorder) {
  recorder.Size(functions_, program_.name_count());
  recorder.Size(structs_, program_.name_count());
  recorder.Size(globals_, program_.name_count());
}

// A conflict is an answer and no error here: it is told where the function is called.
NameResolution NameResolver::Function(NameId name) {
  if (!recorder_.Known(functions_, name.value)) {
    recorder_.Enter();
    functions_.rows[name.value] = FindLive(program_.Functions(name), Conditions::kReported).answer;
    recorder_.Leave(functions_.reads[name.value]);
    recorder_.Keep(functions_, name.value);
  }
  recorder_.AddReads(functions_.reads[name.value]);
  const NameResolution& answer = functions_.rows[name.value];
  recorder_.Record({.kind = VariantQueryKind::kFunction, .a = name.value}, Pack(answer),
                   functions_.reads[name.value]);
  return answer;
}

NameResolution NameResolver::Struct(NameId name) {
  if (!recorder_.Known(structs_, name.value)) {
    recorder_.Enter();
    Live live = FindLive(program_.Structs(name), Conditions::kReported);
    // Told where the name is asked for the first time, then kept as failed: one message for each
    // name and variant.
    if (live.answer.kind == NameResolution::Kind::kConflict) {
      recorder_.found().push_back(
          Make(Code::kRpl4022, program_.NameLocation(live.second))
              .With("name", program_.Text(name))
              .Label(LabelKind::kFirstHere, program_.NameLocation(live.answer.decl())));
      live.answer = {.kind = NameResolution::Kind::kFailed};
    }
    structs_.rows[name.value] = live.answer;
    recorder_.Leave(structs_.reads[name.value]);
    recorder_.Keep(structs_, name.value);
  }
  recorder_.AddReads(structs_.reads[name.value]);
  const NameResolution& answer = structs_.rows[name.value];
  recorder_.Record({.kind = VariantQueryKind::kStruct, .a = name.value}, Pack(answer),
                   structs_.reads[name.value]);
  return answer;
}

// Options first, then constants, then the interface. Two of them with one name are an error that is
// told elsewhere, so the order only decides what else is said.
NameResolution NameResolver::Global(NameId name) {
  if (const ir::OptionId option = program_.Option(name); option.valid()) {
    return {.kind = NameResolution::Kind::kOption, .id = option.value};  // a fact of the program
  }
  if (!recorder_.Known(globals_, name.value)) {
    recorder_.Enter();
    NameResolution answer;
    // Constants are found by the evaluator of values, which needs them for itself.
    if (!program_.Constants(name).empty()) {
      answer = values_.ResolveConstant(name);
    }
    if (answer.kind == NameResolution::Kind::kNone) {
      answer = FindLive(program_.Globals(name), Conditions::kAsked).answer;
    }
    globals_.rows[name.value] = answer;
    recorder_.Leave(globals_.reads[name.value]);
    recorder_.Keep(globals_, name.value);
  }
  recorder_.AddReads(globals_.reads[name.value]);
  const NameResolution& answer = globals_.rows[name.value];
  recorder_.Record({.kind = VariantQueryKind::kGlobal, .a = name.value}, Pack(answer),
                   globals_.reads[name.value]);
  return answer;
}

// Conditions of functions and structs are reported by the first who asks for the name, because no
// walk visits all of them; the walk does visit those of the interface.
NameResolver::Live NameResolver::FindLive(std::span<const ir::DeclId> candidates,
                                          Conditions conditions) {
  Live live;
  bool failed = false;
  // All candidates are looked at even after one was found, as a second live one is a conflict.
  // In program order, so that the first of a conflict is the same in every run.
  for (const ir::DeclId id : candidates) {
    const uint32_t m = program_.ModuleOf(id);
    const ir::Decl& decl = program_.Get(id);
    std::optional<bool> holds = true;
    if (decl.condition != ir::kTrue) {
      const ir::CexprId condition = program_.Wide(m, decl.condition);
      if (conditions == Conditions::kReported) {
        const Position position = {.global_only = decl.kind == ir::DeclKind::kStruct,
                                   .what = "the conditional of struct",
                                   .name = program_.Text(program_.NameOf(id))};
        holds = CheckCondition(values_, condition, program_.At(m, program_.SpansOf(id).condition),
                               position, recorder_.found());
      } else if (const Value value = values_.ValueOf(condition);
                 value.kind == ir::ValueKind::kFlag) {
        holds = value.bits != 0;
      } else {
        holds.reset();
      }
    }
    // A condition without a value counts as false, but its failure is remembered.
    failed = failed || !holds.has_value();
    if (!holds.value_or(false)) {
      continue;
    }
    if (live.answer.kind == NameResolution::Kind::kDecl) {
      live.answer.kind = NameResolution::Kind::kConflict;
      live.second = id;
      continue;
    }
    if (live.answer.kind == NameResolution::Kind::kNone) {
      live.answer = {.kind = NameResolution::Kind::kDecl, .id = id.value};
    }
  }
  // A name that may have been declared, were its condition right, is not reported as unknown.
  if (failed && live.answer.kind == NameResolution::Kind::kNone) {
    live.answer.kind = NameResolution::Kind::kFailed;
  }
  return live;
}

// Computed again instead of kept, since it is needed for an error only.
void NameResolver::LabelFunctions(NameId name, Diagnostic& found) {
  const Live live = FindLive(program_.Functions(name), Conditions::kAsked);
  if (live.answer.kind == NameResolution::Kind::kConflict) {
    std::move(found)
        .Label(LabelKind::kFirstHere, program_.NameLocation(live.answer.decl()))
        .Label(LabelKind::kOtherHere, program_.NameLocation(live.second));
  }
}

}  // namespace kiln::resolve
