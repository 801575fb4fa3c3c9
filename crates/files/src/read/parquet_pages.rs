//! Checks page headers against the page's bytes. The crate allocates and slices by the sizes in these headers.

use ::parquet::basic::Encoding;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};

/// The pages of one column of one row group.
pub(crate) struct Checked {
    pub(crate) inner: Box<dyn PageReader>,
    /// Rows of the row group that the remaining pages may fill.
    pub(crate) left: u64,
    /// Bytes per number.
    pub(crate) width: u64,
    pub(crate) has_dictionary: bool,
}

impl Checked {
    fn check(&mut self, page: &Page) -> Result<()> {
        let bad = |why: &str| Err(ParquetError::General(why.into()));
        let held = page.buffer().len() as u64;
        let values = u64::from(page.num_values());
        if let Page::DictionaryPage { .. } = page {
            self.has_dictionary = true;
            return if values * self.width > held {
                bad("a dictionary is shorter than its header claims")
            } else {
                Ok(())
            };
        }
        if let Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } = page
            && u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len) > held
        {
            return bad("a page is shorter than its levels");
        }
        match page.encoding() {
            Encoding::PLAIN | Encoding::BYTE_STREAM_SPLIT => {}
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY if self.has_dictionary => {}
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                return bad("a page needs a dictionary, but its column has none");
            }
            other => return bad(&format!("a page has the encoding {other}, which is not allowed for numbers")),
        }
        if values > self.left {
            return bad("its pages have more values than its row group has rows");
        }
        self.left -= values;
        Ok(())
    }
}

impl Iterator for Checked {
    type Item = Result<Page>;
    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }
}
