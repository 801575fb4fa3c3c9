//! Columns of text that are copied from an input to the results, one cell per row.

/// Columns that a schema does not have, as text: names, times or elements. Each row has one cell per column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptColumns {
    names: Vec<String>,
    /// All cells, one after the other.
    text: String,
    /// End of each cell in `text`.
    ends: Vec<usize>,
}

impl KeptColumns {
    /// Columns without rows.
    pub fn new(names: Vec<String>) -> Self {
        Self { names, ..Self::default() }
    }

    /// Names of the columns, in the order of the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows; 0 without columns.
    pub fn rows(&self) -> usize {
        self.ends.len().checked_div(self.names.len()).unwrap_or(0)
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &str> {
        (0..self.names.len()).map(move |column| self.cell(row, column))
    }

    /// The cell of a row and a column.
    pub(crate) fn cell(&self, row: usize, column: usize) -> &str {
        let cell = row * self.names.len() + column;
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }

    /// These rows of the columns, one after the other.
    #[must_use]
    pub fn select(&self, rows: impl Iterator<Item = usize>) -> Self {
        let mut selected = Self::new(self.names.clone());
        rows.for_each(|row| self.row(row).for_each(|cell| selected.push(cell)));
        selected
    }

    /// Appends the next cell. A row is complete when it has a cell for each column.
    pub fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }
}
