// Runs the same batches with Embree 4: measures the speed and writes the results.
//
//   embree_spheres SPHERES RAYS... [--repeat N] [--threads N] [--answers FOLDER]
//   embree_spheres SPHERES RAYS --latency N,N,... [--repeat N]
//
// SPHERES  little-endian f32 records  x y z r
// RAYS     little-endian f32 records  ox oy oz dx dy dz tmin tmax
//
// Prints one JSON object per line: a "build", then a "trace" per batch, query and variant (single rays; packets of 4, 8 and 16,
// with and without the flag for coherent rays). Scenes are "robust": without it Embree loses hits on small spheres far away.
//
// With --answers, the results of single rays are written to FOLDER: RAYS-closest.f32 (t of each ray, infinite on a miss),
// RAYS-closest.u32 (the sphere ids, all ones on a miss) and RAYS-occluded.u8. "differ" counts the rays of a variant with another result
// than as single rays.
//
// With --latency, measures `closest` calls of N rays each on one thread: `repeat` calls after a first one, each with the next N rays of the
// file. Prints percentiles 50 and 99 of the elapsed time per call, for single rays and for packets of 16.
//
// The time includes the whole batch: packed rays are read and traced, and t and id (or one byte) are written for each. Threads take
// 4096 rays at a time. `mrays_per_second` is rays per second of elapsed time. `mrays_per_second_free` is rays per second of CPU time
// times the number of threads: the rate of the same run on otherwise idle cores.

#include "embree.h"

#include <time.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct alignas(16) Sphere { float x, y, z, r; };
struct alignas(16) Ray { float ox, oy, oz, dx, dy, dz, tmin, tmax; };

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "embree_spheres: %s\n", message.c_str());
  std::exit(1);
}

template <class Record>
std::vector<Record> load(const std::string& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) die("cannot open " + path);
  std::fseek(file.get(), 0, SEEK_END);
  const long bytes = std::ftell(file.get());
  std::rewind(file.get());
  if (bytes < 0 || bytes % long(sizeof(Record)) != 0) die("size of " + path + " is not a whole number of records");
  std::vector<Record> records(size_t(bytes) / sizeof(Record));
  if (std::fread(records.data(), sizeof(Record), records.size(), file.get()) != records.size())
    die("short read from " + path);
  return records;
}

template <class Value>
void save(const std::string& path, const std::vector<Value>& values) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file || std::fwrite(values.data(), sizeof(Value), values.size(), file.get()) != values.size()) die("cannot write " + path);
}

std::string stem(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.find_last_of('.'));
}

// ---------------------------------------------------------------- queries

struct Output {
  std::vector<float> t;          // +inf on a miss
  std::vector<uint32_t> prim;    // all ones on a miss
  std::vector<uint8_t> occluded;
  explicit Output(size_t n) : t(n), prim(n), occluded(n) {}
};

template <unsigned K>
void gather(RTCRays<K>& r, int* valid, const std::vector<Ray>& rays, size_t base, size_t end) {
  for (unsigned k = 0; k < K; ++k) {
    const bool live = base + k < end;
    const Ray& p = rays[live ? base + k : end - 1];
    valid[k] = live ? -1 : 0;
    r.org_x[k] = p.ox; r.org_y[k] = p.oy; r.org_z[k] = p.oz; r.tnear[k] = p.tmin;
    r.dir_x[k] = p.dx; r.dir_y[k] = p.dy; r.dir_z[k] = p.dz; r.tfar[k] = p.tmax;
    r.time[k] = 0.f; r.mask[k] = ~0u; r.id[k] = unsigned(base + k); r.flags[k] = 0;
  }
}

template <unsigned K>
void closest(RTCScene scene, RTCQueryArguments* args, const std::vector<Ray>& rays, size_t begin, size_t end, Output& out) {
  alignas(64) RTCRayHits<K> rh;
  alignas(64) int valid[K];
  for (size_t base = begin; base < end; base += K) {
    gather(rh.ray, valid, rays, base, end);
    for (unsigned k = 0; k < K; ++k)
      rh.hit.geomID[k] = rh.hit.instID[0][k] = rh.hit.instID[1][k] = RTC_INVALID_GEOMETRY_ID;
    if constexpr (K == 1) rtcIntersect1(scene, &rh, args);
    if constexpr (K == 4) rtcIntersect4(valid, scene, &rh, args);
    if constexpr (K == 8) rtcIntersect8(valid, scene, &rh, args);
    if constexpr (K == 16) rtcIntersect16(valid, scene, &rh, args);
    for (unsigned k = 0; k < K && base + k < end; ++k) {
      const bool hit = rh.hit.geomID[k] != RTC_INVALID_GEOMETRY_ID;
      out.t[base + k] = hit ? rh.ray.tfar[k] : kInf;
      out.prim[base + k] = hit ? rh.hit.primID[k] : ~0u;
    }
  }
}

template <unsigned K>
void occluded(RTCScene scene, RTCQueryArguments* args, const std::vector<Ray>& rays, size_t begin, size_t end, Output& out) {
  alignas(64) RTCRays<K> ray;
  alignas(64) int valid[K];
  for (size_t base = begin; base < end; base += K) {
    gather(ray, valid, rays, base, end);
    if constexpr (K == 1) rtcOccluded1(scene, &ray, args);
    if constexpr (K == 4) rtcOccluded4(valid, scene, &ray, args);
    if constexpr (K == 8) rtcOccluded8(valid, scene, &ray, args);
    if constexpr (K == 16) rtcOccluded16(valid, scene, &ray, args);
    // Embree writes -inf where something is in the way.
    for (unsigned k = 0; k < K && base + k < end; ++k) out.occluded[base + k] = ray.tfar[k] < 0.f;
  }
}

using Kernel = void (*)(RTCScene, RTCQueryArguments*, const std::vector<Ray>&, size_t, size_t, Output&);

struct Variant { const char* name; Kernel closest, occluded; bool coherent; };

const Variant kVariants[] = {
    {"single", closest<1>, occluded<1>, false},     {"packet4", closest<4>, occluded<4>, false},
    {"packet4c", closest<4>, occluded<4>, true},    {"packet8", closest<8>, occluded<8>, false},
    {"packet8c", closest<8>, occluded<8>, true},    {"packet16", closest<16>, occluded<16>, false},
    {"packet16c", closest<16>, occluded<16>, true},
};

void run_batch(unsigned threads, Kernel kernel, RTCScene scene, bool coherent, const std::vector<Ray>& rays, Output& out) {
  constexpr size_t kChunk = 4096;
  std::atomic<size_t> next{0};
  auto worker = [&] {
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush-to-zero and denormals-are-zero, as Embree recommends
    RTCQueryArguments args;
    args.flags = coherent ? RTC_RAY_QUERY_FLAG_COHERENT : RTC_RAY_QUERY_FLAG_INCOHERENT;
    for (;;) {
      const size_t begin = next.fetch_add(kChunk, std::memory_order_relaxed);
      if (begin >= rays.size()) return;
      kernel(scene, &args, rays, begin, std::min(begin + kChunk, rays.size()), out);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < threads; ++i) pool.emplace_back(worker);
  worker();
  for (auto& t : pool) t.join();
}

// ---------------------------------------------------------------- timing

double wall_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  timespec ts;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
  return double(ts.tv_sec) + 1e-9 * double(ts.tv_nsec);
}

struct Times { double wall, cpu; };

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[(v.size() + 1) / 2 - 1];
}

// Runs `work` once untimed, then `repeat` times timed, each after an untimed call of `before`. Returns the medians.
template <class Work, class Before>
Times time_median(unsigned repeat, Work work, Before before) {
  work();
  std::vector<double> walls, cpus;
  for (unsigned i = 0; i < repeat; ++i) {
    before();
    const double cpu = cpu_seconds(), wall = wall_seconds();
    work();
    cpus.push_back(cpu_seconds() - cpu);
    walls.push_back(wall_seconds() - wall);
  }
  return {median(walls), median(cpus)};
}

// ---------------------------------------------------------------- the run

// Counts the bytes that Embree reports as allocated.
bool on_memory(void* user, ssize_t bytes, bool) {
  static_cast<std::atomic<int64_t>*>(user)->fetch_add(bytes);
  return true;
}

RTCScene build(RTCDevice device, const std::vector<Sphere>& spheres) {
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, spheres.data(), 0, sizeof(Sphere),
                             spheres.size());
  rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_MEDIUM);
  rtcCommitGeometry(geometry);
  RTCScene scene = rtcNewScene(device);
  rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_MEDIUM);
  rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
  rtcAttachGeometry(scene, geometry);
  rtcReleaseGeometry(geometry);
  rtcCommitScene(scene);
  return scene;
}

void print_latency(RTCScene scene, const std::vector<Ray>& rays, size_t size, unsigned repeat) {
  if (size == 0 || size > rays.size()) die("--latency: " + std::to_string(size) + " is not between 1 and the number of rays");
  _mm_setcsr(_mm_getcsr() | 0x8040);
  for (const Variant& variant : {kVariants[0], kVariants[5]}) {
    RTCQueryArguments args;
    Output out(rays.size());
    variant.closest(scene, &args, rays, 0, size, out);
    std::vector<double> seconds;
    size_t hits = 0, begin = 0;
    for (unsigned i = 0; i < repeat; ++i) {
      const double start = wall_seconds();
      variant.closest(scene, &args, rays, begin, begin + size, out);
      seconds.push_back(wall_seconds() - start);
      for (size_t k = begin; k < begin + size; ++k) hits += out.t[k] < kInf;
      begin = begin + 2 * size <= rays.size() ? begin + size : 0;
    }
    std::sort(seconds.begin(), seconds.end());
    const auto share = [&](double s) { return seconds[std::min(seconds.size() - 1, size_t(s * double(seconds.size())))]; };
    std::printf("{\"record\":\"latency\",\"variant\":\"%s\",\"rays\":%zu,\"hits\":%zu,\"p50_seconds\":%.6g,\"p99_seconds\":%.6g}\n",
                variant.name, size, hits, share(0.5), share(0.99));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  std::string answers;
  std::vector<size_t> latency;
  unsigned repeat = 5, threads = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if ((arg == "--repeat" || arg == "--threads") && i + 1 < argc)
      (arg == "--repeat" ? repeat : threads) = unsigned(std::max(0, std::atoi(argv[++i])));
    else if (arg == "--answers" && i + 1 < argc) answers = argv[++i];
    else if (arg == "--latency" && i + 1 < argc) {
      std::stringstream sizes(argv[++i]);
      for (std::string size; std::getline(sizes, size, ',');) latency.push_back(size_t(std::max(0, std::atoi(size.c_str()))));
    } else if (!arg.empty() && arg[0] == '-') die("unknown option " + arg);
    else paths.push_back(arg);
  }
  if (paths.size() < 2 || repeat == 0 || threads == 0)
    die("usage: embree_spheres SPHERES RAYS... [--repeat N] [--threads N] [--answers FOLDER]");

  RTCDevice device = rtcNewDevice(("start_threads=1,threads=" + std::to_string(threads)).c_str());
  if (!device) die("Embree does not start");
  const long version = long(rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION));
  if (version / 10000 != 4) die("this is Embree " + std::to_string(version) + ", not 4");
  std::atomic<int64_t> bytes{0};
  rtcSetDeviceMemoryMonitorFunction(device, on_memory, &bytes);
  auto fail = [](void*, RTCError, const char* text) { die(std::string("Embree says: ") + text); };
  rtcSetDeviceErrorFunction(device, fail, nullptr);

  const auto spheres = load<Sphere>(paths[0]);
  const std::string name = stem(paths[0]);
  RTCScene scene = nullptr;
  const Times built = time_median(repeat, [&] { scene = build(device, spheres); }, [&] { rtcReleaseScene(scene); });
  std::printf("{\"record\":\"build\",\"embree\":\"%ld.%ld.%ld\",\"scene\":\"%s\",\"spheres\":%zu,\"threads\":%u,"
              "\"build_seconds\":%.6g,\"build_cpu_seconds\":%.6g,\"bytes\":%lld}\n",
              version / 10000, version / 100 % 100, version % 100, name.c_str(), spheres.size(), threads, built.wall,
              built.cpu, (long long)bytes.load());

  if (!latency.empty()) {
    const auto rays = load<Ray>(paths[1]);
    for (const size_t size : latency) print_latency(scene, rays, size, repeat);
    return 0;
  }
  for (size_t file = 1; file < paths.size(); ++file) {
    const auto rays = load<Ray>(paths[file]);
    Output out(rays.size()), first(rays.size());
    for (const bool any : {false, true}) {
      for (const Variant& variant : kVariants) {
        const Kernel kernel = any ? variant.occluded : variant.closest;
        const auto trace = [&] { run_batch(threads, kernel, scene, variant.coherent, rays, out); };
        const Times times = time_median(repeat, trace, [] {});
        if (&variant == kVariants) {
          first = out;
          const std::string base = answers + "/" + stem(paths[file]);
          if (!answers.empty() && any) save(base + "-occluded.u8", out.occluded);
          if (!answers.empty() && !any) save(base + "-closest.f32", out.t), save(base + "-closest.u32", out.prim);
        }
        size_t hits = 0, differ = 0;
        for (size_t i = 0; i < rays.size(); ++i) {
          hits += any ? out.occluded[i] : out.t[i] < kInf;
          differ += any ? out.occluded[i] != first.occluded[i] : out.prim[i] != first.prim[i];
        }
        const double millions = 1e-6 * double(rays.size());
        std::printf("{\"record\":\"trace\",\"scene\":\"%s\",\"rays\":\"%s\",\"ray_count\":%zu,\"query\":\"%s\","
                    "\"variant\":\"%s\",\"hits\":%zu,\"differ\":%zu,\"mrays_per_second\":%.6g,\"mrays_per_second_free\":%.6g}\n",
                    name.c_str(), stem(paths[file]).c_str(), rays.size(), any ? "occluded" : "closest", variant.name, hits, differ,
                    millions / times.wall, millions / times.cpu * threads);
        std::fflush(stdout);
      }
    }
  }
  rtcReleaseScene(scene);
  rtcReleaseDevice(device);
  return 0;
}
