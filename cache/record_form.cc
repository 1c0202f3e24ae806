// SPDX-License-Identifier: MIT
// Records of one program differ in ids and numbers only. A form is what they have in common, with
// gaps; a record is stored as the number of its form and what fills the gaps (spec/cache 6.3).
// Where the gaps are is not parsed: the encoding of a record that has ones in all of them shows it.
#include "cache/record_form.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cache/record.h"
#include "compiler/base/check.h"
#include "compiler/base/digest.h"

namespace kiln::cache {
namespace {

constexpr std::byte kIdMark{0xFF};
constexpr std::byte kNumberMark{0x01};
constexpr uint64_t kNumberMarks = 0x0101010101010101;
constexpr uint32_t kNumberBytes = sizeof(uint64_t);

// The encoding of the record with these in the place of everything that a form leaves open. Options
// and names are no gaps: they are part of the form.
Bytes WithValues(Record record, const Hash128& id, uint64_t number) {
  for (Product& product : record.products) {
    product.digest = {.id = id, .size = number};
  }
  for (std::optional<Hash128>* const hash : {&record.layout_hash, &record.state_id}) {
    if (hash->has_value()) {
      *hash = id;
    }
  }
  for (LimitUse& limit : record.limits) {
    limit.amount = number;
  }
  record.cpu_us = number;
  return EncodeRecord(record);
}

// Seven bits a byte, the lowest first, and the top bit says that more follow: most numbers are
// small.
void AppendNumber(Bytes& out, ByteView little_endian) {
  uint64_t value = ReadLittle<uint64_t>(little_endian);
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<std::byte>(value | 0x80));
  }
  out.push_back(static_cast<std::byte>(value));
}

// False: there is no number at the begin of the bytes.
bool TakeNumber(ByteView& bytes, std::byte* little_endian) {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto next = static_cast<uint64_t>(bytes.front());
    bytes = bytes.subspan(1);
    value |= (next & 0x7F) << shift;
    if (next < 0x80) {
      for (uint32_t i = 0; i < kNumberBytes; ++i) {
        little_endian[i] = static_cast<std::byte>(value >> (8 * i));
      }
      return true;
    }
  }
  return false;
}

}  // namespace

// Costs a decode and two encodes, once for each new form and never for a record that fits a known
// one.
std::optional<RecordForm> RecordForm::Of(ByteView record) {
  Result<Record> decoded = DecodeRecord(record);
  return decoded.ok() ? Read(WithValues(std::move(decoded).value(), {}, 0)) : std::nullopt;
}

// A form is stored and read back as the record with zeros in its gaps. Comparing that record with
// one that has ones in all gaps shows where they are: no second description of the encoding exists
// that could disagree with the first.
std::optional<RecordForm> RecordForm::Read(ByteView bytes) {
  if (bytes.size() > kMostBytes) {
    return std::nullopt;
  }
  const Result<Record> decoded = DecodeRecord(bytes);
  // Only a record whose gaps are all zero is a form.
  if (!decoded.ok() || !std::ranges::equal(WithValues(*decoded, {}, 0), bytes)) {
    return std::nullopt;
  }
  Hash128 marks;
  marks.bytes.fill(0xFF);
  const Bytes marked = WithValues(*decoded, marks, kNumberMarks);
  RecordForm form;
  form.blank_.assign(bytes.begin(), bytes.end());
  for (uint32_t at = 0; at < marked.size();) {
    if (marked[at] == bytes[at]) {
      ++at;
    } else if (marked[at] == kNumberMark) {
      // Numbers were marked with 01 in each byte, ids with FF.
      form.gaps_.push_back({.at = at, .size = kNumberBytes, .is_number = true});
      at += kNumberBytes;
    } else {
      const uint32_t from = at;
      while (at < marked.size() && marked[at] == kIdMark && bytes[at] != kIdMark) {
        ++at;
      }
      form.gaps_.push_back({.at = from, .size = at - from});
    }
  }
  // The encoding has its fields in this order; a form that had others could not be summed up.
  form.cost_gap_ = static_cast<uint32_t>(2 * decoded->products.size()) +
                   (decoded->layout_hash.has_value() ? 1 : 0) +
                   (decoded->state_id.has_value() ? 1 : 0);
  KILN_CHECK(form.gaps_.size() == form.cost_gap_ + 1 + decoded->limits.size());
  form.summary_ = {.kind = decoded->kind, .cost_us = 0, .products = decoded->products};
  const Hash128 id = HashBytes(bytes);
  form.number_ = ReadLittle<uint32_t>(std::as_bytes(std::span(id.bytes))) >> 1;
  // 31 bits of the form's content id; 0 means "no form". The table compares the bytes, so two forms
  // with one number are not confused.
  form.number_ = std::max(form.number_, uint32_t{1});
  return form;
}

std::optional<Bytes> RecordForm::Shorten(ByteView record) const {
  if (record.size() != blank_.size()) {
    return std::nullopt;
  }
  Bytes out;
  out.reserve(record.size());
  // What lies between the gaps must be as in every record of the form, to the last byte: only the
  // gaps are kept, so anything else would be lost.
  size_t from = 0;  // of what every record of the form has
  for (const Gap& gap : gaps_) {
    if (!std::equal(record.begin() + static_cast<ptrdiff_t>(from),
                    record.begin() + static_cast<ptrdiff_t>(gap.at),
                    blank_.begin() + static_cast<ptrdiff_t>(from))) {
      return std::nullopt;
    }
    const ByteView value = record.subspan(gap.at, gap.size);
    gap.is_number ? AppendNumber(out, value) : Append(out, value);
    from = gap.at + gap.size;
  }
  return std::ranges::equal(record.subspan(from), ByteView(blank_).subspan(from))
             ? std::optional(std::move(out))
             : std::nullopt;
}

RowSummary RecordForm::SummaryOf(ByteView record) const {
  RowSummary summary = summary_;
  for (size_t i = 0; i < summary.products.size(); ++i) {
    Digest& digest = summary.products[i].digest;
    std::memcpy(digest.id.bytes.data(), record.data() + gaps_[2 * i].at, digest.id.bytes.size());
    digest.size = ReadLittle<uint64_t>(record, gaps_[2 * i + 1].at);
  }
  summary.cost_us = ReadLittle<uint64_t>(record, gaps_[cost_gap_].at);
  return summary;
}

// The inverse of Shorten. The bytes come from the file, so each length is checked; a record that is
// wrong in its values is found by its sum.
std::optional<Bytes> RecordForm::Expand(ByteView shortened) const {
  Bytes record = blank_;
  for (const Gap& gap : gaps_) {
    if (gap.is_number) {
      if (!TakeNumber(shortened, &record[gap.at])) {
        return std::nullopt;
      }
      continue;
    }
    if (shortened.size() < gap.size) {
      return std::nullopt;
    }
    std::copy_n(shortened.begin(), gap.size, record.begin() + static_cast<ptrdiff_t>(gap.at));
    shortened = shortened.subspan(gap.size);
  }
  // What is left over was not written by Shorten.
  return shortened.empty() ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace kiln::cache
