"""Laws of tables and corpora, pure: each check says whether it holds, with numbers."""
