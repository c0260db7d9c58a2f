"""Examples of the OpenAPI document, by model: requests and answers about one small site."""

from typing import Any

from crewlearn.web.api.models.examples import advice, jobs, people, pilots, records, service, sites

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    model: examples
    for subject in (sites, advice, people, records, jobs, pilots, service)
    for model, examples in subject.EXAMPLES.items()
}
