// SPDX-License-Identifier: MIT
// A buffer of bytes is an array of words. An address is evaluated once, divided by four, and each
// word is a place like any other, so atomics on it are those of `InterlockedAdd` and its kin.
#include "compiler/front/hlsl/check/resources/buffer_method.h"

#include <optional>
#include <vector>

#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/build_operator.h"
#include "compiler/front/hlsl/check/resources/atomic.h"
#include "compiler/front/hlsl/sema/intrinsic.h"
#include "compiler/ir/insts.h"

namespace kiln::hlsl {
namespace {

bool IsNumber(const CheckContext& context, ExprId id) {
  const Type& type = context.unit.types[context.TypeOf(id)];
  return type.kind == TypeKind::kNumeric || type.kind == TypeKind::kEnum;
}

// Loads and stores of one to four words at an address in bytes.
class Bytes {
 public:
  explicit Bytes(const MethodSite& site) : site_(site), context_(site.context()) {}

  // The address is evaluated once, in a `let`, and each word is its index plus a constant.
  ExprId Load(ExprId address, uint32_t count) {
    const ExprId first = WordAt(address);
    if (count == 1) {
      return AsRead(ElementOf(site_, first));
    }
    const ExprId base = MakeGiven(context_, site_.Uint(), 0, site_.at());
    std::vector<ExprId> words;
    for (uint32_t i = 0; i < count; ++i) {
      words.push_back(ElementOf(site_, Behind(base, i)));
    }
    const TypeId type = context_.types().Vector(Item::kUint, count);
    return site_.Let(first, {}, MakeBuild(context_, type, words, site_.at()), type);
  }

  // Value 0 of the `let` is the address, value 1 what is stored.
  ExprId Store(ExprId address, ExprId value, uint32_t count) {
    const TypeId type = context_.types().Vector(Item::kUint, count);
    const ExprId words = site_.To(value, type);
    const ExprId base = MakeGiven(context_, site_.Uint(), 0, site_.at());
    const ExprId given = MakeGiven(context_, type, 1, site_.at());
    std::vector<ExprId> steps;
    for (uint32_t i = 0; i < count; ++i) {
      const uint8_t letter[4] = {static_cast<uint8_t>(i)};
      const ExprId word = count == 1 ? given
                                     : Combine(context_,
                                               {.kind = ExprKind::kSwizzle,
                                                .type = site_.Uint(),
                                                .a = given.value,
                                                .b = ir::PackSwizzle(1, letter),
                                                .at = site_.at()},
                                               std::span(&given, 1), Knowable::kNo);
      steps.push_back(MakeAssign(context_, ElementOf(site_, Behind(base, i)), word, site_.at()));
    }
    return site_.Let(WordAt(address), words, site_.Chain(steps), context_.types().Void());
  }

  // The word as a place, then as any atomic.
  ExprId Atomic(Intrinsic intrinsic, std::span<const ExprId> arguments) {
    std::vector<ExprId> all{ElementOf(site_, WordAt(arguments[0]))};
    all.insert(all.end(), arguments.begin() + 1, arguments.end());
    return MakeAtomic(context_, intrinsic, all, site_.name(), site_.at());
  }

 private:
  // spec/hlsl 19: an address that is no multiple of four is rounded down, as Direct3D has it.
  ExprId WordAt(ExprId address) {
    const ExprId bytes = site_.To(address, site_.Uint());
    return MakeBinary(context_, Operator::kShiftRight, bytes, site_.Constant(2), site_.name(),
                      site_.at());
  }
  ExprId Behind(ExprId base, uint32_t words) {
    return words == 0 ? base
                      : MakeBinary(context_, Operator::kAdd, base, site_.Constant(words),
                                   site_.name(), site_.at());
  }
  // What Load gives is a value, even of memory that is written.
  ExprId AsRead(ExprId place) {
    Expr value = context_.Get(place);
    if (value.kind == ExprKind::kFailed) {
      return place;
    }
    value.flags |= Expr::kConst;
    return context_.Add(value);
  }

  const MethodSite& site_;
  CheckContext& context_;
};

// Load2 is 2 words.
// Methods of two to four words follow each other in methods.def.
uint32_t WordsOf(Method method, Method first, Method of_two) {
  return method == first ? 1 : static_cast<uint32_t>(method) - static_cast<uint32_t>(of_two) + 2;
}

}  // namespace

// `b[i]` and `b.Load (i)` alike: element i of a structured buffer, which may be written if the
// buffer may be.
ExprId ElementOf(const MethodSite& site, ExprId index) {
  const ExprId number = site.To(index, site.Uint());
  const ExprId both[] = {site.object(), number};
  return Combine(site.context(),
                 {.kind = ExprKind::kIndex,
                  .flags = static_cast<uint8_t>(
                      site.facts().writable ? Expr::kPlace : Expr::kPlace | Expr::kConst),
                  .type = site.content(),
                  .a = site.object().value,
                  .b = number.value,
                  .at = site.at()},
                 both, Knowable::kNo);
}

// By method: atomics, stores, loads. What a read-only buffer does not have is HLSL4007.
ExprId BytesMethod(const MethodSite& site, Method method, std::span<const ExprId> arguments) {
  if (arguments.empty() || !IsNumber(site.context(), arguments[0])) {
    return site.NoSuch(arguments);
  }
  const bool stores =
      method == Method::kStore || (method >= Method::kStore2 && method <= Method::kStore4);
  const bool atomic = method >= Method::kInterlockedAdd;
  if ((stores || atomic) && !site.facts().writable) {
    return site.NoMethod();
  }
  if (atomic) {
    // Atomics are in the same order in both tables.
    const auto intrinsic = static_cast<Intrinsic>(
        static_cast<uint32_t>(Intrinsic::kInterlockedAdd) + static_cast<uint32_t>(method) -
        static_cast<uint32_t>(Method::kInterlockedAdd));
    return Bytes(site).Atomic(intrinsic, arguments);
  }
  if (stores) {
    if (arguments.size() != 2 || !IsNumber(site.context(), arguments[1])) {
      return site.NoSuch(arguments);
    }
    return Bytes(site).Store(arguments[0], arguments[1],
                             WordsOf(method, Method::kStore, Method::kStore2));
  }
  if (arguments.size() != 1) {
    return arguments.size() == 2 ? site.Refuse("status of sparse resources")
                                 : site.NoSuch(arguments);
  }
  return Bytes(site).Load(arguments[0], WordsOf(method, Method::kLoad, Method::kLoad2));
}

}  // namespace kiln::hlsl
