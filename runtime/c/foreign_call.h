// SPDX-License-Identifier: MIT
// Calls of the libraries that are built on kiln.h (client/c, compiler/c): they know libkiln as
// every program does, so error objects are made by it, and memory is that of the C++ library.
//   return ForeignCall(error, [&]() -> Result<void> { KILN_TRY_VOID(NotNull(client, "client")); …
//   });
#pragma once

#include <utility>

#include <kiln/kiln.h>

#include "compiler/base/result.h"
#include "compiler/base/threads/thread.h"
#include "runtime/c/arguments.h"

namespace kiln::c {

// The error object that libkiln made of a call of its own -> an Error; frees the object.
inline Error TakeError(kiln_result code, kiln_error* error) {
  const kiln_text message = kiln_error_message(error);
  const kiln_text reason = kiln_error_reason(error);
  Error out{static_cast<ErrorCode>(code), std::string(message.data, message.data + message.size),
            std::string(reason.data, reason.data + reason.size)};
  kiln_error_destroy(error);
  return out;
}

// `call(kiln_error**)` of libkiln, as a Result.
template <class Function>
Result<void> CallKiln(Function&& call) {
  kiln_error* error = nullptr;
  const kiln_result code = std::forward<Function>(call)(&error);
  if (code != KILN_OK) {
    return TakeError(code, error);
  }
  return {};
}

inline kiln_result ForeignFail(const Error& error, kiln_error** out) noexcept {
  return kiln_error_create(static_cast<kiln_result>(error.code), TextOf(error.reason),
                           TextOf(error.context), out);
}

template <class Step>
kiln_result ForeignCall(kiln_error** error, Step&& step) noexcept {
  Result<void> done;
  const Result<void> caught = CatchAll([&] { done = std::forward<Step>(step)(); });
  if (!caught.ok() || !done.ok()) {
    return ForeignFail(caught.ok() ? done.error() : caught.error(), error);
  }
  return kiln_error_create(KILN_OK, {}, {}, error);
}

// Frees an object; of null: nothing.
template <class T>
void ForeignDestroy(T* object) noexcept {
  (void)CatchAll([&] { delete object; });
}

}  // namespace kiln::c
