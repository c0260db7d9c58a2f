"""All sites at a glance: what each needs from people, its money, and who works at several of them."""
