// SPDX-License-Identifier: MIT
#include "client/cli/project/unread_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

client::OptionInfo Option(const char* name, std::vector<std::string> affects) {
  client::OptionInfo option;
  option.name = name;
  option.affects = std::move(affects);
  return option;
}

constexpr char kManifest[] = R"([project]
manifest = 1
[axes.weather]
fog = "*"
wet = "*"
[[program]]
name = "rock"
sources = ["rock.rpl"]
use = ["weather"]
axes = { lights = [1, 2], _later = "*" }
[[program]]
name = "sand"
sources = ["sand.rpl"]
use = ["weather"]
)";

// "4:1 fog (rock, sand)" of every one.
std::string Unread(std::vector<DeclaredOptions> declared) {
  const Result<project::Manifest> manifest = project::ReadManifest(kManifest, "kiln.toml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().context;
  std::string text;
  for (const UnreadAxis& axis : UnreadAxes(*manifest, declared)) {
    const PlacedDiagnostic& found = axis.diagnostic;
    EXPECT_EQ(found.code, "RPL7108");
    EXPECT_EQ(found.severity, Severity::kWarning);
    EXPECT_EQ(found.primary.path, "kiln.toml");
    text +=
        fmt::format("{}:{} {} ({})\n", found.primary.line, found.primary.column,
                    TextOf(manifest->text, found.primary.bytes), fmt::join(axis.programs, ", "));
  }
  return text;
}

client::OptionList Options(std::vector<client::OptionInfo> options) {
  client::OptionList listed;
  listed.options = std::move(options);
  return listed;
}

TEST(UnreadAxes, NobodyReads_IsReportedOnceWhereItStands) {
  const auto rock = Options(
      {Option("fog", {}), Option("wet", {"code"}), Option("lights", {}), Option("_later", {})});
  EXPECT_EQ(Unread({{"rock", rock}, {"sand", Options({Option("fog", {}), Option("wet", {})})}}),
            "4:1 fog (rock, sand)\n10:10 lights (rock)\n");
}

TEST(UnreadAxes, SetThatOneProgramReads_IsRead) {
  const auto rock = Options({Option("fog", {}), Option("wet", {}), Option("lights", {"layout"})});
  EXPECT_EQ(
      Unread({{"rock", rock}, {"sand", Options({Option("fog", {"settings"}), Option("wet", {})})}}),
      "5:1 wet (rock, sand)\n");
}

TEST(UnreadAxes, ProgramsThatAreNotKnown_MayReadIt) {
  const auto rock = Options({Option("fog", {}), Option("wet", {}), Option("lights", {})});
  EXPECT_EQ(Unread({{"rock", rock}}), "10:10 lights (rock)\n") << "sand was not asked for";
  auto broken = Options({});
  broken.diagnostics.push_back({.code = "RPL1101", .severity = Severity::kError});
  EXPECT_EQ(Unread({{"rock", rock}, {"sand", broken}}), "10:10 lights (rock)\n");
}

}  // namespace
}  // namespace kiln::cli
