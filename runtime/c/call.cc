// SPDX-License-Identifier: MIT
#include "runtime/c/call.h"

#include <string>

#include "compiler/base/printable.h"
#include "runtime/c/arguments.h"

struct kiln_error {
  kiln_result code = KILN_INTERNAL;
  std::string reason;
  std::string message;
};

namespace kiln::c {

// Never fails itself: if there is no memory for the object, the number still tells the caller what
// happened.
kiln_result Fail(kiln_error** out, ErrorCode code, std::string_view reason,
                 std::string_view message) noexcept {
  // Both enumerations use the same numbers, so a code never has to be looked up in a table.
  const auto number = static_cast<kiln_result>(code);
  if (out != nullptr) {
    *out = nullptr;
    (void)CatchAll([&] {
      // The texts are copied, because the caller reads them after the call, when the error of the
      // inside is gone.
      *out = new kiln_error{number, std::string(reason), PrintableLines(message)};
    });
  }
  return number;
}

kiln_result Fail(kiln_error** out, const Error& error) noexcept {
  return Fail(out, error.code, error.reason, error.context);
}

// Written on success too, so that an error object of an earlier call is never taken for one of
// this.
kiln_result Succeed(kiln_error** out) noexcept {
  if (out != nullptr) {
    *out = nullptr;
  }
  return KILN_OK;
}

}  // namespace kiln::c

// For libraries beside this one (the compiler's), which tell their errors as objects of the same
// kind.
kiln_result kiln_error_create(kiln_result code, kiln_text reason, kiln_text message,
                              kiln_error** error) {
  // A library that passes its results on without looking at them may come with a success too.
  if (code == KILN_OK) {
    return kiln::c::Succeed(error);
  }
  // NULL is an empty text here: an error must be made from whatever there is.
  const auto read = [](kiln_text text) {
    return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
  };
  // The number is not checked. A later compiler may have codes that this library does not know, and
  // they have to reach the caller as they are.
  return kiln::c::Fail(error, static_cast<kiln::ErrorCode>(code), read(reason), read(message));
}
// A null error means success, so callers may ask without a check.
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
