// SPDX-License-Identifier: BSD-3-Clause
// The main function of a fuzzer for compilers without libFuzzer: gives it each file of the command
// line once, as libFuzzer does.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(words[i], std::ios::binary);
    if (!file) return std::printf("cannot open '%s'\n", words[i]), 1;
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return 0;
}
