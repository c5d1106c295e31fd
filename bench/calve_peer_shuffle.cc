// Times the decoding of shuffle blocks.
//
//   calve_peer_shuffle [--rounds N] [--trusted] [--as-they-lie] [--cold] [--keep] [--reader R] [--serve] DATA INDEX
//   calve_peer_shuffle --make COLUMNSxROWS[-dict] --codec none|lz4|zstd --blocks N DATA INDEX
//
// R: calve (default), c-data (calve, through the C Data Interface), arrow (Arrow's RecordBatchStreamReader), and
// controls: codec (decompression alone), pass (one pass over the decoded offsets and strings), schema (the schema
// message parsed alone). --as-they-lie copies no values for their alignment, as Arrow does not. --cold empties the
// schema cache before each block. Prints blocks, rows, the median of rounds in microseconds a block (of this thread's
// CPU time), allocations and bytes allocated a block, and a checksum.
#include "calve/ipc/message.h"
#include "calve/ipc/schema_cache.h"
#include "calve/ipc/stream_decoder.h"
#include "calve/shuffle/block_decoder.h"
#include "calve/shuffle_block.h"
#include "support/arguments.h"
#include "support/checksum.h"

#include <arrow/api.h>
#include <arrow/c/abi.h>
#include <arrow/io/compressed.h>
#include <arrow/io/file.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <new>

namespace {
bool counting = false;
int64_t allocations = 0, allocated_bytes = 0;

void* Counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  if (counting) ++allocations, allocated_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  return memory;
}
}  // namespace

void* operator new(size_t size) { return Counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new[](size_t size) { return Counted(std::malloc(size == 0 ? 1 : size)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace calve::bench {
namespace {

using arrow::Result;
using arrow::Status;

struct Options {
  int rounds = 5;
  bool trusted = false, align_values = true, cold = false, keep = false, serve = false;
  std::string reader = "calve", make, codec = "none";
  int64_t blocks = 1;
  std::vector<std::string> files;
};

/// The default pool, counted.
class CountingPool final : public arrow::ProxyMemoryPool {
 public:
  CountingPool() : ProxyMemoryPool(arrow::default_memory_pool()) {}
  using ProxyMemoryPool::Allocate;
  Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    if (counting) ++allocations, allocated_bytes += size;
    return ProxyMemoryPool::Allocate(size, alignment, out);
  }
  using ProxyMemoryPool::Reallocate;
  Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override {
    if (counting) ++allocations, allocated_bytes += new_size;
    return ProxyMemoryPool::Reallocate(old_size, new_size, alignment, ptr);
  }
};

// ---- Making data.

Result<std::shared_ptr<arrow::Array>> MakeColumn(int64_t rows, bool is_text, bool is_dictionary, uint64_t seed) {
  if (!is_text) {
    arrow::Int64Builder builder;
    for (int64_t i = 0; i < rows; ++i) {
      ARROW_RETURN_NOT_OK(
          builder.Append(static_cast<int64_t>((static_cast<uint64_t>(i) + seed * 1000) * 2654435761U % 1000003)));
    }
    return builder.Finish();
  }
  arrow::StringBuilder plain;
  arrow::StringDictionary32Builder dictionary;
  for (int64_t i = 0; i < rows; ++i) {
    const auto number = (static_cast<uint64_t>(i) + seed) * 7919 % (is_dictionary ? 64 : 100003);
    const std::string text = fmt::format("value_{}", number);
    ARROW_RETURN_NOT_OK(is_dictionary ? dictionary.Append(text) : plain.Append(text));
  }
  std::shared_ptr<arrow::Array> column;
  ARROW_RETURN_NOT_OK(is_dictionary ? dictionary.Finish(&column) : plain.Finish(&column));
  return column;
}

Status Make(const Options& options) {
  int columns = 0;
  long rows = 0;  // NOLINT(google-runtime-int)
  if (std::sscanf(options.make.c_str(), "%dx%ld", &columns, &rows) != 2)
    return Status::Invalid("no shape ", options.make);
  const bool dictionaries = options.make.ends_with("-dict");
  ShuffleBlockWriteOptions write;
  write.codec = options.codec == "none"  ? ShuffleCodec::kNone
                : options.codec == "lz4" ? ShuffleCodec::kLz4
                                         : ShuffleCodec::kZstd;
  std::unique_ptr<ShuffleBlockWriter> writer;
  ARROW_ASSIGN_OR_RAISE(auto out, arrow::io::FileOutputStream::Open(options.files[0]));
  for (int64_t block = 0; block < options.blocks; ++block) {
    arrow::ArrayVector arrays;
    arrow::FieldVector fields;
    for (int c = 0; c < columns; ++c) {
      ARROW_ASSIGN_OR_RAISE(auto column,
                            MakeColumn(rows, c % 2 == 1, dictionaries, static_cast<uint64_t>(block * columns + c)));
      fields.push_back(arrow::field(fmt::format("c{}", c), column->type()));
      arrays.push_back(std::move(column));
    }
    const auto batch = arrow::RecordBatch::Make(arrow::schema(fields), rows, arrays);
    if (writer == nullptr) {
      ARROW_ASSIGN_OR_RAISE(writer, ShuffleBlockWriter::Make(batch->schema(), write));
    }
    ARROW_ASSIGN_OR_RAISE(const auto bytes, writer->Encode(*batch));
    ARROW_RETURN_NOT_OK(out->Write(bytes.data(), static_cast<int64_t>(bytes.size())));
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t end, out->Tell());
  ARROW_RETURN_NOT_OK(out->Close());
  ARROW_ASSIGN_OR_RAISE(auto index, arrow::io::FileOutputStream::Open(options.files[1]));
  const int64_t offsets[2] = {0, static_cast<int64_t>(__builtin_bswap64(static_cast<uint64_t>(end)))};
  ARROW_RETURN_NOT_OK(index->Write(offsets, sizeof(offsets)));
  return index->Close();
}

// ---- Reading it.

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

struct Input {
  std::shared_ptr<arrow::Buffer> data;
  std::vector<std::pair<ShuffleBlockHeader, std::shared_ptr<arrow::Buffer>>> payloads;
};

Result<Input> Open(const std::string& path) {
  Input input;
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::MemoryMappedFile::Open(path, arrow::io::FileMode::READ));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(input.data, file->ReadAt(0, size));
  for (int64_t at = 0; at < size;) {
    ARROW_ASSIGN_OR_RAISE(const auto header,
                          ParseShuffleBlockHeader({input.data->data() + at, static_cast<size_t>(size - at)}));
    input.payloads.emplace_back(header,
                                arrow::SliceBuffer(input.data, at + ShuffleBlockHeader::kSize, header.payload_size()));
    at += header.block_size();
  }
  return input;
}

class Bench {
 public:
  Bench(const Options& options, Input input) : options_(options), input_(std::move(input)) { context_.pool = &pool_; }

  Status Round(Batches* kept, Checksum* checksum) {
    if (options_.reader == "calve") return Calve(kept, checksum);
    if (options_.reader == "c-data") return CData();
    if (options_.reader == "arrow") return Arrow(kept, checksum);
    if (options_.reader == "codec") return Codec();
    if (options_.reader == "pass") return Pass();
    if (options_.reader == "schema") return Schema();
    return Status::Invalid("no reader ", options_.reader);
  }
  int64_t blocks() const { return static_cast<int64_t>(input_.payloads.size()); }

 private:
  Status Take(std::shared_ptr<arrow::RecordBatch> batch, Batches* kept, Checksum* checksum) const {
    if (checksum != nullptr) return checksum->Add(*batch);
    if (options_.keep) kept->push_back(std::move(batch));
    return Status::OK();
  }

  Status Calve(Batches* kept, Checksum* checksum) {
    ShuffleBlockReadOptions read;
    read.trusted = options_.trusted;
    read.align_values = options_.align_values;
    auto reader = ShuffleBlockReader::Make(input_.data, read, context_);
    while (true) {
      if (options_.cold) ipc::ThreadSchemaCache().Clear();
      ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
      if (batch == nullptr) return Status::OK();
      ARROW_RETURN_NOT_OK(Take(std::move(batch), kept, checksum));
    }
  }

  Status CData() {
    ShuffleBlockReadOptions read;
    read.trusted = options_.trusted;
    read.align_values = options_.align_values;
    auto reader = ShuffleBlockReader::Make(input_.data, read, context_);
    while (true) {
      ArrowArray array;
      ARROW_ASSIGN_OR_RAISE(const bool more, reader->Next(&array));
      if (!more) return Status::OK();
      array.release(&array);
    }
  }

  Status Arrow(Batches* kept, Checksum* checksum) {
    auto read = arrow::ipc::IpcReadOptions::Defaults();
    read.memory_pool = &pool_;
    read.use_threads = false;
    for (const auto& [header, payload] : input_.payloads) {
      std::shared_ptr<arrow::io::InputStream> stream = std::make_shared<arrow::io::BufferReader>(payload);
      if (header.codec != ShuffleCodec::kNone) {
        ARROW_ASSIGN_OR_RAISE(
            auto codec, arrow::util::Codec::Create(header.codec == ShuffleCodec::kLz4 ? arrow::Compression::LZ4_FRAME
                                                                                      : arrow::Compression::ZSTD));
        codecs_.push_back(std::move(codec));
        ARROW_ASSIGN_OR_RAISE(stream, arrow::io::CompressedInputStream::Make(codecs_.back().get(), stream, &pool_));
      }
      ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchStreamReader::Open(stream, read));
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
      if (!options_.trusted) ARROW_RETURN_NOT_OK(batch->ValidateFull());
      ARROW_RETURN_NOT_OK(Take(std::move(batch), kept, checksum));
    }
    codecs_.clear();
    return Status::OK();
  }

  /// Into memory that is there already.
  Status Codec() {
    std::vector<uint8_t>& out = scratch_;
    out.resize(size_t{16} << 20);
    for (const auto& [header, payload] : input_.payloads) {
      const std::span<const uint8_t> bytes(payload->data(), static_cast<size_t>(payload->size()));
      if (header.codec == ShuffleCodec::kLz4) {
        ARROW_RETURN_NOT_OK(lz4_.Open(bytes));
        ARROW_RETURN_NOT_OK(lz4_.Read(out.data(), static_cast<int64_t>(out.size())).status());
      } else if (header.codec == ShuffleCodec::kZstd) {
        ARROW_RETURN_NOT_OK(zstd_.Open(bytes));
        ARROW_RETURN_NOT_OK(zstd_.Read(out.data(), static_cast<int64_t>(out.size())).status());
      }
    }
    return Status::OK();
  }

  /// Reads every word of offsets and characters once, of batches that are decoded already.
  Status Pass() {
    if (decoded_.empty()) {
      auto reader = ShuffleBlockReader::Make(input_.data, {}, context_);
      for (int64_t i = 0; i < blocks(); ++i) {
        ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
        decoded_.push_back(std::move(batch));
      }
    }
    uint64_t sum = 0;
    const auto add = [&](const arrow::Buffer& buffer) {
      const auto* words = reinterpret_cast<const uint64_t*>(buffer.data());
      for (int64_t i = 0; i < buffer.size() / 8; ++i) sum |= words[i];
    };
    for (const auto& batch : decoded_) {
      for (int c = 0; c < batch->num_columns(); ++c) {
        const auto column = batch->column_data(c);
        if (column->type->id() == arrow::Type::STRING) add(*column->buffers[1]), add(*column->buffers[2]);
        if (column->dictionary == nullptr) continue;
        add(*column->buffers[1]), add(*column->dictionary->buffers[1]), add(*column->dictionary->buffers[2]);
      }
    }
    sink_ = sum;
    return Status::OK();
  }

  Status Schema() {
    for (const auto& [header, payload] : input_.payloads) {
      if (header.codec != ShuffleCodec::kNone) return Status::Invalid("schema: only of uncompressed blocks");
      int32_t size = 0;
      std::memcpy(&size, payload->data() + 4, sizeof(size));
      ipc::ThreadSchemaCache().Clear();
      ARROW_RETURN_NOT_OK(ipc::ThreadSchemaCache().Find({payload->data() + 8, static_cast<size_t>(size)}).status());
    }
    return Status::OK();
  }

  const Options& options_;
  Input input_;
  CountingPool pool_;
  Context context_;
  std::vector<std::unique_ptr<arrow::util::Codec>> codecs_;
  shuffle::Lz4Source lz4_;
  shuffle::ZstdSource zstd_;
  std::vector<uint8_t> scratch_;
  Batches decoded_;
  volatile uint64_t sink_ = 0;
};

double CpuMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// Microseconds a block.
Result<double> TimeRound(Bench* bench) {
  Batches kept;
  kept.reserve(static_cast<size_t>(bench->blocks()));
  const double started = CpuMicroseconds();
  ARROW_RETURN_NOT_OK(bench->Round(&kept, nullptr));
  return (CpuMicroseconds() - started) / static_cast<double>(bench->blocks());
}

Result<Options> Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--rounds") {
      options.rounds = std::atoi(value().c_str());
    } else if (word == "--trusted") {
      options.trusted = true;
    } else if (word == "--as-they-lie") {
      options.align_values = false;
    } else if (word == "--cold") {
      options.cold = true;
    } else if (word == "--keep") {
      options.keep = true;
    } else if (word == "--serve") {
      options.serve = true;
    } else if (word == "--reader") {
      options.reader = value();
    } else if (word == "--make") {
      options.make = value();
    } else if (word == "--codec") {
      options.codec = value();
    } else if (word == "--blocks") {
      options.blocks = std::atoll(value().c_str());
    } else if (word.starts_with("--")) {
      return Status::Invalid("unknown option ", word);
    } else {
      options.files.push_back(word);
    }
  }
  if (options.files.size() != 2 || options.rounds < 1) return Status::Invalid("wanted: DATA INDEX");
  return options;
}

Status Run(const Options& options) {
  if (!options.make.empty()) return Make(options);
  ARROW_ASSIGN_OR_RAISE(auto input, Open(options.files[0]));
  if (input.payloads.empty()) return Status::Invalid("no block in ", options.files[0]);
  Bench bench(options, std::move(input));
  Checksum checksum;
  ARROW_RETURN_NOT_OK(bench.Round(nullptr, &checksum));
  ARROW_RETURN_NOT_OK(TimeRound(&bench).status());
  const auto blocks = static_cast<double>(bench.blocks());
  counting = true;
  ARROW_RETURN_NOT_OK(TimeRound(&bench).status());
  counting = false;
  std::string facts = fmt::format("blocks={} rows={} allocations={:.1f} allocated_bytes={:.0f} checksum={:016x}",
                                  bench.blocks(), checksum.rows(), static_cast<double>(allocations) / blocks,
                                  static_cast<double>(allocated_bytes) / blocks, checksum.sum());
  if (options.serve) {
    std::cout << facts << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      ARROW_ASSIGN_OR_RAISE(const double microseconds, TimeRound(&bench));
      std::cout << fmt::format("us={:.4f}", microseconds) << std::endl;
    }
    return Status::OK();
  }
  std::vector<double> times(static_cast<size_t>(options.rounds));
  for (double& time : times) {
    ARROW_ASSIGN_OR_RAISE(time, TimeRound(&bench));
  }
  std::cout << fmt::format("{} median_us={:.3f}\n", facts, Median(times));
  return Status::OK();
}

}  // namespace
}  // namespace calve::bench

int main(int argc, char** argv) {
  const auto options = calve::bench::Parse(argc, argv);
  const arrow::Status status = options.ok() ? calve::bench::Run(*options) : options.status();
  if (!status.ok()) std::cerr << "calve_peer_shuffle: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
