// What stands in for libFuzzer where a fuzz target is built as a test: runs it over the files of the folders given,
// each as it is and with single bytes changed or cut off, and over short random inputs. Says how many there were.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kChanges = 40, kRandomInputs = 500, kMostRandomBytes = 200;

int64_t runs = 0;

void Run(const Bytes& bytes) {
  const Bytes exact(bytes);  // of the exact size: what is read behind it is found
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  ++runs;
}

void RunChanged(const Bytes& bytes, std::mt19937_64& random) {
  Run(bytes);
  for (int i = 0; i < kChanges && !bytes.empty(); ++i) {
    Bytes changed = bytes;
    const size_t at = random() % bytes.size();
    if (i % 4 == 0) {
      changed.resize(at);
    } else {
      changed[at] ^= static_cast<uint8_t>(1 + random() % 255);
    }
    Run(changed);
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::mt19937_64 random(1);
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::is_directory(arguments[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      RunChanged(Bytes(std::istreambuf_iterator<char>(file), {}), random);
    }
  }
  for (int i = 0; i < kRandomInputs; ++i) {
    Bytes bytes(random() % kMostRandomBytes);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
    Run(bytes);
  }
  std::printf("%lld inputs\n", static_cast<long long>(runs));
  return 0;
}
