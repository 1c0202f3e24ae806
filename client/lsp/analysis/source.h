// SPDX-License-Identifier: MIT
// One version of one source, as far as it can be understood alone: tokens, what its grammar finds
// wrong, and the module of the text as mended. Immutable; shared by all programs that link it.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "client/lsp/analysis/mend.h"
#include "client/lsp/protocol/position.h"
#include "compiler/ir/module.h"
#include "compiler/source/source_file.h"

namespace kiln::lsp {

class Source {
 public:
  explicit Source(std::shared_ptr<const SourceFile> file);

  const SourceFile& file() const { return *file_; }
  const std::shared_ptr<const SourceFile>& shared_file() const { return file_; }
  const LineTable& lines() const { return lines_; }
  // Tokens of the text as it is; the last one is kEnd.
  const rpl::LexResult& tokens() const { return mends_ ? tokens_ : parsed_.tokens; }
  // Errors and warnings of lexer and parser; their module is 0.
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  bool good() const { return good_; }

  // The mended text, which is the text itself of a good source: same size, same positions.
  const std::string& mended_text() const { return parsed_.text; }
  const rpl::LexResult& mended_tokens() const { return parsed_.tokens; }
  const rpl::Ast& ast() const { return parsed_.tree.ast; }
  const std::shared_ptr<const ir::Module>& module() const { return module_; }

  size_t bytes() const { return bytes_; }  // roughly, of memory

 private:
  std::shared_ptr<const SourceFile> file_;
  LineTable lines_;
  bool mends_ = false;
  bool good_ = false;
  rpl::LexResult tokens_;  // if mends_
  std::vector<Diagnostic> diagnostics_;
  ParsedText parsed_;
  std::shared_ptr<const ir::Module> module_;
  size_t bytes_ = 0;
};

// Sources by their text: the last ones used, up to a size.
class SourceCache {
 public:
  static constexpr size_t kMaxBytes = size_t{24} << 20;

  std::shared_ptr<const Source> Get(const std::shared_ptr<const SourceFile>& file);

 private:
  static constexpr size_t kMaxDropped = 256;

  using Key = std::pair<std::string, Digest>;  // path and text: messages name the path
  std::list<std::pair<Key, std::shared_ptr<const Source>>> used_;  // the last one first
  // Dropped, and alive as long as a program has them: then they are found again.
  std::list<std::pair<Key, std::weak_ptr<const Source>>> dropped_;
  size_t bytes_ = 0;
};

}  // namespace kiln::lsp
