"""Single sign-on by OpenID Connect: providers, their tokens, and the users and sessions that these lead to."""
