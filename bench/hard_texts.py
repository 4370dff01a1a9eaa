"""Texts that are hard on rules of text: empty, of one kind of character, of odd line ends."""
# ruff: noqa: E501  # odd characters are the subject

LINE = "It was said that the lamps of the harbour have to be lit with care. "
HARD = [
    "", " ", "\n", "\n\n\n", "\t \u3000", "a", ".", "é", "\U0001f600", "\0", "\0\0 \0", "a" * 1_000_000,
    "ab " * 350_000, LINE * 16_000, "\r\n".join([LINE] * 9), "\u2028".join([LINE] * 9),
    f"{LINE}\x85x\x85{LINE}", "\x0b\x0c\x1c\x1d\x1e".join([LINE] * 9), f"{LINE}\r\r\n\n\r{LINE}",
    "!?.,;:" * 300, "... " * 200, "…" * 200, "… " * 200, "123 456 789 " * 90, "1234567890" * 90,
    "٣٤٥ ٦٧٨ " * 90, "😀 👨‍👩‍👧 🇫🇷 " * 90, "مرحبا بالعالم. هذا نص طويل؟ " * 40, "שלום עולם, זה טקסט. " * 40,
    "これは日本語の文です。とても長いです。" * 40, "中文 文本 没有 空格。" * 40, "한국어 문장입니다. " * 40,
    "e\u0301 a\u0300\u0323 o\u0302 " * 90, "\u0301" * 50, "นี่คือข้อความภาษาไทย " * 40, "नमस्ते दुनिया। यह है। " * 40,
    "\ufeff" + LINE * 9, "\u200b".join(LINE * 9), "• " + "\n• ".join([LINE] * 9), "- " + "\n- ".join([LINE] * 9),
    "\n".join(["wait..."] * 40), "\n".join([LINE + "…"] * 9), "# " * 90 + LINE * 9, "{" + LINE * 9, LINE * 9 + "\n{",
    "LOREM IPSUM dolor sit amet. " * 9, "lorem İpsum and loreM ipsuM here. " * 3, LINE + "\nUse coo\u212aies here, please.\n" + LINE * 9,
    LINE + "\nThis uses JavaScript, it does.\n" + LINE * 9, "\n".join([f"{LINE}[12]", f"{LINE} [edit]", f"[citation needed] {LINE}", f"{LINE}  [٣]  ", "[1] [2] [3]", "[] x y z.", "[1[2]] a b c."] * 3),
    "Hi.  ... There. Yes (no). \"Why?\" 'So!' He went.\tShe came.  (Then) they left. Ok!! Now?! Go.",
    "foo(): (Bar) : ) ( :) a.m. I'd U.S.A. e.g. this, 8) :-) x. http://a.b/c?d=e#f. me@example.org, 10km 5% $3 £4.50",
    "\n".join(str(i % 7) + " " + LINE for i in range(60)), "x" * 1001 + " a b.\n" + LINE * 9,
    "\n\n".join([LINE * 3, LINE * 3, "Other words are here, and they are to be with that."] * 2),
    "One two three.  [1]\nOne two three. [1]\nAnd four.\t[1]\nFive six seven. [1][2]",
    "It is so.  \n\t It was so.   \n\n And ? \u3000", "It is so.\n", "It is so. ", "It is so.  ",
    LINE.upper() * 9, "the be to of and that have with " * 20, " ".join(f"w{i}" for i in range(100_200)),
]  # fmt: skip
