"""Models of requests and responses: they validate input and describe the API in the OpenAPI document."""
