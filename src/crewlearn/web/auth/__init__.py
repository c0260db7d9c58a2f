"""Authentication and roles: users, secrets, sessions and the limit on failed sign-ins."""
