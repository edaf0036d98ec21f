// Chakra files that mrcsim writes, read by what others use: protobuf's own decoder, with no schema of this project.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

/// The messages of a file: each behind its length as a varint.
std::vector<std::string> messages_of(const std::string& bytes) {
  std::vector<std::string> messages;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t length = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(at++));
      length |= static_cast<std::size_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) break;
    }
    messages.push_back(bytes.substr(at, length));
    EXPECT_EQ(messages.back().size(), length) << "the file ends with a whole message";
    at += length;
  }
  return messages;
}

std::string decode(const std::string& message, const std::string& how) {
  std::ofstream(test_folder() / "message", std::ios::binary) << message;
  const ProcessResult result = run_process("protoc " + how + " < %D/message");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

std::vector<std::string> generated() {
  const ProcessResult made = run_process(
      "mrcsim trace generate training_step --model moe_47b --layers 1 --sequence-tokens 512 --data-parallel 4 "
      "--expert-parallel 4 --out %D/moe.{rank}.et");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return messages_of(read_text(test_folder() / "moe.0.et"));
}

TEST(ChakraFiles, HoldTheFieldsOfTheFormatByNumber) {
  const std::vector<std::string> messages = generated();
  ASSERT_EQ(messages.size(), 1U + 13);
  EXPECT_EQ(decode(messages[0], "--decode_raw"), "1: \"0.0.4\"\n");
  const std::string collective = decode(messages[2], "--decode_raw");
  EXPECT_NE(collective.find("1: 1\n2: \"all_to_all_1\"\n3: 7\n"), std::string::npos) << collective;
  EXPECT_NE(collective.find("10 {\n  1: \"comm_size\"\n  9: 8388608\n}"), std::string::npos) << collective;
}

/// MRCSIM_CHAKRA_SCHEMA names et_def.proto of MLCommons' repository, which is not part of this one.
TEST(ChakraFiles, AreReadWithThePublicSchema) {
  const char* schema = std::getenv("MRCSIM_CHAKRA_SCHEMA");
  if (schema == nullptr) GTEST_SKIP() << "MRCSIM_CHAKRA_SCHEMA does not name the public et_def.proto";
  const std::filesystem::path path(schema);
  const std::string where = fmt::format("--proto_path={} {}", path.parent_path().string(), path.filename().string());
  const std::vector<std::string> messages = generated();
  EXPECT_EQ(decode(messages[0], "--decode=ChakraProtoMsg.GlobalMetadata " + where), "version: \"0.0.4\"\n");
  int collectives = 0;
  for (std::size_t i = 1; i < messages.size(); ++i) {
    const std::string node = decode(messages[i], "--decode=ChakraProtoMsg.Node " + where);
    EXPECT_NE(node.find("name: "), std::string::npos) << node;
    // A field that the schema does not know would be shown by its number.
    EXPECT_FALSE(std::regex_search(node, std::regex("(^|\n) *[0-9]+(:| \\{)"))) << node;
    collectives += node.find("type: COMM_COLL_NODE") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(collectives, 6);
}

}  // namespace
}  // namespace mrc
