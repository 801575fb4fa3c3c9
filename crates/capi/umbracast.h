/* Ray-sphere queries from C. See docs/embedding.md.
 *
 * A ray is the set of points origin + t * direction for t in [t_min, t_max]; the direction has any length except zero. The index of a sphere
 * in the list is its id. Spheres are solid: a ray that starts inside one hits it at t_min. Answers are exact: hit or miss is always right, and
 * t is the true root rounded once. Functions report an error by -1 or NULL, and umbracast_error() says what it was. A scene may be used by
 * several threads at once, except while umbracast_update or umbracast_free runs. A process that was forked after the first scene lacks the
 * threads of its parent: there, making a scene, an update and a batch report an error. */
#ifndef UMBRACAST_H
#define UMBRACAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The id of no sphere. */
#define UMBRACAST_NO_SPHERE UINT32_MAX

typedef struct { float center[3], radius; } UmbracastSphere;
typedef struct { float origin[3], t_min, direction[3], t_max; } UmbracastRay;
/* A miss is t = infinity and UMBRACAST_NO_SPHERE. */
typedef struct { float t; uint32_t id; } UmbracastHit;
typedef struct UmbracastScene UmbracastScene;

/* The version of the library, such as "0.1.0". */
const char *umbracast_version(void);

/* What went wrong in the last call of this thread that failed; "" if none has. Valid until the next call of this thread that fails. */
const char *umbracast_error(void);

/* Copies spheres to a device and builds a tree. device: "cpu", "gpu", "auto", or an adapter as `umbracast devices` prints it; NULL is "cpu".
 * NULL on error. */
UmbracastScene *umbracast_scene(const UmbracastSphere *spheres, size_t count, const char *device);

/* Frees a scene. NULL is ignored. */
void umbracast_free(UmbracastScene *scene);

/* Replaces the spheres by as many others, and refits the tree. 0, or -1 on error: the scene is then unchanged. */
int umbracast_update(UmbracastScene *scene, const UmbracastSphere *spheres, size_t count);

/* The closest hit of one ray, computed on the calling thread without memory, locks or a clock; the first call for a scene on a GPU builds a
 * tree on the CPU. 1 for a hit, 0 for a miss, -1 on error. from_id: the sphere on whose surface the ray starts, or UMBRACAST_NO_SPHERE. A ray
 * that leaves or touches that sphere does not hit it; one that goes into it starts inside, and hits it at t_min. Such a ray has a t_min of at
 * least 0 and an origin near that surface. hit may be NULL. */
int umbracast_hit(const UmbracastScene *scene, const UmbracastRay *ray, uint32_t from_id, UmbracastHit *hit);

/* Whether one ray hits any sphere: 1, 0, or -1 on error. As umbracast_hit. */
int umbracast_occludes(const UmbracastScene *scene, const UmbracastRay *ray, uint32_t from_id);

/* Whether any sphere contains a point, its surface included: 1, 0, or -1 on error. As umbracast_hit. */
int umbracast_contains_point(const UmbracastScene *scene, const float point[3]);

/* The closest hit of each ray, on all cores or on the GPU. hits has room for count hits. 0, or -1 on error: hits are then unspecified. */
int umbracast_closest(const UmbracastScene *scene, const UmbracastRay *rays, size_t count, UmbracastHit *hits);

/* Whether each ray hits any sphere: one byte per ray, 1 or 0. As umbracast_closest. */
int umbracast_occluded(const UmbracastScene *scene, const UmbracastRay *rays, size_t count, uint8_t *occluded);

#ifdef __cplusplus
}
#endif
#endif
