// SPDX-License-Identifier: MIT
// The verbs that work on files of kiln without a daemon: the cache of this user and packs.
// See spec/cli 6.10, 6.11, spec/cache 9
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/global.h"

namespace kiln::cli {

// Of the result line of --json.
using Counts = std::vector<std::pair<std::string, uint64_t>>;

struct CacheArguments {
  std::string dir;  // empty: KILN_CACHE_DIR, else the user's
  // gc
  std::string to;          // "10GiB"
  std::string older_than;  // "7d"
  bool failed = false;
  bool vacuum = false;
  bool dry_run = false;
  // verify
  bool fast = false;
  uint32_t sample_percent = 0;
  // export, import
  std::string file;
  std::string pin;
  std::string since;  // "7d"
  // pin, unpin; why: a key
  std::string name;
  std::vector<std::string> keys;
  std::string until;  // "30d"; empty: for ever
  std::string note;
};
int RunCacheStats(const Global& global, const CacheArguments& arguments);
int RunCacheGc(const Global& global, const CacheArguments& arguments);
int RunCacheVerify(const Global& global, const CacheArguments& arguments);
int RunCacheRepair(const Global& global, const CacheArguments& arguments);
int RunCacheExport(const Global& global, const CacheArguments& arguments);
int RunCacheImport(const Global& global, const CacheArguments& arguments);
int RunCachePin(const Global& global, const CacheArguments& arguments);
int RunCacheUnpin(const Global& global, const CacheArguments& arguments);
int RunCachePins(const Global& global, const CacheArguments& arguments);
int RunCacheWhy(const Global& global, const CacheArguments& arguments);

struct PackArguments {
  std::string file;                // of verbs that read one
  std::vector<std::string> files;  // of those that read several
  std::vector<std::string> bases;  // beside those in the folder of the file
  std::string require_signature;   // file of a public key
  std::string out;
  std::string program;
  std::string target;
  std::vector<std::string> options;  // NAME=VALUE
  std::string sign;                  // file of a private key
  // build; `files` are programs
  std::string base;  // file of a pack
  std::string pin;
  std::string warm;  // file of a list
  bool small = false;
  bool fast = false;  // the default
};
int RunPackBuild(const Global& global, const PackArguments& arguments);
int RunPackShow(const Global& global, const PackArguments& arguments);
int RunPackStats(const Global& global, const PackArguments& arguments);
int RunPackVerify(const Global& global, const PackArguments& arguments);
int RunPackDiff(const Global& global, const PackArguments& arguments);
int RunPackFlatten(const Global& global, const PackArguments& arguments);
int RunPackExtract(const Global& global, const PackArguments& arguments);
int RunPackKeygen(const Global& global, const PackArguments& arguments);

// As ReadByteSize.
// Errors: kInvalidArgument naming the text.
Result<uint64_t> ParseSize(const std::string& text);
// "90", "90s", "5m", "3h", "7d" -> seconds. Errors: as above.
Result<uint64_t> ParseAge(const std::string& text);
// "1,234 bytes", "12.3 MiB"
std::string SizeText(uint64_t bytes);

}  // namespace kiln::cli
