// SPDX-License-Identifier: MIT
// One parsed text, and the cache of them. A source is immutable once it is made and is shared by
// the programs that have it.
#include "client/lsp/analysis/source.h"

#include <algorithm>
#include <utility>

#include "compiler/front/rpl/front.h"
#include "compiler/front/rpl/lower.h"

namespace kiln::lsp {
namespace {

// Images live and die with this process, so no fingerprint has to tell them apart.
constexpr Hash128 kNoFingerprint{};

// From here on limits of the whole source may matter, which the front end alone counts.
constexpr size_t kManyTokens = 100'000;

// Capacity and not size, as it is the memory that is held.
size_t BytesOf(const rpl::LexResult& tokens) {
  return tokens.tokens.capacity() * sizeof(rpl::Token) +
         tokens.symbols.capacity() * sizeof(rpl::Symbol);
}

size_t BytesOf(const rpl::Ast& ast) {
  return ast.decls.capacity() * sizeof(rpl::Decl) + ast.fields.capacity() * sizeof(rpl::Field) +
         ast.stmts.capacity() * sizeof(rpl::Stmt) + ast.exprs.capacity() * sizeof(rpl::Expr) +
         ast.lists.capacity() * sizeof(uint32_t);
}

}  // namespace

Source::Source(std::shared_ptr<const SourceFile> file)
    : file_(std::move(file)), lines_(file_->text) {
  // The text as typed is parsed first. Only if that fails are its tokens kept beside those of the
  // mended text, so a good source, which is the usual case, pays for one set.
  parsed_ = ParseText(file_->text);
  diagnostics_ = parsed_.tree.diagnostics;
  if (parsed_.tokens.tokens.size() > kManyTokens && !HasErrors(diagnostics_)) {
    diagnostics_ = rpl::Parse(*file_, kNoFingerprint, 0).diagnostics;
  }
  good_ = !HasErrors(diagnostics_);
  if (!good_) {
    mends_ = true;
    ParsedText mended = Mend(parsed_);
    tokens_ = std::move(parsed_.tokens);
    parsed_ = std::move(mended);
  }
  module_ = std::make_shared<const ir::Module>(
      rpl::Lower(parsed_.text, parsed_.tokens, parsed_.tree.ast, kNoFingerprint));
  // An estimate from the sizes of the tables, which is all that the bound of the cache needs.
  bytes_ = file_->text.size() + parsed_.text.size() + BytesOf(parsed_.tokens) + BytesOf(tokens_) +
           BytesOf(parsed_.tree.ast) + module_->image().size() + sizeof(*this);
}

// Found by path and digest: a text that was undone to an earlier state is found again. Linear in
// the sources that are kept, with the newest first.
std::shared_ptr<const Source> SourceCache::Get(const std::shared_ptr<const SourceFile>& file) {
  const Key key{file->path, file->digest};
  const auto known = std::ranges::find(used_, key, [](const auto& row) { return row.first; });
  if (known != used_.end()) {
    used_.splice(used_.begin(), used_, known);
    return used_.front().second;
  }
  // What a program still has is not parsed and kept twice.
  std::erase_if(dropped_, [](const auto& row) { return row.second.expired(); });
  const auto alive = std::ranges::find(dropped_, key, [](const auto& row) { return row.first; });
  std::shared_ptr<const Source> source = alive == dropped_.end() ? nullptr : alive->second.lock();
  if (source == nullptr) {
    source = std::make_shared<const Source>(file);
  } else {
    dropped_.erase(alive);
  }
  bytes_ += source->bytes();
  used_.emplace_front(key, source);
  // The newest source stays even if it alone is above the bound, or every look-up of it would parse
  // again. Programs that still hold a source keep it alive; the bound is on what this cache adds.
  while (bytes_ > kMaxBytes && used_.size() > 1) {
    bytes_ -= used_.back().second->bytes();
    dropped_.emplace_front(used_.back());
    used_.pop_back();
    if (dropped_.size() > kMaxDropped) {
      dropped_.pop_back();
    }
  }
  return source;
}

}  // namespace kiln::lsp
