// Program: writes all hits of each ray, by BVH traversal, in the order in which they are found.

// A certain hit is intersected too: its record needs the roots.
fn accept_certain(high: f32, place: u32) -> bool {
  return true;
}

fn process_ray(i: u32) {
  var list = state[i];
  if (list.y == 0u) {
    return;
  }
  let ray = rays[i];
  if (prepare_ray(ray, ray_attributes_of(i))) {
    begin_traversal(i);
    while (current != NONE) {
      collect_candidates();
      var place = next_deferred();
      while (place != NONE) {
        steps += 1u;
        let number = order[place];
        list = append_hit(list, ray, scale_for(attributes, number, ray, spheres[place]), params.first_id + number);
        place = next_deferred();
      }
      count_steps();
    }
  }
  state[i] = list;
}
