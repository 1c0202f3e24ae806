// SPDX-License-Identifier: MIT
// An include is a pure look-up in the declared set (spec/hlsl 4.2): paths are folded as text,
// each path that was asked for is a probe, and nothing touches a file system. Names that macros
// make are joined from spellings.
#include "compiler/front/hlsl/preprocess/includes.h"

#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/source/include_paths.h"
#include "compiler/source/probed_bytes.h"

namespace kiln::hlsl {
namespace {

// Inclusions of a module, empty files among them.
constexpr uint32_t kMostIncludes = 65'536;
// Paths that includes of a module ask for: each of them may be tried in every include root.
constexpr uint32_t kMostProbes = 65'536;

}  // namespace

Includes::Includes(const Inputs& inputs, FileTable& table, FileStack& files, PreprocessState& state)
    : inputs_(inputs),
      table_(table),
      files_(files),
      state_(state),
      line_(files),
      expander_(line_, table, state) {}

// spec/hlsl 4.2. A file that is missing makes the module incomplete: it has diagnostics, no
// result.
void Includes::Include(const DirectiveLine& line) {
  const std::optional<Name> name = ReadName(line);
  if (!name.has_value()) {
    state_.lacks_file = true;
    const uint32_t last = line.at < line.end ? line.end - 1 : line.name;
    const std::span<const Token> rest =
        std::span(state_.lexed.rows).subspan(line.at, line.end - line.at);
    const std::string text = rest.empty() ? "end of line" : TextOf(rest, state_.stream.symbols);
    state_.Report(state_.stream
                      .MakeAt(Code::kHlsl1013, files_.Delivered(line.name).origin,
                              files_.Delivered(last).origin)
                      .With("text", Quoted(text)));
    return;
  }
  const SourceFile* source = Find(*name);
  if (source != nullptr) {
    Enter(*source, name->origin);
  }
}

// "path", <path>, or macros that come to one of these.
std::optional<Includes::Name> Includes::ReadName(const DirectiveLine& line) {
  if (line.at == line.end) {
    return std::nullopt;
  }
  const Token token = files_.Delivered(line.at);
  if (token.kind != TokenKind::kString && token.kind != TokenKind::kHeaderName) {
    return ExpandName(line);
  }
  const std::string_view text = state_.Text(token.symbol);
  // `""` and `<>` name nothing.
  if (text.size() <= 2) {
    return std::nullopt;
  }
  return Name{.path = std::string(text.substr(1, text.size() - 2)),
              .quoted = token.kind == TokenKind::kString,
              .origin = token.origin};
}

// Macros may give a string, or tokens from `<` to `>`, whose spellings are joined with the
// spaces between them.
std::optional<Includes::Name> Includes::ExpandName(const DirectiveLine& line) {
  line_.Begin(line.at, line.end);
  Token token = expander_.Next();
  Name name{.path = {}, .quoted = token.kind == TokenKind::kString, .origin = token.origin};
  if (name.quoted) {
    const std::string_view text = state_.Text(token.symbol);
    name.path = text.substr(1, text.size() - 2);
  } else if (token.kind == TokenKind::kLess) {
    while ((token = expander_.Next()).kind != TokenKind::kGreater) {
      if (token.kind == TokenKind::kEnd) {
        return std::nullopt;
      }
      name.path += token.space_before() && !name.path.empty() ? " " : "";
      name.path += state_.Text(token.symbol);
    }
  }
  while (expander_.Next().kind != TokenKind::kEnd) {
  }
  return name.path.empty() ? std::nullopt : std::optional(std::move(name));
}

// The first of the paths that are tried which is declared. That a path leaves the root counts only
// if no other is found.
// Quoted: beside the including file first, then the roots in order. Bracketed: the roots only.
const SourceFile* Includes::Find(const Name& name) {
  const std::string_view here = state_.stream.files[table_[files_.file()].file].path;
  std::string tried;
  bool left = false;
  const auto look = [&](std::string_view folder) -> const SourceFile* {
    const std::optional<std::string> path = FoldPath(folder, name.path);
    left = left || !path.has_value();
    if (!path.has_value()) {
      return nullptr;
    }
    // Places that were tried are said, in their order.
    if (tried.size() <= kMaxArgument) {  // what is said is cut there
      tried += (tried.empty() ? "" : ", ") + *path;
    }
    return Probe(*path, name.origin);
  };
  const SourceFile* found = name.quoted ? look(FolderOf(here)) : nullptr;
  for (const std::string& root : inputs_.roots) {
    if (found != nullptr || state_.stopped) {
      break;
    }
    found = look(root);
  }
  if (found == nullptr && !state_.stopped) {
    state_.lacks_file = true;
    const Code code = left ? Code::kHlsl1011 : Code::kHlsl1010;
    Diagnostic error = state_.stream.MakeAt(code, name.origin).With("path", Quoted(name.path));
    if (!tried.empty()) {
      error.notes.push_back({.kind = NoteKind::kTried, .arguments = {{"places", tried}}});
    }
    state_.Report(std::move(error));
  }
  return found;
}

// Each path once, with whether it was there: a file that appears later, where it would be found
// first, changes the key of the module.
const SourceFile* Includes::Probe(const std::string& path, uint32_t origin) {
  const SourceFile* found = inputs_.set.Find(path);
  std::vector<kiln::Probe>& probes = state_.stream.probes;
  if (probes_.Insert(path, static_cast<uint32_t>(probes.size())).second) {
    if (probes.size() >= kMostProbes) {
      state_.FailSize("module", "too many paths of includes", kMostProbes, origin);
      return nullptr;
    }
    if (probed_bytes_ + path.size() > kMostProbedBytes) {
      state_.FailSize("module", "too many bytes in paths of includes", kMostProbedBytes, origin);
      return nullptr;
    }
    probed_bytes_ += path.size();
    ChargeMemory(sizeof(kiln::Probe) + 2 * path.size());
    probes.push_back({.path = path,
                      .present = found != nullptr,
                      .digest = found != nullptr ? found->digest : Digest{}});
  }
  return found;
}

// `#pragma once`, and a guard whose name is defined, make a file that was read before empty.
void Includes::Enter(const SourceFile& source, uint32_t origin) {
  const std::optional<uint32_t> row = table_.Load(source, origin);
  if (!row.has_value()) {
    return;
  }
  const LexedFile& file = table_[*row];
  const uint32_t guard = file.guard == kNoSymbol ? MacroTable::kNone : state_.FindMacro(file.guard);
  if ((file.is_once || guard != MacroTable::kNone) && file.inclusions != 0) {
    return;
  }
  // Inclusions are limited in depth and in number: each costs time even if it makes no token.
  if (files_.depth() > state_.limits.include_depth) {
    state_.Fail(
        state_.stream.MakeAt(Code::kHlsl1012, origin).With("limit", state_.limits.include_depth));
    return;
  }
  if (++entered_ > kMostIncludes) {
    state_.FailSize("module", "too many includes", kMostIncludes, origin);
    return;
  }
  files_.Push(*row, origin);
}

}  // namespace kiln::hlsl
