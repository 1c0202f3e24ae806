// SPDX-License-Identifier: MIT
#include "compiler/base/hash/canonical.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

Hash128 Counting(uint8_t first) {
  Hash128 id;
  for (uint8_t i = 0; i < 16; ++i) {
    id.bytes[i] = static_cast<uint8_t>(first + i);
  }
  return id;
}

Bytes Flag(bool value) { return {std::byte{0}, std::byte{value}}; }

Bytes Typed(uint8_t type, uint32_t payload) {
  Bytes value{static_cast<std::byte>(type)};
  AppendLittle(value, payload);
  return value;
}

Bytes EnumValue(std::string_view text) {
  Bytes value{std::byte{4}};
  Append(value, AsBytes(text));
  return value;
}

CanonicalList Pair(std::string_view name, std::string_view value) {
  return CanonicalList().Text(name).Text(value);
}

CanonicalList Pair(std::string_view name, const Bytes& value) {
  return CanonicalList().Text(name).Raw(value);
}

void ExpectVector(const CanonicalWriter& writer, size_t size, std::string_view id) {
  EXPECT_EQ(writer.bytes().size(), size);
  EXPECT_EQ(writer.Key().hex(), id);
}

// The inputs of spec/cache 2.6, encoded field by field.
TEST(CanonicalWriter, SpecifiedVectors_Agree) {
  const Digest source = DigestOf("void main_vertex (void) {}\n");
  const CanonicalWriter module = CanonicalWriter("kiln.module.1")
                                     .Text(1, "rpl")
                                     .Content(2, source)
                                     .Hash(3, Counting(0x00))
                                     .Hash(4, Counting(0x10));
  ExpectVector(module, 93, "fc685d9cf3c87d21149786fc26f6163f");

  const CanonicalWriter program = CanonicalWriter("kiln.program.1")
                                      .List(1, CanonicalList().Hash(Counting(0x20)))
                                      .Text(2, "graphics_classic")
                                      .List(3, CanonicalList()
                                                   .List(Pair("debug", "names"))
                                                   .List(Pair("env", "vulkan1.1"))
                                                   .List(Pair("form", "spirv"))
                                                   .List(Pair("version", "1.3")))
                                      .Hash(4, Counting(0x00))
                                      .Hash(5, Counting(0x10));
  ExpectVector(program, 221, "e5dd214be8eb9e7a73cc31a8b46d11f0");

  const CanonicalWriter entry = CanonicalWriter("kiln.entry.1")
                                    .Hash(1, program.Key())
                                    .List(2, CanonicalList().List(Pair("vertex", "main_vertex")));
  ExpectVector(entry, 76, "3cda7870347b21d9b71fb9d5b395eeca");

  const CanonicalWriter variant =
      CanonicalWriter("kiln.variant.1")
          .Hash(1, entry.Key())
          .List(2, CanonicalList()
                       .List(Pair("bias", Typed(3, 0x3f000000)))
                       .List(Pair("fog", Flag(true)))
                       .List(Pair("lights", Typed(1, 4)))
                       .List(Pair("offset", Typed(2, static_cast<uint32_t>(-3))))
                       .List(Pair("quality", EnumValue("high"))));
  ExpectVector(variant, 173, "ef48bd507fcef0a476870094be6f60d2");

  ExpectVector(CanonicalWriter("kiln.live.1")
                   .Hash(1, entry.Key())
                   .List(2, CanonicalList()
                                .List(Pair("fog", Flag(true)))
                                .List(Pair("quality", EnumValue("high")))),
               91, "aa2ec496026d453b2a935a94c7e4ebd1");
  ExpectVector(CanonicalWriter("kiln.mask.1").Hash(1, entry.Key()).U32(2, 0), 42,
               "b8a370c249971d56165ff7b6790fb9f1");
  ExpectVector(CanonicalWriter("kiln.signature.1")
                   .Hash(1, entry.Key())
                   .List(2, CanonicalList()
                                .List(CanonicalList().U32(0).U32(3).Raw(Flag(true)))
                                .List(CanonicalList().U32(0).U32(7).Raw(Flag(false)))),
               107, "76ee383257a93494f4c846b0fdcb92e1");
  ExpectVector(CanonicalWriter("kiln.recipe.1")
                   .Content(1, source)
                   .Text(2, "opt;level=O;val=after")
                   .Hash(3, Counting(0x00)),
               90, "5da41fdc5683c2a49a8da5ce3478c674");
}

CanonicalWriter Sample() {
  return CanonicalWriter("kiln.sample.1")
      .Text(1, "grün")
      .U32(2, 7)
      .U64(3, uint64_t{1} << 40)
      .Hash(5, Counting(0))
      .Content(6, DigestOf("x"))
      .List(9, CanonicalList().Text("a").U32(5).U64(6).List(Pair("k", "v")));
}

// Reads every field of Sample; fails if anything is not as it was written.
Result<void> ReadSample(ByteView bytes) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, "kiln.sample.1"));
  KILN_TRY_VOID(reader.Text(1));
  KILN_TRY_VOID(reader.U32(2));
  KILN_TRY_VOID(reader.U64(3));
  KILN_TRY_VOID(reader.Hash(5));
  KILN_TRY_VOID(reader.Content(6));
  KILN_TRY(const std::vector<ByteView> items, reader.List(9));
  if (items.size() == 4) {
    KILN_TRY_VOID(DecodeText(items[0]));
    KILN_TRY_VOID(DecodeU32(items[1]));
    KILN_TRY_VOID(DecodeU64(items[2]));
    KILN_TRY_VOID(DecodeTuple(items[3], 2));
  }
  return reader.Finish();
}

TEST(CanonicalReader, WrittenFields_AreReadBack) {
  const Bytes bytes = Sample().bytes();
  Result<CanonicalReader> reader = CanonicalReader::Open(bytes, "kiln.sample.1");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->Text(1).value(), "grün");
  EXPECT_EQ(reader->U32(2).value(), 7u);
  EXPECT_EQ(reader->U64(3).value(), uint64_t{1} << 40);
  EXPECT_EQ(reader->Hash(5).value(), Counting(0));
  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_EQ(reader->Content(6).value(), DigestOf("x"));
  const std::vector<ByteView> items = reader->List(9).value();
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(DecodeText(items[0]).value(), "a");
  EXPECT_EQ(AsText(DecodeTuple(items[3], 2).value()[1]), "v");
  EXPECT_TRUE(reader->Has(1));
  EXPECT_FALSE(reader->Has(4));
  EXPECT_FALSE(reader->U32(4).ok());
  EXPECT_TRUE(reader->Finish().ok());
}

TEST(CanonicalReader, OtherDomainOrType_IsCorrupt) {
  const Bytes bytes = Sample().bytes();
  EXPECT_FALSE(CanonicalReader::Open(bytes, "kiln.sample.2").ok());
  EXPECT_FALSE(CanonicalReader::Open(bytes, "kiln.sample").ok());
  Result<CanonicalReader> reader = CanonicalReader::Open(bytes, "kiln.sample.1");
  EXPECT_EQ(reader->U64(2).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(reader->Hash(3).ok());
  EXPECT_FALSE(reader->List(2).ok());
}

TEST(CanonicalReader, MalformedFields_AreCorrupt) {
  const auto open = [](std::initializer_list<int> field) {
    Bytes bytes = CanonicalWriter("d").bytes();
    for (const int byte : field) {
      bytes.push_back(static_cast<std::byte>(byte));
    }
    return CanonicalReader::Open(bytes, "d").ok();
  };
  EXPECT_TRUE(open({}));
  EXPECT_TRUE(open({1, 0, 0, 0, 0}));
  EXPECT_TRUE(open({1, 0, 0, 0, 0, 2, 0, 0, 0, 0}));
  EXPECT_FALSE(open({1, 0, 0, 0, 0, 1, 0, 0, 0, 0})) << "tag twice";
  EXPECT_FALSE(open({2, 0, 0, 0, 0, 1, 0, 0, 0, 0})) << "tags descend";
  EXPECT_FALSE(open({1, 0, 0, 0})) << "length cut off";
  EXPECT_FALSE(open({1, 1, 0, 0, 0})) << "value cut off";
  EXPECT_FALSE(open({1, 255, 255, 255, 255, 0})) << "huge length";
}

TEST(DecodeList, MalformedLists_AreCorrupt) {
  const auto decode = [](std::initializer_list<int> list) {
    Bytes bytes;
    for (const int byte : list) {
      bytes.push_back(static_cast<std::byte>(byte));
    }
    return DecodeList(bytes).ok();
  };
  EXPECT_TRUE(decode({0, 0, 0, 0}));
  EXPECT_FALSE(decode({0, 0, 0}));
  EXPECT_FALSE(decode({0, 0, 0, 0, 0})) << "byte after the list";
  EXPECT_FALSE(decode({255, 255, 255, 255})) << "huge count";
  EXPECT_FALSE(decode({1, 0, 0, 0, 2, 0, 0, 0, 65})) << "item cut off";
}

TEST(DecodeText, NulOrInvalidUtf8_IsCorrupt) {
  EXPECT_TRUE(DecodeText(AsBytes("grün")).ok());
  EXPECT_FALSE(DecodeText(AsBytes(std::string_view("a\0b", 3))).ok());
  EXPECT_FALSE(DecodeText(AsBytes("\xff")).ok());
}

TEST(CanonicalReader, TruncatedAnywhere_IsCorrupt) {
  const Bytes bytes = Sample().bytes();
  ASSERT_TRUE(ReadSample(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadSample(ByteView(bytes).first(size)).ok()) << size;
  }
}

TEST(CanonicalReader, RandomFlips_NeverReadBeyondTheBytes) {
  std::mt19937 random(11);
  const Bytes bytes = Sample().bytes();
  for (int round = 0; round < 20000; ++round) {
    Bytes damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1u << random() % 8);
    static_cast<void>(ReadSample(damaged));  // the sanitizers watch
  }
}

}  // namespace
}  // namespace kiln
