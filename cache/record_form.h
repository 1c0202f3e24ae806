// SPDX-License-Identifier: MIT
// Records of one program are nearly the same bytes: names of products and options, kind, build. A
// form is a record without what differs, and a record is written as its form and the rest: digests
// and numbers. What is put together again is the record, byte for byte. See spec/cache 6.3
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cache/record.h"
#include "compiler/base/bytes.h"

namespace kiln::cache {

class RecordForm {
 public:
  // A longer one is no form.
  static constexpr size_t kMostBytes = size_t{16} << 10;

  // The form of a record (EncodeRecord). Nothing if the bytes are none.
  static std::optional<RecordForm> Of(ByteView record);
  // What bytes() gave. Nothing if nothing gives these bytes.
  static std::optional<RecordForm> Read(ByteView bytes);

  // An empty record: every id, size, time and amount is 0.
  ByteView bytes() const { return blank_; }
  // 1 to 2^31 - 1, from the bytes alone. Others may have the same one.
  uint32_t number() const { return number_; }

  // What the record is beside its form. Nothing if it has another form. Costs comparing the bytes.
  std::optional<Bytes> Shorten(ByteView record) const;
  // What SummarizeRow says of a record of this form, without decoding it. Requires: Shorten gives
  // something.
  RowSummary SummaryOf(ByteView record) const;
  // The way back, for any bytes; nothing if they are not of this length. Whether the record is the
  // right one its sum tells.
  std::optional<Bytes> Expand(ByteView shortened) const;

 private:
  // Bytes of the record that the form leaves open: an id as it is, or a u64.
  struct Gap {
    uint32_t at = 0;
    uint32_t size = 0;
    bool is_number = false;
  };

  Bytes blank_;
  std::vector<Gap> gaps_;  // of each product id and size; layout, state; time; limits
  RowSummary summary_;     // without what is in gaps
  uint32_t cost_gap_ = 0;  // number of that of the time
  uint32_t number_ = 0;
};

}  // namespace kiln::cache
