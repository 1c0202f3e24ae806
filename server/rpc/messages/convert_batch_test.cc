// SPDX-License-Identifier: MIT
#include "server/rpc/messages/convert_batch.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/rpc/messages/convert_reply.h"

namespace kiln::rpc {
namespace {

v1::StartBatchRequest RequestOf(const std::vector<std::vector<std::string>>& targets) {
  v1::StartBatchRequest request;
  request.set_project("test");
  for (size_t i = 0; i < targets.size(); ++i) {
    v1::Program& program = *request.add_spaces()->mutable_program();
    program.set_name("p" + std::to_string(i));
    program.set_pipeline("graphics_classic");
    v1::SourceRef& source = *program.add_sources();
    source.set_path("p.rpl");
    ToProto(DigestOf(std::string_view("p")), *source.mutable_digest());
    for (const std::string& name : targets[i]) {
      v1::Target& target = *program.add_targets();
      target.set_name(name);
      target.set_form(v1::Target::META);
    }
  }
  return request;
}

// "p0:a,b p1:a" of what is built.
std::string Built(const v1::StartBatchRequest& request) {
  const Result<compile::BatchRequest> batch = FromProto(request);
  if (!batch.ok()) {
    return batch.error().context;
  }
  std::string text;
  for (const compile::BatchProgram& program : batch->programs) {
    text += (text.empty() ? "" : " ") + program.program.name;
    for (const compile::NamedTarget& target : program.targets) {
      text += ":" + target.name;
    }
  }
  return text;
}

// Everything that HLSL is read by makes another batch: its results would be others.
TEST(StartBatch, HlslSettings_AreInTheId) {
  using Edit = void (*)(v1::Hlsl&);
  constexpr Edit kEdits[] = {
      [](v1::Hlsl&) {},
      [](v1::Hlsl& hlsl) { (*hlsl.mutable_settings())["version"] = "2018"; },
      [](v1::Hlsl& hlsl) { (*hlsl.mutable_settings())["layout"] = "std"; },
      [](v1::Hlsl& hlsl) { hlsl.add_defines()->set_name("FOG"); },
      [](v1::Hlsl& hlsl) {
        v1::Hlsl::Define& define = *hlsl.add_defines();
        define.set_name("FOG");
        define.set_value("1");
      },
      [](v1::Hlsl& hlsl) { hlsl.add_include_roots("shaders"); },
      [](v1::Hlsl& hlsl) { hlsl.add_include_roots("lib"); },
      [](v1::Hlsl& hlsl) { hlsl.add_files()->set_path("a.hlsli"); },
      [](v1::Hlsl& hlsl) {
        v1::SourceRef& file = *hlsl.add_files();
        file.set_path("a.hlsli");
        ToProto(DigestOf(std::string_view("other")), *file.mutable_digest());
      },
      [](v1::Hlsl& hlsl) {
        ToProto(DigestOf(std::string_view("list")), *hlsl.mutable_file_list());
      },
  };
  std::set<std::string> ids;
  for (const Edit edit : kEdits) {
    v1::StartBatchRequest request = RequestOf({{"vk"}});
    edit(*request.mutable_spaces(0)->mutable_program()->mutable_hlsl());
    ids.insert(BatchIdOf(request).hex());
    ids.insert(BatchIdOf(request).hex());  // the same once more
  }
  EXPECT_EQ(ids.size(), std::size(kEdits));
}

// Settings are a map, and the same map makes the same id in whatever order it was filled.
TEST(StartBatch, OrderOfSettings_IsNotInTheId) {
  std::set<std::string> ids;
  for (const bool turned : {false, true}) {
    v1::StartBatchRequest request = RequestOf({{"vk"}});
    auto& settings =
        *request.mutable_spaces(0)->mutable_program()->mutable_hlsl()->mutable_settings();
    settings[turned ? "version" : "layout"] = turned ? "2018" : "std";
    settings[turned ? "layout" : "version"] = turned ? "std" : "2018";
    ids.insert(BatchIdOf(request).hex());
  }
  EXPECT_EQ(ids.size(), 1u);
}

TEST(StartBatch, NamedTargets_AreBuiltWhereTheyAre) {
  v1::StartBatchRequest request = RequestOf({{"vk", "web"}, {"vk"}, {"web"}});
  EXPECT_EQ(Built(request), "p0:vk:web p1:vk p2:web");
  request.add_targets("web");
  EXPECT_EQ(Built(request), "p0:web p2:web") << "the one without it is left out";
  request.add_targets("vk");
  EXPECT_EQ(Built(request), "p0:vk:web p1:vk p2:web");
  request.clear_targets();
  request.add_targets("wbe");
  EXPECT_NE(Built(request).find("no program has a target of these names"), std::string::npos);
}

}  // namespace
}  // namespace kiln::rpc
