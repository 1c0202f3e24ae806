// SPDX-License-Identifier: MIT
#include "compiler/front/rpl/dump.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/source/line_index.h"

namespace kiln::rpl {
namespace {

// `text` that each expression prints as is built bottom-up, row by row; a row's text is moved into
// its user's, so the work is linear in the output for all but degenerate trees.
// A dump is read by people and compared by tests; no program parses it.
class AstPrinter {
 public:
  AstPrinter(std::string_view text, const LexResult& lexed, const Ast& ast)
      : text_(text), lexed_(lexed), ast_(ast) {}

  std::string Print() {
    out_ = ast_.version == 1 ? "" : fmt::format("rpl {}\n", ast_.version);
    for (const Decl& decl : ast_.decls) {
      PrintDecl(decl);
    }
    return std::move(out_);
  }

 private:
  // Tokens have no text of their own; it is a part of the source.
  std::string_view Token(uint32_t token) const {
    return TextOf(text_, lexed_.tokens[token].span());
  }
  // A symbol is a text that several tokens share. It has the bytes of its first occurrence.
  std::string_view Symbol(uint32_t symbol) const {
    const struct Symbol& row = lexed_.symbols[symbol];
    return text_.substr(row.begin, row.length);
  }

  // Every line goes through here, which keeps the dump free of line lengths: a line is as long as
  // what it shows.
  template <class... Args>
  void Line(uint32_t indent, fmt::format_string<Args...> format, Args&&... args) {
    out_.append(size_t{indent} * 2, ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  // Prefix form, so that the print shows how operators bind without any knowledge of their
  // strength.
  std::string RowText(const ExprRange& range, std::vector<std::string>& texts, uint32_t row) {
    const Expr& e = ast_.exprs[row];
    const auto of = [&](uint32_t operand) { return std::move(texts[operand - range.first]); };
    const auto list = [&](uint32_t items) {
      std::string joined;
      for (const uint32_t item : ast_.List(items)) {
        joined += ' ';
        joined += of(item);
      }
      return joined;
    };
    switch (e.kind) {
      case ExprKind::kName:
      case ExprKind::kFlag:
      case ExprKind::kUint:
      case ExprKind::kSint:
      case ExprKind::kFloat:
      case ExprKind::kString:
        return std::string(Token(e.token));
      case ExprKind::kUnary:
        return fmt::format("({} {})", Token(e.token), of(e.a));
      case ExprKind::kBinary:
      case ExprKind::kLogical:
      case ExprKind::kAssign:
        return fmt::format("({} {} {})", Token(e.token), of(e.a), of(e.b));
      // A token is printed for operators, so the dump has no table of their texts.
      case ExprKind::kMember:
        return fmt::format("(. {} {})", of(e.a), Token(e.token));
      case ExprKind::kIndex:
        return fmt::format("([] {} {})", of(e.a), of(e.b));
      case ExprKind::kCall:
        return fmt::format("(call {}{})", Token(e.token), list(e.a));
      case ExprKind::kConstruct:
        return fmt::format("(make {}{}{})", Token(e.token), Sizes(e.b), list(e.a));
      case ExprKind::kSelect:
        return fmt::format("(? {}{})", of(e.a), list(e.b));
      // Markers say where an operand begins that may not run. Their operator prints the operand, so
      // they have no text themselves.
      case ExprKind::kRight:
      case ExprKind::kThen:
      case ExprKind::kElse:
      case ExprKind::kSizes:
        return {};
    }
    KILN_UNREACHABLE();
  }

  // The texts of an expression are indexed by the distance of a row from the first one, as rows of
  // one expression lie together.
  std::string ExprText(const ExprRange& range) {
    std::vector<std::string> texts(range.root - range.first + 1);
    for (uint32_t row = range.first; row <= range.root; ++row) {
      texts[row - range.first] = RowText(range, texts, row);
    }
    return std::move(texts.back());
  }

  // Two words for each size: the first row of its expression and its root.
  std::string Sizes(uint32_t sizes) {
    std::string out;
    const std::span<const uint32_t> words = ast_.List(sizes);
    for (size_t i = 0; i < words.size(); i += 2) {
      out += '[' + ExprText({words[i], words[i + 1]}) + ']';
    }
    return out;
  }

  // The name of a type is never resolved here: the parser does not know what it names.
  std::string TypeText(const TypeRef& type) {
    return std::string(Token(type.token)) + Sizes(type.sizes);
  }

  std::string Condition(const ExprRange& condition) {
    return condition.empty() ? "" : fmt::format("conditional {} ", ExprText(condition));
  }

  // A dotted name is several tokens, dots included.
  std::string Name(const Decl& decl) const {
    std::string name;
    const uint32_t last = decl.name_last == kNone ? decl.name : decl.name_last;
    for (uint32_t token = decl.name; token <= last; ++token) {
      name += Token(token);
    }
    return name;
  }

  // `format` is printed as the number of the enumerator.
  static std::string StorageText(const Decl& decl) {
    constexpr auto kAccess = std::to_array({"read_only", "write_only", "read_write"});
    return decl.format == ir::ImageFormat::kUnknown
               ? ""
               : fmt::format(" format {} {}", static_cast<uint32_t>(decl.format),
                             kAccess[static_cast<size_t>(decl.access)]);
  }

  // The head of a declaration on one line, its fields and its statements below it.
  void PrintDecl(const Decl& decl) {
    constexpr auto kContainers =
        std::to_array({"vertex_attributes", "instance_attributes", "state", "color_output"});
    constexpr auto kBuffers = std::to_array({"uniform", "read_only_storage", "read_write_storage"});
    constexpr auto kSets = std::to_array({"pass", "material", "object", "shared"});
    const std::string when = Condition(decl.condition);
    const auto set = kSets[static_cast<size_t>(decl.set)];
    switch (decl.form) {
      case DeclForm::kOption:
        PrintOption(decl);
        return;
      case DeclForm::kConstant:
        Line(0, "{}constant {}{}{} = {}", when, decl.type.token == kNone ? "" : TypeText(decl.type),
             decl.type.token == kNone ? "" : " ", Name(decl), ExprText(decl.value));
        return;
      case DeclForm::kSetting:
        Line(0, "{}setting {}{} = {}", when, Name(decl),
             decl.block == kNone ? "" : fmt::format(" block {}", decl.block), ExprText(decl.value));
        return;
      case DeclForm::kStruct:
        Line(0, "{}struct {}", when, Name(decl));
        break;
      case DeclForm::kContainer:
        Line(0, "{}container {} {}", when, kContainers[static_cast<size_t>(decl.container)],
             Name(decl));
        break;
      case DeclForm::kBuffer:
        Line(0, "{}buffer {} {} {}", when, set, kBuffers[static_cast<size_t>(decl.buffer)],
             Name(decl));
        break;
      case DeclForm::kPushConstant:
        Line(0, "{}push_constant {}", when, Name(decl));
        break;
      case DeclForm::kSampler:
      case DeclForm::kImage:
        Line(0, "{}{} {}{} {}", when, set, TypeText(decl.type), StorageText(decl), Name(decl));
        return;
      case DeclForm::kWorkgroup:
        Line(0, "{}workgroup {} {}", when, TypeText(decl.type), Name(decl));
        return;
      case DeclForm::kFunction:
        Line(0, "{}function {}{} {}", when, decl.relaxed ? "relaxed " : "", TypeText(decl.type),
             Name(decl));
        break;
    }
    for (uint32_t i = 0; i < decl.field_count; ++i) {
      PrintField(ast_.fields[decl.first_field + i]);
    }
    // The body is a scope of its own in the tree. Its braces are no statement of the author, so its
    // contents are printed.
    if (decl.body != kNone) {
      PrintStmts(decl.body + 1, ast_.stmts[decl.body].next, 1);
    }
  }

  // An enum has its words, every other kind its default value.
  void PrintOption(const Decl& decl) {
    constexpr auto kKinds = std::to_array({"flag", "uint", "sint", "float", "enum"});
    const OptionForm& option = decl.option;
    std::string value;
    // Values of the other kinds are printed as their bits, so that floats show no rounding.
    if (option.kind == ir::OptionKind::kEnum) {
      for (const uint32_t symbol : ast_.List(option.values)) {
        value += fmt::format(" \"{}\"", Symbol(symbol));
      }
    } else {
      value = fmt::format(" {:#x}", option.value);
    }
    Line(0, "{}{} option {} : {}{}",
         option.scope == ir::OptionScope::kGlobal ? "global" : "instance",
         option.specialize ? " specialize" : "", Name(decl),
         kKinds[static_cast<size_t>(option.kind)], value);
  }

  // Prefixes are printed in one order, whatever order the source has.
  void PrintField(const Field& field) {
    constexpr auto kPacks = std::to_array({"", "float", "unorm", "snorm", "uint", "sint"});
    constexpr auto kAccess = std::to_array({"in", "out", "in out"});
    std::string prefix = Condition(field.condition);
    for (const uint32_t tag : ast_.List(field.tags)) {
      prefix += fmt::format("meta {} ", Symbol(tag));
    }
    if (field.pack != ir::PackClass::kDefault) {
      prefix += fmt::format("pack {}{} ", kPacks[static_cast<size_t>(field.pack)], field.pack_bits);
    }
    if (field.relaxed) {
      prefix += "relaxed ";
    }
    if (field.kind == ir::MemberKind::kAlias) {
      Line(1, "{}alias {} = {}", prefix, Token(field.name), ExprText(field.value));
      return;
    }
    const bool parameter = field.kind == ir::MemberKind::kParameter;
    Line(1, "{}{} {}{} {}", prefix,
         parameter ? kAccess[static_cast<size_t>(field.access)] : "field", TypeText(field.type),
         field.runtime ? "..." : "", Token(field.name));
  }

  // Statements nest only as deep as the limits let scopes nest.
  void PrintStmts(uint32_t row, uint32_t end, uint32_t indent) {
    for (; row < end; row = ast_.stmts[row].next) {
      PrintStmt(row, indent);
    }
  }

  // A statement is a head on one line and, one level deeper, the statements that its row spans.
  void PrintStmt(uint32_t row, uint32_t indent) {
    const Stmt& stmt = ast_.stmts[row];
    const std::string value = stmt.value.empty() ? "" : ExprText(stmt.value);
    const std::string condition = stmt.condition.empty() ? "" : ExprText(stmt.condition);
    switch (stmt.kind) {
      case StmtKind::kScope:
        Line(indent, "{}", condition.empty() ? "scope" : "conditional " + condition);
        break;
      case StmtKind::kAlias:
        Line(indent, "{}alias {} = {}", Condition(stmt.condition), Token(stmt.token), value);
        break;
      case StmtKind::kVariable:
        Line(indent, "{}{} {}{}{}", stmt.relaxed ? "relaxed " : "", TypeText(stmt.type),
             Token(stmt.token), value.empty() ? "" : " = ", value);
        break;
      case StmtKind::kExpression:
        Line(indent, "{}", value);
        break;
      case StmtKind::kIf:
        Line(indent, "if {}", condition);
        break;
      case StmtKind::kFor:
        Line(indent, "for {} step {}", condition, value);
        break;
      case StmtKind::kWhile:
        Line(indent, "while {}", condition);
        break;
      case StmtKind::kBreak:
        Line(indent, "break");
        break;
      case StmtKind::kContinue:
        Line(indent, "continue");
        break;
      case StmtKind::kReturn:
        Line(indent, "return{}{}", value.empty() ? "" : " ", value);
        break;
    }
    PrintStmts(row + 1, stmt.next, indent + 1);
  }

  std::string_view text_;
  const LexResult& lexed_;
  const Ast& ast_;
  std::string out_;
};

}  // namespace

// One token a line: its place, its kind, and its text where the kind does not say it.
std::string DumpTokens(std::string_view text, const LexResult& lexed) {
  const LineIndex lines(text);
  std::string out;
  for (const Token& token : lexed.tokens) {
    const LineColumn at = lines.At(token.begin);
    const std::string_view spelled = TextOf(text, token.span());
    const std::string_view kind = TokenKindText(token.kind);
    fmt::format_to(std::back_inserter(out), "{}:{} {}", at.line, at.column, kind);
    if (!spelled.empty() && spelled != kind) {
      out += ' ';
      out += spelled;
    }
    out += '\n';
  }
  return out;
}

std::string DumpAst(std::string_view text, const LexResult& lexed, const Ast& ast) {
  return AstPrinter(text, lexed, ast).Print();
}

}  // namespace kiln::rpl
