"""Which IPv4 addresses are public: a pinned table, since Python's own changes with its releases."""

from ipaddress import IPv4Address, IPv4Network

SPECIAL_RANGES = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
"""IANA IPv4 Special-Purpose Address Registry (RFC 6890 and updates, 2024), and multicast."""


def is_public_ipv4(text: str) -> bool:
    """Return whether a dotted quad names one host of the public internet."""
    try:
        address = IPv4Address(text)
    except ValueError:
        return False
    return not any(address in network for network in SPECIAL_RANGES)
