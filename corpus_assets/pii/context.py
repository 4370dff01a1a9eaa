"""Words that say what the number after them is, so that it is nothing personal."""

import re

_OTHER_NUMBERS = re.compile(
    r"(?<![^\W\d_])(?:isbn|issn|upc|ean|gtin|sku|asin|vin|imei|imsi|iccid|doi|pmid|pmcid|arxiv|orcid|cas|"
    r"part|parts|p/n|s/n|serial|model|item|article|art|product|artikel|catalog|catalogue|cat|order|"
    r"bestellung|commande|pedido|ordine|invoice|rechnung|facture|factura|fattura|ticket|case|bug|issue|"
    r"tracking|shipment|parcel|sendung|envío|colis|ref|reference|referenz|référence|referencia|"
    r"docket|file|batch|lot|claim|policy|patent|epoch|timestamp|"
    r"version|revision|build|id|uid|uuid|guid|oid|asn|cve|rfc|zip|plz|postal code|postcode|cep|"
    r"coordinates?|lat|lon|long|latitude|longitude|score|scores|pages?|pp|seiten?|figure|"
    r"заказ|артикул|серийный|накладная|индекс|инвойс|счёт|счет|订单号|订单|編號|编号|単号|单号|注文番号|注文|型番|品番|"
    r"주문번호|송장번호|zamówienie|objednávka|rendelés|sipariş|encomenda|beställning|ordre|tilaus|order)"
    r"(?:\s?(?:no|nr|num|number|nummer|numero|número|numéro|id|code|key|n°|nº|№|#|номер))?"
    r"[\s.:=#№°\"'()\[-]{0,5}\Z",
    re.IGNORECASE,
)


def names_another_number(text: str, start: int) -> bool:
    """Return whether the words before a place announce a number that is nobody's."""
    line = text[max(0, start - 40) : start].rpartition("\n")[2]
    return _OTHER_NUMBERS.search(line) is not None
