// SPDX-License-Identifier: MIT
// The tables of intrinsics as arrays, and two look-ups by name: what exists, and what is
// refused with a reason.
#include "compiler/front/hlsl/sema/intrinsic.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace kiln::hlsl {
namespace {

using ir::Builtin;

// What the table calls builtins; `None` is no builtin.
struct BuiltinName {
  std::optional<Builtin> value;
};
// The table names builtins as words; these constants give the words a value, and a wrong word
// does not compile.
namespace names {
constexpr BuiltinName None{};
#define KILN_BUILTIN(name, text, types, parameters, result, lowering, f, u, s) \
  [[maybe_unused]] constexpr BuiltinName name{Builtin::k##name};
#include "compiler/ir/builtins.def"

constexpr IntrinsicFacts kFacts[] = {
#define KILN_INTRINSIC(name, text, tier, count, shapes, items, result, f, s, u) \
  {text,                                                                        \
   Tier::k##tier,                                                               \
   count,                                                                       \
   ArgumentShapes::k##shapes,                                                   \
   ArgumentItems::k##items,                                                     \
   IntrinsicResult::k##result,                                                  \
   (f).value,                                                                   \
   (s).value,                                                                   \
   (u).value},
#include "compiler/front/hlsl/sema/intrinsics.def"
};
}  // namespace names

}  // namespace

const uint32_t kIntrinsicCount = std::size(names::kFacts);

const IntrinsicFacts& FactsOf(Intrinsic intrinsic) {
  return names::kFacts[static_cast<size_t>(intrinsic)];
}

// Names are few and asked for once for each call that no function of the source answers, so a
// search in order will do.
std::optional<Intrinsic> FindIntrinsic(std::string_view name) {
  const auto* found = std::ranges::find(names::kFacts, name, &IntrinsicFacts::name);
  return found == std::end(names::kFacts)
             ? std::nullopt
             : std::optional(static_cast<Intrinsic>(found - std::begin(names::kFacts)));
}

// A name that is known and refused: by its family (HLSL8004), or with what to write instead
// (HLSL2035).
std::optional<RefusedIntrinsic> FindRefusedIntrinsic(std::string_view name) {
#define KILN_FAMILY(name_of, ...)                                                       \
  for (const std::string_view known : std::to_array<std::string_view>({__VA_ARGS__})) { \
    if (name == known) {                                                                \
      return RefusedIntrinsic{.family = (name_of)};                                     \
    }                                                                                   \
  }
#define KILN_REPLACED(known, text)                  \
  if (name == (known)) {                            \
    return RefusedIntrinsic{.replacement = (text)}; \
  }
#include "compiler/front/hlsl/sema/intrinsic_names.def"
  return std::nullopt;
}

}  // namespace kiln::hlsl
