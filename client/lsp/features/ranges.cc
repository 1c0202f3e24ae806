// SPDX-License-Identifier: MIT
// textDocument/foldingRange and selectionRange: ranges of the tree.
#include "client/lsp/features/ranges.h"

#include <algorithm>

#include "client/lsp/analysis/outline.h"
#include "client/lsp/documents/languages.h"
#include "client/lsp/modules/module_names.h"
#include "compiler/base/threads/stop.h"

namespace kiln::lsp {
namespace {

// Spans that cover a byte, the smallest first; each holds the one before it. Result: nested spans
// from the innermost to the whole text, each strictly larger than the one before.
std::vector<Span> SpansAround(const Source& source, uint32_t offset) {
  // Every row of the tree that covers the byte is collected and then sorted by size. The cost is
  // one walk over all tables for each position, of which a request may have 256.
  std::vector<Span> spans;
  const auto add = [&](Span span) {
    CheckStop();
    if (!span.empty() && span.begin <= offset && offset <= span.end) {
      spans.push_back(span);
    }
  };
  for (const rpl::Token& token : source.mended_tokens().tokens) {
    if (token.kind != rpl::TokenKind::kEnd) {
      add(token.span());
    }
  }
  for (const rpl::Expr& expr : source.ast().exprs) {
    add(expr.span);
  }
  for (const rpl::Stmt& stmt : source.ast().stmts) {
    add(stmt.span);
  }
  for (const rpl::Field& field : source.ast().fields) {
    add(field.span);
  }
  for (const rpl::Decl& decl : source.ast().decls) {
    add(decl.span);
  }
  add({.begin = 0, .end = static_cast<uint32_t>(source.file().text.size())});
  std::ranges::stable_sort(spans, {}, &Span::size);
  std::vector<Span> nested;
  for (const Span span : spans) {
    // Spans of equal size, or such that overlap without nesting, would break the order that the
    // protocol asks for; they are left out.
    const bool holds =
        nested.empty() || (span.begin <= nested.back().begin && nested.back().end <= span.end);
    if (holds && (nested.empty() || span != nested.back())) {
      nested.push_back(span);
    }
  }
  return nested;
}

// Lines that hold nothing but a comment. Runs of them fold together; a comment behind code does not
// count.
void AddComments(const Source& source, Json& ranges) {
  const std::string& text = source.file().text;
  uint32_t begin = 0;
  bool in_comment = false;
  const auto end_at = [&](uint32_t line) {
    // A comment of one line has nothing to fold.
    if (in_comment && line > begin + 1) {
      ranges.push_back({{"startLine", begin}, {"endLine", line - 1}, {"kind", "comment"}});
    }
    in_comment = false;
  };
  for (uint32_t line = 0; line < source.lines().line_count(); ++line) {
    CheckStop();
    std::string_view bytes = TextOf(text, source.lines().LineSpan(text, line));
    bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t"), bytes.size()));
    if (!bytes.starts_with("//")) {
      end_at(line);
    } else if (!in_comment) {
      in_comment = true;
      begin = line;
    }
  }
  // A comment may reach to the end of the file.
  end_at(source.lines().line_count());
}

}  // namespace

// The ranges come from the tree of the mended text, so a file folds while a line of it is broken.
Outcome FoldingRanges(Session& session, const Json& params) {
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  if (IsTyped(std::get<OpenFile>(read).path)) {
    return FoldingOfModule(session, std::get<OpenFile>(read));
  }
  const std::shared_ptr<const Source> source =
      session.analysis.SourceOf(std::get<OpenFile>(read).path);
  Json ranges = Json::array();
  if (source == nullptr) {
    return ranges;
  }
  const auto add = [&](Span span) {
    CheckStop();
    const uint32_t begin = source->lines().LineOf(span.begin);
    const uint32_t end = source->lines().LineOf(span.end);
    if (end > begin) {
      ranges.push_back({{"startLine", begin}, {"endLine", end}, {"kind", "region"}});
    }
  };
  for (const rpl::Decl& decl : source->ast().decls) {
    add(decl.span);
  }
  // Blocks fold, single statements do not, however many lines they take.
  for (const rpl::Stmt& stmt : source->ast().stmts) {
    if (stmt.kind == rpl::StmtKind::kScope) {
      add(stmt.span);
    }
  }
  AddComments(*source, ranges);
  return ranges;
}

// Positions are answered one by one and in order, as the protocol wants it; one that is not in the
// text refuses the request.
Outcome SelectionRanges(Session& session, const Json& params) {
  constexpr size_t kMaxPositions = 256;
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const OpenFile& file = std::get<OpenFile>(read);
  const Json* positions = Find(params, "positions");
  if (positions == nullptr || !positions->is_array() || positions->size() > kMaxPositions) {
    return InvalidParams("selectionRange needs at most 256 positions");
  }
  const std::shared_ptr<const Source> source = session.analysis.SourceOf(file.path);
  Json answer = Json::array();
  for (const Json& one : *positions) {
    const std::optional<Position> position = ReadPosition(&one);
    const std::optional<uint32_t> offset =
        position.has_value()
            ? file.document->lines().OffsetOf(file.document->text(), *position, session.encoding)
            : std::nullopt;
    if (!offset.has_value()) {
      return InvalidParams("a position is not in the text");
    }
    Json range;
    if (source != nullptr) {
      constexpr size_t kMaxDepth = 48;  // of the answer; what lies between is left out
      std::vector<Span> spans = SpansAround(*source, *offset);
      if (spans.size() > kMaxDepth) {
        // The smallest ranges and the whole text stay. Each range nests one level deeper in JSON,
        // and a reader may refuse depth as ParseJson does (kMaxJsonDepth).
        spans.erase(spans.begin() + kMaxDepth - 1, spans.end() - 1);
      }
      // From the outermost inward: each range becomes the parent of the next.
      for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
        Json next{{"range", JsonOf(file.RangeOf(session, *span))}};
        if (!range.is_null()) {
          next["parent"] = std::move(range);
        }
        range = std::move(next);
      }
    }
    if (range.is_null()) {
      range = {{"range", JsonOf(Range{.start = *position, .end = *position})}};
    }
    answer.push_back(std::move(range));
  }
  return answer;
}

}  // namespace kiln::lsp
