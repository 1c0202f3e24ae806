// SPDX-License-Identifier: MIT
// Checks of kiln's own invariants, never of input. A failed check throws InternalError in release
// builds and aborts in debug builds, after printing file, line, condition and the given values.
//   KILN_CHECK(row < size, "row {} of {}", row, size);
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kiln {

// kiln is wrong. Caught only in the worker loop, in main of the programs and in the outermost
// functions of client and runtime.
class InternalError : public std::exception {
 public:
  explicit InternalError(std::string message) : message_(std::move(message)) {}
  // "file:line: check failed: condition: values"
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

namespace check_detail {

// One value of a failed check; text is viewed, not copied.
class Value {
 public:
  enum class Kind : uint8_t { kSigned, kUnsigned, kReal, kFlag, kText };

  template <std::integral T>
  constexpr Value(T number)  // NOLINT(google-explicit-constructor)
      : kind_(std::same_as<T, bool> ? Kind::kFlag
              : std::is_signed_v<T> ? Kind::kSigned
                                    : Kind::kUnsigned),
        bits_(static_cast<uint64_t>(number)) {}
  template <class T>
  requires std::is_enum_v<T>
  constexpr Value(T number)  // NOLINT(google-explicit-constructor)
      : Value(static_cast<std::underlying_type_t<T>>(number)) {}
  template <class T>
  requires requires(const T& id) {
    { id.value } -> std::convertible_to<uint32_t>;
    { id.valid() } -> std::same_as<bool>;
  }
  constexpr Value(const T& id)  // NOLINT(google-explicit-constructor)
      : Value(id.value) {}
  constexpr Value(double number)  // NOLINT(google-explicit-constructor)
      : kind_(Kind::kReal), real_(number) {}
  template <class T>
  requires std::convertible_to<const T&, std::string_view>
  constexpr Value(const T& text)  // NOLINT(google-explicit-constructor)
      : kind_(Kind::kText), text_(text) {}

  void AppendTo(std::string& out) const;

 private:
  Kind kind_;
  uint64_t bits_ = 0;
  double real_ = 0;
  std::string_view text_;
};

// Each "{}" of format stands for the next value.
[[noreturn]] void Fail(const char* file, int line, const char* condition,
                       std::string_view format = {}, std::initializer_list<Value> values = {});

template <class... Args>
[[noreturn]] void FailWith(const char* file, int line, const char* condition,
                           std::string_view format = {}, const Args&... args) {
  Fail(file, line, condition, format, {Value(args)...});
}

}  // namespace check_detail
}  // namespace kiln

#define KILN_CHECK(condition, ...)                                  \
  ((condition) ? static_cast<void>(0)                               \
               : ::kiln::check_detail::FailWith(__FILE__, __LINE__, \
                                                #condition __VA_OPT__(, ) __VA_ARGS__))

#define KILN_UNREACHABLE() ::kiln::check_detail::Fail(__FILE__, __LINE__, "unreachable")

// For checks in hot accessors: nothing in release builds.
#ifdef NDEBUG
#define KILN_DCHECK(condition, ...) static_cast<void>(sizeof(condition))
#else
#define KILN_DCHECK(condition, ...) KILN_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
