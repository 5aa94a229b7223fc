//! Exports and imports Arrow arrays by the PyCapsule protocol of Arrow's C data interface.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::types::{Int64Type, UInt16Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, StructArray, make_array};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, Field};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::slice::PySliceIndices;
use pyo3::types::{PyCapsule, PyDict, PyList, PySlice, PyTuple};

use crate::sequence::{Get, Items, count};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// A column of a batch as an Arrow array. `pyarrow.array(column)`, `polars.Series(column)` and everything else that
/// supports `__arrow_c_array__` takes it without a copy. A slice is another `Array`; two are equal if their types and
/// values are.
///
/// >>> import isaforge
/// >>> isa = isaforge.load("valhall")
/// >>> isa.texts(isa.assemble("MOV.i32 r1, r2")).to_list()
/// ['MOV.i32 r1, r2']
#[pyclass(frozen, sequence, weakref, module = "isaforge")]
pub struct Array {
    array: ArrayRef,
}

impl From<ArrayRef> for Array {
    fn from(array: ArrayRef) -> Self {
        Array { array }
    }
}

#[pymethods]
impl Array {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, self.array.data_type(), self.array.is_nullable())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The protocol allows a producer to ignore the request and return its own type.
        let _ = requested_schema;
        export(py, self.array.as_ref())
    }

    /// The Arrow type, such as `UInt16`.
    #[getter]
    fn r#type(&self) -> String {
        self.array.data_type().to_string()
    }

    /// The number of null values.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.logical_null_count()
    }

    /// All values as Python objects, for use without an Arrow library.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values: Vec<_> =
            (0..self.array.len()).map(|index| value(py, &self.array, index)).collect::<PyResult<_>>()?;
        PyList::new(py, values)
    }

    fn __iter__(slf: Bound<'_, Self>) -> Items {
        let len = slf.get().array.len();
        Items::new(slf.into_any().unbind(), len)
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let len = self.array.len();
        if let Ok(slice) = index.cast::<PySlice>() {
            let range = slice.indices(len as isize)?;
            return Ok(Bound::new(py, Array::from(sliced(&self.array, &range)?))?.into_any());
        }
        let index: isize = index.extract()?;
        let at = if index < 0 { index.checked_add_unsigned(len) } else { Some(index) };
        let at = at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < len);
        value(py, &self.array, at.ok_or_else(|| PyIndexError::new_err("there are fewer values"))?)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Array>().is_ok_and(|other| *self.array == *other.get().array)
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Array of {} {}>", self.array.len(), self.array.data_type())
    }
}

/// Instructions as an Arrow record batch: `pyarrow.record_batch(batch)` takes it without a copy. Its columns are looked
/// up by name; iteration yields its rows, each as a `dict`.
///
/// >>> import isaforge
/// >>> isa = isaforge.load("valhall")
/// >>> for row in isa.records(isa.assemble("MOV.i32 r1, r2\nNOP.end")):
/// ...     print(row["address"], row["text"], row["writes"])
/// 0 MOV.i32 r1, r2 ['r1']
/// 8 NOP.end []
#[pyclass(frozen, mapping, weakref, module = "isaforge")]
pub struct RecordBatch {
    rows: StructArray,
}

impl From<StructArray> for RecordBatch {
    fn from(rows: StructArray) -> Self {
        RecordBatch { rows }
    }
}

impl RecordBatch {
    /// A row by the names of its columns.
    fn row<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        for (name, column) in self.rows.column_names().into_iter().zip(self.rows.columns()) {
            row.set_item(name, value(py, column, index)?)?;
        }
        Ok(row)
    }
}

#[pymethods]
impl RecordBatch {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, self.rows.data_type(), false)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        export(py, &self.rows)
    }

    /// The names of the columns.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.rows.column_names())
    }

    /// A column by name.
    fn __getitem__(&self, name: &str) -> PyResult<Array> {
        let column = self.rows.column_by_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(Arc::clone(column).into())
    }

    /// All rows.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: Vec<_> = (0..self.rows.len()).map(|index| self.row(py, index)).collect::<PyResult<_>>()?;
        PyList::new(py, rows)
    }

    fn __iter__(slf: Bound<'_, Self>) -> Items {
        let len = slf.get().rows.len();
        let row: Get = |batch, index| Ok(batch.cast::<RecordBatch>()?.get().row(batch.py(), index)?.into_any());
        Items::by(row, slf.into_any().unbind(), len)
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<RecordBatch>().is_ok_and(|other| self.rows == other.get().rows)
    }

    fn __repr__(&self) -> String {
        let rows = count(self.rows.len(), "row");
        format!("<isaforge.RecordBatch of {rows}: {}>", self.rows.column_names().join(", "))
    }
}

/// The values at the indices of a slice. Those that are next to each other are not copied.
fn sliced(array: &ArrayRef, range: &PySliceIndices) -> PyResult<ArrayRef> {
    if range.step == 1 || range.slicelength == 0 {
        // An empty slice may start anywhere.
        let start = if range.slicelength == 0 { 0 } else { range.start as usize };
        return Ok(array.slice(start, range.slicelength));
    }
    let data = array.to_data();
    let mut taken = MutableArrayData::new(vec![&data], false, range.slicelength);
    for step in 0..range.slicelength as isize {
        let at = (range.start + step * range.step) as usize;
        taken.try_extend(0, at, at + 1).map_err(failed)?;
    }
    Ok(make_array(taken.freeze()))
}

fn failed(error: arrow_schema::ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn schema<'py>(py: Python<'py>, ty: &DataType, nullable: bool) -> PyResult<Bound<'py, PyCapsule>> {
    let field = Field::new("", ty.clone(), nullable);
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(&field).map_err(failed)?, SCHEMA)
}

fn export<'py>(py: Python<'py>, array: &dyn arrow_array::Array) -> PyResult<Bound<'py, PyTuple>> {
    let data = array.to_data();
    let schema = schema(py, data.data_type(), array.is_nullable())?;
    let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Imports the Arrow data of an object; `None` if it does not export any.
#[allow(unsafe_code, reason = "structures of Arrow's C data interface behind capsules")]
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayData>> {
    let name = intern!(object.py(), "__arrow_c_array__");
    if !object.hasattr(name)? {
        return Ok(None);
    }
    let pair = object.call_method0(name)?;
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
    let not_capsules = |_| PyTypeError::new_err("`__arrow_c_array__` must return two capsules");
    let schema = schema.cast_into::<PyCapsule>().map_err(|error| not_capsules(error.to_string()))?;
    let array = array.cast_into::<PyCapsule>().map_err(|error| not_capsules(error.to_string()))?;
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: The protocol guarantees that a capsule of this name holds this structure and keeps it alive.
    if unsafe { array.as_ref() }.is_released() {
        return Err(PyValueError::new_err("the Arrow array has been taken before"));
    }
    // SAFETY: The protocol guarantees that capsules of these names hold these structures and keep them alive, and both
    // capsules live to the end of this function. `from_raw` moves the array out and marks it as released, as a consumer
    // must.
    let data = unsafe { arrow_array::ffi::from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    data.map(Some).map_err(|error| PyTypeError::new_err(error.to_string()))
}

/// Converts a value of one of the column types in batches.
fn value<'py>(py: Python<'py>, array: &ArrayRef, index: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(index) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(index).into_pyobject(py)?.into_any(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(index).into_pyobject(py)?.into_any(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(index).into_pyobject(py)?.into_any(),
        DataType::Utf8 => array.as_string::<i32>().value(index).into_pyobject(py)?.into_any(),
        DataType::Binary => array.as_binary::<i32>().value(index).into_pyobject(py)?.into_any(),
        DataType::Dictionary(..) => {
            let column = array.as_dictionary::<UInt16Type>();
            value(py, column.values(), usize::from(column.keys().value(index)))?
        }
        DataType::List(_) => {
            let inner = array.as_list::<i32>().value(index);
            let values: Vec<_> = (0..inner.len()).map(|at| value(py, &inner, at)).collect::<PyResult<_>>()?;
            PyList::new(py, values)?.into_any()
        }
        other => return Err(PyTypeError::new_err(format!("values of {other} have no Python object here"))),
    })
}
