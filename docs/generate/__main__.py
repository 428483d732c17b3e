"""Write the generated pages: `python -m docs.generate`."""

from docs.generate.pages import write_pages

write_pages()
