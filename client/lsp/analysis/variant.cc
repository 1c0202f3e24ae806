// SPDX-License-Identifier: MIT
// One variant of a linked program as an editor needs it: values of options, types of expressions,
// layout. It is specialised and laid out, but no code is emitted.
#include "client/lsp/analysis/variant.h"

#include <algorithm>
#include <utility>

#include "compiler/layout/rpl_adapter.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/resolve/values/evaluate.h"

namespace kiln::lsp {
namespace {

target::Target TargetOf() { return target::MakeTarget(target::Environment::kVulkan11); }

resolve::OptionValues SettingValues(const resolve::Program& program,
                                    const std::vector<resolve::OptionSetting>& settings) {
  resolve::OptionValues values;
  std::vector<Diagnostic> ignored;
  // Settings were checked one by one before. Should they not fit together, the defaults of the
  // program are a variant that always exists.
  if (!resolve::CheckOptions(program, settings, values, ignored)) {
    values.bits.assign(program.option_defaults().begin(), program.option_defaults().end());
  }
  return values;
}

}  // namespace

// A variant with errors is kept as far as it came: `good_` is false, conditions and constants can
// still be asked for.
Variant::Variant(std::shared_ptr<const LinkedSources> program,
                 const std::vector<resolve::OptionSetting>& settings)
    : program_(std::move(program)),
      units_(program_->program()),
      values_(SettingValues(program_->program(), settings)),
      evaluator_(program_->program(), values_, pool_, &units_),
      types_(pool_) {
  std::vector<Diagnostic> wrong;
  if (!resolve::SpecialiseVariant(program_->program(), program_->spec.entries, evaluator_, units_,
                                  variant_, wrong)) {
    return;
  }
  Diagnosed<layout::Layout> layout = layout::Assign(variant_, TargetOf(), types_);
  layout_ = std::move(layout.value);
  good_ = layout_.has_value();
  ReadTypes();
}

// Types of all expressions of the functions that are reached, by their places in the source.
void Variant::ReadTypes() {
  const resolve::Program& program = program_->program();
  for (const ir::EntryRef& entry : variant_.entries) {
    for (const ir::FunctionRef* function : entry.functions) {
      for (const ir::RegionRef& region : function->regions) {
        const ir::SpecialisedRegion& specialised = *region.specialised;
        for (size_t i = 0; i < specialised.insts.size() && i < specialised.spans.size(); ++i) {
          // Several instructions may have one place, the load of a variable and its pointer for
          // example. The sort below is stable, so the first in the order of the code is found.
          const ir::SpanId span = specialised.spans[i];
          if (span.valid() && specialised.insts[i].type.valid()) {
            typed_.push_back({.module = specialised.module,
                              .bytes = program.module(specialised.module).SpanOf(span),
                              .type = specialised.insts[i].type});
          }
        }
      }
    }
  }
  std::ranges::stable_sort(typed_, [](const TypedSpan& a, const TypedSpan& b) {
    return std::tuple(a.module, a.bytes.begin, a.bytes.end) <
           std::tuple(b.module, b.bytes.begin, b.bytes.end);
  });
}

// Binary search for the byte, then a walk over the expressions that begin there, which are few.
std::optional<std::string> Variant::TypeAt(uint32_t module, Span bytes) const {
  const auto begin = std::ranges::lower_bound(
      typed_, std::pair(module, bytes.begin), {},
      [](const TypedSpan& one) { return std::pair(one.module, one.bytes.begin); });
  for (auto at = begin;
       at != typed_.end() && at->module == module && at->bytes.begin == bytes.begin; ++at) {
    // Expressions that begin at one byte are nested; they are sorted by their end, so the first one
    // that is long enough is the smallest.
    if (at->bytes.end >= bytes.end) {
      return ir::TypeText(pool_, at->type);
    }
  }
  return std::nullopt;
}

// A condition that fails to have a value neither holds nor does not, so code under it is not shown
// as dead.
std::optional<bool> Variant::Holds(uint32_t module, ir::CexprId condition) {
  const resolve::Value value = evaluator_.ValueOf(program_->program().Wide(module, condition));
  if (value.kind != ir::ValueKind::kFlag) {
    return std::nullopt;
  }
  return value.bits != 0;
}

// Composites and texts are left out: they would be longer than a hover is useful.
std::optional<std::string> Variant::ConstantText(ir::DeclId constant) {
  if (program_->program().IsComposite(constant)) {
    return std::nullopt;
  }
  const resolve::Value value = evaluator_.Constant(constant);
  if (value.kind == ir::ValueKind::kFailed || value.kind == ir::ValueKind::kString) {
    return std::nullopt;
  }
  return resolve::ValueText(value);
}

// Asks for the layout alone; a declaration that no entry point reaches has a type and offsets, but
// no set and binding.
std::optional<BlockPlace> Variant::PlaceOf(ir::DeclId id) {
  const ir::Decl& decl = program_->program().Get(id);
  const uint32_t module = program_->program().ModuleOf(id);
  // A declaration that is not live has no place in this variant. A condition that fails counts as
  // not live: nothing is guessed.
  if (!Holds(module, decl.condition).value_or(false) || decl.kind == ir::DeclKind::kFunction ||
      decl.kind == ir::DeclKind::kConstant || decl.kind == ir::DeclKind::kSetting) {
    return std::nullopt;
  }
  const ir::SpecialisedDecl* specialised = evaluator_.Decl(id);
  if (specialised == nullptr) {
    return std::nullopt;
  }
  BlockPlace place;
  if (specialised->type.valid()) {
    place.type = ir::TypeText(pool_, specialised->type);
  }
  if (layout_.has_value() && id.value < layout_->placements.size()) {
    const layout::Placement& placement = layout_->placements[id.value];
    // Numbers are read from the layout and never computed here: it is the one home of bindings
    // (spec/layout 7).
    place.set = placement.set == ir::kNoRow ? std::nullopt : std::optional(placement.set);
    place.binding =
        placement.binding == ir::kNoRow ? std::nullopt : std::optional(placement.binding);
  }
  PlaceFields(*specialised, place);
  return place;
}

// Offsets are those of the type alone, so that they can be told of a block that nothing reaches;
// sizes leave out padding, which is counted to the field before it.
void Variant::PlaceFields(const ir::SpecialisedDecl& decl, BlockPlace& place) {
  const bool is_block =
      decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant;
  const layout::TypeLayout* whole = nullptr;
  layout::Rules rules = layout::Rules::kStd430;
  if (is_block && decl.type.valid() && !decl.members.empty()) {
    rules = layout::RulesOf(decl);
    whole = &types_.Of(decl.type, rules);
    whole = whole->fault == layout::TypeFault::kNone ? whole : nullptr;
    place.rules = std::string(layout::TraitsOf(rules).name);
  }
  if (whole != nullptr) {
    place.size = layout::MainSize(*whole);
  }
  for (size_t i = 0; i < decl.members.size(); ++i) {
    const ir::SpecialisedMember& member = decl.members[i];
    FieldPlace field{.member = member.member,
                     .type = ir::TypeText(pool_, member.type),
                     .offset = std::nullopt,
                     .size = 0,
                     .padding = 0,
                     .location = std::nullopt};
    if (whole != nullptr && i < whole->offsets.size()) {
      const layout::TypeLayout& type = types_.Of(member.type, rules);
      // Padding is the gap between the end of this field and the begin of the next one, behind the
      // last field that up to the size of the block.
      const uint64_t end = whole->offsets[i] + type.size;
      const uint64_t next = i + 1 < whole->offsets.size() ? whole->offsets[i + 1] : place.size;
      field.offset = whole->offsets[i];
      field.size = type.size;
      field.padding = next > end ? next - end : 0;
    }
    if (layout_.has_value() && member.member.value < layout_->locations.size() &&
        layout_->locations[member.member.value] != ir::kNoRow) {
      field.location = layout_->locations[member.member.value];
    }
    place.fields.push_back(std::move(field));
  }
  if (layout_.has_value() && decl.kind == ir::DeclKind::kContainer) {
    // Containers of attributes are no blocks: their offsets and stride come from the vertex source
    // that the layout made of them.
    for (const layout::VertexSource& source : layout_->vertex_sources) {
      if (source.container != decl.decl) {
        continue;
      }
      place.size = source.stride;
      for (const layout::Attribute& attribute : source.attributes) {
        const auto field = std::ranges::find(place.fields, attribute.member, &FieldPlace::member);
        if (field != place.fields.end()) {
          field->offset = attribute.offset;
        }
      }
    }
  }
}

}  // namespace kiln::lsp
