// SPDX-License-Identifier: MIT
// Functions that touch memory by pointers: atomics, barriers, arrayLength and
// workgroupUniformLoad. They have no rows in overloads.def, for what they take is a pointer to
// something and not a number; their rules are written out here. None of them is constant.
#include "compiler/front/wgsl/check/expressions/memory_call.h"

#include <string>
#include <vector>

#include "compiler/front/wgsl/check/expressions/operation.h"
#include "compiler/front/wgsl/check/expressions/value.h"

namespace kiln::wgsl::front {
namespace {

// Arguments were checked one by one; what is wrong is that no row takes them together.
ExprId NoOverload(CheckContext& context, Function function, std::span<const ExprId> arguments,
                  TokenRange at) {
  context.Say(context.At(Code::kWgsl2001, at)
                  .With("name", FactsOf(function).name)
                  .With("found", TypesText(context, arguments)));
  return context.Failed(at);
}

ExprId Made(CheckContext& context, Function function, std::span<const ExprId> arguments,
            TypeId result, TokenRange at) {
  std::vector<uint32_t> list;
  for (const ExprId id : arguments) {
    list.push_back(id.value);
  }
  return context.Add({.kind = ExprKind::kOperation,
                      .op = static_cast<uint8_t>(function),
                      .rate = Rate::kRun,
                      .type = result,
                      .b = context.unit.AddList(list).value,
                      .at = at});
}

// How many values follow the pointer.
size_t ValuesOf(Function function) {
  return function == Function::kAtomicLoad                  ? 0
         : function == Function::kAtomicCompareExchangeWeak ? 2
                                                            : 1;
}

// WGSL, "Atomic Built-in Functions". The pointer must be one to an atomic, and to memory that
// may be written unless it is only loaded.
ExprId Atomic(CheckContext& context, Function function, std::vector<ExprId> arguments,
              TokenRange at) {
  const Type pointer = arguments.empty() ? Type{} : context.TypeRowOf(arguments[0]);
  const Type target =
      pointer.kind == TypeKind::kPointer ? context.types()[TypeId{pointer.element}] : Type{};
  const bool writable =
      pointer.access == AccessMode::kReadWrite || function == Function::kAtomicLoad;
  if (target.kind != TypeKind::kAtomic || arguments.size() != 1 + ValuesOf(function) || !writable) {
    return NoOverload(context, function, arguments, at);
  }
  const TypeId scalar = context.types().Scalar(target.scalar);
  for (size_t i = 1; i < arguments.size(); ++i) {
    arguments[i] = Converted(context, arguments[i], scalar);
    if (context.IsFailed(arguments[i])) {
      return arguments[i];
    }
  }
  // `atomicCompareExchangeWeak` gives the old value and whether it was exchanged.
  const TypeId result = function == Function::kAtomicStore ? context.types().Void()
                        : function == Function::kAtomicCompareExchangeWeak
                            ? PartsType(context, function, target.scalar, 1)
                            : scalar;
  return Made(context, function, arguments, result, at);
}

// Nothing here is folded: these functions touch memory, or order what does.
}  // namespace

ExprId CheckMemoryCall(CheckContext& context, Function function, std::span<const ExprId> given,
                       TokenRange at) {
  std::vector<ExprId> arguments(given.begin(), given.end());
  for (const ExprId id : arguments) {
    if (context.IsFailed(id)) {
      return context.Failed(at);
    }
  }
  Types& types = context.types();
  const Type pointer = arguments.empty() ? Type{} : context.TypeRowOf(arguments[0]);
  const bool is_pointer = pointer.kind == TypeKind::kPointer && arguments.size() == 1;
  switch (function) {
    case Function::kWorkgroupBarrier:
    case Function::kStorageBarrier:
    case Function::kTextureBarrier:
      return arguments.empty() ? Made(context, function, arguments, types.Void(), at)
                               : NoOverload(context, function, arguments, at);
    case Function::kArrayLength: {
      const Type target = is_pointer ? types[TypeId{pointer.element}] : Type{};
      const bool runtime =
          // An array whose length only memory knows. That of an override is known to the
          // variant.
          target.kind == TypeKind::kArray && target.count == 0 && target.open == kNoRow;
      return runtime ? Made(context, function, arguments, types.Scalar(ScalarKind::kU32), at)
                     : NoOverload(context, function, arguments, at);
    }
    // WGSL, "Synchronization Built-in Functions": the type may be loaded as a value, or is an
    // atomic.
    case Function::kWorkgroupUniformLoad: {
      if (!is_pointer || pointer.space != AddressSpace::kWorkgroup) {
        return NoOverload(context, function, arguments, at);
      }
      const TypeId to{pointer.element};
      if (types[to].kind == TypeKind::kAtomic) {
        return Made(context, function, arguments, types.Scalar(types[to].scalar), at);
      }
      return types.IsConstructible(to) ? Made(context, function, arguments, to, at)
                                       : NoOverload(context, function, arguments, at);
    }
    default:
      return Atomic(context, function, std::move(arguments), at);
  }
}

}  // namespace kiln::wgsl::front
