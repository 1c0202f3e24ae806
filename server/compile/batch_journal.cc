// SPDX-License-Identifier: MIT
#include "server/compile/batch_journal.h"

#include <array>
#include <cstring>

namespace kiln::compile {
namespace {

constexpr uint8_t kVersion = 2;
constexpr uint8_t kDetached = 1;
constexpr size_t kHead = 2;

// The counts that are kept, in the order of the format.
constexpr std::array kCounts = {
    &BatchProgress::variants_total, &BatchProgress::variants_served, &BatchProgress::results_done,
    &BatchProgress::results_upper,  &BatchProgress::hit_memory,      &BatchProgress::hit_local,
    &BatchProgress::shared,         &BatchProgress::compiled,        &BatchProgress::failed,
    &BatchProgress::limited,        &BatchProgress::poisoned,        &BatchProgress::code_distinct,
    &BatchProgress::bytes_out,      &BatchProgress::cpu_us,          &BatchProgress::cpu_saved_us,
    &BatchProgress::programs,       &BatchProgress::programs_done};
constexpr size_t kSize = kHead + 8 * (2 + kCounts.size());

using kiln::Append;

void Append(Bytes& bytes, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<std::byte>(value >> shift & 0xffu));
  }
}

uint64_t Take(ByteView& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) {
    value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  }
  bytes = bytes.subspan(8);
  return value;
}

}  // namespace

Bytes EncodeNotes(const BatchNotes& notes) {
  Bytes bytes;
  bytes.push_back(std::byte{kVersion});
  bytes.push_back(notes.detach ? std::byte{kDetached} : std::byte{0});
  Append(bytes, static_cast<uint64_t>(notes.started_ms));
  Append(bytes, notes.next_seq);
  for (const auto count : kCounts) {
    Append(bytes, notes.progress.*count);
  }
  Append(bytes, AsBytes(notes.owner));
  bytes.push_back(std::byte{0});
  Append(bytes, AsBytes(notes.tenant));
  return bytes;
}

BatchNotes DecodeNotes(ByteView bytes) {
  BatchNotes notes;
  if (bytes.size() <= kSize || bytes[0] != std::byte{kVersion}) {
    return notes;
  }
  notes.detach = bytes[1] == std::byte{kDetached};
  bytes = bytes.subspan(kHead);
  notes.started_ms = static_cast<int64_t>(Take(bytes));
  notes.next_seq = Take(bytes);
  for (const auto count : kCounts) {
    notes.progress.*count = Take(bytes);
  }
  const std::string_view names = AsText(bytes);
  const size_t zero = names.find('\0');
  if (zero != std::string_view::npos) {
    notes.owner = names.substr(0, zero);
    notes.tenant = names.substr(zero + 1);
  }
  return notes;
}

}  // namespace kiln::compile
