"""What requests and answers look like: checked on the way in, and described in the OpenAPI document."""
