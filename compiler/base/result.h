// SPDX-License-Identifier: MIT
// Success or failure of an operation on the world (files, sockets, stores, devices). Wrong sources
// are Diagnosed<T>, kiln's own bugs are KILN_CHECK.
//   Result<Config> Load(path) { KILN_TRY(std::string text, ReadFile(path)); … return config; }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "compiler/base/check.h"

namespace kiln {

// One to one with the gRPC status codes of spec/daemon 2.3, with gRPC's numbers. The last three are
// names for what stores report: busy and draining are retried, full is backed off, damage is
// re-fetched.
enum class ErrorCode : uint8_t {
  kCancelled = 1,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
  kBusy = kUnavailable,
  kFull = kResourceExhausted,
  kCorrupt = kDataLoss,
};

// "NOT_FOUND", as gRPC spells it.
std::string_view ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string context;  // what failed, on what, and what to do: for a person
  std::string reason;   // stable upper-case word ("QUEUE_FULL"), or empty

  friend bool operator==(const Error&, const Error&) = default;
};

// "NOT_FOUND: context", or "NOT_FOUND (REASON): context"
std::string ErrorText(const Error& error);

// Puts "prefix: " before the context; for errors that cross a folder.
Error WithContext(Error error, std::string_view prefix);

template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& value() & {
    KILN_CHECK(ok(), "{}", ErrorText(std::get<1>(state_)));
    return std::get<0>(state_);
  }
  const T& value() const& {
    KILN_CHECK(ok(), "{}", ErrorText(std::get<1>(state_)));
    return std::get<0>(state_);
  }
  T&& value() && {
    KILN_CHECK(ok(), "{}", ErrorText(std::get<1>(state_)));
    return std::move(std::get<0>(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: !ok().
  const Error& error() const& {
    KILN_CHECK(!ok());
    return std::get<1>(state_);
  }
  Error&& error() && {
    KILN_CHECK(!ok());
    return std::move(std::get<1>(state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  // Requires: !ok().
  const Error& error() const& {
    KILN_CHECK(!ok());
    return *error_;
  }
  Error&& error() && {
    KILN_CHECK(!ok());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace kiln

#define KILN_CONCAT_INNER(a, b) a##b
#define KILN_CONCAT(a, b) KILN_CONCAT_INNER(a, b)
#define KILN_TRY_INTO(temporary, declaration, ...) \
  auto temporary = (__VA_ARGS__);                  \
  if (!temporary.ok()) {                           \
    return std::move(temporary).error();           \
  }                                                \
  declaration = std::move(temporary).value()

// KILN_TRY(auto x, F()): declares x from the value, or returns the error to the caller.
#define KILN_TRY(declaration, ...) \
  KILN_TRY_INTO(KILN_CONCAT(kiln_try_, __LINE__), declaration, __VA_ARGS__)

// KILN_TRY_VOID(F()): returns the error, if there is one.
#define KILN_TRY_VOID(...)                                         \
  do {                                                             \
    if (auto kiln_try_void = (__VA_ARGS__); !kiln_try_void.ok()) { \
      return std::move(kiln_try_void).error();                     \
    }                                                              \
  } while (false)
