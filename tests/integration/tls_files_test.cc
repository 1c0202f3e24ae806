// SPDX-License-Identifier: MIT
#include "server/rpc/transport/tls_files.h"

#include <fstream>
#include <functional>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "tests/support/certificates.h"

namespace kiln::rpc {
namespace {

constexpr int64_t kLongAgo = 1;

class TlsFilesTest : public testing::Test {
 protected:
  TlsFilesTest() : authority("authority") {
    const CertificateFiles made = authority.Sign("localhost");
    files = {.cert = Write("server.pem", made.cert, 0644),
             .key = Write("server.key", made.key, 0600),
             .client_ca = Write("ca.pem", authority.cert(), 0644)};
  }
  std::string Write(const std::string& name, const std::string& text, mode_t mode) const {
    std::string path = directory.path() / name;
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  TestDirectory directory;
  Authority authority;
  TlsFiles files;
};

TEST_F(TlsFilesTest, GoodFiles_AreSummed) {
  const Result<TlsSummary> summary = CheckTlsFiles(files, kLongAgo);
  ASSERT_TRUE(summary.ok()) << summary.error().context;
  EXPECT_NE(summary->subject.find("localhost"), std::string::npos);
  EXPECT_GT(summary->expires_s, 0);
}

TEST_F(TlsFilesTest, KeyThatOthersMayRead_IsRefused) {
  for (const mode_t mode : {0640u, 0604u, 0644u, 0620u, 0601u}) {
    ASSERT_EQ(chmod(files.key.c_str(), mode), 0);
    const Result<TlsSummary> refused = CheckTlsFiles(files, kLongAgo);
    ASSERT_FALSE(refused.ok()) << mode;
    EXPECT_EQ(refused.error().reason, "TLS");
    EXPECT_NE(refused.error().context.find("server.key"), std::string::npos);
    EXPECT_NE(refused.error().context.find("chmod 600"), std::string::npos);
  }
  for (const mode_t mode : {0600u, 0400u}) {
    ASSERT_EQ(chmod(files.key.c_str(), mode), 0);
    EXPECT_TRUE(CheckTlsFiles(files, kLongAgo).ok()) << mode;
  }
}

// A daemon has nobody to ask; with a terminal it would wait there.
TEST_F(TlsFilesTest, KeyWithAPassPhrase_IsRefusedWithoutAsking) {
  files.key = Write("protected.key", ProtectedKey(authority.Sign("localhost").key, "phrase"), 0600);
  const Result<TlsSummary> refused = CheckTlsFiles(files, kLongAgo);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().context.find("protected.key' is protected by a pass phrase"),
            std::string::npos)
      << refused.error().context;
}

TEST_F(TlsFilesTest, WrongFiles_AreNamed) {
  struct Row {
    std::function<void(TlsFiles&)> spoil;
    int64_t now_s;
    const char* what;
  };
  constexpr int64_t kLater = 4'102'444'800;      // 2100
  constexpr int64_t kNoDate = int64_t{1} << 40;  // of OpenSSL
  const Row rows[] = {
      {[](TlsFiles& f) { f.cert.clear(); }, kLongAgo, "needs tls.cert"},
      {[](TlsFiles& f) { f.cert += "x"; }, kLongAgo, "server.pemx"},
      {[](TlsFiles& f) { f.key += "x"; }, kLongAgo, "server.keyx"},
      {[](TlsFiles& f) { f.client_ca += "x"; }, kLongAgo, "ca.pemx"},
      {[](TlsFiles& f) { f.cert = f.key; }, kLongAgo, "is no certificate"},
      {[](TlsFiles&) {}, kLater, "has expired"},
      {[](TlsFiles&) {}, kNoDate, "has expired"},
  };
  for (const Row& row : rows) {
    TlsFiles spoilt = files;
    row.spoil(spoilt);
    const Result<TlsSummary> refused = CheckTlsFiles(spoilt, row.now_s);
    ASSERT_FALSE(refused.ok()) << row.what;
    EXPECT_NE(refused.error().context.find(row.what), std::string::npos) << refused.error().context;
  }
}

// While authorities are renewed, the file has both, in any order.
TEST_F(TlsFilesTest, OldAuthorityBeforeANewOne_IsNoMistake) {
  const std::string old = authority.Sign("old", -60).cert;
  const auto own = CheckTlsFiles(files, kLongAgo);
  ASSERT_TRUE(own.ok());
  files.client_ca = Write("both.pem", old + authority.cert(), 0644);
  const auto both = CheckTlsFiles(files, own->expires_s - 600);
  ASSERT_TRUE(both.ok()) << both.error().context;
  ASSERT_EQ(both->files.size(), 2u);
  EXPECT_GT(both->files[1].expires_s, own->expires_s - 600) << "when the last one ends";
  files.client_ca = Write("none.pem", old + old, 0644);
  const auto refused = CheckTlsFiles(files, own->expires_s - 600);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().context.find("none.pem' holds certificates that have all expired"),
            std::string::npos);
}

// --- of upstreams

class UpstreamTlsTest : public TlsFilesTest {
 protected:
  UpstreamTlsFiles Upstream() const {
    return {.ca = files.client_ca, .cert = files.cert, .key = files.key};
  }
};

TEST_F(UpstreamTlsTest, GoodFiles_SayWhenTheyEnd) {
  const auto expiries = CheckUpstreamTls(Upstream(), kLongAgo);
  ASSERT_TRUE(expiries.ok()) << expiries.error().context;
  ASSERT_EQ(expiries->size(), 2u);
  EXPECT_EQ((*expiries)[0].path, files.client_ca);
  EXPECT_EQ((*expiries)[1].path, files.cert);
  const auto own = CheckTlsFiles(files, kLongAgo);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ((*expiries)[1].expires_s, own->expires_s);
  const auto none = CheckUpstreamTls({}, kLongAgo);
  ASSERT_TRUE(none.ok()) << "the authorities of the system";
  EXPECT_TRUE(none->empty());
}

TEST_F(UpstreamTlsTest, WrongFiles_AreNamed) {
  const auto refused = [&](const UpstreamTlsFiles& wrong, int64_t now_s) {
    const auto checked = CheckUpstreamTls(wrong, now_s);
    return checked.ok() ? "" : checked.error().context;
  };
  const CertificateFiles other = authority.Sign("other");
  UpstreamTlsFiles wrong = Upstream();
  wrong.key = Write("other.key", other.key, 0600);
  EXPECT_NE(refused(wrong, kLongAgo).find("other.key' is not the key of"), std::string::npos);
  wrong = Upstream();
  wrong.ca = files.key;
  EXPECT_NE(refused(wrong, kLongAgo).find("server.key' is no certificate"), std::string::npos);
  wrong = Upstream();
  wrong.cert = Write("old.pem", authority.Sign("old", -60).cert, 0644);
  const auto own = CheckTlsFiles(files, kLongAgo);
  ASSERT_TRUE(own.ok());
  const int64_t now_s = own->expires_s - 600;  // the others are good
  EXPECT_NE(refused(wrong, now_s).find("old.pem' is a certificate that has expired"),
            std::string::npos);
  EXPECT_EQ(refused(Upstream(), now_s), "");
}

TEST_F(UpstreamTlsTest, KeyThatOthersMayRead_IsRefused) {
  ASSERT_EQ(chmod(files.key.c_str(), 0640), 0);
  const auto refused = CheckUpstreamTls(Upstream(), kLongAgo);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().context.find("server.key' is a private key that others may read"),
            std::string::npos);
  ASSERT_EQ(chmod(files.key.c_str(), 0600), 0);
  EXPECT_TRUE(CheckUpstreamTls(Upstream(), kLongAgo).ok());
}

TEST_F(UpstreamTlsTest, OldAuthorityBesideANewOne_IsNoMistake) {
  const std::string old = authority.Sign("old", -60).cert;
  const auto own = CheckTlsFiles(files, kLongAgo);
  ASSERT_TRUE(own.ok());
  const int64_t now_s = own->expires_s - 600;
  const std::string both = Write("both.pem", old + authority.cert(), 0644);
  EXPECT_TRUE(CheckUpstreamTls({.ca = both, .cert = {}, .key = {}}, now_s).ok());
  const std::string none = Write("none.pem", old + old, 0644);
  const auto refused = CheckUpstreamTls({.ca = none, .cert = {}, .key = {}}, now_s);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().context.find("none.pem' holds certificates that have all expired"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::rpc
