"""Where things live: layout, identity, records, transactions, sessions."""
