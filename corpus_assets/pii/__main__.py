"""`python -m corpus_assets.pii FILE...`: the scores of this detector on labelled lines."""

from corpus_assets.pii.evaluate import main

main()
