//! The engine of the npm package. `web/package/calls.js` calls what is exported here, with the arguments of a message, in the worker or on
//! the caller's thread; `web/package/api.js` has the classes of the package. Arrays are copied in and out.
#![cfg(target_arch = "wasm32")]
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

mod arrays;
mod device;
#[cfg(feature = "sky")]
mod eclipse_lines;
mod errors;
#[cfg(feature = "sky")]
mod globe;
mod scene;
#[cfg(feature = "shadow")]
mod shadow;
#[cfg(feature = "sky")]
mod sky;
#[cfg(feature = "shadow")]
mod tables;

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(text: &str);
}

/// Prints panics to the console. A panic ends the module: the package then starts another.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| console_error(&info.to_string())));
}
