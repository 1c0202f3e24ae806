// SPDX-License-Identifier: MIT
#include "client/cli/dashboard/page_server.h"

#include <gtest/gtest.h>

#include "compiler/base/threads/thread.h"

namespace kiln::cli {
namespace {

// A signal may come between the line with the link and the moment in which the server serves.
TEST(PageServer, StopBeforeItServes_EndsIt) {
  const Global global;
  const auto client = client::Client::Open("unix:/nobody/is/here");
  PageApi api(global, *client);
  auto server = PageServer::Listen(0, api, [] {});
  ASSERT_TRUE(server.ok()) << ErrorText(server.error());
  Thread stops({.name = "stop"}, [&](const std::stop_token&) { (*server)->Stop(); });
  (*server)->Serve();
  stops.join();
}

TEST(PageServer, PortThatIsTaken_IsRefused) {
  const Global global;
  const auto client = client::Client::Open("unix:/nobody/is/here");
  PageApi api(global, *client);
  auto first = PageServer::Listen(0, api, [] {});
  ASSERT_TRUE(first.ok());
  const std::string link = (*first)->NewLink();
  const size_t colon = link.find(':', link.find("//"));
  const auto port = static_cast<uint16_t>(std::stoul(link.substr(colon + 1)));
  EXPECT_EQ(PageServer::Listen(port, api, [] {}).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace kiln::cli
