//! Arguments from JavaScript: typed arrays and words of an object. `web/package/api.js` has converted them.

use std::iter::repeat_n;

use js_sys::{Float32Array, Float64Array, Reflect, Uint32Array};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};
use umbracast::glam::Vec3;
use umbracast::memory::try_reserve;
use umbracast::{Error, Query};
use wasm_bindgen::prelude::*;

use crate::errors::Result;

/// A number of a typed array of JavaScript.
pub(crate) trait Number: bytemuck::Pod {
    type Array: JsCast;
    fn length(array: &Self::Array) -> u32;
    fn copy(array: &Self::Array, to: &mut [Self]);
}

macro_rules! numbers {
    ($($kind:ty: $array:ty),*) => {$(
        impl Number for $kind {
            type Array = $array;
            fn length(array: &$array) -> u32 {
                array.length()
            }
            fn copy(array: &$array, to: &mut [Self]) {
                array.copy_to(to);
            }
        }
    )*};
}
numbers!(f32: Float32Array, f64: Float64Array, u32: Uint32Array);

/// A list of items whose number comes from a caller. If the module has no memory for them, this is an error, and no panic.
pub(crate) fn collect<T>(what: &'static str, items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    try_reserve(what, &mut list, items.size_hint().0 as u64)?;
    list.extend(items);
    Ok(list)
}

/// Named arguments of a call.
pub(crate) struct Arguments<'a>(pub(crate) &'a JsValue);

impl Arguments<'_> {
    /// An argument; `undefined` if it is absent.
    fn get(&self, name: &str) -> JsValue {
        Reflect::get(self.0, &name.into()).unwrap_or(JsValue::UNDEFINED)
    }

    /// A column; `None` if it is absent.
    pub(crate) fn column<T: Number>(&self, name: &'static str) -> Result<Option<Vec<T>>> {
        Ok(self.rows::<T, 1>(name)?.map(Vec::into_flattened))
    }

    /// A column of records of `N` numbers; `None` if it is absent.
    pub(crate) fn rows<T: Number, const N: usize>(&self, name: &'static str) -> Result<Option<Vec<[T; N]>>> {
        let value = self.get(name);
        let Some(array) = value.dyn_ref::<T::Array>() else { return Ok(None) };
        let length = T::length(array) as usize;
        if !length.is_multiple_of(N) {
            let message = format!("{name} has {length} numbers: expected a multiple of {N}");
            return Err(Error::InvalidArgument(message).into());
        }
        let mut rows = collect(name, repeat_n([T::zeroed(); N], length / N))?;
        T::copy(array, rows.as_flattened_mut());
        Ok(Some(rows))
    }

    /// Vectors; `None` if they are absent.
    pub(crate) fn vectors(&self, name: &'static str) -> Result<Option<Vec<Vec3>>> {
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
