// SPDX-License-Identifier: MIT
// Invocation 0 writes: items of arrays in a loop, so that neither code nor constants grow with
// them.
#include "compiler/front/wgsl/lower/zero.h"

#include "compiler/front/wgsl/lower/cexpr.h"
#include "compiler/front/wgsl/lower/memory.h"
#include "compiler/front/wgsl/lower/type.h"
#include "compiler/front/wgsl/lower/value.h"

namespace kiln::wgsl::front {
namespace {

class Zero {
 public:
  explicit Zero(LowerContext& context)
      : context_(context),
        none_(context.builder.Void()),
        word_(context.Vector(ir::Scalar::kU32, 1)),
        flag_(context.Vector(ir::Scalar::kBool, 1)) {}

  // Arrays in each other and in structs are as deep as types may be.
  void Write(Place place) {
    const Type type = context_.types[place.type];
    if (type.kind == TypeKind::kArray) {
      return WriteItems(place, type);
    }
    if (type.kind != TypeKind::kStruct) {
      return Store(context_, place, ZeroValue(context_, place.type));
    }
    const std::vector<StructMember> members = context_.types.StructOf(place.type).members;
    for (uint32_t i = 0; i < members.size(); ++i) {
      Place member = place;
      member.steps.push_back(context_.Uint(i));
      member.type = members[i].type;
      Write(member);
    }
  }

 private:
  // for (item = 0; item < count; ++item), in the three blocks of a loop. Loops of arrays in
  // each other nest as their types do, each with a counter of its own.
  void WriteItems(const Place& place, const Type& type) {
    const ir::LocalId counter =
        context_.builder.AddLocal({.name = context_.builder.Text("item"), .type = word_}, {});
    context_.Emit(ir::VariableInst{none_, counter, context_.Uint(0)});
    const auto load = [&] {
      return context_.Emit(ir::LoadInst{word_, context_.Emit(ir::LocalRefInst{word_, counter})});
    };
    const ir::LocalId exit = context_.AddExit(ir::LocalKind::kLoopExit);
    const ir::BlockId before = context_.Block([&] {
      const ir::InstId less =
          context_.Emit(ir::BinaryInst{flag_, ir::BinaryOp::kLess, load(), CountOf(type)});
      context_.Emit(ir::YieldInst{none_, less});
    });
    const ir::BlockId body = context_.Block([&] {
      Place item = place;
      item.steps.push_back(load());
      item.type = TypeId{type.element};
      Write(item);
    });
    const ir::BlockId step = context_.Block([&] {
      const ir::InstId next =
          context_.Emit(ir::BinaryInst{word_, ir::BinaryOp::kAdd, load(), context_.Uint(1)});
      context_.Emit(ir::StoreInst{none_, context_.Emit(ir::LocalRefInst{word_, counter}), next});
    });
    context_.Emit(ir::LoopInst{none_, exit, context_.builder.Ids({before, body, step})});
  }

  // A count that an override says is a value of the variant, which is above zero.
  ir::InstId CountOf(const Type& type) {
    if (type.open == kNoRow) {
      return context_.Uint(type.count);
    }
    const ir::InstId count = ValueOf(context_, ExprId{type.open});
    return context_.TypeRowOf(ExprId{type.open}).scalar == ScalarKind::kI32
               ? context_.Emit(ir::BitcastInst{word_, count})
               : count;
  }

  LowerContext& context_;
  const ir::TypeId none_, word_, flag_;
};

}  // namespace

// One `if` around everything, so that there is one branch. The barrier is outside of it: all
// invocations reach it.
void ZeroShared(LowerContext& context, ir::InstId number, std::span<const GlobalId> shared) {
  const ir::InstId first = context.Emit(ir::BinaryInst{
      context.Vector(ir::Scalar::kBool, 1), ir::BinaryOp::kEqual, number, context.Uint(0)});
  const ir::BlockId block = context.Block([&] {
    for (const GlobalId id : shared) {
      const Global& global = context.unit[id];
      const ir::InstId root =
          context.Emit(ir::GlobalRefInst{TypeOf(context, global.type), ir::Direction::kNone,
                                         context.globals[id.value], ir::MemberId{}});
      Zero(context).Write({.root = root, .steps = {}, .type = global.type});
    }
  });
  context.Emit(ir::IfInst{context.builder.Void(), first, context.builder.Ids({block})});
  Barrier(context, {ir::MemoryKind::kWorkgroup});
}

}  // namespace kiln::wgsl::front
