// SPDX-License-Identifier: MIT
// The tokens of a file, read again when the file changes (spec/daemon 11.4). If it cannot be read,
// the tokens of before hold, and the health says so: a mistake in an edit must not lock everybody
// out, nor let anybody in. One mutex guards all members.
#include "server/ops/token_book.h"

#include <algorithm>
#include <chrono>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/bytes.h"
#include "compiler/base/sha256.h"

namespace kiln::ops {
namespace {

Error Refused(std::string context) {
  return {.code = ErrorCode::kUnauthenticated, .context = std::move(context), .reason = "NO_TOKEN"};
}

// Compares every byte, whatever the first ones are.
bool Same(const Sha256Digest& a, const Sha256Digest& b) {
  uint8_t differs = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differs = static_cast<uint8_t>(differs | (a[i] ^ b[i]));
  }
  return differs == 0;
}

}  // namespace

// The file is asked with each call that brings a token, which costs a stat. So a token that was
// revoked ends at once, and nobody has to send a signal.
TokenBook::Stamp TokenBook::StampOfFile() const {
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0) {
    return {};
  }
  return {.inode = status.st_ino,
          .size = status.st_size,
          .seconds = status.st_ctim.tv_sec,
          .nanoseconds = status.st_ctim.tv_nsec};
}

Result<void> TokenBook::Read() {
  stamp_ = StampOfFile();  // before it is read: a change in between is seen later
  Result<std::vector<Token>> read = ReadTokens(path_);
  // The stamp stays that of the broken file: it is not parsed again with each call, and the log
  // tells of it once.
  if (!read.ok()) {
    trouble_ = read.error().context;
    return read.error();
  }
  trouble_.clear();
  tokens_ = std::move(read).value();
  return {};
}

void TokenBook::ReadIfChanged() {
  if (stamp_ != StampOfFile()) {
    if (const Result<void> read = Read(); !read.ok()) {
      log_.Write(LogLevel::kError, "security",
                 "the tokens cannot be read; those that were read before hold",
                 {{"file", path_}, {"cause", trouble_}});
    }
  }
}

Result<void> TokenBook::Reload() {
  const MutexLock lock(mutex_);
  return Read();
}

std::string TokenBook::trouble() {
  const MutexLock lock(mutex_);
  ReadIfChanged();
  return trouble_;
}

// For logs and bounds, before anything is proved: the id alone is no secret. An unknown one is
// empty, or whoever sends ids could fill tables with them.
std::string TokenBook::KnownId(std::string_view bearer) {
  const std::optional<BearerParts> parts = ParseBearer(bearer);
  if (!parts.has_value()) {
    return {};
  }
  const MutexLock lock(mutex_);
  ReadIfChanged();
  const bool known =
      std::ranges::any_of(tokens_, [&](const Token& token) { return token.id == parts->id; });
  return known ? std::string(parts->id) : std::string();
}

// Errors have one text for an unknown id and a wrong secret, so that a caller cannot find out ids.
Result<Token> TokenBook::Check(std::string_view bearer) {
  const std::optional<BearerParts> parts = ParseBearer(bearer);
  if (!parts.has_value()) {
    return Refused("a token is needed: 'authorization: Bearer kiln_<id>_<secret>'");
  }
  // Hashed before the lock is taken: the digest does not depend on the book.
  const Sha256Digest secret = Sha256(AsBytes(parts->secret));
  std::optional<Token> found;
  const MutexLock lock(mutex_);
  ReadIfChanged();
  // All tokens are looked at, also after one that fits. Ids are no secret, digests are compared in
  // constant time.
  for (const Token& token : tokens_) {
    if (token.id == parts->id && Same(token.secret, secret)) {
      found = token;
    }
  }
  if (!found.has_value()) {
    return Refused("this token is not known");
  }
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  if (found->expires_s != 0 && found->expires_s <= now) {
    return Refused(fmt::format("token {} has expired", found->id));
  }
  return *found;
}

}  // namespace kiln::ops
