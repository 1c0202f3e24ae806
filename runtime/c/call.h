// SPDX-License-Identifier: MIT
// What every function of the interface does: memory comes from the context of its object, no
// exception gets out, and what failed becomes a number and an error object.
//   return Call(pack, error, [&]() -> Result<void> { KILN_TRY_VOID(NotNull(pack, "pack")); … });
#pragma once

#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "compiler/base/threads/thread.h"
#include "runtime/c/context.h"

namespace kiln::c {

// Puts an error object into `out` unless it is null; null if there is no memory for one.
kiln_result Fail(kiln_error** out, const Error& error) noexcept;
kiln_result Fail(kiln_error** out, ErrorCode code, std::string_view reason,
                 std::string_view message) noexcept;
// Puts null there.
kiln_result Succeed(kiln_error** out) noexcept;

// `object` is what the call is about: null is an error that `step` finds.
template <class Step>
kiln_result Call(const Object* object, kiln_error** error, Step&& step) noexcept {
  const MemoryScope scope(object == nullptr ? nullptr : object->context->memory());
  Result<void> done;
  const Result<void> caught = CatchAll([&] { done = std::forward<Step>(step)(); });
  if (!caught.ok()) {
    return Fail(error, caught.error());
  }
  return done.ok() ? Succeed(error) : Fail(error, done.error());
}

// For functions that give something back instead of a result; `nothing` is what they give if they
// fail.
template <class Value, class Step>
Value Answer(const Object* object, Value nothing, Step&& step) noexcept {
  if (object == nullptr) {
    return nothing;
  }
  const MemoryScope scope(object->context->memory());
  (void)CatchAll([&] { nothing = std::forward<Step>(step)(); });
  return nothing;
}

// Frees an object; of null: nothing. What it was made of may end with it.
template <class T>
void Destroy(T* object) noexcept {
  (void)CatchAll([&] { delete object; });
}

}  // namespace kiln::c
