// SPDX-License-Identifier: MIT
#include "runtime/c/call.h"

#include <string>

#include "runtime/c/arguments.h"

struct kiln_error {
  kiln_result code = KILN_INTERNAL;
  std::string reason;
  std::string message;
};

namespace kiln::c {

kiln_result Fail(kiln_error** out, const Error& error) noexcept {
  const auto code = static_cast<kiln_result>(error.code);
  if (out != nullptr) {
    *out = nullptr;
    (void)CatchAll([&] { *out = new kiln_error{code, error.reason, error.context}; });
  }
  return code;
}

kiln_result Succeed(kiln_error** out) noexcept {
  if (out != nullptr) {
    *out = nullptr;
  }
  return KILN_OK;
}

}  // namespace kiln::c

kiln_result kiln_error_code(const kiln_error* error) {
  return error == nullptr ? static_cast<kiln_result>(KILN_OK) : error->code;
}
kiln_text kiln_error_reason(const kiln_error* error) {
  return error == nullptr ? kiln_text{} : kiln::c::TextOf(error->reason);
}
kiln_text kiln_error_message(const kiln_error* error) {
  return error == nullptr ? kiln_text{} : kiln::c::TextOf(error->message);
}
void kiln_error_destroy(kiln_error* error) { kiln::c::Destroy(error); }
