// The part of Embree 4's C interface that embree_spheres.cpp uses, so that Embree's headers are not needed. The linker checks the names,
// and embree_spheres.cpp checks the version when it runs (Embree itself reports wrong calls).
#pragma once

#include <sys/types.h>

#include <cstddef>

constexpr unsigned RTC_INVALID_GEOMETRY_ID = ~0u;

struct RTCDeviceTy;
struct RTCGeometryTy;
struct RTCSceneTy;
using RTCDevice = RTCDeviceTy*;
using RTCGeometry = RTCGeometryTy*;
using RTCScene = RTCSceneTy*;

enum RTCDeviceProperty : int { RTC_DEVICE_PROPERTY_VERSION = 0 };
enum RTCFormat : int { RTC_FORMAT_FLOAT4 = 0x9004 };
enum RTCBufferType : int { RTC_BUFFER_TYPE_VERTEX = 1 };
enum RTCGeometryType : int { RTC_GEOMETRY_TYPE_SPHERE_POINT = 50 };
enum RTCBuildQuality : int { RTC_BUILD_QUALITY_MEDIUM = 1 };
enum RTCSceneFlags : int { RTC_SCENE_FLAG_ROBUST = 1 << 2 };
enum RTCRayQueryFlags : int { RTC_RAY_QUERY_FLAG_INCOHERENT = 0, RTC_RAY_QUERY_FLAG_COHERENT = 1 << 16 };
enum RTCError : int {};

// K rays as a structure of arrays; K = 1 is a single ray.
template <unsigned K>
struct alignas(K < 4 ? 16 : 4 * K) RTCRays {
  float org_x[K], org_y[K], org_z[K], tnear[K];
  float dir_x[K], dir_y[K], dir_z[K], time[K];
  float tfar[K];
  unsigned mask[K], id[K], flags[K];
};

template <unsigned K>
struct alignas(K < 4 ? 16 : 4 * K) RTCHits {
  float Ng_x[K], Ng_y[K], Ng_z[K], u[K], v[K];
  unsigned primID[K], geomID[K];
  // Builds with instance arrays have two ids here, others one. No member after it is used.
  unsigned instID[2][K];
};

template <unsigned K>
struct RTCRayHits {
  RTCRays<K> ray;
  RTCHits<K> hit;
};

// Used for both kinds of query. Members that some builds append are zero.
struct RTCQueryArguments {
  int flags = RTC_RAY_QUERY_FLAG_INCOHERENT;
  unsigned feature_mask = ~0u;
  void* context = nullptr;
  void* filter = nullptr;
  void* callback = nullptr;
  float appended[4] = {};
};

extern "C" {
RTCDevice rtcNewDevice(const char* config);
void rtcReleaseDevice(RTCDevice);
ssize_t rtcGetDeviceProperty(RTCDevice, RTCDeviceProperty);
void rtcSetDeviceErrorFunction(RTCDevice, void (*)(void* user, RTCError, const char* text), void* user);
void rtcSetDeviceMemoryMonitorFunction(RTCDevice, bool (*)(void* user, ssize_t bytes, bool post), void* user);

RTCGeometry rtcNewGeometry(RTCDevice, RTCGeometryType);
void rtcSetSharedGeometryBuffer(RTCGeometry, RTCBufferType, unsigned slot, RTCFormat, const void* data, size_t offset,
                                size_t stride, size_t count);
void rtcSetGeometryBuildQuality(RTCGeometry, RTCBuildQuality);
void rtcCommitGeometry(RTCGeometry);
void rtcReleaseGeometry(RTCGeometry);

RTCScene rtcNewScene(RTCDevice);
void rtcSetSceneBuildQuality(RTCScene, RTCBuildQuality);
void rtcSetSceneFlags(RTCScene, RTCSceneFlags);
unsigned rtcAttachGeometry(RTCScene, RTCGeometry);
void rtcCommitScene(RTCScene);
void rtcReleaseScene(RTCScene);

void rtcIntersect1(RTCScene, RTCRayHits<1>*, RTCQueryArguments*);
void rtcIntersect4(const int* valid, RTCScene, RTCRayHits<4>*, RTCQueryArguments*);
void rtcIntersect8(const int* valid, RTCScene, RTCRayHits<8>*, RTCQueryArguments*);
void rtcIntersect16(const int* valid, RTCScene, RTCRayHits<16>*, RTCQueryArguments*);
void rtcOccluded1(RTCScene, RTCRays<1>*, RTCQueryArguments*);
void rtcOccluded4(const int* valid, RTCScene, RTCRays<4>*, RTCQueryArguments*);
void rtcOccluded8(const int* valid, RTCScene, RTCRays<8>*, RTCQueryArguments*);
void rtcOccluded16(const int* valid, RTCScene, RTCRays<16>*, RTCQueryArguments*);
}
