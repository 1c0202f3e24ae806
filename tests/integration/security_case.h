// SPDX-License-Identifier: MIT
// A daemon behind real TLS with real tokens, for tests of who may do what.
#pragma once

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/base/test_wait.h"
#include "server/ops/tokens.h"
#include "server/test_server.h"
#include "tests/support/certificates.h"

namespace kiln::server {

using ops::Scope;

class SecurityCase : public ServerTest {
 protected:
  SecurityCase() : authority("kiln tests") {
    Write("ca.pem", authority.cert());
    server_files = authority.Sign("localhost");
    client_files = authority.Sign("builder");
    Write("server.pem", server_files.cert);
    Write("server.key", server_files.key);
    for (const Scope scope : {Scope::kRead, Scope::kWrite, Scope::kAdmin}) {
      tokens.push_back(NewToken(static_cast<uint8_t>(scope), scope, 0));
    }
    tokens.push_back(NewToken(9, Scope::kAdmin, 1));  // expired in 1970
    tokens.push_back(NewToken(8, Scope::kPeer, 0));
  }

  std::string NewToken(uint8_t seed, Scope scope, int64_t expires_s) {
    std::array<uint8_t, ops::kTokenRandomBytes> random{};
    random.fill(seed);
    ops::NewToken made = ops::MakeToken(random);
    made.token.scope = scope;
    made.token.expires_s = expires_s;
    rows.push_back(made.token);
    EXPECT_TRUE(ops::WriteTokens(folder.path() + "/tokens.toml", rows).ok());
    return made.text;
  }

  Daemon::Options TcpOptions() {
    Daemon::Options options = OptionsIn(folder.path());
    options.config.tcp = "127.0.0.1:0";
    options.config.tls_cert = folder.path() + "/server.pem";
    options.config.tls_key = folder.path() + "/server.key";
    options.config.tls_client_ca = folder.path() + "/ca.pem";
    options.config.tokens = folder.path() + "/tokens.toml";
    options.config.audit_log = folder.path() + "/audit.jsonl";
    options.config.allow_root = true;
    return options;
  }

  void StartTcp() {
    auto started = Daemon::Start(TcpOptions(), clock, log, failure);
    ASSERT_TRUE(started.ok()) << failure.component << ": " << failure.what;
    daemon = std::move(started).value();
    channel = grpc::CreateChannel("unix:" + daemon->socket(), grpc::InsecureChannelCredentials());
  }

  uint16_t Port() const {
    const std::string address = daemon->tcp();
    return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }

  std::shared_ptr<grpc::Channel> Over(const std::string& ca, const CertificateFiles& files) const {
    grpc::ChannelArguments own;  // no connection of another test's channel
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(
        "localhost:" + std::to_string(Port()),
        grpc::SslCredentials(
            {.pem_root_certs = ca, .pem_private_key = files.key, .pem_cert_chain = files.cert}),
        own);
  }
  std::shared_ptr<grpc::Channel> Tcp() const { return Over(authority.cert(), client_files); }

  // Once it has so many lines: that a client has left is audited later than what it was answered.
  std::string AuditText(ptrdiff_t lines, const char* name = "audit.jsonl") const {
    std::string text;
    EXPECT_TRUE(WaitUntil([&] {
      std::ifstream file(folder.path() + "/" + name);
      text.assign(std::istreambuf_iterator<char>(file), {});
      return std::count(text.begin(), text.end(), '\n') >= lines;
    })) << text;
    return text;
  }

  Authority authority;
  CertificateFiles server_files, client_files;
  std::vector<ops::Token> rows;
  std::vector<std::string> tokens;  // read, write, admin, expired, peer
};

}  // namespace kiln::server
