// SPDX-License-Identifier: MIT
// What comes over the border, checked: pointers, texts, numbers of enumerations, arrays, and
// structs of the caller's size.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/kiln.h>

#include "compiler/base/result.h"
#include "runtime/pipeline/artifact_source.h"
#include "runtime/vk/pass_signature.h"

namespace kiln::c {

// Structs of later headers may be larger than those of this library, by no more than this.
inline constexpr size_t kMaxGrowth = 4096;

Error NullError(std::string_view name);

template <class T>
Result<void> NotNull(const T* pointer, std::string_view name) {
  if (pointer == nullptr) {
    return NullError(name);
  }
  return {};
}

// Errors: kInvalidArgument, STRUCT_SIZE: smaller than the struct, or with something behind it that
// this library does not know. `known` is the struct's size here.
Result<void> CheckStruct(const void* given, size_t known, bool filled_in, std::string_view name);

// A copy of what the caller gives.
template <class T>
Result<T> Take(const T* given, std::string_view name) {
  KILN_TRY_VOID(CheckStruct(given, sizeof(T), true, name));
  T copy;
  std::memcpy(&copy, given, sizeof(T));
  return copy;
}

// That there is room for what the library gives; a larger struct is cleared behind it.
template <class T>
Result<void> CheckRoom(T* out, std::string_view name) {
  KILN_TRY_VOID(CheckStruct(out, sizeof(T), false, name));
  return {};
}
// Requires: CheckRoom of it succeeded. `value.struct_size` is left as the caller has it.
template <class T>
void Give(T value, T* out) {
  value.struct_size = out->struct_size;
  std::memset(reinterpret_cast<std::byte*>(out) + sizeof(T), 0, value.struct_size - sizeof(T));
  *out = value;
}

kiln_text TextOf(const std::string& text);
Result<std::string_view> TakeText(kiln_text text, std::string_view name);

// Errors: kInvalidArgument for a number that `name` does not have.
Result<void> CheckNumber(uint32_t number, uint32_t last, std::string_view name);

Error OutOfRange(std::string_view what, uint64_t index, uint64_t count);

// Errors: kInvalidArgument, NULL; kOutOfRange for what no memory holds.
Result<void> CheckArray(const void* first, size_t bytes, std::string_view name);

template <class T>
Result<std::span<const T>> TakeArray(const T* first, size_t count, std::string_view name) {
  KILN_TRY_VOID(
      CheckArray(first, count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T), name));
  return std::span<const T>(first, count);
}

Result<std::vector<runtime::OptionSetting>> TakeOptions(const kiln_option* options, size_t count);
Result<runtime::PassSignature> TakeSignature(const kiln_pass_signature* signature);

}  // namespace kiln::c
