// SPDX-License-Identifier: MIT
// A name means the functions of the innermost scope that has any; intrinsics are around all of
// them. Arguments convert on the way in; what comes back converts on the way out, as trees over the
// value that the call gives.
#include "compiler/front/hlsl/check/call.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/front/hlsl/check/intrinsic_call.h"
#include "compiler/front/hlsl/check/name.h"

namespace kiln::hlsl {
namespace {

// spec/hlsl 9.4: at most six candidates are listed. The other limit bounds one choice.
constexpr size_t kShownCandidates = 6;
constexpr size_t kMaxCandidates = 4096;

std::string SignatureText(const CheckContext& context, const Function& function) {
  std::string text = function.name + " (";
  for (size_t i = 0; i < function.parameter_types.size(); ++i) {
    text += i == 0 ? "" : ", ";
    text += context.unit.types.Text(function.parameter_types[i].type);
  }
  return text + ")";
}

void SayCandidates(CheckContext& context, Code code, uint32_t name,
                   std::span<const ExprId> arguments, std::span<const FunctionId> functions) {
  Diagnostic said = context.At(code, name)
                        .With("name", context.Text(name))
                        .With("types", TypesText(context, arguments));
  for (size_t i = 0; i < std::min(functions.size(), kShownCandidates); ++i) {
    std::move(said).Note(NoteKind::kAccepted,
                         {{"accepted", SignatureText(context, context.unit[functions[i]])}});
  }
  context.Say(std::move(said));
}

// The three words of one argument.
// What the value is, how it converts on the way in, how on the way out; spec/hlsl 13.2.
void AddArgument(CheckContext& context, const ParameterType& parameter, ExprId argument,
                 std::vector<uint32_t>& words) {
  const TokenRange at = context.Get(argument).at;
  const TypeId type = context.TypeOf(argument);
  if (parameter.passing == Passing::kIn) {
    const ExprId value = ConvertTo(context, argument, parameter.type, ConversionUse::kImplicit, at);
    words.insert(words.end(), {value.value, kNoRow, kNoRow});
    return;
  }
  const bool same = type == parameter.type;
  ExprId in;
  // An `inout` argument is read once: the conversion is built over a value that the call gives.
  if (parameter.passing == Passing::kInOut && !same) {
    in = ConvertTo(context, MakeGiven(context, type, 0, at), parameter.type,
                   ConversionUse::kImplicit, at);
  }
  ExprId out;
  if (!same) {
    out = ConvertTo(context, MakeGiven(context, parameter.type, 0, at), type,
                    ConversionUse::kImplicit, at);
  }
  words.insert(words.end(), {argument.value, in.value, out.value});
}

struct CallSite {
  uint32_t name = 0;
  TokenRange at;
  bool quietly = false;
};

// A default value is lowered by each call that leaves it out, and may hold such calls itself: a
// chain of functions in which each calls the one before it twice would double with each link.
bool SpendDefault(CheckContext& context, ExprId id, TokenRange at) {
  const Expr& value = context.Get(id);
  if (value.rate != Rate::kRun) {
    return SpendMention(context, id, at);
  }
  return value.weight == 1 || context.Spend(context.default_terms, value.weight, at);
}

// Arguments that are missing are default values, which were checked once where they stand; so
// their rows are shared by all calls.
ExprId CallFunction(CheckContext& context, FunctionId id, std::span<const ExprId> arguments,
                    uint32_t name, TokenRange at) {
  const std::vector<ParameterType> parameters = context.unit[id].parameter_types;
  std::vector<uint32_t> words;
  std::vector<ExprId> used;
  bool failed = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool given = i < arguments.size();
    const ExprId argument = given ? arguments[i] : context.unit[id].defaults[i];
    if (!given && !SpendDefault(context, argument, at)) {
      return context.Failed(at);
    }
    // An output must be a place that may be written. All arguments are looked at before giving
    // up.
    if (parameters[i].passing != Passing::kIn) {
      const Expr expr = context.Get(argument);
      if (!expr.Is(Expr::kPlace) || expr.Is(Expr::kConst)) {
        context.Say(context.At(Code::kHlsl2023, expr.at)
                        .With("index", i + 1)
                        .With("name", context.Text(name))
                        .With("text", context.Text(expr.at)));
        failed = true;
        continue;
      }
      CheckWritable(context, argument);
    }
    AddArgument(context, parameters[i], argument, words);
    // What is done with a resource there is done with this one: see resources/handle.
    if (context.types().IsObject(parameters[i].type)) {
      context.handed_on.push_back({argument, id, static_cast<uint32_t>(i)});
    }
    used.push_back(ExprId{words[words.size() - 3]});
  }
  if (failed) {
    return context.Failed(at);
  }
  // Each callee once, in the order of mention: lowering walks these.
  if (context.function.valid()) {
    std::vector<FunctionId>& calls = context.unit[context.function].calls;
    if (std::ranges::find(calls, id) == calls.end()) {
      calls.push_back(id);
    }
  }
  return Combine(context,
                 {.kind = ExprKind::kCall,
                  .flags = Expr::kEffect,
                  .type = context.unit[id].result,
                  .a = id.value,
                  .b = context.unit.AddList(words).value,
                  .at = at},
                 used, Knowable::kNo);
}

// Nothing if no candidate fits and none was named. `object`: of a method, in front of the
// arguments; invalid where there is none.
// The object of a method is not among what overloads are chosen by.
ExprId CallOverloads(CheckContext& context, std::span<const FunctionId> functions, ExprId object,
                     std::span<const ExprId> arguments, const CallSite& site) {
  const uint32_t name = site.name;
  const TokenRange at = site.at;
  // A choice among some of them could be another one than the language makes.
  if (functions.size() > kMaxCandidates) {
    context.Say(context.At(Code::kHlsl1007, name)
                    .With("what", std::string("name '").append(context.Text(name)) + "'")
                    .With("size", std::to_string(functions.size()) + " overloads")
                    .With("limit", kMaxCandidates));
    return context.Failed(at);
  }
  std::vector<Candidate> candidates;
  for (const FunctionId id : functions) {
    const std::span<const ParameterType> parameters = context.unit[id].parameter_types;
    candidates.push_back({parameters.subspan(context.unit[id].method ? 1 : 0)});
  }
  std::vector<TypeId> types;
  for (const ExprId argument : arguments) {
    types.push_back(context.TypeOf(argument));
  }
  const Choice choice = Choose(context.types(), candidates, types, context.dialect());
  if (choice.candidate != kNoCandidate) {
    const FunctionId id = functions[choice.candidate];
    context.NoteMention(name, context.unit[id].at.begin);
    if (!context.unit[id].method) {
      return CallFunction(context, id, arguments, name, at);
    }
    if (!object.valid()) {
      context.Say(context.At(Code::kHlsl2001, name).With("name", "this"));
      // What a method writes is known when its body was checked; then its object is looked at
      // again.
      return context.Failed(at);
    }
    std::vector<ExprId> all{object};
    all.insert(all.end(), arguments.begin(), arguments.end());
    context.object_calls.push_back({object, id});
    return CallFunction(context, id, all, name, at);
  }
  // An intrinsic of that name is tried next.
  if (choice.fitting.empty() && site.quietly) {
    return {};
  }
  std::vector<FunctionId> shown;
  for (const uint32_t fitting : choice.fitting) {
    shown.push_back(functions[fitting]);
  }
  SayCandidates(context, shown.empty() ? Code::kHlsl2021 : Code::kHlsl2022, name, arguments,
                shown.empty() ? functions : std::span<const FunctionId>(shown));
  return context.Failed(at);
}

ExprId RefusedCall(CheckContext& context, const RefusedIntrinsic& refused, uint32_t name,
                   TokenRange at) {
  if (!refused.family.empty()) {
    context.Refuse({name, name + 1}, context.Text(name), refused.family);
  } else if (!refused.replacement.empty()) {
    context.Say(context.At(Code::kHlsl2035, name)
                    .With("name", context.Text(name))
                    .With("replacement", refused.replacement));
  } else {
    context.Say(context.At(Code::kHlsl2036, name).With("name", context.Text(name)));
  }
  return context.Failed(at);
}

// The object that a method calls another one of its struct with, by the name alone.
// Only if one of the functions is a method of the same struct: `f ()` in it may also be a free
// function.
ExprId OwnObject(CheckContext& context, std::span<const FunctionId> functions, TokenRange at) {
  if (!context.self.valid()) {
    return {};
  }
  const TypeId self = context.unit[context.self].type;
  const bool own = std::ranges::any_of(functions, [&](FunctionId id) {
    return context.unit[id].method && context.unit[id].parameter_types[0].type == self;
  });
  return own ? MakeThis(context, at) : ExprId{};
}

}  // namespace

// The scope of a struct holds its methods, by the number of the struct.
ExprId MakeObjectCall(CheckContext& context, ExprId object, uint32_t name,
                      std::span<const ExprId> arguments, TokenRange at) {
  const Type type = context.types()[context.TypeOf(object)];
  const ScopeId* scope = context.record_scopes.Find(type.element);
  const Symbol* symbol =
      scope == nullptr ? nullptr : context.scopes.FindIn(*scope, context.NameOf(name));
  if (symbol == nullptr || symbol->kind != SymbolKind::kFunctions) {
    context.Say(context.At(Code::kHlsl4007, name)
                    .With("type", context.TypeText(object))
                    .With("name", context.Text(name)));
    return context.Failed(at);
  }
  const std::vector<FunctionId> functions = context.scopes.overloads[symbol->id];
  return CallOverloads(context, functions, object, arguments, {name, at, false});
}

// Cut where a message would get too long.
std::string TypesText(const CheckContext& context, std::span<const ExprId> arguments) {
  std::string text;
  for (size_t i = 0; i < arguments.size() && text.size() < kMaxArgument; ++i) {
    text += i == 0 ? "" : ", ";
    text += context.TypeText(arguments[i]);
  }
  return text;
}

// Order: a name that a source declares, then an intrinsic, then what is refused by name
// (spec/hlsl 9.4 and 18).
ExprId MakeCall(CheckContext& context, const syntax::Expr& callee,
                std::span<const ExprId> arguments, TokenRange at) {
  const bool failed = std::ranges::any_of(
      arguments, [&](ExprId id) { return context.Get(id).kind == ExprKind::kFailed; });
  const uint32_t name = callee.token;
  const std::string_view text = context.Text(name);
  const bool plain = callee.a == syntax::kNone;
  const std::optional<Intrinsic> intrinsic = plain ? FindIntrinsic(text) : std::nullopt;
  const std::optional<RefusedIntrinsic> refused = FindRefusedIntrinsic(text);
  const bool global = (callee.flags & syntax::Expr::kGlobal) != 0;
  const Symbol* symbol = Find(context, name, callee.a, global);
  if (symbol == nullptr && refused) {
    return RefusedCall(context, *refused, name, at);
  }
  if (symbol == nullptr && !intrinsic) {
    LookUp(context, name, callee.a, global);
    return context.Failed(at);
  }
  if (symbol != nullptr && symbol->kind != SymbolKind::kFunctions) {
    context.Say(context.At(Code::kHlsl2004, name)
                    .With("name", text)
                    // Declared as something else: that hides an intrinsic, too.
                    .With("kind", KindText(symbol->kind))
                    .With("expected", "a function"));
    return context.Failed(at);
  }
  // Only now: names are reported even if an argument failed.
  if (failed) {
    return context.Failed(at);
  }
  if (symbol != nullptr) {
    const std::vector<FunctionId> functions = context.scopes.overloads[symbol->id];
    const ExprId object = OwnObject(context, functions, at);
    const ExprId made =
        CallOverloads(context, functions, object, arguments, {name, at, intrinsic.has_value()});
    if (made.valid()) {
      return made;
    }
  }
  return MakeIntrinsic(context, *intrinsic, arguments, name, at);
}

}  // namespace kiln::hlsl
