//! Devices.

use js_sys::{Array, Reflect};
use umbracast::{DeviceOptions, Error, Precision};
use wasm_bindgen::prelude::*;

use crate::arrays::Arguments;
use crate::errors::{Result, record};
use crate::scene::Scene;

/// An open device.
#[wasm_bindgen]
pub struct Device(pub(crate) umbracast::Device);

/// Opens a device: `auto`, `gpu` or `cpu`. `options` has the precision.
#[wasm_bindgen]
pub async fn open(choice: String, options: JsValue) -> Result<Device> {
    let precision: Precision = Arguments(&options).word("precision")?;
    // wgpu panics where there can be no GPU, as in Node.
    let choice = match choice.as_str() {
        "auto" if !has_webgpu() => "cpu".into(),
        "auto" | "cpu" => choice,
        _ if has_webgpu() => choice,
        _ => {
            return Err(Error::NoDevice {
                asked: choice,
                seen: "WebGPU is missing here, so only cpu is available".into(),
            }
            .into());
        }
    };
    Ok(Device(umbracast::Device::open_async(&DeviceOptions::new(choice).precision(precision)).await?))
}

/// Whether `navigator.gpu` is there.
fn has_webgpu() -> bool {
    let part = |object: &JsValue, name: &str| Reflect::get(object, &name.into()).unwrap_or(JsValue::UNDEFINED);
    part(&part(&js_sys::global(), "navigator"), "gpu").is_object()
}

#[wasm_bindgen]
impl Device {
    /// What it is: name, kind, and the instruction sets of the CPU engine.
    pub fn describe(&self) -> JsValue {
        let levels: Array = umbracast::Device::levels().into_iter().map(JsValue::from).collect();
        record([("name", self.0.name().into()), ("kind", self.0.kind().into()), ("levels", levels.into())])
    }

    /// Builds a scene of the spheres among the arguments.
    pub async fn scene(&self, arguments: JsValue) -> Result<Scene> {
        Scene::new(&self.0, Arguments(&arguments)).await
    }
}
