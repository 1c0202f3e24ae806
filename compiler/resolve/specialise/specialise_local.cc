// SPDX-License-Identifier: MIT
// An alias is an expression that stands where it is mentioned. It is specialised twice or more:
// once at its declaration, to say what is wrong with it and to count what it accesses, and then
// that is dropped again; and once at each mention, into the block of the mention.
#include "compiler/resolve/specialise/specialise_local.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/specialise_block.h"
#include "compiler/resolve/specialise/specialise_operator.h"
#include "compiler/resolve/specialise/specialise_statement.h"
#include "compiler/resolve/specialise/specialise_type.h"

namespace kiln::resolve {
namespace {

// An alias stands for its expression at each mention, so a few lines can ask for any amount.
bool MayExpand(RegionBuilder& region, const ir::Local& alias) {
  // Told once for each function; afterwards every mention of an alias fails silently, which also
  // ends the growth.
  if (region.aliases().too_large ||
      region.out().insts.size() > region.program().limits().function_rows) {
    if (!region.aliases().too_large) {
      region.Report(
          Make(Code::kLim1001, region.MainOf(region.current()))
              .With("what",
                    "function '" + std::string(region.module().Text(region.function().name)) + "'")

              .With("parts", "instructions")
              .With("limit", region.program().limits().function_rows));
    }
    region.aliases().too_large = true;
    return false;
  }
  if (region.aliases().depth >= region.program().limits().nesting) {
    region.Report(Make(Code::kRpl1009, region.MainOf(region.current()))
                      .With("text", region.module().Text(alias.name))
                      .With("limit", region.program().limits().nesting));
    return false;
  }
  return true;
}

}  // namespace

void SpecialiseVariable(RegionBuilder& region, uint32_t id) {
  const auto variable = region.Generic(id).As<ir::VariableInst>();
  const ir::Local& local = region.module().locals[variable.local.value];
  const std::string_view name = region.module().Text(local.name);
  const ir::LocalSpans* spans = region.module().local_spans.empty()
                                    ? nullptr
                                    : &region.module().local_spans[variable.local.value];
  CheckNewName(region, variable.local);
  const ir::TypeId type = SpecialiseType({.module = region.module_ordinal(),
                                          .type = local.type,
                                          .spans = spans != nullptr ? spans->type : ir::SpanId{},
                                          .owner = name,
                                          .use = TypeUse::kLocal},
                                         region.answers(), region.diagnostics());
  // The type is kept for the mentions that follow in this region. It is kept even if it is invalid:
  // then they fail without a second message.
  bool known = false;
  region.LocalTypeOf(region.Global(variable.local), known) = type;
  if (!type.valid()) {
    region.FailIf(true);
    return;
  }
  // The local is listed even if its first value turns out wrong, so that mentions of it do not add
  // errors.
  region.out().locals.push_back({.local = region.Global(variable.local),
                                 .kind = ir::LocalKind::kVariable,
                                 .name = region.answers().PoolText(
                                     region.program().Name(region.module_ordinal(), local.name)),
                                 .type = type,
                                 .relaxed = local.relaxed != 0});
  if (local.relaxed != 0 && !IsFloatType(region.pool(), type)) {
    region.Report(Make(Code::kRpl8112, region.At(spans != nullptr ? spans->type : ir::SpanId{}))
                      .With("name", name)
                      .With("type", region.TypeName(type)));
  }
  // A variable without a first value is noted with the place where it is declared. Whether it is
  // read before it is written is found when all rows of the region are there.
  if (!variable.initialiser.valid()) {
    region.bare().push_back({.before = static_cast<uint32_t>(region.out().insts.size()),
                             .depth = static_cast<uint32_t>(region.scratch().open_blocks.size()),
                             .local = region.Global(variable.local)});
    return;
  }
  const Role role{.form = Role::Form::kPlain, .text = "initialiser"};
  // Version 2 has array constructors and constants; a runtime array stays no value.
  const ir::InstId value = Read(region, variable.initialiser.value, role,
                                region.IsVersion2() ? Arrays::kAllowed : Arrays::kRefused);
  if (!value.valid()) {
    return;
  }
  if (region.TypeOf(value) != type) {
    region.Report(Make(Code::kRpl6026, region.MainOf(variable.initialiser.value))
                      .With("left", region.TypeName(type))
                      .With("right", region.TypeName(region.TypeOf(value))));
    NoteConversion(region, region.TypeOf(value), type);
    return;
  }
  region.SetCurrent(id);
  Operand place = SpecialiseLocalMention(region, region.Global(variable.local), id);
  StoreTo(region, place, value);
}

void SpecialiseAlias(RegionBuilder& region, uint32_t id) {
  const auto alias = region.Generic(id).As<ir::AliasInst>();
  const ir::Local& local = region.module().locals[alias.local.value];
  const ir::LocalSpans* spans = region.module().local_spans.empty()
                                    ? nullptr
                                    : &region.module().local_spans[alias.local.value];
  // An alias whose condition does not hold is not there, and whatever is wrong with it does not
  // matter.
  const Location run = region.At(spans != nullptr ? spans->condition : ir::SpanId{});
  const std::optional<bool> holds = region.answers().CheckCondition(region.Global(local.condition),
                                                                    run, {}, region.diagnostics());
  region.FailIf(!holds.has_value());
  if (!holds.value_or(false)) {
    return;
  }
  CheckNewName(region, alias.local);
  // An alias stands for its expression at each mention, so it must not do anything: what has an
  // effect would happen as often as it is mentioned, or never.
  for (const uint32_t inst : region.module().InstsOf(alias.block)) {
    const ir::Inst& row = region.Generic(inst);
    const bool special = row.kind == ir::InstKind::kNameBuiltin &&
                         ir::FactsOf(row.As<ir::NameBuiltinInst>().builtin).result == 'V';
    if (region.SurveyOf(inst).has_effect != 0 || special) {
      region.Report(Make(Code::kRpl6006, region.MainOf(inst))
                        .With("name", region.module().Text(local.name))
                        .With("text", region.TextOf(inst)));
      // Mentions of an alias that failed are silent.
      region.aliases().poisoned.push_back(region.Global(alias.local));
      return;
    }
  }
  // Resolving an alias checks it and counts as access, but runs nothing: its rows are dropped.
  const size_t insts = region.out().insts.size();
  // What the trial emits is cut off again behind this point. Mentions and stage variables that it
  // noted stay, since resolving an alias counts as access.
  const size_t extra = region.out().extra.size();
  const size_t blocks = region.out().blocks.size();
  const size_t block_insts = region.out().block_insts.size();
  region.BeginBlock();
  const std::span<const uint32_t> rows = region.module().InstsOf(alias.block);
  SpecialiseInsts(region, rows);
  region.DropBlock();
  const ir::InstId value = region.Generic(rows.back()).As<ir::YieldInst>().value;
  if (RefuseContainer(region, value) || region.OperandOf(value).kind == OperandKind::kFailed) {
    region.aliases().poisoned.push_back(region.Global(alias.local));
  }
  region.out().insts.resize(insts);
  region.out().spans.resize(insts);
  region.out().extra.resize(extra);
  region.out().blocks.resize(blocks);
  region.out().block_insts.resize(block_insts);
  // The list is ascending, as rows are marked when they are made.
  while (!region.out().relaxed.empty() && region.out().relaxed.back() >= insts) {
    region.out().relaxed.pop_back();
  }
}

// A new name must differ from every local one that is visible and from every global one of this
// variant (spec/rpl 8.5). Candidates in scope were listed by the front end; only their conditions
// are open.
void CheckNewName(RegionBuilder& region, ir::LocalId id) {
  const ir::Local& local = region.module().locals[id.value];
  const std::string_view name = region.module().Text(local.name);
  const ir::SpanId span = region.module().local_spans.empty()
                              ? ir::SpanId{}
                              : region.module().local_spans[id.value].name;
  const auto report = [&](std::string_view other_kind, const Location& other) {
    region.Report(Make(Code::kRpl6040, region.At(span))
                      .With("kind", LocalKindText(local.kind))
                      .With("name", name)
                      .With("other_kind", other_kind));
    if (other.known()) {
      region.diagnostics().back().labels.push_back({.kind = LabelKind::kDeclaredHere,
                                                    .where = other,
                                                    .arguments = {Argument("name", name)}});
    }
  };
  for (const uint32_t shadowed : region.module().List(local.shadowed)) {
    const ir::Local& other = region.module().locals[shadowed];
    if (region.answers().Holds(region.Global(other.condition))) {
      report(LocalKindText(other.kind),
             region.At(region.module().local_spans.empty()
                           ? ir::SpanId{}
                           : region.module().local_spans[shadowed].name));
      return;
    }
  }
  // Functions and structs count only if the variant resolves them, which the walk knows at its end;
  // the name is handed on to it.
  const NameId global = region.program().Name(region.module_ordinal(), local.name);
  if (!region.program().Functions(global).empty() || !region.program().Structs(global).empty()) {
    region.out().ambiguous.push_back(
        region.Global(id));  // the walk knows what the variant resolves
  }
  // The usual case: nobody in the whole program declares it, so asking would only lengthen the list
  // of queries that a cached region must repeat.
  if (!region.program().Option(global).valid() && region.program().Constants(global).empty() &&
      region.program().Globals(global).empty()) {
    return;  // nobody ever declares it: no query
  }
  const NameResolution answer = region.answers().Global(global);
  if (answer.kind == NameResolution::Kind::kOption) {
    report("option", region.program().NameLocation(answer.option()));
  } else if (answer.kind == NameResolution::Kind::kConstant) {
    report("constant", region.program().NameLocation(answer.decl()));
  } else if (answer.kind == NameResolution::Kind::kDecl) {
    report(DeclKindText(region.program().Get(answer.decl())),
           region.program().NameLocation(answer.decl()));
  }
}

// An alias is specialised again at each mention, in the block of the mention and with the depth of
// mentions counted. The rows are those of its declaration, so their operands are overwritten each
// time, which is why the current instruction is restored behind it.
Operand SpecialiseLocalMention(RegionBuilder& region, ir::LocalId id, uint32_t) {
  const ir::Local& local = region.module().locals[id.value - region.bases().local];
  if (local.kind == ir::LocalKind::kAlias) {
    if (std::ranges::binary_search(region.aliases().poisoned, id.value, {}, &ir::LocalId::value) ||
        !MayExpand(region, local)) {
      return {};
    }
    const std::span<const uint32_t> insts = region.module().InstsOf(ir::BlockId{local.block});
    const uint32_t mention = region.current();
    ++region.aliases().depth;
    SpecialiseInsts(region, insts);
    --region.aliases().depth;
    region.SetCurrent(mention);
    KILN_CHECK(!insts.empty() && region.Generic(insts.back()).kind == ir::InstKind::kYield,
               "alias block of {} rows yields nothing", insts.size());
    return region.OperandOf(region.Generic(insts.back()).As<ir::YieldInst>().value);
  }
  Operand operand;
  operand.local = true;
  // Parameters that options have removed are not in the signature; mentioning one fails, and the
  // front end's candidates say why.
  if (local.kind == ir::LocalKind::kParameter) {
    // Parameters are listed in the order of their locals, so the search may halve.
    const auto parameter = std::ranges::lower_bound(
        region.signature()->members, id.value, {},
        [](const ir::SpecialisedMember& member) { return member.local.value; });
    if (parameter == region.signature()->members.end() || parameter->local != id) {
      return {};
    }
    operand.type = parameter->type;
    operand.readable = parameter->access != ir::Access::kOut;
    operand.writable = parameter->access != ir::Access::kIn;
    // An `in` parameter is a value, unless it is a handle.
    if (parameter->access == ir::Access::kIn && !IsHandle(region.pool()[parameter->type])) {
      operand.kind = OperandKind::kValue;
      operand.inst = region.Emit(ir::ParamInst{.type = operand.type, .local = id}.To());
      region.MarkRelaxed(local.relaxed != 0, operand.inst);
      return operand;
    }
  } else {
    // Another region of the function may have declared it, and then this one has no type for it
    // yet.
    bool known = false;
    ir::TypeId& type = region.LocalTypeOf(id, known);
    if (!known) {
      std::vector<Diagnostic> ignored;  // reported where the variable is declared
      type = SpecialiseType({.module = region.module_ordinal(), .type = local.type},
                            region.answers(), ignored);
    }
    if (!type.valid()) {
      return {};
    }
    operand.type = type;
    operand.writable = true;
  }
  operand.kind = OperandKind::kPlace;
  operand.inst = region.Emit(ir::LocalRefInst{.type = operand.type, .local = id}.To());
  region.MarkRelaxed(local.relaxed != 0, operand.inst);
  return operand;
}

}  // namespace kiln::resolve
