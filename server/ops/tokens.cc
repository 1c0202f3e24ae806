// SPDX-License-Identifier: MIT
// The file of tokens: reading, writing and changing it (spec/daemon 11.4). It has SHA-256 digests
// of secrets and never the secrets. A secret has 256 random bits, so a plain hash is enough: there
// is nothing to guess from a list.
#include "server/ops/tokens.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "compiler/base/bytes.h"
#include "compiler/base/check.h"
#include "compiler/base/files/descriptor.h"
#include "compiler/base/files/file.h"
#include "compiler/base/files/file_lock.h"
#include "compiler/base/files/new_file.h"
#include "compiler/base/text/toml_bounds.h"

namespace kiln::ops {
namespace {

// The text of a token: "kiln_", 16 digits of the id, "_", 64 digits of the secret, which are 256
// bits. See spec/daemon 11.4
constexpr size_t kIdDigits = 16;
constexpr size_t kSecretDigits = 64;
constexpr std::string_view kPrefix = "kiln_";

std::string Hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

// Small letters only, as this program writes them: one digest has one text.
std::optional<Sha256Digest> ParseDigest(std::string_view text) {
  Sha256Digest digest{};
  if (text.size() != 2 * digest.size()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const int nibble = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (nibble < 0) {
      return std::nullopt;
    }
    digest[i / 2] = static_cast<uint8_t>(digest[i / 2] << 4 | nibble);
  }
  return digest;
}

// With the line, since people repair this file by hand.
Error BadRow(const std::string& path, const toml::node& at, std::string_view what) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("{}:{}: {}", path, at.source().begin.line, what),
          .reason = "BAD_TOKENS"};
}

// What is written in another type must not be read as if it were missing: a token would never
// expire, or be one of all spaces.
Result<void> CheckTypes(const std::string& path, const toml::table& row) {
  for (const char* key : {"id", "sha256", "scope", "tenant", "note"}) {
    if (const toml::node* value = row.get(key); value != nullptr && !value->is_string()) {
      return BadRow(path, *value, fmt::format("{} of a token is a text", key));
    }
  }
  if (const toml::node* value = row.get("expires"); value != nullptr && !value->is_integer()) {
    return BadRow(path, *value, "expires of a token is a number of seconds since 1970");
  }
  if (const toml::node* value = row.get("spaces"); value != nullptr) {
    const toml::array* spaces = value->as_array();
    if (spaces == nullptr || !std::ranges::all_of(*spaces, &toml::node::is_string)) {
      return BadRow(path, *value, "spaces of a token are a list of texts");
    }
  }
  return {};
}

Result<Token> ReadRow(const std::string& path, const toml::table& row) {
  KILN_TRY_VOID(CheckTypes(path, row));
  Token token;
  token.id = row["id"].value_or(std::string());
  const auto secret = ParseDigest(row["sha256"].value_or(std::string()));
  const auto scope = ParseScope(row["scope"].value_or(std::string()));
  if (token.id.size() != kIdDigits || !secret.has_value() || !scope.has_value()) {
    return BadRow(path, row, "a token has an id, sha256 and a scope of read, write, peer or admin");
  }
  token.secret = *secret;
  token.scope = *scope;
  token.tenant = row["tenant"].value_or(std::string());
  if (const toml::array* spaces = row["spaces"].as_array()) {
    for (const toml::node& space : *spaces) {
      token.spaces.push_back(space.value_or(std::string()));
    }
  }
  token.expires_s = row["expires"].value_or(int64_t{0});
  token.note = row["note"].value_or(std::string());
  return token;
}

}  // namespace

std::string_view ScopeName(Scope scope) {
  switch (scope) {
    case Scope::kRead:
      return "read";
    case Scope::kWrite:
      return "write";
    case Scope::kPeer:
      return "peer";
    case Scope::kAdmin:
      return "admin";
  }
  KILN_UNREACHABLE();
}

// Nothing for an unknown name, as a newer kilnd may write one.
std::optional<Scope> ParseScope(std::string_view name) {
  for (const Scope scope : {Scope::kRead, Scope::kWrite, Scope::kPeer, Scope::kAdmin}) {
    if (ScopeName(scope) == name) {
      return scope;
    }
  }
  return std::nullopt;
}

// The random bytes come from the caller, so the function is pure. What is hashed is the text of the
// secret in hexadecimal, as a client sends it.
NewToken MakeToken(std::span<const uint8_t, kTokenRandomBytes> random) {
  NewToken made;
  made.token.id = Hex(random.first(kIdDigits / 2));
  const std::string secret = Hex(random.subspan(kIdDigits / 2));
  made.token.secret = Sha256(AsBytes(secret));
  made.text = fmt::format("{}{}_{}", kPrefix, made.token.id, secret);
  return made;
}

Result<std::vector<Token>> ReadTokens(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? Result<std::vector<Token>>(std::vector<Token>())
                           : Result<std::vector<Token>>(FileError(path, "cannot read", errno));
  }
  // Whoever may read the file learns who may do what; whoever may write it lets himself in. So a
  // mode that is too wide is no warning but the end of the reading.
  if ((status.st_mode & 077) != 0) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = fmt::format("'{}' may be read by others; chmod 600 it", path),
                 .reason = "BAD_TOKENS"};
  }
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = fmt::format("'{}' belongs to user {}", path, status.st_uid),
                 .reason = "BAD_TOKENS"};
  }
  KILN_TRY(const std::string text, ReadFile(path, kMaxTomlBytes));
  // The parser recurses: a file that nests without end would use up its stack, so the depth is
  // bounded before.
  if (const auto excess = FindTomlExcess(text); excess.has_value()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("{}:{}: {}", path, excess->line, excess->what),
                 .reason = "BAD_TOKENS"};
  }
  std::vector<Token> tokens;
  try {
    const toml::table file = toml::parse(text, path);
    const toml::node* all = file.get("token");
    if (all != nullptr && !all->is_array()) {
      return BadRow(path, *all, "tokens are a list of tables: [[token]]");
    }
    if (const toml::array* rows = all == nullptr ? nullptr : all->as_array()) {
      for (const toml::node& row : *rows) {
        if (!row.is_table()) {
          return BadRow(path, row, "a token is a table");
        }
        KILN_TRY(Token token, ReadRow(path, *row.as_table()));
        tokens.push_back(std::move(token));
      }
    }
  } catch (const toml::parse_error& error) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .context = fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()),
        .reason = "BAD_TOKENS"};
  }
  return tokens;
}

// Only the form is looked at, and before any token is compared: what does not have it costs
// nothing.
std::optional<BearerParts> ParseBearer(std::string_view text) {
  constexpr size_t kIdAt = kPrefix.size(), kSecretAt = kIdAt + kIdDigits + 1;
  if (!text.starts_with(kPrefix) || text.size() != kSecretAt + kSecretDigits ||
      text[kSecretAt - 1] != '_') {
    return std::nullopt;
  }
  return BearerParts{.id = text.substr(kIdAt, kIdDigits), .secret = text.substr(kSecretAt)};
}

namespace {

// Members that say nothing are left out, so the file stays readable for whoever repairs it by hand.
std::string TextOf(std::span<const Token> tokens) {
  toml::array rows;
  for (const Token& token : tokens) {
    toml::table row{{"id", token.id},
                    {"sha256", Hex(token.secret)},
                    {"scope", std::string(ScopeName(token.scope))}};
    if (!token.tenant.empty()) {
      row.insert("tenant", token.tenant);
    }
    toml::array spaces;
    for (const std::string& space : token.spaces) {
      spaces.push_back(space);
    }
    if (!spaces.empty()) {
      row.insert("spaces", std::move(spaces));
    }
    if (token.expires_s != 0) {
      row.insert("expires", token.expires_s);
    }
    if (!token.note.empty()) {
      row.insert("note", token.note);
    }
    rows.push_back(std::move(row));
  }
  std::ostringstream text;
  text << "# Tokens of kilnd; written by kiln token. Secrets are not in here.\n"
       << toml::table{{"token", std::move(rows)}} << "\n";
  return text.str();
}

std::string FolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

// The file is replaced whole, and is on disk when this returns: a token that was revoked must not
// come back after a loss of power. Nobody else may read it, from the start.
Result<void> WriteTokens(const std::string& path, std::span<const Token> tokens) {
  constexpr mode_t kPrivate = 0600;
  std::error_code ignored;  // what follows says what is wrong
  std::filesystem::create_directories(FolderOf(path), ignored);
  KILN_TRY(NewFile file, NewFile::CreateDurable(path, kPrivate));
  KILN_TRY_VOID(file.Write(AsBytes(TextOf(tokens))));
  return file.Publish();
}

// Two commands that change tokens at once would each write what they read. The lock is a file of
// its own, because the tokens' file is another one after each change. `change` may refuse with an
// error, and then nothing is written. Readers need no lock: they see the file before the change or
// after it.
Result<void> ChangeTokens(const std::string& path,
                          const std::function<Result<void>(std::vector<Token>&)>& change) {
  std::error_code ignored;
  std::filesystem::create_directories(FolderOf(path), ignored);
  const std::string lock_path = path + ".lock";
  FileLock lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.file() < 0 || !lock.Wait()) {
    return FileError(lock_path, "cannot lock", errno);
  }
  KILN_TRY(std::vector<Token> tokens, ReadTokens(path));
  KILN_TRY_VOID(change(tokens));
  return WriteTokens(path, tokens);
}

}  // namespace kiln::ops
