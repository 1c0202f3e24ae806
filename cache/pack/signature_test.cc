// SPDX-License-Identifier: MIT
// Who asks for a signature gets the bytes that were signed, or nothing.
#include "cache/pack/signature.h"

#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "cache/pack/errors.h"
#include "cache/pack/signing/signing_key.h"
#include "cache/pack/signing/trust.h"
#include "cache/pack/test_pack_file.h"

namespace kiln::pack {
namespace {

using testing::AlignedBytes;
using testing::MakeSample;
using testing::PackFile;
using testing::Sample;
using testing::Seal;

// RFC 8410 §10.3 and §10.1: the same key.
constexpr std::string_view kPrivatePem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kPublicPem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
    "-----END PUBLIC KEY-----\n";

TEST(SigningKey, OfThePem_HasItsPublicKeyAndPem) {
  const Result<SigningKey> key = SigningKey::FromPem(kPrivatePem);
  ASSERT_TRUE(key.ok()) << ErrorText(key.error());
  EXPECT_EQ(key->Pem(), kPrivatePem);
  EXPECT_EQ(key->public_key().Pem(), kPublicPem);
  EXPECT_EQ(PublicKey::FromPem(kPublicPem).value(), key->public_key());
  EXPECT_EQ(PublicKeyOf(kPublicPem).value(), key->public_key());
  EXPECT_EQ(PublicKeyOf(kPrivatePem).value(), key->public_key());
  EXPECT_EQ(PublicKey::FromPem(kPrivatePem).error().reason, "BAD_KEY");
  EXPECT_EQ(key->public_key().Id(), Sha256(std::as_bytes(std::span(key->public_key().bytes))));
}

TEST(SigningKey, Signature_FitsItsMessageAndKeyOnly) {
  const SigningKey key = SigningKey::FromPem(kPrivatePem).value();
  const ByteView message = AsBytes("message");
  const Signature signature = key.Sign(message).value();
  EXPECT_EQ(signature, key.Sign(message).value());
  EXPECT_TRUE(IsSignedBy(key.public_key(), message, signature));
  EXPECT_FALSE(IsSignedBy(key.public_key(), AsBytes("massage"), signature));
  EXPECT_FALSE(IsSignedBy(SigningKey::Generate()->public_key(), message, signature));
  for (size_t i = 0; i < signature.size(); ++i) {
    Signature other = signature;
    other[i] ^= 1;
    EXPECT_FALSE(IsSignedBy(key.public_key(), message, other)) << i;
  }
  EXPECT_FALSE(IsSignedBy(PublicKey{}, message, Signature{}));
}

TEST(SigningKey, OtherTexts_AreNoKeys) {
  const std::string rsa =
      "-----BEGIN PUBLIC KEY-----\n"
      "MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf\n"
      "9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit+CqvjWYzvQwECAwEAAQ==\n"
      "-----END PUBLIC KEY-----\n";
  const std::string with_password =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
      "MIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBAAAAAAAAAAAAAAAAAA\n"
      "-----END ENCRYPTED PRIVATE KEY-----\n";
  for (const std::string& text :
       {std::string(), std::string("key"), rsa, with_password,
        std::string(kPublicPem.substr(0, 60)), std::string(1 << 20, 'A')}) {
    EXPECT_EQ(SigningKey::FromPem(text).ok() ? "" : SigningKey::FromPem(text).error().reason,
              "BAD_KEY");
    EXPECT_EQ(PublicKey::FromPem(text).ok() ? "" : PublicKey::FromPem(text).error().reason,
              "BAD_KEY");
    EXPECT_EQ(PublicKeyOf(text).ok() ? "" : PublicKeyOf(text).error().reason, "BAD_KEY");
  }
}

// Text around it, other line ends and widths are what tools write; anything else is another key or
// none.
TEST(PublicKey, FormsOfThePem_AreReadOrRefused) {
  const PublicKey key = PublicKey::FromPem(kPublicPem).value();
  std::string crlf(kPublicPem);
  for (size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) {
    crlf.insert(at, 1, '\r');
  }
  EXPECT_EQ(PublicKey::FromPem(crlf).value(), key);
  EXPECT_EQ(PublicKey::FromPem("a key:\n" + std::string(kPublicPem) + "the end\n").value(), key);
  for (size_t at = kPublicPem.find("MCow"); at < kPublicPem.find("-----END"); ++at) {
    std::string damaged(kPublicPem);
    damaged[at] = damaged[at] == '\n' ? '!' : damaged[at] == '%' ? 'A' : '%';
    EXPECT_FALSE(PublicKey::FromPem(damaged).ok()) << at;
    if (kPublicPem[at] != '\n') {
      EXPECT_FALSE(PublicKey::FromPem(damaged.erase(at, 1)).ok()) << at;
    }
  }
  // The last digit has two bits that mean nothing and have to be zero.
  std::string other(kPublicPem);
  other[other.find("ZuE=") + 2] = 'F';
  EXPECT_FALSE(PublicKey::FromPem(other).ok());
}

class PackSignature : public PackFile {
 protected:
  // Opens and reads everything; the reason why not, or empty.
  std::string ReasonOf(std::span<std::byte> bytes, std::vector<PublicKey> keys) {
    const auto pack = Pack::OpenBytes(bytes, {.require_signature = std::move(keys)});
    if (!pack.ok()) {
      return pack.error().reason;
    }
    const Result<void> verified = (*pack)->Verify();
    return verified.ok() ? "" : verified.error().reason;
  }

  const Sample sample = MakeSample(5, 2, 5);
  const SigningKey key = SigningKey::FromPem(kPrivatePem).value();
  const SigningKey other = SigningKey::Generate().value();
};

TEST_F(PackSignature, Signed_OpensForItsKeyAmongOthersAndForNobodyElse) {
  Write(sample, "a", {.key = &key});
  AlignedBytes bytes(TextOf("a"));
  EXPECT_EQ(ReasonOf(bytes.bytes(), {}), "");
  EXPECT_EQ(ReasonOf(bytes.bytes(), {key.public_key()}), "");
  EXPECT_EQ(ReasonOf(bytes.bytes(), {other.public_key(), key.public_key()}), "");
  EXPECT_EQ(ReasonOf(bytes.bytes(), {other.public_key()}), kSignatureBad);
  EXPECT_EQ(Open("a", {.require_signature = {key.public_key()}})->signer(), key.public_key());
}

TEST_F(PackSignature, Unsigned_IsRefusedWhereASignatureIsAskedFor) {
  Write(sample, "a");
  AlignedBytes bytes(TextOf("a"));
  EXPECT_EQ(ReasonOf(bytes.bytes(), {key.public_key()}), kSignatureMissing);
}

TEST_F(PackSignature, SameContentsAndKey_GiveTheSameBytes) {
  Write(sample, "a", {.key = &key});
  Write(sample, "b", {.key = &key});
  EXPECT_EQ(TextOf("a"), TextOf("b"));
}

TEST_F(PackSignature, FlippedBytesOutsideThePadding_AreNeverAccepted) {
  Write(sample, "a", {.key = &key});
  const std::string text = TextOf("a");
  std::vector<std::pair<uint64_t, uint64_t>> ranges{{0, sizeof(Header)}};
  const std::vector<SectionEntry> table = testing::TableIn(AsBytes(text));
  ranges.emplace_back(sizeof(Header), table.size() * sizeof(SectionEntry));
  for (const SectionEntry& section : table) {
    ASSERT_NE(section.stored_size, 0u);
    ranges.emplace_back(section.offset, section.stored_size);
  }
  std::mt19937 random(1);
  for (int i = 0; i < testing::Rounds(2000, 50'000); ++i) {
    AlignedBytes bytes(text);
    const auto& [begin, size] = ranges[random() % ranges.size()];
    bytes.bytes()[begin + random() % size] ^= static_cast<std::byte>(1U << (random() % 8));
    EXPECT_NE(ReasonOf(bytes.bytes(), {key.public_key()}), "") << begin;
  }
}

TEST_F(PackSignature, ForgeriesWithRightSums_AreRefused) {
  Write(sample, "a", {.key = &key});
  Write(sample, "forged", {.key = &other});
  const std::string text = TextOf("a");
  struct Row {
    std::string_view what;
    std::function<void(std::span<std::byte>)> change;
    std::string_view error;
  };
  const auto at = [&](SectionKind kind) { return testing::SectionIn(AsBytes(text), kind).offset; };
  for (const Row& row : std::vector<Row>{
           {"another artifact row",
            [&](std::span<std::byte> b) { b[at(SectionKind::kArtifacts) + 20] ^= std::byte{1}; },
            kSignatureBad},
           {"another info",
            [&](std::span<std::byte> b) { b[at(SectionKind::kInfo)] ^= std::byte{1}; },
            kSignatureBad},
           {"another row of HASH",
            [&](std::span<std::byte> b) { b[at(SectionKind::kHashes)] ^= std::byte{1}; },
            kSignatureBad},
           {"the key id of another, with its signature missing",
            [&](std::span<std::byte> b) {
              std::memcpy(b.data() + at(SectionKind::kSignature) + 4,
                          other.public_key().Id().data(), 32);
            },
            kSignatureBad},
           {"an algorithm of tomorrow",
            [&](std::span<std::byte> b) { b[at(SectionKind::kSignature)] = std::byte{2}; },
            kSignatureBad},
           {"without the flag", [&](std::span<std::byte> b) { b[88] = std::byte{0}; },
            kSignatureBad},
       }) {
    AlignedBytes bytes(text);
    row.change(bytes.bytes());
    Seal(bytes.bytes());
    EXPECT_EQ(ReasonOf(bytes.bytes(), {key.public_key()}), row.error) << row.what;
  }
}

// Whoever can make XXH3 sums fit still cannot change a block.
TEST_F(PackSignature, OtherDataWithRightSums_IsNeverHandedOut) {
  Write(sample, "a", {.key = &key});
  std::string text = TextOf("a");
  const SectionEntry data = testing::SectionIn(AsBytes(text), SectionKind::kData);
  text[data.offset] = static_cast<char>(text[data.offset] ^ 1);
  AlignedBytes bytes(testing::WithRows<BlockRow>(text, SectionKind::kBlocks, [&](auto& blocks) {
    blocks[0].sum = Checksum64(AsBytes(text).subspan(data.offset, blocks[0].stored_size));
  }));
  EXPECT_EQ(ReasonOf(bytes.bytes(), {key.public_key()}), kSignatureBad);
  EXPECT_EQ(ReasonOf(bytes.bytes(), {}), kCorrupt);  // HASH tells without a key, too
}

TEST_F(PackSignature, DeltaOfAnUnsignedBase_IsRefused) {
  const Sample sample = testing::MakeKinSample(1, 20, 0);
  Write(sample, "plain");
  Write(sample, "signed", {.key = &key});
  struct Row {
    std::string_view base;
    std::vector<PublicKey> base_keys;
    std::string_view error;
  };
  for (const Row& row : std::vector<Row>{{"plain", {}, kSignatureMissing},
                                         {"signed", {}, kSignatureMissing},
                                         {"signed", {key.public_key()}, ""}}) {
    const auto base = Open(std::string(row.base), {.require_signature = row.base_keys});
    Write(testing::MakeKinSample(1, 20, 1), "delta", {.base = base.get(), .key = &key});
    const auto pack =
        Pack::Open(Path("delta"), {.require_signature = {key.public_key()}, .base = base});
    EXPECT_EQ(pack.ok() ? "" : pack.error().reason, row.error) << row.base;
  }
}

TEST_F(PackSignature, CutFile_IsTruncatedBeforeAnythingElse) {
  Write(sample, "a", {.key = &key});
  const std::string text = TextOf("a");
  for (size_t size = 0; size < text.size(); size += 1499) {
    AlignedBytes cut(std::string_view(text).substr(0, size));
    EXPECT_EQ(ReasonOf(cut.bytes(), {key.public_key()}), kTruncated) << size;
  }
}

}  // namespace
}  // namespace kiln::pack
