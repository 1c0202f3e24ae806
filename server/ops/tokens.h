// SPDX-License-Identifier: MIT
// Tokens of clients over TCP: `kiln_<id>_<secret>`. The file holds SHA-256 of secrets, never the
// secrets. tokens.toml -> what a token may do, or a refusal. Spec: daemon §11.4
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "compiler/base/sha256.h"

namespace kiln::ops {

// Each one includes those before it.
enum class Scope : uint8_t { kRead = 1, kWrite = 2, kAdmin = 3 };

std::string_view ScopeName(Scope scope);  // "read"
std::optional<Scope> ParseScope(std::string_view name);

struct Token {
  std::string id;  // 16 hex digits
  Sha256Digest secret{};
  Scope scope = Scope::kRead;
  std::string tenant;
  std::vector<std::string> spaces;
  int64_t expires_s = 0;  // Unix; 0: never
  std::string note;
};

// A token and the one text that is ever shown of its secret.
struct NewToken {
  Token token;
  std::string text;
};
inline constexpr size_t kTokenRandomBytes = 40;  // 8 of the id, 32 of the secret
NewToken MakeToken(std::span<const uint8_t, kTokenRandomBytes> random);

// No file: no tokens. Errors: kInvalidArgument with reason BAD_TOKENS naming the file and the line;
// kFailedPrecondition for a file that others may read.
Result<std::vector<Token>> ReadTokens(const std::string& path);
// Mode 0600, replaced by rename.
Result<void> WriteTokens(const std::string& path, std::span<const Token> tokens);

// The tokens of a file as they are now: a changed file is read again. Safe from any thread.
class TokenBook {
 public:
  // The clock must outlive the book.
  TokenBook(std::string path, Clock& clock) : path_(std::move(path)), clock_(clock) {}

  // `bearer`: "kiln_<id>_<secret>". Errors: kUnauthenticated with reason NO_TOKEN, without saying
  // whether id or secret was wrong. Secrets are compared in constant time.
  Result<Token> Check(std::string_view bearer);

  // Errors: as ReadTokens; what was read before stays.
  Result<void> Reload();

 private:
  std::string StampOfFile() const;

  const std::string path_;
  Clock& clock_;
  Mutex mutex_;
  std::string stamp_ KILN_GUARDED_BY(mutex_);
  std::vector<Token> tokens_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::ops
