// SPDX-License-Identifier: MIT
#include "runtime/c/arguments.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/base/text/utf8.h"

namespace kiln::c {

Error NullError(std::string_view name) {
  return {ErrorCode::kInvalidArgument, fmt::format("'{}' is NULL", name), "NULL"};
}

// The size comes first in every struct and is read before anything else of it: a program with an
// older or newer header has a struct of another length.
Result<void> CheckStruct(const void* given, size_t known, bool filled_in, std::string_view name) {
  KILN_TRY_VOID(NotNull(given, name));
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  // A larger struct is one of a later header. It will do if what is behind the known part is zero,
  // because zero means the default for all members that are ever added.
  bool fits = size >= known && size - known <= kMaxGrowth;
  // A struct that the library is to fill in is only written, so what stands behind the known part
  // of it does not matter.
  if (fits && filled_in) {
    const auto* const bytes = static_cast<const std::byte*>(given);
    fits = std::all_of(bytes + known, bytes + size,
                       [](std::byte byte) { return byte == std::byte{0}; });
  }
  if (!fits) {
    // The likely causes stand in the message: a struct that nobody initialised, and a header of
    // another version.
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' has struct_size {}, this library knows {} bytes; KILN_INIT fills "
                    "it in, and header and library have to be of versions that fit",
                    name, size, known),
        "STRUCT_SIZE"};
  }
  return {};
}

// A view of the string: it is valid as long as the object that the string belongs to, as the header
// says of each text.
kiln_text TextOf(const std::string& text) { return {text.c_str(), text.size()}; }

// Zeros inside of a text are refused, as paths and names end up in functions that stop there. The
// size is limited because an uninitialised one is mostly huge.
Result<std::string_view> TakeText(kiln_text text, std::string_view name) {
  if (text.data == nullptr && text.size > 0) {
    return NullError(name);
  }
  // A NULL with the size 0 is the empty text: it is what a zeroed struct holds.
  const std::string_view view(text.size == 0 ? "" : text.data, text.size);
  if (text.size > SIZE_MAX / 2 || FindInvalidUtf8(view) != view.size() ||
      view.find('\0') != std::string_view::npos) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("'{}' is no text of UTF-8", name), ""};
  }
  return view;
}

// `last` is the largest one that this library knows; a header of a later version may have more.
// Enumerations are plain numbers over a C border, and any number may come.
Result<void> CheckNumber(uint32_t number, uint32_t last, std::string_view name) {
  if (number > last) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is {}, the last one is {}", name, number, last), "NUMBER"};
  }
  return {};
}

Error OutOfRange(std::string_view what, uint64_t index, uint64_t count) {
  return {ErrorCode::kOutOfRange, fmt::format("{} {} of {}", what, index, count), "INDEX"};
}

// Half of the address space is more than any array has, and a negative number that became a size is
// above it.
Result<void> CheckArray(const void* first, size_t bytes, std::string_view name) {
  if (first == nullptr && bytes > 0) {
    return NullError(name);
  }
  if (bytes > SIZE_MAX / 2) {
    return OutOfRange(name, bytes, SIZE_MAX / 2);
  }
  return {};
}

Result<std::vector<runtime::OptionSetting>> TakeOptions(const kiln_option* options, size_t count) {
  KILN_TRY(const auto rows, TakeArray(options, count, "options"));
  // Values are copied and options are told apart by their kind, because a union has no type of its
  // own. Whether an option exists is not known here: that is asked where a variant is looked up.
  std::vector<runtime::OptionSetting> settings;
  for (const kiln_option& option : rows) {
    KILN_TRY_VOID(CheckNumber(option.kind, KILN_OPTION_ENUM, "options.kind"));
    KILN_TRY(const std::string_view name, TakeText(option.name, "options.name"));
    runtime::OptionSetting& setting = settings.emplace_back();
    setting.name = name;
    if (option.kind == KILN_OPTION_FLAG) {
      // A flag is 0 or 1; any other number is most likely the value of another kind.
      KILN_TRY_VOID(CheckNumber(option.number, 1, "options.number"));
      setting.value = option.number != 0;
    } else if (option.kind == KILN_OPTION_UINT) {
      setting.value = option.number;
    } else if (option.kind == KILN_OPTION_SINT) {
      // All whole numbers share one member of 32 bits, and the sign is only a matter of how the
      // bits are read.
      setting.value = std::bit_cast<int32_t>(option.number);
    } else if (option.kind == KILN_OPTION_FLOAT) {
      setting.value = option.real;
    } else {
      KILN_TRY(const std::string_view text, TakeText(option.text, "options.text"));
      setting.value = std::string(text);
    }
  }
  return settings;
}

// Zeroes mean the defaults, so a caller fills in only what a pass has.
Result<runtime::PassSignature> TakeSignature(const kiln_pass_signature* signature) {
  KILN_TRY(const kiln_pass_signature given, Take(signature, "signature"));
  KILN_TRY(const auto color, TakeArray(given.color, given.color_count, "signature.color"));
  runtime::PassSignature out;
  constexpr size_t kMostTargets = 64;  // no device has more
  if (color.size() > kMostTargets) {
    return OutOfRange("signature.color", color.size(), kMostTargets);
  }
  out.color.assign(color.begin(), color.end());
  out.depth_stencil = given.depth_stencil;
  // No samples at all would be no pass, so zero leaves the number that a new signature has.
  if (given.samples != 0) {
    out.samples = given.samples;
  }
  out.view_mask = given.view_mask;
  return out;
}

}  // namespace kiln::c
