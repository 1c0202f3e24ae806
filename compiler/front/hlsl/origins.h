// SPDX-License-Identifier: MIT
// Where tokens come from. A token was written once, in some file, and may stand in the module
// several times: its file is included twice, its macro is used twice. So an origin is the number of
// a written token, or of a row that pairs one with the context that it stands in.
//
// A context is one inclusion of a file or one expansion of a macro; it knows the origin of the
// token that caused it, the path of the include or the name of the macro. Following these leads to
// the root file, which is context 0. An argument keeps the origin that it has at the call.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/push.h"
#include "compiler/source/span.h"

namespace kiln::hlsl {

// The top bit tells rows of `placed` from written tokens.
inline constexpr uint32_t kPlacedOrigin = 0x80000000u;

struct Context {
  enum class Kind : uint32_t { kFile, kMacro };

  Kind kind = Kind::kFile;
  uint32_t what = 0;   // row of the files; symbol of the macro
  uint32_t cause = 0;  // origin; of context 0: none
};

class Origins {
 public:
  struct Origin {
    uint32_t written;
    uint32_t context;
  };

  // Bytes in the row of all files one after another, root first (files.h).
  Span WrittenAt(uint32_t origin) const { return written_[Written(origin)]; }
  uint32_t ContextOf(uint32_t origin) const;
  const Context& context(uint32_t number) const { return contexts_[number]; }

  // The span from token `first` to token `last`. If both were written in one context that is from
  // one to the other; else what stands for them in the innermost context that they share: from the
  // name of a macro to an argument behind it, say.
  Span Cover(uint32_t first, uint32_t last) const;
  // The tokens that `Cover` took for these two.
  std::pair<uint32_t, uint32_t> Meet(uint32_t first, uint32_t last) const;
  // The token, or the name of the outermost macro that made it: where a file has it.
  uint32_t InFile(uint32_t origin) const;

  // For the preprocessor.
  void ReserveWritten(size_t count) { written_.reserve(count); }
  uint32_t AddWritten(Span span) {
    Push(written_, span);
    return static_cast<uint32_t>(written_.size() - 1);
  }
  void BeginFile(uint32_t first_context) {
    file_begins_.push_back(static_cast<uint32_t>(written_.size()));
    file_contexts_.push_back(first_context);
  }
  uint32_t AddContext(const Context& context) {
    contexts_.push_back(context);
    return static_cast<uint32_t>(contexts_.size() - 1);
  }
  // The token written at `origin`, in another context.
  uint32_t Place(uint32_t origin, uint32_t context) {
    placed_.push_back({.written = Written(origin), .context = context});
    return kPlacedOrigin | static_cast<uint32_t>(placed_.size() - 1);
  }
  uint32_t Written(uint32_t origin) const {
    return (origin & kPlacedOrigin) == 0 ? origin : placed_[origin & ~kPlacedOrigin].written;
  }

 private:
  std::vector<Span> written_;  // file after file
  std::vector<Origin> placed_;
  std::vector<Context> contexts_;
  std::vector<uint32_t> file_begins_;    // first written token of each file
  std::vector<uint32_t> file_contexts_;  // its first inclusion
};

}  // namespace kiln::hlsl
