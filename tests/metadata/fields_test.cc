// SPDX-License-Identifier: MIT
// The field numbers that metadata is written with are those of metadata.proto.
#include "compiler/emit/metadata/fields.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::metadata {
namespace {

// "Buffer.main_size" -> number.
using Numbers = std::map<std::string, int>;

void Collect(const google::protobuf::Descriptor& message, const std::string& name,
             Numbers& numbers) {
  for (int i = 0; i < message.field_count(); ++i) {
    numbers[name + "." + message.field(i)->name()] = message.field(i)->number();
  }
  for (int i = 0; i < message.nested_type_count(); ++i) {
    Collect(*message.nested_type(i), message.nested_type(i)->name(), numbers);
  }
}

TEST(MetadataFields, Numbers_AreThoseOfTheProtoFile) {
  Numbers written;
#define KILN_FIELD(message, camel, name, number) written[#message "." #name] = number;
#include "compiler/emit/metadata/fields.def"
  Numbers declared;
  Collect(*v1::PipelineMetadata::descriptor(), "Pipeline", declared);
  EXPECT_EQ(written, declared);
}

}  // namespace
}  // namespace kiln::metadata
