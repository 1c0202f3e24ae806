// SPDX-License-Identifier: MIT
// The parts of a random program: text and meaning of expressions, places and statements, and what
// is visible where they are made. Used by random_program*.cc alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/insts.h"
#include "compiler/ir/types.h"
#include "tests/support/random_program.h"

namespace kiln::oracle {

// What runs: variables of one call, and of the invocation its inputs and outputs.
struct Frame {
  std::map<uint32_t, Value> variables;  // by number; addresses are stable
  Value result;
};
struct Run {
  const Sample* sample = nullptr;
  uint32_t index = 0;
  Frame* frame = nullptr;
  Outcome outcome;
  uint32_t steps = 0;

  bool undecided() const { return !outcome.undecided.empty(); }
  // Is this condition true? Ends the run if that is not known.
  bool Decide(const Value& condition);
};

struct Ref {
  Value* variable = nullptr;
  uint32_t first = 0;
};

struct Expr {
  std::string text;
  ir::TypeId type;
  std::function<Value(Run&)> eval;
  bool pure = true;  // no assignment, no call of a user function
};

struct PlaceExpr {
  std::string text;
  ir::TypeId type;
  std::function<Ref(Run&)> locate;
  bool readable = true;
  bool writable = true;
  bool pure = true;
};

enum class Flow : uint8_t { kNext, kBreak, kContinue, kReturn, kDiscard };
struct Statement {
  std::string text;
  std::function<Flow(Run&)> run;
};

// One after the other, until one leaves.
Statement Sequence(std::vector<Statement> statements);
// "{ … }"
std::string Braces(const std::string& text);

std::string_view Spelling(ir::BinaryOp op);

inline constexpr std::string_view kProgramOutputs[] = {"result.f0", "result.f1", "result.f2",
                                                       "result.f3", "result.u0", "result.s0"};

struct Parameter {
  std::string access;  // "in", "out", "in out"
  ir::TypeId type;
  uint32_t variable = 0;
};
struct Function {
  std::string name;
  ir::TypeId result;
  std::vector<Parameter> parameters;  // behind `index`
  std::string text;
  std::function<Flow(Run&)> body;
};

// One generator of one program. Names are numbered and never reused, so that nothing is shadowed.
class ProgramWriter {
 public:
  ProgramWriter(uint32_t seed, Language language)
      : random_(seed),
        later_(language != Language::kVersion1),
        compute_(language == Language::kVersion2Compute) {}
  RandomProgram Write();

 private:
  // --- random choices
  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  ir::TypeId VectorType();
  ir::TypeId ValueType();  // vector, matrix or struct
  std::string Name(std::string_view stem);
  std::string TypeText(ir::TypeId type);

  // --- random_program_{expressions,composites,places}.cc
  Expr Expression(ir::TypeId type, uint32_t depth);
  Expr Leaf(ir::TypeId type);
  Expr Literal(ir::TypeId id);
  Expr Input(ir::TypeId id);
  Expr Float(ir::TypeId type, uint32_t depth);
  Expr Integer(ir::TypeId type, uint32_t depth);
  Expr MatrixValue(ir::TypeId type, uint32_t depth);
  Expr Construct(ir::TypeId type, uint32_t depth);
  Expr Swizzle(ir::TypeId type, uint32_t depth);
  Expr Convert(ir::TypeId type, uint32_t depth);
  Expr Assigned(ir::TypeId type, uint32_t depth);
  std::optional<Expr> UserCall(ir::TypeId type, uint32_t depth);
  Expr Condition(uint32_t depth);
  // left op right; parentheses around it
  Expr Binary(ir::BinaryOp op, const Expr& left, const Expr& right);
  Expr Call(ir::Builtin builtin, ir::TypeId family, ir::TypeId result, std::vector<Expr> arguments);
  Expr Bounded(const Expr& number);  // whole numbers of [-64, 64]: products stay exact
  Expr Numbered(ir::TypeId id, int32_t number);
  Expr ReadOf(const PlaceExpr& place);

  // --- random_program_version2.cc
  void DeclareTables();
  Expr Boolean(ir::TypeId type, uint32_t depth);
  Expr BooleanLeaf(ir::TypeId type);
  Expr Chosen(ir::TypeId type, uint32_t depth);    // c ? a : b
  Expr Selected(ir::TypeId type, uint32_t depth);  // select_T
  Expr Negated(Expr truth);
  Expr AnyOrAll(uint32_t depth);
  Expr FromBoolean(ir::TypeId type, uint32_t depth);
  Expr ScalarFirst(ir::TypeId type, uint32_t depth);
  Expr Compound(ir::TypeId type, uint32_t depth);  // place op= value
  Expr OperandOf(ir::BinaryOp op, ir::TypeId type, uint32_t depth);
  std::optional<Expr> TableItem(ir::TypeId type);
  std::optional<Expr> Added(ir::TypeId type, uint32_t depth);  // one of these, or nothing

  // --- places
  struct Purpose {
    bool read = false;
    bool write = false;
    bool pure = false;
  };
  // Some place of that type: a variable, parameter or alias, or a part of one.
  std::optional<PlaceExpr> Place(ir::TypeId type, Purpose purpose);
  void Parts(const PlaceExpr& whole, ir::TypeId wanted, uint32_t depth,
             std::vector<PlaceExpr>& found);

  // --- random_program.cc and random_program_statements.cc
  void DeclareOptions();
  void DeclareStructs();
  Function WriteFunction(ir::TypeId result);
  Statement Block(uint32_t depth);  // statements, without braces
  Statement OneStatement(uint32_t depth);
  Statement Declaration();
  Statement Assignment();
  Statement If(uint32_t depth);
  Statement Loop(uint32_t depth);
  Statement Conditional(uint32_t depth);
  Statement Alias();
  Statement Jump();
  Statement Outputs();
  uint32_t NewVariable(const std::string& name, ir::TypeId type, PlaceExpr access = {});

  struct Option {
    std::string name;
    ir::TypeId type;  // of its value in code; bool: only in conditionals
    uint32_t bits = 0;
  };
  struct Table {  // an array constant
    std::string name;
    ir::TypeId item;
    uint32_t count = 0;
    Value items;
  };

  std::mt19937 random_;
  bool later_;    // version 2
  bool compute_;  // nothing of graphics stages
  std::shared_ptr<ir::Pool> owner_ = std::make_shared<ir::Pool>();
  ir::Pool& pool_ = *owner_;
  std::vector<ir::TypeId> structs_;
  std::vector<Option> options_;
  std::vector<Option> special_;  // specialised ones
  std::vector<Table> tables_;
  std::vector<std::shared_ptr<Function>> functions_;
  std::vector<PlaceExpr> visible_;  // innermost last
  std::string declarations_;
  uint32_t names_ = 0;
  uint32_t variables_ = 0;
  uint32_t loops_ = 0;  // around the statement
  bool in_probe_ = false;
  ir::TypeId result_{};  // of the function being written
};

}  // namespace kiln::oracle
