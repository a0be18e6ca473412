"""What words mean, in seven languages: clauses, topics, scopes, and what two sentences are to each other."""
