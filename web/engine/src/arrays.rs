//! Arguments from JavaScript: typed arrays and words of an object. `web/package/api.js` has converted them.

use js_sys::{Float32Array, Float64Array, Reflect, Uint32Array};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};
use umbracast::glam::Vec3;
use umbracast::{Error, Query};
use wasm_bindgen::prelude::*;

use crate::errors::Result;

/// A typed array of JavaScript.
pub(crate) trait Column: Sized {
    fn from_js(value: &JsValue) -> Option<Vec<Self>>;
}

macro_rules! columns {
    ($($kind:ty: $array:ty),*) => {$(
        impl Column for $kind {
            fn from_js(value: &JsValue) -> Option<Vec<Self>> {
                value.dyn_ref::<$array>().map(|array| array.to_vec())
            }
        }
    )*};
}
columns!(f32: Float32Array, f64: Float64Array, u32: Uint32Array);

/// Named arguments of a call.
pub(crate) struct Arguments<'a>(pub(crate) &'a JsValue);

impl Arguments<'_> {
    /// An argument; `undefined` if it is absent.
    fn get(&self, name: &str) -> JsValue {
        Reflect::get(self.0, &name.into()).unwrap_or(JsValue::UNDEFINED)
    }

    /// A column; `None` if it is absent.
    pub(crate) fn column<T: Column>(&self, name: &str) -> Option<Vec<T>> {
        T::from_js(&self.get(name))
    }

    /// A column of records of `N` numbers; `None` if it is absent.
    pub(crate) fn rows<T: Column + bytemuck::Pod, const N: usize>(&self, name: &str) -> Result<Option<Vec<[T; N]>>> {
        let Some(numbers) = self.column::<T>(name) else { return Ok(None) };
        let (rows, rest) = numbers.as_chunks::<N>();
        if rest.is_empty() {
            return Ok(Some(rows.to_vec()));
        }
        let message = format!("{name} has {} numbers: expected a multiple of {N}", numbers.len());
        Err(Error::InvalidArgument(message).into())
    }

    /// Vectors; `None` if they are absent.
    pub(crate) fn vectors(&self, name: &str) -> Result<Option<Vec<Vec3>>> {
        Ok(self.rows::<f32, 3>(name)?.map(|rows| rows.into_iter().map(Vec3::from).collect()))
    }

    /// A number; `None` if it is absent.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name).as_f64()
    }

    /// Whether a flag is set.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).is_truthy()
    }

    /// A text; `None` if it is absent.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).as_string()
    }

    /// A policy by its word; the default if it is absent.
    pub(crate) fn word<T: Default + for<'a> Deserialize<'a>>(&self, name: &str) -> Result<T> {
        let Some(word) = self.text(name) else { return Ok(T::default()) };
        let reader: StrDeserializer<'_, WordError> = word.as_str().into_deserializer();
        T::deserialize(reader).map_err(|error| Error::InvalidArgument(format!("{name}: {error}")).into())
    }

    /// The policies of a query.
    pub(crate) fn query(&self) -> Result<Query> {
        Ok(Query::new()
            .inside(self.word("inside")?)
            .touch(self.word("touch")?)
            .ends(self.word("ends")?)
            .precision(self.word("precision")?)
            .on_bad(self.word("on_bad")?)
            .motion(self.word("motion")?)
            .near(self.word("near")?))
    }
}
