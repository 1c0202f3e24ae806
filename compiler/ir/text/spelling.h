// SPDX-License-Identifier: MIT
// Spelling of the smallest parts of the text form, in both directions: names, types without parts,
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/cexpr.h"
#include "compiler/ir/types.h"

namespace kiln::ir {

// Letters, digits and underscores, not starting with a digit.
bool IsWord(std::string_view text);
// In quotes; quotes, backslashes and what is not printable ASCII as \xNN.
std::string Quote(std::string_view text);
// As it is if it is a word, else in quotes.
std::string NameText(std::string_view name);

// Void, vector, matrix, sampler, images, deferred, opaque ones: "f3", "f4x4", "image_color_2d".
// Requires: one of these.
std::string LeafText(const Type& type);
// The inverse; nothing for everything else.
std::optional<Type> ParseLeaf(std::string_view text);
// Item type of a storage image of that format.
Scalar ItemOf(ImageFormat format);

// "1.5", "-0.0", "7", "-7", "true"; bits as "0x7fc00000" where a number would lose something.
std::string ScalarText(Scalar scalar, uint64_t bits);
// Accepts decimal numbers and 0x… bits for every scalar.
std::optional<uint64_t> ParseBits(Scalar scalar, std::string_view text);
// The same where 64 bits are not expected: nothing if there are more than 32.
std::optional<uint32_t> ParseScalar(Scalar scalar, std::string_view text);

// The same by kind of value: flag, uint, sint, float.
std::string ValueText(ValueKind kind, uint32_t bits);
std::optional<uint32_t> ParseValue(ValueKind kind, std::string_view text);

}  // namespace kiln::ir
