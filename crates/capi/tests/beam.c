/* A beam of light among mirror balls: each ray starts where the one before it hit. Also tries every function, and the errors.
 *
 * cargo build --release -p umbracast-capi
 * cc -O2 -I crates/capi crates/capi/tests/beam.c -L target/release -lumbracast_c -Wl,-rpath,target/release -lm -o beam */
#define _POSIX_C_SOURCE 200809L
#include "umbracast.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(holds) \
  do { \
    if (!(holds)) { \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #holds, umbracast_error()); \
      exit(1); \
    } \
  } while (0)

static UmbracastSphere balls[1000];

static void place_balls(float lift) {
  for (int i = 0; i < 1000; i++) {
    UmbracastSphere ball = {{(float)(i % 10) - 4.5f, (float)(i / 10 % 10) - 4.5f, (float)(i / 100) - 4.5f + lift}, 0.3f};
    balls[i] = ball;
  }
}

/* Reflects a beam until it leaves the balls. Returns the number of reflections. */
static int bounces(const UmbracastScene *scene) {
  UmbracastRay ray = {{0, 0, 0}, 0, {1, 0.3f, 0.1f}, INFINITY};
  uint32_t from = UMBRACAST_NO_SPHERE;
  UmbracastHit hit;
  int count = 0, found;
  while ((found = umbracast_hit(scene, &ray, from, &hit)) == 1) {
    CHECK(umbracast_occludes(scene, &ray, from) == 1);
    const UmbracastSphere *ball = &balls[hit.id];
    float along = 0, normal[3];
    for (int k = 0; k < 3; k++) {
      ray.origin[k] += hit.t * ray.direction[k];
      normal[k] = (ray.origin[k] - ball->center[k]) / ball->radius;
      along += ray.direction[k] * normal[k];
    }
    for (int k = 0; k < 3; k++) ray.direction[k] -= 2 * along * normal[k];
    from = hit.id;
    count++;
  }
  CHECK(found == 0 && hit.id == UMBRACAST_NO_SPHERE && isinf(hit.t));
  CHECK(umbracast_occludes(scene, &ray, from) == 0);
  return count;
}

int main(void) {
  place_balls(0);
  UmbracastScene *scene = umbracast_scene(balls, 1000, NULL);
  CHECK(scene);
  int first = bounces(scene);
  place_balls(0.125f);
  CHECK(umbracast_update(scene, balls, 1000) == 0);
  printf("umbracast %s: %d bounces, then %d\n", umbracast_version(), first, bounces(scene));

  float inside[3] = {0.5f, 0.5f, 0.625f}, outside[3] = {0, 0, 0};
  CHECK(umbracast_contains_point(scene, inside) == 1 && umbracast_contains_point(scene, outside) == 0);

  UmbracastRay rays[2] = {{{-10, 0.5f, 0.625f}, 0, {2, 0, 0}, INFINITY}, {{-10, 0, 0.125f}, 0, {0, 0, 1}, INFINITY}};
  UmbracastHit hits[2], one;
  uint8_t occluded[2];
  CHECK(umbracast_closest(scene, rays, 2, hits) == 0 && umbracast_occluded(scene, rays, 2, occluded) == 0);
  /* The first ball in the row is at x = -4.5. */
  CHECK(fabsf(hits[0].t - 2.6f) < 1e-6f && hits[0].id == 550 && isinf(hits[1].t));
  CHECK(occluded[0] == 1 && occluded[1] == 0);
  CHECK(umbracast_hit(scene, &rays[0], UMBRACAST_NO_SPHERE, &one) == 1 && memcmp(&one, &hits[0], sizeof one) == 0);
  CHECK(umbracast_hit(scene, &rays[1], UMBRACAST_NO_SPHERE, NULL) == 0);
  CHECK(umbracast_closest(scene, NULL, 0, NULL) == 0);

  /* Errors are reported, and change nothing. */
  CHECK(umbracast_error()[0] == 0);
  UmbracastRay aimless = {{0, 0, 0}, 0, {0, 0, 0}, INFINITY};
  CHECK(umbracast_hit(scene, &aimless, UMBRACAST_NO_SPHERE, &one) == -1);
  CHECK(strstr(umbracast_error(), "a direction must not be zero"));
  CHECK(umbracast_hit(scene, &rays[0], 7, &one) == -1 && strstr(umbracast_error(), "does not lie on the surface"));
  CHECK(umbracast_update(scene, balls, 999) == -1 && strstr(umbracast_error(), "999"));
  balls[3].radius = -1;
  CHECK(umbracast_update(scene, balls, 1000) == -1 && strstr(umbracast_error(), "sphere 3: r is -1"));
  CHECK(umbracast_scene(balls, 1000, NULL) == NULL);
  CHECK(umbracast_scene(balls, 3, "no such device") == NULL && strstr(umbracast_error(), "no such device"));
  CHECK(umbracast_hit(scene, &rays[0], UMBRACAST_NO_SPHERE, &one) == 1 && one.id == 550);

  /* A forked process lacks the threads that batches need. */
  pid_t child = fork();
  if (child == 0) {
    alarm(60); /* If a batch waits for them. */
    CHECK(umbracast_closest(scene, rays, 2, hits) == -1 && strstr(umbracast_error(), "forked"));
    CHECK(umbracast_occluded(scene, rays, 2, occluded) == -1);
    CHECK(umbracast_update(scene, balls, 1000) == -1 && strstr(umbracast_error(), "forked"));
    CHECK(umbracast_scene(balls, 3, NULL) == NULL && strstr(umbracast_error(), "forked"));
    CHECK(umbracast_hit(scene, &rays[0], UMBRACAST_NO_SPHERE, &one) == 1 && one.id == 550);
    exit(0);
  }
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  umbracast_free(scene);
  umbracast_free(NULL);
  return 0;
}
