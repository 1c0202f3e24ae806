// SPDX-License-Identifier: MIT
// Requests of megabytes that would be a hundred times as much once they were parsed: no method
// parses one, whoever calls.
#include <algorithm>
#include <fstream>
#include <string>

#include <gmock/gmock.h>

#include "server/rpc/transport/method_table.h"
#include "tests/integration/security_case.h"
#include "tests/support/call_empty.h"

namespace kiln::server {
namespace {

constexpr size_t kLength = (size_t{4} << 20) - 64;  // as long as requests may be
constexpr uint64_t kMostGrowth = uint64_t{96} << 20;
constexpr int kSeconds = 60;

// A row of /proc/self/status, in bytes.
uint64_t MemoryOf(const std::string& row) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(row)) {
      return std::stoull(line.substr(row.size())) << 10;
    }
  }
  return 0;
}

// What the process had at most while `work` was done, beyond what it had before.
template <class Work>
uint64_t GrowthOf(Work&& work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the most that it had is what it has
  const uint64_t before = MemoryOf("VmRSS:");
  work();
  return std::max(MemoryOf("VmHWM:"), before) - before;  // the kernel counts them apart
}

class HostileRequests : public SecurityCase {};

TEST_F(HostileRequests, EveryMethodAndCaller_PartsAreRefusedBeforeTheyAreParsed) {
  using Code = grpc::StatusCode;
  StartTcp();
  std::string parts;
  while (parts.size() < kLength) {
    parts += std::string_view("\x7A\x00", 2);  // field 15: an empty text, if nothing else
  }
  const auto over_tcp = Tcp();
  const struct {
    const char* name;
    const std::string token;
    bool is_tcp;
    bool is_known;
  } callers[] = {{"the owner", "", false, true},         {"scope read", tokens[0], true, true},
                 {"scope write", tokens[1], true, true}, {"scope admin", tokens[2], true, true},
                 {"scope peer", tokens[4], true, true},  {"nobody", "", true, false}};
  for (const rpc::MethodRow& row : rpc::kMethods) {
    const std::string path = "/kiln.v1." + std::string(row.service) + "/" + std::string(row.method);
    for (const auto& caller : callers) {
      const std::string what = std::string(row.method) + " by " + caller.name;
      RawAnswer answer;
      // A connection without a token takes no second message of this length.
      const auto by = !caller.is_tcp ? channel : caller.is_known ? over_tcp : Tcp();
      const uint64_t growth =
          GrowthOf([&] { answer = CallWith(by, path, parts, caller.token, kSeconds); });
      EXPECT_LT(growth, kMostGrowth) << what;
      v1::ErrorDetail detail;
      EXPECT_TRUE(detail.ParseFromString(answer.detail)) << what;
      const std::string reason = detail.reason();
      if (!caller.is_known) {
        EXPECT_EQ(answer.status.error_code(), Code::UNAUTHENTICATED) << what;
      } else {
        EXPECT_THAT(reason, testing::AnyOf("MALFORMED_REQUEST", "SCOPE", "LIMIT_EXCEEDED"))
            << what << ": " << answer.status.error_message();
        EXPECT_TRUE(reason != "MALFORMED_REQUEST" || detail.field() == "message") << what;
      }
      EXPECT_EQ(answer.messages, 0U) << what;
    }
  }
}

}  // namespace
}  // namespace kiln::server
