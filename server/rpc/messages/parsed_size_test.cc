// SPDX-License-Identifier: MIT
#include "server/rpc/messages/parsed_size.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "proto/kiln/v1/batch.pb.h"
#include "proto/kiln/v1/compile.pb.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

std::string Times(size_t count, std::string_view part) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += part;
  }
  return all;
}

// A project of 2,000 programs, as `kiln build` sends it.
v1::StartBatchRequest Project() {
  v1::StartBatchRequest request;
  request.set_project("harbour");
  for (int i = 0; i < 2'000; ++i) {
    v1::ProgramSpace& space = *request.add_spaces();
    v1::Program& program = *space.mutable_program();
    program.set_name("rock/forward_" + std::to_string(i));
    for (const char* path : {"shaders/rock.rpl", "shaders/common/light.rpl"}) {
      v1::SourceRef& source = *program.add_sources();
      source.set_path(path);
      source.mutable_digest()->set_id(std::string(16, 'd'));
      source.mutable_digest()->set_size(1'000);
    }
    for (const char* name : {"fog", "shadows", "quality"}) {
      v1::Axis& axis = *space.add_axes();
      axis.set_name(name);
      axis.set_all(true);
    }
  }
  return request;
}

TEST(ParsedSize, EmptyParts_AreRefusedAndRequestsAreNot) {
  const google::protobuf::Descriptor& batch = *v1::StartBatchRequest::descriptor();
  const google::protobuf::Descriptor& count = *v1::CountVariantsRequest::descriptor();
  const google::protobuf::Descriptor& fetch = *v1::FetchRequest::descriptor();
  struct Row {
    const char* name;
    const google::protobuf::Descriptor& type;
    std::string wire;
    bool taken;
  };
  const auto part = [](const google::protobuf::Descriptor& of, const char* field, std::string in) {
    const auto tag = static_cast<char>(of.FindFieldByName(field)->number() << 3 | 2);
    return std::string(1, tag) + static_cast<char>(in.size()) + in;
  };
  const std::string axis = part(*v1::ProgramSpace::descriptor(), "axes", "");
  const std::vector<Row> rows = {
      {"nothing", count, "", true},
      {"a project", batch, Project().SerializeAsString(), true},
      {"some empty parts", count, Times(2'000, part(count, "spaces", "")), true},
      {"empty spaces", count, Times(500'000, part(count, "spaces", "")), false},
      {"empty spaces of a batch", batch, Times(500'000, part(batch, "spaces", "")), false},
      {"empty axes", batch, Times(20'000, part(batch, "spaces", Times(50, axis))), false},
      {"fields of no type", count, Times(500'000, std::string_view("\xFA\x07\x00", 3)), false},
      // A field of the type that is sent as another type is sent is an unknown field.
      {"numbers as texts", fetch, Times(500'000, std::string_view("\x32\x00", 2)), false},
      {"messages as numbers", count, Times(500'000, std::string_view("\x08\x01", 2)), true},
      {"numbers of another size", fetch, Times(500'000, std::string_view("\x35\0\0\0\0", 5)), true},
      {"empty groups of a field", fetch, Times(500'000, "\x33\x34"), false},
      {"empty groups of no field", fetch, Times(500'000, "\xFB\x07\xFC\x07"), false},
      {"fields of a group", fetch,
       "\x33" + Times(500'000, std::string_view("\x32\x00", 2)) + "\x34", false},
      {"groups in groups without end", fetch, Times(500'000, "\x33"), true},  // the parser stops
      {"a long text", batch,
       part(batch, "project", "p") + std::string("\xFA\x07\x80\x80\x80\x01", 6) +
           std::string(2'097'152, 't'),
       true},
      {"what ends too soon", count, "\x0A\xFF\xFF\xFF\x7F", true},  // the parser refuses it
      {"no field", count, "\xFF", true},
  };
  for (const Row& row : rows) {
    const Result<void> checked = CheckParts(AsBytes(row.wire), row.type);
    EXPECT_EQ(checked.ok(), row.taken) << row.name;
    EXPECT_EQ(checked.ok() ? "" : checked.error().reason, row.taken ? "" : kMalformed) << row.name;
  }
}

// The estimate is of the size that protobuf says, within a factor of two.
TEST(ParsedSize, IsAboutWhatProtobufTakes) {
  v1::CountVariantsRequest empties;
  for (int i = 0; i < 1'000; ++i) {
    (void)empties.add_spaces();
  }
  const v1::StartBatchRequest project = Project();
  for (const google::protobuf::Message* message :
       {static_cast<const google::protobuf::Message*>(&empties),
        static_cast<const google::protobuf::Message*>(&project)}) {
    const uint64_t counted =
        ParsedBytes(AsBytes(message->SerializeAsString()), *message->GetDescriptor(), UINT64_MAX);
    EXPECT_GT(counted, message->SpaceUsedLong() / 2);
    EXPECT_LT(counted, message->SpaceUsedLong() * 2);
  }
}

// What is counted of fields that protobuf keeps though it does not know them is what they take.
TEST(ParsedSize, UnknownFields_AreCountedAsProtobufKeepsThem) {
  constexpr size_t kParts = 100'000;
  const std::string long_text = std::string("\x32\x40", 2) + std::string(64, 't');
  for (const std::string& part : {
           std::string("\x32\x00", 2),          // a bool as an empty text
           long_text,                           // as a text that has room of its own
           std::string("\x08\x01"),             // a message as a number
           std::string("\x35\0\0\0\0", 5),      // a bool as a fixed number
           std::string("\x33\x34"),             // as an empty group
           std::string("\x33\x32\x00\x34", 4),  // as a group with a text in it
           std::string("\xFB\x07\xFC\x07"),     // a group of no field
           std::string("\xFA\x07\x00", 3),      // a text of no field
       }) {
    const std::string wire = Times(kParts, part);
    v1::FetchRequest request;
    ASSERT_TRUE(request.ParseFromString(wire)) << part.size();
    const uint64_t counted =
        ParsedBytes(AsBytes(wire), *v1::FetchRequest::descriptor(), UINT64_MAX);
    EXPECT_GE(counted, request.SpaceUsedLong()) << part.size();
    EXPECT_LT(counted, 4 * request.SpaceUsedLong()) << part.size();
  }
}

// As the parser: a hundred within each other, and what is deeper is not read.
TEST(ParsedSize, Groups_AreReadAsDeepAsTheParserReads) {
  const auto nested = [](size_t deep) {
    return Times(deep, "\x33") + Times(10'000, std::string_view("\x32\x00", 2)) +
           Times(deep, "\x34");
  };
  v1::FetchRequest request;
  ASSERT_TRUE(request.ParseFromString(nested(99)));
  EXPECT_GE(ParsedBytes(AsBytes(nested(99)), *request.GetDescriptor(), UINT64_MAX),
            request.SpaceUsedLong());
  EXPECT_FALSE(request.ParseFromString(nested(1'000)));
  EXPECT_LT(ParsedBytes(AsBytes(nested(1'000)), *request.GetDescriptor(), UINT64_MAX), 100'000U);
}

}  // namespace
}  // namespace kiln::rpc
