// SPDX-License-Identifier: MIT
#include "server/ops/tokens.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "compiler/base/bytes.h"
#include "compiler/base/check.h"
#include "compiler/base/file.h"
#include "compiler/base/toml_bounds.h"

namespace kiln::ops {
namespace {

constexpr size_t kIdDigits = 16;
constexpr size_t kSecretDigits = 64;
constexpr std::string_view kPrefix = "kiln_";

Error Refused(std::string context) {
  return {.code = ErrorCode::kUnauthenticated, .context = std::move(context), .reason = "NO_TOKEN"};
}

std::string Hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

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

// Looks at every byte, whatever the first ones are.
bool Same(const Sha256Digest& a, const Sha256Digest& b) {
  uint8_t differs = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differs = static_cast<uint8_t>(differs | (a[i] ^ b[i]));
  }
  return differs == 0;
}

Error BadRow(const std::string& path, const toml::node& at, std::string_view what) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("{}:{}: {}", path, at.source().begin.line, what),
          .reason = "BAD_TOKENS"};
}

Result<Token> ReadRow(const std::string& path, const toml::table& row) {
  Token token;
  token.id = row["id"].value_or(std::string());
  const auto secret = ParseDigest(row["sha256"].value_or(std::string()));
  const auto scope = ParseScope(row["scope"].value_or(std::string()));
  if (token.id.size() != kIdDigits || !secret.has_value() || !scope.has_value()) {
    return BadRow(path, row, "a token has an id, sha256 and a scope of read, write or admin");
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
    case Scope::kAdmin:
      return "admin";
  }
  KILN_UNREACHABLE();
}

std::optional<Scope> ParseScope(std::string_view name) {
  for (const Scope scope : {Scope::kRead, Scope::kWrite, Scope::kAdmin}) {
    if (ScopeName(scope) == name) {
      return scope;
    }
  }
  return std::nullopt;
}

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
  if (const auto excess = FindTomlExcess(text); excess.has_value()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("{}:{}: {}", path, excess->line, excess->what),
                 .reason = "BAD_TOKENS"};
  }
  std::vector<Token> tokens;
  try {
    const toml::table file = toml::parse(text, path);
    if (const toml::array* rows = file["token"].as_array()) {
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

Result<void> WriteTokens(const std::string& path, std::span<const Token> tokens) {
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
  std::error_code ignored;  // the open says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string temporary = path + ".part";
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return FileError(path, "cannot write", errno);
  }
  const std::string bytes = text.str();
  const bool written = fchmod(fd, 0600) == 0 &&
                       write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  const int error = errno;
  if (close(fd) != 0 || !written) {
    return FileError(path, "cannot write", written ? errno : error);
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return FileError(path, "cannot write", errno);
  }
  return {};
}

std::string TokenBook::StampOfFile() const {
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0) {
    return "none";
  }
  return fmt::format("{} {} {} {}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

Result<void> TokenBook::Reload() {
  const std::string stamp = StampOfFile();
  KILN_TRY(std::vector<Token> tokens, ReadTokens(path_));
  const MutexLock lock(mutex_);
  stamp_ = stamp;
  tokens_ = std::move(tokens);
  return {};
}

Result<Token> TokenBook::Check(std::string_view bearer) {
  if (!bearer.starts_with(kPrefix) ||
      bearer.size() != kPrefix.size() + kIdDigits + 1 + kSecretDigits ||
      bearer[kPrefix.size() + kIdDigits] != '_') {
    return Refused("a token is needed: 'authorization: Bearer kiln_<id>_<secret>'");
  }
  bool changed = false;
  {
    const MutexLock lock(mutex_);
    changed = stamp_ != StampOfFile();
  }
  if (changed) {
    KILN_TRY_VOID(Reload());
  }
  const std::string_view id = bearer.substr(kPrefix.size(), kIdDigits);
  const Sha256Digest secret = Sha256(AsBytes(bearer.substr(kPrefix.size() + kIdDigits + 1)));
  std::optional<Token> found;
  const MutexLock lock(mutex_);
  for (const Token& token : tokens_) {
    if (token.id == id && Same(token.secret, secret)) {
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
