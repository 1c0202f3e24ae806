// SPDX-License-Identifier: MIT
// A name is spelled once in a module however often a source says it: what it became is remembered
// by its symbol, so a second mention costs an index and no hash.
#include "compiler/front/rpl/lower_context.h"

namespace kiln::rpl {

LowerContext::LowerContext(std::string_view of_source, const LexResult& tokens, const Ast& tree)
    : text(of_source),
      lexed(tokens),
      ast(tree),
      builder({.language = ir::Language::kRpl, .version = tree.version}),
      void_type(builder.Void()),
      deferred(builder.Deferred()),
      texts_(tokens.symbols.size()),
      named_types_(tokens.symbols.size()) {}

ir::StringId LowerContext::TextOfSymbol(uint32_t symbol) {
  ir::StringId& id = texts_[symbol];
  if (!id.valid()) {
    const Symbol& row = lexed.symbols[symbol];
    id = builder.Text(text.substr(row.begin, row.length));
  }
  return id;
}

ir::TypeId LowerContext::InbuiltTypeId(InbuiltType type) {
  ir::TypeId& id = inbuilt_types_[static_cast<size_t>(type)];
  if (!id.valid()) {
    id = builder.Intern(TypeOf(type));
  }
  return id;
}

ir::TypeId LowerContext::NamedType(uint32_t token) {
  if (lexed.tokens[token].kind == TokenKind::kVoid) {
    return void_type;
  }
  const uint32_t symbol = SymbolOf(token);
  ir::TypeId& id = named_types_[symbol];
  if (!id.valid()) {
    const Word& word = lexed.symbols[symbol].word;
    // A type of a later version is an ordinary name in an older source.
    const bool inbuilt = word.type != InbuiltType::kNone && word.type_version <= ast.version;
    id =
        inbuilt
            ? InbuiltTypeId(word.type)
            : builder.Intern({.kind = ir::TypeKind::kNamed, .element = TextOfSymbol(symbol).value});
  }
  return id;
}

}  // namespace kiln::rpl
