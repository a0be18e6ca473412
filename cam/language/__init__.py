"""What words mean, in six languages: clauses, topics, scopes, and what two sentences are to each other."""
