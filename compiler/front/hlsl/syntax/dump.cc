// SPDX-License-Identifier: MIT
// Rows are in pre-order and know where they end, so nesting is a stack of ends: no recursion.
#include "compiler/front/hlsl/syntax/dump.h"

#include <vector>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/syntax/dump_text.h"

namespace kiln::hlsl::syntax {
namespace {

// Prints declarations and statements, one row on a line. Texts of what is on a line are
// DumpText's.
class AstPrinter {
 public:
  AstPrinter(const TokenStream& stream, const Ast& ast) : text_(stream, ast), ast_(ast) {}

  std::string Print() {
    Declarations(0, static_cast<uint32_t>(ast_.decls.size()), 0);
    return std::move(out_);
  }

 private:
  void Line(uint32_t indent, std::string_view line) {
    out_.append(size_t{indent} * 2, ' ');
    out_ += line;
    out_ += '\n';
  }

  // Rows [row, end) with all that is in them, but for what functions hold.
  // A function's statements are rows of another table, so its row is the one that is not walked
  // into.
  void Declarations(uint32_t row, uint32_t end, uint32_t indent) {
    std::vector<uint32_t> ends;
    while (row < end) {
      while (!ends.empty() && row >= ends.back()) {
        ends.pop_back();
      }
      const Decl& decl = ast_.decls[row];
      const uint32_t depth = indent + static_cast<uint32_t>(ends.size());
      Line(depth, text_.Attributes(decl.attributes) + Head(decl));
      Items(decl, depth + 1);
      if (decl.kind == DeclKind::kFunction) {
        if (decl.body != kNone) {
          Statements(decl.body, ast_.stmts[decl.body].next, depth + 1);
        }
        row = decl.next;
      } else {
        ends.push_back(decl.next);
        ++row;
      }
    }
  }

  // The head of a row; its items and what it holds are lines of their own.
  std::string Head(const Decl& decl) {
    const std::string_view name = decl.name == kNone ? "" : text_.Token(decl.name);
    switch (decl.kind) {
      case DeclKind::kNamespace:
        return fmt::format("namespace {}", name);
      case DeclKind::kRecord:
        return fmt::format("{}{}{}", decl.Is(Decl::kClass) ? "class" : "struct",
                           name.empty() ? "" : " ", name);
      case DeclKind::kEnum:
        return fmt::format("enum{} {}{}", decl.Is(Decl::kClass) ? " class" : "", name,
                           decl.type == kNone ? "" : " : " + text_.TypeText(decl.type));
      case DeclKind::kAlias:
        return fmt::format("alias {}", text_.TypeText(decl.type));
      case DeclKind::kBlock:
        return fmt::format("{} {}{}", decl.Is(Decl::kTbuffer) ? "tbuffer" : "cbuffer", name,
                           text_.Places(decl.places));
      case DeclKind::kFunction:
        return fmt::format("function {} {}{}{}", text_.TypeText(decl.type),
                           text_.Path(decl.path, decl.name), text_.Places(decl.places),
                           decl.body == kNone ? " prototype" : "");
      case DeclKind::kVariables:
        return fmt::format("variables {}", text_.TypeText(decl.type));
    }
    KILN_UNREACHABLE();
  }

  // What belongs to the declaration itself: enumerators, variables, members or parameters.
  void Items(const Decl& decl, uint32_t indent) {
    for (uint32_t i = decl.items.first; i < decl.items.first + decl.items.count; ++i) {
      if (decl.kind == DeclKind::kEnum) {
        const Enumerator& item = ast_.enumerators[i];
        const std::string value = item.value.empty() ? "" : " = " + text_.Expression(item.value);
        Line(indent, fmt::format("{}{}", text_.Token(item.name), value));
        continue;
      }
      const Variable& variable = ast_.variables[i];
      const bool parameter = decl.kind == DeclKind::kFunction;
      Line(indent, text_.Attributes(variable.attributes) +
                       (parameter ? "parameter " + text_.TypeText(variable.type) + ' ' : "") +
                       text_.VariableText(variable));
    }
  }

  // Declarations in a statement are rows of their own table, and the statement's next row is
  // behind them.
  void Statements(uint32_t row, uint32_t end, uint32_t indent) {
    std::vector<uint32_t> ends;
    while (row < end) {
      while (!ends.empty() && row >= ends.back()) {
        ends.pop_back();
      }
      const Stmt& stmt = ast_.stmts[row];
      const uint32_t depth = indent + static_cast<uint32_t>(ends.size());
      if (stmt.kind == StmtKind::kDecl) {
        Declarations(stmt.decl, stmt.decl_end, depth);
        row = stmt.next;
        continue;
      }
      Line(depth, text_.Attributes(stmt.attributes) + Head(stmt));
      ends.push_back(stmt.next);
      ++row;
    }
  }

  // Conditions and values are whole expressions in prefix form.
  std::string Head(const Stmt& stmt) {
    const std::string condition = text_.Expression(stmt.condition);
    const std::string value = text_.Expression(stmt.value);
    switch (stmt.kind) {
      case StmtKind::kBlock:
        return "block";
      case StmtKind::kDecl:
        return "declarations";
      case StmtKind::kExpression:
        return value;
      case StmtKind::kEmpty:
        return "empty";
      case StmtKind::kBreak:
        return "break";
      case StmtKind::kContinue:
        return "continue";
      case StmtKind::kDiscard:
        return "discard";
      case StmtKind::kReturn:
        return value.empty() ? "return" : "return " + value;
      case StmtKind::kIf:
        return ((stmt.flags & Stmt::kHasElse) != 0 ? "if-else " : "if ") + condition;
      case StmtKind::kSwitch:
        return "switch " + condition;
      case StmtKind::kFor:
        return fmt::format("for condition {} step {}", condition.empty() ? "none" : condition,
                           value.empty() ? "none" : value);
      case StmtKind::kWhile:
        return "while " + condition;
      case StmtKind::kDo:
        return "do while " + condition;
      case StmtKind::kCase:
        return "case " + value;
      case StmtKind::kDefault:
        return "default";
    }
    KILN_UNREACHABLE();
  }

  DumpText text_;
  const Ast& ast_;
  std::string out_;
};

}  // namespace

// The tree need not be free of errors: rows that are there have ends.
std::string DumpAst(const TokenStream& stream, const Ast& ast) {
  return AstPrinter(stream, ast).Print();
}

}  // namespace kiln::hlsl::syntax
