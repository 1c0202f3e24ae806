// SPDX-License-Identifier: MIT
// The tokens of tokens.toml as it is now: bearer -> what it may do, or a refusal.
// See spec/daemon 11.4
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "server/ops/tokens.h"

namespace kiln::ops {

// The tokens of a file as they are now: a changed file is read again. One that cannot be read is
// told to the log, and what was read before stays. Safe from any thread.
class TokenBook {
 public:
  // Clock and log must outlive the book.
  TokenBook(std::string path, Clock& clock, LogSink& log)
      : path_(std::move(path)), clock_(clock), log_(log) {}

  // `bearer`: "kiln_<id>_<secret>". Errors: kUnauthenticated with reason NO_TOKEN, without saying
  // whether id or secret was wrong. Secrets are compared in constant time.
  Result<Token> Check(std::string_view bearer);
  // The id that `bearer` names, whatever its secret; empty if there is no such token.
  std::string KnownId(std::string_view bearer);

  // Errors: as ReadTokens; what was read before stays.
  Result<void> Reload();
  // Why the file as it is now cannot be read; empty: it was. For the operator only.
  std::string trouble();
  const std::string& path() const { return path_; }

 private:
  // Of the file as it was looked at. The time is that of any change, of the mode, too.
  struct Stamp {
    uint64_t inode = 0;  // 0: there was none
    int64_t size = 0;
    int64_t seconds = 0, nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp StampOfFile() const;
  Result<void> Read() KILN_REQUIRES(mutex_);
  void ReadIfChanged() KILN_REQUIRES(mutex_);

  const std::string path_;
  Clock& clock_;
  LogSink& log_;
  Mutex mutex_;
  std::optional<Stamp> stamp_ KILN_GUARDED_BY(mutex_);  // nothing: it was never looked at
  std::vector<Token> tokens_ KILN_GUARDED_BY(mutex_);
  std::string trouble_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::ops
