"""The bits of the pass over the bytes: one for each way in which personal data is written."""

SIGN, ENCODED_SIGN, BRACKETED_AT, SPELLED_AT, SPACED_SIGN = (1 << bit for bit in range(5))
IPV4, IPV6 = 1 << 5, 1 << 6
INTERNATIONAL, FROM_ABROAD, AMERICAN, AFTER_LABEL, BEFORE_LABEL = (1 << bit for bit in range(7, 12))
CARD, IBAN, SSN = 1 << 12, 1 << 13, 1 << 14
KEY, KEY_END, ASSIGNED, PRIVATE_KEY, URL_PASSWORD = (1 << bit for bit in range(15, 20))
ARCHIVED_AT = 1 << 20
FOLDED = 1 << 21
"""Something in the text is folded."""

OF_NUMBERS = IPV4 | INTERNATIONAL | FROM_ABROAD | AMERICAN | AFTER_LABEL | BEFORE_LABEL | CARD | SSN
"""What digits alone can be."""
