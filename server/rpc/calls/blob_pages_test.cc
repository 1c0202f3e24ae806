// SPDX-License-Identifier: MIT
// Blobs in pages: what a page may hold, and that a blob is whole whether or not it may be kept
// between pages.
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "server/rpc/calls/cache_calls.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/message_limits.h"

namespace kiln::rpc {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(ByteRoom, ShareTable) {
  ByteRoom room(100);
  ByteRoom::Share one(room, ops::Party::Owner());
  EXPECT_TRUE(one.Take(60));
  {
    ByteRoom::Share two(room, ops::Party::Owner());
    EXPECT_FALSE(two.Take(41));
    EXPECT_TRUE(two.Take(40));
    EXPECT_FALSE(two.Take(1));
    EXPECT_FALSE(two.Take(UINT64_MAX));
    EXPECT_TRUE(room.IsFullFor(1));
    EXPECT_FALSE(room.IsFullFor(0));
    EXPECT_EQ(room.held(), 100U);
  }
  EXPECT_EQ(room.held(), 60U) << "a share that goes gives back";
  one.GiveBack(10);
  EXPECT_TRUE(one.Take(50));
  one.GiveBackAll();
  EXPECT_EQ(room.held(), 0U);
}

// What BlobPages needs of an engine: the store.
struct Shop {
  Shop() {
    std::mt19937_64 random(1);
    for (const uint64_t size : {uint64_t{0}, uint64_t{1}, kMiB, 2 * kMiB, 2 * kMiB + 1, 9 * kMiB}) {
      std::string bytes(size, '\0');
      for (char& byte : bytes) {
        byte = static_cast<char>(random());
      }
      blobs.push_back(bytes);
      const cache::Item item = cache::ContentItem(cache::CopiedBlob(AsBytes(bytes)));
      EXPECT_TRUE(store.Put(std::span(&item, 1), cache::Durability::kRelaxed, {}).ok());
      ToProto(DigestOf(std::string_view(bytes)), *request.add_digests());
    }
  }

  cache::MemoryStore store{nullptr, nullptr, cache::MemoryStore::Options{.max_bytes = 64 * kMiB}};
  std::vector<std::string> blobs;
  v1::GetBlobsRequest request;
};

TEST(BlobPages, WhatAPageHolds_IsBoundedAndBlobsAreWhole) {
  for (const uint64_t room_bytes : {uint64_t{0}, 4 * kMiB, 64 * kMiB}) {
    for (const bool zstd : {false, true}) {
      Shop shop;
      ByteRoom room(room_bytes);
      if (zstd) {
        shop.request.add_accept_codecs(v1::CODEC_ZSTD);
      }
      BlobPages pages(shop.store, room, ops::Party::Owner(), shop.request);
      std::map<std::string, std::string> got;
      for (;;) {
        v1::ErrorDetail detail;
        const auto page = pages.Next({}, detail);
        ASSERT_TRUE(page.ok()) << page.error().context;
        EXPECT_LE(room.held(), room_bytes);
        if (page->empty()) {
          break;
        }
        uint64_t bytes = 0;
        for (const v1::GetBlobsReply& reply : *page) {
          std::string& blob = got[reply.digest().id()];
          EXPECT_EQ(reply.offset(), blob.size());
          EXPECT_LE(reply.ByteSizeLong(), kMaxStreamMessage);
          blob += reply.data();
          bytes += reply.ByteSizeLong();
        }
        EXPECT_LE(bytes, kMaxStreamBuffer - kMaxStreamMessage);
      }
      EXPECT_EQ(room.held(), 0U);
      ASSERT_EQ(got.size(), shop.blobs.size());
      for (int i = 0; i < shop.request.digests_size(); ++i) {
        EXPECT_TRUE(got[shop.request.digests(i).id()] == shop.blobs[static_cast<size_t>(i)])
            << room_bytes << " " << i;
      }
    }
  }
}

TEST(BlobPages, BlobThatGoesBetweenPages_EndsTheStream) {
  Shop shop;
  ByteRoom room(0);
  v1::GetBlobsRequest request;
  *request.add_digests() = shop.request.digests(5);
  BlobPages pages(shop.store, room, ops::Party::Owner(), request);
  v1::ErrorDetail detail;
  ASSERT_TRUE(pages.Next({}, detail).ok());
  shop.store.Clear();
  const auto lost = pages.Next({}, detail);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().reason, "CONTENT_LOST");
}

}  // namespace
}  // namespace kiln::rpc
