// SPDX-License-Identifier: MIT
// Pins in memory over the rows of a store, for tests of what looks at pins.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/leases/leases.h"
#include "cache/maintenance.h"

namespace kiln::cache {

// Of Maintenance it has the rows of a pin and nothing else.
//
// Threads: one at a time.
class FakePins final : public Maintenance, public Pins {
 public:
  using Sets = std::map<std::string, std::set<Key>>;  // by name

  // `store` must outlive the object.
  explicit FakePins(BlobStore& store, Sets pins = {}) : store_(store), pins_(std::move(pins)) {}

  Result<uint64_t> Add(const Pin& pin, std::span<const Key> keys) override {
    pins_[pin.name].insert(keys.begin(), keys.end());
    owners_.emplace(pin.name, pin.owner);
    return uint64_t{keys.size()};
  }
  Result<void> Remove(std::string_view name) override {
    pins_.erase(std::string(name));
    owners_.erase(std::string(name));
    return {};
  }
  Result<void> RemoveOf(std::string_view name, std::string_view owner) override {
    if (owners_[std::string(name)] != owner) {
      return Error{.code = ErrorCode::kNotFound, .context = "no such pin of this owner"};
    }
    return Remove(name);
  }
  Result<std::vector<Pin>> List() override {
    std::vector<Pin> pins;
    for (const auto& [name, keys] : pins_) {
      pins.push_back({.name = name, .records = keys.size(), .owner = owners_[name]});
    }
    return pins;
  }
  Result<void> EachRow(
      const RowFilter& filter,
      const std::function<Result<void>(const Key& key, ByteView value)>& each) override {
    ++walks;
    const auto pin = pins_.find(filter.pin);
    if (pin == pins_.end()) {
      return Error{.code = ErrorCode::kNotFound, .context = "no such pin"};
    }
    for (const Key& key : pin->second) {
      KILN_TRY(const Blob row, store_.Get(key, {}));
      KILN_TRY_VOID(each(key, row.bytes));
    }
    return {};
  }

  size_t walks = 0;  // calls of EachRow

  Result<StoreStats> Stats() override { return Unused(); }
  Result<VerifyReport> Verify(const VerifyOptions& /*options*/) override { return Unused(); }
  Result<RepairReport> Repair(const std::stop_token& /*stop*/) override { return Unused(); }
  Result<GcReport> Gc(const GcOptions& /*options*/) override { return Unused(); }
  Result<std::vector<QuarantineEntry>> ListQuarantine(int64_t /*before*/,
                                                      uint32_t /*limit*/) override {
    return Unused();
  }

 private:
  static Error Unused() { return {.code = ErrorCode::kUnimplemented, .context = "unused"}; }

  BlobStore& store_;
  Sets pins_;
  std::map<std::string, std::string> owners_;  // by name
};

}  // namespace kiln::cache
