// SPDX-License-Identifier: MIT
// Two lists of defines number spellings and places differently, since a list is text that is read
// first. So everything is renumbered by its first appearance in the stream and said in full there:
// equal bytes are then equal streams, and nothing is compared. Cost: one walk over the tokens, 20
// bytes of each to be hashed.
#include "compiler/front/hlsl/module/stream_id.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {
namespace {

class StreamWriter {
 public:
  explicit StreamWriter(const TokenStream& stream)
      : stream_(stream), symbols_(stream.symbols.size(), 0) {}

  Hash128 Run() {
    for (const ModuleFile& file : stream_.files) {
      Text(file.path);
      Add(file.digest.id.bytes);
      Number(file.first);
      Number(file.size);
      if (file.included != 0) {  // not the root
        Origin(file.included);
      }
    }
    Number(stream_.tokens.size());
    for (const Token& token : stream_.tokens) {
      CheckStop();
      Number(static_cast<uint32_t>(token.kind) << 8 | token.flags);
      Symbol(token.symbol);
      Origin(token.origin);
      Flush();
    }
    for (const PackMatrix& order : stream_.pack_matrix) {
      Number(order.first_token);
      Number(static_cast<uint32_t>(order.order));
    }
    Number(stream_.undefined_names.size());
    for (const UndefinedName& name : stream_.undefined_names) {
      Symbol(name.symbol);
      Origin(name.origin);
    }
    Number(stream_.line_marks.size());
    for (const LineMark& mark : stream_.line_marks) {
      Number(mark.begin);
      Number(mark.line);
      Symbol(mark.path);
    }
    hasher_.Update(std::span<const std::byte>(bytes_));
    return hasher_.Finish().id;
  }

 private:
  static constexpr size_t kFlushed = 1 << 16;

  void Number(uint64_t number) { AppendLittle(bytes_, static_cast<uint32_t>(number)); }
  template <class Bytes>
  void Add(const Bytes& bytes) {
    for (const auto byte : bytes) {
      bytes_.push_back(static_cast<std::byte>(byte));
    }
  }
  void Text(std::string_view text) {
    Number(text.size());
    const ByteView view = AsBytes(text);
    bytes_.insert(bytes_.end(), view.begin(), view.end());
  }

  // The number of its first appearance, and there the text itself.
  void Symbol(uint32_t symbol) {
    if (symbol >= symbols_.size()) {  // none
      Number(0);
      return;
    }
    uint32_t& number = symbols_[symbol];
    if (number != 0) {
      Number(number);
      return;
    }
    number = ++last_symbol_;
    Number(number);
    Text(stream_.symbols.Text(symbol));
  }

  // Where it was written, and through what it came here.
  void Origin(uint32_t origin) {
    const Span written = stream_.origins.WrittenAt(origin);
    Number(written.begin);
    Number(written.end);
    Context(stream_.origins.ContextOf(origin));
  }

  // Contexts lead to causes that lie in contexts before them, so a chain ends at 0; one is said in
  // full where it appears first, its cause right behind it.
  void Context(uint32_t context) {
    while (context != 0) {
      const auto [known, is_new] = contexts_.Insert(context, last_context_ + 1);
      if (!is_new) {
        Number(*known);
        return;
      }
      Number(++last_context_);
      const hlsl::Context& row = stream_.origins.context(context);
      Number(static_cast<uint32_t>(row.kind));
      if (row.kind == hlsl::Context::Kind::kMacro) {
        Symbol(row.what);
      } else {
        Number(row.what);
      }
      const Span cause = stream_.origins.WrittenAt(row.cause);
      Number(cause.begin);
      Number(cause.end);
      context = stream_.origins.ContextOf(row.cause);
    }
    Number(0);
  }

  void Flush() {
    if (bytes_.size() >= kFlushed) {
      hasher_.Update(std::span<const std::byte>(bytes_));
      bytes_.clear();
    }
  }

  const TokenStream& stream_;
  Hasher hasher_;
  Bytes bytes_;
  std::vector<uint32_t> symbols_;  // by symbol: its number here, or 0
  uint32_t last_symbol_ = 0;
  FlatMap<uint32_t, uint32_t> contexts_;
  uint32_t last_context_ = 0;
};

}  // namespace

Hash128 StreamIdOf(const TokenStream& stream) { return StreamWriter(stream).Run(); }

}  // namespace kiln::hlsl
