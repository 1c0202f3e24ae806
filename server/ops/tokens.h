// SPDX-License-Identifier: MIT
// Tokens of clients over TCP: `kiln_<id>_<secret>`, and the file that holds what they may do and
// SHA-256 of their secrets, never the secrets. See spec/daemon 11.4
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/base/sha256.h"

namespace kiln::ops {

// Each one includes those before it. kPeer is for machines that hand over results of their own:
// nobody can check that a result is right but by making it again, so who may put one chooses what
// others are served.
enum class Scope : uint8_t { kRead = 1, kWrite = 2, kPeer = 3, kAdmin = 4 };

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

// "kiln_<id>_<secret>" in its parts, which live as long as the text; nothing for another shape.
struct BearerParts {
  std::string_view id, secret;
};
std::optional<BearerParts> ParseBearer(std::string_view text);

// No file: no tokens. Errors: kInvalidArgument with reason BAD_TOKENS naming the file and the line;
// kFailedPrecondition for a file that others may read.
Result<std::vector<Token>> ReadTokens(const std::string& path);
// Mode 0600. Whoever reads sees all of the old file or all of the new one, after a power cut, too.
// Errors: FileError.
Result<void> WriteTokens(const std::string& path, std::span<const Token> tokens);
// Reads, changes and writes while nobody else does: of several at the same time each finds what
// the others have done. Makes `path`.lock, which stays. Errors: as ReadTokens and WriteTokens, and
// those of `change`; then the file stays as it is.
Result<void> ChangeTokens(const std::string& path,
                          const std::function<Result<void>(std::vector<Token>&)>& change);

}  // namespace kiln::ops
