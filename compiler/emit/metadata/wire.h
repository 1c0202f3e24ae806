// SPDX-License-Identifier: MIT
// Protobuf's wire format, as far as writing messages of proto3 needs it. Fields must be written in
// ascending order and empty ones are left out, so bytes are those of protobuf's own deterministic
// serialiser.
//   writer.Message(kPipelineSettings, [&] { writer.Text(kSettingsCullMode, "back"); });
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "compiler/base/bytes.h"

namespace kiln::metadata {

class WireWriter {
 public:
  WireWriter() { out_.reserve(kRecordBytes); }

  // Fields that may occur once; nothing is written for the default value.
  void Number(uint32_t field, uint32_t value);
  void Flag(uint32_t field, bool value) { Number(field, value ? 1 : 0); }
  void Real(uint32_t field, uint32_t bits);  // of a float; only +0.0 is the default
  void Text(uint32_t field, std::string_view text);
  void Raw(uint32_t field, ByteView bytes);

  // Items of repeated fields; written even if empty.
  void TextItem(uint32_t field, std::string_view text);
  void RawItem(uint32_t field, ByteView bytes);
  void Numbers(uint32_t field, std::span<const uint32_t> values);  // the whole list, packed

  // A submessage: `write()` writes its fields into this writer.
  template <class Write>
  void Message(uint32_t field, Write write) {
    const size_t begin = Open(field);
    write();
    Close(begin);
  }

  // What stands in front of a field of `size` bytes, which may be zero.
  static uint32_t PrefixSize(uint32_t field, uint32_t size);
  static void AppendPrefix(Bytes& out, uint32_t field, uint32_t size);

  void Clear() { out_.clear(); }  // keeps the memory

  const Bytes& bytes() const& { return out_; }
  Bytes bytes() && { return std::move(out_); }

 private:
  void Varint(uint32_t value);
  void Tag(uint32_t field, uint32_t wire_type);
  size_t Open(uint32_t field);
  void Close(size_t begin);  // puts the length in front of what was written since

  static constexpr size_t kRecordBytes = 256;  // of most records

  Bytes out_;
};

}  // namespace kiln::metadata
