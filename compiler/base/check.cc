// SPDX-License-Identifier: MIT
// Failure path of KILN_CHECK: builds the message, then throws or aborts.
#include "compiler/base/check.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>

namespace kiln::check_detail {

// Values are taken apart into a few plain kinds by the header, so that a check costs its caller no
// formatting library: that is used here alone, once something is wrong.
void Value::AppendTo(std::string& out) const {
  switch (kind_) {
    case Kind::kSigned:
      out += fmt::format("{}", static_cast<int64_t>(bits_));
      return;
    case Kind::kUnsigned:
      out += fmt::format("{}", bits_);
      return;
    case Kind::kReal:
      out += fmt::format("{}", real_);
      return;
    case Kind::kFlag:
      out += bits_ != 0 ? "true" : "false";
      return;
    case Kind::kText:
      out += text_;
      return;
  }
}

// The format is filled in by hand, because it is no constant here and a wrong number of values must
// not throw while a failed check is being told: values that are missing leave their "{}" standing.
void Fail(const char* file, int line, const char* condition, std::string_view format,
          std::initializer_list<Value> values) {
  std::string message = fmt::format("{}:{}: check failed: {}", file, line, condition);
  if (!format.empty()) {
    message += ": ";
  }
  const Value* next = values.begin();
  for (size_t i = 0; i < format.size(); ++i) {
    if (format.substr(i, 2) == "{}" && next != values.end()) {
      (next++)->AppendTo(message);
      ++i;
    } else {
      message += format[i];
    }
  }
// A release build throws, so that a daemon loses one request and not all of them; a debug build
// stops where the stack still shows what was wrong.
#ifdef NDEBUG
  throw InternalError(std::move(message));
#else
  static_cast<void>(std::fprintf(stderr, "%s\n", message.c_str()));
  std::abort();
#endif
}

}  // namespace kiln::check_detail
