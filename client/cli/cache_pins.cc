// SPDX-License-Identifier: MIT
// kiln cache pin, unpin and pins: results that are kept, below their share of the cache.
// See spec/cache 8
#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/pin_share.h"
#include "client/cli/cache_opened.h"
#include "client/cli/daemon_config.h"
#include "client/cli/json_line.h"
#include "client/cli/print.h"

namespace kiln::cli {
namespace {

constexpr size_t kLargestPins = 5;

// All pins together stay below their share of the cache. Errors: kResourceExhausted with the
// largest ones; kUnavailable if kilnd cannot be asked how large the cache may be.
Result<void> CheckShare(LocalCache& opened, const std::string& name,
                        std::span<const cache::Key> keys) {
  KILN_TRY(const uint64_t most, ConfiguredSize(ReadDaemonConfig(), "cache.max_size"));
  KILN_TRY(const cache::PinUsage wanted, cache::HeldByKeys(*opened.content, keys, {}));
  cache::sqlite::PinTable pins(*opened.sqlite);
  KILN_TRY(const cache::PinShare share,
           cache::ShareWith(*opened.maintenance, pins, name, wanted.bytes, most));
  if (share.fits()) {
    return {};
  }
  std::string largest;
  for (size_t i = 0; i < std::min(share.others.size(), kLargestPins); ++i) {
    largest += fmt::format("{}{} ({})", i == 0 ? "; the largest are " : ", ",
                           share.others[i].second, SizeText(share.others[i].first));
  }
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = fmt::format("pins would keep {}, {} are allowed{}; unpin one, or raise "
                                      "cache.max_size",
                                      SizeText(share.total), SizeText(share.allowed), largest),
               .reason = cache::kPinsTooLarge};
}

Result<uint64_t> PinKeys(const Global& global, const CacheArguments& arguments,
                         const cache::Pin& pin, const std::vector<cache::Key>& keys) {
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, arguments));
  if (daemon != nullptr) {
    return daemon->Pin(pin.name, arguments.keys, static_cast<uint64_t>(pin.until_s.value_or(0)),
                       pin.note);
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(arguments, Use::kChange));
  KILN_TRY_VOID(CheckShare(*opened, pin.name, keys));
  return cache::sqlite::PinTable(*opened->sqlite).Add(pin, keys);
}

Result<void> Unpin(const Global& global, const CacheArguments& arguments) {
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, arguments));
  if (daemon != nullptr) {
    return daemon->Unpin(arguments.name);
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(arguments, Use::kChange));
  return cache::sqlite::PinTable(*opened->sqlite).Remove(arguments.name);
}

}  // namespace

int RunCachePin(const Global& global, const CacheArguments& arguments) {
  std::vector<cache::Key> keys;
  for (const std::string& text : arguments.keys) {
    const std::optional<Hash128> id = ParseHash128(text);
    if (!id.has_value()) {
      return Fail(global, {.code = ErrorCode::kInvalidArgument,
                           .context = "'" + text + "' is no key (32 hex digits)",
                           .reason = "USAGE"});
    }
    keys.push_back({.level = cache::Level::kSignature, .id = *id});
    keys.push_back({.level = cache::Level::kAlias, .id = *id});
  }
  cache::Pin pin{.name = arguments.name, .note = arguments.note};
  if (!arguments.until.empty()) {
    const Result<uint64_t> seconds = ParseAge(arguments.until);
    if (!seconds.ok()) {
      return Fail(global, seconds.error());
    }
    SystemClock clock;
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime());
    pin.until_s = now.count() + static_cast<int64_t>(*seconds);
  }
  const Result<uint64_t> pinned = PinKeys(global, arguments, pin, keys);
  if (!pinned.ok()) {
    return Fail(global, pinned.error());
  }
  if (!global.json && !global.quiet) {
    Print("pinned {} of {} keys as {}\n", *pinned, arguments.keys.size(), arguments.name);
  }
  return Finish("cache pin", *pinned < arguments.keys.size() ? kNotFound : kSuccess,
                {{"records", *pinned}});
}

int RunCacheUnpin(const Global& global, const CacheArguments& arguments) {
  const Result<void> removed = Unpin(global, arguments);
  return removed.ok() ? Finish("cache unpin", kSuccess, {}) : Fail(global, removed.error());
}

int RunCachePins(const Global& global, const CacheArguments& arguments) {
  const Result<std::unique_ptr<LocalCache>> opened = OpenCache(arguments, Use::kLook);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<std::vector<cache::Pin>> pins = cache::sqlite::PinTable(*(*opened)->sqlite).List();
  if (!pins.ok()) {
    return Fail(global, pins.error());
  }
  for (const cache::Pin& pin : *pins) {
    if (global.json) {
      const nlohmann::ordered_json object{{"v", 1},
                                          {"type", "pin"},
                                          {"name", pin.name},
                                          {"records", pin.records},
                                          {"made_s", pin.made_s},
                                          {"until_s", pin.until_s.value_or(0)},
                                          {"note", pin.note}};
      PrintLine(object);
    } else {
      Print("{:<24} {:>8} records  {}\n", pin.name, pin.records, pin.note);
    }
  }
  return Finish("cache pins", kSuccess, {{"pins", pins->size()}});
}

}  // namespace kiln::cli
