// SPDX-License-Identifier: MIT
// The index of a module: symbols are read off the syntax tree, what names mean is what the check
// noted while it looked them up. A token that a macro made stands where its macro is named, and is
// no mention: the text there is another one.
#include "compiler/front/hlsl/module/index.h"

#include <algorithm>
#include <utility>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/check.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/sema/intrinsic.h"
#include "compiler/front/hlsl/syntax/parse.h"

namespace kiln::hlsl {
namespace {

using front::IndexedSymbol;
using front::IndexKind;
using front::Mention;

class IndexMaker {
 public:
  IndexMaker(const TokenStream& stream, const syntax::Ast& ast) : stream_(stream), ast_(ast) {}

  front::SourceIndex Make(const std::vector<Mention>& mentions) {
    ReadDecls();
    for (const Mention& mention : mentions) {
      CheckStop();
      const uint32_t* symbol = by_token_.Find(mention.declared);
      if (symbol != nullptr) {
        AddMention(mention.token, *symbol);
      }
    }
    Settle(index_);
    return std::move(index_);
  }

 private:
  // A declaration whose parts are still to come.
  struct Open {
    uint32_t end = 0;  // row behind the last of its own
    uint32_t symbol = IndexedSymbol::kNone;
    bool in_function = false;
    bool of_record = false;
  };

  Span SpanOf(uint32_t begin, uint32_t end) const {
    return stream_.Where(stream_.tokens[begin].origin, stream_.tokens[end - 1].origin).bytes;
  }

  // Whether the token was written in a file itself, or as an argument of a macro.
  bool IsWritten(uint32_t token) const {
    const uint32_t context = stream_.origins.ContextOf(stream_.tokens[token].origin);
    return stream_.origins.context(context).kind == Context::Kind::kFile;
  }

  // Spellings with single spaces where there was some.
  std::string TextOf(uint32_t begin, uint32_t end) const {
    std::string text;
    for (uint32_t i = begin; i < end && text.size() <= front::kMostShown; ++i) {
      const Token& token = stream_.tokens[i];
      if (i != begin && (token.starts_line() || token.space_before())) {
        text += ' ';
      }
      text += stream_.Text(token).substr(0, front::kMostShown + 1);
    }
    return front::CutToShown(std::move(text));
  }

  void AddMention(uint32_t token, uint32_t symbol) {
    if (IsWritten(token)) {
      index_.Add(front::IndexedMention{
          .at = stream_.origins.WrittenAt(stream_.tokens[token].origin), .symbol = symbol});
    }
  }

  // Tokens [begin, end) are the declaration, [begin, shown) what is shown of it.
  uint32_t Add(IndexKind kind, uint32_t name, front::TypeTextId type, uint32_t begin,
               uint32_t shown, uint32_t end, uint32_t parent) {
    const auto number = static_cast<uint32_t>(index_.symbols.size());
    const Span at = stream_.origins.WrittenAt(stream_.origins.InFile(stream_.tokens[name].origin));
    std::string text = TextOf(begin, shown);
    if (begin == name && type.valid()) {  // a declarator: its type is before it
      text = front::CutToShown(std::string(index_.types[type]) + " " + text);
    }
    index_.Add(IndexedSymbol{.kind = kind,
                             .name = std::string(stream_.Text(stream_.tokens[name])),
                             .type = type,
                             .text = std::move(text),
                             .name_at = at,
                             .whole = Cover(SpanOf(begin, end), at),
                             .parent = parent});
    by_token_.Insert(name, number);
    AddMention(name, number);
    return number;
  }

  // All declarators of a declaration have one row, whose text is made once.
  front::TypeTextId TypeText(uint32_t type) {
    if (type == syntax::kNone) {
      return {};
    }
    if (type != last_type_) {
      const syntax::Type& row = ast_.types[type];
      last_type_ = type;
      last_text_ = index_.InternType(
          row.kind == syntax::TypeKind::kRecord ? "struct" : TextOf(row.begin, row.end));
    }
    return last_text_;
  }

  void AddVariables(const syntax::Decl& decl, IndexKind kind, uint32_t parent) {
    for (uint32_t i = 0; i < decl.items.count; ++i) {
      const syntax::Variable& row = ast_.variables[decl.items.first + i];
      if (row.name == syntax::kNone) {
        continue;
      }
      const bool constant = row.type != syntax::kNone &&
                            ast_.types[row.type].Has(syntax::Modifier::kConst) &&
                            kind != IndexKind::kParameter;
      // Without the value: `float a[2] = …`.
      const uint32_t shown = row.initialiser.empty() ? row.end : row.name + 1;
      CheckStop();
      Add(constant ? IndexKind::kConstant : kind, row.name, TypeText(row.type), row.begin, shown,
          row.end, parent);
    }
  }

  // Rows are in pre-order, so a stack of what is open gives each its parent. Bodies are no rows
  // here but for the declarations in them, which belong to the function.
  void ReadDecls() {
    std::vector<Open> open;
    for (uint32_t row = 0; row < ast_.decls.size(); ++row) {
      CheckStop();
      while (!open.empty() && row >= open.back().end) {
        open.pop_back();
      }
      const Open outer = open.empty() ? Open{} : open.back();
      const syntax::Decl& decl = ast_.decls[row];
      Open own{.end = decl.next,
               .symbol = outer.symbol,
               .in_function = outer.in_function,
               .of_record = false};
      ReadDecl(decl, outer, own);
      open.push_back(own);
    }
  }

  void ReadDecl(const syntax::Decl& decl, const Open& outer, Open& own) {
    const bool named = decl.name != syntax::kNone;
    switch (decl.kind) {
      case syntax::DeclKind::kNamespace:
        own.symbol = Add(IndexKind::kNamespace, decl.name, {}, decl.begin, decl.name + 1, decl.end,
                         outer.symbol);
        return;
      case syntax::DeclKind::kRecord:
        own.of_record = true;
        if (named) {
          own.symbol =
              Add(IndexKind::kStruct, decl.name, {}, decl.begin, decl.end, decl.end, outer.symbol);
        }
        return;
      case syntax::DeclKind::kEnum:
        if (named) {
          own.symbol =
              Add(IndexKind::kEnum, decl.name, {}, decl.begin, decl.end, decl.end, outer.symbol);
        }
        for (uint32_t i = 0; i < decl.items.count; ++i) {
          const uint32_t name = ast_.enumerators[decl.items.first + i].name;
          Add(IndexKind::kEnumerator, name, {}, name, name + 1, name + 1, own.symbol);
        }
        return;
      case syntax::DeclKind::kAlias:
        AddVariables(decl, IndexKind::kAlias, outer.symbol);
        return;
      case syntax::DeclKind::kBlock:
        own.of_record = true;
        own.symbol =
            Add(IndexKind::kBlock, decl.name, {}, decl.begin, decl.end, decl.end, outer.symbol);
        return;
      case syntax::DeclKind::kFunction: {
        const uint32_t shown = decl.body == syntax::kNone ? decl.end : ast_.stmts[decl.body].begin;
        own.symbol = Add(IndexKind::kFunction, decl.name, TypeText(decl.type), decl.begin, shown,
                         decl.end, outer.symbol);
        own.in_function = true;
        AddVariables(decl, IndexKind::kParameter, own.symbol);
        return;
      }
      case syntax::DeclKind::kVariables:
        AddVariables(decl,
                     outer.of_record     ? IndexKind::kMember
                     : outer.in_function ? IndexKind::kLocal
                                         : IndexKind::kVariable,
                     outer.symbol);
        return;
    }
  }

  const TokenStream& stream_;
  const syntax::Ast& ast_;
  FlatMap<uint32_t, uint32_t> by_token_;  // symbols
  uint32_t last_type_ = syntax::kNone;
  front::TypeTextId last_text_;  // of last_type_
  front::SourceIndex index_;
};

}  // namespace

std::optional<front::SourceIndex> MakeIndex(const SourceFile& root, const SourceSet& files,
                                            const Settings& settings) {
  const LanguageLimits limits;
  const PreprocessResult read = Preprocess(root, files, settings, 0, limits);
  if (!read.is_whole) {
    return std::nullopt;
  }
  std::vector<std::string_view> texts{root.text};
  for (size_t i = 1; i < read.stream.files.size(); ++i) {
    const SourceFile* file = files.Find(read.stream.files[i].path);
    texts.push_back(file == nullptr ? std::string_view{} : file->text);
  }
  const syntax::ParseResult parsed =
      syntax::Parse(read.stream, texts, settings.version, limits, read.diagnostics);
  const syntax::Ast& ast = parsed.ast;
  if (HasErrors(read.diagnostics) || HasErrors(parsed.diagnostics) ||
      ast.exprs.size() + ast.stmts.size() + ast.decls.size() > limits.nodes) {
    return std::nullopt;
  }
  std::vector<Mention> mentions;
  (void)Check(read.stream, ast, settings, limits, &mentions);
  return IndexMaker(read.stream, ast).Make(mentions);
}

std::vector<std::string> Keywords() {
  return {
#define KILN_TOKEN(enumerator, text)
#define KILN_KEYWORD(enumerator, text) text,
#define KILN_PUNCTUATOR(enumerator, text)
#include "compiler/front/hlsl/tokens.def"
  };
}

// Scalars also name their vectors and square matrices, which are what is written most.
std::vector<std::string> InbuiltTypes() {
  std::vector<std::string> names = {
#define KILN_HLSL_TYPE(enumerator, name, arguments) name,
#include "compiler/front/hlsl/syntax/types.def"
  };
  for (const std::string& scalar : {
#define KILN_HLSL_SCALAR(enumerator, name, item) std::string(name),
#include "compiler/front/hlsl/syntax/types.def"
       }) {
    names.push_back(scalar);
    for (const char* size : {"2", "3", "4"}) {
      names.push_back(scalar + size);
      names.push_back(scalar + size + "x" + size);
    }
  }
  return names;
}

std::vector<std::string> InbuiltFunctions() {
  return {
#define KILN_INTRINSIC(enumerator, name, tier, count, shapes, items, result, lowering, s, u) name,
#include "compiler/front/hlsl/sema/intrinsics.def"
  };
}

}  // namespace kiln::hlsl
