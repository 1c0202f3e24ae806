// SPDX-License-Identifier: MIT
// Places of random programs: what is read, assigned and handed to functions.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/ir/typing/typing.h"
#include "tests/support/random_program_scope.h"

namespace kiln::oracle {
namespace {

using ir::Scalar;

constexpr std::string_view kLetters = "xyzw";

Value Slice(const Value& value, uint32_t first, uint32_t count) {
  return {value.begin() + first, value.begin() + first + count};
}

}  // namespace

Expr ProgramWriter::ReadOf(const PlaceExpr& place) {
  return {.text = place.text,
          .type = place.type,
          .eval =
              [locate = place.locate, count = CellCount(pool_, place.type)](Run& run) {
                const Ref ref = locate(run);
                return Slice(*ref.variable, ref.first, count);
              },
          .pure = place.pure};
}

// (place = value): index expressions of the place first, then the value, then the store
// (spec/rpl 5.5); the value is the assigned one.
Expr ProgramWriter::Assigned(ir::TypeId type, uint32_t depth) {
  const std::optional<PlaceExpr> place = Place(type, {.write = true});
  if (!place.has_value()) {
    return Expression(type, depth);
  }
  Expr value = Expression(type, depth);
  return {.text = fmt::format("({} = {})", place->text, value.text),
          .type = type,
          .eval =
              [locate = place->locate, eval = std::move(value.eval)](Run& run) {
                const Ref ref = locate(run);
                Value assigned = eval(run);
                std::ranges::copy(assigned, ref.variable->begin() + ref.first);
                return assigned;
              },
          .pure = false};
}

// Arguments from left to right: values of `in` and `in out` are read, places are found; after the
// call `out` and `in out` are written back from left to right (spec/rpl 8.7).
std::optional<Expr> ProgramWriter::UserCall(ir::TypeId type, uint32_t depth) {
  std::vector<std::shared_ptr<Function>> fitting;
  for (const std::shared_ptr<Function>& function : functions_) {
    if (function->result == type) {
      fitting.push_back(function);
    }
  }
  if (fitting.empty()) {
    return std::nullopt;
  }
  const std::shared_ptr<Function> function = fitting[Below(static_cast<uint32_t>(fitting.size()))];
  struct Argument {
    std::function<Value(Run&)> value;
    std::function<Ref(Run&)> place;
  };
  std::vector<Argument> arguments;
  std::string texts = "index";
  for (const Parameter& parameter : function->parameters) {
    if (parameter.access == "in") {
      const Expr value = Expression(parameter.type, depth);
      texts += ", " + value.text;
      arguments.push_back({.value = value.eval});
      continue;
    }
    const std::optional<PlaceExpr> place =
        Place(parameter.type, {.read = parameter.access == "in out", .write = true});
    if (!place.has_value()) {
      return std::nullopt;
    }
    texts += ", " + place->text;
    arguments.push_back({.place = place->locate});
  }
  return Expr{.text = fmt::format("{} ({})", function->name, texts),
              .type = type,
              .eval =
                  [pool = &pool_, function, arguments](Run& run) {
                    Frame frame;
                    std::vector<Ref> places(arguments.size());
                    for (size_t i = 0; i < arguments.size(); ++i) {
                      const Parameter& parameter = function->parameters[i];
                      const uint32_t count = CellCount(*pool, parameter.type);
                      Value& variable = frame.variables[parameter.variable];
                      variable.resize(count);
                      if (arguments[i].value) {
                        variable = arguments[i].value(run);
                        continue;
                      }
                      places[i] = arguments[i].place(run);
                      if (parameter.access == "in out") {
                        variable = Slice(*places[i].variable, places[i].first, count);
                      }
                    }
                    Frame* const caller = std::exchange(run.frame, &frame);
                    function->body(run);
                    run.frame = caller;
                    for (size_t i = 0; i < arguments.size(); ++i) {
                      if (arguments[i].place) {
                        std::ranges::copy(frame.variables[function->parameters[i].variable],
                                          places[i].variable->begin() + places[i].first);
                      }
                    }
                    frame.result.resize(CellCount(*pool, function->result));
                    return frame.result;
                  },
              .pure = false};
}

void ProgramWriter::Parts(const PlaceExpr& whole, ir::TypeId wanted, uint32_t depth,
                          std::vector<PlaceExpr>& found) {
  if (whole.type == wanted) {
    found.push_back(whole);
  }
  const ir::Type& type = pool_[whole.type];
  if (depth == 0 || (type.kind == ir::TypeKind::kVector && type.rows == 1)) {
    return;
  }
  const uint32_t count = ir::PartCount(pool_, whole.type);
  if (type.kind == ir::TypeKind::kArray) {
    const bool constant = Chance(40);
    const uint32_t item = Below(count);
    Expr index = constant ? Numbered(pool_.Vector(Scalar::kU32, 1), static_cast<int32_t>(item))
                          : Leaf(pool_.Vector(Scalar::kU32, 1));
    PlaceExpr part = whole;
    part.type = ir::TypeId{type.element};
    part.text = constant ? fmt::format("{}[{}]", whole.text, index.text)
                         : fmt::format("{}[{} % {}u]", whole.text, index.text, count);
    part.locate = [locate = whole.locate, eval = index.eval, count,
                   cells = CellCount(pool_, part.type)](Run& run) {
      Ref ref = locate(run);
      ref.first += eval(run)[0].bits % count * cells;
      return ref;
    };
    return Parts(part, wanted, depth - 1, found);
  }
  uint32_t first = 0;
  for (uint32_t i = 0; i < count; ++i) {
    PlaceExpr part = whole;
    part.type = *ir::PartType(pool_, whole.type, i);
    part.text += "." + (type.kind == ir::TypeKind::kStruct
                            ? std::string(pool_.Text(pool_.Members(whole.type)[i].name))
                            : std::string(1, kLetters[i]));
    part.locate = [locate = whole.locate, first](Run& run) {
      Ref ref = locate(run);
      ref.first += first;
      return ref;
    };
    first += CellCount(pool_, part.type);
    Parts(part, wanted, depth - 1, found);
  }
}

std::optional<PlaceExpr> ProgramWriter::Place(ir::TypeId type, Purpose purpose) {
  std::vector<PlaceExpr> found;
  for (const PlaceExpr& place : visible_) {
    if ((!purpose.read || place.readable) && (!purpose.write || place.writable) &&
        (!purpose.pure || place.pure)) {
      Parts(place, type, 3, found);
    }
  }
  if (found.empty()) {
    return std::nullopt;
  }
  return found[Below(static_cast<uint32_t>(found.size()))];
}

}  // namespace kiln::oracle
