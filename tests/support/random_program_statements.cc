// SPDX-License-Identifier: MIT
// Statements of random programs.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/ir/typing/typing.h"
#include "tests/support/random_program_scope.h"

namespace kiln::oracle {
namespace {

using ir::Builtin;
using ir::Scalar;

constexpr uint32_t kStepLimit = 20'000;

}  // namespace

Statement Sequence(std::vector<Statement> statements) {
  Statement all;
  for (const Statement& statement : statements) {
    all.text += statement.text;
  }
  all.run = [statements = std::move(statements)](Run& run) {
    for (const Statement& statement : statements) {
      if (++run.steps > kStepLimit && !run.undecided()) {
        run.outcome.undecided = "too many steps";
      }
      if (run.undecided()) {
        return Flow::kReturn;
      }
      const Flow flow = statement.run(run);
      if (flow != Flow::kNext) {
        return flow;
      }
    }
    return Flow::kNext;
  };
  return all;
}

std::string Braces(const std::string& text) { return "{\n" + text + "}\n"; }

Statement ProgramWriter::Block(uint32_t depth) {
  const size_t outside = visible_.size();
  std::vector<Statement> statements;
  for (uint32_t i = 1 + Below(4); i > 0; --i) {
    statements.push_back(OneStatement(depth));
  }
  visible_.resize(outside);
  return Sequence(std::move(statements));
}

Statement ProgramWriter::OneStatement(uint32_t depth) {
  const uint32_t choice = Below(depth == 0 ? 7 : 12);
  if (choice <= 1) {
    return Declaration();
  }
  if (choice <= 4) {
    return Assignment();
  }
  if (choice == 5) {
    return Alias();
  }
  if (choice == 6) {
    return Jump();
  }
  if (choice <= 8) {
    return If(depth - 1);
  }
  return choice <= 10 ? Loop(depth - 1) : Conditional(depth - 1);
}

Statement ProgramWriter::Declaration() {
  const std::string name = Name("local");
  if (!Chance(25)) {
    const ir::TypeId type = ValueType();
    const Expr value = Expression(type, 3);
    const uint32_t number = NewVariable(name, type);
    return {.text = fmt::format("{} {} = {};\n", TypeText(type), name, value.text),
            .run = [number, value](Run& run) {
              Value first = value.eval(run);
              run.frame->variables[number] = std::move(first);
              return Flow::kNext;
            }};
  }
  const ir::TypeId item = ValueType();
  const bool by_option = Chance(30);
  const uint32_t count = by_option ? options_[0].bits : 1 + Below(3);
  const ir::TypeId type = pool_.Intern(ir::ArrayType(item, count));
  const bool constructed = later_ && Chance(60);
  std::string items;
  std::string text = fmt::format("{}[{}] {};\n", TypeText(item),
                                 by_option ? "count_b" : fmt::format("{}u", count), name);
  std::vector<Expr> values;
  for (uint32_t i = 0; i < count; ++i) {
    values.push_back(Expression(item, 1));
    text += fmt::format("{}[{}] = {};\n", name, i, values.back().text);
    items += (i == 0 ? "" : ", ") + values.back().text;
  }
  if (constructed) {
    const std::string whole = fmt::format("{}[{}]", TypeText(item), count);
    text = fmt::format("{0} {1} = {0} {{ {2} }};\n", whole, name, items);
  }
  const uint32_t number = NewVariable(name, type);
  return {.text = std::move(text), .run = [number, values](Run& run) {
            Value all;
            for (const Expr& value : values) {
              const Value cells = value.eval(run);
              all.insert(all.end(), cells.begin(), cells.end());
            }
            run.frame->variables[number] = std::move(all);
            return Flow::kNext;
          }};
}

Statement ProgramWriter::Assignment() {
  const ir::TypeId type = ValueType();
  if (!Place(type, {.write = true}).has_value()) {
    return Declaration();
  }
  const Expr assigned = Assigned(type, 3);
  return {.text = assigned.text + ";\n", .run = [assigned](Run& run) {
            assigned.eval(run);
            return Flow::kNext;
          }};
}

Statement ProgramWriter::If(uint32_t depth) {
  const Expr condition = Condition(2);
  const Statement yes = Block(depth);
  const bool has_else = Chance(50);
  const Statement no = has_else ? Block(depth) : Sequence({});
  return {.text = fmt::format("if ({}) {}{}", condition.text, Braces(yes.text),
                              has_else ? "else " + Braces(no.text) : ""),
          .run = [condition, yes, no](Run& run) {
            return run.Decide(condition.eval(run)) ? yes.run(run) : no.run(run);
          }};
}

// At most `count` passes; the counter is read only. `while` counts first, so that `continue` does
// not skip it.
Statement ProgramWriter::Loop(uint32_t depth) {
  const size_t outside = visible_.size();
  const std::string name = Name("turn");
  const uint32_t count = 1 + Below(4);
  const bool counted = Chance(60);
  const uint32_t number = NewVariable(name, pool_.Vector(Scalar::kU32, 1), {.writable = false});
  const Expr condition = Condition(1);
  ++loops_;
  const Statement body = Block(depth);
  --loops_;
  visible_.resize(outside);
  const std::string test = fmt::format("{} < {}u && {}", name, count, condition.text);
  std::string text =
      counted
          ? fmt::format("for (u1 {0} = 0u; {1}; {0} = {0} + 1u) {2}", name, test, Braces(body.text))
          : fmt::format("u1 {0} = 0u;\nwhile ({1}) {2}", name, test,
                        Braces(fmt::format("{0} = {0} + 1u;\n{1}", name, body.text)));
  return {.text = std::move(text), .run = [number, count, counted, condition, body](Run& run) {
            Value& turn = run.frame->variables[number];
            turn = {Cell{0, 0}};
            while (turn[0].bits < count && run.Decide(condition.eval(run)) && !run.undecided()) {
              turn[0].bits += counted ? 0 : 1;
              const Flow flow = body.run(run);
              if (flow == Flow::kBreak) {
                return Flow::kNext;
              }
              if (flow == Flow::kReturn || flow == Flow::kDiscard) {
                return flow;
              }
              turn[0].bits += counted ? 1 : 0;
            }
            return Flow::kNext;
          }};
}

Statement ProgramWriter::Conditional(uint32_t depth) {
  const uint32_t count = options_[0].bits;
  const bool flag = options_[4].bits != 0;
  const uint32_t mode = options_[5].bits;
  const std::pair<std::string_view, bool> conditions[] = {
      {"flag_a", flag},
      {"!flag_a", !flag},
      {"count_b > 2u", count > 2},
      {"mode_e == \"mid\"", mode == 1},
      {"twice_f % 3u == 0u", (count * 2 + 1) % 3 == 0},
      {"flag_a && count_b < 3u || mode_e != \"low\"", (flag && count < 3) || mode != 0}};
  const auto& [text, holds] = conditions[Below(std::size(conditions))];
  const Statement body = Block(depth);
  return {.text = fmt::format("conditional ({}) {}", text, Braces(body.text)),
          .run = [holds = holds, body](Run& run) { return holds ? body.run(run) : Flow::kNext; }};
}

// Of a place, or of an expression that is computed anew at each mention (spec/rpl 8.6).
Statement ProgramWriter::Alias() {
  const ir::TypeId type = ValueType();
  const std::string name = Name("alias");
  const auto nothing = [](Run&) { return Flow::kNext; };
  if (const std::optional<PlaceExpr> place = Place(type, {.read = true, .pure = true});
      place.has_value() && Chance(60)) {
    PlaceExpr mention = *place;
    mention.text = name;
    visible_.push_back(std::move(mention));
    return {.text = fmt::format("alias ({}, {})\n", name, place->text), .run = nothing};
  }
  Expr value = Expression(type, 2);
  for (uint32_t i = 0; i < 4 && !value.pure; ++i) {
    value = Expression(type, 1);
  }
  if (!value.pure) {
    return Declaration();
  }
  const uint32_t number = variables_++;
  visible_.push_back({.text = name,
                      .type = type,
                      .locate =
                          [number, eval = value.eval](Run& run) {
                            Value now = eval(run);
                            Value& kept = run.frame->variables[number];
                            kept = std::move(now);
                            return Ref{&kept, 0};
                          },
                      .writable = false});
  return {.text = fmt::format("alias ({}, {})\n", name, value.text), .run = nothing};
}

Statement ProgramWriter::Jump() {
  const Expr condition = Condition(1);
  const auto guarded = [&](const std::string& text, const std::function<Flow(Run&)>& jump) {
    return Statement{.text = fmt::format("if ({}) {}", condition.text, Braces(text)),
                     .run = [condition, jump](Run& run) {
                       return run.Decide(condition.eval(run)) ? jump(run) : Flow::kNext;
                     }};
  };
  if (loops_ > 0 && Chance(70)) {
    const bool leaves = Chance(50);
    return guarded(leaves ? "break;\n" : "continue;\n",
                   [leaves](Run&) { return leaves ? Flow::kBreak : Flow::kContinue; });
  }
  if (!in_probe_) {
    const Expr value = Expression(result_, 1);
    return guarded(fmt::format("return {};\n", value.text), [value](Run& run) {
      Value returned = value.eval(run);
      run.frame->result = std::move(returned);
      return Flow::kReturn;
    });
  }
  if (!compute_ && Chance(20)) {
    return guarded("fragment_stage_discard ();\n", [](Run& run) {
      run.outcome.discarded = true;
      return Flow::kDiscard;
    });
  }
  return Chance(20) ? guarded("return;\n", [](Run&) { return Flow::kReturn; }) : Assignment();
}

// One output, or one component of it. Functions that are not exact are applied last, where nothing
// depends on their result.
Statement ProgramWriter::Outputs() {
  constexpr Builtin kLast[] = {Builtin::kSin,  Builtin::kCos,  Builtin::kAtan, Builtin::kExp2,
                               Builtin::kTanh, Builtin::kSinh, Builtin::kExp,  Builtin::kAsinh};
  const uint32_t output = Below(std::size(kProgramOutputs));
  const Scalar scalar = output < 4 ? Scalar::kF32 : output == 4 ? Scalar::kU32 : Scalar::kS32;
  const bool whole = Chance(60);
  const uint32_t component = whole ? 0 : Below(4);
  const ir::TypeId type = pool_.Vector(scalar, whole ? 4 : 1);
  Expr value = Expression(type, 3);
  if (scalar == Scalar::kF32 && Chance(25)) {
    value = Call(Builtin::kClamp, type, type, {value, Numbered(type, -3), Numbered(type, 3)});
    value = Chance(80) ? Call(kLast[Below(std::size(kLast))], type, type, {value})
                       : Binary(ir::BinaryOp::kDiv, value, Numbered(type, 3));
  }
  std::string target(kProgramOutputs[output]);
  if (!whole) {
    target += "." + std::string(1, "xyzw"[component]);
  }
  return {.text = fmt::format("{} = {};\n", target, value.text),
          .run = [output, component, value](Run& run) {
            const Value written = value.eval(run);
            std::ranges::copy(
                written,
                run.outcome.written[std::string(kProgramOutputs[output])].begin() + component);
            return Flow::kNext;
          }};
}

}  // namespace kiln::oracle
