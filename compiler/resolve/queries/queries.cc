// SPDX-License-Identifier: MIT
#include "compiler/resolve/queries/queries.h"

#include <bit>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {
namespace {

// Queries are three numbers; the hash only chooses a place, and equality is compared.
uint64_t HashOf(const VariantQuery& query) {
  return Mix64(Mix64(static_cast<uint64_t>(query.kind) << 32 | query.a) ^ query.b);
}

// A flag or number as RPL writes it.
// As RPL would need it to be written to mean the same value and kind.
std::string NumberText(Value value) {
  std::string text = ValueText(value);
  if (value.kind == ir::ValueKind::kUint) {
    text += 'u';
  } else if (value.kind == ir::ValueKind::kFloat &&
             text.find_first_not_of("-0123456789") == std::string::npos) {
    // A float without a dot would read as an integer.
    text += ".0";
  }
  return text;
}

// A literal on its own, without its type.
std::string LiteralText(const Program& program, const ir::Cexpr& row) {
  // Texts are names of enumeration values here, and they keep their quotes to differ from names.
  if (HoldsText(row)) {
    return fmt::format("\"{}\"", program.Text(NameId{row.a}));
  }
  return NumberText({.kind = static_cast<ir::ValueKind>(row.kind), .bits = row.a});
}

// The target of a conversion, as RPL spells it.
std::string_view ConversionText(uint16_t kind) {
  switch (static_cast<ir::ValueKind>(kind)) {
    case ir::ValueKind::kUint:
      return "u1";
    case ir::ValueKind::kSint:
      return "s1";
    case ir::ValueKind::kFloat:
      return "f1";
    case ir::ValueKind::kFlag:
    case ir::ValueKind::kString:
    case ir::ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

// Writes a tree without recursion: what is still to be written lies on a stack.
// Expressions are as deep as a source makes them, so nothing may recurse here.
class ExpressionWriter {
 public:
  explicit ExpressionWriter(const Program& program) : program_(program) {}

  std::string Run(ir::CexprId root) {
    // Pieces are taken from the end, so they are pushed in reverse.
    pending_.push_back({.expression = root});
    while (!pending_.empty()) {
      const Piece piece = pending_.back();
      pending_.pop_back();
      if (!piece.expression.valid()) {
        out_ += piece.text;
      } else {
        // The piece was taken off the stack before: writing may push others.
        Write(program_.Row(piece.expression), piece.nested);
      }
    }
    return std::move(out_);
  }

 private:
  // A piece is an expression that is still to be written, or a text.
  struct Piece {
    ir::CexprId expression = {};
    bool nested = false;
    std::string_view text = {};
  };

  // Pieces are given in the order of writing.
  void Push(std::initializer_list<Piece> pieces) {
    pending_.insert(pending_.end(), std::rbegin(pieces), std::rend(pieces));
  }
  Piece Operand(const ir::Cexpr& row, uint32_t i) const {
    return {.expression = OperandOf(row, i), .nested = true};
  }

  // Nested operators are put in parentheses, whatever their precedence: the text is for people who
  // compare traces.
  void Write(const ir::Cexpr& row, bool nested) {
    switch (OperandCount(row.op)) {
      case 0:
        WriteLeaf(row);
        return;
      case 1:
        if (row.op == ir::CexprOp::kConvert) {
          out_ += ConversionText(row.kind);
          out_ += " {";
          Push({{.expression = OperandOf(row, 0)}, {.text = "}"}});
          return;
        }
        out_ += OperatorText(row.op);
        Push({Operand(row, 0)});
        return;
      case 2:
        spaced_ = OperatorText(row.op);
        Push({{.text = nested ? "(" : ""},
              Operand(row, 0),
              {.text = " "},
              {.text = spaced_},
              {.text = " "},
              Operand(row, 1),
              {.text = nested ? ")" : ""}});
        return;
    }
    // Only the conditional has three operands.
    Push({{.text = "("},
          Operand(row, 0),
          {.text = " ? "},
          Operand(row, 1),
          {.text = " : "},
          Operand(row, 2),
          {.text = ")"}});
  }

  // Rows that are neither have no spelling; a trace shows them as a question mark.
  void WriteLeaf(const ir::Cexpr& row) {
    if (row.op == ir::CexprOp::kLiteral) {
      out_ += LiteralText(program_, row);
    } else if (row.op == ir::CexprOp::kName) {
      out_ += program_.Text(NameId{row.a});
    } else {
      out_ += "?";
    }
  }

  const Program& program_;
  std::vector<Piece> pending_;
  std::string_view spaced_;
  std::string out_;
};

// The answer is packed: kind above bit 40, one bit at 32 for "by instance", the bits of the value
// below.
std::string ValueAnswerText(const ir::Pool& pool, const QueryResult& answer) {
  const auto kind = static_cast<ir::ValueKind>(answer.first >> 40);
  const Value value{.kind = kind, .bits = static_cast<uint32_t>(answer.first)};
  std::string text = value.failed() ? "failed"
                     : kind == ir::ValueKind::kString
                         ? fmt::format("\"{}\"", pool.Text(ir::StringId{value.bits}))
                         : NumberText(value);
  return (answer.first >> 32 & 1) != 0 ? text + " (instance)" : text;
}

// Which of these it is lies in the upper half, the number of the declaration in the lower.
std::string NameAnswerText(const Program& program, const QueryResult& answer) {
  const auto kind = static_cast<NameResolution::Kind>(answer.first >> 32);
  const auto id = static_cast<uint32_t>(answer.first);
  switch (kind) {
    case NameResolution::Kind::kNone:
      return "nothing";
    case NameResolution::Kind::kConflict:
      return "several";
    case NameResolution::Kind::kFailed:
      return "failed";
    case NameResolution::Kind::kOption:
      return "option";
    case NameResolution::Kind::kDecl:
    case NameResolution::Kind::kConstant: {
      // The ordinal tells declarations of one name apart; it counts rows of the program.
      const ir::DeclId decl{id};
      return fmt::format("{} at {}", DeclKindText(program.Get(decl)), id);
    }
  }
  KILN_UNREACHABLE();
}

// Fields tell their number and type, which is all that users of a member see.
std::string MemberAnswerText(const ir::Pool& pool, const QueryResult& answer) {
  const auto kind = static_cast<MemberResolution::Kind>(answer.first >> 32);
  switch (kind) {
    case MemberResolution::Kind::kNone:
      return "nothing";
    case MemberResolution::Kind::kFailed:
      return "failed";
    case MemberResolution::Kind::kAlias:
      return "alias";
    case MemberResolution::Kind::kField:
      return fmt::format("field {} of type {}", static_cast<uint32_t>(answer.first),
                         ir::TypeText(pool, ir::TypeId{static_cast<uint32_t>(answer.second)}));
  }
  KILN_UNREACHABLE();
}

// One line for each query with its answer, so that two traces are compared by diff.
// For people: no program reads the text back.
std::string Line(const QueryRecord& asked, const Program& program, const ir::Pool& pool) {
  const VariantQuery& q = asked.query;
  const auto name = [&](uint32_t id) { return program.Text(NameId{id}); };
  const auto decl = [&](uint32_t id) { return program.Text(program.NameOf(ir::DeclId{id})); };
  switch (q.kind) {
    case VariantQueryKind::kValue:
      return fmt::format("{} = {}", ExpressionText(program, ir::CexprId{q.a}),
                         ValueAnswerText(pool, asked.answer));
    case VariantQueryKind::kFunction:
      return fmt::format("function {} = {}", name(q.a), NameAnswerText(program, asked.answer));
    case VariantQueryKind::kStruct:
      return fmt::format("struct {} = {}", name(q.a), NameAnswerText(program, asked.answer));
    case VariantQueryKind::kGlobal:
      return fmt::format("name {} = {}", name(q.a), NameAnswerText(program, asked.answer));
    case VariantQueryKind::kOption: {
      const ir::OptionId id{q.a};
      return fmt::format("option {} = {}",
                         program.module(program.ModuleOf(id)).Text(program.Get(id).name),
                         ValueAnswerText(pool, asked.answer));
    }
    case VariantQueryKind::kConstant:
      return fmt::format("constant {} = {}", decl(q.a), ValueAnswerText(pool, asked.answer));
    case VariantQueryKind::kMember:
      return fmt::format("member {}.{} = {}", decl(q.a), name(q.b),
                         MemberAnswerText(pool, asked.answer));
    case VariantQueryKind::kAliasPath: {
      const ir::MemberId id{q.a};
      return fmt::format("path of alias {}.{}", decl(program.OwnerOf(id).value),
                         program.module(program.ModuleOf(id)).Text(program.Get(id).name));
    }
    case VariantQueryKind::kDecl:
      return fmt::format("decl {} = {}", decl(q.a),
                         asked.answer.first != 0 ? "specialised" : "failed");
    case VariantQueryKind::kStage:
      return fmt::format("stage = {}", ir::NameOf(static_cast<ir::Stage>(asked.answer.first)));
    case VariantQueryKind::kVersion:
      return "what its parameters stand for";
    case VariantQueryKind::kEntry:
      return asked.answer.first != 0 ? "chosen as entry point" : "called";
  }
  KILN_UNREACHABLE();
}

}  // namespace

// A query that was asked before has the same answer, so it is kept once, at its first place.
// `fixed`: the answer is the same in every variant, so it is not compared when a unit is looked
// for.
void QueryTrace::Add(const VariantQuery& query, const QueryResult& answer, bool fixed) {
  index_.FindOrAdd(
      HashOf(query), [&](uint32_t i) { return asked_[i].query == query; },
      [&] {
        asked_.push_back({.query = query, .answer = answer, .fixed = fixed});
        return static_cast<uint32_t>(asked_.size() - 1);
      });
}

// In the order in which the queries were asked first.
std::string QueryTraceText(const QueryTrace& trace, const Program& program, const ir::Pool& pool) {
  std::string text;
  for (const QueryRecord& asked : trace.asked()) {
    text += Line(asked, program, pool) + "\n";
  }
  return text;
}

// Cost: one row for each mention, as spans count them.
std::string ExpressionText(const Program& program, ir::CexprId cexpr) {
  return ExpressionWriter(program).Run(cexpr);
}

}  // namespace kiln::resolve
