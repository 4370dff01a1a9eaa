"""Tables, plans and receipts: plain Python that knows neither Dagster nor an engine."""
