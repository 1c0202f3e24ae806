// SPDX-License-Identifier: MIT
// Three questions about an entry point, asked when its body is checked: is each leaf of its
// parameters and result a location or a built-in value of the right type; do the functions that
// it reaches belong to its stage; and does it reach two variables of one binding. The last two
// follow calls, and every callee was checked before, so its calls and mentions are complete.
#include "compiler/front/wgsl/check/entry_point.h"

#include <string>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/sema/builtin_value.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl::front {
namespace {

enum class Direction : uint8_t { kInput, kOutput };

// WGSL, "Entry Points". What can be said of the declaration alone is checked here; whether
// stages of a variant fit each other is a question of the variant.
class EntryPoint {
 public:
  EntryPoint(CheckContext& context, FunctionId id)
      : context_(context),
        row_(context.unit.functions[id.value]),
        stage_(static_cast<ir::Stage>(row_.stage)) {}

  void Check() {
    Interface();
    Stages();
    Bindings(row_);
  }

 private:
  // --- interface
  void Wrong(TokenRange at, Direction direction, const std::string& reason) {
    context_.Say(context_.At(Code::kWgsl4003, at)
                     .With("name", row_.name)
                     .With("direction", direction == Direction::kInput ? "input" : "output")
                     .With("reason", reason));
  }

  // Inputs and outputs have tables of their own: the same location may be in both.
  void Interface() {
    for (const LocalId id : row_.parameters) {
      const Local& local = context_.unit[id];
      Whole(local.type, local.attributes, local.at, Direction::kInput);
    }
    locations_ = {};
    builtins_ = {};
    if (row_.result != context_.types().Void()) {
      Whole(row_.result, row_.result_attributes, row_.at, Direction::kOutput);
    }
    // The table has the outputs now.
    if (stage_ == ir::Stage::kVertex && !builtins_.Contains("position")) {
      Wrong(row_.at, Direction::kOutput, "a vertex entry point gives @builtin(position)");
    }
  }

  // A struct stands for its members, unless it has an attribute itself, which then is wrong as
  // a leaf. Structs in structs have no locations: they are leaves, too.
  void Whole(TypeId type, uint32_t attributes, TokenRange at, Direction direction) {
    const bool marked = attributes != kNoRow;
    if (context_.types()[type].kind != TypeKind::kStruct || marked) {
      return Leaf(type, attributes, at, direction);
    }
    for (const StructMember& member : context_.types().StructOf(type).members) {
      Leaf(member.type, member.attributes, at, direction);
    }
  }

  // A leaf has a built-in value or a location. One without either, or with a type that is no
  // number, has no way in or out.
  void Leaf(TypeId type, uint32_t attributes, TokenRange at, Direction direction) {
    const Attributes none;
    const Attributes& found = attributes == kNoRow ? none : context_.unit.attributes[attributes];
    const TokenRange place = attributes == kNoRow ? at : found.at;
    if (!found.builtin.empty()) {
      return Builtin(type, found, place, direction);
    }
    if (found.location == kNoRow) {
      return Wrong(place, direction, "it has no @location and no @builtin");
    }
    const Type& row = context_.types()[type];
    const bool numbers = (row.kind == TypeKind::kScalar || row.kind == TypeKind::kVector) &&
                         row.scalar != ScalarKind::kBool;
    if (!numbers) {
      return Wrong(place, direction, "'" + context_.types().Text(type) + "' has no location");
    }
    if (stage_ == ir::Stage::kCompute) {
      return Wrong(place, direction, "compute entry points have no locations");
    }
    // Outputs of the vertex stage and inputs of the fragment stage are interpolated, unless
    // flat; integers cannot be.
    const bool between = (stage_ == ir::Stage::kVertex) == (direction == Direction::kOutput);
    const bool flat = found.interpolation == static_cast<uint32_t>(ir::Interpolation::kFlat);
    if (between && IsInteger(row.scalar) && !flat) {
      return Wrong(place, direction, "integers between stages need @interpolate(flat)");
    }
    if (found.blend_src != kNoRow &&
        (stage_ != ir::Stage::kFragment || direction != Direction::kOutput)) {
      return Wrong(place, direction, "only outputs of the fragment stage have a blend_src");
    }
    if (found.blend_src != kNoRow && !context_.has_dual_source) {
      return context_.Forbid(found.at, "it needs 'enable dual_source_blending;'");
    }
    // Two colours at one location that differ in blend_src are both allowed.
    const uint32_t key = found.location << 1 | (found.blend_src == 1 ? 1 : 0);
    if (!locations_.Insert(key, true).second) {
      Wrong(place, direction, "another one has location " + std::to_string(found.location));
    }
  }

  // WGSL, "Built-in Inputs and Outputs": builtin_values.def says for each stage in which
  // directions a value exists and of which type it is.
  void Builtin(TypeId type, const Attributes& found, TokenRange place, Direction direction) {
    const BuiltinValue* builtin = FindBuiltinValue(found.builtin);
    if (builtin == nullptr) {  // said where it stands
      return;
    }
    const BuiltinUse use = builtin->uses[row_.stage];
    const BuiltinUse wanted = direction == Direction::kInput ? BuiltinUse::kIn : BuiltinUse::kOut;
    const std::string name = "'" + std::string(found.builtin) + "'";
    if (use != wanted && use != BuiltinUse::kBoth) {
      return Wrong(place, direction, name + " does not exist there");
    }
    const TypeId expected = context_.types().Vector(builtin->scalar, builtin->rows);
    if (type != expected) {
      return Wrong(place, direction, name + " is of type " + context_.types().Text(expected));
    }
    if (!builtins_.Insert(found.builtin, true).second) {
      Wrong(place, direction, name + " stands twice");
    }
  }

  // --- what it calls
  // What needs a stage was found in functions that are called; each keeps the first call that
  // does, which the message points to.
  void Stages() {
    if (row_.needs_fragment != kNoRow && stage_ != ir::Stage::kFragment) {
      context_.Forbid({row_.needs_fragment, row_.needs_fragment + 1},
                      "it is of fragment entry points, '" + std::string(row_.name) + "' is none");
    }
    if (row_.needs_compute != kNoRow && stage_ != ir::Stage::kCompute) {
      context_.Forbid({row_.needs_compute, row_.needs_compute + 1},
                      "it is of compute entry points, '" + std::string(row_.name) + "' is none");
    }
  }

  // All variables that are reached; a stack of functions, each once.
  // WGSL, "Resource Interface": variables that are not reached may share a binding. Cost for
  // each entry point: functions and mentions that it reaches, once.
  void Bindings(const FunctionRow& entry) {
    FlatMap<uint32_t, bool> seen_functions;
    FlatMap<uint32_t, bool> seen_globals;
    FlatMap<uint64_t, uint32_t> taken;
    std::vector<const FunctionRow*> pending{&entry};
    while (!pending.empty()) {
      CheckStop();
      const FunctionRow& function = *pending.back();
      pending.pop_back();
      for (const GlobalId id : function.globals) {
        if (seen_globals.Insert(id.value, true).second) {
          Binding(id, taken);
        }
      }
      for (const FunctionId id : function.calls) {
        if (seen_functions.Insert(id.value, true).second) {
          pending.push_back(&context_.unit.functions[id.value]);
        }
      }
    }
  }

  // One variable that is reached: its address space against the stage, its binding against the
  // others.
  void Binding(GlobalId id, FlatMap<uint64_t, uint32_t>& taken) {
    const Global& global = context_.unit[id];
    if (global.kind == GlobalKind::kWorkgroup && stage_ != ir::Stage::kCompute) {
      context_.Forbid(row_.at, "it reaches workgroup variable '" + std::string(global.name) +
                                   "', which is of compute entry points");
    }
    const bool written =
        global.space == AddressSpace::kStorage && global.access == AccessMode::kReadWrite;
    if (written && stage_ == ir::Stage::kVertex) {
      context_.Forbid(row_.at, "a vertex entry point does not reach '" + std::string(global.name) +
                                   "', which can be written");
    }
    // Only resources have attributes.
    if (global.attributes == kNoRow) {
      return;
    }
    const Attributes& found = context_.unit.attributes[global.attributes];
    const auto [other, added] = taken.Insert(uint64_t{found.group} << 32 | found.binding, id.value);
    if (!added) {
      context_.Say(context_.At(Code::kWgsl4004, global.at)
                       .With("name", context_.unit.globals[*other].name)
                       .With("other", global.name)
                       .With("group", found.group)
                       .With("binding", found.binding)
                       .With("entry", row_.name));
    }
  }

  CheckContext& context_;
  const FunctionRow& row_;
  const ir::Stage stage_;
  FlatMap<uint32_t, bool> locations_;
  FlatMap<std::string_view, bool> builtins_;
};

}  // namespace

void CheckEntryPoint(CheckContext& context, FunctionId id) { EntryPoint(context, id).Check(); }

}  // namespace kiln::wgsl::front
