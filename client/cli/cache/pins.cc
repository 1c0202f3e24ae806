// SPDX-License-Identifier: MIT
// `kiln cache pin`, `unpin` and `pins` (spec/cli 6.11). A pin keeps rows, and what they lead to,
// from every collection until it ends or is removed (spec/cache 8). The process that holds the
// store writes the pin: the daemon if one has the folder, else this command, which then owns the
// folder for that time.
#include "client/cli/cache/pins.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/leases/actor.h"
#include "cache/leases/bounded_pins.h"
#include "cache/leases/pin_share.h"
#include "client/cli/add_verb.h"
#include "client/cli/cache/local_cache.h"
#include "client/cli/daemon/daemon_config.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"

namespace kiln::cli {
namespace {

struct PinArguments {
  std::string name;
  std::vector<std::string> keys;
  std::string until;  // "30d"; empty: for ever
  std::string note;
};

constexpr size_t kLargestPins = 5;

// All pins together stay below their share of the cache. Errors: kResourceExhausted with the
// largest ones; kUnavailable if kilnd cannot be asked how large the cache may be.
Result<void> CheckShare(LocalCache& opened, const std::string& name,
                        std::span<const cache::Key> keys) {
  // Pins may keep a share of what the cache may hold, and that is written in the daemon's
  // configuration, which only kilnd reads. Without the bound pins could fill the cache for good.
  KILN_TRY(const uint64_t most, ConfiguredSize(ReadDaemonConfig(), "cache.max_size"));
  KILN_TRY(const cache::PinUsage wanted, cache::HeldByKeys(*opened.content, keys, {}));
  cache::sqlite::PinTable pins(*opened.sqlite);
  cache::PinSizes sizes(*opened.maintenance);
  KILN_TRY(const cache::PinShare share, cache::ShareWith(sizes, pins, name, wanted.bytes, most));
  if (share.fits()) {
    return {};
  }
  std::string largest;
  for (size_t i = 0; i < std::min(share.others.size(), kLargestPins); ++i) {
    largest += fmt::format("{}{} ({})", i == 0 ? "; the largest are " : ", ", share.others[i].name,
                           SizeText(share.others[i].bytes));
  }
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = fmt::format("pins would keep {}, {} are allowed{}; unpin one, or raise "
                                      "cache.max_size",
                                      SizeText(share.total), SizeText(share.allowed), largest),
               .reason = cache::kPinsTooLarge};
}

// A daemon checks the share itself, against the configuration that it runs with. The keys are given
// twice: as the text of the user for a daemon, which parses them itself, and as rows of both levels
// for the table.
Result<uint64_t> PinKeys(const Global& global, const std::string& dir,
                         const PinArguments& arguments, const cache::Pin& pin,
                         const std::vector<cache::Key>& keys) {
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, dir));
  if (daemon != nullptr) {
    return daemon->Pin(pin.name, arguments.keys, static_cast<uint64_t>(pin.until_s.value_or(0)),
                       pin.note);
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(dir, Use::kChange));
  KILN_TRY_VOID(cache::CheckPin(pin));
  KILN_TRY_VOID(CheckShare(*opened, pin.name, keys));
  return cache::sqlite::PinTable(*opened->sqlite).Add(pin, keys);
}

// A name that is not there is an error, so that a typing error in a script does not read as
// success.
Result<void> Unpin(const Global& global, const std::string& dir, const std::string& name) {
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, dir));
  if (daemon != nullptr) {
    return daemon->Unpin(name);
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(dir, Use::kChange));
  return cache::sqlite::PinTable(*opened->sqlite).Remove(name);
}

// The end of the pin is a time of this machine's clock. Both ages and times are whole seconds,
// since the table has no finer ones.
int RunCachePin(const Global& global, const std::string& dir, const PinArguments& arguments) {
  std::vector<cache::Key> keys;
  for (const std::string& text : arguments.keys) {
    const std::optional<Hash128> id = ParseHash128(text);
    if (!id.has_value()) {
      return Fail(global, {.code = ErrorCode::kInvalidArgument,
                           .context = "'" + text + "' is no key (32 hex digits)",
                           .reason = "USAGE"});
    }
    // A key does not say of which level it is. Both levels are named, and a row that does not exist
    // is not pinned.
    keys.push_back({.level = cache::Level::kSignature, .id = *id});
    keys.push_back({.level = cache::Level::kAlias, .id = *id});
  }
  cache::Pin pin{.name = arguments.name, .note = arguments.note};
  if (!arguments.until.empty()) {
    const Result<uint64_t> seconds = ParseAge(arguments.until);
    if (!seconds.ok()) {
      return Fail(global, seconds.error());
    }
    if (*seconds == 0) {
      return Fail(global, {.code = ErrorCode::kInvalidArgument,
                           .context = "--for " + arguments.until + " is over at once",
                           .reason = "USAGE"});
    }
    SystemClock clock;
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime());
    pin.until_s = now.count() + static_cast<int64_t>(*seconds);
  }
  const Result<uint64_t> pinned = PinKeys(global, dir, arguments, pin, keys);
  if (!pinned.ok()) {
    return Fail(global, pinned.error());
  }
  if (!global.json && !global.quiet) {
    Print("pinned {} of {} keys as {}\n", *pinned, arguments.keys.size(), arguments.name);
  }
  // Less than all keys means that some results are not here: a release that counts on them would
  // lose them.
  return Finish("cache pin", *pinned < arguments.keys.size() ? kNotFound : kSuccess,
                {{"records", *pinned}});
}

int RunCacheUnpin(const Global& global, const std::string& dir, const std::string& name) {
  const Result<void> removed = Unpin(global, dir, name);
  return removed.ok() ? Finish("cache unpin", kSuccess, {}) : Fail(global, removed.error());
}

// Of the daemon that was named or has the folder, else of the folder.
Result<std::vector<client::PinnedSet>> PinsOf(const Global& global, const std::string& dir) {
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, dir));
  if (daemon != nullptr) {
    return daemon->Pins();
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(dir, Use::kLook));
  KILN_TRY(const std::vector<cache::Pin> pins, cache::sqlite::PinTable(*opened->sqlite).List());
  std::vector<client::PinnedSet> listed;
  for (const cache::Pin& pin : pins) {
    listed.push_back({.name = pin.name,
                      .note = pin.note,
                      .owner = std::string(cache::OwnerName(pin.owner)),
                      .records = pin.records,
                      .made_s = static_cast<uint64_t>(pin.made_s),
                      // 0 is "for ever" here and over the wire. A pin never ends in 1970, so
                      // nothing is lost.
                      .until_s = static_cast<uint64_t>(pin.until_s.value_or(0))});
  }
  return listed;
}

int RunCachePins(const Global& global, const std::string& dir) {
  const Result<std::vector<client::PinnedSet>> pins = PinsOf(global, dir);
  if (!pins.ok()) {
    return Fail(global, pins.error());
  }
  for (const client::PinnedSet& pin : *pins) {
    if (global.json) {
      const nlohmann::ordered_json object{{"v", 1},
                                          {"type", "pin"},
                                          {"name", pin.name},
                                          {"records", pin.records},
                                          {"made_s", pin.made_s},
                                          {"until_s", pin.until_s},
                                          {"note", pin.note},
                                          {"owner", pin.owner}};
      PrintLine(object);
    } else {
      Print("{:<24} {:>8} records  by {:<12}  {}\n", pin.name, pin.records, pin.owner, pin.note);
    }
  }
  return Finish("cache pins", kSuccess, {{"pins", pins->size()}});
}

}  // namespace

void AddCachePin(CLI::App& cache, CommandLine& line,
                 const std::shared_ptr<const std::string>& dir) {
  const auto arguments = std::make_shared<PinArguments>();
  CLI::App* pin =
      AddVerb(cache, line,
              {"pin", "Keep results from removal under a name",
               "  kiln cache pin release-12 0aef25955e0c3a1b0aef25955e0c3a1b\n  kiln "
               "cache pin nightly 0aef25955e0c3a1b0aef25955e0c3a1b --for 30d"},
              [&line, dir, arguments] { return RunCachePin(line.global, *dir, *arguments); });
  pin->add_option("name", arguments->name, "Name of the pin")->required();
  pin->add_option("keys", arguments->keys, "Signature, variant or live keys")->required();
  pin->add_option("--for", arguments->until, "How long, such as 30d; default: for ever");
  pin->add_option("--note", arguments->note, "Why");
}

void AddCacheUnpin(CLI::App& cache, CommandLine& line,
                   const std::shared_ptr<const std::string>& dir) {
  const auto name = std::make_shared<std::string>();
  CLI::App* unpin = AddVerb(
      cache, line,
      {"unpin", "Remove a pin", "  kiln cache unpin release-12\n  kiln cache unpin nightly --json"},
      [&line, dir, name] { return RunCacheUnpin(line.global, *dir, *name); });
  unpin->add_option("name", *name, "Name of the pin")->required();
}

void AddCachePins(CLI::App& cache, CommandLine& line,
                  const std::shared_ptr<const std::string>& dir) {
  AddVerb(cache, line, {"pins", "List the pins", "  kiln cache pins\n  kiln cache pins --json"},
          [&line, dir] { return RunCachePins(line.global, *dir); });
}

}  // namespace kiln::cli
