"""Prints a generated table, or writes it between the marks of a page of docs."""

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def show(text, page):
    """`page`: path of the page, or None to print."""
    if page is None:
        print(text)
        return
    old = page.read_text()
    page.write_text(f"{old[: old.index(BEGIN)]}{BEGIN}\n\n{text}\n\n{old[old.index(END):]}")
