// SPDX-License-Identifier: MIT
// The entry of request_fuzz without libFuzzer: hostile requests, cut requests, random bytes.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "proto/kiln/v1/batch.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace kiln {
namespace {

void Feed(uint8_t kind, const std::string& bytes) {
  const std::string input = std::string(1, static_cast<char>(kind)) + bytes;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

v1::StartBatchRequest Hostile() {
  v1::StartBatchRequest request;
  request.set_pin(std::string(1000, 'p'));
  v1::ProgramSpace& space = *request.add_spaces();
  v1::Program& program = *space.mutable_program();
  for (const char* path : {"../../etc/passwd", "/etc/passwd", "a//b", "a\\b", "", "."}) {
    program.add_sources()->set_path(path);
  }
  v1::Target& target = *program.add_targets();
  target.set_form(static_cast<v1::Target::Form>(99));
  target.add_recipes("cross;to=msl99999999999999999999");
  v1::Variant& variant = *space.add_explicit_();
  variant.add_targets(0xFFFFFFFF);
  variant.add_options()->set_float_(1.0F / 0.0F);
  space.add_axes()->set_all(true);
  return request;
}

TEST(RequestSeeds, HostileRequestAndEveryCutOfIt_AreSurvived) {
  const v1::StartBatchRequest request = Hostile();
  const std::string bytes = request.SerializeAsString();
  for (uint8_t kind = 0; kind < 5; ++kind) {
    for (size_t size = 0; size <= bytes.size(); size += kind == 0 ? 1 : 7) {
      Feed(kind, bytes.substr(0, size));
    }
  }
  Feed(2, request.spaces(0).SerializeAsString());
  Feed(1, request.spaces(0).program().SerializeAsString());
  Feed(3, request.spaces(0).program().targets(0).SerializeAsString());
}

TEST(RequestSeeds, RandomBytes_AreSurvived) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random() % 256);
    }
    Feed(static_cast<uint8_t>(round), bytes);
  }
}

TEST(RequestSeeds, RandomChangesOfARequest_AreSurvived) {
  const std::string bytes = Hostile().SerializeAsString();
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = bytes;
    for (unsigned i = 0; i <= random() % 4; ++i) {
      changed[random() % changed.size()] = static_cast<char>(random() % 256);
    }
    Feed(0, changed);
  }
}

}  // namespace
}  // namespace kiln
