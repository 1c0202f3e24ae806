// SPDX-License-Identifier: MIT
// How the faults that a verification or a repair meets are shown. They arrive in two forms: as
// records from a folder that this process reads itself, and as finished lines from a daemon. Both
// must give the same JSON members (spec/cli 7.1).
#include "client/cli/cache/faults.h"

#include <nlohmann/json.hpp>

#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

// A fault that belongs to no key, such as a damaged page, has the zero key, which is shown as an
// empty text.
void PrintFaults(const Global& global, const cache::VerifyReport& report) {
  for (const cache::Fault& fault : report.faults) {
    if (global.json) {
      const Json object{{"v", 1},
                        {"type", "fault"},
                        {"kind", cache::FaultKindName(fault.kind)},
                        {"key", fault.key.id.zero() ? "" : KeyText(fault.key)},
                        {"detail", fault.detail}};
      PrintLine(object);
    } else {
      Print("{}\n", FaultText(fault));
    }
  }
}

void PrintFinding(const Global& global, const std::string& text) {
  if (!global.json) {
    Print("{}\n", text);
    return;
  }
  // A daemon sends a fault as the line that people read, "KIND KEY: DETAIL". It is taken apart
  // again here, so that JSON has the same members with and without a daemon.
  const size_t colon = text.find(": ");
  const std::string head = text.substr(0, colon);
  const size_t blank = head.find(' ');
  const Json object{{"v", 1},
                    {"type", "fault"},
                    {"kind", head.substr(0, blank)},
                    {"key", blank == std::string::npos ? "" : head.substr(blank + 1)},
                    {"detail", colon == std::string::npos ? "" : text.substr(colon + 2)}};
  PrintLine(object);
}

// The order of the counts is relied upon: RunCacheVerify reads them by position, and both overloads
// must keep it.
Counts CountsOf(const client::MaintenanceDone& done) {
  return {{"blobs", done.blobs}, {"records", done.records}, {"aliases", done.aliases},
          {"bytes", done.bytes}, {"orphans", done.orphans}, {"faults", done.damaged}};
}

Counts CountsOf(const cache::VerifyReport& report) {
  return {{"blobs", report.blobs}, {"records", report.records}, {"aliases", report.aliases},
          {"bytes", report.bytes}, {"orphans", report.orphans}, {"faults", report.fault_count}};
}

}  // namespace kiln::cli
