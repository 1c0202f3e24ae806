// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/syntax/parser/parse_stmt.h"

#include <optional>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/syntax/parser/parse_attribute.h"
#include "compiler/front/wgsl/syntax/parser/parse_expr.h"
#include "compiler/front/wgsl/syntax/parser/recovery.h"

namespace kiln::wgsl::front::syntax {
namespace {

// The operator of `a op= b`.
// WGSL, "Compound Assignment". Nothing for tokens that are no assignment.
std::optional<Operator> CompoundOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kAddAssign:
      return Operator::kAdd;
    case TokenKind::kSubAssign:
      return Operator::kSub;
    case TokenKind::kMulAssign:
      return Operator::kMul;
    case TokenKind::kDivAssign:
      return Operator::kDiv;
    case TokenKind::kRemAssign:
      return Operator::kRem;
    case TokenKind::kAndAssign:
      return Operator::kAnd;
    case TokenKind::kOrAssign:
      return Operator::kOr;
    case TokenKind::kXorAssign:
      return Operator::kXor;
    case TokenKind::kShiftLeftAssign:
      return Operator::kShiftLeft;
    case TokenKind::kShiftRightAssign:
      return Operator::kShiftRight;
    default:
      return std::nullopt;
  }
}

// Statements of one function. Recursion is as deep as blocks nest, which is limited
// (ParseContext::Deeper).
class Statements {
 public:
  explicit Statements(ParseContext& context) : context_(context) {}

  // A block. Its depth is counted, for checking and lowering recurse over blocks as the parser
  // does.
  // Attributes may stand in front of every block; `attributes` are those that were read already.
  StmtId Block(BlockScope scope, ListId attributes = {}) {
    const ParseContext::Deeper deeper(context_);
    if (context_.Is(TokenKind::kAt)) {
      attributes = Both(attributes, ParseAttributes(context_));
    }
    const uint32_t begin = context_.at;
    if (!context_.Expect(TokenKind::kOpenBrace)) {
      return {};
    }
    if (scope == BlockScope::kOwn) {
      context_.scopes.Open();
    }
    const std::vector<uint32_t> children = List();
    if (scope == BlockScope::kOwn) {
      context_.scopes.Close();
    }
    context_.Expect(TokenKind::kCloseBrace);
    return Add({.kind = StmtKind::kBlock,
                .children = context_.AddList(children),
                .attributes = attributes},
               begin);
  }

 private:
  // What stands in front of a statement, then what stands in front of its body.
  ListId Both(ListId outer, ListId inner) {
    const std::span<const uint32_t> first = context_.ast.List(outer);
    const std::span<const uint32_t> second = context_.ast.List(inner);
    if (first.empty() || second.empty()) {
      return first.empty() ? inner : outer;
    }
    std::vector<uint32_t> all(first.begin(), first.end());
    all.insert(all.end(), second.begin(), second.end());
    return context_.AddList(all);
  }
  // Statements up to the `}` that ends them.
  // A statement with an error is left by recovery and the next one is read: so there is one
  // error for each, and the list is complete but for those.
  std::vector<uint32_t> List() {
    std::vector<uint32_t> children;
    while (!context_.failed && !context_.Is(TokenKind::kCloseBrace) &&
           !context_.Is(TokenKind::kEnd)) {
      CheckStop();
      const uint32_t begin = context_.at;
      // Neither begins a statement. A function inside of a function is one whose `}` before it
      // is missing; `continuing` ends the list of its loop.
      if (context_.Is(TokenKind::kFn) || context_.Is(TokenKind::kContinuing)) {
        break;
      }
      const StmtId made = Statement();
      if (context_.failed) {
        LeaveStatement(context_, begin);
      } else if (made.valid()) {
        children.push_back(made.value);
      }
    }
    return children;
  }

  // Rows are added behind their children. A statement that failed has none.
  StmtId Add(Stmt row, uint32_t begin) {
    row.at = {begin, context_.at};
    return context_.failed ? StmtId{} : context_.Add(row);
  }

  // What is behind a statement without its semicolon is reported where the semicolon should be.
  StmtId Ended(StmtId id) {
    if (!context_.failed && !context_.Is(TokenKind::kSemicolon)) {
      context_.Fail("';'");
    }
    context_.Accept(TokenKind::kSemicolon);
    return id;
  }

  // Statements by their first token. Attributes stand in front of some; of others they are read
  // and dropped, as no attribute changes them.
  StmtId Statement() {
    const ListId attributes = ParseAttributes(context_);
    const uint32_t begin = context_.at;
    switch (context_.Kind()) {
      case TokenKind::kSemicolon:
        context_.Next();
        return {};
      case TokenKind::kOpenBrace:
        return Block(BlockScope::kOwn, attributes);
      case TokenKind::kIf:
        return If(attributes);
      case TokenKind::kSwitch:
        return Switch(attributes);
      case TokenKind::kLoop:
        return Loop(attributes);
      case TokenKind::kFor:
        return For(attributes);
      // `while c { }` is kept as it is written; checking makes a loop of it.
      case TokenKind::kWhile: {
        context_.Next();
        Stmt row{.kind = StmtKind::kWhile, .attributes = attributes};
        row.a = ParseExpression(context_);
        row.children = OneBlock();
        return Add(row, begin);
      }
      // `break if` is a statement here, wherever it stands: that it ends a continuing block is
      // checked.
      case TokenKind::kBreak: {
        context_.Next();
        Stmt row{.kind = StmtKind::kBreak};
        if (context_.Accept(TokenKind::kIf)) {
          row.kind = StmtKind::kBreakIf;
          row.a = ParseExpression(context_);
        }
        return Ended(Add(row, begin));
      }
      case TokenKind::kContinue:
        context_.Next();
        return Ended(Add({.kind = StmtKind::kContinue}, begin));
      case TokenKind::kDiscard:
        context_.Next();
        return Ended(Add({.kind = StmtKind::kDiscard}, begin));
      case TokenKind::kReturn: {
        context_.Next();
        Stmt row{.kind = StmtKind::kReturn};
        if (!context_.Is(TokenKind::kSemicolon)) {
          row.a = ParseExpression(context_);
        }
        return Ended(Add(row, begin));
      }
      case TokenKind::kConstAssert: {
        context_.Next();
        Stmt row{.kind = StmtKind::kConstAssert};
        row.a = ParseExpression(context_);
        return Ended(Add(row, begin));
      }
      default:
        return Ended(Simple());
    }
  }

  // The only child of a loop, branch or case: a block.
  ListId OneBlock() {
    const StmtId block = context_.failed ? StmtId{} : Block(BlockScope::kOwn);
    return context_.failed ? ListId{} : context_.AddList(std::span(&block.value, 1));
  }

  // A ladder of `else if` is a level for each of its steps, as what is made of it is.
  StmtId If(ListId attributes) {
    struct Step {
      uint32_t begin;
      ExprId condition;
      StmtId then;
    };
    // Steps are collected by a loop and put into each other from the last one on, so that a
    // ladder of a thousand steps needs no stack here. It is counted as nesting all the same.
    std::vector<Step> steps;
    const uint32_t depth = context_.depth;
    StmtId other;
    do {
      if (++context_.depth > context_.limits.nesting) {
        context_.FailAtLimit();
      }
      Step step{.begin = context_.at, .condition = {}, .then = {}};
      context_.Next();
      step.condition = ParseExpression(context_);
      step.then = context_.failed ? StmtId{} : Block(BlockScope::kOwn);
      steps.push_back(step);
      if (!context_.Accept(TokenKind::kElse)) {
        break;
      }
      if (!context_.Is(TokenKind::kIf)) {
        other = Block(BlockScope::kOwn);
        break;
      }
    } while (!context_.failed);
    context_.depth = depth;
    for (size_t i = steps.size(); i > 0 && !context_.failed; --i) {
      const Step& step = steps[i - 1];
      std::vector<uint32_t> children{step.then.value};
      if (other.valid()) {
        children.push_back(other.value);
      }
      other = Add({.kind = StmtKind::kIf,
                   .a = step.condition,
                   .children = context_.AddList(children),
                   // Attributes in front of the ladder are those of its first step.
                   .attributes = i == 1 ? attributes : ListId{}},
                  step.begin);
    }
    return other;
  }

  // WGSL, "Switch Statement". Cases are children; a colon behind the labels is optional.
  StmtId Switch(ListId attributes) {
    const uint32_t begin = context_.at;
    context_.Next();
    Stmt row{.kind = StmtKind::kSwitch, .attributes = attributes};
    row.a = ParseExpression(context_);
    row.attributes = Both(attributes, ParseAttributes(context_));
    const ParseContext::Deeper deeper(context_);
    context_.Expect(TokenKind::kOpenBrace);
    std::vector<uint32_t> cases;
    while (!context_.failed && !context_.Is(TokenKind::kCloseBrace)) {
      cases.push_back(Case().value);
    }
    context_.Expect(TokenKind::kCloseBrace);
    row.children = context_.AddList(cases);
    return Add(row, begin);
  }

  // WGSL, "Switch Statement": `case` with labels, or `default` alone.
  StmtId Case() {
    const uint32_t begin = context_.at;
    Stmt row{.kind = StmtKind::kCase};
    std::vector<uint32_t> labels;
    // `default` among the labels is kNoRow in their list: it may stand beside values.
    if (context_.Accept(TokenKind::kDefault)) {
      labels.push_back(kNoRow);
    } else if (context_.Accept(TokenKind::kCase)) {
      while (!context_.failed && !context_.Is(TokenKind::kColon) &&
             !context_.Is(TokenKind::kOpenBrace)) {
        labels.push_back(context_.Accept(TokenKind::kDefault) ? kNoRow
                                                              : ParseExpression(context_).value);
        if (!context_.Accept(TokenKind::kComma)) {
          break;
        }
      }
      if (labels.empty()) {
        context_.Fail("expression");
      }
    } else {
      context_.Fail("'case', 'default' or '}'");
      return {};
    }
    context_.Accept(TokenKind::kColon);
    if (!context_.failed) {
      row.children = OneBlock();
    }
    row.labels = context_.failed ? ListId{} : context_.AddList(labels);
    return Add(row, begin);
  }

  // What is declared in the body is visible in the continuing block.
  StmtId Loop(ListId attributes) {
    const uint32_t begin = context_.at;
    context_.Next();
    attributes = Both(attributes, ParseAttributes(context_));
    const ParseContext::Deeper deeper(context_);
    context_.Expect(TokenKind::kOpenBrace);
    context_.scopes.Open();
    const std::vector<uint32_t> children = context_.failed ? std::vector<uint32_t>{} : List();
    Stmt row{.kind = StmtKind::kLoop, .attributes = attributes};
    if (context_.Accept(TokenKind::kContinuing)) {
      row.first = Block(BlockScope::kOwn);
    }
    context_.scopes.Close();
    context_.Expect(TokenKind::kCloseBrace);
    row.children = context_.AddList(children);
    return Add(row, begin);
  }

  // The variable of the head is in a scope around the body. The parts of the head may each be
  // missing.
  StmtId For(ListId attributes) {
    const uint32_t begin = context_.at;
    context_.Next();
    context_.Expect(TokenKind::kOpenParen);
    context_.scopes.Open();
    Stmt row{.kind = StmtKind::kFor, .attributes = attributes};
    if (!context_.failed && !context_.Is(TokenKind::kSemicolon)) {
      row.first = Simple();
    }
    context_.Expect(TokenKind::kSemicolon);
    if (!context_.failed && !context_.Is(TokenKind::kSemicolon)) {
      row.a = ParseExpression(context_);
    }
    context_.Expect(TokenKind::kSemicolon);
    if (!context_.failed && !context_.Is(TokenKind::kCloseParen)) {
      row.second = Simple();
    }
    context_.Expect(TokenKind::kCloseParen);
    row.children = OneBlock();
    context_.scopes.Close();
    return Add(row, begin);
  }

  // What may also stand in the head of a `for`: no `;` behind it.
  StmtId Simple() {
    const uint32_t begin = context_.at;
    const TokenKind kind = context_.Kind();
    if (kind == TokenKind::kVar || kind == TokenKind::kLet || kind == TokenKind::kConst) {
      const VarParts parts =
          kind == TokenKind::kVar ? ParseVar(context_) : ParseNamedValue(context_);
      if (context_.failed) {
        return {};
      }
      // From here on, not before: in `let x = x;` the second name is one of outside.
      context_.scopes.Declare(context_.stream.Text(parts.token));
      return Add({.kind = kind == TokenKind::kVar   ? StmtKind::kVar
                          : kind == TokenKind::kLet ? StmtKind::kLet
                                                    : StmtKind::kConst,
                  .token = parts.token,
                  .a = parts.type,
                  .b = parts.value,
                  .words = parts.words},
                 begin);
    }
    if (context_.Accept(TokenKind::kUnderscore)) {
      context_.Expect(TokenKind::kAssign);
      const ExprId value = context_.failed ? ExprId{} : ParseExpression(context_);
      return Add({.kind = StmtKind::kAssign, .b = value}, begin);
    }
    // An assignment, an increment, or a call: all three begin with what could be a left side.
    const ExprId left = ParseLeftSide(context_);
    return context_.failed ? StmtId{} : Changed(left, begin);
  }

  // What comes behind a left side decides what the statement is.
  StmtId Changed(ExprId left, uint32_t begin) {
    const uint32_t op = context_.at;
    if (context_.Accept(TokenKind::kPlusPlus) || context_.Accept(TokenKind::kMinusMinus)) {
      const bool up = context_.stream.KindOf(op) == TokenKind::kPlusPlus;
      return Add({.kind = StmtKind::kIncrement,
                  .op = up ? Operator::kAdd : Operator::kSub,
                  .token = op,
                  .a = left},
                 begin);
    }
    const std::optional<Operator> compound = CompoundOf(context_.Kind());
    if (compound.has_value() || context_.Is(TokenKind::kAssign)) {
      context_.Next();
      const ExprId value = ParseExpression(context_);
      return Add({.kind = StmtKind::kAssign,
                  .is_compound = compound.has_value(),
                  .op = compound.value_or(Operator::kAdd),
                  .token = op,
                  .a = left,
                  .b = value},
                 begin);
    }
    // A call stands for its effect. In parentheses it is an expression, and so no statement.
    const Expr& row = context_.ast[left];
    if (row.kind == ExprKind::kCall && !row.in_parens) {
      return Add({.kind = StmtKind::kCall, .a = left}, begin);
    }
    context_.Fail("assignment");
    return {};
  }

  ParseContext& context_;
};

}  // namespace

// kOfParameters: the caller has opened the scope, which has the parameters of a function.
StmtId ParseBlock(ParseContext& context, BlockScope scope) {
  return Statements(context).Block(scope);
}

// `var`, its address space and access mode if they are written, a name, a type or a value or
// both. At least one of the two must be there; check says so.
VarParts ParseVar(ParseContext& context) {
  VarParts parts;
  context.Next();
  std::vector<uint32_t> words;
  if (context.Accept(TokenKind::kTemplateOpen)) {
    do {
      words.push_back(context.at);
      context.Expect(TokenKind::kIdentifier);
    } while (context.Accept(TokenKind::kComma) && !context.Is(TokenKind::kTemplateClose));
    context.Expect(TokenKind::kTemplateClose);
  }
  parts.words = context.failed ? ListId{} : context.AddList(words);
  parts.token = context.at;
  context.Expect(TokenKind::kIdentifier);
  if (context.Accept(TokenKind::kColon)) {
    parts.type = ParseName(context);
  }
  if (context.Accept(TokenKind::kAssign)) {
    parts.value = ParseExpression(context);
  }
  return parts;
}

// `let`, `const` and `override`. Only an override may lack its value: it comes from outside
// then.
VarParts ParseNamedValue(ParseContext& context) {
  const bool is_override = context.Is(TokenKind::kOverride);
  VarParts parts;
  context.Next();
  parts.token = context.at;
  context.Expect(TokenKind::kIdentifier);
  if (context.Accept(TokenKind::kColon)) {
    parts.type = ParseName(context);
  }
  if (context.Accept(TokenKind::kAssign)) {
    parts.value = ParseExpression(context);
  } else if (!is_override && !context.failed) {
    context.Fail("'='");
  }
  return parts;
}

}  // namespace kiln::wgsl::front::syntax
