// Bindings that all queries have. Binding 3 is the state per ray, which each program declares.

@group(0) @binding(0) var<uniform> params: Params;
// In leaf order if the program traverses a BVH, else in the order of their ids.
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;
