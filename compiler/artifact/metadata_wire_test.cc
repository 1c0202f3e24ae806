// SPDX-License-Identifier: MIT
// The reader of engines against protobuf's parser, over messages that have every field, random
// ones, and damaged ones: both refuse the same bytes, and read the same values out of the others.
#include "compiler/artifact/metadata_wire.h"

#include <random>
#include <string>

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::artifact {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Wire = v1::PipelineMetadata;

// Compares every field of a message that was read with protobuf's; a difference is a failed test.
class Comparison {
 public:
  template <class Own>
  void Compare(const Own& own, const Message& other) {
    const Descriptor& type = *other.GetDescriptor();
    size_t fields = 0;
    std::apply(
        [&](const auto&... field) {
          ((++fields, CompareField(own.*field.member, other,
                                   type.FindFieldByNumber(static_cast<int>(field.number)))),
           ...);
        },
        wire::FieldsOf<Own>::All());
    EXPECT_EQ(fields, static_cast<size_t>(type.field_count())) << type.full_name();
  }

 private:
  template <class Value>
  void CompareField(const Value& own, const Message& other, const FieldDescriptor* field) {
    ASSERT_NE(field, nullptr) << other.GetTypeName();
    other_ = &other;
    reflection_ = other.GetReflection();
    field_ = field;
    Is(own);
  }

  void Is(uint32_t own) { EXPECT_EQ(own, reflection_->GetUInt32(*other_, field_)) << Name(); }
  void Is(bool own) { EXPECT_EQ(own, reflection_->GetBool(*other_, field_)) << Name(); }
  void Is(float own) {
    EXPECT_EQ(std::bit_cast<uint32_t>(own),
              std::bit_cast<uint32_t>(reflection_->GetFloat(*other_, field_)))
        << Name();
  }
  void Is(const wire::Text& own) {
    EXPECT_EQ(std::string(own), reflection_->GetString(*other_, field_)) << Name();
  }
  void Is(const wire::RawBytes& own) {
    EXPECT_EQ(AsText(own.bytes), reflection_->GetString(*other_, field_)) << Name();
  }
  void Is(const wire::Numbers& own) {
    ASSERT_EQ(own.size(), Count()) << Name();
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i], reflection_->GetRepeatedUInt32(*other_, field_, static_cast<int>(i)))
          << Name();
    }
  }
  template <class Own>
  void Is(const std::optional<Own>& own) {
    ASSERT_EQ(own.has_value(), reflection_->HasField(*other_, field_)) << Name();
    if (own) {
      Is(*own);
    }
  }
  template <class Item>
  void Is(const wire::List<Item>& own) {
    ASSERT_EQ(own.count, Count()) << Name();
    ASSERT_EQ(own.items.size(), std::min(own.count, wire::kMaxItems)) << Name();
    const Message& other = *other_;
    const FieldDescriptor* const field = field_;
    for (size_t i = 0; i < own.items.size(); ++i) {
      IsItem(own.items[i], other, *field, static_cast<int>(i));
    }
  }
  void IsItem(const wire::Text& own, const Message& other, const FieldDescriptor& field, int i) {
    EXPECT_EQ(std::string(own), other.GetReflection()->GetRepeatedString(other, &field, i));
  }
  void IsItem(const wire::RawBytes& own, const Message& other, const FieldDescriptor& field,
              int i) {
    EXPECT_EQ(AsText(own.bytes), other.GetReflection()->GetRepeatedString(other, &field, i));
  }
  template <class Own>
  void IsItem(const Own& own, const Message& other, const FieldDescriptor& field, int i) {
    Compare(own, other.GetReflection()->GetRepeatedMessage(other, &field, i));
  }
  template <class Own>
  void Is(const Own& own) {
    Compare(own, reflection_->GetMessage(*other_, field_));
  }

  size_t Count() const { return static_cast<size_t>(reflection_->FieldSize(*other_, field_)); }
  std::string Name() const { return field_->full_name(); }

  const Message* other_ = nullptr;
  const Reflection* reflection_ = nullptr;
  const FieldDescriptor* field_ = nullptr;
};

// Whether protobuf takes the bytes; what it reads has to be what is read here.
bool SameAsProtobuf(const std::string& bytes) {
  const google::protobuf::LogSilencer quiet;
  Wire other;
  const bool taken = other.ParseFromString(bytes);
  const std::optional<wire::Pipeline> own = wire::ReadPipeline(AsBytes(bytes));
  EXPECT_EQ(own.has_value(), taken);
  if (own && taken) {
    Comparison().Compare(*own, other);
  }
  return taken;
}

// Fills messages with values of chance.
class RandomMessage {
 public:
  explicit RandomMessage(uint32_t seed) : random_(seed) {}

  void Fill(Message& message, uint32_t skip_one_in) {
    const Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      if (skip_one_in != 0 && random_() % skip_one_in == 0) {
        continue;
      }
      const uint32_t times = type.field(i)->is_repeated() ? random_() % 4 : 1;
      for (uint32_t k = 0; k < times; ++k) {
        Set(message, *type.field(i), skip_one_in);
      }
    }
  }

 private:
  std::string Text() {
    static const char* const kTexts[] = {"", "less", "wiese_\xc3\xbc", "image_color_2d",
                                         "a name that is longer than a short string holds"};
    return kTexts[random_() % std::size(kTexts)];
  }
  uint32_t Number() { return static_cast<uint32_t>(random_() >> (random_() % 32)); }

  void Set(Message& message, const FieldDescriptor& field, uint32_t skip_one_in) {
    const Reflection& reflection = *message.GetReflection();
    const bool more = field.is_repeated();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_UINT32:
        more ? reflection.AddUInt32(&message, &field, Number())
             : reflection.SetUInt32(&message, &field, Number());
        return;
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection.SetBool(&message, &field, random_() % 2 == 0);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection.SetFloat(&message, &field, std::bit_cast<float>(Number()));
      case FieldDescriptor::CPPTYPE_STRING:
        more ? reflection.AddString(&message, &field, Text())
             : reflection.SetString(&message, &field, Text());
        return;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Fill(*(more ? reflection.AddMessage(&message, &field)
                           : reflection.MutableMessage(&message, &field)),
                    skip_one_in);
      default:
        FAIL() << field.full_name() << " has a type that is not read";
    }
  }

  std::mt19937 random_;
};

std::string Sample(uint32_t seed, uint32_t skip_one_in) {
  Wire message;
  RandomMessage(seed).Fill(message, skip_one_in);
  return message.SerializeAsString();
}

TEST(MetadataWire, EveryField_IsReadAsProtobufDoes) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    EXPECT_TRUE(SameAsProtobuf(Sample(seed, 0)));
  }
}

TEST(MetadataWire, SomeFields_AreReadAsProtobufDoes) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    EXPECT_TRUE(SameAsProtobuf(Sample(seed, 2 + seed % 5)));
  }
  EXPECT_TRUE(SameAsProtobuf(""));
}

// What a field says again replaces a value, adds to a list and is merged into a message.
TEST(MetadataWire, TwoMessagesInOne_AreMergedAsProtobufDoes) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    EXPECT_TRUE(SameAsProtobuf(Sample(seed, 3) + Sample(seed + 1000, 2)));
  }
}

TEST(MetadataWire, EveryCut_IsTakenOrRefusedAsByProtobuf) {
  const std::string whole = Sample(7, 4);
  size_t refused = 0;
  for (size_t size = 0; size <= whole.size(); ++size) {
    refused += SameAsProtobuf(whole.substr(0, size)) ? 0 : 1;
  }
  EXPECT_GT(refused, whole.size() / 2);
}

TEST(MetadataWire, DamagedBytes_AreTakenOrRefusedAsByProtobuf) {
  std::mt19937 random(11);
  size_t taken = 0;
  size_t refused = 0;
  for (uint32_t round = 0; round < 30'000; ++round) {
    std::string bytes = Sample(round % 50, 2 + round % 4);
    for (uint32_t edits = 1 + random() % 3; edits != 0 && !bytes.empty(); --edits) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1U << random() % 8));
          break;
        case 2:
          bytes.insert(at, 1 + random() % 11, static_cast<char>(random()));
          break;
        default:
          bytes.erase(at, 1 + random() % 3);
      }
    }
    (SameAsProtobuf(bytes) ? taken : refused) += 1;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
  EXPECT_GT(taken, 1000U);
  EXPECT_GT(refused, 1000U);
}

struct WireCase {
  const char* name;
  std::string bytes;
  bool taken;
};

class WireForm : public ::testing::TestWithParam<WireCase> {};

TEST_P(WireForm, Bytes_AreTakenOrRefusedAsByProtobuf) {
  EXPECT_EQ(SameAsProtobuf(GetParam().bytes), GetParam().taken);
}

std::string Repeated(const char* text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

using namespace std::string_literals;

INSTANTIATE_TEST_SUITE_P(
    Forms, WireForm,
    ::testing::Values(
        WireCase{"PushSizeOfTenBytes", "\x30\x85\x80\x80\x80\x80\x80\x80\x80\x80\x01"s, true},
        WireCase{"PushSizeOfElevenBytes", "\x30\x85\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s,
                 false},
        WireCase{"PushSizeOfAnotherType", "\x32\x01z"s, true},
        WireCase{"TypeAsANumber", "\x08\x05"s, true}, WireCase{"FieldZero", "\x00\x01"s, false},
        WireCase{"TagOfFiveBytes", "\xb0\x80\x80\x80\x70\x05"s, true},
        WireCase{"TagOfSixBytes", "\xb0\x80\x80\x80\x80\x00\x05"s, false},
        WireCase{"LengthOfFiveBytes", "\x0a\x83\x80\x80\x80\x00tri"s, true},
        WireCase{"LengthOfSixBytes", "\x0a\x83\x80\x80\x80\x80\x00tri"s, false},
        WireCase{"LengthOfFourGibibytes", "\x0a\xff\xff\xff\xff\x0ftri"s, false},
        WireCase{"LengthBeyondTheParent", "\x12\x03\x0a\x05vertex"s, false},
        WireCase{"TextOfASurrogate", "\x0a\x03\xed\xa0\x80"s, false},
        WireCase{"TextOfALongForm", "\x0a\x02\xc0\x80"s, false},
        WireCase{"HashThatIsNoText", "\x72\x02\xff\xfe"s, true},
        WireCase{"UnknownFixed64",
                 "\xf9\x3f"
                 "12345678"s,
                 true},
        WireCase{"UnknownFixed64Cut",
                 "\xf9\x3f"
                 "1234567"s,
                 false},
        WireCase{"UnknownGroup", "\xfb\x3f\x08\x01\xfc\x3f"s, true},
        WireCase{"GroupWithAnotherEnd", "\xfb\x3f\x08\x01\xf4\x3f"s, false},
        WireCase{"GroupWithoutAnEnd", "\xfb\x3f\x08\x01"s, false},
        WireCase{"EndOfNoGroup", "\xfc\x3f"s, false}, WireCase{"WireTypeSix", "\x0e\x01"s, false},
        WireCase{"HundredGroups", Repeated("\xfb\x3f", 100) + Repeated("\xfc\x3f", 100), true},
        WireCase{"HundredAndOneGroups", Repeated("\xfb\x3f", 101) + Repeated("\xfc\x3f", 101),
                 false},
        // sets { material { buffers { span { } } } } and groups where the span stands.
        WireCase{
            "GroupsInMessages",
            "\x2a\xc4\x01\x12\xc1\x01\x0a\xbe\x01"s + Repeated("\x0b", 95) + Repeated("\x0c", 95),
            true},
        WireCase{
            "TooManyGroupsInMessages",
            "\x2a\xce\x01\x12\xcb\x01\x0a\xc8\x01"s + Repeated("\x0b", 100) + Repeated("\x0c", 100),
            false}),
    [](const auto& info) { return info.param.name; });

TEST(MetadataWire, ListsBeyondTheLimit_AreCountedNotKept) {
  Wire message;
  for (size_t i = 0; i < wire::kMaxItems + 5; ++i) {
    message.add_required_features("f");
  }
  const std::string bytes = message.SerializeAsString();
  const auto own = wire::ReadPipeline(AsBytes(bytes));
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->required_features.count, wire::kMaxItems + 5);
  EXPECT_EQ(own->required_features.items.size(), wire::kMaxItems);
}

}  // namespace
}  // namespace kiln::artifact
