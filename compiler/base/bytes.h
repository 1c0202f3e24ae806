// SPDX-License-Identifier: MIT
// Views of text as bytes and of bytes as text, and little-endian integers in byte strings. Every
// file format of kiln is little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace kiln {

static_assert(std::endian::native == std::endian::little,
              "kiln maps its files; they are little-endian");

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

inline ByteView AsBytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

inline std::string_view AsText(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Requires: bytes.size() >= offset + sizeof(T).
template <class T>
T ReadLittle(ByteView bytes, size_t offset = 0) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// Out of line: inlined into its callers, g++ 12 takes the growth of the vector for an overflow.
void Append(Bytes& out, ByteView bytes);

template <class T>
void AppendLittle(Bytes& out, T value) {
  const size_t end = out.size();  // resize and copy: g++ 12 warns wrongly about insert
  out.resize(end + sizeof(T));
  std::memcpy(out.data() + end, &value, sizeof(T));
}

}  // namespace kiln
